//! Block Gauss-Seidel: invariance under units, order, frames and start; properties of solutions; statuses.

#![allow(clippy::disallowed_methods)] // Random test data may differ in the last bit between platforms.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    Bodies, Delassus, FrictionNsgs, FrictionNsgsOptions, FrictionProblem, FrictionSolution, Law, NsgsFailure, Operator,
    Problem, Solver, Status, Tolerance, solve,
};
use stiction_testkit::problems::{Motion, Pile, arch, chain, growing_masses, pyramid, random, stack, tower};
use stiction_testkit::{Random, count_allocations};

const KICK: Motion = Motion::Kick { speed: 0.05, seed: 5 };

/// Method with a tolerance far below that of the comparisons.
fn tight() -> FrictionNsgs {
    let options = FrictionNsgsOptions { tolerance: 1e-13, max_iterations: 100_000, ..FrictionNsgsOptions::default() };
    FrictionNsgs::with_options(options).unwrap()
}

fn impulses<W: Delassus>(problem: &FrictionProblem<W>, guess: Option<Vec<f64>>) -> Vec<f64> {
    let guess = guess.map(|r| FrictionSolution { r });
    let mut solution = FrictionSolution::default();
    let strict = Tolerance { solved: 1e-13, loose: 1e-9 };
    let outcome = solve(&mut tight(), problem, guess.as_ref(), &mut solution, &strict);
    assert_eq!(outcome.status, Status::Solved, "{:?} after {}", outcome.residual, outcome.iterations);
    solution.r
}

fn velocities<W: Delassus>(problem: &FrictionProblem<W>, r: &[f64]) -> Vec<f64> {
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(r, &mut u, &mut state);
    u
}

/// A moving pile with slightly compliant contacts.
///
/// The distribution of load among rigid redundant contacts is arbitrary. If they slip, it determines torques, and then even the
/// velocities are not unique. Compliance makes them unique.
fn soft(pile: &Pile) -> FrictionProblem {
    let problem = pile.problem(KICK);
    let rows = problem.rows();
    problem.with_compliance(vec![0.1; rows]).unwrap()
}

/// Piles whose contacts stick, slip and open with random velocities.
fn piles() -> Vec<(&'static str, Pile)> {
    vec![
        ("box", tower(1, 0.4)),
        ("stack of two", stack(&[1.0, 2.0], 0.3)),
        ("pyramid", pyramid(3, 0.5)),
        ("arch", arch(3, 0.8)),
        ("chain", chain(3, 0.4)),
    ]
}

fn assert_close(name: &str, a: &[f64], b: &[f64], bound: f64) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
    assert!(worst <= bound, "{name}: {worst:e} > {bound:e}");
}

/// The problem with every block of rows changed by `change(block, rows, width)`, masses and free velocities scaled.
fn changed(problem: &FrictionProblem, mass: f64, q: f64, change: impl Fn(usize, &mut [f64], usize)) -> FrictionProblem {
    let Operator::MatrixFree(bodies) = problem.operator() else { panic!("piles have bodies") };
    let jacobian = bodies.jacobian();
    let mut rows = BlockMatrix::default();
    let columns = 0..jacobian.block_cols();
    rows.clear(problem.laws().iter().map(Law::rows), columns.clone().map(|body| jacobian.col_size(body)));
    let mut free = problem.q().to_vec();
    for block in 0..problem.blocks() {
        for (body, values) in jacobian.row(block) {
            let mut values = values.to_vec();
            change(block, &mut values, jacobian.col_size(body));
            rows.push(body, &values);
        }
        rows.finish_row();
        change(block, &mut free[problem.range(block)], 1);
    }
    for u in &mut free {
        *u *= q;
    }
    let masses = columns.flat_map(|body| bodies.mass(body)).map(|m| m * mass).collect();
    let bodies = Bodies::new(rows, masses).unwrap();
    let compliance = problem.compliance().iter().map(|c| c / mass).collect();
    let rigid = FrictionProblem::new(Operator::MatrixFree(bodies), problem.laws().to_vec(), free).unwrap();
    rigid.with_compliance(compliance).unwrap()
}

