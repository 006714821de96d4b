//! Pivoting for mixed problems with a singular equality block.   [MLCP-6]
//!
//! While A has a pivot, an equality is exchanged with a free variable, as in elimination. Without one, a double pivot
//! exchanges an equality with some z_j and the row w_j with a free variable, so (z_j, w_j) stays a complementary pair. The
//! nonbasic variables form the reduced LCP. Redundant equalities are dropped. Free variables without a pivot are set to
//! zero.

use super::{MixedLcp, MixedLcpSolution};
use crate::lcp::{Lcp, LcpSolution};
use crate::linalg::{DenseLu, DenseMatrix};
use crate::outcome::{Ending, Status};
use crate::problem::{Problem, ProblemError};
use crate::solver::Solver;

/// Reason why the last run did not obtain its LCP.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PivotingFailure {
    /// An equality has become 0 = constant: there is no solution.
    #[error("equality {row} contradicts the others: after elimination it reads 0 = {value:e}")]
    Contradiction {
        /// The equality row.
        row: usize,
        /// The remaining constant.
        value: f64,
    },
    /// There is no pivot for this equality.
    #[error("equality {row} depends on complementary variables only, and no free variable can replace them")]
    NoPivot {
        /// The equality row.
        row: usize,
    },
    /// The problem itself, or the LCP computed from it, is illegal.
    #[error("the problem cannot be reduced: {0}")]
    Problem(#[from] ProblemError),
}

/// Solves a [`MixedLcp`] with a singular equality block by pivoting; `S` solves the reduced LCP.
#[derive(Clone, Debug, Default)]
pub struct MixedLcpPivoting<S> {
    inner: S,
    /// y = T x + value for the basic y and the nonbasic x; row and column i start as y_i and x_i.
    tableau: DenseMatrix,
    value: Vec<f64>,
    /// First-order bounds on the rounding errors of both; numbers below their error count as zero.
    tableau_error: DenseMatrix,
    value_error: Vec<f64>,
    /// Largest initial entry of each row, which its pivots are compared with.
    row_sizes: Vec<f64>,
    /// Row in which the free variable of column l is basic.
    free_rows: Vec<Option<usize>>,
    equality_done: Vec<bool>,
    /// True if z_j is basic, so that w_j is the unknown of the LCP.
    swapped: Vec<bool>,
    undetermined: bool,
    lcp: Lcp,
    lcp_solution: LcpSolution,
    lu: DenseLu,
    basis: Vec<usize>,
    defect: Vec<f64>,
    correction: Vec<f64>,
    corrected: MixedLcpSolution,
    pivot_row: Vec<f64>,
    pivot_error: Vec<f64>,
    failure: Option<PivotingFailure>,
}

impl<S: Solver<Lcp> + Default> MixedLcpPivoting<S> {
    /// Fraction of its row below which a pivot counts as zero. Dimensionless; as for factorisations.
    const ZERO: f64 = 1e-11;

