//! Contacts with any law of friction: each part of it sticks or slips for itself.   [SET-10]
//!
//! There are no embedded components: impulses and velocities are stored by rows. Bounded rows are contacts without parts.

mod modes;
mod system;

use super::bounds::Bounds;
use super::embedding::Embedding;
use super::equalities::Equalities;
use super::search::ContactSet;
use super::sizes::{Column, MAX_CONTACTS, MAX_ROWS};
use crate::friction::law::local::{LocalBlock, MultiplierWarmStart};
use crate::friction::law::{Kind, Law, MAX_CONTACT_ROWS, MAX_PARTS, Part, Parts};
use modes::Mode;
use std::ops::Range;
use system::GeneralSystem;

/// Vector of a contact; entries beyond its rows are zero.
type Vector = [f64; MAX_CONTACT_ROWS];

/// Zero vector: the impulse of a contact without a warm start.
static ZERO: Vector = [0.0; MAX_CONTACT_ROWS];

/// Proximal term on the diagonal of a system, relative to that of W in the same part.
const PROXIMAL: f64 = 1e-10;

/// Law of a contact or bounded row, with the position of its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Constraint {
    law: Law,
    /// Parts of the friction; none for a bounded row.
    parts: Parts,
    /// Bounds of a bounded row.
    bounds: Option<Bounds>,
    /// First row.
    first: usize,
    /// Number of rows.
    rows: usize,
    /// Projection parameters ρ: one over the mean diagonal of W, of the normal row and of each part.   [SET-1]
    rho: [f64; 1 + MAX_PARTS],
    /// Proximal terms of the normal row and of each part.
    proximal: [f64; 1 + MAX_PARTS],
}

impl Constraint {
    /// Rows of the contact.
    fn range(&self) -> Range<usize> {
        self.first..self.first + self.rows
    }

    /// Rows of a part.
    fn rows_of(&self, part: &Part) -> Range<usize> {
        self.first + part.first..self.first + part.range().end
    }
}

/// Impulses by rows.
#[derive(Clone, Debug)]
pub(super) struct SavedRows(Column);

impl Default for SavedRows {
    fn default() -> Self {
        Self([0.0; MAX_ROWS])
    }
}

/// Contacts and bounded rows with operator, impulses, velocities and modes.
#[derive(Clone, Debug)]
pub(super) struct GeneralContacts {
    constraints: Vec<Constraint>,
    /// Number of rows of all contacts.
    rows: usize,
    /// W + diag c by columns, after the elimination of equalities.
    w: Vec<Column>,
    /// True if W is bitwise symmetric.
    symmetric: bool,
    /// Free velocities, after the elimination of equalities.
    q: Column,
    r: Column,
    /// u = W r + q as of the last [`Self::refresh`].
    u: Column,
    modes: [Mode; MAX_CONTACTS],
    /// Norm of the free velocities.
    scale: f64,
    /// Mean diagonal of W.
    mean_diagonal: f64,
    /// Compliance that is presently added to the diagonal of W.
    compliance: f64,
    /// Local problems: memory of the Gauss-Seidel iterations.
    locals: Vec<LocalBlock>,
}

impl Default for GeneralContacts {
    fn default() -> Self {
        Self {
            constraints: Vec::with_capacity(MAX_CONTACTS),
            rows: 0,
            w: vec![[0.0; MAX_ROWS]; MAX_ROWS],
            symmetric: false,
            q: [0.0; MAX_ROWS],
            r: [0.0; MAX_ROWS],
            u: [0.0; MAX_ROWS],
            modes: [Mode::Held; MAX_CONTACTS],
            scale: 1.0,
            mean_diagonal: 0.0,
            compliance: 0.0,
            locals: Vec::with_capacity(MAX_CONTACTS),
        }
    }
}

impl GeneralContacts {
    /// u ← W r + q for all contacts.
    fn refresh(&mut self) {
        let rows = self.rows;
        self.u[..rows].copy_from_slice(&self.q[..rows]);
        for (column, r) in self.w.iter().zip(&self.r[..rows]).filter(|(_, r)| **r != 0.0) {
            self.u[..rows].iter_mut().zip(column).for_each(|(u, w)| *u += w * r);
        }
    }

