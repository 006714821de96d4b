//! Catalogue of methods by name: the methods for a kind of problem, their results, and hints on the next step.
//!
//! The command line, the test over the collection in `problems/` and the report in `docs/` all use this module, so a method
//! has one name, one set of options and one status everywhere. Methods start cold, each with its own scratch memory. The
//! caller measures time.
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

#[cfg_attr(not(feature = "cone-programs"), path = "no_cone_programs.rs")]
mod cone_programs;
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

/// Default method, which every kind of problem has.
pub const DEFAULT_METHOD: &str = "ladder";

/// A method for a kind of problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Name, unique among the methods for the kind of problem.
    pub name: String,
    /// Description in one line.
    pub about: &'static str,
}

impl Method {
    fn new((name, about): (&str, &'static str)) -> Self {
        Self { name: name.to_owned(), about }
    }
}

/// Options of all methods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Largest residual that counts as solved; `None` is [`default_tolerance`] of the problem.
    pub tolerance: Option<f64>,
    /// Accuracy of the ladder of a frictional problem without a tolerance. Other kinds ignore it.
    pub accuracy: Accuracy,
}

/// One rung of a run of a ladder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rung {
    /// Its name.
    pub name: String,
    /// Residual of its solution, as measured by the problem.
    pub residual: f64,
    /// Its iterations, in its own unit.
    pub iterations: u32,
}

/// Unknowns, with their name in the statement of the problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unknowns {
    /// The symbol.
    pub name: &'static str,
    /// The values.
    pub values: Vec<f64>,
}

/// Result of a method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Status, after measuring the residual.
    pub status: Status,
    /// The residual measured by the problem.
    pub residual: Residual,
    /// The worst row or contact, in words.
    pub worst: String,
    /// Iterations, in the method's own unit; of all rungs together for a ladder.
    pub iterations: u32,
    /// Rungs of a ladder, in order; the last one decided.
    pub rungs: Vec<Rung>,
    /// Description of the failure by the method.
    pub failure: Option<String>,
    /// Hint on the next step; `None` if the problem is solved.
    pub hint: Option<&'static str>,
    /// Remark needed to compare this method with the others.
    pub note: Option<String>,
    /// The last iterate, whatever the status.
    pub solution: Vec<Unknowns>,
}

/// Result of a method, or the reason why it does not apply.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // One exists at a time.
pub enum Answer {
    /// The method is not made for this problem.
    NotApplicable {
        /// The reason.
        reason: String,
    },
    /// The method ran.
    Ended(Report),
}

impl Answer {
    /// Status of the method; `None` if it does not apply.
    pub fn status(&self) -> Option<Status> {
        self.report().map(|report| report.status)
    }

    /// Result of the method; `None` if it does not apply.
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

/// Error of a name that is not a method for the kind of problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{name}` for {kind}; there are {}", known.join(", "))]
pub struct UnknownMethod {
    /// The unknown name.
    pub name: String,
    /// The kind of the problem, in words.
    pub kind: &'static str,
    /// Names of the methods for the kind.
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

/// The methods for the kind of a problem, the default one first.
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

/// Default of the largest residual that counts as solved.
///
/// It is 1e-10 for linear problems, 1e-8 for nonlinear ones, and that of the accuracy for frictional ones. It is
/// dimensionless, except for nonlinear problems, where it has the unit of the rows.
pub fn default_tolerance(problem: &ProblemFile, accuracy: Accuracy) -> f64 {
    match problem {
        ProblemFile::Lcp(_) | ProblemFile::MixedLcp(_) | ProblemFile::BoxLcp(_) => 1e-10,
        ProblemFile::Ncp { .. } => 1e-8,
        ProblemFile::Friction(_) => accuracy.tolerance(),
    }
}

/// Largest residual that counts as loosely solved. Dimensionless.
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
        ProblemFile::Friction(problem) if name == frictional::REFERENCE => {
            Some(cone_programs::run(problem, &tolerance))
        }
        ProblemFile::Friction(problem) => frictional::run(problem, name, &tolerance, options.accuracy),
    };
    let known = || methods(problem).into_iter().map(|method| method.name).collect();
    let mut answer =
        answer.ok_or_else(|| UnknownMethod { name: name.to_owned(), kind: kind(problem), known: known() })?;
    if let Answer::Ended(report) = &mut answer {
        report.hint = hints::next_step(problem, name, report.status);
    }
    Ok(answer)
}

/// Runs a method, writes `solution` and returns its report; the module of the kind fills in the rest of the report.
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
