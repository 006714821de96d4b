//! Time of a step over the number of links, printed.

use std::time::Instant;

use stiction::{Coordinates, Preset, Simulation};

use super::{OF_TREES, scenes::falling_chain};

/// Least time of a step of a chain with one contact, µs.
fn time(links: usize, coordinates: Coordinates, preset: Preset) -> f64 {
    let mut scheme = preset.scheme();
    scheme.coordinates = coordinates;
    let mut simulation = Simulation::new(falling_chain(links), scheme, 1e-4).unwrap();
    let mut least = f64::INFINITY;
    for _ in 0..30 {
        let start = Instant::now();
        let report = simulation.step().unwrap();
        least = least.min(start.elapsed().as_nanos() as f64 / 1000.0);
        assert_eq!(report.contacts, 1);
    }
    least
}

/// Prints, with `--nocapture`, the times of chains of 64 to 1024 links.
#[test]
fn time_of_a_step_of_a_chain_in_tree_coordinates() {
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        for coordinates in OF_TREES {
            let times = [64, 128, 256, 512, 1024].map(|links| time(links, coordinates, preset));
            let exponent = (times[4] / times[0]).log2() / 4.0;
            println!("{preset:?} {coordinates:?}: {times:8.1?} µs for 64 to 1024 links, exponent {exponent:.2}");
            assert!(times.iter().all(|time| time.is_finite()));
        }
    }
}