    /// Mean diagonal of W over these rows.
    fn mean_diagonal_of(&self, rows: Range<usize>) -> f64 {
        let count = rows.len().max(1) as f64;
        rows.map(|k| self.w[k][k]).sum::<f64>() / count
    }

    /// Computes ρ and the proximal terms of a contact from its diagonal. A part that no impulse can move (zero diagonal of W) has ρ = 0 and
    /// takes the proximal term of the normal row.
    fn set_parameters(&self, constraint: &mut Constraint) {
        let normal = self.w[constraint.first][constraint.first];
        (constraint.rho, constraint.proximal) = ([inverse(normal); 1 + MAX_PARTS], [PROXIMAL * normal; 1 + MAX_PARTS]);
        let parts = constraint.parts;
        for (k, part) in parts.iter().enumerate() {
            let mean = self.mean_diagonal_of(constraint.rows_of(part));
            constraint.rho[1 + k] = inverse(mean);
            if mean > 0.0 {
                constraint.proximal[1 + k] = PROXIMAL * mean;
            }
        }
    }

    /// Velocity of row k at the present impulses, which may be newer than `self.u`.
    fn velocity(&self, k: usize) -> f64 {
        self.w.iter().zip(&self.r[..self.rows]).fold(self.q[k], |sum, (column, r)| sum + column[k] * r)
    }

    /// Solves contact i exactly, with the impulses of the others fixed.
    fn solve_locally(&mut self, i: usize) {
        let Some(&Constraint { law, first, rows, bounds, rho, .. }) = self.constraints.get(i) else { return };
        let mut g: Vector = std::array::from_fn(|k| if k < rows { self.velocity(first + k) } else { 0.0 });
        if let Some(bounds) = bounds {
            self.r[first] = bounds.clip(self.r[first] - rho[0] * g[0]);
            return;
        }
        let mut a = [0.0; MAX_CONTACT_ROWS * MAX_CONTACT_ROWS];
        for (k, row) in a.chunks_exact_mut(rows.max(1)).take(rows).enumerate() {
            for (c, a) in row.iter_mut().enumerate() {
                *a = self.w[first + c][first + k];
                g[k] -= *a * self.r[first + c];
            }
        }
        let Some(a) = a.get(..rows * rows) else { return };
        if let Some(local) = self.locals.get_mut(i) {
            local.refill(&law, a);
            let _ = local.solve(&g[..rows], &mut self.r[first..first + rows], &mut MultiplierWarmStart::default());
        }
    }
}

impl ContactSet for GeneralContacts {
    type System = GeneralSystem;
    type Saved = SavedRows;
    type Code = u128;

    fn load_matrix(
        &mut self,
        (embedding, equalities): (&Embedding, &Equalities),
        (w, n): (&[f64], usize),
        symmetric: bool,
    ) {
        self.symmetric = symmetric;
        self.rows = embedding.contact_rows().len();
        debug_assert!(self.rows <= MAX_ROWS, "the problem fits into the fixed memory");
        embedding.gather((w, n), symmetric, &mut self.w);
        if !embedding.equality_rows().is_empty() {
            equalities.reduce(&mut self.w[..self.rows]);
        }
        self.constraints.clear();
        for contact in embedding.contacts() {
            let Some(law) = contact.law else { continue };
            let (parts, bounds) = match law.kind() {
                Kind::Contact(parts) => (parts, None),
                Kind::Bounded { .. } | Kind::Equality => (Parts::default(), Some(contact.bounds)),
            };
            let (rho, proximal) = ([0.0; 1 + MAX_PARTS], [0.0; 1 + MAX_PARTS]);
            let mut constraint = Constraint { law, parts, bounds, first: contact.row, rows: law.rows(), rho, proximal };
            self.set_parameters(&mut constraint);
            self.constraints.push(constraint);
        }
        (self.mean_diagonal, self.compliance) = (self.mean_diagonal_of(0..self.rows), 0.0);
        self.locals.resize_with(self.constraints.len().max(self.locals.len()), LocalBlock::default);
    }

