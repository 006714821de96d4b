//! Results of a case: rows of numbers with their expected values, and the verdicts of the comparison.

use serde::Serialize;
use stiction_plot::Figure;

/// Value of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// A number.
    Number(f64),
    /// Any number up to a bound.
    AtMost(f64),
    /// Any number from a bound on.
    AtLeast(f64),
    /// Any number between two bounds.
    Between(f64, f64),
    /// A truth value.
    Flag(bool),
    /// A text: shown, never compared.
    Text(String),
    /// No value: this build lacks the engine that computes it.
    NotInBuild,
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Number(count as f64)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// Largest allowed deviation from an expected number: |ours − expected| ≤ abs + rel · |expected|.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tolerance {
    /// Absolute part, in the unit of the row.
    pub abs: f64,
    /// Relative part.
    pub rel: f64,
}

impl Tolerance {
    /// An absolute tolerance.
    pub fn absolute(abs: f64) -> Self {
        Self { abs, rel: 0.0 }
    }
}

/// An expected value with its tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    value: Value,
    tolerance: Option<Tolerance>,
}

impl Expected {
    /// A value within a tolerance.
    pub fn within(value: impl Into<Value>, tolerance: Tolerance) -> Self {
        Self { value: value.into(), tolerance: Some(tolerance) }
    }

    /// A bound, which is its own tolerance.
    pub fn bound(value: Value) -> Self {
        Self { value, tolerance: None }
    }

    /// A value that is shown and not compared: a statement, or a number without a stated accuracy.
    pub fn shown(value: impl Into<Value>) -> Self {
        let value = value.into();
        Self { value, tolerance: None }
    }

    /// True if `ours` is as expected; `None` if the two cannot be compared. Numbers that are not finite are never as expected.
    fn met_by(&self, ours: &Value) -> Option<bool> {
        match (&self.value, ours) {
            (Value::Number(expected), Value::Number(ours)) => {
                let tolerance = self.tolerance?;
                Some((ours - expected).abs() <= tolerance.abs + tolerance.rel * expected.abs())
            }
            (Value::AtMost(most), Value::Number(ours)) => Some(ours <= most),
            (Value::AtLeast(least), Value::Number(ours)) => Some(ours.is_finite() && ours >= least),
            (Value::Between(least, most), Value::Number(ours)) => Some((least..=most).contains(&ours)),
            (Value::Flag(expected), Value::Flag(ours)) => Some(expected == ours),
            (Value::Text(_), _) => None,
            _ => Some(false),
        }
    }
}

/// Verdict on a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "because")]
pub enum Verdict {
    /// Our value is as expected.
    Holds,
    /// Our value is not as expected.
    Fails,
    /// Our value agrees with the independent reference and not with the published value; the file of the case gives the reason.
    Differs(String),
    /// Our value does not agree with a first derivation, which was not published and which a later derivation did not confirm. The file
    /// of the case gives details.
    DiffersFromFirst(String),
    /// There is no value to compare with.
    NoReference,
    /// This build cannot compute the value, because it lacks an engine. The row is not compared, and not counted as holding.
    NotInBuild,
    /// A time on this machine, or the work of an engine: shown, never compared.
    Informative,
}

/// One quantity of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    quantity: String,
    unit: &'static str,
    published: Option<Expected>,
    reference: Option<Expected>,
    first: Option<Expected>,
    ours: Value,
    explanation: Option<String>,
    timing: bool,
    headline: bool,
}

impl Row {
    /// A quantity, its unit (`""` if it has none) and our value.
    pub fn new(quantity: impl Into<String>, unit: &'static str, ours: impl Into<Value>) -> Self {
        Self {
            quantity: quantity.into(),
            unit,
            published: None,
            reference: None,
            first: None,
            ours: ours.into(),
            explanation: None,
            timing: false,
            headline: false,
        }
    }

    /// Sets the value of the independent reference.
    pub fn reference(mut self, expected: Expected) -> Self {
        self.reference = Some(expected);
        self
    }

