//! Maxima that propagate NaN: NaN, or an empty list, never counts as small.

use crate::world::larger;

/// Largest of some numbers; NaN if one of them is NaN, or if there are none.
pub(crate) fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().reduce(larger).unwrap_or(f64::NAN)
}

/// Largest distance of two numbers at the same position; NaN if the lists differ in length or contain NaN.
pub(crate) fn furthest(a: &[f64], b: &[f64]) -> f64 {
    if a.len() == b.len() { largest(a.iter().zip(b).map(|(a, b)| (a - b).abs())) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::{furthest, largest};

    #[test]
    fn nothing_is_hidden() {
        assert_eq!(largest([1.0, 3.0, -2.0]), 3.0);
        for hidden in [&[1.0, f64::NAN][..], &[f64::NAN, 1.0], &[]] {
            assert!(largest(hidden.iter().copied()).is_nan());
        }
        assert_eq!(furthest(&[1.0, 2.0], &[1.5, 0.0]), 2.0);
        assert!(furthest(&[1.0], &[1.0, 2.0]).is_nan());
    }
}
