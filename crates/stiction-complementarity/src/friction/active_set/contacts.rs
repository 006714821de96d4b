//! Contacts and bounded rows of the active-set method, in memory of fixed size.

use super::bounds::Bounds;
use super::embedding::Embedding;
use super::equalities::Equalities;
use super::sizes::{Column, LANES, MAX_CONTACTS, MAX_ROWS, Triple};
use crate::friction::law::Law;
use crate::friction::law::local::ConeBlock;
use crate::linalg::simd::{self, Kernel};

/// Proximal term ε on the diagonal of a system, relative to that of W. Three sticking contacts of a body are redundant, as are four slipping ones; the
/// term selects the minimum-norm step. Along an eigenvector with eigenvalue λ a step leaves the fraction ε/(λ + ε) of the velocity to be removed.
const PROXIMAL: f64 = 1e-10;

/// Contact mode of a contact or bounded row.   [SET-1]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Mode {
    /// Impulse held: a step does not change it. An open contact has it, with zero impulse, and a bounded row at its lower bound. While the
    /// bounded rows are solved alone, all contacts have it too, and their impulses keep their values [SET-8].
    #[default]
    Held,
    /// r at the upper bound.
    Upper,
    /// u = 0: a contact that sticks, or a bounded row that is free, between its bounds.
    Stick,
    /// u_N = 0, u_T along the unit vector e, r_T = −μ r_N e.
    Slip([f64; 2]),
}

/// Saved copy of all impulses.
#[derive(Clone, Debug)]
pub(super) struct SavedImpulses([Triple; MAX_CONTACTS]);

impl Default for SavedImpulses {
    fn default() -> Self {
        Self([[0.0; 3]; MAX_CONTACTS])
    }
}

/// Contacts and bounded rows with operator, impulses, velocities and modes. Both are called contacts below.
#[derive(Clone, Debug)]
pub(super) struct Contacts {
    count: usize,
    pub(super) mu: [f64; MAX_CONTACTS],
    /// Bounds of bounded rows, which have no tangents.
    pub(super) bounds: [Bounds; MAX_CONTACTS],
    /// Number of tangents of each contact, 0 to 2. Components beyond them are embedded (`embedding.rs`) and stay zero.   [SET-6]
    pub(super) tangents: [usize; MAX_CONTACTS],
    /// First row of each contact.
    pub(super) first: [usize; MAX_CONTACTS],
    /// Number of rows of all contacts.
    rows: usize,
    /// W + diag c by columns, after the elimination of equalities.
    pub(super) w: Vec<Column>,
    /// True if W is bitwise symmetric.
    symmetric: bool,
    /// Free velocities, after the elimination of equalities.
    q: Column,
    /// Scratch memory for u by rows.
    u_rows: Column,
    pub(super) r: [Triple; MAX_CONTACTS],
    /// u = W r + q as of the last [`Self::refresh`]. Mode updates and Gauss-Seidel iterations change r before they refresh u.
    pub(super) u: [Triple; MAX_CONTACTS],
    pub(super) modes: [Mode; MAX_CONTACTS],
    /// Projection parameters ρ_N = 1/W_NN and ρ_T = 2/tr W_TT of each contact.   [SET-1]
    pub(super) rho: [(f64, f64); MAX_CONTACTS],
    /// Proximal term of each contact.
    pub(super) proximal: [f64; MAX_CONTACTS],
    /// Norm of the free velocities.
    scale: f64,
    /// Mean diagonal of W over the triples of all contacts, embedded entries included: their sum divided by 3 · count.
    mean_diagonal: f64,
    /// Compliance that is presently added to the diagonal of W.
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
            u_rows: [0.0; MAX_ROWS],
            r: [[0.0; 3]; MAX_CONTACTS],
            u: [[0.0; 3]; MAX_CONTACTS],
            modes: [Mode::Held; MAX_CONTACTS],
            rho: [(0.0, 0.0); MAX_CONTACTS],
            proximal: [0.0; MAX_CONTACTS],
            scale: 1.0,
            mean_diagonal: 0.0,
            compliance: 0.0,
        }
    }
}

impl Contacts {
    /// Loads contacts and matrix of a problem: W + diag c row by row with `n` entries per row, bitwise symmetric or not.
    pub(super) fn load_matrix(
        &mut self,
        (embedding, equalities): (&Embedding, &Equalities),
        (w, n): (&[f64], usize),
        symmetric: bool,
    ) {
        self.symmetric = symmetric;
        (self.count, self.rows) = (embedding.contacts().len(), embedding.contact_rows().len());
        debug_assert!(self.count <= MAX_CONTACTS && self.rows <= MAX_ROWS, "the problem fits into the fixed memory");
        for (i, contact) in embedding.contacts().iter().enumerate() {
            (self.mu[i], self.tangents[i], self.first[i]) = (contact.mu, contact.friction_rows, contact.row);
            self.bounds[i] = contact.bounds;
        }
        embedding.gather((w, n), symmetric, &mut self.w);
        if !embedding.equality_rows().is_empty() {
            equalities.reduce(&mut self.w[..self.rows]);
        }
        let mut trace = 0.0;
        for i in 0..self.count {
            let [normal, s, t] = self.diagonal(i);
            self.rho[i] = (inverse(normal), 2.0 * inverse(s + t));
            self.proximal[i] = PROXIMAL * (normal + s + t) / 3.0;
            trace += normal + s + t;
        }
        (self.mean_diagonal, self.compliance) = (trace / (3 * self.count.max(1)) as f64, 0.0);
    }

    /// Diagonal of W at a contact. Embedded components repeat the entry of the last component.   [SET-6]
    fn diagonal(&self, i: usize) -> Triple {
        let entry = |k: usize| self.w[self.first[i] + k][self.first[i] + k];
        match self.tangents[i] {
            0 => [entry(0); 3],
            1 => [entry(0), entry(1), entry(1)],
            _ => [entry(0), entry(1), entry(2)],
        }
    }

