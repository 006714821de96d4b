//! Families on which Gauss-Seidel stalls: half-rank towers, walls, mass ratios up to 1e6, bins of rocks.
//!
//! The counts are those of the ladder on seeds that were not used for tuning; every failure must be reported as one.

use stiction_complementarity::{
    FrictionAdmm, FrictionInteriorPoint, FrictionLadder, FrictionNewton, FrictionNsgs, FrictionNsgsOptions,
    FrictionProblem, FrictionSolution, Problem, Solver, Status, Tolerance, solve,
};
use stiction_testkit::count_allocations;
use stiction_testkit::hard::{collapsing, kick, kicked_stack, kicked_tower};
use stiction_testkit::problems::{Motion, growing_masses, stack, tower, wall};
use stiction_testkit::rocks::{Rocks, rock_pile};

const TOLERANCE: f64 = 1e-8;

/// Number of problems that the ladder solves to 1e-8; the residual of each solution is measured again.
fn solved(problems: impl Iterator<Item = FrictionProblem>) -> usize {
    let mut ladder = FrictionLadder::with_tolerance(TOLERANCE).unwrap();
    let (mut solution, verdicts) = (FrictionSolution::default(), Tolerance { solved: TOLERANCE, loose: 1e-4 });
    let one = |problem: FrictionProblem| {
        let outcome = solve(&mut ladder, &problem, None, &mut solution, &verdicts);
        let (status, claimed) = (outcome.status, outcome.residual.value);
        let measured = problem.residual(&solution).value;
        assert_eq!(status == Status::Solved, measured <= TOLERANCE, "{status} at {measured:e}");
        assert_eq!(claimed, measured);
        usize::from(status == Status::Solved)
    };
    problems.map(one).sum()
}

fn kicked_stacks(ratio: f64) -> impl Iterator<Item = FrictionProblem> {
    (201..213).map(move |seed| kicked_stack(ratio, seed))
}

/// W of a tower has rank 6 and 12 rows per box; with doubled contacts the rank is a quarter of the rows.
#[test]
fn half_rank_towers() {
    assert_eq!(solved((301..307).map(|seed| kicked_tower(20, 1, seed))), 6);
    assert_eq!(solved((307..311).map(|seed| kicked_tower(20, 2, seed))), 4);
}

#[test]
fn mass_ratios() {
    for (ratio, least) in [(1.0, 12), (1e2, 12), (1e4, 11), (1e6, 11)] {
        let count = solved(kicked_stacks(ratio));
        assert!(count >= least, "ratio {ratio:e}: {count} of 12");
    }
}

/// The sticking solution is known: each corner carries a quarter of the weight above. Gauss-Seidel does not approach it.
#[test]
fn a_million_to_one_at_rest() {
    let problem = stack(&growing_masses(10, 1e6), 0.5).problem(Motion::Rest);
    let gauss_seidel = FrictionNsgsOptions { max_iterations: 2000, stall_after: 0, ..FrictionNsgsOptions::default() };
    let mut solution = FrictionSolution::default();
    let _ = FrictionNsgs::with_options(gauss_seidel).unwrap().run(&problem, None, &mut solution);
    let stalled = problem.residual(&solution).value;
    assert!(stalled > 0.1, "Gauss-Seidel reaches {stalled:e}: no longer a hard problem");

    let mut ladder = FrictionLadder::with_tolerance(TOLERANCE).unwrap();
    let ending = ladder.run(&problem, None, &mut solution);
    assert_eq!(ending.status, Status::Solved);
    assert!(ending.iterations < 100, "{} iterations", ending.iterations);
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(&solution.r, &mut u, &mut state);
    let fastest = u.iter().fold(0.0_f64, |fastest, u| fastest.max(u.abs()));
    assert!(fastest < 1e-7, "at rest nothing moves, but something has {fastest:e} m/s");
}

#[test]
fn bins_of_rocks() {
    let rocks = |seed| Rocks { side: 3, layers: 4, seed, ..Rocks::default() };
    let still = |rocks: Rocks| rock_pile(&rocks).problem(Motion::Rest);
    assert_eq!(solved((401..407).map(|seed| still(rocks(seed)))), 6);
    assert_eq!(solved((407..413).map(|seed| still(Rocks { load: 1e6, ..rocks(seed) }))), 6);
    assert_eq!(solved((413..417).map(|seed| still(Rocks { decades: 4.0, ..rocks(seed) }))), 4);
    let kicked = |seed| rock_pile(&rocks(seed)).problem(kick(seed));
    assert!(solved((417..423).map(kicked)) >= 5);
}

