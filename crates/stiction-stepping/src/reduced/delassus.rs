//! Dense rows of a small problem, and their Delassus matrix W = Y Yᵀ.   [RED-6]
//!
//! Rows are stored by columns: W and M⁻¹ Jᵀ r are then sums of products of contiguous values. Velocities that a row does not act on are
//! skipped.

use stiction_complementarity::{
    FrictionActiveSet,
    linalg::simd::{self, Kernel},
};
use stiction_multibody::{
    BodyId, Forest, LinkId, Model, Wrench,
    articulated::{Tree, half_response_at, half_responses},
};

use super::{Reduced, RowScratch};
use crate::rates::Side;

/// Number of entries of W in one SIMD register (AVX2, 4 x f64).
const LANES: usize = 4;

/// Capacity of a column, in chunks of [`LANES`] rows; the length of a column is a compile-time constant.
const CHUNKS: usize = FrictionActiveSet::MAX_PROBLEM_ROWS.div_ceil(LANES);

/// Entries of all rows at one velocity.
type Column = [[f64; LANES]; CHUNKS];

/// Rows y = L⁻ᵀ Jᵀ of a problem, and W.
#[derive(Debug, Default)]
pub(crate) struct DelassusRows {
    /// Number of rows announced, rounded up to a multiple of [`LANES`], and number of rows written.
    room: usize,
    count: usize,
    /// One column for each velocity. Entries beyond `room` are undefined.
    columns: Vec<Column>,
    /// Links that the law being written acts on.
    links: Vec<LinkId>,
    groups: Vec<Group>,
    /// Velocities of groups with a listed order, group after group.
    entries: Vec<usize>,
    /// Columns that a row is summed over.
    places: Vec<usize>,
    /// W, row by row, with row length `room`.
    w: Vec<f64>,
}

/// Set of velocities as a bit mask of [`Self::MAX`] bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct VelocitySet(u64);

impl VelocitySet {
    const MAX: usize = u64::BITS as usize;

    /// Iterates from the last velocity to the first.
    #[inline]
    fn backwards(mut self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let k = self.0.checked_ilog2()?;
            self.0 ^= 1 << k;
            Some(k as usize)
        })
    }
}

/// Consecutive rows whose products are summed over the same velocities.
#[derive(Debug)]
struct Group {
    /// End of the range of rows.
    end: usize,
    order: Order,
}

/// Order in which products are summed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// From the last velocity to the first, as on the path from one link to the root. The others would add products with zero.
    FromLast(VelocitySet),
    /// As listed in `entries`, up to this index.
    Listed(usize),
}

impl DelassusRows {
    fn clear(&mut self, tree: &Tree, rows: usize) {
        (self.room, self.count) = (rows.next_multiple_of(LANES), 0);
        self.columns.resize(tree.velocities(), [[0.0; LANES]; CHUNKS]);
        self.columns.iter_mut().for_each(|column| column[..self.room / LANES].fill([0.0; LANES]));
        self.links.clear();
        self.groups.clear();
        self.entries.clear();
    }

    /// Adds the residuals of half responses at a velocity to the rows of the law being written.
    #[inline]
    fn add<const N: usize>(&mut self, k: usize, residuals: &[f64; N], whitening: f64) {
        let places = &mut self.columns[k].as_flattened_mut()[self.count..][..N];
        places.iter_mut().zip(residuals).for_each(|(y, u)| *y += u * whitening);
    }

    /// Adds the half response in `row.path`, which acts on a link, to the row being written.
    fn add_path(&mut self, tree: &Tree, link: LinkId, row: &RowScratch) {
        debug_assert_eq!(row.path.len(), tree.depth(link), "the path has an entry for each velocity up to the root");
        let mut path = row.path.iter();
        for i in tree.path_to_root(link) {
            for (k, entry) in tree.links()[i].velocities().rev().zip(path.by_ref()) {
                self.add(k, &[*entry], row.whitening[k]);
            }
        }
        self.links.push(link);
    }

    /// Finishes the law being written, which has `rows` rows.
    fn finish(&mut self, tree: &Tree, rows: usize) {
        self.count += rows;
        debug_assert!(self.count <= self.room, "no more rows are written than announced");
        let few = tree.velocities() <= VelocitySet::MAX;
        let order = match self.links[..] {
            [] if few => Order::FromLast(VelocitySet::default()),
            [link] if few => Order::FromLast(VelocitySet(tree.links()[link.index()].moved_by())),
            _ => self.list(tree),
        };
        self.links.clear();
        match self.groups.last_mut() {
            Some(last) if last.order == order && matches!(order, Order::FromLast(_)) => last.end = self.count,
            _ => self.groups.push(Group { end: self.count, order }),
        }
    }

