//! Linear system (W + L) δr = b of one Newton step, in a sparse form.   [CONE-11]
//!
//! With the matrix-free operator it becomes (M + H L⁻¹ Hᵀ) δv = H L⁻¹ b, δr = L⁻¹ (b − Hᵀ δv), with one block per body. W itself, which
//! may be singular, is never factorised. With an assembled W the matrix is W + L, with one block per law.

use super::cones::{Cones, LinearisedLaws, Row};
use crate::friction::law::norm;
use crate::friction::operator::{Bodies, Delassus};
use crate::friction::{FrictionProblem, Operator};
use crate::linalg::{BlockMatrix, BlockSparseLu, SingularRow, block};

/// Largest number of refinements of a solution.
const MAX_REFINEMENTS: u32 = 4;

/// Factorised system; its symbolic analysis is kept while the sparsity pattern stays the same.
#[derive(Clone, Debug)]
pub(super) struct NewtonSystem {
    lu: BlockSparseLu,
    /// Block sizes and coupled pairs of blocks of the analysed pattern.
    sizes: Vec<usize>,
    couplings: Vec<(usize, usize)>,
    /// The same of the present problem.
    new_sizes: Vec<usize>,
    new_couplings: Vec<(usize, usize)>,
    /// Positions of the diagonal blocks in `lu`.
    diagonal: Vec<usize>,
    /// Positions of the coupling blocks in `lu`, in the order of `couplings`.
    positions: Vec<usize>,
    velocity: Vec<f64>,
    product: Vec<f64>,
    error: Vec<f64>,
    state: Vec<f64>,
}

impl Default for NewtonSystem {
    /// Creates an empty system that accepts every pivot.
    ///
    /// Near the end L has very large and very small blocks, so small pivots are significant. Refinement checks the result.
    fn default() -> Self {
        Self {
            lu: BlockSparseLu::with_pivot_bound(0.0),
            sizes: Vec::new(),
            couplings: Vec::new(),
            new_sizes: Vec::new(),
            new_couplings: Vec::new(),
            diagonal: Vec::new(),
            positions: Vec::new(),
            velocity: Vec::new(),
            product: Vec::new(),
            error: Vec::new(),
            state: Vec::new(),
        }
    }
}

impl NewtonSystem {
    /// Analyses the sparsity pattern unless it is that of the last call.
    pub(super) fn prepare(&mut self, problem: &FrictionProblem<Operator>) {
        self.new_sizes.clear();
        self.new_couplings.clear();
        match problem.operator() {
            Operator::Assembled(w) => {
                self.new_sizes.extend((0..w.block_rows()).map(|i| w.row_size(i)));
                self.new_couplings.extend((0..w.block_rows()).flat_map(|i| w.row(i).map(move |(j, _)| (i, j))));
            }
            Operator::MatrixFree(bodies) => {
                let h = bodies.jacobian();
                self.new_sizes.extend((0..h.block_cols()).map(|b| h.col_size(b)));
                let pairs = |i| h.row(i).flat_map(move |(a, _)| h.row(i).map(move |(b, _)| (a, b)));
                self.new_couplings.extend((0..h.block_rows()).flat_map(pairs));
            }
        }
        if self.sizes == self.new_sizes && self.couplings == self.new_couplings {
            return;
        }
        self.sizes.clone_from(&self.new_sizes);
        self.couplings.clone_from(&self.new_couplings);
        self.lu.analyse(&self.sizes, &self.couplings);
        self.diagonal.clear();
        self.diagonal.extend((0..self.sizes.len()).filter_map(|i| self.lu.place(i, i)));
        self.positions.clear();
        self.positions.extend(self.couplings.iter().filter_map(|&(i, j)| self.lu.place(i, j)));
        debug_assert!(
            self.diagonal.len() == self.sizes.len() && self.positions.len() == self.couplings.len(),
            "every block has a position in the factor"
        );
    }

    /// Assembles and factorises the matrix.
    pub(super) fn factor(
        &mut self,
        problem: &FrictionProblem<Operator>,
        cones: &Cones,
        linearised_laws: &LinearisedLaws,
    ) -> Result<(), SingularRow> {
        self.lu.clear();
        match problem.operator() {
            Operator::Assembled(w) => self.assemble_impulses(problem, w, cones, linearised_laws),
            Operator::MatrixFree(bodies) => self.assemble_velocities(bodies, linearised_laws),
        }
        self.lu.factor()
    }

