//! Rows of a small problem in full, and W = Y Yᵀ of them.   [RED-6]
//!
//! Rows are kept column by column: then W and M⁻¹ Jᵀ r are sums of products along contiguous numbers, and the velocities that a row does not
//! move are skipped.

use stiction_multibody::{Forest, LinkId, Model, articulated::Tree};

use super::{Reduced, RowScratch};
use crate::drives::Side;

/// Rows y = L⁻ᵀ Jᵀ of a problem, and W.
#[derive(Debug, Default)]
pub(crate) struct ExplicitRows {
    /// Rows there is room for, and rows that were written.
    room: usize,
    count: usize,
    /// Entry of row i at velocity k: `columns[k * room + i]`.
    columns: Vec<f64>,
    /// The velocities of each row that have entries, and where they end.
    entries: Vec<usize>,
    ends: Vec<usize>,
    /// How many rows had been begun when each velocity got its last entry.
    stamps: Vec<usize>,
    /// W, row by row with `room` to a row.
    w: Vec<f64>,
}

impl ExplicitRows {
    fn clear(&mut self, velocities: usize, rows: usize) {
        (self.room, self.count) = (rows, 0);
        self.columns.clear();
        self.columns.resize(velocities * self.room, 0.0);
        self.entries.clear();
        self.ends.clear();
        self.stamps.clear();
        self.stamps.resize(velocities, 0);
    }

    /// Adds the half response in `row.path`, which moves a link, to the row that was begun last.
    fn add(&mut self, tree: &Tree, link: LinkId, row: &RowScratch) {
        let begun = self.count + 1;
        let mut path = row.path.iter();
        for i in tree.path_to_root(link) {
            for (k, entry) in tree.links()[i].velocities().rev().zip(path.by_ref()) {
                self.columns[k * self.room + self.count] += entry * row.whitening[k];
                if self.stamps[k] != begun {
                    self.stamps[k] = begun;
                    self.entries.push(k);
                }
            }
        }
    }

    fn finish_row(&mut self) {
        self.ends.push(self.entries.len());
        self.count += 1;
    }

    /// W, row by row, and how many numbers are in a row.
    pub(crate) fn delassus(&self) -> (&[f64], usize) {
        (&self.w, self.room)
    }

    /// W_ij = Σ_k y_ik y_jk, for j ≤ i and then by symmetry.
    fn multiply(&mut self) {
        let Self { room, count, columns, entries, ends, w, .. } = self;
        w.clear();
        w.resize(*room * *count, 0.0);
        let mut first = 0;
        for (i, (row, &end)) in w.chunks_exact_mut((*room).max(1)).zip(&*ends).enumerate() {
            for &k in entries.get(first..end).unwrap_or_default() {
                let column = &columns[k * *room..][..=i];
                let own = column[i];
                row.iter_mut().zip(column).for_each(|(w, y)| *w += own * y);
            }
            first = end;
        }
        for i in 1..*count {
            let (above, row) = w.split_at_mut(i * *room);
            above.iter_mut().skip(i).step_by(*room).zip(&*row).for_each(|(above, w)| *above = *w);
        }
    }
}

impl Reduced {
    /// Begins the rows of a problem in impulses alone, so many. Divide and conquer has begun already.
    pub(crate) fn begin_explicit(&mut self, forest: &Forest, rows: usize) {
        if self.divided.is_none() {
            self.explicit.clear(forest.tree().velocities(), rows);
        }
    }

    /// Appends a row.
    pub(crate) fn push_row(&mut self, forest: &Forest, sides: &[Option<Side>]) {
        if self.push_divided(forest, sides) {
            return;
        }
        for side in sides.iter().flatten() {
            let link = match side {
                Side::Wrench(body, wrench) => self.write_half_response(forest, *body, wrench),
                Side::Velocity(k, factor) => self.write_half_response_at(forest, *k, *factor),
            };
            if let Some(link) = link {
                self.explicit.add(forest.tree(), link, &self.row);
            }
        }
        self.explicit.finish_row();
    }

    /// All rows are there.
    pub(crate) fn finish_explicit(&mut self) {
        if self.divided.is_none() {
            self.explicit.multiply();
        }
    }

    /// v⁺ = v_free + M⁻¹ Jᵀ r of impulses of all rows, times `unit`, and the velocities of the bodies where the constraints are linearised.
    pub(crate) fn find_velocity_of_impulses(&mut self, model: &Model, (r, unit): (&[f64], f64), out: &mut Vec<f64>) {
        if self.divided.is_some() {
            return self.find_velocity_by_response(model, (r.iter().copied(), unit), out);
        }
        // Jᵀ r is that of the inward halves: L⁻ᵀ Jᵀ r times the root of the pivots.
        let ExplicitRows { room, columns, .. } = &self.explicit;
        self.residual.clear();
        self.residual.extend(self.factors.pivots().iter().enumerate().map(|(k, d)| {
            let column = columns.get(k * room..(k + 1) * room).unwrap_or_default();
            let sum: f64 = column.iter().zip(r).map(|(y, r)| y * r).sum();
            sum * unit * d.sqrt()
        }));
        self.respond_outward(model, out);
    }
}
