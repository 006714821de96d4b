//! Statuses of every LCP method: a table of methods, problems and exact statuses.

use crate::generate::{Seed, distance, lcp, lemke, p_matrix, product, transpose};
use Status::{Breakdown, BudgetExhausted, Infeasible, Solved};
use stiction_complementarity::{
    BoxLcp, BoxLcpLadder, BoxLcpSolution, Certificate, DenseMatrix, Finding, GaussSeidelFailure, Lcp, LcpEnumeration,
    LcpGaussSeidel, LcpGaussSeidelOptions, LcpLadder, LcpLemke, LcpLemkeOptions, LcpNewton, LcpNewtonOptions,
    LcpPrincipalPivoting, LcpPrincipalPivotingOptions, LcpRung, LcpSolution, LemkeFailure, Ncp, NcpNewton, NcpSolution,
    PrincipalPivotingFailure, Problem, Reformulation, Solver, Status, Tolerance, explain, is_copositive, is_p_matrix,
    is_positive_semidefinite, proves_infeasible, solve,
};
use stiction_testkit::count_allocations;

type Method = Box<dyn Solver<Lcp>>;

fn newton(reformulation: Reformulation) -> LcpNewton {
    let mut options = LcpNewtonOptions::default();
    options.reformulation = reformulation;
    LcpNewton::with_options(options).unwrap()
}

/// All methods, in the order of the columns of [`TABLE`].
fn methods() -> [(&'static str, Method); 7] {
    [
        ("lemke", Box::new(LcpLemke::new())),
        ("principal pivoting", Box::new(LcpPrincipalPivoting::new())),
        ("gauss-seidel", Box::new(LcpGaussSeidel::new())),
        ("newton fb", Box::new(newton(Reformulation::FischerBurmeister))),
        ("newton min", Box::new(newton(Reformulation::MinMap))),
        ("enumeration", Box::new(LcpEnumeration::new())),
        ("ladder", Box::new(LcpLadder::new())),
    ]
}

/// Murty's family, on which pivoting by least index visits 2ⁿ bases.
fn murty(n: usize) -> Lcp {
    let mut m = DenseMatrix::zeros(n, n);
    for i in 0..n {
        m.row_mut(i)[..i].fill(2.0);
        m[(i, i)] = 1.0;
    }
    let q = (0..n).map(|i| -(n - i..=n).map(|j| f64::from(1 << j)).sum::<f64>()).collect();
    Lcp::new(m, q).unwrap()
}

/// Ones and twos above the diagonal: the least-index rule visits all 2ⁿ sets.
fn upper_triangular(n: usize) -> Lcp {
    let mut m = DenseMatrix::zeros(n, n);
    for i in 0..n {
        m.row_mut(i)[i + 1..].fill(2.0);
        m[(i, i)] = 1.0;
    }
    Lcp::new(m, vec![-1.0; n]).unwrap()
}

const PANG: [[f64; 3]; 3] = [[0.0, -1.0, -1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]];

/// A bimatrix game: not copositive, and paths of Lemke's method end on rays although there are solutions.
const BIMATRIX: [[f64; 4]; 4] =
    [[0.0, 0.0, 10.0, 20.0], [0.0, 0.0, 30.0, 15.0], [10.0, 20.0, 0.0, 0.0], [30.0, 15.0, 0.0, 0.0]];

/// The problems of B15, with the status of each method in the order of [`methods`].
fn table() -> Vec<(&'static str, Lcp, [Status; 7])> {
    let contact = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, -1.0, 1.0], [0.0, -1.0, 1.0, 1.0], [0.5, -1.0, -1.0, 0.0]];
    vec![
        ("n = 0", Lcp::default(), [Solved; 7]),
        ("M > 0, q < 0", lcp([[2.0]], [-3.0]), [Solved; 7]),
        ("M > 0, q > 0", lcp([[2.0]], [3.0]), [Solved; 7]),
        ("M > 0, q = 0", lcp([[2.0]], [0.0]), [Solved; 7]),
        ("M = 0, q > 0", lcp([[0.0]], [1.0]), [Solved; 7]),
        ("M = 0, q = 0", lcp([[0.0]], [0.0]), [Solved; 7]),
        (
            "M = 0, q < 0",
            lcp([[0.0]], [-1.0]),
            [Infeasible, Breakdown, Breakdown, Breakdown, Breakdown, Infeasible, Infeasible],
        ),
        ("M < 0, q > 0", lcp([[-1.0]], [1.0]), [Solved; 7]),
        (
            "M < 0, q < 0",
            lcp([[-1.0]], [-1.0]),
            [Infeasible, BudgetExhausted, Breakdown, BudgetExhausted, BudgetExhausted, Infeasible, Infeasible],
        ),
        ("trivial", lcp([[0.0, -7.0], [3.0, 1.0]], [0.0, 4.0]), [Solved; 7]),
        (
            "singular, consistent",
            lcp([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0]),
            [Solved, Breakdown, Solved, Solved, Solved, Solved, Solved],
        ),
        (
            "singular, contradictory",
            lcp([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]),
            [Infeasible, Breakdown, BudgetExhausted, Breakdown, Breakdown, Infeasible, Infeasible],
        ),
        (
            "copositive contact",
            lcp(contact, [-0.1, 0.01, -0.01, 0.0]),
            [Solved, Solved, Breakdown, Solved, Solved, Solved, Solved],
        ),
        (
            "cycling ties",
            lcp([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], [-1.0; 3]),
            [Solved, Solved, BudgetExhausted, Solved, Solved, Solved, Solved],
        ),
        ("exponential", murty(8), [Solved; 7]),
        ("isolated", lcp(PANG, [0.0, -1.0, 1.0]), [Solved, Breakdown, Breakdown, Solved, Solved, Solved, Solved]),
        (
            "isolated, perturbed",
            lcp(PANG, [0.0, -1.0, 0.999]),
            [Infeasible, Breakdown, Breakdown, BudgetExhausted, BudgetExhausted, Breakdown, Infeasible],
        ),
        (
            "feasible, unsolvable",
            lcp([[-1.0, -1.0, 1.0], [1.0, 1.0, 0.0], [1.0; 3]], [0.0, -2.0, -3.0]),
            [Infeasible, Breakdown, Breakdown, BudgetExhausted, BudgetExhausted, Infeasible, Infeasible],
        ),
        ("bimatrix", lcp(BIMATRIX, [-1.0; 4]), [Infeasible, Solved, Breakdown, Solved, Solved, Solved, Solved]),
    ]
}

