//! Methods for frictional problems.

use super::{Answer, Report, Rung, Unknowns, measured};
use crate::friction::active_set::{FrictionActiveSet, FrictionActiveSetOptions, MAX_CONTACTS, MAX_SPATIAL_CONTACTS};
use crate::friction::admm::{FrictionAdmm, FrictionAdmmOptions};
use crate::friction::interior_point::{FrictionInteriorPoint, FrictionInteriorPointOptions};
use crate::friction::ladder::{Accuracy, FrictionLadder, FrictionRungRecord};
use crate::friction::law::Kind;
use crate::friction::newton::{FrictionNewton, FrictionNewtonOptions};
use crate::friction::nsgs::{FrictionNsgs, FrictionNsgsOptions};
use crate::friction::{FrictionProblem, FrictionSolution, Law};
use crate::mixed_lcp::MixedLcpSolution;
use crate::mixed_lcp::ladder::MixedLcpLadder;
use crate::outcome::Tolerance;
use crate::problem::{Problem, Residual};
use crate::reformulate::polygon::{PolygonOptions, PolygonalFriction};
use crate::solver::Solver;

/// Name of the reference method.
pub(super) const REFERENCE: &str = "reference";

pub(super) const METHODS: [(&str, &str); 9] = [
    ("ladder", "the methods below in the order of their cost, until the accuracy is reached"),
    ("active-set", "dense active-set method over the modes open, stick and slip; few spatial contacts only"),
    ("nsgs", "nonsmooth block Gauss-Seidel, each contact solved exactly"),
    ("nsgs-relaxed", "the same with relaxation 0.5, against oscillations of redundant contacts"),
    ("interior-point", "primal-dual interior point with the exact friction law"),
    ("newton", "semismooth Newton from zero impulses"),
    ("admm", "alternating direction method of multipliers with the De Saxcé correction"),
    (REFERENCE, "De Saxcé's fixed point over cone programs solved by Clarabel; symmetric W, up to 400 rows"),
    ("polygon", "approximation with eight directions per contact, as a mixed lcp solved by its ladder"),
];

/// Largest number of complementary unknowns of a polygonal problem, which is dense.
///
/// Lemke's method takes about n³/2 operations.
const POLYGON_UNKNOWNS: usize = 300;

/// Runs the method of that name; `None` if there is none, and for [`REFERENCE`], which needs cone programs.
///
/// A tolerance out of range selects the default options.
pub(super) fn run(problem: &FrictionProblem, name: &str, tolerance: &Tolerance, accuracy: Accuracy) -> Option<Answer> {
    let answer = match name {
        "ladder" => ladder(problem, tolerance, accuracy),
        "active-set" => active_set(problem, tolerance),
        "nsgs" => gauss_seidel(problem, tolerance, 1.0),
        "nsgs-relaxed" => gauss_seidel(problem, tolerance, 0.5),
        "interior-point" => interior_point(problem, tolerance),
        "newton" => {
            let options = FrictionNewtonOptions {
                tolerance: 0.1 * tolerance.solved,
                acceptable_residual: tolerance.solved,
                max_steps: 100,
                ..FrictionNewtonOptions::default()
            };
            plain(&mut FrictionNewton::with_options(options).unwrap_or_default(), problem, tolerance)
        }
        "admm" => {
            let options = FrictionAdmmOptions { tolerance: tolerance.solved, ..FrictionAdmmOptions::default() };
            plain(&mut FrictionAdmm::with_options(options).unwrap_or_default(), problem, tolerance)
        }
        "polygon" => polygon(problem, tolerance),
        _ => return None,
    };
    Some(answer)
}

pub(super) fn plain<S: Solver<FrictionProblem>>(
    method: &mut S,
    problem: &FrictionProblem,
    tolerance: &Tolerance,
) -> Answer {
    let mut solution = FrictionSolution::default();
    let report = measured(method, problem, None, &mut solution, tolerance);
    Answer::Ended(finished(report, problem, solution))
}

/// Adds the worst contact and the impulses to the report.
fn finished(report: Report, problem: &FrictionProblem, solution: FrictionSolution) -> Report {
    let worst = in_words(problem, report.residual);
    Report { worst, solution: vec![Unknowns { name: "r", values: solution.r }], ..report }
}

