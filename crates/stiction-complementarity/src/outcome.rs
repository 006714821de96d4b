//! Result of a solve: the status claimed by the method, the status after measuring the residual, and the tolerances.

use crate::problem::{OptionError, Residual};
use serde::Serialize;

/// Status at the end of a solve. Every variant comes with the best iterate and its residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Status {
    /// The independent residual is within the requested tolerance.
    Solved,
    /// The residual is above the requested tolerance and within the loose one.
    SolvedLoosely,
    /// The iteration budget is exhausted.
    BudgetExhausted,
    /// The method ended with its certificate of infeasibility; each method documents for which class it is a proof.
    Infeasible,
    /// A factorisation failed, numbers overflowed, or the residual contradicts a claim of success.
    Breakdown,
}

impl Status {
    /// True if the full tolerance is met.
    pub fn is_solved(self) -> bool {
        self == Self::Solved
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Solved => "solved",
            Self::SolvedLoosely => "solved loosely",
            Self::BudgetExhausted => "budget exhausted",
            Self::Infeasible => "infeasible",
            Self::Breakdown => "breakdown",
        })
    }
}

/// Result of one solve; the measured residual decides on the status, not the method.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a solve can end without converging; inspect `status`"]
pub struct Outcome<S> {
    /// The last iterate, whatever the status.
    pub solution: S,
    /// Status of the solve, after measuring the residual.
    pub status: Status,
    /// The residual measured by the problem.
    pub residual: Residual,
    /// Iterations, in the method's own unit (pivots, Gauss-Seidel iterations, bases).
    pub iterations: u32,
    /// True if an initial guess was given and not used, because the problem does not accept it
    /// ([`Problem::accepts_guess`](crate::Problem::accepts_guess)).
    pub guess_ignored: bool,
}

/// Status claimed by a method; [`solve`](crate::solve) turns it into an [`Outcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a claimed status is not checked yet; measure the residual"]
pub struct Ending {
    /// The claimed status.
    pub status: Status,
    /// Iterations, in the method's own unit.
    pub iterations: u32,
}

impl Ending {
    /// The claim `status` after `iterations`.
    pub fn new(status: Status, iterations: u32) -> Self {
        Self { status, iterations }
    }

    /// Status of a claim whose solution has this residual.
    ///
    /// The residual decides on a claim of success or of an exhausted budget. Within `tolerance.solved` the status is `Solved`, within
    /// `tolerance.loose` it is `SolvedLoosely`. Otherwise a claim of success becomes `Breakdown`. A claimed failure stays a failure, because a
    /// small residual may only mean that the problem is small.
    pub fn measured(&self, residual: f64, tolerance: &Tolerance) -> Status {
        match self.status {
            failure @ (Status::Infeasible | Status::Breakdown) => failure,
            _ if residual <= tolerance.solved => Status::Solved,
            _ if residual <= tolerance.loose => Status::SolvedLoosely,
            Status::BudgetExhausted => Status::BudgetExhausted,
            _ => Status::Breakdown,
        }
    }
}

/// Bounds on the residual that separate `Solved`, `SolvedLoosely` and failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// `Solved` means residual ≤ `solved`, with the residual of [LCP-2] or [MLCP-2].
    /// Dimensionless because the residual is scaled. Default 1e-9; direct methods normally reach 1e-14, below 1e-15
    /// expect `SolvedLoosely`.
    pub solved: f64,
    /// `SolvedLoosely` means `solved` < residual ≤ `loose`. Dimensionless. Default 1e-6; not below `solved`.
    pub loose: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { solved: 1e-9, loose: 1e-6 }
    }
}

impl Tolerance {
    /// Rejects NaN, infinities, zero, negatives and a loose bound below the strict one.
    pub fn validate(&self) -> Result<(), OptionError> {
        for (name, value) in [("solved", self.solved), ("loose", self.loose)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(OptionError { name, value, range: "(0, ∞)" });
            }
        }
        if self.loose < self.solved {
            return Err(OptionError { name: "loose", value: self.loose, range: "[solved, ∞)" });
        }
        Ok(())
    }
}
