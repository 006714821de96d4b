//! The equations of one guess: u = 0 where contacts stick, u_N = 0 and u_T along e where they slip.   [SET-2]

use super::contacts::{Column, Contacts, LANES, MAX_CONTACTS, MAX_ROWS};
use super::factors::Factors;
use super::guess::Guess;

#[derive(Clone, Debug)]
pub(super) struct System {
    size: usize,
    /// The matrix, column by column; what is left of it when it was factored belongs to the factors.
    a: Vec<Column>,
    factors: Factors,
    /// The right side, and then the solution.
    b: Column,
    /// Rows and columns of each contact.
    spans: [Span; MAX_CONTACTS],
}

/// The first unknown of a contact, and how many it has.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    first: usize,
    width: usize,
}

impl Default for System {
    fn default() -> Self {
        Self {
            size: 0,
            a: vec![[0.0; MAX_ROWS]; MAX_ROWS],
            factors: Factors::default(),
            b: [0.0; MAX_ROWS],
            spans: [Span::default(); MAX_CONTACTS],
        }
    }
}

/// Unknowns of a contact: its whole impulse, or load and turn of the direction, or nothing. Only two tangents have a direction to
/// turn.
fn unknowns(guess: &Guess, tangents: usize) -> usize {
    match guess {
        Guess::Open | Guess::Upper => 0,
        Guess::Stick => 1 + tangents,
        Guess::Slip(_) => tangents.max(1),
    }
}

impl System {
    /// One Newton step of all impulses under the present guess; false when the system is singular.
    pub(super) fn step(&mut self, contacts: &mut Contacts) -> bool {
        self.assemble(contacts);
        self.factor(contacts);
        let solved = self.factors.solve(&self.a[..self.size], &mut self.b);
        if solved {
            self.move_impulses(contacts);
        }
        solved
    }

    /// The factors belong to no guess any more.
    pub(super) fn forget(&mut self) {
        self.factors.forget();
    }

    /// Another step with the matrix of the last one, for what rounding and the shift of its diagonal left; false where there is none, or it does not help.
    pub(super) fn correct(&mut self, contacts: &mut Contacts) -> bool {
        for i in 0..contacts.count() {
            self.write_right_side(contacts, i);
        }
        let solved = self.factors.solve(&self.a[..self.size], &mut self.b);
        if solved {
            self.move_impulses(contacts);
        }
        solved
    }

    /// Takes the solution in `b` for the change of impulses.
    fn move_impulses(&self, contacts: &mut Contacts) {
        for i in 0..contacts.count() {
            let Span { first, width } = self.spans[i];
            let x = match self.b[first..first + width] {
                [n, s, t] => [n, s, t],
                [n, s] => [n, s, 0.0],
                [n] => [n, 0.0, 0.0],
                _ => continue,
            };
            let r = &mut contacts.r[i];
            match (contacts.guesses[i], x) {
                (Guess::Stick, [n, s, t]) => *r = [r[0] + n, r[1] + s, r[2] + t],
                (Guess::Slip(e), [load, turn, _]) => {
                    let mu = contacts.mu[i];
                    let limit = mu * r[0];
                    let angle = if limit > 0.0 { turn / limit } else { 0.0 };
                    let turned = [e[0] + angle * e[1], e[1] - angle * e[0]];
                    let length = (1.0 + angle * angle).sqrt();
                    let normal = r[0] + load;
                    let factor = -mu * normal.max(0.0) / length;
                    *r = [normal, factor * turned[0], factor * turned[1]];
                }
                _ => {}
            }
        }
        contacts.refresh();
    }

    /// −Bᵢᵀ u.
    fn write_right_side(&mut self, contacts: &Contacts, i: usize) {
        let (Span { first: row, width }, u) = (self.spans[i], &contacts.u[i]);
        match contacts.guesses[i] {
            Guess::Open | Guess::Upper => {}
            Guess::Stick => (0..width).for_each(|k| self.b[row + k] = -u[k]),
            Guess::Slip(e) => {
                self.b[row] = -u[0];
                let turns = contacts.mu[i] * contacts.r[i][0] > 0.0;
                (1..width).for_each(|k| self.b[row + k] = if turns { e[1] * u[1] - e[0] * u[2] } else { 0.0 });
            }
        }
    }

