//! Solves of all problems, with their times.

use std::time::{Duration, Instant};
use stiction_complementarity::catalogue::{self, Options, Report};
use stiction_complementarity::{Accuracy, ProblemFile};
use stiction_testkit::corpus::{Listed, kind};

/// Result of one applicable method on one problem.
pub(crate) struct Measured {
    pub(crate) set: String,
    pub(crate) family: String,
    pub(crate) kind: &'static str,
    /// The method, with its accuracy if it has one; all initial guesses of a nonlinear problem count as one method.
    pub(crate) method: String,
    pub(crate) size: usize,
    pub(crate) seconds: f64,
    pub(crate) report: Report,
}

/// Time for which short solves are repeated; the shortest one counts.
const REPEAT_FOR: Duration = Duration::from_millis(20);

/// Largest number of rows for the reference solver, which solves up to 200 cone programs of cubic cost.
const REFERENCE_ROWS: usize = 130;

/// Runs every applicable method of the catalogue, the ladder of frictional problems at its two upper accuracies.
pub(crate) fn all_methods(listed: &Listed) -> Vec<Measured> {
    let mut measured = Vec::new();
    for method in catalogue::methods(&listed.problem) {
        if method.name == "reference" && size(&listed.problem) > REFERENCE_ROWS {
            continue;
        }
        let frictional = matches!(listed.problem, ProblemFile::Friction(_));
        let accuracies: &[Accuracy] = match (frictional, method.name.as_str()) {
            (true, "ladder") => &[Accuracy::Exact, Accuracy::Balanced],
            _ => &[Accuracy::Exact],
        };
        for &accuracy in accuracies {
            let named = match (frictional, method.name.as_str()) {
                (true, "ladder") => format!("ladder, {}", accuracy.name()),
                (_, name) if name.starts_with("newton-") => "newton, each start".to_owned(),
                (_, name) => name.to_owned(),
            };
            if let Some((report, seconds)) = solve(&listed.problem, &method.name, accuracy) {
                measured.push(Measured {
                    set: listed.set.clone(),
                    family: listed.family.clone(),
                    kind: kind(&listed.problem),
                    method: named,
                    size: size(&listed.problem),
                    seconds,
                    report,
                });
            }
        }
    }
    measured
}

/// Result and time of the shortest run; every run gives the same result.
fn solve(problem: &ProblemFile, name: &str, accuracy: Accuracy) -> Option<(Report, f64)> {
    let options = Options { tolerance: None, accuracy };
    let mut report = None;
    let seconds = quickest(|| report = catalogue::run(problem, name, &options).ok());
    Some((report?.report()?.clone(), seconds))
}

/// Shortest time of the runs that fit into a few milliseconds; of one run if it takes longer.
pub(crate) fn quickest<T>(mut run: impl FnMut() -> T) -> f64 {
    let begun = Instant::now();
    let mut shortest = f64::INFINITY;
    loop {
        let started = Instant::now();
        let _ = std::hint::black_box(run());
        shortest = shortest.min(started.elapsed().as_secs_f64());
        if begun.elapsed() >= REPEAT_FOR {
            return shortest;
        }
    }
}

/// Rows of a problem.
pub(crate) fn size(problem: &ProblemFile) -> usize {
    match problem {
        ProblemFile::Lcp(problem) => problem.size(),
        ProblemFile::MixedLcp(problem) => problem.size(),
        ProblemFile::BoxLcp(problem) => problem.size(),
        ProblemFile::Ncp { problem, .. } => problem.size(),
        ProblemFile::Friction(problem) => problem.rows(),
        _ => 0,
    }
}
