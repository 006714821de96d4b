//! Success rates of trials, with their confidence intervals.

use serde::Serialize;

/// The quantile of the normal distribution that leaves 2.5 % above it.
const Z: f64 = 1.959_963_984_540_054;

/// Success rate with Wilson's 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuccessRate {
    /// Number of successes.
    pub hits: u64,
    /// Number of trials.
    pub of: u64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl SuccessRate {
    /// Success rate of `hits` of `of`, at most all of them; without trials the interval is [0, 1].   [STUDY-2]
    pub fn new(hits: u64, of: u64) -> Self {
        let hits = hits.min(of);
        if of == 0 {
            return Self { hits, of, low: 0.0, high: 1.0 };
        }
        let (k, n, z2) = (hits as f64, of as f64, Z * Z);
        let centre = (k + 0.5 * z2) / (n + z2);
        let half = Z * (k * (n - k) / n + 0.25 * z2).sqrt() / (n + z2);
        // At 0 and n the ends are exactly 0 and 1, in spite of rounding.
        let low = if hits == 0 { 0.0 } else { (centre - half).max(0.0) };
        let high = if hits == of { 1.0 } else { (centre + half).min(1.0) };
        Self { hits, of, low, high }
    }

    /// Value of the rate; zero without trials.
    pub fn value(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.hits as f64 / self.of as f64 }
    }

    /// True if the intervals of two rates overlap.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}
