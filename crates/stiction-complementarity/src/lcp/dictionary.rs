//! Dictionary of Lemke's method: each basic variable as an affine function of the nonbasic ones.   [LCP-3]
//!
//! It reads x_B = value − fall · x_N, with the covering variable z₀ of S w = S (M z + q) + d z₀.
//!
//! The basis is stored as a product of elementary matrices, one per pivot, and only the needed columns and rows are computed
//! [LCP-19]. A pivot costs n times the pivots so far; a tableau costs n² per pivot. Degeneracy is resolved lexicographically
//! [LCP-4]. Ties and zeros are decided relative to `size`, the largest past value of a variable, so they do not depend on
//! units.

use super::Lcp;

/// φ − 1, whose multiples modulo one are evenly distributed and never repeat.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_8;

/// Largest number of pivots in a product for n rows; then the basis is factorised again.
fn most_pivots(n: usize) -> usize {
    n + n / 2 + 20
}

/// A variable of S w = S (M z + q) + d z₀.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    W(usize),
    Z(usize),
    Cover,
}

/// Result of the ratio test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    Row(usize),
    /// No basic variable decreases: the entering variable is unbounded.
    Ray,
    /// The entering column holds overflowed numbers.
    NotFinite,
}

/// Settings of one path: the tolerances of `LcpLemkeOptions` and the covering vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathSettings {
    pub(super) tie: f64,
    pub(super) pivot: f64,
    /// Deviation of the covering vector from e: d_i = 1 + tilt · frac((i + shift) φ) with the golden ratio φ.   [LCP-3]
    pub(super) tilt: f64,
    pub(super) shift: u16,
}

/// One pivot with the column `y` of the entering variable: the row of the leaving variable.   [LCP-19]
#[derive(Clone, Copy, Debug)]
struct Elementary {
    row: usize,
    /// 1 / y_row.
    inverse: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary {
    scales: Vec<f64>,
    cover: Vec<f64>,
    /// Pivots since the last refactorisation, and their columns one after the other.
    pivots: Vec<Elementary>,
    columns: Vec<f64>,
    value: Vec<f64>,
    /// Largest value of each basic variable since it became basic; for a w at least the first z₀.
    size: Vec<f64>,
    basic: Vec<Variable>,
    /// First value of z₀, which is about the amount added to every w at the start.
    first_cover: f64,
    /// Entering column: the rate at which each basic variable decreases.
    fall: Vec<f64>,
    tied: Vec<usize>,
    /// The two rows of B⁻¹ that are compared, and the indices of their possibly nonzero entries.
    rows: [Vec<f64>; 2],
    support: Vec<usize>,
    /// Copies of (variable, value, size) during a refactorisation of the basis.
    moved: Vec<(Variable, f64, f64)>,
    taken: Vec<bool>,
}

impl Dictionary {
    /// Starts from the basis of all w: S w = S q + S M z + d z₀ with the row scales S.   [LCP-3]
    pub(super) fn start(&mut self, problem: &Lcp, settings: PathSettings) {
        let n = problem.size();
        self.scales.clear();
        self.scales.extend((0..n).map(|i| row_scale(problem.m().row(i))));
        self.cover.clear();
        let tilt = |i: usize| settings.tilt * ((i as f64 + f64::from(settings.shift)) * GOLDEN_RATIO).fract();
        self.cover.extend((0..n).map(|i| 1.0 + tilt(i)));
        self.value.clear();
        self.value.extend(problem.q().iter().zip(&self.scales).map(|(q, scale)| scale * q));
        self.size.clear();
        self.size.extend(self.value.iter().map(|value| value.abs()));
        self.basic.clear();
        self.basic.extend((0..n).map(Variable::W));
        self.first_cover = 0.0;
        self.reserve(n);
    }

