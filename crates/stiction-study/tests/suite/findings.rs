//! Reports of Monte Carlo studies against known results: closed forms, permutation tests, constructed rankings.

use std::path::PathBuf;

use stiction::{
    Simulation,
    measure::Measure,
    record::{Ending as RunEnding, Recorder, RunColumns, RunLabels, RunTables},
    scene,
};
use stiction_study::{
    Stream, Study, load,
    monte_carlo::{MonteCarlo, Report, SweepOptions, Value, chi_square_beyond},
};

use crate::monte_carlo::{folder, read};

/// A ball that flies without gravity: its final position is a sum of the given numbers.
const SCENE: &str = r#"
[simulation]
duration = 0.1
step = 0.05
gravity = [0.0, 0.0]
[[body]]
name = "ball"
mass = 1.0
position = [0.0, 0.0]
velocity = [0.0, 0.0]
[[body.shape]]
disc = { radius = 0.1 }
"#;

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn made(name: &str, study: &MonteCarlo) -> Report {
    study.run(&folder(name), &SweepOptions::default(), &()).unwrap()
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn the_sliding_box_of_the_repository_finds_the_exact_probability() {
    let Study::MonteCarlo(study) = load(repository("studies/sliding_box.toml")).unwrap() else { panic!() };
    let (g, far, h) = (9.81, 0.5, 0.005);
    for index in (0..study.count()).step_by(7) {
        let values = study.values(study.place(index));
        let [Value::Number(speed), Value::Number(friction), _] = values[..] else { panic!() };
        // With steps of h the speed falls by μ g h a step, and each step goes by the speed at its end.
        let steps = (speed / (friction * g * h)).floor();
        let distance = h * (steps * speed - friction * g * h * 0.5 * steps * (steps + 1.0));
        let row = study.make(index).row;
        assert!((row.metrics[0] - distance).abs() < 1e-9, "{index}: {} {distance}", row.metrics[0]);
        assert_eq!(row.success, distance > far);
    }
    let report = made("findings-box", &study);
    for cell in &report.variants[0].cells {
        // μ < v²/(2 g (d + v h/2)), up to the second order of h; the points of Sobol are within 1/n of it.
        let speed = cell.at[0];
        let exact = ((speed * speed / (2.0 * g * (far + 0.5 * speed * h)) - 0.2) / 0.4).clamp(0.0, 1.0);
        assert!((cell.success.value() - exact).abs() < 1.5 / 128.0, "{speed}: {:?} {exact}", cell.success);
        assert!((cell.success.low..=cell.success.high).contains(&exact));
    }
    let success: Vec<_> = report.variants[0].sensitivity.iter().filter(|found| found.response == "success").collect();
    assert_eq!((success[0].parameter.as_str(), success[1].parameter.as_str()), ("friction", "mass"));
    assert!(success[0].p < 1e-9 && success[1].p > 0.01, "{success:?}");
}

/// x = a + 0.5 b + 0.1 c with equal distributions: fractions of the variance 1/1.26, 0.25/1.26, 0.01/1.26, and d has none.
const RANKED: &str = r#"
[study]
kind = "monte-carlo"
scene = "scene.toml"
trials = 3000
success = "final(ball.x) > 0.08"
[parameters.d]
path = "body.ball.mass"
uniform = [0.5, 1.5]
[parameters.c]
path = "body.ball.position.1"
uniform = [0.0, 0.1]
[parameters.b]
path = "body.ball.velocity.0"
uniform = [0.0, 0.5]
[parameters.a]
path = "body.ball.position.0"
uniform = [0.0, 0.1]
[metrics]
sum = "final(ball.x) + 0.1 * final(ball.y)"
"#;

#[test]
fn the_ranking_of_parameters_is_the_one_by_construction() {
    let folder = folder("findings-ranking");
    let study = read(&folder, SCENE, RANKED);
    let report = made("findings-ranking", &study);
    let ranked: Vec<_> = report.variants[0].sensitivity.iter().filter(|found| found.response == "sum").collect();
    assert_eq!(ranked.iter().map(|found| found.parameter.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    // Ten strata miss a hundredth of the variance of a uniform distribution, which is that within them.
    for (found, exact) in ranked.iter().zip([1.0, 0.25, 0.01, 0.0]) {
        assert!((found.explained - 0.99 * exact / 1.26).abs() < 0.012, "{found:?}");
    }
    assert!(ranked[1].p < 1e-9 && ranked[3].p > 0.01, "{ranked:?}");
    let by_success = &report.variants[0].sensitivity[0];
    assert_eq!((by_success.response.as_str(), by_success.parameter.as_str()), ("success", "a"));
}

/// The test of influence is the limit of a permutation test: strata are permuted, and the statistic is as large with the same frequency.
#[test]
fn the_test_of_influence_agrees_with_permutations() {
    let (n, strata, rounds) = (400_usize, 10, 4000);
    let mut stream = Stream::new(3, 0);
    // A weak influence, so that neither probability is extreme.
    let mut groups: Vec<usize> = (0..n).map(|i| i % strata).collect();
    let values: Vec<f64> =
        groups.iter().map(|k| f64::from(u8::from(stream.unit() < 0.42 + 0.02 * *k as f64))).collect();
    let mean = values.iter().sum::<f64>() / n as f64;
    let total: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let statistic = |groups: &[usize]| {
        let mut sums = vec![(0.0, 0.0); strata];
        groups.iter().zip(&values).for_each(|(k, x)| sums[*k] = (sums[*k].0 + x, sums[*k].1 + 1.0));
        let between: f64 = sums.iter().map(|(sum, count)| count * (sum / count - mean) * (sum / count - mean)).sum();
        (n as f64 - 1.0) * between / total
    };
    let found = statistic(&groups);
    let mut as_large = 0;
    for _ in 0..rounds {
        for i in (1..n).rev() {
            groups.swap(i, (stream.bits() % (i as u64 + 1)) as usize);
        }
        as_large += u32::from(statistic(&groups) >= found);
    }
    let [permuted, limit] = [f64::from(as_large) / f64::from(rounds), chi_square_beyond(found, strata - 1)];
    assert!(permuted > 0.005 && (permuted - limit).abs() < 0.02, "{permuted} {limit} {found}");
}

/// Quantiles from tables of χ².
#[test]
fn the_distribution_of_chi_square_is_that_of_the_tables() {
    for (x, degrees_of_freedom, p) in [
        (3.841_458_820_694_124, 1, 0.05),
        (18.307_038_053_275_146, 10, 0.05),
        (6.634_896_601_021_214, 1, 0.01),
        (124.342_113_404_003_6, 100, 0.05),
    ] {
        assert!((chi_square_beyond(x, degrees_of_freedom) - p).abs() < 1e-10, "{x} {degrees_of_freedom}");
    }
    // With two degrees of freedom it is e^(-x/2), far out too.
    for x in [0.1, 1.0, 3.0, 30.0, 300.0_f64] {
        assert!((chi_square_beyond(x, 2) / (-0.5 * x).exp() - 1.0).abs() < 1e-12, "{x}");
    }
    assert_eq!((chi_square_beyond(5.0, 0), chi_square_beyond(0.0, 4)), (1.0, 1.0));
}

#[test]
fn symmetry_is_recognised_and_its_lack_too() {
    let folder = folder("findings-symmetry");
    let text = |success: &str| {
        format!(
            r#"
            [study]
            kind = "monte-carlo"
            scene = "scene.toml"
            trials = 60
            success = "{success}"
            mirror = ["x"]
            [parameters.x]
            path = "body.ball.position.0"
            grid = {{ from = -0.1, to = 0.1, count = 9 }}
            [parameters.speed]
            path = "body.ball.velocity.0"
            uniform = [-1.0, 1.0]
            "#
        )
    };
    let even = made("findings-even", &read(&folder, SCENE, &text("abs(final(ball.x)) < 0.1")));
    let odd = made("findings-odd", &read(&folder, SCENE, &text("final(ball.x) < 0.04")));
    let [even, odd] = [&even, &odd].map(|report| report.variants[0].symmetry[0].clone());
    assert!(even.degrees_of_freedom == 4 && even.p > 0.01, "{even:?}");
    assert!(odd.p < 1e-6, "{odd:?}");
}

/// A study in memory measures the same values as `run` and `plot` find in files.
#[test]
fn expressions_have_the_same_bits_in_memory_and_from_files() {
    let scene = scene::load(repository("scenes/falling_rod.toml")).unwrap();
    let texts = [
        "final(rod.angle) + min(rod.y)",
        "max(total) - final(total)",
        "first(contacts > 0)",
        "max(sum_contacts(normal_impulse))",
        "max(count_contacts(mode == \"slip\"))",
        "mean(deriv(rod.x)) + max(iterations) + step",
    ];
    let measures = texts.map(|text| Measure::parse(text).unwrap());
    let mut needs = stiction::measure::Needs::default();
    for measure in &measures {
        measure.add_needs(&mut needs);
    }
    let folder = folder("findings-memory");
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let every = 3;
    let labels = RunLabels { scene: "rod".into(), preset: String::new(), solver: String::new(), record_every: every };
    let mut recorder = Recorder::create(&folder, &labels, &simulation).unwrap();
    let mut columns = RunColumns::new(&simulation, &needs, every);
    for _ in 0..scene.settings.steps() {
        let report = simulation.step().unwrap();
        recorder.record(&simulation, &report);
        columns.record(&simulation, &report);
    }
    assert!(recorder.finish(&simulation, 0.0, RunEnding::Finished).trouble.is_none());
    let tables = RunTables::open(&folder).unwrap();
    for measure in &measures {
        let [a, b] =
            [measure.evaluate(&columns), measure.evaluate(&tables)].map(|value| format!("{:?}", value.unwrap()));
        assert_eq!(a, b, "{}", measure.text());
    }
}
