//! Equations of one active set: u_N = 0 at closed contacts, u_k = 0 in sticking parts, u_k along e in slipping ones.   [SET-2] [SET-10]

use super::super::factors::Factors;
use super::super::sizes::{Column, MAX_CONTACTS, MAX_ROWS};
use super::modes::{MAX_PART_ROWS, Mode, PartMode};
use super::{Constraint, GeneralContacts, Vector};
use crate::friction::law::MAX_CONTACT_ROWS;

/// Linear system of a Newton step with fixed modes.
#[derive(Clone, Debug)]
pub(in super::super) struct GeneralSystem {
    size: usize,
    /// Matrix by columns; after factorisation it holds one of the factors.
    a: Vec<Column>,
    factors: Factors,
    /// Right-hand side, and then the solution.
    b: Column,
    /// Unknowns of each contact.
    unknowns: Vec<Unknowns>,
}

impl Default for GeneralSystem {
    fn default() -> Self {
        Self {
            size: 0,
            a: vec![[0.0; MAX_ROWS]; MAX_ROWS],
            factors: Factors::default(),
            b: [0.0; MAX_ROWS],
            unknowns: Vec::with_capacity(MAX_CONTACTS),
        }
    }
}

/// Kind of an unknown of a closed contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Unknown {
    /// Normal impulse.
    #[default]
    Normal,
    /// Impulse of a sticking part.
    Stick { part: usize },
    /// Transverse impulse increment μ_k r_N δθ of a slipping part: it is across the slip direction and rotates it by δθ.
    Transverse { part: usize },
}

/// Unknowns of a contact: directions of its rows in which its impulse changes.
#[derive(Clone, Copy, Debug, Default)]
struct Unknowns {
    /// First unknown in the system.
    first: usize,
    count: usize,
    kinds: [Unknown; MAX_CONTACT_ROWS],
    /// Columns of C: change of the impulse per unit of each unknown. Those of B are the same, but for the first one, which is e_N.
    columns: [Vector; MAX_CONTACT_ROWS],
}

impl Unknowns {
    fn push(&mut self, kind: Unknown, column: Vector) {
        debug_assert!(self.count < MAX_CONTACT_ROWS, "a contact has no more unknowns than rows");
        if let (Some(kinds), Some(columns)) = (self.kinds.get_mut(self.count), self.columns.get_mut(self.count)) {
            (*kinds, *columns) = (kind, column);
            self.count += 1;
        }
    }

    /// Unknowns of a contact in this mode, the first one with this number.
    fn new(constraint: &Constraint, mode: &Mode, first: usize) -> Self {
        let mut unknowns = Self { first, ..Self::default() };
        let Some(modes) = mode.parts() else { return unknowns };
        let mut normal = [0.0; MAX_CONTACT_ROWS];
        normal[0] = 1.0;
        for (part, mode) in constraint.parts.iter().zip(modes) {
            if let PartMode::Slip(e) = mode {
                part.range().zip(e).for_each(|(k, e)| normal[k] = -part.mu * e);
            }
        }
        unknowns.push(Unknown::Normal, normal);
        for (index, (part, mode)) in constraint.parts.iter().zip(modes).enumerate() {
            match mode {
                PartMode::Stick => {
                    for k in part.range() {
                        let mut column = [0.0; MAX_CONTACT_ROWS];
                        column[k] = 1.0;
                        unknowns.push(Unknown::Stick { part: index }, column);
                    }
                }
                PartMode::Slip(e) => {
                    for across in orthogonal(e, part.rows).iter().take(part.rows.saturating_sub(1)) {
                        let mut column = [0.0; MAX_CONTACT_ROWS];
                        part.range().zip(across).for_each(|(k, x)| column[k] = *x);
                        unknowns.push(Unknown::Transverse { part: index }, column);
                    }
                }
            }
        }
        unknowns
    }

    /// Bᵀ x for the rows x of the contact.
    fn project(&self, x: &Vector) -> Vector {
        std::array::from_fn(|c| match c {
            0 => x[0],
            c if c < self.count => x.iter().zip(&self.columns[c]).map(|(x, b)| x * b).sum(),
            _ => 0.0,
        })
    }

    /// Kinds of the unknowns with their numbers in the system.
    fn numbered(&self) -> impl Iterator<Item = (usize, Unknown)> {
        (self.first..).zip(self.kinds).take(self.count)
    }
}

