//! `stiction compare`: tables, JSON, page, refusals and failures.

use std::fs;

use serde_json::Value;

use crate::program::{call, folder, scene};

/// A quick comparison: few steps over a short time.
const QUICK: [&str; 4] = ["--steps", "0.02,0.01", "--until", "0.6"];

#[test]
fn a_comparison_prints_tables_and_writes_its_files() {
    let folder = folder("compare-files");
    let rod = scene("falling_rod");
    let text = call(&folder, &[&["compare", &rod][..], &QUICK].concat()).expect(0);
    for part in [
        "velocity error",
        "position error",
        "order",
        "variation",
        "residual",
        "compared with  reference in steps of 0.0025 s",
    ] {
        assert!(text.stdout.contains(part), "{part} in\n{}", text.stdout);
    }
    for preset in ["ncp", "stewart-trinkle", "anitescu-potra", "anitescu-hart", "moreau-jean", "reference"] {
        // Two steps in each of two tables.
        let rows = text.stdout.lines().filter(|line| line.starts_with(&format!("{preset} "))).count();
        assert_eq!(rows, 4, "{preset} in\n{}", text.stdout);
    }
    for file in ["compare.json", "compare.html"] {
        assert!(folder.join("out/falling_rod").join(file).is_file() && text.stdout.contains(file), "{file}");
    }
    assert_eq!(text.stderr, "", "no progress bar without a terminal");
}

#[test]
fn the_json_has_all_documented_fields_and_equals_the_file_and_the_page() {
    let folder = folder("compare-json");
    let rod = scene("falling_rod");
    let json = call(&folder, &[&["compare", &rod, "--json", "--out", "here"][..], &QUICK].concat()).expect(0).json();
    for pointer in [
        "/version",
        "/scene",
        "/until",
        "/components",
        "/truth/preset",
        "/truth/step",
        "/truth/resolution/velocity",
        "/truth/resolution/position",
        "/truth/variation",
        "/truth/rejected_candidates",
        "/refusals",
        "/interrupted",
        "/rows/1/preset",
        "/rows/1/step",
        "/rows/1/outcome",
        "/rows/1/errors/velocity",
        "/rows/1/errors/position",
        "/rows/1/errors/heading",
        "/rows/1/orders/velocity",
        "/rows/1/orders/position",
        "/rows/1/variation",
        "/rows/1/cost/steps",
        "/rows/1/cost/iterations",
        "/rows/1/cost/wall_seconds",
        "/rows/1/infeasibility/joints/max",
        "/rows/1/infeasibility/joints/final",
        "/rows/1/infeasibility/total/max",
        "/rows/1/infeasibility/total/final",
        "/rows/1/energy/initial",
        "/rows/1/energy/final",
        "/rows/1/energy/max_gain",
        "/rows/1/slip",
        "/rows/1/residual/max",
        "/rows/1/residual/at_step",
    ] {
        assert!(json.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer} in {json}");
    }
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(14));
    assert_eq!(json["rows"][0]["orders"]["velocity"], Value::Null, "the largest step has no order");
    let read = |name: &str| fs::read_to_string(folder.join("here").join(name)).expect("file");
    assert_eq!(serde_json::from_str::<Value>(&read("compare.json")).expect("JSON"), json);
    let page = read("compare.html");
    let data = page.split("id=\"comparison\">").nth(1).and_then(|rest| rest.split("</script>").next());
    assert_eq!(serde_json::from_str::<Value>(data.expect("data")).expect("JSON"), json);
}

#[test]
fn two_comparisons_differ_in_nothing_but_times() {
    let folder = folder("compare-twice");
    let balls = scene("four_balls");
    let numbers = || {
        let mut json = call(&folder, &[&["compare", &balls, "--json"][..], &QUICK].concat()).expect(0).json();
        for row in json["rows"].as_array_mut().expect("rows") {
            assert!(row["cost"]["wall_seconds"].as_f64() > Some(0.0));
            row["cost"]["wall_seconds"] = Value::Null;
        }
        json.to_string()
    };
    assert_eq!(numbers(), numbers());
}

