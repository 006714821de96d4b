//! Checks a document against the JSON Schema, with readable messages.
//!
//! Covers the part of JSON Schema that [`crate::schema()`] uses: types, ranges, tables with known keys, lists of a
//! given length, words, alternatives and references. A document that conforms can be deserialised.

use serde_json::Value as Schema;

use crate::{
    document::{Document, Entry, Node, Value},
    error::Fault,
    suggest,
};

pub(crate) fn conform(document: &Document, schema: &Schema) -> Result<(), Fault> {
    Checker { root: schema }.check(&document.root, "", schema)
}

/// Returns a hint for a file of another kind, recognised by a table in its root.
fn another_kind(table: &str) -> Option<&'static str> {
    Some(match table {
        "simulation" => "this is a scene: `stiction run` takes it",
        "study" => "this is a study: `stiction sweep` takes it",
        "design" => "this is a design: `stiction design` takes it",
        "identification" => "this is an identification: `stiction identify` takes it",
        _ => return None,
    })
}

fn with_article(word: &str) -> String {
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}

/// Checks values against parts of the schema `root`, the target of references.
struct Checker<'s> {
    root: &'s Schema,
}

impl<'s> Checker<'s> {
    /// Checks the value of `key`.
    fn check(&self, node: &Node, key: &str, schema: &'s Schema) -> Result<(), Fault> {
        let target = self.resolve(schema);
        let alternatives = target.get("anyOf").or_else(|| target.get("oneOf")).and_then(Schema::as_array);
        let kind = target.get("type").and_then(Schema::as_str);
        let fits = match (kind, &node.value) {
            (_, Value::Text(word)) if words_of(target).is_some() => return check_word(node, key, word, target),
            _ if alternatives.is_some() => return self.check_alternatives(node, key, schema),
            (Some("number"), Value::Float(_) | Value::Integer(_)) | (Some("boolean"), Value::Boolean(_)) => true,
            (Some("string"), Value::Text(_)) => words_of(target).is_none(),
            (Some("integer"), Value::Integer(integer)) => in_range(*integer, target),
            (Some("array"), Value::Array(items)) if right_length(items.len(), target) => {
                let Some(of_items) = target.get("items") else { return Ok(()) };
                return items.iter().try_for_each(|item| self.check(item, key, of_items));
            }
            (Some("object"), Value::Table(entries)) => return self.check_table(node, entries, key, target),
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.mismatch(node, key, schema)) }
    }

    /// Checks that one alternative fits.
    fn check_alternatives(&self, node: &Node, key: &str, schema: &'s Schema) -> Result<(), Fault> {
        let target = self.resolve(schema);
        let alternatives = target.get("anyOf").or_else(|| target.get("oneOf")).and_then(Schema::as_array);
        let mut fault = self.mismatch(node, key, schema);
        for alternative in alternatives.into_iter().flatten() {
            match self.check(node, key, alternative) {
                Ok(()) => return Ok(()),
                // A table fits one alternative at most. An error inside it is more useful than a list of all
                // alternatives.
                Err(inside) if inside.span != node.span && matches!(node.value, Value::Table(_)) => fault = inside,
                Err(_) => {}
            }
        }
        Err(fault)
    }

    fn check_table(&self, node: &Node, entries: &[Entry], key: &str, schema: &'s Schema) -> Result<(), Fault> {
        if let Some(named) = schema.get("additionalProperties").filter(|named| named.is_object()) {
            // Entries of such a table have names of their own, which messages use.
            return entries
                .iter()
                .try_for_each(|entry| self.check(&entry.node, &format!("{key}.{}", entry.key), named));
        }
        let known = schema.get("properties").and_then(Schema::as_object);
        let table = if key.is_empty() { with_article(self.kind_of_file()) } else { format!("`{key}`") };
        // In the order of the file, so that the first error is the topmost.
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_by_key(|entry| entry.key_span.start);
        for entry in &entries {
            if known.is_none_or(|known| !known.contains_key(&entry.key)) {
                let hint = match (key, entry.key.as_str()) {
                    ("", "shape") => "write [[body.shape]] under its body".to_owned(),
                    (_, word) => match another_kind(word).filter(|_| key.is_empty()) {
                        Some(kind) => kind.to_owned(),
                        None => suggest::hint(word, known.into_iter().flatten().map(|(key, _)| key.as_str())),
                    },
                };
                return Err(
                    Fault::new(entry.key_span.clone(), format!("unknown key `{}` in {table}", entry.key)).hint(hint)
                );
            }
        }
        let required = schema.get("required").and_then(Schema::as_array);
        for name in required.into_iter().flatten().filter_map(Schema::as_str) {
            if !entries.iter().any(|entry| entry.key == name) {
                let field = known.and_then(|known| known.get(name)).unwrap_or(&Schema::Null);
                let fault = Fault::new(node.span.clone(), format!("{table} needs `{name}`"));
                return Err(fault.hint(format!("{}{}", self.expected(field), self.example(field))));
            }
        }
        entries.into_iter().try_for_each(|entry| match known.and_then(|known| known.get(&entry.key)) {
            Some(field) => self.check(&entry.node, &entry.key, field),
            None => Ok(()),
        })
    }

    /// Returns the last word of the title: "scene", "study".
    fn kind_of_file(&self) -> &'s str {
        let title = self.root.get("title").and_then(Schema::as_str);
        title.and_then(|title| title.split(' ').next_back()).unwrap_or("file")
    }

    /// Follows a reference into `$defs`.
    fn resolve(&self, schema: &'s Schema) -> &'s Schema {
        let pointer = schema.get("$ref").and_then(Schema::as_str).and_then(|r| r.strip_prefix('#'));
        pointer.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }

    fn mismatch(&self, node: &Node, key: &str, schema: &'s Schema) -> Fault {
        if matches!(node.value, Value::Table(_)) && self.is_list_of_tables(schema) {
            let header = if key == "shape" { "body.shape" } else { key };
            let fault = Fault::new(node.span.clone(), format!("`{key}` is a single table, but there may be several"));
            return fault.hint(format!("write [[{header}]]"));
        }
        let most = self.resolve(schema).get("maximum").and_then(Schema::as_i64).unwrap_or(i64::from(u32::MAX));
        let expected = match (&node.value, self.expected(schema)) {
            // "from 1 on" does not name the limit that is passed.
            (Value::Integer(integer), expected) if *integer > most && expected.ends_with(" on") => {
                format!("at most {most}")
            }
            (_, expected) => expected,
        };
        let message = format!("`{key}` is {}, but must be {expected}", self.found(node, schema));
        let example = self.example(schema);
        let fault = Fault::new(node.span.clone(), message);
        if example.is_empty() { fault } else { fault.hint(example.trim_start_matches(", ").to_owned()) }
    }

    fn is_list_of_tables(&self, schema: &'s Schema) -> bool {
        let items = self.resolve(schema).get("items").map(|items| self.resolve(items));
        items.is_some_and(|items| items.get("type").is_some_and(|kind| kind == "object"))
    }

    /// Describes the value in the file.
    fn found(&self, node: &Node, schema: &'s Schema) -> String {
        match &node.value {
            Value::Array(items) => format!("a list of {}", items.len()),
            Value::Integer(integer) if self.resolve(schema).get("type").is_some_and(|t| t == "integer") => {
                integer.to_string()
            }
            _ => node.describe().to_owned(),
        }
    }

    /// Describes the value that the schema demands.
    fn expected(&self, schema: &'s Schema) -> String {
        let target = self.resolve(schema);
        let title = schema.get("title").or_else(|| target.get("title")).and_then(Schema::as_str);
        if let Some(title) = title {
            return title.to_owned();
        }
        if let Some(words) = words_of(target) {
            return format!("one of {}", quoted(&words));
        }
        match target.get("type").and_then(Schema::as_str) {
            Some("number") => "a number".to_owned(),
            Some("integer") => "a whole number".to_owned(),
            Some("string") => "a text".to_owned(),
            Some("boolean") => "true or false".to_owned(),
            Some("array") => "a list".to_owned(),
            _ => "a table".to_owned(),
        }
    }

    /// Returns ", such as 0.5" if the schema has an example, else an empty text.
    fn example(&self, schema: &'s Schema) -> String {
        let of = |schema: &'s Schema| schema.get("examples")?.get(0);
        of(schema)
            .or_else(|| of(self.resolve(schema)))
            .map_or_else(String::new, |example| format!(", such as {example}"))
    }
}

