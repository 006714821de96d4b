//! Formatting of numbers and tables.

use std::io::Write;

use serde::Serialize;
use stiction::scene::text;

use crate::failure::Failure;

/// Prints a value as JSON to stdout.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text =
        serde_json::to_string_pretty(value).map_err(|error| Failure::work(format!("cannot write JSON: {error}")))?;
    print(&(text::json(&text) + "\n"))
}

/// Prints a line to stderr. A stderr that cannot be written, such as a full disk or a closed pipe, is not a failure.
pub(crate) fn print_note(text: impl std::fmt::Display) {
    print_rendered(&text::lines(&text.to_string()));
}

/// Prints a rendered message to stderr, without its colours where nobody sees them.
pub(crate) fn print_rendered(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Prints lines to stdout. What a terminal would obey is shown instead.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    print(&text::lines(text))
}

/// Prints to stdout. A closed pipe (`stiction ... | head`) is not a failure.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::work(format!("cannot write to the standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Formats a number: four significant digits, exponents only if needed.
pub(crate) fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if !x.is_finite() {
        format!("{x}")
    } else if (1e-3..1e5).contains(&size) {
        let before = size.log10().floor() as i32;
        without_zeros(format!("{x:.*}", usize::try_from(3 - before).unwrap_or(0)))
    } else {
        format!("{x:.2e}")
    }
}

/// Formats a time to microseconds.
pub(crate) fn moment(t: f64) -> String {
    without_zeros(format!("{t:.6}")) + " s"
}

fn without_zeros(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a duration.
pub(crate) fn seconds(x: f64) -> String {
    match x {
        x if x < 1e-3 => format!("{} µs", number(x * 1e6)),
        x if x < 1.0 => format!("{} ms", number(x * 1e3)),
        x => format!("{} s", number(x)),
    }
}

/// Formats a count: `1 body`, `2 bodies`.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Rows of labels and values, aligned.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    rows: Vec<(String, String)>,
}

impl Sheet {
    /// Adds a row; a value of several lines stays aligned.
    pub(crate) fn row(&mut self, label: &str, value: impl Into<String>) -> &mut Self {
        self.rows.push((label.to_owned(), value.into()));
        self
    }

    pub(crate) fn text(&self) -> String {
        let width = self.rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let lines = self.rows.iter().flat_map(|(label, value)| {
            let labels = std::iter::once(label.as_str()).chain(std::iter::repeat(""));
            value.lines().zip(labels).map(move |(line, label)| format!("{label:width$}  {line}\n"))
        });
        lines.collect()
    }
}

/// Widest column, in characters. Longer cells stand out of it: one name of a file cannot widen every line.
const WIDEST: usize = 120;

/// Columns with a heading; numbers are aligned right, text left.
pub(crate) fn columns(heading: &[&str], rows: &[Vec<String>]) -> String {
    let width = |k: usize| {
        let cells = rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.chars().count());
        cells.chain(heading.get(k).map(|title| title.chars().count())).max().unwrap_or(0).min(WIDEST)
    };
    let is_number = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let numeric = |k: usize| rows.iter().filter_map(|row| row.get(k)).all(is_number);
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.enumerate().map(|(k, cell)| {
            let width = width(k);
            if numeric(k) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let head = line(&mut heading.iter().copied());
    rows.iter().fold(head, |text, row| text + &line(&mut row.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (9.81, "9.81"),
            (-0.012_345, "-0.01235"),
            (99_999.6, "100000"),
            (1.5e-7, "1.50e-7"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
        assert_eq!(
            (seconds(2.5e-6).as_str(), seconds(0.25).as_str(), seconds(12.0).as_str()),
            ("2.5 µs", "250 ms", "12 s")
        );
        assert_eq!((moment(0.428_75).as_str(), moment(1.0).as_str()), ("0.42875 s", "1 s"));
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["long".to_owned(), "23".to_owned()]];
        assert_eq!(columns(&["name", "n"], &rows), "name   n\na      1\nlong  23\n");
    }
}
