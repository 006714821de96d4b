//! Semismooth Newton and ADMM: convergence, agreement and failures.

use std::cmp::Ordering;
use stiction_complementarity::linalg::{BlockMatrix, BlockSparseLu, DenseLu};
use stiction_complementarity::{
    Delassus, FrictionAdmm, FrictionAdmmOptions, FrictionNewton, FrictionNewtonOptions, FrictionNsgs,
    FrictionNsgsOptions, FrictionProblem, FrictionSolution, Law, Operator, Problem, ProblemFile, Solver, Status,
    Tolerance, solve,
};
use stiction_testkit::problems::{Motion, arch, chain, growing_masses, pyramid, random, stack, tower, wall, wedge};
use stiction_testkit::{Random, count_allocations};

const KICK: Motion = Motion::Kick { speed: 0.05, seed: 1 };
const TIGHT: Tolerance = Tolerance { solved: 1e-11, loose: 1e-6 };

/// Iterate of Gauss-Seidel after this many iterations.
fn after_gauss_seidel(problem: &FrictionProblem, iterations: u32) -> FrictionSolution {
    let options = FrictionNsgsOptions { max_iterations: iterations, ..FrictionNsgsOptions::default() };
    let mut solution = FrictionSolution::default();
    let _ = FrictionNsgs::with_options(options).unwrap().run(problem, None, &mut solution);
    solution
}

fn velocities(problem: &FrictionProblem, solution: &FrictionSolution) -> Vec<f64> {
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(&solution.r, &mut u, &mut state);
    u
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()))
}

/// The same problem with assembled W; `entry` computes each entry from its row, its column and W.
fn explicit(problem: &FrictionProblem, entry: impl Fn(usize, usize, &[Vec<f64>]) -> f64) -> FrictionProblem {
    let (rows, blocks) = (problem.rows(), problem.blocks());
    let (mut columns, mut state) = (Vec::new(), Vec::new());
    for k in 0..rows {
        let mut unit = vec![0.0; rows];
        unit[k] = 1.0;
        let mut column = vec![0.0; rows];
        problem.operator().apply(&unit, &mut column, &mut state);
        columns.push(column);
    }
    let mut w = BlockMatrix::default();
    let sizes = || problem.laws().iter().map(Law::rows);
    w.clear(sizes(), sizes());
    for i in 0..blocks {
        for j in 0..blocks {
            let places = || problem.range(i).flat_map(|row| problem.range(j).map(move |column| (row, column)));
            if places().any(|(row, column)| columns[column][row] != 0.0) {
                let block: Vec<f64> = places().map(|(row, column)| entry(row, column, &columns)).collect();
                w.push(j, &block);
            }
        }
        w.finish_row();
    }
    let made = FrictionProblem::new(Operator::Assembled(w), problem.laws().to_vec(), problem.q().to_vec()).unwrap();
    if problem.compliance().is_empty() { made } else { made.with_compliance(problem.compliance().to_vec()).unwrap() }
}

/// Unchanged entry of W, for [`explicit`].
fn unchanged(row: usize, column: usize, columns: &[Vec<f64>]) -> f64 {
    columns[column][row]
}

/// Newton steps after 20 Gauss-Seidel iterations, with a bound on each.
#[test]
fn newton_finishes_what_gauss_seidel_began() {
    let cases = [
        ("stack of 10, rest", stack(&[1.0; 10], 0.5).problem(Motion::Rest), 10),
        ("stack of 10, masses to 100, rest", stack(&growing_masses(10, 100.0), 0.5).problem(Motion::Rest), 12),
        ("stack of 10, masses to 1e4, rest", stack(&growing_masses(10, 1e4), 0.5).problem(Motion::Rest), 20),
        ("stack of 10, kicked", stack(&[1.0; 10], 0.5).problem(KICK), 50),
        ("stack of 10, masses to 100, kicked", stack(&growing_masses(10, 100.0), 0.5).problem(KICK), 50),
        ("wall 10 x 12, rest", wall(10, 12, 0.5).problem(Motion::Rest), 15),
        ("wall 10 x 12, kicked", wall(10, 12, 0.5).problem(KICK), 50),
        ("pyramid of 6, rest", pyramid(6, 0.5).problem(Motion::Rest), 15),
        ("pyramid of 6, kicked", pyramid(6, 0.5).problem(KICK), 50),
        ("tower of 250, rest", tower(250, 0.5).problem(Motion::Rest), 40),
        ("arch of 11, rest", arch(11, 0.5).problem(Motion::Rest), 12),
        ("wedge, rest", wedge(0.3, 0.5).problem(Motion::Rest), 8),
        ("chain of 20, kicked", chain(20, 0.5).problem(KICK), 30),
        ("random, rest", random(10, 40, 1).problem(Motion::Rest), 40),
        ("random, kicked", random(30, 60, 2).problem(KICK), 30),
    ];
    let mut newton = FrictionNewton::new();
    for (name, problem, bound) in cases {
        let guess = after_gauss_seidel(&problem, 20);
        let before = problem.residual(&guess).value;
        let mut solution = FrictionSolution::default();
        let outcome = solve(&mut newton, &problem, Some(&guess), &mut solution, &TIGHT);
        println!("{name:36} {before:8.1e} -> {:8.1e} in {} steps", outcome.residual.value, outcome.iterations);
        assert_eq!(outcome.status, Status::Solved, "{name}: {:?}", outcome.residual);
        assert!(outcome.iterations <= bound, "{name}: {} steps", outcome.iterations);
    }
}

