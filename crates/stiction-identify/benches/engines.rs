//! Times of the engines for the programs of case C-19: `cargo bench -p stiction-identify --features ipopt,ripopt --bench engines [-- ENGINE
//! STEPS]`.
//!
//! A particle falls, hits the ground and slides; its friction is estimated from noisy positions. The number of steps, of the 100 of the
//! case, is such that the impact is among them.

#![allow(clippy::expect_used, reason = "a bench speaks by panicking")]

#[cfg(not(feature = "mpec"))]
fn main() {
    println!("not in this build: the programs of all steps need the feature `ipopt` or `ripopt`");
}

#[cfg(feature = "mpec")]
fn main() {
    timed::main();
}

#[cfg(feature = "mpec")]
mod timed {
    use std::time::Instant;

    use nalgebra::Vector3;
    use stiction::{Simulation, scene};
    use stiction_identify::{
        Noise, Parameter, Recording, Target, Track,
        mpec::{Member, MpecOptions, StartVelocity, fit, program::Engine},
    };
    use stiction_study::Stream;

    const SCENE: &str = include_str!("../tests/suite/mpec/particle.toml");

    /// Largest error of a position, m.
    const EPSILON: f64 = 5e-3;

    /// Largest time of a run of an engine, approximately.
    const SECONDS: f64 = 60.0;

    /// The impact is in the step after this row.
    const BEFORE_IMPACT: usize = 15;

    /// Steps, particles, and distance of contacts, m; without a distance all contacts of the motion.
    const SIZES: [(usize, usize, Option<f64>); 9] = [
        (2, 1, None),
        (5, 1, None),
        (10, 1, None),
        (20, 1, None),
        (50, 1, None),
        (85, 1, None),
        (100, 1, Some(0.5)),
        (100, 1, None),
        (100, 10, None),
    ];

    pub(super) fn main() {
        // Cargo adds `--bench`.
        let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
        let engine = words.first().map(|word| word.to_lowercase());
        let only: Option<usize> = words.get(1).and_then(|word| word.parse().ok());
        if Engine::available().is_empty() {
            println!("not in this build: no engine; build with the feature `ipopt` or `ripopt`");
        }
        println!(
            "| engine | particles | steps | contacts within | variables | time, s | iterations | ended | friction |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for own in Engine::available() {
            if engine.as_ref().is_some_and(|engine| format!("{own:?}").to_lowercase() != *engine) {
                continue;
            }
            for size in SIZES.into_iter().filter(|(steps, ..)| only.is_none_or(|only| only == *steps)) {
                if !time(*own, size) {
                    // The next cases are larger.
                    break;
                }
            }
        }
    }

    /// The true motion, measured at the end of every step.
    fn seen(name: &str, seed: u64) -> Recording {
        let mut simulation =
            Simulation::from_scene(&scene::parse(SCENE, "particle.toml").expect("a scene")).expect("a simulation");
        let mut noise = Stream::new(seed, 0);
        let mut error = || EPSILON * (2.0 * noise.unit() - 1.0);
        let (mut times, mut positions) = (Vec::new(), Vec::new());
        for step in 0..=100 {
            let q = &simulation.state().q;
            times.push(0.05 * f64::from(step));
            positions.push(Some(Vector3::new(q[0] + error(), q[1] + error(), f64::NAN)));
            let _ = simulation.step().expect("a step");
        }
        let rows = times.len();
        let track = Track {
            body: "particle".into(),
            point: Vector3::zeros(),
            positions,
            orientations: vec![None; rows],
            velocities: vec![None; rows],
            noise: Noise { position: EPSILON / 3.0_f64.sqrt(), angle: 1.0 },
        };
        Recording { name: name.into(), times, tracks: vec![track] }
    }

    /// Prints a row of the table; true if the engine was in time.
    #[allow(clippy::disallowed_methods, reason = "time is what a bench is about")]
    fn time(engine: Engine, (steps, particles, reach): (usize, usize, Option<f64>)) -> bool {
        let name = |k: usize| format!("friction {k}");
        let of = |k: usize| {
            let parameter = Parameter::new(&name(k), "contact_default.friction", 1.0, [0.0, 1.0]);
            let target = Target { text: SCENE.into(), file_name: "particle.toml".into(), parameters: vec![parameter] };
            (target, seen(&name(k), 1 + k as u64))
        };
        let motions: Vec<(Target, Recording)> = (0..particles).map(of).collect();
        let first = BEFORE_IMPACT.min(100 - steps);
        let members: Vec<Member> = motions
            .iter()
            .map(|(target, recording)| Member { target, recording, rows: first..first + steps + 1 })
            .collect();
        let start_velocity = if first == 0 { StartVelocity::AsInScene } else { StartVelocity::Free };
        let mut options =
            MpecOptions { error_bound: 3.0_f64.sqrt(), start_velocity, reach, ..MpecOptions::new(engine) };
        options.schedule.seconds = Some(SECONDS);
        let began = Instant::now();
        let report = fit(&members, &options).expect("a program");
        let seconds = began.elapsed().as_secs_f64();
        let found = report.fit.estimates.first().map_or(f64::NAN, |estimate| estimate.value);
        let ended = match report.fit.converged {
            true => "solved",
            // Modes could not be fixed.
            false if report.certificate.stationarity.is_infinite() => "out of time",
            false => "not solved",
        };
        let reach = reach.map_or("all".to_owned(), |reach| format!("{reach} m"));
        println!(
            "| {engine:?} | {particles} | {steps} | {reach} | {} | {seconds:.1} | {} | {ended} | {found:.5} |",
            report.variables, report.iterations,
        );
        ended != "out of time"
    }
}