/// Orthonormal vectors across the unit vector e of a part with so many rows: none, one or two.
fn orthogonal(e: &[f64; MAX_PART_ROWS], rows: usize) -> [[f64; MAX_PART_ROWS]; MAX_PART_ROWS - 1] {
    let [x, y, z] = *e;
    if rows < MAX_PART_ROWS {
        return [[-y, x, 0.0], [0.0; MAX_PART_ROWS]];
    }
    // Reflection that maps the third axis to ±e, without a case that divides by zero.
    let sign = 1.0_f64.copysign(z);
    let a = -1.0 / (sign + z);
    let b = x * y * a;
    [[1.0 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y]]
}

impl GeneralSystem {
    /// Makes one Newton step of all impulses with the present modes; returns false if the system is singular.
    pub(super) fn step(&mut self, contacts: &mut GeneralContacts) -> bool {
        self.assemble(contacts);
        self.factor(contacts);
        self.solve(contacts)
    }

    /// Invalidates the factors.
    pub(super) fn clear_factors(&mut self) {
        self.factors.clear();
    }

    /// Repeats the step with the factors of the last one, which removes the errors of rounding and of the proximal term.
    ///
    /// Slip directions may have turned since then. Returns false if the unknowns are others, or the factors are not valid.
    pub(super) fn refine(&mut self, contacts: &mut GeneralContacts) -> bool {
        if self.unknowns.len() != contacts.constraints.len() {
            return false;
        }
        for (unknowns, (constraint, mode)) in
            self.unknowns.iter_mut().zip(contacts.constraints.iter().zip(&contacts.modes))
        {
            let present = Unknowns::new(constraint, mode, unknowns.first);
            if (present.count, present.kinds) != (unknowns.count, unknowns.kinds) {
                self.factors.clear();
                return false;
            }
            *unknowns = present;
        }
        self.write_right_hand_side(contacts);
        self.solve(contacts)
    }

    fn solve(&mut self, contacts: &mut GeneralContacts) -> bool {
        let solved = self.factors.solve(&self.a[..self.size], &mut self.b);
        if solved {
            self.apply_step(contacts);
        }
        solved
    }

    /// Friction limit μ_k r_N of a part; a slip direction rotates only if it is positive.
    fn limit(contacts: &GeneralContacts, constraint: &Constraint, part: usize) -> f64 {
        constraint.parts.get(part).map_or(0.0, |part| part.mu) * contacts.r[constraint.first]
    }

    /// Adds the solution in `b` to the impulses.
    fn apply_step(&self, contacts: &mut GeneralContacts) {
        for (i, unknowns) in self.unknowns.iter().enumerate() {
            let (Some(modes), Some(constraint)) =
                (contacts.modes[i].parts().copied(), contacts.constraints.get(i).copied())
            else {
                continue;
            };
            let x = &self.b[unknowns.first..unknowns.first + unknowns.count];
            let Some(normal) = x.first().map(|dn| contacts.r[constraint.first] + dn) else { continue };
            // Changes of the impulse by the unknowns other than the normal impulse.
            let mut change = [0.0; MAX_CONTACT_ROWS];
            for (x, column) in x.iter().zip(&unknowns.columns).skip(1) {
                change.iter_mut().zip(column).for_each(|(change, c)| *change += x * c);
            }
            for (k, (part, mode)) in constraint.parts.iter().zip(&modes).enumerate() {
                let rows = constraint.rows_of(part);
                let PartMode::Slip(e) = mode else {
                    rows.zip(&change[part.range()]).for_each(|(row, change)| contacts.r[row] += change);
                    continue;
                };
                let limit = Self::limit(contacts, &constraint, k);
                let mut rotated = *e;
                if limit > 0.0 {
                    rotated.iter_mut().zip(&change[part.range()]).for_each(|(e, change)| *e -= change / limit);
                }
                let length = rotated.iter().map(|e| e * e).sum::<f64>().sqrt();
                let factor = -part.mu * normal.max(0.0) / length;
                rows.zip(rotated).for_each(|(row, e)| contacts.r[row] = factor * e);
            }
            contacts.r[constraint.first] = normal;
        }
        contacts.refresh();
    }

    /// Writes the right-hand sides −Bᵢᵀ u.   [SET-2]
    fn write_right_hand_side(&mut self, contacts: &GeneralContacts) {
        for (unknowns, constraint) in self.unknowns.iter().zip(&contacts.constraints) {
            let projected = unknowns.project(&vector(&contacts.u, constraint));
            for ((row, kind), u) in unknowns.numbered().zip(projected) {
                let no_rotation =
                    matches!(kind, Unknown::Transverse { part } if Self::limit(contacts, constraint, part) <= 0.0);
                self.b[row] = if no_rotation { 0.0 } else { -u };
            }
        }
    }

