//! Energies and momenta.

use nalgebra::Vector3;

use crate::{Configuration, Mobility, Model, dynamics::mass_block, force::Attachment};

/// Mechanical energy, J. Gravity counts from the origin of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// ½ νᵀ M ν.
    pub kinetic: f64,
    /// −m g · c of all bodies, and ½ k (L − L₀)² of all springs.
    pub potential: f64,
}

impl Energy {
    /// Kinetic plus potential.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// Momentum of all dynamic bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Σ m v, kg m/s.
    pub linear: Vector3<f64>,
    /// Σ c × m v + I ω about the world origin, kg m²/s.
    pub angular: Vector3<f64>,
}

/// Energy at a configuration.   [DYN-6]
pub fn energy(model: &Model, at: &Configuration) -> Energy {
    let mut total = Energy::default();
    for (index, (id, _)) in model.iter_bodies().enumerate() {
        let Some((mobility, mass, inertia)) = mass_block(model, at, index) else { continue };
        let twist = at.twist(id);
        total.kinetic += 0.5 * mass * twist.linear.norm_squared();
        total.kinetic += match mobility {
            Mobility::Free => 0.5 * twist.angular.dot(&(inertia * twist.angular)),
            Mobility::Planar => 0.5 * inertia.m33 * twist.angular.z * twist.angular.z,
            Mobility::PlanarParticle | Mobility::Particle => 0.0,
        };
        total.potential -= mass * model.moving_gravity().dot(&at.pose(id).translation.vector);
    }
    for spring in model.springs() {
        let stretch = Attachment::new(at, &spring.a, &spring.b).between.norm() - spring.rest_length;
        total.potential += 0.5 * spring.stiffness * stretch * stretch;
    }
    total
}

/// Momentum at a configuration.   [DYN-7]
pub fn momentum(model: &Model, at: &Configuration) -> Momentum {
    let mut total = Momentum::default();
    for (index, (id, _)) in model.iter_bodies().enumerate() {
        let Some((mobility, mass, inertia)) = mass_block(model, at, index) else { continue };
        let twist = at.twist(id);
        let p = twist.linear * mass;
        total.linear += p;
        total.angular += at.pose(id).translation.vector.cross(&p);
        match mobility {
            Mobility::Free => total.angular += inertia * twist.angular,
            Mobility::Planar => total.angular.z += inertia.m33 * twist.angular.z,
            Mobility::PlanarParticle | Mobility::Particle => {}
        }
    }
    total
}
