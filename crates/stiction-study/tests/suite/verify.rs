//! Verifications: candidates that pass all stages under all circumstances, counted exactly, for any number of threads.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use stiction::{Simulation, scene};
use stiction_study::{
    Stream, Study, Watch, load,
    monte_carlo::Value,
    verify::{Passage, PassageError, Verification, VerificationReport, VerifyOptions},
};

use crate::monte_carlo::folder;

/// A ball that flies without anything to hit: it ends at start + 0.2 s · speed.
const SCENE: &str = r#"
[simulation]
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

/// The first stage knows the speed alone; the second starts at one place; the third at all places.
const STUDY: &str = r#"
[study]
kind = "verification"
scene = "scene.toml"
trials = 60
seed = 5
[parameters.speed]
path = "body.ball.velocity.0"
uniform = [0.0, 2.0]
[circumstances.start]
path = "body.ball.position.0"
values = [-0.1, 0.0, 0.1]
[circumstances.mass]
path = "body.ball.mass"
values = [1.0, 2.0]
[[stage]]
name = "geometric"
simulate = false
success = "speed > 0.4"
[[stage]]
name = "coarse"
over = []
success = "final(ball.x) > 0.15"
[stage.set]
"simulation.step" = 0.1
[[stage]]
name = "fine"
success = "final(ball.x) > 0.15"
"#;

fn read(folder: &Path, scene: &str, study: &str) -> Verification {
    fs::write(folder.join("scene.toml"), scene).unwrap();
    fs::write(folder.join("study.toml"), study).unwrap();
    match load(folder.join("study.toml")).unwrap_or_else(|error| panic!("{error}")) {
        Study::Verification(study) => *study,
        other => panic!("another kind: {other:?}"),
    }
}

fn run(study: &Verification, threads: usize, naive: bool) -> VerificationReport {
    let mut options = VerifyOptions::default();
    (options.threads, options.naive) = (threads, naive);
    study.run(&options, &|| 0.0, &()).unwrap()
}

fn speed(values: &[Value]) -> f64 {
    match values {
        [Value::Number(speed)] => *speed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn stages_reject_what_they_must_and_spare_what_comes_after() {
    let folder = folder("verify-counts");
    let study = read(&folder, SCENE, STUDY);
    let report = run(&study, 2, true);
    let speeds: Vec<f64> = (0..60).map(|index| speed(&study.candidates().values(index))).collect();
    let count = |keep: &dyn Fn(f64) -> bool| speeds.iter().filter(|speed| keep(**speed)).count() as u64;
    // From -0.1 the ball must be faster than 0.25/0.2, from 0 faster than 0.15/0.2.
    let [first, second, third] = [count(&|v| v > 0.4), count(&|v| v > 0.75), count(&|v| v > 1.25)];
    assert!(first < 60 && second < first && third < second && third > 0);
    let counts = report.stages.iter().map(|stage| (stage.candidates, stage.passed, stage.runs, stage.circumstances));
    // The slow start comes first under the first mass, and then under the second: `mass` changes fastest.
    let expected = [(60, first, 60, 1), (first, second, first, 1), (second, third, third * 6 + (second - third), 6)];
    assert_eq!(counts.collect::<Vec<_>>(), expected);
    let accepted: Vec<_> = report.accepted.iter().map(|accepted| speed(&accepted.values)).collect();
    assert_eq!(accepted, speeds.iter().copied().filter(|v| *v > 1.25).collect::<Vec<_>>());
    assert_eq!((report.accepted.len() + report.rejected.len()) as u64, report.made);
    for rejected in report.rejected.iter().filter(|rejected| rejected.stage == 2) {
        assert_eq!(rejected.circumstances, [Value::Number(1.0), Value::Number(-0.1)]);
        assert!(rejected.failure.is_none() && (0.75..=1.25).contains(&speed(&rejected.values)));
    }
    let naive = report.naive.as_ref().unwrap();
    assert!(naive.same && naive.lost.is_empty() && naive.last_alone.is_empty() && naive.stages[0].is_none());
    let runs = |k: usize| naive.stages[k].as_ref().unwrap().runs;
    assert_eq!((runs(1), runs(2)), (60, third * 6 + (60 - third)));
    assert!(report.simulations() < runs(1) + runs(2));
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let folder = folder("verify-threads");
    let study = read(&folder, SCENE, STUDY);
    let json = |threads| serde_json::to_string(&run(&study, threads, true)).unwrap();
    let one = json(1);
    assert_eq!((one.clone(), one), (json(2), json(7)));
    let other = study.with_sample(6, Some(10));
    assert_eq!((other.candidates().count(), run(&other, 1, false).seed), (10, 6));
}

/// A stage of geometry whose condition is not necessary, and a last stage that is weaker than an earlier one.
#[test]
fn candidates_that_only_a_part_of_the_stages_accepts_are_told() {
    let folder = folder("verify-lost");
    let strict = read(&folder, SCENE, &STUDY.replace("speed > 0.4", "speed > 1.5"));
    let report = run(&strict, 2, true);
    let naive = report.naive.unwrap();
    let between = |low: f64, high: f64| -> Vec<u64> {
        (0..60).filter(|index| (low..=high).contains(&speed(&strict.candidates().values(*index)))).collect()
    };
    assert!(!naive.same && !naive.lost.is_empty());
    assert_eq!((&naive.lost, &naive.last_alone), (&between(1.25, 1.5), &between(1.25, 1.5)));
    let early = read(&folder, SCENE, &STUDY.replacen("final(ball.x) > 0.15", "final(ball.x) > 0.35", 1));
    let naive = run(&early, 2, true).naive.unwrap();
    assert!(naive.same && naive.lost.is_empty());
    assert_eq!(naive.last_alone, between(1.25, 1.75));
}

#[test]
fn a_run_that_fails_rejects_with_its_reason() {
    let folder = folder("verify-failure");
    let text = STUDY.replace("values = [1.0, 2.0]", "values = [1.0, -2.0]");
    let report = run(&read(&folder, SCENE, &text), 2, false);
    assert!(report.accepted.is_empty());
    let failed: Vec<_> = report.rejected.iter().filter_map(|rejected| rejected.failure.as_ref()).collect();
    assert_eq!(failed.len() as u64, report.stages[2].failed);
    assert!(!failed.is_empty() && failed.iter().all(|failure| failure.detail.contains("mass")), "{failed:?}");
}

#[test]
fn who_stops_has_the_first_candidates() {
    struct After(AtomicU64);
    impl Watch for After {
        fn goes_on(&self, _: u64) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) < 20
        }
    }
    let folder = folder("verify-stop");
    let study = read(&folder, SCENE, STUDY);
    let part = study.run(&VerifyOptions::default(), &|| 0.0, &After(AtomicU64::new(0))).unwrap();
    let whole = run(&study, 1, false);
    assert!(part.interrupted && part.made == 20 && !whole.interrupted);
    assert_eq!(part.accepted, whole.accepted[..part.accepted.len()]);
    assert_eq!(part.rejected, whole.rejected[..part.rejected.len()]);
}

