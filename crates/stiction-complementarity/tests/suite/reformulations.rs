//! Reformulations: polygons, Fritz-John, elimination, scalings, singular equalities.

#![allow(clippy::disallowed_methods)] // The standard library's sine is the independent witness of the directions.

use crate::generate::{Seed, distance, inverse, lemke, mixed, p_matrix, product, transpose};
use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    DenseMatrix, FrictionProblem, FrictionSolution, FritzJohn, Law, LcpSolution, MixedLcpLadder, MixedLcpPivoting,
    MixedLcpSolution, Ncp, NcpNewton, NcpSolution, PivotingFailure, PolygonOptions, PolygonalFriction, Problem,
    ProblemError, ScaledLcp, Solver, Status, Tolerance, eliminate_free, regularise_diagonal, solve,
};

/// A random frictional problem with W = A Aᵀ + I / 5.
fn random_friction(seed: &mut Seed, laws: &[Law]) -> FrictionProblem<BlockMatrix> {
    let n: usize = laws.iter().map(Law::rows).sum();
    let a = seed.matrix(n, n);
    let mut w = product(&a, &transpose(&a));
    (0..n).for_each(|i| w[(i, i)] += 0.2);
    let mut q = seed.vector(n);
    let mut first = 0;
    for law in laws {
        // Most contacts are approaching.
        if matches!(law, Law::Cone { .. } | Law::Rolling { .. }) {
            q[first] = -q[first].abs();
        }
        first += law.rows();
    }
    friction(laws, &w, q)
}

fn friction(laws: &[Law], w: &DenseMatrix, q: Vec<f64>) -> FrictionProblem<BlockMatrix> {
    let sizes = || laws.iter().map(Law::rows);
    let offsets: Vec<usize> = sizes().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size))).collect();
    let mut blocks = BlockMatrix::default();
    blocks.clear(sizes(), sizes());
    for (i, rows) in offsets.iter().zip(sizes()) {
        for (block, (j, cols)) in offsets.iter().zip(sizes()).enumerate() {
            let entries: Vec<f64> =
                (*i..i + rows).flat_map(|r| (*j..j + cols).map(move |c| (r, c))).map(|place| w[place]).collect();
            blocks.push(block, &entries);
        }
        blocks.finish_row();
    }
    FrictionProblem::new(blocks, laws.to_vec(), q).unwrap()
}

fn solve_polygon(polygonal: &PolygonalFriction) -> FrictionSolution {
    let mut solution = MixedLcpSolution::default();
    let problem = polygonal.problem();
    let outcome = solve(&mut MixedLcpLadder::new(), problem, None, &mut solution, &Tolerance::default());
    assert_eq!(outcome.status, Status::Solved, "{:?}", outcome.residual);
    polygonal.recover(&solution)
}

#[test]
fn in_the_plane_the_polygon_is_the_cone() {
    let mut seed = Seed(31);
    let laws = [
        Law::Cone { rows: 2, mu: 0.4 },
        Law::Equality { rows: 2 },
        Law::Bounded { lower: -0.3, upper: 0.2 },
        Law::Cone { rows: 2, mu: 1.1 },
        Law::Bounded { lower: 0.0, upper: f64::INFINITY },
        Law::Bounded { lower: f64::NEG_INFINITY, upper: 0.1 },
        Law::Bounded { lower: 0.05, upper: 0.05 },
    ];
    for trial in 0..50 {
        let problem = random_friction(&mut seed, &laws);
        let polygonal = PolygonalFriction::new(&problem, &PolygonOptions::default()).unwrap();
        let r = solve_polygon(&polygonal);
        let residual = problem.residual(&r).value;
        assert!(residual < 1e-11, "trial {trial}: {residual:e}");
    }
}

