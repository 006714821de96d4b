//! Methods for nonlinear problems: Newton from each initial guess of the file, and from all in order.

use super::{Answer, Method, Report, Rung, Unknowns, measured};
use crate::ncp::expression::ExpressionFunction;
use crate::ncp::newton::{NcpAttempt, NcpNewton, NcpRecord};
use crate::ncp::{Ncp, NcpSolution};
use crate::outcome::Tolerance;

const NEWTON: &str = "newton";

/// Lists `ladder`, and `newton-1`, `newton-2`, … for the initial guesses of the file; `newton` if there are none.
pub(super) fn methods(starts: usize) -> Vec<Method> {
    let about = "semismooth Newton with continuation, from the listed initial guess of that number";
    let mut methods =
        vec![Method::new(("ladder", "Newton from the listed initial guesses in order, until one succeeds"))];
    if starts == 0 {
        methods.push(Method::new((NEWTON, "semismooth Newton with continuation, from zero")));
    }
    methods.extend((1..=starts).map(|number| Method { name: format!("{NEWTON}-{number}"), about }));
    methods
}

/// Runs the method of that name; `None` if there is none.
pub(super) fn run(
    problem: &Ncp<ExpressionFunction>,
    starts: &[NcpSolution],
    name: &str,
    tolerance: &Tolerance,
) -> Option<Answer> {
    let from = |number: usize| attempt(problem, starts.get(number), number, tolerance);
    if name == NEWTON && starts.is_empty() {
        return Some(Answer::Ended(from(0)));
    }
    if name == super::DEFAULT_METHOD {
        let mut best = from(0);
        for number in 1..starts.len() {
            if best.status.is_solved() {
                break;
            }
            best = joined(best, from(number));
        }
        return Some(Answer::Ended(best));
    }
    let number: usize = name.strip_prefix("newton-")?.parse().ok()?;
    (1..=starts.len()).contains(&number).then(|| Answer::Ended(from(number - 1)))
}

fn attempt(
    problem: &Ncp<ExpressionFunction>,
    start: Option<&NcpSolution>,
    number: usize,
    tolerance: &Tolerance,
) -> Report {
    let (mut method, mut solution) = (NcpNewton::new(), NcpSolution::default());
    let report = measured(&mut method, problem, start, &mut solution, tolerance);
    let rungs = method.records().iter().map(|record| rung(number, record)).collect();
    Report { rungs, solution: vec![Unknowns { name: "z", values: solution.z }], ..report }
}

fn rung(number: usize, record: &NcpRecord) -> Rung {
    let way = match record.attempt {
        NcpAttempt::Newton => "newton",
        NcpAttempt::Smoothing => "smoothing",
        NcpAttempt::Proximal => "proximal",
    };
    let place = match record.start {
        0 => format!("start {}", number + 1),
        own => format!("own start {own} near start {}", number + 1),
    };
    Rung { name: format!("{way} from {place}"), residual: record.residual, iterations: record.iterations }
}

/// The better of two reports, with the rungs and iterations of both.
fn joined(first: Report, second: Report) -> Report {
    let rungs = [first.rungs.as_slice(), second.rungs.as_slice()].concat();
    let iterations = first.iterations.saturating_add(second.iterations);
    let better = if second.residual.value < first.residual.value { second } else { first };
    Report { iterations, rungs, ..better }
}