#[test]
fn every_method_ends_as_the_table_says() {
    let mut wrong = 0;
    for (problem_name, problem, expected) in table() {
        for ((name, mut method), expected) in methods().into_iter().zip(expected) {
            let mut solution = LcpSolution::default();
            let outcome = solve(&mut *method, &problem, None, &mut solution, &Tolerance::default());
            if outcome.status != expected {
                println!(
                    "{problem_name:24} {name:20} {:?} {:.1e} {}",
                    outcome.status, outcome.residual.value, outcome.iterations
                );
                wrong += 1;
            }
        }
    }
    assert_eq!(wrong, 0);
}

#[test]
fn all_methods_find_the_one_solution_of_a_p_matrix() {
    let mut seed = Seed(11);
    for trial in 0..60 {
        let n = 1 + trial % 14;
        let problem = Lcp::new(p_matrix(&mut seed, n), seed.vector(n)).unwrap();
        let expected = lemke(&problem).solution;
        let scale = expected.z.iter().fold(1.0, |size: f64, z| size.max(*z));
        for (name, mut method) in methods().into_iter().filter(|(name, _)| *name != "gauss-seidel") {
            let mut solution = LcpSolution::default();
            let outcome = solve(&mut *method, &problem, None, &mut solution, &Tolerance::default());
            assert_eq!(outcome.status, Solved, "trial {trial}, {name}: {:?}", outcome.residual);
            assert!(distance(&solution.z, &expected.z) <= 1e-9 * scale, "trial {trial}, {name}");
            assert!(solution.z.iter().all(|&z| z >= 0.0), "trial {trial}, {name}");
        }
    }
}

