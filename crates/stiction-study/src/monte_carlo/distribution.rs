//! The normal and the χ² distribution.

use std::f64::consts::FRAC_1_SQRT_2;

/// Φ, the cumulative distribution function of the standard normal distribution.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Φ⁻¹, the quantile of the standard normal distribution, within ±38, by bisection. Bisection needs only that Φ increases, and ends at two
/// neighbouring numbers.
pub fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-38.0, 38.0);
    // 38 is halved down to the spacing of numbers around the result.
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if normal_cdf(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The probability that χ² with this many degrees of freedom exceeds x: Γ(k/2, x/2)/Γ(k/2); 1 without a degree of freedom.   [STUDY-6]
pub fn chi_square_beyond(x: f64, degrees_of_freedom: usize) -> f64 {
    if degrees_of_freedom == 0 || x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    let (a, x) = (0.5 * degrees_of_freedom as f64, 0.5 * x);
    let scale = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        (1.0 - scale * lower_series(a, x)).clamp(0.0, 1.0)
    } else {
        (scale * upper_fraction(a, x)).min(1.0)
    }
}

/// γ(a, x) eˣ x⁻ᵃ = Σ xⁿ / (a (a + 1) … (a + n)).
fn lower_series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    for n in 1..10_000 {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

/// Γ(a, x) eˣ x⁻ᵃ as the continued fraction 1/(x+1−a− 1(1−a)/(x+3−a− 2(2−a)/(x+5−a− …))), evaluated forwards (Lentz).
fn upper_fraction(a: f64, x: f64) -> f64 {
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let not_zero = |x: f64| if x.abs() < tiny { tiny } else { x };
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / not_zero(b);
    let mut value = d;
    for n in 1..10_000 {
        let n = f64::from(n);
        let numerator = -n * (n - a);
        b += 2.0;
        d = 1.0 / not_zero(b + numerator * d);
        c = not_zero(b + numerator / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    value
}
