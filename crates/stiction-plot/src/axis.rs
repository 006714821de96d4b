//! Axes: what is measured, in which unit, how it is spread over the page.

/// How an axis spreads values over the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances for equal differences.
    #[default]
    Linear,
    /// Equal distances for equal ratios; zero and negative values are left out and counted.
    Log,
}

/// One axis of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is measured: "height of rod".
    pub label: String,
    /// In which unit: "m"; empty for numbers without one.
    pub unit: String,
    /// How values are spread.
    pub scale: Scale,
    /// The values at the two ends; found from the data where this is `None` or makes no range.
    pub range: Option<[f64; 2]>,
    /// What stands at 0, 1, 2, … instead of numbers; numbers where it is empty.
    pub names: Vec<String>,
}

impl Axis {
    /// A linear axis whose range is found from the data.
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

    /// The same axis with names at 0, 1, 2, … instead of numbers, and half a place of room on either side.
    pub fn named(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Self { range: Some([-0.5, names.len() as f64 - 0.5]), names, ..self }
    }

    /// What stands along the axis: quantity divided by unit, so that the numbers beside it are numbers.
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
