//! Mixed problems compared with the LCP obtained by inverting A, and errors of the elimination.

use crate::generate::{Seed, distance, inverse, lemke, mixed, p_matrix, product, sparse};
use crate::linalg::chain;
use stiction_complementarity::{
    DenseMatrix, Lcp, LcpLemke, MixedLcp, MixedLcpSchur, MixedLcpSolution, Problem, ProblemError, RowBlock,
    SchurFailure, Solver, SparseMatrix, Status, Tolerance, solve,
};

fn schur() -> MixedLcpSchur<LcpLemke> {
    MixedLcpSchur::new(LcpLemke::new())
}

/// B is chosen so that the Schur complement B − D A⁻¹ C is the P-matrix `m`.
fn with_schur_complement(seed: &mut Seed, nu: usize, nz: usize) -> (MixedLcp, Lcp) {
    let (mut a, c, d) = (seed.matrix(nu, nu), seed.matrix(nu, nz), seed.matrix(nz, nu));
    for k in 0..nu {
        a[(k, k)] += 4.0;
    }
    let (constant_a, constant_b) = (seed.vector(nu), seed.vector(nz));
    let d_inverse = product(&d, &inverse(&a));
    let m = p_matrix(seed, nz);
    let mut b = product(&d_inverse, &c);
    let mut q = constant_b.clone();
    for i in 0..nz {
        q[i] -= (0..nu).map(|k| d_inverse[(i, k)] * constant_a[k]).sum::<f64>();
        for j in 0..nz {
            b[(i, j)] += m[(i, j)];
        }
    }
    (mixed([&a, &c, &d, &b], constant_a, constant_b).unwrap(), Lcp::new(m, q).unwrap())
}

#[test]
fn elimination_equals_the_direct_conversion() {
    let mut seed = Seed(31);
    let mut method = schur();
    for trial in 0..100 {
        let (nu, nz) = (1 + trial % 7, 1 + trial % 5);
        let (problem, direct) = with_schur_complement(&mut seed, nu, nz);
        let mut solution = MixedLcpSolution::default();
        let outcome = solve(&mut method, &problem, None, &mut solution, &Tolerance::default());
        assert_eq!(outcome.status, Status::Solved, "trial {trial}: {:?}", outcome.residual);
        let expected = lemke(&direct).solution.z;
        let scale = expected.iter().fold(1.0, |size: f64, z| size.max(*z));
        assert!(distance(&solution.complementary, &expected) <= 1e-11 * scale, "trial {trial}");
        assert!(problem.residual(&solution).value <= 1e-13, "trial {trial}");
    }
}

#[test]
fn a_problem_without_pairs_is_a_linear_system() {
    let mut seed = Seed(32);
    let a = seed.matrix(9, 9);
    let none = DenseMatrix::zeros(9, 0);
    let problem =
        mixed([&a, &none, &DenseMatrix::zeros(0, 9), &DenseMatrix::zeros(0, 0)], seed.vector(9), vec![]).unwrap();
    let mut solution = MixedLcpSolution::default();
    let outcome = solve(&mut schur(), &problem, None, &mut solution, &Tolerance::default());
    assert_eq!((outcome.status, outcome.iterations), (Status::Solved, 0));
    assert!(outcome.residual.value <= 1e-14);
}

#[test]
fn a_problem_without_free_variables_is_an_lcp() {
    let mut seed = Seed(33);
    let (m, q) = (p_matrix(&mut seed, 6), seed.vector(6));
    let problem =
        mixed([&DenseMatrix::zeros(0, 0), &DenseMatrix::zeros(0, 6), &DenseMatrix::zeros(6, 0), &m], vec![], q.clone());
    let mut solution = MixedLcpSolution::default();
    let outcome = solve(&mut schur(), &problem.unwrap(), None, &mut solution, &Tolerance::default());
    assert_eq!(outcome.status, Status::Solved);
    assert_eq!(solution.complementary, lemke(&Lcp::new(m, q).unwrap()).solution.z);
}

