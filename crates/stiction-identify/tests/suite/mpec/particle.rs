//! Case C-19: friction of particles from noisy positions, all steps as one program.

use std::time::Instant;

use nalgebra::Vector3;
use stiction::{Simulation, scene};
use stiction_identify::{
    Noise, Parameter, Recording, Target, Track,
    mpec::{Member, MpecOptions, MpecReport, StartVelocity, fit, program_of, program::Engine},
};
use stiction_study::Stream;

const SCENE: &str = include_str!("particle.toml");

/// A scene with the particle somewhere else and with another friction.
fn overrides(start: [f64; 2], mu: f64) -> Vec<(String, String)> {
    vec![
        ("body.particle.position".to_owned(), format!("{start:?}")),
        ("contact_default.friction".to_owned(), format!("{mu:?}")),
    ]
}

/// The true motion, seen at the end of every step with errors between −ε and ε.
pub(super) fn seen(name: &str, (start, mu): ([f64; 2], f64), epsilon: f64, seed: u64) -> Recording {
    let scene = scene::parse_with(SCENE, "particle.toml", &overrides(start, mu)).unwrap();
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let mut noise = Stream::new(seed, 0);
    let mut error = || epsilon * (2.0 * noise.unit() - 1.0);
    let (mut times, mut positions) = (Vec::new(), Vec::new());
    for step in 0..=100 {
        let q = &simulation.state().q;
        times.push(0.05 * f64::from(step));
        positions.push(Some(Vector3::new(q[0] + error(), q[1] + error(), f64::NAN)));
        let _ = simulation.step().unwrap();
    }
    let rows = times.len();
    let track = Track {
        body: "particle".into(),
        point: Vector3::zeros(),
        positions,
        orientations: vec![None; rows],
        velocities: vec![None; rows],
        // The standard deviation of an even distribution.
        noise: Noise { position: epsilon / 3.0_f64.sqrt(), angle: 1.0 },
    };
    Recording { name: name.into(), times, tracks: vec![track] }
}

pub(super) fn target(name: &str, start: [f64; 2]) -> Target {
    let text = SCENE.replace("position = [0.0, 3.0]", &format!("position = {start:?}"));
    let mu = Parameter::new(name, "contact_default.friction", 1.0, [0.0, 1.0]);
    Target { text, file_name: "particle.toml".into(), parameters: vec![mu] }
}

fn options(engine: Engine) -> MpecOptions {
    MpecOptions {
        error_bound: 3.0_f64.sqrt(),
        start_velocity: StartVelocity::AsInScene,
        ..MpecOptions::new(engine)
    }
}

fn table_7_1(engine: Engine, epsilon: f64) -> MpecReport {
    let recording = seen("particle", ([0.0, 3.0], 0.2), epsilon, 1);
    let target = target("mu", [0.0, 3.0]);
    let members = [Member::whole(&target, &recording)];
    let began = Instant::now();
    let mut options = options(engine);
    options.schedule.print_level = std::env::var("MPEC_PRINT").map_or(0, |x| x.parse().unwrap());
    let report = fit(&members, &options).unwrap();
    let deviation = epsilon / 3.0_f64.sqrt();
    println!(
        "{engine:?} eps {epsilon:e}: {:?} objective {:e} {:?} {:?} iterations {} in {:.2?}",
        report.fit.estimates[0],
        2.0 * deviation * deviation * report.certificate.objective,
        report.certificate,
        report.modes,
        report.iterations,
        began.elapsed()
    );
    report
}

#[test]
fn one_particle() {
    let recording = seen("particle", ([0.0, 3.0], 0.2), 1e-3, 1);
    let target = target("mu", [0.0, 3.0]);
    let program = program_of(&[Member::whole(&target, &recording)], &options(Engine::Ipopt)).unwrap();
    assert_eq!(program.variables.len(), 1003);
    for epsilon in [5e-5, 5e-4, 5e-3, 5e-2, 0.5] {
        for engine in Engine::available() {
            if *engine == Engine::Ipopt {
                table_7_1(*engine, epsilon);
            }
        }
    }
}
