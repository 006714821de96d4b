//! The equations of one guess: u = 0 where contacts stick, u_N = 0 and u_T along e where they slip.   [SET-2]

use super::contacts::{Block, Contacts, Guess, MAX_CONTACTS};

const MAX_ROWS: usize = 3 * MAX_CONTACTS;

/// Added to the diagonal, relative to that of W: three feet that stick are redundant, as are four that slide, and of all
/// changes that stop them the shortest is taken. The step leaves this fraction of what it should stop.
const PROXIMAL: f64 = 1e-10;

/// A pivot below this fraction of the mean diagonal ends the step.
const VANISHED: f64 = 1e-14;

#[derive(Clone, Debug)]
pub(super) struct System {
    size: usize,
    /// The matrix, row by row, and the right side.
    a: [[f64; MAX_ROWS]; MAX_ROWS],
    b: [f64; MAX_ROWS],
    /// First row of each contact.
    first: [usize; MAX_CONTACTS],
}

impl Default for System {
    fn default() -> Self {
        Self { size: 0, a: [[0.0; MAX_ROWS]; MAX_ROWS], b: [0.0; MAX_ROWS], first: [0; MAX_CONTACTS] }
    }
}

/// Unknowns of a contact: its whole impulse, or load and turn of the direction, or nothing. Only two tangents have a direction to
/// turn.
fn unknowns(guess: &Guess, tangents: usize) -> usize {
    match guess {
        Guess::Open => 0,
        Guess::Stick => 1 + tangents,
        Guess::Slip(_) => tangents.max(1),
    }
}

impl System {
    /// One Newton step of all impulses under the present guess; false when the system is singular.
    pub(super) fn step(&mut self, contacts: &mut Contacts) -> bool {
        self.assemble(contacts);
        if !self.eliminate() {
            return false;
        }
        for i in 0..contacts.count() {
            let mut x = [0.0; 3];
            let width = unknowns(&contacts.guesses[i], contacts.tangents[i]);
            x.iter_mut().zip(self.b[self.first[i]..].iter().take(width)).for_each(|(x, b)| *x = *b);
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
        true
    }

    /// Rows Bᵢᵀ (u + Σ W_ij C_j x_j) = 0 with B, C = I where a contact sticks and, where it slips, B = (e_N, e⊥),
    /// C = (e_N − μ e, e⊥) and the slip multiplier λ = e·u_T / (μ r_N) on the turn.   [SET-2]
    fn assemble(&mut self, contacts: &Contacts) {
        let count = contacts.count();
        self.size = 0;
        let modes = contacts.guesses.iter().zip(&contacts.tangents);
        for (first, (guess, tangents)) in self.first.iter_mut().zip(modes).take(count) {
            *first = self.size;
            self.size += unknowns(guess, *tangents);
        }
        for i in 0..count {
            let (row, u, width) = (self.first[i], &contacts.u[i], unknowns(&contacts.guesses[i], contacts.tangents[i]));
            match contacts.guesses[i] {
                Guess::Open => continue,
                Guess::Stick => (0..width).for_each(|k| self.b[row + k] = -u[k]),
                Guess::Slip(e) => {
                    self.b[row] = -u[0];
                    (1..width).for_each(|k| self.b[row + k] = -(e[0] * u[2] - e[1] * u[1]));
                }
            }
            for j in 0..count {
                self.couple(contacts, i, j);
            }
            let diagonal = &contacts.w[i][i];
            let shift = PROXIMAL * (diagonal[0][0] + diagonal[1][1] + diagonal[2][2]) / 3.0;
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
                        self.b[row + 1] = 0.0;
                    }
                }
                Guess::Open => {}
            }
        }
    }

    fn couple(&mut self, contacts: &Contacts, i: usize, j: usize) {
        let (block, row, col): (&Block, _, _) = (&contacts.w[i][j], self.first[i], self.first[j]);
        let width = unknowns(&contacts.guesses[j], contacts.tangents[j]);
        // Columns first: W_ij C_j.
        let columns = match contacts.guesses[j] {
            Guess::Open => return,
            Guess::Stick => *block,
            Guess::Slip(e) => {
                let mu = contacts.mu[j];
                let load = |w: &[f64; 3]| w[0] - mu * (w[1] * e[0] + w[2] * e[1]);
                block.map(|w| [load(&w), w[2] * e[0] - w[1] * e[1], 0.0])
            }
        };
        let mut put = |k: usize, values: [f64; 3]| {
            self.a[row + k][col..col + width].iter_mut().zip(values).for_each(|(a, value)| *a = value);
        };
        match contacts.guesses[i] {
            Guess::Stick => (0..=contacts.tangents[i]).for_each(|k| put(k, columns[k])),
            Guess::Slip(_) if contacts.tangents[i] < 2 => put(0, columns[0]),
            Guess::Slip(e) => {
                put(0, columns[0]);
                put(1, std::array::from_fn(|c| e[0] * columns[2][c] - e[1] * columns[1][c]));
            }
            Guess::Open => {}
        }
    }

    /// b ← A⁻¹ b by elimination with row exchanges.
    fn eliminate(&mut self) -> bool {
        let n = self.size;
        let (a, b) = (&mut self.a[..n], &mut self.b[..n]);
        let mean = (0..n).map(|k| a[k][k].abs()).sum::<f64>() / n.max(1) as f64;
        for k in 0..n {
            let pivot = (k + 1..n).fold(k, |best, i| if a[i][k].abs() > a[best][k].abs() { i } else { best });
            let (upper, lower) = a.split_at_mut(k + 1);
            if pivot != k {
                // Columns before k are done with.
                upper[k][k..n].swap_with_slice(&mut lower[pivot - k - 1][k..n]);
                b.swap(k, pivot);
            }
            let head = &upper[k][k..n];
            if head[0].abs() <= VANISHED * mean || head[0].is_nan() {
                return false;
            }
            let inverse = 1.0 / head[0];
            let (known, rest) = b.split_at_mut(k + 1);
            for (row, b) in lower.iter_mut().zip(rest) {
                let factor = row[k] * inverse;
                if factor != 0.0 {
                    row[k + 1..n].iter_mut().zip(&head[1..]).for_each(|(x, h)| *x -= factor * h);
                    *b -= factor * known[k];
                }
            }
        }
        for k in (0..n).rev() {
            let (known, solved) = b.split_at_mut(k + 1);
            let sum: f64 = a[k][k + 1..n].iter().zip(&*solved).map(|(a, x)| a * x).sum();
            known[k] = (known[k] - sum) / a[k][k];
        }
        b.iter().all(|x| x.is_finite())
    }
}
