//! Case C-19: friction of particles from noisy positions, by direct transcription.

// Times are printed.
#![allow(clippy::disallowed_methods)]

use std::time::Instant;

use nalgebra::Vector3;
use stiction::{Simulation, scene};
use stiction_identify::{
    Noise, Parameter, Recording, Target, Track,
    mpec::{Member, MpecOptions, MpecReport, StartVelocity, fit, program::Engine, program_of},
};
use stiction_study::Stream;
use stiction_testkit::{Reference, reference};

const SCENE: &str = include_str!("particle.toml");

/// The scene of a particle that starts somewhere, with this friction.
fn text(start: [f64; 2], mu: f64) -> String {
    let moved = SCENE.replace("position = [0.0, 3.0]", &format!("position = {start:?}"));
    moved.replace("friction = 0.2", &format!("friction = {mu:?}"))
}

/// The true motion, measured at the end of every step with errors between −ε and ε.
pub(super) fn seen(name: &str, (start, mu): ([f64; 2], f64), epsilon: f64, seed: u64) -> Recording {
    let scene = scene::parse(&text(start, mu), "particle.toml").unwrap();
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
        // Standard deviation of a uniform distribution.
        noise: Noise { position: epsilon / 3.0_f64.sqrt(), angle: 1.0 },
    };
    Recording { name: name.into(), times, tracks: vec![track] }
}

/// The initial guess of the friction is 1, as in the source.
pub(super) fn target(name: &str, start: [f64; 2]) -> Target {
    let mu = Parameter::new(name, "contact_default.friction", 1.0, [0.0, 1.0]);
    Target { text: text(start, 0.2), file_name: "particle.toml".into(), parameters: vec![mu] }
}

/// Errors are in a box of ±ε, which is √3 standard deviations; particles start at rest.
fn options(engine: Engine) -> MpecOptions {
    let error_bound = 3.0_f64.sqrt();
    MpecOptions { error_bound, start_velocity: StartVelocity::AsInScene, ..MpecOptions::new(engine) }
}

/// Properties of every row of both tables; `truth` by particle.
fn check(case: &Reference, report: &MpecReport, truth: &[f64], epsilon: f64) {
    let deviations = case.number("tolerance.deviations");
    let certificate = &report.certificate;
    assert!(report.fit.converged, "{certificate:?}");
    assert!(certificate.complementarity < case.number("tolerance.complementarity.abs"), "{certificate:?}");
    assert!(certificate.violation < 1e-8 && certificate.stationarity < 1e-6, "{certificate:?}");
    for (estimate, truth) in report.fit.estimates.iter().zip(truth) {
        assert!((0.0..=1.0).contains(&estimate.value));
        let off = (estimate.value - truth) / estimate.deviation.unwrap();
        assert!(off.abs() <= deviations, "{estimate:?} is {off} deviations from {truth}");
    }
    // The program has ½ (n/σ)² with σ² = ε²/3; the source Σ n².
    let (squares, count) = (epsilon * epsilon, truth.len() as f64);
    let objective = certificate.objective * 2.0 * squares / 3.0;
    let expected = count * squares * case.number("derived.objective_per_epsilon2");
    let spread = count.sqrt() * squares * case.number("derived.objective_deviation_per_epsilon2");
    println!("  objective {objective:.4e}, expected {expected:.4e} ± {spread:.1e}");
    assert!((objective - expected).abs() <= deviations * spread);
}

fn say(report: &MpecReport, began: Instant) {
    let MpecReport { engine, iterations, variables, certificate, modes, .. } = report;
    let time = began.elapsed().as_secs_f64();
    println!("{engine:?}: {variables} variables, {iterations} iterations, {time:.1} s; {certificate:?} {modes:?}");
}

#[test]
fn the_noise_free_motion_is_that_of_the_case() {
    let case = reference("c19");
    let mut simulation = Simulation::from_scene(&scene::parse(SCENE, "particle.toml").unwrap()).unwrap();
    let rows = case.table("derived.motion");
    for step in 0..=100 {
        let state = simulation.state();
        for row in rows.iter().filter(|row| row["step"] == f64::from(step)) {
            let found = [state.q[0], state.q[1], state.v[0], state.v[1]];
            for (found, key) in found.iter().zip(["x", "y", "vx", "vy"]) {
                assert!((found - row[key]).abs() < case.number("tolerance.motion.abs"), "{step} {key}: {found}");
            }
        }
        let _ = simulation.step().unwrap();
    }
}

