//! Parameters: the values of the scene that they set, and the source of their own values.

use serde::Serialize;

use super::distribution::{normal_cdf, normal_quantile};

/// Number of strata of equal probability into which trials are sorted by the value of a random parameter.
pub const STRATA: usize = 10;

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word, such as a preset.
    Word(String),
}

/// Ends of an interval that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The lower end belongs to it.
    pub low: bool,
    /// The upper end belongs to it.
    pub high: bool,
}

/// Source of the values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Draw {
    /// Values in order: they span the cells of the study.
    Grid(Vec<f64>),
    /// Uniformly between two ends.
    Uniform {
        /// The ends.
        range: [f64; 2],
        /// Ends that belong to the interval.
        ends: Ends,
    },
    /// Normally, truncated at two ends that may be infinite.
    Normal {
        /// Mean before truncation.
        mean: f64,
        /// Standard deviation before truncation.
        deviation: f64,
        /// The ends.
        range: [f64; 2],
    },
    /// One of several, all equally likely.
    Choice(Vec<Value>),
}

/// A parameter of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in tables and expressions.
    pub name: String,
    /// The values of the scene that it sets.
    pub paths: Vec<String>,
    /// Unit of its numbers, such as `deg`.
    pub unit: Option<String>,
    /// Source of its values.
    pub draw: Draw,
}

impl Draw {
    /// Quantile of the distribution at u, in [0, 1).
    pub fn at(&self, u: f64) -> Value {
        match self {
            Self::Grid(values) => Value::Number(at(values, u).copied().unwrap_or(f64::NAN)),
            Self::Choice(values) => at(values, u).cloned().unwrap_or(Value::Number(f64::NAN)),
            Self::Uniform { range: [low, high], ends } => {
                let (first, last) =
                    (if ends.low { *low } else { low.next_up() }, if ends.high { *high } else { high.next_down() });
                Value::Number((low + (high - low) * u).max(first).min(last))
            }
            Self::Normal { mean, deviation, range: [low, high] } => {
                let [below, above] = [low, high].map(|end| normal_cdf((end - mean) / deviation));
                let x = mean + deviation * normal_quantile(below + (above - below) * u.max(f64::EPSILON));
                Value::Number(x.max(*low).min(*high))
            }
        }
    }

    /// Number of strata: one per choice, else [`STRATA`].
    pub fn strata(&self) -> usize {
        if let Self::Choice(values) = self { values.len() } else { STRATA }
    }

    /// Stratum of the probability u.
    pub fn stratum(&self, u: f64) -> usize {
        place(u, self.strata())
    }
}

/// Index of the part of [0, 1) that contains u, of n equal parts.
fn place(u: f64, n: usize) -> usize {
    // u is not negative.
    #[allow(clippy::cast_sign_loss)]
    let place = (u * n as f64) as usize;
    place.min(n.saturating_sub(1))
}

fn at<T>(values: &[T], u: f64) -> Option<&T> {
    values.get(place(u, values.len()))
}

impl Parameter {
    /// Value as it is written into a scene.
    pub fn written(&self, value: &Value) -> String {
        let number = |x: &f64| {
            // A whole number has no decimal point, because some values must be whole; other values accept both.
            let is_whole = x.fract() == 0.0 && x.abs() < 9e15;
            if is_whole { format!("{x:.0}") } else { format!("{x:?}") }
        };
        match (value, &self.unit) {
            (Value::Number(x), None) => number(x),
            (Value::Number(x), Some(unit)) => format!("\"{} {unit}\"", number(x)),
            (Value::Word(word), _) => word.clone(),
        }
    }

    /// True if its values span cells.
    pub fn is_grid(&self) -> bool {
        matches!(self.draw, Draw::Grid(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: Value) -> f64 {
        match value {
            Value::Number(x) => x,
            Value::Word(word) => panic!("{word}"),
        }
    }

    #[test]
    fn the_classes_of_friction_are_open_below_and_closed_above() {
        let class = Draw::Uniform { range: [0.33, 0.66], ends: Ends { low: false, high: true } };
        let [least, most] = [0.0, 1.0_f64.next_down()].map(|u| number(class.at(u)));
        assert!(least > 0.33 && least < 0.33 + 1e-15 && most <= 0.66 && most > 0.66 - 1e-15);
        let open = Draw::Uniform { range: [1.0, 1.0 + f64::EPSILON * 4.0], ends: Ends { low: false, high: false } };
        assert!(
            (0..100).all(
                |i| (1.0_f64.next_up()..=1.0 + 3.0 * f64::EPSILON).contains(&number(open.at(f64::from(i) / 100.0)))
            )
        );
        assert!((number(class.at(0.5)) - 0.495).abs() < 1e-15);
    }

    /// Against a table of the normal distribution, and by symmetry.
    #[test]
    fn normal_values_have_the_right_shares_below_them() {
        let normal = Draw::Normal { mean: 2.0, deviation: 0.5, range: [f64::NEG_INFINITY, f64::INFINITY] };
        for (u, z) in [
            (0.5, 0.0),
            (0.841_344_746_068_542_9, 1.0),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813),
        ] {
            assert!((number(normal.at(u)) - (2.0 + 0.5 * z)).abs() < 1e-12, "{u}");
        }
        let cut = Draw::Normal { mean: 0.0, deviation: 1.0, range: [-1.0, 2.0] };
        let n = 20_000;
        let values: Vec<f64> = (0..n).map(|i| number(cut.at((f64::from(i) + 0.5) / f64::from(n)))).collect();
        assert!(values.iter().all(|x| (-1.0..=2.0).contains(x)) && values.is_sorted());
        // The mean of a normal distribution cut off at a and b is (φ(a) − φ(b)) / (Φ(b) − Φ(a)).
        let density = |x: f64| libm::exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
        let exact = (density(-1.0) - density(2.0)) / (normal_cdf(2.0) - normal_cdf(-1.0));
        assert!((values.iter().sum::<f64>() / f64::from(n) - exact).abs() < 1e-6);
    }

    #[test]
    fn choices_are_equally_likely() {
        let words = ["a", "b", "c"].map(|word| Value::Word(word.to_owned()));
        let choice = Draw::Choice(words.to_vec());
        let count = |word: &Value| (0..300).filter(|i| choice.at(f64::from(*i) / 300.0) == *word).count();
        assert_eq!(words.each_ref().map(count), [100, 100, 100]);
        assert_eq!((choice.strata(), choice.stratum(0.4), choice.stratum(1.0)), (3, 1, 2));
    }
}