#[test]
fn units_do_not_matter() {
    for (name, pile) in piles().into_iter().filter(|(name, _)| *name != "chain") {
        let problem = soft(&pile);
        let u = velocities(&problem, &impulses(&problem, None));
        // Tonnes and millimetres per second; the chain is omitted because its motor has a limit in N s.
        let scaled = changed(&problem, 1e-3, 1e3, |_, _, _| ());
        let mut v = velocities(&scaled, &impulses(&scaled, None));
        for v in &mut v {
            *v *= 1e-3;
        }
        assert_close(name, &u, &v, 1e-9 * problem.scale());
    }
}

#[test]
fn the_order_of_contacts_does_not_matter() {
    for (name, pile) in piles() {
        let problem = soft(&pile);
        let u = velocities(&problem, &impulses(&problem, None));
        let mut reversed = pile;
        reversed.touches.reverse();
        let reversed = soft(&reversed);
        let v = velocities(&reversed, &impulses(&reversed, None));
        let last = problem.blocks() - 1;
        let back: Vec<f64> = (0..=last).flat_map(|block| v[reversed.range(last - block)].to_vec()).collect();
        assert_close(name, &u, &back, 1e-9 * problem.scale());
    }
}

#[test]
fn tangent_frames_do_not_matter() {
    for (name, pile) in piles() {
        let problem = soft(&pile);
        let laws = problem.laws();
        // Another rotation of the two tangents at every contact.
        let turn = |block: usize, rows: &mut [f64], width: usize| {
            if !matches!(laws[block], Law::Cone { rows: 3, .. }) {
                return;
            }
            let (sin, cos) = (0.7 + block as f64).sin_cos();
            for k in 0..width {
                let (s, t) = (rows[width + k], rows[2 * width + k]);
                (rows[width + k], rows[2 * width + k]) = (cos * s + sin * t, cos * t - sin * s);
            }
        };
        let mut u = velocities(&problem, &impulses(&problem, None));
        for block in 0..problem.blocks() {
            turn(block, &mut u[problem.range(block)], 1);
        }
        let turned = changed(&problem, 1.0, 1.0, turn);
        assert_close(name, &u, &velocities(&turned, &impulses(&turned, None)), 1e-9 * problem.scale());
    }
}

/// Also with duplicated contacts and from initial guesses far outside of the cones: impulses may differ, velocities not.
#[test]
fn the_start_does_not_matter() {
    let mut noise = Random::new(3);
    for (name, pile) in piles() {
        for pile in [pile.clone(), pile.repeated(2)] {
            let problem = soft(&pile);
            let cold = velocities(&problem, &impulses(&problem, None));
            for size in [1e-3, 1.0, 100.0] {
                let guess = (0..problem.rows()).map(|_| noise.uniform(-size, size)).collect();
                let warm = velocities(&problem, &impulses(&problem, Some(guess)));
                assert_close(name, &cold, &warm, 1e-9 * problem.scale());
            }
        }
    }
}

/// C-33(c): a box on four contacts at rest: impulses are not unique and depend on the initial guess; velocities are zero.
#[test]
fn a_box_on_four_contacts_rests_whatever_the_start() {
    let problem = tower(1, 0.5).problem(Motion::Rest);
    let cold = impulses(&problem, None);
    let warm = impulses(&problem, Some(vec![0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0, 0.0]));
    let difference = cold.iter().zip(&warm).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
    assert!(difference > 1e-3, "the starts were meant to lead to different impulses");
    for r in [cold, warm] {
        assert!(velocities(&problem, &r).iter().all(|u| u.abs() <= 1e-9));
    }
}

