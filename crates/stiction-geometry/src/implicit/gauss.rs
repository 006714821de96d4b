//! Small dense linear systems by Gaussian elimination with partial pivoting. If a pivot is doubtful, full pivoting
//! determines the rank.

/// Largest number of unknowns: a point, the gap and six multipliers.
pub(super) const MOST_UNKNOWNS: usize = 10;
/// Largest number of right-hand sides.
pub(super) const MOST_SIDES: usize = 6;
/// Fraction of the largest pivot below which a pivot counts as zero.
const SINGULAR: f64 = 1e-13;
/// Fraction of the largest pivot below which full pivoting is needed.
const DOUBTFUL: f64 = 1e-7;

/// A matrix with its right-hand sides; solved in place.
#[derive(Clone, Debug)]
pub(super) struct System {
    rows: [[f64; MOST_UNKNOWNS + MOST_SIDES]; MOST_UNKNOWNS],
    unknowns: usize,
    sides: usize,
}

impl System {
    /// Creates a system of zeros.
    pub(super) fn new(unknowns: usize, sides: usize) -> Self {
        debug_assert!(unknowns <= MOST_UNKNOWNS && sides <= MOST_SIDES, "the system fits its arrays");
        Self {
            rows: [[0.0; MOST_UNKNOWNS + MOST_SIDES]; MOST_UNKNOWNS],
            unknowns: unknowns.min(MOST_UNKNOWNS),
            sides: sides.min(MOST_SIDES),
        }
    }

    /// Sets an entry of the matrix.
    pub(super) fn set(&mut self, row: usize, column: usize, value: f64) {
        debug_assert!(row < self.unknowns && column < self.unknowns + self.sides, "the entry is inside the system");
        if let Some(entry) = self.rows.get_mut(row).and_then(|row| row.get_mut(column)) {
            *entry = value;
        }
    }

    /// Sets an entry of a right-hand side.
    pub(super) fn set_side(&mut self, row: usize, side: usize, value: f64) {
        self.set(row, self.unknowns + side, value);
    }

    /// Solves the system, with undetermined unknowns at zero; returns the solution of each side, unknown by unknown,
    /// and the rank.
    pub(super) fn solve(&mut self) -> ([[f64; MOST_SIDES]; MOST_UNKNOWNS], usize) {
        let mut order: [usize; MOST_UNKNOWNS] = std::array::from_fn(|k| k);
        let rows = self.rows;
        if self.eliminate() {
            return (self.back_substitute(self.unknowns, &order), self.unknowns);
        }
        self.rows = rows;
        let rank = self.eliminate_fully(&mut order);
        (self.back_substitute(rank, &order), rank)
    }

    /// Eliminates with partial pivoting; returns false if a pivot is doubtful.
    fn eliminate(&mut self) -> bool {
        let mut largest = 0.0f64;
        for k in 0..self.unknowns {
            let size = |i: &usize| self.rows[*i][k].abs();
            let Some(row) = (k..self.unknowns).reduce(|p, q| if size(&q) > size(&p) { q } else { p }) else { break };
            let pivot = size(&row);
            largest = largest.max(pivot);
            if pivot.is_nan() || pivot <= DOUBTFUL * largest {
                return false;
            }
            self.rows.swap(k, row);
            self.eliminate_below(k);
        }
        true
    }

    /// Eliminates with full pivoting; returns the rank and stores the order of the unknowns.
    fn eliminate_fully(&mut self, order: &mut [usize; MOST_UNKNOWNS]) -> usize {
        let n = self.unknowns;
        let mut largest = 0.0f64;
        for k in 0..n {
            let (row, column, size) = self.pivot(k);
            largest = largest.max(size);
            if size.is_nan() || size <= SINGULAR * largest {
                return k;
            }
            self.rows.swap(k, row);
            order.swap(k, column);
            for row in &mut self.rows[..n] {
                row.swap(k, column);
            }
            self.eliminate_below(k);
        }
        n
    }

    /// Subtracts multiples of row k from the rows below.
    fn eliminate_below(&mut self, k: usize) {
        let width = self.unknowns + self.sides;
        let (above, below) = self.rows.split_at_mut(k + 1);
        let Some(pivot_row) = above.last() else { return };
        for row in &mut below[..self.unknowns - k - 1] {
            let factor = row[k] / pivot_row[k];
            if factor != 0.0 {
                for (entry, pivot) in row[k + 1..width].iter_mut().zip(&pivot_row[k + 1..width]) {
                    *entry -= factor * pivot;
                }
            }
        }
    }

    /// Returns the largest entry of the remaining block from row and column k on.
    fn pivot(&self, k: usize) -> (usize, usize, f64) {
        let mut best = (k, k, 0.0);
        for (i, row) in self.rows[..self.unknowns].iter().enumerate().skip(k) {
            for (j, entry) in row[..self.unknowns].iter().enumerate().skip(k) {
                if entry.abs() > best.2 {
                    best = (i, j, entry.abs());
                }
            }
        }
        best
    }

    fn back_substitute(&self, rank: usize, order: &[usize; MOST_UNKNOWNS]) -> [[f64; MOST_SIDES]; MOST_UNKNOWNS] {
        let mut solution = [[0.0; MOST_SIDES]; MOST_UNKNOWNS];
        for side in 0..self.sides {
            for k in (0..rank).rev() {
                let row = &self.rows[k];
                let known: f64 = (k + 1..rank).map(|j| row[j] * solution[order[j]][side]).sum();
                solution[order[k]][side] = (row[self.unknowns + side] - known) / row[k];
            }
        }
        solution
    }
}
