//! Monte Carlo studies from the command line: tables, JSON, and a study that is killed repeatedly.

use std::{
    fs,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::program::{call, folder, program, scene};

/// A study of the sliding box with few steps.
fn study(folder: &Path, trials: u64) {
    let text = fs::read_to_string(scene("sliding_box")).expect("scene").replace("step = 0.005", "step = 0.02");
    fs::write(folder.join("box.toml"), text).expect("scene");
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/sliding_box.toml");
    let text = fs::read_to_string(study).expect("study").replace("../scenes/sliding_box.toml", "box.toml");
    fs::write(folder.join("slide.toml"), text.replace("trials = 128", &format!("trials = {trials}"))).expect("study");
}

#[test]
fn a_monte_carlo_study_prints_its_map_and_writes_its_files() {
    let folder = folder("sweep-monte-carlo");
    study(&folder, 16);
    let text = call(&folder, &["sweep", "slide.toml"]).expect(0).stdout;
    for part in [
        "5 cells, 16 trials each",
        "80 trials from seed 1",
        "failed   none",
        "success (%)",
        "depends on",
        "friction",
        "trials.parquet",
        "map.png",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let json =
        call(&folder, &["sweep", "slide.toml", "--json", "--jobs", "3", "--trials", "8", "--out", "few"]).expect(0);
    assert_eq!(json.stdout, fs::read_to_string(folder.join("few/summary.json")).expect("summary"));
    let json = json.json();
    for pointer in [
        "/version",
        "/ending",
        "/grid/0/values/4",
        "/variants/0/cells/4/success/low",
        "/variants/0/marginals/1/strata/9/from",
        "/variants/0/sensitivity/0/p",
    ] {
        assert!(json.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer}");
    }
    assert_eq!((json["count"].as_u64(), json["made"].as_u64()), (Some(40), Some(40)));
    // Other trials are another study.
    let refused = call(&folder, &["sweep", "slide.toml", "--resume", "--out", "few"]).expect(2);
    assert!(refused.stderr.contains("its trials per cell was 8"), "{}", refused.stderr);
}

#[test]
fn a_folder_with_trials_is_replaced_only_when_asked() {
    let folder = folder("sweep-fresh");
    study(&folder, 8);
    let sweep = |arguments: &[&str]| call(&folder, &[&["sweep", "slide.toml", "--out", "here"], arguments].concat());
    sweep(&[]).expect(0);
    let table = || fs::read(folder.join("here/trials.parquet")).expect("table");
    let before = table();
    let refused = sweep(&[]).expect(2);
    for part in ["holds 40 of 40 trials of this study already", "`--resume`", "`--fresh`"] {
        assert!(refused.stderr.contains(part), "{part} in\n{}", refused.stderr);
    }
    let other = sweep(&["--seed", "2"]).expect(2);
    assert!(other.stderr.contains("another study") && other.stderr.contains("`--fresh`"), "{}", other.stderr);
    assert!(table() == before, "what is refused is not touched");
    sweep(&["--resume"]).expect(0);
    assert!(table() == before);
    sweep(&["--fresh", "--seed", "2"]).expect(0);
    assert!(table() != before);
    let both = sweep(&["--fresh", "--resume"]).expect(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

/// Numbers that differ from run to run.
struct Chance(u64);

impl Chance {
    /// Begins with the clock and the number of this process.
    fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
        Self(now.as_nanos() as u64 ^ u64::from(std::process::id()) << 32)
    }

    /// Steps of a Weyl sequence, mixed (splitmix64).
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A whole number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
}

/// Kills the study in `killed` at five moments and continues it each time; false if a kill came too late.
fn killed_five_times(folder: &Path, whole: u64, chance: &mut Chance) -> bool {
    let journal = folder.join("killed/trials.journal");
    let length = || fs::metadata(&journal).map_or(0, |file| file.len());
    for kill in 0..5 {
        let jobs = ["1", "2", "3"][chance.below(3) as usize];
        let mut sweep = program(folder);
        sweep.args(["sweep", "slide.toml", "--out", "killed", "--jobs", jobs, "--resume"]);
        // The first kill may come before anything is written; the others after a fraction of the missing trials.
        let percent = if kill == 0 { 0 } else { 2 + chance.below(30) };
        let enough = length() + (whole - length()) * percent / 100;
        let delay = Duration::from_micros(chance.below(20_000));
        let mut child = sweep.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start");
        let started = Instant::now();
        while length() < enough && started.elapsed() < Duration::from_mins(2) {
            thread::sleep(Duration::from_micros(300));
        }
        thread::sleep(delay);
        child.kill().expect("SIGKILL");
        if child.wait().expect("its end").success() {
            return false;
        }
    }
    length() < whole
}

/// Killed at five random moments and continued each time: exactly the trials of an uninterrupted study, bit for bit.
#[test]
fn a_study_killed_again_and_again_ends_with_the_same_bits() {
    let folder = folder("sweep-kill");
    study(&folder, 400);
    call(&folder, &["sweep", "slide.toml", "--out", "whole"]).expect(0);
    let whole = fs::metadata(folder.join("whole/trials.journal")).expect("journal").len();
    let mut chance = Chance::new();
    let seed = chance.0;
    // On a busy machine the study may finish before it is killed, which proves nothing.
    let killed = (0..5).any(|_| {
        let _ = fs::remove_dir_all(folder.join("killed"));
        killed_five_times(&folder, whole, &mut chance)
    });
    assert!(killed, "seed {seed}: the study was never killed five times before its end");
    call(&folder, &["sweep", "slide.toml", "--out", "killed", "--resume"]).expect(0);
    for file in ["trials.parquet", "summary.json", "map.svg"] {
        let [whole, killed] = ["whole", "killed"].map(|out| fs::read(folder.join(out).join(file)).expect(file));
        assert!(whole == killed, "seed {seed}: {file}");
    }
}
