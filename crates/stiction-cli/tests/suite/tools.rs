//! `check`, `solve`, `schema`, `bench`.

use std::fs;

use crate::program::{call, folder, scene};

#[test]
fn check_explains_every_scene_of_the_repository() {
    let folder = folder("check-all");
    let scenes = std::path::Path::new(&scene("falling_rod")).parent().expect("folder").to_path_buf();
    let mut checked = 0;
    for entry in fs::read_dir(scenes).expect("scenes") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|ending| ending == "toml" || ending == "xml") {
            let path = path.to_str().expect("UTF-8");
            let text = call(&folder, &["check", path]).expect(0).stdout;
            assert!(text.contains("bodies") && text.contains("ready to run"), "{text}");
            let json = call(&folder, &["check", path, "--json"]).expect(0).json();
            assert!(json["unknowns"]["velocities"].as_u64() > Some(0), "{json}");
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked} scenes found");
    assert!(!folder.join("out").exists(), "check writes nothing");
}

#[test]
fn check_counts_what_is_there() {
    let json = call(&folder("check-count"), &["check", &scene("four_balls"), "--json"]).expect(0).json();
    assert_eq!((json["dimension"].as_u64(), json["unknowns"]["velocities"].as_u64()), (Some(3), Some(24)));
    assert_eq!(json["bodies"].as_array().map(Vec::len), Some(5));
    // Four balls with the table, and six pairs of balls; three balls lie on the table.
    assert_eq!((json["pairs"].as_array().map(Vec::len), json["initial"]["touching"].as_u64()), (Some(10), Some(3)));
}

