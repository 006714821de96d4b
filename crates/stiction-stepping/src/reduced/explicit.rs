//! Rows of a small problem in full, and W = Y Yᵀ of them.   [RED-6]
//!
//! Rows are kept column by column: then W and M⁻¹ Jᵀ r are sums of products along contiguous numbers, and the velocities that a row does not
//! move are skipped.

use stiction_multibody::{
    BodyId, Forest, LinkId, Model, Wrench,
    articulated::{Tree, half_responses},
};

use super::{Reduced, RowScratch};
use crate::drives::Side;

/// Numbers of W that are summed at once: as many as registers hold.
const LANES: usize = 8;

/// Rows y = L⁻ᵀ Jᵀ of a problem, and W.
#[derive(Debug, Default)]
pub(crate) struct ExplicitRows {
    /// Rows there is room for, a multiple of [`LANES`], and rows that were written.
    room: usize,
    count: usize,
    /// Entry of row i at velocity k: `columns[k * room + i]`.
    columns: Vec<f64>,
    /// The velocities that move the rows of each law, and where laws end: among the rows, and among these.
    entries: Vec<usize>,
    ends: Vec<[usize; 2]>,
    /// How many laws had been begun when each velocity got its last entry.
    stamps: Vec<usize>,
    /// W, row by row with `room` to a row.
    w: Vec<f64>,
}

impl ExplicitRows {
    fn clear(&mut self, velocities: usize, rows: usize) {
        (self.room, self.count) = (rows.next_multiple_of(LANES), 0);
        self.columns.clear();
        self.columns.resize(velocities * self.room, 0.0);
        self.entries.clear();
        self.ends.clear();
        self.stamps.clear();
        self.stamps.resize(velocities, 0);
    }

    /// Adds the residuals of half responses at a velocity to the rows of the law that was begun last.
    #[inline]
    fn add<const N: usize>(&mut self, k: usize, residuals: &[f64; N], whitening: f64) {
        let places = &mut self.columns[k * self.room + self.count..][..N];
        places.iter_mut().zip(residuals).for_each(|(y, u)| *y += u * whitening);
        let begun = self.ends.len() + 1;
        if self.stamps[k] != begun {
            self.stamps[k] = begun;
            self.entries.push(k);
        }
    }

    /// Adds the half response in `row.path`, which moves a link, to the row that was begun last.
    fn add_path(&mut self, tree: &Tree, link: LinkId, row: &RowScratch) {
        let mut path = row.path.iter();
        for i in tree.path_to_root(link) {
            for (k, entry) in tree.links()[i].velocities().rev().zip(path.by_ref()) {
                self.add(k, &[*entry], row.whitening[k]);
            }
        }
    }

    /// The law that was begun last has so many rows.
    fn finish(&mut self, rows: usize) {
        self.count += rows;
        self.ends.push([self.count, self.entries.len()]);
    }

    /// W, row by row, and how many numbers are in a row.
    pub(crate) fn delassus(&self) -> (&[f64], usize) {
        (&self.w, self.room)
    }

    /// W_ij = Σ_k y_ik y_jk, for j ≤ i and then by symmetry. What stands beyond j = i meanwhile means nothing.
    fn multiply(&mut self) {
        let Self { room, count, columns, entries, ends, w, .. } = self;
        w.resize(*room * *count, 0.0);
        let (lanes, chunks) = (columns.as_chunks::<LANES>().0, *room / LANES);
        let (mut rows, mut begin) = (w.chunks_exact_mut((*room).max(1)).enumerate().peekable(), 0);
        for [count, end] in &*ends {
            let entries = entries.get(begin..*end).unwrap_or_default();
            begin = *end;
            while let Some((i, row)) = rows.next_if(|(i, _)| i < count) {
                for (chunk, sums) in row.as_chunks_mut::<LANES>().0.iter_mut().enumerate().take(i / LANES + 1) {
                    let mut sum = [0.0; LANES];
                    for &k in entries {
                        let own = columns[k * *room + i];
                        sum.iter_mut().zip(&lanes[k * chunks + chunk]).for_each(|(sum, y)| *sum += own * y);
                    }
                    *sums = sum;
                }
            }
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
                self.explicit.add_path(forest.tree(), link, &self.row);
            }
        }
        self.explicit.finish(1);
    }

    /// Appends the rows of a law between two bodies.
    pub(crate) fn push_rows(&mut self, forest: &Forest, bodies: (BodyId, BodyId), rows: &[(Wrench, Wrench)]) {
        match *rows {
            _ if self.divided.is_some() || self.looks_ahead() => {
                for (on_a, on_b) in rows {
                    let sides = [Side::Wrench(bodies.0, *on_a), Side::Wrench(bodies.1, *on_b)];
                    self.push_row(forest, &sides.map(Some));
                }
            }
            [a] => self.push_together(forest, bodies, [a]),
            [a, b] => self.push_together(forest, bodies, [a, b]),
            [a, b, c] => self.push_together(forest, bodies, [a, b, c]),
            [a, b, c, d] => self.push_together(forest, bodies, [a, b, c, d]),
            _ => rows.iter().for_each(|row| self.push_together(forest, bodies, [*row])),
        }
    }

    fn push_together<const N: usize>(
        &mut self,
        forest: &Forest,
        bodies: (BodyId, BodyId),
        rows: [(Wrench, Wrench); N],
    ) {
        let Self { at, factors, explicit, row, .. } = self;
        for (body, wrenches) in [(bodies.0, rows.map(|(on_a, _)| on_a)), (bodies.1, rows.map(|(_, on_b)| on_b))] {
            if let Some((link, wrenches)) = forest.all_on_link(at, body, wrenches) {
                let add = |k: usize, residuals: &[f64; N]| explicit.add(k, residuals, row.whitening[k]);
                half_responses(forest.tree(), at, factors, link, &wrenches, add);
            }
        }
        explicit.finish(N);
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
