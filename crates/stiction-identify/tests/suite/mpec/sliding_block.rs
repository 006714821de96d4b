//! Case C-26: friction of a sliding block from what a camera saw, all steps as one program.

use stiction_identify::{
    Target,
    mpec::{Member, MpecOptions, fit, program::Engine, windows},
};

use crate::sliding_block::{seen, target};

/// The same with a friction polygon of eight directions, the first along x.
fn with_polygon() -> Target {
    let cone = target();
    let text = cone.text.replace("[simulation]\n", "[simulation]\npreset = \"stewart-trinkle\"\n")
        + "\n[scheme]\ndirections = 8\n";
    Target { text, ..cone }
}

#[test]
fn friction_of_the_whole_history_is_right_with_cone_and_polygon() {
    for (target, tolerance) in [(target(), 0.005), (with_polygon(), 0.02)] {
        let recording = seen(1);
        let report = fit(&[Member::whole(&target, &recording)], &MpecOptions::new(Engine::Ipopt)).unwrap();
        let mu = &report.fit.estimates[0];
        println!("{mu:?} misfit {} {:?} {:?}", report.fit.misfit, report.certificate, report.modes);
        println!("{} variables, {} iterations", report.variables, report.iterations);
        assert!(report.fit.converged && (mu.value - 0.33).abs() < tolerance, "{mu:?}");
        assert!(report.certificate.complementarity < 1e-8 && report.certificate.violation < 1e-8);
        assert!(mu.deviation.unwrap() < 1e-3 && (report.fit.misfit - 1.0).abs() < 0.2, "{mu:?}");
    }
}

#[test]
fn longer_windows_scatter_less() {
    let recording = seen(1);
    let target = target();
    let options = MpecOptions::new(Engine::Ipopt);
    let scatter = |length: usize| {
        let found = windows(&target, &recording, length, &options).unwrap();
        assert!(found.iter().all(|window| (0.0..=1.0).contains(&window.values[0])));
        let mean = found.iter().map(|window| window.values[0]).sum::<f64>() / found.len() as f64;
        let spread = found.iter().map(|window| (window.values[0] - mean).powi(2)).sum::<f64>() / found.len() as f64;
        println!("{length}: {mean} ± {}", spread.sqrt());
        (spread.sqrt(), found.last().unwrap().clone())
    };
    let (five, _) = scatter(5);
    let (twenty, _) = scatter(20);
    let (fifty, last) = scatter(50);
    assert!(five > twenty && twenty > fifty, "{five} {twenty} {fifty}");
    let whole = fit(&[Member::whole(&target, &recording)], &options).unwrap();
    let deviation = last.deviations[0].unwrap();
    assert!((last.values[0] - whole.fit.estimates[0].value).abs() < 3.0 * deviation);
}
