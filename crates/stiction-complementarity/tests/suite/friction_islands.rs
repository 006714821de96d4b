//! Proximal Newton in body velocities, and large problems by islands.

use crate::friction_collection::files;
use stiction_complementarity::{
    Accuracy, FrictionIslands, FrictionLadder, FrictionProblem, FrictionProximalNewton, FrictionProximalNewtonOptions,
    FrictionSolution, Operator, Policy, Problem, Solver, Status,
};
use stiction_testkit::count_allocations;
use stiction_testkit::problems::{Motion, Pile, growing_masses, random, stack, tower, wall};
use stiction_testkit::rocks::{Rocks, rock_pile};

const AIM: f64 = 1e-8;

fn islands() -> FrictionIslands {
    FrictionIslands::new(Accuracy::Exact)
}

fn kick(seed: u64) -> Motion {
    Motion::Kick { speed: 0.05, seed }
}

fn velocities(problem: &FrictionProblem, solution: &FrictionSolution) -> Vec<f64> {
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(&solution.r, &mut u, &mut state);
    u
}

/// The piles side by side, as one problem that nothing connects.
fn side_by_side(piles: &[Pile]) -> Pile {
    let mut all = Pile { bricks: Vec::new(), touches: Vec::new(), ..piles[0].clone() };
    for pile in piles {
        let first = all.bricks.len();
        let shifted = |owner: Option<usize>| owner.map(|body| body + first);
        all.bricks.extend_from_slice(&pile.bricks);
        all.touches.extend(pile.touches.iter().map(|touch| {
            let (a, b) = (shifted(touch.a), shifted(touch.b));
            stiction_testkit::problems::Touch { a, b, ..*touch }
        }));
    }
    all
}

/// Bricks on an incline with tan θ = 0.75, as gravity turned about z: all slide with h g (sin θ − μ cos θ), or all stick.
#[test]
fn bricks_on_an_incline_slide_as_coulomb_says() {
    for mu in [0.3, 0.8] {
        let brick = stack(&[2.0], mu);
        let row: Vec<Pile> = (0..12).map(|_| brick.clone()).collect();
        let pile = Pile { gravity: [9.81 * 0.6, -9.81 * 0.8, 0.0], ..side_by_side(&row) };
        let problem = pile.problem(Motion::Rest);
        let (mut islands, mut solution) = (islands(), FrictionSolution::default());
        assert_eq!(islands.run(&problem, None, &mut solution).status, Status::Solved);
        assert_eq!((islands.counts().islands, islands.counts().largest), (12, 4));
        let expected = 0.01 * 9.81 * (0.6 - mu * 0.8_f64).max(0.0);
        for u in velocities(&problem, &solution).chunks_exact(3) {
            assert!(u[0].abs() < 1e-8, "normal velocity {:e}", u[0]);
            assert!(
                ((u[1] * u[1] + u[2] * u[2]).sqrt() - expected).abs() < 1e-8,
                "μ = {mu}: {u:?} instead of {expected}"
            );
        }
        let normal: f64 = solution.r.iter().step_by(3).sum();
        assert!((normal / (12.0 * 2.0 * 9.81 * 0.8 * 0.01) - 1.0).abs() < 1e-7, "{normal}");
    }
}

/// An island is solved with the same bits whatever else is in the problem, and a second run keeps all islands.
#[test]
fn islands_do_not_depend_on_each_other() {
    let piles = [wall(3, 4, 0.4), tower(12, 0.5), stack(&growing_masses(7, 30.0), 0.6)];
    let together = side_by_side(&piles).problem(Motion::Rest);
    let (mut solver, mut solution) = (islands(), FrictionSolution::default());
    assert_eq!(solver.run(&together, None, &mut solution).status, Status::Solved);
    assert_eq!((solver.counts().islands, solver.counts().above_aim), (3, 0));
    let mut alone = Vec::new();
    for pile in &piles {
        let mut part = FrictionSolution::default();
        let _ = islands().run(&pile.problem(Motion::Rest), None, &mut part);
        alone.extend(part.r);
    }
    assert_eq!(solution.r, alone);
    // From a warm start near the solution they are solved to rounding, and then kept.
    let near = solution.clone();
    let _ = solver.run(&together, Some(&near), &mut solution);
    let guess = solution.clone();
    let _ = solver.run(&together, Some(&guess), &mut solution);
    assert_eq!((solver.counts().kept, solver.counts().islands), (3, 3));
    assert_eq!(solution, guess);
}

