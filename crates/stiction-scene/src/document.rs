//! A TOML document with the place of every key and value in the text.

use std::ops::Range;

use toml::{Spanned, de::DeTable, de::DeValue};

use crate::error::Fault;

/// Old names of keys: the tables around the key, its old name and its present one.
const RENAMED: [(&[&str], &str, &str); 5] = [
    (&["body", "support"], "feet", "points"),
    (&["joint"], "freedoms", "dofs"),
    (&["motor"], "freedom", "dof"),
    (&["coupling"], "follower_freedom", "follower_dof"),
    (&["coupling"], "leader_freedom", "leader_dof"),
];

/// A value and its bytes in the text. The bytes of a table with a header are those of the header.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// A value of a scene file. Floats are finite.
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

    /// Returns the value at a path.
    pub(crate) fn find(&self, path: &[Step]) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, step| node.child(*step))
    }

    /// Returns the bytes of the value at a path, or of the innermost existing table around it.
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

    /// Gives keys with an old name their present one. Their places stay those in the text.
    pub(crate) fn rename_old_keys(&mut self) -> Result<(), Fault> {
        RENAMED.iter().try_for_each(|(tables, old, new)| self.root.rename_key(tables, old, new))
    }

    /// Returns the document without places.
    pub(crate) fn to_toml(&self) -> toml::Value {
        self.root.to_toml()
    }

    /// Returns the tree as JSON, from which tables are deserialised: one deserialiser for all of them keeps the code small.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        self.root.to_json()
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

    /// Renames a key in every table inside `tables`, items of lists included.
    fn rename_key(&mut self, tables: &[&str], old: &str, new: &str) -> Result<(), Fault> {
        match (&mut self.value, tables) {
            (Value::Array(items), _) => items.iter_mut().try_for_each(|item| item.rename_key(tables, old, new)),
            (Value::Table(entries), [table, inner @ ..]) => {
                let mut inside = entries.iter_mut().filter(|entry| entry.key == *table);
                inside.try_for_each(|entry| entry.node.rename_key(inner, old, new))
            }
            (Value::Table(entries), []) => {
                let has_new = entries.iter().any(|entry| entry.key == new);
                match entries.iter_mut().find(|entry| entry.key == old) {
                    Some(entry) if has_new => {
                        let message = format!("`{old}` is the old name of `{new}`, which is given as well");
                        Err(Fault::new(entry.key_span.clone(), message).hint("keep one of the two"))
                    }
                    Some(entry) => {
                        new.clone_into(&mut entry.key);
                        Ok(())
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Describes the value.
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

    fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) => text.as_str().into(),
            Value::Integer(integer) => (*integer).into(),
            Value::Float(float) => (*float).into(),
            Value::Boolean(boolean) => (*boolean).into(),
            // No field of a scene takes a date; `conform` has refused it by now.
            Value::Datetime => serde_json::Value::Null,
            Value::Array(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(entries) => entries.iter().map(|e| (e.key.clone(), e.node.to_json())).collect(),
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

/// Returns the present name of a key inside `tables`.
pub(crate) fn present_key<'k>(tables: &[&str], key: &'k str) -> &'k str {
    let renamed = RENAMED.iter().find(|(inside, old, _)| *inside == tables && *old == key);
    renamed.map_or(key, |(_, _, new)| new)
}

/// Reads a single value from text that starts at byte `base` of the sources.
pub(crate) fn parse_value(text: &str, base: usize) -> Result<Node, Fault> {
    node(DeValue::parse(text).map_err(|error| syntax(&error, base))?, base)
}

fn syntax(error: &toml::de::Error, base: usize) -> Fault {
    let span = error.span().unwrap_or(0..0);
    Fault::new(shifted(&span, base), format!("is not valid TOML: {}", error.message()))
}

/// Returns a hint for common mistakes, recognised by the text at the error.
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

/// Returns a number of the file, cut to its first characters, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 24;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(std::iter::once('…')).collect()
}
