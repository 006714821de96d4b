//! Ticks of an axis and their labels.
//!
//! Ticks of linear axes are at integer multiples of 1, 2 or 5 times a power of ten. Positions and labels are both computed
//! from the integers, so that neither shows a rounding error.

use crate::text::raised;

/// A tick with a number or a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position on the axis.
    pub value: f64,
    /// Label.
    pub label: String,
}

/// The ticks of one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// Long ticks with numbers, increasing.
    pub major: Vec<Tick>,
    /// Short ticks without numbers, increasing.
    pub minor: Vec<f64>,
    /// Common power of ten of the numbers, which is drawn at the end of the axis.
    pub exponent: i32,
}

/// Size from which on numbers are written with a common power of ten.
const LARGE: f64 = 1e5;
/// Size below which numbers are written with a common power of ten.
const SMALL: f64 = 1e-3;

impl Ticks {
    /// Ticks between two finite numbers, at most about `room` of them.
    pub fn linear([low, high]: [f64; 2], room: usize) -> Self {
        let size = low.abs().max(high.abs());
        let span = 0.5 * high - 0.5 * low;
        let meaningful = size.is_finite() && span > 1e-13 * size;
        if !meaningful {
            return Self::default();
        }
        let (digit, power, counts) = multiples([low, high], 2.0 * (span / room.max(1) as f64));
        let exponent = if (SMALL..LARGE).contains(&size) { 0 } else { 3 * floor_log10(size).div_euclid(3) };
        let tick = |count: i64| {
            let n = count * digit;
            Tick { value: scaled(n, power), label: decimal(n, power - exponent) }
        };
        let parts = if digit == 2 { 4 } else { 5 };
        let minor = minor_between(&counts, parts).map(|part| scaled(part * digit, power) / parts as f64);
        let minor = minor.filter(|x| (low..=high).contains(x)).collect();
        Self { major: counts.take(1000).map(tick).collect(), minor, exponent }
    }

    /// Ticks at 0, 1, 2, … with names, within a range.
    pub fn named(names: &[String], [low, high]: [f64; 2]) -> Self {
        let all = names.iter().enumerate().map(|(k, name)| Tick { value: k as f64, label: name.clone() });
        Self { major: all.filter(|tick| (low..=high).contains(&tick.value)).collect(), ..Self::default() }
    }

    /// Ticks between two positive numbers of a logarithmic axis.
    pub fn log([low, high]: [f64; 2], room: usize) -> Self {
        let decades = floor_log10(low)..=floor_log10(high) + 1;
        let within = |value: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(value);
        let multiples = |digits: &[i64]| -> Vec<(i64, i32, f64)> {
            let all = decades.clone().flat_map(|power| digits.iter().map(move |digit| (*digit, power)));
            all.map(|(digit, power)| (digit, power, scaled(digit, power))).filter(|(_, _, x)| within(x)).collect()
        };
        let tens = multiples(&[1]);
        let all = multiples(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let label = |digit: i64, power: i32| match digit {
            1 => format!("10{}", raised(power)),
            _ => format!("{digit}×10{}", raised(power)),
        };
        if tens.len() >= 2 {
            // Numbers span fewer than 700 decades.
            let stride = i32::try_from(tens.len().div_ceil(room.max(2))).unwrap_or(i32::MAX);
            let (shown, rest): (Vec<_>, Vec<_>) = tens.iter().partition(|(_, power, _)| power.rem_euclid(stride) == 0);
            let major = shown.iter().map(|(_, power, value)| Tick { value: *value, label: label(1, *power) }).collect();
            let minor = if stride > 1 { rest } else { all.into_iter().filter(|(digit, _, _)| *digit != 1).collect() };
            return Self { major, minor: minor.into_iter().map(|(_, _, x)| x).collect(), exponent: 0 };
        }
        let shown = [multiples(&[1, 2, 5]), all].into_iter().find(|shown| shown.len() >= 2);
        match shown {
            Some(shown) => {
                let tick = |(digit, power, value)| Tick { value, label: label(digit, power) };
                Self { major: shown.into_iter().map(tick).collect(), ..Self::default() }
            }
            None => Self::linear([low, high], room),
        }
    }
}

/// Indices of the minor ticks between major ones, in parts of a step.
fn minor_between(counts: &std::ops::RangeInclusive<i64>, parts: i64) -> impl Iterator<Item = i64> {
    let all = (counts.start() - 1) * parts..(counts.end() + 1) * parts;
    all.filter(move |part| part.rem_euclid(parts) != 0).take(5000)
}

/// Multiples of a step of about `least` in a range; the step is smaller if there would be fewer than two of them.
fn multiples([low, high]: [f64; 2], least: f64) -> (i64, i32, std::ops::RangeInclusive<i64>) {
    let within = |(digit, power): (i64, i32)| {
        let step = scaled(digit, power);
        // Ranges are at least 1e-13 of their values, so these are far below 2^63.
        let counts = (low / step - 1e-9).ceil() as i64..=(high / step + 1e-9).floor() as i64;
        (digit, power, counts)
    };
    let coarse = step_for(least);
    let finer = |(digit, power): (i64, i32)| match digit {
        1 => (5, power - 1),
        2 => (1, power),
        _ => (2, power),
    };
    let steps = std::iter::successors(Some(coarse), |step| Some(finer(*step))).take(4).map(within);
    let enough = |(_, _, counts): &(i64, i32, std::ops::RangeInclusive<i64>)| counts.end() > counts.start();
    steps.into_iter().find(enough).unwrap_or_else(|| within(coarse))
}

/// The smallest step 1, 2 or 5 times a power of ten that is not below `least`, as digit and power.
fn step_for(least: f64) -> (i64, i32) {
    let power = floor_log10(least);
    let candidates = [(1, power), (2, power), (5, power), (1, power + 1)];
    let fits = |(digit, power): &(i64, i32)| scaled(*digit, *power) >= least * (1.0 - 1e-9);
    candidates.into_iter().find(fits).unwrap_or((2, power + 1))
}

/// ⌊log₁₀ x⌋ of a positive finite number; other numbers are clamped.
fn floor_log10(x: f64) -> i32 {
    libm::log10(x.clamp(f64::MIN_POSITIVE, f64::MAX)).floor() as i32
}

/// n·10^power, correctly rounded by the parser of numbers, unlike a product of powers.
fn scaled(n: i64, power: i32) -> f64 {
    format!("{n}e{power}").parse().unwrap_or(f64::NAN)
}

/// n·10^power in decimal digits.
fn decimal(n: i64, power: i32) -> String {
    let sign = if n < 0 { "−" } else { "" };
    let digits = n.unsigned_abs().to_string();
    if n == 0 {
        return "0".to_owned();
    }
    if power >= 0 {
        return format!("{sign}{digits}{}", "0".repeat(power.unsigned_abs() as usize));
    }
    let places = power.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, part) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{part}")
}
