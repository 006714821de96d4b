//! Principal pivoting: guess which z are positive, solve for them, exchange the pairs that came out negative.   [LCP-7]
//!
//! All offending pairs are exchanged at once while that reduces their number; when it stops doing so, only the offender
//! of least index, until the number falls again [Judice1994, sec. 2], [Murty1988, ch. 4]. For a P-matrix the least-index rule visits no
//! set twice, so the method ends with the solution from every start, in the worst case after 2ⁿ sets. For other matrices
//! it may meet a singular basis or run into its budget, and proves nothing. A guess is used: its positive z.

use super::{Lcp, LcpSolution, usable_guess};
use crate::linalg::{DenseLu, dot};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// The knobs of [`LcpPrincipalPivoting`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpPrincipalPivotingOptions {
    /// Sets that are tried before the method gives up with `BudgetExhausted`. `None`, the default, means 200 + 10 n:
    /// contact problems take fewer than 10, the worst case 2ⁿ.
    pub max_bases: Option<u32>,
    /// A variable counts as negative below −tolerance times the terms it was computed from. Dimensionless, default 1e-12,
    /// in (0, 1e-3). Smaller values take rounding for a sign.
    pub sign_tolerance: f64,
    /// How often all offenders are exchanged without their number falling. Default 3; 0 is Murty's pure least-index rule.
    pub patience: u32,
}

impl Default for LcpPrincipalPivotingOptions {
    fn default() -> Self {
        Self { max_bases: None, sign_tolerance: 1e-12, patience: 3 }
    }
}

/// Why the last run did not reach a complementary basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrincipalPivotingFailure {
    /// A principal minor vanished: M is not a P-matrix.
    #[error("the basis is singular at row {row}: the matrix is not a P-matrix")]
    SingularBasis {
        /// The row of M that depends on the other active ones.
        row: usize,
    },
    /// The budget ran out.
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
    offenders: Vec<usize>,
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

    /// The method with these options, or the option that makes no sense.
    pub fn with_options(options: LcpPrincipalPivotingOptions) -> Result<Self, OptionError> {
        let value = options.sign_tolerance;
        if !(value > 0.0 && value < 1e-3) {
            return Err(OptionError { name: "sign_tolerance", value, range: "(0, 1e-3)" });
        }
        Ok(Self { options, ..Self::default() })
    }

    /// Why the last run ended without a solution; `None` after success.
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
    fn find_offenders(&mut self, problem: &Lcp, z: &[f64]) {
        let tolerance = self.options.sign_tolerance;
        let z_size = z.iter().fold(0.0, |size: f64, z| size.max(z.abs()));
        self.offenders.clear();
        for (i, &z_i) in z.iter().enumerate() {
            let (row, q) = (problem.m().row(i), problem.q()[i]);
            let negative = if self.active[i] {
                z_i < -tolerance * z_size
            } else {
                let terms: f64 = row.iter().zip(z).map(|(m, z)| (m * z).abs()).sum();
                dot(row, z) + q < -tolerance * (terms + q.abs())
            };
            if negative {
                self.offenders.push(i);
            }
        }
    }

    fn pivot(&mut self, problem: &Lcp, z: &mut [f64], bases: &mut u32) -> Result<(), PrincipalPivotingFailure> {
        let budget = self.options.max_bases.unwrap_or_else(|| 200 + 10 * problem.size() as u32);
        let (mut fewest, mut patience) = (usize::MAX, self.options.patience);
        while *bases < budget {
            *bases += 1;
            self.solve_basis(problem, z)?;
            self.find_offenders(problem, z);
            let Some(&least) = self.offenders.first() else {
                // A basic variable that is zero up to rounding may have either sign.
                for z in z.iter_mut() {
                    *z = z.max(0.0);
                }
                return Ok(());
            };
            if self.offenders.len() < fewest {
                (fewest, patience) = (self.offenders.len(), self.options.patience);
            } else {
                patience = patience.saturating_sub(1);
            }
            if patience > 0 {
                self.offenders.iter().for_each(|&i| self.active[i] = !self.active[i]);
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
