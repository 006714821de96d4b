//! Text of others made safe to show: in terminals, in CSV and in HTML.
//!
//! Names and values come from files. A terminal obeys control characters, a line break forges a line of a table, a direction override
//! reverses what follows it, a spreadsheet computes a cell that begins with `=`, and a browser runs elements.

use std::borrow::Cow;

/// True for characters that change how the text around them is shown: controls, line and paragraph separators, and the directional
/// overrides and isolates.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text on one line for terminals and messages: other characters are written as `\n` or `\u{1b}`.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Text of several lines for terminals.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n')
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(|c| is_unprintable(c) && !is_kept(c)) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_kept(c) || !is_unprintable(c) => safe.push(c),
            '\n' | '\r' | '\t' => safe.extend(c.escape_default()),
            c => safe.extend(c.escape_unicode()),
        }
    }
    safe.into()
}

/// JSON text of a terminal: characters that are not ASCII and would be obeyed become escapes, which mean the same.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| !c.is_ascii() && is_unprintable(c) || c == '\u{7f}';
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        // All of them are in the basic plane, where one escape is one character.
        if is_obeyed(c) { safe.extend(format!("\\u{:04x}", u32::from(c)).chars()) } else { safe.push(c) }
    }
    safe.into()
}

/// Field of a CSV record (RFC 4180). A text that a spreadsheet would compute gets an apostrophe in front, which spreadsheets take as the
/// mark of a text.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let marked: Cow<'_, str> =
        if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}").into() } else { text.into() };
    if marked.contains([',', '"', '\r', '\n']) { format!("\"{}\"", marked.replace('"', "\"\"")).into() } else { marked }
}

/// Text escaped for use between and within tags of HTML.
pub fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if is_unprintable(c) && c != '\n' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::{csv_field, html, json, line, lines};

    #[test]
    fn terminals_obey_nothing_and_lines_cannot_be_forged() {
        let hostile = "a\u{1b}[31m\u{9b}2J\r\nerror: b\u{202e}c\u{7}";
        assert_eq!(line(hostile), r"a\u{1b}[31m\u{9b}2J\r\nerror: b\u{202e}c\u{7}");
        assert_eq!(lines("two\nlines\u{1b}"), "two\nlines\\u{1b}");
        for kept in ["", "Körper 雪 ·", "می\u{200c}خواهم"] {
            assert_eq!(line(kept), kept);
        }
    }

    #[test]
    fn json_means_the_same() {
        let text = serde_json::to_string("\u{1b}\u{9b}\u{7f}\u{202e}雪\n").expect("JSON");
        let safe = json(&text);
        assert!(safe.chars().all(|c| !super::is_unprintable(c)), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).expect("JSON"), "\u{1b}\u{9b}\u{7f}\u{202e}雪\n");
    }

    #[test]
    fn spreadsheets_compute_nothing() {
        for (text, field) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1+2", "'-1+2"),
            ("@sum", "'@sum"),
            ("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""),
            ("rod.x", "rod.x"),
            ("a,b", "\"a,b\""),
            ("a\r\nb", "\"a\r\nb\""),
        ] {
            assert_eq!(csv_field(text), field);
        }
    }

    #[test]
    fn browsers_run_nothing() {
        assert_eq!(html("<b a=\"'&\">\u{1b}"), "&lt;b a=&quot;&#39;&amp;&quot;&gt;\u{fffd}");
    }
}
