//! Mass matrix and applied forces.

use nalgebra::{Matrix3, Vector3};

use crate::{BodyKind, Configuration, Mobility, Model, Wrench, force::Attachment};

/// Mobility, mass and world inertia of body `index` of the model; `None` for bodies without unknowns.   [DYN-4]
///
/// They make up its block of the mass matrix: diag(m, m, I) in the plane, diag(m I₃, R I_b Rᵀ) in space, diag(m, …) for particles.
pub fn mass_block(model: &Model, at: &Configuration, index: usize) -> Option<(Mobility, f64, Matrix3<f64>)> {
    let BodyKind::Dynamic { mobility, mass, inertia } = &model.bodies().get(index)?.kind else { return None };
    let world = if *mobility == Mobility::Free {
        debug_assert!(index < at.poses().len(), "the configuration has no pose of body {index}");
        let r = at.poses().get(index)?.rotation.matrix();
        let turned = r * inertia * r.transpose();
        // Symmetric to the bit, as factorisations require.
        (turned + turned.transpose()) * 0.5
    } else {
        *inertia
    };
    Some((*mobility, *mass, world))
}

/// M⁻¹ λ of one body: its acceleration under a wrench.
pub fn apply_inverse_mass(mobility: Mobility, mass: f64, inertia: &Matrix3<f64>, wrench: &Wrench) -> Wrench {
    let angular = match mobility {
        Mobility::Free => inertia.cholesky().map_or_else(Vector3::zeros, |l| l.solve(&wrench.angular)),
        Mobility::Planar => Vector3::new(0.0, 0.0, wrench.angular.z / inertia.m33),
        Mobility::PlanarParticle | Mobility::Particle => Vector3::zeros(),
    };
    Wrench { linear: wrench.linear / mass, angular }
}

/// λ_app + λ_vp of every body: gravity, loads, springs, dampers, callbacks and the gyroscopic term −ω × I ω.   [DYN-5]
pub fn applied_wrenches(model: &Model, at: &Configuration, time: f64, out: &mut Vec<Wrench>) {
    out.clear();
    out.resize(model.bodies().len(), Wrench::default());
    for (id, (index, wrench)) in model.iter_bodies().map(|(id, _)| id).zip(out.iter_mut().enumerate()) {
        let Some((mobility, mass, inertia)) = mass_block(model, at, index) else { continue };
        wrench.linear = model.moving_gravity() * mass;
        if mobility == Mobility::Free {
            let omega = at.twist(id).angular;
            wrench.angular = -omega.cross(&(inertia * omega));
        }
    }
    add_forces(model, at, time, out);
    add_springs(model, at, out);
}

/// [`applied_wrenches`] without the gyroscopic term, and without springs and dampers ([`add_springs`]).   [DYN-5]
pub fn external_wrenches(model: &Model, at: &Configuration, time: f64, out: &mut Vec<Wrench>) {
    out.clear();
    out.extend(
        model
            .bodies()
            .iter()
            .map(|body| Wrench { linear: model.moving_gravity() * body.mass().unwrap_or(0.0), ..Wrench::default() }),
    );
    add_forces(model, at, time, out);
}

/// Adds loads, callbacks and the wrenches set by a controller.
fn add_forces(model: &Model, at: &Configuration, time: f64, out: &mut [Wrench]) {
    for load in model.loads() {
        let arm = at.pose(load.body).rotation * load.point;
        let [force, torque] = [&load.force, &load.torque].map(|f| Vector3::from_fn(|k, _| f[k].value(time)));
        let mut wrench = Wrench::of_force(force, &arm);
        wrench.angular += torque;
        add(out, load.body.index(), &wrench);
    }
    for callback in model.callbacks() {
        callback.apply(time, at, out);
    }
    debug_assert!(
        model.forces.held.is_empty() || model.forces.held.len() == out.len(),
        "held wrenches are one per body, or none"
    );
    out.iter_mut().zip(&model.forces.held).for_each(|(wrench, held)| wrench.add(held));
}

/// Adds the forces of springs and dampers between bodies at a configuration with its velocities.   [FORCE-1] [FORCE-2]
pub fn add_springs(model: &Model, at: &Configuration, out: &mut [Wrench]) {
    for spring in model.springs() {
        let points = Attachment::new(at, &spring.a, &spring.b);
        let force = spring.force(&points);
        add(out, spring.a.0.index(), &Wrench::of_force(-force, &points.arm_a));
        add(out, spring.b.0.index(), &Wrench::of_force(force, &points.arm_b));
    }
    for damper in model.dampers() {
        let points = Attachment::new(at, &damper.a, &damper.b);
        let force = points.relative_velocity * damper.damping;
        add(out, damper.a.0.index(), &Wrench::of_force(force, &points.arm_a));
        add(out, damper.b.0.index(), &Wrench::of_force(-force, &points.arm_b));
    }
}

fn add(wrenches: &mut [Wrench], index: usize, wrench: &Wrench) {
    debug_assert!(index < wrenches.len(), "there is no wrench of body {index}");
    if let Some(total) = wrenches.get_mut(index) {
        total.add(wrench);
    }
}