    /// Lists the velocities of several links: the path of the first to the root, then the velocities of the other paths that are new.
    fn list(&mut self, tree: &Tree) -> Order {
        let begin = self.entries.len();
        for link in &self.links {
            for k in tree.ancestors(tree.links()[link.index()].last_velocity()) {
                if !self.entries[begin..].contains(&k) {
                    self.entries.push(k);
                }
            }
        }
        Order::Listed(self.entries.len())
    }

    /// W, row by row, and its row length.
    pub(crate) fn delassus(&self) -> (&[f64], usize) {
        (&self.w, self.room)
    }

    /// Computes Σ_i y_ik r_i for every velocity k.
    fn transposed_product(&self, velocities: usize, r: &[f64], out: &mut Vec<f64>) {
        out.clear();
        if self.room == 0 {
            out.resize(velocities, -0.0);
            return;
        }
        debug_assert_eq!(r.len(), self.count, "every row has an impulse");
        debug_assert_eq!(self.columns.len(), velocities, "every velocity has a column");
        let r = &r[..r.len().min(self.room)];
        let (blocks, rest) = self.columns.as_chunks::<4>();
        for block in blocks {
            out.extend(sums_of_products(block, r));
        }
        for column in rest {
            out.extend(sums_of_products(std::array::from_ref(column), r));
        }
    }

    /// Computes W_ij = Σ_k y_ik y_jk.
    fn multiply(&mut self) {
        simd::run(Multiplying(self));
    }
}

/// Kernel for W = Y Yᵀ: for j ≤ i, then by symmetry. Until then entries with j > i are undefined.
struct Multiplying<'a>(&'a mut DelassusRows);

impl Kernel for Multiplying<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let DelassusRows { room, count, columns, groups, entries, places, w, .. } = self.0;
        let room = *room;
        w.resize(room * *count, 0.0);
        let (mut first, mut listed) = (0, 0);
        for group in &*groups {
            places.clear();
            match group.order {
                Order::FromLast(moved) => places.extend(moved.backwards()),
                Order::Listed(end) => {
                    places.extend(&entries[listed..end]);
                    listed = end;
                }
            }
            for i in first..group.end {
                multiply_row(columns, places, i, &mut w[i * room..(i + 1) * room]);
            }
            first = group.end;
        }
        debug_assert_eq!(first, *count, "every row is in a group");
        debug_assert_eq!(listed, entries.len(), "every listed velocity is in a group");
        for i in 1..*count {
            let (above, row) = w.split_at_mut(i * room);
            above.iter_mut().skip(i).step_by(room).zip(&*row).for_each(|(above, w)| *above = *w);
        }
    }
}

/// Computes row i of W up to its diagonal, with as many chunks at a time as there are registers.
#[inline(always)]
fn multiply_row(columns: &[Column], places: &[usize], i: usize, row: &mut [f64]) {
    let (mut chunk, end) = (0, i / LANES + 1);
    while chunk < end {
        chunk += match end - chunk {
            1 => sum_products::<1>(columns, places, (i, chunk), row),
            2 => sum_products::<2>(columns, places, (i, chunk), row),
            3 => sum_products::<3>(columns, places, (i, chunk), row),
            4 => sum_products::<4>(columns, places, (i, chunk), row),
            5 => sum_products::<5>(columns, places, (i, chunk), row),
            _ => sum_products::<6>(columns, places, (i, chunk), row),
        };
    }
}

/// Sums the products of entry i with R chunks of the same column, over the columns at `places`; returns R.
#[inline(always)]
fn sum_products<const R: usize>(
    columns: &[Column],
    places: &[usize],
    (i, chunk): (usize, usize),
    row: &mut [f64],
) -> usize {
    let Some(out) = row.as_chunks_mut::<LANES>().0[chunk..].first_chunk_mut::<R>() else {
        debug_assert!(false, "a row of W has room for all chunks up to its diagonal");
        return R;
    };
    let mut sums = [[0.0; LANES]; R];
    for place in places {
        let column = &columns[*place];
        let Some(others) = column[chunk..].first_chunk::<R>() else {
            debug_assert!(false, "a column has room for all rows");
            return R;
        };
        let own = column.as_flattened()[i];
        for (sums, others) in sums.iter_mut().zip(others) {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += own * other);
        }
    }
    *out = sums;
    R
}

/// Computes Σ_i y_i r_i for several columns y at a time: independent sums hide the latency of additions.
fn sums_of_products<const N: usize>(columns: &[Column; N], r: &[f64]) -> [f64; N] {
    let columns = columns.each_ref().map(|column| &column.as_flattened()[..r.len()]);
    // The start value is that of `Iterator::sum`: −0 keeps the sign of an empty sum.
    let mut sums = [-0.0; N];
    for (i, r) in r.iter().enumerate() {
        sums.iter_mut().zip(&columns).for_each(|(sum, column)| *sum += column[i] * r);
    }
    sums
}

