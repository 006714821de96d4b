//! Monte Carlo studies: trials in order on any number of threads, continued to the bit, failures counted.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use stiction_study::{
    Study, Watch, load,
    monte_carlo::{Ending, MonteCarlo, Order, Place, Report, StudyError, SweepOptions, Value},
};

/// A particle that slides over a table without anything to hit, quick to simulate.
const SCENE: &str = r#"
[simulation]
duration = 0.2
step = 0.02
gravity = [0.0, 0.0]
[[body]]
name = "ball"
mass = 1.0
position = [0.0, 0.0]
velocity = [1.0, 0.0]
[[body.shape]]
disc = { radius = 0.1 }
"#;

const STUDY: &str = r#"
[study]
kind = "monte-carlo"
scene = "scene.toml"
trials = 40
success = "final(ball.x) > 0.15"
[parameters.start]
path = "body.ball.position.0"
values = [-0.02, 0.0, 0.02]
[parameters.speed]
path = "body.ball.velocity.0"
uniform = [0.5, 1.5]
[metrics]
way = "final(ball.x) - initial(ball.x)"
"#;

pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a scene and a study and reads them.
pub(crate) fn read(folder: &Path, scene: &str, study: &str) -> MonteCarlo {
    fs::write(folder.join("scene.toml"), scene).unwrap();
    fs::write(folder.join("study.toml"), study).unwrap();
    match load(folder.join("study.toml")).unwrap_or_else(|error| panic!("{error}")) {
        Study::MonteCarlo(study) => *study,
        other => panic!("another kind: {other:?}"),
    }
}

fn options(threads: usize, resume: bool, order: Order) -> SweepOptions {
    SweepOptions { threads, resume, replace: true, order }
}

fn table(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("trials.parquet")).unwrap()
}

fn json(report: &Report) -> String {
    serde_json::to_string(report).unwrap()
}

/// Stops after this number of trials.
pub(crate) struct After(u64, AtomicU64);

impl After {
    pub(crate) fn new(trials: u64) -> Self {
        Self(trials, AtomicU64::new(0))
    }
}

impl Watch for After {
    fn goes_on(&self, _finished: u64) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) < self.0
    }
}

#[test]
fn the_table_has_the_same_bits_for_any_number_of_threads_and_any_order() {
    let folder = folder("mc-threads");
    let study = read(&folder, SCENE, STUDY);
    let run = |threads, order| {
        let out = folder.join("out");
        let report = study.run(&out, &options(threads, false, order), &()).unwrap();
        (table(&out), json(&report))
    };
    let one = run(1, Order::Counted);
    for threads in [2, 7] {
        assert!(run(threads, Order::Counted) == one, "{threads} threads");
        assert!(run(threads, Order::Shuffled { seed: 5 }) == one, "{threads} threads, shuffled");
    }
    assert!(run(1, Order::Shuffled { seed: 6 }) == one);
}

#[test]
fn a_study_that_was_stopped_and_torn_is_continued_to_the_bit() {
    let folder = folder("mc-resume");
    let study = read(&folder, SCENE, STUDY);
    let (whole, parts) = (folder.join("whole"), folder.join("parts"));
    let expected = json(&study.run(&whole, &options(2, false, Order::Counted), &()).unwrap());
    let first = study.run(&parts, &options(3, false, Order::Shuffled { seed: 1 }), &After::new(20)).unwrap();
    assert_eq!((first.ending, first.count), (Ending::Stopped, 120));
    assert!(first.made <= 20);
    // The end of a line is missing, then a line that is no trial follows a whole one.
    for harm in ["[1,2", "[999999999,true,[],null] 0\n", "\u{0}\n"] {
        let journal = parts.join("trials.journal");
        let mut text = fs::read(&journal).unwrap();
        let cut = text.len() - 3;
        text.truncate(cut);
        text.extend(harm.as_bytes());
        fs::write(&journal, text).unwrap();
        let more = study.run(&parts, &options(2, true, Order::Counted), &After::new(17)).unwrap();
        assert_eq!(more.ending, Ending::Stopped);
        assert!(more.made > 10, "{}", more.made);
    }
    let last = study.run(&parts, &options(1, true, Order::Counted), &()).unwrap();
    assert_eq!((json(&last), last.made, last.ending), (expected, 120, Ending::Complete));
    assert!(table(&parts) == table(&whole));
    // Nothing remains to do, and nothing changes.
    study.run(&parts, &options(1, true, Order::Counted), &After::new(0)).unwrap();
    assert!(table(&parts) == table(&whole));
}

