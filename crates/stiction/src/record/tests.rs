//! Whole recordings: written, read back, continued, cut and lost.
#![allow(clippy::disallowed_methods)] // Tests make and break files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use nalgebra::Vector2;
use stiction_geometry::{Dimension, Shape, planar};
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, JointDof, JointKind, Layer, ModelBuilder, Motor, State, SupportBuilder,
};
use stiction_stepping::{Coordinates, Preset};

use super::{
    Ending, Finished, Recorder, Recording, RecordingError, RunLabels, ViewLimits,
    table::{Cell, Kind, TableWriter},
    table_reader::TableReader,
    view_page,
};
use crate::Simulation;

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-record-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A box that falls, lands on an edge, topples and slides.
fn falling_box() -> Simulation {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).expect("gravity");
    let floor = planar::Shape::half_plane(Vector2::y()).expect("floor");
    builder.body(BodyBuilder::fixed("floor").shape(Shape::Planar(floor))).expect("floor");
    let shape = planar::Shape::rectangle([0.2, 0.1]).expect("box");
    let body = BodyBuilder::planar("box", 1.0, 0.02).position(0.0, 0.4, 0.0).angle(0.3).velocity(1.0, 0.0, 0.0);
    builder.body(body.shape(Shape::Planar(shape))).expect("box");
    builder.default_contact(ContactRule { friction: 0.3, ..ContactRule::default() }).expect("rule");
    Simulation::new(builder.build().expect("model"), Preset::StewartTrinkle.scheme(), 0.002).expect("simulation")
}

/// A leg of two links that a servo swings over the floor, with a spring, a limit and dry friction.
fn driven_leg(coordinates: Coordinates) -> Simulation {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).expect("gravity");
    let floor = planar::Shape::half_plane(Vector2::y()).expect("floor");
    builder.body(BodyBuilder::fixed("floor").shape(Shape::Planar(floor))).expect("floor");
    let mut above = BodyId::WORLD;
    let acting = [
        JointDof { armature: 0.01, friction: 0.02, ..JointDof::default() },
        JointDof { stiffness: 2.0, damping: 0.01, limits: Some([-0.7, 0.7]), ..JointDof::default() },
    ];
    for (name, y, joint_dof) in [("thigh", 0.85, acting[0]), ("shin", 0.55, acting[1])] {
        let foot = planar::Shape::disc(0.1).expect("disc");
        let link = BodyBuilder::planar(name, 0.5, 0.01).position(0.0, y - 0.15, 0.0).shape(Shape::Planar(foot));
        let link = builder.body(link).expect("link");
        let place = nalgebra::Vector3::new(0.0, y, 0.0);
        let bodies = (above, link);
        let joint = builder.joint_at(name, JointKind::Revolute, bodies, place, nalgebra::Vector3::x()).expect("joint");
        builder.joint_dof((joint, 0), joint_dof).expect("joint DOF");
        if name == "thigh" {
            let servo = Motor::position("hip", (joint, 0), "sin(9 * t)".parse().expect("control"), (30.0, 0.5));
            builder.motor(Motor { force_limits: Some([-5.0, 5.0]), ..servo }).expect("motor");
        }
        above = link;
    }
    builder.default_contact(ContactRule { friction: 0.3, ..ContactRule::default() }).expect("rule");
    let mut scheme = Preset::Ncp.scheme();
    scheme.coordinates = coordinates;
    Simulation::new(builder.build().expect("model"), scheme, 0.002).expect("simulation")
}

/// Recorded joint impulses are the joint reactions, also in reduced coordinates.
#[test]
fn recordings_hold_what_joints_carry() {
    let folder = Folder::new("carried");
    let (_, _) = record_of(driven_leg(Coordinates::Reduced), &folder.0, 1, 1);
    let recording = Recording::read(&folder.0).expect("recording");
    let mut simulation = driven_leg(Coordinates::Reduced);
    let _ = simulation.step().expect("step");
    let recorded = recording.state(1).expect("frame").joint_impulses;
    assert_eq!(recorded, simulation.joint_impulses());
    assert!(recorded.iter().any(|impulse| impulse.abs() > 1e-3));
}