impl Reduced {
    /// Starts the rows of a problem in impulses alone. Divide and conquer starts in [`Self::begin_divided`].
    pub(crate) fn begin_delassus(&mut self, forest: &Forest, rows: usize) {
        if self.divided.is_none() {
            self.delassus_rows.clear(forest.tree(), rows);
        }
    }

    /// Appends a row of a law of its own.
    pub(crate) fn push_row(&mut self, forest: &Forest, sides: &[Option<Side>]) {
        if self.push_divided(forest, sides) {
            return;
        }
        for side in sides.iter().flatten() {
            match side {
                Side::Wrench(body, wrench) => {
                    if let Some(link) = self.write_half_response(forest, *body, wrench) {
                        self.delassus_rows.add_path(forest.tree(), link, &self.row);
                    }
                }
                Side::Velocity(k, factor) => self.push_velocity(forest.tree(), (*k, *factor)),
            }
        }
        self.delassus_rows.finish(forest.tree(), 1);
    }

    /// Adds an impulse at a velocity of the forest to the row being written.
    fn push_velocity(&mut self, tree: &Tree, at_velocity: (usize, f64)) {
        let Self { at, factors, delassus_rows, row, .. } = self;
        half_response_at(tree, at, factors, at_velocity, |k, residual| {
            delassus_rows.add(k, &[residual], row.whitening[k]);
        });
        debug_assert!(tree.link_of(at_velocity.0).is_some(), "every velocity belongs to a link");
        delassus_rows.links.extend(tree.link_of(at_velocity.0));
    }

    /// Appends the rows of a law between two bodies.
    pub(crate) fn push_rows(&mut self, forest: &Forest, bodies: (BodyId, BodyId), rows: &[(Wrench, Wrench)]) {
        match *rows {
            _ if self.divided.is_some() || self.is_linearised_ahead() => {
                for (on_a, on_b) in rows {
                    let sides = [Side::Wrench(bodies.0, *on_a), Side::Wrench(bodies.1, *on_b)];
                    self.push_row(forest, &sides.map(Some));
                }
            }
            [a] => self.push_together::<1, 1>(forest, bodies, [a]),
            [a, b] => self.push_together::<2, 2>(forest, bodies, [a, b]),
            // SIMD registers hold pairs: four rows, one of them zero, are faster than three.
            [a, b, c] => self.push_together::<3, 4>(forest, bodies, [a, b, c, Default::default()]),
            [a, b, c, d] => self.push_together::<4, 4>(forest, bodies, [a, b, c, d]),
            _ => rows.iter().for_each(|row| self.push_together::<1, 1>(forest, bodies, [*row])),
        }
    }

    /// Appends the first `ROWS` of these rows as those of one law; the others are zero.
    fn push_together<const ROWS: usize, const N: usize>(
        &mut self,
        forest: &Forest,
        bodies: (BodyId, BodyId),
        rows: [(Wrench, Wrench); N],
    ) {
        let Self { at, factors, delassus_rows, row, .. } = self;
        for (body, wrenches) in [(bodies.0, rows.map(|(on_a, _)| on_a)), (bodies.1, rows.map(|(_, on_b)| on_b))] {
            if let Some((link, wrenches)) = forest.all_on_link(at, body, wrenches) {
                half_responses(forest.tree(), at, factors, link, &wrenches, |k, residuals| {
                    if let Some(residuals) = residuals.first_chunk::<ROWS>() {
                        delassus_rows.add(k, residuals, row.whitening[k]);
                    }
                });
                delassus_rows.links.push(link);
            }
        }
        delassus_rows.finish(forest.tree(), ROWS);
    }

    /// Finishes the rows and computes W.
    pub(crate) fn finish_delassus(&mut self, rows: usize) {
        let written = self.divided.as_ref().map_or(self.delassus_rows.count, |divided| divided.rows());
        debug_assert_eq!(written, rows, "all announced rows are written");
        if self.divided.is_none() {
            self.delassus_rows.multiply();
        }
    }

    /// Computes v⁺ = v_free + M⁻¹ Jᵀ r from the impulses of all rows, times `unit`, and the velocities of the bodies where the
    /// constraints are linearised.
    pub(crate) fn find_velocity_of_impulses(&mut self, model: &Model, (r, unit): (&[f64], f64), out: &mut Vec<f64>) {
        if self.divided.is_some() {
            return self.find_velocity_by_response(model, (r.iter().copied(), unit), out);
        }
        // Jᵀ r is L⁻ᵀ Jᵀ r times the square root of the pivots.
        let pivots = self.factors.pivots();
        self.delassus_rows.transposed_product(pivots.len(), r, &mut self.residual);
        self.residual.iter_mut().zip(pivots).for_each(|(sum, d)| *sum = *sum * unit * d.sqrt());
        self.respond_outward(model, out);
    }
}
