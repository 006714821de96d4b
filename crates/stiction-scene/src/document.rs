//! A TOML document whose every key and value knows its place in the text.

use std::ops::Range;

use toml::{Spanned, de::DeTable, de::DeValue};

use crate::error::Fault;

/// A value and the bytes it stands on. For a table with a header that is the header.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// What a scene file can hold. Floats are finite.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Datetime,
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) node: Node,
}

/// One step of a path into a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The whole tree.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) root: Node,
}

impl Document {
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let table = DeTable::parse(text).map_err(|error| syntax(&error, 0).hint_if(syntax_hint(text, &error)))?;
        let span = table.span();
        Ok(Self { root: Node { span, value: table_value(table.into_inner(), 0)? } })
    }

    /// The value at a path.
    pub(crate) fn find(&self, path: &[Step]) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, step| node.child(*step))
    }

    /// The bytes of the value at a path, or of the innermost table around it that exists.
    pub(crate) fn place(&self, path: &[Step]) -> Range<usize> {
        let mut node = &self.root;
        for step in path {
            match node.child(*step) {
                Some(child) => node = child,
                None => break,
            }
        }
        node.span.clone()
    }

    /// The document without places.
    pub(crate) fn to_toml(&self) -> toml::Value {
        self.root.to_toml()
    }
}

impl Node {
    pub(crate) fn child(&self, step: Step) -> Option<&Self> {
        match (&self.value, step) {
            (Value::Table(entries), Step::Key(key)) => Some(&entries.iter().find(|e| e.key == key)?.node),
            (Value::Array(items), Step::Index(index)) => items.get(index),
            _ => None,
        }
    }

    /// What the value is, in words.
    pub(crate) fn describe(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Datetime => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::Text(text) => toml::Value::String(text.clone()),
            Value::Integer(integer) => toml::Value::Integer(*integer),
            Value::Float(float) => toml::Value::Float(*float),
            Value::Boolean(boolean) => toml::Value::Boolean(*boolean),
            // No field of a scene takes a date; `conform` has refused it by now.
            Value::Datetime => toml::Value::String(String::new()),
            Value::Array(items) => toml::Value::Array(items.iter().map(Self::to_toml).collect()),
            Value::Table(entries) => {
                toml::Value::Table(entries.iter().map(|e| (e.key.clone(), e.node.to_toml())).collect())
            }
        }
    }
}

/// Reads a single value from text that stands at byte `base` of the sources.
pub(crate) fn parse_value(text: &str, base: usize) -> Result<Node, Fault> {
    node(DeValue::parse(text).map_err(|error| syntax(&error, base))?, base)
}

fn syntax(error: &toml::de::Error, base: usize) -> Fault {
    let span = error.span().unwrap_or(0..0);
    Fault::new(shifted(&span, base), format!("is not valid TOML: {}", error.message()))
}

/// What beginners get wrong most often, told from the text at the error.
fn syntax_hint(text: &str, error: &toml::de::Error) -> Option<String> {
    const LISTS: [&str; 6] = ["body", "joint", "contact", "spring", "damper", "load"];
    let at = text.floor_char_boundary(error.span()?.start.min(text.len()));
    let (before, after) = text.split_at(at);
    let header = before.rsplit('\n').next()?.trim_start();
    let rest = after.lines().next().unwrap_or_default();
    if let Some(name) = format!("{header}{rest}").trim().strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
        let plain = !name.starts_with('[');
        return (plain && LISTS.contains(&name)).then(|| format!("write [[{name}]] for each of several"));
    }
    let around = |text: &str| text.trim_start_matches(',').starts_with(|c: char| c.is_ascii_digit());
    let comma = rest.starts_with(',') || before.ends_with(',');
    let digit_before = before.trim_end_matches(',').ends_with(|c: char| c.is_ascii_digit());
    (comma && digit_before && around(rest)).then(|| "use a decimal point: 0.5, not 0,5".to_owned())
}

fn shifted(span: &Range<usize>, base: usize) -> Range<usize> {
    span.start + base..span.end + base
}

fn node(value: Spanned<DeValue>, base: usize) -> Result<Node, Fault> {
    let span = shifted(&value.span(), base);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(integer) => {
            Value::Integer(i64::from_str_radix(integer.as_str(), integer.radix()).map_err(|_| {
                Fault::new(span.clone(), "is too large for a whole number").hint("write it with a decimal point")
            })?)
        }
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(value) if value.is_finite() => Value::Float(value),
            _ => return Err(Fault::new(span, format!("must be a finite number, not {}", shortened(float.as_str())))),
        },
        DeValue::Boolean(boolean) => Value::Boolean(boolean),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Array(items) => {
            Value::Array(items.into_iter().map(|item| node(item, base)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => table_value(table, base)?,
    };
    Ok(Node { span, value })
}

fn table_value(table: DeTable, base: usize) -> Result<Value, Fault> {
    let entry = |(key, value): (Spanned<_>, _)| {
        let key_span = shifted(&key.span(), base);
        Ok(Entry { key: std::borrow::Cow::into_owned(key.into_inner()), key_span, node: node(value, base)? })
    };
    Ok(Value::Table(table.into_iter().map(entry).collect::<Result<_, _>>()?))
}

/// At most the first characters of a number from the file, for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 24;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(std::iter::once('…')).collect()
}
