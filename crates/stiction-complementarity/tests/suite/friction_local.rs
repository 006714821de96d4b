//! One block alone: random blocks measured by the problem's own ruler, and cases known by hand.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{FrictionProblem, FrictionSolution, Law, Problem, Regime, solve_local};
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

/// ‖r − P_K(r − û)‖ of one block by the problem's ruler, and the size ‖g‖ + ‖A‖ ‖r‖ of the numbers it is computed from.
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
    if rows == 5 { Law::Rolling { mu, mu_r: random.uniform(0.0, 1.0) } } else { Law::Cone { rows, mu } }
}

/// 100,000 random blocks of each kind, condition up to 1e8: none may miss 1e-12 of the numbers in play.
#[test]
fn random_blocks_are_solved_to_machine_precision() {
    for rows in [2, 3, 4, 5] {
        let mut random = Random::new(rows as u64);
        let mut bad = 0;
        let (mut worst, mut above, mut above_g, mut counts) = (0.0_f64, 0, 0, [0; 3]);
        for _ in 0..100_000 {
            let decades = random.uniform(0.0, 8.0);
            let mut a = random_block(&mut random, rows, decades);
            if random.below(4) == 0 {
                // A skew part, as the files of other programs have.
                let skew = 1e-3 * 10_f64.powf(-decades) * random.unit();
                a[1] += skew;
                a[rows] -= skew;
            }
            let law = random_law(&mut random, rows);
            let g: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
            let mut r = vec![0.0; rows];
            let regime = solve_local(&law, &a, &g, &mut r);
            counts[match regime {
                Regime::Open => 0,
                Regime::Stick => 1,
                _ => 2,
            }] += 1;
            let (residual, size) = measure(law, &a, &g, &r);
            let free = g.iter().map(|g| g * g).sum::<f64>().sqrt();
            worst = worst.max(residual / size);
            bad += usize::from(residual > 1e-9 * size);
            above += usize::from(residual > 1e-12 * size);
            above_g += usize::from(residual > 1e-12 * free);
            if residual > 1e-12 * size && above < 3 {
                println!(
                    "rows {rows}: {law:?} {regime:?} decades {decades:.2}: {:.2e}\n  a={a:?}\n  g={g:?}\n r={r:?}",
                    residual / size
                );
            }
        }
        println!(
            "{rows} rows: open/stick/slip {counts:?}, worst {worst:.1e}, {bad} above 1e-9; {above} above 1e-12 of |g|+|A||r|, {above_g} above 1e-12 of |g|"
        );
    }
}

#[test]
fn timing() {
    for rows in [2, 3, 4, 5] {
        let mut random = Random::new(99);
        let blocks: Vec<_> = (0..1000)
            .map(|_| {
                let a = random_block(&mut random, rows, 1.0);
                let law = random_law(&mut random, rows);
                let mut g: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
                g[0] = -g[0].abs();
                (law, a, g)
            })
            .collect();
        let mut r = vec![0.0; rows];
        for wanted in [Regime::Stick, Regime::Slip] {
            let chosen: Vec<_> = blocks.iter().filter(|(l, a, g)| solve_local(l, a, g, &mut r) == wanted).collect();
            let start = std::time::Instant::now();
            for _ in 0..100 {
                for (l, a, g) in &chosen {
                    solve_local(l, a, g, &mut r);
                }
            }
            println!("{rows} {wanted:?} {} {:?}", chosen.len(), start.elapsed() / (100 * chosen.len().max(1)) as u32);
        }
    }
}
