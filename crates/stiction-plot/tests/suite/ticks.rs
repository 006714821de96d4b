//! Ticks: steps of 1, 2, 5, inside the range, with labels of their positions.

use proptest::prelude::*;
use stiction_plot::Ticks;

/// Number represented by a label and the common power of ten.
fn read(label: &str, exponent: i32) -> f64 {
    let plain = label.replace('−', "-");
    match plain.split_once("10") {
        Some((factor, power)) if power.chars().any(|c| "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c)) => {
            let digit = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|d| d == c).map(|d| d.to_string());
            let power: String = power.chars().map(|c| digit(c).unwrap_or_else(|| "-".to_owned())).collect();
            let factor = factor.trim_end_matches('×');
            format!("{}e{power}", if factor.is_empty() { "1" } else { factor }).parse().expect("a number")
        }
        _ => format!("{plain}e{exponent}").parse().expect("a number"),
    }
}

proptest! {
    #[test]
    fn linear_ticks_are_round_evenly_spaced_and_labelled_truly(
        middle in -1e3..1e3_f64, scale in -12..12_i32, width in 1e-3..1e3_f64, room in 2..12_usize,
    ) {
        let unit = 10_f64.powi(scale);
        let (low, high) = ((middle - width) * unit, (middle + width) * unit);
        let ticks = Ticks::linear([low, high], room);
        prop_assert!((2..=room.max(5) + 1).contains(&ticks.major.len()), "{} ticks for room {room}", ticks.major.len());
        let slack = 1e-8 * (high - low);
        for tick in &ticks.major {
            prop_assert!((low - slack..=high + slack).contains(&tick.value));
            prop_assert_eq!(read(&tick.label, ticks.exponent), tick.value, "{}", &tick.label);
        }
        let labels: std::collections::BTreeSet<_> = ticks.major.iter().map(|tick| &tick.label).collect();
        prop_assert_eq!(labels.len(), ticks.major.len());
        if let [a, b, ..] = ticks.major.as_slice() {
            let step = b.value - a.value;
            let digit = step / 10_f64.powf((step * (1.0 + 1e-9)).log10().floor());
            prop_assert!([1.0, 2.0, 5.0].iter().any(|d| (digit - d).abs() < 1e-6), "step {step}");
            for pair in ticks.major.windows(2) {
                prop_assert!((pair[1].value - pair[0].value - step).abs() < 1e-6 * step);
            }
        }
    }

    #[test]
    fn logarithmic_ticks_are_inside_increasing_and_labelled_truly(
        low in -30.0..30.0_f64, decades in 0.01..40.0_f64, room in 2..12_usize,
    ) {
        let (low, high) = (10_f64.powf(low), 10_f64.powf(low + decades));
        let ticks = Ticks::log([low, high], room);
        prop_assert!(!ticks.major.is_empty());
        prop_assert!(ticks.major.windows(2).all(|pair| pair[0].value < pair[1].value));
        for tick in &ticks.major {
            prop_assert!((low * 0.999_999..=high * 1.000_001).contains(&tick.value));
            let read = read(&tick.label, ticks.exponent);
            prop_assert!((read - tick.value).abs() <= 1e-12 * tick.value, "{}", &tick.label);
        }
        prop_assert!(ticks.minor.iter().all(|x| (low * 0.999..=high * 1.001).contains(x)));
    }
}

#[test]
fn known_axes() {
    let labels = |ticks: Ticks| ticks.major.into_iter().map(|tick| tick.label).collect::<Vec<_>>();
    assert_eq!(labels(Ticks::linear([0.0, 1.0], 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    assert_eq!(labels(Ticks::linear([-3.0, 3.0], 3)), ["−2", "0", "2"]);
    assert_eq!(labels(Ticks::log([1e-3, 1.0], 8)), ["10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
    assert_eq!(labels(Ticks::log([1.5e-3, 8e-3], 8)), ["2×10⁻³", "5×10⁻³"]);
    let large = Ticks::linear([0.0, 3e6], 4);
    assert_eq!((large.exponent, labels(large)), (6, vec!["0".into(), "1".into(), "2".into(), "3".into()]));
}

#[test]
fn ranges_without_ticks_have_none() {
    for range in [[1.0, 1.0], [2.0, 1.0], [f64::NAN, 1.0], [0.0, f64::INFINITY], [1.0, 1.0 + 1e-15]] {
        assert!(Ticks::linear(range, 5).major.is_empty(), "{range:?}");
    }
    // Ranges that are illegal for a logarithmic axis give a bounded number of ticks too.
    for range in [[0.0, 1.0], [-1.0, f64::INFINITY], [f64::NAN, f64::NAN], [f64::MIN_POSITIVE, f64::MAX], [2.0, 1.0]] {
        assert!(Ticks::log(range, 5).major.len() < 1000, "{range:?}");
    }
}