/// A Aᵀ + I / 10 with random A, and a random q.
fn symmetric(seed: &mut Seed, n: usize) -> Lcp {
    let a = seed.matrix(n, n);
    let mut m = product(&a, &transpose(&a));
    for i in 0..n {
        m[(i, i)] += 0.1;
    }
    Lcp::new(m, seed.vector(n)).unwrap()
}

fn gauss_seidel(max_iterations: u32, relaxation: f64) -> LcpGaussSeidel {
    let mut options = LcpGaussSeidelOptions::default();
    (options.max_iterations, options.relaxation) = (max_iterations, relaxation);
    LcpGaussSeidel::with_options(options).unwrap()
}

#[test]
fn gauss_seidel_lowers_the_energy_and_never_worsens_the_answer() {
    let mut seed = Seed(12);
    for trial in 0..20 {
        let problem = symmetric(&mut seed, 2 + trial % 8);
        let n = problem.size();
        let energy = |z: &[f64]| (0..n).map(|i| 0.5 * z[i] * (problem.w(i, z) + problem.q()[i])).sum::<f64>();
        let (mut last_energy, mut last_residual) = (f64::INFINITY, f64::INFINITY);
        let mut iterate = LcpSolution { z: vec![0.0; n] };
        for iterations in 0..40 {
            let mut answer = LcpSolution::default();
            let ending = gauss_seidel(iterations, 1.2).run(&problem, None, &mut answer);
            let residual = problem.residual(&answer).value;
            assert!(residual <= last_residual, "trial {trial}, iteration {iterations}");
            assert!(ending.status == BudgetExhausted || residual <= 1e-10, "trial {trial}, iteration {iterations}");
            last_residual = residual;
            // Second implementation of the plain iteration.
            assert!(energy(&iterate.z) <= last_energy + 1e-15, "trial {trial}, iteration {iterations}");
            last_energy = energy(&iterate.z);
            for i in 0..n {
                let w = problem.w(i, &iterate.z);
                iterate.z[i] = (iterate.z[i] - 1.2 * w / problem.m()[(i, i)]).max(0.0);
            }
        }
    }
}

#[test]
fn gauss_seidel_agrees_with_pivoting_and_uses_its_guess() {
    let mut seed = Seed(13);
    for trial in 0..40 {
        let problem = symmetric(&mut seed, 1 + trial % 10);
        let expected = lemke(&problem).solution;
        let (mut solution, mut method) = (LcpSolution::default(), LcpGaussSeidel::new());
        let outcome = solve(&mut method, &problem, None, &mut solution, &Tolerance::default());
        assert_eq!(outcome.status, Solved, "trial {trial}");
        // ‖z − z*‖ ≤ residual (1 + ‖M‖) / λ_min, with λ_min ≥ 0.1.
        assert!(distance(&solution.z, &expected.z) <= 1e-6, "trial {trial}");
        let guess = solution.clone();
        let warm = solve(&mut method, &problem, Some(&guess), &mut solution, &Tolerance::default());
        assert_eq!((warm.status, warm.iterations), (Solved, 0), "trial {trial}");
    }
}

#[test]
fn stalled_gauss_seidel_ends_as_exhausted_with_a_reason() {
    let mut method = LcpGaussSeidel::new();
    let mut solution = LcpSolution::default();
    let contradictory = lcp([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]);
    assert_eq!(method.run(&contradictory, None, &mut solution).status, BudgetExhausted);
    assert!(matches!(method.last_failure(), Some(GaussSeidelFailure::Stalled { iterations: 500, .. })));
    let unusable = lcp([[1.0, 0.0], [0.0, 0.0]], [-1.0, -1.0]);
    assert_eq!(method.run(&unusable, None, &mut solution).status, Breakdown);
    assert_eq!(method.last_failure(), Some(GaussSeidelFailure::Diagonal { row: 1 }));
    let diverging = lcp([[1.0, -9.0], [-9.0, 1.0]], [-1.0, -1.0]);
    assert_eq!(method.run(&diverging, None, &mut solution).status, Breakdown);
    assert_eq!(method.last_failure(), Some(GaussSeidelFailure::Overflow));
}

