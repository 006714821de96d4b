//! Shares of trials, and how well so many trials know them.

use serde::Serialize;

/// The quantile of the normal distribution that leaves 2.5 % above it.
const Z: f64 = 1.959_963_984_540_054;

/// So many of so many, with Wilson's 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuccessRate {
    /// Trials that count.
    pub hits: u64,
    /// All trials.
    pub of: u64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl SuccessRate {
    /// The share `hits` of `of`, at most all of them; of no trials it may be anything.   [STUDY-2]
    pub fn new(hits: u64, of: u64) -> Self {
        let hits = hits.min(of);
        if of == 0 {
            return Self { hits, of, low: 0.0, high: 1.0 };
        }
        let (k, n, z2) = (hits as f64, of as f64, Z * Z);
        let centre = (k + 0.5 * z2) / (n + z2);
        let half = Z * (k * (n - k) / n + 0.25 * z2).sqrt() / (n + z2);
        // At 0 and n the ends are 0 and 1 exactly; rounding must not say otherwise.
        let low = if hits == 0 { 0.0 } else { (centre - half).max(0.0) };
        let high = if hits == of { 1.0 } else { (centre + half).min(1.0) };
        Self { hits, of, low, high }
    }

    /// The share itself; zero of no trials.
    pub fn value(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.hits as f64 / self.of as f64 }
    }

    /// Whether the intervals of two shares have a point in common.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}
