//! SOL-8: matrix classes for the uniqueness of w and for rays, compared with enumeration of all solutions.

use crate::generate::{Seed, p_matrix, product, transpose};
use stiction_complementarity::{
    DenseMatrix, Finding, Lcp, LcpEnumeration, LcpSolution, Problem, is_copositive_plus, is_positive_semidefinite,
    is_w_unique,
};

/// q = (M z)⁺ − M z⁺ has the solutions z⁺ and z⁻ when z_i (M z)_i ≤ 0.
fn two_solutions(m: &DenseMatrix, z: &[f64]) -> (Lcp, [LcpSolution; 2]) {
    let part = |sign: f64| z.iter().map(|z| (sign * z).max(0.0)).collect::<Vec<f64>>();
    let (plus, minus) = (part(1.0), part(-1.0));
    let image = |x: &[f64]| {
        let mut y = vec![0.0; x.len()];
        m.mul_add_into(x, &mut y);
        y
    };
    let q = image(z).iter().zip(image(&plus)).map(|(mz, m_plus)| mz.max(0.0) - m_plus).collect();
    (Lcp::new(m.clone(), q).unwrap(), [plus, minus].map(|z| LcpSolution { z }))
}

/// Largest difference of w between two solutions, relative to the terms of w.
fn spread(problem: &Lcp, solutions: &[LcpSolution]) -> f64 {
    let w = |solution: &LcpSolution| (0..problem.size()).map(|i| problem.w(i, &solution.z)).collect::<Vec<f64>>();
    let all: Vec<Vec<f64>> = solutions.iter().map(w).collect();
    let terms = |z: &[f64], i: usize| problem.m().row(i).iter().zip(z).map(|(m, z)| (m * z).abs()).sum::<f64>();
    let sizes = solutions.iter().flat_map(|solution| (0..problem.size()).map(move |i| terms(&solution.z, i)));
    let size = sizes.chain(problem.q().iter().map(|q| q.abs())).fold(1e-300, f64::max);
    let difference =
        |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    all.iter().flat_map(|a| all.iter().map(move |b| difference(a, b))).fold(0.0, f64::max) / size
}

/// Random matrices of many kinds: `No` is verified by a problem with two solutions, `Yes` by problems with degenerate
/// solutions, all of which enumeration finds.
#[test]
fn uniqueness_of_w_agrees_with_enumeration() {
    let mut seed = Seed(31);
    let (mut yes, mut no, mut tried) = (0, 0, 0);
    for trial in 0..600 {
        let n = 1 + seed.below(4);
        let m = match trial % 4 {
            0 => seed.integers(n, n),
            1 => p_matrix(&mut seed, n),
            2 => {
                let rank = 1 + seed.below(n);
                let b = seed.integers(n, rank);
                product(&b, &transpose(&b))
            }
            // Rank below n and not symmetric: a P-matrix between two thin factors.
            _ => {
                let rank = 1 + seed.below(n);
                let (b, p) = (seed.integers(n, rank), p_matrix(&mut seed, rank));
                product(&product(&b, &p), &transpose(&b))
            }
        };
        match is_w_unique(&m) {
            Finding::No { witness } => {
                no += 1;
                let (problem, solutions) = two_solutions(&m, &witness);
                for solution in &solutions {
                    assert!(problem.residual(solution).value <= 1e-9, "trial {trial}: {witness:?} is no witness");
                }
                assert!(spread(&problem, &solutions) > 1e-9, "trial {trial}: w is the same");
            }
            Finding::Yes => {
                yes += 1;
                for _ in 0..20 {
                    // Solutions with zeros in both z and w make further solutions likely.
                    let z: Vec<f64> = (0..n).map(|_| seed.below(3) as f64).collect();
                    let mut q = vec![0.0; n];
                    m.mul_add_into(&z, &mut q);
                    let q = q.iter().zip(&z).map(|(mz, z)| if *z > 0.0 { -mz } else { seed.below(2) as f64 - mz });
                    let problem = Lcp::new(m.clone(), q.collect()).unwrap();
                    let all = LcpEnumeration::new().all(&problem).unwrap();
                    tried += usize::from(all.solutions.len() > 1);
                    let mut solutions = all.solutions;
                    solutions.push(LcpSolution { z });
                    assert!(spread(&problem, &solutions) <= 1e-8, "trial {trial}: w is not unique");
                }
            }
            _ => {}
        }
    }
    println!("unique {yes}, not {no}, problems with several solutions {tried}");
    assert!(yes > 100 && no > 100 && tried > 100, "{yes} {no} {tried}");
}