#[test]
fn principal_pivoting_uses_its_guess_and_pays_for_the_least_index_rule() {
    let mut seed = Seed(14);
    let problem = symmetric(&mut seed, 12);
    let guess = lemke(&problem).solution;
    let mut solution = LcpSolution::default();
    let warm = LcpPrincipalPivoting::new().run(&problem, Some(&guess), &mut solution);
    assert_eq!((warm.status, warm.iterations), (Solved, 1));
    let mut options = LcpPrincipalPivotingOptions::default();
    options.patience = 0;
    options.max_bases = Some(2000);
    let mut least_index = LcpPrincipalPivoting::with_options(options).unwrap();
    let counts = [4, 6, 8].map(|n| least_index.run(&upper_triangular(n), None, &mut solution).iterations);
    assert_eq!(counts, [1 << 4, 1 << 6, 1 << 8]);
    assert!(LcpPrincipalPivoting::new().run(&upper_triangular(8), None, &mut solution).status == Solved);
    options.max_bases = Some(5);
    let mut impatient = LcpPrincipalPivoting::with_options(options).unwrap();
    assert_eq!(impatient.run(&upper_triangular(8), None, &mut solution).status, BudgetExhausted);
    assert_eq!(impatient.last_failure(), Some(PrincipalPivotingFailure::Budget { bases: 5 }));
    let singular = lcp([[1.0, 1.0], [1.0, 1.0]], [-1.0, -2.0]);
    assert_eq!(LcpPrincipalPivoting::new().run(&singular, None, &mut solution).status, Breakdown);
}

#[test]
fn guesses_without_sense_are_ignored_by_every_method() {
    let mut seed = Seed(15);
    let problem = symmetric(&mut seed, 5);
    for (name, mut method) in methods() {
        let (mut expected, mut solution) = (LcpSolution::default(), LcpSolution::default());
        let without = method.run(&problem, None, &mut expected);
        for z in [vec![], vec![1.0; 4], vec![f64::NAN; 5], vec![f64::INFINITY; 5]] {
            assert_eq!(method.run(&problem, Some(&LcpSolution { z }), &mut solution), without, "{name}");
            assert_eq!(solution, expected, "{name}");
        }
        let far = LcpSolution { z: vec![1e12; 5] };
        let outcome = solve(&mut *method, &problem, Some(&far), &mut solution, &Tolerance::default());
        assert_eq!(outcome.status, Solved, "{name} from far away: {:?}", outcome.residual);
    }
}

#[test]
fn budgets_of_zero_return_the_guess_and_options_without_sense_are_refused() {
    let problem = lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]);
    let guess = LcpSolution { z: vec![1.0, 1.0] };
    let mut newton_options = LcpNewtonOptions::default();
    newton_options.max_iterations = 0;
    let exhausted: [Method; 2] =
        [Box::new(gauss_seidel(0, 1.0)), Box::new(LcpNewton::with_options(newton_options).unwrap())];
    for mut method in exhausted {
        let mut solution = LcpSolution::default();
        let outcome = solve(&mut *method, &problem, Some(&guess), &mut solution, &Tolerance::default());
        assert_eq!((outcome.status, outcome.iterations, outcome.solution), (BudgetExhausted, 0, &guess));
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 2.0] {
        let mut options = LcpGaussSeidelOptions::default();
        options.relaxation = bad;
        assert_eq!(LcpGaussSeidel::with_options(options).unwrap_err().name, "relaxation");
        options = LcpGaussSeidelOptions::default();
        options.tolerance = bad;
        assert_eq!(LcpGaussSeidel::with_options(options).unwrap_err().name, "tolerance");
        let mut options = LcpPrincipalPivotingOptions::default();
        options.sign_tolerance = bad;
        assert_eq!(LcpPrincipalPivoting::with_options(options).unwrap_err().name, "sign_tolerance");
        let mut options = LcpNewtonOptions::default();
        options.target = bad;
        assert_eq!(LcpNewton::with_options(options).unwrap_err().name, "target");
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let mut options = LcpLemkeOptions::default();
        options.cover_tilt = bad;
        assert_eq!(LcpLemke::with_options(options).unwrap_err().name, "cover_tilt");
    }
}

