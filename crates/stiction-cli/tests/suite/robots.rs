//! Robots on the command line: `convert`, `check`, `run`, and the dynamics at a state.

use std::{fs, path::Path};

use serde_json::Value;

use crate::program::{call, folder, scene};

const CRAWLER: &str = include_str!("../../../stiction-scene/tests/suite/crawler.xml");
const ARM: &str = include_str!("../../../stiction-scene/tests/suite/arm.urdf");

/// A fresh folder with robots.
fn with_robots(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    fs::write(folder.join("crawler.xml"), CRAWLER).expect("a robot");
    // Without the mesh, which is not there.
    let arm = ARM.replace("<mesh filename=\"package://arm/fore.stl\" scale=\"1 1 2\"/>", "<sphere radius=\"0.1\"/>");
    fs::write(folder.join("arm.urdf"), arm).expect("a robot");
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect("a file")
}

#[test]
fn robots_become_scenes_that_are_read_again() {
    let folder = with_robots("robot-convert");
    for robot in ["crawler.xml", "arm.urdf"] {
        for scene in ["a.toml", "b.toml", "c.toml"] {
            let _ = fs::remove_file(folder.join(scene));
        }
        let listed = call(&folder, &["convert", robot, "a.toml"]).expect(0);
        assert!(listed.stderr.contains("ignored: "), "{}", listed.stderr);
        assert_eq!(listed.stdout, "");
        call(&folder, &["convert", "a.toml", "b.toml"]).expect(0);
        call(&folder, &["convert", "b.toml", "c.toml"]).expect(0);
        assert_eq!(read(&folder, "b.toml"), read(&folder, "c.toml"));
        // The robot itself, its scene and the scene written again contain the same.
        let contents = |file: &str| {
            let mut json = call(&folder, &["check", file, "--json"]).expect(0).json();
            let table = json.as_object_mut().expect("an object");
            table.remove("scene");
            table.remove("notes");
            json
        };
        assert_eq!(contents(robot), contents("a.toml"));
        assert_eq!(contents("a.toml"), contents("b.toml"));
    }
}

/// `--set joint.NAME.initial` moves a robot, and followers of couplings, alike in maximal and reduced coordinates.
#[test]
fn initial_moves_a_robot() {
    let folder = with_robots("robot-initial");
    let ends = ["reduced", "maximal"].map(|coordinates| {
        let coordinates = format!("scheme.coordinates={coordinates}");
        let still = ["simulation.gravity=[0.0, 0.0, 0.0]", "simulation.duration=0.002", &coordinates];
        let moved = ["joint.elbow.initial=0.5", "joint.left slide.initial=0.03"];
        let changes = moved.iter().chain(&still).flat_map(|change| ["--set", change]);
        let arguments: Vec<_> = ["run", "arm.urdf", "--out", "out"].into_iter().chain(changes).collect();
        call(&folder, &arguments).expect(0);
        let summary: Value = serde_json::from_str(&read(&folder.join("out"), "summary.json")).expect("JSON");
        ["left", "right"].map(|link| {
            let position = summary["bodies"][link]["position"].as_array().expect("a list").clone();
            position.iter().map(|x| x.as_f64().expect("a number")).collect::<Vec<_>>()
        })
    });
    let [[left, right], maximal] = &ends;
    // The slide is at the elbow, and opens across the fore arm, which is turned by 0.5 rad.
    let (sin, cos) = 0.5_f64.sin_cos();
    let expected = [0.4 - 0.03 * sin, 0.0, 0.1 - 0.03 * cos];
    let differs = |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-6);
    assert!(!differs(left, &expected), "{left:?}");
    assert!(right[2] > 0.11, "the follower opens as well: {right:?}");
    assert!(!differs(left, &maximal[0]) && !differs(right, &maximal[1]), "{ends:?}");
}

