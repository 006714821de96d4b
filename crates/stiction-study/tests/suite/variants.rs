//! Variants with other scenes and distributions, values for all trials, metrics over metrics; the ready studies of grasps.

use std::{fs, path::Path};

use stiction_study::{
    Study, load,
    monte_carlo::{Place, SweepOptions, Value},
    parse_monte_carlo,
};

use crate::monte_carlo::{folder, read};

const SCENE: &str = r#"
[simulation]
duration = 0.2
step = 0.02
gravity = [0.0, 0.0]
[[body]]
name = "ball"
mass = 1.0
velocity = [1.0, 0.0]
[[body.shape]]
disc = { radius = 0.1 }
"#;

const STUDY: &str = r#"
[study]
kind = "monte-carlo"
scene = "scene.toml"
trials = 20
success = "far > 0.25"
[parameters.speed]
path = "body.ball.velocity.0"
uniform = [0.5, 1.5]
ends = "(]"
[metrics]
far = "way / 0.8"
way = "final(ball.x) - initial(ball.x)"
[values]
"simulation.record_every" = 10
[variants.as_it_is]
"body.ball.mass" = 2
[variants.long]
scene = "long.toml"
[variants.quick]
parameters.speed = { uniform = [1.5, 2.5], ends = "(]" }
"#;

fn number(value: &Value) -> f64 {
    match value {
        Value::Number(x) => *x,
        Value::Word(word) => panic!("{word}"),
    }
}

/// The ball goes as far as its speed and the duration of its scene say, in every variant, and success is a predicate of that.
#[test]
fn variants_have_scenes_and_distributions_of_their_own_under_common_random_numbers() {
    let folder = folder("mc-variant-scenes");
    let long = SCENE.replace("duration = 0.2", "duration = 0.4");
    fs::write(folder.join("long.toml"), &long).unwrap();
    let study = read(&folder, SCENE, STUDY);
    for trial in 0..20 {
        let speeds = [0, 1, 2].map(|variant| number(&study.values(Place { trial, cell: 0, variant })[0]));
        assert!(speeds[0] == speeds[1] && (speeds[2] - speeds[0] - 1.0).abs() < 1e-12, "{speeds:?}");
        for (variant, (speed, time)) in speeds.into_iter().zip([0.2, 0.4, 0.2]).enumerate() {
            let row = study.make(3 * trial + variant as u64).row;
            let [far, way] = row.metrics[..] else { panic!("{row:?}") };
            assert!((way - speed * time).abs() < 1e-12 && (far - way / 0.8).abs() < 1e-12, "{row:?}");
            assert_eq!(row.success, far > 0.25);
        }
    }
    let report = study.report();
    let strata = &report.variants[2].marginals[0].strata;
    assert!(number(&strata[0].from) > 1.5 && number(&strata[9].to) <= 2.5);
    let options = SweepOptions { threads: 2, ..SweepOptions::default() };
    let run = study.run(&folder.join("out"), &options, &()).unwrap();
    assert_eq!(serde_json::to_value(&run).unwrap(), serde_json::to_value(&report).unwrap());
    let in_memory = parse_monte_carlo(STUDY, "study", &[("scene.toml", SCENE), ("long.toml", &long)]).unwrap();
    assert_eq!(serde_json::to_value(in_memory.report()).unwrap(), serde_json::to_value(&report).unwrap());
}

/// A journal made with another scene of a variant is not continued.
#[test]
fn scenes_of_variants_count_for_the_journal() {
    let folder = folder("mc-variant-journal");
    let long = SCENE.replace("duration = 0.2", "duration = 0.4");
    let out = folder.join("out");
    let options = |resume| SweepOptions { threads: 1, resume, ..SweepOptions::default() };
    fs::write(folder.join("long.toml"), &long).unwrap();
    let _ = read(&folder, SCENE, STUDY).run(&out, &options(false), &()).unwrap();
    let _ = read(&folder, SCENE, STUDY).run(&out, &options(true), &()).unwrap();
    fs::write(folder.join("long.toml"), long.replace("0.4", "0.6")).unwrap();
    let error = read(&folder, SCENE, STUDY).run(&out, &options(true), &()).unwrap_err();
    assert!(error.to_string().contains("the scene has changed since"), "{error}");
}

