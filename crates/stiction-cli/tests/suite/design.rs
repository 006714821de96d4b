//! `stiction design` from the command line: tables, JSON, invalid input, and searches that are stopped or cannot succeed.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::program::{Call, call, folder, program, scene};

/// A block that should stop at (0.3, 0.1) m, whether it starts at 0 or a little beside it.
const DESIGN: &str = r#"[design]
scene = "block.toml"
evaluations = 60
tolerance = 1e-12
[[parameter]]
name = "v"
path = "body.block.velocity.0"
start = 0.5
bounds = [0.1, 3.0]
scale = 0.2
[[parameter]]
name = "side"
path = "body.block.velocity.1"
start = 0.3
bounds = [-1.0, 1.0]
scale = 0.1
[[run]]
name = "from 0"
[[run]]
name = "from the side"
set = ["body.block.position.1=0.01"]
[[term]]
name = "miss"
value = "(final(block.x) - 0.3)^2 + (final(block.y) - 0.1)^2"
weight = 100.0
"#;

/// The scene and the design with some of its text replaced.
fn design(folder: &Path, from: &str, to: &str) {
    let block = fs::read_to_string(scene("sliding_block")).expect("scene").replace("step = 1e-3", "step = 5e-3");
    fs::write(folder.join("block.toml"), block).expect("scene");
    assert!(DESIGN.contains(from), "{from}");
    fs::write(folder.join("push.toml"), DESIGN.replacen(from, to, 1)).expect("design");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_table_names_what_was_found_and_the_best_scene_can_be_run() {
    let folder = folder("design-table");
    design(&folder, "", "");
    let text = call(&folder, &["design", "push.toml", "--starts", "3"]).expect(0).stdout;
    for part in [
        "push, of the scene block.toml",
        "nelder-mead from 3 starts, seed 1",
        "failed     none",
        "at the start",
        "body.block.velocity.1",
        "0.1 to 3",
        "from the side",
        "evaluations used up",
        "convergence.svg",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let out = folder.join("out/push");
    // A curve per start, by name.
    let figure = read(&out.join("convergence.svg"));
    assert!(figure.contains("start 1") && figure.contains("start 3") && figure.contains("evaluations"), "{figure}");
    let page = read(&out.join("results.html"));
    assert!(page.contains("<h2>Starts</h2>") && page.contains("<svg") && !page.contains("http-equiv"), "{page}");
    // The middle between the runs is the best compromise: each block ends half a centimetre from the goal.
    let run = call(&folder, &["run", "out/push/best.toml", "--json"]).expect(0).json();
    let [x, y] = [0, 1].map(|k| run["bodies"]["block"]["position"][k].as_f64().expect("a place"));
    assert!((x - 0.3).abs() < 1e-3 && (y - 0.095).abs() < 1e-3, "{x} {y}");
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn the_json_has_all_documented_fields_and_does_not_depend_on_the_jobs() {
    let folder = folder("design-json");
    design(&folder, "", "");
    for method in ["nelder-mead", "cma-es", "least-squares"] {
        let json = |jobs: &str| {
            let options = ["--json", "--starts", "3", "--evaluations", "40", "--method", method, "--jobs", jobs];
            let found = call(&folder, &[&["design", "push.toml", "--out", jobs], &options[..]].concat()).expect(0);
            let files = ["results.json", "results.html", "convergence.svg", "best.toml"];
            (found.stdout, files.map(|name| read(&folder.join(jobs).join(name))))
        };
        let one = json("1");
        assert!(one == json("2") && one == json("7"), "{method}");
        assert_eq!(one.0, one.1[0]);
        let value: serde_json::Value = serde_json::from_str(&one.0).expect("JSON");
        for pointer in [
            "/version",
            "/design",
            "/scene",
            "/method",
            "/seed",
            "/parameters/1/name",
            "/parameters/1/path",
            "/parameters/1/value",
            "/parameters/1/start",
            "/parameters/1/bounds/0",
            "/objective",
            "/objective_at_start",
            "/runs/1/run",
            "/runs/1/terms/0/1",
            "/evaluations",
            "/failed",
            "/interrupted",
            "/starts/2/start/1",
            "/starts/2/best/1",
            "/starts/2/objective",
            "/starts/2/ending",
            "/starts/2/milestones/0/iteration",
            "/starts/2/milestones/0/evaluations",
            "/starts/2/milestones/0/objective",
        ] {
            assert!(value.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer} in {value}");
        }
        assert_eq!(value["method"], method);
    }
}

#[test]
fn mistakes_are_shown_with_their_place_and_exit_with_2() {
    let folder = folder("design-mistakes");
    for (from, to, parts) in [
        ("evaluations = 60", "evalutions = 60", ["unknown key `evalutions`", "did you mean `evaluations`?"]),
        ("weight = 100.0", "weigth = 100.0", ["unknown key `weigth`", "did you mean `weight`?"]),
        ("body.block.velocity.1", "body.blok.velocity.1", ["blok", "did you mean `block`?"]),
        ("start = 0.5", "start = 5.0", ["the start 5 of `v` must be in its bounds 0.1 to 3", "start = 5.0"]),
        ("block.toml", "blok.toml", ["blok.toml cannot be opened", "scene = \"blok.toml\""]),
    ] {
        design(&folder, from, to);
        let call = call(&folder, &["design", "push.toml"]).expect(2);
        let line = DESIGN.lines().position(|line| line.contains(from)).expect("the line") + 1;
        for part in parts.into_iter().chain([format!("push.toml:{line}:").as_str()]) {
            assert!(call.stderr.contains(part), "{part} in\n{}", call.stderr);
        }
        assert!(!folder.join("out").exists(), "nothing is written");
    }
    let absent = call(&folder, &["design", "none.toml"]).expect(2);
    assert!(absent.stderr.contains("none.toml"), "{}", absent.stderr);
}

/// Several starts are drawn from the bounds: those that the command line asks for need them as well.
#[test]
fn starts_without_bounds_are_refused() {
    let folder = folder("design-boundless");
    design(&folder, "bounds = [-1.0, 1.0]\n", "");
    let call = call(&folder, &["design", "push.toml", "--starts", "2"]).expect(2);
    assert!(call.stderr.contains("drawn from the bounds, and `side` has none"), "{}", call.stderr);
}

#[test]
fn a_search_continues_with_a_larger_budget_and_only_as_the_same_design() {
    let folder = folder("design-resume");
    design(&folder, "", "");
    let search = |out: &str, evaluations: &str, resume: &[&str]| {
        call(&folder, &[&["design", "push.toml", "--out", out, "--evaluations", evaluations], resume].concat())
    };
    search("whole", "50", &[]).expect(0);
    search("parts", "20", &[]).expect(0);
    let continued = search("parts", "50", &["--resume"]).expect(0).stdout;
    assert!(continued.contains("of them from the log"), "{continued}");
    let [whole, parts] = ["whole", "parts"].map(|out| read(&folder.join(out).join("results.json")));
    assert_eq!(whole, parts);
    // Another goal is another design.
    design(&folder, "0.3)^2", "0.31)^2");
    let refused = search("parts", "50", &["--resume"]).expect(2);
    for part in ["evaluations of another design", "evaluations.jsonl", "without --resume"] {
        assert!(refused.stderr.contains(part), "{part} in\n{}", refused.stderr);
    }
}

/// Starts a search and waits until its log has grown to a fraction of what a whole one has.
fn grown(folder: &Path, arguments: &[&str], whole: u64, fraction: u64) -> Child {
    let mut command = program(folder);
    command.args(["design", "push.toml", "--out", "stopped", "--jobs", "2"]).args(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start");
    let log = folder.join("stopped/evaluations.jsonl");
    let started = Instant::now();
    while length(&log) < whole * fraction / 100 && started.elapsed() < Duration::from_mins(2) {
        thread::sleep(Duration::from_micros(400));
    }
    child
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

/// A search of hundreds of evaluations that take milliseconds, and the length of its log.
fn long(folder: &Path) -> u64 {
    design(folder, "evaluations = 60", "evaluations = 150\nmethod = \"cma-es\"\nstarts = 2");
    let block = read(&folder.join("block.toml")).replace("step = 5e-3", "step = 1e-3");
    fs::write(folder.join("block.toml"), block).expect("scene");
    call(folder, &["design", "push.toml", "--out", "whole"]).expect(0);
    length(&folder.join("whole/evaluations.jsonl"))
}

/// A continued search gives the same result as an uninterrupted one.
fn assert_same(folder: &Path) {
    for file in ["results.json", "results.html", "convergence.svg", "best.toml"] {
        let [whole, stopped] = ["whole", "stopped"].map(|out| read(&folder.join(out).join(file)));
        assert!(whole == stopped, "{file}");
    }
    // The lines are the same, too; their order is that of the threads.
    let [whole, stopped] = ["whole", "stopped"].map(|out| {
        let mut lines: Vec<_> = read(&folder.join(out).join("evaluations.jsonl")).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    });
    assert_eq!(whole, stopped);
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn a_search_killed_again_and_again_ends_with_the_same_bits() {
    let folder = folder("design-kill");
    let whole = long(&folder);
    let log = folder.join("stopped/evaluations.jsonl");
    for (kill, fraction) in [11, 43, 78].into_iter().enumerate() {
        let mut child = grown(&folder, if kill == 0 { &[] } else { &["--resume"] }, whole, fraction);
        child.kill().expect("SIGKILL");
        assert!(!child.wait().expect("its end").success(), "it was killed, not finished");
        let made = length(&log);
        assert!(made >= whole * fraction / 100 && made < whole, "{made} of {whole} after kill {kill}");
    }
    call(&folder, &["design", "push.toml", "--out", "stopped", "--resume"]).expect(0);
    assert_same(&folder);
}

#[cfg(unix)]
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn a_search_stopped_by_ctrl_c_says_so_and_continues() {
    let folder = folder("design-interrupt");
    let whole = long(&folder);
    let child = grown(&folder, &[], whole, 30);
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let stopped = Call::from(child.wait_with_output().expect("the program ends")).expect(1);
    for part in ["stopped on request", "continue with --resume"] {
        assert!(stopped.stderr.contains(part), "{part} in\n{}", stopped.stderr);
    }
    let results: serde_json::Value = serde_json::from_str(&read(&folder.join("stopped/results.json"))).expect("JSON");
    assert_eq!(results["interrupted"], true);
    call(&folder, &["design", "push.toml", "--out", "stopped", "--resume"]).expect(0);
    assert_same(&folder);
}

/// There is no best point, which the methods must handle.
#[test]
fn when_every_evaluation_fails_the_reason_is_told() {
    let folder = folder("design-failing");
    // The term is also NaN at the initial state, when the file is checked; only its kind is checked.
    design(&folder, "(final(block.x) - 0.3)^2", "sqrt(-1 - final(block.x)^2)");
    for method in ["nelder-mead", "cma-es", "least-squares"] {
        let failed = call(&folder, &["design", "push.toml", "--method", method, "--starts", "2"]).expect(1);
        assert!(failed.stderr.contains("every evaluation failed"), "{method}: {}", failed.stderr);
        assert!(!failed.stderr.contains("panicked"), "{method}: {}", failed.stderr);
        assert!(failed.stdout.contains("a term has no value"), "{method}: {}", failed.stdout);
        let out = folder.join("out/push");
        let results: serde_json::Value = serde_json::from_str(&read(&out.join("results.json"))).expect("JSON");
        assert!(results["objective"].is_null() && results["runs"] == serde_json::json!([]), "{method}: {results}");
        assert_eq!(results["parameters"][0]["value"], 0.5, "as it was");
        assert_ne!(results["starts"][0]["ending"], "converged", "{method}");
        assert!(!out.join("best.toml").exists(), "there is no best scene");
        assert!(read(&out.join("convergence.svg")).contains("<svg"));
    }
}
