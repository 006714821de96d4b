//! The Delassus operator W: from impulses to velocities, as an explicit block matrix or through the bodies.

use crate::linalg::BlockMatrix;
use crate::problem::ProblemError;
use std::ops::Range;

/// W as the methods see it. Blocks are those of the laws.
pub trait Delassus {
    /// Number of blocks.
    fn blocks(&self) -> usize;

    /// Number of rows.
    fn rows(&self) -> usize;

    /// The first entry that is not finite, as (row, value), where the operator can tell; such an operator is refused.
    fn first_not_finite(&self) -> Option<(usize, f64)> {
        None
    }

    /// out ← W r; `state` is scratch memory.
    fn apply(&self, r: &[f64], out: &mut [f64], state: &mut Vec<f64>);

    /// The diagonal block W_ii, row by row.
    fn diagonal(&self, block: usize, out: &mut [f64]);

    /// Prepares `state`, whatever the operator keeps up to date while single blocks of r change.
    fn begin(&self, r: &[f64], state: &mut Vec<f64>);

    /// out ← (W r)_i, with `state` in step with `r`.
    fn velocity(&self, block: usize, r: &[f64], state: &[f64], out: &mut [f64]);

    /// Takes note that block `block` of r has changed by `change`.
    fn update(&self, block: usize, change: &[f64], state: &mut [f64]);

    /// out ← W as a dense matrix, row by row. False, with `out` unchanged, from operators that cannot tell it cheaply.
    fn explicit(&self, _out: &mut [f64]) -> bool {
        false
    }

    /// W as a dense matrix, row by row, where the operator has it at hand.
    fn dense(&self) -> Option<&[f64]> {
        None
    }

    /// Whether W is symmetric to the last bit by the way it is made.
    fn is_symmetric(&self) -> bool {
        false
    }
}

/// W given explicitly: u = W r + q.
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

    fn explicit(&self, out: &mut [f64]) -> bool {
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

/// Bodies with block-diagonal mass matrix M and constraint rows Hᵀ: W = Hᵀ M⁻¹ H without ever forming it.   [CONE-4]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bodies {
    /// Hᵀ: block rows are the laws, block columns the bodies; its blocks are Jacobians.
    jacobian: BlockMatrix,
    /// Rows M⁻¹ Hᵀ of the same pattern, transposed: block (i, b) is (M_b⁻¹ H_bi)ᵀ.
    response: BlockMatrix,
    /// The blocks M_b, row by row, one after the other.
    mass: Vec<f64>,
    /// Where each block of `mass` begins.
    mass_starts: Vec<usize>,
    inverse: Vec<f64>,
}

impl Bodies {
    /// Bodies with the given mass blocks (symmetric positive definite, row by row) and constraint Jacobian Hᵀ.
    pub fn new(jacobian: BlockMatrix, mass: Vec<f64>) -> Result<Self, ProblemError> {
        let mut bodies = Self { jacobian, mass, ..Self::default() };
        bodies.refresh()?;
        Ok(bodies)
    }

    /// Lets `fill` rewrite the Jacobian and the mass blocks in the memory they have, then prepares the rest.
    pub fn refill(&mut self, fill: impl FnOnce(&mut BlockMatrix, &mut Vec<f64>)) -> Result<(), ProblemError> {
        fill(&mut self.jacobian, &mut self.mass);
        self.refresh()
    }

    /// Hᵀ by blocks.
    pub fn jacobian(&self) -> &BlockMatrix {
        &self.jacobian
    }

    /// The mass block of a body, row by row.
    pub fn mass(&self, body: usize) -> &[f64] {
        &self.mass[self.mass_range(body)]
    }

    /// The inverse of the mass block of a body, row by row.
    pub fn inverse_mass(&self, body: usize) -> &[f64] {
        &self.inverse[self.mass_range(body)]
    }

    fn mass_range(&self, body: usize) -> Range<usize> {
        let size = self.jacobian.col_size(body);
        self.mass_starts[body]..self.mass_starts[body] + size * size
    }

    fn refresh(&mut self) -> Result<(), ProblemError> {
        let count = self.jacobian.block_cols();
        self.mass_starts.clear();
        let mut start = 0;
        for body in 0..count {
            self.mass_starts.push(start);
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
        self.respond();
        Ok(())
    }

    /// Fills `response`: (M⁻¹ H)ᵀ block by block.
    fn respond(&mut self) {
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
        for ((body, a), (_, b)) in self.jacobian.row(block).zip(self.response.row(block)) {
            let size = self.jacobian.col_size(body).max(1);
            for (out, a) in out.chunks_exact_mut(rows).zip(a.chunks_exact(size)) {
                for (out, b) in out.iter_mut().zip(b.chunks_exact(size)) {
                    *out += crate::linalg::dot(a, b);
                }
            }
        }
    }

    /// The state is v − v_free = M⁻¹ H r, the velocities that the impulses give to the bodies.
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

    fn explicit(&self, out: &mut [f64]) -> bool {
        self.jacobian.symmetric_product_into(&self.response, out);
        true
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// A S, row by row, with rows of N numbers and symmetric S.
fn times_symmetric<const N: usize>(a: &[f64], s: &[f64], out: &mut [f64]) {
    for (row, out) in a.as_chunks::<N>().0.iter().zip(out.as_chunks_mut::<N>().0) {
        out.iter_mut().zip(s.as_chunks::<N>().0).for_each(|(out, column)| *out = crate::linalg::dot(row, column));
    }
}

/// Inverse of a symmetric positive definite matrix of the given size by Cholesky; false when it is not.
pub(crate) fn invert(size: usize, a: &[f64], out: &mut [f64]) -> bool {
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

/// Between two numbers of the diagonal there are as many others as rows.
fn is_diagonal(size: usize, a: &[f64]) -> bool {
    a.get(1..).unwrap_or_default().chunks(size + 1).all(|between| between.iter().take(size).all(|a| *a == 0.0))
}

/// The same numbers as by the factor, which is diagonal too: bodies in the plane and feet.
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

/// From the Cholesky factor in the lower triangle to the whole inverse L⁻ᵀ L⁻¹.
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
            // Entry (i, j) of the factor is needed no more once row i of the product is known from rows ≥ i.
            l[j * size + i] = sum;
        }
    }
    for i in 0..size {
        for j in 0..i {
            l[i * size + j] = l[j * size + i];
        }
    }
}
