//! Case C-26: friction of a sliding block from camera data.

use nalgebra::Vector3;
use stiction::{Simulation, scene};
use stiction_identify::{
    Noise, Orientation, Parameter, Recording, Target, Track,
    shooting::{Fit, FitOptions, windows},
};
use stiction_study::Stream;

pub(crate) const SCENE: &str = include_str!("../../../../scenes/pulled_block.toml");
pub(crate) const NOISE: Noise = Noise { position: 1e-3, angle: 1e-2 };

/// The true motion in steps of a tenth, measured at every frame with noise.
pub(crate) fn seen(seed: u64) -> Recording {
    let fine = [("simulation.step".to_owned(), format!("{:?}", 1.0 / 600.0))];
    let scene = scene::parse_with(SCENE, "sliding_block.toml", &fine).unwrap();
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let mut noise = Stream::new(seed, 0);
    let mut normal = |deviation: f64| {
        let (a, b) = (noise.unit(), noise.unit());
        deviation * (-2.0 * libm::log(1.0 - a)).sqrt() * libm::cos(std::f64::consts::TAU * b)
    };
    let (mut times, mut positions, mut orientations) = (Vec::new(), Vec::new(), Vec::new());
    for frame in 0..=90 {
        let q = &simulation.state().q;
        times.push(f64::from(frame) / 60.0);
        positions.push(Some(Vector3::new(q[0] + normal(NOISE.position), q[1] + normal(NOISE.position), f64::NAN)));
        orientations.push(Some(Orientation::Angle(q[2] + normal(NOISE.angle))));
        for _ in 0..10 {
            let _ = simulation.step().unwrap();
        }
    }
    let velocities = vec![None; times.len()];
    let track =
        Track { body: "block".into(), point: Vector3::zeros(), positions, orientations, velocities, noise: NOISE };
    Recording { name: format!("camera {seed}"), times, tracks: vec![track] }
}

pub(crate) fn target() -> Target {
    Target {
        text: SCENE.to_owned(),
        file_name: "sliding_block.toml".into(),
        parameters: vec![Parameter::new("mu", "body.block.support.friction", 0.8, [0.0, 1.0])],
    }
}

/// The same with a friction polygon of eight directions, the first along x: another model than the one that made the data.
pub(crate) fn with_polygon() -> Target {
    let cone = target();
    let text = cone.text.replace("[simulation]\n", "[simulation]\npreset = \"stewart-trinkle\"\n")
        + "\n[scheme]\ndirections = 8\n";
    Target { text, ..cone }
}

#[test]
fn friction_of_the_whole_history_is_near_with_a_polygon() {
    let recording = seen(1);
    let report = Fit::of_all(&with_polygon(), std::slice::from_ref(&recording), FitOptions::default()).run().unwrap();
    let mu = &report.estimates[0];
    println!("{mu:?} misfit {} after {} iterations", report.misfit, report.history.len() - 1);
    assert!((mu.value - 0.33).abs() < 0.02, "{report:?}");
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn friction_of_the_whole_history_is_right_and_says_how_sure_it_is() {
    for seed in 1..=5 {
        let recording = seen(seed);
        let target = target();
        let report = Fit::of_all(&target, std::slice::from_ref(&recording), FitOptions::default()).run().unwrap();
        let mu = &report.estimates[0];
        println!("{mu:?} misfit {} after {} iterations", report.misfit, report.history.len() - 1);
        assert!(report.converged && (mu.value - 0.33).abs() < 0.005, "{report:?}");
        assert!(mu.deviation.unwrap() < 1e-3 && (report.misfit - 1.0).abs() < 0.2, "{report:?}");
    }
}

/// Windows end at every third row, because neighbours share nearly all measurements; the study of `identifications/sliding_block.toml` has
/// all.
const EVERY: usize = 3;

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn longer_windows_scatter_less() {
    let recording = seen(1);
    let scatter = |length: usize| {
        let found = windows(&target(), &recording, (length, EVERY), FitOptions::default()).unwrap();
        assert!(found.iter().all(|window| (0.0..=1.0).contains(&window.values[0])));
        let mean = found.iter().map(|window| window.values[0]).sum::<f64>() / found.len() as f64;
        let spread = found.iter().map(|window| (window.values[0] - mean).powi(2)).sum::<f64>() / found.len() as f64;
        println!("{length}: {mean} ± {}", spread.sqrt());
        (spread.sqrt(), found.last().unwrap().clone())
    };
    let (five, _) = scatter(5);
    let (twenty, _) = scatter(20);
    let (fifty, last) = scatter(50);
    assert!(five > twenty && twenty > fifty, "{five} {twenty} {fifty}");
    let whole = Fit::of_all(&target(), std::slice::from_ref(&recording), FitOptions::default()).run().unwrap();
    let deviation = last.deviations[0].unwrap();
    assert!((last.values[0] - whole.estimates[0].value).abs() < 3.0 * deviation);
}

/// The recordings of `identifications/sliding_block.toml`, as files: millimetres, degrees and milliseconds, four frames lost.
fn file(seed: u64) -> String {
    let Recording { times, tracks, .. } = seen(seed);
    let mut text = "frame_time,block_x,block_y,block_angle\n".to_owned();
    for (row, time) in times.iter().enumerate() {
        let (Some(x), Some(Orientation::Angle(angle))) = (tracks[0].positions[row], tracks[0].orientations[row]) else {
            panic!("everything is seen");
        };
        let line = if (30..34).contains(&row) {
            format!("{:.4},NaN,NaN,NaN\n", 1e3 * time)
        } else {
            format!("{:.4},{:.3},{:.3},{:.4}\n", 1e3 * time, 1e3 * x.x, 1e3 * x.y, angle.to_degrees())
        };
        text.push_str(&line);
    }
    text
}

#[test]
fn the_recordings_of_the_example_are_made_here() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let committed = [
        (1, "sliding_block.csv", include_str!("../../../../identifications/sliding_block.csv")),
        (2, "sliding_block_again.csv", include_str!("../../../../identifications/sliding_block_again.csv")),
    ];
    let differs = committed.map(|(seed, name, committed)| {
        let made = file(seed);
        // Expected contents, for those who change the scene.
        #[allow(clippy::disallowed_methods)]
        std::fs::write(folder.join(name), &made).unwrap();
        made != committed
    });
    assert_eq!(differs, [false; 2], "the recordings are not what the scene gives; the right ones are in {folder:?}");
}