/// Agreement of both methods, one from zero, the other from Gauss-Seidel.
///
/// With four rigid contacts per face the distribution of normal impulses is arbitrary, and so is friction if contacts slide.
/// Then velocities are not unique, and both methods are right with different ones. Compliance makes them unique.
#[test]
fn newton_and_admm_find_the_same_velocities() {
    let soft = |problem: FrictionProblem| {
        let compliance = vec![0.05; problem.rows()];
        problem.with_compliance(compliance).unwrap()
    };
    let cases = [
        ("stack", stack(&[1.0, 2.0, 3.0], 0.5).problem(Motion::Rest)),
        ("soft stack kicked", soft(stack(&[1.0, 2.0, 3.0], 0.3).problem(KICK))),
        ("soft pyramid kicked", soft(pyramid(2, 0.4).problem(KICK))),
        ("arch", arch(7, 0.6).problem(Motion::Rest)),
        ("soft chain kicked", soft(chain(4, 0.3).problem(KICK))),
        ("soft duplicates", soft(stack(&[1.0, 1.0], 0.4).repeated(3).problem(KICK))),
        ("frictionless", stack(&[1.0, 1.0], 0.0).problem(KICK)),
    ];
    let options = FrictionAdmmOptions { tolerance: 1e-11, max_iterations: 20_000, ..FrictionAdmmOptions::default() };
    let (mut newton, mut admm) = (FrictionNewton::new(), FrictionAdmm::with_options(options).unwrap());
    for (name, problem) in cases {
        let (mut a, mut b) = (FrictionSolution::default(), FrictionSolution::default());
        let guess = after_gauss_seidel(&problem, 20);
        let by_newton = solve(&mut newton, &problem, Some(&guess), &mut a, &TIGHT);
        let by_admm = solve(&mut admm, &problem, None, &mut b, &TIGHT);
        println!("{name:20} Newton {} steps, ADMM {} iterations", by_newton.iterations, by_admm.iterations);
        assert_eq!((by_newton.status, by_admm.status), (Status::Solved, Status::Solved), "{name}");
        let apart = farthest(&velocities(&problem, &a), &velocities(&problem, &b));
        assert!(apart < 1e-8, "{name}: velocities differ by {apart:e}");
    }
}

/// Every kind of block, with and without compliance, with matrix-free and assembled W.
#[test]
fn all_laws_in_both_forms() {
    let (mut newton, mut solved) = (FrictionNewton::new(), 0);
    for seed in 0..20 {
        let rigid = random(6, 14, seed).problem(KICK);
        let compliance = (0..rigid.rows()).map(|row| 0.01 * (row % 3) as f64).collect();
        let soft = rigid.clone().with_compliance(compliance).unwrap();
        for problem in [rigid, soft] {
            let guess = after_gauss_seidel(&problem, 20);
            let mut found = Vec::new();
            for form in [&problem, &explicit(&problem, unchanged)] {
                let mut solution = FrictionSolution::default();
                let outcome = solve(&mut newton, form, Some(&guess), &mut solution, &TIGHT);
                solved += u32::from(outcome.status.is_solved());
                found.push((outcome.status, velocities(form, &solution)));
            }
            if found[0].0.is_solved() && found[1].0.is_solved() {
                let apart = farthest(&found[0].1, &found[1].1);
                assert!(apart < 1e-7, "seed {seed}: the two forms differ by {apart:e}");
            }
        }
    }
    println!("{solved} of 80 solved");
    assert!(solved >= 76, "{solved} of 80 solved");
}

