//! Enumeration of all 2ⁿ complementary bases of a small problem.   [LCP-6]
//!
//! For each set Z of rows with w_Z = 0 and z = 0 elsewhere it solves M_ZZ z_Z = −q_Z by elimination with complete pivoting
//! after equilibration. A singular M_ZZ either contradicts q_Z, which excludes the set, or leaves some z_i free. Then the
//! point with zero free variables is tried; if it fails, the set counts as undecided. A set whose point fails by no more
//! than its rounding error is undecided too, so that only proven failures are excluded.

use super::{Lcp, LcpSolution};
use crate::outcome::{Ending, Status};
use crate::problem::Problem;
use crate::solver::Solver;

/// Exhaustive search over complementary bases, for n ≤ [`MAX_SIZE`](LcpEnumeration::MAX_SIZE).
#[derive(Clone, Debug, Default)]
pub struct LcpEnumeration {
    augmented: Vec<f64>,
    columns: Vec<usize>,
    rows: Vec<usize>,
    /// Scale factors of the rows and columns of M_ZZ, in the order of Z.
    row_units: Vec<f64>,
    column_units: Vec<f64>,
    /// Smallest pivot of the last basis, of a matrix with entries up to one.
    least_pivot: f64,
    candidate: LcpSolution,
}

/// Result of an exhaustive search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enumerated {
    /// Distinct solutions at complementary bases, in the order of their sets Z read as binary numbers.
    pub solutions: Vec<LcpSolution>,
    /// Number of undecided sets Z; if it is zero and no solution was found, the problem has none.
    pub undecided: usize,
}

enum BasisSystem {
    Solved,
    Free,
    Contradiction,
}

impl LcpEnumeration {
    /// Largest n: 2¹⁶ bases.
    pub const MAX_SIZE: usize = 16;

    /// Largest residual [LCP-2] of a solution. Dimensionless.
    pub const TOLERANCE: f64 = 1e-10;

    /// Relative error of the elimination, times the smallest pivot. Dimensionless.
    const ROUNDING: f64 = 1e-14;

    /// The search, with its scratch memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// All solutions at complementary bases; `None` if the problem is too large.
    pub fn all(&mut self, problem: &Lcp) -> Option<Enumerated> {
        let mut found = Enumerated::default();
        self.search(problem, |solution| {
            let near = |known: &LcpSolution| distance(known, solution) <= 1e3 * Self::TOLERANCE;
            if !found.solutions.iter().any(near) {
                found.solutions.push(solution.clone());
            }
            true
        })
        .map(|(_, undecided)| Enumerated { undecided, ..found })
    }

    /// Visits solutions until `visit` returns false; returns the numbers of tried and of undecided bases.
    fn search(&mut self, problem: &Lcp, mut visit: impl FnMut(&LcpSolution) -> bool) -> Option<(u32, usize)> {
        let n = problem.size();
        if n > Self::MAX_SIZE {
            return None;
        }
        let mut undecided = 0;
        for set in 0..1_u32 << n {
            let system = self.solve_basis(problem, set);
            if matches!(system, BasisSystem::Contradiction) {
                continue;
            }
            if problem.residual(&self.candidate).value <= Self::TOLERANCE {
                for z in &mut self.candidate.z {
                    *z = z.max(0.0);
                }
                if !visit(&self.candidate) {
                    return Some((set + 1, undecided));
                }
            } else if matches!(system, BasisSystem::Free) || !self.is_ruled_out(problem) {
                undecided += 1;
            }
        }
        Some((1 << n, undecided))
    }

    /// True if an entry of the candidate is negative by more than its rounding error.
    ///
    /// z is compared with the largest z in the units of the basis, w with the terms of its sum. The smallest pivot bounds the
    /// error of both.
    fn is_ruled_out(&self, problem: &Lcp) -> bool {
        let uncertain = (Self::ROUNDING / self.least_pivot).max(Self::TOLERANCE);
        let z = &self.candidate.z;
        let in_units = |k: usize| z[self.rows[k]] / self.column_units[k];
        let largest = (0..self.rows.len()).fold(0.0, |largest: f64, k| largest.max(in_units(k).abs()));
        if (0..self.rows.len()).any(|k| in_units(k) < -uncertain * largest) {
            return true;
        }
        (0..z.len()).filter(|i| !self.rows.contains(i)).any(|i| {
            let terms: f64 = problem.m().row(i).iter().zip(z).map(|(m, z)| (m * z).abs()).sum();
            problem.w(i, z) < -uncertain * (terms + problem.q()[i].abs())
        })
    }

