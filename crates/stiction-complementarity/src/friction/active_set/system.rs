//! Equations of one active set: u = 0 for sticking contacts; u_N = 0 and u_T along e for slipping ones.   [SET-2]

use super::contacts::{Contacts, Mode};
use super::factors::Factors;
use super::sizes::{Column, LANES, MAX_CONTACTS, MAX_ROWS};

/// Linear system of a Newton step with fixed modes.
#[derive(Clone, Debug)]
pub(super) struct System {
    size: usize,
    /// Matrix by columns; after factorisation it holds one of the factors.
    a: Vec<Column>,
    factors: Factors,
    /// Right-hand side, and then the solution.
    b: Column,
    /// Unknowns of each contact.
    unknowns: [Unknowns; MAX_CONTACTS],
}

/// Range of the unknowns of a contact.
#[derive(Clone, Copy, Debug, Default)]
struct Unknowns {
    first: usize,
    count: usize,
}

impl Default for System {
    fn default() -> Self {
        Self {
            size: 0,
            a: vec![[0.0; MAX_ROWS]; MAX_ROWS],
            factors: Factors::default(),
            b: [0.0; MAX_ROWS],
            unknowns: [Unknowns::default(); MAX_CONTACTS],
        }
    }
}

/// Number of unknowns of a contact: the increments of its impulse if it sticks; those of the normal impulse and of the transverse impulse if it slips.
///
/// The transverse impulse increment μ r_N δθ is across the slip direction and rotates it by δθ. With one tangent there is none.
fn unknown_count(mode: &Mode, tangents: usize) -> usize {
    match mode {
        Mode::Held | Mode::Upper => 0,
        Mode::Stick => 1 + tangents,
        Mode::Slip(_) => tangents.max(1),
    }
}

impl System {
    /// Makes one Newton step of all impulses with the present modes; returns false if the system is singular.
    pub(super) fn step(&mut self, contacts: &mut Contacts) -> bool {
        self.assemble(contacts);
        self.factor(contacts);
        let solved = self.factors.solve(&self.a[..self.size], &mut self.b);
        if solved {
            self.apply_step(contacts);
        }
        solved
    }

    /// Invalidates the factors.
    pub(super) fn clear_factors(&mut self) {
        self.factors.clear();
    }

    /// Repeats the step with the factors of the last one, which removes the errors of rounding and of the proximal term.
    ///
    /// Returns false if there are no factors or the result is not finite.
    pub(super) fn refine(&mut self, contacts: &mut Contacts) -> bool {
        for i in 0..contacts.count() {
            self.write_right_hand_side(contacts, i);
        }
        let solved = self.factors.solve(&self.a[..self.size], &mut self.b);
        if solved {
            self.apply_step(contacts);
        }
        solved
    }

    /// Adds the solution in `b` to the impulses.
    fn apply_step(&self, contacts: &mut Contacts) {
        for i in 0..contacts.count() {
            let Unknowns { first, count } = self.unknowns[i];
            let x = match self.b[first..first + count] {
                [n, s, t] => [n, s, t],
                [n, s] => [n, s, 0.0],
                [n] => [n, 0.0, 0.0],
                _ => continue,
            };
            let r = &mut contacts.r[i];
            match (contacts.modes[i], x) {
                (Mode::Stick, [n, s, t]) => *r = [r[0] + n, r[1] + s, r[2] + t],
                (Mode::Slip(e), [dn, transverse, _]) => {
                    let mu = contacts.mu[i];
                    let limit = mu * r[0];
                    let angle = if limit > 0.0 { transverse / limit } else { 0.0 };
                    let rotated = [e[0] + angle * e[1], e[1] - angle * e[0]];
                    let length = (1.0 + angle * angle).sqrt();
                    let normal = r[0] + dn;
                    let factor = -mu * normal.max(0.0) / length;
                    *r = [normal, factor * rotated[0], factor * rotated[1]];
                }
                _ => {}
            }
        }
        contacts.refresh();
    }

    /// Writes the right-hand side −Bᵢᵀ u of contact i.   [SET-2]
    fn write_right_hand_side(&mut self, contacts: &Contacts, i: usize) {
        let (Unknowns { first: row, count }, u) = (self.unknowns[i], &contacts.u[i]);
        match contacts.modes[i] {
            Mode::Held | Mode::Upper => {}
            Mode::Stick => (0..count).for_each(|k| self.b[row + k] = -u[k]),
            Mode::Slip(e) => {
                self.b[row] = -u[0];
                let rotates = contacts.mu[i] * contacts.r[i][0] > 0.0;
                (1..count).for_each(|k| self.b[row + k] = if rotates { e[1] * u[1] - e[0] * u[2] } else { 0.0 });
            }
        }
    }

