//! Lemke's method with covering vector e and lexicographic anti-cycling.   [LCP-3] [LCP-4]
//!
//! Rows whose entries are larger than 2⁸ or smaller than 2⁻⁸ are first scaled by a power of two; e covers the scaled rows.
//! A path fails if its last basis is wrong, it stalls, or it ends on a ray; then another covering vector is tried.
//!
//! The method solves every problem with a copositive M for which a solution can be guaranteed (contact problems with friction
//! pyramids among them) and every problem with a P-matrix. A secondary ray proves infeasibility if M is copositive-plus, for
//! example positive semidefinite. For other classes a ray only means that this path found no solution.
//!
//! The solution is computed again from M and q with the final basis [LCP-5], so it has no rounding errors of the pivots. An
//! initial guess is not used. References: [Cottle1992, ch. 4.4], [Lemke1965, sec. 3].

use super::dictionary::{Dictionary, Leaving, PathSettings, Variable};
use super::{Lcp, LcpSolution};
use crate::interrupt;
use crate::linalg::{DenseLu, dot};
use crate::outcome::{Ending, Status};
use crate::problem::{OptionError, Problem};
use crate::solver::Solver;

/// Options of [`LcpLemke`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpLemkeOptions {
    /// Largest number of pivots of all attempts together; then the method ends with `BudgetExhausted`.
    ///
    /// `None`, the default, means 1000 + 50 n: contact problems take about n / 2 pivots, the worst case grows as 2ⁿ.
    pub max_pivots: Option<u32>,
    /// Fraction of its largest value below which a basic variable counts as zero. Dimensionless, default 1e-12, in (0, 1e-3).
    ///
    /// Variables that reach zero together are a tie. Smaller values order ties by rounding, larger ones treat distinct values
    /// as ties. If the last basis is wrong for this reason, other tolerances and covering vectors are tried.
    pub tie_tolerance: f64,
    /// Fraction of the largest entry of its column below which a pivot counts as zero. Dimensionless, default 1e-9, in
    /// (0, 1e-3). Rounding leaves such entries if rows are dependent (coplanar contacts).
    pub pivot_tolerance: f64,
    /// Deviation of the first covering vector from e: d_i = 1 + tilt · frac((i + shift) φ). Dimensionless, default 0, in
    /// [0, 1e6). If a path ends on a ray although there is a solution, another vector may reach it.   [LCP-3]
    pub cover_tilt: f64,
    /// Begin of the sequence of the covering vector: another number gives another vector. Default 0.
    pub cover_shift: u16,
}

impl Default for LcpLemkeOptions {
    fn default() -> Self {
        Self { max_pivots: None, tie_tolerance: 1e-12, pivot_tolerance: 1e-9, cover_tilt: 0.0, cover_shift: 0 }
    }
}

/// Reason why the last run did not reach a complementary basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LemkeFailure {
    /// The variable of pair `row` is unbounded: a secondary ray.
    #[error(
        "the path ended on a ray at row {row}: no solution if the matrix is copositive-plus, otherwise none was found"
    )]
    Ray {
        /// The complementary pair whose variable grows.
        row: usize,
    },
    /// The pivot budget is exhausted.
    #[error("no complementary basis within {budget} pivots")]
    Budget {
        /// The budget.
        budget: u32,
    },
    /// A tie was broken wrongly because of rounding: the last basis violates `row`.
    #[error("the last basis does not solve the problem at row {row}: rounding decided a tie wrongly")]
    WrongBasis {
        /// The row of the worst violation.
        row: usize,
    },
    /// The path stalled: ties broken wrongly because of rounding made it cycle.
    #[error("the path did not advance during {pivots} pivots")]
    Stalled {
        /// Consecutive pivots without a step.
        pivots: usize,
    },
    /// The tableau overflowed when the variable of pair `row` entered.
    #[error("the tableau overflowed at row {row}: the entries of this problem differ too much in magnitude")]
    Overflow {
        /// The complementary pair whose variable entered.
        row: usize,
    },
}

/// Lemke's method for [`Lcp`], with its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct LcpLemke {
    options: LcpLemkeOptions,
    dictionary: Dictionary,
    basis: Vec<usize>,
    lu: DenseLu,
    defect: Vec<f64>,
    correction: Vec<f64>,
    failure: Option<LemkeFailure>,
    ray: Vec<f64>,
}

