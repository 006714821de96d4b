//! Particle filter for the sliding block of case C-26.

use stiction_identify::{
    Identification, IdentifyError, Method, Parameter, Recording, Target,
    filter::{Drift, Filter, FilterOptions, FilterReport, Keep},
    shooting::{Fit, FitOptions},
};

use crate::sliding_block::{SCENE, seen, target};

/// The walk of the case.
const WALK: Drift = Drift { walk: 0.01, spread: None };

/// The first rows of a recording.
fn first_rows(recording: &Recording, count: usize) -> Recording {
    let mut short = recording.clone();
    short.times.truncate(count);
    for track in &mut short.tracks {
        track.positions.truncate(count);
        track.orientations.truncate(count);
        track.velocities.truncate(count);
    }
    short
}

fn follow(target: &Target, recording: &Recording, options: FilterOptions) -> FilterReport {
    Filter { target, recording, options }.run().unwrap()
}

/// The case: 500 particles, a walk of 0.01, negative values are clamped to zero, and a flat prior. Several recordings, so that the result
/// is not one lucky draw; none of them was used when the filter was written.
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn the_mean_over_time_is_the_friction_of_the_block() {
    let target = target();
    let mut means = Vec::new();
    for seed in 101..=103 {
        let recording = seen(seed);
        let fit = Fit::of_all(&target, std::slice::from_ref(&recording), FitOptions::default()).run().unwrap();
        let fitted = fit.estimates[0].value;
        let clamped = FilterOptions { keep: Keep::Clamped, drifts: vec![WALK], seed, ..FilterOptions::default() };
        let report = follow(&target, &recording, clamped);
        let (mean, weighted) = (report.averages[0], report.weighted_averages[0]);
        println!("camera {seed}: mean over time {mean}, with weights {weighted}, fit {fitted}");
        assert!((mean - 0.33).abs() < 0.03, "{mean}");
        assert!((mean - fitted).abs() < 0.02 && (weighted - fitted).abs() < 0.02, "{mean} {weighted} {fitted}");
        assert_eq!((report.moments.len(), report.failures), (91, 0));
        assert!(report.moments.iter().all(|moment| moment.parameters[0].interval[0] >= 0.0));
        let last = report.moments.last().unwrap();
        let truth = [0.870_076, -0.000_082_7, -0.106_398];
        // Three deviations of the measurements themselves.
        for ((q, truth), noise) in last.q.iter().zip(truth).zip([1e-3, 1e-3, 1e-2]) {
            assert!((q - truth).abs() < 3.0 * noise, "{:?}", last.q);
        }
        means.push(mean);
    }
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let spread = (means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / means.len() as f64).sqrt();
    println!("{mean} ± {spread}");
    assert!((mean - 0.33).abs() < 0.01, "{means:?}");
}

/// A walk in the logit of the coefficient, fewer particles, and a biased prior: 0.5 ± 0.2.
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn reparameterised_walks_find_the_same_friction() {
    let mut target = target();
    target.parameters[0].start = 0.5;
    let drifts = vec![Drift { spread: Some(0.2), ..WALK }];
    let options = FilterOptions { particles: 300, seed: 104, drifts, ..FilterOptions::default() };
    let report = follow(&target, &seen(104), options);
    let (mean, weighted, last) = (report.averages[0], report.weighted_averages[0], report.moments.last().unwrap());
    println!("mean over time {mean}, with weights {weighted}, {last:?}");
    assert!((mean - 0.33).abs() < 0.02 && (weighted - 0.33).abs() < 0.02, "{mean} {weighted}");
    // Four deviations of the filter.
    let last = last.parameters[0];
    assert!((last.mean - 0.33).abs() < 4.0 * last.deviation && last.deviation < 0.05, "{last:?}");
    let inside = |moment: &[f64; 2]| moment[0] > 0.0 && moment[1] < 1.0;
    assert!(report.moments.iter().all(|moment| inside(&moment.parameters[0].interval)));
}

