//! Block principal pivoting: solves for an active set of positive z, then exchanges the pairs with a negative variable.
//! [LCP-7]
//!
//! All violated pairs are exchanged at once while this reduces their number. Otherwise only the one of least index is
//! exchanged, until the number falls again [Judice1994, sec. 2], [Murty1988, ch. 4]. For a P-matrix the least-index rule
//! visits no set twice, so the method finds the solution from every start, in the worst case after 2ⁿ sets. For other
//! matrices it may find a singular basis or exhaust its budget, and proves nothing. It uses the positive z of an initial
//! guess.

use super::{Lcp, LcpSolution, usable_guess};
use crate::interrupt;
use crate::linalg::{DenseLu, dot};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// Options of [`LcpPrincipalPivoting`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpPrincipalPivotingOptions {
    /// Largest number of active sets; then the method ends with `BudgetExhausted`. `None`, the default, means 200 + 10 n:
    /// contact problems take fewer than 10, the worst case 2ⁿ.
    pub max_bases: Option<u32>,
    /// Fraction of its terms by which a variable must be below zero to count as negative. Dimensionless, default 1e-12, in
    /// (0, 1e-3). With smaller values rounding decides on signs.
    pub sign_tolerance: f64,
    /// Number of exchanges of all violated pairs without a reduction. Default 3; 0 is Murty's pure least-index rule.
    pub patience: u32,
}

impl Default for LcpPrincipalPivotingOptions {
    fn default() -> Self {
        Self { max_bases: None, sign_tolerance: 1e-12, patience: 3 }
    }
}

/// Reason why the last run did not reach a complementary basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrincipalPivotingFailure {
    /// A principal minor vanished: M is not a P-matrix.
    #[error("the basis is singular at row {row}: the matrix is not a P-matrix")]
    SingularBasis {
        /// The row of M that depends on the other active ones.
        row: usize,
    },
    /// The budget is exhausted.
    #[error("no complementary basis among {bases} sets")]
    Budget {
        /// The sets tried.
        bases: u32,
    },
}

/// Principal pivoting for [`Lcp`], with its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct LcpPrincipalPivoting {
    options: LcpPrincipalPivotingOptions,
    active: Vec<bool>,
    basis: Vec<usize>,
    violated: Vec<usize>,
    lu: DenseLu,
    defect: Vec<f64>,
    correction: Vec<f64>,
    failure: Option<PrincipalPivotingFailure>,
}

impl LcpPrincipalPivoting {
    /// The method with its default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options; returns an error for an option out of range.
    pub fn with_options(options: LcpPrincipalPivotingOptions) -> Result<Self, OptionError> {
        let value = options.sign_tolerance;
        if !(value > 0.0 && value < 1e-3) {
            return Err(OptionError { name: "sign_tolerance", value, range: "(0, 1e-3)" });
        }
        Ok(Self { options, ..Self::default() })
    }

    /// Reason why the last run ended without a solution; `None` after success.
    pub fn last_failure(&self) -> Option<PrincipalPivotingFailure> {
        self.failure
    }

    /// Solves M_ZZ z_Z = −q_Z for the active set Z, refined once; z is zero elsewhere.   [LCP-5]
    fn solve_basis(&mut self, problem: &Lcp, z: &mut [f64]) -> Result<(), PrincipalPivotingFailure> {
        z.fill(0.0);
        self.basis.clear();
        self.basis.extend((0..z.len()).filter(|&i| self.active[i]));
        let (basis, size) = (&self.basis, self.basis.len());
        self.lu
            .factor(size, |block| {
                let places = basis.iter().flat_map(|&i| basis.iter().map(move |&j| (i, j)));
                block.iter_mut().zip(places).for_each(|(entry, place)| *entry = problem.m()[place]);
            })
            .map_err(|singular| PrincipalPivotingFailure::SingularBasis { row: basis[singular.row] })?;
        self.correction.resize(size, 0.0);
        for _ in 0..2 {
            self.defect.clear();
            self.defect.extend(basis.iter().map(|&i| -(dot(problem.m().row(i), z) + problem.q()[i])));
            self.lu.solve(&self.defect, &mut self.correction);
            basis.iter().zip(&self.correction).for_each(|(&i, correction)| z[i] += correction);
        }
        Ok(())
    }

    /// Collects the pairs whose basic variable is negative.
    fn find_violated(&mut self, problem: &Lcp, z: &[f64]) {
        let tolerance = self.options.sign_tolerance;
        let z_size = z.iter().fold(0.0, |size: f64, z| size.max(z.abs()));
        self.violated.clear();
        for (i, &z_i) in z.iter().enumerate() {
            let (row, q) = (problem.m().row(i), problem.q()[i]);
            let negative = if self.active[i] {
                z_i < -tolerance * z_size
            } else {
                let terms: f64 = row.iter().zip(z).map(|(m, z)| (m * z).abs()).sum();
                dot(row, z) + q < -tolerance * (terms + q.abs())
            };
            if negative {
                self.violated.push(i);
            }
        }
    }

    fn pivot(&mut self, problem: &Lcp, z: &mut [f64], bases: &mut u32) -> Result<(), PrincipalPivotingFailure> {
        let budget = self.options.max_bases.unwrap_or_else(|| 200 + 10 * problem.size() as u32);
        let (mut fewest, mut patience) = (usize::MAX, self.options.patience);
        while *bases < budget && !interrupt::is_requested() {
            *bases += 1;
            self.solve_basis(problem, z)?;
            self.find_violated(problem, z);
            let Some(&least) = self.violated.first() else {
                // A basic variable that is zero up to rounding may have either sign.
                for z in z.iter_mut() {
                    *z = z.max(0.0);
                }
                return Ok(());
            };
            if self.violated.len() < fewest {
                (fewest, patience) = (self.violated.len(), self.options.patience);
            } else {
                patience = patience.saturating_sub(1);
            }
            if patience > 0 {
                self.violated.iter().for_each(|&i| self.active[i] = !self.active[i]);
            } else {
                self.active[least] = !self.active[least];
            }
        }
        Err(PrincipalPivotingFailure::Budget { bases: budget })
    }
}

impl Solver<Lcp> for LcpPrincipalPivoting {
    fn run(&mut self, problem: &Lcp, guess: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        let guess = usable_guess(problem, guess);
        solution.z.clear();
        solution.z.resize(problem.size(), 0.0);
        self.active.clear();
        self.active.resize(problem.size(), false);
        if let Some(guess) = guess {
            self.active.iter_mut().zip(&guess.z).for_each(|(active, &z)| *active = z > 0.0);
        }
        let mut bases = 0;
        self.failure = self.pivot(problem, &mut solution.z, &mut bases).err();
        let status = match self.failure {
            None => return Ending::new(Status::Solved, bases),
            Some(PrincipalPivotingFailure::SingularBasis { .. }) => Status::Breakdown,
            Some(PrincipalPivotingFailure::Budget { .. }) => Status::BudgetExhausted,
        };
        solution.z.iter_mut().for_each(|z| *z = z.max(0.0));
        Ending::new(status, bases)
    }
}