#[test]
fn the_ladder_records_its_rungs_and_starts_warm() {
    let mut seed = Seed(16);
    let problem = symmetric(&mut seed, 10);
    let (mut ladder, mut solution) = (LcpLadder::new(), LcpSolution::default());
    assert_eq!(ladder.run(&problem, None, &mut solution).status, Solved);
    assert_eq!(ladder.records()[0].rung, LcpRung::Lemke { tilt: 0.0, shift: 0 });
    let guess = solution.clone();
    assert_eq!(ladder.run(&problem, Some(&guess), &mut solution).status, Solved);
    assert_eq!((ladder.records().len(), ladder.records()[0].rung), (1, LcpRung::WarmStart));
    assert_eq!(ladder.run(&lcp(BIMATRIX, [-1.0; 4]), None, &mut solution).status, Solved);
    let only_newton = LcpLadder::with_rungs(vec![LcpRung::Newton]).run(&problem, None, &mut solution);
    assert_eq!(only_newton.status, Solved);
    assert_eq!(LcpLadder::with_rungs(vec![]).run(&problem, None, &mut solution).status, Breakdown);
}

#[test]
fn a_claim_of_no_solution_carries_its_proof_at_any_size() {
    // Random problems that are infeasible by construction: yᵀ M ≤ 0 and yᵀ q < 0 for a random y ≥ 0.
    let mut seed = Seed(17);
    for trial in 0..20 {
        let n = 2 + 2 * trial;
        let y: Vec<f64> = seed.vector(n).iter().map(|x| x.abs()).collect();
        let (mut m, mut q) = (seed.matrix(n, n), seed.vector(n));
        for j in 0..n {
            let rest: f64 = (1..n).map(|i| y[i] * m[(i, j)]).sum();
            m[(0, j)] = (-rest - seed.real().abs()) / y[0];
        }
        q[0] = (-(1..n).map(|i| y[i] * q[i]).sum::<f64>() - 1.0) / y[0];
        let problem = Lcp::new(m, q).unwrap();
        assert!(proves_infeasible(&problem, &y), "trial {trial}");
        let (mut ladder, mut solution) = (LcpLadder::new(), LcpSolution::default());
        assert_eq!(
            ladder.run(&problem, None, &mut solution).status,
            Infeasible,
            "trial {trial}: {:?}",
            ladder.records()
        );
        let Some(Certificate::Farkas { y }) = ladder.certificate() else { panic!("trial {trial}") };
        assert!(proves_infeasible(&problem, y), "trial {trial}");
    }
    let solvable = lcp([[1.0, 0.0], [0.0, 1.0]], [-1.0, -1.0]);
    assert!(!proves_infeasible(&solvable, &[1.0, 1.0]) && !proves_infeasible(&solvable, &[]));
}

#[test]
fn the_ladder_agrees_with_enumeration_on_any_matrix() {
    let mut seed = Seed(18);
    let mut counts = [0; 3];
    for trial in 0..300 {
        let n = 2 + trial % 5;
        let problem = Lcp::new(seed.integers(n, n), seed.integers(1, n).row(0).to_vec()).unwrap();
        let all = LcpEnumeration::new().all(&problem).unwrap();
        let mut solution = LcpSolution::default();
        let status = solve(&mut LcpLadder::new(), &problem, None, &mut solution, &Tolerance::default()).status;
        match status {
            Solved => counts[0] += 1,
            Infeasible => {
                assert!(all.solutions.is_empty(), "trial {trial}: a proof against a solution");
                counts[1] += 1;
            }
            other => {
                assert!(all.solutions.is_empty() && all.undecided > 0, "trial {trial}: {other:?}");
                counts[2] += 1;
            }
        }
    }
    println!("solved, proved unsolvable, undecided: {counts:?}");
    // Small integers make singular bases common; if one is undecided, the ladder ends undecided.
    assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
}