    /// Assembles W + L; prescribed rows get those of L, which are rows of the identity.
    fn assemble_impulses(
        &mut self,
        problem: &FrictionProblem<Operator>,
        w: &BlockMatrix,
        cones: &Cones,
        linearised_laws: &LinearisedLaws,
    ) {
        let mut positions = self.positions.iter();
        for i in 0..w.block_rows() {
            let kinds = &cones.rows[problem.range(i)];
            for ((j, block), &position) in w.row(i).zip(&mut positions) {
                let size = w.col_size(j).max(1);
                let target = self.lu.block_mut(position).chunks_exact_mut(size);
                for ((target, row), kind) in target.zip(block.chunks_exact(size)).zip(kinds) {
                    if !matches!(kind, Row::Prescribed(_)) {
                        target.iter_mut().zip(row).for_each(|(t, w)| *t += w);
                    }
                }
            }
        }
        debug_assert!(positions.as_slice().is_empty(), "every position is used");
        for (i, &position) in self.diagonal.iter().enumerate() {
            self.lu.block_mut(position).iter_mut().zip(linearised_laws.matrix(i)).for_each(|(t, l)| *t += l);
        }
    }

    /// Assembles M + H L⁻¹ Hᵀ.
    fn assemble_velocities(&mut self, bodies: &Bodies, linearised_laws: &LinearisedLaws) {
        for (body, &position) in self.diagonal.iter().enumerate() {
            self.lu.block_mut(position).copy_from_slice(bodies.mass(body));
        }
        let h = bodies.jacobian();
        match h.uniform() {
            Some((3, 6)) => return self.add_contacts::<3, 6>(h, linearised_laws),
            Some((2, 3)) => return self.add_contacts::<2, 3>(h, linearised_laws),
            _ => {}
        }
        let mut next = 0;
        for i in 0..h.block_rows() {
            let (inverse, rows, count) = (linearised_laws.inverse(i), h.row_size(i), h.row(i).count());
            for (second, (body, jacobian)) in h.row(i).enumerate() {
                let size = h.col_size(body);
                self.product.clear();
                self.product.resize(rows * size, 0.0);
                block::product_add(1.0, inverse, jacobian, (rows, rows, size), &mut self.product);
                for (first, (_, jacobian)) in h.row(i).enumerate() {
                    let Some(&position) = self.positions.get(next + first * count + second) else {
                        debug_assert!(false, "every coupling has a position");
                        return;
                    };
                    block::transposed_product_add(jacobian, &self.product, (rows, size), self.lu.block_mut(position));
                }
            }
            next += count * count;
        }
        debug_assert_eq!(next, self.positions.len(), "every position is used");
    }

    /// Adds H L⁻¹ Hᵀ if all laws have R rows and all bodies N velocities.
    fn add_contacts<const R: usize, const N: usize>(&mut self, h: &BlockMatrix, linearised_laws: &LinearisedLaws) {
        let mut positions = &self.positions[..];
        for i in 0..h.block_rows() {
            let Ok(inverse) = <&[[f64; R]; R]>::try_from(linearised_laws.inverse(i).as_chunks::<R>().0) else {
                debug_assert!(false, "contact {i} has {R} rows");
                return;
            };
            let count = h.uniform_row::<R, N>(i).len();
            let (now, later) = positions.split_at(count * count);
            for (second, jacobian) in h.uniform_row::<R, N>(i).enumerate() {
                let product = block::product_array(inverse, jacobian);
                let column = now.iter().skip(second).step_by(count);
                for (jacobian, &position) in h.uniform_row::<R, N>(i).zip(column) {
                    let target = self.lu.block_mut(position).as_chunks_mut::<N>().0;
                    let Ok(target) = <&mut [[f64; N]; N]>::try_from(target) else {
                        debug_assert!(false, "bodies have {N} velocities");
                        return;
                    };
                    block::transposed_product_add_array(jacobian, &product, target);
                }
            }
            positions = later;
        }
        debug_assert!(positions.is_empty(), "every position is used");
    }

