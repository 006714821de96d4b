//! Actuated joint DOFs at the start of a step.

use nalgebra::Vector3;
use stiction_multibody::JointDofId;

/// Actuated joint DOF at the start of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointSpaceDof {
    pub(crate) id: JointDofId,
    /// Index among the actuated DOFs of the model.
    pub(crate) place: usize,
    /// Coordinate φ, full turns counted.
    pub(crate) coordinate: f64,
    /// Rate φ̇.
    pub(crate) rate: f64,
    /// Velocity of the forest that is the rate of this DOF, if there is one.
    pub(crate) velocity: Option<usize>,
    /// Force along the DOF that needs no row.
    pub(crate) implicit_force: ImplicitForce,
    /// True if a row enforces the lower and upper limit, or if that limit does not exist.
    pub(crate) held: [bool; 2],
    /// True if a solution violated the lower and upper limit without a row for it.
    pub(crate) missed: [bool; 2],
    /// Places of the rows of the lower and upper limit among the joint-space rows.
    pub(crate) limit_rows: [Option<usize>; 2],
    /// Impulses of the lower and upper limit in the first kick of the step, in the second one.   [STEP-18]
    pub(crate) limit_impulses: [f64; 2],
    /// Rates of its rotor if that has a row.
    pub(crate) rotor: RotorRates,
}

/// Rates of a rotor with a row: about three axes of the world for a spherical joint, otherwise the first component.   [JSPACE-10]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RotorRates {
    /// Rate of the rotor at the start of the kick less that of the DOF.
    pub(crate) lead: Vector3<f64>,
    /// Mean rate over the step, in its second kick.
    pub(crate) mean: Vector3<f64>,
}

/// Inertia c and force f₀ along a joint DOF: p = h f₀ − c (φ̇⁺ − φ̇).   [JSPACE-2]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImplicitForce {
    /// Rotor inertia A, the part of `inertia` that remains in impacts.
    pub(crate) rotor: f64,
    /// Inertia c = A + h d + h² k.
    pub(crate) inertia: f64,
    /// Force f₀.
    pub(crate) force: f64,
}
