//! Cost of calls from Rust, as a baseline for `benches/python_overhead.py`: `cargo bench -p stiction --bench calls -- SCENE STEPS`.
//!
//! Prints seconds for this many steps of a scene, without and with a recording, the fastest of a few repetitions.

#![allow(clippy::expect_used, reason = "a bench speaks by panicking")]
#![allow(clippy::disallowed_methods, reason = "a bench measures time")]

use std::{
    path::Path,
    time::{Duration, Instant},
};

use stiction::{
    Simulation,
    record::{Ending, Recorder, RunLabels},
    scene::Scene,
};

const REPETITIONS: usize = 5;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [path, steps] = &arguments[..] else {
        println!("cargo bench -p stiction --bench calls -- SCENE STEPS");
        return;
    };
    let steps: u64 = steps.parse().expect("a number of steps");
    let scene = stiction::scene::load(Path::new(path)).expect("a scene");
    let fastest = |run: fn(&Scene, u64) -> Duration| (0..REPETITIONS).map(|_| run(&scene, steps)).min();
    let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64();
    println!("{} {}", seconds(fastest(stepped)), seconds(fastest(recorded)));
}

fn stepped(scene: &Scene, steps: u64) -> Duration {
    let mut simulation = Simulation::from_scene(scene).expect("a simulation");
    let started = Instant::now();
    for _ in 0..steps {
        let _ = simulation.step().expect("a step");
    }
    started.elapsed()
}

/// Does the same as `Simulation.run` of the Python package.
fn recorded(scene: &Scene, steps: u64) -> Duration {
    let mut simulation = Simulation::from_scene(scene).expect("a simulation");
    let folder = std::env::temp_dir().join(format!("stiction-calls-{}", std::process::id()));
    let started = Instant::now();
    let labels = RunLabels::of(scene);
    let mut recorder = Recorder::create(&folder, &labels, &simulation).expect("a folder").without_page();
    for _ in 0..steps {
        let report = simulation.step().expect("a step");
        recorder.record(&simulation, &report);
    }
    assert!(recorder.finish(&simulation, 0.0, Ending::Finished).trouble.is_none(), "nothing wrong with the disk");
    let spent = started.elapsed();
    std::fs::remove_dir_all(&folder).expect("the folder of this bench");
    spent
}