#[test]
fn copositivity_is_decided_with_witnesses() {
    // Horn's matrix is copositive although it is not a sum of a semidefinite and a nonnegative matrix.
    let horn = DenseMatrix::from_rows(&[
        [1.0, -1.0, 1.0, 1.0, -1.0],
        [-1.0, 1.0, -1.0, 1.0, 1.0],
        [1.0, -1.0, 1.0, -1.0, 1.0],
        [1.0, 1.0, -1.0, 1.0, -1.0],
        [-1.0, 1.0, 1.0, -1.0, 1.0],
    ]);
    assert_eq!(is_copositive(&horn), Finding::Yes);
    assert!(!is_positive_semidefinite(&horn));
    let mut dented = horn.clone();
    dented[(0, 1)] -= 0.01;
    let Finding::No { witness } = is_copositive(&dented) else { panic!("a dent must show") };
    let value: f64 = (0..5).map(|i| witness[i] * (0..5).map(|j| dented[(i, j)] * witness[j]).sum::<f64>()).sum();
    assert!(value < 0.0 && witness.iter().all(|&x| x >= 0.0));
    // Too large for a complete test: a semidefinite matrix is recognised, an edge gives `No`, other matrices are unknown.
    let mut seed = Seed(19);
    let a = seed.matrix(20, 5);
    let semidefinite = product(&a, &transpose(&a));
    assert_eq!(is_copositive(&semidefinite), Finding::Yes);
    let mut edge = semidefinite.clone();
    edge[(3, 17)] -= 100.0;
    let Finding::No { witness } = is_copositive(&edge) else { panic!("an edge must show") };
    assert!(witness.iter().filter(|&&x| x > 0.0).count() <= 2);
    let mut large_horn = DenseMatrix::zeros(20, 20);
    for i in 0..20 {
        for j in 0..20 {
            large_horn[(i, j)] = horn[(i % 5, j % 5)];
        }
    }
    assert_eq!(is_copositive(&large_horn), Finding::Unknown);
}

#[test]
fn the_friction_lcp_is_copositive_for_a_semidefinite_operator() {
    let mut seed = Seed(20);
    for contacts in 1..=2 {
        // Rows (N, D₁…D₄, γ) per contact with W = Jᵀ J of the directions N, D₁…D₄.
        let block = 6;
        let n = block * contacts;
        let jacobian = seed.matrix(4, 3 * contacts);
        let direction = |k: usize| match k % block {
            0 => (0, 1.0),
            1 => (1, 1.0),
            2 => (1, -1.0),
            3 => (2, 1.0),
            _ => (2, -1.0),
        };
        let mut m = DenseMatrix::zeros(n, n);
        for i in 0..n {
            for j in (0..n).filter(|j| i % block < 5 && j % block < 5) {
                let ((a, s), (b, t)) = (direction(i), direction(j));
                let (a, b) = (3 * (i / block) + a, 3 * (j / block) + b);
                m[(i, j)] = s * t * (0..4).map(|k| jacobian[(k, a)] * jacobian[(k, b)]).sum::<f64>();
            }
            if i % block == 5 {
                m[(i, i - 5)] = 0.7;
                for k in 1..5 {
                    m[(i, i - k)] = -1.0;
                    m[(i - k, i)] = 1.0;
                }
            }
        }
        assert_eq!(is_copositive(&m), Finding::Yes, "{contacts} contacts");
        assert!(!matches!(is_p_matrix(&m), Finding::Yes));
    }
}

