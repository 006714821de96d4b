//! Linear combination y + Σ x_k a_k of columns stored one after the other.

use super::simd::Kernel;

/// y ← y + Σ x_k a_k, for columns of `size` numbers; terms are added in the order of the columns.
pub(super) struct AddColumns<'a> {
    pub(super) columns: &'a [f64],
    pub(super) size: usize,
    pub(super) x: &'a [f64],
    pub(super) y: &'a mut [f64],
}

impl Kernel for AddColumns<'_> {
    type Output = ();

    /// Processes as many rows at a time as fit into registers.
    #[inline(always)]
    fn run(mut self) {
        debug_assert_eq!(self.y.len(), self.size, "length of y");
        debug_assert_eq!(self.columns.len(), self.x.len() * self.size, "one column per entry of x");
        let (mut row, rows) = (0, self.y.len().min(self.size));
        while row < rows {
            row += match rows - row {
                16.. => self.add::<16>(row),
                8.. => self.add::<8>(row),
                4.. => self.add::<4>(row),
                _ => self.add::<1>(row),
            };
        }
    }
}

impl AddColumns<'_> {
    /// Adds R rows from `row` on and returns R.
    #[inline(always)]
    fn add<const R: usize>(&mut self, row: usize) -> usize {
        let Some(y) = self.y[row..].first_chunk_mut::<R>() else {
            debug_assert!(false, "{R} rows from row {row} on");
            return R;
        };
        let mut sums = *y;
        for (x, column) in self.x.iter().zip(self.columns.chunks_exact(self.size)).filter(|(x, _)| **x != 0.0) {
            let Some(part) = column[row..].first_chunk::<R>() else {
                debug_assert!(false, "{R} rows from row {row} on");
                return R;
            };
            sums.iter_mut().zip(part).for_each(|(sum, w)| *sum += w * x);
        }
        *y = sums;
        R
    }
}