#[test]
fn more_directions_come_nearer_to_the_cone_and_never_leave_it() {
    let mut seed = Seed(32);
    let laws = [Law::Cone { rows: 3, mu: 0.5 }, Law::Cone { rows: 3, mu: 0.3 }, Law::Equality { rows: 1 }];
    let mut errors = [0.0; 3];
    for trial in 0..30 {
        let problem = random_friction(&mut seed, &laws);
        for (error, directions) in errors.iter_mut().zip([4, 16, 64]) {
            let mut options = PolygonOptions::default();
            (options.directions, options.first_angle, options.rotation) = (directions, 0.3, 0.1);
            let r = solve_polygon(&PolygonalFriction::new(&problem, &options).unwrap());
            for (first, mu) in [(0, 0.5), (3, 0.3)] {
                let tangential = r.r[first + 1].hypot(r.r[first + 2]);
                assert!(tangential <= mu * r.r[first] + 1e-12, "trial {trial}, {directions} directions");
            }
            *error += problem.residual(&r).value;
        }
    }
    assert!(errors[1] < 0.3 * errors[0] && errors[2] < 0.3 * errors[1] && errors[2] > 0.0, "{errors:?}");
}

#[test]
fn a_sliding_point_feels_the_nearest_direction() {
    // Unit mass, unit normal load, slip along the first direction: friction is exactly −μ along it.
    let mut identity = DenseMatrix::zeros(3, 3);
    (0..3).for_each(|i| identity[(i, i)] = 1.0);
    let mut options = PolygonOptions::default();
    options.directions = 5;
    for angle in [0.0, 0.4, 2.0] {
        options.first_angle = angle;
        let q = vec![-1.0, -3.0 * f64::cos(angle), -3.0 * f64::sin(angle)];
        let problem = friction(&[Law::Cone { rows: 3, mu: 0.5 }], &identity, q);
        let r = solve_polygon(&PolygonalFriction::new(&problem, &options).unwrap());
        assert!(distance(&r.r, &[1.0, 0.5 * angle.cos(), 0.5 * angle.sin()]) < 1e-14, "{:?}", r.r);
    }
    let torsion = friction(&[Law::Cone { rows: 4, mu: 0.1 }], &p_matrix(&mut Seed(1), 4), vec![0.0; 4]);
    assert!(matches!(PolygonalFriction::new(&torsion, &options), Err(ProblemError::BadLaw { block: 0, .. })));
}

fn solve_fritz_john(function: &FritzJohn) -> (Status, NcpSolution) {
    let mut solution = NcpSolution::default();
    let problem = Ncp::new(function).unwrap();
    let tolerance = Tolerance { solved: 1e-10, loose: 1e-7 };
    let status = solve(&mut NcpNewton::new(), &problem, Some(&function.start()), &mut solution, &tolerance).status;
    (status, solution)
}

#[test]
fn the_fritz_john_form_has_the_solutions_of_the_cone() {
    let mut seed = Seed(33);
    let cases: [&[Law]; 5] = [
        &[Law::Cone { rows: 3, mu: 0.4 }],
        &[Law::Cone { rows: 2, mu: 0.7 }, Law::Cone { rows: 2, mu: 0.2 }],
        &[Law::Cone { rows: 3, mu: 0.4 }, Law::Equality { rows: 2 }, Law::Bounded { lower: -0.1, upper: 0.1 }],
        &[Law::Cone { rows: 3, mu: 0.3 }, Law::Cone { rows: 3, mu: 0.9 }],
        &[Law::Rolling { rows: 5, mu: 0.5, mu_r: 0.2 }],
    ];
    let (mut solved, mut tried) = (0, 0);
    for laws in cases {
        for _ in 0..20 {
            let problem = random_friction(&mut seed, laws);
            let function = FritzJohn::new(&problem).unwrap();
            let (status, solution) = solve_fritz_john(&function);
            tried += 1;
            if status != Status::Solved {
                continue;
            }
            solved += 1;
            let r = function.recover(&solution);
            let residual = problem.residual(&r).value;
            // The form squares impulses: 1e-10 of it is 1e-5 of an impulse near zero.
            assert!(residual < 1e-4, "{laws:?}: {residual:e}");
        }
    }
    println!("Fritz-John: {solved} of {tried} solved");
    assert!(solved * 100 >= 95 * tried, "{solved} of {tried}");
}

