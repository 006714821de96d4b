//! The account of kinetic energy over a step, and the bound it obeys.
//!
//! All energies are measured with M at the start of the step, which is the M of the step's momentum balance.   [ENERGY-1]

use nalgebra::Matrix3;
use stiction_multibody::{Model, Twist, apply_inverse_mass, mass_block};

use crate::{Workspace, layers::Surface};

/// Where the kinetic energy of a step came from and went to, J.   [ENERGY-1]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyBound {
    /// ½ vᵀ M v at the start.
    pub before: f64,
    /// What impacts by Poisson's hypothesis changed before the step proper.
    pub impacts: f64,
    /// h vᵀ k + ½ h² kᵀ M⁻¹ k of the applied and gyroscopic forces k.
    pub forces: f64,
    /// −pᵀ β: what the constants β of the rows make impulses do. It is positive where errors are removed, where a rebound is
    /// owed and where prescribed surfaces push; in a feasible state with nothing owed or prescribed it is not.   [ENERGY-2]
    pub asked: f64,
    /// What compliant layers gave; negative where they were pressed. Damping is part of it.   [SOFT-9]
    pub layers: f64,
    /// ½ ‖v⁺ − v_free‖² in the norm of M: what impulses take because they belong to the end of the step.
    pub lost: f64,
    /// ½ v⁺ᵀ M v⁺ at the end.
    pub after: f64,
}

impl EnergyBound {
    /// What removing errors, paying rebounds and prescribed surfaces can have added: max(0, `asked` − `lost`).
    ///
    /// At most ½ ‖u‖² for any velocity u that would remove the errors within the step.   [ENERGY-3] [ENERGY-4]
    pub fn infeasibility(&self) -> f64 {
        (self.asked - self.lost).max(0.0)
    }

    /// `after` is never above this.   [ENERGY-3]
    pub fn bound(&self) -> f64 {
        self.before + self.impacts + self.forces + self.layers + self.infeasibility()
    }

    /// The work of friction, what is left of the account; never positive.   [ENERGY-1]
    pub fn friction(&self) -> f64 {
        self.after - (self.before + self.impacts + self.forces + self.layers + self.asked - self.lost)
    }
}

/// The account of the last step in the workspace; `None` where it was not made by one momentum balance.
pub fn energy_bound(model: &Model, ws: &Workspace) -> Option<EnergyBound> {
    // Layers in a step by mean velocities have an account of their own: what they store.   [SOFT-6]
    if ws.balanced_over == 0.0 || ws.surfaces.iter().any(Surface::is_average) {
        return None;
    }
    let h = ws.balanced_over;
    let mut account = EnergyBound { asked: asked(ws), layers: layers(ws), ..EnergyBound::default() };
    for (index, (id, slot)) in model.iter_bodies().map(|(id, _)| id).zip(model.layout()).enumerate() {
        let Some((mobility, mass, inertia)) = mass_block(model, &ws.start, index) else { continue };
        let twist = |v: &[f64]| mobility.twist(v.get(slot.v.clone()).unwrap_or_default());
        let (v, next) = (twist(&ws.before), twist(&ws.velocity));
        let force = ws.applied.get(index).copied().unwrap_or_default();
        let acceleration = mobility.project(&apply_inverse_mass(mobility, mass, &inertia, &force));
        let acceleration = mobility.twist(acceleration.get(..mobility.dof()).unwrap_or_default());
        let kinetic = |twist: &Twist| kinetic(mass, &inertia, twist);
        account.before += kinetic(&ws.start.twist(id));
        account.impacts += kinetic(&v) - kinetic(&ws.start.twist(id));
        account.forces += h * (force.power(&v) + 0.5 * h * force.power(&acceleration));
        account.after += kinetic(&next);
        account.lost += kinetic(&Twist {
            linear: next.linear - (v.linear + acceleration.linear * h),
            angular: next.angular - (v.angular + acceleration.angular * h),
        });
    }
    Some(account)
}

/// −pᵀ w of all layers.   [SOFT-9]
fn layers(ws: &Workspace) -> f64 {
    let power = |surface: &Surface| {
        let (contact, p) = (ws.contacts.get(surface.contact)?, ws.contact_impulses.get(surface.contact)?);
        Some(surface.power(contact, p))
    };
    -ws.surfaces.iter().filter_map(power).sum::<f64>()
}

/// −p_bᵀ β_b − p_nᵀ β_n − p_fᵀ ∂ψ_f/∂t, feet included.   [ENERGY-2]
fn asked(ws: &Workspace) -> f64 {
    let joints = ws.joint_rows.iter().zip(&ws.joint_impulses).map(|(row, p)| p * row.bias).sum::<f64>();
    let contact = |(contact, p): (&crate::Contact, &crate::ContactImpulse)| {
        p.normal * contact.bias + p.friction.dot(&contact.surface_velocity) + p.spin * contact.surface_spin
    };
    let foot = |(foot, p): (&crate::FootContact, &crate::ContactImpulse)| {
        p.friction.dot(&foot.surface_velocity) + p.spin * foot.surface_spin
    };
    let feet = ws.feet.iter().zip(&ws.foot_impulses).map(foot).sum::<f64>();
    let core = |surface: &Surface| {
        let p = &surface.core_impulse;
        let prescribed = |c: &crate::Contact| p.friction.dot(&c.surface_velocity) + p.spin * c.surface_spin;
        p.normal * surface.core.unwrap_or(0.0) + ws.contacts.get(surface.contact).map_or(0.0, prescribed)
    };
    let cores = ws.surfaces.iter().map(core).sum::<f64>();
    -joints - feet - cores - ws.contacts.iter().zip(&ws.contact_impulses).map(contact).sum::<f64>()
}

/// ½ νᵀ M ν of one body. Components a body does not have are zero in its twist.
fn kinetic(mass: f64, inertia: &Matrix3<f64>, twist: &Twist) -> f64 {
    0.5 * (mass * twist.linear.norm_squared() + twist.angular.dot(&(inertia * twist.angular)))
}
