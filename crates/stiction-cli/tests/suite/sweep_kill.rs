//! Monte Carlo studies as a user meets them: tables, JSON, and a study that is killed again and again.

use std::{
    fs,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
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

/// Killed at five moments and continued each time: exactly the trials of a study that nobody disturbed, bit for bit.
#[test]
fn a_study_killed_again_and_again_ends_with_the_same_bits() {
    let folder = folder("sweep-kill");
    study(&folder, 200);
    call(&folder, &["sweep", "slide.toml", "--out", "whole"]).expect(0);
    let journal = folder.join("killed/trials.journal");
    let length = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let whole = length(&folder.join("whole/trials.journal"));
    for (kill, share) in [7, 19, 38, 55, 81].into_iter().enumerate() {
        let arguments: &[&str] = if kill == 0 { &[] } else { &["--resume"] };
        let mut sweep = program(&folder);
        sweep.args(["sweep", "slide.toml", "--out", "killed", "--jobs", "2"]).args(arguments);
        let mut child = sweep.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start");
        // Moments of progress, not of the clock: machines differ. Where exactly a write is met is chance.
        let started = Instant::now();
        while length(&journal) < whole * share / 100 && started.elapsed() < Duration::from_mins(2) {
            thread::sleep(Duration::from_micros(300 + 170 * kill as u64));
        }
        child.kill().expect("SIGKILL");
        let status = child.wait().expect("its end");
        assert!(!status.success(), "it was killed, not finished");
        let made = length(&journal);
        assert!(made >= whole * share / 100 && made < whole, "{made} of {whole} after kill {kill}");
    }
    call(&folder, &["sweep", "slide.toml", "--out", "killed", "--resume"]).expect(0);
    for file in ["trials.parquet", "summary.json"] {
        let [whole, killed] = ["whole", "killed"].map(|out| fs::read(folder.join(out).join(file)).expect(file));
        assert!(whole == killed, "{file}");
    }
}
