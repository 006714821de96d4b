//! Cost of the algorithms: allocations (none), and time (printed).

use std::{hint::black_box, time::Instant};

use nalgebra::Vector3;
use stiction_multibody::articulated::{
    ArticulatedFactors, BranchMatrix, Kinematics, LtlFactor, Scratch, coupling, energy, forward_dynamics,
    half_response, impulse_response, inverse_dynamics, mass_matrix, momentum, wrench_row,
};
use stiction_testkit::{Random, count_allocations};

use super::{random_state, random_tree, random_wrenches, rods, velocities};

/// Least time of one call over many, in nanoseconds.
fn least_time(mut call: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..200 {
        #[allow(clippy::disallowed_methods)] // The time is printed, nothing depends on it.
        let start = Instant::now();
        for _ in 0..20 {
            call();
        }
        least = least.min(start.elapsed().as_nanos() as f64 / 20.0);
    }
    least
}

/// Prints, with `--nocapture`, the time of each algorithm for 32 revolute links about changing axes.
#[test]
fn chain_of_thirty_two_links() {
    let axis = |index: usize| if index.is_multiple_of(2) { Vector3::y() } else { Vector3::x() };
    let tree = rods(32, Vector3::new(0.0, 0.0, -9.81), axis);
    let mut random = Random::new(741);
    let (q, v) = random_state(&mut random, &tree);
    let (tau, wrenches) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
    let (mut at, mut factors) = (Kinematics::new(&tree), ArticulatedFactors::new(&tree));
    let (mut scratch, mut out) = (Scratch::new(&tree), vec![0.0; tree.velocities()]);
    let (mut mass, mut ltl) = (BranchMatrix::zeros(&tree), LtlFactor::new(&tree));

    let kinematics = least_time(|| at.update(&tree, black_box(&q), &v));
    let factor = least_time(|| factors.update(&tree, black_box(&at)).unwrap());
    let sweeps = least_time(|| forward_dynamics(&tree, black_box(&at), &factors, (&tau, &[]), &mut scratch, &mut out));
    let rnea = least_time(|| inverse_dynamics(&tree, black_box(&at), &v, &[], &mut scratch, &mut out));
    let response =
        least_time(|| impulse_response(&tree, &at, black_box(&factors), (&tau, &wrenches), &mut scratch, &mut out));
    let crba = least_time(|| mass_matrix(&tree, black_box(&at), &mut scratch, &mut mass));
    let factorise = least_time(|| ltl.factorise(black_box(&mass)).unwrap());
    println!(
        "32 links, ns: kinematics {kinematics:.0}, ABA factors {factor:.0} + sweeps {sweeps:.0} (whole ABA {:.0}), \
         RNEA {rnea:.0}, response {response:.0}, CRBA {crba:.0}, LTL {factorise:.0}",
        kinematics + factor + sweeps
    );
    assert!(out.iter().all(|x| x.is_finite()));
}

/// The algorithms do not allocate after construction.
#[test]
fn algorithms_do_not_allocate() {
    let mut random = Random::new(742);
    let tree = random_tree(&mut random);
    let (mut q, v) = random_state(&mut random, &tree);
    let (tau, wrenches) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
    let (mut at, mut factors) = (Kinematics::new(&tree), ArticulatedFactors::new(&tree));
    let (mut scratch, mut out) = (Scratch::new(&tree), vec![0.0; tree.velocities()]);
    let (mut mass, mut ltl) = (BranchMatrix::zeros(&tree), LtlFactor::new(&tree));
    let link = tree.link_ids().last().unwrap();
    let mut row = vec![0.0; tree.depth(link)];
    let point = Vector3::x();
    let asked = count_allocations(|| {
        tree.integrate(&mut q, &v, 0.01);
        at.update(&tree, &q, &v);
        factors.update(&tree, &at).unwrap();
        forward_dynamics(&tree, &at, &factors, (&tau, &wrenches), &mut scratch, &mut out);
        inverse_dynamics(&tree, &at, &tau, &wrenches, &mut scratch, &mut out);
        mass_matrix(&tree, &at, &mut scratch, &mut mass);
        ltl.factorise(&mass).unwrap();
        ltl.solve(&mut out);
        impulse_response(&tree, &at, &factors, (&tau, &wrenches), &mut scratch, &mut out);
        wrench_row(&tree, &at, link, (&wrenches[0], &point), &mut row);
        half_response(&tree, &at, &factors, link, (&wrenches[0], &point), &mut row);
        black_box(coupling(&tree, &factors, (link, &row), (link, &row)));
        black_box((energy(&tree, &at, &v), momentum(&at)));
    });
    assert_eq!(asked.count, 0);
}
