//! The few elementary functions that problems need, from additions and multiplications only: the same bits everywhere.
//!
//! Reduction to a short interval, then a series whose first neglected term is below 1e-17 there.

use std::f64::consts::{FRAC_PI_2, LOG2_E, SQRT_2, TAU};

/// ln 2 in two parts: the first has trailing zeros, so that integer multiples of it are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// See [`LN_2_HIGH`].
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// eˣ.
pub(crate) fn exp(x: f64) -> f64 {
    if x.is_nan() || x > 709.8 {
        return if x.is_nan() { x } else { f64::INFINITY };
    }
    if x < -745.2 {
        return 0.0;
    }
    // x = k ln 2 + r with |r| ≤ ln 2 / 2; Σ rⁱ/i! by Horner from i = 16.
    let k = (x * LOG2_E).round();
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let series = (1..=16).rev().fold(1.0, |sum, i| 1.0 + sum * r / f64::from(i));
    // Two factors, because 2ᵏ alone may be outside the normal range while the product is not.
    let half = (k * 0.5).floor() as i32;
    series * 2.0_f64.powi(half) * 2.0_f64.powi(k as i32 - half)
}

/// The natural logarithm; NaN below zero, −∞ at zero.
pub(crate) fn ln(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if !(x > 0.0 && x < f64::INFINITY) {
        return if x > 0.0 { x } else { f64::NAN };
    }
    let (x, shift) = if x < f64::MIN_POSITIVE { (x * 2.0_f64.powi(54), -54.0) } else { (x, 0.0) };
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as f64 - 1023.0;
    let mut m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if m > SQRT_2 {
        m *= 0.5;
        exponent += 1.0;
    }
    // ln m = 2 artanh s = 2 Σ s²ᵏ⁺¹/(2k + 1) with |s| ≤ 0.172.
    let s = (m - 1.0) / (m + 1.0);
    let series = (0..=11).rev().fold(0.0, |sum, k| sum * s * s + 1.0 / f64::from(2 * k + 1));
    exponent += shift;
    exponent * LN_2_HIGH + (2.0 * s * series + exponent * LN_2_LOW)
}

/// xʸ; repeated multiplication for small whole y, NaN for a negative x and any other y.
pub(crate) fn pow(x: f64, y: f64) -> f64 {
    if y.fract() == 0.0 && y.abs() <= 64.0 {
        return x.powi(y as i32);
    }
    if x == 0.0 {
        return if y > 0.0 { 0.0 } else { f64::INFINITY };
    }
    exp(y * ln(x))
}

/// (sin x, cos x) for angles of a few turns.
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    let quarter = (x / FRAC_PI_2).round();
    // π/2 in two parts, as for the exponential.
    let r = (x - quarter * 1.570_796_326_734_125_6) - quarter * 6.077_100_506_506_192e-11;
    let r2 = r * r;
    let sin = r * (1..=9).rev().fold(1.0, |sum, k| 1.0 - sum * r2 / f64::from(2 * k * (2 * k + 1)));
    let cos = (1..=9).rev().fold(1.0, |sum, k| 1.0 - sum * r2 / f64::from(2 * k * (2 * k - 1)));
    match (quarter as i64).rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The angle of direction `k` of `count` equally spaced ones.
pub(crate) fn turn(k: usize, count: usize) -> f64 {
    TAU * k as f64 / count as f64
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // The standard library is the independent witness here.
mod tests {
    use super::*;

    #[test]
    fn agree_with_the_standard_library() {
        for k in -4000..=4000 {
            let x = f64::from(k) * 0.177;
            assert!((exp(x) - x.exp()).abs() <= 4e-16 * x.exp(), "exp({x}) = {}", exp(x));
            let (sin, cos) = sin_cos(x * 0.05);
            let expected = (x * 0.05).sin_cos();
            assert!((sin - expected.0).abs() <= 3e-16 && (cos - expected.1).abs() <= 3e-16, "sin_cos({})", x * 0.05);
            let y = x.exp();
            assert!((ln(y) - y.ln()).abs() <= 3e-16 * y.ln().abs().max(0.1), "ln({y}) = {}", ln(y));
        }
        for (x, y) in [(2.5, 0.833), (1e-3, -1.7), (7.0, 1.0 / 3.0), (-2.0, 3.0), (0.0, 0.5), (4.0, -2.0)] {
            assert!((pow(x, y) - f64::powf(x, y)).abs() <= 1e-14 * f64::powf(x, y).abs(), "pow({x}, {y})");
        }
        assert!(pow(-1.0, 0.5).is_nan() && ln(-1.0).is_nan() && exp(f64::NAN).is_nan());
        assert_eq!((exp(1e9), exp(-1e9), ln(0.0)), (f64::INFINITY, 0.0, f64::NEG_INFINITY));
        assert!((ln(5e-324) - 5e-324_f64.ln()).abs() < 1e-12 && (std::f64::consts::LN_2 - ln(2.0)).abs() < 2e-16);
    }
}