#[test]
fn presets_that_cannot_run_the_scene_are_listed_with_the_reason() {
    let folder = folder("compare-refused");
    let balls = scene("four_balls");
    let text = call(&folder, &[&["compare", &balls][..], &QUICK].concat()).expect(0).stdout;
    for preset in ["moreau-jean", "reference"] {
        let refused = format!("not run  {preset}: scheme, jacobians: this preset decides by itself");
        assert!(text.contains(&refused), "{refused} in\n{text}");
    }
    assert!(text.contains("compared with  ncp in steps of 0.0025 s") && text.contains("not reference: "), "{text}");
    let text = call(&folder, &[&["compare", &balls, "--set", "scheme.jacobians=start"][..], &QUICK].concat()).expect(0);
    assert!(text.stdout.contains("compared with  reference"), "{}", text.stdout);
    assert_eq!(text.stdout.matches("not run").count(), 1, "{}", text.stdout);
    assert!(
        text.stdout.contains("the preset \"geometrically-implicit\" means jacobians = \"implicit\""),
        "{}",
        text.stdout
    );
}

/// A ball that bounces more often in one step than the reference resolves; time stepping is not affected.
const BOUNCING: &str = r#"
[simulation]
duration = 10.0
step = 5.0
[[body]]
name = "floor"
kind = "fixed"
[[body.shape]]
halfspace = { normal = [0.0, 1.0] }
[[body]]
name = "ball"
mass = 1.0
position = [0.0, 0.11]
[[body.shape]]
disc = { radius = 0.1 }
[contact_default]
restitution = 0.99
"#;

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn a_run_that_fails_is_reported_and_the_others_go_on() {
    let folder = folder("compare-failed");
    fs::write(folder.join("bouncing.toml"), BOUNCING).expect("scene");
    let asked =
        ["compare", "bouncing.toml", "--halvings", "0", "--presets", "reference,ncp", "--reference", "ncp@0.01"];
    let call_it = call(&folder, &asked).expect(0);
    assert!(
        call_it.stdout.contains("failed  reference at 5 s, in step 2 from t = 5 s after 1 step: more than 1000 events"),
        "{}",
        call_it.stdout
    );
    let json = call(&folder, &[&asked[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(json["rows"][0]["outcome"]["failed"]["step"], 2);
    assert_eq!((&json["rows"][0]["errors"], &json["rows"][1]["outcome"]), (&Value::Null, &Value::from("finished")));
    let none = call(
        &folder,
        &["compare", "bouncing.toml", "--halvings", "0", "--presets", "reference", "--reference", "ncp@0.01"],
    );
    assert!(none.expect(1).stderr.contains("no run finished"));
    let untrue =
        call(&folder, &["compare", "bouncing.toml", "--halvings", "0", "--reference", "reference@5"]).expect(1);
    assert!(untrue.stderr.contains("no candidate for the reference solution"), "{}", untrue.stderr);
}

#[test]
fn bad_usage_of_compare_exits_with_2() {
    let (folder, rod, balls) = (folder("compare-usage"), scene("falling_rod"), scene("four_balls"));
    let cases: [(&[&str], &str); 8] = [
        (&["compare", "missing.toml"], "missing.toml"),
        (&["compare", &rod, "--presets", "unheard-of"], "there is no preset `unheard-of`"),
        (&["compare", &rod, "--steps", "0"], "a step must be from"),
        (&["compare", &rod, "--steps", "0.01", "--halvings", "2"], "cannot be used with"),
        (&["compare", &rod, "--until", "-1"], "must be positive"),
        (&["compare", &rod, "--reference", "ncp@fast"], "`fast` is not a step size"),
        (&["compare", &rod, "--steps", "1e-9"], "need too much memory"),
        (&["compare", &balls, "--reference", "reference"], "cannot provide the reference solution here"),
    ];
    for (arguments, part) in cases {
        let call = call(&folder, arguments).expect(2);
        assert!(call.stderr.contains(part) && call.stdout.is_empty(), "{arguments:?}: {}", call.stderr);
    }
    assert!(!folder.join("out").exists(), "nothing is written for a comparison that cannot be made");
}
