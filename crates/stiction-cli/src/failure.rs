//! Failures of commands: message and exit code.

use std::{fmt, path::Path, process::ExitCode};

use miette::{Diagnostic, LabeledSpan, NamedSource, Report, SourceCode};
use stiction::{StepCause, StepError, measure::MeasureError, scene::SceneError};

use crate::layout::moment;

/// Failure of a command.
pub(crate) enum Failure {
    /// Bad usage or bad input: exit code 2.
    Input(Message),
    /// Scene that cannot be read or built: exit code 2.
    Scene(SceneError),
    /// Invalid expression in an option: exit code 2.
    Expression(&'static str, MeasureError),
    /// The simulation or solve failed: exit code 1.
    Work(Message),
}

/// A message with its cause and a hint.
#[derive(Debug, Default)]
pub(crate) struct Message {
    text: String,
    help: Option<String>,
}

impl Failure {
    pub(crate) fn input(text: impl fmt::Display) -> Self {
        Self::Input(Message { text: text.to_string(), help: None })
    }

    pub(crate) fn work(text: impl fmt::Display) -> Self {
        Self::Work(Message { text: text.to_string(), help: None })
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        let helpful = |message: Message| Message { help: Some(help.into()), ..message };
        match self {
            Self::Input(message) => Self::Input(helpful(message)),
            Self::Work(message) => Self::Work(helpful(message)),
            other @ (Self::Scene(_) | Self::Expression(..)) => other,
        }
    }

    /// Feature of a later version.
    #[cfg(feature = "full")]
    pub(crate) fn not_yet(what: &str) -> Self {
        Self::input(format!("{what} is not available in this version"))
            .with_help("`stiction --help` lists the available commands")
    }

    /// File that cannot be read.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::input(format!("cannot read {}: {error}", path.display()))
    }

    /// Step that failed; `kept` is the path of the problem file.
    pub(crate) fn step(error: &StepError, kept: Option<&Path>) -> Self {
        let mut help = Vec::new();
        let cause = match &error.cause {
            StepCause::NotSolved { status, residual, worst, rungs, hint } => {
                help.push((*hint).to_owned());
                format!(
                    "the contact problem was not solved ({status}, residual {residual:.3e})\n\
                     worst at {worst}; methods tried: {}",
                    rungs.join(", ")
                )
            }
            other => other.to_string(),
        };
        let text = format!("the simulation stopped at t = {}, in step {}: {cause}", moment(error.time), error.step);
        if let Some(path) = kept {
            help.push(format!("`stiction solve` reads the problem from {}", path.display()));
        }
        let failure = Self::work(text);
        if help.is_empty() { failure } else { failure.with_help(help.join("\n")) }
    }

    /// Documented exit code.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Work(_) => ExitCode::from(1),
            Self::Input(_) | Self::Scene(_) | Self::Expression(..) => ExitCode::from(2),
        }
    }

    /// Prints the failure to stderr.
    pub(crate) fn print(&self) {
        let report = match self {
            Self::Input(message) | Self::Work(message) => {
                Report::new(Message { text: message.text.clone(), help: message.help.clone() })
            }
            Self::Scene(error) => Report::new(SceneDiagnostic::new(error.clone())),
            Self::Expression(option, error) => Report::new(ExpressionDiagnostic::new(option, error)),
        };
        crate::layout::print_note(format_args!("{report:?}"));
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Message {}

impl Diagnostic for Message {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
}

/// A scene error with the lines it refers to.
#[derive(Debug)]
struct SceneDiagnostic {
    error: SceneError,
    source: NamedSource<String>,
}

impl SceneDiagnostic {
    fn new(error: SceneError) -> Self {
        let source = NamedSource::new(&error.file, error.source_text.to_string());
        Self { error, source }
    }
}

impl fmt::Display for SceneDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SceneError { file, line, column, message, span, .. } = &self.error;
        match span {
            // An option of the command line has one line; the caret below it shows the column.
            Some(_) if file.starts_with("--") => write!(f, "{file}: {message}"),
            Some(_) => write!(f, "{file}:{line}:{column}: {message}"),
            None => write!(f, "{file}: {message}"),
        }
    }
}

impl std::error::Error for SceneDiagnostic {}

impl Diagnostic for SceneDiagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.error.hint.as_ref().map(|hint| Box::new(hint) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.error.span.as_ref().map(|_| &self.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.error.span.clone()?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(span))))
    }
}

/// An error in an expression of the command line, with a caret below it.
#[derive(Debug)]
struct ExpressionDiagnostic {
    option: &'static str,
    error: MeasureError,
}

impl ExpressionDiagnostic {
    /// Replaces control characters, which terminals interpret; positions are counted in bytes and do not change.
    fn new(option: &'static str, error: &MeasureError) -> Self {
        let mut error = error.clone();
        let clean = |c: char| if c.is_control() { "?".repeat(c.len_utf8()) } else { c.to_string() };
        error.text = error.text.chars().map(clean).collect();
        Self { option, error }
    }
}

impl fmt::Display for ExpressionDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.option, self.error.reason)
    }
}

impl std::error::Error for ExpressionDiagnostic {}

impl Diagnostic for ExpressionDiagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.error.hint.as_ref().map(|hint| Box::new(hint) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.error.text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::underline(self.error.span.clone()))))
    }
}