    /// Clears the other lists and reserves memory for any path of this size.
    fn reserve(&mut self, n: usize) {
        self.pivots.clear();
        self.pivots.reserve(most_pivots(n));
        self.columns.clear();
        self.columns.reserve(most_pivots(n) * n);
        for scratch in [&mut self.tied, &mut self.support] {
            scratch.clear();
            scratch.reserve(n);
        }
        for scratch in self.rows.iter_mut().chain([&mut self.fall]) {
            scratch.clear();
            scratch.reserve(n);
        }
        self.moved.clear();
        self.moved.reserve(n);
        self.taken.clear();
        self.taken.reserve(n);
    }

    /// Leaving row of the first pivot, in which z₀ enters: the least q_i / d_i.
    ///
    /// Of ties the last one is taken, so that all rows become lexicographically positive.
    pub(super) fn first_leaving(&mut self, problem: &Lcp, settings: PathSettings) -> usize {
        self.enter(problem, Variable::Cover);
        let ratios = || self.value.iter().zip(&self.cover).map(|(value, cover)| value / cover);
        let least = ratios().fold(f64::INFINITY, f64::min);
        ratios().rposition(|ratio| ratio - least <= settings.tie * least.abs()).unwrap_or(0)
    }

    /// The basic variable of each row, with its value.
    pub(super) fn basic_values(&self) -> impl Iterator<Item = (Variable, f64)> + '_ {
        self.basic.iter().copied().zip(self.value.iter().copied())
    }

    /// The basic variable of a row.
    pub(super) fn basic(&self, row: usize) -> Variable {
        self.basic[row]
    }

    /// The value of the basic variable of a row.
    pub(super) fn value(&self, row: usize) -> f64 {
        self.value[row]
    }

    /// fall ← B⁻¹ a of a nonbasic variable, where S w − S M z − d z₀ = S q has the columns a.   [LCP-19]
    fn enter(&mut self, problem: &Lcp, entering: Variable) {
        let (n, fall) = (problem.size(), &mut self.fall);
        fall.clear();
        match entering {
            Variable::W(i) => {
                fall.resize(n, 0.0);
                fall[i] = 1.0;
            }
            Variable::Z(j) => {
                let column = problem.m().as_slice().iter().skip(j).step_by(n);
                fall.extend(column.zip(&self.scales).map(|(m, scale)| -scale * m));
            }
            Variable::Cover => fall.extend(self.cover.iter().map(|d| -d)),
        }
        debug_assert_eq!(self.columns.len(), self.pivots.len() * n, "one column per pivot");
        debug_assert_eq!(fall.len(), n, "one rate per basic variable");
        for (pivot, y) in self.pivots.iter().zip(self.columns.chunks_exact(n.max(1))) {
            let quotient = fall[pivot.row] * pivot.inverse;
            if quotient != 0.0 {
                subtract_multiple(fall, quotient, y);
                fall[pivot.row] = quotient;
            }
        }
    }

    /// Lexicographic ratio test for the entering variable; z₀ leaves if it is among the ties.   [LCP-4]
    pub(super) fn leaving(&mut self, problem: &Lcp, entering: Variable, settings: PathSettings) -> Leaving {
        self.enter(problem, entering);
        let total: f64 = self.fall.iter().map(|a| a.abs()).sum();
        if !total.is_finite() {
            return Leaving::NotFinite;
        }
        let threshold = settings.pivot * self.fall.iter().fold(0.0, |size: f64, a| size.max(a.abs()));
        let falling = |&(_, fall): &(usize, f64)| fall > threshold;
        let mut first: Option<(usize, f64)> = None;
        for (i, fall) in self.fall.iter().copied().enumerate().filter(falling) {
            let ratio = self.value[i] / fall;
            if first.is_none_or(|(_, least)| ratio < least) {
                first = Some((i, ratio));
            }
        }
        let Some((least_row, least)) = first else { return Leaving::Ray };
        self.tied.clear();
        for (i, fall) in self.fall.iter().copied().enumerate().filter(falling) {
            let rest = self.value[i] - least * fall;
            if rest <= settings.tie * self.size[i] {
                if self.basic[i] == Variable::Cover {
                    return Leaving::Row(i);
                }
                self.tied.push(i);
            }
        }
        Leaving::Row(self.lexicographically_least(least_row, settings))
    }