/// Determinant by elimination with pivoting, for comparison.
fn determinant(m: &DenseMatrix, rows: &[usize]) -> f64 {
    let mut a: Vec<Vec<f64>> = rows.iter().map(|&i| rows.iter().map(|&j| m[(i, j)]).collect()).collect();
    let mut det = 1.0;
    for k in 0..a.len() {
        let pivot = (k..a.len()).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        if pivot != k {
            a.swap(k, pivot);
            det = -det;
        }
        det *= a[k][k];
        if a[k][k] == 0.0 {
            return 0.0;
        }
        for i in k + 1..a.len() {
            let factor = a[i][k] / a[k][k];
            let (upper, lower) = a.split_at_mut(i);
            lower[0].iter_mut().zip(&upper[k]).for_each(|(x, p)| *x -= factor * p);
        }
    }
    det
}

#[test]
fn the_p_property_agrees_with_all_minors() {
    let mut seed = Seed(21);
    let mut counts = [0; 2];
    for trial in 0..200 {
        let n = 1 + trial % 5;
        let mut m = seed.matrix(n, n);
        (0..n).for_each(|i| m[(i, i)] += 0.8);
        let sets = (1..1_usize << n).map(|set| (0..n).filter(|i| set >> i & 1 == 1).collect::<Vec<_>>());
        let expected = sets.into_iter().all(|rows| determinant(&m, &rows) > 0.0);
        match is_p_matrix(&m) {
            Finding::Yes => assert!(expected, "trial {trial}"),
            Finding::No { witness } => {
                let rows: Vec<usize> = (0..n).filter(|&i| witness[i] > 0.0).collect();
                assert!(!expected && determinant(&m, &rows) <= 0.0, "trial {trial}: {rows:?}");
            }
            other => panic!("trial {trial}: {other:?}"),
        }
        counts[usize::from(expected)] += 1;
    }
    assert!(counts[0] > 30 && counts[1] > 30, "{counts:?}");
}

#[test]
fn rays_are_explained_in_words() {
    let explained = |problem: &Lcp| {
        let mut method = LcpLemke::new();
        let _ = method.run(problem, None, &mut LcpSolution::default());
        explain(problem, method.last_failure().unwrap(), method.ray())
    };
    let contradictory = explained(&lcp([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]));
    assert!(contradictory.starts_with("no solution: the rows 0, 1"), "{contradictory}");
    let isolated = explained(&lcp(PANG, [0.0, -1.0, 0.999]));
    assert!(isolated.contains("copositive"), "{isolated}");
    let budget = explain(&Lcp::default(), LemkeFailure::Budget { budget: 7 }, &[]);
    assert!(budget.contains('7'), "{budget}");
}

#[test]
fn a_second_solve_allocates_nothing() {
    let mut seed = Seed(22);
    let problem = symmetric(&mut seed, 9);
    let box_problem = {
        let (lower, upper) = (vec![-0.2; 9], (0..9).map(|i| if i % 2 == 0 { 0.3 } else { f64::INFINITY }).collect());
        BoxLcp::new(problem.m().clone(), problem.q().to_vec(), lower, upper).unwrap()
    };
    for (name, mut method) in methods() {
        let mut solution = LcpSolution::default();
        let cold = method.run(&problem, None, &mut solution);
        let mut warm = None;
        let allocations = count_allocations(|| warm = Some(method.run(&problem, None, &mut solution)));
        assert_eq!((allocations.count, warm), (0, Some(cold)), "{name}");
    }
    let (mut method, mut solution) = (BoxLcpLadder::new(), BoxLcpSolution::default());
    let _ = method.run(&box_problem, None, &mut solution);
    assert_eq!(
        count_allocations(|| {
            let _ = method.run(&box_problem, None, &mut solution);
        })
        .count,
        0
    );
    let (mut method, mut solution) = (NcpNewton::new(), NcpSolution::default());
    let ncp = Ncp::new(&box_problem).unwrap();
    let _ = method.run(&ncp, None, &mut solution);
    assert_eq!(
        count_allocations(|| {
            let _ = method.run(&ncp, None, &mut solution);
        })
        .count,
        0
    );
}
