//! The equations of one guess: u = 0 where contacts stick, u_N = 0 and u_T along e where they slip.   [SET-2]

use super::contacts::{Column, Contacts, Guess, MAX_CONTACTS, MAX_ROWS};

/// Added to the diagonal, relative to that of W: three feet that stick are redundant, as are four that slide, and of all
/// changes that stop them the shortest is taken. The step leaves this fraction of what it should stop.
const PROXIMAL: f64 = 1e-10;

/// A pivot below this fraction of the mean diagonal ends the step.
const VANISHED: f64 = 1e-14;

/// Room in a row: what is done to its last columns is done to a few more, which mean nothing.
const ROOM: usize = MAX_ROWS + 8;

/// A row of the matrix.
type Row = [f64; ROOM];

#[derive(Clone, Debug)]
pub(super) struct System {
    size: usize,
    /// The columns of W C.
    columns: Vec<Column>,
    /// The matrix, row by row, and then its factors: U from the diagonal on, and before it L, without its diagonal of ones. What stands beyond `size` means
    /// nothing.
    a: Vec<Row>,
    /// The right side, and then the solution.
    b: [f64; MAX_ROWS],
    /// The row that came to each place.
    exchanges: [usize; MAX_ROWS],
    /// Rows and columns of each contact.
    spans: [Span; MAX_CONTACTS],
    /// Whether the factors are those of the last guess.
    is_factored: bool,
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
            columns: vec![[0.0; MAX_ROWS]; MAX_ROWS],
            a: vec![[0.0; ROOM]; MAX_ROWS],
            b: [0.0; MAX_ROWS],
            exchanges: [0; MAX_ROWS],
            spans: [Span::default(); MAX_CONTACTS],
            is_factored: false,
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
        self.is_factored = false;
        let solved = self.eliminate();
        self.is_factored = solved;
        if solved {
            self.move_impulses(contacts);
        }
        solved
    }

    /// The factors belong to no guess any more.
    pub(super) fn forget(&mut self) {
        self.is_factored = false;
    }

    /// Another step with the matrix of the last one, for what rounding and the shift of its diagonal left; false where there is none, or it does not help.
    pub(super) fn correct(&mut self, contacts: &mut Contacts) -> bool {
        if !self.is_factored {
            return false;
        }
        for i in 0..contacts.count() {
            self.write_right_side(contacts, i);
        }
        self.solve_again();
        if !self.b[..self.size].iter().all(|x| x.is_finite()) {
            return false;
        }
        self.move_impulses(contacts);
        true
    }

    /// Takes the solution in `b` for the change of impulses.
    fn move_impulses(&self, contacts: &mut Contacts) {
        for i in 0..contacts.count() {
            let Span { first, width } = self.spans[i];
            let mut x = [0.0; 3];
            x.iter_mut().zip(&self.b[first..first + width]).for_each(|(x, b)| *x = *b);
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
        for i in 0..count {
            let (Span { first: row, width }, u) = (self.spans[i], &contacts.u[i]);
            if width == 0 {
                continue;
            }
            self.write_right_side(contacts, i);
            self.write_rows(contacts, i);
            let diagonal = contacts.diagonal(i);
            let shift = PROXIMAL * (diagonal[0] + diagonal[1] + diagonal[2]) / 3.0;
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
                        self.a[row + 1][..self.size].fill(0.0);
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
        let out = &mut self.columns[first..first + width];
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
            (_, columns, out) => {
                out.iter_mut().zip(columns).for_each(|(out, column)| out[..rows].copy_from_slice(&column[..rows]));
            }
        }
    }

    /// Rows Bᵢᵀ of contact i of these columns.
    fn write_rows(&mut self, contacts: &Contacts, i: usize) {
        let (Span { first, width }, row) = (self.spans[i], contacts.first[i]);
        let (rows, columns) = (&mut self.a[first..first + width], &self.columns[..self.size]);
        match (contacts.guesses[i], rows) {
            (Guess::Slip(e), [load, turn]) => {
                load.iter_mut().zip(columns).for_each(|(a, column)| *a = column[row]);
                let across = |column: &Column| e[0] * column[row + 2] - e[1] * column[row + 1];
                turn.iter_mut().zip(columns).for_each(|(a, column)| *a = across(column));
            }
            (_, rows) => {
                for (k, out) in (row..).zip(rows) {
                    out.iter_mut().zip(columns).for_each(|(a, column)| *a = column[k]);
                }
            }
        }
    }

    /// b ← A⁻¹ b by elimination with row exchanges.
    fn eliminate(&mut self) -> bool {
        let n = self.size;
        let (a, b) = (&mut self.a[..n], &mut self.b[..n]);
        let mean = (0..n).map(|k| a[k][k].abs()).sum::<f64>() / n.max(1) as f64;
        for k in 0..n {
            let (upper, lower) = a.split_at_mut(k + 1);
            let Some(head) = upper.last_mut() else { return false };
            let (mut pivot, mut largest) = (None, head[k].abs());
            for (i, row) in lower.iter().enumerate() {
                if row[k].abs() > largest {
                    (pivot, largest) = (Some(i), row[k].abs());
                }
            }
            if let Some(pivot) = pivot {
                head[..n].swap_with_slice(&mut lower[pivot][..n]);
                b.swap(k, k + 1 + pivot);
            }
            self.exchanges[k] = pivot.map_or(k, |pivot| k + 1 + pivot);
            if head[k].abs() <= VANISHED * mean || head[k].is_nan() {
                return false;
            }
            let (known, rest) = b.split_at_mut(k + 1);
            let (head, rows) = ((&*head, known[k]), lower.iter_mut().zip(rest));
            // Fixed lengths are much faster than the number of columns that are left.
            match n - k - 1 {
                0..=4 => subtract::<4>(k, head, rows),
                5..=8 => subtract::<8>(k, head, rows),
                9..=12 => subtract::<12>(k, head, rows),
                13..=16 => subtract::<16>(k, head, rows),
                17..=20 => subtract::<20>(k, head, rows),
                21..=24 => subtract::<24>(k, head, rows),
                25..=32 => subtract::<32>(k, head, rows),
                33..=40 => subtract::<40>(k, head, rows),
                41..=48 => subtract::<48>(k, head, rows),
                49..=56 => subtract::<56>(k, head, rows),
                57..=64 => subtract::<64>(k, head, rows),
                _ => subtract::<MAX_ROWS>(k, head, rows),
            }
        }
        self.substitute();
        self.b[..n].iter().all(|x| x.is_finite())
    }

    /// b ← A⁻¹ b with the factors of the last elimination.
    fn solve_again(&mut self) {
        let n = self.size;
        let b = &mut self.b[..n];
        (0..n).for_each(|k| b.swap(k, self.exchanges[k]));
        for i in 0..n {
            let (known, rest) = b.split_at_mut(i);
            let sum: f64 = self.a[i][..i].iter().zip(&*known).map(|(l, x)| l * x).sum();
            rest[0] -= sum;
        }
        self.substitute();
    }

    /// The second half of a solution: from the last unknown to the first.
    fn substitute(&mut self) {
        let (n, a) = (self.size, &self.a);
        let b = &mut self.b[..n];
        for k in (0..n).rev() {
            let (known, solved) = b.split_at_mut(k + 1);
            let sum: f64 = a[k][k + 1..n].iter().zip(&*solved).map(|(a, x)| a * x).sum();
            known[k] = (known[k] - sum) / a[k][k];
        }
    }
}

/// Takes the multiple of the row `head` from each of the others, and of its right side from theirs, that leaves nothing in column k, and puts the factor there;
/// of the columns behind it N are treated, at least as many as there are.
#[inline]
fn subtract<'a, const N: usize>(
    k: usize,
    (head, known): (&Row, f64),
    rows: impl Iterator<Item = (&'a mut Row, &'a mut f64)>,
) {
    let inverse = 1.0 / head[k];
    let Some(head) = head[k + 1..].first_chunk::<N>() else { return };
    for (row, b) in rows {
        let Some((factor, row)) = row[k..].split_first_mut() else { return };
        *factor *= inverse;
        if let (factor, Some(row)) = (*factor, row.first_chunk_mut::<N>())
            && factor != 0.0
        {
            row.iter_mut().zip(head).for_each(|(x, h)| *x -= factor * h);
            *b -= factor * known;
        }
    }
}
