//! The linear system of one Newton step, (W + L) δr = b, in the space where it is sparse.   [CONE-11]
//!
//! Through bodies it becomes (M + H L⁻¹ Hᵀ) δv = H L⁻¹ b, δr = L⁻¹ (b − Hᵀ δv), with one block per body; W itself, which
//! may lack rank, is never factorised. With W given explicitly the matrix is W + L, with one block per contact.

use super::cones::{Cones, Locals, Row};
use crate::friction::law::norm;
use crate::friction::operator::{Bodies, Delassus};
use crate::friction::{FrictionProblem, Operator};
use crate::linalg::{BlockMatrix, BlockSparseLu, SingularRow, block};

/// Corrections of a solution at most.
const MAX_REFINEMENTS: u32 = 4;

/// The factorised system; its analysis is kept while the pattern stays.
#[derive(Clone, Debug)]
pub(super) struct NewtonSystem {
    lu: BlockSparseLu,
    sizes: Vec<usize>,
    couplings: Vec<(usize, usize)>,
    sizes_now: Vec<usize>,
    couplings_now: Vec<(usize, usize)>,
    /// Places of the diagonal blocks, then of every block that is added, in the order of adding.
    diagonal: Vec<usize>,
    places: Vec<usize>,
    velocity: Vec<f64>,
    product: Vec<f64>,
    error: Vec<f64>,
    state: Vec<f64>,
}

impl Default for NewtonSystem {
    /// Towards the end stiff and loose contacts stand side by side, and small pivots mean something: any is accepted, and
    /// refinement judges the result.
    fn default() -> Self {
        Self {
            lu: BlockSparseLu::accepting(0.0),
            sizes: Vec::new(),
            couplings: Vec::new(),
            sizes_now: Vec::new(),
            couplings_now: Vec::new(),
            diagonal: Vec::new(),
            places: Vec::new(),
            velocity: Vec::new(),
            product: Vec::new(),
            error: Vec::new(),
            state: Vec::new(),
        }
    }
}

impl NewtonSystem {
    /// Analyses the pattern unless it is the one of the last call.
    pub(super) fn prepare(&mut self, problem: &FrictionProblem<Operator>) {
        self.sizes_now.clear();
        self.couplings_now.clear();
        match problem.operator() {
            Operator::Assembled(w) => {
                self.sizes_now.extend((0..w.block_rows()).map(|i| w.row_size(i)));
                self.couplings_now.extend((0..w.block_rows()).flat_map(|i| w.row(i).map(move |(j, _)| (i, j))));
            }
            Operator::MatrixFree(bodies) => {
                let h = bodies.jacobian();
                self.sizes_now.extend((0..h.block_cols()).map(|b| h.col_size(b)));
                let pairs = |i| h.row(i).flat_map(move |(a, _)| h.row(i).map(move |(b, _)| (a, b)));
                self.couplings_now.extend((0..h.block_rows()).flat_map(pairs));
            }
        }
        if self.sizes == self.sizes_now && self.couplings == self.couplings_now {
            return;
        }
        self.sizes.clone_from(&self.sizes_now);
        self.couplings.clone_from(&self.couplings_now);
        self.lu.analyse(&self.sizes, &self.couplings);
        self.diagonal.clear();
        self.diagonal.extend((0..self.sizes.len()).filter_map(|i| self.lu.place(i, i)));
        self.places.clear();
        self.places.extend(self.couplings.iter().filter_map(|&(i, j)| self.lu.place(i, j)));
    }

    /// Fills and factorises the matrix.
    pub(super) fn factor(
        &mut self,
        problem: &FrictionProblem<Operator>,
        cones: &Cones,
        locals: &Locals,
    ) -> Result<(), SingularRow> {
        self.lu.clear();
        match problem.operator() {
            Operator::Assembled(w) => self.fill_impulses(problem, w, cones, locals),
            Operator::MatrixFree(bodies) => self.fill_velocities(bodies, locals),
        }
        self.lu.factor()
    }