    fn load(&mut self, (embedding, equalities): (&Embedding, &Equalities), (q, scale): (&[f64], f64), guess: &[f64]) {
        self.scale = scale;
        for (constraint, contact) in self.constraints.iter().zip(embedding.contacts()) {
            let (rows, from) = (constraint.range(), contact.problem_row..contact.problem_row + constraint.rows);
            self.q[rows.clone()].copy_from_slice(q.get(from.clone()).unwrap_or(&ZERO[..constraint.rows]));
            let guess = guess.get(from).unwrap_or(&ZERO[..constraint.rows]);
            self.r[rows.clone()].copy_from_slice(guess);
            constraint.law.project(&mut self.r[rows]);
        }
        equalities.reduce_velocities(&mut self.q[..self.rows]);
        self.refresh();
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn residual(&self) -> f64 {
        let squared = |constraint: &Constraint| {
            constraint.law.violation_squared(&self.r[constraint.range()], &self.u[constraint.range()])
        };
        self.constraints.iter().map(squared).sum::<f64>().sqrt()
    }

    fn save(&self, saved: &mut SavedRows) {
        saved.0[..self.rows].copy_from_slice(&self.r[..self.rows]);
    }

    fn restore(&mut self, saved: &SavedRows) {
        self.r[..self.rows].copy_from_slice(&saved.0[..self.rows]);
        self.refresh();
    }

    fn write(&self, embedding: &Embedding, r: &mut [f64]) {
        for (constraint, contact) in self.constraints.iter().zip(embedding.contacts()) {
            if let Some(out) = r.get_mut(contact.problem_row..contact.problem_row + constraint.rows) {
                out.copy_from_slice(&self.r[constraint.range()]);
            }
        }
    }

    fn active_set(&self) -> u128 {
        self.modes
            .iter()
            .take(self.constraints.len())
            .fold(0, |active_set, mode| Mode::CODES * active_set + mode.code())
    }

    fn slips(&self) -> bool {
        self.modes.iter().take(self.constraints.len()).any(Mode::slips)
    }

    fn update_modes(&mut self) -> bool {
        self.update_each(Self::update_mode)
    }

    fn update_bound_modes(&mut self) -> bool {
        self.update_each(Self::update_bound_mode)
    }

    fn has_violated_bounds(&self) -> bool {
        let violated = |constraint: &Constraint| {
            let (r, u) = (self.r[constraint.first], self.u[constraint.first]);
            constraint.bounds.is_some_and(|bounds| r == 0.0 && bounds.clip(r - u) != r)
        };
        let pressed = |constraint: &Constraint| constraint.bounds.is_none() && self.r[constraint.first] > 0.0;
        self.constraints.iter().any(violated) && self.constraints.iter().any(pressed)
    }

    fn set_modes_from_impulses(&mut self) {
        self.update_each(Self::set_mode_from_impulse);
    }

    fn set_compliance(&mut self, relative: f64) {
        let compliance = relative * self.mean_diagonal;
        for (k, column) in self.w.iter_mut().enumerate().take(self.rows) {
            column[k] += compliance - self.compliance;
        }
        self.compliance = compliance;
        self.refresh();
    }

    fn iterate_gauss_seidel(&mut self) {
        (0..self.constraints.len()).for_each(|i| self.solve_locally(i));
        self.refresh();
    }

    fn set_velocities(&mut self, embedding: &Embedding, (w, q): (&[f64], &[f64]), r: &[f64]) {
        debug_assert!(w.len() == q.len() * q.len() && r.len() == q.len(), "W, q and r are those of the whole problem");
        for (constraint, contact) in self.constraints.iter().zip(embedding.contacts()) {
            for (k, row) in constraint.range().zip(contact.problem_row..) {
                let (w, q) = (&w[row * q.len()..(row + 1) * q.len()], q[row]);
                let u = q + w.iter().zip(r).map(|(w, r)| w * r).sum::<f64>();
                self.q[k] += u - self.u[k];
                self.u[k] = u;
            }
        }
    }

    fn step(&mut self, system: &mut GeneralSystem) -> bool {
        system.step(self)
    }

    fn refine(&mut self, system: &mut GeneralSystem) -> bool {
        system.refine(self)
    }

    fn clear_factors(system: &mut GeneralSystem) {
        system.clear_factors();
    }
}

/// 1/a, or 0 if a is not positive: no impulse changes the velocity of such rows.
fn inverse(a: f64) -> f64 {
    if a > 0.0 { 1.0 / a } else { 0.0 }
}
