//! The ladder on the collected problems and on generated piles.

#![allow(clippy::disallowed_methods)] // The time of a solve is printed only.

use std::time::Instant;

use stiction_complementarity::{Accuracy, FrictionLadder, FrictionProblem, FrictionSolution, Status, Tolerance, solve};
use stiction_testkit::problems::{self, Motion};

use crate::friction_collection::files;

/// Solves with an accuracy and prints the rungs; status and residual are measured by the problem.
fn solve_and_print(name: &str, accuracy: Accuracy, problem: &FrictionProblem) -> (Status, f64) {
    let mut ladder = FrictionLadder::new(accuracy);
    let mut solution = FrictionSolution::default();
    let tolerance = Tolerance { solved: accuracy.tolerance(), loose: accuracy.tolerance() * 10.0 };
    let start = Instant::now();
    let outcome = solve(&mut ladder, problem, None, &mut solution, &tolerance);
    let rungs: Vec<String> = ladder
        .records()
        .iter()
        .map(|record| format!("{} {} {:.0e}", record.rung.name(), record.iterations, record.residual))
        .collect();
    println!(
        "{name:45} {:9} {:14} {:.1e} {:8.1} ms  {}",
        accuracy.name(),
        outcome.status.to_string(),
        outcome.residual.value,
        start.elapsed().as_secs_f64() * 1e3,
        rungs.join(", ")
    );
    (outcome.status, outcome.residual.value)
}

#[test]
fn the_collection_is_solved() {
    let files = files();
    let (mut exact, mut failures) = (0, Vec::new());
    for file in &files {
        let problem = file.problem();
        let (balanced, _) = solve_and_print(&file.name, Accuracy::Balanced, &problem);
        assert_eq!(balanced, Status::Solved, "{} at 1e-4", file.name);
        match solve_and_print(&file.name, Accuracy::Exact, &problem) {
            (Status::Solved, _) => exact += 1,
            (status, residual) => failures.push((file.name.clone(), status, residual)),
        }
    }
    println!("{exact} of {} to 1e-8; not: {failures:?}", files.len());
    assert!(20 * exact >= 19 * files.len(), "only {exact} of {}: {failures:?}", files.len());
}

#[test]
fn piles_of_our_own_are_solved() {
    let resting = [
        ("stack of 10, ratio 1", problems::stack(&problems::growing_masses(10, 1.0), 0.5)),
        ("stack of 10, ratio 100", problems::stack(&problems::growing_masses(10, 100.0), 0.5)),
        ("stack of 10, ratio 1e4", problems::stack(&problems::growing_masses(10, 1e4), 0.5)),
        ("stack of 10, ratio 1e6", problems::stack(&problems::growing_masses(10, 1e6), 0.5)),
        ("wall of 10 courses", problems::wall(10, 12, 0.5)),
        ("tower of 250", problems::tower(250, 0.5)),
        ("pyramid of 6", problems::pyramid(6, 0.5)),
        ("arch of 15", problems::arch(15, 0.7)),
        ("wedge", problems::wedge(0.2, 0.5)),
        ("chain of 20", problems::chain(20, 0.5)),
    ];
    for (name, pile) in resting {
        let (status, residual) = solve_and_print(name, Accuracy::Exact, &pile.problem(Motion::Rest));
        assert_eq!(status, Status::Solved, "{name} at rest: {residual:e}");
    }
}