#[test]
fn the_empty_problem_is_solved() {
    let outcome =
        solve(&mut schur(), &MixedLcp::default(), None, &mut MixedLcpSolution::default(), &Tolerance::default()).status;
    assert_eq!(outcome, Status::Solved);
}

/// Unilateral rows on a long chain: large enough for the sparse factorisation.
fn limited_chain(seed: &mut Seed, bodies: usize) -> MixedLcp {
    let a = chain(seed, bodies, 6, 5);
    let (n, nz) = (a.rows(), 12);
    let mut d = DenseMatrix::zeros(nz, n);
    for i in 0..nz {
        for k in 0..6 {
            d[(i, 6 * (i * bodies / nz) + k)] = seed.real();
        }
    }
    let mut c = DenseMatrix::zeros(n, nz);
    let mut b = DenseMatrix::zeros(nz, nz);
    for i in 0..nz {
        b[(i, i)] = 0.05;
        for k in 0..n {
            c[(k, i)] = d[(i, k)];
        }
    }
    MixedLcp::new(
        RowBlock { on_free: a, on_complementary: sparse(&c), constant: seed.vector(n) },
        RowBlock { on_free: sparse(&d), on_complementary: sparse(&b), constant: seed.vector(nz) },
    )
    .unwrap()
}

#[test]
fn sparse_and_dense_elimination_agree() {
    let mut seed = Seed(34);
    for bodies in [4, 30] {
        let problem = limited_chain(&mut seed, bodies);
        let mut straight = MixedLcpSolution::default();
        let outcome = solve(&mut schur(), &problem, None, &mut straight, &Tolerance::default());
        assert_eq!(outcome.status, Status::Solved, "{:?}", outcome.residual);
        assert!(outcome.residual.value <= 1e-12);

        // The same problem with one equality row doubled is not symmetric and is factorised densely.
        let mut doubled = problem.clone();
        for matrix in [&mut doubled.equality.on_free, &mut doubled.equality.on_complementary] {
            let old = matrix.clone();
            matrix.clear(old.rows(), old.cols());
            for i in 0..old.rows() {
                old.row(i).for_each(|(j, value)| matrix.push(j, if i == 1 { 2.0 * value } else { value }));
                matrix.finish_row();
            }
        }
        doubled.equality.constant[1] *= 2.0;
        let mut other = MixedLcpSolution::default();
        let outcome = solve(&mut schur(), &doubled, None, &mut other, &Tolerance::default());
        assert_eq!(outcome.status, Status::Solved);
        assert!(distance(&straight.free, &other.free) <= 1e-9);
        assert!(distance(&straight.complementary, &other.complementary) <= 1e-9);
    }
}

#[test]
fn a_singular_equality_block_is_refused_with_its_row_and_a_way_out() {
    let regular = DenseMatrix::from_rows(&[[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]]);
    let mut singular = regular.clone();
    singular.row_mut(2).fill(0.0);
    let pairs = DenseMatrix::from_rows(&[[1.0]]);
    let (c, d) = (DenseMatrix::zeros(3, 1), DenseMatrix::zeros(1, 3));
    let problem = mixed([&singular, &c, &d, &pairs], vec![0.0; 3], vec![-1.0]).unwrap();
    let mut method = schur();
    let mut solution = MixedLcpSolution::default();
    let outcome = solve(&mut method, &problem, None, &mut solution, &Tolerance::default());
    assert_eq!(outcome.status, Status::Breakdown);
    assert_eq!(method.last_failure(), Some(&SchurFailure::SingularEquality { row: 2 }));
    let sentence = method.last_failure().unwrap().to_string();
    assert!(sentence.contains("singular") && sentence.contains("row 2") && sentence.contains("use a method"));

    let problem = mixed([&regular, &c, &d, &pairs], vec![0.0; 3], vec![-1.0]).unwrap();
    let status = solve(&mut method, &problem, None, &mut solution, &Tolerance::default()).status;
    assert_eq!((status, method.last_failure()), (Status::Solved, None));
}

