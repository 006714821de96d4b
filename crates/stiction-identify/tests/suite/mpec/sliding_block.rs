//! Case C-26: friction of a sliding block from camera data, by direct transcription.

use stiction_identify::{
    Target,
    mpec::{Member, MpecOptions, fit, program::Engine},
};

use crate::sliding_block::{seen, target, with_polygon};

fn check((target, is_polygon): (&Target, bool), rows: std::ops::Range<usize>, tolerance: f64) {
    let recording = seen(1);
    let member = Member { target, recording: &recording, rows };
    let report = fit(&[member], &MpecOptions::new(Engine::Ipopt)).unwrap();
    let mu = &report.fit.estimates[0];
    println!("{mu:?} misfit {} {:?} {:?}", report.fit.misfit, report.certificate, report.modes);
    println!("{} variables, {} iterations", report.variables, report.iterations);
    assert!(report.fit.converged && (mu.value - 0.33).abs() < tolerance, "{mu:?}");
    assert!(report.certificate.complementarity < 1e-8 && report.certificate.violation < 1e-8);
    assert!(mu.deviation.unwrap() < 0.25 * tolerance, "{mu:?}");
    // A polygon is another model than the one that made the data.
    assert!(is_polygon || (report.fit.misfit - 1.0).abs() < 0.2, "{}", report.fit.misfit);
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn friction_of_the_whole_history_is_right_with_the_cone() {
    check((&target(), false), 0..91, 0.005);
}

#[test]
fn friction_is_right_with_a_polygon() {
    check((&with_polygon(), true), 0..31, 0.02);
}

/// Number of rows between windows: the fit of each window takes seconds.
const EVERY: usize = 14;

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn longer_windows_scatter_less() {
    let (recording, target, options) = (seen(1), target(), MpecOptions::new(Engine::Ipopt));
    let scatter = |length: usize| {
        let last = recording.times.len() - 1;
        let found: Vec<f64> = (length..=last)
            .rev()
            .step_by(EVERY)
            .map(|end| {
                let member = Member { rows: end - length..end + 1, ..Member::whole(&target, &recording) };
                fit(&[member], &options).unwrap().fit.estimates[0].value
            })
            .collect();
        assert!(found.iter().all(|mu| (0.0..=1.0).contains(mu)));
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let spread = (found.iter().map(|mu| (mu - mean).powi(2)).sum::<f64>() / found.len() as f64).sqrt();
        println!("{length}: {mean} ± {spread} of {}", found.len());
        spread
    };
    let (five, twenty, fifty) = (scatter(5), scatter(20), scatter(50));
    assert!(five > twenty && twenty > fifty, "{five} {twenty} {fifty}");
}