#[test]
fn check_shows_what_is_prescribed() {
    let folder = folder("check-prescribed");
    let shown = |name: &str| call(&folder, &["check", &scene(name)]).expect(0).stdout;
    for (name, part) in [
        ("pendulum_on_belt", "surface moves at ["),
        ("rising_plate", "motions"),
        ("core_landing", "floor: 1000 N/m, 0 N s/m, rigid along the surface, core at 0.05 m"),
        ("soft_landing", "jacobians start, position_update average, locate_contacts\n"),
        ("pendulum_pushed", "x = -0.55 + 0.5*t, y = 0.25"),
        ("four_balls", "gamma 1, joint_gamma 1, friction quadratic, impact newton, margin 0.02, jacobians predicted"),
    ] {
        let text = shown(name);
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let load = "\n[[load]]\nbody = \"rod\"\nforce = [0.0, \"2*sin(t)\"]\n";
    let text = fs::read_to_string(scene("falling_rod")).expect("scene") + load;
    fs::write(folder.join("pulled.toml"), text).expect("scene");
    let text = call(&folder, &["check", "pulled.toml"]).expect(0).stdout;
    assert!(text.contains("on rod: force [0, 2*sin(t)] N\n"), "{text}");
}

/// Velocities that a joint does not allow: a line of `check` and one of `run`, in all coordinates the same.
#[test]
fn check_and_run_tell_of_an_impact_at_the_start() {
    let folder = folder("start-impact");
    let body = |name: &str, mass: f64, more: &str| {
        format!("[[body]]\nname = \"{name}\"\nmass = {mass}\ninertia = [0.1, 0.1, 0.1]\n{more}\n")
    };
    let text = "[simulation]\nduration = 0.01\nstep = 0.001\ngravity = [0.0, 0.0, 0.0]\n".to_owned()
        + &body("a", 1.0, "angular_velocity = [0.0, 0.0, 10.0]")
        + &body("b", 100.0, "position = [1.0, 0.0, 0.0]")
        + "[[joint]]\nname = \"hinge\"\nkind = \"revolute\"\nbetween = [\"a\", \"b\"]\nanchor = [0.5, 0.0, 0.0]\naxis = [0.0, 0.0, 1.0]\n";
    fs::write(folder.join("hinged.toml"), text).expect("scene");
    let told = ["maximal", "reduced", "divide-and-conquer"].map(|coordinates| {
        let set = format!("scheme.coordinates={coordinates}");
        let part =
            "velocities violate joint hinge by 5 m/s or rad/s: an inelastic impact, kinetic energy 5 J before and";
        let checked = call(&folder, &["check", "hinged.toml", "--set", &set]).expect(0).stdout;
        assert_eq!(checked.matches(part).count(), 1, "{checked}");
        let ran = call(&folder, &["run", "hinged.toml", "--set", &set, "--out", coordinates]).expect(0).stdout;
        assert_eq!(ran.matches(part).count(), 1, "{ran}");
        let summary = fs::read_to_string(folder.join(coordinates).join("summary.json")).expect("a summary");
        let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
        let after = summary["start_impact"]["kinetic_after"].as_f64().expect("a number");
        assert!((summary["energy"]["initial"].as_f64().expect("a number") - after).abs() < 1e-9);
        after
    });
    // The impulse between the two acts against 1/m + l²/I of both.
    let expected = 5.0 - 0.5 * 5.0_f64.powi(2) / (1.0 + 2.5 + 0.01 + 2.5);
    assert!(told.iter().all(|after| (after - expected).abs() < 1e-9), "{told:?}");
}

#[test]
fn stabilisation_is_shown_by_check_and_told_by_run() {
    let folder = folder("stabilisation");
    let pendulum = scene("pendulum_on_belt");
    let changes = ["--set", "scheme.stabilisation.projection=both", "--set", "scheme.halve_steps=5"];
    let shown = call(&folder, &[&["check", &pendulum], &changes[..]].concat()).expect(0).stdout;
    assert!(shown.contains("stabilisation projection of both, halve_steps 5"), "{shown}");
    let run = ["run", &pendulum, "--duration", "0.1", "--json", "--set", "simulation.preset=anitescu-potra"];
    let json = call(&folder, &[&run, &changes[..2]].concat()).expect(0).json();
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    assert!(number(&json["correction"]["residual_max"]) <= 1e-12 && number(&json["joint_error"]["max"]) <= 1e-12);
    assert!(json.get("halved").is_none());
    let refused = call(&folder, &["check", &scene("falling_rod"), "--set", "scheme.stabilisation=multiplier"]);
    assert!(refused.expect(2).stderr.contains("there are none"));
}

#[test]
fn check_warns_of_bodies_that_start_inside_each_other() {
    let folder = folder("check-overlap");
    let sunk = ["check", &scene("falling_rod"), "--set", "body.rod.position=[0.0, 0.1]"];
    let call = call(&folder, &sunk).expect(0);
    assert!(call.stdout.contains("table and rod overlap by 0.075 m at the start"), "{}", call.stdout);
    assert!(!call.stdout.contains("ready to run"));
}

#[test]
fn solve_finds_the_solution_of_a_small_problem() {
    let folder = folder("solve-small");
    fs::write(folder.join("p.json"), r#"{"kind": "lcp", "n": 2, "M": [[2, 1], [1, 2]], "q": [-5, -6]}"#).expect("file");
    let json = call(&folder, &["solve", "p.json", "--solver", "all", "--json"]).expect(0).json();
    let attempts = json["attempts"].as_array().expect("a list");
    assert_eq!(
        attempts.iter().map(|a| a["solver"].as_str().expect("name")).collect::<Vec<_>>(),
        ["ladder", "lemke", "principal-pivoting", "gauss-seidel", "newton", "enumeration"]
    );
    for attempt in attempts {
        let z: Vec<_> =
            attempt["solution"]["z"].as_array().expect("z").iter().filter_map(serde_json::Value::as_f64).collect();
        // Gauss-Seidel ends at its tolerance, the others at rounding.
        let error = (z[0] - 4.0 / 3.0).abs().max((z[1] - 7.0 / 3.0).abs());
        assert!(error < if attempt["solver"] == "gauss-seidel" { 1e-9 } else { 1e-14 }, "{attempt}");
        assert_eq!(attempt["solved"], true);
    }
    let table = call(&folder, &["solve", "p.json"]).expect(0).stdout;
    assert!(table.contains("ladder") && table.contains("solved") && !table.contains("enumeration"), "{table}");
    assert!(table.contains("ladder: z = [1.33333333333333") && table.contains(", 2.33333333333333"), "{table}");
    let rows: Vec<_> = (0..21).map(|i| (0..21).map(|j| u8::from(i == j)).collect::<Vec<_>>()).collect();
    let large = serde_json::json!({"kind": "lcp", "n": 21, "M": rows, "q": vec![-1.0; 21]}).to_string();
    fs::write(folder.join("large.json"), large).expect("file");
    let table = call(&folder, &["solve", "large.json"]).expect(0).stdout;
    assert!(!table.contains("z = ") && table.contains("--json prints the solution"), "{table}");
}

#[test]
fn solve_says_when_there_is_no_solution() {
    let folder = folder("solve-none");
    // w = −1 whatever z is.
    fs::write(folder.join("p.json"), r#"{"kind": "lcp", "n": 1, "M": [[0]], "q": [-1]}"#).expect("file");
    let call = call(&folder, &["solve", "p.json", "--solver", "all"]).expect(1);
    assert!(call.stdout.contains("infeasible") && call.stderr.contains("no method solved"), "{}", call.stdout);
    assert!(call.stdout.contains("ladder: hint: "), "{}", call.stdout);
}

/// A file of the collection.
fn problem(name: &str) -> String {
    format!("{}/../../problems/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn solve_compares_the_methods_of_every_kind() {
    let folder = folder("solve-kinds");
    for (file, solver) in [
        ("textbook/kostreva-3", "lemke"),
        ("scenes/stack_of_boxes-100", "pivoting"),
        ("generated/springs-12", "newton"),
        ("textbook/josephy", "newton-4"),
        ("generated/wedge-sliding-kick", "interior-point"),
    ] {
        let json = call(&folder, &["solve", &problem(file), "--solver", "all", "--json"]).expect(0).json();
        let attempts = json["attempts"].as_array().expect("a list");
        let of = |name: &str| attempts.iter().find(|a| a["solver"] == name).unwrap_or_else(|| panic!("{name}: {json}"));
        assert_eq!((&of("ladder")["solved"], &of(solver)["solved"]), (&true.into(), &true.into()), "{file}");
        assert!(of("ladder")["rungs"].as_array().is_some_and(|rungs| !rungs.is_empty()), "{file}: {json}");
    }
}

#[test]
fn solve_names_the_worst_contact_and_the_next_thing_to_try() {
    let folder = folder("solve-hint");
    let heavy_on_light = problem("generated/ratio-1e6-on-light");
    let text = call(&folder, &["solve", &heavy_on_light, "--solver", "nsgs"]).expect(1).stdout;
    assert!(text.contains("block ") && text.contains("a contact with μ 0.5"), "{text}");
    assert!(
        text.contains("nsgs: why: Gauss-Seidel stalled")
            && text.contains("nsgs: hint: ")
            && text.contains("interior-point"),
        "{text}"
    );
    call(&folder, &["solve", &heavy_on_light, "--accuracy", "balanced"]).expect(0);
    let text = call(&folder, &["solve", &problem("generated/mu-10"), "--explain"]).expect(0).stdout;
    assert!(text.contains("pointed") && text.contains("N s"), "{text}");
    let text = call(&folder, &["solve", &problem("textbook/horn-5"), "--explain"]).expect(0).stdout;
    assert!(text.contains("M is copositive"), "{text}");
}

#[test]
fn a_method_of_another_kind_is_refused_with_those_that_fit() {
    let folder = folder("solve-unknown");
    let call = call(&folder, &["solve", &problem("textbook/murty-2"), "--solver", "nsgs"]).expect(2);
    assert!(call.stderr.contains("nsgs") && call.stderr.contains("principal-pivoting"), "{}", call.stderr);
}

#[test]
fn a_step_of_a_run_can_be_kept_and_solved_again() {
    let folder = folder("solve-kept");
    let run = ["run", &scene("stack_of_boxes"), "--duration", "0.05", "--out", "out", "--keep-problems", "1,3"];
    call(&folder, &run).expect(0);
    for step in [1, 3] {
        let text = call(&folder, &["solve", &format!("out/problem_{step}.json")]).expect(0).stdout;
        assert!(text.contains("a frictional problem") && text.contains("solved"), "{text}");
    }
    assert!(!folder.join("out/problem_2.json").exists());
}

#[test]
fn broken_problems_are_refused_by_name() {
    let folder = folder("solve-broken");
    for (text, part) in [
        ("{", "not a problem in JSON"),
        (r#"{"kind": "lcp", "n": 2, "M": [[1, 0], [0]], "q": [1, 1]}"#, "row 1 of `M`"),
        (r#"{"kind": "mystery", "M": [], "q": []}"#, "mystery"),
    ] {
        fs::write(folder.join("p.json"), text).expect("file");
        let call = call(&folder, &["solve", "p.json"]).expect(2);
        assert!(call.stderr.contains("p.json") && call.stderr.contains(part), "{}", call.stderr);
    }
    fs::write(folder.join("p.json"), r#"{"kind": "lcp", "n": 1, "M": [[1]], "q": [1]}"#).expect("file");
    call(&folder, &["solve", "p.json", "--tolerance", "-1"]).expect(2);
}

#[test]
fn the_schema_knows_the_tables_of_a_scene() {
    let schema = call(&folder("schema"), &["schema"]).expect(0).json();
    for table in ["simulation", "body", "joint", "contact"] {
        assert!(schema["properties"][table].is_object(), "{table}");
    }
}

#[test]
fn bench_counts_steps_for_those_who_count_instructions() {
    let folder = folder("bench");
    let call = call(&folder, &["bench", "--once", "falling-rod"]).expect(0);
    assert!(call.stdout.lines().any(|line| line == "steps 400"), "{}", call.stdout);
}

#[test]
fn bench_makes_the_steps_of_a_scene_that_it_is_told() {
    let folder = folder("bench-scene");
    let scene = scene("falling_rod");
    let bench = |more: &[&str]| call(&folder, &[&["bench", "--scene", &scene, "--json"], more].concat());
    let found = bench(&["--steps", "300", "--set", "simulation.step=0.002"]).expect(0).json();
    assert_eq!((found["steps"].as_u64(), found["step"].as_f64()), (Some(300), Some(0.002)));
    assert!(found["contacts_max"].as_u64() >= Some(1) && found["wall_seconds"].as_f64() > Some(0.0), "{found}");
    let again = bench(&["--steps", "300", "--set", "simulation.step=0.002", "--repeat", "3"]).expect(0).json();
    assert_eq!((again["repetitions"].as_u64(), &again["contacts_max"]), (Some(3), &found["contacts_max"]), "{again}");
    let time = |name: &str| again[name].as_f64().expect("a time");
    let (slowest, most) = (time("step_seconds_max"), time("step_seconds_p99"));
    assert!(0.0 < most && most <= slowest && slowest <= time("wall_seconds"), "{again}");
    assert!((1..=300).contains(&again["step_seconds_max_at_step"].as_u64().unwrap_or_default()), "{again}");
    assert!(again["residual_max"].as_f64() <= Some(1e-8) && again["steps_above_aim"] == 0, "{again}");
    bench(&["--repeat", "0"]).expect(2);
    let times = bench(&["--steps", "20", "--step-times"]).expect(0).json();
    assert!(times["step_seconds"].as_array().is_some_and(|times| times.len() == 20), "{times}");
    let none = bench(&["--steps", "0"]).expect(0).json();
    assert!(none["problem_size_max"] == 0 && none["step_seconds_max"] == 0.0, "{none}");
    bench(&["--accuracy", "balanced", "--set", "simulation.preset=\"stewart-trinkle\""]).expect(2);
    call(&folder, &["bench", "--steps", "3"]).expect(2);
    assert!(folder.read_dir().is_ok_and(|mut files| files.next().is_none()), "nothing is recorded");
}

#[test]
fn a_solver_that_does_not_fit_the_friction_set_is_refused() {
    let folder = folder("run-solver");
    let run = |more: &[&str]| {
        let scene = scene("falling_rod");
        call(&folder, &[&["run", &scene, "--duration", "0.1"], more].concat())
    };
    let refused = run(&["--solver", "lemke"]).expect(2);
    assert!(refused.stderr.contains("quadratic") && refused.stderr.contains("interior-point"), "{}", refused.stderr);
    run(&["--solver", "lemke", "--preset", "stewart-trinkle"]).expect(0);
    run(&["--solver", "nsgs", "--accuracy", "balanced"]).expect(0);
}

#[test]
fn accuracy_is_heard_or_refused_but_never_ignored() {
    let folder = folder("run-accuracy");
    let run = |preset: &str, more: &[&str]| {
        let scene = scene("falling_rod");
        call(&folder, &[&["run", &scene, "--duration", "0.8", "--preset", preset], more].concat())
    };
    for (preset, part) in
        [("reference", "event-driven"), ("stewart-trinkle", "pivoting"), ("anitescu-potra", "remove `--accuracy`")]
    {
        let refused = run(preset, &["--accuracy", "balanced"]).expect(2);
        assert!(
            refused.stderr.contains("`--accuracy` does not apply") && refused.stderr.contains(part),
            "{}",
            refused.stderr
        );
        run(preset, &["--accuracy", "exact"]).expect(0);
    }
    let refused = run("reference", &["--solver", "nsgs"]).expect(2);
    assert!(refused.stderr.contains("`--solver` does not apply"), "{}", refused.stderr);
    let worst = |accuracy| {
        let json = run("moreau-jean", &["--accuracy", accuracy, "--solver", "nsgs", "--json"]).expect(0).json();
        assert_eq!(json["solver"], "nsgs");
        assert!(json["ladder"]["nsgs"].as_u64() > Some(0), "{json}");
        json["residual"]["max"].as_f64().expect("a residual")
    };
    assert!(worst("real-time") > 1e-9 && worst("exact") < 1e-8, "{} {}", worst("real-time"), worst("exact"));
}

#[test]
fn a_summary_names_what_really_solves() {
    let folder = folder("run-solver-name");
    let scene = scene("falling_rod");
    let table = |preset| call(&folder, &["run", &scene, "--duration", "0.1", "--preset", preset]).expect(0).stdout;
    assert!(table("reference").contains("reference, event-driven integrator\n"), "{}", table("reference"));
    assert!(table("moreau-jean").contains("moreau-jean, ladder solver\n"));
    let check = |preset: &str| {
        call(&folder, &["check", &scene, "--set", &format!("simulation.preset={preset}"), "--json"]).expect(0).json()
    };
    assert_eq!(check("reference")["solvers"], serde_json::json!(["event-driven"]));
}

#[test]
fn check_lists_the_presets_that_fit_the_scene() {
    let folder = folder("check-presets");
    let presets = |name: &str| call(&folder, &["check", &scene(name), "--json"]).expect(0).json()["presets"].clone();
    assert_eq!(presets("falling_rod").as_array().map(Vec::len), Some(8));
    let time_stepping = serde_json::json!(["ncp", "stewart-trinkle", "anitescu-potra", "anitescu-hart", "quasistatic"]);
    assert_eq!(presets("four_balls"), time_stepping, "the others place their geometry themselves");
}
