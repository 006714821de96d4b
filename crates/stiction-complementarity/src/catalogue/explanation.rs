//! Diagnosis of a problem besides its solution, in sentences that a user can act on.

use super::{Answer, DEFAULT_METHOD, Options, run};
use crate::friction::diagnostics::{ImpulseReport, Pointed, impulse_report, pointed};
use crate::friction::ladder::REFERENCE_ROWS;
use crate::friction::{FrictionProblem, FrictionSolution};
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
        ProblemFile::Friction(friction) => return impulses(problem, friction),
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

fn impulses(file: &ProblemFile, problem: &FrictionProblem) -> Vec<String> {
    if problem.rows() > REFERENCE_ROWS {
        let rows = problem.rows();
        return vec![format!("the problem has {rows} rows, but this diagnosis is limited to {REFERENCE_ROWS}")];
    }
    let bounded = match pointed(problem) {
        Pointed::Yes => "the friction cone is pointed: impulses are bounded by the loads".to_owned(),
        Pointed::No { r } => {
            let pressed: Vec<String> = (0..problem.blocks())
                .filter(|&block| problem.range(block).any(|row| r.get(row).is_some_and(|r| r.abs() > 1e-6)))
                .map(|block| block.to_string())
                .collect();
            format!(
                "the friction cone is not pointed: the impulses of blocks {} can balance each other (a wedged body), so \
                 impulses may be unbounded; reduce friction or remove a contact",
                pressed.join(", ")
            )
        }
        Pointed::Unknown => "it is undecided if the friction cone is pointed".to_owned(),
    };
    let mut lines = vec![bounded];
    let Ok(Answer::Ended(report)) = run(file, DEFAULT_METHOD, &Options::default()) else { return lines };
    let r = report.solution.into_iter().flat_map(|unknowns| unknowns.values).collect();
    match report.status {
        Status::Solved => lines.extend(uniqueness(impulse_report(problem, &FrictionSolution { r }))),
        status => lines.push(format!(
            "uniqueness of impulses was not tested: the ladder ended with status {status} at {}",
            report.worst
        )),
    }
    lines
}

/// Largest number of undetermined contacts that are listed one by one.
const LISTED: usize = 8;

fn uniqueness(report: Option<ImpulseReport>) -> Vec<String> {
    let Some(report) = report else { return vec!["the range of the impulses could not be computed".to_owned()] };
    if report.unique(1e-6) {
        return vec!["all normal impulses are determined by the velocities".to_owned()];
    }
    let largest = report.ranges.iter().fold(0.0_f64, |largest, range| largest.max(range.most.abs()));
    let open = || report.ranges.iter().filter(|range| range.most - range.least > 1e-6 * largest);
    let count = open().count();
    let mut lines = vec![format!("the velocities do not determine {count} normal impulses; their bounds are:")];
    lines.extend(
        open()
            .take(LISTED)
            .map(|range| format!("  block {}: {:.4e} to {:.4e} N s", range.block, range.least, range.most)),
    );
    if count > LISTED {
        lines.push(format!("  and {} more", count - LISTED));
    }
    lines
}
