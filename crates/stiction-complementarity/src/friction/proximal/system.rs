//! Linear system (M + H D Hᵀ) x = g in body velocities, with a small block D_i for every constraint.   [PROX-3]

use crate::friction::Bodies;
use crate::linalg::{BlockMatrix, BlockSparseLu, SingularRow, block, simd};

/// Factorised system; the elimination order is kept while the graph of the bodies stays the same.
#[derive(Clone, Debug, Default)]
pub(super) struct BodySystem {
    /// Blocks D_i one after the other, each row by row.
    d: Vec<f64>,
    /// Offset of each block in `d`, followed by their length.
    offsets: Vec<usize>,
    /// Sizes of the bodies and pairs of coupled bodies of the analysed graph, and those of the present problem.
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    new_sizes: Vec<usize>,
    new_pairs: Vec<(usize, usize)>,
    lu: BlockSparseLu,
    /// Positions in `lu` of the diagonal blocks.
    diagonal: Vec<usize>,
    /// Positions in `lu` of the pairs of bodies of each constraint, row by row.
    positions: Vec<usize>,
    /// D_i Hᵀ of one constraint and one body.
    product: Vec<f64>,
}

impl BodySystem {
    /// Allocates memory for the problem, and analyses the graph of its bodies unless it is that of the last call.
    pub(super) fn prepare(&mut self, bodies: &Bodies) {
        let jacobian = bodies.jacobian();
        self.offsets.clear();
        self.offsets.push(0);
        let (mut total, mut largest) = (0, 0);
        for i in 0..jacobian.block_rows() {
            total += jacobian.row_size(i).pow(2);
            largest = largest.max(jacobian.row_size(i));
            self.offsets.push(total);
        }
        self.d.clear();
        self.d.resize(total, 0.0);
        self.new_sizes.clear();
        self.new_sizes.extend((0..jacobian.block_cols()).map(|b| jacobian.col_size(b)));
        let widest = self.new_sizes.iter().copied().max().unwrap_or(0);
        self.product.clear();
        self.product.resize(largest * widest, 0.0);
        self.collect_pairs(jacobian);
        if self.sizes != self.new_sizes || self.pairs != self.new_pairs {
            std::mem::swap(&mut self.sizes, &mut self.new_sizes);
            std::mem::swap(&mut self.pairs, &mut self.new_pairs);
            self.lu.analyse(&self.sizes, &self.pairs);
        }
        self.find_positions(jacobian);
    }

    /// Lists the pairs of bodies that some constraint couples, each once, ascending.
    fn collect_pairs(&mut self, jacobian: &BlockMatrix) {
        let pairs = &mut self.new_pairs;
        pairs.clear();
        for i in 0..jacobian.block_rows() {
            let bodies = jacobian.row(i).map(|(body, _)| body);
            for (k, a) in bodies.clone().enumerate() {
                pairs.extend(bodies.clone().skip(k + 1).map(|b| (a.min(b), a.max(b))));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
    }

    /// Finds the positions of all blocks in `lu`.
    fn find_positions(&mut self, jacobian: &BlockMatrix) {
        let (lu, positions) = (&self.lu, &mut self.positions);
        self.diagonal.clear();
        self.diagonal.extend((0..jacobian.block_cols()).filter_map(|body| lu.place(body, body)));
        positions.clear();
        for i in 0..jacobian.block_rows() {
            let bodies = jacobian.row(i).map(|(body, _)| body);
            positions.extend(bodies.clone().flat_map(|a| bodies.clone().filter_map(move |b| lu.place(a, b))));
        }
    }

    /// Block D_i, to be written before `factor`.
    pub(super) fn block_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.d[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Factorises M + H D Hᵀ with the present blocks D.
    pub(super) fn factor(&mut self, bodies: &Bodies) -> Result<(), SingularRow> {
        simd::run(Assembling(self, bodies));
        self.lu.factor()
    }

    #[inline(always)]
    fn assemble(&mut self, bodies: &Bodies) {
        self.lu.clear();
        for (body, &position) in self.diagonal.iter().enumerate() {
            self.lu.block_mut(position).copy_from_slice(bodies.mass(body));
        }
        match bodies.jacobian().uniform() {
            Some((3, 6)) => self.add_uniform_constraints::<3, 6>(bodies),
            Some((2, 3)) => self.add_uniform_constraints::<2, 3>(bodies),
            _ => self.add_constraints(bodies),
        }
    }

    /// Adds H D Hᵀ where all constraints have R rows and all bodies N velocities; the same sums in the same order as [`Self::add_constraints`].
    #[inline(always)]
    fn add_uniform_constraints<const R: usize, const N: usize>(&mut self, bodies: &Bodies) {
        let (blocks, _) = self.d.as_chunks::<R>().0.as_chunks::<R>();
        let mut rest = &self.positions[..];
        for (d, row) in blocks.iter().zip(bodies.jacobian().uniform_rows::<R, N>()) {
            let count = row.clone().count();
            let (positions, later) = rest.split_at(count * count);
            rest = later;
            if d.iter().flatten().all(|x| *x == 0.0) {
                continue;
            }
            for (y, (_, values)) in row.clone().enumerate() {
                let product = block::product_array(d, values);
                for (x, (_, other)) in row.clone().enumerate() {
                    let target = self.lu.block_mut(positions[x * count + y]);
                    let target = <&mut [[f64; N]; N]>::try_from(target.as_chunks_mut::<N>().0);
                    debug_assert!(target.is_ok(), "blocks of the matrix have the sizes of bodies");
                    if let Ok(target) = target {
                        block::transposed_product_add_array(other, &product, target);
                    }
                }
            }
        }
        debug_assert!(rest.is_empty(), "every position is used");
    }

    /// Adds H D Hᵀ, constraint by constraint.
    #[inline(always)]
    fn add_constraints(&mut self, bodies: &Bodies) {
        let jacobian = bodies.jacobian();
        let mut rest = &self.positions[..];
        for i in 0..jacobian.block_rows() {
            let (n, count) = (jacobian.row_size(i), jacobian.row(i).count());
            let (positions, later) = rest.split_at(count * count);
            rest = later;
            let d = &self.d[self.offsets[i]..self.offsets[i + 1]];
            if d.iter().all(|x| *x == 0.0) {
                continue;
            }
            for (y, (body, values)) in jacobian.row(i).enumerate() {
                let size = jacobian.col_size(body);
                let product = &mut self.product[..n * size];
                product.fill(0.0);
                block::product_add(1.0, d, values, (n, n, size), product);
                for (x, (_, other)) in jacobian.row(i).enumerate() {
                    let target = self.lu.block_mut(positions[x * count + y]);
                    block::transposed_product_add(other, product, (n, size), target);
                }
            }
        }
        debug_assert!(rest.is_empty(), "every position is used");
    }

    /// x ← (M + H D Hᵀ)⁻¹ x.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        self.lu.solve(x);
    }
}

/// The assembly of the matrix, compiled for SIMD.
struct Assembling<'a>(&'a mut BodySystem, &'a Bodies);

impl simd::Kernel for Assembling<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.assemble(self.1);
    }
}