/// Numbers of particles that the report of the case omits; it checks the others and table 7.1 (`stiction reproduce C-19`).
#[test]
fn table_7_2_several_particles_at_once() {
    let case = reference("c19");
    let epsilon = case.number("parameters.several.epsilon");
    let in_report = case.numbers("parameters.several.in_report");
    for row in case.table("published.table_7_2") {
        if in_report.contains(&row["particles"]) {
            continue;
        }
        #[expect(clippy::cast_sign_loss, reason = "a count")]
        let count = row["particles"] as u64;
        let mut random = Stream::new(7, count);
        let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
        let truth: Vec<([f64; 2], f64)> =
            (0..count).map(|_| ([between(-10.0, 10.0), between(0.0, 5.0)], 0.5 - between(0.0, 0.5))).collect();
        let name = |k: usize| format!("mu {k}");
        let recordings: Vec<_> =
            truth.iter().enumerate().map(|(k, truth)| seen(&name(k), *truth, epsilon, 100 + k as u64)).collect();
        let targets: Vec<_> = truth.iter().enumerate().map(|(k, (start, _))| target(&name(k), *start)).collect();
        let members: Vec<_> = targets.iter().zip(&recordings).map(|(t, r)| Member::whole(t, r)).collect();
        let began = Instant::now();
        let report = fit(&members, &options(Engine::Ipopt)).unwrap();
        say(&report, began);
        assert_eq!(report.variables as f64, row["variables"]);
        assert_eq!(report.blocks, vec![1003; truth.len()]);
        let truth: Vec<f64> = truth.iter().map(|(_, mu)| *mu).collect();
        let squares = report.fit.values().iter().zip(&truth).map(|(found, truth)| (found - truth).powi(2)).sum::<f64>();
        println!("  rms of mu {:e}, published {}", (squares / truth.len() as f64).sqrt(), row["friction_rms"]);
        check(&case, &report, &truth, epsilon);
    }
}

#[test]
fn particles_of_one_scene_are_parts_as_well() {
    let recording = seen("particle", ([0.0, 3.0], 0.2), 5e-3, 3);
    let second = "\n[[body]]\nname = \"other\"\nparticle = true\nmass = 1.0\nposition = [0.5, 3.0]\n[[body.shape]]\npoint = {}\n\n\
        [[contact]]\nbetween = [\"particle\", \"other\"]\ncollide = false\n";
    let mut target = target("mu", [0.0, 3.0]);
    target.text += second;
    target.parameters.clear();
    let mut both = recording.clone();
    let mut other = recording.tracks[0].clone();
    other.body = "other".into();
    both.tracks.push(other);
    let member = Member { rows: 12..20, ..Member::whole(&target, &both) };
    let program = program_of(&[member], &options(Engine::Ipopt)).unwrap();
    assert_eq!(stiction_identify::mpec::program::blocks(&program).len(), 2);
}

/// The whole motion, without contacts further away than in one step: ripopt fails with many open contacts (docs/identify.md).
#[test]
fn ripopt_finds_the_same() {
    if !Engine::available().contains(&Engine::Ripopt) {
        println!("not in this build: ripopt");
        return;
    }
    let (epsilon, case) = (5e-3, reference("c19"));
    let (recording, target) = (seen("particle", ([0.0, 3.0], 0.2), epsilon, 1), target("mu", [0.0, 3.0]));
    let [report, referee] = [Engine::Ripopt, Engine::Ipopt].map(|engine| {
        let mut options = MpecOptions { reach: Some(0.5), ..options(engine) };
        options.schedule.seconds = Some(300.0);
        let began = Instant::now();
        let report = fit(&[Member::whole(&target, &recording)], &options).unwrap();
        say(&report, began);
        report
    });
    check(&case, &report, &[0.2], epsilon);
    let (found, expected) = (&report.fit.estimates[0], &referee.fit.estimates[0]);
    assert!((found.value - expected.value).abs() < 1e-3 * expected.deviation.unwrap(), "{found:?} {expected:?}");
}
