//! Mixed complementarity problems: the collection, the classics, linear ones against pivoting, derivatives.

#![allow(clippy::disallowed_methods)] // The test reads the location of the collection from the environment.

use crate::generate::{Seed, distance, lemke, p_matrix};
use std::path::PathBuf;
use stiction_complementarity::{
    BoxLcp, BoxLcpLadder, BoxLcpSolution, Expression, ExpressionFunction, Lcp, Ncp, NcpAttempt, NcpFunction, NcpNewton,
    NcpNewtonOptions, NcpSolution, Problem, ProblemError, ProblemFile, Reformulation, SparseMatrix, Status, Tolerance,
    solve,
};

/// Acceptance of the collection: ‖z − clip(z − F)‖∞ ≤ 1e-8.
const ACCEPTED: Tolerance = Tolerance { solved: 1e-8, loose: 1e-6 };

fn attempt<F: NcpFunction>(problem: &Ncp<F>, start: &[f64]) -> (Status, NcpSolution, NcpNewton, u32) {
    let mut method = NcpNewton::new();
    let mut solution = NcpSolution::default();
    let guess = NcpSolution { z: start.to_vec() };
    let outcome = solve(&mut method, problem, Some(&guess), &mut solution, &ACCEPTED);
    let (status, iterations) = (outcome.status, outcome.iterations);
    (status, solution, method, iterations)
}

#[test]
fn the_collection_from_every_start() {
    let folder = std::env::var("STICTION_DATA").ok().map(|root| PathBuf::from(root).join("mcp"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "STICTION_DATA must lead to the collection here");
        return println!("skipped: STICTION_DATA does not lead to the collection `mcp`");
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy();
        let text = std::fs::read_to_string(&path).unwrap();
        let ProblemFile::Ncp { problem, starts } = ProblemFile::read(&text).unwrap() else { panic!("{name}") };
        for (number, start) in starts.iter().enumerate() {
            let (status, solution, method, iterations) = attempt(&problem, &start.z);
            let residual = problem.residual(&solution).value;
            let way = method.records().last().map(|record| (record.attempt, record.start));
            println!("{name:26} start {number}: {status:?} {residual:.1e} in {iterations} steps, {way:?}");
            assert_eq!(status, Status::Solved, "{name} from {:?}: {:?}", start.z, method.records());
        }
    }
}

/// Σ c_k x_i x_j … as (coefficient, variables).
fn polynomial(terms: &[(f64, &[usize])]) -> Expression {
    let term = |(c, variables): &(f64, &[usize])| {
        let variables = variables.iter().map(|&i| Expression::Variable(i));
        Expression::Product(std::iter::once(Expression::Number(*c)).chain(variables).collect())
    };
    Expression::Sum(terms.iter().map(term).collect())
}

fn nonnegative(rows: Vec<Expression>) -> Ncp<ExpressionFunction> {
    let n = rows.len();
    Ncp::new(ExpressionFunction::new(rows, vec![0.0; n], vec![f64::INFINITY; n]).unwrap()).unwrap()
}

/// Kojima and Shindo's problem: solutions (√6/2, 0, 0, 1/2), where the linearised problem is not regular, and (1, 0, 3, 0).
fn kojima_shindo() -> Ncp<ExpressionFunction> {
    nonnegative(vec![
        polynomial(&[(3.0, &[0, 0]), (2.0, &[0, 1]), (2.0, &[1, 1]), (1.0, &[2]), (3.0, &[3]), (-6.0, &[])]),
        polynomial(&[(2.0, &[0, 0]), (1.0, &[1, 1]), (1.0, &[0]), (10.0, &[2]), (2.0, &[3]), (-2.0, &[])]),
        polynomial(&[(3.0, &[0, 0]), (1.0, &[0, 1]), (2.0, &[1, 1]), (2.0, &[2]), (9.0, &[3]), (-9.0, &[])]),
        polynomial(&[(1.0, &[0, 0]), (3.0, &[1, 1]), (2.0, &[2]), (3.0, &[3]), (-3.0, &[])]),
    ])
}

/// Josephy's variant with one regular solution.
fn josephy() -> Ncp<ExpressionFunction> {
    nonnegative(vec![
        polynomial(&[(3.0, &[0, 0]), (2.0, &[0, 1]), (2.0, &[1, 1]), (1.0, &[2]), (3.0, &[3]), (-6.0, &[])]),
        polynomial(&[(2.0, &[0, 0]), (1.0, &[1, 1]), (1.0, &[0]), (3.0, &[2]), (2.0, &[3]), (-2.0, &[])]),
        polynomial(&[(3.0, &[0, 0]), (1.0, &[0, 1]), (2.0, &[1, 1]), (2.0, &[2]), (3.0, &[3]), (-1.0, &[])]),
        polynomial(&[(1.0, &[0, 0]), (3.0, &[1, 1]), (2.0, &[2]), (3.0, &[3]), (-3.0, &[])]),
    ])
}

