//! Formatting of numbers and values.

use std::fmt;

use crate::{Row, Tolerance, Value, Verdict};

/// A number with up to `digits` significant digits, with an exponent if needed.
pub(crate) fn number(x: f64, digits: usize) -> String {
    let size = x.abs();
    if x == 0.0 {
        return "0".to_owned();
    }
    if !x.is_finite() {
        return format!("{x}");
    }
    if (1e-4..1e6).contains(&size) {
        // Rounded first, so that 0.99999 with three digits counts as 1.
        let rounded: f64 = format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x);
        let before = libm::floor(libm::log10(rounded.abs())) as i32;
        let after = usize::try_from(i32::try_from(digits).unwrap_or(i32::MAX) - 1 - before).unwrap_or(0);
        return without_zeros(&format!("{x:.after$}"));
    }
    let text = format!("{x:.*e}", digits.saturating_sub(1));
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", without_zeros(mantissa)),
        None => text,
    }
}

fn without_zeros(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
}

/// Significant digits of values and of errors.
const DIGITS: (usize, usize) = (7, 2);

/// Magnitude below which a value counts as round-off of zero.
const ROUND_OFF: f64 = 1e-9;

/// Length of the longest statement inside of a table; longer ones are placed beside it.
const LONGEST_IN_TABLE: usize = 24;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Round-off does not have seven significant digits.
        let number = |x: &f64| number(*x, if x.abs() < ROUND_OFF { DIGITS.1 } else { DIGITS.0 });
        match self {
            Self::Number(x) => write!(f, "{}", number(x)),
            Self::AtMost(x) => write!(f, "≤ {}", number(x)),
            Self::AtLeast(x) => write!(f, "≥ {}", number(x)),
            Self::Between(a, b) => write!(f, "{} to {}", number(a), number(b)),
            Self::Flag(true) => f.write_str("yes"),
            Self::Flag(false) => f.write_str("no"),
            Self::Text(text) => f.write_str(text),
            Self::NotInBuild => f.write_str("–"),
        }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |x: f64| number(x, DIGITS.1 + 1);
        match (self.abs, self.rel) {
            (0.0, 0.0) => f.write_str("exact"),
            (abs, 0.0) => write!(f, "± {}", part(abs)),
            (0.0, rel) => write!(f, "± {} %", part(100.0 * rel)),
            (abs, rel) => write!(f, "± {} ± {} %", part(abs), part(100.0 * rel)),
        }
    }
}

impl Verdict {
    /// Name of the verdict, one word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "FAILS",
            Self::Differs(_) => "differs from print",
            Self::DiffersFromFirst(_) => "differs from first derivation",
            Self::NoReference => "no reference",
            Self::NotInBuild => "not in this build",
            Self::Informative => "informative",
        }
    }
}

impl Row {
    /// Cells of the row in a table: quantity with unit, published, reference, ours, error, tolerance, verdict.
    pub fn cells(&self) -> [String; 7] {
        let text = |value: Option<&Value>| match value {
            None => "–".to_owned(),
            Some(Value::Text(text)) if text.chars().count() > LONGEST_IN_TABLE => "in words".to_owned(),
            Some(value) => value.to_string(),
        };
        let quantity = match self.unit() {
            "" => self.quantity().to_owned(),
            unit => format!("{} ({unit})", self.quantity()),
        };
        [
            quantity,
            text(self.published_value()),
            text(self.reference_value()),
            self.ours().to_string(),
            self.error().map_or_else(String::new, |error| number(error, DIGITS.1)),
            self.tolerance().map_or_else(String::new, |tolerance| tolerance.to_string()),
            self.verdict().word().to_owned(),
        ]
    }

    /// Headings of [`Self::cells`].
    pub const HEADINGS: [&'static str; 7] =
        ["quantity", "published", "reference", "ours", "error", "tolerance", "verdict"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_their_digits() {
        let cases = [
            (0.0, 7, "0"),
            (-2.778_512_565, 7, "-2.778513"),
            (0.999_999_99, 3, "1"),
            (9.81, 7, "9.81"),
            (54.655_71, 7, "54.65571"),
            (1.5e-7, 2, "1.5e-7"),
            (1e-12, 7, "1e-12"),
            (123_456.789, 7, "123456.8"),
            (0.000_123_456_78, 3, "0.000123"),
        ];
        for (x, digits, text) in cases {
            assert_eq!(number(x, digits), text);
        }
        assert_eq!(Tolerance { abs: 0.0, rel: 0.01 }.to_string(), "± 1 %");
        assert_eq!(Value::Between(3.55, 3.75).to_string(), "3.55 to 3.75");
    }
}
