//! Steps of limited memory end where Gauss and Newton's do.

use stiction_identify::shooting::{Fit, FitOptions, Method};

use crate::sliding_block::{seen, target};

#[test]
fn both_methods_find_the_same_friction() {
    let (target, tight) = (target(), FitOptions { tolerance: 1e-6, iterations: 1000, ..FitOptions::default() });
    for seed in 1..=2 {
        let recordings = [seen(seed)];
        let fit = |method: Method| Fit::of_all(&target, &recordings, FitOptions { method, ..tight }).run().unwrap();
        let (one, other) = (fit(Method::GaussNewton), fit(Method::LimitedMemory));
        let (mu, again) = (&one.estimates[0], &other.estimates[0]);
        let apart = (mu.value - again.value).abs() / mu.deviation.unwrap();
        println!("{:?} {:?}, {} {}", one.history.last(), other.history.last(), one.converged, other.converged);
        println!(
            "{} and {}: {apart:.2e} deviations after {} and {} iterations",
            mu.value,
            again.value,
            one.history.len() - 1,
            other.history.len() - 1
        );
        assert!(other.converged && apart < 1e-4, "{one:?}\n{other:?}");
        assert!((mu.deviation.unwrap() / again.deviation.unwrap() - 1.0).abs() < 1e-3);
    }
}

#[test]
fn bounds_hold() {
    let mut target = target();
    target.parameters[0].bounds = [0.4, 1.0];
    let recordings = [seen(1)];
    // Starts as measured, so that friction alone has to explain the motion.
    let options = FitOptions { method: Method::LimitedMemory, free_starts: false, ..FitOptions::default() };
    let report = Fit::of_all(&target, &recordings, options).run().unwrap();
    println!("{:?} {:?}", report.estimates, report.history);
    assert!(report.estimates[0].value == 0.4 && report.estimates[0].at_bound && report.converged);
}
