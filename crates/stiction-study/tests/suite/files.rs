//! Study files: their contents, and the messages about errors in them.

use std::{fs, path::PathBuf};

use stiction::{Simulation, scene};
use stiction_study::{PushStudy, Study};

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Reads a study of the kind `push`.
fn load(path: impl AsRef<std::path::Path>) -> Result<PushStudy, scene::SceneError> {
    match stiction_study::load(path)? {
        Study::Push(study) => Ok(*study),
        other => panic!("another kind: {other:?}"),
    }
}

/// The study of the repository with one line changed, beside its scene.
fn changed(name: &str, from: &str, to: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("studies")).unwrap();
    fs::create_dir_all(folder.join("scenes")).unwrap();
    fs::copy(repository("scenes/needle_push.toml"), folder.join("scenes/needle_push.toml")).unwrap();
    let text = fs::read_to_string(repository("studies/needle_push.toml")).unwrap();
    assert!(text.contains(from), "{from}");
    let path = folder.join("studies/changed.toml");
    fs::write(&path, text.replace(from, to)).unwrap();
    path
}

#[test]
fn the_study_of_the_repository_is_read() {
    let study = load(repository("studies/needle_push.toml")).unwrap_or_else(|error| panic!("{error}"));
    let (options, sampler, goal) = (study.search.options(), study.search.sampler(), study.search.push().goal());
    assert_eq!((study.name.as_str(), study.scene.name.as_str()), ("needle_push", "needle_push"));
    assert_eq!((options.trials, options.seed, options.rehearsals, options.refine), (2000, 1, 20, 10));
    assert_eq!((sampler.segments, sampler.length, sampler.speed), (2, [0.1, 0.4], 0.5));
    assert!((goal.angle - 20_f64.to_radians()).abs() < 1e-15 && goal.position == [0.3, 0.1]);
    assert_eq!(goal.position_tolerance, 0.03);
}

#[test]
fn mistakes_are_told_with_place_reason_and_hint() {
    let cases = [
        ("segments = 2", "segmets = 2", "unknown key `segmets` in `push`", "did you mean `segments`?"),
        ("[push]", "[posh]", "unknown key `posh` in a study", "did you mean `push`?"),
        ("part = \"square\"", "part = \"sqare\"", "no such body", "did you mean `square`?"),
        (
            "needle = \"needle\"",
            "needle = \"square\"",
            "no kinematic body",
            "such as a kinematic body with a point or a disc",
        ),
        ("kind = \"push\"", "kind = \"pull\"", "must be one of \"push\"", "did you mean `push`?"),
        ("segments = 2", "segments = 9", "`segments` is 9, but must be a whole number from 1 to 8", "such as 2"),
        ("speed = 0.5", "speed = -0.5", "`speed` must be from 1e-9 to 1000000, but is -0.5", ""),
        ("length = [0.1, 0.4]", "length = [0.4, 0.1]", "`length` must be from 0.4", ""),
        ("angle = \"5 deg\"", "angle = \"5\"", "needs its unit", "such as \"30 deg\" or \"0.5 rad\""),
        ("trials = 2000", "trials = 0", "must be a whole number from 1 on", "such as 1000"),
        ("scene = \"../scenes/needle_push.toml\"", "scene = \"missing.toml\"", "missing.toml cannot be opened", ""),
    ];
    for (index, (from, to, message, hint)) in cases.into_iter().enumerate() {
        let path = changed(&format!("study-mistake-{index}"), from, to);
        let error = load(&path).expect_err(to);
        assert!(error.message.contains(message), "{to}: {error}");
        assert_eq!(error.hint.as_deref().unwrap_or_default(), hint, "{to}: {error}");
        let text = fs::read_to_string(&path).unwrap();
        let word = to.split(' ').next().unwrap();
        let line = text.lines().position(|line| line.contains(to)).unwrap() as u32 + 1;
        assert_eq!((error.line, error.file.ends_with("changed.toml")), (line, true), "{word}: {error}");
    }
}

#[test]
fn a_mistake_in_the_scene_is_told_in_the_scene() {
    let path = changed("study-scene", "trials = 2000", "trials = 20");
    let scene = path.parent().unwrap().join("../scenes/needle_push.toml");
    let text = fs::read_to_string(&scene).unwrap().replace("friction = 0.3", "frction = 0.3");
    fs::write(&scene, text).unwrap();
    let error = load(&path).expect_err("a wrong scene");
    assert!(error.file.ends_with("needle_push.toml") && error.message.contains("frction"), "{error}");
}

#[test]
fn the_scene_of_a_plan_ends_with_the_bits_of_the_plan() {
    // A name with a dot would be a path of its own in a change to the scene.
    let path = changed("study-replay", "needle = \"needle\"", "needle = \"tip.of needle\"");
    let scene_path = path.parent().unwrap().join("../scenes/needle_push.toml");
    let text = fs::read_to_string(&scene_path).unwrap().replace("\"needle\"", "\"tip.of needle\"");
    fs::write(&scene_path, text).unwrap();
    let study = load(path).unwrap_or_else(|error| panic!("{error}"));
    let plan = study.search.trial(3).done().cloned().unwrap();
    let replayed = scene::parse(&study.replay(&plan).unwrap(), "best.toml").unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::from_scene(&replayed).unwrap();
    for _ in 0..replayed.settings.steps() {
        let _ = simulation.step().unwrap();
    }
    assert_eq!(simulation.state().q, plan.pose);
}
