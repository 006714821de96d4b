//! Case C-09: a needle pushes a square over a table, without inertia; and convergence of motions with inertia to that.

use std::sync::Arc;

use stiction::{
    BodyBuilder, ContactMode, ContactRule, Dimension, Expression, FrictionSet, Model, ModelBuilder, Preset, Scheme,
    Simulation, SupportBuilder, Uniqueness, multibody::ExpressionMotion, planar,
};
use stiction_testkit::{Reference, reference};

use crate::support::{friction, q, solid_rectangle, step, v};

/// Support points on a circle about the centre, the first one above it.
fn tripod(radius: f64) -> [[f64; 2]; 3] {
    let (x, y) = (0.75_f64.sqrt() * radius, 0.5 * radius);
    [[0.0, radius], [-x, -y], [x, -y]]
}

/// A needle that starts at a place and moves with a velocity.
fn needle(name: &str, from: [f64; 2], speed: [f64; 2]) -> BodyBuilder {
    let along = |k: usize| Expression::parse(&format!("{:e} + {:e} * t", from[k], speed[k])).unwrap();
    let motion = ExpressionMotion::planar(along(0), along(1), Expression::constant(0.0));
    BodyBuilder::kinematic(name, Arc::new(motion)).shape(planar::Shape::point().into())
}

/// The square of the case on its support points, with needles; everything else is smooth unless `mu` says otherwise.
fn square(case: &Reference, weight: f64, mu: f64, needles: impl IntoIterator<Item = BodyBuilder>) -> Model {
    let number = |path: &str| case.number(&format!("parameters.{path}"));
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -weight).unwrap();
    let half = 0.5 * number("side");
    let square = builder.body(solid_rectangle("square", 1.0, [half, half])).unwrap();
    let support = SupportBuilder::tripod(tripod(number("tripod_radius"))).friction(number("mu_feet"));
    builder.support(square, &support).unwrap();
    for needle in needles {
        builder.body(needle).unwrap();
    }
    builder.default_contact(ContactRule { ..friction(mu) }).unwrap();
    builder.build().unwrap()
}

fn pushed(case: &Reference, y: f64, speed: f64) -> Model {
    let x = -0.5 * case.number("parameters.side");
    square(case, case.number("parameters.weight"), 0.0, [needle("needle", [x, y], [speed, 0.0])])
}

fn linear(directions: u32) -> Scheme {
    let mut scheme = Preset::Quasistatic.scheme();
    (scheme.friction, scheme.directions) = (FrictionSet::Polygon, directions);
    scheme
}

#[test]
fn the_square_moves_as_the_least_dissipation_says() {
    let case = reference("c09");
    let tolerance = case.tolerance("tolerance.quadratic", "");
    for row in case.table("derived.quadratic") {
        // The motion does not depend on the speed of the push beyond its scale, nor on the weight.
        for (speed, weight, h) in [(1.0, 1.0, 0.01), (1e-3, 1.0, 0.01), (1.0, 1e4, 1e-4)] {
            let x = -0.5 * case.number("parameters.side");
            let model = square(&case, weight, 0.0, [needle("needle", [x, row["y"]], [speed, 0.0])]);
            let mut simulation = Simulation::new(model, Preset::Quasistatic.scheme(), h).unwrap();
            let _ = step(&mut simulation);
            for (v, name) in v(&simulation, "square").iter().zip(["vx", "vy", "w"]) {
                tolerance.check(v / speed, row[name]).unwrap_or_else(|why| panic!("{name} at {}: {why}", row["y"]));
            }
            let force = simulation.contacts()[0].normal_impulse / h;
            tolerance.check(force / weight, row["force"]).unwrap();
            assert_eq!(simulation.uniqueness(), Some(Uniqueness::Unique));
            // Below the centre it turns about the top support point.
            let top_sticks = simulation.support_points()[0].mode == ContactMode::Stick;
            assert_eq!(top_sticks, row["y"] < 0.0, "y = {}: {:?}", row["y"], simulation.support_points()[0]);
        }
    }
}

#[test]
fn polygons_come_close_in_force_and_less_in_rotation() {
    let case = reference("c09");
    let exact = case.table("derived.quadratic").into_iter().find(|row| row["y"] == 0.1).unwrap();
    for row in case.table("derived.polygon") {
        let mut simulation = Simulation::new(pushed(&case, 0.1, 1.0), linear(row["directions"] as u32), 0.01).unwrap();
        let _ = step(&mut simulation);
        let (force, w) = (simulation.contacts()[0].normal_impulse / 0.01, v(&simulation, "square")[2]);
        // Four digits were derived for each polygon.
        assert!((force - row["force"]).abs() < 6e-5, "{force} at {} directions", row["directions"]);
        if row["directions"] >= 16.0 {
            case.tolerance("tolerance.polygon_force", "N").check(force, exact["force"]).unwrap();
            case.tolerance("tolerance.polygon_spin", "rad/s").check(w, exact["w"]).unwrap();
        }
    }
    for (y, directions) in [(-0.1, 16), (-0.2, 32)] {
        let mut simulation = Simulation::new(pushed(&case, y, 1.0), linear(directions), 0.01).unwrap();
        let _ = step(&mut simulation);
        assert_eq!(simulation.support_points()[0].mode, ContactMode::Stick, "the top support point, pushed at {y}");
    }
}

