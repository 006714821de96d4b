//! Recording to an unwritable place, and reading forged files.
#![cfg(unix)]

use std::{
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use stiction::{
    BodyBuilder, ContactRule, Dimension, ModelBuilder, Preset, Simulation, planar,
    record::{Ending, Recorder, Recording, RunLabels},
};

use crate::program::{Call, call, folder, program, scene};

/// The program under a shell that sets limits first.
fn limited(folder: &Path, limits: &str, arguments: &[&str]) -> Output {
    let script = format!("{limits} exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", &script, env!("CARGO_BIN_EXE_stiction")]).args(arguments);
    shell.output().expect("a shell")
}

/// A summary without wall-clock times.
fn timeless(call: &Call) -> Value {
    let mut summary = call.json();
    summary["wall_seconds"] = Value::Null;
    summary
}

/// Files may not grow beyond a limit: writes fail in the middle, as on a disk that is full.
#[test]
fn b31_a_full_disk_leaves_the_result_alone_and_the_log_up_to_there() {
    let folder = folder("faults-full");
    let scene = scene("falling_rod");
    let arguments = |out| ["run", &scene, "--duration", "40", "--json", "--out", out];
    let whole = call(&folder, &arguments("whole")).expect(0);
    // 1200 blocks of 512 bytes: more than one group of rows, less than all. The signal that would kill is ignored, so that writing returns an error.
    let full = Call::from(limited(&folder, "trap '' XFSZ; ulimit -f 1200;", &arguments("full"))).expect(1);
    assert_eq!(timeless(&full), timeless(&whole), "the simulation is not affected");
    assert_eq!(full.stderr.matches("cannot write").count(), 1, "said once: {}", full.stderr);
    let [whole, full] = ["whole", "full"].map(|name| Recording::read(&folder.join(name)).expect("a recording"));
    assert!(full.len() < whole.len() && full.len() >= 4096, "{} of {} rows", full.len(), whole.len());
    let same = |k: usize| full.state(k).zip(whole.state(k)).is_some_and(|(a, b)| a.bit_equal(&b));
    assert!((0..full.len()).all(same));
}

#[test]
fn b31_a_folder_that_is_removed_leaves_the_result_alone() {
    let folder = folder("faults-removed");
    let scene = scene("falling_rod");
    let arguments = |out| ["run", &scene, "--duration", "40", "--json", "--out", out];
    let whole = call(&folder, &arguments("whole")).expect(0);
    let mut running = program(&folder);
    let running = running.args(arguments("gone")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start");
    let started = Instant::now();
    while !folder.join("gone/contacts.parquet").exists() && started.elapsed() < Duration::from_mins(1) {
        thread::sleep(Duration::from_millis(1));
    }
    std::fs::remove_dir_all(folder.join("gone")).expect("a folder to remove");
    let gone = Call::from(running.wait_with_output().expect("the program ends")).expect(1);
    assert_eq!(timeless(&gone), timeless(&whole), "the simulation is not affected");
    assert_eq!(gone.stderr.matches("cannot write").count(), 1, "said once: {}", gone.stderr);
    // If nothing can be written from the start, nothing is simulated.
    let refused = call(&folder, &["run", &scene, "--out", "/proc/nowhere"]).expect(2);
    assert!(refused.stderr.contains("cannot write") && refused.stderr.contains("--out"), "{}", refused.stderr);
}

#[test]
fn b32_a_small_scene_runs_in_256_mib() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: there is no prlimit");
        return;
    }
    let folder = folder("faults-memory");
    let mut program = Command::new("prlimit");
    program.current_dir(&folder).args(["--as=268435456", env!("CARGO_BIN_EXE_stiction")]);
    let output = program.args(["run", &scene("falling_rod"), "--out", "rod"]).output().expect("prlimit");
    Call::from(output).expect(0);
    let plotted = Command::new("prlimit")
        .current_dir(&folder)
        .args(["--as=268435456", env!("CARGO_BIN_EXE_stiction")])
        .args(["plot", "rod", "-o", "rod.png"])
        .output()
        .expect("prlimit");
    Call::from(plotted).expect(0);
}

