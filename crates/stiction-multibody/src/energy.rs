//! Energies and momenta.

use crate::{
    Configuration, Energy, Joint, JointDof, JointKind, Mobility, Model, Momentum, dynamics::mass_block,
    force::Attachment,
};

/// Energy at a configuration.   [DYN-6] [JSPACE-7]
///
/// `angles` are those of [`crate::State::angles`]: they count the full turns of actuated joint DOFs, which wind up springs and which
/// poses do not hold. Without them angles are in [−π, π].
pub fn energy(model: &Model, at: &Configuration, angles: &[f64]) -> Energy {
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
    for (place, &(id, number)) in model.joint_space_dofs().iter().enumerate() {
        let Some((joint, joint_dof)) = model.joint(id).and_then(|joint| Some((joint, joint.joint_dofs().get(number)?)))
        else {
            debug_assert!(false, "actuated joint DOF {place} is not in the model");
            continue;
        };
        if joint_dof.stiffness > 0.0 || joint_dof.armature > 0.0 {
            let in_joint_dof = energy_along((joint, number), joint_dof, at, angles.get(place).copied());
            total.kinetic += in_joint_dof.kinetic;
            total.potential += in_joint_dof.potential;
        }
    }
    total
}

/// Energy of a joint DOF: ½ A φ̇² and ½ k (φ − φ₀)². For a spherical joint φ is the angle of the whole relative rotation.   [JSPACE-7]
fn energy_along(
    (joint, number): (&Joint, usize),
    joint_dof: &JointDof,
    at: &Configuration,
    before: Option<f64>,
) -> Energy {
    let Some((coordinate, rate)) = joint.measured(number, at, before) else {
        debug_assert!(false, "a joint DOF has a coordinate");
        return Energy::default();
    };
    let (stretch, speed) = match joint.kind {
        JointKind::Spherical => {
            let relative = at.twist(joint.b.0).angular - at.twist(joint.a.0).angular;
            (coordinate - joint_dof.initial, relative.norm())
        }
        _ => (coordinate - joint_dof.rest, rate),
    };
    Energy {
        kinetic: 0.5 * joint_dof.armature * speed * speed,
        potential: 0.5 * joint_dof.stiffness * stretch * stretch,
    }
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