    /// W + L, but for fixed rows, which get those of the identity.
    fn fill_impulses(&mut self, problem: &FrictionProblem<Operator>, w: &BlockMatrix, cones: &Cones, locals: &Locals) {
        let mut places = self.places.iter();
        for i in 0..w.block_rows() {
            let kinds = &cones.rows[problem.range(i)];
            for ((j, block), &place) in w.row(i).zip(&mut places) {
                let size = w.col_size(j).max(1);
                let target = self.lu.block_mut(place).chunks_exact_mut(size);
                for ((target, row), kind) in target.zip(block.chunks_exact(size)).zip(kinds) {
                    if !matches!(kind, Row::Fixed(_)) {
                        target.iter_mut().zip(row).for_each(|(t, w)| *t += w);
                    }
                }
            }
        }
        for (i, &place) in self.diagonal.iter().enumerate() {
            self.lu.block_mut(place).iter_mut().zip(locals.matrix(i)).for_each(|(t, l)| *t += l);
        }
    }

    /// M + H L⁻¹ Hᵀ.
    fn fill_velocities(&mut self, bodies: &Bodies, locals: &Locals) {
        for (body, &place) in self.diagonal.iter().enumerate() {
            self.lu.block_mut(place).copy_from_slice(bodies.mass(body));
        }
        let h = bodies.jacobian();
        match h.uniform() {
            Some((3, 6)) => return self.add_contacts::<3, 6>(h, locals),
            Some((2, 3)) => return self.add_contacts::<2, 3>(h, locals),
            _ => {}
        }
        let mut next = 0;
        for i in 0..h.block_rows() {
            let (inverse, rows, count) = (locals.inverse(i), h.row_size(i), h.row(i).count());
            for (second, (body, jacobian)) in h.row(i).enumerate() {
                let size = h.col_size(body);
                self.product.clear();
                self.product.resize(rows * size, 0.0);
                block::product_add(1.0, inverse, jacobian, (rows, rows, size), &mut self.product);
                for (first, (_, jacobian)) in h.row(i).enumerate() {
                    let Some(&place) = self.places.get(next + first * count + second) else { return };
                    block::transposed_product_add(jacobian, &self.product, (rows, size), self.lu.block_mut(place));
                }
            }
            next += count * count;
        }
    }

    /// H L⁻¹ Hᵀ where all contacts have R rows and all bodies N unknowns.
    fn add_contacts<const R: usize, const N: usize>(&mut self, h: &BlockMatrix, locals: &Locals) {
        let mut places = &self.places[..];
        for i in 0..h.block_rows() {
            let Ok(inverse) = <&[[f64; R]; R]>::try_from(locals.inverse(i).as_chunks::<R>().0) else { return };
            let count = h.uniform_row::<R, N>(i).len();
            let (now, later) = places.split_at(count * count);
            for (second, jacobian) in h.uniform_row::<R, N>(i).enumerate() {
                let product = block::product_array(inverse, jacobian);
                let column = now.iter().skip(second).step_by(count);
                for (jacobian, &place) in h.uniform_row::<R, N>(i).zip(column) {
                    let target = self.lu.block_mut(place).as_chunks_mut::<N>().0;
                    let Ok(target) = <&mut [[f64; N]; N]>::try_from(target) else { return };
                    block::transposed_product_add_array(jacobian, &product, target);
                }
            }
            places = later;
        }
    }