/// Contacts that only the solution closes are added: a tower falls onto a row of contacts that are open at its free velocities.
#[test]
fn contacts_that_close_are_added() {
    let mut pile = tower(20, 0.5);
    pile.gravity = [0.0; 3];
    let problem = pile.problem(Motion::Rest);
    let Operator::MatrixFree(bodies) = problem.operator() else { panic!("a pile has bodies") };
    // Only the topmost box moves, downwards: every other contact has zero free velocity, or a gap that the impact closes.
    let top = bodies.jacobian().block_cols() - 1;
    let q: Vec<f64> = (0..problem.blocks())
        .flat_map(|block| {
            let moves = bodies.jacobian().row(block).any(|(body, _)| body == top);
            [if moves { -1.0 } else { 2e-2 }, 0.0, 0.0]
        })
        .collect();
    let problem = FrictionProblem::new(problem.operator().clone(), problem.laws().to_vec(), q).unwrap();
    let (mut solver, mut solution) = (islands(), FrictionSolution::default());
    assert_eq!(solver.run(&problem, None, &mut solution).status, Status::Solved);
    let counts = solver.counts();
    assert!(counts.rounds > 1 && counts.rounds < 8 && counts.largest > 20, "{counts:?}");
    assert!(problem.residual(&solution).value <= AIM);
    assert!(velocities(&problem, &solution).iter().step_by(3).all(|u| *u > -1e-7));
}

/// Joints, bounds, torsion and rolling, from the solution for velocities that differ by 1 %. They are those of bodies, so joints do not contradict each
/// other.
#[test]
fn every_law_is_solved_from_a_warm_start() {
    let (mut alone, mut count) = (0, 0);
    for seed in 0..40 {
        let problem = random(12, 40, seed).problem(kick(seed));
        let mut ladder = FrictionLadder::with_tolerance(1e-10).unwrap();
        let mut reference = FrictionSolution::default();
        if ladder.run(&problem, None, &mut reference).status != Status::Solved {
            continue;
        }
        let near = random(12, 40, seed).problem(Motion::Kick { speed: 0.0505, seed });
        let mut solution = FrictionSolution::default();
        let ending = FrictionProximalNewton::new().run(&near, Some(&reference), &mut solution);
        let residual = near.residual(&solution).value;
        assert_eq!(ending.status == Status::Solved, residual <= AIM, "seed {seed}: {residual:e}");
        count += 1;
        alone += usize::from(ending.status == Status::Solved);
        let mut solver = islands();
        let _ = solver.run(&near, Some(&reference), &mut solution);
        let residual = near.residual(&solution).value;
        assert!(residual <= 1e-6, "seed {seed}: {residual:e}, {:?}", solver.ladder().records());
    }
    assert!(count >= 36 && 10 * alone >= 9 * count, "{alone} of {count}");
}

/// Compliance per row enters the law, also if it differs within a friction disc.
#[test]
fn compliant_rows_have_the_velocity_of_their_impulse() {
    let rigid = tower(10, 0.5).problem(kick(4));
    let compliance = (0..rigid.rows()).map(|row| [0.3, 0.1, 0.2][row % 3]).collect();
    let problem = rigid.with_compliance(compliance).unwrap();
    let mut solution = FrictionSolution::default();
    let ending = FrictionProximalNewton::new().run(&problem, None, &mut solution);
    assert_eq!(ending.status, Status::Solved, "{:e}", problem.residual(&solution).value);
    let mut ladder = FrictionLadder::with_tolerance(1e-10).unwrap();
    let mut reference = FrictionSolution::default();
    assert_eq!(ladder.run(&problem, None, &mut reference).status, Status::Solved);
    let difference = solution.r.iter().zip(&reference.r).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(difference < 1e-6, "a compliant problem has one solution: {difference:e}");
}