#[test]
fn check_shows_what_drives_a_robot() {
    let folder = with_robots("robot-check");
    let shown = call(&folder, &["check", "crawler.xml"]).expect(0);
    for part in ["left leg behind left hip  frame", "actuator 1  right hip", "left hip = 0.1 + -1 · right hip"] {
        assert!(shown.stdout.contains(part), "{part} in\n{}", shown.stdout);
    }
    let json = call(&folder, &["check", "crawler.xml", "--json", "--keyframe", "stand"]).expect(0).json();
    assert_eq!(json["notes"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(json["motors"][0]["gear"], 50.0);
}

#[test]
fn wrong_robots_and_wrong_options_exit_with_2() {
    let folder = with_robots("robot-errors");
    fs::write(folder.join("world.world"), "<sdf version=\"1.6\"/>").expect("a file");
    fs::write(folder.join("wrong.xml"), CRAWLER.replace("<geom type", "<geon type")).expect("a file");
    let rod = scene("falling_rod");
    for (arguments, part) in [
        (&["run", "world.world"][..], "SDF is not supported"),
        (&["check", "world.world"], "SDF is not supported"),
        (&["convert", "world.world", "x.toml"], "SDF is not supported"),
        (&["run", "wrong.xml"], "wrong.xml:21:10: a sphere needs 1 positive numbers as its `size`"),
        (&["check", "crawler.xml", "--keyframe", "fly"], "has no keyframe \"fly\""),
        (&["check", &rod, "--keyframe", "fly"], "`--keyframe` is for robots"),
        (&["check", &rod, "--dynamics", "x.json"], "`--dynamics` is for robots"),
        (&["check", "crawler.xml", "--dynamics", "missing.json"], "cannot read missing.json"),
        (&["convert", "crawler.xml", "missing/x.toml"], "cannot write missing/x.toml"),
    ] {
        let call = call(&folder, arguments).expect(2);
        assert!(call.stderr.contains(part), "{part} in\n{}", call.stderr);
    }
}

fn dynamics(folder: &Path, robot: &str, state: &str) -> Value {
    fs::write(folder.join("state.json"), state).expect("a state");
    call(folder, &["check", robot, "--dynamics", "state.json", "--json"]).expect(0).json()
}

#[test]
fn dynamics_at_a_state_obey_newton() {
    let folder = with_robots("robot-dynamics");
    // A pendulum of a point mass 2 kg at 0.5 m: M = m l², bias = m g l sin q, and with a rotor of 0.1 kg m².
    let pendulum = "<mujoco><option gravity=\"0 0 -10\"/><worldbody><body name=\"bob\">
        <joint name=\"hinge\" axis=\"0 1 0\" armature=\"0.1\"/>
        <inertial pos=\"0 0 -0.5\" mass=\"2\" diaginertia=\"1e-9 1e-9 1e-9\"/></body></worldbody></mujoco>";
    fs::write(folder.join("pendulum.xml"), pendulum).expect("a robot");
    let q: f64 = 0.3;
    let found = dynamics(&folder, "pendulum.xml", "{\"q\": [0.3], \"v\": [2.0], \"tau\": [1.0]}");
    let (mass, bias) = (0.6, 10.0 * q.sin());
    let number = |value: &Value| value.as_f64().expect("a number");
    let close = |value: &Value, expected: f64| assert!((number(value) - expected).abs() < 1e-7, "{value} {expected}");
    close(&found["mass_matrix"][0][0], mass);
    close(&found["bias"][0], bias);
    close(&found["acceleration"][0], (1.0 - bias) / mass);
    close(&found["energy"]["kinetic"], 0.5 * mass * 4.0);
    close(&found["energy"]["potential"], -10.0 * q.cos());
    assert_eq!(found["links"][1]["name"], "bob");
    close(&found["links"][1]["orientation"][2], (0.5 * q).sin());
    let whole = dynamics(&folder, "crawler.xml", "{}");
    assert_eq!(whole["coordinates"].as_array().map(Vec::len), Some(10));
    assert_eq!(whole["velocities"][3], "root.wx");
    assert_eq!(whole["q"][7], 0.1, "the reference of the first hinge");
}

#[test]
fn singular_mass_matrices_are_reported() {
    let folder = with_robots("robot-singular");
    // Three hinges through one point with nothing between them: at a quarter turn of the second, the first and the third turn alike.
    let wrist = "<mujoco><worldbody><body><joint name=\"yaw\" axis=\"0 0 1\"/><joint name=\"pitch\" axis=\"0 1 0\"/>
        <joint name=\"roll\" axis=\"1 0 0\"/><geom type=\"box\" size=\"0.1 0.2 0.3\"/></body></worldbody></mujoco>";
    fs::write(folder.join("wrist.xml"), wrist).expect("a robot");
    let turned = std::f64::consts::FRAC_PI_2;
    fs::write(folder.join("lock.json"), format!("{{\"q\": [0.2, {turned}, 0.1]}}")).expect("a state");
    let locked = call(&folder, &["check", "wrist.xml", "--dynamics", "lock.json", "--json"]).expect(1);
    assert!(locked.stderr.contains("mass matrix is singular at these coordinates"), "{}", locked.stderr);
    assert!(locked.stderr.contains("\"yaw\""), "{}", locked.stderr);
    dynamics(&folder, "wrist.xml", "{\"q\": [0.2, 0.3, 0.1]}");
    for (state, part) in [
        ("{\"q\": [0.2]}", "`q` has 1 numbers, but the robot has 3"),
        ("{\"v\": [1, 2, 3, 4]}", "`v` has 4 numbers, but the robot has 3"),
        ("{\"tau\": \"none\"}", "is not a valid state"),
        ("{\"speed\": [1]}", "unknown field `speed`"),
        ("{\"q\": [1e400, 0, 0]}", "is not a valid state"),
    ] {
        fs::write(folder.join("state.json"), state).expect("a state");
        let call = call(&folder, &["check", "wrist.xml", "--dynamics", "state.json"]).expect(2);
        assert!(call.stderr.replace("\n  │ ", " ").contains(part), "{part} in\n{}", call.stderr);
    }
    // The same in a free joint: a quaternion of zeros turns nowhere.
    fs::write(folder.join("state.json"), "{\"q\": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}").expect("a state");
    let call = call(&folder, &["check", "crawler.xml", "--dynamics", "state.json"]).expect(2);
    assert!(call.stderr.contains("quaternion without direction"), "{}", call.stderr);
}

/// A linkage of two cranks and a rod, closed by a pin that is `gap` away from where the ends meet.
fn four_bar(gap: f64, more: &str) -> String {
    let bar = |name: &str, at: &str, to: &str, inside: &str| {
        format!(
            "<body name=\"{name}\" pos=\"{at}\"><joint axis=\"0 1 0\"/><geom type=\"capsule\" size=\"0.02\" fromto=\"0 0 0 {to}\" \
            contype=\"0\" conaffinity=\"0\"/>{inside}</body>"
        )
    };
    let rod = bar("rod", "0 0 -1", "1 0 0", "<site name=\"end\" pos=\"1 0 0\"/>");
    let pin = format!("<site name=\"pin\" pos=\"0 0 {}\"/>", -1.0 - gap);
    format!(
        "<mujoco><option gravity=\"3 0 -9\"/><worldbody>{}{}</worldbody>\
        <equality><connect site1=\"end\" site2=\"pin\"/>{more}</equality></mujoco>",
        bar("left", "0 0 0", "0 0 -1", &rod),
        bar("right", "1 0 0", "0 0 -1", &pin),
    )
}

#[test]
fn redundant_loops_move_and_impossible_ones_are_reported() {
    let folder = folder("robot-loops");
    let run = |gap: f64, more: &str, duration: &str| {
        fs::write(folder.join("linkage.xml"), four_bar(gap, more)).expect("a robot");
        call(&folder, &["run", "linkage.xml", "--duration", duration, "--json"])
    };
    let position = |json: &Value| json["bodies"]["right"]["position"][0].as_f64().expect("a number");
    let once = run(0.0, "", "0.2").expect(0).json();
    let twice = run(0.0, "<connect name=\"again\" site1=\"end\" site2=\"pin\"/>", "0.2").expect(0).json();
    for json in [&once, &twice] {
        assert!(json["joint_error"]["max"].as_f64() < Some(1e-5), "{}", json["joint_error"]);
    }
    assert!((position(&once) - position(&twice)).abs() < 1e-9 && position(&once) > 1.01, "{}", position(&once));
    // Bars that cannot reach the pin approach it until they are straight: the run reports its end, and keeps the recorded part. Robots close joints slowly,
    // which would take minutes.
    fs::write(folder.join("linkage.xml"), four_bar(5.0, "")).expect("a robot");
    let closing = "scheme.joint_closing_speed.linear=1.0";
    let impossible = call(&folder, &["run", "linkage.xml", "--duration", "8", "--json", "--set", closing]).expect(1);
    assert!(impossible.stderr.contains("the simulation stopped at t = "), "{}", impossible.stderr);
}
