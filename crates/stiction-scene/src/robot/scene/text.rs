//! TOML text with tables in the order of a scene and numbers that are read back bit by bit.

use std::fmt::{Display, Write};

/// The text of a scene file under construction.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    pub(super) fn finish(self) -> String {
        self.0
    }

    pub(super) fn table(&mut self, name: &str) {
        self.line(&format!("[{name}]"));
    }

    /// Starts a table after others.
    pub(super) fn later_table(&mut self, name: &str) {
        self.0.push('\n');
        self.table(name);
    }

    /// Starts a further entry of a list of tables.
    pub(super) fn entry(&mut self, name: &str) {
        if !name.contains('.') {
            self.0.push('\n');
        }
        self.line(&format!("[[{name}]]"));
    }

    pub(super) fn key(&mut self, key: &str, value: impl Display) {
        self.line(&format!("{key} = {value}"));
    }

    pub(super) fn string(&mut self, key: &str, value: &str) {
        self.key(key, quoted(value));
    }

    pub(super) fn number(&mut self, key: &str, value: f64) {
        self.key(key, number(value));
    }

    pub(super) fn numbers(&mut self, key: &str, values: &[f64]) {
        self.key(key, numbers(values));
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }

    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }
}

/// Formats the shortest decimal that is read back as the same number; zero has no sign.
pub(super) fn number(value: f64) -> String {
    format!("{:?}", if value == 0.0 { 0.0 } else { value })
}

pub(super) fn numbers(values: &[f64]) -> String {
    list(values.iter().map(|value| number(*value)))
}

pub(super) fn list(items: impl Iterator<Item = impl Display>) -> String {
    let mut all = String::from("[");
    for (index, item) in items.enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(all, "{comma}{item}");
    }
    all.push(']');
    all
}

pub(super) fn quoted(value: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a text without the control characters that are not allowed in a comment.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