    /// The pivoting in front of `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, ..Self::default() }
    }

    /// The method that solves the LCP, for instance to read its failure.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Reason why the last run did not obtain its LCP; `None` if it did.
    pub fn last_failure(&self) -> Option<&PivotingFailure> {
        self.failure.as_ref()
    }

    /// The LCP of the last run.
    pub fn reduced(&self) -> &Lcp {
        &self.lcp
    }

    /// Initialises T = [A C; D B], value = (a, b).
    fn start(&mut self, problem: &MixedLcp) {
        let (n, free) = (problem.size(), problem.free_size());
        self.tableau.reset(n, n);
        self.tableau_error.reset(n, n);
        self.value.clear();
        self.value_error.clear();
        self.value_error.resize(n, 0.0);
        self.row_sizes.clear();
        for (block, first) in [(&problem.equality, 0), (&problem.complementarity, free)] {
            for (i, &constant) in block.constant.iter().enumerate() {
                let row = self.tableau.row_mut(first + i);
                block.on_free.row(i).for_each(|(j, value)| row[j] += value);
                block.on_complementary.row(i).for_each(|(j, value)| row[free + j] += value);
                let size = row.iter().fold(constant.abs(), |size, x| size.max(x.abs()));
                // The given numbers are rounded themselves; zeros are exact.
                let given = |x: f64| if x == 0.0 { 0.0 } else { f64::EPSILON * size };
                let errors = self.tableau_error.row_mut(first + i).iter_mut();
                errors.zip(&*row).for_each(|(error, x)| *error = given(*x));
                self.value_error[first + i] = given(constant);
                self.row_sizes.push(size);
                self.value.push(constant);
            }
        }
        debug_assert_eq!(self.value.len(), n, "one constant per row");
        self.free_rows.clear();
        self.free_rows.resize(free, None);
        self.equality_done.clear();
        self.equality_done.resize(free, false);
        self.swapped.clear();
        self.swapped.resize(n - free, false);
        self.undetermined = false;
    }

    /// Absolute entry relative to the size of its row; zero if it is not larger than its error.
    fn relative(&self, row: usize, col: usize) -> f64 {
        let (size, entry) =
            (self.row_sizes[row], zero_within_error(self.tableau[(row, col)], self.tableau_error[(row, col)]));
        if size > 0.0 { entry.abs() / size } else { 0.0 }
    }

    /// Position of the largest entry among the remaining equalities and free variables.
    fn best_single(&self) -> Option<(usize, usize)> {
        let free = self.free_rows.len();
        let open_cols = || (0..free).filter(|&l| self.free_rows[l].is_none());
        let places = (0..free).filter(|&k| !self.equality_done[k]).flat_map(|k| open_cols().map(move |l| (k, l)));
        largest(places.map(|(k, l)| ((k, l), self.relative(k, l))), Self::ZERO)
    }

    /// Double pivot (k, j, l): the pair j with the largest product of its entries in an equality k and a free column l.
    fn best_double(&self) -> Option<(usize, usize, usize)> {
        let free = self.free_rows.len();
        let pairs = (0..self.swapped.len()).map(|j| free + j);
        let candidates = pairs.filter_map(|j| {
            let rows = (0..free).filter(|&k| !self.equality_done[k]);
            let k = largest(rows.map(|k| (k, self.relative(k, j))), Self::ZERO)?;
            let cols = (0..free).filter(|&l| self.free_rows[l].is_none());
            let l = largest(cols.map(|l| (l, self.relative(j, l))), Self::ZERO)?;
            Some(((k, j, l), self.relative(k, j) * self.relative(j, l)))
        });
        largest(candidates, 0.0)
    }

    /// Exchanges the basic variable of `row` with the nonbasic one of `col`, and propagates the error bounds.
    fn pivot(&mut self, row: usize, col: usize) {
        let (pivot, pivot_error) = (self.tableau[(row, col)], self.tableau_error[(row, col)]);
        let inverse = 1.0 / pivot;
        // The error of a quotient x/p: (error of x + |x/p| · error of p)/|p|, and its own rounding.
        let quotient_error = |quotient: f64, error: f64| {
            (error + quotient.abs() * pivot_error) * inverse.abs() + f64::EPSILON * quotient.abs()
        };
        self.pivot_row.clear();
        self.pivot_row.extend(self.tableau.row(row).iter().map(|x| -x * inverse));
        self.pivot_row[col] = inverse;
        self.pivot_error.clear();
        let errors = self.pivot_row.iter().zip(self.tableau_error.row(row));
        self.pivot_error.extend(errors.map(|(x, error)| quotient_error(*x, *error)));
        self.pivot_error[col] = quotient_error(inverse, 0.0);
        self.tableau.row_mut(row).copy_from_slice(&self.pivot_row);
        self.tableau_error.row_mut(row).copy_from_slice(&self.pivot_error);
        self.value[row] *= -inverse;
        self.value_error[row] = quotient_error(self.value[row], self.value_error[row]);
        let (value, value_error) = (self.value[row], self.value_error[row]);
        for i in (0..self.value.len()).filter(|&i| i != row) {
            let (entries, errors) = (self.tableau.row_mut(i), self.tableau_error.row_mut(i));
            let factor = std::mem::replace(&mut entries[col], 0.0);
            let factor_error = std::mem::replace(&mut errors[col], 0.0);
            if factor != 0.0 {
                let add = |x: &mut f64, error: &mut f64, p: f64, p_error: f64| {
                    let product = factor * p;
                    *x += product;
                    *error +=
                        factor.abs() * p_error + p.abs() * factor_error + f64::EPSILON * (product.abs() + x.abs());
                };
                for (k, (x, error)) in entries.iter_mut().zip(errors).enumerate() {
                    add(x, error, self.pivot_row[k], self.pivot_error[k]);
                }
                add(&mut self.value[i], &mut self.value_error[i], value, value_error);
            }
        }
    }

    /// Pivots until no equality has a pivot, and computes the reduced LCP.   [MLCP-6]
    fn reduce(&mut self, problem: &MixedLcp) -> Result<(), PivotingFailure> {
        problem.ensure_shapes()?;
        problem.ensure_finite()?;
        self.start(problem);
        let free = problem.free_size();
        loop {
            if let Some((k, l)) = self.best_single() {
                self.pivot(k, l);
                self.free_rows[l] = Some(k);
                self.equality_done[k] = true;
            } else if let Some((k, j, l)) = self.best_double() {
                self.pivot(k, j);
                self.pivot(j, l);
                // Row k now has the variable of column j, and row j the free one. Rows k and j are interchanged so that
                // position j keeps its own pair.
                self.swap_rows(k, j);
                self.free_rows[l] = Some(k);
                self.equality_done[k] = true;
                self.swap_columns(l, j);
                self.swapped[j - free] = !self.swapped[j - free];
                // Row j has another variable now, in other units.
                let size = self.tableau.row(j).iter().fold(0.0, |size: f64, x| size.max(x.abs()));
                self.row_sizes[j] = size.max(self.value[j].abs());
            } else {
                break;
            }
        }
        debug_assert_eq!(
            self.equality_done.iter().filter(|done| **done).count(),
            self.free_rows.iter().flatten().count(),
            "each eliminated equality has a basic free variable"
        );
        self.check_remaining_equalities(problem)?;
        let (tableau, tableau_error) = (&self.tableau, &self.tableau_error);
        let (value, value_error) = (&self.value, &self.value_error);
        self.lcp.refill(problem.complementary_size(), |m, q| {
            for (i, q) in q.iter_mut().enumerate() {
                let entries = tableau.row(free + i).iter().zip(tableau_error.row(free + i)).skip(free);
                m.row_mut(i).iter_mut().zip(entries).for_each(|(m, (x, error))| *m = zero_within_error(*x, *error));
                *q = zero_within_error(value[free + i], value_error[free + i]);
            }
        })?;
        Ok(())
    }

    fn swap_rows(&mut self, a: usize, b: usize) {
        for col in 0..self.value.len() {
            for matrix in [&mut self.tableau, &mut self.tableau_error] {
                let x = matrix[(a, col)];
                matrix[(a, col)] = matrix[(b, col)];
                matrix[(b, col)] = x;
            }
        }
        self.value.swap(a, b);
        self.value_error.swap(a, b);
    }

    fn swap_columns(&mut self, a: usize, b: usize) {
        for row in 0..self.value.len() {
            self.tableau.row_mut(row).swap(a, b);
            self.tableau_error.row_mut(row).swap(a, b);
        }
    }

    /// Checks that equalities without a pivot are redundant.
    fn check_remaining_equalities(&mut self, problem: &MixedLcp) -> Result<(), PivotingFailure> {
        let free = problem.free_size();
        for row in (0..free).filter(|&k| !self.equality_done[k]) {
            if (free..problem.size()).any(|j| self.relative(row, j) > Self::ZERO) {
                return Err(PivotingFailure::NoPivot { row });
            }
            let value = zero_within_error(self.value[row], self.value_error[row]);
            if value.abs() > Self::ZERO * self.row_sizes[row] {
                // Entries too small for a pivot still count: a large variable could satisfy the equality.
                let open = (0..free).filter(|&l| self.free_rows[l].is_none()).chain(free..problem.size());
                let binds =
                    |col: usize| zero_within_error(self.tableau[(row, col)], self.tableau_error[(row, col)]) != 0.0;
                if open.into_iter().any(binds) {
                    return Err(PivotingFailure::NoPivot { row });
                }
                return Err(PivotingFailure::Contradiction { row, value });
            }
        }
        let matters = |l: usize| (free..problem.size()).any(|row| self.relative(row, l) > Self::ZERO);
        self.undetermined = (0..free).any(|l| self.free_rows[l].is_none() && matters(l));
        Ok(())
    }

    /// Computes u and z from the solution of the LCP.
    fn recover(&mut self, solution: &mut MixedLcpSolution) {
        let free = self.free_rows.len();
        debug_assert_eq!(solution.free.len(), free, "free variables");
        debug_assert_eq!(solution.complementary.len(), self.swapped.len(), "complementary variables");
        let (x, tableau, value) = (&self.lcp_solution.z, &self.tableau, &self.value);
        let basic = |row: usize| value[row] + crate::linalg::dot(&tableau.row(row)[free..], x);
        for (u, row) in solution.free.iter_mut().zip(&self.free_rows) {
            *u = row.map_or(0.0, basic);
        }
        for (j, z) in solution.complementary.iter_mut().enumerate() {
            *z = if self.swapped[j] { basic(free + j).max(0.0) } else { x[j] };
        }
    }

    /// Solves the equalities and the rows with z > 0 once more from the original numbers.   [MLCP-5]
    ///
    /// This removes the rounding errors of the pivots. The result is kept only if its residual is smaller.
    fn polish(&mut self, problem: &MixedLcp, solution: &mut MixedLcpSolution) {
        let before = problem.residual(solution).value;
        let free = problem.free_size();
        self.basis.clear();
        self.basis.extend(0..free);
        self.basis
            .extend((0..solution.complementary.len()).filter(|&j| solution.complementary[j] > 0.0).map(|j| free + j));
        let basis = &self.basis;
        let block_of = |i: usize| match i.checked_sub(free) {
            None => (&problem.equality, i),
            Some(row) => (&problem.complementarity, row),
        };
        let factored = self.lu.factor(basis.len(), |a| {
            for (&i, row) in basis.iter().zip(a.chunks_exact_mut(basis.len().max(1))) {
                let (block, i) = block_of(i);
                block.on_free.row(i).for_each(|(l, value)| row[l] += value);
                for (j, value) in block.on_complementary.row(i) {
                    if let Ok(place) = basis.binary_search(&(free + j)) {
                        row[place] += value;
                    }
                }
            }
        });
        if factored.is_err() {
            return;
        }
        let (u, z) = (&solution.free, &solution.complementary);
        self.defect.clear();
        self.defect.extend(basis.iter().map(|&i| {
            let (block, i) = block_of(i);
            -block.value(i, u, z)
        }));
        self.correction.resize(basis.len(), 0.0);
        self.lu.solve(&self.defect, &mut self.correction);
        self.corrected.copy_from(solution);
        for (&i, correction) in basis.iter().zip(&self.correction) {
            match i.checked_sub(free) {
                None => self.corrected.free[i] += correction,
                Some(j) => self.corrected.complementary[j] = (self.corrected.complementary[j] + correction).max(0.0),
            }
        }
        if problem.residual(&self.corrected).value < before {
            std::mem::swap(solution, &mut self.corrected);
        }
    }
}

