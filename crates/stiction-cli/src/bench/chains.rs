//! Time per step of chains without contact, over their number of links.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use serde::Serialize;
use stiction::{Simulation, scene};

use crate::{
    failure::Failure,
    layout::{columns, number},
};

/// Lengths of the chains.
const LINKS: [usize; 5] = [64, 128, 256, 512, 1024];

/// Coordinates with linear cost in the number of links.
const COORDINATES: [&str; 2] = ["reduced", "divide-and-conquer"];

/// Number of steps of a chain; all have the same cost, and the fastest one counts.
const STEPS: u64 = 150;

/// Number of measurements.
pub(super) const CELLS: usize = LINKS.len() * COORDINATES.len();

/// Times of all lengths in one kind of coordinates.
#[derive(Debug, Serialize)]
pub(super) struct Family {
    coordinates: &'static str,
    links: [usize; LINKS.len()],
    /// Time of the fastest step, µs.
    microseconds_per_step: Vec<f64>,
    /// Exponent p of time ∼ linksᵖ between the shortest and the longest chain.
    exponent: f64,
}

/// Measures all chains; `done` is called after each.
pub(super) fn measure(mut done: impl FnMut()) -> Result<Vec<Family>, Failure> {
    let mut families = Vec::new();
    for coordinates in COORDINATES {
        let mut times = Vec::new();
        for links in LINKS {
            times.push(microseconds_per_step(links, coordinates)?);
            done();
        }
        families.push(Family {
            coordinates,
            links: LINKS,
            exponent: exponent(&LINKS, &times),
            microseconds_per_step: times,
        });
    }
    Ok(families)
}

fn microseconds_per_step(links: usize, coordinates: &str) -> Result<f64, Failure> {
    let scene = scene::parse(&hanging_chain(links, coordinates), "chain")?;
    let mut simulation = Simulation::from_scene(&scene).map_err(Failure::input)?;
    let mut least = Duration::MAX;
    for _ in 0..STEPS {
        let started = Instant::now();
        let _ = simulation.step().map_err(|error| Failure::step(&error, None))?;
        least = least.min(started.elapsed());
    }
    Ok(least.as_secs_f64() * 1e6)
}

/// Slope between the first and the last of the times in a log-log plot.
fn exponent(links: &[usize], times: &[f64]) -> f64 {
    match (links, times) {
        (&[shortest, .., longest], &[first, .., last]) => (last / first).ln() / (longest as f64 / shortest as f64).ln(),
        _ => f64::NAN,
    }
}

/// Table with coordinates in rows and lengths in columns.
pub(super) fn table(families: &[Family]) -> String {
    let lengths = LINKS.map(|links| links.to_string());
    let heading: Vec<_> = std::iter::once("µs per step, links")
        .chain(lengths.iter().map(String::as_str))
        .chain(std::iter::once("exponent"))
        .collect();
    let row = |family: &Family| {
        let times = family.microseconds_per_step.iter().map(|&time| number(time));
        let exponent = format!("{:.2}", family.exponent);
        std::iter::once(family.coordinates.to_owned()).chain(times).chain(std::iter::once(exponent)).collect()
    };
    columns(&heading, &families.iter().map(row).collect::<Vec<_>>())
}

/// Chain of slender rods of 0.2 m and 0.2 kg, joined by hinges, released from the horizontal x axis. The axes of the hinges are tilted to
/// alternate sides, so that the motion is not planar.
pub(super) fn hanging_chain(links: usize, coordinates: &str) -> String {
    let mut text = format!(
        "[simulation]\nduration = 0.5\nstep = 0.001\ngravity = [0.0, 0.0, -9.81]\n[scheme]\ncoordinates = \"{coordinates}\"\n"
    );
    let mut above = "world".to_owned();
    for k in 0..links {
        let (hinge, lean) = (0.2 * k as f64, if k % 2 == 0 { 1.0 } else { -1.0 });
        let _ = write!(
            text,
            "[[body]]\nname = \"link-{k}\"\nmass = 0.2\ninertia = [2e-5, 6.7e-4, 6.7e-4]\nposition = [{:?}, 0.0, 0.0]\n\
             [[joint]]\nname = \"hinge-{k}\"\nkind = \"revolute\"\nbetween = [\"{above}\", \"link-{k}\"]\n\
             anchor = [{hinge:?}, 0.0, 0.0]\naxis = [0.0, 1.0, {lean:?}]\n",
            hinge + 0.1,
        );
        above = format!("link-{k}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_slopes() {
        let cubes = LINKS.map(|links| (links as f64).powi(3));
        assert!((exponent(&LINKS, &cubes) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_chain_moves_in_space_the_same_in_both_coordinates() {
        let ends = COORDINATES.map(|coordinates| {
            let scene = scene::parse(&hanging_chain(5, coordinates), "chain").expect("a scene");
            let mut simulation = Simulation::from_scene(&scene).expect("a simulation");
            for _ in 0..50 {
                assert_eq!(simulation.step().expect("a step").contacts, 0);
            }
            simulation.state().q.clone()
        });
        let [reduced, divided] = ends;
        let difference = reduced.iter().zip(&divided).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(difference < 1e-12, "{difference}");
        // Position and quaternion of the last link; in a planar motion y would be rounding error.
        let [.., y, z, _, _, _, _] = reduced[..] else { panic!("no link") };
        assert!(y.abs() > 1e-5 && z < -1e-3, "{y} {z}");
    }
}
