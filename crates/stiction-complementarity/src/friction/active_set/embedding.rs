//! Positions of the contacts among the rows of a problem, their embedding into triples, and the rows of the equalities (of joints and couplings).   [SET-6]
//!
//! A contact in the plane has one tangent; a contact without friction and a bounded row have none. In a triple the missing tangents are
//! additional components that are coupled to nothing. There r = u = 0, so normal component, cone and residual are the same. W has only
//! the rows that exist.

use super::FrictionActiveSet;
use super::bounds::Bounds;
use super::sizes::{Column, MAX_CONTACTS, MAX_EQUALITY_ROWS, MAX_ROWS, MAX_SPATIAL_CONTACTS, Triple};
use crate::friction::FrictionProblem;
use crate::friction::law::{Kind, Law, Parts};
use crate::friction::operator::Delassus;

/// Applicability of the method to a problem, and which of its two implementations applies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Fit {
    /// Neither: too many contacts, rows or equality rows.
    #[default]
    No,
    /// Implementation for Coulomb friction in space or in the plane, which all contacts have.
    Coulomb,
    /// General implementation: some contact has torsional or rolling friction.
    General,
}

/// Determines if the contacts and equalities of a problem are few enough, and which implementation their laws need.
pub(super) fn fit<W: Delassus>(problem: &FrictionProblem<W>) -> Fit {
    if problem.rows() > FrictionActiveSet::MAX_PROBLEM_ROWS {
        return Fit::No;
    }
    let (mut contacts, mut spatial, mut equality_rows, mut fit) = (0, 0, 0, Fit::Coulomb);
    for law in problem.laws() {
        match law.kind() {
            Kind::Contact(parts) => {
                contacts += 1;
                spatial += usize::from(has_turning_slip(&parts));
                if parts.len() > 1 || law.rows() > 3 {
                    fit = Fit::General;
                }
            }
            Kind::Bounded { .. } => contacts += 1,
            Kind::Equality => equality_rows += law.rows(),
        }
    }
    let max_contacts = if spatial == contacts && equality_rows == 0 { MAX_SPATIAL_CONTACTS } else { MAX_CONTACTS };
    let fits =
        contacts <= max_contacts && equality_rows <= MAX_EQUALITY_ROWS && problem.rows() - equality_rows <= MAX_ROWS;
    if fits { fit } else { Fit::No }
}

/// True for a spatial contact: one with friction whose slip has a direction that can turn, because a part of it has two rows or more.
fn has_turning_slip(parts: &Parts) -> bool {
    parts.iter().any(|part| part.rows > 1)
}

/// Contact or bounded row with its position in the problem.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EmbeddedContact {
    /// Normal row in the problem.
    pub(super) problem_row: usize,
    /// Normal row among the rows of contacts only.
    pub(super) row: usize,
    /// Number of rows of friction: 0, 1 or 2 of sliding, 3 with torsion, and up to 5 with rolling friction.
    pub(super) friction_rows: usize,
    pub(super) mu: f64,
    pub(super) bounds: Bounds,
    /// Law; none in unused entries.
    pub(super) law: Option<Law>,
}

impl EmbeddedContact {
    /// Components of the contact in a vector of the problem; zero for embedded components and for an empty vector.
    pub(super) fn read(&self, x: &[f64]) -> Triple {
        debug_assert!(
            x.is_empty() || self.problem_row + self.friction_rows < x.len(),
            "the contact lies in the vector"
        );
        match (self.friction_rows, x.get(self.problem_row..)) {
            (2, Some([n, s, t, ..])) => [*n, *s, *t],
            (1, Some([n, s, ..])) => [*n, *s, 0.0],
            (0, Some([n, ..])) => [*n, 0.0, 0.0],
            _ => [0.0; 3],
        }
    }

    /// Writes the components of the contact into a vector of the problem.
    fn write(&self, triple: &Triple, x: &mut [f64]) {
        debug_assert!(self.problem_row + self.friction_rows < x.len(), "the contact lies in the vector");
        match (self.friction_rows, x.get_mut(self.problem_row..)) {
            (2, Some([n, s, t, ..])) => [*n, *s, *t] = *triple,
            (1, Some([n, s, ..])) => [*n, *s, _] = *triple,
            (0, Some([n, ..])) => [*n, _, _] = *triple,
            _ => {}
        }
    }
}

