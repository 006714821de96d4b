//! Discrete contact with Coulomb friction, joints, limits and motors, with the exact (second-order) cone.
//!
//! Find impulses r and velocities u with   [CONE-1]
//!
//! ```text
//! u = W r + q,     r_i ∈ K_i,   û_i = u_i + shift(u_i) e_N,   −û_i ∈ N_K(r_i)     for every block i.
//! ```
//!
//! W comes explicitly ([`BlockMatrix`]) or through bodies ([`Bodies`]). The law of each block is a [`Law`].

pub(crate) mod active_set;
pub(crate) mod admm;
pub(crate) mod diagnostics;
pub(crate) mod interior_point;
pub(crate) mod ladder;
pub(crate) mod law;
pub(crate) mod local;
pub(crate) mod newton;
pub(crate) mod nsgs;
pub(crate) mod operator;
pub(crate) mod reference;
mod residual;
pub(crate) mod single_pivot;
pub(crate) mod stick_recovery;
mod version;

pub use law::Law;
pub use local::{Regime, solve_local};
pub use operator::{Bodies, Delassus};

use crate::linalg::BlockMatrix;
use crate::problem::{ProblemError, ensure_finite, ensure_size};
use version::Version;

/// W explicit, or W through bodies: the two forms problems come in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // One exists per problem; matching without a box reads better.
pub enum Operator {
    /// W itself, blocks as the laws.
    Assembled(BlockMatrix),
    /// W = Hᵀ M⁻¹ H with block-diagonal M.
    MatrixFree(Bodies),
}

impl Default for Operator {
    fn default() -> Self {
        Self::MatrixFree(Bodies::default())
    }
}

macro_rules! delegate {
    ($self:ident, $inner:ident => $call:expr) => {
        match $self {
            Operator::Assembled($inner) => $call,
            Operator::MatrixFree($inner) => $call,
        }
    };
}

impl Delassus for Operator {
    fn blocks(&self) -> usize {
        delegate!(self, inner => Delassus::blocks(inner))
    }
    fn rows(&self) -> usize {
        delegate!(self, inner => Delassus::rows(inner))
    }
    fn first_not_finite(&self) -> Option<(usize, f64)> {
        delegate!(self, inner => Delassus::first_not_finite(inner))
    }
    fn apply(&self, r: &[f64], out: &mut [f64], state: &mut Vec<f64>) {
        delegate!(self, inner => inner.apply(r, out, state));
    }
    fn diagonal(&self, block: usize, out: &mut [f64]) {
        delegate!(self, inner => inner.diagonal(block, out));
    }
    fn begin(&self, r: &[f64], state: &mut Vec<f64>) {
        delegate!(self, inner => inner.begin(r, state));
    }
    fn velocity(&self, block: usize, r: &[f64], state: &[f64], out: &mut [f64]) {
        delegate!(self, inner => inner.velocity(block, r, state, out));
    }
    fn update(&self, block: usize, change: &[f64], state: &mut [f64]) {
        delegate!(self, inner => inner.update(block, change, state));
    }
    fn explicit(&self, out: &mut [f64]) -> bool {
        delegate!(self, inner => inner.explicit(out))
    }
    fn dense(&self) -> Option<&[f64]> {
        delegate!(self, inner => Delassus::dense(inner))
    }
    fn is_symmetric(&self) -> bool {
        delegate!(self, inner => inner.is_symmetric())
    }
}

/// A frictional contact problem as a value.   [CONE-1]
#[derive(Clone, Debug, Default)]
pub struct FrictionProblem<W = Operator> {
    operator: W,
    laws: Vec<Law>,
    /// Where the rows of each block begin, and the total at the end.
    offsets: Vec<usize>,
    /// Velocities without impulses.
    q: Vec<f64>,
    /// Compliance of each row, m/(N s): u = (W + diag c) r + q. Empty when everything is rigid.
    compliance: Vec<f64>,
    /// Of all of this, and of what is left when q changes alone.
    version: Version,
    matrix_version: Version,
}

impl<W: PartialEq> PartialEq for FrictionProblem<W> {
    fn eq(&self, other: &Self) -> bool {
        self.operator == other.operator
            && self.laws == other.laws
            && self.q == other.q
            && self.compliance == other.compliance
    }
}

/// Impulses and, as the method left them, velocities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrictionSolution {
    /// Impulses r of all blocks.
    pub r: Vec<f64>,
}

