//! Diagnosis of a problem besides its solution, in sentences that a user can act on.

use super::{Answer, DEFAULT_METHOD, Options, cone_programs, run};
use crate::json::ProblemFile;
use crate::lcp::Lcp;
use crate::lcp::diagnostics::{Finding, is_copositive, is_p_matrix, is_positive_semidefinite};
use crate::mixed_lcp::MixedLcp;
use crate::outcome::Status;
use crate::reformulate::eliminate_free;

/// Sentences about the class of its matrix, a proof of infeasibility, and bounds and uniqueness of impulses.
///
/// Slow: it solves cone programs, or examines all faces of a small matrix.
pub fn explain(problem: &ProblemFile) -> Vec<String> {
    let mut lines = match problem {
        ProblemFile::Lcp(lcp) => matrix(lcp),
        ProblemFile::MixedLcp(mixed) => mixed_matrix(mixed),
        ProblemFile::BoxLcp(_) | ProblemFile::Ncp { .. } => Vec::new(),
        ProblemFile::Friction(friction) => return cone_programs::explain(problem, friction),
    };
    if let Ok(Answer::Ended(report)) = run(problem, DEFAULT_METHOD, &Options::default()) {
        lines.push(match (report.status, report.failure) {
            (Status::Solved, _) => "a solution exists".to_owned(),
            (_, Some(failure)) => failure,
            (status, None) => format!("it is undecided if a solution exists: the ladder ended with status {status}"),
        });
    }
    lines
}

fn matrix(problem: &Lcp) -> Vec<String> {
    let m = problem.m();
    let semidefinite = if is_positive_semidefinite(m) {
        "M is positive semidefinite: Lemke's method solves it, or its ray proves that there is no solution"
    } else {
        "M is not positive semidefinite"
    };
    let copositive = match is_copositive(m) {
        Finding::Yes => "M is copositive".to_owned(),
        Finding::No { witness } => format!("M is not copositive: xᵀ M x < 0 for x = {witness:?}"),
        Finding::Unknown => "it is undecided if M is copositive: the test is too expensive at this size".to_owned(),
    };
    let p_matrix = match is_p_matrix(m) {
        Finding::Yes => "M is a P-matrix: there is exactly one solution for every q".to_owned(),
        Finding::No { witness } => {
            let rows: Vec<String> =
                witness.iter().enumerate().filter(|(_, x)| **x > 0.0).map(|(i, _)| i.to_string()).collect();
            format!("M is not a P-matrix: the principal minor of rows {} is not positive", rows.join(", "))
        }
        Finding::Unknown => "it is undecided if M is a P-matrix: the test is too expensive at this size".to_owned(),
    };
    vec![semidefinite.to_owned(), copositive, p_matrix]
}

fn mixed_matrix(problem: &MixedLcp) -> Vec<String> {
    match eliminate_free(problem) {
        Ok(lcp) => {
            let reduced = |line: String| line.replacen('M', "the reduced matrix M", 1);
            matrix(&lcp).into_iter().map(reduced).collect()
        }
        Err(failure) => vec![failure.to_string()],
    }
}