    /// Solves M_ZZ z_Z = −q_Z into `candidate` by Gauss-Jordan elimination with complete pivoting.
    fn solve_basis(&mut self, problem: &Lcp, set: u32) -> BasisSystem {
        self.candidate.z.clear();
        self.candidate.z.resize(problem.size(), 0.0);
        self.rows.clear();
        self.rows.extend((0..problem.size()).filter(|i| set >> i & 1 == 1));
        self.columns.clear();
        self.columns.extend(0..self.rows.len());
        let size = self.rows.len();
        let width = size + 1;
        self.scale(problem);
        self.augmented.clear();
        for (&i, row_unit) in self.rows.iter().zip(&self.row_units) {
            let columns = self.rows.iter().zip(&self.column_units);
            self.augmented.extend(columns.map(|(&j, unit)| problem.m()[(i, j)] * row_unit * unit));
            self.augmented.push(-problem.q()[i] * row_unit);
        }
        debug_assert_eq!(self.augmented.len(), size * width, "entries of the augmented matrix");
        let right_size = (0..size).fold(0.0, |most: f64, k| most.max(self.augmented[k * width + size].abs()));
        self.least_pivot = 1.0;
        let mut rank = 0;
        while rank < size && self.eliminate(rank, size, crate::linalg::VANISHED_PIVOT) {
            self.least_pivot = self.least_pivot.min(self.augmented[rank * width + rank].abs());
            rank += 1;
        }
        let right_side = |k: usize| self.augmented[k * width + size];
        if (rank..size).any(|k| right_side(k).abs() > Self::TOLERANCE * right_size) {
            return BasisSystem::Contradiction;
        }
        for k in 0..rank {
            let column = self.columns[k];
            let value = right_side(k) / self.augmented[k * width + k];
            self.candidate.z[self.rows[column]] = value * self.column_units[column];
        }
        if rank == size { BasisSystem::Solved } else { BasisSystem::Free }
    }

    /// Computes factors that scale the largest entry of each row, then of each column of M_ZZ to one.
    fn scale(&mut self, problem: &Lcp) {
        let inverse = |size: f64| if size > 0.0 { 1.0 / size } else { 1.0 };
        let (rows, m) = (&self.rows, problem.m());
        self.row_units.clear();
        let largest_in_row = |&i: &usize| rows.iter().fold(0.0, |size: f64, &j| size.max(m[(i, j)].abs()));
        self.row_units.extend(rows.iter().map(|i| inverse(largest_in_row(i))));
        let scaled_rows = || rows.iter().zip(&self.row_units);
        let largest_in_column =
            |&j: &usize| scaled_rows().fold(0.0, |size: f64, (&i, unit)| size.max((m[(i, j)] * unit).abs()));
        self.column_units.clear();
        self.column_units.extend(rows.iter().map(|j| inverse(largest_in_column(j))));
    }

    /// Executes one step of the elimination; false if no pivot is larger than `zero`.
    fn eliminate(&mut self, k: usize, size: usize, zero: f64) -> bool {
        let width = size + 1;
        let (mut best, mut best_size) = ((k, k), zero);
        for i in k..size {
            for j in k..size {
                let entry = self.augmented[i * width + j].abs();
                if entry > best_size {
                    (best, best_size) = ((i, j), entry);
                }
            }
        }
        if best_size <= zero {
            return false;
        }
        for j in 0..width {
            self.augmented.swap(k * width + j, best.0 * width + j);
        }
        for i in 0..size {
            self.augmented.swap(i * width + k, i * width + best.1);
        }
        self.columns.swap(k, best.1);
        for i in (0..size).filter(|&i| i != k) {
            let factor = self.augmented[i * width + k] / self.augmented[k * width + k];
            for j in k..width {
                self.augmented[i * width + j] -= factor * self.augmented[k * width + j];
            }
        }
        true
    }
}

/// Largest relative difference of two solutions.
fn distance(a: &LcpSolution, b: &LcpSolution) -> f64 {
    debug_assert_eq!(a.z.len(), b.z.len(), "solutions of one problem");
    a.z.iter().zip(&b.z).fold(0.0, |largest: f64, (x, y)| largest.max((x - y).abs() / x.abs().max(y.abs()).max(1.0)))
}

impl Solver<Lcp> for LcpEnumeration {
    /// Finds the first solution. `Infeasible` is a proof; `Breakdown` means that n is too large or a set is undecided.
    fn run(&mut self, problem: &Lcp, _guess: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        solution.z.clear();
        solution.z.resize(problem.size(), 0.0);
        let mut solved = false;
        let searched = self.search(problem, |found| {
            solution.z.copy_from_slice(&found.z);
            solved = true;
            false
        });
        match searched {
            Some((bases, _)) if solved => Ending::new(Status::Solved, bases),
            Some((bases, 0)) => Ending::new(Status::Infeasible, bases),
            Some((bases, _)) => Ending::new(Status::Breakdown, bases),
            None => Ending::new(Status::Breakdown, 0),
        }
    }
}