/// A box with a compliant layer that lands on an edge, beside one without that lies on the floor.
fn soft_box() -> Simulation {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).expect("gravity");
    let floor = planar::Shape::half_plane(Vector2::y()).expect("floor");
    builder.body(BodyBuilder::fixed("floor").shape(Shape::Planar(floor))).expect("floor");
    let shape = || Shape::Planar(planar::Shape::rectangle([0.2, 0.1]).expect("box"));
    let body = BodyBuilder::planar("box", 1.0, 0.02).position(0.0, 0.25, 0.0).angle(0.3).velocity(1.0, 0.0, 0.0);
    let coat = Layer::shearing([2e3, 1e3], [20.0, 10.0]).with_depth(0.02);
    builder.body(body.shape(shape()).layer(coat)).expect("box");
    builder.body(BodyBuilder::planar("hard", 1.0, 0.02).position(3.0, 0.1, 0.0).shape(shape())).expect("box");
    builder.default_contact(ContactRule { friction: 0.3, ..ContactRule::default() }).expect("rule");
    Simulation::new(builder.build().expect("model"), Preset::Ncp.scheme(), 0.002).expect("simulation")
}

fn labels(record_every: u32) -> RunLabels {
    RunLabels { scene: "box".into(), preset: "stewart-trinkle".into(), solver: "lemke".into(), record_every }
}

/// A square that slides and spins on its tripod.
fn sliding_square() -> Simulation {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -9.81).expect("gravity");
    let body = BodyBuilder::planar("part", 1.0, 0.02).velocity(1.0, 0.0, 0.0).angular_velocity(0.0, 0.0, 3.0);
    let body = builder.body(body).expect("part");
    let support = SupportBuilder::tripod([[0.1, 0.0], [-0.1, 0.1], [-0.1, -0.1]]).friction(0.3);
    builder.support(body, &support).expect("support");
    Simulation::new(builder.build().expect("model"), Preset::Ncp.scheme(), 0.002).expect("simulation")
}

fn record(folder: &Path, steps: usize, record_every: u32) -> (Finished, Vec<State>) {
    record_of(falling_box(), folder, steps, record_every)
}

fn record_of(mut simulation: Simulation, folder: &Path, steps: usize, record_every: u32) -> (Finished, Vec<State>) {
    let mut recorder = Recorder::create(folder, &labels(record_every), &simulation).expect("recorder");
    let mut states = vec![simulation.state().clone()];
    for _ in 0..steps {
        let report = simulation.step().expect("step");
        recorder.record(&simulation, &report);
        states.push(simulation.state().clone());
    }
    (recorder.finish(&simulation, 0.5, Ending::Finished), states)
}

#[test]
fn a_recording_gives_back_every_state_to_the_bit() {
    let folder = Folder::new("bits");
    let (finished, states) = record(&folder.0, 400, 1);
    assert!(finished.trouble.is_none() && finished.files.len() == 4);
    let recording = Recording::read(&folder.0).expect("recording");
    assert_eq!(recording.len(), states.len());
    for (k, state) in states.iter().enumerate() {
        assert!(recording.state(k).expect("frame").bit_equal(state), "frame {k}");
    }
    let touching = recording.frames().filter(|frame| !frame.contacts.is_empty()).count();
    assert!(touching > 100, "the box lay on the floor in only {touching} frames");
}

#[test]
fn events_can_be_looked_up_in_the_contact_table() {
    let folder = Folder::new("labels");
    let (finished, _) = record(&folder.0, 400, 1);
    let path = folder.0.join("contacts.parquet");
    let table = TableReader::open(&path).expect("table");
    let column = |name: &str| table.integers(name).expect("column");
    let (labels, times) = (table.texts("contact").expect("labels"), table.reals("t").expect("times"));
    for event in finished.summary.events.iter().filter(|event| event.kind != "separate") {
        let found =
            labels.iter().zip(&times).any(|(label, t)| label.data() == event.contact.as_bytes() && *t == event.t);
        assert!(found, "{event:?}");
    }
    for (label, (a, b)) in labels.iter().zip(column("feature_a").iter().zip(column("feature_b"))) {
        assert_eq!(label.data(), format!("floor/box:{a}-{b}").as_bytes());
    }
    assert!(column("shape_b").iter().all(|shape| *shape == 0), "the only shape of the box");
}