/// Positions of contacts and equalities among the rows of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Embedding {
    contact_count: usize,
    contacts: [EmbeddedContact; MAX_CONTACTS],
    contact_row_count: usize,
    contact_rows: ContactRows,
    equality_row_count: usize,
    equality_rows: [usize; MAX_EQUALITY_ROWS],
    /// Number of contacts whose slip has a direction that can turn.
    turning_slip_count: usize,
}

/// Rows of the contacts in the problem.
#[derive(Clone, Debug)]
struct ContactRows([usize; MAX_ROWS]);

impl Default for ContactRows {
    fn default() -> Self {
        Self([0; MAX_ROWS])
    }
}

impl Embedding {
    /// Reads contacts and equalities of a problem to which the method applies.
    pub(super) fn read<W: Delassus>(&mut self, problem: &FrictionProblem<W>) {
        debug_assert!(fit(problem) != Fit::No, "the method applies");
        (self.contact_count, self.contact_row_count, self.equality_row_count, self.turning_slip_count) = (0, 0, 0, 0);
        let mut first = 0;
        for law in problem.laws() {
            match law.kind() {
                Kind::Contact(parts) => {
                    self.push(first, law, parts.mu(), Bounds::default());
                    self.turning_slip_count += usize::from(has_turning_slip(&parts));
                }
                Kind::Bounded { lower, upper } => self.push(first, law, 0.0, Bounds { lower, upper }),
                Kind::Equality => {
                    let more = law.rows();
                    let added = self.equality_rows.iter_mut().skip(self.equality_row_count).take(more);
                    added.zip(first..).for_each(|(row, k)| *row = k);
                    self.equality_row_count = (self.equality_row_count + more).min(MAX_EQUALITY_ROWS);
                }
            }
            first += law.rows();
        }
        let total = self.contact_row_count + self.equality_row_count;
        debug_assert!(first == problem.rows() && total == first, "every row is one of a contact or of an equality");
    }

    /// Adds a contact that begins at row `first` of the problem.
    fn push(&mut self, first: usize, law: &Law, mu: f64, bounds: Bounds) {
        debug_assert!(self.contact_count < MAX_CONTACTS, "the contacts fit");
        if let Some(contact) = self.contacts.get_mut(self.contact_count) {
            let (row, friction_rows) = (self.contact_row_count, law.rows() - 1);
            *contact = EmbeddedContact { problem_row: first, row, friction_rows, mu, bounds, law: Some(*law) };
            (first..=first + friction_rows).zip(&mut self.contact_rows.0[row..]).for_each(|(k, row)| *row = k);
            self.contact_count += 1;
            self.contact_row_count += 1 + friction_rows;
        }
    }

    /// Contacts in the order of their blocks.
    pub(super) fn contacts(&self) -> &[EmbeddedContact] {
        &self.contacts[..self.contact_count]
    }

    /// Rows of the contacts in the problem.
    pub(super) fn contact_rows(&self) -> &[usize] {
        &self.contact_rows.0[..self.contact_row_count]
    }

    /// Rows of the equalities in the problem.
    pub(super) fn equality_rows(&self) -> &[usize] {
        &self.equality_rows[..self.equality_row_count]
    }

    /// True if all blocks are spatial contacts with friction: no slip is along a line, and no row is bounded or of an equality.
    pub(super) fn is_purely_spatial(&self) -> bool {
        self.equality_row_count == 0 && self.turning_slip_count == self.contact_count
    }

    /// Copies the rows and columns of contacts of W, row by row with `n` entries per row, into columns.
    pub(super) fn gather(&self, (w, n): (&[f64], usize), symmetric: bool, columns: &mut [Column]) {
        let rows = self.contact_rows();
        debug_assert!(w.len() == n * n && rows.len() <= columns.len(), "W is square and its columns fit");
        if symmetric && rows.len() == n {
            let columns = columns.iter_mut().zip(w.chunks_exact(n.max(1)));
            columns.for_each(|(column, row)| column[..n].copy_from_slice(row));
            return;
        }
        for (i, row) in rows.iter().enumerate() {
            let values = w.get(row * n..(row + 1) * n).unwrap_or_default();
            columns.iter_mut().zip(rows).for_each(|(column, k)| column[i] = values[*k]);
        }
    }

    /// Writes the impulses of the contacts into those of the problem.
    pub(super) fn write(&self, r: &[Triple], out: &mut [f64]) {
        debug_assert_eq!(r.len(), self.contact_count, "one impulse per contact");
        self.contacts().iter().zip(r).for_each(|(contact, r)| contact.write(r, out));
    }
}