fn in_words(problem: &FrictionProblem, residual: Residual) -> String {
    let block = (0..problem.blocks()).find(|&block| problem.range(block).contains(&residual.row));
    match block.and_then(|block| problem.laws().get(block).map(|law| (block, law))) {
        Some((block, law)) => format!("block {block}, {}", law.describe()),
        None => format!("row {}", residual.row),
    }
}

fn ladder(problem: &FrictionProblem, tolerance: &Tolerance, accuracy: Accuracy) -> Answer {
    let asked = tolerance.solved;
    let own = (asked != accuracy.tolerance()).then(|| FrictionLadder::with_tolerance(asked).ok()).flatten();
    let mut method = own.unwrap_or_else(|| FrictionLadder::new(accuracy));
    let mut solution = FrictionSolution::default();
    let report = measured(&mut method, problem, None, &mut solution, tolerance);
    let rung = |record: &FrictionRungRecord| Rung {
        name: record.rung.name().to_owned(),
        residual: record.residual,
        iterations: record.iterations,
    };
    let rungs = method.records().iter().map(rung).collect();
    Answer::Ended(finished(Report { rungs, ..report }, problem, solution))
}

fn active_set(problem: &FrictionProblem, tolerance: &Tolerance) -> Answer {
    if !FrictionActiveSet::applies(problem) {
        return Answer::not_applicable(format!(
            "limited to {MAX_CONTACTS} spatial or planar contacts and bounded rows together ({MAX_SPATIAL_CONTACTS} if all are spatial), with few joints and without other laws"
        ));
    }
    let options = FrictionActiveSetOptions { tolerance: tolerance.solved, ..FrictionActiveSetOptions::default() };
    plain(&mut FrictionActiveSet::with_options(options).unwrap_or_default(), problem, tolerance)
}

fn gauss_seidel(problem: &FrictionProblem, tolerance: &Tolerance, relaxation: f64) -> Answer {
    let options = FrictionNsgsOptions { tolerance: tolerance.solved, relaxation, ..FrictionNsgsOptions::default() };
    let mut method = FrictionNsgs::with_options(options).unwrap_or_default();
    let mut solution = FrictionSolution::default();
    let report = measured(&mut method, problem, None, &mut solution, tolerance);
    let failure = method.last_failure().map(|failure| failure.to_string());
    Answer::Ended(finished(Report { failure, ..report }, problem, solution))
}

fn interior_point(problem: &FrictionProblem, tolerance: &Tolerance) -> Answer {
    let options =
        FrictionInteriorPointOptions { tolerance: tolerance.solved, ..FrictionInteriorPointOptions::default() };
    let mut method = FrictionInteriorPoint::with_options(options).unwrap_or_default();
    let mut solution = FrictionSolution::default();
    let report = measured(&mut method, problem, None, &mut solution, tolerance);
    let failure = method.last_failure().map(|failure| failure.to_string());
    Answer::Ended(finished(Report { failure, ..report }, problem, solution))
}

fn polygon(problem: &FrictionProblem, tolerance: &Tolerance) -> Answer {
    let options = PolygonOptions::default();
    let unknowns = |law: &Law| match law.kind() {
        Kind::Contact(parts) => {
            1 + parts.iter().map(|part| 1 + if part.rows == 1 { 2 } else { options.directions }).sum::<usize>()
        }
        Kind::Bounded { .. } => 2,
        Kind::Equality => 0,
    };
    let size: usize = problem.laws().iter().map(unknowns).sum();
    if size > POLYGON_UNKNOWNS {
        let reason = format!(
            "the polygonal problem has {size} complementary unknowns, but the method is limited to {POLYGON_UNKNOWNS}"
        );
        return Answer::not_applicable(reason);
    }
    let polygonal = match PolygonalFriction::new(problem, &options) {
        Ok(polygonal) => polygonal,
        Err(error) => return Answer::not_applicable(error),
    };
    let (mut method, mut solution) = (MixedLcpLadder::new(), MixedLcpSolution::default());
    let report = measured(&mut method, polygonal.problem(), None, &mut solution, tolerance);
    let impulses = polygonal.recover(&solution);
    let exact = problem.residual(&impulses);
    let note =
        format!("residual of the polygonal problem; with the second-order cone the residual is {:.1e}", exact.value);
    let worst = in_words(problem, exact);
    let solution = vec![Unknowns { name: "r", values: impulses.r }];
    Answer::Ended(Report { worst, note: Some(note), solution, ..report })
}