#[test]
fn a_run_continued_from_a_recording_is_the_same_run() {
    let new = [
        ("continue", falling_box as fn() -> Simulation),
        ("continue-feet", sliding_square),
        ("continue-soft", soft_box),
        ("continue-driven", || driven_leg(Coordinates::Maximal)),
        ("continue-reduced", || driven_leg(Coordinates::Reduced)),
    ];
    for (name, new) in new {
        let folder = Folder::new(name);
        let (_, states) = record_of(new(), &folder.0, 200, 1);
        let recording = Recording::read(&folder.0).expect("recording");
        let mut simulation = new();
        simulation.set_state(&recording.state(100).expect("frame")).expect("same model");
        assert!(simulation.state().bit_equal(&states[100]), "{name}");
        for state in &states[101..] {
            let _ = simulation.step().expect("step");
            assert!(simulation.state().bit_equal(state), "{name}");
        }
    }
}

#[test]
fn thinned_recordings_hold_every_kth_step() {
    let folder = Folder::new("thin");
    let (finished, states) = record(&folder.0, 100, 7);
    assert_eq!(finished.summary.steps, 100);
    let recording = Recording::read(&folder.0).expect("recording");
    let steps: Vec<_> = recording.frames().map(|frame| frame.step).collect();
    assert_eq!(steps, (0..=100).step_by(7).collect::<Vec<_>>());
    for frame in recording.frames() {
        assert_eq!(frame.q, states[frame.step as usize].q);
    }
}

