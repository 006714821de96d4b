//! Projected Gauss-Seidel with over-relaxation: one row at a time, z_i ← max(0, z_i − ω w_i / M_ii).   [LCP-8]
//!
//! For a symmetric positive semidefinite M with positive diagonal and 0 < ω < 2 every step lowers ½ zᵀ M z + qᵀ z, so the
//! method converges if there is a solution, linearly and slowly for an ill-conditioned M. For other matrices convergence is
//! not guaranteed. The best iterate is returned, so more iterations never give a worse result. It uses an initial guess.

use super::{Lcp, LcpSolution, usable_guess};
use crate::interrupt;
use crate::outcome::{Ending, Status};
use crate::problem::{OptionError, Problem};
use crate::solver::Solver;

/// Options of [`LcpGaussSeidel`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpGaussSeidelOptions {
    /// Largest number of iterations, each over all rows. Default 10 000.
    pub max_iterations: u32,
    /// Over-relaxation ω. Dimensionless, default 1, in (0, 2).
    pub relaxation: f64,
    /// Residual [LCP-2] at which the iterations end. Dimensionless, default 1e-10, in (0, 1).
    pub tolerance: f64,
    /// Number of iterations with less than 1 % progress of the best residual that count as stalled. Default 500.
    pub stall_window: u32,
}

impl Default for LcpGaussSeidelOptions {
    fn default() -> Self {
        Self { max_iterations: 10_000, relaxation: 1.0, tolerance: 1e-10, stall_window: 500 }
    }
}

/// Reason why the last run did not reach its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GaussSeidelFailure {
    /// A diagonal entry is not positive, so its row cannot be solved for its own variable.
    #[error("the diagonal of row {row} is not positive, so the row cannot be solved for its own variable")]
    Diagonal {
        /// The row.
        row: usize,
    },
    /// The budget is exhausted.
    #[error("the residual is {residual:e} after {iterations} Gauss-Seidel iterations")]
    Budget {
        /// Number of iterations.
        iterations: u32,
        /// The best residual.
        residual: f64,
    },
    /// The residual no longer decreases.
    #[error("the residual {residual:e} no longer decreases after {iterations} Gauss-Seidel iterations")]
    Stalled {
        /// Number of iterations.
        iterations: u32,
        /// The best residual.
        residual: f64,
    },
    /// The iterates overflowed.
    #[error("the iterates grew without bound")]
    Overflow,
}

/// Projected Gauss-Seidel for [`Lcp`], with its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct LcpGaussSeidel {
    options: LcpGaussSeidelOptions,
    iterate: LcpSolution,
    failure: Option<GaussSeidelFailure>,
}

impl LcpGaussSeidel {
    /// Largest ratio of the residuals after and before a window of iterations that counts as progress. Dimensionless.
    const PROGRESS: f64 = 0.99;

    /// The method with its default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options; returns an error for an option out of range.
    pub fn with_options(options: LcpGaussSeidelOptions) -> Result<Self, OptionError> {
        for (name, value, end, range) in
            [("relaxation", options.relaxation, 2.0, "(0, 2)"), ("tolerance", options.tolerance, 1.0, "(0, 1)")]
        {
            if !(value > 0.0 && value < end) {
                return Err(OptionError { name, value, range });
            }
        }
        Ok(Self { options, ..Self::default() })
    }

    /// Reason why the last run ended without a solution; `None` after success.
    pub fn last_failure(&self) -> Option<GaussSeidelFailure> {
        self.failure
    }

    /// Executes one iteration over all rows.   [LCP-8]
    fn iterate_once(&mut self, problem: &Lcp) {
        let z = &mut self.iterate.z;
        for i in 0..z.len() {
            let w = problem.w(i, z);
            z[i] = (z[i] - self.options.relaxation * w / problem.m()[(i, i)]).max(0.0);
        }
    }

    fn iterate(
        &mut self,
        problem: &Lcp,
        best: &mut LcpSolution,
        iterations: &mut u32,
    ) -> Result<(), GaussSeidelFailure> {
        let mut least = problem.residual(best).value;
        let unusable = (0..problem.size()).find(|&i| problem.m()[(i, i)] <= 0.0);
        if let Some(row) = unusable.filter(|_| least > self.options.tolerance) {
            return Err(GaussSeidelFailure::Diagonal { row });
        }
        let (mut window_start, mut residual_then) = (0, least);
        while least > self.options.tolerance {
            if *iterations >= self.options.max_iterations || interrupt::is_requested() {
                return Err(GaussSeidelFailure::Budget { iterations: *iterations, residual: least });
            }
            self.iterate_once(problem);
            *iterations += 1;
            let residual = problem.residual(&self.iterate).value;
            if !residual.is_finite() {
                return Err(GaussSeidelFailure::Overflow);
            }
            if residual < least {
                least = residual;
                best.z.copy_from_slice(&self.iterate.z);
            }
            if *iterations - window_start >= self.options.stall_window {
                if least > Self::PROGRESS * residual_then {
                    return Err(GaussSeidelFailure::Stalled { iterations: *iterations, residual: least });
                }
                (window_start, residual_then) = (*iterations, least);
            }
        }
        Ok(())
    }
}

impl Solver<Lcp> for LcpGaussSeidel {
    fn run(&mut self, problem: &Lcp, guess: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        let guess = usable_guess(problem, guess);
        solution.z.clear();
        match guess {
            Some(guess) => solution.z.extend(guess.z.iter().map(|z| z.max(0.0))),
            None => solution.z.resize(problem.size(), 0.0),
        }
        self.iterate.z.clone_from(&solution.z);
        let mut iterations = 0;
        self.failure = self.iterate(problem, solution, &mut iterations).err();
        let status = match self.failure {
            None => Status::Solved,
            Some(GaussSeidelFailure::Budget { .. } | GaussSeidelFailure::Stalled { .. }) => Status::BudgetExhausted,
            Some(GaussSeidelFailure::Diagonal { .. } | GaussSeidelFailure::Overflow) => Status::Breakdown,
        };
        Ending::new(status, iterations)
    }
}
