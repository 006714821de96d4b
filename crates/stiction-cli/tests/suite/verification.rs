//! `stiction sweep` of studies of the kind `verification`.

use std::{fs, path::Path};

use crate::program::{call, folder};

/// A ball that flies: from -0.1 it gets beyond 0.15 if it is faster than 1.25 m/s.
const SCENE: &str = r#"[simulation]
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

const STUDY: &str = r#"[study]
kind = "verification"
scene = "flight.toml"
[parameters.speed]
path = "body.ball.velocity.0"
values = [0.2, 1.0, 1.2, 1.4, 1.6]
[circumstances.start]
path = "body.ball.position.0"
values = [0.0, -0.1]
[[stage]]
name = "geometric"
simulate = false
success = "speed > 0.5"
[[stage]]
name = "flight"
success = "final(ball.x) > 0.15"
"#;

fn study(folder: &Path, from: &str, to: &str) {
    fs::write(folder.join("flight.toml"), SCENE).expect("scene");
    fs::write(folder.join("verified.toml"), STUDY.replacen(from, to, 1)).expect("study");
}

#[test]
fn the_table_has_a_row_per_stage_and_one_for_all() {
    let folder = folder("verification-table");
    study(&folder, "", "");
    let text = call(&folder, &["sweep", "verified.toml", "--naive"]).expect(0).stdout;
    for part in [
        "accepted  2: 3, 4",
        "rejected  3",
        "naive: passed",
        "the same candidates are accepted without hierarchy",
        "8 instead of 9",
        "start -0.1",
        "accepted.toml",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).expect(name).to_owned();
    let numbers = |name: &str| row(name).split_whitespace().skip(1).take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(numbers("geometric"), ["5", "4", "5"]);
    assert_eq!(numbers("flight"), ["4", "2", "8"]);
    assert_eq!(numbers("total"), ["5", "2", "13"]);
    // The scene of the first accepted candidate can be run.
    let run = call(&folder, &["run", "out/verified/accepted.toml", "--json"]).expect(0).json();
    let x = run["bodies"]["ball"]["position"][0].as_f64().expect("a place");
    assert!((x - 0.28).abs() < 1e-12, "{x}");
}

#[test]
fn the_json_has_all_documented_fields_and_only_times_depend_on_the_jobs() {
    let folder = folder("verification-json");
    study(&folder, "", "");
    let sweep = |jobs: &str| {
        let mut json = call(&folder, &["sweep", "verified.toml", "--naive", "--json", "--jobs", jobs]).expect(0).json();
        assert!(json["seconds"]["hierarchy"][1].is_number() && json["seconds"]["naive"][1].is_number(), "{json}");
        json["seconds"] = serde_json::Value::Null;
        json
    };
    let one = sweep("1");
    assert_eq!((&one, &one), (&sweep("2"), &sweep("7")));
    for pointer in [
        "/version",
        "/study",
        "/kind",
        "/scene",
        "/candidates",
        "/made",
        "/seed",
        "/interrupted",
        "/parameters/0",
        "/stages/1/name",
        "/stages/1/simulates",
        "/stages/1/over/0",
        "/stages/1/circumstances",
        "/stages/1/candidates",
        "/stages/1/passed",
        "/stages/1/runs",
        "/stages/1/failed",
        "/accepted/0/candidate",
        "/accepted/0/values/0",
        "/rejected/0/stage",
        "/rejected/1/circumstances/0",
        "/naive/stages/1/runs",
        "/naive/accepted/0",
        "/naive/same",
        "/naive/lost",
        "/naive/last_alone",
    ] {
        assert!(one.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer} in {one}");
    }
}

#[test]
fn a_stage_that_asks_for_too_much_is_told_and_nothing_accepted_is_a_result() {
    let folder = folder("verification-lost");
    study(&folder, "speed > 0.5", "speed > 1.5");
    let text = call(&folder, &["sweep", "verified.toml", "--naive"]).expect(0).stdout;
    assert!(text.contains("without hierarchy 1 more is accepted: 3"), "{text}");
    study(&folder, "speed > 0.5", "speed > 5");
    let text = call(&folder, &["sweep", "verified.toml"]).expect(0).stdout;
    assert!(text.contains("accepted  0"), "{text}");
    assert!(!folder.join("out/verified/accepted.toml").exists());
}

#[test]
fn mistakes_are_shown_with_their_place_and_exit_with_2() {
    let folder = folder("verification-mistakes");
    for (from, to, parts) in [
        ("simulate = false", "simulat = false", ["unknown key `simulat`", "did you mean `simulate`?"]),
        ("speed > 0.5", "speeed > 0.5", ["there is no column `speeed`", "columns: step, t"]),
        ("flight.toml", "fligt.toml", ["fligt.toml cannot be opened", "scene = \"fligt.toml\""]),
    ] {
        study(&folder, from, to);
        let call = call(&folder, &["sweep", "verified.toml"]).expect(2);
        let line = STUDY.lines().position(|line| line.contains(from)).expect("the line") + 1;
        for part in parts.into_iter().chain([format!("verified.toml:{line}:").as_str()]) {
            assert!(call.stderr.contains(part), "{part} in\n{}", call.stderr);
        }
    }
    study(&folder, "", "");
    let call = call(&folder, &["sweep", "verified.toml", "--resume"]).expect(2);
    assert!(call.stderr.contains("remove it"), "{}", call.stderr);
}

#[test]
fn a_failure_of_every_candidate_exits_with_1_and_the_reason() {
    let folder = folder("verification-failure");
    // The first circumstances can be built, so that the study can be read; the second cannot.
    study(&folder, "body.ball.position.0\"\nvalues = [0.0, -0.1]", "body.ball.mass\"\nvalues = [1.0, -1.0]");
    let fast = fs::read_to_string(folder.join("verified.toml")).expect("study");
    fs::write(folder.join("verified.toml"), fast.replace("[0.2, 1.0, 1.2, 1.4, 1.6]", "[1.4, 1.6]")).expect("study");
    let call = call(&folder, &["sweep", "verified.toml"]).expect(1);
    assert!(call.stderr.contains("a run of every candidate failed") && call.stderr.contains("mass"), "{}", call.stderr);
    assert!(call.stdout.contains("2 of them because a run failed"), "{}", call.stdout);
}

#[test]
fn without_hierarchy_is_for_verifications_only() {
    let folder = folder("verification-naive");
    fs::write(folder.join("flight.toml"), SCENE).expect("scene");
    let other = "[study]\nkind = \"monte-carlo\"\nscene = \"flight.toml\"\nsuccess = \"1\"\ntrials = 1\n";
    fs::write(folder.join("other.toml"), other).expect("study");
    let call = call(&folder, &["sweep", "other.toml", "--naive"]).expect(2);
    assert!(call.stderr.contains("`--naive` is for studies of the kind `verification`"), "{}", call.stderr);
}