impl LcpLemke {
    /// Attempts in order, as (factor on the tie tolerance, factor on the pivot tolerance, tilt of the covering vector).
    ///
    /// A failure may come from a tie broken wrongly. Coarse pivot tolerances suit degenerate contacts, fine ones badly scaled
    /// problems. Another covering vector gives another path with fewer ties.
    const ATTEMPTS: [(f64, f64, f64); 6] =
        [(1.0, 1.0, 0.0), (0.1, 1e-3, 0.0), (100.0, 1.0, 0.5), (1000.0, 1.0, 0.25), (0.1, 1e-3, 1.0), (1e4, 1.0, 0.7)];

    /// Largest ‖min(z, w)‖∞ / ‖q‖∞ at which the last basis is accepted. Dimensionless.
    ///
    /// Unlike [LCP-2] it is relative for small q too, so that a wrong tie is detected in any units.
    const CONFIRMED: f64 = 1e-9;

    /// The method with its default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options; returns an error for an option out of range.
    pub fn with_options(options: LcpLemkeOptions) -> Result<Self, OptionError> {
        for (name, value) in [("tie_tolerance", options.tie_tolerance), ("pivot_tolerance", options.pivot_tolerance)] {
            if !(value > 0.0 && value < 1e-3) {
                return Err(OptionError { name, value, range: "(0, 1e-3)" });
            }
        }
        let value = options.cover_tilt;
        if !(0.0..1e6).contains(&value) {
            return Err(OptionError { name: "cover_tilt", value, range: "[0, 1e6)" });
        }
        Ok(Self { options, ..Self::default() })
    }

    /// Sets the covering vector of the next runs.   [LCP-3]
    pub(super) fn set_cover(&mut self, tilt: f64, shift: u16) {
        (self.options.cover_tilt, self.options.cover_shift) = (tilt, shift);
    }

    /// Direction of z along the ray of the last path; empty unless it ended on a ray.
    pub fn ray(&self) -> &[f64] {
        &self.ray
    }

    /// Reason why the last run ended without a solution; `None` after success.
    pub fn last_failure(&self) -> Option<LemkeFailure> {
        self.failure
    }

    /// Follows the almost complementary path for at most `budget` pivots, counted in `pivots`.
    fn follow_path(
        &mut self,
        problem: &Lcp,
        settings: PathSettings,
        budget: u32,
        pivots: &mut u32,
    ) -> Result<(), LemkeFailure> {
        let stall = 100 + 10 * problem.size();
        let mut standing_still = 0;
        self.dictionary.start(problem, settings);
        let mut entering = Variable::Cover;
        while *pivots < budget && !interrupt::is_requested() {
            let pair = match entering {
                Variable::W(row) | Variable::Z(row) => row,
                Variable::Cover => 0,
            };
            let leaving = match entering {
                Variable::Cover => Leaving::Row(self.dictionary.first_leaving(problem, settings)),
                _ => self.dictionary.leaving(problem, entering, settings),
            };
            let row = match leaving {
                Leaving::Row(row) => row,
                Leaving::Ray => {
                    self.dictionary.ray_into(entering, &mut self.ray);
                    return Err(LemkeFailure::Ray { row: pair });
                }
                Leaving::NotFinite => return Err(LemkeFailure::Overflow { row: pair }),
            };
            standing_still = if self.dictionary.value(row) == 0.0 { standing_still + 1 } else { 0 };
            if standing_still > stall {
                return Err(LemkeFailure::Stalled { pivots: standing_still });
            }
            let left = self.dictionary.basic(row);
            if !self.dictionary.pivot(problem, row, entering, settings) {
                return Err(LemkeFailure::Overflow { row: pair });
            }
            *pivots += 1;
            entering = match left {
                Variable::W(i) => Variable::Z(i),
                Variable::Z(i) => Variable::W(i),
                Variable::Cover => return Ok(()),
            };
        }
        Err(LemkeFailure::Budget { budget })
    }

    /// Follows one path, solves for its last basis and checks the residual of the problem.
    fn attempt(
        &mut self,
        problem: &Lcp,
        settings: PathSettings,
        budget: u32,
        pivots: &mut u32,
        z: &mut LcpSolution,
    ) -> Result<(), LemkeFailure> {
        z.z.fill(0.0);
        if let Err(failure) = self.follow_path(problem, settings, budget, pivots) {
            self.read_dictionary(&mut z.z);
            return Err(failure);
        }
        self.solve_basis(problem, &mut z.z);
        let residual = problem.residual(z);
        let allowed = Self::CONFIRMED * problem.q().iter().fold(0.0, |size: f64, q| size.max(q.abs())).min(1.0);
        if residual.value <= allowed { Ok(()) } else { Err(LemkeFailure::WrongBasis { row: residual.row }) }
    }

