//! How a solve ended: the method's claim, the verdict, and the tolerances between them.

use crate::problem::{OptionError, Residual};
use serde::Serialize;

/// How a solve ended. Every variant still comes with the best iterate and its residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Status {
    /// The independent residual is within the requested tolerance.
    Solved,
    /// The residual is above the requested tolerance but within the stated loose one.
    SolvedLoosely,
    /// The iteration budget ran out first.
    BudgetExhausted,
    /// The method ended with its certificate that there is no solution; each method says for which class it is a proof.
    Infeasible,
    /// A factorisation failed, numbers overflowed, or a claim of success did not survive the measurement.
    Breakdown,
}

impl Status {
    /// Whether the full tolerance was met.
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

/// The verdict on one solve: the measured residual decides, not the method.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a solve can end without converging; inspect `status`"]
pub struct Outcome<S> {
    /// The last iterate, whatever the status.
    pub solution: S,
    /// How the solve ended, after measuring.
    pub status: Status,
    /// The residual measured by the problem.
    pub residual: Residual,
    /// Iterations, in the method's own unit (pivots, sweeps, bases).
    pub iterations: u32,
    /// Whether a guess was given and not used, because the problem does not accept it
    /// ([`Problem::accepts_guess`](crate::Problem::accepts_guess)).
    pub guess_ignored: bool,
}

/// What a method claims about itself; [`solve`](crate::solve) turns it into an [`Outcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a claim means nothing until it is measured"]
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
}

/// The bounds on the residual that separate the verdicts.
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
    /// Refuses NaN, infinities, zero, negatives and a loose bound under the strict one.
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
