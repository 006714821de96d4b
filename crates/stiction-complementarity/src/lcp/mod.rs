//! The linear complementarity problem: find z ≥ 0 with w = M z + q ≥ 0 and zᵀ w = 0.   [LCP-1]

pub(crate) mod diagnostics;
mod dictionary;
pub(crate) mod enumeration;
pub(crate) mod gauss_seidel;
pub(crate) mod ladder;
pub(crate) mod lemke;
pub(crate) mod newton;
pub(crate) mod principal_pivoting;
pub(crate) mod uniqueness;

use crate::linalg::DenseMatrix;
use crate::problem::{Problem, ProblemError, Residual, ensure_finite, ensure_size, natural_map, residual_scale};

/// A linear complementarity problem with a dense matrix. A value that exists is square and finite.   [LCP-1]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lcp {
    m: DenseMatrix,
    q: Vec<f64>,
}

/// A proposed z; w = M z + q follows from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LcpSolution {
    /// The complementary variables.
    pub z: Vec<f64>,
}

impl Lcp {
    /// The problem with this matrix and vector; rejects wrong sizes and non-finite numbers.
    pub fn new(m: DenseMatrix, q: Vec<f64>) -> Result<Self, ProblemError> {
        let problem = Self { m, q };
        problem.check()?;
        Ok(problem)
    }

    /// Replaces the problem and reuses its memory: `fill` writes into n × n and n zeros.
    ///
    /// The problem is empty (n = 0) if the new numbers are illegal.
    pub fn refill(&mut self, n: usize, fill: impl FnOnce(&mut DenseMatrix, &mut [f64])) -> Result<(), ProblemError> {
        self.m.reset(n, n);
        self.q.clear();
        self.q.resize(n, 0.0);
        fill(&mut self.m, &mut self.q);
        let checked = self.check();
        if checked.is_err() {
            self.m.reset(0, 0);
            self.q.clear();
        }
        checked
    }

    /// The matrix M.
    pub fn m(&self) -> &DenseMatrix {
        &self.m
    }

    /// The vector q.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// The number of rows n.
    pub fn size(&self) -> usize {
        self.q.len()
    }

    /// w_i = M_i z + q_i.
    pub fn w(&self, row: usize, z: &[f64]) -> f64 {
        crate::linalg::dot(self.m.row(row), z) + self.q[row]
    }

    fn check(&self) -> Result<(), ProblemError> {
        let (rows, cols) = (self.m.rows(), self.m.cols());
        if rows != cols {
            return Err(ProblemError::NotSquare { rows, cols });
        }
        ensure_size("q", rows, self.q.len())?;
        ensure_finite("q", &self.q)?;
        // A sum is finite only if all terms are; the row is searched for only in case of an error.
        if self.m.as_slice().iter().map(|x| x * 0.0).sum::<f64>() == 0.0 {
            return Ok(());
        }
        for row in 0..rows {
            if let Some(&value) = self.m.row(row).iter().find(|value| !value.is_finite()) {
                return Err(ProblemError::NotFinite { part: "M", row, value });
            }
        }
        Ok(())
    }
}

/// The initial guess, unless its length is wrong or it has non-finite numbers.
fn usable_guess<'g>(problem: &Lcp, guess: Option<&'g LcpSolution>) -> Option<&'g LcpSolution> {
    guess.filter(|guess| guess.z.len() == problem.size() && guess.z.iter().all(|z| z.is_finite()))
}

impl Problem for Lcp {
    type Solution = LcpSolution;

    /// ‖min(z, M z + q)‖∞ / max(1, ‖q‖∞).   [LCP-2]
    fn residual(&self, solution: &LcpSolution) -> Residual {
        if solution.z.len() != self.size() {
            return Residual::undefined(solution.z.len().min(self.size()));
        }
        let violations = solution.z.iter().enumerate().map(|(row, &z)| natural_map(z, self.w(row, &solution.z)));
        Residual::worst_of(violations, residual_scale(self.q.iter().copied()))
    }
}