#[test]
fn matrices_known_by_hand() {
    let matrix = |rows: [[f64; 2]; 2]| DenseMatrix::from_rows(&rows);
    assert_eq!(is_w_unique(&matrix([[1.0, 1.0], [1.0, 1.0]])), Finding::Yes);
    assert_eq!(is_w_unique(&matrix([[0.0, 0.0], [0.0, 0.0]])), Finding::Yes);
    // Skew: positive semidefinite, hence copositive-plus, yet w is not unique.
    let skew = matrix([[0.0, 1.0], [-1.0, 0.0]]);
    assert_eq!(is_copositive_plus(&skew), Finding::Yes);
    assert!(matches!(is_w_unique(&skew), Finding::No { .. }));
    // xᵀ M x = 2 x₁ x₂ ≥ 0 vanishes at e₁, where (M + Mᵀ) e₁ is not zero.
    let crossed = matrix([[0.0, 1.0], [1.0, 0.0]]);
    assert!(matches!(is_copositive_plus(&crossed), Finding::No { .. }));
    assert!(matches!(is_copositive_plus(&matrix([[-1.0, 0.0], [0.0, 1.0]])), Finding::No { .. }));
    // Copositive-plus without being positive semidefinite.
    let positive = matrix([[1.0, 3.0], [3.0, 1.0]]);
    assert!(!is_positive_semidefinite(&positive));
    assert_eq!(is_copositive_plus(&positive), Finding::Yes);
    assert!(matches!(is_w_unique(&positive), Finding::No { .. }));
    // A minor of 1e-11 is neither clearly zero nor clearly nonzero.
    assert_eq!(is_w_unique(&matrix([[1.0, 1.0], [1.0 - 1e-11, 1.0]])), Finding::Unknown);
    // Too large to examine every face.
    let mut large = DenseMatrix::zeros(20, 20);
    (0..20).for_each(|k| large[(k, k)] = 1.0);
    assert_eq!((is_w_unique(&large), is_copositive_plus(&large)), (Finding::Yes, Finding::Yes));
    large[(3, 3)] = -1.0;
    assert!(matches!(is_w_unique(&large), Finding::No { .. }));
}

/// Zeros of random copositive matrices on a grid of the simplex: `Yes` implies (M + Mᵀ) u = 0 at all of them.
#[test]
fn copositive_plus_agrees_with_a_grid() {
    let mut seed = Seed(32);
    let (mut yes, mut no) = (0, 0);
    for trial in 0..400 {
        let n = 2 + seed.below(2);
        // Small entries make zeros at grid points common.
        let data = (0..n * n).map(|_| seed.below(4) as f64 - 1.0).collect();
        let m = DenseMatrix::from_row_major(n, n, data).unwrap();
        let quadratic =
            |u: &[f64]| -> f64 { (0..n).map(|i| u[i] * m.row(i).iter().zip(u).map(|(m, u)| m * u).sum::<f64>()).sum() };
        let gradient = |u: &[f64]| -> f64 {
            let entry = |i: usize| (0..n).map(|j| (m[(i, j)] + m[(j, i)]) * u[j]).sum::<f64>().abs();
            (0..n).map(entry).fold(0.0, f64::max)
        };
        match is_copositive_plus(&m) {
            Finding::Yes => {
                yes += 1;
                for point in 1..7_usize.pow(n as u32) {
                    let u: Vec<f64> = (0..n).map(|k| (point / 7_usize.pow(k as u32) % 7) as f64).collect();
                    assert!(quadratic(&u) >= 0.0, "trial {trial}: not copositive at {u:?}");
                    assert!(quadratic(&u) > 0.0 || gradient(&u) == 0.0, "trial {trial}: not plus at {u:?}");
                }
            }
            Finding::No { witness } => {
                no += 1;
                assert!(witness.iter().all(|u| *u >= 0.0), "trial {trial}");
                let value = quadratic(&witness);
                assert!(value < -1e-12 || value < 1e-12 && gradient(&witness) > 1e-9, "trial {trial}: {witness:?}");
            }
            other => panic!("trial {trial}: {other:?}"),
        }
    }
    assert!(yes > 20 && no > 20, "{yes} {no}");
}
