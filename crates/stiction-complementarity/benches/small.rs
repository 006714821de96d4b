//! Small problems: `cargo bench -p stiction-complementarity --bench small`. Results are in `docs/benchmarks.md`.
//!
//! C-28: a part on three support points on a vibrating plate, warm from step to step, with the cone and with polygons of more
//! and more directions; Lemke's method alone at 70 rows; one contact alone. Wall time on a shared machine is noisy: use the
//! fastest sample.

#![allow(clippy::expect_used, reason = "a bench speaks by panicking")]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use stiction_complementarity::{
    DenseMatrix, FrictionActiveSet, FrictionActiveSetOptions, FrictionLadder, FrictionNsgs, FrictionNsgsOptions,
    FrictionProblem, FrictionSolution, Law, Lcp, LcpLemke, LcpSolution, PolygonOptions, PolygonalFriction, Solver,
    Tolerance, eliminate_free, solve, solve_local,
};
use stiction_testkit::Random;
use stiction_testkit::plate::{MOTIONS, PlateMotion};
use stiction_testkit::problems::{Motion, tower};

fn main() {
    divan::main();
}

/// Length of a step, s, and steps: four periods of the plate.
const STEP: f64 = 2.5e-4;
const STEPS: usize = 484;

/// The motions by name, and all of them one after the other.
const RUNS: [&str; 5] = ["carry", "circle", "centrifuge", "hop", "all"];

fn problems(name: &str) -> Vec<FrictionProblem> {
    let chosen = |motion: &&PlateMotion| name == "all" || motion.name == name;
    MOTIONS.iter().filter(chosen).flat_map(|motion| motion.problems(STEP, STEPS)).collect()
}

/// Solves all problems in turn, each from the solution of the last. Items are solves.
fn warm(bencher: Bencher, name: &str, mut run: impl FnMut(&FrictionProblem, &FrictionSolution, &mut FrictionSolution)) {
    let problems = problems(name);
    bencher.counter(ItemsCount::new(problems.len())).bench_local(|| {
        let (mut guess, mut solution) = (FrictionSolution::default(), FrictionSolution::default());
        for problem in &problems {
            run(black_box(problem), &guess, &mut solution);
            std::mem::swap(&mut guess, &mut solution);
        }
        guess
    });
}

#[divan::bench(args = RUNS)]
fn cone_active_set(bencher: Bencher, name: &str) {
    let options = FrictionActiveSetOptions { tolerance: 1e-8, ..FrictionActiveSetOptions::default() };
    let mut method = FrictionActiveSet::with_options(options).expect("options");
    warm(bencher, name, |problem, guess, solution| {
        black_box(method.run(problem, Some(guess), solution).iterations);
    });
}

/// The ladder and the residual of the problem, as in a time step.
#[divan::bench(args = RUNS)]
fn cone_ladder_with_residual(bencher: Bencher, name: &str) {
    let (mut method, tolerance) = (FrictionLadder::default(), Tolerance { solved: 1e-8, loose: 1e-8 });
    warm(bencher, name, |problem, guess, solution| {
        black_box(solve(&mut method, problem, Some(guess), solution, &tolerance).status);
    });
}

#[divan::bench(args = &RUNS[..3])]
fn cone_gauss_seidel(bencher: Bencher, name: &str) {
    let options = FrictionNsgsOptions { tolerance: 1e-8, ..FrictionNsgsOptions::default() };
    let mut method = FrictionNsgs::with_options(options).expect("options");
    warm(bencher, name, |problem, guess, solution| {
        black_box(method.run(problem, Some(guess), solution).iterations);
    });
}

fn polygon(problem: &FrictionProblem, directions: usize) -> Lcp {
    let mut options = PolygonOptions::default();
    options.directions = directions;
    let polygonal = PolygonalFriction::new(problem, &options).expect("cones of three rows");
    eliminate_free(polygonal.problem()).expect("nothing is free")
}

/// Items are solves.
fn lemke(bencher: Bencher, problems: &[Lcp]) {
    let (mut method, mut solution) = (LcpLemke::new(), LcpSolution::default());
    bencher.counter(ItemsCount::new(problems.len())).bench_local(|| {
        for problem in problems {
            black_box(method.run(black_box(problem), None, &mut solution).iterations);
        }
    });
}

/// Every eighth step of all motions; 3 (`directions` + 2) rows.
#[divan::bench(args = [4, 8, 16, 32, 64])]
fn polygon_lemke(bencher: Bencher, directions: usize) {
    let problems: Vec<Lcp> = problems("all").iter().step_by(8).map(|problem| polygon(problem, directions)).collect();
    lemke(bencher, &problems);
}

/// Two boxes on seven contacts with eight directions: 70 rows.
#[divan::bench]
fn lemke_70_rows_contact(bencher: Bencher) {
    let mut pile = tower(2, 0.4);
    pile.touches.truncate(7);
    let kicked = |seed| polygon(&pile.problem(Motion::Kick { speed: 0.05, seed }), 8);
    lemke(bencher, &(0..20).map(kicked).collect::<Vec<_>>());
}

/// M = B Bᵀ/n with normal entries, q normal.
#[divan::bench(args = [30, 70, 108])]
fn lemke_random_semidefinite(bencher: Bencher, n: usize) {
    let one = |seed| {
        let mut random = Random::new(seed);
        let b: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
        let entry = |i: usize, j: usize| (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum::<f64>() / n as f64;
        let m = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let q = (0..n).map(|_| random.normal()).collect();
        Lcp::new(DenseMatrix::from_row_major(n, n, m).expect("square"), q).expect("finite")
    };
    lemke(bencher, &(0..20).map(one).collect::<Vec<_>>());
}

/// One contact alone, its block prepared each time.
#[divan::bench(args = ["stick", "slip"])]
fn one_contact(bencher: Bencher, mode: &str) {
    let a = [1.0, 0.2, -0.1, 0.2, 1.5, 0.3, -0.1, 0.3, 0.9];
    let (law, speed) = (Law::Cone { rows: 3, mu: 0.5 }, if mode == "stick" { 0.1 } else { 2.0 });
    bencher.bench_local(|| {
        let mut r = [0.0; 3];
        (solve_local(&law, black_box(&a), black_box(&[-1.0, speed, 0.7 * speed]), &mut r), r)
    });
}
