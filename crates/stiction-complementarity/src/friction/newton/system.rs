//! Linear systems A x + B W x = g with small diagonal blocks A_i and B_i.   [NEWTON-4]
//!
//! In Newton's method A and B are the derivatives of the Alart-Curnier function. In ADMM A = diag(ρ w + c) and B = I, with the dimensionless penalty ρ, the
//! mean diagonal w of the block and the compliance c. With the matrix-free operator the impulses are eliminated and the system is solved for the body
//! velocities, so W is never assembled. With an assembled W the system has its blocks.

use crate::friction::{Bodies, Delassus, FrictionProblem, Operator};
use crate::linalg::{BlockMatrix, BlockSparseLu, SingularRow, block, dot, invert_in_place};

/// Factorised system, with the symbolic analysis of its last sparsity pattern.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImpulseSystem {
    /// Blocks A_i one after the other, each row by row.
    a: Vec<f64>,
    /// Blocks B_i, stored as `a`.
    b: Vec<f64>,
    /// A_i⁻¹ and D_i = A_i⁻¹ B_i of the matrix-free form, stored as `a`. D is not the diagonal of W here.
    inverse: Vec<f64>,
    d: Vec<f64>,
    /// Offset of each block in these four, followed by their length.
    offsets: Vec<usize>,
    pattern: Pattern,
    /// Pairs of block columns that a block row couples.
    couplings: Vec<(usize, usize)>,
    lu: BlockSparseLu,
    /// Position in `lu` of each block that is added, in this order: diagonal blocks, then couplings.
    positions: Vec<usize>,
    scratch: Vec<f64>,
    /// Body velocities of the matrix-free form.
    velocities: Vec<f64>,
}

/// Sparsity pattern, which determines the elimination order.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pattern {
    matrix_free: bool,
    row_sizes: Vec<usize>,
    col_sizes: Vec<usize>,
    row_ends: Vec<usize>,
    columns: Vec<usize>,
}

impl Pattern {
    /// True if this is the pattern of `matrix`.
    fn matches(&self, matrix: &BlockMatrix, matrix_free: bool) -> bool {
        let rows = matrix.block_rows();
        self.matrix_free == matrix_free
            && self.row_sizes.iter().copied().eq((0..rows).map(|i| matrix.row_size(i)))
            && self.col_sizes.iter().copied().eq((0..matrix.block_cols()).map(|j| matrix.col_size(j)))
            && self.row_ends.len() == rows
            && self.columns.len() == matrix.blocks()
            && (0..rows).all(|i| {
                let begin = if i == 0 { 0 } else { self.row_ends[i - 1] };
                self.columns[begin..self.row_ends[i]].iter().copied().eq(matrix.row(i).map(|(j, _)| j))
            })
    }

    /// Copies the pattern of `matrix`, in place.
    fn copy_from(&mut self, matrix: &BlockMatrix, matrix_free: bool) {
        let rows = matrix.block_rows();
        self.matrix_free = matrix_free;
        for vector in [&mut self.row_sizes, &mut self.col_sizes, &mut self.row_ends, &mut self.columns] {
            vector.clear();
        }
        self.row_sizes.extend((0..rows).map(|i| matrix.row_size(i)));
        self.col_sizes.extend((0..matrix.block_cols()).map(|j| matrix.col_size(j)));
        for i in 0..rows {
            self.columns.extend(matrix.row(i).map(|(j, _)| j));
            self.row_ends.push(self.columns.len());
        }
    }

    /// Block columns of block row i.
    fn row(&self, i: usize) -> &[usize] {
        let begin = if i == 0 { 0 } else { self.row_ends[i - 1] };
        &self.columns[begin..self.row_ends[i]]
    }
}

impl ImpulseSystem {
    /// Allocates memory for the problem and analyses its sparsity pattern unless it is that of the last call.
    pub(crate) fn prepare(&mut self, problem: &FrictionProblem) {
        self.offsets.clear();
        self.offsets.push(0);
        let mut total = 0;
        for law in problem.laws() {
            total += law.rows().pow(2);
            self.offsets.push(total);
        }
        for blocks in [&mut self.a, &mut self.b, &mut self.inverse, &mut self.d] {
            blocks.clear();
            blocks.resize(total, 0.0);
        }
        let (matrix, matrix_free) = match problem.operator() {
            Operator::Assembled(w) => (w, false),
            Operator::MatrixFree(bodies) => (bodies.jacobian(), true),
        };
        if !self.pattern.matches(matrix, matrix_free) {
            self.pattern.copy_from(matrix, matrix_free);
            self.analyse();
        }
        let largest = self.pattern.row_sizes.iter().copied().max().unwrap_or(0);
        let widest = self.pattern.col_sizes.iter().copied().max().unwrap_or(0);
        self.scratch.resize(largest * (2 * largest + widest), 0.0);
        self.velocities.resize(matrix.cols(), 0.0);
    }

