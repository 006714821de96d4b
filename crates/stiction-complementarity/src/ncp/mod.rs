//! The mixed complementarity problem: find z between bounds such that F(z) has the sign of an active bound.   [NCP-1]
//!
//! ```text
//! l ≤ z ≤ u,   F_i ≥ 0 where z_i = l_i,   F_i ≤ 0 where z_i = u_i,   F_i = 0 between.
//! ```
//!
//! A free variable has infinite bounds, a complementary one l = 0 and u = ∞.

mod continuation;
pub(crate) mod expression;
pub(crate) mod newton;
pub(crate) mod reformulation;

use crate::linalg::SparseMatrix;
use crate::problem::{Problem, ProblemError, Residual};

/// The function of a mixed complementarity problem and its bounds. Outside of its domain F returns NaN.
pub trait NcpFunction {
    /// The number of variables n.
    fn size(&self) -> usize;

    /// The bounds l_i ≤ u_i of a variable, −∞ and +∞ without a bound.
    fn bounds(&self, i: usize) -> (f64, f64);

    /// out ← F(z).
    fn value(&self, z: &[f64], out: &mut [f64]);

    /// out ← ∂F/∂z, n × n; duplicate entries add up.
    fn jacobian(&self, z: &[f64], out: &mut SparseMatrix);
}

impl<F: NcpFunction + ?Sized> NcpFunction for &F {
    fn size(&self) -> usize {
        (**self).size()
    }
    fn bounds(&self, i: usize) -> (f64, f64) {
        (**self).bounds(i)
    }
    fn value(&self, z: &[f64], out: &mut [f64]) {
        (**self).value(z, out);
    }
    fn jacobian(&self, z: &[f64], out: &mut SparseMatrix) {
        (**self).jacobian(z, out);
    }
}

/// A mixed complementarity problem as a value; its bounds are in order.   [NCP-1]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ncp<F> {
    function: F,
}

/// A proposed z; F follows from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NcpSolution {
    /// The variables.
    pub z: Vec<f64>,
}

impl<F: NcpFunction> Ncp<F> {
    /// The problem of this function; rejects bounds that are NaN, out of order or infinite on the wrong side.
    pub fn new(function: F) -> Result<Self, ProblemError> {
        for row in 0..function.size() {
            let (lower, upper) = function.bounds(row);
            if !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY) {
                return Err(ProblemError::BadBounds { row, lower, upper });
            }
        }
        Ok(Self { function })
    }

    /// F and its bounds.
    pub fn function(&self) -> &F {
        &self.function
    }

    /// The number of variables.
    pub fn size(&self) -> usize {
        self.function.size()
    }
}

/// Natural map z_i − clip(z_i − F_i, l_i, u_i), zero exactly if row i holds; infinite for non-finite numbers.   [NCP-2]
pub(crate) fn natural_map_between(z: f64, f: f64, (lower, upper): (f64, f64)) -> f64 {
    if !(z.is_finite() && f.is_finite()) {
        return f64::INFINITY;
    }
    let moved = z - f;
    let clipped = moved.max(lower).min(upper);
    // z − (z − f) would lose an f that is small against z.
    if clipped == moved { f } else { z - clipped }
}

impl<F: NcpFunction> Problem for Ncp<F> {
    type Solution = NcpSolution;

    /// ‖z − clip(z − F(z), l, u)‖∞, not scaled.   [NCP-2]
    fn residual(&self, solution: &NcpSolution) -> Residual {
        let z = &solution.z;
        if z.len() != self.size() {
            return Residual::undefined(z.len().min(self.size()));
        }
        let mut f = vec![0.0; z.len()];
        self.function.value(z, &mut f);
        let rows = z.iter().zip(&f).enumerate();
        Residual::worst_of(rows.map(|(i, (&z, &f))| natural_map_between(z, f, self.function.bounds(i))), 1.0)
    }

    /// Accepts every finite guess of the right length, because the residual is not scaled and F may be undefined there.
    fn accepts_guess(&self, guess: &NcpSolution) -> bool {
        guess.z.len() == self.size() && guess.z.iter().all(|z| z.is_finite())
    }
}
