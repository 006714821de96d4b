//! Balance of kinetic energy over a step, and the bound it satisfies.
//!
//! All energies are measured with M at the start of the step, which is the M of the step's momentum balance.   [ENERGY-1]

use nalgebra::Matrix3;
use stiction_multibody::{Model, Twist, Wrench, apply_inverse_mass, mass_block};

use crate::{
    Workspace,
    joint_space::{self, Rotors},
    surface::LayerSurface,
};

/// Terms of the balance of kinetic energy over a step, J.   [ENERGY-1]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyBound {
    /// Kinetic energy ½ vᵀ M v at the start, rotors of joints included.
    pub before: f64,
    /// Change by impacts by Poisson's hypothesis, before the step proper.
    pub impacts: f64,
    /// Work h vᵀ k + ½ h² kᵀ M⁻¹ k of the applied and gyroscopic forces k.
    pub forces: f64,
    /// Work −pᵀ β of the impulses p by the constants β of the rows.   [ENERGY-2]
    ///
    /// It is positive if errors are removed, restitution is pending or prescribed surfaces push. It is not positive in a feasible state
    /// without pending restitution and prescribed motion.
    pub asked: f64,
    /// Work of compliant layers, damping included; negative under compression.   [SOFT-9]
    pub layers: f64,
    /// Work of springs, dampers and motors in joints.   [JSPACE-9]
    ///
    /// In maximal coordinates, motors with an explicit force are part of `forces`.
    pub joint_space: f64,
    /// Loss ½ ‖v⁺ − v_free‖² in the norm of M, because impulses are implicit.
    pub lost: f64,
    /// Kinetic energy ½ v⁺ᵀ M v⁺ at the end.
    pub after: f64,
}

impl EnergyBound {
    /// Bound of the energy added by removal of errors, restitution and prescribed surfaces: max(0, `asked` − `lost`).
    ///
    /// It is at most ½ ‖u‖² for any velocity u that would remove the errors within the step.   [ENERGY-3] [ENERGY-4]
    pub fn infeasibility(&self) -> f64 {
        (self.asked - self.lost).max(0.0)
    }

    /// Upper bound of `after`.   [ENERGY-3]
    pub fn bound(&self) -> f64 {
        self.before + self.impacts + self.forces + self.layers + self.joint_space + self.infeasibility()
    }

    /// Work of friction, at contacts and in joints: the remainder of the balance; never positive.   [ENERGY-1]
    pub fn friction(&self) -> f64 {
        let given = self.before + self.impacts + self.forces + self.layers + self.joint_space + self.asked;
        self.after - (given - self.lost)
    }
}

/// Energy balance of the last step in the workspace; `None` if the step was not made by one momentum balance.
pub fn energy_bound(model: &Model, ws: &Workspace) -> Option<EnergyBound> {
    // Layers in a step by mean velocities have their own balance, by their stored energy.   [SOFT-6]
    if ws.solution.balanced_step_size == 0.0 || ws.constraints.layer_surfaces.iter().any(LayerSurface::is_average) {
        return None;
    }
    let h = ws.solution.balanced_step_size;
    let asked = bias_work(ws);
    let mut account = EnergyBound {
        asked,
        layers: layers(ws),
        joint_space: joint_space::work(model, ws, h),
        ..EnergyBound::default()
    };
    let rotors =
        if has_rotors(ws) { Rotors::of(model, ws, &velocities_at_start(model, ws)) } else { Rotors::default() };
    account.before = rotors.start;
    account.impacts = rotors.before - rotors.start;
    (account.after, account.lost) = (rotors.after, rotors.lost);
    match &ws.reduced {
        Some(reduced) => {
            let forest = reduced.account(model, h)?;
            account.before += forest.start;
            account.impacts += forest.before - forest.start;
            account.forces += forest.free - forest.before;
            account.after += forest.after;
            account.lost += forest.lost;
        }
        None => add_bodies(model, ws, h, &mut account),
    }
    Some(account)
}

/// Kinetic energies of the rotors that are part of rows, in the last step, which started with the velocities `v` of the bodies.
pub(crate) fn rotors(model: &Model, ws: &Workspace, v: &[f64]) -> Rotors {
    if has_rotors(ws) { Rotors::of(model, ws, v) } else { Rotors::default() }
}

fn has_rotors(ws: &Workspace) -> bool {
    ws.constraints.joint_space_rows.iter().any(|row| row.rotor.inertia > 0.0)
}

