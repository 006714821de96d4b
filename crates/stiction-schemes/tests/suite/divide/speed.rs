//! Time of a step over the number of links, printed.

use std::time::Instant;

use stiction_schemes::{HybridOptions, HybridState, HybridStepper};
use stiction_testkit::Random;

use super::chains::{chain, posed};

/// Least time of a step in microseconds, without contact or with one at the middle link.
fn time(random: &mut Random, links: usize, contacts: usize) -> f64 {
    let tree = chain(random, links);
    let scene = posed(random, tree);
    let link = scene.tree.link_ids().nth(links / 2).unwrap();
    let contacts = (0..contacts).map(|_| scene.contact(random, link, 0.2)).collect();
    let mut stepper = HybridStepper::new(scene.tree.clone(), contacts, HybridOptions::default()).unwrap();
    let mut least = f64::INFINITY;
    for _ in 0..100 {
        let mut state = HybridState::new(scene.q.clone(), scene.v.clone());
        #[allow(clippy::disallowed_methods)] // The time is printed, nothing depends on it.
        let start = Instant::now();
        let _ = stepper.step(&mut state, 1e-3).unwrap();
        least = least.min(start.elapsed().as_nanos() as f64 / 1000.0);
    }
    least
}

/// Prints, with `--nocapture`, the times of chains of 64 to 1024 links.
#[test]
fn time_of_a_step_over_the_number_of_links() {
    let mut random = Random::new(7421);
    let mut all = Vec::new();
    println!("links: free, one contact, µs");
    for links in [64, 128, 256, 512, 1024] {
        let found = [0, 1].map(|contacts| time(&mut random, links, contacts));
        println!("{links:5}: {found:8.1?}");
        all.push(found);
    }
    println!("exponents from 64 to 1024: {:.2?}", [0, 1].map(|k| libm::log(all[4][k] / all[0][k]) / libm::log(16.0)));
    assert!(all.iter().flatten().all(|time| time.is_finite()));
}
