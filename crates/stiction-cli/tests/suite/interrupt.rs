//! Stopping a run by signals.
#![cfg(unix)]

use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use stiction::record::{Recording, RecordingError};

use crate::program::{Call, folder, program, scene};

/// Rows that must be in the files before the signal is sent: the first group.
const ROWS: usize = 4096;

/// Starts a very long run, sends it a signal once its files exist, and returns its output.
fn interrupted(name: &str, signal: &str) -> (Call, Result<Recording, RecordingError>) {
    let folder = folder(name);
    let arguments = ["run", &scene("falling_rod"), "--duration", "1000000", "--out", "here", "--json"];
    let mut child =
        program(&folder).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start");
    let started = Instant::now();
    let rows = || Recording::read(&folder.join("here")).map_or(0, |recording| recording.len());
    while rows() < ROWS && started.elapsed() < Duration::from_mins(1) {
        thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    if !sent.success() {
        let _ = child.kill();
    }
    let call = Call::from(child.wait_with_output().expect("the program ends"));
    (call, Recording::read(&folder.join("here")))
}

#[test]
fn ctrl_c_and_termination_keep_the_record() {
    for (name, signal) in [("interrupt-int", "-INT"), ("interrupt-term", "-TERM")] {
        let (call, recording) = interrupted(name, signal);
        let (call, recording) = (call.expect(1), recording.expect("a recording"));
        let summary = call.json();
        assert_eq!(summary["ending"], "interrupted");
        assert!(call.stderr.contains("stopped on request"), "{}", call.stderr);
        let last = recording.frame(recording.len() - 1).expect("frame");
        assert_eq!((Some(last.step), Some(last.time)), (summary["steps"].as_u64(), summary["duration"].as_f64()));
        assert!(last.step > 100, "it ran for a while: {} steps", last.step);
    }
}

#[test]
fn a_killed_run_leaves_readable_tables() {
    // A kill may interrupt a write and truncate the file: then the part before it is read.
    let (call, recording) = interrupted("interrupt-kill", "-KILL");
    assert_eq!(call.code, None, "ended by the signal");
    assert!(recording.is_ok_and(|recording| recording.len() >= ROWS));
}