#[test]
fn the_classics_from_many_starts() {
    for (name, problem) in [("kojima-shindo", kojima_shindo()), ("josephy", josephy())] {
        let mut seed = Seed(77);
        let mut starts =
            vec![vec![0.0; 4], vec![1.0; 4], vec![100.0; 4], vec![1.0, 0.0, 1.0, 0.0], vec![0.0, 1.0, 0.0, 1.0]];
        starts.extend((0..60).map(|_| seed.vector(4).iter().map(|x| 10.0 * (x + 1.0)).collect()));
        for start in starts {
            let (status, solution, method, _) = attempt(&problem, &start);
            assert_eq!(status, Status::Solved, "{name} from {start:?}: {:?}", method.records());
            assert!(solution.z.iter().all(|&z| z >= -1e-8));
        }
    }
    let known = NcpSolution { z: vec![6.0_f64.sqrt() / 2.0, 0.0, 0.0, 0.5] };
    assert!(kojima_shindo().residual(&known).value < 1e-14 && josephy().residual(&known).value < 1e-14);
}

#[test]
fn a_valley_that_defeats_descent_is_left_by_the_paths() {
    // Billups: F = (x − 1)² − 1.01 from 0, where the merit function has a local minimum.
    let problem = nonnegative(vec![polynomial(&[(1.0, &[0, 0]), (-2.0, &[0]), (-0.01, &[])])]);
    let start = NcpSolution { z: vec![0.0] };
    for (attempts, leaves) in
        [(&[NcpAttempt::Newton], false), (&[NcpAttempt::Smoothing], true), (&[NcpAttempt::Proximal], true)]
    {
        let mut options = NcpNewtonOptions::default();
        (options.attempts, options.restarts) = (attempts, 0);
        let mut method = NcpNewton::with_options(options).unwrap();
        let mut solution = NcpSolution::default();
        let outcome = solve(&mut method, &problem, Some(&start), &mut solution, &ACCEPTED);
        assert_eq!(outcome.status.is_solved(), leaves, "{attempts:?}: {outcome:?}");
        assert!(outcome.residual.value > 1e-3 || leaves, "{attempts:?}: {outcome:?}");
        assert!((solution.z[0] - (1.0 + 1.01_f64.sqrt())).abs() < 1e-12 || !leaves, "{attempts:?}");
    }
}

#[test]
fn linear_problems_agree_with_pivoting() {
    let mut seed = Seed(5);
    for trial in 0..100 {
        let n = 1 + trial % 12;
        let lcp = Lcp::new(p_matrix(&mut seed, n), seed.vector(n)).unwrap();
        let by_lemke = lemke(&lcp).solution;
        let (status, solution, ..) = attempt(&Ncp::new(&lcp).unwrap(), &vec![0.0; n]);
        assert_eq!(status, Status::Solved, "trial {trial}");
        assert!(distance(&solution.z, &by_lemke.z) < 1e-8, "trial {trial}: {:?} {:?}", solution.z, by_lemke.z);
    }
}

#[test]
fn boxes_with_all_kinds_of_bounds_agree_between_methods() {
    let mut seed = Seed(6);
    for trial in 0..200 {
        let n = 1 + trial % 8;
        let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
        for i in 0..n {
            let (a, b) = (seed.real(), seed.real());
            match seed.below(5) {
                0 => (lower[i], upper[i]) = (a.min(b), a.max(b)),
                1 => lower[i] = a,
                2 => upper[i] = a,
                3 => (lower[i], upper[i]) = (a, a),
                _ => {}
            }
        }
        let problem = BoxLcp::new(p_matrix(&mut seed, n), seed.vector(n), lower, upper).unwrap();
        let mut solution = BoxLcpSolution::default();
        let outcome = solve(&mut BoxLcpLadder::new(), &problem, None, &mut solution, &Tolerance::default());
        assert_eq!(outcome.status, Status::Solved, "trial {trial}: {:?}", outcome.residual);
        assert!(outcome.residual.value < 1e-11, "trial {trial}: {:?}", outcome.residual);
        let (status, by_newton, ..) = attempt(&Ncp::new(&problem).unwrap(), &vec![0.0; n]);
        assert_eq!(status, Status::Solved, "trial {trial}");
        assert!(distance(&solution.z, &by_newton.z) < 1e-7, "trial {trial}");
    }
}

