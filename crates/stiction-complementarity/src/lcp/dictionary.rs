//! The condensed tableau of Lemke's method: each basic variable as an affine function of the nonbasic ones,
//! x_B = value + rates · x_N, with the covering variable z₀ of S w = S (M z + q) + d z₀.   [LCP-3]
//!
//! Degeneracy is resolved lexicographically [LCP-4]. What counts as a tie or a zero is judged against `size`, the
//! largest value a variable has had, so the judgement does not depend on units.

use super::Lcp;
use crate::linalg::DenseMatrix;

/// φ − 1, whose multiples spread evenly and never repeat.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_8;

/// A variable of S w = S (M z + q) + d z₀.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    W(usize),
    Z(usize),
    Cover,
}

/// Where a variable stands at present.
#[derive(Clone, Copy, Debug)]
enum Place {
    Row(usize),
    Column(usize),
}

/// The answer of the ratio test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    Row(usize),
    /// No basic variable decreases: the entering variable can grow for ever.
    Ray,
    /// The entering column holds overflowed numbers.
    NotFinite,
}

/// How one path is followed: the tolerances of `LcpLemkeOptions` and the covering vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    pub(super) tie: f64,
    pub(super) pivot: f64,
    /// How far the covering vector leaves e: d_i = 1 + tilt · frac((i + shift) φ) with the golden ratio φ.   [LCP-3]
    pub(super) tilt: f64,
    pub(super) shift: u16,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary {
    /// n rows by n + 1 nonbasic columns.
    rates: DenseMatrix,
    value: Vec<f64>,
    /// The largest value each basic variable has had since it became basic; for a w at least the first z₀.
    size: Vec<f64>,
    basic: Vec<Variable>,
    nonbasic: Vec<Variable>,
    place_of_w: Vec<Place>,
    place_of_z: Vec<Place>,
    place_of_cover: Option<Place>,
    /// The first value of z₀: about what was added to every w at the start.
    first_cover: f64,
    /// −(entering column): the rate at which each basic variable falls.
    fall: Vec<f64>,
    tied: Vec<usize>,
    pivot_row: Vec<f64>,
}

impl Dictionary {
    /// Starts from the basis of all w: S w = S q + S M z + d z₀ with the row scales S.   [LCP-3]
    pub(super) fn start(&mut self, problem: &Lcp, judge: Judgement) {
        let n = problem.size();
        self.rates.reset(n, n + 1);
        self.value.clear();
        self.size.clear();
        for (i, &q) in problem.q().iter().enumerate() {
            let scale = row_scale(problem.m().row(i));
            let row = self.rates.row_mut(i);
            for (rate, m) in row.iter_mut().zip(problem.m().row(i)) {
                *rate = scale * m;
            }
            row[n] = 1.0 + judge.tilt * ((i as f64 + f64::from(judge.shift)) * GOLDEN_RATIO).fract();
            self.value.push(scale * q);
            self.size.push((scale * q).abs());
        }
        self.basic.clear();
        self.basic.extend((0..n).map(Variable::W));
        self.nonbasic.clear();
        self.nonbasic.extend((0..n).map(Variable::Z));
        self.nonbasic.push(Variable::Cover);
        self.place_of_w.clear();
        self.place_of_w.extend((0..n).map(Place::Row));
        self.place_of_z.clear();
        self.place_of_z.extend((0..n).map(Place::Column));
        self.place_of_cover = Some(Place::Column(n));
    }

    /// The row that leaves when z₀ enters: the least q_i / d_i, the last of ties, so that all rows become lexicographically
    /// positive.
    pub(super) fn first_leaving(&self, judge: Judgement) -> usize {
        let cover = self.value.len();
        let ratios = || self.value.iter().enumerate().map(|(i, value)| value / self.rates[(i, cover)]);
        let least = ratios().fold(f64::INFINITY, f64::min);
        ratios().rposition(|ratio| ratio - least <= judge.tie * least.abs()).unwrap_or(0)
    }

    /// The column of a nonbasic variable.
    pub(super) fn column_of(&self, variable: Variable) -> Option<usize> {
        let place = match variable {
            Variable::W(i) => self.place_of_w.get(i).copied(),
            Variable::Z(i) => self.place_of_z.get(i).copied(),
            Variable::Cover => self.place_of_cover,
        };
        match place {
            Some(Place::Column(column)) => Some(column),
            _ => None,
        }
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

    /// Lexicographic ratio test for the entering column; z₀ leaves whenever it can.   [LCP-4]
    pub(super) fn leaving(&mut self, column: usize, judge: Judgement) -> Leaving {
        self.fall.clear();
        self.fall.extend((0..self.value.len()).map(|i| -self.rates[(i, column)]));
        let total: f64 = self.fall.iter().map(|a| a.abs()).sum();
        if !total.is_finite() {
            return Leaving::NotFinite;
        }
        let threshold = judge.pivot * self.fall.iter().fold(0.0, |size: f64, a| size.max(a.abs()));
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
            if rest <= judge.tie * self.size[i] {
                self.tied.push(i);
            }
        }
        if let Some(Place::Row(cover)) = self.place_of_cover
            && self.tied.contains(&cover)
        {
            return Leaving::Row(cover);
        }
        let least = |best, &row| if self.lexicographically_less(row, best, judge) { row } else { best };
        Leaving::Row(self.tied.iter().fold(least_row, least))
    }

