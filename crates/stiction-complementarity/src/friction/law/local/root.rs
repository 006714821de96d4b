//! Roots of scalar functions in a bracket, to the last bit.

/// Largest number of evaluations of a search. Bisection alone needs about 60 to the last bit of [0, 1] and at most 1100 to the
/// smallest subnormal number. Every third step of a slow search is a bisection, so 400 reach full relative accuracy down to 1e-20.
const MAX_STEPS: usize = 400;

/// Relative size of the last Newton step: convergence is quadratic, so the next step would be below rounding.
const CONVERGED: f64 = 1e-10;

/// Finds a root in `[low, high]` of a function with f(low) > 0 ≥ f(high) by Newton's method, safeguarded by bisection.
///
/// `f` returns value and derivative. A `start` outside of the bracket is replaced by its midpoint.
pub(super) fn newton(mut low: f64, mut high: f64, start: f64, mut f: impl FnMut(f64) -> (f64, f64)) -> f64 {
    let mut x = if start > low && start < high { start } else { 0.5 * (low + high) };
    let mut last_step = high - low;
    for _ in 0..MAX_STEPS {
        let (value, slope) = f(x);
        if value > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let mut next = x - value / slope;
        // A Newton step is accepted if it stays in the bracket and the steps shrink; NaN fails both tests.
        let accepted = next >= low && next <= high && (next - x).abs() <= 0.5 * last_step.abs();
        if !accepted {
            next = 0.5 * (low + high);
        }
        last_step = next - x;
        if value == 0.0 {
            return x;
        }
        // Quadratic convergence: the next step would be below rounding.
        if accepted && last_step.abs() <= CONVERGED * x || high - low <= f64::EPSILON * low {
            return next;
        }
        x = next;
    }
    x
}

/// Finds a root in `[low, high]` of a continuous function with f(low) > 0 ≥ f(high).
///
/// It is the Illinois variant of regula falsi, with a bisection whenever three steps did not halve the bracket.
pub(super) fn bracket(
    (mut low, mut at_low): (f64, f64),
    (mut high, mut at_high): (f64, f64),
    mut f: impl FnMut(f64) -> f64,
) -> f64 {
    let mut width = high - low;
    let mut last = 0;
    for step in 1..=MAX_STEPS {
        let mut x = (low * at_high - high * at_low) / (at_high - at_low);
        if step % 3 == 0 {
            let slow = high - low > 0.5 * width;
            width = high - low;
            if slow {
                x = 0.5 * (low + high);
                // The bisection must not count as progress of the secant steps.
                width *= 0.5;
            }
        }
        if !(x > low && x < high) {
            x = 0.5 * (low + high);
            if !(x > low && x < high) {
                return x;
            }
        }
        let value = f(x);
        if value == 0.0 {
            return x;
        }
        let side = if value > 0.0 { 1 } else { -1 };
        if side > 0 {
            (low, at_low) = (x, value);
        } else {
            (high, at_high) = (x, value);
        }
        if side == last {
            if side > 0 {
                at_high *= 0.5;
            } else {
                at_low *= 0.5;
            }
        }
        last = side;
        if high - low <= 2.0 * f64::EPSILON * low {
            break;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_at_every_scale() {
        for root in [1e-14, 1e-6, 0.3, 0.999_999] {
            let cubic = |x: f64| root * root * root - x * x * x;
            let by_newton = newton(0.0, 1.0, 0.5, |x| (cubic(x), -3.0 * x * x));
            assert!((by_newton - root).abs() <= 1e-14 * root, "{by_newton} for {root}");
            let by_bracket = bracket((0.0, cubic(0.0)), (1.0, cubic(1.0)), cubic);
            assert!((by_bracket - root).abs() <= 1e-14 * root, "{by_bracket} for {root}");
        }
    }

    #[test]
    fn a_wrong_slope_still_ends_at_the_root() {
        let line = |x: f64| (0.25 - x, 1e-3);
        assert!((newton(0.0, 1.0, 0.9, line) - 0.25).abs() < 1e-15);
    }
}