    /// Analyses the pattern symbolically and finds the positions of all blocks.
    fn analyse(&mut self) {
        let (pattern, couplings) = (&self.pattern, &mut self.couplings);
        couplings.clear();
        if pattern.matrix_free {
            for i in 0..pattern.row_sizes.len() {
                let bodies = pattern.row(i);
                couplings.extend(bodies.iter().flat_map(|&x| bodies.iter().map(move |&y| (x, y))));
            }
        } else {
            couplings.extend((0..pattern.row_sizes.len()).flat_map(|i| pattern.row(i).iter().map(move |&j| (i, j))));
        }
        self.lu.analyse(&pattern.col_sizes, couplings);
        self.positions.clear();
        let diagonal = (0..pattern.col_sizes.len()).map(|i| (i, i));
        self.positions.extend(diagonal.chain(couplings.iter().copied()).filter_map(|(i, j)| self.lu.place(i, j)));
        let total = pattern.col_sizes.len() + couplings.len();
        debug_assert_eq!(self.positions.len(), total, "every coupling has a position in the factor");
    }

    /// Blocks A_i and B_i, to be written before `factor`.
    pub(crate) fn blocks_mut(&mut self, i: usize) -> (&mut [f64], &mut [f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&mut self.a[range.clone()], &mut self.b[range])
    }

    /// Factorises the system with the present blocks.
    pub(crate) fn factor(&mut self, problem: &FrictionProblem) -> Result<(), SingularRow> {
        self.lu.clear();
        match problem.operator() {
            Operator::Assembled(w) => self.assemble_impulses(w),
            Operator::MatrixFree(bodies) => self.assemble_velocities(bodies)?,
        }
        self.lu.factor()
    }

    /// Assembles A + B W, block by block.
    fn assemble_impulses(&mut self, w: &BlockMatrix) {
        let (diagonal, rest) = self.positions.split_at(w.block_rows());
        debug_assert_eq!(rest.len(), w.blocks(), "one position per block of W");
        let mut rest = rest.iter();
        for (i, &position) in diagonal.iter().enumerate() {
            let (range, n) = (self.offsets[i]..self.offsets[i + 1], w.row_size(i));
            add(self.lu.block_mut(position), &self.a[range.clone()]);
            let b = &self.b[range];
            let is_zero = b.iter().all(|x| *x == 0.0);
            for ((j, values), &position) in w.row(i).zip(&mut rest) {
                if !is_zero {
                    block::product_add(1.0, b, values, (n, n, w.col_size(j)), self.lu.block_mut(position));
                }
            }
        }
    }

    /// Assembles M + H D Hᵀ with D = A⁻¹ B, block by block.
    fn assemble_velocities(&mut self, bodies: &Bodies) -> Result<(), SingularRow> {
        let jacobian = bodies.jacobian();
        let (diagonal, rest) = self.positions.split_at(jacobian.block_cols());
        for (body, &position) in diagonal.iter().enumerate() {
            add(self.lu.block_mut(position), bodies.mass(body));
        }
        let mut rest = rest;
        for i in 0..jacobian.block_rows() {
            let (n, range) = (jacobian.row_size(i), self.offsets[i]..self.offsets[i + 1]);
            let count = jacobian.row(i).count();
            let (positions, later) = rest.split_at(count * count);
            rest = later;
            let (inverse, d) = (&mut self.inverse[range.clone()], &mut self.d[range.clone()]);
            inverse.copy_from_slice(&self.a[range.clone()]);
            d.fill(0.0);
            if !invert_in_place(n, inverse, &mut self.scratch) {
                return Err(SingularRow { row: jacobian.row_range(i).start });
            }
            let b = &self.b[range];
            if b.iter().all(|x| *x == 0.0) {
                continue;
            }
            block::product_add(1.0, inverse, b, (n, n, n), d);
            for (y, (body, values)) in jacobian.row(i).enumerate() {
                let size = jacobian.col_size(body);
                let product = &mut self.scratch[..n * size];
                product.fill(0.0);
                block::product_add(1.0, d, values, (n, n, size), product);
                for (x, (_, other)) in jacobian.row(i).enumerate() {
                    block::transposed_product_add(
                        other,
                        product,
                        (n, size),
                        self.lu.block_mut(positions[x * count + y]),
                    );
                }
            }
        }
        debug_assert!(rest.is_empty(), "every position is used");
        Ok(())
    }

