//! `stiction identify`: tables, JSON, page, the scene with the estimates, and mistakes in files and recordings.

use std::{fmt::Write, fs, path::Path};

use crate::program::{call, folder};

/// A short identification: a particle that slides and stops, with almost no noise.
const QUICK: &str = r#"
[identification]
scene = "slide.toml"

[unknowns.mu]
path = "contact_default.friction"
start = 0.5
low = 0.01
high = 1.0

[[recording]]
file = "slide.csv"
noise = { position = "1 mm" }
[recording.columns]
time = "t"
"body.block.x" = "x"
"#;

/// A particle with friction 0.3 that slides at 1 m/s.
const SCENE: &str = r#"
[simulation]
duration = 0.5
step = 0.01
gravity = [0.0, -9.81]
[[body]]
name = "floor"
kind = "fixed"
[[body.shape]]
halfspace = { normal = [0.0, 1.0] }
[[body]]
name = "block"
mass = 1.0
particle = true
position = [0.0, 0.0]
velocity = [1.0, 0.0]
[[body.shape]]
point = {}
[[body]]
name = "rod"
mass = 1.0
inertia = 0.1
position = [0.0, 3.0]
[[body.shape]]
box = { size = [0.5, 0.1] }
[contact_default]
friction = 0.3
"#;

/// The exact motion at rows of 0.01 s up to 0.3 s: x = t − μ g t²/2, which is still sliding.
fn rows() -> Vec<[String; 2]> {
    (0..=30)
        .map(|row| {
            let t = 0.01 * f64::from(row);
            [format!("{t:.3}"), format!("{:.6}", t - 0.5 * 0.3 * 9.81 * t * t)]
        })
        .collect()
}

fn csv(rows: &[[String; 2]]) -> String {
    rows.iter().fold("t,x\n".to_owned(), |mut text, [t, x]| {
        let _ = writeln!(text, "{t},{x}");
        text
    })
}

/// Writes scene, recording and the identification with one place changed.
fn files(folder: &Path, from: &str, to: &str, recording: &str) {
    fs::write(folder.join("slide.toml"), SCENE).expect("scene");
    fs::write(folder.join("slide.csv"), recording).expect("recording");
    assert!(QUICK.contains(from), "{from}");
    fs::write(folder.join("quick.toml"), QUICK.replace(from, to)).expect("identification");
}