    /// Loads free velocities, their norm and the warm start, which is projected onto the cones and bounds.
    pub(super) fn load(
        &mut self,
        (embedding, equalities): (&Embedding, &Equalities),
        (q, scale): (&[f64], f64),
        guess: &[f64],
    ) {
        self.scale = scale;
        for (i, contact) in embedding.contacts().iter().enumerate() {
            self.q[contact.row..]
                .iter_mut()
                .zip(contact.read(q))
                .take(1 + contact.friction_rows)
                .for_each(|(x, q)| *x = q);
            self.r[i] = contact.read(guess);
            match (contact.friction_rows, &mut self.r[i]) {
                (0, [r, ..]) => *r = contact.bounds.clip(*r),
                (_, r) => Law::Cone { rows: 3, mu: contact.mu }.project(r),
            }
        }
        equalities.reduce_velocities(&mut self.q[..self.rows]);
        self.refresh();
    }

    /// Number of rows of all contacts, rounded up to whole SIMD chunks.
    pub(super) fn padded_rows(&self) -> usize {
        self.rows.next_multiple_of(LANES)
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// True if W is bitwise symmetric.
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

    /// Saves the impulses.
    pub(super) fn save(&self, saved: &mut SavedImpulses) {
        saved.0[..self.count].copy_from_slice(&self.r[..self.count]);
    }

    /// Restores saved impulses.
    pub(super) fn restore(&mut self, saved: &SavedImpulses) {
        self.r[..self.count].copy_from_slice(&saved.0[..self.count]);
        self.refresh();
    }

    /// Replaces the compliance that the continuation adds to every row by this one, relative to the mean diagonal of W.   [SET-3]
    pub(super) fn set_compliance(&mut self, relative: f64) {
        let compliance = relative * self.mean_diagonal;
        for (k, column) in self.w.iter_mut().enumerate().take(self.rows) {
            column[k] += compliance - self.compliance;
        }
        self.compliance = compliance;
        self.refresh();
    }

    /// u ← W r + q for all contacts.
    pub(super) fn refresh(&mut self) {
        simd::run(Velocities(self));
        let u = &self.u_rows;
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

    /// Velocity of contact i at the present impulses, which may be newer than `self.u`.
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

    /// Diagonal block of W at a contact, with its embedded components.
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

    /// Sets u to the velocities of the whole problem at impulses `r`, and changes q so that u = W r + q still holds.
    pub(super) fn set_velocities(&mut self, embedding: &Embedding, (w, q): (&[f64], &[f64]), r: &[f64]) {
        debug_assert!(w.len() == q.len() * q.len() && r.len() == q.len(), "W, q and r are those of the whole problem");
        for (i, contact) in embedding.contacts().iter().enumerate() {
            for (k, row) in (contact.problem_row..=contact.problem_row + contact.friction_rows).enumerate() {
                let (w, q) = (&w[row * q.len()..(row + 1) * q.len()], q[row]);
                let u = q + w.iter().zip(r).map(|(w, r)| w * r).sum::<f64>();
                self.q[contact.row + k] += u - self.u[i][k];
                self.u[i][k] = u;
            }
        }
    }

    /// Norm ‖r − P_K(r − û)‖₂ of the natural map, not divided by ‖q‖.   [CONE-5]
    pub(super) fn residual(&self) -> f64 {
        let squared = |i: usize| match (self.tangents[i], &self.r[i], &self.u[i]) {
            (0, r, u) => self.bounds[i].violation_squared(r[0], u[0]),
            (_, r, u) => violation_squared(r, u, self.mu[i]),
        };
        (0..self.count).map(squared).sum::<f64>().sqrt()
    }

    /// Makes one Gauss-Seidel iteration with exact local solutions.   [GS-1]
    pub(super) fn iterate_gauss_seidel(&mut self) {
        for i in 0..self.count {
            let (a, u) = (self.block(i), self.velocity(i));
            if self.tangents[i] == 0 {
                self.r[i][0] = self.bounds[i].clip(self.r[i][0] - self.rho[i].0 * u[0]);
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

/// Product W r + q into `u_rows` of the contacts.
struct Velocities<'a>(&'a mut Contacts);

impl Kernel for Velocities<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(contacts) = self;
        let rows = contacts.padded_rows();
        let u = &mut contacts.u_rows;
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

/// Adds the columns of a contact times its impulse to the velocities, LANES rows at a time.
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

/// 1/a, or 0 if a is not positive: no impulse changes the velocity of such a row.
fn inverse(a: f64) -> f64 {
    if a > 0.0 { 1.0 / a } else { 0.0 }
}

pub(super) fn norm(x: [f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]).sqrt()
}

/// Squared natural map ‖r − P_K(r − û)‖² of one contact, accurate to rounding of r: the plain formula of [CONE-5].   [CONE-3]
fn violation_squared(r: &Triple, u: &Triple, mu: f64) -> f64 {
    let normal = r[0] - u[0] - mu * norm([u[1], u[2]]);
    let tangent = [r[1] - u[1], r[2] - u[2]];
    let length = norm(tangent);
    let (n, factor) = if normal >= 0.0 && length <= mu * normal {
        (normal, 1.0)
    } else {
        let n = ((normal + mu * length) / (1.0 + mu * mu)).max(0.0);
        (n, if length > 0.0 { mu * n / length } else { 0.0 })
    };
    let difference = [r[0] - n, r[1] - factor * tangent[0], r[2] - factor * tangent[1]];
    difference[0] * difference[0] + difference[1] * difference[1] + difference[2] * difference[2]
}