#[test]
fn sigma_is_the_slip_speed_in_the_metric_of_the_ellipsoid() {
    // A rotating, sliding disc of unit inertia: rows N, T, O, torsion.
    let mut identity = DenseMatrix::zeros(4, 4);
    (0..4).for_each(|i| identity[(i, i)] = 1.0);
    let (mu, e) = (0.5, [1.0, 0.7, 0.4]);
    let problem = friction(&[Law::Cone { rows: 4, mu }], &identity, vec![-1.0, 2.0, -1.5, 3.0]);
    let mut function = FritzJohn::new(&problem).unwrap();
    for (k, e) in e.into_iter().enumerate() {
        function = function.with_axis(1 + k, e).unwrap();
    }
    let (status, solution) = solve_fritz_john(&function);
    assert_eq!(status, Status::Solved);
    let p = function.recover(&solution).r;
    let u = [p[0] - 1.0, p[1] + 2.0, p[2] - 1.5, p[3] + 3.0];
    let sigma = (0..3).map(|k| (e[k] * u[k + 1]).powi(2)).sum::<f64>().sqrt();
    assert!(u[0].abs() < 1e-12 && (function.slip_speeds(&solution)[0] - sigma).abs() < 1e-9, "{u:?} {sigma}");
    // Maximum dissipation: p_k = −μ p_N e_k² u_k / σ.
    for k in 0..3 {
        assert!((p[k + 1] + mu * p[0] * e[k] * e[k] * u[k + 1] / sigma).abs() < 1e-9, "component {k}");
    }
    assert!(function.clone().with_axis(1, 0.0).is_err() && function.with_axis(9, 1.0).is_err());
}

#[test]
fn elimination_is_the_schur_complement() {
    let mut seed = Seed(34);
    let (a, c, d, b) = (p_matrix(&mut seed, 4), seed.matrix(4, 3), seed.matrix(3, 4), p_matrix(&mut seed, 3));
    let (constant_a, constant_b) = (seed.vector(4), seed.vector(3));
    let problem = mixed([&a, &c, &d, &b], constant_a.clone(), constant_b.clone()).unwrap();
    let reduced = eliminate_free(&problem).unwrap();
    let d_inverse = product(&d, &inverse(&a));
    let correction = product(&d_inverse, &c);
    for i in 0..3 {
        let q = constant_b[i] - (0..4).map(|k| d_inverse[(i, k)] * constant_a[k]).sum::<f64>();
        assert!((reduced.q()[i] - q).abs() < 1e-12);
        (0..3).for_each(|j| assert!((reduced.m()[(i, j)] - b[(i, j)] + correction[(i, j)]).abs() < 1e-12));
    }
}

#[test]
fn scaling_leaves_forces_and_softness_moves_them_little() {
    let mut seed = Seed(35);
    for trial in 0..30 {
        let n = 3 + trial % 6;
        let problem = stiction_complementarity::Lcp::new(p_matrix(&mut seed, n), seed.vector(n)).unwrap();
        let straight = lemke(&problem).solution;
        let size = straight.z.iter().fold(1.0, |size: f64, z| size.max(*z));
        // Every third row in units of a step size of 1 ms.
        let scales = (0..n).map(|i| if i % 3 == 2 { 1e-3 } else { 1.0 }).collect();
        let scaled = ScaledLcp::new(&problem, scales).unwrap();
        let back = scaled.recover(&lemke(scaled.problem()).solution);
        assert!(distance(&back.z, &straight.z) <= 1e-12 * size, "trial {trial}");
        assert!(problem.residual(&LcpSolution { z: back.z }).value < 1e-12, "trial {trial}");
        let moved = |epsilon| {
            let softened = regularise_diagonal(&problem, epsilon).unwrap();
            distance(&lemke(&softened).solution.z, &straight.z)
        };
        let (small, smaller) = (moved(1e-6), moved(1e-7));
        assert!(small <= 1e-3 * size && smaller <= 0.2 * small + 1e-12 * size, "trial {trial}: {small:e} {smaller:e}");
    }
    let problem = stiction_complementarity::Lcp::new(p_matrix(&mut seed, 2), seed.vector(2)).unwrap();
    for bad in [vec![1.0], vec![1.0, 0.0], vec![f64::NAN, 1.0]] {
        assert!(ScaledLcp::new(&problem, bad).is_err());
    }
}