    /// Copies z from the dictionary.
    fn read_dictionary(&self, z: &mut [f64]) {
        for (variable, value) in self.dictionary.basic_values() {
            if let Variable::Z(i) = variable {
                z[i] = value;
            }
        }
    }

    /// Reserves memory for a basis of any size up to n, so that only the first problem of a size allocates.
    fn reserve(&mut self, n: usize) {
        self.lu.reserve(n);
        self.basis.clear();
        self.basis.reserve(n);
        for scratch in [&mut self.defect, &mut self.correction, &mut self.ray] {
            scratch.clear();
            scratch.reserve(n);
        }
    }

    /// Solves M_ZZ z_Z = −q_Z for the basic z from the original numbers, refined once.   [LCP-5]
    fn solve_basis(&mut self, problem: &Lcp, z: &mut [f64]) {
        self.basis.clear();
        self.basis.extend(self.dictionary.basic_values().filter_map(|(variable, _)| match variable {
            Variable::Z(i) => Some(i),
            _ => None,
        }));
        self.basis.sort_unstable();
        let (basis, size) = (&self.basis, self.basis.len());
        let factored = self.lu.factor(size, |block| {
            for (entry, (i, j)) in block.iter_mut().zip(basis.iter().flat_map(|&i| basis.iter().map(move |&j| (i, j))))
            {
                *entry = problem.m()[(i, j)];
            }
        });
        if factored.is_err() {
            return self.read_dictionary(z);
        }
        self.correction.resize(size, 0.0);
        for _ in 0..2 {
            self.defect.clear();
            self.defect.extend(basis.iter().map(|&i| -(dot(problem.m().row(i), z) + problem.q()[i])));
            self.lu.solve(&self.defect, &mut self.correction);
            for (&i, correction) in basis.iter().zip(&self.correction) {
                z[i] += correction;
            }
        }
        // A degenerate basic variable is zero up to rounding, with either sign.
        for &i in basis {
            z[i] = z[i].max(0.0);
        }
    }
}

impl Solver<Lcp> for LcpLemke {
    fn run(&mut self, problem: &Lcp, _guess: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        self.failure = None;
        self.ray.clear();
        solution.z.clear();
        solution.z.resize(problem.size(), 0.0);
        if problem.q().iter().all(|&q| q >= 0.0) {
            return Ending::new(Status::Solved, 0);
        }
        self.reserve(problem.size());
        let budget = self.options.max_pivots.unwrap_or_else(|| 1000 + 50 * problem.size() as u32);
        let mut pivots = 0;
        let (mut status, mut only_rays) = (Status::Solved, true);
        for (attempt, (tie, pivot, tilt)) in Self::ATTEMPTS.into_iter().enumerate() {
            // Each path leaves pivots for the next; the last may use all remaining ones.
            let last = attempt + 1 == Self::ATTEMPTS.len();
            let limit = if last { budget } else { budget.min(pivots + 1100 + 4 * problem.size() as u32) };
            let tie = tie * self.options.tie_tolerance;
            let pivot = pivot * self.options.pivot_tolerance;
            let tilt = self.options.cover_tilt + tilt;
            let settings = PathSettings { tie, pivot, tilt, shift: self.options.cover_shift };
            self.ray.clear();
            self.failure = self.attempt(problem, settings, limit, &mut pivots, solution).err();
            let Some(failure) = self.failure else { return Ending::new(Status::Solved, pivots) };
            only_rays &= matches!(failure, LemkeFailure::Ray { .. });
            status = match failure {
                // A ray may be an artefact of rounding on one path; rays on all paths count as infeasible.
                LemkeFailure::Ray { .. } if only_rays => Status::Infeasible,
                LemkeFailure::Budget { .. } => Status::BudgetExhausted,
                // A basis was reached; the caller measures its residual.
                LemkeFailure::WrongBasis { .. } => Status::Solved,
                _ => Status::Breakdown,
            };
        }
        Ending::new(status, pivots)
    }
}
