//! `stiction sweep`: tables, JSON, the scene of the best plan, mistakes and interruptions.

use std::{fs, path::Path};

use crate::program::{call, folder, scene};

/// A study that is over in a moment: a straight push, coarse steps.
const QUICK: &str = r#"
[study]
kind = "push"
scene = "quick.toml"
trials = 40
[push]
part = "square"
needle = "needle"
goal = { position = [0.2, 0.0], angle = 0.0 }
tolerance = { position = 0.05, angle = "8 deg" }
segments = 1
length = [0.15, 0.25]
speed = 0.5
refine = 2
rehearsals = 2
"#;

/// Writes the study with one place changed, and its scene.
fn study(folder: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(scene("needle_push")).expect("scene").replace("step = 0.01", "step = 0.05");
    fs::write(folder.join("quick.toml"), text).expect("scene");
    assert!(QUICK.contains(from), "{from}");
    fs::write(folder.join("quick_push.toml"), QUICK.replace(from, to)).expect("study");
}

#[test]
fn a_sweep_prints_a_table_and_writes_results_and_a_scene_that_replays_the_best_plan() {
    let folder = folder("sweep-files");
    study(&folder, "", "");
    let text = call(&folder, &["sweep", "quick_push.toml"]).expect(0);
    for part in
        ["40 trials from seed 1", "with 95 % confidence", "failed   none", "length (m)", "results.json", "best.toml"]
    {
        assert!(text.stdout.contains(part), "{part} in\n{}", text.stdout);
    }
    assert_eq!(text.stderr, "", "no progress bar without a terminal");
    let results = fs::read_to_string(folder.join("out/quick_push/results.json")).expect("results");
    let results: serde_json::Value = serde_json::from_str(&results).expect("JSON");
    let best = &results["found"][0];
    let run = call(&folder, &["run", "out/quick_push/best.toml", "--out", "best", "--json"]).expect(0).json();
    let square = &run["bodies"]["square"];
    let replayed = [&square["position"][0], &square["position"][1], &square["angle"]];
    for (k, replayed) in replayed.into_iter().enumerate() {
        assert_eq!(best["pose"][k].as_f64().map(f64::to_bits), replayed.as_f64().map(f64::to_bits), "{best} {square}");
    }
}

#[test]
fn the_json_has_all_documented_fields_and_is_the_same_for_any_number_of_jobs() {
    let folder = folder("sweep-json");
    study(&folder, "", "");
    let sweep = |jobs: &str, out: &str| {
        let call = call(&folder, &["sweep", "quick_push.toml", "--json", "--jobs", jobs, "--out", out]).expect(0);
        let written = fs::read_to_string(folder.join(out).join("results.json")).expect("results");
        assert_eq!(call.stdout, written);
        call
    };
    let (one, three) = (sweep("1", "one"), sweep("3", "three"));
    assert_eq!(one.stdout, three.stdout);
    let json = one.json();
    for pointer in [
        "/version",
        "/study",
        "/kind",
        "/scene",
        "/trials",
        "/seed",
        "/goal/position/1",
        "/goal/angle",
        "/goal/position_tolerance",
        "/goal/angle_tolerance",
        "/goal/symmetry",
        "/successes/hits",
        "/successes/of",
        "/successes/low",
        "/successes/high",
        "/failed",
        "/interrupted",
        "/found/0/trial",
        "/found/0/refined",
        "/found/0/path/points/1/1",
        "/found/0/path/speed",
        "/found/0/length",
        "/found/0/duration",
        "/found/0/pose/2",
        "/found/0/miss/distance",
        "/found/0/miss/angle",
        "/found/0/rehearsed/hits",
        "/nearest/trial",
    ] {
        assert!(json.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer} in {json}");
    }
    let other = call(&folder, &["sweep", "quick_push.toml", "--json", "--seed", "2", "--trials", "5"]).expect(0).json();
    assert_eq!((other["seed"].as_u64(), other["successes"]["of"].as_u64()), (Some(2), Some(5)));
}

