//! Time over the number of links, printed.

use std::{hint::black_box, time::Instant};

use nalgebra::Vector3;
use stiction_multibody::{
    Wrench,
    articulated::{
        ArticulatedFactors, Kinematics, Scratch, Tree, coupling,
        divide::{Divide, DivideRow},
        forward_dynamics, half_response,
    },
};
use stiction_testkit::Random;

use super::free_chain;
use crate::articulated::random_state;

/// Least time of one call over many, in microseconds.
fn least_time(mut call: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..100 {
        #[allow(clippy::disallowed_methods)] // The time is printed, nothing depends on it.
        let start = Instant::now();
        call();
        least = least.min(start.elapsed().as_nanos() as f64 / 1000.0);
    }
    least
}

/// Times of forward dynamics with kinematics, and of the three rows of a contact at the tip with their couplings: by
/// articulated bodies, by divide and conquer on one thread and on two.
fn times(tree: &Tree, random: &mut Random) -> [f64; 5] {
    let (q, v) = random_state(random, tree);
    let mut out = vec![0.0; tree.velocities()];
    let mut at = Kinematics::new(tree);
    let (mut factors, mut scratch) = (ArticulatedFactors::new(tree), Scratch::new(tree));
    let bodies = least_time(|| {
        at.update(tree, &q, &v);
        factors.update(tree, &at).unwrap();
        forward_dynamics(tree, &at, &factors, (&v, &[]), &mut scratch, black_box(&mut out));
    });
    let mut divide = Divide::new(tree);
    let mut by_halves = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            least_time(|| {
                at.update(tree, &q, &v);
                divide.update(tree, &at, &[]).unwrap();
                divide.forward_dynamics(tree, &at, (&v, &[]), black_box(&mut out));
            })
        })
    };
    let (one, two) = (by_halves(1), by_halves(2));

    let link = tree.link_ids().last().unwrap();
    let point = at.pose(link).translation.vector;
    let wrenches = [Vector3::x(), Vector3::y(), Vector3::z()].map(|f| Wrench { linear: f, angular: Vector3::zeros() });
    let mut halves = [const { Vec::new() }; 3].map(|_: Vec<f64>| vec![0.0; tree.depth(link)]);
    let contact = least_time(|| {
        for (wrench, row) in wrenches.iter().zip(&mut halves) {
            half_response(tree, &at, &factors, link, (wrench, &point), row);
        }
        for a in &halves {
            for b in &halves {
                black_box(coupling(tree, &factors, (link, a), (link, b)));
            }
        }
    });
    let mut rows = [const { Vec::new() }; 3].map(|_: Vec<f64>| DivideRow::default());
    let contact_by_halves = least_time(|| {
        for (wrench, row) in wrenches.iter().zip(&mut rows) {
            divide.half_response(&at, link, (wrench, &point), row);
        }
        for a in &rows {
            for b in &rows {
                black_box(divide.coupling(a, b));
            }
        }
    });
    [bodies, one, two, contact, contact_by_halves]
}

/// Prints, with `--nocapture`, the times of chains of 64 to 1024 links.
#[test]
fn time_over_the_number_of_links() {
    let mut random = Random::new(7331);
    println!("links: articulated bodies, divide and conquer, on two threads; contact by the one and by the other, µs");
    let mut all = Vec::new();
    for count in [16, 32, 64, 128, 256, 512, 1024] {
        let found = times(&free_chain(&mut random, count), &mut random);
        println!("{count:5}: {found:8.1?}");
        all.push(found);
    }
    let (from, to) = (all[2], all[6]);
    println!(
        "exponents from 64 to 1024: {:.2?}",
        [0, 1, 2, 3, 4].map(|k| libm::log(to[k] / from[k]) / libm::log(16.0))
    );
    assert!(all.iter().flatten().all(|time| time.is_finite()));
}
