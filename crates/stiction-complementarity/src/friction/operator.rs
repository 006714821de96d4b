//! The Delassus operator W, which maps impulses to velocities: assembled as a block matrix, or matrix-free through the bodies.

use crate::linalg::BlockMatrix;
use crate::problem::ProblemError;
use std::ops::Range;

/// Interface of the Delassus operator W to the methods. Its blocks are those of the laws.
pub trait Delassus {
    /// Number of blocks.
    fn blocks(&self) -> usize;

    /// Number of rows.
    fn rows(&self) -> usize;

    /// First entry that is not finite, as (row, value). A problem with such an entry is rejected. The default checks nothing.
    fn first_not_finite(&self) -> Option<(usize, f64)> {
        None
    }

    /// out ← W r; `state` is scratch memory.
    fn apply(&self, r: &[f64], out: &mut [f64], state: &mut Vec<f64>);

    /// out ← diagonal block W_ii, row by row.
    fn diagonal(&self, block: usize, out: &mut [f64]);

    /// Initialises `state`: the change M⁻¹ H r of the body velocities, or nothing if W is assembled. [`velocity`](Self::velocity) reads it, and
    /// [`update`](Self::update) keeps it consistent with r.
    fn begin(&self, r: &[f64], state: &mut Vec<f64>);

    /// out ← (W r)_i, with a `state` that is consistent with `r`.
    fn velocity(&self, block: usize, r: &[f64], state: &[f64], out: &mut [f64]);

    /// Updates `state` after block `block` of r has changed by `change`.
    fn update(&self, block: usize, change: &[f64], state: &mut [f64]);

    /// out ← W as a dense matrix, row by row. Returns false and leaves `out` unchanged if the operator cannot be assembled.
    fn assemble(&self, _out: &mut [f64]) -> bool {
        false
    }

    /// W as a dense matrix, row by row, if the operator stores it in that form.
    fn dense(&self) -> Option<&[f64]> {
        None
    }

    /// True if the matrix of [`assemble`](Self::assemble) is bitwise symmetric by construction.
    fn is_symmetric(&self) -> bool {
        false
    }
}

/// Assembled Delassus matrix: u = W r + q.
impl Delassus for BlockMatrix {
    fn blocks(&self) -> usize {
        self.block_rows()
    }

    fn rows(&self) -> usize {
        Self::rows(self)
    }

    fn first_not_finite(&self) -> Option<(usize, f64)> {
        Self::first_not_finite(self)
    }

    fn apply(&self, r: &[f64], out: &mut [f64], _: &mut Vec<f64>) {
        out.fill(0.0);
        self.mul_add_into(r, out);
    }

    fn diagonal(&self, block: usize, out: &mut [f64]) {
        out.fill(0.0);
        // A diagonal block that is not stored is zero.
        if let Some((_, values)) = self.row(block).find(|(col, _)| *col == block) {
            out.copy_from_slice(values);
        }
    }

    fn begin(&self, _: &[f64], state: &mut Vec<f64>) {
        state.clear();
    }

    fn velocity(&self, block: usize, r: &[f64], _: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.row_mul_add(block, r, out);
    }

    fn update(&self, _: usize, _: &[f64], _: &mut [f64]) {}

    fn dense(&self) -> Option<&[f64]> {
        Self::dense(self)
    }

    fn is_symmetric(&self) -> bool {
        Self::dense(self).is_some()
    }

    fn assemble(&self, out: &mut [f64]) -> bool {
        debug_assert_eq!(out.len(), Self::rows(self) * self.cols(), "out holds the whole matrix");
        if let Some(dense) = Self::dense(self) {
            out.copy_from_slice(dense);
            return true;
        }
        out.fill(0.0);
        for i in 0..self.block_rows() {
            let rows = &mut out[self.row_range(i).start * self.cols()..];
            for (col, block) in self.row(i) {
                let columns = self.col_range(col);
                for (row, values) in rows.chunks_exact_mut(self.cols()).zip(block.chunks_exact(columns.len().max(1))) {
                    row[columns.clone()].copy_from_slice(values);
                }
            }
        }
        true
    }
}

/// Matrix-free Delassus operator W = Hᵀ M⁻¹ H, computed through the bodies.   [CONE-4]
///
/// It holds the block-diagonal mass matrix M of the bodies and the constraint Jacobian Hᵀ. W is never assembled: impulses change the velocities
/// of the bodies, and the velocities of the rows follow from these. A body here is a block of M: a rigid body, a tree in reduced coordinates, or an
/// auxiliary mass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bodies {
    /// Constraint Jacobian Hᵀ: block rows are the laws, block columns the bodies.
    jacobian: BlockMatrix,
    /// (M⁻¹ H)ᵀ with the sparsity pattern of Hᵀ: block (i, b) is (M_b⁻¹ H_bi)ᵀ.
    response: BlockMatrix,
    /// Mass blocks M_b one after the other, each row by row.
    mass: Vec<f64>,
    /// Offset of each block in `mass` and `inverse`.
    mass_offsets: Vec<usize>,
    /// Inverse mass blocks M_b⁻¹, stored as `mass`.
    inverse: Vec<f64>,
}

