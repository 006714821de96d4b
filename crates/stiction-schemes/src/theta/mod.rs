//! θ-method of Moreau and Jean: forces by a θ-rule, contact on the velocity level with Newton's restitution, and an activation rule that
//! selects the contacts of a step.   [THETA-2..5]
//!
//! [`ThetaStepper`] steps any [`System`]: mass matrix, force with its derivatives, gaps and contact rows, given by the user. Elastic forces
//! are implicit. [`MoreauJean`] is the same scheme for rigid bodies, a [`stiction_stepping::Stepper`].
//!
//! Nothing corrects a gap on this level: a contact that was activated late keeps its penetration. The equations are in
//! `docs/theory/theta.md`.

mod constraints;
mod rigid;
mod step;
mod system;

use stiction_complementarity::{OptionError, Residual, Status};

pub use rigid::MoreauJean;
pub use step::ThetaStepper;
pub use system::{ConstraintLaw, System, SystemState};

/// Parameters of the θ-method.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ThetaScheme {
    /// Weight θ ∈ [0, 1] of the end of the step in forces and displacements; 1/2 is second order between impacts, 1 damps.   [THETA-2]
    pub theta: f64,
    /// Weight γ ∈ [0, 1] of the approach within the step in the activation of contacts.   [THETA-4]
    pub activation: f64,
    /// Weight γ_b ∈ [0, 1] of the error of joints that is removed per step.   [THETA-5]
    pub joint_gamma: f64,
    /// Bound of the next correction of Newton's method relative to the largest velocity of the step, both measured by the mass matrix;
    /// below it the method ends.   [THETA-7] Dimensionless. Default 1e-12.
    pub newton_tolerance: f64,
    /// Largest number of steps of Newton's method; a linear system needs one.
    pub newton_steps: u32,
}

impl Default for ThetaScheme {
    fn default() -> Self {
        Self { theta: 0.5, activation: 0.5, joint_gamma: 1.0, newton_tolerance: 1e-12, newton_steps: 30 }
    }
}

impl ThetaScheme {
    /// Checks every number.
    pub fn validate(&self) -> Result<(), OptionError> {
        let weights = [("theta", self.theta), ("activation", self.activation), ("joint_gamma", self.joint_gamma)];
        if let Some(&(name, value)) = weights.iter().find(|(_, x)| !(0.0..=1.0).contains(x)) {
            return Err(OptionError { name, value, range: "[0, 1]" });
        }
        if !(self.newton_tolerance > 0.0 && self.newton_tolerance < 1.0) {
            return Err(OptionError { name: "newton_tolerance", value: self.newton_tolerance, range: "(0, 1)" });
        }
        if self.newton_steps == 0 {
            return Err(OptionError { name: "newton_steps", value: 0.0, range: "[1, ∞)" });
        }
        Ok(())
    }
}

/// Report of a step of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[must_use = "the report says how well the step was solved"]
pub struct ThetaReport {
    /// Number of the step, from 1.
    pub step: u64,
    /// Time at its end, s.
    pub time: f64,
    /// Active constraints of the step: contacts, joints and dry friction.
    pub active: usize,
    /// Residual of the last contact problem (natural map); zero without active constraints.
    pub residual: Residual,
    /// Status of the last contact problem.
    pub status: Status,
    /// Iterations of all solves.
    pub iterations: u32,
    /// Steps of Newton's method.
    pub newton_steps: u32,
    /// The rung of the ladder that solved the last contact problem.
    pub rung: &'static str,
}

/// Reason why a step of a system failed; the state is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ThetaError {
    /// A parameter of the scheme is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The step is not a positive number.
    #[error("the step is {0} s, but must be positive and finite")]
    Step(f64),
    /// The state does not fit the system.
    #[error("the state has {q} coordinates and {v} velocities, but the system has {expected} of each")]
    Size {
        /// Coordinates of the state.
        q: usize,
        /// Velocities of the state.
        v: usize,
        /// Coordinates of the system.
        expected: usize,
    },
    /// The law of a constraint has parameters out of range.
    #[error("the law of constraint {constraint} has a parameter out of range: {law:?}")]
    BadLaw {
        /// Its index.
        constraint: usize,
        /// Its law.
        law: ConstraintLaw,
    },
    /// The system returned, or the step computed, a number that is not finite.
    #[error("{what} of index {index} is not a finite number")]
    NonFinite {
        /// Name of the quantity.
        what: &'static str,
        /// Its coordinate, or its constraint.
        index: usize,
    },
    /// M̂ cannot be inverted.
    #[error("the iteration matrix M + hθC + h²θ²K is singular at coordinate {coordinate}")]
    Singular {
        /// The row that depends on the others.
        coordinate: usize,
    },
    /// No rung of the ladder found a solution.
    #[error("the contact problem was not solved ({status}, residual {residual:.3e}, worst at constraint {constraint})")]
    NotSolved {
        /// Status of the last rung.
        status: Status,
        /// Its residual.
        residual: f64,
        /// The constraint of the worst row.
        constraint: usize,
    },
    /// Newton's method did not converge.
    #[error(
        "Newton's method did not converge: after {steps} steps the correction is {correction:.3e} of the velocities; use a shorter step"
    )]
    NotConverged {
        /// The last correction, relative, measured by the mass matrix.   [THETA-7]
        correction: f64,
        /// Steps made.
        steps: u32,
    },
}
