//! Properties of all frictional problems and methods.
//!
//! Units, order and frames are arbitrary, impulses stay in their cones, friction dissipates as much as possible, and all methods
//! agree if the solution is unique.

use proptest::prelude::*;
use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    Accuracy, Bodies, DenseMatrix, FrictionActiveSet, FrictionAdmm, FrictionInteriorPoint, FrictionLadder,
    FrictionNewton, FrictionNsgs, FrictionNsgsOptions, FrictionProblem, FrictionReference, FrictionSolution, Law,
    MixedLcpLadder, MixedLcpSolution, Operator, PolygonOptions, PolygonalFriction, Problem, Solver, Status, Tolerance,
    solve,
};
use stiction_testkit::Random;
use stiction_testkit::families::blocks;
use stiction_testkit::problems::{Motion, Pile, random, tower};

use crate::fuzz::residual;

/// A problem as dense numbers, so that it can be transformed.
#[derive(Clone, Debug)]
struct Dense {
    laws: Vec<Law>,
    w: DenseMatrix,
    q: Vec<f64>,
}

impl Dense {
    fn problem(&self) -> FrictionProblem {
        FrictionProblem::new(Operator::Assembled(blocks(&self.laws, &self.w)), self.laws.clone(), self.q.clone())
            .unwrap()
    }

    fn rows(&self) -> usize {
        self.q.len()
    }

    fn offsets(&self) -> Vec<usize> {
        let rows = |law: &Law| law.rows();
        self.laws.iter().map(rows).scan(0, |next, rows| Some(std::mem::replace(next, *next + rows))).collect()
    }

    /// u′ = S u and r′ = S⁻¹ r for any regular S with the given transpose-inverse pair of products: W′ = S W Sᵀ, q′ = S q.
    fn transformed(&self, s: &DenseMatrix) -> Self {
        let w = crate::generate::product(&crate::generate::product(s, &self.w), &crate::generate::transpose(s));
        let mut q = vec![0.0; self.rows()];
        s.mul_add_into(&self.q, &mut q);
        Self { laws: self.laws.clone(), w, q }
    }
}

/// Contacts with every law. W = Q D Qᵀ has eigenvalues from 1 to `condition`, and `mu` scales friction.
fn dense(seed: u64, condition: f64, mu: f64) -> Dense {
    let mut random = Random::new(seed);
    let count = 1 + random.below(3);
    let law = |random: &mut Random| match random.below(6) {
        0 => Law::Cone { rows: 2, mu: mu * random.unit() },
        1 => Law::Cone { rows: 4, mu: mu * random.unit() },
        2 => Law::Rolling { rows: 5, mu: 0.6 * mu * random.unit(), mu_r: 0.6 * mu * random.unit() },
        _ => Law::Cone { rows: 3, mu: mu * random.unit() },
    };
    let laws: Vec<Law> = (0..count).map(|_| law(&mut random)).collect();
    let n = laws.iter().map(Law::rows).sum();
    let mut w = DenseMatrix::zeros(n, n);
    for k in 0..n {
        w[(k, k)] = if k == 0 { 1.0 } else { random.uniform(1.0, condition) };
    }
    // Reflections H = I − 2 v vᵀ keep the eigenvalues.
    for _ in 0..n {
        let v: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let square: f64 = v.iter().map(|v| v * v).sum();
        let mut h = DenseMatrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                h[(i, j)] = f64::from(u8::from(i == j)) - 2.0 * v[i] * v[j] / square;
            }
        }
        w = crate::generate::product(&crate::generate::product(&h, &w), &h);
    }
    let q = (0..n).map(|_| random.normal()).collect();
    Dense { laws, w, q }
}

fn velocities(problem: &FrictionProblem, r: &[f64]) -> Vec<f64> {
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(r, &mut u, &mut state);
    u
}

fn tight() -> FrictionNsgs {
    let options = FrictionNsgsOptions { tolerance: 1e-13, max_iterations: 50_000, ..FrictionNsgsOptions::default() };
    FrictionNsgs::with_options(options).unwrap()
}