fn width(bodies: &str, between: [&str; 2], past: &[&str]) -> Result<f64, PassageError> {
    let text = format!("[simulation]\nduration = 1.0\nstep = 0.1\ndimension = 2\n{bodies}");
    let scene = scene::parse(&text, "passage.toml").unwrap_or_else(|error| panic!("{error}"));
    let simulation = Simulation::from_scene(&scene).unwrap();
    let passage =
        Passage { between: between.map(str::to_owned), past: past.iter().map(|&name| name.to_owned()).collect() };
    passage.width(simulation.model(), simulation.configuration())
}

fn body(name: &str, [x, y]: [f64; 2], shape: &str) -> String {
    format!("[[body]]\nname = \"{name}\"\nkind = \"fixed\"\nposition = [{x:?}, {y:?}]\n[[body.shape]]\n{shape}\n")
}

#[test]
fn the_width_of_a_passage_is_the_widest_gap_of_the_narrowest_bar() {
    let walls = body("left", [-2.0, 0.0], "box = { size = [2.0, 9.0] }")
        + &body(
            "right",
            [2.5, 0.0],
            "polygon = { vertices = [[0.5, -4.0], [0.5, 4.0], [0.0, 4.0], [-0.5, 0.0], [0.0, -4.0]] }",
        );
    let close = |found: Result<f64, PassageError>, expected: f64| {
        assert!((found.clone().unwrap() - expected).abs() < 1e-12, "{found:?} {expected}");
    };
    // From x = -1 to the tip at x = 2.
    close(width(&walls, ["left", "right"], &[]), 3.0);
    // A disc between 0.6 and 1.0: the wider way is on its right, from 1.0 to the tip at 2.
    let peg = walls.clone() + &body("peg", [0.8, 0.0], "disc = { radius = 0.2 }");
    close(width(&peg, ["left", "right"], &["peg"]), 1.6);
    close(width(&peg, ["right", "left"], &["peg"]), 1.6);
    // A second one beside it: gaps 1.1, 0.1 and 1.0; the wide ways count.
    let two = peg.clone() + &body("second", [0.3, 0.0], "disc = { radius = 0.2 }");
    close(width(&two, ["left", "right"], &["peg", "second"]), 1.1);
    // A bar across: nothing passes. One that is inside a wall bars nothing.
    let bar = walls.clone() + &body("bar", [0.5, 0.0], "capsule = { half_length = 2.0, radius = 0.1 }");
    close(width(&bar, ["left", "right"], &["bar"]), 0.0);
    let inside = walls.clone() + &body("inside", [-2.0, 0.0], "disc = { radius = 0.1 }");
    close(width(&inside, ["left", "right"], &["inside"]), 3.0);
    assert_eq!(width(&walls, ["left", "rigt"], &[]), Err(PassageError::NoBody("rigt".to_owned())));
    let round = walls + &body("egg", [0.0, 0.0], "ellipse = { semi_axes = [0.2, 0.1] }");
    assert!(matches!(width(&round, ["left", "right"], &["egg"]), Err(PassageError::Unsupported { .. })));
}

