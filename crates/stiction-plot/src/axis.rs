//! Axes: quantity, unit, scale and range.

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances for equal differences.
    #[default]
    Linear,
    /// Equal distances for equal ratios; zero and negative values are omitted and counted.
    Log,
}

/// One axis of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Quantity, for example "height of rod".
    pub label: String,
    /// Unit, for example "m"; empty for dimensionless numbers.
    pub unit: String,
    /// Linear or logarithmic scale.
    pub scale: Scale,
    /// Values at the two ends; computed from the data if this is `None` or an empty range.
    pub range: Option<[f64; 2]>,
    /// Names at 0, 1, 2, … instead of numbers; empty for numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// A linear axis with the range of the data.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), ..Self::default() }
    }

    /// The same axis with logarithmic scale.
    pub fn log(self) -> Self {
        Self { scale: Scale::Log, ..self }
    }

    /// The same axis from `low` to `high`.
    pub fn range(self, low: f64, high: f64) -> Self {
        Self { range: Some([low, high]), ..self }
    }

    /// The same axis with names at 0, 1, 2, … instead of numbers, and a margin of half a unit on either side.
    pub fn named(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Self { range: Some([-0.5, names.len() as f64 - 0.5]), names, ..self }
    }

    /// Label of the axis: quantity divided by unit, so that the tick labels are pure numbers.
    pub fn text(&self) -> String {
        let Self { label, unit, .. } = self;
        match (label.is_empty(), unit.is_empty()) {
            (_, true) => label.clone(),
            (true, false) => unit.clone(),
            // "v / m/s" would divide twice.
            (false, false) if unit.contains(['/', ' ', '·']) => format!("{label} / ({unit})"),
            (false, false) => format!("{label} / {unit}"),
        }
    }
}
