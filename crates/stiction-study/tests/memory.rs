//! Memory of a study does not grow with its trials; in a binary of its own, because the memory of the whole program is measured.

// Tests write files and cause errors on purpose.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{fs, path::PathBuf};

use stiction_study::{
    Study, load,
    monte_carlo::{MonteCarlo, SweepOptions},
};
use stiction_testkit::{PeakAllocator, peak_bytes};

#[global_allocator]
static ALLOCATOR: PeakAllocator = PeakAllocator;

/// A ball that flies for one step.
const SCENE: &str = r#"
[simulation]
duration = 0.1
step = 0.1
gravity = [0.0, 0.0]
[[body]]
name = "ball"
mass = 1.0
position = [0.0, 0.0]
velocity = [1.0, 0.0]
[[body.shape]]
disc = { radius = 0.1 }
"#;

/// Every eleventh mass is refused, with a message that has its digits.
const STUDY: &str = r#"
[study]
kind = "monte-carlo"
scene = "scene.toml"
trials = TRIALS
success = "final(ball.x) > 0.1"
[parameters.speed]
path = "body.ball.velocity.0"
uniform = [0.5, 1.5]
[parameters.mass]
path = "body.ball.mass"
uniform = [-0.1, 1.0]
[metrics]
way = "final(ball.x)"
"#;

fn study(trials: u64) -> (MonteCarlo, PathBuf) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{trials}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("scene.toml"), SCENE).unwrap();
    fs::write(folder.join("study.toml"), STUDY.replace("TRIALS", &trials.to_string())).unwrap();
    match load(folder.join("study.toml")).unwrap() {
        Study::MonteCarlo(study) => (*study, folder),
        other => panic!("{other:?}"),
    }
}

/// Ten times the trials, made and read again from the journal, need the same memory: tables, counts and messages are accumulated.
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn memory_does_not_grow_with_the_trials() {
    let peaks = [10_000, 100_000].map(|trials| {
        let (study, folder) = study(trials);
        let mut options = SweepOptions { threads: 2, ..SweepOptions::default() };
        let [made, resumed] = [false, true].map(|resume| {
            options.resume = resume;
            peak_bytes(|| {
                let report = study.run(&folder, &options, &()).unwrap();
                let failed = report.variants[0].all.failed;
                assert!(report.made == trials && (trials / 13..trials / 9).contains(&failed), "{failed} of {trials}");
            })
        });
        [made, resumed]
    });
    println!("bytes while trials are made, and while they are read again: {peaks:?}");
    let [few, many] = peaks;
    for (few, many) in few.into_iter().zip(many) {
        assert!(few > 100_000 && (many as f64) < 1.5 * few as f64, "{few} bytes for 10 000 trials, {many} for 100 000");
    }
}