    /// Rows Bᵢᵀ (u + Σ W_ij C_j x_j) = 0 with B, C = I where a contact sticks and, where it slips, B = (e_N, e⊥),
    /// C = (e_N − μ e, e⊥) and the slip multiplier λ = e·u_T / (μ r_N) on the turn.   [SET-2]
    fn assemble(&mut self, contacts: &Contacts) {
        let count = contacts.count();
        self.size = 0;
        let modes = contacts.guesses.iter().zip(&contacts.tangents);
        for (span, (guess, tangents)) in self.spans.iter_mut().zip(modes).take(count) {
            *span = Span { first: self.size, width: unknowns(guess, *tangents) };
            self.size += span.width;
        }
        (0..count).for_each(|j| self.write_columns(contacts, j));
        if self.size < contacts.rows() {
            self.narrow(contacts);
        }
        for i in 0..count {
            let (Span { first: row, width }, u) = (self.spans[i], &contacts.u[i]);
            if width == 0 {
                continue;
            }
            self.write_right_side(contacts, i);
            let shift = contacts.shifts[i];
            match contacts.guesses[i] {
                Guess::Stick => (0..width).for_each(|k| self.a[row + k][row + k] += shift),
                Guess::Slip(_) if width == 1 => self.a[row][row] += shift,
                Guess::Slip(e) => {
                    self.a[row][row] += shift;
                    let limit = contacts.mu[i] * contacts.r[i][0];
                    let speed = (e[0] * u[1] + e[1] * u[2]).max(0.0);
                    if limit > 0.0 {
                        self.a[row + 1][row + 1] += speed / limit;
                    } else {
                        // Without friction there is no direction to turn.
                        self.a[..self.size].iter_mut().for_each(|column| column[row + 1] = 0.0);
                        self.a[row + 1][row + 1] = 1.0;
                    }
                }
                Guess::Open | Guess::Upper => {}
            }
        }
    }

    /// Columns W C_j of contact j.
    fn write_columns(&mut self, contacts: &Contacts, j: usize) {
        let (Span { first, width }, mu, rows) = (self.spans[j], contacts.mu[j], contacts.lanes());
        let out = &mut self.a[first..first + width];
        match (contacts.guesses[j], &contacts.w[contacts.first[j]..=contacts.first[j] + contacts.tangents[j]], out) {
            (Guess::Open | Guess::Upper, ..) => {}
            (Guess::Slip(e), [n, s, t], [load, turn]) => {
                let (n, s, t) = (&n[..rows], &s[..rows], &t[..rows]);
                let columns = n.iter().zip(s).zip(t).zip(&mut load[..rows]).zip(&mut turn[..rows]);
                for ((((n, s), t), load), turn) in columns {
                    *load = n - mu * (s * e[0] + t * e[1]);
                    *turn = t * e[0] - s * e[1];
                }
            }
            (Guess::Slip(e), [n, s], [load]) => {
                let columns = n[..rows].iter().zip(&s[..rows]).zip(&mut load[..rows]);
                columns.for_each(|((n, s), load)| *load = n - mu * (s * e[0]));
            }
            (_, columns, out) => out.iter_mut().zip(columns).for_each(|(out, column)| copy_lanes(column, out, rows)),
        }
    }

    /// Rows Bᵢᵀ of the columns in place of theirs: those of a contact come to stand at or before where they were.
    fn narrow(&mut self, contacts: &Contacts) {
        let columns = &mut self.a[..self.size];
        for (i, &Span { first, width }) in self.spans.iter().enumerate().take(contacts.count()) {
            let row = contacts.first[i];
            match (contacts.guesses[i], width) {
                (_, 0) => {}
                (Guess::Slip(e), 2) => {
                    for column in &mut *columns {
                        let across = e[0] * column[row + 2] - e[1] * column[row + 1];
                        (column[first], column[first + 1]) = (column[row], across);
                    }
                }
                _ if first == row => {}
                (_, 3) => columns.iter_mut().for_each(|column| move_up::<3>(column, row, first)),
                (_, 2) => columns.iter_mut().for_each(|column| move_up::<2>(column, row, first)),
                _ => columns.iter_mut().for_each(|column| column[first] = column[row]),
            }
        }
    }

    /// Factors the matrix; without exchanges where it is symmetric, and so positive definite but for rounding.
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

/// Moves N numbers of a column to a place before theirs.
#[inline]
fn move_up<const N: usize>(column: &mut Column, from: usize, to: usize) {
    let Some(numbers) = column[from..].first_chunk::<N>().copied() else { return };
    column[to..to + N].copy_from_slice(&numbers);
}

/// The rows of all contacts of a column.
#[inline]
fn copy_lanes(from: &Column, to: &mut Column, rows: usize) {
    let lanes = from.as_chunks::<LANES>().0.iter().zip(to.as_chunks_mut::<LANES>().0);
    lanes.take(rows / LANES).for_each(|(from, to)| *to = *from);
}
