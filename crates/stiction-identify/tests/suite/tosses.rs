//! Real tosses of a cube and of two blocks with a hinge: parameters from some, predictions of others.
//!
//! The recordings are read from the folder that `STICTION_DATA` names; without it the test prints a message and does nothing.

use std::path::{Path, PathBuf};

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use rayon::prelude::*;
use stiction::{Scene, Simulation, multibody::rotation};
use stiction_identify::{
    Noise, Orientation, Parameter, Recording, Start, Target, Track,
    shooting::{Fit, FitOptions},
};

const CUBE: &str = include_str!("tosses/cube.toml");
const ELBOW: &str = include_str!("tosses/elbow.toml");
const NOISE: Noise = Noise { position: 1e-3, angle: 1e-2 };

/// Folder of the recordings; none if it is not given, except in CI.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("STICTION_DATA").map(PathBuf::from);
    assert!(folder.is_some() || std::env::var_os("CI").is_none(), "CI must name the recordings by STICTION_DATA");
    if folder.is_none() {
        println!("skipped: STICTION_DATA does not name the folder of the recordings");
    }
    folder
}

/// Rows of numbers of the tosses of a folder, by name.
// The recordings are files.
#[allow(clippy::disallowed_methods)]
fn rows(folder: &Path) -> Vec<(String, Vec<Vec<f64>>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "csv")).collect();
    files.sort();
    let numbers = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), text.lines().skip(1).map(numbers).collect())
    };
    files.into_iter().map(read).collect()
}

fn track(body: &str) -> Track {
    Track {
        body: body.to_owned(),
        point: Vector3::zeros(),
        positions: Vec::new(),
        orientations: Vec::new(),
        velocities: Vec::new(),
        noise: NOISE,
    }
}

fn see(track: &mut Track, position: Vector3<f64>, turned: UnitQuaternion<f64>, velocity: [Vector3<f64>; 2]) {
    track.positions.push(Some(position));
    track.orientations.push(Some(Orientation::Quaternion(turned)));
    track.velocities.push(Some(velocity));
}

/// t, p, q (w first), v in the world, ω in the body.
fn cube((name, rows): &(String, Vec<Vec<f64>>)) -> Recording {
    let mut seen = track("cube");
    for row in rows {
        let turned = UnitQuaternion::new_normalize(Quaternion::new(row[4], row[5], row[6], row[7]));
        let at = |k: usize| Vector3::new(row[k], row[k + 1], row[k + 2]);
        see(&mut seen, at(1), turned, [at(8), turned * at(11)]);
    }
    Recording { name: name.clone(), times: rows.iter().map(|row| row[0]).collect(), tracks: vec![seen] }
}

/// t, q, p of the first block, the angle of the hinge, ω in the body, v in the world, the rate of the hinge.
fn elbow((name, rows): &(String, Vec<Vec<f64>>)) -> Recording {
    let (mut first, mut second) = (track("first"), track("second"));
    for row in rows {
        let turned = UnitQuaternion::new_normalize(Quaternion::new(row[1], row[2], row[3], row[4]));
        let at = |k: usize| Vector3::new(row[k], row[k + 1], row[k + 2]);
        let (position, velocity, spin) = (at(5), at(12), turned * at(9));
        see(&mut first, position, turned, [velocity, spin]);
        let other = turned * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), row[8]);
        let hinge = turned * Vector3::new(-0.035, 0.06, 0.0);
        let arm = other * Vector3::new(0.035, 0.0, 0.0);
        let faster = spin + turned * Vector3::y() * row[15];
        let moving = velocity + spin.cross(&hinge) + faster.cross(&arm);
        see(&mut second, position + hinge + arm, other, [moving, faster]);
    }
    Recording { name: name.clone(), times: rows.iter().map(|row| row[0]).collect(), tracks: vec![first, second] }
}

fn unknown(name: &str, path: &str, start: f64, bounds: [f64; 2], scale: f64) -> Parameter {
    Parameter { scale, ..Parameter::new(name, path, start, bounds) }
}

/// Friction, restitution, and the pose of the table: its height and tilt.
fn target(text: &str, friction: f64) -> Target {
    let tilt = |name: &str, axis: u32| {
        let path = format!("body.ground.orientation.roll_pitch_yaw.{axis}");
        unknown(name, &path, 0.0, [-0.1, 0.1], 0.02)
    };
    let parameters = vec![
        unknown("friction", "contact_default.friction", friction, [0.0, 1.0], 0.2),
        unknown("restitution", "contact_default.restitution", 0.2, [0.0, 1.0], 0.2),
        unknown("height", "body.ground.position.2", 0.0, [-0.02, 0.02], 0.01),
        tilt("roll", 0),
        tilt("pitch", 1),
    ];
    Target { text: text.to_owned(), file_name: "toss.toml".into(), parameters }
}