    /// Assembles the rows Bᵢᵀ (u + Σ W_ij C_j x_j) = 0, with the slip multipliers λ_k = e·u_k / (μ_k r_N) on the diagonal entries of
    /// the transverse increments.   [SET-2] [SET-10]
    fn assemble(&mut self, contacts: &GeneralContacts) {
        self.size = 0;
        self.unknowns.clear();
        for (constraint, mode) in contacts.constraints.iter().zip(&contacts.modes) {
            let unknowns = Unknowns::new(constraint, mode, self.size);
            self.size += unknowns.count;
            self.unknowns.push(unknowns);
        }
        debug_assert!(self.size <= contacts.rows, "a contact has at most as many unknowns as rows");
        let rows = contacts.rows;
        for (unknowns, constraint) in self.unknowns.iter().zip(&contacts.constraints) {
            let own = &contacts.w[constraint.range()];
            let out = self.a[unknowns.first..].iter_mut();
            for (out, c) in out.zip(&unknowns.columns).take(unknowns.count) {
                out[..rows].fill(0.0);
                for (w, c) in own.iter().zip(c).filter(|(_, c)| **c != 0.0) {
                    out[..rows].iter_mut().zip(w).for_each(|(out, w)| *out += c * w);
                }
            }
        }
        for column in &mut self.a[..self.size] {
            for (unknowns, constraint) in self.unknowns.iter().zip(&contacts.constraints) {
                debug_assert!(
                    unknowns.first <= constraint.first,
                    "the unknowns begin at the rows of the contact or before them"
                );
                let projected = unknowns.project(&vector(column, constraint));
                column[unknowns.first..].iter_mut().zip(projected).take(unknowns.count).for_each(|(out, x)| *out = x);
            }
        }
        self.write_right_hand_side(contacts);
        let Self { a, unknowns, size, .. } = self;
        for ((unknowns, constraint), mode) in unknowns.iter().zip(&contacts.constraints).zip(&contacts.modes) {
            let Some(modes) = mode.parts() else { continue };
            for (row, kind) in unknowns.numbered() {
                match kind {
                    Unknown::Normal => a[row][row] += constraint.proximal[0],
                    Unknown::Stick { part } => a[row][row] += constraint.proximal[1 + part],
                    Unknown::Transverse { part } => {
                        let limit = Self::limit(contacts, constraint, part);
                        if limit > 0.0 {
                            a[row][row] += slip_speed(contacts, constraint, (part, &modes[part])).max(0.0) / limit;
                        } else {
                            // Without friction there is no slip direction to rotate.
                            a[..*size].iter_mut().for_each(|column| column[row] = 0.0);
                            a[row][row] = 1.0;
                        }
                    }
                }
            }
        }
    }

    /// Factors the matrix; without pivoting if it is symmetric, and thus positive definite up to rounding.
    fn factor(&mut self, contacts: &GeneralContacts) {
        let slips = contacts.modes.iter().take(contacts.constraints.len()).any(Mode::slips);
        if contacts.symmetric && !slips {
            if self.factors.factor_symmetric(&mut self.a[..self.size]) {
                return;
            }
            self.assemble(contacts);
        }
        self.factors.factor_with_pivoting(&mut self.a[..self.size]);
    }
}

/// Rows of a contact in a column.
fn vector(column: &Column, constraint: &Constraint) -> Vector {
    let mut x = [0.0; MAX_CONTACT_ROWS];
    x.iter_mut().zip(&column[constraint.range()]).for_each(|(x, value)| *x = *value);
    x
}

/// Slip speed e·u_k of a part.
fn slip_speed(contacts: &GeneralContacts, constraint: &Constraint, (part, mode): (usize, &PartMode)) -> f64 {
    let (PartMode::Slip(e), Some(part)) = (mode, constraint.parts.get(part)) else { return 0.0 };
    constraint.rows_of(part).zip(e).map(|(row, e)| contacts.u[row] * e).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_across_are_orthonormal() {
        let cases = [[0.6, 0.0, 0.8], [0.0, 0.0, -1.0], [0.48, -0.6, 0.64], [1.0, 0.0, 0.0], [0.0, -1.0, -0.0]];
        for e in cases {
            let [a, b] = orthogonal(&e, 3);
            let dot = |x: &[f64; 3], y: &[f64; 3]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            for (product, expected) in
                [(dot(&a, &a), 1.0), (dot(&b, &b), 1.0), (dot(&a, &b), 0.0), (dot(&a, &e), 0.0), (dot(&b, &e), 0.0)]
            {
                assert!((product - expected).abs() < 1e-15, "{e:?}: {a:?} {b:?}");
            }
        }
        assert_eq!(orthogonal(&[0.6, 0.8, 0.0], 2)[0], [-0.8, 0.6, 0.0]);
    }
}