/// FRI-9, and membership of the cones: no admissible friction impulse dissipates more.
#[test]
fn friction_dissipates_as_much_as_it_can() {
    let mut random = Random::new(9);
    for (name, pile) in piles() {
        let problem = pile.problem(KICK);
        let r = impulses(&problem, None);
        let u = velocities(&problem, &r);
        for (block, law) in problem.laws().iter().enumerate() {
            let Law::Cone { rows, mu } = *law else { continue };
            let (r, u) = (&r[problem.range(block)], &u[problem.range(block)]);
            let power = |r: &[f64]| r.iter().zip(&u[1..]).map(|(r, u)| r * u).sum::<f64>();
            let length = r[1..].iter().map(|r| r * r).sum::<f64>().sqrt();
            assert!(r[0] >= 0.0 && length <= mu * r[0] * (1.0 + 1e-15), "{name} {block}: outside its cone");
            for _ in 0..100 {
                let direction = random.direction();
                let flat = direction[..rows - 1].iter().map(|d| d * d).sum::<f64>().sqrt();
                let reach = mu * r[0] * random.unit().sqrt() / flat;
                let other: Vec<f64> = direction[..rows - 1].iter().map(|d| d * reach).collect();
                assert!(power(&other) >= power(&r[1..]) - 1e-8, "{name} {block}: {other:?} dissipates more");
            }
        }
    }
}

#[test]
fn a_useless_guess_is_ignored_to_the_bit() {
    let problem = pyramid(2, 0.5).problem(KICK);
    let cold = impulses(&problem, None);
    let mut broken = vec![0.0; problem.rows()];
    broken[3] = f64::NAN;
    assert_eq!(cold, impulses(&problem, Some(broken)));
    assert_eq!(cold, impulses(&problem, Some(vec![1.0; 2])));
}

#[test]
fn a_solution_as_guess_needs_no_sweep() {
    let problem = pyramid(2, 0.5).problem(KICK);
    let guess = FrictionSolution { r: impulses(&problem, None) };
    let mut solution = FrictionSolution::default();
    let ending = FrictionNsgs::new().run(&problem, Some(&guess), &mut solution);
    assert_eq!((ending.status, ending.iterations), (Status::Solved, 0));
}

#[test]
fn symmetric_and_relaxed_iterations_end_at_the_same_velocities() {
    let problem = soft(&pyramid(3, 0.5));
    let plain = velocities(&problem, &impulses(&problem, None));
    for (symmetric, relaxation) in [(true, 1.0), (false, 0.5), (true, 0.7)] {
        let tight = *tight().options();
        let mut method = FrictionNsgs::with_options(FrictionNsgsOptions { symmetric, relaxation, ..tight }).unwrap();
        let mut solution = FrictionSolution::default();
        assert_eq!(method.run(&problem, None, &mut solution).status, Status::Solved);
        assert_close("pyramid", &plain, &velocities(&problem, &solution.r), 1e-9 * problem.scale());
    }
}

/// The assembled and the matrix-free operator must give the same solution, with compliance for unique velocities.
#[test]
fn explicit_and_matrix_free_operators_agree() {
    for compliance in [0.1, 1.0] {
        let through_bodies = pyramid(2, 0.5).problem(KICK);
        let rows = through_bodies.rows();
        let mut w = BlockMatrix::default();
        w.clear(through_bodies.laws().iter().map(Law::rows), through_bodies.laws().iter().map(Law::rows));
        let mut columns = vec![vec![0.0; rows]; rows];
        for (j, column) in columns.iter_mut().enumerate() {
            let mut unit = vec![0.0; rows];
            unit[j] = 1.0;
            through_bodies.operator().apply(&unit, column, &mut Vec::new());
        }
        for i in 0..through_bodies.blocks() {
            for j in 0..through_bodies.blocks() {
                let place = |i: usize, j: usize| columns[j][i];
                let cols = through_bodies.range(j);
                let block: Vec<f64> = through_bodies
                    .range(i)
                    .flat_map(|i| cols.clone().map(move |j| (i, j)))
                    .map(|(i, j)| place(i, j))
                    .collect();
                w.push(j, &block);
            }
            w.finish_row();
        }
        let explicit = FrictionProblem::new(w, through_bodies.laws().to_vec(), through_bodies.q().to_vec()).unwrap();
        let explicit = explicit.with_compliance(vec![compliance; rows]).unwrap();
        let through_bodies = through_bodies.with_compliance(vec![compliance; rows]).unwrap();
        let (a, b) = (impulses(&explicit, None), impulses(&through_bodies, None));
        assert_close("pyramid", &velocities(&explicit, &a), &velocities(&through_bodies, &b), 1e-10);
    }
}