impl<W: Delassus> FrictionProblem<W> {
    /// The problem with this operator, laws and free velocities; refuses wrong sizes and impossible numbers.
    pub fn new(operator: W, laws: Vec<Law>, q: Vec<f64>) -> Result<Self, ProblemError> {
        let (version, matrix_version) = (Version::next(), Version::next());
        let (offsets, compliance) = (Vec::new(), Vec::new());
        let mut problem = Self { operator, laws, offsets, q, compliance, version, matrix_version };
        problem.check()?;
        Ok(problem)
    }

    /// Adds a compliance to every row: u = (W + diag c) r + q.
    pub fn with_compliance(mut self, compliance: Vec<f64>) -> Result<Self, ProblemError> {
        self.compliance = compliance;
        self.check()?;
        Ok(self)
    }

    /// Lets `fill` rewrite operator, laws and free velocities in the memory they have.
    pub fn refill<E: From<ProblemError>>(
        &mut self,
        fill: impl FnOnce(&mut W, &mut Vec<Law>, &mut Vec<f64>) -> Result<(), E>,
    ) -> Result<(), E> {
        fill(&mut self.operator, &mut self.laws, &mut self.q)?;
        Ok(self.check()?)
    }

    /// Lets `fill` rewrite the free velocities alone.
    pub fn refill_velocities(&mut self, fill: impl FnOnce(&W, &mut Vec<f64>)) -> Result<(), ProblemError> {
        self.version = Version::next();
        fill(&self.operator, &mut self.q);
        ensure_size("q", self.rows(), self.q.len())?;
        ensure_finite("q", &self.q)
    }

    fn check(&mut self) -> Result<(), ProblemError> {
        (self.version, self.matrix_version) = (Version::next(), Version::next());
        if let Some((block, law)) = self.laws.iter().enumerate().find(|(_, law)| !law.is_legal()) {
            return Err(ProblemError::BadLaw { block, law: format!("{law:?}") });
        }
        self.offsets.clear();
        self.offsets.push(0);
        let mut total = 0;
        for law in &self.laws {
            total += law.rows();
            self.offsets.push(total);
        }
        ensure_size("laws", self.operator.blocks(), self.laws.len())?;
        ensure_size("operator", total, self.operator.rows())?;
        ensure_size("q", total, self.q.len())?;
        ensure_finite("q", &self.q)?;
        if let Some((row, value)) = self.operator.first_not_finite() {
            return Err(ProblemError::NotFinite { part: "operator", row, value });
        }
        if !self.compliance.is_empty() {
            ensure_size("compliance", total, self.compliance.len())?;
            ensure_finite("compliance", &self.compliance)?;
        }
        Ok(())
    }

    /// W.
    pub fn operator(&self) -> &W {
        &self.operator
    }

    /// The law of each block.
    pub fn laws(&self) -> &[Law] {
        &self.laws
    }

    /// Free velocities.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// Compliance of each row; empty when everything is rigid.
    pub fn compliance(&self) -> &[f64] {
        &self.compliance
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.q.len()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.laws.len()
    }

    /// The same as long as operator, laws and compliance are.
    pub(crate) fn matrix_version(&self) -> Version {
        self.matrix_version
    }

    /// The rows of a block.
    pub fn range(&self, block: usize) -> std::ops::Range<usize> {
        self.offsets[block]..self.offsets[block + 1]
    }

    /// out ← u = (W + diag c) r + q.
    pub fn velocities(&self, r: &[f64], out: &mut Vec<f64>, state: &mut Vec<f64>) {
        out.clear();
        out.resize(self.rows(), 0.0);
        self.operator.apply(r, out, state);
        out.iter_mut().zip(&self.q).for_each(|(u, q)| *u += q);
        out.iter_mut().zip(&self.compliance).zip(r).for_each(|((u, c), r)| *u += c * r);
    }

    /// The divisor of the residual: ‖q‖₂, or 1 when q is zero or too small for numbers with all their digits.
    pub fn scale(&self) -> f64 {
        let norm = law::norm(&self.q);
        if norm > 1e-140 && norm < 1e140 {
            return norm;
        }
        // Squares beyond the range of numbers: the same in the unit of the largest entry.
        let largest = self.q.iter().fold(0.0, |largest: f64, q| largest.max(q.abs()));
        let squares = self.q.iter().map(|q| (q / largest) * (q / largest));
        if largest >= f64::MIN_POSITIVE { largest * squares.sum::<f64>().sqrt() } else { 1.0 }
    }

    /// Squared length of r_i − P_K(r_i − û_i), the violation of block i at impulses r and velocities u.   [CONE-5]
    pub fn violation(&self, block: usize, r: &[f64], u: &[f64]) -> f64 {
        let range = self.range(block);
        residual::violation(&self.laws[block], &r[range.clone()], &u[range])
    }
}
