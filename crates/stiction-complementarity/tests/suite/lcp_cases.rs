//! Small and degenerate LCPs: every status that an LCP can cause.

use crate::generate::{distance, lcp, lemke};
use stiction_complementarity::{
    DenseMatrix, Lcp, LcpEnumeration, LcpLemke, LcpLemkeOptions, LcpSolution, LemkeFailure, ProblemError, Solver,
    Status, Tolerance, solve,
};

#[test]
fn an_empty_problem_is_solved() {
    let outcome = lemke(&Lcp::default());
    assert_eq!((outcome.status, outcome.iterations, outcome.residual.value), (Status::Solved, 0, 0.0));
    assert_eq!(LcpEnumeration::new().all(&Lcp::default()).unwrap().solutions.len(), 1);
}

#[test]
fn one_row_of_every_sign() {
    // (M, q) and the solution z, or none.
    for (m, q, expected) in [
        (2.0, -3.0, Some(1.5)),
        (2.0, 3.0, Some(0.0)),
        (2.0, 0.0, Some(0.0)),
        (0.0, 1.0, Some(0.0)),
        (0.0, 0.0, Some(0.0)),
        (0.0, -1.0, None),
        (-1.0, 1.0, Some(0.0)),
        (-1.0, -1.0, None),
    ] {
        let problem = lcp([[m]], [q]);
        let outcome = lemke(&problem);
        let all = LcpEnumeration::new().all(&problem).unwrap();
        if let Some(z) = expected {
            assert_eq!((outcome.status, outcome.solution.z[0]), (Status::Solved, z), "M = {m}, q = {q}");
            assert!(all.solutions.iter().any(|solution| solution.z[0] == z));
        } else {
            assert_eq!(outcome.status, Status::Infeasible, "M = {m}, q = {q}");
            assert_eq!((all.solutions.len(), all.undecided), (0, 0));
        }
    }
}

#[test]
fn the_negative_row_with_positive_q_has_two_solutions_for_the_oracle() {
    let all = LcpEnumeration::new().all(&lcp([[-1.0]], [1.0])).unwrap();
    assert_eq!(all.solutions.iter().map(|solution| solution.z[0]).collect::<Vec<_>>(), [0.0, 1.0]);
}

#[test]
fn a_non_negative_q_needs_no_pivot() {
    let outcome = lemke(&lcp([[0.0, -7.0], [3.0, f64::MAX]], [0.0, 4.0]));
    assert_eq!((outcome.status, outcome.iterations), (Status::Solved, 0));
    assert_eq!(outcome.solution.z, [0.0, 0.0]);
}

#[test]
fn a_singular_matrix_that_agrees_with_q_is_solved() {
    let outcome = lemke(&lcp([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0]));
    assert_eq!(outcome.status, Status::Solved);
    assert!(outcome.residual.value <= 1e-15);
    assert!((outcome.solution.z.iter().sum::<f64>() - 1.0).abs() <= 1e-15);
}

#[test]
fn a_singular_positive_semidefinite_matrix_that_contradicts_q_is_infeasible() {
    // z₁ − z₂ ≥ 1 and z₂ − z₁ ≥ 1.
    let mut method = LcpLemke::new();
    let mut solution = LcpSolution::default();
    let problem = lcp([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]);
    let outcome = solve(&mut method, &problem, None, &mut solution, &Tolerance::default());
    assert_eq!(outcome.status, Status::Infeasible);
    assert!(outcome.residual.value >= 0.5, "the last iterate must not look like a solution");
    let Some(LemkeFailure::Ray { row }) = method.last_failure() else { panic!("no ray was kept") };
    assert!(row < 2);
    assert!(method.last_failure().unwrap().to_string().contains("ray"));
}

#[test]
fn success_forgets_the_last_failure() {
    let mut method = LcpLemke::new();
    let mut solution = LcpSolution::default();
    let _ = method.run(&lcp([[0.0]], [-1.0]), None, &mut solution);
    assert!(method.last_failure().is_some());
    let _ = method.run(&lcp([[1.0]], [-1.0]), None, &mut solution);
    assert_eq!(method.last_failure(), None);
}

#[test]
fn a_copositive_matrix_with_a_zero_diagonal_is_solved() {
    // The structure of one frictional contact: normal, two directions, slip bound; sliding to the right.
    let (mu, v) = (0.5, 0.01);
    let m = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, -1.0, 1.0], [0.0, -1.0, 1.0, 1.0], [mu, -1.0, -1.0, 0.0]];
    let outcome = lemke(&lcp(m, [-0.1, v, -v, 0.0]));
    assert_eq!(outcome.status, Status::Solved);
    assert!(distance(&outcome.solution.z, &[0.1, 0.0, v, 0.0]) <= 1e-17, "{:?}", outcome.solution.z);
}

#[test]
fn an_isolated_solution_and_its_perturbation() {
    // Pang's example: one solution, and none after a small change of q.
    let m = [[0.0, -1.0, -1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]];
    let all = LcpEnumeration::new().all(&lcp(m, [0.0, -1.0, 1.0])).unwrap();
    assert_eq!(all.solutions, [LcpSolution { z: vec![1.0, 0.0, 0.0] }]);
    let perturbed = lcp(m, [0.0, -1.0, 1.0 - 1e-3]);
    assert_ne!(lemke(&perturbed).status, Status::Solved);
    assert!(LcpEnumeration::new().all(&perturbed).unwrap().solutions.is_empty());
}

