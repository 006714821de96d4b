//! Lemke's method with covering vector e and lexicographic anti-cycling.   [LCP-3] [LCP-4]
//!
//! It solves every problem with a copositive M for which a solution can be guaranteed (contact problems with friction
//! pyramids among them) and every P-matrix. Ending on a secondary ray proves that there is no solution when M is
//! copositive-plus, for example positive semidefinite; for other classes a ray only means that this method found none.
//! The answer is computed afresh from M and q once the final basis is known [LCP-5], so it carries no error of the
//! pivots before. A guess is not used. References: [Cottle1992, ch. 4.4], [Lemke1965, sec. 3].

use super::dictionary::{Dictionary, Judgement, Leaving, Variable};
use super::{Lcp, LcpSolution};
use crate::linalg::{DenseLu, dot};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// The knobs of [`LcpLemke`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpLemkeOptions {
    /// Pivots after which the method gives up with `BudgetExhausted`. `None`, the default, means 1000 + 50 n: contact
    /// problems take about n / 2 pivots, while the worst case grows as 2ⁿ.
    pub max_pivots: Option<u32>,
    /// Two basic variables reach zero together when they differ by at most this fraction of the largest numbers they
    /// were computed from. Dimensionless, default 1e-12, in (0, 1e-3). Smaller values take rounding for order; larger
    /// ones show as residuals of that size.
    pub tie_tolerance: f64,
    /// A pivot below this fraction of the largest entry of its column counts as zero, and so does what remains of an
    /// entry that cancels below this fraction of itself. Dimensionless, default 1e-13, in (0, 1e-3).
    pub pivot_tolerance: f64,
}

impl Default for LcpLemkeOptions {
    fn default() -> Self {
        Self { max_pivots: None, tie_tolerance: 1e-12, pivot_tolerance: 1e-13 }
    }
}

/// Why the last run did not reach a complementary basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LemkeFailure {
    /// The variable of pair `row` could grow for ever: a secondary ray.
    #[error(
        "the path ended on a ray at row {row}: no solution if the matrix is copositive-plus, otherwise none was found"
    )]
    Ray {
        /// The complementary pair whose variable grows.
        row: usize,
    },
    /// The pivot budget ran out.
    #[error("no complementary basis within {budget} pivots")]
    Budget {
        /// The budget.
        budget: u32,
    },
    /// The tableau overflowed when the variable of pair `row` entered.
    #[error("the tableau overflowed at row {row}: the numbers of this problem are too far apart")]
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
    basic_z: Vec<f64>,
    failure: Option<LemkeFailure>,
}

impl LcpLemke {
    /// The method with its default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options, or the option that makes no sense.
    pub fn with_options(options: LcpLemkeOptions) -> Result<Self, OptionError> {
        for (name, value) in
            [("tie_tolerance", options.tie_tolerance), ("pivot_tolerance", options.pivot_tolerance)]
        {
            if !(value > 0.0 && value < 1e-3) {
                return Err(OptionError { name, value, range: "(0, 1e-3)" });
            }
        }
        Ok(Self { options, ..Self::default() })
    }

    /// Why the last run ended without a solution; `None` after success.
    pub fn last_failure(&self) -> Option<LemkeFailure> {
        self.failure
    }

    /// Follows the almost complementary path; returns the pivots made and, when it fails, why.
    fn follow_path(&mut self, problem: &Lcp) -> (u32, Result<(), LemkeFailure>) {
        let budget = self.options.max_pivots.unwrap_or_else(|| 1000 + 50 * problem.size() as u32);
        let judge = Judgement { tie: self.options.tie_tolerance, pivot: self.options.pivot_tolerance };
        self.dictionary.start(problem);
        let mut entering = Variable::Cover;
        for pivots in 0..budget {
            let pair = match entering {
                Variable::W(row) | Variable::Z(row) => row,
                Variable::Cover => 0,
            };
            let Some(column) = self.dictionary.column_of(entering) else {
                return (pivots, Err(LemkeFailure::Overflow { row: pair }));
            };
            let leaving = match entering {
                Variable::Cover => Leaving::Row(self.dictionary.first_leaving(judge)),
                Variable::W(_) | Variable::Z(_) => self.dictionary.leaving(column, judge),
            };
            let row = match leaving {
                Leaving::Row(row) => row,
                Leaving::Ray => return (pivots, Err(LemkeFailure::Ray { row: pair })),
                Leaving::NotFinite => return (pivots, Err(LemkeFailure::Overflow { row: pair })),
            };
            let left = self.dictionary.basic(row);
            self.dictionary.pivot(row, column, judge);
            entering = match left {
                Variable::W(i) => Variable::Z(i),
                Variable::Z(i) => Variable::W(i),
                Variable::Cover => return (pivots + 1, Ok(())),
            };
        }
        (budget, Err(LemkeFailure::Budget { budget }))
    }

    /// Writes z as the dictionary has it.
    fn read_dictionary(&self, z: &mut [f64]) {
        for (variable, value) in self.dictionary.basic_values() {
            if let Variable::Z(i) = variable {
                z[i] = value;
            }
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
            for (entry, (i, j)) in block.iter_mut().zip(basis.iter().flat_map(|&i| basis.iter().map(move |&j| (i, j)))) {
                *entry = problem.m()[(i, j)];
            }
        });
        if factored.is_err() {
            return self.read_dictionary(z);
        }
        self.basic_z.clear();
        self.basic_z.resize(size, 0.0);
        self.correction.resize(size, 0.0);
        for _ in 0..2 {
            self.defect.clear();
            self.defect.extend(basis.iter().map(|&i| -(dot(problem.m().row(i), z) + problem.q()[i])));
            self.lu.solve(&self.defect, &mut self.correction);
            for ((&i, basic), correction) in basis.iter().zip(&mut self.basic_z).zip(&self.correction) {
                *basic += correction;
                z[i] = *basic;
            }
        }
        // A degenerate basic variable is zero up to rounding of either sign.
        for &i in basis {
            z[i] = z[i].max(0.0);
        }
    }
}

impl Solver<Lcp> for LcpLemke {
    fn run(&mut self, problem: &Lcp, _guess: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        self.failure = None;
        solution.z.clear();
        solution.z.resize(problem.size(), 0.0);
        if problem.q().iter().all(|&q| q >= 0.0) {
            return Ending::new(Status::Solved, 0);
        }
        let (pivots, result) = self.follow_path(problem);
        let status = match result {
            Ok(()) => {
                self.solve_basis(problem, &mut solution.z);
                return Ending::new(Status::Solved, pivots);
            }
            Err(LemkeFailure::Ray { .. }) => Status::Infeasible,
            Err(LemkeFailure::Budget { .. }) => Status::BudgetExhausted,
            Err(LemkeFailure::Overflow { .. }) => Status::Breakdown,
        };
        self.failure = result.err();
        self.read_dictionary(&mut solution.z);
        Ending::new(status, pivots)
    }
}