#[test]
fn friction_is_found_and_the_scene_with_it_can_be_run() {
    let folder = folder("identify-files");
    files(&folder, "", "", &csv(&rows()));
    let text = call(&folder, &["identify", "quick.toml"]).expect(0).stdout;
    for part in ["shooting, converged", "mu", "95 % interval", "block.x", "all unknowns are observable", "report.html"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let summary = fs::read_to_string(folder.join("out/quick/summary.json")).expect("summary");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    let mu = &summary["methods"][0]["estimates"][0];
    // Steps of 0.01 s are not the exact motion.
    let value = mu["value"].as_f64().expect("a value");
    assert!((value - 0.3).abs() < 0.01, "{mu}");
    let [low, high] = [0, 1].map(|k| mu["interval"][k].as_f64().expect("an end"));
    assert!(low < value && value < high && high - low < 0.1, "{mu}");
    let page = fs::read_to_string(folder.join("out/quick/report.html")).expect("page");
    for part in ["measured", "estimated", "simulated with the initial guess", "Residuals", "<svg", "Methods"] {
        assert!(page.contains(part), "{part}");
    }
    let run = call(&folder, &["run", "out/quick/estimated.toml", "--out", "again", "--json"]).expect(0).json();
    let stopped = run["bodies"]["block"]["position"][0].as_f64().expect("a coordinate");
    assert!((stopped - 1.0 / (2.0 * 9.81 * value)).abs() < 0.01, "{stopped}");
}

/// Further methods are in the table of methods, and agree.
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn methods_are_compared() {
    let folder = folder("identify-methods");
    let compared: &[&str] = if cfg!(feature = "ipopt") { &["filter", "mpec"] } else { &["filter"] };
    files(&folder, "[unknowns.mu]", &format!("compare = {compared:?}\n[unknowns.mu]"), &csv(&rows()));
    let report = call(&folder, &["identify", "quick.toml", "--json"]).expect(0).json();
    let methods = report["methods"].as_array().expect("methods");
    assert_eq!(methods.len(), 1 + compared.len());
    for (method, name) in methods.iter().zip(std::iter::once(&"shooting").chain(compared)) {
        assert_eq!(method["method"], *name);
        let mu = method["estimates"][0]["value"].as_f64().expect("a value");
        assert!((mu - 0.3).abs() < 0.03, "{method}");
        assert!(method["misfit"].as_f64().is_some_and(|misfit| misfit < 3.0), "{method}");
    }
    if !cfg!(feature = "ipopt") {
        files(&folder, "[unknowns.mu]", "method = \"mpec\"\n[unknowns.mu]", &csv(&rows()));
        let call = call(&folder, &["identify", "quick.toml"]).expect(2);
        assert!(call.stderr.contains("not in this build"), "{}", call.stderr);
    }
}

#[test]
fn recordings_may_have_units_gaps_a_frame_and_be_runs_of_the_program() {
    let folder = folder("identify-recordings");
    files(&folder, "", "", &csv(&rows()));
    let plain = call(&folder, &["identify", "quick.toml", "--json"]).expect(0).json();
    let value = |json: &serde_json::Value| json["methods"][0]["estimates"][0]["value"].as_f64().expect("a value");
    // Millimetres, milliseconds, four rows lost, everything one metre further.
    let text = rows().iter().enumerate().fold("# cm\nms;mm\n".to_owned(), |mut text, (k, [t, x])| {
        let [t, x]: [f64; 2] = [t, x].map(|number| number.parse().expect("a number"));
        let x = if (10..14).contains(&k) { String::new() } else { format!("{:.3}", 1e3 * (x - 1.0)) };
        let _ = writeln!(text, "{:.1};{x}", 1e3 * t);
        text
    });
    let columns = "time = { column = \"ms\", unit = \"ms\" }\n\"body.block.x\" = { column = \"mm\", unit = \"mm\", noise = 1 }\n\
                   [recording.frame]\ntranslation = [1.0, 0.0]\n";
    files(&folder, "time = \"t\"\n\"body.block.x\" = \"x\"\n", columns, &text);
    let changed = call(&folder, &["identify", "quick.toml", "--json"]).expect(0).json();
    assert!((value(&plain) - value(&changed)).abs() < 1e-3, "{} {}", value(&plain), value(&changed));
    assert_eq!(changed["methods"][0]["compared"].as_u64(), Some(27));
    // Recordings of the program itself.
    call(&folder, &["run", "slide.toml", "--duration", "0.3", "--out", "run"]).expect(0);
    files(&folder, "slide.csv", "run/trajectory.parquet", &text);
    let text = fs::read_to_string(folder.join("quick.toml")).expect("file");
    fs::write(folder.join("quick.toml"), text.replace("= \"x\"", "= \"block.x\"")).expect("file");
    let own = call(&folder, &["identify", "quick.toml", "--json"]).expect(0).json();
    assert!((value(&own) - 0.3).abs() < 1e-6, "{}", value(&own));
}

#[test]
fn what_the_recording_does_not_tell_is_said() {
    let folder = folder("identify-unseen");
    let more = "high = 1.0\n[unknowns.mass]\npath = \"body.rod.mass\"\nstart = 1.0\nlow = 0.1\nhigh = 10.0\n";
    files(&folder, "high = 1.0\n", more, &csv(&rows()));
    let json = call(&folder, &["identify", "quick.toml", "--json"]).expect(0).json();
    let unseen = json["methods"][0]["unseen"][0].as_str().expect("a reason");
    assert!(unseen.starts_with("mass: ") && unseen.contains("not at all"), "{unseen}");
    let mass = &json["methods"][0]["estimates"][0];
    assert!(mass["name"] == "mass" && mass["interval"].is_null(), "{mass}");
}

/// A cube that flies and turns, in units of the SI.
const FLIGHT: &str = r#"
[simulation]
duration = 0.3
step = 0.01
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "cube"
mass = 1.0
inertia = [0.01, 0.01, 0.01]
position = [0.0, 0.0, 1.0]
[[body.shape]]
box = { size = [0.1, 0.1, 0.1] }
"#;

/// Gravity from the flight of a cube, as a camera saw it that lies on its side; it lost the beginning and much of the turning.
#[test]
fn orientations_in_space_and_turned_frames_are_understood() {
    let folder = folder("identify-space");
    let mut text = "t,x,y,z,qw,qx,qy,qz\n".to_owned();
    for row in 0..=30_u32 {
        let t = 0.01 * f64::from(row);
        let (half, height) = (0.5 * 3.0 * t, 1.0 + 0.5 * t - 0.5 * 9.81 * t * t);
        let (c, s) = (0.5_f64.sqrt() * half.cos(), 0.5_f64.sqrt() * half.sin());
        // Heights of the scene are y of the camera; its orientations are turned back by 90 degrees about x.
        let place = if row < 2 { ",,".to_owned() } else { format!("{:.6},{height:.6},{:.6}", 0.7 * t, -0.2 * t) };
        let turned =
            if row % 3 == 1 { "nan,nan,nan,nan".to_owned() } else { format!("{c:.7},{:.7},{s:.7},{s:.7}", -c) };
        let _ = writeln!(text, "{t:.3},{place},{turned}");
    }
    fs::write(folder.join("flight.csv"), text).expect("recording");
    fs::write(folder.join("flight.toml"), FLIGHT).expect("scene");
    let columns = ["x", "y", "z", "qw", "qx", "qy", "qz"].map(|of| format!("\"body.cube.{of}\" = \"{of}\"\n")).concat();
    let file = |frame: &str, columns: &str| {
        let text = format!(
            "[identification]\nscene = \"flight.toml\"\n[unknowns.g]\npath = \"simulation.gravity.2\"\nstart = -5\nlow = -20\nhigh = -1\n\
             [[recording]]\nfile = \"flight.csv\"\nnoise = {{ position = \"1 mm\", angle = \"1 deg\" }}\n{frame}\n\
             [recording.columns]\ntime = \"t\"\n{columns}"
        );
        fs::write(folder.join("quick.toml"), text).expect("identification");
    };
    let turned = "frame = { rotation = [0.7071067811865476, 0.7071067811865476, 0.0, 0.0] }";
    file(turned, &columns);
    let json = call(&folder, &["identify", "quick.toml", "--json"]).expect(0).json();
    let method = &json["methods"][0];
    let g = method["estimates"][0]["value"].as_f64().expect("a value");
    assert!((g + 9.81).abs() < 1e-3 && method["misfit"].as_f64().is_some_and(|misfit| misfit < 0.05), "{method}");
    assert!(method["residuals"][3]["column"] == "cube.turned" && method["residuals"][3]["count"] == 21, "{method}");
    // Coordinates may scatter differently, but not where they are turned; quaternions have four parts.
    let uneven = columns.replace("= \"y\"", "= { column = \"y\", noise = \"5 mm\" }");
    file("frame = { translation = [0.0, 0.0, 0.5] }", &uneven);
    fs::write(folder.join("flight.toml"), FLIGHT.replace("0.0, -9.81", "-9.81, 0.0")).expect("scene");
    let text = fs::read_to_string(folder.join("quick.toml")).expect("file").replace("gravity.2", "gravity.1");
    fs::write(folder.join("quick.toml"), text).expect("identification");
    let json = call(&folder, &["identify", "quick.toml", "--json"]).expect(0).json();
    let g = json["methods"][0]["estimates"][0]["value"].as_f64().expect("a value");
    assert!((g + 9.81).abs() < 1e-3, "{json}");
    for (frame, columns, part) in [
        (turned, uneven.as_str(), "that scatter differently cannot be turned"),
        (turned, &columns.replace("\"body.cube.qz\" = \"qz\"\n", ""), "has 3 of them"),
        ("frame = { rotation = \"90 deg\" }", &columns, "in space a rotation is a quaternion"),
        ("frame = { translation = [1.0, 0.0] }", &columns, "a translation has 3 numbers here"),
    ] {
        file(frame, columns);
        let call = call(&folder, &["identify", "quick.toml"]).expect(2);
        assert!(unwrapped(&call.stderr).contains(part), "{part} in\n{}", call.stderr);
    }
}

/// Real tosses of a cube, where `STICTION_DATA` says where they are: some are fitted, others predicted.
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn real_tosses_are_identified_and_predicted() {
    let Some(data) = std::env::var_os("STICTION_DATA") else {
        assert!(std::env::var_os("CI").is_none(), "CI must name the recordings by STICTION_DATA");
        println!("skipped: STICTION_DATA does not name the folder of the recordings");
        return;
    };
    let folder = folder("identify-tosses");
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stiction-identify/tests/suite/tosses/cube.toml");
    let toss = |number: &str| format!("{:?}", Path::new(&data).join(format!("cube_toss/toss_{number}.csv")));
    let columns = ["x", "y", "z"].map(|of| format!("\"body.cube.{of}\" = \"p{of}\"\n")).concat()
        + &["qw", "qx", "qy", "qz"].map(|of| format!("\"body.cube.{of}\" = \"{of}\"\n")).concat();
    let recording = |kind: &str, numbers: [&str; 3], more: &str| {
        let files = numbers.map(toss).join(", ");
        format!(
            "[[{kind}]]\nfiles = [{files}]\n{more}noise = {{ position = \"1 mm\", angle = \"0.01 rad\" }}\n[{kind}.columns]\ntime = \"t\"\n{columns}"
        )
    };
    let unknown = |name: &str, path: &str, numbers: &str| format!("[unknowns.{name}]\npath = \"{path}\"\n{numbers}\n");
    let text = format!("[identification]\nscene = {scene:?}\nhuber = 10.0\niterations = 10\nrows_per_run = 40\n")
        + &unknown("friction", "contact_default.friction", "start = 0.5\nlow = 0.0\nhigh = 1.0\nscale = 0.2")
        + &unknown("restitution", "contact_default.restitution", "start = 0.2\nlow = 0.0\nhigh = 1.0")
        + &unknown("height", "body.ground.position.2", "start = 0.0\nlow = -0.02\nhigh = 0.02\nscale = 0.01")
        + &recording("recording", ["000", "003", "011"], "")
        + &recording("predict", ["002", "008", "013"], "start_rows = 20\n");
    fs::write(folder.join("tosses.toml"), text).expect("identification");
    let call = call(&folder, &["identify", "tosses.toml"]).expect(0);
    println!("{}", call.stdout);
    let summary = fs::read_to_string(folder.join("out/tosses/summary.json")).expect("summary");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    for prediction in summary["predictions"].as_array().expect("predictions") {
        let [found, guessed] =
            ["found", "guessed"].map(|of| prediction[of]["position_median"].as_f64().expect("a number"));
        assert!(found < guessed, "{prediction}");
    }
}

/// A message without the breaks of its lines.
fn unwrapped(text: &str) -> String {
    text.replace("\n  │ ", " ").replace("\n        ", " ")
}

/// A recording with one cell changed.
fn with(row: usize, column: usize, cell: &str) -> String {
    let mut rows = rows();
    cell.clone_into(&mut rows[row][column]);
    csv(&rows)
}

#[test]
fn mistakes_in_recordings_are_shown_with_their_row_and_place() {
    let folder = folder("identify-recording-mistakes");
    let good = rows();
    let huge: Vec<_> = good.iter().map(|[t, x]| [t.clone(), format!("{}", 1e5 * x.parse::<f64>().unwrap())]).collect();
    let gap = |from: usize| {
        let mut rows = rows();
        rows.iter_mut().skip(from).for_each(|[_, x]| "NaN".clone_into(x));
        csv(&rows)
    };
    let ragged = csv(&good).replace("0.100,", "0.100,7,");
    for (recording, parts) in [
        (with(5, 0, "0.03"), ["time must increase, but is 0.04 s in line 6 and 0.03 s in line 7", "columns]"]),
        (with(5, 0, "nan"), ["the time is missing in line 7", "time = \"t\""]),
        (gap(0), ["holds no number in its 31 rows", "\"body.block.x\" = \"x\""]),
        (gap(10), ["missing in 21 of 31 rows, without interruption from line 12 to line 32", "max_gaps"]),
        (with(7, 1, "here"), ["line 9 holds `here`", "\"body.block.x\" = \"x\""]),
        (with(7, 1, "inf"), ["line 9 holds `inf`", "finite"]),
        (ragged, ["line 12 has 3 cells, but the heading names 2", "file = \"slide.csv\""]),
        (csv(&good[..4]), ["too few points: 4 measured numbers do not determine 1 unknowns and 4", "free_starts"]),
        (csv(&good[..1]), ["too few points: 1 rows", "time = \"t\""]),
        (csv(&huge), ["times the size of the scene", "are these millimetres?"]),
        (with(30, 0, "300000"), ["lasts 300000 s, 30000000 steps", "are these milliseconds?"]),
        (String::new(), ["it is empty", "file = \"slide.csv\""]),
    ] {
        files(&folder, "", "", &recording);
        let call = call(&folder, &["identify", "quick.toml"]).expect(2);
        for part in parts.into_iter().chain(["quick.toml:"]) {
            assert!(unwrapped(&call.stderr).contains(part), "{part} in\n{}", call.stderr);
        }
        assert_eq!(call.stdout, "");
    }
    assert!(!folder.join("out").exists(), "nothing is written for a recording that cannot be used");
}

#[test]
fn mistakes_in_the_file_are_shown_with_their_place() {
    let folder = folder("identify-mistakes");
    for (from, to, parts) in [
        ("= \"x\"", "= \"xx\"", ["there is no column `xx`", "did you mean `x`?"]),
        ("body.block.x", "body.blok.x", ["no body \"blok\"", "did you mean `block`?"]),
        ("body.block.x", "body.block.angle", ["\"block\" has no component `angle`", "it has x, y"]),
        ("body.block.x", "speed", ["not a quantity of a recording", "body.NAME."]),
        ("= \"x\"", "= { column = \"x\", unit = \"inch\" }", ["`inch` is no unit", "m, cm, mm"]),
        ("= \"x\"", "= { column = \"x\", unit = \"ms\" }", ["unit of a time, but this is a length", "m, cm, mm"]),
        ("\"1 mm\"", "\"1 deg\"", ["unit of an angle", "m, cm, mm"]),
        ("noise = { position = \"1 mm\" }", "", ["`body.block.x` is not given", "noise = {"]),
        ("low = 0.01", "low = 2.0", ["contradict each other: low is 2 and high is 1", "low must be below high"]),
        ("start = 0.5", "start = 1.5", ["the start 1.5 of `mu` is not between its bounds 0.01 and 1", "start = 1.5"]),
        ("_default.friction", "_default.fricton", ["fricton", "did you mean `friction`?"]),
        ("start = 0.5", "strt = 0.5", ["unknown key `strt`", "did you mean `start`?"]),
        ("[unknowns.mu]", "method = \"shoting\"\n[unknowns.mu]", ["shoting", "did you mean `shooting`?"]),
        ("slide.csv", "slid.csv", ["cannot be read", "file = \"slid.csv\""]),
        ("slide.csv", "slide.toml", ["its ending must be .csv or .parquet", "file = \"slide.toml\""]),
        ("slide.toml", "slid.toml", ["slid.toml cannot be opened", "scene = \"slid.toml\""]),
        ("[recording.columns]", "from = 2.0\n[recording.columns]", ["fewer than two rows", "from 0 s to 0.3 s"]),
        ("time = \"t\"\n", "", ["no column is the time", "time = \"t\""]),
    ] {
        files(&folder, from, to, &csv(&rows()));
        let call = call(&folder, &["identify", "quick.toml"]).expect(2);
        for part in parts.into_iter().chain(["quick.toml:"]) {
            assert!(unwrapped(&call.stderr).contains(part), "{part} in\n{}", call.stderr);
        }
        assert_eq!(call.stdout, "");
    }
    call(&folder, &["identify", "missing.toml"]).expect(2);
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn the_example_finds_the_friction_of_its_recording() {
    let folder = folder("identify-example");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../identifications/sliding_block.toml");
    let json = call(&folder, &["identify", file.to_str().expect("UTF-8"), "--json"]).expect(0).json();
    let mu = &json["methods"][0]["estimates"][0];
    let value = mu["value"].as_f64().expect("a value");
    println!("{mu} {} {}", json["windows"][2]["scatter"], json["predictions"]);
    assert!((value - 0.33).abs() < 0.005 && mu["at_bound"].is_null(), "{mu}");
    let scatter = |k: usize| json["windows"][k]["scatter"][0].as_f64().expect("a number");
    assert!(scatter(0) > scatter(1) && scatter(1) > scatter(2), "{} {} {}", scatter(0), scatter(1), scatter(2));
    let [found, guessed] =
        ["found", "guessed"].map(|of| json["predictions"][0][of]["position_median"].as_f64().expect("a number"));
    assert!(found < 0.02 && 5.0 * found < guessed, "{found} {guessed}");
}

#[test]
fn the_schema_of_identifications_is_printed() {
    let schema = call(&folder("identify-schema"), &["schema", "identification"]).expect(0).json();
    assert!(schema["properties"]["unknowns"].is_object() && schema["$id"] == "urn:stiction:identification", "{schema}");
}
