//! A few contacts with everything that belongs to them, in memory of fixed size.

use super::bounds::Bounds;
use super::embedding::Embedding;
use super::guess::Guess;
use super::joints::Joints;
use crate::friction::law::Law;
use crate::friction::local::ConeBlock;
use crate::linalg::simd::{self, Loop};

/// The most contacts and bounded rows the method takes together: a figure that lies on the ground with joints at their limits.
pub const MAX_CONTACTS: usize = 32;

/// The most contacts where all have friction in space and nothing else is there, four boxes on each other: with higher stacks the interior point is done sooner.
pub const MAX_SPATIAL_CONTACTS: usize = 16;

/// The most rows they have together: beyond that the systems take longer than other methods.
pub(super) const MAX_ROWS: usize = 72;

/// Rows that are treated at once: few, because most systems are small.
pub(super) const LANES: usize = 4;

/// A column of W: an entry for each row of the contacts. What stands beyond them means nothing.
pub(super) type Column = [f64; MAX_ROWS];

/// A vector of a contact: normal, then two tangents.
pub(super) type Triple = [f64; 3];

/// Added to the diagonal of a system, relative to that of W: three feet that stick are redundant, as are four that slide, and of all
/// changes that stop them the shortest is taken. The step leaves this fraction of what it should stop.
const PROXIMAL: f64 = 1e-10;

/// Impulses that were put aside.
#[derive(Clone, Debug)]
pub(super) struct Kept([Triple; MAX_CONTACTS]);

impl Default for Kept {
    fn default() -> Self {
        Self([[0.0; 3]; MAX_CONTACTS])
    }
}

#[derive(Clone, Debug)]
pub(super) struct Contacts {
    count: usize,
    pub(super) mu: [f64; MAX_CONTACTS],
    /// Bounds of those without tangents.
    pub(super) bounds: [Bounds; MAX_CONTACTS],
    /// Tangents of each contact; rows beyond them are embedded and move nothing.   [SET-6]
    pub(super) tangents: [usize; MAX_CONTACTS],
    /// The first row of each contact, and how many rows there are.
    pub(super) first: [usize; MAX_CONTACTS],
    rows: usize,
    /// W + diag c by columns, without joints, whether it is symmetric, and q.
    pub(super) w: Vec<Column>,
    symmetric: bool,
    q: Column,
    /// Scratch memory for u.
    sums: Column,
    pub(super) r: [Triple; MAX_CONTACTS],
    /// u = W r + q, always in step with r.
    pub(super) u: [Triple; MAX_CONTACTS],
    pub(super) guesses: [Guess; MAX_CONTACTS],
    /// 1/W_NN and 2/tr W_TT of each contact: what an impulse is worth in velocity.
    pub(super) steps: [(f64, f64); MAX_CONTACTS],
    /// What a system adds to the diagonal of each contact.
    pub(super) shifts: [f64; MAX_CONTACTS],
    scale: f64,
    /// tr W / rows, and the compliance added to the diagonal of W at present.
    mean: f64,
    compliance: f64,
}

impl Default for Contacts {
    fn default() -> Self {
        Self {
            count: 0,
            mu: [0.0; MAX_CONTACTS],
            bounds: [Bounds::default(); MAX_CONTACTS],
            tangents: [2; MAX_CONTACTS],
            first: [0; MAX_CONTACTS],
            rows: 0,
            w: vec![[0.0; MAX_ROWS]; MAX_ROWS],
            symmetric: false,
            q: [0.0; MAX_ROWS],
            sums: [0.0; MAX_ROWS],
            r: [[0.0; 3]; MAX_CONTACTS],
            u: [[0.0; 3]; MAX_CONTACTS],
            guesses: [Guess::Open; MAX_CONTACTS],
            steps: [(0.0, 0.0); MAX_CONTACTS],
            shifts: [0.0; MAX_CONTACTS],
            scale: 1.0,
            mean: 0.0,
            compliance: 0.0,
        }
    }
}

impl Contacts {
    /// Takes over the contacts of a problem: W + diag c, row by row with `n` to a row, and whether it is symmetric.
    pub(super) fn load_matrix(
        &mut self,
        (embedding, joints): (&Embedding, &Joints),
        (w, n): (&[f64], usize),
        symmetric: bool,
    ) {
        self.symmetric = symmetric;
        (self.count, self.rows) = (embedding.places().len(), embedding.contact_rows().len());
        for (i, place) in embedding.places().iter().enumerate() {
            (self.mu[i], self.tangents[i], self.first[i]) = (place.mu, place.tangents, place.row);
            self.bounds[i] = place.bounds;
        }
        embedding.gather((w, n), symmetric, &mut self.w);
        if !embedding.joint_rows().is_empty() {
            joints.reduce(&mut self.w[..self.rows]);
        }
        let mut trace = 0.0;
        for i in 0..self.count {
            let [normal, s, t] = self.diagonal(i);
            self.steps[i] = (inverse(normal), 2.0 * inverse(s + t));
            self.shifts[i] = PROXIMAL * (normal + s + t) / 3.0;
            trace += normal + s + t;
        }
        (self.mean, self.compliance) = (trace / (3 * self.count.max(1)) as f64, 0.0);
    }

