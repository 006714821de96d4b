//! `stiction run` and its files.

use std::{fs, path::Path};

use serde_json::Value;
use stiction::record::{Recording, Summary};

use crate::program::{call, folder, scene};

const FILES: [&str; 4] = ["trajectory.parquet", "contacts.parquet", "summary.json", "view.html"];

fn summary(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path.join("summary.json")).expect("summary")).expect("JSON")
}

#[test]
fn a_run_writes_its_files_and_a_table() {
    let folder = folder("run-files");
    let call = call(&folder, &["run", &scene("falling_rod")]).expect(0);
    for file in FILES {
        assert!(folder.join("out/falling_rod").join(file).is_file(), "{file}");
        assert!(call.stdout.contains(file), "{file} is named");
    }
    for word in ["steps per second", "touch", "energy", "penetration", "residual", "active-set"] {
        assert!(call.stdout.contains(word), "{word} in\n{}", call.stdout);
    }
    assert_eq!(call.stderr, "", "no progress bar without a terminal");
}

#[test]
fn the_summary_has_all_fields_of_the_contract() {
    let folder = folder("run-summary");
    call(&folder, &["run", &scene("falling_rod"), "--out", "here"]).expect(0);
    let summary = summary(&folder.join("here"));
    for pointer in [
        "/scene",
        "/preset",
        "/solver",
        "/step",
        "/steps",
        "/duration",
        "/wall_seconds",
        "/contacts_max",
        "/problem_size_max",
        "/energy/initial",
        "/energy/final",
        "/energy/max_gain",
        "/energy/unexplained/gain",
        "/energy/unexplained/fraction",
        "/penetration/max",
        "/penetration/final",
        "/joint_error/max",
        "/residual/max",
        "/residual/at_step",
        "/ladder/active-set",
        "/events/0/t",
        "/events/0/kind",
        "/events/0/contact",
        "/bodies/rod/position/1",
        "/bodies/rod/angle",
        "/bodies/rod/orientation",
        "/bodies/rod/linear_velocity/0",
        "/bodies/rod/angular_velocity",
    ] {
        assert!(summary.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer} in {summary}");
    }
    assert_eq!(summary["bodies"]["rod"]["orientation"], summary["bodies"]["rod"]["angle"]);
    let spatial = call(&folder, &["run", &scene("four_balls"), "--json", "--duration", "0.1"]).expect(0).json();
    assert_eq!(spatial["bodies"]["first"]["orientation"].as_array().map(Vec::len), Some(4));
    assert_eq!(spatial["bodies"]["first"]["angular_velocity"].as_array().map(Vec::len), Some(3));
}

#[test]
fn json_is_all_there_is_on_stdout_and_equals_the_file() {
    let folder = folder("run-json");
    let call = call(&folder, &["run", &scene("pendulum_friction"), "--json"]).expect(0);
    assert_eq!(call.json(), summary(&folder.join("out/pendulum_friction")));
}

#[test]
fn two_runs_give_the_same_bytes() {
    let folder = folder("run-twice");
    for name in ["falling_rod", "four_balls", "stack_of_boxes"] {
        for out in ["first", "second"] {
            call(&folder, &["run", &scene(name), "--out", out, "--duration", "0.6"]).expect(0);
        }
        for file in ["trajectory.parquet", "contacts.parquet", "view.html"] {
            let bytes = |out: &str| fs::read(folder.join(out).join(file)).expect("file");
            assert!(bytes("first") == bytes("second"), "{name}: {file} differs between two runs");
        }
    }
}

#[test]
fn options_change_the_scene() {
    let folder = folder("run-options");
    let rod = scene("falling_rod");
    let mut arguments = vec!["run", &rod, "--json", "--set", "body.rod.position=[0.0, 2.0]", "--duration", "0.1"];
    arguments.extend(["--step", "0.01", "--preset", "anitescu-potra", "--record-every", "5"]);
    let summary = call(&folder, &arguments).expect(0).json();
    assert_eq!((summary["steps"].as_u64(), summary["step"].as_f64()), (Some(10), Some(0.01)));
    assert_eq!(summary["preset"], "anitescu-potra");
    // Ten symplectic steps of free fall from 2 m: y = 2 − g h² · 55.
    let y = summary["bodies"]["rod"]["position"][1].as_f64().expect("a number");
    assert!((y - (2.0 - 9.81 * 1e-4 * 55.0)).abs() < 1e-12, "{y}");
    let recording = Recording::read(&folder.join("out/falling_rod")).expect("recording");
    assert_eq!(recording.frames().map(|frame| frame.step).collect::<Vec<_>>(), [0, 5, 10]);
}