#[test]
fn a_tie_that_cycles_without_the_lexicographic_rule() {
    // Kostreva's matrix: all three ratios tie at the first pivot.
    let outcome = lemke(&lcp([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], [-1.0, -1.0, -1.0]));
    assert_eq!(outcome.status, Status::Solved);
    assert!(outcome.iterations <= 10);
    assert!(distance(&outcome.solution.z, &[1.0 / 3.0; 3]) <= 1e-15);
}

#[test]
fn all_rows_tied() {
    // All rows reach zero at the same pivot, and every z is positive.
    let n = 30;
    let mut m = DenseMatrix::zeros(n, n);
    for i in 0..n {
        m[(i, i)] = 1.0;
    }
    let outcome = lemke(&Lcp::new(m, vec![-1.0; n]).unwrap());
    assert_eq!(outcome.status, Status::Solved);
    assert_eq!(outcome.solution.z, vec![1.0; n]);
}

/// Murty's family: lower triangular with ones and twos, on which the path visits 2ⁿ bases.
fn murty(n: usize) -> Lcp {
    let mut m = DenseMatrix::zeros(n, n);
    for i in 0..n {
        m.row_mut(i)[..i].fill(2.0);
        m[(i, i)] = 1.0;
    }
    let q = (0..n).map(|i| -(n - i..=n).map(|j| f64::from(1 << j)).sum::<f64>()).collect();
    Lcp::new(m, q).unwrap()
}

#[test]
fn murty_takes_exponentially_many_pivots() {
    for n in 1..=10 {
        let outcome = lemke(&murty(n));
        assert_eq!(outcome.status, Status::Solved);
        assert_eq!(outcome.iterations, 1 << n, "n = {n}");
        assert!(outcome.residual.value <= 1e-15);
    }
}

#[test]
fn the_budget_stops_the_exponential_path() {
    let mut options = LcpLemkeOptions::default();
    for budget in [0, 1, 100] {
        options.max_pivots = Some(budget);
        let mut method = LcpLemke::with_options(options).unwrap();
        let mut solution = LcpSolution::default();
        let outcome = solve(&mut method, &murty(8), None, &mut solution, &Tolerance::default());
        assert_eq!((outcome.status, outcome.iterations), (Status::BudgetExhausted, budget));
        assert!(outcome.residual.value > 1e-3);
        assert_eq!(method.last_failure(), Some(LemkeFailure::Budget { budget }));
    }
}

#[test]
fn options_without_sense_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.1] {
        let mut options = LcpLemkeOptions::default();
        options.tie_tolerance = bad;
        assert_eq!(LcpLemke::with_options(options).unwrap_err().name, "tie_tolerance");
        options = LcpLemkeOptions::default();
        options.pivot_tolerance = bad;
        assert_eq!(LcpLemke::with_options(options).unwrap_err().name, "pivot_tolerance");
    }
}

#[test]
fn overflow_is_a_breakdown_and_not_a_ray() {
    let big = f64::MAX;
    let outcome = lemke(&lcp([[big, big], [-big, big]], [-1e-300, -1.0]));
    assert!(matches!(outcome.status, Status::Breakdown | Status::Solved), "{outcome:?}");
}

#[test]
fn the_oracle_refuses_what_it_cannot_enumerate() {
    let n = LcpEnumeration::MAX_SIZE + 1;
    let problem = Lcp::new(DenseMatrix::zeros(n, n), vec![1.0; n]).unwrap();
    assert!(LcpEnumeration::new().all(&problem).is_none());
    assert_eq!(LcpEnumeration::new().run(&problem, None, &mut LcpSolution::default()).status, Status::Breakdown);
}

#[test]
fn construction_names_the_culprit() {
    let square = DenseMatrix::zeros(2, 2);
    assert_eq!(Lcp::new(DenseMatrix::zeros(2, 3), vec![0.0; 2]), Err(ProblemError::NotSquare { rows: 2, cols: 3 }));
    assert_eq!(
        Lcp::new(square.clone(), vec![0.0; 3]),
        Err(ProblemError::SizeMismatch { part: "q", expected: 2, found: 3 })
    );
    assert!(matches!(
        Lcp::new(square.clone(), vec![0.0, f64::NAN]),
        Err(ProblemError::NotFinite { part: "q", row: 1, .. })
    ));
    let mut m = square;
    m[(1, 0)] = f64::NEG_INFINITY;
    assert!(matches!(Lcp::new(m, vec![0.0; 2]), Err(ProblemError::NotFinite { part: "M", row: 1, .. })));
}

#[test]
fn a_refused_refill_leaves_an_empty_problem() {
    let mut problem = lcp([[1.0]], [-1.0]);
    assert!(problem.refill(2, |m, _| m[(1, 1)] = f64::NAN).is_err());
    assert_eq!(problem.size(), 0);
    assert!(problem.refill(2, |m, _| m.reset(1, 1)).is_err());
    problem
        .refill(1, |m, q| {
            m[(0, 0)] = 4.0;
            q[0] = -2.0;
        })
        .unwrap();
    assert_eq!(lemke(&problem).solution.z, [0.5]);
}