/// Without walls the pile collapses and almost all contacts slide. On seed 504 every start of the interior point ends above 1e-6.
#[test]
fn collapsing_piles() {
    assert_eq!(solved((501..513).map(collapsing)), 12);
}

/// Gauss-Seidel and both starts of the interior point end above 1e-6 on this pile. Pseudo-transient continuation finds a
/// solution, without allocations.
#[test]
fn pseudo_transient_solves_where_gauss_seidel_drifts() {
    let problem = collapsing(504);
    let mut solution = FrictionSolution::default();
    let gauss_seidel = FrictionNsgsOptions { max_iterations: 3000, stall_after: 0, ..FrictionNsgsOptions::default() };
    let _ = FrictionNsgs::with_options(gauss_seidel).unwrap().run(&problem, None, &mut solution);
    let drifting = problem.residual(&solution).value;
    assert!(drifting > 1e-5, "Gauss-Seidel reaches {drifting:e}: no longer a hard problem");

    let mut ladder = FrictionLadder::with_tolerance(TOLERANCE).unwrap();
    let ending = ladder.run(&problem, None, &mut solution);
    assert_eq!((ending.status, ladder.rung()), (Status::Solved, Some("pseudo-transient")));
    let earlier = ladder.records().iter().rev().skip(1).map(|record| record.residual);
    assert!(earlier.fold(f64::INFINITY, f64::min) > 1e-6, "{:?}", ladder.records());
    assert!(problem.residual(&solution).value <= TOLERANCE);
    let first = solution.r.clone();
    let counted = count_allocations(|| {
        let _ = ladder.run(&problem, None, &mut solution);
    });
    assert_eq!((counted.count, first), (0, solution.r));
}

/// Ten courses and 250 boxes, about 1000 contacts, to 1e-6.
#[test]
fn a_thousand_contacts() {
    let verdicts = Tolerance { solved: 1e-6, loose: 1e-6 };
    let (mut ladder, mut solution) = (FrictionLadder::with_tolerance(1e-6).unwrap(), FrictionSolution::default());
    for motion in [Motion::Rest, Motion::Kick { speed: 0.05, seed: 2 }] {
        for pile in [wall(10, 12, 0.5), tower(250, 0.5)] {
            let problem = pile.problem(motion);
            let outcome = solve(&mut ladder, &problem, None, &mut solution, &verdicts);
            assert_eq!(outcome.status, Status::Solved, "{motion:?}");
            let bound = if motion == Motion::Rest { 60 } else { 120 };
            assert!(outcome.iterations <= bound, "{motion:?}: {} iterations", outcome.iterations);
        }
    }
    assert!(FrictionLadder::with_tolerance(0.0).is_err() && FrictionLadder::with_tolerance(f64::NAN).is_err());
}

/// After the first run no method allocates, and a second run gives the same bits. Only the reference solver over Clarabel may
/// allocate, and these problems are too large for it.
#[test]
fn no_method_allocates_once_warm() {
    let problems =
        [wall(5, 8, 0.4).problem(Motion::Kick { speed: 0.05, seed: 3 }), tower(40, 0.3).problem(Motion::Rest)];
    let mut methods: [(&str, Box<dyn Solver<FrictionProblem>>); 5] = [
        ("gauss-seidel", Box::new(FrictionNsgs::new())),
        ("newton", Box::new(FrictionNewton::new())),
        ("interior point", Box::new(FrictionInteriorPoint::new())),
        ("admm", Box::new(FrictionAdmm::new())),
        ("ladder", Box::new(FrictionLadder::default())),
    ];
    for problem in &problems {
        for (name, method) in &mut methods {
            let mut solution = FrictionSolution::default();
            let _ = method.run(problem, None, &mut solution);
            let first = solution.r.clone();
            let counted = count_allocations(|| {
                let _ = method.run(problem, None, &mut solution);
            });
            assert_eq!(counted.count, 0, "{name}");
            assert_eq!(first, solution.r, "{name}");
        }
    }
}