    /// The diagonal of W at a contact; rows that are embedded are as stiff as the others.   [SET-6]
    fn diagonal(&self, i: usize) -> Triple {
        let entry = |k: usize| self.w[self.first[i] + k][self.first[i] + k];
        match self.tangents[i] {
            0 => [entry(0); 3],
            1 => [entry(0), entry(1), entry(1)],
            _ => [entry(0), entry(1), entry(2)],
        }
    }

    /// Free velocities, their norm, and impulses to begin with.
    pub(super) fn load(
        &mut self,
        (embedding, joints): (&Embedding, &Joints),
        (q, scale): (&[f64], f64),
        guess: &[f64],
    ) {
        self.scale = scale;
        for (i, place) in embedding.places().iter().enumerate() {
            self.q[place.row..].iter_mut().zip(place.read(q)).take(1 + place.tangents).for_each(|(x, q)| *x = q);
            self.r[i] = place.read(guess);
            match (place.tangents, &mut self.r[i]) {
                (0, [r, ..]) => *r = place.bounds.clip(*r),
                (_, r) => Law::Cone { rows: 3, mu: place.mu }.project(r),
            }
        }
        joints.reduce_free(&mut self.q[..self.rows]);
        self.refresh();
    }

    /// The rows of all contacts, up to the next whole number of lanes.
    pub(super) fn lanes(&self) -> usize {
        self.rows.next_multiple_of(LANES)
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether W is its own mirror image, to the last bit.
    pub(super) fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    pub(super) fn impulses(&self) -> &[Triple] {
        &self.r[..self.count]
    }

    /// Puts the impulses aside.
    pub(super) fn keep(&self, kept: &mut Kept) {
        kept.0[..self.count].copy_from_slice(&self.r[..self.count]);
    }

    /// Takes them back.
    pub(super) fn restore(&mut self, kept: &Kept) {
        self.r[..self.count].copy_from_slice(&kept.0[..self.count]);
        self.refresh();
    }

    /// Gives every row this compliance, relative to the mean diagonal of W, in place of the one it had.   [SET-3]
    pub(super) fn add_compliance(&mut self, relative: f64) {
        let compliance = relative * self.mean;
        for (k, column) in self.w.iter_mut().enumerate().take(self.rows) {
            column[k] += compliance - self.compliance;
        }
        self.compliance = compliance;
        self.refresh();
    }

    /// u ← W r + q, all rows at once.
    pub(super) fn refresh(&mut self) {
        simd::run(Velocities(self));
        let u = &self.sums;
        if self.rows == 3 * self.count {
            self.u.as_flattened_mut()[..self.rows].copy_from_slice(&u[..self.rows]);
            return;
        }
        for (i, out) in self.u.iter_mut().enumerate().take(self.count) {
            let (first, tangents) = (self.first[i], self.tangents[i]);
            out.iter_mut().zip(&u[first..=first + tangents]).for_each(|(out, u)| *out = *u);
            out[1 + tangents..].fill(0.0);
        }
    }

    /// u of contact i at the present impulses.
    fn velocity(&self, i: usize) -> Triple {
        let own = self.first[i]..=self.first[i] + self.tangents[i];
        let mut sum = [0.0; 3];
        sum.iter_mut().zip(&self.q[own.clone()]).for_each(|(sum, q)| *sum = *q);
        for (j, r) in self.r.iter().enumerate().take(self.count) {
            match &self.w[self.first[j]..=self.first[j] + self.tangents[j]] {
                [a, b, c] => {
                    let blocks = a[own.clone()].iter().zip(&b[own.clone()]).zip(&c[own.clone()]);
                    let products = blocks.map(|((a, b), c)| a * r[0] + b * r[1] + c * r[2]);
                    sum.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
                }
                [a, b] => {
                    let products = a[own.clone()].iter().zip(&b[own.clone()]).map(|(a, b)| a * r[0] + b * r[1]);
                    sum.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
                }
                [a, ..] => sum.iter_mut().zip(&a[own.clone()]).for_each(|(sum, a)| *sum += a * r[0]),
                [] => {}
            }
        }
        sum
    }

    /// The block of W at a contact, with its embedded rows.
    fn block(&self, i: usize) -> [Triple; 3] {
        let (first, tangents, diagonal) = (self.first[i], self.tangents[i], self.diagonal(i));
        std::array::from_fn(|k| {
            std::array::from_fn(|c| match (k, c) {
                _ if k == c => diagonal[k],
                _ if k.max(c) <= tangents => self.w[first + c][first + k],
                _ => 0.0,
            })
        })
    }

    /// Takes the velocities of the whole problem at impulses `r` for those at the impulses of the contacts, and changes q to match.
    pub(super) fn correct(&mut self, embedding: &Embedding, (w, q): (&[f64], &[f64]), r: &[f64]) {
        for (i, place) in embedding.places().iter().enumerate() {
            for (k, row) in (place.first..=place.first + place.tangents).enumerate() {
                let (w, q) = (&w[row * q.len()..(row + 1) * q.len()], q[row]);
                let u = q + w.iter().zip(r).map(|(w, r)| w * r).sum::<f64>();
                self.q[place.row + k] += u - self.u[i][k];
                self.u[i][k] = u;
            }
        }
    }

    /// ‖r − P_K(r − û)‖₂, not yet divided by ‖q‖.   [CONE-5]
    pub(super) fn residual(&self) -> f64 {
        let violation = |i: usize| match (self.tangents[i], &self.r[i], &self.u[i]) {
            (0, r, u) => self.bounds[i].violation(r[0], u[0]),
            (_, r, u) => violation(r, u, self.mu[i]),
        };
        (0..self.count).map(violation).sum::<f64>().sqrt()
    }

    /// One sweep of exact local solutions.   [GS-1]
    pub(super) fn sweep(&mut self) {
        for i in 0..self.count {
            let (a, u) = (self.block(i), self.velocity(i));
            if self.tangents[i] == 0 {
                self.r[i][0] = self.bounds[i].clip(self.r[i][0] - self.steps[i].0 * u[0]);
                continue;
            }
            let local = ConeBlock::<2>::new(self.mu[i], a.as_flattened());
            let g: Triple = std::array::from_fn(|k| {
                u[k] - a[k][0] * self.r[i][0] - a[k][1] * self.r[i][1] - a[k][2] * self.r[i][2]
            });
            let (_, normal, [s, t]) = local.solve(g[0], &[g[1], g[2]], &mut 0.0);
            self.r[i] = [normal, s, t];
        }
        self.refresh();
    }
}

/// W r + q among the sums of contacts.
struct Velocities<'a>(&'a mut Contacts);

