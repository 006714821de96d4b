//! Elimination of the free variables: the mixed problem becomes an LCP with the Schur complement of A.   [MLCP-3]
//!
//! It needs a regular A. For each row d of D it solves Aᵀ y = d and then combines the few rows of C with a nonzero y, so it
//! uses the sparsity of all blocks and transposes nothing.

use super::equality::EqualityFactor;
use super::{MixedLcp, MixedLcpSolution};
use crate::lcp::{Lcp, LcpSolution};
use crate::linalg::{DenseLu, SparseMatrix};
use crate::outcome::{Ending, Status};
use crate::problem::{Problem, ProblemError};
use crate::solver::Solver;
use std::ops::Range;

/// Reason why the last run did not obtain its LCP.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchurFailure {
    /// A is singular to working precision.
    #[error(
        "the equality block is singular: its row {row} depends on the others (redundant joints, or a free variable \
         without inertia), so the free variables cannot be eliminated; remove the redundant rows, or use a method for \
         mixed problems that does not eliminate them"
    )]
    SingularEquality {
        /// The row of A.
        row: usize,
    },
    /// The problem itself, or the LCP computed from it, is illegal.
    #[error("the problem cannot be reduced: {0}")]
    Problem(#[from] ProblemError),
}

/// Scratch memory of the last correction of z.
#[derive(Clone, Debug, Default)]
struct Polish {
    active: Vec<usize>,
    lu: DenseLu,
    defect: Vec<f64>,
    correction: Vec<f64>,
    corrected: MixedLcpSolution,
}

/// Solves a [`MixedLcp`] by elimination of its free variables; `S` solves the reduced LCP.
#[derive(Clone, Debug, Default)]
pub struct MixedLcpSchur<S> {
    inner: S,
    factor: EqualityFactor,
    lcp: Lcp,
    lcp_guess: LcpSolution,
    lcp_solution: LcpSolution,
    row: Vec<f64>,
    touched: Vec<Range<usize>>,
    /// Column range of each row of C; `None` if its columns are not contiguous.
    contiguous: Vec<Option<Range<usize>>>,
    right_side: Vec<f64>,
    polish: Polish,
    failure: Option<SchurFailure>,
}

impl<S: Solver<Lcp>> MixedLcpSchur<S> {
    /// Residual [MLCP-2] below which the solution is not polished. Dimensionless; a few units of rounding.
    const POLISHED: f64 = 1e-15;

    /// The elimination in front of `inner`.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            factor: EqualityFactor::default(),
            lcp: Lcp::default(),
            lcp_guess: LcpSolution::default(),
            lcp_solution: LcpSolution::default(),
            row: Vec::new(),
            touched: Vec::new(),
            contiguous: Vec::new(),
            right_side: Vec::new(),
            polish: Polish::default(),
            failure: None,
        }
    }

    /// The method that solves the LCP, for instance to read its failure.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Reason why the last run did not obtain its LCP; `None` if it did.
    pub fn last_failure(&self) -> Option<&SchurFailure> {
        self.failure.as_ref()
    }

    /// The LCP of the last run.
    pub fn reduced(&self) -> &Lcp {
        &self.lcp
    }

    /// Factorises A and computes M = B − D A⁻¹ C, q = b − D A⁻¹ a, without solving.   [MLCP-3]
    pub fn reduce(&mut self, problem: &MixedLcp) -> Result<&Lcp, SchurFailure> {
        problem.ensure_shapes()?;
        problem.ensure_finite()?;
        self.factor
            .factor(&problem.equality.on_free)
            .map_err(|singular| SchurFailure::SingularEquality { row: singular.row })?;
        self.row.resize(problem.free_size(), 0.0);
        let (equality, complementarity) = (&problem.equality, &problem.complementarity);
        let (factor, y, touched) = (&mut self.factor, &mut self.row, &mut self.touched);
        self.contiguous.clear();
        let c = &equality.on_complementary;
        self.contiguous.extend((0..c.rows()).map(|k| c.contiguous_columns(k)));
        let contiguous = &self.contiguous;
        self.lcp.refill(problem.complementary_size(), |m, q| {
            for (i, q_i) in q.iter_mut().enumerate() {
                let m_i = m.row_mut(i);
                *q_i = complementarity.constant[i];
                for (j, value) in complementarity.on_complementary.row(i) {
                    m_i[j] += value;
                }
                factor.solve_transposed(complementarity.on_free.row(i), y, touched);
                for k in touched.iter().cloned().flatten() {
                    if y[k] != 0.0 {
                        *q_i -= y[k] * equality.constant[k];
                        subtract_row(c, (k, &contiguous[k]), y[k], m_i);
                    }
                }
            }
        })?;
        Ok(&self.lcp)
    }

    /// True if y, a certificate that the LCP is infeasible, also proves it for the mixed problem.   [MLCP-7]
    ///
    /// The numbers of the LCP have the rounding errors of A⁻¹. The weights of the equalities are x = −A⁻ᵀ Dᵀ y.
    pub(super) fn confirms(&mut self, problem: &MixedLcp, y: &[f64]) -> bool {
        if y.len() != problem.complementary_size() || self.failure.is_some() {
            return false;
        }
        let mut d = vec![0.0; problem.free_size()];
        for (i, weight) in y.iter().enumerate() {
            problem.complementarity.on_free.row(i).for_each(|(l, value)| d[l] += weight * value);
        }
        self.factor.solve_transposed(d.iter().copied().enumerate(), &mut self.row, &mut self.touched);
        let mut x = vec![0.0; problem.free_size()];
        self.touched.iter().cloned().flatten().for_each(|k| x[k] = -self.row[k]);
        proves_infeasible(problem, &x, y)
    }

    /// Computes u = −A⁻¹ (C z + a), refined once.   [MLCP-3]
    fn back_substitute(&mut self, problem: &MixedLcp, solution: &mut MixedLcpSolution) {
        self.right_side.resize(problem.free_size(), 0.0);
        for _ in 0..2 {
            for (i, defect) in self.right_side.iter_mut().enumerate() {
                *defect = -problem.equality.value(i, &solution.free, &solution.complementary);
            }
            self.factor.solve(&self.right_side, &mut self.row);
            debug_assert_eq!(solution.free.len(), self.row.len(), "one correction per free variable");
            for (u, correction) in solution.free.iter_mut().zip(&self.row) {
                *u += correction;
            }
        }
    }

    /// Removes the error of the active rows due to the rounding of M and q: M_ZZ Δz = −w_Z.   [MLCP-5]
    ///
    /// It matters if A is ill conditioned, as for long chains. The result is kept only if its residual is smaller.
    fn polish(&mut self, problem: &MixedLcp, solution: &mut MixedLcpSolution) {
        let before = problem.residual(solution).value;
        if before <= Self::POLISHED || !before.is_finite() {
            return;
        }
        let polish = &mut self.polish;
        let (u, z) = (&solution.free, &solution.complementary);
        polish.active.clear();
        polish.active.extend((0..z.len()).filter(|&i| z[i] > 0.0));
        let (active, m) = (&polish.active, self.lcp.m());
        let factored = polish.lu.factor(active.len(), |block| {
            for (entry, (i, j)) in
                block.iter_mut().zip(active.iter().flat_map(|&i| active.iter().map(move |&j| (i, j))))
            {
                *entry = m[(i, j)];
            }
        });
        if factored.is_err() {
            return;
        }
        polish.defect.clear();
        polish.defect.extend(active.iter().map(|&i| -problem.complementarity.value(i, u, z)));
        polish.correction.resize(active.len(), 0.0);
        polish.lu.solve(&polish.defect, &mut polish.correction);
        polish.corrected.free.clone_from(u);
        polish.corrected.complementary.clone_from(z);
        for (&i, correction) in active.iter().zip(&polish.correction) {
            let z_i = &mut polish.corrected.complementary[i];
            *z_i = (*z_i + correction).max(0.0);
        }
        let mut corrected = std::mem::take(&mut self.polish.corrected);
        self.back_substitute(problem, &mut corrected);
        if problem.residual(&corrected).value < before {
            std::mem::swap(solution, &mut corrected);
        }
        self.polish.corrected = corrected;
    }
}