#[test]
fn another_study_is_not_continued() {
    let folder = folder("mc-other");
    let mut study = read(&folder, SCENE, STUDY);
    let out = folder.join("out");
    study.run(&out, &options(1, false, Order::Counted), &After::new(5)).unwrap();
    let refusal = |study: &MonteCarlo| match study.run(&out, &options(1, true, Order::Counted), &()) {
        Err(error @ StudyError::OtherStudy { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    study.seed = 2;
    assert!(refusal(&study).contains("its seed was 1, now it is 2"));
    let (text, scene) = (STUDY.replace("0.15", "0.16"), SCENE.replace("mass = 1.0", "mass = 2.0"));
    assert!(refusal(&read(&folder, SCENE, &text)).contains("the study file has changed"));
    assert!(refusal(&read(&folder, &scene, STUDY)).contains("the scene has changed"));
    fs::write(out.join("trials.journal"), "a letter\n").unwrap();
    let result = read(&folder, SCENE, STUDY).run(&out, &options(1, true, Order::Counted), &());
    assert!(matches!(result, Err(StudyError::NotAJournal { .. })));
}

#[test]
fn variants_meet_the_same_circumstances_and_early_ends_favour_no_cell() {
    let folder = folder("mc-variants");
    let text = format!(
        "{STUDY}\n[variants.light]\n\"body.ball.mass\" = 0.5\n[variants.slow]\n\"simulation.duration\" = 0.1\n"
    );
    let study = read(&folder, SCENE, &text);
    assert_eq!((study.count(), study.variants().len()), (240, 2));
    for index in (0..study.count()).step_by(2) {
        let [a, b] = [index, index + 1].map(|index| study.place(index));
        assert_eq!((a.trial, a.cell, a.variant, b.variant), (b.trial, b.cell, 0, 1));
        assert_eq!(study.values(a), study.values(b));
    }
    let report = study.run(&folder.join("out"), &options(2, false, Order::Counted), &After::new(100)).unwrap();
    for cell in report.variants.iter().flat_map(|variant| &variant.cells) {
        assert!((16..=17).contains(&cell.success.of), "{cell:?}");
    }
    let report = study.run(&folder.join("out"), &options(2, false, Order::Counted), &()).unwrap();
    let comparison = &report.comparisons[0];
    assert_eq!((comparison.first.as_str(), comparison.other.as_str(), comparison.only_other), ("light", "slow", 0));
    let [light, slow] = [0, 1].map(|k| report.variants[k].all.success.hits);
    assert!(light > slow && comparison.only_first == light - slow);
}

#[test]
fn trials_do_what_their_values_say() {
    let folder = folder("mc-values");
    let study = read(&folder, SCENE, STUDY);
    for index in 0..study.count() {
        let values = study.values(study.place(index));
        let [Value::Number(start), Value::Number(speed)] = values[..] else { panic!() };
        let row = study.make(index).row;
        assert!((row.metrics[0] - 0.2 * speed).abs() < 1e-12 && (0.5..=1.5).contains(&speed));
        assert_eq!(row.success, start + 0.2 * speed > 0.15, "{start} {speed}");
    }
    // A cell of the grid has its value exactly.
    assert_eq!(study.values(Place { trial: 7, cell: 2, variant: 0 })[0], Value::Number(0.02));
}

#[test]
fn failures_are_counted_with_their_reason_and_end_the_study_when_there_are_too_many() {
    let folder = folder("mc-failures");
    // A mass that is not positive is refused by the scene.
    let text = STUDY.replace(
        "[metrics]",
        "[parameters.mass]\npath = \"body.ball.mass\"\nchoice = [1.0, 2.0, 3.0, -1.0]\n[metrics]",
    );
    let study = read(&folder, SCENE, &text);
    let report = study.run(&folder.join("out"), &options(2, false, Order::Counted), &()).unwrap();
    let [kind] = report.failures.as_slice() else { panic!("{:?}", report.failures) };
    let all = &report.variants[0].all;
    assert_eq!((kind.reason.as_str(), kind.count), ("the scene refuses the values of its parameters", all.failed));
    assert!(kind.detail.contains("mass") && (15..45).contains(&kind.count), "{kind:?}");
    assert_eq!((report.made, all.success.of, all.metrics[0].count), (120, 120, 120 - kind.count));
    // The strata show their source.
    let masses = report.variants[0].marginals.iter().find(|marginal| marginal.parameter == "mass").unwrap();
    let failed: Vec<_> = masses.strata.iter().map(|stratum| stratum.group.failed).collect();
    assert_eq!(failed, [0, 0, 0, kind.count]);
    let strict = read(&folder, SCENE, &text.replace("trials = 40", "trials = 40\nmax_failures = 3"));
    let ended: Vec<_> = [1, 2, 7]
        .into_iter()
        .map(|threads| {
            let report = strict.run(&folder.join("out"), &options(threads, false, Order::Counted), &()).unwrap();
            assert_eq!((report.ending, report.variants[0].all.failed), (Ending::TooManyFailures, 4));
            (table(&folder.join("out")), json(&report))
        })
        .collect();
    assert!(ended.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn mistakes_in_studies_are_told_with_place_reason_and_hint() {
    let folder = folder("mc-mistakes");
    fs::write(folder.join("scene.toml"), SCENE).unwrap();
    let cases = [
        ("final(ball.x) > 0.15", "ball.x > 0.15", "is a number per moment, but must be one number", "final(e)"),
        ("final(ball.x) > 0.15", "final(bal.x) > 0.15", "there is no column `bal.x`", "did you mean `ball.x`?"),
        ("final(ball.x) > 0.15", "final(ball.x >", "expected", ""),
        ("uniform = [0.5, 1.5]", "uniform = [1.5, 0.5]", "must be below", ""),
        ("uniform = [0.5, 1.5]", "", "needs one of `values`, `grid`", ""),
        ("uniform = [0.5, 1.5]", "uniform = [0.5, 1.5]\nchoice = [1.0]", "and only one", ""),
        ("uniform = [0.5, 1.5]", "unifrm = [0.5, 1.5]", "unknown key `unifrm`", "did you mean `uniform`?"),
        ("body.ball.velocity.0", "body.bal.velocity.0", "there is no `bal`", "did you mean `ball`?"),
        ("path = \"body.ball.position.0\"", "", "needs `path`", "such as"),
        ("way = ", "speed = ", "is a parameter already", ""),
        ("way = ", "success = ", "the name `success` is taken", "index, trial"),
        ("success = ", "mirror = [\"speed\"]\nsuccess = ", "there is no grid parameter `speed`", ""),
        ("success = \"final(ball.x) > 0.15\"", "", "needs `success`", "such as success"),
        ("kind = \"monte-carlo\"", "kind = \"push\"", "needs the table [push]", ""),
    ];
    for (from, to, message, hint) in cases {
        assert!(STUDY.contains(from), "{from}");
        fs::write(folder.join("study.toml"), STUDY.replacen(from, to, 1)).unwrap();
        let error = load(folder.join("study.toml")).expect_err(to);
        assert!(error.message.contains(message), "{to}: {error}");
        assert!(error.hint.clone().unwrap_or_default().contains(hint), "{to}: {error}");
    }
}
