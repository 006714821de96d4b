//! Local solvers of one block: residuals of random blocks, and cases with known solutions.

#![allow(clippy::disallowed_methods)] // Random test data may differ in the last bit between platforms.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{FrictionProblem, FrictionSolution, Law, LocalMode, Problem, solve_local};
use stiction_testkit::Random;

/// A = Q D Qᵀ with Q a product of reflections and eigenvalues 10^−(0 … decades): symmetric positive definite.
fn random_block(random: &mut Random, n: usize, decades: f64) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    for k in 0..n {
        a[k * (n + 1)] = if k == 0 { 1.0 } else { 10_f64.powf(-decades * random.unit()) };
    }
    for _ in 0..n {
        let w: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let square: f64 = w.iter().map(|w| w * w).sum();
        reflect(&mut a, &w, square, |i, k| i * n + k);
        reflect(&mut a, &w, square, |i, k| k * n + i);
    }
    for i in 0..n {
        for j in 0..i {
            a[j * n + i] = a[i * n + j];
        }
    }
    a
}

/// Every line of `a` (k running) reflected at the plane normal to `w`.
fn reflect(a: &mut [f64], w: &[f64], square: f64, at: impl Fn(usize, usize) -> usize) {
    for i in 0..w.len() {
        let dot: f64 = (0..w.len()).map(|k| a[at(i, k)] * w[k]).sum();
        (0..w.len()).for_each(|k| a[at(i, k)] -= 2.0 * dot / square * w[k]);
    }
}

/// ‖r − P_K(r − û)‖ of one block as measured by the problem, and the size ‖g‖ + ‖A‖ ‖r‖ of the terms.
fn measure(law: Law, a: &[f64], g: &[f64], r: &[f64]) -> (f64, f64) {
    let mut w = BlockMatrix::default();
    w.clear([law.rows()], [law.rows()]);
    w.push(0, a);
    w.finish_row();
    let problem = FrictionProblem::new(w, vec![law], g.to_vec()).unwrap();
    let residual = problem.residual(&FrictionSolution { r: r.to_vec() }).value * problem.scale();
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    (residual, norm(g) + norm(a) * norm(r))
}

fn random_law(random: &mut Random, rows: usize) -> Law {
    let mu = random.uniform(0.0, 2.0);
    if rows >= 5 { Law::Rolling { rows, mu, mu_r: random.uniform(0.0, 1.0) } } else { Law::Cone { rows, mu } }
}

/// Allowed number of 100,000 random blocks above 1e-12, relative to the size ‖g‖ + ‖A‖ ‖r‖ of the terms, by rows.
///
/// With four and five rows there are a few. At condition 1e6 and more the factor A_NN − μ A_NT·e of r_N can cancel, impulses
/// grow to 1e5 ‖g‖ and more, and rounding limits the direction of slip. Relative to ‖g‖ alone the rounding of A r exceeds 1e-12
/// already for ‖A‖ ‖r‖ > 1e4 ‖g‖.
const EXCEPTIONS: [(usize, usize); 5] = [(2, 0), (3, 0), (4, 20), (5, 20), (6, 40)];

/// mu from 0 to 2, condition up to 1e8, a quarter of the blocks slightly unsymmetric.
#[test]
fn random_blocks_are_solved_to_machine_precision() {
    for (rows, exceptions) in EXCEPTIONS {
        let mut random = Random::new(rows as u64);
        let (mut worst, mut above, mut counts) = (0.0_f64, 0, [0; 3]);
        for _ in 0..100_000 {
            let decades = random.uniform(0.0, 8.0);
            let mut a = random_block(&mut random, rows, decades);
            if random.below(4) == 0 {
                let skew = 1e-3 * 10_f64.powf(-decades) * random.unit();
                a[1] += skew;
                a[rows] -= skew;
            }
            let law = random_law(&mut random, rows);
            let g: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
            let mut r = vec![0.0; rows];
            match solve_local(&law, &a, &g, &mut r) {
                LocalMode::Open => counts[0] += 1,
                LocalMode::Stick => counts[1] += 1,
                LocalMode::Slip => counts[2] += 1,
                other => panic!("{law:?} {a:?} {g:?}: {other:?}"),
            }
            let (residual, size) = measure(law, &a, &g, &r);
            worst = worst.max(residual / size);
            above += usize::from(residual > 1e-12 * size);
        }
        println!("{rows} rows: open, stick, slip {counts:?}; worst {worst:.1e}; {above} above 1e-12");
        assert!(above <= exceptions && worst <= 1e-9, "{rows} rows: {above} above 1e-12, worst {worst:e}");
        assert!(counts.iter().all(|count| *count > 1000), "every mode must be met: {counts:?}");
    }
}

