//! Every method by name: which ones fit a problem, how one of them fares, and what to try when it does not.
//!
//! The program, the test over the collection in `problems/` and the report in `docs/` all go through here, so a method has
//! one name, one set of options and one verdict everywhere. Methods start cold, with scratch memory of their own; time is
//! measured by whoever calls.
//!
//! ```
//! use stiction_complementarity::{ProblemFile, Status, catalogue};
//!
//! let problem = ProblemFile::read(r#"{"kind": "lcp", "n": 1, "M": [[2]], "q": [-4]}"#)?;
//! let names: Vec<String> = catalogue::methods(&problem).into_iter().map(|method| method.name).collect();
//! assert_eq!(names[0], catalogue::DEFAULT_METHOD);
//! let answer = catalogue::run(&problem, "lemke", &catalogue::Options::default())?;
//! assert_eq!(answer.status(), Some(Status::Solved));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod explanation;
mod frictional;
mod hints;
mod linear;
mod nonlinear;

pub use explanation::explain;

use crate::friction::ladder::Accuracy;
use crate::json::ProblemFile;
use crate::outcome::{Status, Tolerance};
use crate::problem::{Problem, Residual};
use crate::solver::{Solver, solve};
use serde::Serialize;

/// The method that every kind of problem has, and the one to begin with.
pub const DEFAULT_METHOD: &str = "ladder";

/// A method that fits a kind of problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its name, unique among those that fit the problem.
    pub name: String,
    /// What it does, in one line.
    pub about: &'static str,
}

impl Method {
    fn new((name, about): (&str, &'static str)) -> Self {
        Self { name: name.to_owned(), about }
    }
}

/// What all methods are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// The residual that counts as solved; `None` is [`default_tolerance`] of the problem.
    pub tolerance: Option<f64>,
    /// How far the ladder of a frictional problem goes where no tolerance is given. Other kinds ignore it.
    pub accuracy: Accuracy,
}

/// One rung that a ladder took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rung {
    /// Its name.
    pub name: String,
    /// The residual of its answer, by the ruler of the problem.
    pub residual: f64,
    /// Its iterations, in its own unit.
    pub iterations: u32,
}

/// Unknowns by the name they have in the statement of the problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unknowns {
    /// The symbol.
    pub name: &'static str,
    /// The values.
    pub values: Vec<f64>,
}

/// How a method fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How it ended, after measuring.
    pub status: Status,
    /// The residual measured by the problem.
    pub residual: Residual,
    /// The worst row or contact, in words.
    pub worst: String,
    /// Iterations, in the method's own unit; of all rungs together for a ladder.
    pub iterations: u32,
    /// The rungs a ladder took, in order; the last one decided.
    pub rungs: Vec<Rung>,
    /// What the method says about its failure.
    pub failure: Option<String>,
    /// What to try next; none when the problem is solved.
    pub hint: Option<&'static str>,
    /// What has to be known to compare this method with the others.
    pub note: Option<String>,
    /// The last iterate, whatever the status.
    pub solution: Vec<Unknowns>,
}

/// What came of asking a method.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // One exists at a time.
pub enum Answer {
    /// The method is not made for this problem.
    NotApplicable {
        /// Why.
        reason: String,
    },
    /// The method ran.
    Ended(Report),
}

impl Answer {
    /// How the method ended; nothing when it does not apply.
    pub fn status(&self) -> Option<Status> {
        self.report().map(|report| report.status)
    }

    /// How the method fared; nothing when it does not apply.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::NotApplicable { .. } => None,
            Self::Ended(report) => Some(report),
        }
    }

    fn not_applicable(reason: impl std::fmt::Display) -> Self {
        Self::NotApplicable { reason: reason.to_string() }
    }
}

/// A name that is none of the methods for a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{name}` for {kind}; there are {}", known.join(", "))]
pub struct UnknownMethod {
    /// The name asked for.
    pub name: String,
    /// The kind of the problem, in words.
    pub kind: &'static str,
    /// The names that fit.
    pub known: Vec<String>,
}