/// Writes the run of a ball with some name into `folder`.
fn record_ball(folder: &Path, name: &str) {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).expect("gravity");
    let floor = planar::Shape::half_plane(nalgebra::Vector2::y()).expect("floor");
    builder.body(BodyBuilder::fixed("floor").shape(floor.into())).expect("floor");
    let ball = planar::Shape::disc(0.1).expect("ball");
    builder.body(BodyBuilder::planar(name, 1.0, 0.01).position(0.0, 0.11, 0.0).shape(ball.into())).expect("ball");
    builder.default_contact(ContactRule::default()).expect("rule");
    let mut simulation =
        Simulation::new(builder.build().expect("model"), Preset::Ncp.scheme(), 0.01).expect("simulation");
    let labels = RunLabels { scene: name.into(), preset: "ncp".into(), solver: "ladder".into(), record_every: 1 };
    let mut recorder = Recorder::create(folder, &labels, &simulation).expect("recorder");
    for _ in 0..20 {
        let report = simulation.step().expect("step");
        recorder.record(&simulation, &report);
    }
    assert!(recorder.finish(&simulation, 0.0, Ending::Finished).trouble.is_none());
}

/// Without a trap the signal of the limit would end the program before it writes its summary.
#[test]
fn a_limit_on_file_sizes_is_an_error_and_no_signal() {
    let folder = folder("faults-limit");
    let scene = scene("falling_rod");
    let arguments = ["run", &scene, "--duration", "40", "--json", "--out", "limited"];
    let limited = Call::from(limited(&folder, "ulimit -f 1200;", &arguments)).expect(1);
    assert_eq!(limited.json()["ending"], "finished");
    assert!(limited.stderr.contains("cannot write limited/"), "{}", limited.stderr);
    assert!(folder.join("limited/summary.json").exists());
}

/// Cells that a spreadsheet would compute are marked as texts.
#[test]
fn names_cannot_become_formulas_of_a_spreadsheet() {
    let folder = folder("faults-formulas");
    record_ball(&folder.join("run"), "=HYPERLINK(1)");
    call(&folder, &["convert", "run", "x.csv"]).expect(0);
    for file in ["x.csv", "x.contacts.csv"] {
        let csv = std::fs::read_to_string(folder.join(file)).expect("a table");
        let texts = csv.split(['\r', '\n', ',']).filter(|cell| cell.parse::<f64>().is_err());
        let formulas: Vec<_> = texts.filter(|cell| cell.trim_matches('"').starts_with(['=', '+', '-', '@'])).collect();
        assert!(formulas.is_empty() && csv.contains("'=HYPERLINK(1)"), "{formulas:?}");
    }
}

#[test]
fn hostile_names_are_escaped_wherever_they_are_written() {
    let folder = folder("faults-names");
    let name = "<script>alert('x')</script>,\"\u{1b}[31m";
    record_ball(&folder.join("run"), name);
    let y = format!("'{}'.y", name.replace('\'', "''"));
    call(&folder, &["plot", "run", "--y", &y, "--title", name, "-o", "x.svg"]).expect(0);
    let svg = std::fs::read_to_string(folder.join("x.svg")).expect("a picture");
    assert!(!svg.contains("<script") && !svg.contains('\u{1b}') && svg.contains("&lt;script&gt;"));
    call(&folder, &["convert", "run", "x.csv"]).expect(0);
    let csv = std::fs::read_to_string(folder.join("x.csv")).expect("a table");
    assert!(csv.contains("\"<script>alert('x')</script>,\"\"\u{1b}[31m.y\""));
    let said = call(&folder, &["plot", "run", "--y", &format!("{y}y")]).expect(2);
    assert!(!said.stderr.contains("\u{1b}[31m"), "terminals obey nothing from a file: {}", said.stderr);
}

#[test]
fn damaged_and_foreign_folders_are_refused_in_a_sentence() {
    let folder = folder("faults-folders");
    record_ball(&folder.join("run"), "ball");
    let path = folder.join("run/trajectory.parquet");
    let whole = std::fs::read(&path).expect("a table");
    let both = |part: &str| {
        for arguments in [["plot", "run", "-o", "x.svg"], ["convert", "run", "x.csv", "--"]] {
            let arguments: Vec<_> = arguments.iter().copied().filter(|word| *word != "--").collect();
            let said = call(&folder, &arguments).expect(2);
            assert!(said.stderr.contains(part) && !said.stderr.contains("panicked"), "{}", said.stderr);
        }
    };
    std::fs::write(&path, &whole[..100]).expect("cut");
    both("is damaged, truncated or not a Parquet file");
    std::fs::write(&path, b"no table at all").expect("text");
    both("is damaged, truncated or not a Parquet file");
    std::fs::remove_file(&path).expect("file");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    both("not a regular file");
    std::fs::remove_file(&path).expect("pipe");
    // Truncated in the last group: the complete part is plotted, with a message.
    std::fs::write(&path, &whole[..whole.len() - 9]).expect("cut");
    let said = call(&folder, &["plot", "run", "--y", "ball.y", "-o", "x.svg"]).expect(0);
    assert!(said.stderr.contains("was truncated"), "{}", said.stderr);
}
