//! The method and the diagnosis that need cone programs.

use super::frictional::plain;
use super::{Answer, DEFAULT_METHOD, Options, run as run_method};
use crate::friction::diagnostics::{ImpulseReport, Pointed, impulse_report, pointed};
use crate::friction::reference::{FrictionReference, FrictionReferenceOptions, REFERENCE_ROWS, relative_asymmetry};
use crate::friction::{FrictionProblem, FrictionSolution};
use crate::json::ProblemFile;
use crate::outcome::{Status, Tolerance};

/// Solves the problem by the reference method.
pub(super) fn run(problem: &FrictionProblem, tolerance: &Tolerance) -> Answer {
    if problem.rows() > REFERENCE_ROWS {
        let rows = problem.rows();
        return Answer::not_applicable(format!(
            "the problem has {rows} rows, but the method is limited to {REFERENCE_ROWS}"
        ));
    }
    let options = FrictionReferenceOptions { tolerance: tolerance.solved, ..FrictionReferenceOptions::default() };
    let asymmetry = relative_asymmetry(problem);
    if asymmetry > options.asymmetry {
        return Answer::not_applicable(format!(
            "W is not symmetric (relative asymmetry {asymmetry:.1e}), so the law is not a cone program"
        ));
    }
    plain(&mut FrictionReference::with_options(options).unwrap_or_default(), problem, tolerance)
}

/// Sentences about bounds and uniqueness of the impulses.
pub(super) fn explain(file: &ProblemFile, problem: &FrictionProblem) -> Vec<String> {
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
    let Ok(Answer::Ended(report)) = run_method(file, DEFAULT_METHOD, &Options::default()) else { return lines };
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