#[test]
fn derivatives_agree_with_differences() {
    let x = Expression::Variable;
    let rows = vec![
        Expression::Exp(Box::new(Expression::Product(vec![x(0), x(1), Expression::Number(0.3)]))),
        Expression::Quotient(Box::new([
            Expression::Power(Box::new(x(0)), 1.7),
            Expression::Difference(Box::new([x(1), Expression::Power(Box::new(x(0)), 3.0)])),
        ])),
    ];
    let infinite = vec![f64::INFINITY; 2];
    let function = ExpressionFunction::new(rows, vec![f64::NEG_INFINITY; 2], infinite).unwrap();
    let z = [0.8, 2.1];
    let mut jacobian = SparseMatrix::default();
    function.jacobian(&z, &mut jacobian);
    for i in 0..2 {
        for (j, slope) in jacobian.row(i) {
            let (mut up, mut down, mut f_up, mut f_down) = (z, z, [0.0; 2], [0.0; 2]);
            up[j] += 1e-6;
            down[j] -= 1e-6;
            function.value(&up, &mut f_up);
            function.value(&down, &mut f_down);
            let difference = (f_up[i] - f_down[i]) / 2e-6;
            assert!((slope - difference).abs() < 1e-8 * slope.abs().max(1.0), "({i}, {j}): {slope} {difference}");
        }
    }
}

#[test]
fn endings_without_a_solution_are_named() {
    // F = 1 with z free, and x² + 1 = 0: there is no solution, and no proof is claimed.
    let free = |row| ExpressionFunction::new(vec![row], vec![f64::NEG_INFINITY], vec![f64::INFINITY]).unwrap();
    for row in [Expression::Number(1.0), polynomial(&[(1.0, &[0, 0]), (1.0, &[])])] {
        let (status, ..) = attempt(&Ncp::new(free(row)).unwrap(), &[0.3]);
        assert!(matches!(status, Status::Breakdown | Status::BudgetExhausted), "{status:?}");
    }
    let mut options = NcpNewtonOptions::default();
    options.max_iterations = 0;
    let mut method = NcpNewton::with_options(options).unwrap();
    let (problem, guess) = (josephy(), NcpSolution { z: vec![1.0; 4] });
    let mut solution = NcpSolution::default();
    let outcome = solve(&mut method, &problem, Some(&guess), &mut solution, &ACCEPTED);
    assert_eq!((outcome.status, outcome.iterations), (Status::BudgetExhausted, 0));
    assert_eq!(solution, guess);
    for bad in [0.0, f64::NAN, 1.0, -1.0] {
        let mut options = NcpNewtonOptions::default();
        options.target = bad;
        assert_eq!(NcpNewton::with_options(options).unwrap_err().name, "target");
    }
}

#[test]
fn guesses_without_sense_are_ignored_and_an_empty_problem_is_solved() {
    let problem = josephy();
    let mut expected = NcpSolution::default();
    let _ = solve(&mut NcpNewton::new(), &problem, None, &mut expected, &ACCEPTED);
    for bad in [vec![1.0; 3], vec![f64::NAN; 4], vec![]] {
        let (status, solution, ..) = attempt(&problem, &bad);
        assert_eq!((status, &solution), (Status::Solved, &expected));
    }
    let (status, solution, ..) = attempt(&nonnegative(vec![]), &[]);
    assert_eq!((status, solution.z.len()), (Status::Solved, 0));
}

#[test]
fn bounds_out_of_order_are_refused() {
    for (lower, upper) in [(1.0, 0.0), (f64::NAN, 0.0), (f64::INFINITY, f64::INFINITY)] {
        let function = ExpressionFunction::new(vec![Expression::Variable(0)], vec![lower], vec![upper]).unwrap();
        assert!(matches!(Ncp::new(function), Err(ProblemError::BadBounds { row: 0, .. })));
    }
}

#[test]
fn both_reformulations_solve_the_same_problem() {
    for reformulation in [Reformulation::FischerBurmeister, Reformulation::MinMap] {
        let mut options = NcpNewtonOptions::default();
        options.reformulation = reformulation;
        let mut method = NcpNewton::with_options(options).unwrap();
        let mut solution = NcpSolution::default();
        let guess = NcpSolution { z: vec![1.0; 4] };
        let outcome = solve(&mut method, &josephy(), Some(&guess), &mut solution, &ACCEPTED);
        assert_eq!(outcome.status, Status::Solved, "{reformulation:?}");
    }
}
