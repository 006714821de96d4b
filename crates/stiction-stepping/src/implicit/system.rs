//! Linear system of Newton's method: dense for a few bodies, block-sparse for many.
//!
//! A block is a body with the laws assigned to it and their further unknowns (surfaces of layers, normals of support points, closest
//! points). Blocks are coupled if a law joins two bodies, so that the elimination follows the graph of contacts and joints.

use stiction_complementarity::linalg::{BlockSparseLu, DenseLu, DenseMatrix, SingularRow};
use stiction_multibody::{BodyId, Model};

use super::iterate::{Fixed, Iterate, auxiliary_blocks};
use crate::Workspace;

/// Largest number of unknowns for which a dense elimination is used. For so few it is faster than the analysis of a sparse pattern.
const MAX_DENSE: usize = 64;

/// Matrix to which entries are added, its factors and its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct NewtonSystem {
    dense: DenseMatrix,
    dense_lu: DenseLu,
    sparse: BlockSparseLu,
    is_dense: bool,
    /// Block of each unknown, and its index in the block.
    places: Vec<(usize, usize)>,
    sizes: Vec<usize>,
    couplings: Vec<(usize, usize)>,
    /// Rows of laws assigned to each block.
    loads: Vec<usize>,
    /// Offset of each block in the vector of the sparse solver.
    offsets: Vec<usize>,
    permuted: Vec<f64>,
}

impl NewtonSystem {
    /// Begins an empty matrix for the unknowns of an iterate.
    pub(super) fn begin(&mut self, model: &Model, ws: &Workspace, fixed: &Fixed, at: &Iterate) {
        let n = at.f.len();
        self.is_dense = n <= MAX_DENSE;
        if self.is_dense {
            self.dense.reset(n, n);
            return;
        }
        self.assign(model, ws, fixed, at);
        self.sparse.analyse(&self.sizes, &self.couplings);
        self.sparse.clear();
    }

    /// Assigns every unknown to a block: velocities to that of their body, laws to that of their body with the fewest rows so far.
    fn assign(&mut self, model: &Model, ws: &Workspace, fixed: &Fixed, at: &Iterate) {
        let blocks = model.layout().iter().filter(|slot| !slot.v.is_empty()).count();
        let (n_v, n_r) = (at.v.len(), at.r.len());
        self.sizes.clear();
        self.sizes.resize(blocks, 0);
        self.loads.clear();
        self.loads.resize(blocks, 0);
        self.couplings.clear();
        self.places.clear();
        self.places.resize(at.f.len(), (0, 0));
        for (block, slot) in model.layout().iter().filter(|slot| !slot.v.is_empty()).enumerate() {
            slot.v.clone().for_each(|unknown| self.assign_block(unknown, block));
        }
        for law in 0..ws.friction.problem.blocks() {
            let [a, b] = bodies_of(model, fixed, at, law).map(|id| block_of(model, id));
            let owner = match (a, b) {
                (Some(a), Some(b)) => {
                    self.couplings.push((a, b));
                    if self.loads.get(a) <= self.loads.get(b) { a } else { b }
                }
                (Some(block), None) | (None, Some(block)) => block,
                (None, None) => 0,
            };
            let rows = ws.friction.problem.range(law);
            if let Some(load) = self.loads.get_mut(owner) {
                *load += rows.len();
            }
            rows.for_each(|row| self.assign_block(n_v + row, owner));
        }
        for (rows, columns, _) in auxiliary_blocks(model, ws) {
            let owner = self.places.get(n_v + rows.start).map_or(0, |place| place.0);
            columns.for_each(|column| self.assign_block(column, owner));
        }
        // The first laws are those of the contacts, in order.
        for (&(_, law), points) in fixed.laws.iter().zip(&fixed.points) {
            let Some(points) = points else { continue };
            let owner = self.places.get(n_v + ws.friction.problem.range(law).start).map_or(0, |place| place.0);
            (points.first..points.first + points.len()).for_each(|z| self.assign_block(n_v + n_r + z, owner));
        }
        debug_assert_eq!(self.sizes.iter().sum::<usize>(), self.places.len(), "every unknown is in one block");
        self.offsets.clear();
        self.offsets.extend(self.sizes.iter().scan(0, |begin, size| {
            *begin += size;
            Some(*begin - size)
        }));
    }