/// An identification by this method reports the number of the case: the mean over the second half of the rows.
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn identifications_report_the_mean_over_the_second_half() {
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/pulled_block.toml");
    let identification = Identification {
        name: "block".into(),
        scene_path: scene.into(),
        target: target(),
        recordings: vec![first_rows(&seen(1), 14)],
        held_out: Vec::new(),
        methods: vec![Method::Filter],
        options: FitOptions::default(),
        rows_per_run: None,
        windows: Vec::new(),
        notes: Vec::new(),
    };
    let report = identification.run(&|_| true).unwrap();
    let found = report.methods[0].estimates[0].value;
    let options = FilterOptions { huber: identification.options.huber, ..FilterOptions::default() };
    let filter = follow(&identification.target, &identification.recordings[0], options);
    let late: Vec<f64> = filter.moments[7..].iter().map(|moment| moment.parameters[0].mean).collect();
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    println!("{found}, means {mean} over the second half and {} over all", filter.weighted_averages[0]);
    assert!((found - mean).abs() < 1e-12, "{found} {mean}");
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let (target, recording) = (target(), first_rows(&seen(1), 12));
    let on = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = FilterOptions { particles: 40, seed, ..FilterOptions::default() };
        pool.install(|| follow(&target, &recording, options)).moments
    };
    let alone = on(1, 7);
    assert!(alone.iter().any(|moment| moment.stages > 1));
    assert_eq!(alone, on(3, 7));
    assert_ne!(alone, on(1, 8));
}

/// The pull of 4 N is held by friction above 0.41: half of the initial guesses stick, and the first rows do not decide.
#[test]
fn modes_are_reported_and_the_wrong_one_dies_out() {
    let report =
        follow(&target(), &first_rows(&seen(1), 25), FilterOptions { particles: 100, ..FilterOptions::default() });
    let fraction = |moment: usize, word: &str| {
        let modes = report.moments[moment].modes.iter().filter(|(mode, _)| mode.contains(word));
        modes.map(|(_, fraction)| fraction).sum::<f64>()
    };
    println!("{:?}", report.moments.iter().map(|moment| &moment.modes).collect::<Vec<_>>());
    assert!(fraction(1, "slip") > 0.1);
    assert!(fraction(24, "stick") < 1e-3 && fraction(24, "slip") > 0.999);
    for moment in &report.moments[1..] {
        assert!((moment.modes.iter().map(|(_, fraction)| fraction).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(moment.effective >= 1.0 - 1e-9 && moment.effective <= 100.0 + 1e-9);
    }
}

fn with_mass_between(bounds: [f64; 2]) -> Target {
    let mass = Parameter::new("mass", "body.block.mass", bounds[1], bounds);
    Target { text: SCENE.to_owned(), file_name: "sliding_block.toml".into(), parameters: vec![mass] }
}

#[test]
fn particles_that_cannot_go_on_are_counted_and_replaced() {
    let recording = first_rows(&seen(1), 20);
    let options = FilterOptions { particles: 60, ..FilterOptions::default() };
    let report = follow(&with_mass_between([-1.0, 2.0]), &recording, options);
    println!("{} failed: {:?}", report.failures, report.first_failure);
    // About a third of the initial guesses has no mass.
    assert!((10..=35).contains(&report.failures), "{}", report.failures);
    assert!(report.first_failure.unwrap().contains("mass"));
    let last = report.moments.last().unwrap();
    assert_eq!(last.failed, 0);
    assert!(last.parameters[0].interval[0] > 0.0, "{last:?}");
}

#[test]
fn where_all_fail_the_reason_is_told() {
    let recording = first_rows(&seen(1), 20);
    let target = with_mass_between([-2.0, 2.0]);
    let options = FilterOptions {
        particles: 20,
        keep: Keep::Clamped,
        drifts: vec![Drift { walk: 100.0, spread: Some(0.0) }],
        ..FilterOptions::default()
    };
    // Every walk ends at a bound: half of the particles fail at each row. With negative masses alone all fail.
    assert!(Filter { target: &target, recording: &recording, options: options.clone() }.run().is_ok());
    let mut negative = with_mass_between([-2.0, 1.0]);
    negative.parameters[0].bounds = [-2.0, -1.0];
    // The scene is first read with the initial guess; it is valid.
    let failed = Filter { target: &negative, recording: &recording, options }.run().unwrap_err();
    println!("{failed}");
    assert!(
        matches!(&failed, IdentifyError::Particles { count: 20, reason, .. } if reason.contains("mass")),
        "{failed}"
    );
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let (target, recording) = (target(), seen(1));
    let usual = FilterOptions::default;
    for (options, word) in [
        (FilterOptions { particles: 1, ..usual() }, "two at least"),
        (FilterOptions { drifts: vec![WALK; 2], ..usual() }, "2 drifts"),
        (FilterOptions { drifts: vec![Drift { walk: f64::NAN, spread: None }], ..usual() }, "zero or more"),
        (FilterOptions { rare: 2.0, ..usual() }, "fraction"),
    ] {
        let failed = Filter { target: &target, recording: &recording, options }.run().unwrap_err();
        assert!(failed.to_string().contains(word), "{failed}");
    }
}
