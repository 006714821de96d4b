//! Semismooth Newton for the LCP: Fischer-Burmeister or the min map, with a line search.   [NCP-5]
//!
//! Converges in a few steps near a regular solution, and from every start for P-matrices. Otherwise it may end in a local
//! minimum of its merit function, which proves nothing. It uses an initial guess.

use super::{Lcp, LcpSolution};
use crate::linalg::SparseMatrix;
use crate::ncp::NcpFunction;
use crate::ncp::newton::{NcpAttempt, NcpNewton, NcpNewtonOptions};
use crate::ncp::reformulation::Reformulation;
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// Options of [`LcpNewton`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpNewtonOptions {
    /// Largest number of Newton steps. Default 500.
    pub max_iterations: u32,
    /// Value of ‖min(z, w)‖∞ / max(1, ‖q‖∞) at which the method stops. Dimensionless, default 1e-13, in (0, 1).
    pub target: f64,
    /// The equation that is solved; Fischer-Burmeister by default.
    pub reformulation: Reformulation,
}

impl Default for LcpNewtonOptions {
    fn default() -> Self {
        Self { max_iterations: 500, target: 1e-13, reformulation: Reformulation::FischerBurmeister }
    }
}

/// Semismooth Newton for [`Lcp`], with its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct LcpNewton {
    options: LcpNewtonOptions,
    newton: NcpNewton,
}

impl LcpNewton {
    /// The method with its default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options; returns an error for an option out of range.
    pub fn with_options(options: LcpNewtonOptions) -> Result<Self, OptionError> {
        let value = options.target;
        if !(value > 0.0 && value < 1.0) {
            return Err(OptionError { name: "target", value, range: "(0, 1)" });
        }
        Ok(Self { options, newton: NcpNewton::new() })
    }
}

impl Solver<Lcp> for LcpNewton {
    fn run(&mut self, problem: &Lcp, guess: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        let scale = problem.q().iter().fold(1.0, |size: f64, q| size.max(q.abs()));
        self.newton.options = NcpNewtonOptions {
            max_iterations: self.options.max_iterations,
            target: self.options.target * scale,
            reformulation: self.options.reformulation,
            restarts: 0,
            attempts: &NcpAttempt::ALL,
        };
        let ending = self.newton.search_all(problem, guess.map(|guess| guess.z.as_slice()), &mut solution.z);
        if ending.status == Status::Solved {
            // Negative entries are within the residual; callers expect none.
            solution.z.iter_mut().for_each(|z| *z = z.max(0.0));
        }
        ending
    }
}

/// F(z) = M z + q, z ≥ 0.
impl NcpFunction for Lcp {
    fn size(&self) -> usize {
        Self::size(self)
    }

    fn bounds(&self, _: usize) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn value(&self, z: &[f64], out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, f)| *f = self.w(i, z));
    }

    fn jacobian(&self, _: &[f64], out: &mut SparseMatrix) {
        let n = Self::size(self);
        out.clear(n, n);
        for i in 0..n {
            let entries = self.m().row(i).iter().enumerate().filter(|(_, m)| **m != 0.0);
            entries.for_each(|(j, &m)| out.push(j, m));
            out.finish_row();
        }
    }
}
