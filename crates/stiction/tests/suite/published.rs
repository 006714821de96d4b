//! The two published cases of Stewart and Trinkle: the falling rod (C-21) and the four balls (C-22).

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, ContactRule, Dimension, EventKind, LineariseAt, Margin, Model, ModelBuilder, Preset, Scheme, planar,
    spatial,
};
use stiction_testkit::{Reference, assert_close, reference};

use crate::support::{friction, on_floor, q, run, v};

/// The rod of C-21 at x with this velocity, each (x, y, angle).
pub fn rod(case: &Reference, x: [f64; 3], velocity: [f64; 3]) -> Model {
    rod_with_friction(case, case.number("parameters.friction"), x, velocity)
}

/// The same with another coefficient of friction.
pub fn rod_with_friction(case: &Reference, mu: f64, x: [f64; 3], velocity: [f64; 3]) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let shape = planar::Shape::capsule(number("length") / 2.0, number("radius")).unwrap();
    let rod = BodyBuilder::planar("rod", number("mass"), number("inertia"))
        .position(x[0], x[1], 0.0)
        .angle(x[2])
        .velocity(velocity[0], velocity[1], 0.0)
        .angular_velocity(0.0, 0.0, velocity[2])
        .shape(shape.into());
    on_floor(Dimension::Planar, [rod], [0.0, -number("gravity"), 0.0], friction(mu))
}

#[test]
fn c21_impact_slap_down_and_rest() {
    let case = reference("c21");
    let number = |name: &str| case.number(name);
    let start = [0.0, number("parameters.y"), number("parameters.angle_degrees").to_radians()];
    let mut x_errors = Vec::new();
    for h in [0.0025, 0.00125, 0.0005] {
        let model = rod(&case, start, [0.0, 0.0, number("parameters.angular_velocity")]);
        let (mut touches, mut rest) = (Vec::new(), None);
        let end = run(model, Preset::StewartTrinkle.scheme(), h, 1.0, |simulation, report| {
            for event in simulation.events().iter().filter(|e| e.kind == EventKind::Touch) {
                if !touches.iter().any(|(contact, _)| *contact == event.contact) {
                    touches.push((event.contact, event.time));
                }
            }
            let moving = v(simulation, "rod").iter().any(|v| v.abs() > 1e-9);
            rest = if moving { None } else { Some(rest.unwrap_or(report.time)) };
        });
        let tolerance = number("tolerance.event_steps") * h;
        let times = [touches[0].1, touches[1].1, rest.unwrap()];
        for (name, time) in ["impact", "slap_down", "rest"].iter().zip(times) {
            let exact = number(&format!("derived.{name}.t"));
            assert!((time - exact).abs() <= tolerance, "{name} at h = {h}: {time} against {exact}");
        }
        assert_close!(q(&end, "rod")[2], std::f64::consts::PI, case.tolerance("tolerance.theta_end", "rad"));
        assert_close!(q(&end, "rod")[1], number("derived.rest.y"), case.tolerance("tolerance.theta_end", "m"));
        x_errors.push((q(&end, "rod")[0] - number("derived.rest.x")).abs());
        println!("h = {h}: impact, slap-down, rest at {times:?}, x_end = {}", q(&end, "rod")[0]);
    }
    assert!(x_errors[2] < 0.5 * x_errors[0], "x_end errors {x_errors:?}");
}

pub fn balls(case: &Reference) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -number("gravity")).unwrap();
    let table = BodyBuilder::fixed("table").shape(spatial::Shape::half_space(Vector3::z()).unwrap().into());
    let table = builder.body(table).unwrap();
    let shape: stiction::Shape = spatial::Shape::sphere(number("radius")).unwrap().into();
    let rule = |first: Vector3<f64>| ContactRule { first_direction: Some(first), ..friction(number("friction")) };
    builder.default_contact(rule(Vector3::z())).unwrap();
    for k in 0..4 {
        let p = case.numbers(&format!("parameters.positions.{k}"));
        let inertia = Matrix3::from_diagonal_element(number("inertia"));
        let mut ball = BodyBuilder::rigid(format!("ball {k}"), number("mass"), inertia)
            .position(p[0], p[1], p[2])
            .shape(shape.clone());
        if k == 0 {
            let v = case.numbers("parameters.velocity_of_the_first");
            ball = ball.velocity(v[0], v[1], v[2]);
        }
        let ball = builder.body(ball).unwrap();
        builder.contact(table, ball, rule(Vector3::x())).unwrap();
    }
    builder.build().unwrap()
}

