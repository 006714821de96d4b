//! Evaluation of an expression tree for a run.

use stiction_scene::suggestion;

use super::Source;
use super::{
    Fault, Measured, Value,
    parse::shortened,
    quantity::{Quantity, apply, choose, join, summed, truth},
    series::{self, holds},
    syntax::{Function, Gather, Kind, Node, Operator, Timed, Whole},
    unit::{self, Unit},
};
use crate::record::{Column, ColumnKind, Words};

/// Rows that a series is indexed by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Recorded moments.
    Frames,
    /// Contacts of all moments.
    Contacts,
}

struct Evaluator<'r> {
    run: &'r dyn Source,
    rows: Rows,
}

type Evaluated<T = Quantity> = Result<T, Fault>;

/// Evaluates `tree` for `run`.
pub(super) fn evaluate(tree: &Node, run: &dyn Source) -> Result<Measured, Fault> {
    let Quantity { value, unit } = Evaluator { run, rows: Rows::Frames }.value(tree)?;
    Ok(Measured { value, unit: unit.name() })
}

impl Evaluator<'_> {
    fn value(&self, node: &Node) -> Evaluated {
        match &node.kind {
            Kind::Number(x) => Ok(Quantity::scalar(*x, Unit::Any)),
            Kind::Name(name) | Kind::Text(name) => self.name(name, node),
            Kind::Negate(inner) => {
                let inner = self.value(inner)?;
                let unit = inner.unit;
                Ok(inner.map(|x| -x, unit))
            }
            Kind::Not(inner) => Ok(self.value(inner)?.map(|x| truth(!holds(x)), Unit::NONE)),
            Kind::Binary(operator @ (Operator::Equal | Operator::NotEqual), left, right)
                if self.is_words(left) || self.is_words(right) =>
            {
                self.compare_words(left, right, *operator == Operator::Equal)
            }
            Kind::Binary(operator, left, right) => {
                Ok(join(*operator, self.value(left)?, self.value(right)?, constant(right)))
            }
            Kind::Call(function, arguments) => self.call(*function, arguments, node),
            Kind::Contact { label, column } => self.contact(label, column, node),
        }
    }

    fn name(&self, name: &str, node: &Node) -> Evaluated {
        match (name, self.rows) {
            ("pi", _) => return Ok(Quantity::scalar(std::f64::consts::PI, Unit::Any)),
            ("step", _) => return Ok(Quantity::scalar(self.run.step(), Unit::SECOND)),
            _ => {}
        }
        if let Some(value) = self.run.constant(name) {
            return Ok(Quantity::scalar(value, Unit::Unknown));
        }
        let stored = if name == "step_number" { "step" } else { name };
        let known = self.columns();
        let Some((_, kind)) = known.iter().find(|(known, _)| *known == stored) else {
            return Err(self.unknown(name, node));
        };
        if *kind == ColumnKind::Text {
            let fault = Fault::new(node.span.clone(), format!("`{}` holds text, not numbers", shortened(name)));
            return Err(fault.hint("text is compared: mode == \"slip\""));
        }
        let (column, unit) = match self.rows {
            Rows::Frames => (self.run.column(stored), unit::of_column(name)),
            Rows::Contacts => (self.run.contact_column(stored), unit::of_contact_column(name)),
        };
        let unit = if name == "step_number" { Unit::NONE } else { unit };
        Ok(Quantity::series(numbers(column.map_err(|error| refused(&error, node))?), unit))
    }

    fn columns(&self) -> Vec<(&str, ColumnKind)> {
        match self.rows {
            Rows::Frames => self.run.columns(),
            Rows::Contacts => self.run.contact_columns(),
        }
    }

    fn unknown(&self, name: &str, node: &Node) -> Fault {
        const MANY: usize = 10_000;
        const LISTED: usize = 12;
        let columns = self.columns();
        let known: Vec<_> = columns.iter().map(|(known, _)| *known).take(MANY).collect();
        let place = if self.rows == Rows::Frames { "column" } else { "column of contacts" };
        let fault = Fault::new(node.span.clone(), format!("there is no {place} `{}`", shortened(name)));
        let hint = suggestion(name, known.iter().copied());
        // A list of all columns is not helpful if there are many.
        if hint.starts_with("did you mean") || known.len() <= LISTED {
            return fault.hint(shortened_hint(&hint));
        }
        let first: Vec<_> = known.iter().take(LISTED).map(|name| shortened(name)).collect();
        fault.hint(format!("there are {} columns: {}, …", columns.len(), first.join(", ")))
    }

    fn call(&self, function: Function, arguments: &[Node], node: &Node) -> Evaluated {
        if let (Function::Contacts(gather), [inner]) = (function, arguments) {
            return self.gather(gather, inner, node);
        }
        let over_time = matches!(
            function,
            Function::Derivative | Function::Integral | Function::RunningSum | Function::Whole(_) | Function::Timed(_)
        );
        if over_time && self.rows == Rows::Contacts {
            let reason = "a function of contacts cannot contain a series over time";
            return Err(Fault::new(node.span.clone(), reason));
        }
        let mut values =
            arguments.iter().map(|argument| self.value(argument)).collect::<Evaluated<Vec<_>>>()?.into_iter();
        let mut next = || values.next().unwrap_or_else(|| Quantity::scalar(f64::NAN, Unit::Unknown));
        Ok(match function {
            Function::Each(each) => apply(each, next()),
            Function::Atan2 => next().join(next(), libm::atan2, Unit::NONE),
            Function::Hypot => summed(next(), next(), libm::hypot),
            Function::Min => summed(next(), next(), f64::min),
            Function::Max => summed(next(), next(), f64::max),
            Function::Clamp => summed(summed(next(), next(), f64::max), next(), f64::min),
            Function::If => choose(&next(), &next(), &next()),
            Function::Default => summed(next(), next(), |x, other| if x.is_nan() { other } else { x }),
            Function::Derivative => self.over_time(next(), -1, series::derivative, node)?,
            Function::Integral => self.over_time(next(), 1, series::integral, node)?,
            Function::RunningSum => self.over_time(next(), 0, |values, _| series::running_sum(values), node)?,
            Function::Whole(whole) => self.whole(whole, next(), node)?,
            Function::Timed(timed) => {
                let (series, seconds) = (next(), next());
                self.timed(timed, series, &seconds, node, arguments)?
            }
            Function::Contacts(_) => Quantity::scalar(f64::NAN, Unit::Unknown),
        })
    }

    /// Evaluates a function of a series and a number of seconds.
    fn timed(&self, timed: Timed, series: Quantity, seconds: &Quantity, node: &Node, arguments: &[Node]) -> Evaluated {
        let place = arguments.last().map_or(node.span.clone(), |argument| argument.span.clone());
        let Value::Scalar(seconds) = seconds.value else {
            return Err(Fault::new(place, "the time must be one number"));
        };
        if timed != Timed::At && (seconds.is_nan() || seconds <= 0.0) {
            return Err(Fault::new(place, "the time must be positive"));
        }
        let (unit, times) = (series.unit, self.times(node)?);
        let values = self.frames(series);
        Ok(match timed {
            Timed::At => Quantity::scalar(series::at(&values, &times, seconds), unit),
            Timed::Average => Quantity::series(series::average(&values, &times, seconds), unit),
            Timed::SumEvery => Quantity::scalar(series::sum_every(&values, &times, seconds), unit),
        })
    }

    fn times(&self, node: &Node) -> Evaluated<Vec<f64>> {
        Ok(numbers(self.run.column("t").map_err(|error| refused(&error, node))?))
    }

    /// Returns one number per recorded moment.
    fn frames(&self, quantity: Quantity) -> Vec<f64> {
        match quantity.value {
            Value::Series(values) => values,
            Value::Scalar(x) => vec![x; self.run.frames()],
        }
    }

    /// Evaluates a function of a series and its times, whose unit changes by a power of seconds.
    fn over_time(
        &self,
        quantity: Quantity,
        seconds: i32,
        f: impl Fn(&[f64], &[f64]) -> Vec<f64>,
        node: &Node,
    ) -> Evaluated {
        // A literal number has no unit.
        let unit = if quantity.unit == Unit::Any { Unit::NONE } else { quantity.unit };
        let unit = if seconds == 0 { unit } else { unit.product(Unit::SECOND, seconds) };
        let values = self.frames(quantity);
        Ok(Quantity::series(f(&values, &self.times(node)?), unit))
    }

    fn whole(&self, whole: Whole, quantity: Quantity, node: &Node) -> Evaluated {
        let unit = quantity.unit;
        let values = self.frames(quantity);
        let end = |x: Option<&f64>| x.copied().unwrap_or(f64::NAN);
        let time = |found: Option<usize>| -> Evaluated {
            let times = self.times(node)?;
            Ok(Quantity::scalar(end(found.and_then(|k| times.get(k))), Unit::SECOND))
        };
        let condition = |x: &f64| holds(*x);
        Ok(match whole {
            Whole::Initial => Quantity::scalar(end(values.first()), unit),
            Whole::Final => Quantity::scalar(end(values.last()), unit),
            Whole::Min => Quantity::scalar(series::extreme(values.into_iter(), f64::min), unit),
            Whole::Max => Quantity::scalar(series::extreme(values.into_iter(), f64::max), unit),
            Whole::Mean => Quantity::scalar(series::mean(&values, &self.times(node)?), unit),
            Whole::First => time(values.iter().position(condition))?,
            Whole::Last => time(values.iter().rposition(condition))?,
            Whole::Any => Quantity::scalar(truth(values.iter().any(condition)), Unit::NONE),
            Whole::All => Quantity::scalar(truth(values.iter().all(condition)), Unit::NONE),
        })
    }

    /// Reduces the contacts of each moment to one number.
    fn gather(&self, gather: Gather, inner: &Node, node: &Node) -> Evaluated {
        if self.rows == Rows::Contacts {
            return Err(Fault::new(node.span.clone(), "functions of contacts do not nest"));
        }
        let Quantity { value, unit } = Evaluator { run: self.run, rows: Rows::Contacts }.value(inner)?;
        let values = match value {
            Value::Series(values) => values,
            Value::Scalar(x) => vec![x; self.run.contact_rows()],
        };
        let frames = self.run.contacts_of_frames().map_err(|error| refused(&error, node))?;
        let gathered = frames.into_iter().map(|rows| {
            let values = values.get(rows).unwrap_or_default().iter().copied();
            match gather {
                Gather::Sum => values.filter(|x| !x.is_nan()).sum(),
                Gather::Min => series::extreme(values, f64::min),
                Gather::Max => series::extreme(values, f64::max),
                Gather::Count => values.filter(|x| holds(*x)).count() as f64,
            }
        });
        let unit = if gather == Gather::Count { Unit::NONE } else { unit };
        Ok(Quantity::series(gathered.collect(), unit))
    }

    /// Returns a column of the contact with a label.
    fn contact(&self, label: &str, column: &str, node: &Node) -> Evaluated {
        if self.rows == Rows::Contacts {
            return Err(Fault::new(node.span.clone(), "functions of contacts do not nest"));
        }
        let labels = self.words("contact", node)?;
        if !self.run.allows_unseen_contacts() && !labels.words.iter().any(|known| known == label) {
            const LISTED: usize = 200;
            let known = labels.words.iter().take(LISTED).map(String::as_str);
            let fault =
                Fault::new(node.span.clone(), format!("the run has no contact with the label `{}`", shortened(label)));
            return Err(fault.hint(shortened_hint(&suggestion(label, known))));
        }
        let name = Node { kind: Kind::Name(column.to_owned()), span: node.span.clone() };
        let Quantity { value, unit } = Evaluator { run: self.run, rows: Rows::Contacts }.value(&name)?;
        let Value::Series(values) = value else { return Ok(Quantity { value, unit }) };
        let frames = self.run.contacts_of_frames().map_err(|error| refused(&error, node))?;
        let of_frame = frames.into_iter().map(|mut rows| {
            let row = rows.find(|row| labels.get(*row) == Some(label));
            row.and_then(|row| values.get(row)).copied().unwrap_or(f64::NAN)
        });
        Ok(Quantity::series(of_frame.collect(), unit))
    }

    fn words(&self, column: &str, node: &Node) -> Evaluated<Words> {
        match self.run.contact_column(column).map_err(|error| refused(&error, node))? {
            Column::Texts(words) => Ok(words),
            _ => Err(Fault::new(node.span.clone(), format!("the column `{column}` of contacts holds no text"))),
        }
    }

    /// True if an expression is a column of text.
    fn is_words(&self, node: &Node) -> bool {
        let Kind::Name(name) = &node.kind else { return false };
        self.rows == Rows::Contacts && self.columns().contains(&(name.as_str(), ColumnKind::Text))
    }

    fn compare_words(&self, left: &Node, right: &Node, equal: bool) -> Evaluated {
        let (Kind::Name(column), Kind::Text(word)) = (match (&left.kind, &right.kind) {
            (Kind::Text(_), _) => (&right.kind, &left.kind),
            kinds => kinds,
        }) else {
            let span = left.span.start..right.span.end;
            return Err(Fault::new(span, "text is compared with text in quotes").hint("such as mode == \"slip\""));
        };
        let words = self.words(column, left)?;
        let values = (0..words.rows.len()).map(|row| truth((words.get(row) == Some(word)) == equal));
        Ok(Quantity::series(values.collect(), Unit::NONE))
    }
}

fn numbers(column: Column) -> Vec<f64> {
    match column {
        Column::Reals(values) => values,
        Column::Integers(values) => values.into_iter().map(|n| n as f64).collect(),
        Column::Texts(words) => vec![f64::NAN; words.rows.len()],
    }
}

fn refused(error: &crate::record::RecordingError, node: &Node) -> Fault {
    Fault::new(node.span.clone(), error.to_string())
}

fn shortened_hint(hint: &str) -> String {
    const LONGEST: usize = 400;
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    hint.chars().take(LONGEST).map(visible).collect()
}

fn constant(node: &Node) -> Option<f64> {
    match &node.kind {
        Kind::Number(x) => Some(*x),
        Kind::Negate(inner) => constant(inner).map(|x| -x),
        _ => None,
    }
}
