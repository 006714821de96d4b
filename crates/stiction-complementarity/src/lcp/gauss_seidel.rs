//! Projected Gauss-Seidel with over-relaxation: one row at a time, z_i ← max(0, z_i − ω w_i / M_ii).   [LCP-8]
//!
//! For a symmetric positive semidefinite M with positive diagonal and 0 < ω < 2 every step lowers ½ zᵀ M z + qᵀ z, so the
//! sweeps converge whenever there is a solution, linearly and slowly if M is badly conditioned; for other matrices
//! nothing is promised. The best iterate is returned, so more sweeps never give a worse answer. A guess is used.

use super::{Lcp, LcpSolution, usable_guess};
use crate::outcome::{Ending, Status};
use crate::problem::{OptionError, Problem};
use crate::solver::Solver;

/// The knobs of [`LcpGaussSeidel`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpGaussSeidelOptions {
    /// Sweeps over all rows after which the method gives up. Default 10 000.
    pub max_iterations: u32,
    /// Over-relaxation ω. Dimensionless, default 1, in (0, 2).
    pub relaxation: f64,
    /// The sweeps end when the residual [LCP-2] is at most this. Dimensionless, default 1e-10, in (0, 1).
    pub tolerance: f64,
    /// The sweeps end as stalled when so many of them brought the best residual down by less than 1 %. Default 500.
    pub stall_window: u32,
}

impl Default for LcpGaussSeidelOptions {
    fn default() -> Self {
        Self { max_iterations: 10_000, relaxation: 1.0, tolerance: 1e-10, stall_window: 500 }
    }
}

/// Why the last run did not reach its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GaussSeidelFailure {
    /// A row cannot be solved for its own variable.
    #[error("the diagonal of row {row} is not positive, so the row cannot be solved for its own variable")]
    Diagonal {
        /// The row.
        row: usize,
    },
    /// The budget ran out.
    #[error("residual {residual:e} after {sweeps} sweeps")]
    Budget {
        /// The sweeps made.
        sweeps: u32,
        /// The best residual.
        residual: f64,
    },
    /// The residual no longer falls.
    #[error("residual {residual:e} no longer falls after {sweeps} sweeps")]
    Stalled {
        /// The sweeps made.
        sweeps: u32,
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
    /// A window of sweeps counts as progress when it leaves at most this fraction of the residual. Dimensionless.
    const PROGRESS: f64 = 0.99;

    /// The method with its default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options, or the option that makes no sense.
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

    /// Why the last run ended without a solution; `None` after success.
    pub fn last_failure(&self) -> Option<GaussSeidelFailure> {
        self.failure
    }

    /// One pass over all rows.   [LCP-8]
    fn sweep(&mut self, problem: &Lcp) {
        let z = &mut self.iterate.z;
        for i in 0..z.len() {
            let w = problem.w(i, z);
            z[i] = (z[i] - self.options.relaxation * w / problem.m()[(i, i)]).max(0.0);
        }
    }

    fn iterate(&mut self, problem: &Lcp, best: &mut LcpSolution, sweeps: &mut u32) -> Result<(), GaussSeidelFailure> {
        let mut least = problem.residual(best).value;
        let unusable = (0..problem.size()).find(|&i| problem.m()[(i, i)] <= 0.0);
        if let Some(row) = unusable.filter(|_| least > self.options.tolerance) {
            return Err(GaussSeidelFailure::Diagonal { row });
        }
        let (mut window_start, mut residual_then) = (0, least);
        while least > self.options.tolerance {
            if *sweeps >= self.options.max_iterations {
                return Err(GaussSeidelFailure::Budget { sweeps: *sweeps, residual: least });
            }
            self.sweep(problem);
            *sweeps += 1;
            let residual = problem.residual(&self.iterate).value;
            if !residual.is_finite() {
                return Err(GaussSeidelFailure::Overflow);
            }
            if residual < least {
                least = residual;
                best.z.copy_from_slice(&self.iterate.z);
            }
            if *sweeps - window_start >= self.options.stall_window {
                if least > Self::PROGRESS * residual_then {
                    return Err(GaussSeidelFailure::Stalled { sweeps: *sweeps, residual: least });
                }
                (window_start, residual_then) = (*sweeps, least);
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
        let mut sweeps = 0;
        self.failure = self.iterate(problem, solution, &mut sweeps).err();
        let status = match self.failure {
            None => Status::Solved,
            Some(GaussSeidelFailure::Budget { .. } | GaussSeidelFailure::Stalled { .. }) => Status::BudgetExhausted,
            Some(GaussSeidelFailure::Diagonal { .. } | GaussSeidelFailure::Overflow) => Status::Breakdown,
        };
        Ending::new(status, sweeps)
    }
}