/// Velocities of all bodies at the start, before any impact.
fn velocities_at_start(model: &Model, ws: &Workspace) -> Vec<f64> {
    let mut v = vec![0.0; model.dof()];
    for ((id, body), slot) in model.iter_bodies().zip(model.layout()) {
        let (Some(mobility), Some(out)) = (body.mobility(), v.get_mut(slot.v.clone())) else { continue };
        let Twist { linear, angular } = ws.kinematics.start.twist(id);
        // A twist is projected onto the velocities of a body as a wrench is.
        let parts = mobility.project(&Wrench { linear, angular });
        out.iter_mut().zip(parts).for_each(|(out, part)| *out = part);
    }
    v
}

/// Adds the energies of all bodies.
fn add_bodies(model: &Model, ws: &Workspace, h: f64, account: &mut EnergyBound) {
    for (index, (id, slot)) in model.iter_bodies().map(|(id, _)| id).zip(model.layout()).enumerate() {
        let Some((mobility, mass, inertia)) = mass_block(model, &ws.kinematics.start, index) else { continue };
        let twist = |v: &[f64]| mobility.twist(v.get(slot.v.clone()).unwrap_or_default());
        let (v, next) = (twist(&ws.kinematics.before), twist(&ws.solution.velocity));
        let force = ws.kinematics.applied.get(index).copied().unwrap_or_default();
        let acceleration = mobility.project(&apply_inverse_mass(mobility, mass, &inertia, &force));
        let acceleration = mobility.twist(acceleration.get(..mobility.dof()).unwrap_or_default());
        let kinetic = |twist: &Twist| kinetic(mass, &inertia, twist);
        account.before += kinetic(&ws.kinematics.start.twist(id));
        account.impacts += kinetic(&v) - kinetic(&ws.kinematics.start.twist(id));
        account.forces += h * (force.power(&v) + 0.5 * h * force.power(&acceleration));
        account.after += kinetic(&next);
        account.lost += kinetic(&Twist {
            linear: next.linear - (v.linear + acceleration.linear * h),
            angular: next.angular - (v.angular + acceleration.angular * h),
        });
    }
}

/// Work −pᵀ w of all layers.   [SOFT-9]
pub(crate) fn layers(ws: &Workspace) -> f64 {
    let power = |surface: &LayerSurface| {
        let (contact, p) =
            (ws.constraints.contacts.get(surface.contact)?, ws.solution.contact_impulses.get(surface.contact)?);
        Some(surface.power(contact, p))
    };
    -ws.constraints.layer_surfaces.iter().filter_map(power).sum::<f64>()
}

/// Work −p_bᵀ β_b − p_nᵀ β_n − p_fᵀ ∂ψ_f/∂t of row constants, with support points, limits and couplings.   [ENERGY-2]
fn bias_work(ws: &Workspace) -> f64 {
    debug_assert_eq!(ws.constraints.contacts.len(), ws.solution.contact_impulses.len(), "every contact has an impulse");
    debug_assert_eq!(
        ws.constraints.support_points.len(),
        ws.solution.support_impulses.len(),
        "every support point has an impulse"
    );
    debug_assert_eq!(
        ws.constraints.joint_space_rows.len(),
        ws.solution.joint_space_impulses.len(),
        "every joint-space row has an impulse"
    );
    let joints =
        ws.constraints.joint_rows.iter().zip(&ws.solution.joint_impulses).map(|(row, p)| p * row.bias).sum::<f64>();
    let contact = |(contact, p): (&crate::Contact, &crate::ContactImpulse)| {
        p.normal * contact.bias
            + p.friction.dot(&contact.surface_velocity)
            + p.spin * contact.surface_spin
            + p.rolling.dot(&contact.surface_rotation)
    };
    let support_point = |(support_point, p): (&crate::SupportPointContact, &crate::ContactImpulse)| {
        p.friction.dot(&support_point.surface_velocity) + p.spin * support_point.surface_spin
    };
    let support_points =
        ws.constraints.support_points.iter().zip(&ws.solution.support_impulses).map(support_point).sum::<f64>();
    let core = |surface: &LayerSurface| {
        let p = &surface.core_impulse;
        let prescribed = |c: &crate::Contact| {
            p.friction.dot(&c.surface_velocity) + p.spin * c.surface_spin + p.rolling.dot(&c.surface_rotation)
        };
        p.normal * surface.core_bias.unwrap_or(0.0)
            + ws.constraints.contacts.get(surface.contact).map_or(0.0, prescribed)
    };
    let cores = ws.constraints.layer_surfaces.iter().map(core).sum::<f64>();
    -joints
        - joint_space::bias_work(ws)
        - support_points
        - cores
        - ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses).map(contact).sum::<f64>()
}

/// Kinetic energy ½ νᵀ M ν of one body. Components a body does not have are zero in its twist.
pub(crate) fn kinetic(mass: f64, inertia: &Matrix3<f64>, twist: &Twist) -> f64 {
    0.5 * (mass * twist.linear.norm_squared() + twist.angular.dot(&(inertia * twist.angular)))
}