    fn assign_block(&mut self, unknown: usize, block: usize) {
        debug_assert!(unknown < self.places.len() && block < self.sizes.len(), "unknown {unknown}, block {block}");
        if let (Some(place), Some(size)) = (self.places.get_mut(unknown), self.sizes.get_mut(block)) {
            *place = (block, *size);
            *size += 1;
        }
    }

    /// Adds to an entry.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        if self.is_dense {
            self.dense.row_mut(row)[column] += value;
            return;
        }
        let ((i, row), (j, column)) = (self.places[row], self.places[column]);
        let width = self.sizes[j];
        if let Some(place) = self.sparse.place(i, j) {
            self.sparse.block_mut(place)[row * width + column] += value;
        } else {
            debug_assert!(value == 0.0, "blocks {i} and {j} are coupled");
        }
    }

    /// Factorises what was added.
    pub(super) fn factor(&mut self) -> Result<(), SingularRow> {
        if !self.is_dense {
            return self.sparse.factor();
        }
        let matrix = &self.dense;
        self.dense_lu.factor(matrix.rows(), |a| a.copy_from_slice(matrix.as_slice()))
    }

    /// x ← A⁻¹ b.
    pub(super) fn solve(&mut self, b: &[f64], x: &mut Vec<f64>) {
        x.clear();
        x.resize(b.len(), 0.0);
        if self.is_dense {
            self.dense_lu.solve(b, x);
            return;
        }
        debug_assert_eq!(b.len(), self.places.len(), "the right-hand side has all unknowns");
        self.permuted.clear();
        self.permuted.resize(b.len(), 0.0);
        for (&(block, place), b) in self.places.iter().zip(b) {
            self.permuted[self.offsets[block] + place] = *b;
        }
        self.sparse.solve(&mut self.permuted);
        for (&(block, place), x) in self.places.iter().zip(x) {
            *x = self.permuted[self.offsets[block] + place];
        }
    }

    /// The matrix as rows, for tests.
    #[cfg(test)]
    pub(super) fn dense(&mut self) -> DenseMatrix {
        if self.is_dense {
            return self.dense.clone();
        }
        let n = self.places.len();
        let mut out = DenseMatrix::zeros(n, n);
        for row in 0..n {
            for column in 0..n {
                let ((i, r), (j, c)) = (self.places[row], self.places[column]);
                if let Some(place) = self.sparse.place(i, j) {
                    let width = self.sizes[j];
                    out.row_mut(row)[column] = self.sparse.block_mut(place)[r * width + c];
                }
            }
        }
        out
    }
}

/// The block of a body.
fn block_of(model: &Model, id: BodyId) -> Option<usize> {
    model.unknowns(id)?;
    Some(model.layout().iter().take(id.index()).filter(|slot| !slot.v.is_empty()).count())
}

/// The two bodies of a law.
fn bodies_of(model: &Model, fixed: &Fixed, at: &Iterate, law: usize) -> [BodyId; 2] {
    let joints = model.joints().len();
    if let Some(joint) = model.joints().get(law) {
        return [joint.a.0, joint.b.0];
    }
    if let Some(support_point) =
        law.checked_sub(joints + at.contacts.len()).and_then(|support_point| at.support_points.get(support_point))
    {
        return [support_point.supporting_body, support_point.body];
    }
    let contact = fixed.laws.iter().find(|(_, block)| *block == law).and_then(|(index, _)| at.contacts.get(*index));
    contact.map_or([BodyId::WORLD; 2], |contact| [contact.a, contact.b])
}