#[test]
fn failures_say_so_and_keep_the_best_iterate() {
    let problem = stack(&growing_masses(10, 1e4), 0.5).problem(Motion::Rest);
    let options = FrictionNsgsOptions { stall_after: 500, ..FrictionNsgsOptions::default() };
    let mut method = FrictionNsgs::with_options(options).unwrap();
    let mut solution = FrictionSolution::default();
    let ending = method.run(&problem, None, &mut solution);
    assert_eq!(ending.status, Status::BudgetExhausted);
    let residual = match method.last_failure() {
        Some(NsgsFailure::Stalled { residual, .. } | NsgsFailure::OutOfIterations { residual, .. }) => residual,
        other => panic!("{other:?}"),
    };
    assert!((problem.residual(&solution).value - residual).abs() <= 1e-10 * residual);
    let options = FrictionNsgsOptions { max_iterations: 3, ..options };
    let mut method = FrictionNsgs::with_options(options).unwrap();
    assert_eq!(method.run(&problem, None, &mut solution).iterations, 3);
    assert!(matches!(method.last_failure(), Some(NsgsFailure::OutOfIterations { iterations: 3, .. })));
}

#[test]
fn options_without_sense_are_refused() {
    let sound = FrictionNsgsOptions::default();
    for (options, name) in [
        (FrictionNsgsOptions { tolerance: f64::NAN, ..sound }, "tolerance"),
        (FrictionNsgsOptions { relaxation: 1.5, ..sound }, "relaxation"),
        (FrictionNsgsOptions { check_every: 0, ..sound }, "check_every"),
    ] {
        assert_eq!(FrictionNsgs::with_options(options).unwrap_err().name, name);
    }
}

#[test]
fn no_allocation_once_warm() {
    let problems: Vec<FrictionProblem> =
        piles().iter().map(|(_, pile)| pile.problem(KICK)).chain([random(5, 20, 7).problem(KICK)]).collect();
    let mut method =
        FrictionNsgs::with_options(FrictionNsgsOptions { max_iterations: 200, ..Default::default() }).unwrap();
    for problem in &problems {
        let mut solution = FrictionSolution::default();
        let _ = method.run(problem, None, &mut solution);
        let allocations = count_allocations(|| {
            let _ = method.run(problem, None, &mut solution);
        });
        assert_eq!(allocations.count, 0);
    }
}

/// Random piles with every law: the residual decides on the status in all cases.
#[test]
fn the_residual_decides_on_the_status_of_random_piles() {
    let (mut solved, count) = (0, 300);
    let mut method =
        FrictionNsgs::with_options(FrictionNsgsOptions { max_iterations: 5000, ..Default::default() }).unwrap();
    for seed in 0..count {
        let mut numbers = Random::new(seed);
        let pile = random(1 + numbers.below(4), numbers.below(12), seed);
        let problem = pile.problem(Motion::Kick { speed: 1.0, seed });
        let mut solution = FrictionSolution::default();
        let outcome = solve(&mut method, &problem, None, &mut solution, &Tolerance::default());
        let (status, residual) = (outcome.status, outcome.residual.value);
        assert!(residual.is_finite(), "seed {seed}");
        assert!(status != Status::Solved || residual <= 1e-9, "seed {seed}");
        solved += u64::from(status == Status::Solved);
        if status != Status::Solved {
            println!("seed {seed}: {status}, {residual:.1e}, {:?}", method.last_failure());
        }
    }
    println!("{solved} of {count}");
    assert!(solved * 100 >= count * 85, "{solved} of {count}");
}
