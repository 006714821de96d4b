//! Recordings that were truncated, damaged, forged, or written to an unwritable place.
#![allow(clippy::disallowed_methods)] // Tests make and break files.

use std::{
    fs,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use nalgebra::Vector2;
use stiction_geometry::{Dimension, Shape, planar};
use stiction_multibody::{BodyBuilder, ContactRule, ModelBuilder, State};
use stiction_stepping::Preset;

use super::{
    Ending, Recorder, Recording, RecordingError, RunLabels, RunTables,
    info::FORMAT,
    table::{Cell, Kind, TableWriter},
    table_reader::TableReader,
    trajectory::INFO_KEY,
};
use crate::Simulation;

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-fault-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn falling_box(name: &str) -> Simulation {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).expect("gravity");
    let floor = planar::Shape::half_plane(Vector2::y()).expect("floor");
    builder.body(BodyBuilder::fixed("floor").shape(Shape::Planar(floor))).expect("floor");
    let shape = planar::Shape::rectangle([0.2, 0.1]).expect("box");
    let body = BodyBuilder::planar(name, 1.0, 0.02).position(0.0, 0.15, 0.0).angle(0.3).velocity(1.0, 0.0, 0.0);
    builder.body(body.shape(Shape::Planar(shape))).expect("box");
    builder.default_contact(ContactRule { friction: 0.3, ..ContactRule::default() }).expect("rule");
    Simulation::new(builder.build().expect("model"), Preset::Ncp.scheme(), 0.001).expect("simulation")
}

fn labels() -> RunLabels {
    RunLabels { scene: "box".into(), preset: "ncp".into(), solver: "ladder".into(), record_every: 1 }
}

fn record(mut simulation: Simulation, folder: &Path, steps: usize) -> Vec<State> {
    let mut recorder = Recorder::create(folder, &labels(), &simulation).expect("recorder");
    let mut states = vec![simulation.state().clone()];
    for _ in 0..steps {
        let report = simulation.step().expect("step");
        recorder.record(&simulation, &report);
        states.push(simulation.state().clone());
    }
    assert!(recorder.finish(&simulation, 0.0, Ending::Finished).trouble.is_none());
    states
}

/// Whatever a cut leaves, everything before the last footer is read.
#[test]
fn b31_a_table_cut_anywhere_reads_up_to_its_last_whole_group() {
    let folder = Folder::new("every-cut");
    let path = folder.0.join("table.parquet");
    let columns = [("n".to_owned(), Kind::Integer), ("x".to_owned(), Kind::Real), ("word".to_owned(), Kind::Text)];
    let mut table = TableWriter::create(&path, &columns, Vec::new()).expect("table");
    let length = || fs::metadata(&path).expect("file").len() as usize;
    // After each footer: the length of the file and its rows.
    let mut footers = vec![(length(), 0)];
    for group in 1..=4 {
        for n in 0..20 {
            table.push([Cell::Integer(n), Cell::Real(n as f64), Cell::Text("word")]);
        }
        table.flush().expect("rows");
        footers.push((length(), 20 * group));
    }
    table.finish().expect("table");
    let whole = fs::read(&path).expect("file");
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).expect("cut");
        let expected = footers.iter().rev().find(|(end, _)| *end <= cut).map(|(_, rows)| *rows);
        let read = TableReader::open(&path).map(|table| (table.rows(), table.integers("n").map(|n| n.len()).ok()));
        assert_eq!(read.ok(), expected.map(|rows| (rows, Some(rows))), "cut to {cut} of {}", whole.len());
    }
}

#[test]
fn b31_a_recording_cut_anywhere_gives_back_its_beginning_to_the_bit() {
    let folder = Folder::new("cut-run");
    let states = record(falling_box("box"), &folder.0, 9000);
    for name in ["trajectory.parquet", "contacts.parquet"] {
        let path = folder.0.join(name);
        let whole = fs::read(&path).expect("file");
        let mut seen_rows = std::collections::BTreeSet::new();
        for cut in (0..40).map(|k| whole.len() * k / 40).chain(whole.len().saturating_sub(3)..whole.len()) {
            fs::write(&path, &whole[..cut]).expect("cut");
            let Ok(recording) = Recording::read(&folder.0) else { continue };
            assert_eq!(recording.is_cut(), name == "trajectory.parquet");
            seen_rows.insert(recording.len());
            let same =
                |k: usize| recording.state(k).is_some_and(|state| state.q == states[k].q && state.v == states[k].v);
            assert!((0..recording.len()).step_by(97).all(same), "{name} cut to {cut}");
        }
        fs::write(&path, &whole).expect("file");
        let several = if name == "trajectory.parquet" { 2 } else { 1 };
        assert!(seen_rows.len() >= several, "{name}: {seen_rows:?}");
    }
    let whole = Recording::read(&folder.0).expect("recording");
    assert!(!whole.is_cut() && whole.len() == 9001);
}

