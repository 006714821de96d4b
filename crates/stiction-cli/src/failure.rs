//! Failures of commands: message and exit code.

use std::{fmt, path::Path, process::ExitCode};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet, renderer::DecorStyle};
use stiction::{
    StepCause, StepError,
    measure::MeasureError,
    scene::{SceneError, text},
};

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
                    "the problem of the step was not solved ({status}, residual {residual:.3e})\n\
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
        crate::layout::print_rendered(&self.report().render());
    }

    fn report(&self) -> Report<'_> {
        match self {
            Self::Input(message) | Self::Work(message) => {
                Report { title: message.text.clone(), excerpt: None, help: message.help.as_deref() }
            }
            Self::Scene(error) => {
                let excerpt = error.span.clone().map(|span| (error.file.as_str(), error.source_text.as_ref(), span));
                Report { title: scene_title(error), excerpt, help: error.hint.as_deref() }
            }
            Self::Expression(option, error) => Report {
                title: format!("{option}: {}", error.reason),
                excerpt: Some((option, &error.text, error.span.clone())),
                help: error.hint.as_deref(),
            },
        }
    }
}

fn scene_title(error: &SceneError) -> String {
    let SceneError { file, line, column, message, span, .. } = error;
    let file = text::line(file);
    match span {
        // An option of the command line has one line; the caret below it shows the column.
        Some(_) if !file.starts_with("--") => format!("{file}:{line}:{column}: {message}"),
        _ => format!("{file}: {message}"),
    }
}

/// A failure as it is printed: what is wrong, the lines it refers to, and what to do.
struct Report<'a> {
    title: String,
    /// Name and text of the source, and the bytes to underline.
    excerpt: Option<(&'a str, &'a str, std::ops::Range<usize>)>,
    help: Option<&'a str>,
}

impl Report<'_> {
    fn render(&self) -> String {
        let title = Level::ERROR.primary_title(text::lines(&self.title));
        let mut group = annotate_snippets::Group::with_title(title);
        if let Some((name, text, span)) = &self.excerpt {
            let place = AnnotationKind::Primary.span(span.clone());
            let around = neighbours(text, span).map(|line| AnnotationKind::Visible.span(line));
            group = group.element(Snippet::source(*text).path(*name).annotation(place).annotations(around));
        }
        if let Some(help) = self.help {
            // The renderer takes the text as it is, and names of a file may hold control characters.
            group = group.element(Level::HELP.message(text::lines(help)));
        }
        Renderer::styled().decor_style(DecorStyle::Unicode).render(&[group])
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

/// Returns the lines before and after a span, which are shown around it.
fn neighbours(text: &str, span: &std::ops::Range<usize>) -> impl Iterator<Item = std::ops::Range<usize>> {
    let head = text.get(..span.start).unwrap_or_default();
    let before = head.rfind('\n').map(|end| head.get(..end).unwrap_or_default());
    let before = before.map(|lines| lines.rfind('\n').map_or(0, |end| end + 1)..lines.len());
    let tail = text.get(span.end..).unwrap_or_default();
    let after = tail.find('\n').map(|end| span.end + end + 1);
    let after = after
        .map(|start| start..text.get(start..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| start + end));
    before.into_iter().chain(after).filter(|line| !line.is_empty())
}
