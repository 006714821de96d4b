//! B06, B24, C-33: scenes with extreme numbers, and the messages about them.

use std::{fs, path::Path};

use crate::program::{call, folder, scene};

/// Writes a scene of the repository with one line replaced, and returns the number of that line.
fn write_changed(path: &Path, name: &str, (line, other): (&str, &str)) -> usize {
    let text = fs::read_to_string(scene(name)).expect("scene");
    let number = text.lines().position(|found| found == line).expect("the line") + 1;
    fs::write(path, text.replacen(line, other, 1)).expect("scene");
    number
}

#[test]
fn numbers_outside_their_domain_are_refused_with_file_place_and_reason() {
    let folder = folder("extreme-domain");
    for (line, other, reason) in [
        ("mass = 1.0", "mass = 1e13", "must lie between 1e-12 and 1e12"),
        ("mass = 1.0", "mass = 1e-13", "must lie between 1e-12 and 1e12"),
        ("position = [0.0, 0.25]", "position = [1e10, 0.25]", "1e9 in magnitude"),
    ] {
        let number = write_changed(&folder.join("far.toml"), "stack_of_boxes", (line, other));
        let call = call(&folder, &["run", "far.toml"]).expect(2);
        for part in [format!("far.toml:{number}:"), reason.to_owned(), other.to_owned()] {
            assert!(call.stderr.contains(&part), "{part} in\n{}", call.stderr);
        }
        assert_eq!(call.stdout, "");
    }
}

#[test]
fn a_billion_times_heavier_box_is_refused_with_a_hint_that_helps() {
    let folder = folder("extreme-mass");
    let stack = scene("stack_of_boxes");
    let run = |preset: &str| {
        let heavy = ["--set", "body.box-5.mass=1e9", "--duration", "0.02", "--json", "--preset", preset];
        call(&folder, &[&["run", stack.as_str()][..], &heavy].concat())
    };
    let refused = run("ncp").expect(1);
    let text = refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
    for part in ["not solved", "box-", "masses differ by more than a million", "linear friction set", "stiction solve"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let summary = run("stewart-trinkle").expect(0).json();
    let height = summary["bodies"]["box-5"]["position"][1].as_f64().expect("a number");
    assert!((height - 2.25).abs() < 1e-9, "{height}");
}

#[test]
fn a_wedged_slider_is_solved_and_its_problem_explained() {
    let folder = folder("extreme-wedge");
    let scene = r#"
[simulation]
duration = 0.05
step = 0.01
[[body]]
name = "left"
kind = "fixed"
position = [-0.5, 0.0]
[[body.shape]]
halfspace = { normal = [1.0, 0.0] }
[[body]]
name = "right"
kind = "fixed"
position = [0.5, 0.0]
[[body.shape]]
halfspace = { normal = [-1.0, 0.0] }
[[body]]
name = "slider"
mass = 1.0
[[body.shape]]
box = { size = [1.0, 0.4] }
[contact_default]
friction = 0.5
"#;
    fs::write(folder.join("slider.toml"), scene).expect("scene");
    call(&folder, &["run", "slider.toml", "--out", "here", "--keep-problems", "1"]).expect(0);
    let explained = call(&folder, &["solve", "here/problem_1.json", "--explain"]).expect(0);
    assert!(explained.stdout.contains("not pointed") && explained.stdout.contains("wedged"), "{}", explained.stdout);
}