/// Velocities of every step, and positions with integrated angles.
struct Track {
    h: f64,
    velocities: Vec<Vec<f64>>,
    positions: Vec<Vec<f64>>,
    largest_problem: usize,
}

fn track(case: &Reference, at: LineariseAt, h: f64) -> Track {
    let mut scheme: Scheme = Preset::StewartTrinkle.scheme().as_published();
    scheme.linearise_at = at;
    scheme.margin = Margin::Fixed(case.number("parameters.margin"));
    scheme.directions = case.number("parameters.directions") as u32;
    let model = balls(case);
    let start = model.initial_state();
    let mut position: Vec<f64> = (0..4).flat_map(|k| [&start.q[7 * k..7 * k + 3], &[0.0; 3]].concat()).collect();
    let mut track =
        Track { h, velocities: vec![start.v.clone()], positions: vec![position.clone()], largest_problem: 0 };
    run(model, scheme, h, case.number("parameters.duration"), |simulation, report| {
        let v = &simulation.state().v;
        position.iter_mut().zip(v).for_each(|(x, v)| *x += h * v);
        track.velocities.push(v.clone());
        track.positions.push(position.clone());
        track.largest_problem = track.largest_problem.max(report.problem_size);
    });
    track
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

impl Track {
    /// ∫ ‖v − v′‖∞ dt and sup ‖x − x′‖∞ against a finer run, on its grid.
    fn errors(&self, fine: &Self) -> (f64, f64) {
        let ratio = (self.h / fine.h).round() as usize;
        let (mut integral, mut supremum): (f64, f64) = (0.0, 0.0);
        for k in 1..fine.velocities.len() {
            let step = k.div_ceil(ratio);
            integral += fine.h * largest_difference(&self.velocities[step], &fine.velocities[k]);
            if k % ratio == 0 {
                supremum = supremum.max(largest_difference(&self.positions[step], &fine.positions[k]));
            }
        }
        (integral, supremum)
    }

    /// Largest componentwise total variation of the velocity.
    fn variation(&self) -> f64 {
        let jumps = |k: usize| self.velocities.windows(2).map(|w| (w[1][k] - w[0][k]).abs()).sum::<f64>();
        (0..24).map(jumps).fold(0.0, f64::max)
    }
}

/// Runs all steps of the table and compares with the published numbers and with another column; returns the finest run.
fn compare_with_table(case: &Reference, at: LineariseAt, column: &str) -> Track {
    let fine = track(case, at, 0.00125);
    for (published, other) in case.table("published.table").iter().zip(case.table(column)) {
        let ours = if published["h"] == fine.h { &fine } else { &track(case, at, published["h"]) };
        let (velocity, position) = ours.errors(&fine);
        let values = [("velocity_error", velocity), ("position_error", position), ("variation", ours.variation())];
        println!("h = {}: velocity {velocity:.4} position {position:.4} variation {:.4}", ours.h, values[2].1);
        for (name, value) in values {
            if let Some(&expected) = published.get(name) {
                let tolerance = case.tolerance(&format!("tolerance.{name}"), "");
                assert_close!(value, expected, tolerance, "published {name} at h = {}", ours.h);
                let exact = case.tolerance(&format!("tolerance.same_scheme.{name}"), "");
                assert_close!(value, other[name], exact, "{name} of {column} at h = {}", ours.h);
            }
        }
    }
    fine
}

#[test]
fn c22_table_of_the_four_balls() {
    let case = reference("c22");
    let fine = compare_with_table(&case, LineariseAt::Predicted, "scheme_single_pass");
    assert_eq!(fine.largest_problem as f64, case.number("derived.problem_size_max"));
    for k in 0..4 {
        assert_close!(fine.positions.last().unwrap()[6 * k + 2], 0.1, case.tolerance("tolerance.z_end", "m"));
    }
    // The thrown ball lifts off when it hits the second one.
    let lift = case.number("derived.first_lift.t");
    let after = &fine.velocities[(lift / fine.h).round() as usize];
    assert!((after[2] - case.number("derived.first_lift.vz_of_the_first")).abs() < 0.01, "lifts with {}", after[2]);
}

#[test]
fn c22_table_with_the_geometry_at_the_end() {
    compare_with_table(&reference("c22"), LineariseAt::End, "scheme_two_passes");
}
