//! Answers of a build without cone programs.

use super::Answer;
use crate::friction::FrictionProblem;
use crate::json::ProblemFile;
use crate::outcome::Tolerance;

const NOT_BUILT: &str =
    "needs cone programs, which this build leaves out (feature `cone-programs` of the library, `full` of the program)";

/// Answers that the reference method is not part of this build.
pub(super) fn run(_: &FrictionProblem, _: &Tolerance) -> Answer {
    Answer::not_applicable(format!("the method {NOT_BUILT}"))
}

/// Says that the diagnosis is not part of this build.
pub(super) fn explain(_: &ProblemFile, _: &FrictionProblem) -> Vec<String> {
    vec![format!("the diagnosis of impulses {NOT_BUILT}")]
}
