//! Discrete contact with Coulomb friction, joints, limits and motors, with the exact (second-order) cone.
//!
//! Find impulses r and velocities u with   [CONE-1]
//!
//! ```text
//! u = W r + q,     r_i ∈ K_i,   û_i = u_i + s(u_i) e_N,   −û_i ∈ N_K(r_i)     for every block i.
//! ```
//!
//! A block is one constraint: the rows of a contact, joint, limit or motor. Tags such as [CONE-1] are equations of `docs/theory`.
//! W is the Delassus operator, assembled ([`BlockMatrix`]) or matrix-free ([`Bodies`]). The law of each block is a [`Law`]. s is the De Saxcé
//! correction ([`Law::de_saxce_correction`]), which is zero without friction; û is the corrected velocity.

pub(crate) mod active_set;
pub(crate) mod admm;
#[cfg(feature = "cone-programs")]
pub(crate) mod diagnostics;
mod equality;
pub(crate) mod interior_point;
pub(crate) mod islands;
pub(crate) mod ladder;
pub(crate) mod law;
pub(crate) mod newton;
pub(crate) mod nsgs;
pub(crate) mod operator;
pub(crate) mod proximal;
#[cfg(feature = "cone-programs")]
pub(crate) mod reference;
mod residual;
pub(crate) mod single_pivot;
pub(crate) mod stick_recovery;
mod version;

pub use law::Law;
pub use law::local::{LocalMode, solve_local};
pub use operator::{Bodies, Delassus};

use crate::linalg::BlockMatrix;
use crate::problem::{ProblemError, ensure_finite, ensure_size};
use version::Version;

/// The Delassus operator W in one of two forms: an assembled matrix, or matrix-free through the bodies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // One exists per problem; a box would complicate every match.
pub enum Operator {
    /// Assembled Delassus matrix; its block rows and columns are those of the laws.
    Assembled(BlockMatrix),
    /// Matrix-free operator W = Hᵀ M⁻¹ H with block-diagonal M.
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
    fn assemble(&self, out: &mut [f64]) -> bool {
        delegate!(self, inner => inner.assemble(out))
    }
    fn dense(&self) -> Option<&[f64]> {
        delegate!(self, inner => Delassus::dense(inner))
    }
    fn is_symmetric(&self) -> bool {
        delegate!(self, inner => inner.is_symmetric())
    }
}

/// Frictional contact problem: operator, laws and free velocities.   [CONE-1]
#[derive(Clone, Debug, Default)]
pub struct FrictionProblem<W = Operator> {
    operator: W,
    laws: Vec<Law>,
    /// First row of each block, followed by the number of rows.
    offsets: Vec<usize>,
    /// Free velocities: u at r = 0.
    q: Vec<f64>,
    /// Compliance c of each row, the velocity per unit of its impulse: u = W r + c r + q. In m/s per N s = 1/kg, and in 1/(kg m²) for rows of
    /// angular velocities. Empty if all rows are rigid.
    compliance: Vec<f64>,
    /// Part of q that the forces of the step do not cause, or empty if it is not known.
    unforced: Vec<f64>,
    /// Version of the whole problem.
    version: Version,
    /// Version of operator, laws and compliance; a change of q alone keeps it.
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

/// Solution of a frictional contact problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrictionSolution {
    /// Impulses r of all blocks.
    pub r: Vec<f64>,
}

impl<W: Delassus> FrictionProblem<W> {
    /// Creates the problem from operator, laws and free velocities; rejects wrong sizes and invalid numbers.
    pub fn new(operator: W, laws: Vec<Law>, q: Vec<f64>) -> Result<Self, ProblemError> {
        let (version, matrix_version) = (Version::next(), Version::next());
        let (offsets, compliance, unforced) = (Vec::new(), Vec::new(), Vec::new());
        let mut problem = Self { operator, laws, offsets, q, compliance, unforced, version, matrix_version };
        problem.check()?;
        Ok(problem)
    }

    /// Adds a compliance c (velocity per impulse, 1/kg) to every row: u = (W + diag c) r + q.
    pub fn with_compliance(mut self, compliance: Vec<f64>) -> Result<Self, ProblemError> {
        self.renew_versions();
        self.compliance = compliance;
        self.check()?;
        Ok(self)
    }