impl Loop for Velocities<'_> {
    type Found = ();

    #[inline(always)]
    fn run(self) {
        let Self(contacts) = self;
        let rows = contacts.lanes();
        let u = &mut contacts.sums;
        u[..rows].copy_from_slice(&contacts.q[..rows]);
        let lanes = u[..rows].as_chunks_mut::<LANES>().0;
        for (i, r) in contacts.r.iter().enumerate().take(contacts.count).filter(|(_, r)| **r != [0.0; 3]) {
            let columns = &contacts.w[contacts.first[i]..=contacts.first[i] + contacts.tangents[i]];
            match columns {
                [a, b, c] => add_columns(lanes, [a, b, c], r),
                [a, b] => add_columns(lanes, [a, b], r),
                [a, ..] => add_columns(lanes, [a], r),
                [] => {}
            }
        }
    }
}

/// Adds the columns of a contact times its impulse to velocities, LANES of them at a time.
#[inline(always)]
fn add_columns<const N: usize>(u: &mut [[f64; LANES]], columns: [&Column; N], r: &Triple) {
    for (chunk, u) in u.iter_mut().enumerate() {
        let mut sum = columns.map(|column| column.as_chunks::<LANES>().0[chunk]);
        sum.iter_mut().zip(r).for_each(|(part, r)| part.iter_mut().for_each(|w| *w *= r));
        for (lane, u) in u.iter_mut().enumerate() {
            *u += sum[1..].iter().fold(sum[0][lane], |total, part| total + part[lane]);
        }
    }
}

/// 1/a, or 0 where a is not positive: a row that nothing moves gets no step.
fn inverse(a: f64) -> f64 {
    if a > 0.0 { 1.0 / a } else { 0.0 }
}

pub(super) fn norm(x: [f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]).sqrt()
}

/// ‖r − P_K(r − û)‖² of one contact.   [CONE-3] [CONE-5]
fn violation(r: &Triple, u: &Triple, mu: f64) -> f64 {
    let normal = r[0] - u[0] - mu * norm([u[1], u[2]]);
    let tangent = [r[1] - u[1], r[2] - u[2]];
    let length = norm(tangent);
    let (n, part) = if normal >= 0.0 && length <= mu * normal {
        (normal, 1.0)
    } else {
        let n = ((normal + mu * length) / (1.0 + mu * mu)).max(0.0);
        (n, if length > 0.0 { mu * n / length } else { 0.0 })
    };
    let away = [r[0] - n, r[1] - part * tangent[0], r[2] - part * tangent[1]];
    away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
}
