//! Regularisation and scaling of an LCP: larger diagonals, and rows and columns in other units.   [LCP-13]

use crate::lcp::{Lcp, LcpSolution};
use crate::linalg::DenseMatrix;
use crate::problem::{ProblemError, ensure_size};

/// The problem with M_ii (1 + ε) on the diagonal: a relative compliance, so that redundant contacts share a load.
///
/// The solution changes by O(ε).   [LCP-13]
pub fn regularise_diagonal(problem: &Lcp, epsilon: f64) -> Result<Lcp, ProblemError> {
    let mut m = problem.m().clone();
    for i in 0..problem.size() {
        m[(i, i)] *= 1.0 + epsilon;
    }
    Lcp::new(m, problem.q().to_vec())
}

/// An LCP with rows and columns in other units: S M S z′ + S q with z = S z′.   [LCP-13]
///
/// The solutions are the same for every S > 0. With the step size as the scale of the slip bounds of a friction LCP the
/// blocks E and μ get the units of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledLcp {
    problem: Lcp,
    scales: Vec<f64>,
}

impl ScaledLcp {
    /// Scales row and column i by `scales[i]`; rejects wrong lengths, and scales that are not positive and finite.
    pub fn new(problem: &Lcp, scales: Vec<f64>) -> Result<Self, ProblemError> {
        let n = problem.size();
        ensure_size("scales", n, scales.len())?;
        if let Some((row, &value)) = scales.iter().enumerate().find(|(_, s)| !(**s > 0.0 && s.is_finite())) {
            return Err(ProblemError::NotFinite { part: "scales", row, value });
        }
        let mut m = DenseMatrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                m[(i, j)] = scales[i] * problem.m()[(i, j)] * scales[j];
            }
        }
        let q = problem.q().iter().zip(&scales).map(|(q, s)| q * s).collect();
        Ok(Self { problem: Lcp::new(m, q)?, scales })
    }

    /// The scaled problem.
    pub fn problem(&self) -> &Lcp {
        &self.problem
    }

    /// z of the given problem from z′ of the scaled one.
    pub fn recover(&self, scaled: &LcpSolution) -> LcpSolution {
        LcpSolution { z: scaled.z.iter().zip(&self.scales).map(|(z, s)| z * s).collect() }
    }
}