    /// Lets `fill` rewrite operator, laws and free velocities in place, then validates them. After an error the problem may be partly rewritten:
    /// it is not valid until it is refilled.
    pub fn refill<E: From<ProblemError>>(
        &mut self,
        fill: impl FnOnce(&mut W, &mut Vec<Law>, &mut Vec<f64>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Before `fill`, because one that fails may have written something.
        self.renew_versions();
        self.unforced.clear();
        fill(&mut self.operator, &mut self.laws, &mut self.q)?;
        Ok(self.check()?)
    }

    /// Tells the part of q that the forces of the step cause; the rest is that of the velocities and gaps at its start. It does not change the
    /// solution: with it a solver knows bodies at rest by forces that balance.   [ISLAND-2]
    pub fn set_forced(&mut self, fill: impl FnOnce(&W, &mut [f64])) {
        self.unforced.clear();
        self.unforced.resize(self.q.len(), 0.0);
        fill(&self.operator, &mut self.unforced);
        self.unforced.iter_mut().zip(&self.q).for_each(|(unforced, q)| *unforced = q - *unforced);
    }

    /// Part of q that the forces of the step do not cause; empty if it is not known.
    pub(crate) fn unforced(&self) -> &[f64] {
        &self.unforced
    }

    /// Lets `fill` rewrite the free velocities only; the matrix version stays.
    pub fn refill_velocities(&mut self, fill: impl FnOnce(&W, &mut Vec<f64>)) -> Result<(), ProblemError> {
        self.version = Version::next();
        self.unforced.clear();
        fill(&self.operator, &mut self.q);
        ensure_size("q", self.rows(), self.q.len())?;
        ensure_finite("q", &self.q)
    }

    /// Marks everything as changed.
    fn renew_versions(&mut self) {
        (self.version, self.matrix_version) = (Version::next(), Version::next());
    }

    /// Counts the rows of the laws, and rejects wrong sizes and invalid numbers.
    fn check(&mut self) -> Result<(), ProblemError> {
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
        debug_assert_eq!(self.offsets.len(), self.laws.len() + 1, "one offset per block and the total");
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

    /// Delassus operator W.
    pub fn operator(&self) -> &W {
        &self.operator
    }

    /// Law of each block.
    pub fn laws(&self) -> &[Law] {
        &self.laws
    }

    /// Free velocities.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// Compliance of each row; empty if all rows are rigid.
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

    /// Version of operator, laws and compliance; it changes whenever one of them may have changed.
    pub(crate) fn matrix_version(&self) -> Version {
        self.matrix_version
    }

    /// Rows of a block.
    pub fn range(&self, block: usize) -> std::ops::Range<usize> {
        self.offsets[block]..self.offsets[block + 1]
    }

    /// out ← u = (W + diag c) r + q; `state` is scratch memory of the operator.
    pub fn velocities(&self, r: &[f64], out: &mut Vec<f64>, state: &mut Vec<f64>) {
        debug_assert_eq!(r.len(), self.rows(), "one impulse per row");
        out.clear();
        out.resize(self.rows(), 0.0);
        self.operator.apply(r, out, state);
        out.iter_mut().zip(&self.q).for_each(|(u, q)| *u += q);
        out.iter_mut().zip(&self.compliance).zip(r).for_each(|((u, c), r)| *u += c * r);
    }

    /// Divisor of the residual: ‖q‖₂, or 1 if q is zero or subnormal.
    pub fn scale(&self) -> f64 {
        let norm = law::norm(&self.q);
        if norm > 1e-140 && norm < 1e140 {
            return norm;
        }
        // Squares overflow or underflow: the norm is computed relative to the largest entry.
        let largest = self.q.iter().fold(0.0, |largest: f64, q| largest.max(q.abs()));
        let squares = self.q.iter().map(|q| (q / largest) * (q / largest));
        if largest >= f64::MIN_POSITIVE { largest * squares.sum::<f64>().sqrt() } else { 1.0 }
    }

    /// Squared natural map ‖r_i − P_K(r_i − û_i)‖² of block i at impulses r and velocities u.   [CONE-5]
    pub fn violation_squared(&self, block: usize, r: &[f64], u: &[f64]) -> f64 {
        let range = self.range(block);
        self.laws[block].violation_squared(&r[range.clone()], &u[range])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;

    /// A refill that fails may have changed the problem, so neither a residual nor factors of the one before belong to it.
    #[test]
    fn a_refill_that_fails_makes_another_version() {
        let mut w = BlockMatrix::default();
        w.clear([1], [1]);
        w.push(0, &[1.0]);
        w.finish_row();
        let laws = vec![Law::Bounded { lower: 0.0, upper: f64::INFINITY }];
        let mut problem = FrictionProblem::new(w, laws, vec![-1.0]).unwrap();
        let (solution, before) = (FrictionSolution { r: vec![1.0] }, problem.matrix_version());
        assert_eq!(problem.residual(&solution).value, 0.0);
        let refused: Result<(), ProblemError> = problem.refill(|_, _, q| {
            q[0] = -2.0;
            Err(ProblemError::NotDefinite { part: "mass", block: 0 })
        });
        assert!(refused.is_err());
        assert!(problem.matrix_version() != before);
        assert_eq!(problem.residual(&solution).value, 0.5);
    }
}
