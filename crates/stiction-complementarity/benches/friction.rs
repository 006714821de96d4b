//! Large and ill-conditioned frictional problems: `cargo bench -p stiction-complementarity --bench friction`.
//!
//! Results are in `docs/benchmarks.md`. Every solve is cold: the ladder has solved a problem of this size before, so its memory
//! and the elimination order exist, but it has no initial guess. Wall time on a shared machine is noisy: use the fastest sample.

#![allow(clippy::expect_used, reason = "a bench speaks by panicking")]

use divan::Bencher;
use stiction_complementarity::{FrictionLadder, FrictionProblem, FrictionSolution, Problem, Solver};
use stiction_testkit::problems::{Motion, growing_masses, stack, tower, wall};
use stiction_testkit::rocks::{Rocks, rock_pile};

fn main() {
    divan::main();
}

/// Solves all problems in turn, each cold, to the residual `tolerance`.
fn cold(bencher: Bencher, problems: &[FrictionProblem], tolerance: f64) {
    let mut ladder = FrictionLadder::with_tolerance(tolerance).expect("a positive tolerance");
    let mut solution = FrictionSolution::default();
    for problem in problems {
        let _ = ladder.run(problem, None, &mut solution);
        let residual = problem.residual(&solution).value;
        if residual > tolerance {
            eprintln!("not solved: residual {residual:e}");
        }
    }
    bencher.bench_local(|| {
        for problem in problems {
            let _ = ladder.run(problem, None, &mut solution);
        }
    });
}

fn kick(seed: u64) -> Motion {
    Motion::Kick { speed: 0.05, seed }
}

#[divan::bench(args = [1.0, 1e2, 1e4, 1e6])]
fn stack_of_ten_at_rest(bencher: Bencher, ratio: f64) {
    cold(bencher, &[stack(&growing_masses(10, ratio), 0.5).problem(Motion::Rest)], 1e-8);
}

/// Ten seeds per iteration.
#[divan::bench(args = [1.0, 1e2, 1e4])]
fn ten_kicked_stacks_of_ten(bencher: Bencher, ratio: f64) {
    let pile = stack(&growing_masses(10, ratio), 0.5);
    let problems: Vec<FrictionProblem> = (1..11).map(|seed| pile.problem(kick(seed))).collect();
    cold(bencher, &problems, 1e-8);
}

#[divan::bench]
fn wall_at_rest(bencher: Bencher) {
    cold(bencher, &[wall(10, 12, 0.5).problem(Motion::Rest)], 1e-6);
}

#[divan::bench(args = 1..6, sample_count = 5)]
fn wall_kicked(bencher: Bencher, seed: u64) {
    cold(bencher, &[wall(10, 12, 0.5).problem(kick(seed))], 1e-6);
}

#[divan::bench]
fn tower_at_rest(bencher: Bencher) {
    cold(bencher, &[tower(250, 0.5).problem(Motion::Rest)], 1e-6);
}

#[divan::bench(args = 1..6, sample_count = 5)]
fn tower_kicked(bencher: Bencher, seed: u64) {
    cold(bencher, &[tower(250, 0.5).problem(kick(seed))], 1e-6);
}

#[divan::bench]
fn bin_of_rocks_under_a_million_times_their_load(bencher: Bencher) {
    cold(bencher, &[rock_pile(&Rocks { load: 1e6, ..Rocks::default() }).problem(Motion::Rest)], 1e-8);
}