/// Piles of rocks and walls, kicked by another millimetre per second in each of ten steps.
#[test]
fn sequences_with_warm_starts_end_within_the_aim() {
    let rocks = Rocks { side: 3, layers: 4, seed: 31, ..Rocks::default() };
    for (pile, most) in [(rock_pile(&rocks), 0), (wall(6, 6, 0.5), 0), (tower(30, 0.4), 2)] {
        let (mut solver, mut solution) = (islands(), FrictionSolution::default());
        let mut above = 0;
        for step in 0..10 {
            let problem = pile.problem(Motion::Kick { speed: 1e-3 * f64::from(step), seed: 5 });
            let guess = solution.clone();
            let ending = solver.run(&problem, (step > 0).then_some(&guess), &mut solution);
            let residual = problem.residual(&solution).value;
            assert!(residual <= 1e-6, "step {step}: {residual:e}");
            assert_eq!(ending.status == Status::Solved, residual <= AIM);
            above += usize::from(residual > AIM);
        }
        assert!(above <= most, "{above} of 10 above the aim");
    }
}

#[test]
fn islands_do_not_allocate_once_warm() {
    let pile =
        side_by_side(&[wall(4, 5, 0.4), tower(15, 0.3), with_single_points(tower(30, 0.5)), stack(&[1.0; 3], 0.5)]);
    let problems = [pile.problem(kick(3)), pile.problem(Motion::Rest)];
    let (mut solver, mut solution) = (islands(), FrictionSolution::default());
    let mut all = || {
        for problem in &problems {
            let _ = solver.run(problem, None, &mut solution);
        }
    };
    all();
    let counted = count_allocations(all);
    assert_eq!(counted.count, 0);
}

/// Few contacts are not split, and are solved as one island.
#[test]
fn few_contacts_are_one_island() {
    let problem = stack(&[1.0, 2.0], 0.5).problem(kick(1));
    assert!(!FrictionIslands::applies(&problem));
    let (mut solver, mut solution) = (islands(), FrictionSolution::default());
    assert_eq!(solver.run(&problem, None, &mut solution).status, Status::Solved);
    assert!(problem.residual(&solution).value <= 1e-8);
    assert_eq!(solver.counts(), stiction_complementarity::IslandCounts::default());
}

/// An assembled W has no bodies, and is not split.
#[test]
fn assembled_problems_are_one_island() {
    let assembled = files().into_iter().map(|file| file.problem());
    let large = assembled.filter(|problem| matches!(problem.operator(), Operator::Assembled(_)) && problem.rows() > 90);
    for problem in large.take(2) {
        let mut solution = FrictionSolution::default();
        assert!(!FrictionIslands::applies(&problem));
        let ending = islands().run(&problem, None, &mut solution);
        assert!(matches!(ending.status, Status::Solved | Status::SolvedLoosely), "{ending:?}");
        assert!(problem.residual(&solution).value <= 1e-6);
        assert_eq!(FrictionProximalNewton::new().run(&problem, None, &mut solution).status, Status::Breakdown);
    }
}

#[test]
fn options_out_of_range_are_rejected() {
    let exact = Policy::new(Accuracy::Exact);
    assert_eq!((exact.aim, exact.accept, exact.refuse), (1e-8, 1e-6, 1e-4));
    assert!(Policy { aim: 0.0, ..exact }.validate().is_err());
    assert!(Policy { accept: 1e-9, ..exact }.validate().is_err());
    assert!(Policy { refuse: f64::NAN, ..exact }.validate().is_err());
    assert!(FrictionIslands::with_policy(Accuracy::Exact, Policy { aim: -1.0, ..exact }).is_err());
    assert!(FrictionIslands::with_policy(Accuracy::Balanced, exact).is_ok());
    let options = FrictionProximalNewtonOptions::default();
    for bad in [
        FrictionProximalNewtonOptions { tolerance: 0.0, ..options },
        FrictionProximalNewtonOptions { shrink: 1.0, ..options },
        FrictionProximalNewtonOptions { growth: 1.0, ..options },
        FrictionProximalNewtonOptions { proximal: 100.0, ..options },
    ] {
        assert!(FrictionProximalNewton::with_options(bad).is_err());
    }
}