/// Pose after the push of the case with this many steps.
fn path(case: &Reference, scheme: Scheme, speed: f64, steps: u32) -> Vec<f64> {
    let model = pushed(case, case.number("parameters.push_at"), speed);
    let h = case.number("parameters.push_distance") / speed / f64::from(steps);
    let mut simulation = Simulation::new(model, scheme, h).unwrap();
    for _ in 0..steps {
        let report = step(&mut simulation);
        assert!(report.penetration < 0.1 / f64::from(steps), "{} at {}", report.penetration, report.time);
    }
    q(&simulation, "square").to_vec()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_path_converges_with_the_first_order_and_turns_clockwise() {
    let case = reference("c09");
    let poses = [50, 100, 200, 400].map(|steps| path(&case, Preset::Quasistatic.scheme(), 1.0, steps));
    let gaps: Vec<_> = poses.windows(2).map(|pair| distance(&pair[0], &pair[1])).collect();
    for pair in gaps.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((0.8..1.3).contains(&order), "order {order}: {gaps:?}");
    }
    assert!(poses[3][2] < -0.1, "{:?}", poses[3]);
}

/// A part that is no longer pushed stays: velocities of rounding size must not let bodies grow heavier step by step.
#[test]
fn a_square_that_is_left_alone_rests_for_good() {
    let along = |text: &str| Expression::parse(text).unwrap();
    let motion = ExpressionMotion::planar(
        along("-0.51 + 0.5 * min(t, 0.2) - 0.5 * max(t - 0.2, 0)"),
        Expression::constant(0.1),
        Expression::constant(0.0),
    );
    let needle = BodyBuilder::kinematic("needle", Arc::new(motion)).shape(planar::Shape::point().into());
    let model = square(&reference("c09"), 1.0, 0.2, [needle]);
    let mut simulation = Simulation::new(model, Preset::Quasistatic.scheme(), 0.01).unwrap();
    for _ in 0..25 {
        let _ = step(&mut simulation);
    }
    let left = q(&simulation, "square").to_vec();
    for _ in 0..500 {
        let _ = step(&mut simulation);
    }
    assert!(left[0] > 0.05 && distance(&left, q(&simulation, "square")) < 1e-12, "{left:?}");
}

/// With the same displacement in every step the two differ by inertia alone, which is as v² to μ g L.
#[test]
fn motions_with_inertia_approach_those_without_as_speed_goes_to_zero() {
    let case = reference("c09");
    let slow = path(&case, Preset::Quasistatic.scheme(), 1.0, 200);
    let errors = [0.08, 0.04, 0.02, 0.01].map(|speed| distance(&path(&case, Preset::Ncp.scheme(), speed, 200), &slow));
    assert!(errors[3] < 2e-3, "{errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        println!("order {order:.2}: {errors:?}");
        assert!(order > 0.8, "order {order}: {errors:?}");
    }
}

/// Two fingers close on the square from both sides at different heights, turn it and slip along its sides; they stop before it
/// jams between them.
fn squeezed(case: &Reference, scheme: Scheme, speed: f64, steps: u32) -> Vec<f64> {
    let half = 0.5 * case.number("parameters.side");
    let fingers =
        [needle("left", [-half - 0.01, 0.15], [speed, 0.0]), needle("right", [half + 0.02, -0.2], [-0.8 * speed, 0.0])];
    let model = square(case, case.number("parameters.weight"), 0.05, fingers);
    let mut simulation = Simulation::new(model, scheme, 0.05 / speed / f64::from(steps)).unwrap();
    let mut both = 0;
    for _ in 0..steps {
        let _ = step(&mut simulation);
        both += usize::from(simulation.contacts().iter().filter(|c| c.normal_impulse > 0.0).count() == 2);
    }
    assert!(both > steps as usize / 4, "squeezed in {both} of {steps} steps");
    q(&simulation, "square").to_vec()
}

#[test]
fn a_squeeze_with_inertia_approaches_the_one_without_as_speed_goes_to_zero() {
    let case = reference("c09");
    let slow = squeezed(&case, Preset::Quasistatic.scheme(), 1.0, 200);
    let errors =
        [0.02, 0.01, 0.005, 0.0025].map(|speed| distance(&squeezed(&case, Preset::Ncp.scheme(), speed, 200), &slow));
    assert!(errors[3] < 2e-3 && slow[2].abs() > 0.05, "{errors:?} {slow:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        println!("order {order:.2}: {errors:?}");
        assert!(order > 0.8, "order {order}: {errors:?}");
    }
}

/// Fingers with friction that keep closing: the forces grow without bound, and then there is no motion. The error says so.
#[test]
fn a_jammed_square_is_an_error_and_says_so() {
    let case = reference("c09");
    let fingers = [needle("left", [-0.5, 0.15], [1.0, 0.0]), needle("right", [0.5, -0.2], [-1.0, 0.0])];
    let mut simulation =
        Simulation::new(square(&case, 1.0, 0.2, fingers), Preset::Quasistatic.scheme(), 0.0005).unwrap();
    let error = (0..400).find_map(|_| simulation.step().err()).expect("it must jam").to_string();
    assert!(error.contains("jammed"), "{error}");
}
