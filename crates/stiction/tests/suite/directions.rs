//! C-28: cost and benefit of more friction directions, against the cone; sizes and counts, since times depend on the machine.

use nalgebra::{Matrix3, Vector3};
use stiction::{BodyBuilder, Dimension, Model, Pose, Preset, Scheme, spatial};
use stiction_testkit::{Reference, assert_close, reference};

use crate::support::{friction, on_floor, run};

/// A block on three point feet, sliding and turning over a floor.
fn block_on_three_feet(case: &Reference, heading: f64, spin: f64) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let (moments, speed) = (case.numbers("parameters.moments"), number("speed"));
    let inertia = Matrix3::from_diagonal(&Vector3::from_column_slice(&moments));
    let mut block = BodyBuilder::rigid("block", number("mass"), inertia)
        .position(0.0, 0.0, number("height"))
        .velocity(speed * heading.cos(), speed * heading.sin(), 0.0)
        .angular_velocity(0.0, 0.0, spin);
    for k in 0..3 {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 3.0).sin_cos();
        let radius = number("foot_radius");
        let foot = Pose::translation(radius * cos, radius * sin, -number("height"));
        block = block.shape_at(spatial::Shape::point().into(), foot);
    }
    on_floor(Dimension::Spatial, [block], [0.0, 0.0, -number("gravity")], friction(number("friction")))
}

/// The size of the problem and the mean number of iterations over a slide.
fn slide(case: &Reference, scheme: Scheme) -> (usize, f64) {
    let (mut size, mut iterations, mut steps) = (0, 0, 0);
    let (h, duration) = (case.number("parameters.step"), case.number("parameters.duration"));
    let model = block_on_three_feet(case, case.number("parameters.heading"), case.number("parameters.spin"));
    run(model, scheme, h, duration, |_, report| {
        assert_eq!(report.contacts, 3);
        (size, iterations, steps) = (report.problem_size, iterations + report.iterations, steps + 1);
    });
    (size, f64::from(iterations) / f64::from(steps))
}

fn polygon(n_d: f64) -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.directions = n_d as u32;
    scheme
}

#[test]
fn c28_size_and_pivots_grow_with_the_directions() {
    let case = reference("c28");
    let (size, iterations) = slide(&case, Preset::Ncp.scheme());
    println!("cone: {size} unknowns, {iterations:.1} iterations");
    assert_eq!(size as f64, case.number("published.cone_size"));
    let work: Vec<_> = case
        .numbers("parameters.directions")
        .into_iter()
        .map(|n_d| {
            let (size, pivots) = slide(&case, polygon(n_d));
            let per_direction = case.number("published.linear_size_per_direction") * n_d;
            assert_eq!(size as f64, case.number("published.linear_size_constant") + per_direction);
            println!("{n_d} directions: {size} unknowns, {pivots:.1} pivots");
            pivots * size as f64
        })
        .collect();
    // Numbers touched by the pivots of a step.
    assert!(work.windows(2).all(|pair| pair[1] > 1.3 * pair[0]), "{work:?}");
}

/// The friction of a polygon points to the corner next to the slip, and differs from that of the cone by their chord.
#[test]
fn c28_the_error_of_one_step_is_the_chord_to_the_next_corner() {
    let case = reference("c28");
    let (h, tolerance) = (case.number("parameters.step"), case.tolerance("tolerance.chord", "m/s"));
    let full = case.number("parameters.friction") * case.number("parameters.gravity") * h;
    for n_d in case.numbers("parameters.directions") {
        for fraction in [0.0, 0.3, 0.6, 0.9] {
            // This far from a corner towards the middle between two.
            let angle = fraction * std::f64::consts::PI / n_d;
            let after = |scheme: Scheme| {
                let end = run(block_on_three_feet(&case, angle, 0.0), scheme, h, h, |_, _| ());
                Vector3::from_column_slice(&end.state().v[..3])
            };
            let error = (after(polygon(n_d)) - after(Preset::Ncp.scheme())).norm();
            assert_close!(error, 2.0 * (0.5 * angle).sin() * full, tolerance, "{n_d} directions at {angle}");
        }
    }
}
