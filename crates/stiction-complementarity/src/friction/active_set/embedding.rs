//! Contacts of one, two and three rows as triples, and the rows of joints beside them.   [SET-6]
//!
//! A contact in the plane has one tangent, one without friction none, and neither has a row between bounds. As triples they get the missing tangents as
//! rows of their own, which nothing else moves: there r = u = 0, and normal, cone and ruler are the same. W knows only the rows that there are.

use super::FrictionActiveSet;
use super::bounds::Bounds;
use super::contacts::{Column, MAX_CONTACTS, MAX_ROWS, MAX_SPATIAL_CONTACTS, Triple};
use super::joints::MAX_JOINT_ROWS;
use crate::friction::FrictionProblem;
use crate::friction::law::Law;
use crate::friction::operator::Delassus;

/// What a block is to the method.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// A contact of this many tangents and this μ.
    Contact { tangents: usize, mu: f64 },
    /// A row between bounds: a limit, a motor, dry friction.
    Bounded(Bounds),
    /// A joint of this many rows.
    Joint(usize),
}

fn part(law: &Law) -> Option<Part> {
    match *law {
        Law::Cone { rows: rows @ (2 | 3), mu } => Some(Part::Contact { tangents: rows - 1, mu }),
        Law::Boxed { lower, upper } => Some(Part::Bounded(Bounds { lower, upper })),
        Law::Equality { rows } => Some(Part::Joint(rows)),
        _ => None,
    }
}

/// Whether all blocks are contacts or joints, and few enough.
pub(super) fn fits<W: Delassus>(problem: &FrictionProblem<W>) -> bool {
    if problem.rows() > FrictionActiveSet::MOST_ROWS {
        return false;
    }
    let (mut contacts, mut spatial, mut joint_rows) = (0, 0, 0);
    for law in problem.laws() {
        match part(law) {
            Some(Part::Contact { tangents, .. }) => {
                contacts += 1;
                spatial += usize::from(tangents == 2);
            }
            Some(Part::Bounded(_)) => contacts += 1,
            Some(Part::Joint(more)) => joint_rows += more,
            None => return false,
        }
    }
    let most = if spatial == contacts && joint_rows == 0 { MAX_SPATIAL_CONTACTS } else { MAX_CONTACTS };
    contacts <= most && joint_rows <= MAX_JOINT_ROWS && problem.rows() - joint_rows <= MAX_ROWS
}

/// A contact among the rows of the problem.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Its normal row, and that among the rows of contacts alone.
    pub(super) first: usize,
    pub(super) row: usize,
    /// Tangents that follow: 0, 1 or 2.
    pub(super) tangents: usize,
    pub(super) mu: f64,
    pub(super) bounds: Bounds,
}

impl Place {
    /// The rows of the contact in a vector of the problem, zero where it has none.
    pub(super) fn read(&self, x: &[f64]) -> Triple {
        match (self.tangents, x.get(self.first..)) {
            (2, Some([n, s, t, ..])) => [*n, *s, *t],
            (1, Some([n, s, ..])) => [*n, *s, 0.0],
            (0, Some([n, ..])) => [*n, 0.0, 0.0],
            _ => [0.0; 3],
        }
    }

    fn write(&self, triple: &Triple, x: &mut [f64]) {
        match (self.tangents, x.get_mut(self.first..)) {
            (2, Some([n, s, t, ..])) => [*n, *s, *t] = *triple,
            (1, Some([n, s, ..])) => [*n, *s, _] = *triple,
            (0, Some([n, ..])) => [*n, _, _] = *triple,
            _ => {}
        }
    }
}

/// Where contacts and joints are among the rows of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Embedding {
    contacts: usize,
    places: [Place; MAX_CONTACTS],
    contact_rows: usize,
    rows: Rows,
    joint_rows: usize,
    rows_of_joints: [usize; MAX_JOINT_ROWS],
}

/// The rows of contacts.
#[derive(Clone, Debug)]
struct Rows([usize; MAX_ROWS]);

impl Default for Rows {
    fn default() -> Self {
        Self([0; MAX_ROWS])
    }
}

impl Embedding {
    /// Finds contacts and joints of a problem that fits.
    pub(super) fn read<W: Delassus>(&mut self, problem: &FrictionProblem<W>) {
        (self.contacts, self.contact_rows, self.joint_rows) = (0, 0, 0);
        let mut first = 0;
        for law in problem.laws() {
            match part(law) {
                Some(Part::Contact { tangents, mu }) => self.place(first, tangents, mu, Bounds::default()),
                Some(Part::Bounded(bounds)) => self.place(first, 0, 0.0, bounds),
                Some(Part::Joint(more)) => {
                    let free = self.rows_of_joints.iter_mut().skip(self.joint_rows).take(more);
                    free.zip(first..).for_each(|(row, k)| *row = k);
                    self.joint_rows = (self.joint_rows + more).min(MAX_JOINT_ROWS);
                }
                None => {}
            }
            first += law.rows();
        }
    }

    /// Adds a contact that begins at row `first` of the problem.
    fn place(&mut self, first: usize, tangents: usize, mu: f64, bounds: Bounds) {
        if let Some(place) = self.places.get_mut(self.contacts) {
            let row = self.contact_rows;
            *place = Place { first, row, tangents, mu, bounds };
            (first..=first + tangents).zip(&mut self.rows.0[row..]).for_each(|(k, row)| *row = k);
            self.contacts += 1;
            self.contact_rows += 1 + tangents;
        }
    }

    /// The contacts, in the order of their blocks.
    pub(super) fn places(&self) -> &[Place] {
        &self.places[..self.contacts]
    }

    /// The rows of contacts.
    pub(super) fn contact_rows(&self) -> &[usize] {
        &self.rows.0[..self.contact_rows]
    }

    /// The rows of joints.
    pub(super) fn joint_rows(&self) -> &[usize] {
        &self.rows_of_joints[..self.joint_rows]
    }

    /// Whether nothing is embedded or eliminated: spatial contacts with friction only.
    pub(super) fn is_plain(&self) -> bool {
        self.joint_rows == 0 && self.places().iter().all(|place| place.tangents == 2)
    }

    /// The part of W, row by row with `n` to a row, between contacts, column by column.
    pub(super) fn gather(&self, (w, n): (&[f64], usize), symmetric: bool, columns: &mut [Column]) {
        let rows = self.contact_rows();
        if symmetric && rows.len() == n {
            let columns = columns.iter_mut().zip(w.chunks_exact(n.max(1)));
            columns.for_each(|(column, row)| column[..n].copy_from_slice(row));
            return;
        }
        for (place, row) in rows.iter().enumerate() {
            let values = w.get(row * n..(row + 1) * n).unwrap_or_default();
            columns.iter_mut().zip(rows).for_each(|(column, k)| column[place] = values[*k]);
        }
    }

    /// Writes impulses of contacts among those of the problem.
    pub(super) fn write(&self, r: &[Triple], out: &mut [f64]) {
        self.places().iter().zip(r).for_each(|(place, r)| place.write(r, out));
    }
}
