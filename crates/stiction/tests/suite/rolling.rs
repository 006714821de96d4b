//! C-14: a disc rolls for ever, a polygon does not.

use nalgebra::Point2;
use stiction::{BodyBuilder, Dimension, LineariseAt, Model, Preset, Scheme, planar};
use stiction_testkit::{Reference, assert_close, reference};

use crate::support::{friction, on_floor, run};

fn rolling(case: &Reference, shape: planar::Shape) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let place = case.numbers("parameters.position");
    let body = BodyBuilder::planar("wheel", number("mass"), number("inertia"))
        .position(place[0], place[1], 0.0)
        .velocity(number("velocity"), 0.0, 0.0)
        .angular_velocity(0.0, 0.0, number("angular_velocity"))
        .shape(shape.into());
    on_floor(Dimension::Planar, [body], [0.0, -number("gravity"), 0.0], friction(number("friction")))
}

/// The regular polygon with so many corners on the circle, one of them down.
fn polygon(case: &Reference, edges: usize) -> planar::Shape {
    let radius = case.number("parameters.radius");
    let corner = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / edges as f64 - std::f64::consts::FRAC_PI_2;
        Point2::new(radius * angle.cos(), radius * angle.sin())
    };
    planar::Shape::polygon(&(0..edges).map(corner).collect::<Vec<_>>()).unwrap()
}

fn largest_loss(case: &Reference, scheme: Scheme, duration: f64) -> f64 {
    let (energy, mut loss) = (case.number("parameters.energy"), 0.0_f64);
    let disc = planar::Shape::disc(case.number("parameters.radius")).unwrap();
    let mut rungs = std::collections::BTreeSet::new();
    run(rolling(case, disc), scheme, case.number("parameters.step"), duration, |simulation, report| {
        loss = loss.max((simulation.energy().kinetic - energy).abs());
        rungs.insert(report.rung);
    });
    println!("{duration} s: {loss:e} J, solved by {rungs:?}");
    loss
}

#[test]
fn c14_an_implicit_disc_keeps_its_energy() {
    let case = reference("c14");
    let allowed = case.number("tolerance.disc.abs");
    for duration in [5.0, 100.0] {
        assert!(largest_loss(&case, Preset::GeometricallyImplicit.scheme(), duration) < allowed);
    }
    // The fixed point solves the same equations by other code.
    let mut fixed_point = Preset::Ncp.scheme();
    fixed_point.linearise_at = LineariseAt::End;
    assert!(largest_loss(&case, fixed_point, 5.0) < allowed);
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn c14_polygons_lose_energy_as_derived() {
    let case = reference("c14");
    let tolerance = case.tolerance("tolerance.polygons", "J");
    let mut last = std::collections::BTreeMap::new();
    for row in case.table("derived.polygons") {
        let (edges, h) = (row["edges"] as usize, row["h"]);
        let mut found = Vec::new();
        run(rolling(&case, polygon(&case, edges)), Preset::StewartTrinkle.scheme(), h, 5.0, |simulation, report| {
            if (report.time - (found.len() + 1) as f64).abs() < 0.5 * h {
                found.push(simulation.energy().kinetic);
            }
        });
        println!("{edges} edges, h = {h}: {found:.3?}");
        for (k, energy) in found.iter().enumerate() {
            assert_close!(*energy, row[&format!("t{}", k + 1)], tolerance, "{edges} edges, h = {h}, t = {}", k + 1);
        }
        if h == case.number("parameters.step") {
            last.insert(edges, found[4]);
        }
    }
    // More edges, less loss; from 200 on the step decides.
    let at_end = last.values().copied().collect::<Vec<_>>();
    assert!(at_end[..4].windows(2).all(|pair| pair[0] < pair[1]), "{last:?}");
    assert_close!(last[&200], last[&1000], case.tolerance("tolerance.saturation", "J"));
}
