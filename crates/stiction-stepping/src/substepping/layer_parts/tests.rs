//! Lengths of parts: equal shares, and the search for a touch.

use super::{Bracket, MAX_LOCATION_ITERATIONS, shortened};

/// Shares are equal, not longer than the limit, and not shorter than needed.
#[test]
fn lengths_are_divided_into_equal_shares() {
    for (length, limit, parts) in [(1.0, 2.0, 1.0), (1.0, 1.0, 1.0), (1.0, 0.6, 2.0), (1.0, 0.5, 2.0), (1.0, 0.3, 4.0)]
    {
        let share = shortened(length, limit);
        assert!(share <= limit.min(length));
        assert!((share * parts - length).abs() < 1e-15, "{length} by {limit}: {share}");
    }
    assert_eq!(shortened(1.0, f64::INFINITY), 1.0);
}

/// The Illinois search ends on the open side, within the touch interval, for straight and curved gaps.
#[test]
fn touches_are_located_on_the_open_side() {
    let near = 1e-10;
    let gaps: [fn(f64) -> f64; 4] = [|t| 0.3 - t, |t| 0.3 - t * t * t, |t| 1e-3 - t * t, |t| libm::exp(-5.0 * t) - 0.1];
    for (k, gap) in gaps.into_iter().enumerate() {
        let mut bracket = Bracket { low: (0.0, gap(0.0)), high: (1.0, gap(1.0)), side: 0, iterations: 0 };
        let found = loop {
            let length = bracket.next(near, 0.0).unwrap_or_else(|| panic!("gap {k} is not located"));
            assert!(length > bracket.low.0 && length < bracket.high.0);
            let value = gap(length);
            if (0.0..=near).contains(&value) {
                break length;
            }
            bracket.narrow(length, value, near);
        };
        assert!(bracket.iterations < 30, "gap {k} took {} iterations", bracket.iterations);
        assert!(gap(found) >= 0.0);
    }
}

/// The search ends if the bracket has no number between its ends, and after its last iteration.
#[test]
fn the_search_is_bounded() {
    let next_up = 1.0 + f64::EPSILON;
    let tight = Bracket { low: (1.0, 0.5), high: (next_up, -0.5), side: 0, iterations: 0 };
    assert_eq!(tight.next(1e-10, 0.0), None);
    let tired = Bracket { low: (0.0, 0.5), high: (1.0, -0.5), side: 0, iterations: MAX_LOCATION_ITERATIONS };
    assert_eq!(tired.next(1e-10, 0.0), None);
}
