//! Units of recordings.

use schemars::JsonSchema;
use serde::Deserialize;
use stiction::scene;

/// Dimension of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    Time,
    Length,
    Angle,
    /// A part of a quaternion.
    Number,
}

/// Names of units, their dimensions, and their factors to the SI unit.
const UNITS: [(&str, Dimension, f64); 10] = [
    ("s", Dimension::Time, 1.0),
    ("ms", Dimension::Time, 1e-3),
    ("us", Dimension::Time, 1e-6),
    ("ns", Dimension::Time, 1e-9),
    ("m", Dimension::Length, 1.0),
    ("cm", Dimension::Length, 1e-2),
    ("mm", Dimension::Length, 1e-3),
    ("rad", Dimension::Angle, 1.0),
    ("deg", Dimension::Angle, std::f64::consts::PI / 180.0),
    ("1", Dimension::Number, 1.0),
];

impl Dimension {
    /// Name in messages.
    fn words(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::Length => "a length",
            Self::Angle => "an angle",
            Self::Number => "a plain number",
        }
    }

    /// Its units, the SI unit first.
    fn units(self) -> impl Iterator<Item = &'static str> {
        UNITS.into_iter().filter(move |(_, dimension, _)| *dimension == self).map(|(name, ..)| name)
    }

    /// Factor of a unit to the SI unit; on failure the reason and a hint.
    pub(super) fn factor(self, unit: &str) -> Result<f64, (String, String)> {
        let known = || format!("units of {}: {}", self.words(), self.units().collect::<Vec<_>>().join(", "));
        match UNITS.iter().find(|(name, ..)| *name == unit) {
            Some((_, dimension, factor)) if *dimension == self => Ok(*factor),
            Some((_, dimension, _)) => {
                Err((format!("`{unit}` is a unit of {}, but this is {}", dimension.words(), self.words()), known()))
            }
            None => {
                let suggestion = scene::suggestion(unit, self.units());
                let hint = if suggestion.starts_with("known") { known() } else { format!("{suggestion} {}", known()) };
                Err((format!("`{unit}` is no unit that recordings may have"), hint))
            }
        }
    }
}

/// A number, or a number with its unit: `"1 mm"`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "a number, or a text with a number and a unit", extend("examples" = ["1 mm"]))]
pub(super) enum Quantity {
    /// In the unit of its column, or in the SI unit.
    Number(f64),
    /// With its own unit.
    Text(String),
}

impl Quantity {
    /// Value in the SI unit; a number without a unit has this factor.
    pub(super) fn value(&self, dimension: Dimension, bare: f64) -> Result<f64, (String, String)> {
        let text = match self {
            Self::Number(number) => return Ok(number * bare),
            Self::Text(text) => text.trim(),
        };
        let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |at| at + 1);
        let (number, unit) = text.split_at(end);
        let Ok(number) = number.trim().parse::<f64>() else {
            return Err((format!("`{text}` does not begin with a number"), "such as \"1 mm\"".to_owned()));
        };
        let unit = unit.trim();
        Ok(number * if unit.is_empty() { bare } else { dimension.factor(unit)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_their_unit_or_that_of_the_column() {
        let value = |text: &str, bare| Quantity::Text(text.to_owned()).value(Dimension::Length, bare);
        assert_eq!(value("2.5 mm", 1.0), Ok(0.0025));
        assert_eq!(value("2.5e-3", 1e-3), Ok(2.5e-6));
        assert_eq!(Quantity::Number(3.0).value(Dimension::Length, 1e-3), Ok(0.003));
        for (text, part) in [("1 deg", "unit of an angle"), ("1 inch", "no unit"), ("mm", "number")] {
            let (reason, _) = value(text, 1.0).unwrap_err();
            assert!(reason.contains(part), "{reason}");
        }
        assert!(Dimension::Length.factor("mn").unwrap_err().1.contains("did you mean `m"), "a suggestion");
    }
}
