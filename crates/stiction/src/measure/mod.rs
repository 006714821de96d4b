//! Measures of a recorded run: expressions over its columns.
//!
//! A [`Measure`] is parsed once and evaluated over any number of runs: those in files
//! ([`RunTables`](crate::record::RunTables)) and those in memory ([`RunColumns`](crate::record::RunColumns)). Its value is a
//! series, one number per recorded moment, or a scalar. The program's `plot` draws series; studies compare scalars.
//!
//! # Language
//!
//! Numbers; columns of the trajectory by name: `rod.y`, or `"my rod".y` and `"my rod.y"` where a name has odd characters;
//! `t`, the time; `step`, the step size in seconds; `step_number`; `pi`. Operators, the loosest first: `or`, `and`, `not`,
//! `< <= > >= == !=`, `+ -`, `* / %`, signs, `^`. Conditions are 1 where they hold and 0 elsewhere; a comparison with what
//! is not a number does not hold.
//!
//! | | |
//! |---|---|
//! | `abs sqrt exp log sin cos tan asin acos atan sign floor` | of one argument |
//! | `atan2(y, x)`, `hypot(x, y)`, `min(a, b)`, `max(a, b)`, `clamp(x, a, b)` | |
//! | `if(c, a, b)`, `default(x, a)` | `default` puts a where x is not a number |
//! | `deriv(e)` | rate of change: parabola through three moments; straight line at the ends |
//! | `integral(e)`, `cumsum(e)` | over time by trapezoids, from 0; running sum |
//! | `contact("table/rod:0-1").gap` | a column of one contact; not a number where it is absent |
//! | `sum_contacts(e)`, `min_contacts(e)`, `max_contacts(e)`, `count_contacts(c)` | over the contacts of a moment; inside, names are columns of the contact table, and words compare: `mode == "slip"` |
//! | `initial(e)`, `final(e)`, `min(e)`, `max(e)`, `mean(e)` | scalars; the mean is over time; what is not a number does not count |
//! | `at(e, t)` | scalar at a time, on a straight line between moments |
//! | `average(e, T)` | the mean over the last T seconds; over what there is before T |
//! | `sum_every(e, T)` | scalar: the sum over the recorded moments nearest to T, 2 T, 3 T, … |
//! | `first(c)`, `last(c)` | the first and last time at which a condition holds; not a number if never |
//! | `any(c)`, `all(c)` | scalars 1 or 0 |
//!
//! Units follow where that is simple: sums of equal units, products, quotients, integer powers; else there is none.

mod evaluate;
mod lexer;
mod parse;
mod quantity;
mod series;
mod source;
mod syntax;
#[cfg(test)]
mod tests;
mod unit;

use std::{fmt, ops::Range};

pub use source::{Needs, Source};

/// Longest accepted text, bytes.
pub const MAX_LENGTH: usize = 10_000;

/// Deepest accepted nesting.
pub const MAX_DEPTH: usize = 64;

/// An expression over the columns of a run. See the [module documentation](self) for its language.
#[derive(Clone, Debug)]
pub struct Measure {
    text: String,
    tree: syntax::Node,
}

/// A value with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The number or numbers.
    pub value: Value,
    /// Unit, such as `m/s`; empty for plain numbers, `None` if it is not known.
    pub unit: Option<String>,
}

/// One number, or one per recorded moment.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One number.
    Scalar(f64),
    /// One number per recorded moment.
    Series(Vec<f64>),
}

/// Error of parsing or evaluating an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureError {
    /// The whole text.
    pub text: String,
    /// Byte range of the error.
    pub span: Range<usize>,
    /// Description of the error.
    pub reason: String,
    /// Suggested correction.
    pub hint: Option<String>,
}

impl Measure {
    /// Parses an expression.
    pub fn parse(text: &str) -> Result<Self, MeasureError> {
        let tree = parse::parse(text).map_err(|fault| fault.within(text))?;
        Ok(Self { text: text.to_owned(), tree })
    }

    /// Text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds the columns that the expression reads to `needs`.
    pub fn add_needs(&self, needs: &mut Needs) {
        needs.add(&self.tree);
    }

    /// Evaluates the expression for a run.
    pub fn evaluate(&self, run: &dyn Source) -> Result<Measured, MeasureError> {
        evaluate::evaluate(&self.tree, run).map_err(|fault| fault.within(&self.text))
    }
}

impl Measured {
    /// Returns one number per recorded moment; a scalar is repeated.
    pub fn series(self, frames: usize) -> Vec<f64> {
        match self.value {
            Value::Scalar(x) => vec![x; frames],
            Value::Series(values) => values,
        }
    }
}

/// The message, then the text with a caret below the error.
impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, span, reason, hint } = self;
        let before = text.get(..span.start).unwrap_or_default().chars().count();
        let length = text.get(span.clone()).unwrap_or_default().chars().count().max(1);
        writeln!(f, "{reason}")?;
        // Line breaks in the text would displace the caret.
        writeln!(f, "  {}", text.replace(char::is_control, " "))?;
        write!(f, "  {}{}", " ".repeat(before), "^".repeat(length))?;
        hint.as_ref().map_or(Ok(()), |hint| write!(f, " {hint}"))
    }
}

impl std::error::Error for MeasureError {}

/// An error without the text of the expression.
#[derive(Clone, Debug)]
struct Fault {
    span: Range<usize>,
    reason: String,
    hint: Option<String>,
}

impl Fault {
    fn new(span: Range<usize>, reason: impl Into<String>) -> Self {
        Self { span, reason: reason.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    fn within(self, text: &str) -> MeasureError {
        MeasureError { text: text.to_owned(), span: self.span, reason: self.reason, hint: self.hint }
    }
}
