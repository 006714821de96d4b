//! Errors with a place in the file.

use std::{fmt, ops::Range, sync::Arc};

use crate::text;

/// A refused scene: the reason and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SceneError {
    /// File name, or `--set` for a value given on the command line.
    pub file: String,
    /// Text that the span refers to: the whole file, or the `path=value` of an override.
    pub source_text: Arc<str>,
    /// Bytes of the error; `None` if the file could not be read at all.
    pub span: Option<Range<usize>>,
    /// Line of the start of the span, from 1.
    pub line: u32,
    /// Column of the start of the span in characters, from 1.
    pub column: u32,
    /// Description of the error.
    pub message: String,
    /// Advice for a correction.
    pub hint: Option<String>,
}

impl SceneError {
    pub(crate) fn without_place(file: &str, message: &str) -> Self {
        let message = text::line(message).into_owned();
        Self { file: file.to_owned(), source_text: "".into(), span: None, line: 1, column: 1, message, hint: None }
    }

    /// Returns the same error with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(text::line(&hint.into()).into_owned());
        self
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.span {
            Some(_) => write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?,
            None => write!(f, "{}: {}", self.file, self.message)?,
        }
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for SceneError {}

/// An error inside this crate: bytes of the joined sources and a message.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Fault {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None }
    }

    pub(crate) fn hint_if(mut self, hint: Option<impl Into<String>>) -> Self {
        self.hint = hint.map(Into::into).or(self.hint);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The file and its overrides as one text, so that a span identifies one of them.
pub(crate) struct Sources<'a> {
    file: &'a str,
    text: &'a str,
    changes: Vec<(usize, String)>,
    end: usize,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, changes: Vec::new(), end: text.len() + 1 }
    }

    /// Returns the text of the file.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Adds an override `path=value` and returns its first byte.
    pub(crate) fn add(&mut self, change: String) -> usize {
        let start = self.end;
        self.end += change.len() + 1;
        self.changes.push((start, change));
        start
    }

    /// Gives a fault its file, line and column.
    pub(crate) fn locate(&self, fault: Fault) -> SceneError {
        let change = self.changes.iter().rev().find(|(start, _)| *start <= fault.span.start);
        let (file, text, base) = match change {
            Some((start, text)) => ("--set", text.as_str(), *start),
            None => (self.file, self.text, 0),
        };
        let within = |at: usize| text.floor_char_boundary(at.saturating_sub(base).min(text.len()));
        let span = within(fault.span.start)..within(fault.span.end.max(fault.span.start));
        let before = text.get(..span.start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        SceneError {
            file: file.to_owned(),
            source_text: text.into(),
            line: before.matches('\n').count() as u32 + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() as u32 + 1,
            span: Some(span),
            // Both may quote names and values of the file.
            message: text::line(&fault.message).into_owned(),
            hint: fault.hint.map(|hint| text::line(&hint).into_owned()),
        }
    }
}