    /// δr ← (W + L)⁻¹ b, refined to an error of `enough`, or not at all where that is infinite; zero in fixed rows. Returns the error that
    /// is left, relative to b, and zero where it is enough.
    pub(super) fn solve(
        &mut self,
        problem: &FrictionProblem<Operator>,
        locals: &Locals,
        (b, enough): (&[f64], f64),
        dr: &mut Vec<f64>,
    ) -> f64 {
        dr.clear();
        dr.resize(b.len(), 0.0);
        let mut error = std::mem::take(&mut self.error);
        error.clear();
        error.extend_from_slice(b);
        let (target, mut size) = (norm(b), f64::INFINITY);
        for _ in 0..=MAX_REFINEMENTS {
            self.correct(problem, locals, &error, dr);
            if enough == f64::INFINITY {
                self.error = error;
                return 0.0;
            }
            self.product.clear();
            self.product.resize(b.len(), 0.0);
            problem.operator().apply(dr, &mut self.product, &mut self.state);
            error.iter_mut().zip(b.iter().zip(&self.product)).for_each(|(error, (b, product))| *error = b - product);
            for i in 0..problem.blocks() {
                let range = problem.range(i);
                block::mul_sub(locals.matrix(i), &dr[range.clone()], &mut error[range]);
            }
            let now = norm(&error);
            let better = now < 0.5 * size;
            size = now;
            if now <= enough || !better {
                break;
            }
        }
        self.error = error;
        if size <= enough { 0.0 } else { size / target }
    }

    /// δr ← δr + (W + L)⁻¹ b, as far as the factors are exact.
    fn correct(&mut self, problem: &FrictionProblem<Operator>, locals: &Locals, b: &[f64], dr: &mut [f64]) {
        match problem.operator() {
            Operator::Assembled(_) => {
                self.velocity.clear();
                self.velocity.extend_from_slice(b);
                self.lu.solve(&mut self.velocity);
                dr.iter_mut().zip(&self.velocity).for_each(|(r, d)| *r += d);
            }
            Operator::MatrixFree(bodies) => {
                let h = bodies.jacobian();
                self.velocity.clear();
                self.velocity.resize(h.cols(), 0.0);
                match h.uniform() {
                    Some((3, 6)) => return self.correct_uniform::<3, 6>(h, locals, b, dr),
                    Some((2, 3)) => return self.correct_uniform::<2, 3>(h, locals, b, dr),
                    _ => {}
                }
                self.product.clear();
                self.product.resize(b.len(), 0.0);
                apply_inverses(problem, locals, b, &mut self.product);
                h.transpose_mul_add_into(&self.product, &mut self.velocity);
                self.lu.solve(&mut self.velocity);
                self.velocity.iter_mut().for_each(|v| *v = -*v);
                self.product.copy_from_slice(b);
                h.mul_add_into(&self.velocity, &mut self.product);
                apply_inverses(problem, locals, &self.product, dr);
            }
        }
    }

    /// The same where all contacts have R rows and all bodies N unknowns: each block of H is read once on the way to the velocities, and once back.
    fn correct_uniform<const R: usize, const N: usize>(
        &mut self,
        h: &BlockMatrix,
        locals: &Locals,
        b: &[f64],
        dr: &mut [f64],
    ) {
        let (inverses, b) = (locals.uniform_inverses::<R>(), b.as_chunks::<R>().0);
        let velocity = self.velocity.as_chunks_mut::<N>().0;
        for ((b, inverse), row) in b.iter().zip(inverses).zip(h.uniform_rows::<R, N>()) {
            let mut impulse = [0.0; R];
            block::mul_add_array(inverse, b, &mut impulse);
            row.for_each(|(col, block)| block::transpose_mul_add_array(block, &impulse, &mut velocity[col]));
        }
        self.lu.solve(&mut self.velocity);
        self.velocity.iter_mut().for_each(|v| *v = -*v);
        let (velocity, dr) = (self.velocity.as_chunks::<N>().0, dr.as_chunks_mut::<R>().0);
        for (((b, inverse), dr), row) in b.iter().zip(inverses).zip(dr).zip(h.uniform_rows::<R, N>()) {
            let mut left = *b;
            row.for_each(|(col, block)| block::mul_add_array(block, &velocity[col], &mut left));
            block::mul_add_array(inverse, &left, dr);
        }
    }
}

/// out ← out + L⁻¹ b.
fn apply_inverses(problem: &FrictionProblem<Operator>, locals: &Locals, b: &[f64], out: &mut [f64]) {
    for i in 0..problem.blocks() {
        let range = problem.range(i);
        block::mul_add(locals.inverse(i), &b[range.clone()], &mut out[range]);
    }
}