/// Mean distances over a run from a row on: positions, m, and rotations, rad, over all bodies.
fn misses(scene: &Scene, recording: &Recording, (first, last): (usize, usize), flies: bool) -> [f64; 2] {
    let start = Start::measured(&scene.model, recording, first);
    let mut simulation = Simulation::from_scene(scene).unwrap();
    simulation.set_state(&start.state).unwrap();
    let spacing = recording.times[1] - recording.times[0];
    let steps = (0..1_000_000).take_while(|k| f64::from(*k) < spacing / simulation.step_size() - 0.5).count();
    let mut sums = [0.0; 2];
    for row in first + 1..=last {
        for _ in 0..steps {
            if !flies && simulation.step().is_err() {
                return [f64::NAN; 2];
            }
        }
        let t = recording.times[row] - recording.times[first];
        for track in &recording.tracks {
            let id = scene.model.find_body(&track.body).unwrap();
            let (pose, twist) = (simulation.configuration().pose(id), simulation.configuration().twist(id));
            let turned = UnitQuaternion::from_rotation_matrix(&pose.rotation);
            let (position, turned) = if flies {
                let fallen = Vector3::z() * (-0.5 * 9.81 * t * t);
                let spun = rotation::from_rotation_vector(&(twist.angular * t)) * turned;
                (pose.translation.vector + twist.linear * t + fallen, spun)
            } else {
                (pose.translation.vector, turned)
            };
            let Some(Orientation::Quaternion(seen)) = track.orientations[row] else { continue };
            sums[0] += (position - track.positions[row].unwrap()).norm();
            sums[1] += rotation::to_rotation_vector(&(turned * seen.conjugate())).norm();
        }
    }
    let count = (recording.tracks.len() * (last - first).max(1)) as f64;
    sums.map(|sum| sum / count)
}

/// The row before the first touch of the table: its velocity has been changed by gravity only.
fn before_touch(recording: &Recording) -> usize {
    let falls = |row: usize| {
        let of = |row: usize| recording.tracks[0].velocities[row].unwrap()[0].z;
        let dt = recording.times[row + 1] - recording.times[row];
        of(row + 1) - of(row) < 0.5 * 9.81 * dt
    };
    (1..recording.times.len() - 1).find(|row| !falls(*row)).map_or(0, |row| row.saturating_sub(1))
}

/// Rows after the first touch that "one impact ahead" compares: a tenth of a second.
const AHEAD: usize = 15;

/// Medians over recordings: position and rotation, one impact ahead and over whole tosses.
fn medians(scene: &Scene, recordings: &[Recording], flies: bool) -> [f64; 4] {
    let of = |recording: &Recording| {
        let (touch, last) = (before_touch(recording), recording.times.len() - 1);
        let [x, turn] = misses(scene, recording, (touch, (touch + AHEAD).min(last)), flies);
        let [whole, whole_turn] = misses(scene, recording, (0, last), flies);
        [x, turn, whole, whole_turn]
    };
    let all: Vec<[f64; 4]> = recordings.par_iter().map(of).collect();
    std::array::from_fn(|k| {
        let mut column: Vec<f64> = all.iter().map(|row| row[k]).collect();
        column.sort_by(f64::total_cmp);
        column[column.len() / 2]
    })
}

fn print(name: &str, size: f64, [x, turn, whole, whole_turn]: [f64; 4]) {
    println!(
        "| {name} | {:.1} % | {:.1}° | {:.1} % | {:.1}° |",
        100.0 * x / size,
        turn.to_degrees(),
        100.0 * whole / size,
        whole_turn.to_degrees()
    );
}

/// Fits some tosses and predicts others, each beside the constants of the authors and flight without a table.
fn fit_and_predict(
    target: &Target,
    recordings: &[Recording],
    given: [f64; 2],
    size: f64,
    count: usize,
) -> [[f64; 4]; 3] {
    let (fitted, predicted): (Vec<_>, Vec<_>) = recordings.iter().cloned().enumerate().partition(|(k, _)| k % 2 == 0);
    let fitted: Vec<_> = fitted.into_iter().map(|(_, recording)| recording).take(count).collect();
    let predicted: Vec<_> = predicted.into_iter().map(|(_, recording)| recording).collect();
    let options = FitOptions { huber: 10.0, iterations: 10, ..FitOptions::default() };
    let report = Fit::of_pieces(target, &fitted, 40, options).run().unwrap();
    println!("left out: {:?}", report.left_out);
    for estimate in &report.estimates {
        println!("{}: {:.4} ± {:.4}", estimate.name, estimate.value, estimate.deviation_by_misfit.unwrap_or(f64::NAN));
    }
    let as_given = target.scene(&[given[0], given[1], 0.0, 0.0, 0.0]).unwrap();
    let ours = target.scene(&report.values()).unwrap();
    let rows = [
        ("flight without a table", medians(&as_given, &predicted, true)),
        ("constants as given", medians(&as_given, &predicted, false)),
        ("identified", medians(&ours, &predicted, false)),
    ];
    println!("| {} tosses predicted | one impact | | whole toss | |", predicted.len());
    for (name, row) in &rows {
        print(name, size, *row);
    }
    rows.map(|(_, row)| row)
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn a_cube_is_identified_and_predicted() {
    let Some(folder) = data() else { return };
    let recordings: Vec<_> = rows(&folder.join("cube_toss")).iter().map(cube).collect();
    let [flight, given, ours] = fit_and_predict(&target(CUBE, 0.5), &recordings, [0.18, 0.125], 0.1048, 12);
    assert!(ours[0] < 0.2 * flight[0] && ours[2] < 0.1 * flight[2], "{ours:?} {flight:?}");
    assert!(ours[0] < given[0], "one impact ahead: {ours:?} {given:?}");
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn two_blocks_with_a_hinge_are_identified_and_predicted() {
    let Some(folder) = data() else { return };
    let recordings: Vec<_> = rows(&folder.join("elbow_toss")).iter().map(elbow).collect();
    let [flight, given, ours] = fit_and_predict(&target(ELBOW, 0.5), &recordings, [0.3, 0.0], 0.1, 8);
    assert!(ours[0] < 0.5 * flight[0] && ours[2] < 0.5 * flight[2], "{ours:?} {flight:?}");
    assert!(ours[0] < given[0], "one impact ahead: {ours:?} {given:?}");
}
