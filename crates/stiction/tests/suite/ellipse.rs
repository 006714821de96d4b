//! C-24: an ellipse drops and rolls; what the weight γ does to the infeasibility.

use stiction::{BodyBuilder, Dimension, Margin, Model, Preset, planar};
use stiction_testkit::{Reference, assert_close, reference};

use crate::support::{friction, on_floor, run};

fn ellipse(case: &Reference) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let axes = case.numbers("parameters.semi_axes");
    let body = BodyBuilder::planar("ellipse", number("mass"), number("inertia"))
        .position(0.0, number("height"), 0.0)
        .angular_velocity(0.0, 0.0, number("angular_velocity"))
        .shape(planar::Shape::ellipse([axes[0], axes[1]]).unwrap().into());
    on_floor(Dimension::Planar, [body], [0.0, -number("gravity"), 0.0], friction(number("friction")))
}

/// Infeasibility after every step, and the largest energy gain of one.
fn infeasibility(case: &Reference, gamma: f64, h: f64) -> (Vec<(f64, f64)>, f64) {
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.gamma = gamma;
    if gamma > 0.0 {
        scheme.margin = Margin::Fixed(case.number("parameters.margin"));
    }
    let (mut track, mut gain, mut energy) = (Vec::new(), 0.0_f64, f64::INFINITY);
    run(ellipse(case), scheme, h, case.number("parameters.duration"), |simulation, report| {
        track.push((report.time, report.penetration));
        // In flight the explicit gravity step has an energy error of its own, h g v / 2.
        let total = simulation.energy().total();
        if report.time > 1.2 {
            gain = gain.max(total - energy);
        }
        energy = total;
    });
    (track, gain)
}

fn largest(track: &[(f64, f64)]) -> f64 {
    track.iter().map(|(_, depth)| *depth).fold(0.0, f64::max)
}

#[test]
fn c24_infeasibility_for_every_gamma() {
    let case = reference("c24");
    let tolerance = case.tolerance("tolerance.scheme", "m");
    let h = case.number("parameters.step");
    for row in case.table("scheme.infeasibility_by_gamma") {
        let (track, gain) = infeasibility(&case, row["gamma"], h);
        println!("gamma {}: {} gain {gain}", row["gamma"], largest(&track));
        assert_close!(largest(&track), row["infeasibility_max"], tolerance, "gamma = {}", row["gamma"]);
        if row["gamma"] == 0.0 {
            for point in case.table("scheme.unstabilised_growth") {
                let (_, depth) = track.iter().find(|(t, _)| (t - point["t"]).abs() < h / 2.0).unwrap();
                assert_close!(*depth, point["infeasibility"], tolerance, "t = {}", point["t"]);
            }
        }
    }
}

#[test]
fn c24_order_of_the_infeasibility() {
    let case = reference("c24");
    for row in case.table("scheme.infeasibility_by_step") {
        for (name, gamma) in [("gamma_0", 0.0), ("gamma_0_3", 0.3), ("gamma_1", 1.0)] {
            let ours = largest(&infeasibility(&case, gamma, row["h"]).0);
            assert_close!(ours, row[name], case.tolerance("tolerance.scheme", "m"), "{name} at h = {}", row["h"]);
        }
    }
}