/// Returns the words that a schema allows, if it allows only words: an `enum`, a `const`, or a `oneOf` of those.
fn words_of(schema: &Schema) -> Option<Vec<&str>> {
    if let Some(word) = schema.get("const") {
        return Some(vec![word.as_str()?]);
    }
    if let Some(words) = schema.get("enum").and_then(Schema::as_array) {
        return words.iter().map(Schema::as_str).collect();
    }
    let alternatives = schema.get("oneOf").and_then(Schema::as_array)?;
    let words: Option<Vec<_>> = alternatives.iter().map(words_of).collect();
    words.map(|words| words.concat())
}

fn check_word(node: &Node, key: &str, word: &str, schema: &Schema) -> Result<(), Fault> {
    let words = words_of(schema).unwrap_or_default();
    if words.contains(&word) {
        return Ok(());
    }
    let shown: String = word.chars().take(40).collect();
    let message = format!("`{key}` must be one of {}, not \"{shown}\"", quoted(&words));
    Err(Fault::new(node.span.clone(), message).hint_if(suggest::correction(word, &words)))
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

fn in_range(integer: i64, schema: &Schema) -> bool {
    let bound = |name: &str| schema.get(name).and_then(Schema::as_i64);
    // A count without a bound of its own must fit 32 bits.
    (bound("minimum").unwrap_or(0)..=bound("maximum").unwrap_or(i64::from(u32::MAX))).contains(&integer)
}

fn right_length(length: usize, schema: &Schema) -> bool {
    let bound = |name: &str| schema.get(name).and_then(Schema::as_u64);
    let length = length as u64;
    bound("minItems").is_none_or(|least| length >= least) && bound("maxItems").is_none_or(|most| length <= most)
}
