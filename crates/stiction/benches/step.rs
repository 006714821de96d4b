//! Time per step of the speed scenes: `cargo bench -p stiction`.
//!
//! Wall time on a shared machine is noisy; to compare two versions, count instructions with `cargo xtask instructions`.

#![allow(clippy::expect_used, reason = "a bench speaks by panicking")]

use std::path::Path;

use divan::Bencher;
use stiction::Simulation;

fn main() {
    divan::main();
}

/// The scenes, each with the step that its target is stated for.
const SCENES: [(&str, &str); 4] =
    [("falling_rod", "0.0025"), ("four_balls", "0.00125"), ("pendulum_pushed", "0.005"), ("stack_of_boxes", "0.01")];

/// Runs a whole scene; divide by the steps that `items/s` counts.
#[divan::bench(args = SCENES.map(|(name, _)| name), sample_count = 20)]
fn whole_run(bencher: Bencher, name: &str) {
    let step = SCENES.iter().find(|(scene, _)| *scene == name).map_or("0.01", |(_, step)| step);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).with_extension("toml");
    let changes = [("simulation.step".to_owned(), step.to_owned())];
    let scene = stiction::scene::load_with(&path, &changes).expect("a scene of the project");
    let steps = scene.settings.steps();
    bencher
        .counter(divan::counter::ItemsCount::new(steps))
        .with_inputs(|| Simulation::from_scene(&scene))
        .bench_values(|simulation| {
            let mut simulation = simulation.expect("a simulation");
            for _ in 0..steps {
                let _ = simulation.step().expect("a step");
            }
            simulation
        });
}

/// Friction of the part on three contact points: the second-order cone, and polygons.
const SETS: [&str; 6] = ["cone", "4", "8", "16", "32", "64"];

/// The curve of C-28: `plate/tripod` with each friction set. A sample is half a period of the plate, short enough to be undisturbed
/// sometimes on a busy machine: compare the fastest samples.
#[divan::bench(args = SETS, sample_count = 200, sample_size = 1)]
fn tripod(bencher: Bencher, set: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/plate/tripod.toml");
    let polygon = [("simulation.preset", "stewart-trinkle"), ("scheme.directions", set)];
    let changes = polygon.map(|(path, value)| (path.to_owned(), value.to_owned()));
    let changes = if set == "cone" { &[][..] } else { &changes[..] };
    let scene = stiction::scene::load_with(&path, changes).expect("a scene of the project");
    let mut simulation = Simulation::from_scene(&scene).expect("a simulation");
    let steps = 150_u32;
    bencher.counter(divan::counter::ItemsCount::new(steps)).bench_local(|| {
        for _ in 0..steps {
            let _ = simulation.step().expect("a step");
        }
    });
}
