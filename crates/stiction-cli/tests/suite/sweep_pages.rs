//! The page of a Monte Carlo study: maps and bars of every slice, tooltips of cells, failures with their problems, `stiction view`.

use std::{fs, path::Path};

use crate::program::{call, folder, scene};

/// Three grid parameters and two variants: four slices. The successes are known without a simulation.
const SLICED: &str = r#"
[study]
kind = "monte-carlo"
scene = "flight.toml"
trials = 4
success = "x + y + z > 4.5"
[parameters.x]
path = "body.ball.position.0"
values = [1.0, 2.0, 3.0]
[parameters.y]
path = "body.ball.position.1"
values = [0.0, 1.0]
[parameters.z]
path = "body.ball.velocity.0"
values = [1.0, 2.0]
[variants.heavy]
"body.ball.mass" = 2.0
[variants.light]
"body.ball.mass" = 1.0
"#;

const FLIGHT: &str = r#"
[simulation]
duration = 0.02
step = 0.01
gravity = [0.0, 0.0]
[[body]]
name = "ball"
mass = 1.0
position = [0.0, 0.0]
velocity = [0.0, 0.0]
[[body.shape]]
disc = { radius = 0.1 }
"#;

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_slice_has_a_map_and_bars_whose_cells_tell_value_and_interval() {
    let folder = folder("pages-slices");
    fs::write(folder.join("flight.toml"), FLIGHT).expect("scene");
    fs::write(folder.join("sliced.toml"), SLICED).expect("study");
    call(&folder, &["sweep", "sliced.toml", "--out", "out"]).expect(0);
    let (map, bars, page) =
        (read(&folder, "out/map.svg"), read(&folder, "out/histogram.svg"), read(&folder, "out/results.html"));
    for title in ["heavy, z = 1", "heavy, z = 2", "light, z = 1", "light, z = 2"] {
        for (picture, times) in [(&map, 1), (&bars, 1), (&page, 2)] {
            assert_eq!(picture.matches(&format!(">{title}<")).count(), times, "{title}");
        }
    }
    // Wilson's interval of 4 of 4 begins at n/(n + z²) = 4/(4 + 3.8415).
    let all = "4 of 4 (100 %, with 95 % confidence 51.01 to 100 %)";
    let none = "0 of 4 (0 %, with 95 % confidence 0 to 48.99 %)";
    for picture in [&map, &bars] {
        assert_eq!(picture.matches("<g><title>x = ").count(), 24, "every cell of every slice");
        // x + y > 3.5 with z = 1 is one cell of six, x + y > 2.5 with z = 2 three.
        assert_eq!((picture.matches(all).count(), picture.matches(none).count()), (8, 16));
        let best = format!("<title>x = 3, y = 1: {all}</title>");
        assert_eq!(picture.matches(&best).count(), 4, "{best}");
    }
    // One map is one rectangle per cell, of the colour of its value.
    assert!(map.contains(&format!("{all}</title><rect")) && bars.contains(&format!("{all}</title><path")));
    for name in ["map.png", "histogram.png"] {
        let png = fs::read(folder.join("out").join(name)).expect(name);
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "{name}");
    }
}

#[test]
fn failing_trials_are_on_the_page_with_the_problems_that_can_be_solved_again() {
    let folder = folder("pages-failures");
    let torn = r#"
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
    fs::write(folder.join("torn.toml"), fs::read_to_string(scene("pendulum")).expect("scene") + torn).expect("scene");
    let study = r#"
[study]
kind = "monte-carlo"
scene = "torn.toml"
trials = 12
success = "1"
[parameters.away]
path = "body.runaway.motion.x"
choice = ["0 * t", "t"]
[values]
"simulation.duration" = 0.02
"#;
    fs::write(folder.join("tearing.toml"), study).expect("study");
    let text = call(&folder, &["sweep", "tearing.toml", "--out", "out"]).expect(0).stdout;
    let summary: serde_json::Value = serde_json::from_str(&read(&folder, "out/summary.json")).expect("JSON");
    let problems = summary["problems"].as_array().expect("problems");
    let failed = summary["failures"][0]["count"].as_u64().expect("a count");
    assert!(problems.len() as u64 == failed && (1..12).contains(&failed), "{summary}");
    assert!(text.contains("that were not solved: failures/"), "{text}");
    let page = read(&folder, "out/results.html");
    assert!(page.contains("Failed trials") && page.contains("the contact problem was not solved"), "{page}");
    for problem in problems {
        let file = problem["file"].as_str().expect("a file");
        assert!(page.contains(&format!("<a href=\"{file}\">trial {}</a>", problem["trial"])), "{file}");
        call(&folder, &["solve", &format!("out/{file}")]).expect(1);
    }
}

#[test]
fn the_page_of_a_study_is_viewed_and_a_foreign_page_is_not() {
    let folder = folder("pages-view");
    fs::write(folder.join("flight.toml"), FLIGHT).expect("scene");
    fs::write(folder.join("sliced.toml"), SLICED).expect("study");
    call(&folder, &["sweep", "sliced.toml", "--out", "out"]).expect(0);
    call(&folder, &["view", "out", "--export", "page.html"]).expect(0);
    let page = read(&folder, "page.html");
    assert_eq!(page, read(&folder, "out/results.html"));
    assert!(page.contains("Content-Security-Policy") && !page.contains("<script"));
    fs::write(folder.join("out/results.html"), page.replace("default-src 'none'", "default-src *")).expect("page");
    let refused = call(&folder, &["view", "out", "--export", "other.html"]).expect(2);
    assert!(refused.stderr.contains("is not the page of a study"), "{}", refused.stderr);
    assert!(!folder.join("other.html").exists());
}