/// The kind of a problem, in words.
pub fn kind(problem: &ProblemFile) -> &'static str {
    match problem {
        ProblemFile::Lcp(_) => "an lcp",
        ProblemFile::MixedLcp(_) => "a mixed lcp",
        ProblemFile::BoxLcp(_) => "a box lcp",
        ProblemFile::Ncp { .. } => "a nonlinear problem",
        ProblemFile::Friction(_) => "a frictional problem",
    }
}

/// The methods that fit the kind of a problem, the default one first.
pub fn methods(problem: &ProblemFile) -> Vec<Method> {
    let named = |table: &[(&str, &'static str)]| table.iter().copied().map(Method::new).collect();
    match problem {
        ProblemFile::Lcp(_) => named(&linear::LCP_METHODS),
        ProblemFile::MixedLcp(_) => named(&linear::MIXED_METHODS),
        ProblemFile::BoxLcp(_) => named(&linear::BOX_METHODS),
        ProblemFile::Ncp { starts, .. } => nonlinear::methods(starts.len()),
        ProblemFile::Friction(_) => named(&frictional::METHODS),
    }
}

/// The residual that counts as solved where none is asked for: 1e-10 for linear problems, 1e-8 for nonlinear ones, that of
/// the accuracy for frictional ones. Dimensionless but for nonlinear problems, where it has the unit of the rows.
pub fn default_tolerance(problem: &ProblemFile, accuracy: Accuracy) -> f64 {
    match problem {
        ProblemFile::Lcp(_) | ProblemFile::MixedLcp(_) | ProblemFile::BoxLcp(_) => 1e-10,
        ProblemFile::Ncp { .. } => 1e-8,
        ProblemFile::Friction(_) => accuracy.tolerance(),
    }
}

/// The residual up to which an answer is still called loosely solved; dimensionless.
fn loose(problem: &ProblemFile) -> f64 {
    if matches!(problem, ProblemFile::Friction(_)) { Accuracy::Balanced.tolerance() } else { 1e-6 }
}

/// Runs the method of that name on the problem.
pub fn run(problem: &ProblemFile, name: &str, options: &Options) -> Result<Answer, UnknownMethod> {
    let solved = options.tolerance.unwrap_or_else(|| default_tolerance(problem, options.accuracy));
    let tolerance = Tolerance { solved, loose: loose(problem).max(solved) };
    let answer = match problem {
        ProblemFile::Lcp(problem) => linear::run_lcp(problem, name, &tolerance),
        ProblemFile::MixedLcp(problem) => linear::run_mixed(problem, name, &tolerance),
        ProblemFile::BoxLcp(problem) => linear::run_box(problem, name, &tolerance),
        ProblemFile::Ncp { problem, starts } => nonlinear::run(problem, starts, name, &tolerance),
        ProblemFile::Friction(problem) => frictional::run(problem, name, &tolerance, options.accuracy),
    };
    let known = || methods(problem).into_iter().map(|method| method.name).collect();
    let mut answer =
        answer.ok_or_else(|| UnknownMethod { name: name.to_owned(), kind: kind(problem), known: known() })?;
    if let Answer::Ended(report) = &mut answer {
        report.hint = hints::next_knob(problem, name, report.status);
    }
    Ok(answer)
}

/// Runs a method into `solution` and keeps its verdict; what only the kind of problem knows is filled in by its file.
fn measured<P: Problem, S: Solver<P>>(
    solver: &mut S,
    problem: &P,
    guess: Option<&P::Solution>,
    solution: &mut P::Solution,
    tolerance: &Tolerance,
) -> Report {
    let outcome = solve(solver, problem, guess, solution, tolerance);
    Report {
        status: outcome.status,
        residual: outcome.residual,
        worst: format!("row {}", outcome.residual.row),
        iterations: outcome.iterations,
        rungs: Vec::new(),
        failure: None,
        hint: None,
        note: None,
        solution: Vec::new(),
    }
}
