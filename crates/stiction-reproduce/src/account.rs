//! What running a case gives: rows of numbers beside what they should be, and the verdicts that follow.

use serde::Serialize;
use stiction_plot::Figure;

/// What is compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// A number.
    Number(f64),
    /// Anything up to a number.
    AtMost(f64),
    /// Anything from a number on.
    AtLeast(f64),
    /// Anything from one number to another.
    Between(f64, f64),
    /// Yes or no.
    Flag(bool),
    /// Words: shown, never compared.
    Text(String),
    /// Nothing: what computes it is not in this build.
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

/// How far a number may be from the expected one: |ours − expected| ≤ abs + rel · |expected|.
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

/// A value and how closely it must be met.
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

    /// Something that is shown and not compared: a statement, a number without a stated accuracy.
    pub fn shown(value: impl Into<Value>) -> Self {
        let value = value.into();
        Self { value, tolerance: None }
    }

    /// Whether `ours` is as expected; `None` where the two cannot be compared. What is not finite meets nothing.
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

/// What follows from a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "because")]
pub enum Verdict {
    /// Ours is as expected.
    Holds,
    /// Ours is not as expected.
    Fails,
    /// Ours is what the independent reference says and not what was published; the file of the case says why.
    Differs(String),
    /// Ours is not what a first derivation said, which nobody published and a later one did not confirm; the file of the case says more.
    DiffersFromFirst(String),
    /// There is nothing to compare with.
    NoReference,
    /// What this build cannot compute, because it lacks an engine: not judged, and not counted as holding.
    NotInBuild,
    /// A time on this machine, or the work of an engine: shown, never judged.
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
    /// A quantity, its unit (`""` if it has none) and what we get.
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

    /// What the independent reference says.
    pub fn reference(mut self, expected: Expected) -> Self {
        self.reference = Some(expected);
        self
    }

    /// What was published.
    pub fn published(mut self, expected: Expected) -> Self {
        self.published = Some(expected);
        self
    }

    /// What a first derivation said, where a later one said otherwise. The quantity needs another row, with the later one as its reference.
    pub fn first_derivation(mut self, expected: Expected) -> Self {
        self.first = Some(expected);
        self
    }

    /// Why the published value, or that of a first derivation, is not met, in the words of the file of the case.
    pub fn explained(mut self, reason: impl Into<String>) -> Self {
        self.explanation = Some(reason.into());
        self
    }

    /// Marks a time on this machine, or the work of an engine that is a library of the system: other versions of it need more or less.
    pub fn timing(mut self) -> Self {
        self.timing = true;
        self
    }

    /// Marks what a reader in a hurry should see: one or two rows of a case.
    pub fn headline(mut self) -> Self {
        self.headline = true;
        self
    }

    /// What it is.
    pub fn quantity(&self) -> &str {
        &self.quantity
    }

    /// Its unit.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// What was published, if anything.
    pub fn published_value(&self) -> Option<&Value> {
        self.published.as_ref().map(|expected| &expected.value)
    }

    /// What the independent reference says, if there is one, or else a first derivation.
    pub fn reference_value(&self) -> Option<&Value> {
        self.reference.as_ref().or(self.first.as_ref()).map(|expected| &expected.value)
    }

    /// What we get.
    pub fn ours(&self) -> &Value {
        &self.ours
    }

    /// The tolerance of the reference (or a first derivation) or, without one, of the published value.
    pub fn tolerance(&self) -> Option<Tolerance> {
        let judge = self.judge()?;
        judge.tolerance.filter(|_| matches!(judge.value, Value::Number(_)))
    }

    /// What the row is measured by.
    fn judge(&self) -> Option<&Expected> {
        self.reference.as_ref().or(self.first.as_ref()).or(self.published.as_ref())
    }

    /// Distance from the reference (or a first derivation) or, without one, from the published value.
    pub fn error(&self) -> Option<f64> {
        let judge = self.judge()?;
        match (&judge.value, &self.ours) {
            (Value::Number(expected), Value::Number(ours)) => Some((ours - expected).abs()),
            _ => None,
        }
    }

    /// Whether it is a time on this machine.
    pub fn is_timing(&self) -> bool {
        self.timing
    }

    /// Whether it is for readers in a hurry.
    pub fn is_headline(&self) -> bool {
        self.headline
    }

    /// The verdict: the reference decides; a published value that is not met needs a reason, and so does that of a first derivation.
    pub fn verdict(&self) -> Verdict {
        if self.timing {
            return Verdict::Informative;
        }
        if self.ours == Value::NotInBuild {
            return Verdict::NotInBuild;
        }
        let met = |expected: &Option<Expected>| expected.as_ref().and_then(|expected| expected.met_by(&self.ours));
        let judged = [met(&self.reference), met(&self.published), met(&self.first)];
        match (judged, &self.explanation) {
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
    /// What it shows.
    pub caption: String,
    /// The figure of the source it stands for, or that it has none.
    pub stands_for: String,
    /// The figure.
    pub figure: Figure,
}

/// What running a case gave.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The quantities, in the order of the case.
    pub rows: Vec<Row>,
    /// The figures.
    pub figures: Vec<Illustration>,
    /// What a reader should know beside them.
    pub remarks: Vec<String>,
}

impl Account {
    /// Adds a row.
    pub fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Adds a figure: what it shows, and which figure of the source it stands for.
    pub fn draw(&mut self, caption: impl Into<String>, stands_for: impl Into<String>, figure: Figure) {
        self.figures.push(Illustration { caption: caption.into(), stands_for: stands_for.into(), figure });
    }

    /// What is not as published or first derived, and why.
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
        // A reason does not help against the reference.
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
        // A reason helps neither against the reference nor does it hide what was published.
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
