//! The discrete gradient of the stored energy along the normal, and its linearisation.

use super::NormalLaw;
use stiction_multibody::Layer;

const STIFFNESS: f64 = 300.0;

/// Laws of steps that begin apart, at the touch, and pressed, with and without damping.
fn laws() -> Vec<NormalLaw> {
    let h = 0.01;
    let mut all = Vec::new();
    for damping in [0.0, 2.0] {
        for (start, remembered) in [(-0.02, 0.0), (0.0, 0.0), (0.01, 0.01), (-0.01, 0.02)] {
            all.push(NormalLaw::new(h, &Layer::normal(STIFFNESS, damping), start, remembered));
        }
    }
    all
}

fn impulse(law: &NormalLaw, x: f64) -> f64 {
    let line = law.tangent(x, 0.0);
    line.impulse + line.slope * (x - line.depth)
}

/// Tangents touch the law: their slope is the derivative of the impulse, wherever the surface is in contact.
#[test]
fn tangents_have_the_slope_of_the_law() {
    for law in laws() {
        for x in [-0.015, -0.003, 0.002, 0.015, 0.03] {
            // Apart all through the step there is no impulse, and the line is a guess from above.
            let is_apart = !law.closed && x <= law.relaxed;
            let is_kink = (x - law.relaxed).abs() < 1e-6 || (x - law.start).abs() < 1e-9;
            if is_apart || is_kink {
                continue;
            }
            let dx = 1e-7;
            let quotient = (impulse(&law, x + dx) - impulse(&law, x - dx)) / (2.0 * dx);
            let line = law.tangent(x, 0.0);
            assert_eq!(line.depth, x);
            assert!((line.slope - quotient).abs() < 1e-5 * law.steepest(), "{law:?} at {x}: {} {quotient}", line.slope);
        }
    }
}

/// Without damping the work p (x − x₀) of the impulse is h times the change of stored energy ½ K max(x, 0)².
#[test]
fn elastic_impulses_do_the_work_of_the_stored_energy() {
    let h = 0.01;
    let stored = |x: f64| 0.5 * STIFFNESS * x.max(0.0) * x.max(0.0);
    for (start, remembered) in [(-0.02, 0.0), (0.0, 0.0), (0.01, 0.01)] {
        let law = NormalLaw::new(h, &Layer::normal(STIFFNESS, 0.0), start, remembered);
        for x in [-0.015, -0.003, 0.002, 0.015, 0.03] {
            if !law.closed && x <= law.relaxed {
                continue;
            }
            let work = impulse(&law, x) * (x - start);
            assert!((work - h * (stored(x) - stored(start))).abs() < 1e-12, "{start} to {x}: {work}");
        }
    }
}

/// Lines are at least as steep as asked, but never steeper than the linear law.
#[test]
fn slopes_have_a_lower_bound() {
    for law in laws() {
        for x in [-0.015, 0.002, 0.03] {
            let steepest = law.steepest();
            assert!(law.tangent(x, 0.1 * steepest).slope >= 0.1 * steepest - 1e-15);
            assert!(law.tangent(x, 10.0 * steepest).slope <= law.tangent(x, 0.0).slope.max(steepest) + 1e-15);
        }
    }
}

/// An unloaded surface relaxes by h K δ⁺ + C (δ⁺ − δ) = 0, and at once without damping.
#[test]
fn unloaded_surfaces_relax_by_their_own_law() {
    let (h, damping) = (0.01, 2.0);
    let law = NormalLaw::new(h, &Layer::normal(STIFFNESS, damping), -1.0, 0.02);
    assert!(!law.closed);
    assert!((h * STIFFNESS * law.relaxed + damping * (law.relaxed - 0.02)).abs() < 1e-15);
    assert_eq!(law.compression(-1.0), law.relaxed);
    assert_eq!(law.compression(0.05), 0.05);
    assert_eq!(NormalLaw::new(h, &Layer::normal(STIFFNESS, 0.0), -1.0, 0.02).relaxed, 0.0);
}