/// The prediction of the next proximal problem knows that contacts slide on, which saves Newton steps.   [PROX-5]
#[test]
fn few_newton_steps_suffice_where_contacts_slide() {
    let options = FrictionProximalNewtonOptions { max_steps: 200, ..FrictionProximalNewtonOptions::default() };
    let mut newton = FrictionProximalNewton::with_options(options).unwrap();
    let mut steps = 0;
    for seed in 0..20 {
        let problem = wall(3, 3, 0.1).problem(Motion::Kick { speed: 0.5, seed });
        let ending = newton.run(&problem, None, &mut FrictionSolution::default());
        assert_eq!(ending.status, Status::Solved);
        steps += ending.iterations;
    }
    // With the derivative at the argument of the last problem it takes 378.
    assert!(steps <= 300, "{steps} steps");
}

/// Near the solution the method ends at rounding, in few steps, at any tolerance: the proximal weight is as small as the residual, and differences from the
/// centre keep their digits.   [PROX-7]
#[test]
fn bodies_at_rest_are_solved_to_rounding() {
    for tolerance in [1e-8, 1e-3] {
        let options =
            FrictionProximalNewtonOptions { tolerance, max_steps: 200, ..FrictionProximalNewtonOptions::default() };
        let mut newton = FrictionProximalNewton::with_options(options).unwrap();
        for problem in [tower(15, 0.5), wall(4, 6, 0.5)].map(|pile| pile.problem(Motion::Rest)) {
            let mut solution = FrictionSolution::default();
            assert_eq!(newton.run(&problem, None, &mut solution).status, Status::Solved);
            for size in [1e-7, 1e-9] {
                // As after a step in which the bodies moved a little.
                let r = solution.r.iter().enumerate().map(|(k, r)| r * (1.0 + size * libm::sin(k as f64))).collect();
                let mut found = FrictionSolution::default();
                let ending = newton.run(&problem, Some(&FrictionSolution { r }), &mut found);
                let residual = problem.residual(&found).value;
                assert!(residual <= 1e-12 && ending.iterations <= 12, "{residual:e} in {} steps", ending.iterations);
            }
        }
    }
}

/// The pile with one point of contact between two bodies, as spheres have it: there are fewer rows than velocities.
fn with_single_points(mut pile: Pile) -> Pile {
    pile.touches.dedup_by_key(|touch| (touch.a, touch.b));
    pile
}

/// Without redundant contacts a start that is far off is improved by Gauss-Seidel before Newton's method; so the few Newton steps of real time suffice.   [PROX-6]
#[test]
fn impacts_without_redundant_contacts_are_solved_from_far_off() {
    let pile = with_single_points(wall(6, 8, 0.5));
    let mut iterations = 0;
    for seed in 0..6 {
        let problem = pile.problem(Motion::Kick { speed: 0.5, seed });
        for (accuracy, aim) in [(Accuracy::Exact, AIM), (Accuracy::Balanced, 1e-6), (Accuracy::RealTime, 1e-3)] {
            let (mut islands, mut solution) = (FrictionIslands::new(accuracy), FrictionSolution::default());
            let ending = islands.run(&problem, None, &mut solution);
            assert_eq!(ending.status, Status::Solved, "{accuracy:?}, seed {seed}");
            let residual = problem.residual(&solution).value;
            assert!(residual <= aim, "{accuracy:?}, seed {seed}: {residual:e}");
            assert!(islands.counts().largest > 16, "{accuracy:?}, seed {seed}: {:?}", islands.counts());
            iterations += if accuracy == Accuracy::RealTime { ending.iterations } else { 0 };
        }
    }
    // Iterations of Gauss-Seidel and Newton together. Newton alone takes one and a half times as many, and misses the aim with seed 2.
    assert!(iterations <= 600, "{iterations} iterations in real time");
}