    /// Sets the published value.
    pub fn published(mut self, expected: Expected) -> Self {
        self.published = Some(expected);
        self
    }

    /// Sets the value of a first derivation that a later derivation contradicts. The quantity needs another row with the later value as its
    /// reference.
    pub fn first_derivation(mut self, expected: Expected) -> Self {
        self.first = Some(expected);
        self
    }

    /// Sets the reason for a deviation from the published value or from a first derivation, as stated in the file of the case.
    pub fn explained(mut self, reason: impl Into<String>) -> Self {
        self.explanation = Some(reason.into());
        self
    }

    /// Marks a time on this machine, or the work of an engine that is a library of the system and depends on its version.
    pub fn timing(mut self) -> Self {
        self.timing = true;
        self
    }

    /// Marks a headline row: one or two rows of a case.
    pub fn headline(mut self) -> Self {
        self.headline = true;
        self
    }

    /// Name of the quantity.
    pub fn quantity(&self) -> &str {
        &self.quantity
    }

    /// Its unit.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// Published value, if there is one.
    pub fn published_value(&self) -> Option<&Value> {
        self.published.as_ref().map(|expected| &expected.value)
    }

    /// Value of the independent reference if there is one, otherwise of a first derivation.
    pub fn reference_value(&self) -> Option<&Value> {
        self.reference.as_ref().or(self.first.as_ref()).map(|expected| &expected.value)
    }

    /// Our value.
    pub fn ours(&self) -> &Value {
        &self.ours
    }

    /// Tolerance of the reference (or of a first derivation) or, without one, of the published value.
    pub fn tolerance(&self) -> Option<Tolerance> {
        let compared_with = self.compared_with()?;
        compared_with.tolerance.filter(|_| matches!(compared_with.value, Value::Number(_)))
    }

    /// Expected value that the row is compared with.
    fn compared_with(&self) -> Option<&Expected> {
        self.reference.as_ref().or(self.first.as_ref()).or(self.published.as_ref())
    }

    /// Distance from the reference (or a first derivation) or, without one, from the published value.
    pub fn error(&self) -> Option<f64> {
        let compared_with = self.compared_with()?;
        match (&compared_with.value, &self.ours) {
            (Value::Number(expected), Value::Number(ours)) => Some((ours - expected).abs()),
            _ => None,
        }
    }

    /// True if it is a time on this machine.
    pub fn is_timing(&self) -> bool {
        self.timing
    }

    /// True for a headline row.
    pub fn is_headline(&self) -> bool {
        self.headline
    }

    /// Verdict on the row. The reference decides. A deviation from a published value or from a first derivation needs a reason.
    pub fn verdict(&self) -> Verdict {
        if self.timing {
            return Verdict::Informative;
        }
        if self.ours == Value::NotInBuild {
            return Verdict::NotInBuild;
        }
        let met = |expected: &Option<Expected>| expected.as_ref().and_then(|expected| expected.met_by(&self.ours));
        let agreement = [met(&self.reference), met(&self.published), met(&self.first)];
        match (agreement, &self.explanation) {
            ([Some(false), ..], _) | ([_, Some(false), _] | [.., Some(false)], None) => Verdict::Fails,
            ([_, Some(false), _], Some(reason)) => Verdict::Differs(reason.clone()),
            ([.., Some(false)], Some(reason)) => Verdict::DiffersFromFirst(reason.clone()),
            ([None, None, None], _) => Verdict::NoReference,
            _ => Verdict::Holds,
        }
    }
}

/// A figure of a case.
#[derive(Clone, Debug)]
pub struct Illustration {
    /// Content of the figure.
    pub caption: String,
    /// Corresponding figure of the source, or a statement that there is none.
    pub stands_for: String,
    /// The figure.
    pub figure: Figure,
}

/// Results of a case.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The quantities, in the order of the case.
    pub rows: Vec<Row>,
    /// The figures.
    pub figures: Vec<Illustration>,
    /// Remarks for the reader.
    pub remarks: Vec<String>,
}