#[test]
fn the_summary_tells_what_happened() {
    let folder = Folder::new("summary");
    let (finished, states) = record(&folder.0, 600, 1);
    let summary = finished.summary;
    let written = fs::read_to_string(folder.0.join("summary.json")).expect("summary");
    assert_eq!(serde_json::from_str::<super::Summary>(&written).expect("summary"), summary);
    assert_eq!(summary.events.first().map(|event| event.kind.as_str()), Some("touch"));
    assert!(summary.energy.r#final < summary.energy.initial && summary.energy.max_gain < 1e-2);
    assert_eq!(summary.ladder.values().sum::<u64>(), 600);
    let body = &summary.bodies["box"];
    let last = states.last().expect("state");
    assert_eq!((body.position.as_slice(), body.angle), (&last.q[..2], Some(last.q[2])));
    assert!(!summary.bodies.contains_key("floor"));
}

#[test]
fn cut_and_foreign_files_are_refused() {
    let folder = Folder::new("cut");
    let _ = record(&folder.0, 50, 1);
    let path = folder.0.join("trajectory.parquet");
    let whole = fs::read(&path).expect("file");
    for length in [0, 3, 100] {
        fs::write(&path, &whole[..length]).expect("cut");
        assert!(matches!(Recording::read(&folder.0), Err(RecordingError::NotATable { .. })), "cut to {length}");
    }
    let foreign = TableWriter::create(&path, &[("x".into(), Kind::Real)], Vec::new()).expect("table");
    foreign.finish().expect("table");
    assert!(matches!(Recording::read(&folder.0), Err(RecordingError::Foreign { .. })));
    fs::remove_file(&path).expect("file");
    assert!(matches!(Recording::read(&folder.0), Err(RecordingError::Read { .. })));
}

/// A recording of NaN only: no solver returns this, but a page must handle it.
#[test]
fn a_recording_without_numbers_still_makes_a_page() {
    let folder = Folder::new("nan");
    let _ = record(&folder.0, 20, 1);
    let path = folder.0.join("trajectory.parquet");
    let (columns, metadata) = {
        let table = TableReader::open(&path).expect("table");
        let info = table.metadata("stiction.run").expect("info").to_owned();
        (table.numeric_columns().map(str::to_owned).collect::<Vec<_>>(), vec![("stiction.run".to_owned(), info)])
    };
    let kind = |name: &str| match name {
        "step" | "contacts" | "problem_size" | "iterations" => Kind::Integer,
        _ => Kind::Real,
    };
    let layout: Vec<_> = columns.iter().map(|name| (name.clone(), kind(name))).collect();
    let mut table = TableWriter::create(&path, &layout, metadata).expect("table");
    for step in 0..21 {
        let cell = |name: &String| if kind(name) == Kind::Integer { Cell::Integer(step) } else { Cell::Real(f64::NAN) };
        table.push(columns.iter().map(cell));
    }
    table.finish().expect("table");
    let page = view_page(&[&folder.0], &ViewLimits::default()).expect("page");
    assert!(page.contains("\"frames\":21"));
}

#[test]
fn a_page_refuses_more_bodies_than_it_can_show_and_thins_long_runs() {
    let folder = Folder::new("limits");
    let _ = record(&folder.0, 100, 1);
    let few = ViewLimits { bodies: 2, ..ViewLimits::default() };
    let refused = view_page(&[&folder.0], &few);
    assert!(matches!(refused, Err(RecordingError::TooLarge { what: "bodies", count: 3, limit: 2, .. })));
    let few = ViewLimits { corners: 4, ..ViewLimits::default() };
    let refused = view_page(&[&folder.0], &few);
    assert!(matches!(refused, Err(RecordingError::TooLarge { what: "corners and edges", count: 5, limit: 4, .. })));
    let short = ViewLimits { frames: 30, ..ViewLimits::default() };
    let page = view_page(&[&folder.0], &short).expect("page");
    assert!(page.contains("\"recorded\":101,\"stride\":4,\"frames\":26"), "the first, every fourth, the last");
}

#[test]
fn losing_the_folder_does_not_disturb_the_run() {
    let (undisturbed, folder) = (Folder::new("kept"), Folder::new("lost"));
    let (_, states) = record(&undisturbed.0, 200, 1);
    let mut simulation = falling_box();
    let mut recorder = Recorder::create(&folder.0, &labels(1), &simulation).expect("recorder");
    for k in 0..200 {
        if k == 100 {
            fs::remove_dir_all(&folder.0).expect("folder");
        }
        let report = simulation.step().expect("step");
        recorder.record(&simulation, &report);
    }
    assert!(simulation.state().bit_equal(states.last().expect("state")));
    let finished = recorder.finish(&simulation, 0.0, Ending::Finished);
    assert!(finished.trouble.is_some() && finished.summary.steps == 200);
}

#[test]
fn a_table_is_whole_while_it_is_written() {
    let folder = Folder::new("open");
    fs::create_dir_all(&folder.0).expect("folder");
    let path = folder.0.join("table.parquet");
    let columns = [("n".to_owned(), Kind::Integer), ("x".to_owned(), Kind::Real), ("word".to_owned(), Kind::Text)];
    let mut table = TableWriter::create(&path, &columns, Vec::new()).expect("table");
    let mut seen = 0;
    for n in 0..10_000_i64 {
        let word = if n % 2 == 0 { "even" } else { "odd" };
        table.push([Cell::Integer(n), Cell::Real(1.0 / n as f64), Cell::Text(word)]);
        if table.is_full() {
            table.flush().expect("rows");
        }
        if n % 1000 == 0 {
            let numbers = TableReader::open(&path).expect("open").integers("n").expect("column");
            assert!(numbers.iter().zip(0..).all(|(n, k)| *n == k));
            seen = seen.max(numbers.len());
        }
    }
    assert!(seen > 5000, "rows reach the file in groups");
    table.finish().expect("table");
    let table = TableReader::open(&path).expect("table");
    assert_eq!(table.rows(), 10_000);
    assert!(table.reals("x").expect("x").iter().enumerate().all(|(n, x)| x.to_bits() == (1.0 / n as f64).to_bits()));
    assert_eq!(table.texts("word").expect("words")[7].data(), b"odd");
}

/// `/dev/full` answers every write with "no space left on device".
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_not_a_panic() {
    let error = TableWriter::create(Path::new("/dev/full"), &[("x".into(), Kind::Real)], Vec::new()).err();
    assert!(error.expect("no space").to_string().starts_with("cannot write /dev/full"));
}
