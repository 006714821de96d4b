//! Wilson's interval against published numbers and its definition.

use stiction_study::SuccessRate;

/// R. G. Newcombe (1998), Two-sided confidence intervals for the single proportion, table I, method 3.
#[test]
fn wilson_intervals_are_those_in_print() {
    for (hits, of, low, high) in
        [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
    {
        let rate = SuccessRate::new(hits, of);
        assert!((rate.low - low).abs() < 5e-5 && (rate.high - high).abs() < 5e-5, "{rate:?}");
    }
}

/// The ends are where the score test is just not rejected: (p̂ − p)² = z² p (1 − p)/n.
#[test]
fn the_ends_solve_the_equation_of_the_score_test() {
    let z2 = 1.959_963_984_540_054_f64.powi(2);
    for (hits, of) in [(1, 2), (3, 7), (250, 2000), (1, 1_000_000)] {
        let rate = SuccessRate::new(hits, of);
        for p in [rate.low, rate.high] {
            let (left, right) = ((rate.value() - p).powi(2), z2 * p * (1.0 - p) / of as f64);
            assert!((left - right).abs() < 1e-12 * right.max(1e-12), "{hits} of {of}: {left} {right}");
        }
    }
}

#[test]
fn shares_of_nothing_and_of_all_have_sensible_ends() {
    assert_eq!((SuccessRate::new(0, 0).low, SuccessRate::new(0, 0).high), (0.0, 1.0));
    assert_eq!((SuccessRate::new(0, 9).low, SuccessRate::new(9, 9).high), (0.0, 1.0));
    assert!(SuccessRate::new(9, 9).low > 0.6 && SuccessRate::new(0, 9).high < 0.4);
    assert!(
        SuccessRate::new(5, 10).agrees_with(&SuccessRate::new(50, 90))
            && !SuccessRate::new(1, 100).agrees_with(&SuccessRate::new(50, 100))
    );
}