#[test]
fn singular_equalities_are_pivoted_away_redundant_or_contradicted() {
    let mut seed = Seed(36);
    for trial in 0..100 {
        // A of rank n − 2 with random couplings: a solution is chosen first, so one exists.
        let (n, m) = (4 + trial % 3, 3 + trial % 4);
        let full = p_matrix(&mut seed, n + m);
        let mut k = full.clone();
        for j in 0..n + m {
            for i in 0..2 {
                if j < n {
                    k[(i, j)] = 0.0;
                    k[(j, i)] = 0.0;
                } else {
                    k[(j, i)] = -k[(i, j)];
                }
            }
        }
        let part = |rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| {
            let entries = rows.clone().flat_map(|i| cols.clone().map(move |j| (i, j))).map(|place| k[place]).collect();
            DenseMatrix::from_row_major(rows.len(), cols.len(), entries).unwrap()
        };
        let (a, c, d, b) = (part(0..n, 0..n), part(0..n, n..n + m), part(n..n + m, 0..n), part(n..n + m, n..n + m));
        let chosen: Vec<f64> = (0..n + m).map(|i| if i < n || i % 2 == 0 { seed.real().abs() } else { 0.0 }).collect();
        let slack = |i: usize| if i >= n && i % 2 == 1 { seed.real().abs() } else { 0.0 };
        let slacks: Vec<f64> = (0..n + m).map(slack).collect();
        let constants: Vec<f64> =
            (0..n + m).map(|i| slacks[i] - (0..n + m).map(|j| k[(i, j)] * chosen[j]).sum::<f64>()).collect();
        let problem = mixed([&a, &c, &d, &b], constants[..n].to_vec(), constants[n..].to_vec()).unwrap();
        let mut solution = MixedLcpSolution::default();
        let mut ladder = MixedLcpLadder::new();
        let outcome = solve(&mut ladder, &problem, None, &mut solution, &Tolerance::default());
        let (status, residual) = (outcome.status, outcome.residual.value);
        assert_eq!(status, Status::Solved, "trial {trial}: {residual:e} {:?}", ladder.records());
        assert!(residual < 1e-11, "trial {trial}: {residual:e}");
        assert!(ladder.records().len() == 2, "elimination fails, pivoting solves: {:?}", ladder.records());
    }
}

#[test]
fn equalities_that_repeat_or_contradict_are_told_apart() {
    let one = DenseMatrix::from_rows(&[[1.0], [1.0]]);
    let a = DenseMatrix::from_rows(&[[1.0, 0.0], [1.0, 0.0]]);
    let (c, d) = (one.clone(), DenseMatrix::from_rows(&[[1.0, 0.0]]));
    let b = DenseMatrix::from_rows(&[[2.0]]);
    let mut method = MixedLcpPivoting::new(stiction_complementarity::LcpLemke::new());
    let mut solution = MixedLcpSolution::default();
    let repeated = mixed([&a, &c, &d, &b], vec![-1.0, -1.0], vec![-3.0]).unwrap();
    let outcome = solve(&mut method, &repeated, None, &mut solution, &Tolerance::default());
    assert_eq!(outcome.status, Status::Solved);
    assert!((solution.complementary[0] - 2.0).abs() < 1e-15 && (solution.free[0] + 1.0).abs() < 1e-15);
    let contradicted = mixed([&a, &c, &d, &b], vec![-1.0, 1.0], vec![-3.0]).unwrap();
    assert_eq!(method.run(&contradicted, None, &mut solution).status, Status::Infeasible);
    assert!(matches!(method.last_failure(), Some(PivotingFailure::Contradiction { .. })));
}