#[test]
fn flipped_bits_are_refused_or_survived() {
    let folder = Folder::new("flips");
    record(falling_box("box"), &folder.0, 60);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for name in ["trajectory.parquet", "contacts.parquet", "summary.json"] {
        let path = folder.0.join(name);
        let whole = fs::read(&path).expect("file");
        for _ in 0..400 {
            let mut damaged = whole.clone();
            for _ in 0..=next(3) {
                let at = next(damaged.len());
                damaged[at] ^= 1 << next(8);
            }
            fs::write(&path, &damaged).expect("file");
            let _ = Recording::read(&folder.0);
            if let Ok(tables) = RunTables::open(&folder.0) {
                let names: Vec<String> = tables.columns().iter().map(|(name, _)| (*name).to_owned()).collect();
                for name in names {
                    let _ = tables.column(&name);
                }
                let _ = (tables.summary(), tables.contacts_of_frames());
            }
        }
        fs::write(&path, &whole).expect("file");
    }
    assert_eq!(Recording::read(&folder.0).expect("recording").len(), 61);
}

#[test]
fn a_file_that_claims_more_than_it_holds_is_refused() {
    let folder = Folder::new("bomb");
    let path = folder.0.join("table.parquet");
    // A million equal words take some hundred bytes; columns of real numbers, which a recording has, never shrink so far.
    let mut table = TableWriter::create(&path, &[("word".into(), Kind::Text)], Vec::new()).expect("table");
    (0..1_000_000).for_each(|_| table.push([Cell::Text("word")]));
    table.finish().expect("table");
    assert!(fs::metadata(&path).expect("file").len() < 20_000);
    let error = TableReader::open(&path).err().expect("a bomb").to_string();
    assert!(error.contains("declares more values"), "{error}");
    // A footer whose declared length exceeds the file.
    let mut bytes = fs::read(&path).expect("file");
    let tail = bytes.len() - 8;
    bytes[tail..tail + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    fs::write(&path, &bytes).expect("file");
    let recovered = TableReader::open(&path).expect("the footer before");
    assert!(recovered.is_cut() && recovered.rows() == 0);
}

/// A million bodies need a footer beyond the limit; fewer that have no columns are refused by the first that is missing.
#[test]
#[ignore = "long"]
fn very_many_bodies_are_refused_quickly() {
    let folder = Folder::new("many");
    let path = folder.0.join("trajectory.parquet");
    let body = |k: usize| {
        format!(
            "{{\"name\":\"b{k}\",\"role\":\"planar\",\"position\":[0,0,0],\"orientation\":[1,0,0,0],\"shapes\":0,\"outlines\":[]}}"
        )
    };
    let bodies: Vec<_> = (0..100_000).map(body).collect();
    let info = format!(
        "{{\"format\":{FORMAT},\"version\":\"0\",\"scene\":\"\",\"step\":0.1,\"dimension\":2,\"joints\":[],\"bodies\":[{}]}}",
        bodies.join(",")
    );
    let columns =
        [("step".to_owned(), Kind::Integer), ("t".to_owned(), Kind::Real), ("t_carry".to_owned(), Kind::Real)];
    let table = TableWriter::create(&path, &columns, vec![(INFO_KEY.into(), info)]).expect("table");
    table.finish().expect("table");
    let error = Recording::read(&folder.0).expect_err("no columns").to_string();
    assert!(error.contains("\"b0.x\" is missing"), "{error}");
    // A footer of 150 MiB, of zeros.
    let length: u32 = 150 << 20;
    let mut file = fs::File::create(&path).expect("file");
    file.set_len(u64::from(length) + 4).expect("a sparse file");
    file.seek(SeekFrom::End(0)).expect("end");
    file.write_all(&[length.to_le_bytes(), *b"PAR1"].concat()).expect("tail");
    assert!(matches!(Recording::read(&folder.0), Err(RecordingError::NotATable { .. })));
}

#[test]
fn other_versions_are_named() {
    let folder = Folder::new("version");
    let path = folder.0.join("trajectory.parquet");
    let info = format!("{{\"format\": {}, \"version\": \"7.5.0\", \"unheard\": 1}}", FORMAT + 1);
    let table = TableWriter::create(&path, &[("t".into(), Kind::Real)], vec![(INFO_KEY.into(), info)]).expect("table");
    table.finish().expect("table");
    let error = Recording::read(&folder.0).expect_err("another layout").to_string();
    for part in [
        "stiction 7.5.0",
        &format!("layout {}", FORMAT + 1),
        env!("CARGO_PKG_VERSION"),
        &format!("knows layout {FORMAT}"),
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(matches!(RunTables::open(&folder.0), Err(RecordingError::Foreign { .. })));
}

#[test]
fn missing_and_mistyped_columns_are_named() {
    let folder = Folder::new("columns");
    record(falling_box("box"), &folder.0, 5);
    let path = folder.0.join("trajectory.parquet");
    let json = TableReader::open(&path).expect("table").metadata(INFO_KEY).expect("info").to_owned();
    for columns in
        [vec![("step".to_owned(), Kind::Integer)], vec![("step".to_owned(), Kind::Text), ("t".to_owned(), Kind::Real)]]
    {
        let metadata = vec![(INFO_KEY.to_owned(), json.clone())];
        TableWriter::create(&path, &columns, metadata).expect("table").finish().expect("table");
        assert!(matches!(Recording::read(&folder.0), Err(RecordingError::BadColumn { .. })));
    }
    // Two bodies of one name would share their columns.
    let twice = json.replace("\"floor\"", "\"box\"");
    let table = TableWriter::create(&path, &[("step".into(), Kind::Integer)], vec![(INFO_KEY.into(), twice)]);
    table.expect("table").finish().expect("table");
    let error = Recording::read(&folder.0).expect_err("two boxes").to_string();
    assert!(error.contains("two bodies or two joints are called \"box\""), "{error}");
}

#[test]
fn hostile_names_come_back_and_messages_stay_short_and_clean() {
    let long = "n".repeat(1_000_000);
    for name in ["<script>alert(1)</script>", "a\u{1b}[31m\r\n\u{202e}b", "with.dots, \"quotes\" and 雪", long.as_str()]
    {
        let folder = Folder::new("names");
        record(falling_box(name), &folder.0, 3);
        let recording = Recording::read(&folder.0).expect("recording");
        assert_eq!((recording.len(), recording.info().bodies[2].name.as_str()), (4, name));
        let tables = RunTables::open(&folder.0).expect("tables");
        assert!(tables.column(&format!("{name}.y")).is_ok());
        let message = tables.column(&format!("{name}.nothing")).expect_err("no such column").to_string();
        assert!(message.len() < 1000 && !message.chars().any(|c| c.is_control() || c == '\u{202e}'), "{message}");
    }
}

#[test]
fn numbers_that_are_none_come_back() {
    let folder = Folder::new("nan");
    let path = folder.0.join("table.parquet");
    let mut table = TableWriter::create(&path, &[("x".into(), Kind::Real)], Vec::new()).expect("table");
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE / 4.0];
    for x in values {
        table.push([Cell::Real(x)]);
    }
    table.finish().expect("table");
    let read = TableReader::open(&path).expect("table").reals("x").expect("column");
    assert!(read.iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits()) && read.len() == 5);
}