    /// Direction of z while the variable `entering` of the last ratio test increases.
    pub(super) fn ray_into(&self, entering: Variable, ray: &mut Vec<f64>) {
        debug_assert_eq!(self.fall.len(), self.basic.len(), "one rate per basic variable");
        ray.clear();
        ray.resize(self.value.len(), 0.0);
        for (fall, variable) in self.fall.iter().zip(&self.basic) {
            if let Variable::Z(i) = *variable {
                ray[i] = (-fall).max(0.0);
            }
        }
        if let Variable::Z(i) = entering {
            ray[i] = 1.0;
        }
    }

    /// Exchanges the basic variable of `row` with `entering`, the variable of the last ratio test.
    ///
    /// Returns false if a refactorisation finds a singular basis.
    pub(super) fn pivot(&mut self, problem: &Lcp, row: usize, entering: Variable, settings: PathSettings) -> bool {
        let value = self.value[row] / self.fall[row];
        for i in 0..self.value.len() {
            let fall = self.fall[i];
            if i == row || fall == 0.0 {
                continue;
            }
            let updated = self.value[i] - fall * value;
            let size = self.size[i].max(updated);
            // Tied variables are set to zero; the lexicographic rule has ordered them.
            self.value[i] = if updated <= settings.tie * size { 0.0 } else { updated };
            self.size[i] = size;
        }
        if entering == Variable::Cover {
            self.first_cover = value.abs();
        }
        self.basic[row] = entering;
        self.value[row] = value.max(0.0);
        self.size[row] = match entering {
            Variable::Z(_) => value.abs(),
            Variable::Cover | Variable::W(_) => value.abs().max(self.first_cover),
        };
        self.keep_column(row);
        // A refactorisation shortens a long product to one factor per z in the basis.
        self.pivots.len() < most_pivots(problem.size()) || self.refactor(problem)
    }

    /// Adds the column of the last ratio test to the product.
    fn keep_column(&mut self, row: usize) {
        self.pivots.push(Elementary { row, inverse: 1.0 / self.fall[row] });
        self.columns.extend_from_slice(&self.fall);
    }

    /// Factorises the basis again from its own columns: every w in its row, the others by elimination with partial pivoting.
    fn refactor(&mut self, problem: &Lcp) -> bool {
        self.moved.clear();
        self.moved.extend(self.basic.iter().zip(&self.value).zip(&self.size).map(|((&b, &v), &s)| (b, v, s)));
        self.taken.clear();
        self.taken.resize(problem.size(), false);
        self.pivots.clear();
        self.columns.clear();
        for k in 0..self.moved.len() {
            let (variable, value, size) = self.moved[k];
            if let Variable::W(i) = variable {
                (self.basic[i], self.value[i], self.size[i], self.taken[i]) = (variable, value, size, true);
            }
        }
        for k in 0..self.moved.len() {
            let (variable, value, size) = self.moved[k];
            if matches!(variable, Variable::W(_)) {
                continue;
            }
            self.enter(problem, variable);
            let free = self.fall.iter().enumerate().filter(|(i, _)| !self.taken[*i]);
            let Some((row, pivot)) = free.map(|(i, y)| (i, y.abs())).max_by(|a, b| a.1.total_cmp(&b.1)) else {
                debug_assert!(false, "there are as many rows as basic variables");
                return false;
            };
            if pivot == 0.0 || !pivot.is_finite() {
                return false;
            }
            (self.basic[row], self.value[row], self.size[row], self.taken[row]) = (variable, value, size, true);
            self.keep_column(row);
        }
        true
    }