#[test]
fn a_goal_out_of_reach_is_a_result_and_leaves_no_plan_of_an_older_study() {
    let folder = folder("sweep-nothing");
    study(&folder, "", "");
    call(&folder, &["sweep", "quick_push.toml", "--out", "here"]).expect(0);
    assert!(folder.join("here/best.toml").exists());
    study(&folder, "[0.2, 0.0]", "[20.0, 0.0]");
    let text = call(&folder, &["sweep", "quick_push.toml", "--out", "here", "--trials", "10"]).expect(0).stdout;
    assert!(text.contains("none; the nearest miss is") && text.contains("by 0 of 10"), "{text}");
    assert!(!folder.join("here/best.toml").exists());
}

#[test]
fn mistakes_are_shown_with_their_place_and_exit_with_2() {
    let folder = folder("sweep-mistakes");
    for (from, to, parts) in [
        ("refine = 2", "refin = 2", ["unknown key `refin`", "did you mean `refine`?"]),
        ("\"square\"", "\"sqare\"", ["the scene has no such body", "did you mean `square`?"]),
        ("quick.toml", "slow.toml", ["slow.toml cannot be opened", "scene = \"slow.toml\""]),
        ("speed = 0.5", "speed = 0", ["`speed` must be from 1e-9", "speed = 0"]),
    ] {
        study(&folder, from, to);
        let call = call(&folder, &["sweep", "quick_push.toml"]).expect(2);
        let line = QUICK.lines().position(|line| line.contains(from)).expect("the line") + 1;
        for part in parts.into_iter().chain([format!("quick_push.toml:{line}:").as_str()]) {
            assert!(call.stderr.contains(part), "{part} in\n{}", call.stderr);
        }
        assert_eq!(call.stdout, "");
    }
    for arguments in [&["sweep", "missing.toml"][..], &["sweep", "quick_push.toml", "--trials", "0"]] {
        call(&folder, arguments).expect(2);
    }
    assert!(!folder.join("out").exists(), "nothing is written for a study that cannot be read");
}

#[test]
fn a_study_whose_trials_all_fail_exits_with_1_and_the_reason() {
    let folder = folder("sweep-jam");
    study(&folder, "length = [0.15, 0.25]", "length = [0.3, 0.3]");
    let scene = fs::read_to_string(folder.join("quick.toml")).expect("scene");
    let walls = [
        ("end", "[0.51, 0.0]", "[-1.0, 0.0]"),
        ("above", "[0.0, 0.51]", "[0.0, -1.0]"),
        ("below", "[0.0, -0.51]", "[0.0, 1.0]"),
    ];
    let walls = walls.map(|(name, place, normal)| {
        let body = format!("[[body]]\nname = \"{name}\"\nkind = \"fixed\"\nposition = {place}\n");
        format!("{body}[[body.shape]]\nhalfspace = {{ normal = {normal} }}\n")
    });
    let text = scene + &walls.concat();
    fs::write(folder.join("quick.toml"), text).expect("scene");
    let call = call(&folder, &["sweep", "quick_push.toml", "--trials", "4"]).expect(1);
    assert!(call.stderr.contains("every trial failed") && call.stderr.contains("jammed"), "{}", call.stderr);
    assert!(call.stdout.contains("(first in trial 0)"), "{}", call.stdout);
}

#[test]
fn the_schema_of_studies_is_printed() {
    let schema = call(&folder("sweep-schema"), &["schema", "study"]).expect(0).json();
    assert!(schema["properties"]["push"].is_object() && schema["$id"] == "urn:stiction:study", "{schema}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_trials_that_were_made() {
    use std::{process::Command, process::Stdio, thread, time::Duration};

    use crate::program::{Call, program};

    let folder = folder("sweep-interrupt");
    study(&folder, "", "");
    let arguments = ["sweep", "quick_push.toml", "--trials", "10000000", "--json", "--out", "here"];
    let child = program(&folder).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start");
    thread::sleep(Duration::from_millis(1500));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let call = Call::from(child.wait_with_output().expect("the program ends")).expect(1);
    assert!(call.stderr.contains("stopped on request"), "{}", call.stderr);
    let json = call.json();
    assert_eq!(json["interrupted"], true);
    assert!((1..10_000_000).contains(&json["successes"]["of"].as_u64().expect("a count")), "{}", json["successes"]);
}