/// A = B Bᵀ of rank below its size: redundant directions, as for a particle.
#[test]
fn singular_blocks_are_solved() {
    let mut random = Random::new(4);
    for rows in 2..=5 {
        let mut above = 0;
        for _ in 0..2000 {
            let rank = 1 + random.below(rows - 1);
            let b: Vec<f64> = (0..rows * rank).map(|_| random.normal()).collect();
            let row = |i: usize| &b[i * rank..(i + 1) * rank];
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let a: Vec<f64> = (0..rows * rows).map(|k| dot(row(k / rows), row(k % rows))).collect();
            // Free velocities of bodies: g = B v, so that rest is admissible.
            let v: Vec<f64> = (0..rank).map(|_| random.normal()).collect();
            let g: Vec<f64> = (0..rows).map(|i| dot(row(i), &v)).collect();
            let law = random_law(&mut random, rows);
            let mut r = vec![0.0; rows];
            let _ = solve_local(&law, &a, &g, &mut r);
            let (residual, size) = measure(law, &a, &g, &r);
            above += usize::from(residual > 1e-11 * size);
        }
        println!("{rows} rows, singular: {above} above 1e-11");
        assert!(above == 0, "{rows} rows: {above} of 2000 above 1e-11");
    }
}

#[test]
fn cases_known_by_hand() {
    let space = Law::Cone { rows: 3, mu: 0.5 };
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let solved = |law: &Law, a: &[f64], g: &[f64]| {
        let mut r = vec![0.0; law.rows()];
        (solve_local(law, a, g, &mut r), r)
    };
    assert_eq!(solved(&space, &unit, &[0.0, 3.0, 4.0]), (LocalMode::Open, vec![0.0; 3]));
    assert_eq!(solved(&space, &unit, &[-2.0, 0.6, -0.8]), (LocalMode::Stick, vec![2.0, -0.6, 0.8]));
    let (mode, r) = solved(&space, &unit, &[-2.0, 3.0, -4.0]);
    assert_eq!(mode, LocalMode::Slip);
    assert!((r[0] - 2.0).abs() + (r[1] + 0.6).abs() + (r[2] - 0.8).abs() < 1e-15, "{r:?}");
    let limit = Law::Bounded { lower: 0.0, upper: f64::INFINITY };
    assert_eq!(solved(&limit, &[2.0], &[-3.0]), (LocalMode::Stick, vec![1.5]));
    assert_eq!(solved(&limit, &[2.0], &[3.0]), (LocalMode::Open, vec![0.0]));
    assert_eq!(solved(&limit, &[0.0], &[-1.0]).0, LocalMode::Unsolved);
    let motor = Law::Bounded { lower: -0.5, upper: 0.5 };
    assert_eq!(solved(&motor, &[2.0], &[-3.0]), (LocalMode::Slip, vec![0.5]));
    assert_eq!(
        solved(&Law::Equality { rows: 2 }, &[2.0, 0.0, 0.0, 4.0], &[2.0, 2.0]),
        (LocalMode::Stick, vec![-1.0, -0.5])
    );
    // No impulse can change the velocity of this contact.
    assert_eq!(solved(&space, &[0.0; 9], &[-1.0, 0.0, 0.0]).0, LocalMode::Unsolved);
    assert_eq!(solved(&space, &unit[..4], &[-1.0, 0.0, 0.0]).0, LocalMode::Unsolved);
}