    /// Lexicographically least row (B⁻¹)_i / fall_i among the tied rows.   [LCP-4]
    fn lexicographically_least(&mut self, least: usize, settings: PathSettings) -> usize {
        if self.tied.len() < 2 {
            return least;
        }
        let (tied, mut rows) = (std::mem::take(&mut self.tied), std::mem::take(&mut self.rows));
        let [best_row, other_row] = &mut rows;
        let mut best = least;
        self.inverse_row(best, best_row);
        for &other in tied.iter().filter(|row| **row != least) {
            self.inverse_row(other, other_row);
            if less(other_row, self.fall[other], best_row, self.fall[best], settings) {
                best = other;
                std::mem::swap(best_row, other_row);
            }
        }
        (self.tied, self.rows) = (tied, rows);
        best
    }

    /// out ← row i of B⁻¹: eᵢᵀ times the elementary matrices from the last to the first.   [LCP-19]
    ///
    /// Only the rows of pivots become nonzero.
    fn inverse_row(&mut self, row: usize, out: &mut Vec<f64>) {
        let n = self.value.len();
        out.clear();
        out.resize(n, 0.0);
        out[row] = 1.0;
        self.support.clear();
        self.support.push(row);
        for (pivot, y) in self.pivots.iter().zip(self.columns.chunks_exact(n.max(1))).rev() {
            let own = std::mem::take(&mut out[pivot.row]);
            let rest: f64 = self.support.iter().map(|&i| out[i] * y[i]).sum();
            out[pivot.row] = (own - rest) * pivot.inverse;
            if own == 0.0 && out[pivot.row] != 0.0 && !self.support.contains(&pivot.row) {
                self.support.push(pivot.row);
            }
        }
        // The column of a basic w is a unit vector; this removes its rounding errors.
        for (basic_row, variable) in self.basic.iter().enumerate() {
            if let Variable::W(j) = *variable {
                out[j] = f64::from(u8::from(basic_row == row));
            }
        }
    }
}

/// True if row `a` of B⁻¹, divided by its fall, is lexicographically less than row `b`.   [LCP-4]
fn less(a: &[f64], fall_a: f64, b: &[f64], fall_b: f64, settings: PathSettings) -> bool {
    let size = |row: &[f64], fall: f64| row.iter().fold(0.0, |size: f64, x| size.max(x.abs())) / fall;
    let tolerance = settings.tie * size(a, fall_a).max(size(b, fall_b));
    for (a, b) in a.iter().zip(b) {
        let difference = a / fall_a - b / fall_b;
        if difference.abs() > tolerance {
            return difference < 0.0;
        }
    }
    // Rows of an inverse are never proportional; if they are within rounding, the larger pivot is more stable.
    fall_a > fall_b
}

/// Power of 2¹⁶ that scales the largest entry of a row of M into [2⁻⁸, 2⁸).
///
/// The covering variable adds the same amount to every row, so a row in much smaller units than the others would be lost in
/// its rounding. A power of two is exact, and the coarse steps leave ordinary rows unscaled.
fn row_scale(row: &[f64]) -> f64 {
    // Four independent maxima, because a single one has a dependency chain through all comparisons.
    let (fours, rest) = row.as_chunks::<4>();
    let mut sizes = [0.0_f64; 4];
    for four in fours {
        sizes.iter_mut().zip(four).for_each(|(size, m)| *size = size.max(m.abs()));
    }
    let largest = sizes.iter().chain(rest).fold(0.0, |size: f64, m| size.max(m.abs()));
    if !largest.is_normal() {
        return 1.0;
    }
    let exponent = i32::from((largest.to_bits() >> 52) as u16 & 0x7ff) - 1023;
    2.0_f64.powi(-16 * (exponent + 8).div_euclid(16).clamp(-60, 60))
}

/// x ← x − factor · y.
fn subtract_multiple(x: &mut [f64], factor: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x -= factor * y;
    }
}
