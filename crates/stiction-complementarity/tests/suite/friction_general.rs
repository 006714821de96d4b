//! Active sets with torsion and rolling friction: random problems with all laws, closed forms, memory.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    FrictionActiveSet, FrictionActiveSetOptions, FrictionNsgs, FrictionProblem, FrictionSolution, Law, Problem, Solver,
    Status, Tolerance, solve,
};
use stiction_testkit::{Random, count_allocations};

fn method(tolerance: f64) -> FrictionActiveSet {
    let options = FrictionActiveSetOptions { tolerance, ..FrictionActiveSetOptions::default() };
    FrictionActiveSet::with_options(options).unwrap()
}

/// Problem with W = B Bᵀ and free velocities in the range of B, so that rest is admissible.
fn problem(laws: Vec<Law>, rank: usize, numbers: &mut Random) -> FrictionProblem<BlockMatrix> {
    let sizes: Vec<usize> = laws.iter().map(Law::rows).collect();
    let rows: usize = sizes.iter().sum();
    let b: Vec<Vec<f64>> = (0..rows).map(|_| (0..rank).map(|_| numbers.normal()).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let v: Vec<f64> = (0..rank).map(|_| numbers.normal()).collect();
    let offsets: Vec<usize> = sizes.iter().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size))).collect();
    let mut w = BlockMatrix::default();
    w.clear(sizes.clone(), sizes.clone());
    for (i, &rows) in offsets.iter().zip(&sizes) {
        for (column, (j, &columns)) in offsets.iter().zip(&sizes).enumerate() {
            let entry = |k: usize| dot(&b[i + k / columns], &b[j + k % columns]);
            w.push(column, &(0..rows * columns).map(entry).collect::<Vec<_>>());
        }
        w.finish_row();
    }
    let q = b.iter().map(|row| dot(row, &v)).collect();
    FrictionProblem::new(w, laws, q).unwrap()
}

/// A law of any kind; the first of a problem has torsion or rolling friction.
fn law(first: bool, numbers: &mut Random) -> Law {
    let mu = [0.1, 0.5, 1.0][numbers.below(3)];
    let mu_r = [0.05, 0.3, 1.0][numbers.below(3)];
    match numbers.below(if first { 5 } else { 8 }) {
        0 => Law::Cone { rows: 4, mu },
        k @ 1..=4 => Law::Rolling { rows: 2 + k, mu, mu_r },
        5 => Law::Cone { rows: 2, mu },
        6 => Law::Bounded { lower: -0.3, upper: 0.5 },
        _ => Law::Cone { rows: 3, mu },
    }
}

#[test]
fn random_problems_with_all_laws_are_solved_as_often_as_by_gauss_seidel() {
    let mut numbers = Random::new(61);
    let strict = Tolerance { solved: 1e-9, loose: 1e-9 };
    let (mut by_sets, mut by_gauss_seidel, mut count) = (0, 0, 0);
    for _ in 0..150 {
        let laws: Vec<Law> = (0..=numbers.below(6)).map(|k| law(k == 0, &mut numbers)).collect();
        let rows: usize = laws.iter().map(Law::rows).sum();
        let rank = 1 + numbers.below(rows + 3);
        let problem = problem(laws, rank, &mut numbers);
        assert!(FrictionActiveSet::applies(&problem));
        let mut solution = FrictionSolution::default();
        let outcome = solve(&mut method(1e-9), &problem, None, &mut solution, &strict);
        assert!(outcome.residual.value.is_finite());
        let ours = outcome.status == Status::Solved;
        let outcome = solve(&mut FrictionNsgs::new(), &problem, None, &mut solution, &strict);
        let theirs = outcome.status == Status::Solved;
        (by_sets, by_gauss_seidel, count) =
            (by_sets + usize::from(ours), by_gauss_seidel + usize::from(theirs), count + 1);
    }
    println!("{by_sets} by active sets, {by_gauss_seidel} by Gauss-Seidel, of {count}");
    assert!(by_sets * 100 >= count * 99 && by_sets >= by_gauss_seidel, "{by_sets}, {by_gauss_seidel} of {count}");
}

