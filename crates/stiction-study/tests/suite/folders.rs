//! The folder of a Monte Carlo study is not overwritten by accident, and shows the trials that failed with their problems.

use std::{fs, path::Path};

use stiction::complementarity::ProblemFile;
use stiction_study::monte_carlo::{Ending, MOST_PROBLEMS, MonteCarlo, Order, StudyError, SweepOptions};

use crate::monte_carlo::{After, folder, read};

/// A point pinned to the world, and in some trials to a body that moves away: no velocities satisfy both joints.
const TORN: &str = r#"
[study]
kind = "monte-carlo"
scene = "scene.toml"
trials = 90
success = "1"
[parameters.away]
path = "body.runaway.motion.x"
choice = ["0 * t", "t"]
[values]
"simulation.duration" = 0.02
"#;

fn torn(folder: &Path) -> MonteCarlo {
    let pendulum = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/pendulum.toml");
    let runaway = r#"
[[body]]
name = "runaway"
kind = "kinematic"
motion = { x = "0 * t" }
[[joint]]
name = "torn"
kind = "revolute"
between = ["runaway", "upper"]
anchor = [0.0, 0.0]
"#;
    read(folder, &(fs::read_to_string(pendulum).unwrap() + runaway), TORN)
}

/// Names and bytes of all files below a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn the_problems_of_the_first_failing_trials_are_kept_whoever_makes_them() {
    let folder = folder("folders-problems");
    let study = torn(&folder);
    let out = folder.join("out");
    let run = |threads, resume, order, trials| {
        let options = SweepOptions { threads, resume, replace: true, order };
        study.run(&out, &options, &After::new(trials)).unwrap()
    };
    let report = run(1, false, Order::Counted, 1000);
    let failing: Vec<u64> = (0..study.count()).filter(|index| study.make(*index).row.failure.is_some()).collect();
    assert_eq!(report.failures.iter().map(|kind| kind.count).sum::<u64>(), failing.len() as u64);
    assert!(failing.len() > MOST_PROBLEMS + 5 && failing.len() < 70, "{failing:?}");
    let named: Vec<_> = report.problems.iter().map(|problem| problem.trial).collect();
    assert_eq!(named, failing[..MOST_PROBLEMS]);
    for problem in &report.problems {
        let text = fs::read_to_string(out.join(&problem.file)).unwrap();
        assert!(ProblemFile::read(&text).is_ok(), "{}", problem.file);
    }
    let first = contents(&out.join("failures"));
    assert_eq!(first.len(), MOST_PROBLEMS);
    // Other threads and orders, and a study that is continued: the same files.
    for (threads, seed) in [(2, 1), (7, 2)] {
        let again = run(threads, false, Order::Shuffled { seed }, 1000);
        assert_eq!((&again.problems, contents(&out.join("failures")) == first), (&report.problems, true), "{threads}");
    }
    let part = run(2, false, Order::Shuffled { seed: 3 }, 40);
    assert!(part.ending == Ending::Stopped && part.problems.iter().all(|problem| problem.trial < part.made));
    let rest = run(2, true, Order::Counted, 1000);
    assert_eq!((rest.problems, contents(&out.join("failures")) == first), (report.problems, true));
}

#[test]
fn a_folder_that_holds_trials_is_neither_replaced_nor_touched_unless_asked() {
    let folder = folder("folders-refused");
    let mut study = torn(&folder);
    let out = folder.join("out");
    let options = |resume, replace| SweepOptions { threads: 2, resume, replace, ..SweepOptions::default() };
    study.run(&out, &options(false, false), &After::new(12)).unwrap();
    let files = || ["trials.journal", "trials.parquet"].map(|name| fs::read(out.join(name)).unwrap());
    let before = files();
    match study.run(&out, &options(false, false), &()) {
        Err(error @ StudyError::Present { made: 12, count: 90, .. }) => {
            assert!(error.to_string().contains("holds 12 of 90 trials of this study already"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    study.seed = 5;
    match study.run(&out, &options(false, false), &()) {
        Err(StudyError::OtherPresent { made: 12, reason, .. }) => {
            assert!(reason.contains("its seed was 1"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(study.run(&out, &options(true, false), &()), Err(StudyError::OtherStudy { .. })));
    assert!(files() == before, "what is refused is not touched");
    study.seed = 1;
    let whole = study.run(&out, &options(true, false), &()).unwrap();
    assert_eq!((whole.made, whole.ending), (90, Ending::Complete));
    // A finished study is refused too; one that was only begun has no trials to lose.
    assert!(matches!(study.run(&out, &options(false, false), &()), Err(StudyError::Present { made: 90, .. })));
    let few = study.run(&out, &options(false, true), &After::new(0)).unwrap();
    assert_eq!((few.made, few.problems.len()), (0, 0));
    assert!(contents(&out.join("failures")).is_empty(), "problems of the study that was replaced");
    assert_eq!(study.run(&out, &options(false, false), &After::new(3)).unwrap().made, 3);
    fs::write(out.join("trials.journal"), "a letter\n").unwrap();
    assert!(matches!(study.run(&out, &options(false, false), &()), Err(StudyError::NotAJournal { .. })));
}