#[test]
fn an_illegal_problem_is_refused_with_its_row() {
    let mut problem = MixedLcp::default();
    problem.clear(2, 1);
    assert!(matches!(problem.ensure_shapes(), Err(ProblemError::SizeMismatch { part: "equality.on_free", .. })));
    let mut solution = MixedLcpSolution::default();
    let mut method = schur();
    let outcome = solve(&mut method, &problem, None, &mut solution, &Tolerance::default());
    assert_eq!((outcome.status, outcome.residual.value), (Status::Breakdown, f64::INFINITY));
    assert!(matches!(method.last_failure(), Some(SchurFailure::Problem(_))));

    problem.equality.on_free.finish_row();
    problem.equality.on_free.push(1, f64::NAN);
    for matrix in [&mut problem.equality, &mut problem.complementarity] {
        matrix.on_free.finish();
        matrix.on_complementary.finish();
    }
    assert!(problem.ensure_shapes().is_ok());
    assert!(matches!(problem.ensure_finite(), Err(ProblemError::NotFinite { part: "equality.on_free", row: 1, .. })));
}

#[test]
fn any_guess_is_survived() {
    let mut seed = Seed(35);
    let (problem, _) = with_schur_complement(&mut seed, 4, 3);
    let mut plain = MixedLcpSolution::default();
    let _ = schur().run(&problem, None, &mut plain);
    for complementary in [vec![], vec![0.0; 9], vec![f64::NAN; 3], vec![1e12; 3]] {
        let guess = MixedLcpSolution { free: vec![], complementary };
        let mut solution = MixedLcpSolution::default();
        let _ = schur().run(&problem, Some(&guess), &mut solution);
        assert_eq!(solution, plain);
    }
}

#[test]
fn the_residual_counts_equality_rows_first() {
    let one = DenseMatrix::from_rows(&[[1.0]]);
    let zero = DenseMatrix::zeros(1, 1);
    let problem = mixed([&one, &zero, &zero, &one], vec![-4.0], vec![-1.0]).unwrap();
    let at = |u: f64, z: f64| problem.residual(&MixedLcpSolution { free: vec![u], complementary: vec![z] });
    assert_eq!((at(4.0, 1.0).value, at(3.0, 1.0).value, at(3.0, 1.0).row), (0.0, 0.25, 0));
    assert_eq!((at(4.0, 3.0).value, at(4.0, 3.0).row), (0.5, 1));
    assert_eq!(at(f64::NAN, 1.0).value, f64::INFINITY);
}

#[test]
fn the_size_counts_both_kinds() {
    let mut problem = MixedLcp::default();
    problem.clear(24, 70);
    assert_eq!((problem.size(), problem.free_size(), problem.complementary_size()), (94, 24, 70));
    assert_eq!(SparseMatrix::zeros(3, 2).finished_rows(), 3);
}

#[test]
fn a_symmetric_block_that_is_no_saddle_matrix_is_solved_too() {
    // The diagonal is zero: elimination without pivoting fails at once, but the matrix is regular.
    let n = 8;
    let mut a = DenseMatrix::zeros(n, n);
    for i in 0..n {
        a[(i, n - 1 - i)] = 1.0 + i.min(n - 1 - i) as f64;
    }
    let mut seed = Seed(36);
    let (c, d) = (seed.matrix(n, 2), seed.matrix(2, n));
    let problem = mixed([&a, &c, &d, &p_matrix(&mut seed, 2)], seed.vector(n), vec![1.0, 1.0]).unwrap();
    let mut method = schur();
    let _ = method.run(&problem, None, &mut MixedLcpSolution::default());
    assert_eq!(method.last_failure(), None);
    let expected = product(&d, &product(&inverse(&a), &c));
    let mut b = [0.0; 2];
    problem.complementarity.on_complementary.row(0).for_each(|(j, value)| b[j] = value);
    for j in 0..2 {
        assert!((method.reduced().m()[(0, j)] - (b[j] - expected[(0, j)])).abs() <= 1e-14);
    }
}