/// m ← m − y (row k of C), without indirect addressing if the columns of the row are contiguous.
fn subtract_row(c: &SparseMatrix, (k, columns): (usize, &Option<Range<usize>>), y: f64, m: &mut [f64]) {
    match columns {
        Some(columns) => {
            debug_assert_eq!(columns.len(), c.row_values(k).len(), "one column per entry of row {k}");
            m[columns.clone()].iter_mut().zip(c.row_values(k)).for_each(|(m, value)| *m -= y * value);
        }
        None => c.row(k).for_each(|(j, value)| m[j] -= y * value),
    }
}

/// True if weights x of the equalities and y ≥ 0 of the other rows prove infeasibility, up to rounding.   [MLCP-7]
///
/// The weighted sum of the rows has no free variable, no positive coefficient of a z, and a negative constant.
fn proves_infeasible(problem: &MixedLcp, x: &[f64], y: &[f64]) -> bool {
    let (free, pairs) = (problem.free_size(), problem.complementary_size());
    let (mut on_free, mut on_pairs, mut constant) = (vec![(0.0, 0.0); free], vec![(0.0, 0.0); pairs], (0.0, 0.0));
    let add = |(sum, size): &mut (f64, f64), term: f64| (*sum, *size) = (*sum + term, *size + term.abs());
    for (block, weights) in [(&problem.equality, x), (&problem.complementarity, y)] {
        for (i, weight) in weights.iter().enumerate() {
            block.on_free.row(i).for_each(|(l, value)| add(&mut on_free[l], weight * value));
            block.on_complementary.row(i).for_each(|(j, value)| add(&mut on_pairs[j], weight * value));
            add(&mut constant, weight * block.constant[i]);
        }
    }
    // A large variable can compensate a wrong sign among the columns, so their tolerance is smaller than that of constants.
    let rounding = 1e-14 * problem.size() as f64;
    on_free.iter().all(|(sum, size)| sum.abs() <= rounding * size)
        && on_pairs.iter().all(|(sum, size)| *sum <= rounding * size)
        && constant.0 < -1e-9 * constant.1
}

impl<S: Solver<Lcp>> Solver<MixedLcp> for MixedLcpSchur<S> {
    fn run(&mut self, problem: &MixedLcp, guess: Option<&MixedLcpSolution>, solution: &mut MixedLcpSolution) -> Ending {
        solution.reset(problem.free_size(), problem.complementary_size());
        self.failure = self.reduce(problem).err();
        if self.failure.is_some() {
            return Ending::new(Status::Breakdown, 0);
        }
        let usable = |guess: &&MixedLcpSolution| {
            let z = &guess.complementary;
            z.len() == problem.complementary_size() && z.iter().all(|z_i| z_i.is_finite())
        };
        let guess = guess.filter(usable).map(|guess| {
            self.lcp_guess.z.clone_from(&guess.complementary);
            &self.lcp_guess
        });
        let ending = self.inner.run(&self.lcp, guess, &mut self.lcp_solution);
        if self.lcp_solution.z.len() != problem.complementary_size() {
            return Ending::new(Status::Breakdown, ending.iterations);
        }
        solution.complementary.copy_from_slice(&self.lcp_solution.z);
        self.back_substitute(problem, solution);
        self.polish(problem, solution);
        ending
    }
}