    /// Solves A x + B W x = g.
    pub(crate) fn solve(&mut self, problem: &FrictionProblem, g: &[f64], x: &mut [f64]) {
        match problem.operator() {
            Operator::Assembled(_) => {
                x.copy_from_slice(g);
                self.lu.solve(x);
            }
            Operator::MatrixFree(bodies) => self.solve_velocities(bodies, g, x),
        }
    }

    /// g ← g − A x − B w with w = W x: the residual of the linear system.
    pub(crate) fn subtract_product(&self, x: &[f64], w: &[f64], g: &mut [f64]) {
        let mut begin = 0;
        for (i, &n) in self.pattern.row_sizes.iter().enumerate() {
            let (rows, blocks) = (begin..begin + n, self.offsets[i]..self.offsets[i + 1]);
            let (a, b) = (self.a[blocks.clone()].chunks_exact(n), self.b[blocks].chunks_exact(n));
            for (g, (a, b)) in g[rows.clone()].iter_mut().zip(a.zip(b)) {
                *g -= dot(a, &x[rows.clone()]) + dot(b, &w[rows.clone()]);
            }
            begin += n;
        }
        debug_assert!(begin == g.len() && begin == x.len() && begin == w.len(), "the blocks cover all rows");
    }

    /// Solves (M + H D Hᵀ) v = H A⁻¹ g, then x = A⁻¹ g − D Hᵀ v.
    fn solve_velocities(&mut self, bodies: &Bodies, g: &[f64], x: &mut [f64]) {
        let jacobian = bodies.jacobian();
        let v = &mut self.velocities[..];
        v.fill(0.0);
        for i in 0..jacobian.block_rows() {
            let rows = jacobian.row_range(i);
            let inverse = &self.inverse[self.offsets[i]..self.offsets[i + 1]];
            x[rows.clone()].fill(0.0);
            block::mul_add(inverse, &g[rows.clone()], &mut x[rows.clone()]);
            jacobian.row_transpose_mul_add(i, &x[rows], v);
        }
        self.lu.solve(v);
        for i in 0..jacobian.block_rows() {
            let n = jacobian.row_size(i);
            let u = &mut self.scratch[..n];
            u.fill(0.0);
            jacobian.row_mul_add(i, v, u);
            let d = &self.d[self.offsets[i]..self.offsets[i + 1]];
            block::mul_sub(d, u, &mut x[jacobian.row_range(i)]);
        }
    }
}

/// Mean diagonal entry of W + diag c of each block; if it is not positive and finite, the mean over all blocks, or 1 if
/// that is not either.
pub(crate) fn mean_compliant_diagonals(problem: &FrictionProblem, scratch: &mut Vec<f64>, out: &mut Vec<f64>) {
    out.clear();
    for (i, law) in problem.laws().iter().enumerate() {
        let n = law.rows();
        scratch.clear();
        scratch.resize(n * n, 0.0);
        problem.operator().diagonal(i, scratch);
        let compliance = problem.compliance().get(problem.range(i)).unwrap_or(&[]);
        let trace: f64 = scratch.iter().step_by(n + 1).chain(compliance).sum();
        out.push(trace / n as f64);
    }
    replace_vanished(out);
}

/// Replaces entries that are not positive and finite by the mean, or by 1 if that is not either.
pub(crate) fn replace_vanished(out: &mut [f64]) {
    let mean = out.iter().sum::<f64>() / out.len().max(1) as f64;
    let fallback = if mean > 0.0 && mean.is_finite() { mean } else { 1.0 };
    out.iter_mut().filter(|w| !(**w > 0.0 && w.is_finite())).for_each(|w| *w = fallback);
}

fn add(target: &mut [f64], source: &[f64]) {
    debug_assert_eq!(target.len(), source.len(), "equal sizes");
    target.iter_mut().zip(source).for_each(|(t, s)| *t += s);
}
