//! The algorithms against each other and against their definitions, on random forests of all joints.

use stiction_multibody::articulated::{LtlFactor, energy, momentum};
use stiction_testkit::Random;

use super::{
    accelerations, dense, distance, factors, forces, kinematics, mass, moved, random_state, random_tree,
    random_wrenches, velocities,
};

/// Inverse dynamics after forward dynamics is the identity, with wrenches on all links.
#[test]
fn newton_euler_undoes_articulated_bodies() {
    let mut random = Random::new(711);
    for _ in 0..50 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let (tau, external) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
        let acceleration = accelerations(&tree, &at, &tau, &external);
        let back = forces(&tree, &at, &acceleration, &external);
        assert!(distance(&back, &tau) < 1e-10, "{}", distance(&back, &tau));
    }
}

/// M v̇ + bias = τ, with M by composite bodies and the bias by Newton and Euler.
#[test]
fn composite_bodies_agree_with_articulated_bodies() {
    let mut random = Random::new(712);
    for _ in 0..50 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let tau = velocities(&mut random, &tree);
        let acceleration = accelerations(&tree, &at, &tau, &[]);
        let bias = forces(&tree, &at, &vec![0.0; tree.velocities()], &[]);
        let mut inertial = vec![0.0; tree.velocities()];
        mass(&tree, &at).multiply(&acceleration, &mut inertial);
        let back: Vec<f64> = inertial.iter().zip(&bias).map(|(m, b)| m + b).collect();
        assert!(distance(&back, &tau) < 1e-10, "{}", distance(&back, &tau));
    }
}

/// M is the Hessian of the kinetic energy, which is quadratic: exact differences.
#[test]
fn mass_matrix_is_the_hessian_of_kinetic_energy() {
    let mut random = Random::new(713);
    let tree = random_tree(&mut random);
    let (q, _) = random_state(&mut random, &tree);
    let n = tree.velocities();
    let unit = |i: usize, j: usize| {
        let mut v = vec![0.0; n];
        v[i] += 1.0;
        v[j] += 1.0;
        v
    };
    let kinetic = |v: &[f64]| energy(&tree, &kinematics(&tree, &q, v), v).kinetic;
    let mass = mass(&tree, &kinematics(&tree, &q, &vec![0.0; n]));
    let dense = dense(&mass);
    let single: Vec<f64> = (0..n).map(|i| kinetic(&unit(i, i)) / 4.0).collect();
    for i in 0..n {
        for j in 0..n {
            // T(e_i + e_j) = T(e_i) + T(e_j) + M_ij, and T(2 e_i) = 2 M_ii.
            let hessian = if i == j { 2.0 * single[i] } else { kinetic(&unit(i, j)) - single[i] - single[j] };
            assert!((dense[(i, j)] - hessian).abs() < 1e-11 * dense.amax(), "{i} {j}");
        }
    }
}

/// LᵀL is M, solves with it, and has the pivots of the articulated bodies on its diagonal.
#[test]
fn sparse_factor_solves() {
    let mut random = Random::new(714);
    for _ in 0..20 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let mass = mass(&tree, &at);
        let mut factor = LtlFactor::new(&tree);
        factor.factorise(&mass).unwrap();
        let lower = dense(factor.factor()).lower_triangle();
        let product = lower.transpose() * lower;
        assert!((product - dense(&mass)).amax() < 1e-12 * dense(&mass).amax());

        let b = velocities(&mut random, &tree);
        let mut x = b.clone();
        factor.solve(&mut x);
        let mut back = vec![0.0; b.len()];
        mass.multiply(&x, &mut back);
        assert!(distance(&back, &b) < 1e-11);

        let squares: Vec<f64> = (0..tree.velocities()).map(|k| factor.factor().row(k)[0].powi(2)).collect();
        let pivots = factors(&tree, &at).pivots().to_vec();
        let worst = squares.iter().zip(&pivots).map(|(s, d)| (s - d).abs() / d).fold(0.0, f64::max);
        assert!(worst < 1e-10, "{worst}");
    }
}

/// The energy changes by the power of the forces minus the dissipation of dampers: by differences of E along the motion.
#[test]
fn energy_changes_by_power() {
    let mut random = Random::new(715);
    for _ in 0..20 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let motor = velocities(&mut random, &tree);
        let damping = 0.7;
        let tau: Vec<f64> = motor.iter().zip(&v).map(|(u, v)| u - damping * v).collect();
        let acceleration = accelerations(&tree, &at, &tau, &[]);
        let total_at = |h: f64| {
            // q̇ and v̇ to first order are enough for a central difference of E.
            let middle: Vec<f64> = v.iter().zip(&acceleration).map(|(v, a)| v + 0.5 * h * a).collect();
            let end: Vec<f64> = v.iter().zip(&acceleration).map(|(v, a)| v + h * a).collect();
            energy(&tree, &kinematics(&tree, &moved(&tree, &q, &middle, h), &end), &end).total()
        };
        let h = 1e-5;
        let measured = (total_at(h) - total_at(-h)) / (2.0 * h);
        let power: f64 = motor.iter().zip(&v).map(|(u, v)| u * v).sum();
        let dissipation: f64 = v.iter().map(|v| damping * v * v).sum();
        let scale = energy(&tree, &at, &v).kinetic + power.abs() + dissipation;
        assert!((measured - (power - dissipation)).abs() < 1e-7 * scale, "{measured} {power} {dissipation}");
    }
}

/// Momentum of the forest is that of its mass matrix if the roots are free, and Σ m v by differences of positions.
#[test]
fn momentum_is_the_rate_of_the_first_moment() {
    let mut random = Random::new(716);
    for _ in 0..20 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let h = 1e-5;
        // −∂V/∂g: the potential of gravity along each axis is the first moment.
        let first_moment = |h: f64| {
            let at = kinematics(&tree, &moved(&tree, &q, &v, h), &v);
            tree.links().iter().enumerate().fold(nalgebra::Vector3::zeros(), |sum, (i, link)| {
                let spec = link.spec();
                sum + (at.poses()[i] * nalgebra::Point3::from(spec.center)).coords * spec.mass
            })
        };
        let measured = (first_moment(h) - first_moment(-h)) / (2.0 * h);
        let exact = momentum(&kinematics(&tree, &q, &v)).linear;
        assert!((measured - exact).amax() < 1e-7 * exact.amax().max(1.0));
    }
}