#[test]
fn the_last_step_may_go_beyond_the_duration_and_the_table_says_so() {
    let folder = folder("run-beyond");
    let arguments = |duration| ["run", "--step", "0.02", "--duration", duration];
    let table = |duration| {
        let rod = scene("falling_rod");
        call(&folder, &[&arguments(duration)[..], &[rod.as_str()]].concat()).expect(0).stdout
    };
    assert!(table("0.05").contains("to t = 0.06 s (asked for 0.05 s)"), "{}", table("0.05"));
    assert!(!table("0.06").contains("asked for"));
}

#[test]
fn a_recording_ends_where_the_summary_says() {
    let folder = folder("run-recording");
    call(&folder, &["run", &scene("four_balls")]).expect(0);
    let path = folder.join("out/four_balls");
    let recording = Recording::read(&path).expect("recording");
    let summary: Summary = serde_json::from_value(summary(&path)).expect("summary");
    let last = recording.frame(recording.len() - 1).expect("frame");
    assert_eq!((last.step, last.time), (summary.steps, summary.duration));
    let position =
        recording.info().bodies.iter().filter(|body| body.mass.is_some()).position(|body| body.name == "second");
    let start = 7 * position.expect("the second ball");
    assert_eq!(last.q[start..start + 3], summary.bodies["second"].position);
}

#[test]
fn an_older_run_in_the_folder_is_replaced() {
    let folder = folder("run-replace");
    call(&folder, &["run", &scene("falling_rod"), "--out", "here"]).expect(0);
    call(&folder, &["run", &scene("falling_rod"), "--out", "here", "--duration", "0.05"]).expect(0);
    assert_eq!(Recording::read(&folder.join("here")).expect("recording").len(), 21);
    assert_eq!(fs::read_dir(folder.join("here")).expect("folder").count(), FILES.len());
}

/// A point pinned to the world and to a body that moves away: no velocities satisfy both joints.
#[test]
fn a_step_that_cannot_be_solved_keeps_record_and_problem() {
    let folder = folder("run-fails");
    let torn = r#"
[[body]]
name = "runaway"
kind = "kinematic"
motion = { x = "t" }
[[joint]]
name = "torn"
kind = "revolute"
between = ["runaway", "upper"]
anchor = [0.0, 0.0]
"#;
    let text = fs::read_to_string(scene("pendulum")).expect("scene") + torn;
    fs::write(folder.join("torn.toml"), text).expect("scene");
    let call = call(&folder, &["run", "torn.toml", "--json"]).expect(1);
    assert!(call.json()["ending"]["failed"].is_string(), "{}", call.stdout);
    assert!(
        call.stderr.contains("stopped at t = 0 s, in step 1") && call.stderr.contains("worst at joint"),
        "{}",
        call.stderr
    );
    assert_eq!(Recording::read(&folder.join("out/torn")).expect("recording").len(), 1);
    let again = crate::program::call(&folder, &["solve", "out/torn/failed_problem.json"]).expect(1);
    assert!(again.stdout.contains("a frictional problem"), "{}", again.stdout);
}

#[test]
fn energy_without_a_source_is_a_warning_and_then_an_error() {
    let folder = folder("run-energy");
    let text = |duration: f64, speed: f64, terms: &str| {
        format!(
            "[simulation]\nduration = {duration:?}\nstep = 0.01\ngravity = [0.0, 0.0, 0.0]\n[scheme]\nvelocity_terms = \"{terms}\"\n\
             [[body]]\nname = \"b\"\nmass = 1.0\ninertia = [0.01, 0.02, 0.025]\nangular_velocity = [{speed:?}, {speed:?}, {speed:?}]\n"
        )
    };
    let scenes = [("slow", 0.2, 10.0, "explicit"), ("fast", 2.0, 50.0, "explicit"), ("kept", 2.0, 50.0, "conserving")];
    for (name, duration, speed, terms) in scenes {
        fs::write(folder.join(format!("{name}.toml")), text(duration, speed, terms)).expect("scene");
    }
    let warned = call(&folder, &["run", "slow.toml"]).expect(0);
    assert!(warned.stdout.contains("without a source") && warned.stdout.contains("\"b\""), "{}", warned.stdout);
    let stopped = call(&folder, &["run", "fast.toml"]).expect(1);
    assert!(stopped.stderr.contains("\"b\"") && stopped.stderr.contains("velocity_terms"), "{}", stopped.stderr);
    assert!(summary(&folder.join("out/fast"))["ending"]["failed"].is_string());
    let kept = call(&folder, &["run", "kept.toml"]).expect(0);
    assert!(!kept.stdout.contains("without a source"), "{}", kept.stdout);
}