    /// Solves δr ← (W + L)⁻¹ b and refines it to an error of `tolerance`; an infinite tolerance skips refinement.
    ///
    /// In prescribed rows b and δr are zero. These rows have no equation, so W δr is no error there.
    ///
    /// Returns the remaining error relative to b, or zero if it is within the tolerance.
    pub(super) fn solve(
        &mut self,
        problem: &FrictionProblem<Operator>,
        (cones, linearised_laws): (&Cones, &LinearisedLaws),
        (b, tolerance): (&[f64], f64),
        dr: &mut Vec<f64>,
    ) -> f64 {
        debug_assert_eq!(cones.rows.len(), b.len(), "one kind of equation per row");
        dr.clear();
        dr.resize(b.len(), 0.0);
        let mut error = std::mem::take(&mut self.error);
        error.clear();
        error.extend_from_slice(b);
        let (target, mut size) = (norm(b), f64::INFINITY);
        for _ in 0..=MAX_REFINEMENTS {
            self.add_solution(problem, linearised_laws, &error, dr);
            if tolerance == f64::INFINITY {
                self.error = error;
                return 0.0;
            }
            self.product.clear();
            self.product.resize(b.len(), 0.0);
            problem.operator().apply(dr, &mut self.product, &mut self.state);
            error.iter_mut().zip(b.iter().zip(&self.product)).for_each(|(error, (b, product))| *error = b - product);
            for i in 0..problem.blocks() {
                let range = problem.range(i);
                block::mul_sub(linearised_laws.matrix(i), &dr[range.clone()], &mut error[range]);
            }
            let prescribed = cones.rows.iter().map(|row| matches!(row, Row::Prescribed(_)));
            error.iter_mut().zip(prescribed).filter(|(_, prescribed)| *prescribed).for_each(|(error, _)| *error = 0.0);
            let now = norm(&error);
            let better = now < 0.5 * size;
            size = now;
            if now <= tolerance || !better {
                break;
            }
        }
        self.error = error;
        if size <= tolerance { 0.0 } else { size / target }
    }

    /// δr ← δr + (W + L)⁻¹ b with the factors.
    fn add_solution(
        &mut self,
        problem: &FrictionProblem<Operator>,
        linearised_laws: &LinearisedLaws,
        b: &[f64],
        dr: &mut [f64],
    ) {
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
                    Some((3, 6)) => return self.add_solution_uniform::<3, 6>(h, linearised_laws, b, dr),
                    Some((2, 3)) => return self.add_solution_uniform::<2, 3>(h, linearised_laws, b, dr),
                    _ => {}
                }
                self.product.clear();
                self.product.resize(b.len(), 0.0);
                apply_inverses(problem, linearised_laws, b, &mut self.product);
                h.transpose_mul_add_into(&self.product, &mut self.velocity);
                self.lu.solve(&mut self.velocity);
                self.velocity.iter_mut().for_each(|v| *v = -*v);
                self.product.copy_from_slice(b);
                h.mul_add_into(&self.velocity, &mut self.product);
                apply_inverses(problem, linearised_laws, &self.product, dr);
            }
        }
    }

    /// δr ← δr + (W + L)⁻¹ b if all laws have R rows and all bodies N velocities. Each block of H is read once for the velocities and
    /// once for the impulses.
    fn add_solution_uniform<const R: usize, const N: usize>(
        &mut self,
        h: &BlockMatrix,
        linearised_laws: &LinearisedLaws,
        b: &[f64],
        dr: &mut [f64],
    ) {
        let (inverses, b) = (linearised_laws.uniform_inverses::<R>(), b.as_chunks::<R>().0);
        debug_assert!(b.len() == inverses.len() && b.len() == h.block_rows(), "one inverse per contact");
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
            let mut rest = *b;
            row.for_each(|(col, block)| block::mul_add_array(block, &velocity[col], &mut rest));
            block::mul_add_array(inverse, &rest, dr);
        }
    }
}

/// out ← out + L⁻¹ b.
fn apply_inverses(problem: &FrictionProblem<Operator>, linearised_laws: &LinearisedLaws, b: &[f64], out: &mut [f64]) {
    for i in 0..problem.blocks() {
        let range = problem.range(i);
        block::mul_add(linearised_laws.inverse(i), &b[range.clone()], &mut out[range]);
    }
}