    /// Assembles the rows Bᵢᵀ (u + Σ W_ij C_j x_j) = 0.   [SET-2]
    ///
    /// B = C = I if the contact sticks. If it slips, B = (e_N, e⊥), C = (e_N − μ e, e⊥), and the slip multiplier λ = e·u_T / (μ r_N) is
    /// added to the diagonal entry of the transverse increment.
    fn assemble(&mut self, contacts: &Contacts) {
        let contact_count = contacts.count();
        self.size = 0;
        let modes = contacts.modes.iter().zip(&contacts.tangents);
        for (unknowns, (mode, tangents)) in self.unknowns.iter_mut().zip(modes).take(contact_count) {
            *unknowns = Unknowns { first: self.size, count: unknown_count(mode, *tangents) };
            self.size += unknowns.count;
        }
        debug_assert!(self.size <= contacts.rows(), "a contact has at most as many unknowns as rows");
        (0..contact_count).for_each(|j| self.write_columns(contacts, j));
        if self.size < contacts.rows() {
            self.project_rows(contacts);
        }
        for i in 0..contact_count {
            let (Unknowns { first: row, count }, u) = (self.unknowns[i], &contacts.u[i]);
            if count == 0 {
                continue;
            }
            self.write_right_hand_side(contacts, i);
            let proximal = contacts.proximal[i];
            match contacts.modes[i] {
                Mode::Stick => (0..count).for_each(|k| self.a[row + k][row + k] += proximal),
                Mode::Slip(_) if count == 1 => self.a[row][row] += proximal,
                Mode::Slip(e) => {
                    self.a[row][row] += proximal;
                    let limit = contacts.mu[i] * contacts.r[i][0];
                    let speed = (e[0] * u[1] + e[1] * u[2]).max(0.0);
                    if limit > 0.0 {
                        self.a[row + 1][row + 1] += speed / limit;
                    } else {
                        // Without friction there is no slip direction to rotate.
                        self.a[..self.size].iter_mut().for_each(|column| column[row + 1] = 0.0);
                        self.a[row + 1][row + 1] = 1.0;
                    }
                }
                Mode::Held | Mode::Upper => {}
            }
        }
    }

    /// Writes the columns W C_j of contact j.   [SET-2]
    fn write_columns(&mut self, contacts: &Contacts, j: usize) {
        let (Unknowns { first, count }, mu, rows) = (self.unknowns[j], contacts.mu[j], contacts.padded_rows());
        let out = &mut self.a[first..first + count];
        match (contacts.modes[j], &contacts.w[contacts.first[j]..=contacts.first[j] + contacts.tangents[j]], out) {
            (Mode::Held | Mode::Upper, ..) => {}
            (Mode::Slip(e), [n, s, t], [normal, transverse]) => {
                let (n, s, t) = (&n[..rows], &s[..rows], &t[..rows]);
                let columns = n.iter().zip(s).zip(t).zip(&mut normal[..rows]).zip(&mut transverse[..rows]);
                for ((((n, s), t), normal), transverse) in columns {
                    *normal = n - mu * (s * e[0] + t * e[1]);
                    *transverse = t * e[0] - s * e[1];
                }
            }
            (Mode::Slip(e), [n, s], [normal]) => {
                let columns = n[..rows].iter().zip(&s[..rows]).zip(&mut normal[..rows]);
                columns.for_each(|((n, s), normal)| *normal = n - mu * (s * e[0]));
            }
            (_, columns, out) => out.iter_mut().zip(columns).for_each(|(out, column)| copy_rows(column, out, rows)),
        }
    }

    /// Replaces the rows of each contact by Bᵢᵀ times them, in place: they move to the same position or to one before.   [SET-2]
    fn project_rows(&mut self, contacts: &Contacts) {
        let columns = &mut self.a[..self.size];
        for (i, &Unknowns { first, count }) in self.unknowns.iter().enumerate().take(contacts.count()) {
            let row = contacts.first[i];
            debug_assert!(first <= row, "the unknowns of a contact begin at its rows or before them");
            match (contacts.modes[i], count) {
                (_, 0) => {}
                (Mode::Slip(e), 2) => {
                    for column in &mut *columns {
                        let across = e[0] * column[row + 2] - e[1] * column[row + 1];
                        (column[first], column[first + 1]) = (column[row], across);
                    }
                }
                _ if first == row => {}
                (_, 3) => columns.iter_mut().for_each(|column| shift_rows::<3>(column, row, first)),
                (_, 2) => columns.iter_mut().for_each(|column| shift_rows::<2>(column, row, first)),
                _ => columns.iter_mut().for_each(|column| column[first] = column[row]),
            }
        }
    }

    /// Factors the matrix; without pivoting if it is symmetric, and thus positive definite up to rounding.
    fn factor(&mut self, contacts: &Contacts) {
        if contacts.is_symmetric() && !contacts.slips() {
            if self.factors.factor_symmetric(&mut self.a[..self.size]) {
                return;
            }
            self.assemble(contacts);
        }
        self.factors.factor_with_pivoting(&mut self.a[..self.size]);
    }
}

/// Copies N entries of a column to a position before them.
#[inline]
fn shift_rows<const N: usize>(column: &mut Column, from: usize, to: usize) {
    let Some(entries) = column[from..].first_chunk::<N>().copied() else {
        debug_assert!(false, "a column has {N} rows from row {from} on");
        return;
    };
    column[to..to + N].copy_from_slice(&entries);
}

/// Copies the rows of all contacts of a column; `rows` is a multiple of LANES.
#[inline]
fn copy_rows(from: &Column, to: &mut Column, rows: usize) {
    debug_assert_eq!(rows % LANES, 0, "rows are padded to whole chunks");
    let lanes = from.as_chunks::<LANES>().0.iter().zip(to.as_chunks_mut::<LANES>().0);
    lanes.take(rows / LANES).for_each(|(from, to)| *to = *from);
}
