//! Comparison of numbers: a tolerance is a value with a unit, and a failure reports numbers, error and bound.
//!
//! With the environment variable `STICTION_PRINT_ERRORS` set, every comparison prints its error and the fraction of the
//! tolerance, so that the margin of a passing run is visible.

use std::fmt;

/// Largest difference of a number from its expected value: |actual − expected| ≤ `abs` + `rel` · |expected|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tol {
    /// Absolute part, in `unit`.
    pub abs: f64,
    /// Relative part, dimensionless.
    pub rel: f64,
    /// Unit of the compared numbers, for the message; `""` if they have none.
    pub unit: &'static str,
}

impl Tol {
    /// An absolute tolerance.
    pub const fn absolute(abs: f64, unit: &'static str) -> Self {
        Self { abs, rel: 0.0, unit }
    }

    /// A relative tolerance.
    pub const fn relative(rel: f64, unit: &'static str) -> Self {
        Self { abs: 0.0, rel, unit }
    }

    /// The largest error allowed at `expected`.
    pub fn bound(&self, expected: f64) -> f64 {
        self.abs + self.rel * expected.abs()
    }

    /// Compares; an error contains both numbers with all digits, the error and the bound. Non-finite numbers always fail.
    pub fn check(&self, actual: f64, expected: f64) -> Result<(), String> {
        let error = (actual - expected).abs();
        let bound = self.bound(expected);
        if print_errors() {
            eprintln!("error {error:e} {}, {:.1} % of {self}", self.unit, 100.0 * error / bound);
        }
        // The comparison fails for a NaN on either side.
        if error <= bound {
            return Ok(());
        }
        Err(format!("{actual:?} is not {expected:?} {}: error {error:e} exceeds {bound:e} ({self})", self.unit))
    }
}

impl fmt::Display for Tol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.abs, self.rel) {
            (abs, 0.0) => write!(f, "tolerance {abs:e} {}", self.unit),
            (0.0, rel) => write!(f, "tolerance {rel:e} relative"),
            (abs, rel) => write!(f, "tolerance {abs:e} {} + {rel:e} relative", self.unit),
        }
    }
}

fn print_errors() -> bool {
    std::env::var_os("STICTION_PRINT_ERRORS").is_some()
}

/// Asserts that a number is within a [`Tol`] of its expected value; further arguments are a message, as in `assert!`.
///
/// ```
/// use stiction_testkit::{Tol, assert_close};
///
/// assert_close!(0.1 + 0.2, 0.3, Tol::absolute(1e-15, "m"));
/// assert_close!(101.0, 100.0, Tol::relative(0.02, "N"), "normal force of contact {}", 3);
/// ```
#[macro_export]
macro_rules! assert_close {
    ($actual:expr, $expected:expr, $tolerance:expr $(,)?) => {
        if let Err(reason) = $crate::Tol::check(&$tolerance, $actual, $expected) {
            panic!("{}: {reason}", stringify!($actual));
        }
    };
    ($actual:expr, $expected:expr, $tolerance:expr, $($message:tt)+) => {
        if let Err(reason) = $crate::Tol::check(&$tolerance, $actual, $expected) {
            panic!("{}: {reason}", format_args!($($message)+));
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Tol;

    #[test]
    fn both_parts_add_up() {
        let tolerance = Tol { abs: 0.5, rel: 0.01, unit: "m" };
        assert!(tolerance.check(101.5, 100.0).is_ok());
        assert!(tolerance.check(98.5, 100.0).is_ok());
        assert!(tolerance.check(101.5001, 100.0).is_err());
        assert!(tolerance.check(-101.5001, -100.0).is_err());
    }

    #[test]
    fn what_is_not_finite_is_close_to_nothing() {
        let wide = Tol::absolute(1e300, "m");
        assert!(wide.check(f64::NAN, 0.0).is_err());
        assert!(wide.check(0.0, f64::NAN).is_err());
        assert!(wide.check(f64::INFINITY, 0.0).is_err());
        assert!(wide.check(f64::INFINITY, f64::INFINITY).is_err());
        assert!(Tol::absolute(f64::NAN, "m").check(0.0, 0.0).is_err());
    }

    #[test]
    fn the_message_carries_all_digits_and_the_unit() {
        let message = Tol::absolute(1e-12, "rad").check(0.1, 0.1 + 0.2).unwrap_err();
        assert!(message.contains("0.30000000000000004 rad") && message.contains("1e-12 rad"), "{message}");
    }
}