impl Account {
    /// Adds a row.
    pub fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Adds a figure with its content and the corresponding figure of the source.
    pub fn draw(&mut self, caption: impl Into<String>, stands_for: impl Into<String>, figure: Figure) {
        self.figures.push(Illustration { caption: caption.into(), stands_for: stands_for.into(), figure });
    }

    /// Deviations from published values and first derivations, with their reasons.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, String)> {
        self.rows.iter().filter_map(|row| match row.verdict() {
            Verdict::Differs(reason) | Verdict::DiffersFromFirst(reason) => Some((row.quantity(), reason)),
            _ => None,
        })
    }

    /// Adds a remark.
    pub fn remark(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64) -> Row {
        Row::new("x", "m", ours)
    }

    fn near(value: f64) -> Expected {
        Expected::within(value, Tolerance { abs: 0.1, rel: 0.0 })
    }

    #[test]
    fn the_reference_decides() {
        assert_eq!(row(1.05).reference(near(1.0)).verdict(), Verdict::Holds);
        assert_eq!(row(1.2).reference(near(1.0)).verdict(), Verdict::Fails);
        assert_eq!(row(1.2).reference(near(1.0)).published(near(1.2)).verdict(), Verdict::Fails);
        assert_eq!(row(f64::NAN).reference(near(1.0)).verdict(), Verdict::Fails);
        assert_eq!(row(1.2).verdict(), Verdict::NoReference);
        assert_eq!(row(1.2).published(Expected::shown(1.0)).verdict(), Verdict::NoReference);
    }

    #[test]
    fn a_published_value_that_is_not_met_needs_a_reason() {
        let differs = row(1.0).reference(near(1.0)).published(near(2.0));
        assert_eq!(differs.verdict(), Verdict::Fails);
        assert_eq!(differs.clone().explained("misprint").verdict(), Verdict::Differs("misprint".into()));
        // A reason does not excuse a deviation from the reference.
        assert_eq!(row(1.5).reference(near(1.0)).published(near(2.0)).explained("no").verdict(), Verdict::Fails);
    }

    #[test]
    fn a_first_derivation_that_is_not_met_is_not_called_print() {
        let first = row(1.0).first_derivation(near(2.0));
        assert_eq!(first.verdict(), Verdict::Fails);
        let reason = "not confirmed".to_owned();
        assert_eq!(first.clone().explained(&reason).verdict(), Verdict::DiffersFromFirst(reason.clone()));
        assert_eq!((first.error(), first.reference_value()), (Some(1.0), Some(&Value::Number(2.0))));
        assert_eq!(row(1.0).first_derivation(near(1.0)).explained(&reason).verdict(), Verdict::Holds);
        // A reason does not excuse a deviation from the reference, and does not hide the published value.
        assert_eq!(first.clone().reference(near(3.0)).explained(&reason).verdict(), Verdict::Fails);
        assert_eq!(first.published(near(3.0)).explained(&reason).verdict(), Verdict::Differs(reason));
    }

    #[test]
    fn what_is_not_in_the_build_neither_holds_nor_fails() {
        let absent = Row::new("x", "m", Value::NotInBuild);
        assert_eq!(absent.clone().reference(near(1.0)).verdict(), Verdict::NotInBuild);
        assert_eq!(absent.published(near(1.0)).timing().verdict(), Verdict::Informative);
    }

    #[test]
    fn bounds_flags_and_words() {
        assert_eq!(row(1.0).reference(Expected::bound(Value::AtMost(0.5))).verdict(), Verdict::Fails);
        assert_eq!(row(f64::INFINITY).reference(Expected::bound(Value::AtLeast(0.5))).verdict(), Verdict::Fails);
        assert_eq!(row(0.7).reference(Expected::bound(Value::Between(0.5, 1.0))).verdict(), Verdict::Holds);
        let flag = Row::new("rests", "", true).reference(Expected::within(true, Tolerance::default()));
        assert_eq!(flag.verdict(), Verdict::Holds);
        assert_eq!(row(1.0).reference(Expected::within(true, Tolerance::default())).verdict(), Verdict::Fails);
    }
}