/// W plus a tenth of its diagonal plus a random skew part of a tenth: unsymmetric, and solvable because rᵀ W r > 0 stays.
#[test]
fn unsymmetric_operators() {
    let mut newton = FrictionNewton::new();
    for seed in 0..8 {
        let skewed = |row: usize, column: usize, columns: &[Vec<f64>]| {
            let size = (columns[row][row] * columns[column][column]).sqrt();
            let pair = (row.min(column) * 1000 + row.max(column)) as u64;
            let skew = 0.1 * size * Random::new(1_000_000 * seed + pair).uniform(-1.0, 1.0);
            let added = match row.cmp(&column) {
                Ordering::Less => skew,
                Ordering::Equal => 0.1 * size,
                Ordering::Greater => -skew,
            };
            columns[column][row] + added
        };
        let problem = explicit(&stack(&[1.0, 2.0, 1.0], 0.4).problem(Motion::Kick { speed: 0.05, seed }), skewed);
        let guess = after_gauss_seidel(&problem, 20);
        let mut solution = FrictionSolution::default();
        let outcome = solve(&mut newton, &problem, Some(&guess), &mut solution, &TIGHT);
        println!("seed {seed}: {:8.1e} in {} steps", outcome.residual.value, outcome.iterations);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}: {:?}", outcome.residual);
    }
}

#[test]
fn duplicates_and_extreme_friction() {
    let mut newton = FrictionNewton::new();
    for (mu, times) in [(0.5, 4), (0.0, 1), (0.0, 3), (10.0, 1), (10.0, 2)] {
        for motion in [Motion::Rest, KICK] {
            let problem = stack(&[1.0; 5], mu).repeated(times).problem(motion);
            let guess = after_gauss_seidel(&problem, 20);
            let mut solution = FrictionSolution::default();
            let outcome = solve(&mut newton, &problem, Some(&guess), &mut solution, &TIGHT);
            println!("mu {mu}, {times} fold: {:8.1e} in {} steps", outcome.residual.value, outcome.iterations);
            assert_eq!(outcome.status, Status::Solved, "mu {mu}, {times} fold, {motion:?}");
        }
    }
}

#[test]
fn statuses_tell_the_truth() {
    let problem = stack(&[1.0; 4], 0.5).problem(KICK);
    let mut solution = FrictionSolution::default();
    let mut hasty = FrictionNewton::with_options(FrictionNewtonOptions { max_steps: 1, ..Default::default() }).unwrap();
    let outcome = solve(&mut hasty, &problem, None, &mut solution, &TIGHT);
    assert_eq!((outcome.status, outcome.iterations), (Status::BudgetExhausted, 1));
    let options = FrictionAdmmOptions { max_iterations: 3, ..Default::default() };
    let outcome = solve(&mut FrictionAdmm::with_options(options).unwrap(), &problem, None, &mut solution, &TIGHT);
    assert_eq!((outcome.status, outcome.iterations), (Status::BudgetExhausted, 3));
    // A useless guess is ignored; a solution is recognised without a step.
    let mut newton = FrictionNewton::new();
    let mut again = FrictionSolution::default();
    let cold = newton.run(&problem, None, &mut solution);
    for useless in [vec![f64::NAN; problem.rows()], vec![1.0]] {
        assert_eq!(newton.run(&problem, Some(&FrictionSolution { r: useless }), &mut again), cold);
        assert_eq!(solution, again);
    }
    let guess = after_gauss_seidel(&problem, 20);
    assert!(solve(&mut newton, &problem, Some(&guess), &mut solution, &TIGHT).status.is_solved());
    assert_eq!(newton.run(&problem, Some(&solution), &mut again).iterations, 0);
    assert_eq!(FrictionAdmm::new().run(&problem, Some(&solution), &mut again).iterations, 0);
    for bad in [f64::NAN, 0.0, -1.0] {
        assert!(FrictionNewton::with_options(FrictionNewtonOptions { tolerance: bad, ..Default::default() }).is_err());
        assert!(FrictionAdmm::with_options(FrictionAdmmOptions { penalty: bad, ..Default::default() }).is_err());
    }
}

#[test]
fn nothing_to_solve() {
    let problem = FrictionProblem::<Operator>::new(Operator::default(), Vec::new(), Vec::new()).unwrap();
    let mut solution = FrictionSolution { r: vec![1.0] };
    assert!(solve(&mut FrictionNewton::new(), &problem, None, &mut solution, &TIGHT).status.is_solved());
    assert!(solve(&mut FrictionAdmm::new(), &problem, None, &mut solution, &TIGHT).status.is_solved());
}

#[test]
fn no_allocation_once_warm() {
    let pile = pyramid(3, 0.5);
    let (first, second) = (pile.problem(KICK), pile.problem(Motion::Rest));
    for [first, second] in
        [[first.clone(), second.clone()], [explicit(&first, unchanged), explicit(&second, unchanged)]]
    {
        let (mut newton, mut admm) = (FrictionNewton::new(), FrictionAdmm::new());
        let mut solution = FrictionSolution::default();
        let guess = after_gauss_seidel(&second, 3);
        let _ = (newton.run(&first, None, &mut solution), admm.run(&first, None, &mut solution));
        let count = count_allocations(|| {
            let _ = newton.run(&second, Some(&guess), &mut solution);
            let _ = admm.run(&second, Some(&guess), &mut solution);
        });
        assert_eq!(count.count, 0);
    }
}