/// W = I: every part sticks or slips for itself, and one or two systems suffice.
#[test]
fn parts_stick_and_slip_for_themselves() {
    let cases: [(Law, Vec<f64>, Vec<f64>); 5] = [
        (Law::Rolling { rows: 3, mu: 0.5, mu_r: 0.1 }, vec![-1.0, 2.0, 0.05], vec![1.0, -0.5, -0.05]),
        (Law::Rolling { rows: 4, mu: 0.5, mu_r: 0.1 }, vec![-1.0, 0.3, 0.0, -2.0], vec![1.0, -0.3, 0.0, 0.1]),
        (
            Law::Rolling { rows: 5, mu: 0.5, mu_r: 0.1 },
            vec![-2.0, 3.0, 4.0, 0.6, -0.8],
            vec![2.0, -0.6, -0.8, -0.12, 0.16],
        ),
        (
            Law::Rolling { rows: 6, mu: 0.5, mu_r: 1.0 },
            vec![-1.0, 2.0, -1.0, 2.0, 0.3, 0.4],
            vec![1.0, -1.0 / 3.0, 1.0 / 6.0, -1.0 / 3.0, -0.3, -0.4],
        ),
        (Law::Cone { rows: 4, mu: 0.3 }, vec![-1.0, 1.0, 2.0, -2.0], vec![1.0, -0.1, -0.2, 0.2]),
    ];
    for (law, q, expected) in cases {
        let n = law.rows();
        let mut w = BlockMatrix::default();
        w.clear([n], [n]);
        let unit: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
        w.push(0, &unit);
        w.finish_row();
        let problem = FrictionProblem::new(w, vec![law], q).unwrap();
        let mut solution = FrictionSolution::default();
        let ending = method(1e-12).run(&problem, None, &mut solution);
        assert_eq!(ending.status, Status::Solved, "{law:?}");
        assert!(ending.iterations <= 3, "{law:?}: {} systems", ending.iterations);
        assert!(problem.residual(&solution).value <= 1e-14, "{law:?}: {:?}", problem.residual(&solution));
        for (r, expected) in solution.r.iter().zip(&expected) {
            assert!((r - expected).abs() < 1e-13, "{law:?}: {:?} for {expected:?}", solution.r);
        }
    }
}

/// Joints are eliminated before, and the impulses satisfy the whole problem.
#[test]
fn joints_and_rolling_friction_go_together() {
    let mut numbers = Random::new(5);
    let mut solved = 0;
    for _ in 0..200 {
        let mut laws: Vec<Law> = (0..3).map(|k| law(k == 0, &mut numbers)).collect();
        laws.push(Law::Equality { rows: 3 });
        let problem = problem(laws, 20, &mut numbers);
        let mut solution = FrictionSolution::default();
        let ending = method(1e-10).run(&problem, None, &mut solution);
        let residual = problem.residual(&solution).value;
        assert!(ending.status != Status::Solved || residual <= 1e-10, "{residual:e}");
        solved += usize::from(ending.status == Status::Solved);
    }
    println!("{solved} of 200");
    assert!(solved >= 195, "{solved} of 200");
}

#[test]
fn nothing_is_allocated_once_warm() {
    let mut numbers = Random::new(8);
    let laws = vec![
        Law::Rolling { rows: 5, mu: 0.5, mu_r: 0.1 },
        Law::Rolling { rows: 6, mu: 0.3, mu_r: 0.2 },
        Law::Cone { rows: 4, mu: 0.4 },
        Law::Cone { rows: 3, mu: 0.4 },
    ];
    let problems: Vec<_> = (0..20).map(|_| problem(laws.clone(), 20, &mut numbers)).collect();
    let (mut method, mut solution) = (method(1e-9), FrictionSolution::default());
    let mut all = || {
        for problem in &problems {
            let _ = method.run(problem, None, &mut solution);
        }
    };
    all();
    assert_eq!(count_allocations(all).count, 0);
}