/// Returns x, or zero if x is within ten times its error bound, which is of first order only.
fn zero_within_error(x: f64, error: f64) -> f64 {
    if x.abs() > 10.0 * error { x } else { 0.0 }
}

/// Item of the largest weight above `least`.
fn largest<T>(items: impl Iterator<Item = (T, f64)>, least: f64) -> Option<T> {
    let mut best = (None, least);
    for (item, weight) in items {
        if weight > best.1 {
            best = (Some(item), weight);
        }
    }
    best.0
}

impl<S: Solver<Lcp> + Default> Solver<MixedLcp> for MixedLcpPivoting<S> {
    fn run(&mut self, problem: &MixedLcp, _: Option<&MixedLcpSolution>, solution: &mut MixedLcpSolution) -> Ending {
        solution.reset(problem.free_size(), problem.complementary_size());
        self.failure = self.reduce(problem).err();
        match self.failure {
            None => {}
            Some(PivotingFailure::Contradiction { .. }) => return Ending::new(Status::Infeasible, 0),
            Some(_) => return Ending::new(Status::Breakdown, 0),
        }
        let mut ending = self.inner.run(&self.lcp, None, &mut self.lcp_solution);
        if self.lcp_solution.z.len() != problem.complementary_size() {
            return Ending::new(Status::Breakdown, ending.iterations);
        }
        // If a free variable was set to zero arbitrarily, infeasibility of the LCP does not prove that of the problem.
        if ending.status == Status::Infeasible && self.undetermined {
            ending.status = Status::Breakdown;
        }
        self.recover(solution);
        self.polish(problem, solution);
        ending
    }
}
