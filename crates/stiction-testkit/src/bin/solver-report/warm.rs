//! Effect of warm starts: frictional problems whose free velocities differ by 1 %, cold and from the previous solution.

use crate::measure::{quickest, size};
use stiction_complementarity::{
    Accuracy, FrictionLadder, FrictionNewton, FrictionNewtonOptions, FrictionNsgs, FrictionNsgsOptions,
    FrictionProblem, FrictionSolution, ProblemError, ProblemFile, Solver, Tolerance, solve,
};
use stiction_testkit::Random;
use stiction_testkit::corpus::Listed;

/// One method on one problem, without and with an initial guess.
pub(crate) struct Pair {
    pub(crate) method: &'static str,
    pub(crate) size: usize,
    pub(crate) cold: Run,
    pub(crate) warm: Run,
}

/// Result of one solve.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) solved: bool,
    pub(crate) iterations: u32,
    pub(crate) seconds: f64,
}

/// Tolerance of an exact solution; coarser solutions (1e-4) show in the residual only.
const TOLERANCE: f64 = 1e-8;

/// Largest number of rows; larger problems are not typical of a step of a simulation.
const MOST_ROWS: usize = 2000;

/// Cold and warm solves of every frictional problem that the ladder solves, by the methods that use an initial guess.
pub(crate) fn all(problems: &[Listed]) -> Vec<Pair> {
    let frictional = problems.iter().filter_map(|listed| match &listed.problem {
        ProblemFile::Friction(problem) if (1..=MOST_ROWS).contains(&problem.rows()) => {
            Some((problem, size(&listed.problem)))
        }
        _ => None,
    });
    frictional.flat_map(|(problem, size)| pairs(problem, size)).collect()
}

fn pairs(problem: &FrictionProblem, size: usize) -> Vec<Pair> {
    let (Ok(before), mut guess) = (a_percent_off(problem), FrictionSolution::default()) else { return Vec::new() };
    let tolerance = Tolerance { solved: TOLERANCE, loose: 1e-4 };
    let known = solve(&mut FrictionLadder::new(Accuracy::Exact), &before, None, &mut guess, &tolerance);
    if !known.status.is_solved() {
        return Vec::new();
    }
    let gauss_seidel = FrictionNsgsOptions { tolerance: TOLERANCE, ..FrictionNsgsOptions::default() };
    let newton = FrictionNewtonOptions {
        tolerance: 0.1 * TOLERANCE,
        acceptable_residual: TOLERANCE,
        max_steps: 100,
        ..FrictionNewtonOptions::default()
    };
    vec![
        pair("ladder, exact", size, problem, &guess, || FrictionLadder::new(Accuracy::Exact)),
        pair("nsgs", size, problem, &guess, || FrictionNsgs::with_options(gauss_seidel).unwrap_or_default()),
        pair("newton", size, problem, &guess, || FrictionNewton::with_options(newton).unwrap_or_default()),
    ]
}

/// The same problem with every free velocity changed by up to 1 %.
fn a_percent_off(problem: &FrictionProblem) -> Result<FrictionProblem, ProblemError> {
    let mut random = Random::new(1);
    let mut changed = problem.clone();
    changed.refill(|_, _, q| {
        for q in q {
            *q *= 1.0 + random.uniform(-0.01, 0.01);
        }
        Ok::<(), ProblemError>(())
    })?;
    Ok(changed)
}

fn pair<S: Solver<FrictionProblem>>(
    method: &'static str,
    size: usize,
    problem: &FrictionProblem,
    guess: &FrictionSolution,
    make: impl Fn() -> S,
) -> Pair {
    let run = |guess: Option<&FrictionSolution>| {
        let (mut solver, mut solution) = (make(), FrictionSolution::default());
        let tolerance = Tolerance { solved: TOLERANCE, loose: 1e-4 };
        // The first solve allocates the scratch memory, as in a simulation; it is not counted.
        let (solved, iterations) = {
            let outcome = solve(&mut solver, problem, guess, &mut solution, &tolerance);
            (outcome.status.is_solved(), outcome.iterations)
        };
        let seconds = quickest(|| solver.run(problem, guess, &mut solution));
        Run { solved, iterations, seconds }
    };
    Pair { method, size, cold: run(None), warm: run(Some(guess)) }
}