/// Against a disc that is moved through a fine grid from below to above, for random pegs between two walls.
#[test]
fn the_width_of_a_passage_agrees_with_a_search_for_a_way() {
    let mut stream = Stream::new(11, 0);
    for _ in 0..12 {
        let pegs: Vec<[f64; 3]> =
            (0..5).map(|_| [stream.between(0.0, 1.0), stream.between(-0.4, 0.4), stream.between(0.02, 0.1)]).collect();
        let mut text = body("left", [-0.5, 0.0], "box = { size = [1.0, 6.0] }")
            + &body("right", [1.5, 0.0], "box = { size = [1.0, 6.0] }");
        let names: Vec<_> = (0..pegs.len()).map(|k| format!("peg {k}")).collect();
        for (name, [x, y, r]) in names.iter().zip(&pegs) {
            text += &body(name, [*x, *y], &format!("disc = {{ radius = {r:?} }}"));
        }
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let found = width(&text, ["left", "right"], &names).unwrap();
        // A way on the grid is a way; one beside it is at most a cell narrower on each side.
        let cells = 400;
        let cell = 1.0 / cells as f64;
        assert!(found <= 3.0 * cell || is_way(&pegs, 0.5 * found - 1.5 * cell, cells), "{pegs:?} {found}");
        assert!(!is_way(&pegs, 0.5 * found + 1e-9, cells), "{pegs:?} {found}");
    }
}

/// True if the centre of a disc of this radius gets from y = -1 to y = 1 between the walls x = 0 and x = 1 over the points of a grid.
fn is_way(pegs: &[[f64; 3]], radius: f64, cells: usize) -> bool {
    let (cell, columns, rows) = (1.0 / cells as f64, cells + 1, 2 * cells + 1);
    let free = |i: usize, j: usize| {
        let (x, y) = (i as f64 * cell, j as f64 * cell - 1.0);
        x >= radius && x <= 1.0 - radius && pegs.iter().all(|[px, py, r]| (x - px).hypot(y - py) >= r + radius)
    };
    let mut seen = vec![false; columns * rows];
    let mut open: Vec<_> = (0..columns).filter(|i| free(*i, 0)).map(|i| (i, 0)).collect();
    while let Some((i, j)) = open.pop() {
        if std::mem::replace(&mut seen[j * columns + i], true) {
            continue;
        }
        if j + 1 == rows {
            return true;
        }
        let around = [(i + 1, j), (i.wrapping_sub(1), j), (i, j + 1), (i, j.wrapping_sub(1))];
        open.extend(
            around.into_iter().filter(|(i, j)| *i < columns && *j < rows && free(*i, *j) && !seen[j * columns + i]),
        );
    }
    false
}

#[test]
fn mistakes_in_verifications_are_told_with_place_reason_and_hint() {
    let folder = folder("verify-mistakes");
    fs::write(folder.join("scene.toml"), SCENE).unwrap();
    let passage = "simulate = false\npassage = { between = [\"ball\", \"wall\"] }";
    let cases = [
        ("over = []", "over = [\"strt\"]", "there is no circumstance `strt`", "there are mass, start"),
        ("speed > 0.4", "speedd > 0.4", "there is no column `speedd`", "columns: step, t"),
        ("speed > 0.4", "ball.x > 0.4", "is a number per moment, but must be one number", "final(e)"),
        ("simulate = false", passage, "the scene has no body `wall`", ""),
        ("simulate = false", "simulat = false", "unknown key `simulat`", "did you mean `simulate`?"),
        ("[circumstances.mass]", "[circumstances.speed]", "`speed` is a parameter of candidates already", ""),
        ("[circumstances.mass]", "[circumstances.passage]", "the name `passage` is taken", ""),
        ("values = [1.0, 2.0]", "values = []", "there is no value", ""),
        ("path = \"body.ball.mass\"", "", "`mass` needs `path`", "such as"),
        ("\"simulation.step\"", "\"simulation.stp\"", "unknown key `stp`", "did you mean `step`?"),
        ("seed = 5", "success = \"1\"", "`success` belongs to studies of the kind `monte-carlo`", ""),
        ("kind = \"verification\"", "kind = \"monte-carlo\"", "`circumstances` belongs to studies of the kind", ""),
    ];
    for (from, to, message, hint) in cases {
        assert!(STUDY.contains(from), "{from}");
        fs::write(folder.join("study.toml"), STUDY.replacen(from, to, 1)).unwrap();
        let error = load(folder.join("study.toml")).expect_err(to);
        assert!(error.message.contains(message), "{to}: {error}");
        assert!(error.hint.clone().unwrap_or_default().contains(hint), "{to}: {error}");
    }
    let without = STUDY.split("[[stage]]").next().unwrap();
    fs::write(folder.join("study.toml"), without).unwrap();
    assert!(load(folder.join("study.toml")).unwrap_err().message.contains("at least one [[stage]]"));
}
