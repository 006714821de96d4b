//! Branch-induced sparse factorisation M = LᵀL: as sparse as M itself, no fill-in.

use super::{SingularInertia, branch::BranchMatrix, tree::Tree};

/// The factor L of a mass matrix.
#[derive(Clone, Debug)]
pub struct LtlFactor {
    factor: BranchMatrix,
}

impl LtlFactor {
    /// Allocates the factor of a tree's mass matrix.
    pub fn new(tree: &Tree) -> Self {
        Self { factor: BranchMatrix::zeros(tree) }
    }

    /// L with M = LᵀL, from the leaves inwards.   [ART-7]
    ///
    /// Eliminating velocity k changes only entries between its ancestors, all of which are stored.
    pub fn factorise(&mut self, mass: &BranchMatrix) -> Result<(), SingularInertia> {
        self.factor.entries.copy_from_slice(&mass.entries);
        for k in (0..self.factor.size()).rev() {
            let pivot = self.factor.row(k)[0];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(SingularInertia { velocity: k });
            }
            let root = pivot.sqrt();
            let row = self.factor.row_mut(k);
            row[0] = root;
            for entry in &mut row[1..] {
                *entry /= root;
            }
            let (mut place, mut ancestor) = (1, self.factor.parent(k));
            while let Some(i) = ancestor {
                ancestor = self.factor.parent(i);
                let (start, row_i_end) = (self.factor.start(i), self.factor.start(i + 1));
                let (before, row) = self.factor.split_at_row(k);
                // Row i has the same columns as row k from the column of i on.
                let tail = &row[place..];
                debug_assert_eq!(tail.len(), row_i_end - start, "row {i} has the columns of row {k} from its own on");
                let weight = tail[0];
                for (entry, l) in before[start..].iter_mut().zip(tail) {
                    *entry -= weight * l;
                }
                place += 1;
            }
        }
        Ok(())
    }

    /// Solves M x = b in place: Lᵀ y = b from the leaves inwards, L x = y outwards.   [ART-7]
    pub fn solve(&self, x: &mut [f64]) {
        debug_assert_eq!(x.len(), self.factor.size(), "one number per row");
        for k in (0..self.factor.size()).rev() {
            let row = self.factor.row(k);
            x[k] /= row[0];
            for (j, l) in self.factor.columns(k).zip(row).skip(1) {
                x[j] -= l * x[k];
            }
        }
        for k in 0..self.factor.size() {
            let row = self.factor.row(k);
            let known: f64 = self.factor.columns(k).zip(row).skip(1).map(|(j, l)| l * x[j]).sum();
            x[k] = (x[k] - known) / row[0];
        }
    }

    /// L itself, by rows.
    pub fn factor(&self) -> &BranchMatrix {
        &self.factor
    }
}