impl Bodies {
    /// Creates the operator from the constraint Jacobian Hᵀ and the mass blocks (symmetric positive definite, row by row).
    pub fn new(jacobian: BlockMatrix, mass: Vec<f64>) -> Result<Self, ProblemError> {
        let mut bodies = Self { jacobian, mass, ..Self::default() };
        bodies.refresh()?;
        Ok(bodies)
    }

    /// Lets `fill` rewrite the Jacobian and the mass blocks in place, then recomputes everything derived from them.
    pub fn refill(&mut self, fill: impl FnOnce(&mut BlockMatrix, &mut Vec<f64>)) -> Result<(), ProblemError> {
        fill(&mut self.jacobian, &mut self.mass);
        self.refresh()
    }

    /// Constraint Jacobian Hᵀ by blocks.
    pub fn jacobian(&self) -> &BlockMatrix {
        &self.jacobian
    }

    /// (M⁻¹ H)ᵀ by blocks, with the sparsity pattern of the Jacobian.
    pub(in crate::friction) fn response(&self) -> &BlockMatrix {
        &self.response
    }

    /// out ← diagonal entries of the block W_ii.
    pub(in crate::friction) fn diagonal_entries(&self, block: usize, out: &mut [f64]) {
        debug_assert_eq!(out.len(), self.jacobian.row_size(block), "one entry per row");
        out.fill(0.0);
        for ((body, a), (_, b)) in self.jacobian.row(block).zip(self.response.row(block)) {
            let size = self.jacobian.col_size(body).max(1);
            for (out, (a, b)) in out.iter_mut().zip(a.chunks_exact(size).zip(b.chunks_exact(size))) {
                *out += crate::linalg::dot(a, b);
            }
        }
    }

    /// Mass block of a body, row by row.
    pub fn mass(&self, body: usize) -> &[f64] {
        &self.mass[self.mass_range(body)]
    }

    /// Inverse mass block of a body, row by row.
    pub fn inverse_mass(&self, body: usize) -> &[f64] {
        &self.inverse[self.mass_range(body)]
    }

    fn mass_range(&self, body: usize) -> Range<usize> {
        let size = self.jacobian.col_size(body);
        self.mass_offsets[body]..self.mass_offsets[body] + size * size
    }

    fn refresh(&mut self) -> Result<(), ProblemError> {
        let count = self.jacobian.block_cols();
        self.mass_offsets.clear();
        let mut start = 0;
        for body in 0..count {
            self.mass_offsets.push(start);
            start += self.jacobian.col_size(body).pow(2);
        }
        crate::problem::ensure_size("mass", start, self.mass.len())?;
        crate::problem::ensure_finite("mass", &self.mass)?;
        self.inverse.clear();
        self.inverse.resize(start, 0.0);
        for body in 0..count {
            let (range, size) = (self.mass_range(body), self.jacobian.col_size(body));
            if !invert(size, &self.mass[range.clone()], &mut self.inverse[range]) {
                return Err(ProblemError::NotDefinite { part: "mass", block: body });
            }
        }
        self.compute_response();
        Ok(())
    }

    /// Computes `response`, (M⁻¹ H)ᵀ, block by block.
    fn compute_response(&mut self) {
        let mut response = std::mem::take(&mut self.response);
        response.map_from(&self.jacobian, |body, block, out| {
            let (size, inverse) = (self.jacobian.col_size(body), self.inverse_mass(body));
            match size {
                6 => times_symmetric::<6>(block, inverse, out),
                3 => times_symmetric::<3>(block, inverse, out),
                1 => times_symmetric::<1>(block, inverse, out),
                _ => {
                    let rows = block.chunks_exact(size.max(1)).zip(out.chunks_exact_mut(size.max(1)));
                    for (row, out) in rows {
                        let columns = inverse.chunks_exact(size.max(1));
                        out.iter_mut().zip(columns).for_each(|(out, column)| *out = crate::linalg::dot(row, column));
                    }
                }
            }
        });
        self.response = response;
    }
}

impl Delassus for Bodies {
    fn blocks(&self) -> usize {
        self.jacobian.block_rows()
    }

    fn rows(&self) -> usize {
        self.jacobian.rows()
    }

    fn first_not_finite(&self) -> Option<(usize, f64)> {
        self.jacobian.first_not_finite()
    }

    fn apply(&self, r: &[f64], out: &mut [f64], state: &mut Vec<f64>) {
        self.begin(r, state);
        out.fill(0.0);
        self.jacobian.mul_add_into(state, out);
    }