#[cfg(unix)]
#[test]
fn links_in_circles_and_what_is_no_file_are_refused() {
    let folder = Folder::new("links");
    let [one, two] = ["trajectory.parquet", "other"].map(|name| folder.0.join(name));
    std::os::unix::fs::symlink(&two, &one).expect("link");
    std::os::unix::fs::symlink(&one, &two).expect("link");
    assert!(matches!(Recording::read(&folder.0), Err(RecordingError::Read { .. })));
    fs::remove_file(&one).expect("link");
    fs::create_dir(&one).expect("folder");
    assert!(matches!(RunTables::open(&folder.0), Err(RecordingError::NotATable { .. })));
    fs::remove_dir(&one).expect("folder");
    std::os::unix::fs::symlink("/dev/zero", &one).expect("link");
    assert!(matches!(RunTables::open(&folder.0), Err(RecordingError::NotATable { .. })));
}

#[test]
fn b32_a_run_is_recorded_and_read_on_a_small_stack() {
    let folder = Folder::new("stack");
    let path = folder.0.clone();
    let work = move || {
        let states = record(falling_box("box"), &path, 300);
        let recording = Recording::read(&path).expect("recording");
        recording.state(300).is_some_and(|state| state.bit_equal(&states[300]))
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).expect("thread");
    assert!(thread.join().expect("no overflow"));
}
