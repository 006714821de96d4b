//! Overrides from the command line: `--set body.rod.mass=2`.
//!
//! A path goes through tables by key and through lists by name (`body.rod`) or by position from 0 (`contact.0`).
//! Overrides are merged into the document before any check, so their errors are reported like those of the file.

use std::ops::Range;

use crate::{
    document::{Document, Entry, Node, Step, Value, parse_value, present_key, shortened},
    error::{Fault, Sources},
    suggest,
};

pub(crate) fn apply(document: &mut Document, sources: &mut Sources, path: &str, value: &str) -> Result<(), Fault> {
    let start = sources.add(format!("{path}={value}"));
    let value_at = start + path.len() + 1;
    let value = match parse_value(value, value_at) {
        Ok(value) => value,
        // `nan`, `-inf`, `1e400`, in any spelling.
        Err(_) if value.parse::<f64>().is_ok_and(|x| !x.is_finite()) => {
            let span = value_at..value_at + value.len();
            return Err(Fault::new(span, format!("must be a finite number, not {}", shortened(value))));
        }
        // A text that is not TOML is a bare word, such as a preset, or an angle with its unit.
        Err(_) => Node { span: value_at..value_at + value.len(), value: Value::Text(value.to_owned()) },
    };
    let mut at = start;
    let mut node = &mut document.root;
    // Keys of the tables around `node`; items of lists have none.
    let mut tables = Vec::new();
    for word in path.split('.') {
        let span = at..at + word.len();
        at = span.end + 1;
        if matches!(node.value, Value::Table(_)) {
            let key = present_key(&tables, word);
            tables.push(key);
            node = descend(node, key, span)?;
        } else {
            node = descend(node, word, span)?;
        }
    }
    *node = value;
    Ok(())
}

/// Returns the child called `word`; a table without it gets a new one.
fn descend<'n>(node: &'n mut Node, word: &str, span: Range<usize>) -> Result<&'n mut Node, Fault> {
    let found = node.describe();
    match &mut node.value {
        Value::Table(entries) => {
            let index = entries.iter().position(|entry| entry.key == word).unwrap_or_else(|| {
                let node = Node { span: span.clone(), value: Value::Table(Vec::new()) };
                entries.push(Entry { key: word.to_owned(), key_span: span.clone(), node });
                entries.len() - 1
            });
            entries.get_mut(index).map(|entry| &mut entry.node).ok_or_else(|| Fault::new(span, "does not exist"))
        }
        Value::Array(items) => {
            let hint = suggest::hint(word, items.iter().filter_map(name_of));
            let missing = format!("there is no `{word}` in this list of {}", items.len());
            let index = position(items, word);
            index.and_then(|index| items.get_mut(index)).ok_or_else(|| Fault::new(span, missing).hint(hint))
        }
        _ => Err(Fault::new(span, format!("`{word}` cannot be found inside {found}"))),
    }
}

fn position(items: &[Node], word: &str) -> Option<usize> {
    let by_name = items.iter().position(|item| name_of(item) == Some(word));
    by_name.or_else(|| word.parse().ok())
}

fn name_of(item: &Node) -> Option<&str> {
    match &item.child(Step::Key("name"))?.value {
        Value::Text(name) => Some(name),
        _ => None,
    }
}