#[test]
fn mistakes_in_variants_and_metrics_are_explained() {
    let refused = |from: &str, to: &str, part: &str| {
        let text = STUDY.replace(from, to);
        assert_ne!(text, STUDY);
        let scenes = [("scene.toml", SCENE), ("long.toml", SCENE)];
        let error = parse_monte_carlo(&text, "s.toml", &scenes).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused("long.toml", "short.toml", "the scene short.toml is not among those given");
    refused("\"long.toml\"", "3", "`scene` must be the name of a scene file");
    refused(
        "parameters.speed = { uniform = [1.5, 2.5], ends = \"(]\" }",
        "parameters = 1",
        "must be a table of distributions",
    );
    let named = "`variants.quick.parameters.speed` is a whole number, but must be a table";
    refused("parameters.speed = { uniform = [1.5, 2.5], ends = \"(]\" }", "parameters.speed = 1", named);
    refused("parameters.speed =", "parameters.mass =", "there is no random parameter `mass`");
    refused("{ uniform = [1.5, 2.5], ends = \"(]\" }", "{ values = [1.0] }", "another distribution of the same kind");
    refused("{ uniform = [1.5, 2.5]", "{ path = \"a\", uniform = [1.5, 2.5]", "stand in [parameters.speed]");
    refused("final(ball.x) - initial(ball.x)", "far + 1", "depends on itself");
    refused("way / 0.8", "wya / 0.8", "wya");
}

/// The ready studies match their descriptions: 100 800 trials under 8 conditions, and three models under common random numbers.
#[test]
fn ready_studies_of_grasps_can_be_read() {
    let study = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").join(name);
        match load(path).unwrap_or_else(|error| panic!("{error}")) {
            Study::MonteCarlo(study) => study,
            other => panic!("{other:?}"),
        }
    };
    for name in ["grasp_map.toml", "grasp_map_implicit.toml"] {
        let map = study(name);
        assert_eq!((map.count(), map.variants().len(), map.shape()), (100_800, 8, vec![21, 20]));
        for (k, variant) in map.variants().iter().enumerate() {
            let values = map.values(Place { trial: 7, cell: 11, variant: k });
            let is_high = |what: &str| variant.name.contains(&format!("high {what}"));
            for (parameter, value) in map.parameters().zip(&values).skip(2) {
                let low = if is_high(&parameter.name) { 0.66 } else { 0.33 };
                let value = number(value);
                assert!(value > low && value <= low + 0.33, "{}: {} = {value}", variant.name, parameter.name);
            }
        }
    }
    for name in ["grasp_models_medium.toml", "grasp_models_high.toml"] {
        let models = study(name);
        assert_eq!((models.count(), models.shape()), (1470, vec![7, 7]));
        assert!(models.variants()[1].scene_path.ends_with("gear_grasp_smooth.toml"));
    }
}

/// The grasp of a trial does not change once everything is at rest: trials that end there have the results of those that continue to the
/// end.
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn trials_that_end_at_rest_find_what_whole_ones_find() {
    let text = |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap();
    let scene = text("scenes/gear_grasp.toml");
    let map = text("studies/grasp_map.toml").replace("count = 21", "count = 3").replace("count = 20", "count = 4");
    let made = |text: &str| {
        let study = parse_monte_carlo(text, "map", &[("../scenes/gear_grasp.toml", &scene)]).unwrap();
        let rows = (0..study.count()).map(|index| study.make(index).row).collect::<Vec<_>>();
        (rows, study.metrics().map(str::to_owned).collect::<Vec<_>>())
    };
    let (short, names) = made(&map.replace("trials = 30", "trials = 1"));
    let (whole, _) = made(&map.replace("trials = 30", "trials = 1").replace("ends_at_rest = true", ""));
    assert!(short.iter().any(|row| row.success) && short.iter().any(|row| !row.success));
    for (short, whole) in short.iter().zip(&whole) {
        assert_eq!((short.success, &short.failure), (whole.success, &whole.failure));
        // Forces of a grasp at rest are not unique; positions are.
        for ((a, b), name) in short.metrics.iter().zip(&whole.metrics).zip(&names) {
            assert!(name.ends_with("force") || (a - b).abs() <= 1e-9, "{name}: {a} {b}");
        }
        assert_eq!(whole.steps, 1000);
    }
    let steps = |rows: &[stiction_study::monte_carlo::Row]| rows.iter().map(|row| row.steps).sum::<u64>();
    assert!(2 * steps(&short) < steps(&whole), "{} of {} steps", steps(&short), steps(&whole));
}

/// A body that is moved from outside, or may be, does not come to rest however slow it is.
#[test]
fn what_changes_with_time_does_not_rest() {
    let scene = SCENE.replace("velocity = [1.0, 0.0]", "velocity = [0.0, 0.0]");
    let load = format!("{scene}[[load]]\nbody = \"ball\"\nforce = [\"if(t < 0.15, 0, 1)\", 0.0]\n");
    let study = "[study]\nkind = \"monte-carlo\"\nscene = \"scene.toml\"\ntrials = 1\nends_at_rest = true\nsuccess = \"final(ball.vx) > 0\"\n";
    let row = |scene: &str| parse_monte_carlo(study, "study", &[("scene.toml", scene)]).unwrap().make(0).row;
    assert_eq!((row(&scene).success, row(&scene).steps), (false, 10), "nothing moves it");
    assert_eq!((row(&load).success, row(&load).steps), (true, 10), "a force that begins later");
    let long = |scene: &str| scene.replace("duration = 0.2", "duration = 0.4");
    assert_eq!(row(&long(&scene)).steps, 10);
    assert_eq!(row(&long(&load)).steps, 20);
}
