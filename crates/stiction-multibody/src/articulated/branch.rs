//! Matrices with branch-induced sparsity: row k holds the entries of velocity k and its ancestors.

use super::tree::Tree;

/// Lower triangle of a symmetric matrix over velocities, packed: row k is (k, k), (k, λ(k)), (k, λ(λ(k))), … with λ the parent
/// velocity. Entries of different branches are zero and not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchMatrix {
    parents: Vec<Option<usize>>,
    /// Offset of each row in `entries`, followed by their number.
    offsets: Vec<usize>,
    pub(super) entries: Vec<f64>,
}

impl BranchMatrix {
    /// The zero matrix of a tree.
    pub fn zeros(tree: &Tree) -> Self {
        let parents: Vec<_> = (0..tree.velocities()).map(|k| tree.velocity_parent(k)).collect();
        let mut offsets = Vec::with_capacity(parents.len() + 1);
        offsets.push(0);
        let mut end = 0;
        for k in 0..parents.len() {
            end += tree.velocity_depth(k);
            offsets.push(end);
        }
        debug_assert_eq!(offsets.len(), parents.len() + 1, "one offset per row, and the end");
        Self { parents, offsets, entries: vec![0.0; end] }
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.parents.len()
    }

    /// Row k, from the diagonal to the root.
    pub fn row(&self, k: usize) -> &[f64] {
        &self.entries[self.offsets[k]..self.offsets[k + 1]]
    }

    /// Row k, to be written.
    pub fn row_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.entries[self.offsets[k]..self.offsets[k + 1]]
    }

    /// Entries before row k, and row k.
    pub(super) fn split_at_row(&mut self, k: usize) -> (&mut [f64], &mut [f64]) {
        let (before, rest) = self.entries.split_at_mut(self.offsets[k]);
        (before, &mut rest[..self.offsets[k + 1] - self.offsets[k]])
    }

    /// Position of the first entry of row k.
    pub(super) fn start(&self, k: usize) -> usize {
        self.offsets[k]
    }

    /// Parent velocity of k.
    pub(super) fn parent(&self, k: usize) -> Option<usize> {
        self.parents[k]
    }

    /// Velocity k and its ancestors: the columns of row k.
    pub fn columns(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(k), |&k| self.parents[k])
    }

    /// Entry (i, j) of the symmetric matrix.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        debug_assert!(
            i < self.size() && j < self.size(),
            "entry ({i}, {j}) is outside of a matrix of {} rows",
            self.size()
        );
        let (low, high) = (i.min(j), i.max(j));
        self.columns(high).zip(self.row(high)).find(|&(column, _)| column == low).map_or(0.0, |(_, &entry)| entry)
    }

    /// Product of the symmetric matrix with `x`.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        debug_assert_eq!((x.len(), out.len()), (self.size(), self.size()), "one number per row");
        out.fill(0.0);
        for k in 0..self.size() {
            for (j, &entry) in self.columns(k).zip(self.row(k)) {
                out[k] += entry * x[j];
                if j != k {
                    out[j] += entry * x[k];
                }
            }
        }
    }
}
