//! Sampling of the trials of a cell in the unit cube of their random parameters.
//!
//! A point depends on the seed of the study, the cell and the trial, never on the variant: all variants have the same random
//! numbers.   [STUDY-4]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sobol;
use crate::random::{Stream, mix};

/// Sampling of the trials of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Independent points.
    #[default]
    Random,
    /// Each parameter alone is stratified: of n trials one in every n-th of its distribution.
    LatinHypercube,
    /// Sobol points with Owen's scrambling: parameters are stratified jointly. Best for a power of two of trials, up to 21 parameters.
    Sobol,
}

impl Design {
    /// Point of a trial, each coordinate in [0, 1), with this number of `trials` per cell.   [STUDY-4]
    pub fn point(self, seed: u64, [cell, trial]: [u64; 2], trials: u64, point: &mut [f64]) {
        let seed = Stream::new(seed, cell).bits();
        let mut stream = Stream::new(seed, trial);
        for (dimension, coordinate) in point.iter_mut().enumerate() {
            let within = stream.unit();
            let of_dimension = mix(seed ^ mix(dimension as u64 + 1));
            *coordinate = match self {
                Self::Random => within,
                Self::LatinHypercube => (permuted(trial, trials, of_dimension) as f64 + within) / trials.max(1) as f64,
                Self::Sobol => {
                    let first = sobol::point(trial as u32, dimension, of_dimension);
                    (f64::from(first) + within) / 4_294_967_296.0
                }
            }
            // A sum may round up to the end.
            .min(1.0_f64.next_down());
        }
    }
}

/// Permutation of 0 to n − 1 chosen by `key`: four rounds of Feistel over the next power of four, repeated until the result is in the
/// range.
pub(super) fn permuted(index: u64, n: u64, key: u64) -> u64 {
    let half = (64 - n.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut at = index;
    // The repetition follows a cycle of the larger permutation, which returns to its start at the latest.
    for _ in 0..=4 * n.max(1) {
        let mut sides = [at >> half & mask, at & mask];
        for round in 0..4_u64 {
            let [left, right] = sides;
            sides = [right, left ^ mix(key ^ mix(right << 8 | round)) & mask];
        }
        at = sides[0] << half | sides[1];
        if at < n {
            return at;
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_permutations_and_depend_on_their_key() {
        for n in [1, 2, 3, 7, 30, 64, 1000] {
            let mut seen: Vec<_> = (0..n).map(|i| permuted(i, n, 5)).collect();
            let other: Vec<_> = (0..n).map(|i| permuted(i, n, 6)).collect();
            assert!(n < 20 || (seen != other && seen.iter().enumerate().any(|(i, p)| i as u64 != *p)));
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n), "{n}");
        }
    }

    #[test]
    fn a_latin_hypercube_has_one_trial_in_every_stratum_of_every_parameter() {
        let (n, mut point) = (30, [0.0; 3]);
        let mut strata = vec![Vec::new(); 3];
        for trial in 0..n {
            Design::LatinHypercube.point(9, [4, trial], n, &mut point);
            strata.iter_mut().zip(point).for_each(|(strata, x)| strata.push((x * n as f64).floor()));
        }
        for mut strata in strata {
            strata.sort_by(f64::total_cmp);
            assert!(strata.into_iter().eq((0..n).map(|k| k as f64)));
        }
    }

    #[test]
    fn points_of_cells_and_trials_differ_and_designs_are_uniform() {
        for design in [Design::Random, Design::LatinHypercube, Design::Sobol] {
            let mut all = Vec::new();
            for cell in 0..40 {
                for trial in 0..50 {
                    let mut point = [0.0; 2];
                    design.point(1, [cell, trial], 50, &mut point);
                    assert!(point.iter().all(|x| (0.0..1.0).contains(x)));
                    all.push(point);
                }
            }
            let n = all.len() as f64;
            let mean = all.iter().map(|p| p[0]).sum::<f64>() / n;
            let product = all.iter().map(|p| (p[0] - 0.5) * (p[1] - 0.5)).sum::<f64>() / n;
            // Four standard deviations of independent points.
            assert!(
                (mean - 0.5).abs() < 4.0 * 0.289 / n.sqrt() && product.abs() < 4.0 / (12.0 * n.sqrt()),
                "{design:?}"
            );
            all.sort_by(|a, b| a[0].total_cmp(&b[0]));
            all.dedup();
            assert_eq!(all.len(), 2000);
        }
    }
}