/// Random block matrices of mixed sizes against dense LU.
#[test]
fn block_sparse_lu_agrees_with_dense() {
    let mut random = Random::new(11);
    let mut lu = BlockSparseLu::default();
    for _ in 0..50 {
        let sizes: Vec<usize> = (0..=random.below(12)).map(|_| [1, 2, 3, 6][random.below(4)]).collect();
        let begins: Vec<usize> = sizes.iter().scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n))).collect();
        let n: usize = sizes.iter().sum();
        let mut pairs: Vec<(usize, usize)> =
            (0..2 * sizes.len()).map(|_| (random.below(sizes.len()), random.below(sizes.len()))).collect();
        lu.analyse(&sizes, &pairs);
        lu.clear();
        pairs.extend((0..sizes.len()).map(|i| (i, i)));
        let mut dense = vec![0.0; n * n];
        for &(i, j) in &pairs {
            let place = lu.place(i, j).unwrap();
            for (k, x) in lu.block_mut(place).iter_mut().enumerate() {
                let (row, col) = (begins[i] + k / sizes[j], begins[j] + k % sizes[j]);
                // A dominant diagonal keeps the elimination stable without pivoting between blocks.
                let value = random.uniform(-1.0, 1.0) + if row == col { 20.0 } else { 0.0 };
                *x += value;
                dense[row * n + col] += value;
            }
        }
        let b: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
        let (mut x, mut expected) = (b.clone(), vec![0.0; n]);
        lu.factor().unwrap();
        lu.solve(&mut x);
        let mut reference = DenseLu::default();
        reference.factor(n, |a| a.copy_from_slice(&dense)).unwrap();
        reference.solve(&b, &mut expected);
        assert!(farthest(&x, &expected) < 1e-13, "{sizes:?} {pairs:?}");
    }
    lu.analyse(&[2], &[]);
    lu.clear();
    lu.block_mut(0).copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
    assert_eq!(lu.factor().unwrap_err().row, 0);
}

/// The collected frictional problems by name; empty if the variable is not set.
#[allow(clippy::disallowed_methods)] // The test reads the location of the collection from the environment.
fn collected_problems() -> Vec<(String, FrictionProblem)> {
    let folder = std::env::var("STICTION_DATA").map(|root| std::path::PathBuf::from(root).join("friction_contact"));
    let Some(folder) = folder.ok().filter(|folder| folder.is_dir()) else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "STICTION_DATA must lead to the collection here");
        println!("skipped: STICTION_DATA does not lead to the collection `friction_contact`");
        return Vec::new();
    };
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| match ProblemFile::read(&std::fs::read_to_string(path).unwrap()) {
        Ok(ProblemFile::Friction(problem)) => (path.file_stem().unwrap().to_string_lossy().into_owned(), problem),
        other => panic!("{}: {other:?}", path.display()),
    };
    paths.iter().map(read).collect()
}

/// Files that 50 steps after 100 Gauss-Seidel iterations do not solve, with the reason.
const TOO_FAR: &[(&str, &str)] = &[(
    "fc2d_granularflowonwall_07002_00801",
    "7002 contacts change together: 200 steps, or 2500 Gauss-Seidel iterations and one step",
)];

/// The collection: 100 Gauss-Seidel iterations, then Newton.
#[test]
fn newton_on_the_collection() {
    let options = FrictionNewtonOptions { tolerance: 1e-10, acceptable_residual: 1e-8, ..Default::default() };
    let mut newton = FrictionNewton::with_options(options).unwrap();
    for (name, problem) in collected_problems() {
        let guess = after_gauss_seidel(&problem, 100);
        let before = problem.residual(&guess).value;
        let mut solution = FrictionSolution::default();
        let tolerance = Tolerance { solved: 1e-8, loose: 1e-4 };
        let outcome = solve(&mut newton, &problem, Some(&guess), &mut solution, &tolerance);
        println!(
            "{name:45} {:5} blocks {before:8.1e} -> {:8.1e} {} in {} steps",
            problem.blocks(),
            outcome.residual.value,
            outcome.status,
            outcome.iterations
        );
        let too_far = TOO_FAR.iter().any(|(file, _)| *file == name);
        assert_eq!(outcome.status.is_solved(), !too_far, "{name}: {:?}", outcome.residual);
    }
}