    fn diagonal(&self, block: usize, out: &mut [f64]) {
        out.fill(0.0);
        let rows = self.jacobian.row_size(block);
        debug_assert_eq!(out.len(), rows * rows, "out holds the diagonal block");
        for ((body, a), (_, b)) in self.jacobian.row(block).zip(self.response.row(block)) {
            let size = self.jacobian.col_size(body).max(1);
            for (out, a) in out.chunks_exact_mut(rows).zip(a.chunks_exact(size)) {
                for (out, b) in out.iter_mut().zip(b.chunks_exact(size)) {
                    *out += crate::linalg::dot(a, b);
                }
            }
        }
    }

    /// Sets the state to M⁻¹ H r, the change of the body velocities due to the impulses.
    fn begin(&self, r: &[f64], state: &mut Vec<f64>) {
        state.clear();
        state.resize(self.jacobian.cols(), 0.0);
        self.response.transpose_mul_add_into(r, state);
    }

    fn velocity(&self, block: usize, _: &[f64], state: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.jacobian.row_mul_add(block, state, out);
    }

    fn update(&self, block: usize, change: &[f64], state: &mut [f64]) {
        self.response.row_transpose_mul_add(block, change, state);
    }

    fn assemble(&self, out: &mut [f64]) -> bool {
        debug_assert_eq!(out.len(), self.jacobian.rows().pow(2), "out holds the whole matrix");
        self.jacobian.symmetric_product_into(&self.response, out);
        true
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// out ← A S for symmetric S; A and S have rows of N numbers.
fn times_symmetric<const N: usize>(a: &[f64], s: &[f64], out: &mut [f64]) {
    debug_assert!(a.len() == out.len() && s.len() == N * N, "A and out have equal shapes, S is N by N");
    for (row, out) in a.as_chunks::<N>().0.iter().zip(out.as_chunks_mut::<N>().0) {
        out.iter_mut().zip(s.as_chunks::<N>().0).for_each(|(out, column)| *out = crate::linalg::dot(row, column));
    }
}

/// Inverts a symmetric positive definite matrix by Cholesky factorisation; returns false if it is not positive definite.
pub(crate) fn invert(size: usize, a: &[f64], out: &mut [f64]) -> bool {
    debug_assert!(a.len() == size * size && out.len() == size * size, "both matrices are size by size");
    if is_diagonal(size, a) {
        return invert_diagonal(size, a, out);
    }
    // L Lᵀ = A in the lower triangle of `out`, then the inverse column by column, in place in the upper one.
    for i in 0..size {
        for j in 0..=i {
            let mut sum = a[i * size + j];
            for k in 0..j {
                sum -= out[i * size + k] * out[j * size + k];
            }
            if i == j {
                if !(sum > 0.0 && sum.is_finite()) {
                    return false;
                }
                out[i * size + i] = sum.sqrt();
            } else {
                out[i * size + j] = sum / out[j * size + j];
            }
        }
    }
    invert_factor(size, out);
    true
}

/// True if all off-diagonal entries are zero: `size` of them lie between two consecutive diagonal entries.
fn is_diagonal(size: usize, a: &[f64]) -> bool {
    a.get(1..).unwrap_or_default().chunks(size + 1).all(|between| between.iter().take(size).all(|a| *a == 0.0))
}

/// Inverts a diagonal matrix with the bits that its Cholesky factor would give. Planar bodies and support points have such a mass.
fn invert_diagonal(size: usize, a: &[f64], out: &mut [f64]) -> bool {
    out.fill(0.0);
    for (out, a) in out.iter_mut().zip(a).step_by(size + 1) {
        if !(*a > 0.0 && a.is_finite()) {
            return false;
        }
        let root = 1.0 / a.sqrt();
        *out = root * root;
    }
    true
}

/// Replaces the Cholesky factor L in the lower triangle by the whole inverse L⁻ᵀ L⁻¹.
fn invert_factor(size: usize, l: &mut [f64]) {
    for j in 0..size {
        l[j * size + j] = 1.0 / l[j * size + j];
        for i in j + 1..size {
            let mut sum = 0.0;
            for k in j..i {
                sum -= l[i * size + k] * l[k * size + j];
            }
            l[i * size + j] = sum / l[i * size + i];
        }
    }
    for i in 0..size {
        for j in 0..=i {
            let sum: f64 = (i..size).map(|k| l[k * size + i] * l[k * size + j]).sum();
            // Row i of the product reads rows k ≥ i of L⁻¹ only and is written to the upper triangle, its diagonal entry last.
            l[j * size + i] = sum;
        }
    }
    for i in 0..size {
        for j in 0..i {
            l[i * size + j] = l[j * size + i];
        }
    }
}