/// A solution to 1e-12, by Gauss-Seidel, or by Newton's method from its last iterate if it stalls.
fn solved(problem: &FrictionProblem, guess: Option<&FrictionSolution>) -> FrictionSolution {
    let mut solution = FrictionSolution::default();
    let tolerance = Tolerance { solved: 1e-12, loose: 1e-9 };
    let outcome = solve(&mut tight(), problem, guess, &mut solution, &tolerance);
    if outcome.status == Status::Solved {
        return solution;
    }
    let mut polished = FrictionSolution::default();
    let outcome = solve(&mut FrictionNewton::new(), problem, Some(&solution), &mut polished, &tolerance);
    assert_eq!(outcome.status, Status::Solved, "{:?}", outcome.residual);
    polished
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()))
}

fn methods() -> Vec<(&'static str, Box<dyn Solver<FrictionProblem>>)> {
    vec![
        ("nsgs", Box::new(FrictionNsgs::new())),
        ("newton", Box::new(FrictionNewton::new())),
        ("interior point", Box::new(FrictionInteriorPoint::new())),
        ("admm", Box::new(FrictionAdmm::new())),
        ("active set", Box::new(FrictionActiveSet::new())),
        ("ladder", Box::new(FrictionLadder::new(Accuracy::Exact))),
        ("reference", Box::new(FrictionReference::default())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Kilograms, metres and seconds are arbitrary: mass and speed multiply W and q, a length the rows of moments.
    #[test]
    fn units_are_arbitrary(seed in 0_u64..100_000, mass in -2.0..2.0_f64, speed in -2.0..2.0_f64, length in -1.0..1.0_f64) {
        let (mass, speed, length) = (libm::exp10(mass), libm::exp10(speed), libm::exp10(length));
        let original = dense(seed, 3.0, 0.3);
        let problem = original.problem();
        let r = solved(&problem, None).r;
        let mut s = DenseMatrix::zeros(original.rows(), original.rows());
        let mut scaled = original.clone();
        for (law, start) in scaled.laws.iter_mut().zip(original.offsets()) {
            for k in 0..law.rows() {
                let moment = matches!(law, Law::Rolling { .. }) && k >= 3;
                s[(start + k, start + k)] = if moment { length } else { 1.0 };
            }
            if let Law::Rolling { mu_r, .. } = law {
                *mu_r /= length;
            }
        }
        let turned = Dense { laws: scaled.laws, ..original.transformed(&s) };
        let mut other = turned.clone();
        for row in 0..other.rows() {
            other.w.row_mut(row).iter_mut().for_each(|w| *w /= mass);
            other.q[row] *= speed;
        }
        let other_problem = other.problem();
        let moved: Vec<f64> = (0..r.len()).map(|k| r[k] / s[(k, k)] * mass * speed).collect();
        // The solution converted to other units solves the converted problem, and the method finds the same motion.
        prop_assert!(residual::friction(&other_problem, &moved).residual <= 1e-9);
        let u: Vec<f64> = velocities(&problem, &r).iter().enumerate().map(|(k, u)| u * s[(k, k)] * speed).collect();
        let found = velocities(&other_problem, &solved(&other_problem, None).r);
        prop_assert!(difference(&u, &found) <= 1e-8 * speed * (1.0 + length));
    }

    #[test]
    fn the_order_of_contacts_is_arbitrary(seed in 0_u64..100_000) {
        let original = dense(seed, 3.0, 0.3);
        let problem = original.problem();
        let r = solved(&problem, None).r;
        let mut random = Random::new(seed);
        let mut order: Vec<usize> = (0..original.laws.len()).collect();
        (1..order.len()).rev().for_each(|k| order.swap(k, random.below(k + 1)));
        let offsets = original.offsets();
        let rows: Vec<usize> =
            order.iter().flat_map(|&block| offsets[block]..offsets[block] + original.laws[block].rows()).collect();
        let mut w = DenseMatrix::zeros(rows.len(), rows.len());
        for (i, &from) in rows.iter().enumerate() {
            rows.iter().enumerate().for_each(|(j, &to)| w[(i, j)] = original.w[(from, to)]);
        }
        let pick = |x: &[f64]| rows.iter().map(|&k| x[k]).collect::<Vec<f64>>();
        let laws = order.iter().map(|&block| original.laws[block]).collect();
        let permuted = Dense { laws, w, q: pick(&original.q) }.problem();
        prop_assert!(residual::friction(&permuted, &pick(&r)).residual <= 1e-11);
        let found = velocities(&permuted, &solved(&permuted, None).r);
        prop_assert!(difference(&pick(&velocities(&problem, &r)), &found) <= 1e-9);
    }

    #[test]
    fn the_order_of_bodies_is_arbitrary(seed in 0_u64..100_000) {
        let pile = random(3, 7, seed);
        let mut numbers = Random::new(seed);
        let mut places: Vec<usize> = (0..pile.bricks.len()).collect();
        (1..places.len()).rev().for_each(|k| places.swap(k, numbers.below(k + 1)));
        let mut other = pile.clone();
        places.iter().zip(&pile.bricks).for_each(|(&place, brick)| other.bricks[place] = *brick);
        for touch in &mut other.touches {
            touch.a = touch.a.map(|body| places[body]);
            touch.b = touch.b.map(|body| places[body]);
        }
        let (first, second) = (softened(&pile), softened(&other));
        let r = solved(&first, None);
        // Rest under gravity: the free velocities do not depend on the order.
        prop_assert!(difference(first.q(), second.q()) <= 1e-15);
        prop_assert!(residual::friction(&second, &r.r).residual <= 1e-11);
        prop_assert!(difference(&velocities(&first, &r.r), &velocities(&second, &r.r)) <= 1e-12);
        let _ = solved(&second, None);
    }

    #[test]
    fn tangent_frames_are_arbitrary(seed in 0_u64..100_000, angle in 0.0..6.3_f64) {
        let original = dense(seed, 3.0, 0.3);
        let problem = original.problem();
        let r = solved(&problem, None).r;
        let (sin, cos) = libm::sincos(angle);
        let mut s = DenseMatrix::zeros(original.rows(), original.rows());
        (0..original.rows()).for_each(|k| s[(k, k)] = 1.0);
        for (law, start) in original.laws.iter().zip(original.offsets()) {
            let pairs: &[usize] = match law {
                Law::Cone { rows: 3, .. } => &[1],
                Law::Rolling { .. } => &[1, 3],
                _ => &[],
            };
            for k in pairs.iter().map(|k| start + k) {
                (s[(k, k)], s[(k, k + 1)], s[(k + 1, k)], s[(k + 1, k + 1)]) = (cos, sin, -sin, cos);
            }
        }
        let turned = original.transformed(&s).problem();
        let rotated = |x: &[f64]| {
            let mut y = vec![0.0; x.len()];
            s.mul_add_into(x, &mut y);
            y
        };
        prop_assert!(residual::friction(&turned, &rotated(&r)).residual <= 1e-11);
        let found = velocities(&turned, &solved(&turned, None).r);
        prop_assert!(difference(&rotated(&velocities(&problem, &r)), &found) <= 1e-9);
    }

    /// Every method: P_K(r − û) lies in K, so a small residual bounds the distance from K; and FRI-9, no admissible friction
    /// impulse dissipates more.
    #[test]
    fn impulses_stay_in_their_cones_and_dissipate_most(seed in 0_u64..100_000) {
        let mut problem = dense(seed, 30.0, 1.2).problem();
        if seed % 3 == 0 {
            problem = random(2, 5, seed).problem(Motion::Kick { speed: 1.0, seed });
        }
        let mut numbers = Random::new(seed);
        for (name, mut method) in methods() {
            let mut solution = FrictionSolution::default();
            let tolerance = Tolerance { solved: 1e-9, loose: 1e-6 };
            let outcome = solve(&mut *method, &problem, None, &mut solution, &tolerance);
            if outcome.status != Status::Solved {
                continue;
            }
            let slack = outcome.residual.value * problem.scale() + 1e-14;
            let u = velocities(&problem, &solution.r);
            for (block, law) in problem.laws().iter().enumerate() {
                let (r, u) = (&solution.r[problem.range(block)], &u[problem.range(block)]);
                let parts: &[(usize, usize, f64)] = match *law {
                    Law::Cone { rows, mu } => &[(1, rows, mu)],
                    Law::Rolling { mu, mu_r, .. } => &[(1, 3, mu), (3, 5, mu_r)],
                    _ => &[],
                };
                for &(from, to, mu) in parts {
                    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                    prop_assert!(r[0] >= -slack, "{name}");
                    prop_assert!(norm(&r[from..to]) <= mu * r[0] + (1.0 + mu) * slack, "{name}");
                    let power = |t: &[f64]| t.iter().zip(&u[from..to]).map(|(t, u)| t * u).sum::<f64>();
                    let best = power(&r[from..to]);
                    // With e = r − P(r − û) of length s: u·t ≥ u·r_T − s (2 μ (r_N + s) + (1 + μ) ‖u_T‖) for all ‖t‖ ≤ μ r_N.
                    let speed = norm(&u[from..to]);
                    let allowed = slack * (2.0 * mu * (r[0].abs() + slack) + (1.0 + mu) * speed)
                        + 1e-14 * mu * r[0].abs() * speed;
                    for _ in 0..20 {
                        let direction: Vec<f64> = (from..to).map(|_| numbers.normal()).collect();
                        let reach = mu * r[0].max(0.0) * numbers.unit() / norm(&direction);
                        let other: Vec<f64> = direction.iter().map(|d| d * reach).collect();
                        prop_assert!(power(&other) >= best - allowed, "{name}: FRI-9");
                    }
                }
            }
        }
    }

    /// μ cond(W) < 1: the fixed point of the De Saxcé correction contracts, so the solution is unique, and every method and every
    /// start finds it.   [CONE-23]
    #[test]
    fn weak_friction_on_stiff_contacts_has_one_solution(seed in 0_u64..100_000, size in -3.0..2.0_f64) {
        let problem = dense(seed, 3.0, 0.3).problem();
        let cold = solved(&problem, None);
        let mut numbers = Random::new(seed);
        let size = libm::exp10(size);
        let guess = FrictionSolution { r: (0..problem.rows()).map(|_| numbers.uniform(-size, size)).collect() };
        prop_assert!(difference(&cold.r, &solved(&problem, Some(&guess)).r) <= 1e-10);
        for (name, mut method) in methods() {
            let mut solution = FrictionSolution::default();
            let tolerance = Tolerance { solved: 1e-8, loose: 1e-6 };
            if solve(&mut *method, &problem, Some(&guess), &mut solution, &tolerance).status == Status::Solved {
                prop_assert!(difference(&cold.r, &solution.r) <= 1e-6, "{name}");
            }
        }
    }

    /// Without friction the problem is a strictly convex program: one solution, whatever the condition.
    #[test]
    fn without_friction_there_is_one_solution(seed in 0_u64..100_000, condition in 1.0..100.0_f64) {
        let problem = dense(seed, condition, 0.0).problem();
        let cold = solved(&problem, None);
        let mut numbers = Random::new(seed);
        let guess = FrictionSolution { r: (0..problem.rows()).map(|_| numbers.normal()).collect() };
        prop_assert!(difference(&cold.r, &solved(&problem, Some(&guess)).r) <= 1e-9);
    }
}

fn softened(pile: &Pile) -> FrictionProblem {
    let problem = pile.problem(Motion::Rest);
    let rows = problem.rows();
    problem.with_compliance(vec![10.0; rows]).unwrap()
}

/// C-33(c): a box on a plane with four contacts. The impulses are not unique and differ between methods. The velocities are the
/// same for all methods, with the second-order cone and with a polygon.
#[test]
fn a_box_at_rest_moves_the_same_by_every_method() {
    let problem = tower(1, 0.5).problem(Motion::Rest);
    let mut answers: Vec<(&str, Vec<f64>)> = Vec::new();
    for (name, mut method) in methods() {
        let mut solution = FrictionSolution::default();
        let tolerance = Tolerance { solved: 1e-8, loose: 1e-6 };
        assert_eq!(solve(&mut *method, &problem, None, &mut solution, &tolerance).status, Status::Solved, "{name}");
        answers.push((name, solution.r));
    }
    let leaning = FrictionSolution { r: [[0.04, 0.0, 0.0], [0.0; 3], [0.0; 3], [0.04, 0.0, 0.0]].concat() };
    answers.push(("nsgs, warm", solved(&problem, Some(&leaning)).r));
    for directions in [3, 4, 8, 13] {
        let mut options = PolygonOptions::default();
        options.directions = directions;
        let polygonal = PolygonalFriction::new(&problem, &options).unwrap();
        let mut solution = MixedLcpSolution::default();
        let mut ladder = MixedLcpLadder::new();
        let outcome = solve(&mut ladder, polygonal.problem(), None, &mut solution, &Tolerance::default());
        assert_eq!(outcome.status, Status::Solved, "{directions} directions");
        answers.push(("polygon", polygonal.recover(&solution).r));
    }
    let first = velocities(&problem, &answers[0].1);
    let mut spread = 0.0_f64;
    for (name, r) in &answers {
        let u = velocities(&problem, r);
        assert!(difference(&u, &first) <= 1e-9, "{name}: {:e}", difference(&u, &first));
        assert!(u.iter().all(|u| u.abs() <= 1e-9), "{name}: the box moves");
        spread = spread.max(difference(r, &answers[0].1));
    }
    assert!(spread > 1e-3, "the impulses were meant to differ, not by {spread:e}");
}

/// A rod that rotates about the vertical through its middle, on three contacts in a line: at its ends and in the middle.
/// Any part a of the load m v at each end and m v − 2 a in the middle stops the fall, and only the ends brake the rotation:
/// ω = ω₀ − 2 μ a / I. Every 0 ≤ a ≤ m v/2 is an exact solution of the rigid problem, each with another motion.   [CONE-24]
#[test]
fn a_spinning_rod_has_many_motions() {
    let (fall, spin, mu) = (0.1, 2.0, 0.5);
    let (mass, inertia) = (1.0, 0.25);
    let mut jacobian = BlockMatrix::default();
    jacobian.clear([3; 3], [6]);
    let mut q = Vec::new();
    for x in [-1.0, 0.0, 1.0] {
        // Rows (N, T₁, T₂) = (z, x, y) on (v, ω), at the point (x, 0, 0).
        jacobian.push(0, &[0., 0., 1., 0., -x, 0., 1., 0., 0., 0., 0., 0., 0., 1., 0., 0., 0., x]);
        jacobian.finish_row();
        q.extend([-fall, 0.0, spin * x]);
    }
    let mut block = vec![0.0; 36];
    (0..6).for_each(|k| block[7 * k] = if k < 3 { mass } else { inertia });
    let bodies = Bodies::new(jacobian, block).unwrap();
    let problem = FrictionProblem::new(Operator::MatrixFree(bodies), vec![Law::Cone { rows: 3, mu }; 3], q).unwrap();
    let load = mass * fall;
    let end_speed = |r: &[f64]| velocities(&problem, r)[8];
    for share in [0.0, 0.1, 0.25, 0.4, 0.5] {
        let a = share * load;
        let r = vec![a, 0.0, mu * a, load - 2.0 * a, 0.0, 0.0, a, 0.0, -mu * a];
        assert!(residual::friction(&problem, &r).residual <= 1e-15, "{share}");
        assert!(problem.residual(&FrictionSolution { r: r.clone() }).value <= 1e-15, "{share}");
        assert!((end_speed(&r) - (spin - 2.0 * mu * a / inertia)).abs() <= 1e-15, "{share}");
        // A method started there keeps the solution.
        let kept = solved(&problem, Some(&FrictionSolution { r: r.clone() }));
        assert!(difference(&kept.r, &r) <= 1e-15, "{share}");
    }
    // Every method finds a member of the family.
    let braking = 2.0 * mu * 0.5 * load / inertia;
    for (name, mut method) in methods() {
        let mut solution = FrictionSolution::default();
        let tolerance = Tolerance { solved: 1e-8, loose: 1e-6 };
        assert_eq!(solve(&mut *method, &problem, None, &mut solution, &tolerance).status, Status::Solved, "{name}");
        let speed = end_speed(&solution.r);
        println!("{name}: the ends move at {speed}");
        assert!(speed <= spin + 1e-7 && speed >= spin - braking - 1e-7, "{name}: {speed}");
    }
}
