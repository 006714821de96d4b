//! Rates of constraint rows and gaps at given velocities of the bodies.

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{BodyId, Configuration, JointId, Mobility, Model, Wrench};

use crate::Contact;

/// A joint row W_bᵀ v⁺ + bias = 0 as wrenches on its two bodies.   [STEP-2]
#[derive(Clone, Copy, Debug, Default)]
pub struct JointRow {
    /// Wrench of a unit impulse on the first body.
    pub a: Wrench,
    /// Wrench of a unit impulse on the second body.
    pub b: Wrench,
    /// Constant of the row: prescribed motion and the error to be removed.
    pub bias: f64,
    /// Prescribed motion alone.
    pub prescribed: f64,
    /// Deferred correction: rate of the part of the error that `Scheme::joint_closing_speed` leaves for later steps.   [STAB-9]
    pub deferred: f64,
}

/// Gap ψ(q, t) ≈ ψ(q̂, t) − h nᵀ v̂ of a contact linearised at q̂ = q ⊕ h v̂.   [STEP-10]
pub(crate) fn linearised_start_gap(model: &Model, contact: &Contact, linearisation_velocity: &[f64], h: f64) -> f64 {
    if linearisation_velocity.is_empty() {
        return contact.gap_start;
    }
    let (a, b) = contact.row(&contact.normal);
    contact.gap_start
        - h * (side_rate(model, linearisation_velocity, contact.a, &a)
            + side_rate(model, linearisation_velocity, contact.b, &b))
}

/// Normal velocity n · v at the velocities `v`, prescribed motion over the step included; negative if the surfaces approach.
pub fn approach(model: &Model, contact: &Contact, v: &[f64], h: f64) -> f64 {
    let (a, b) = contact.row(&contact.normal);
    let prescribed = (contact.gap_end - contact.gap_start) / h;
    side_rate(model, v, contact.a, &a) + side_rate(model, v, contact.b, &b) + prescribed
}

/// Term of the rate of a constraint row on one body: wrench of the row times twist of the body.
///
/// It is zero for bodies without unknowns, and for an empty `v`.
pub(crate) fn side_rate(model: &Model, v: &[f64], id: BodyId, wrench: &Wrench) -> f64 {
    if v.is_empty() {
        return 0.0;
    }
    let Some((mobility, range)) = model.unknowns(id) else { return 0.0 };
    debug_assert!(range.end <= v.len(), "v has an entry for each degree of freedom");
    let (f, t) = (&wrench.linear, &wrench.angular);
    match (mobility, v.get(range).unwrap_or_default()) {
        (Mobility::Free, &[x, y, z, wx, wy, wz]) => x * f.x + y * f.y + z * f.z + wx * t.x + wy * t.y + wz * t.z,
        (_, v) => v.iter().zip(mobility.project(wrench)).map(|(v, w)| v * w).sum(),
    }
}

/// Gap ψ⁺ at the end of a step of size h by its linearisation at q ⊕ h v̂, if the bodies move with `moving`.   [STEP-10]
pub(crate) fn end_gap(model: &Model, contact: &Contact, linearisation_velocity: &[f64], moving: &[f64], h: f64) -> f64 {
    gap_after(model, contact, linearisation_velocity, &relative_velocity(model, contact, moving), h)
}

/// Gap ψ⁺ at the end of a step of size h, from the relative velocity that moved the bodies.
pub(crate) fn gap_after(
    model: &Model,
    contact: &Contact,
    linearisation_velocity: &[f64],
    moving: &Vector3<f64>,
    h: f64,
) -> f64 {
    let moved = contact.normal.dot(moving);
    if linearisation_velocity.is_empty() {
        return contact.gap_end + h * moved;
    }
    let linearised = contact.normal.dot(&relative_velocity(model, contact, linearisation_velocity));
    contact.gap_end + h * (moved - linearised)
}

/// Velocity of the contact point of b against that of a by the velocities `v`, without prescribed motion.
pub(crate) fn relative_velocity(model: &Model, contact: &Contact, v: &[f64]) -> Vector3<f64> {
    let of = |id: BodyId, arm: &Vector3<f64>| {
        let Some((mobility, range)) = model.unknowns(id) else { return Vector3::zeros() };
        debug_assert!(range.end <= v.len(), "v has an entry for each degree of freedom");
        mobility.twist(v.get(range).unwrap_or_default()).at(arm)
    };
    of(contact.b, &contact.arm_b) - of(contact.a, &contact.arm_a)
}