    /// The direction in which z moves while the variable `entering` of `column` grows.
    pub(super) fn ray_into(&self, column: usize, entering: Variable, ray: &mut Vec<f64>) {
        ray.clear();
        ray.resize(self.value.len(), 0.0);
        for (row, variable) in self.basic.iter().enumerate() {
            if let Variable::Z(i) = *variable {
                ray[i] = self.rates[(row, column)].max(0.0);
            }
        }
        if let Variable::Z(i) = entering {
            ray[i] = 1.0;
        }
    }

    /// Exchanges the basic variable of `row` with the nonbasic one of `column`.
    pub(super) fn pivot(&mut self, row: usize, column: usize, judge: Judgement) {
        self.exchange_names(row, column);
        let inverse = 1.0 / self.rates[(row, column)];
        self.pivot_row.clear();
        self.pivot_row.extend(self.rates.row(row).iter().map(|rate| -rate * inverse));
        self.pivot_row[column] = inverse;
        self.rates.row_mut(row).copy_from_slice(&self.pivot_row);
        let value = -self.value[row] * inverse;
        self.value[row] = value.max(0.0);
        self.size[row] = match self.basic[row] {
            Variable::Z(_) => value.abs(),
            Variable::Cover => {
                self.first_cover = value.abs();
                self.first_cover
            }
            Variable::W(_) => value.abs().max(self.first_cover),
        };
        for i in 0..self.value.len() {
            let rates = self.rates.row_mut(i);
            let factor = rates[column];
            if i == row || factor == 0.0 {
                continue;
            }
            rates[column] = 0.0;
            add_multiple(rates, factor, &self.pivot_row);
            let updated = self.value[i] + factor * value;
            let size = self.size[i].max(updated);
            // What is left of a tie is zero by decision; the lexicographic rule has ordered it.
            self.value[i] = if updated <= judge.tie * size { 0.0 } else { updated };
            self.size[i] = size;
        }
    }

    fn exchange_names(&mut self, row: usize, column: usize) {
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        for (variable, place) in [(self.basic[row], Place::Row(row)), (self.nonbasic[column], Place::Column(column))] {
            match variable {
                Variable::W(i) => self.place_of_w[i] = place,
                Variable::Z(i) => self.place_of_z[i] = place,
                Variable::Cover => self.place_of_cover = Some(place),
            }
        }
    }

    /// Whether row `a` precedes row `b` in the order of (B⁻¹)_i / fall_i.   [LCP-4]
    fn lexicographically_less(&self, a: usize, b: usize, judge: Judgement) -> bool {
        if a == b {
            return false;
        }
        let n = self.value.len();
        let size = |row| (0..n).fold(0.0, |size: f64, j| size.max(self.inverse_entry(row, j).abs())) / self.fall[row];
        let tolerance = judge.tie * size(a).max(size(b));
        for j in 0..n {
            let difference = self.inverse_entry(a, j) / self.fall[a] - self.inverse_entry(b, j) / self.fall[b];
            if difference.abs() > tolerance {
                return difference < 0.0;
            }
        }
        // Rows of an inverse are never proportional; if rounding makes them look so, the larger pivot is the safer one.
        self.fall[a] > self.fall[b]
    }

    /// Entry (row, j) of B⁻¹: the tableau column of w_j, a unit vector while w_j is basic.
    fn inverse_entry(&self, row: usize, j: usize) -> f64 {
        match self.place_of_w[j] {
            Place::Row(basic_row) => f64::from(u8::from(basic_row == row)),
            Place::Column(column) => -self.rates[(row, column)],
        }
    }
}

/// The power of 2¹⁶ that brings the largest entry of a row of M into [2⁻⁸, 2⁸).
///
/// The covering variable adds the same amount to every row, so a row in much smaller units than the others would drown
/// in its rounding. Being a power of two the scale costs no accuracy; being coarse it leaves ordinary rows alone.
fn row_scale(row: &[f64]) -> f64 {
    let largest = row.iter().fold(0.0, |size: f64, m| size.max(m.abs()));
    if !largest.is_normal() {
        return 1.0;
    }
    let exponent = i32::from((largest.to_bits() >> 52) as u16 & 0x7ff) - 1023;
    2.0_f64.powi(-16 * (exponent + 8).div_euclid(16).clamp(-60, 60))
}

/// x ← x + factor · p.
fn add_multiple(x: &mut [f64], factor: f64, p: &[f64]) {
    for (x, p) in x.iter_mut().zip(p) {
        *x += factor * p;
    }
}