/// Moves the impulses of a joint on two moving bodies to a common point, so that they keep the angular momentum while the joint is open by an
/// error.   [STEP-17]
pub(crate) fn in_balance(
    model: &Model,
    at: &Configuration,
    (a, b): (BodyId, BodyId),
    (mut on_a, mut on_b): (Wrench, Wrench),
) -> (Wrench, Wrench) {
    if model.unknowns(a).is_some() && model.unknowns(b).is_some() {
        let apart = at.pose(b).translation.vector - at.pose(a).translation.vector;
        let half = (on_a.angular + on_b.angular + apart.cross(&on_b.linear)) * 0.5;
        on_a.angular -= half;
        on_b.angular -= half;
    }
    (on_a, on_b)
}

/// Side of a row: the term of its rate that one body, or one velocity of the forest, contributes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// Velocity of the forest, times a factor.
    Velocity(usize, f64),
    /// Power of a wrench on a body.
    Wrench(BodyId, Wrench),
}

impl Side {
    pub(crate) fn times(self, factor: f64) -> Self {
        match self {
            Self::Velocity(k, x) => Self::Velocity(k, x * factor),
            Self::Wrench(body, wrench) => Self::Wrench(body, wrench.scaled(factor)),
        }
    }
}

/// Rate Σ sides when the bodies move by `v` and the forest by `forest`.
pub(crate) fn rate(model: &Model, sides: &[Option<Side>], v: &[f64], forest: Option<&[f64]>) -> f64 {
    let is_known = |side: &Side| !matches!((side, forest), (Side::Velocity(k, _), Some(v)) if *k >= v.len());
    debug_assert!(sides.iter().flatten().all(is_known), "a side is a velocity of the forest");
    let of = |side: &Side| match side {
        Side::Velocity(k, factor) => factor * forest.and_then(|v| v.get(*k)).copied().unwrap_or(0.0),
        Side::Wrench(body, wrench) => side_rate(model, v, *body, wrench),
    };
    sides.iter().flatten().map(of).sum()
}

/// Element of the model that a joint-space row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOwner {
    /// Joint.
    Joint(JointId),
    /// Spring between two bodies, by its index.
    Spring(usize),
    /// Damper between two bodies, by its index.
    Damper(usize),
}

/// Joint-space row of the problem: Σ sides + compliance · p + bias, with its law. Springs and dampers between bodies have such rows too.
#[derive(Clone, Copy, Debug)]
pub struct JointSpaceRow {
    /// Terms of its rate.
    pub sides: [Option<Side>; 4],
    /// Law between its impulse and its rate.
    pub law: Law,
    /// Constant right-hand side of the row, m/s or rad/s.
    pub bias: f64,
    /// Compliance, the rate under a unit impulse; 0 is rigid.
    pub compliance: f64,
    /// Rotor whose inertia is part of the compliance.
    pub rotor: Rotor,
    /// Joint, spring or damper of the row.
    pub owner: RowOwner,
    /// Tension at rest of a spring or damper between bodies.
    pub tension: Tension,
    /// Prescribed part of `bias`, if the rest closes an error with which the mechanism started: the state keeps no velocity of that.   [STAB-10]
    pub closing: Option<f64>,
}

/// Rotor of a joint-space row.   [JSPACE-10]
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotor {
    /// Inertia A, kg or kg m².
    pub inertia: f64,
    /// Rate of the rotor at the start less that of the row.
    pub lead: f64,
    /// Part of both rates of the rotor that is not in those of the row: prescribed motion and the turn of the joint axis.
    pub offset: f64,
}

/// Tension of a spring or damper between bodies if its row has no rate.   [FORCE-3]
#[derive(Clone, Copy, Debug, Default)]
pub struct Tension {
    /// Stiffness times extension at the start of the step, N.
    pub elastic: f64,
    /// Damping times the rate that turning points and lines add until the middle of a step of second order, N.
    pub turning: f64,
}
