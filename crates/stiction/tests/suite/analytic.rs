//! Closed forms: C-32, inclines without creep, plates without gaps.

use std::sync::Arc;

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use stiction::multibody::ExpressionMotion;
use stiction::{
    BodyBuilder, ContactRule, Dimension, Expression, Model, ModelBuilder, Preset, Scheme, Simulation, planar, spatial,
};
use stiction_testkit::{PenaltyBox, Random, reference};

use crate::published::rod;
use crate::support::{G, down, floor, friction, on_floor, q, run, solid_box, step, steps, v, world};

fn stewart_trinkle() -> Scheme {
    Preset::StewartTrinkle.scheme()
}

/// A box at rest on an inclined plane of any azimuth, the slope given as a fraction of what the polygon can hold.
fn inclined_box(fraction: f64, azimuth: f64, n_d: u32, mu: f64) -> Model {
    let slope = (fraction * mu * (std::f64::consts::PI / f64::from(n_d)).cos()).atan();
    let axis = Vector3::new(-azimuth.sin(), azimuth.cos(), 0.0);
    let rotation = UnitQuaternion::from_scaled_axis(axis * slope);
    let normal = rotation * Vector3::z();
    let plane = spatial::Shape::half_space(normal).unwrap();
    let plane = BodyBuilder::fixed("plane").shape(plane.into());
    let (place, half) = (normal * 0.1, [0.2, 0.15, 0.1]);
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.0108, 0.0167, 0.0208));
    let block = BodyBuilder::rigid("block", 1.0, inertia)
        .position(place.x, place.y, place.z)
        .quaternion([rotation.w, rotation.i, rotation.j, rotation.k])
        .shape(spatial::Shape::cuboid(half).unwrap().into());
    let rule = ContactRule { directions: Some(n_d), ..friction(mu) };
    world(Dimension::Spatial, [plane, block], down(Dimension::Spatial), rule)
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn a_block_below_the_friction_angle_does_not_creep() {
    let mut random = Random::new(7);
    for n_d in [4, 8, 16] {
        for azimuth in [0.0, random.uniform(0.0, std::f64::consts::TAU), random.uniform(0.0, std::f64::consts::TAU)] {
            let model = inclined_box(0.9, azimuth, n_d, 0.5);
            let start = model.initial_state();
            let mut simulation = Simulation::new(model, stewart_trinkle(), 0.01).unwrap();
            steps(&mut simulation, 10_000);
            let moved = (0..3).map(|k| (simulation.state().q[k] - start.q[k]).powi(2)).sum::<f64>().sqrt();
            assert!(moved < 1e-12, "crept {moved:e} m with {n_d} directions at azimuth {azimuth}");
        }
    }
}

#[test]
fn a_tower_of_boxes_in_space_stands() {
    // Hundreds of rows, most of them degenerate: rounding must not be taken for infeasibility.
    for boxes in [6, 8] {
        let tower = (0..boxes)
            .map(|k| solid_box(&format!("box {k}"), 4.0, [0.1; 3]).position(0.0, 0.0, 0.1 + 0.2 * f64::from(k)));
        let start = on_floor(Dimension::Spatial, tower, down(Dimension::Spatial), friction(0.5));
        let first = start.initial_state();
        let end = run(start, stewart_trinkle(), 0.005, 1.0, |_, _| ());
        let moved = end.state().q.iter().zip(&first.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved < 1e-11, "a tower of {boxes} moved by {moved:e}");
    }
}

#[test]
fn a_kinematic_plate_never_loses_the_particle_it_carries() {
    for gamma in [1.0, 0.3, 0.0] {
        for h in [0.01, 0.003, 0.001] {
            // Peak acceleration 0.05 · 10² = 5 m/s² < g: contact is never lost.
            let height: Expression = "0.05*sin(10*t)".parse().unwrap();
            let motion = ExpressionMotion::planar(Expression::constant(0.0), height.clone(), Expression::constant(0.0));
            let mut builder = ModelBuilder::new(Dimension::Planar);
            builder.gravity(0.0, -G, 0.0).unwrap();
            builder.body(BodyBuilder::kinematic("plate", Arc::new(motion)).shape(floor())).unwrap();
            let particle = BodyBuilder::particle("particle", 1.0).velocity(0.0, 0.5, 0.0);
            builder.body(particle.shape(planar::Shape::point().into())).unwrap();
            let mut scheme = stewart_trinkle();
            scheme.gamma = gamma;
            run(builder.build().unwrap(), scheme, h, 1.5, |simulation, report| {
                let gap = q(simulation, "particle")[1] - height.value(report.time);
                assert!(gap.abs() < 1e-14, "gap {gap:e} at t = {} for gamma {gamma}, h {h}", report.time);
            });
        }
    }
}

#[test]
fn a_moving_wall_pushes_at_exactly_its_speed() {
    let x: Expression = "0.3*t".parse().unwrap();
    let motion = ExpressionMotion::planar(x, Expression::constant(0.0), Expression::constant(0.0));
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let wall = planar::Shape::half_plane(nalgebra::Vector2::x()).unwrap();
    builder.body(BodyBuilder::kinematic("wall", Arc::new(motion)).shape(wall.into())).unwrap();
    let disc = planar::Shape::disc(0.1).unwrap();
    builder.body(BodyBuilder::planar("disc", 1.0, 0.005).position(0.15, 0.0, 0.0).shape(disc.into())).unwrap();
    let end = run(builder.build().unwrap(), stewart_trinkle(), 0.01, 1.0, |_, _| ());
    let (speed, place) = (v(&end, "disc")[0], q(&end, "disc")[0]);
    // The gap is a difference of places, each rounded, and it is divided by h.
    let rounding = 2.0 * f64::EPSILON * 0.4 / 0.01;
    assert!((speed - 0.3).abs() < rounding, "{:e}", speed - 0.3);
    assert!((place - 0.4).abs() < 1e-14);
}

#[test]
fn c32_penalty_chatters_where_complementarity_rests() {
    let case = reference("c32");
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let penalty = PenaltyBox {
        width: number("width"),
        height: number("height"),
        mass: number("mass"),
        drop_height: number("drop_height"),
        stiffness: number("stiffness"),
        gravity: number("gravity"),
    };
    let rocking = penalty.rms_angular_rate(number("seconds") as u32, number("steps_per_second") as u32);
    assert!(rocking > case.number("tolerance.penalty_rms_angular_rate_min"), "penalty model rocks with {rocking}");

    let (width, height, mass) = (number("width"), number("height"), number("mass"));
    let body = BodyBuilder::planar("box", mass, mass * (width * width + height * height) / 12.0)
        .position(0.0, height / 2.0 + number("drop_height"), 0.0)
        .shape(planar::Shape::rectangle([width / 2.0, height / 2.0]).unwrap().into());
    let (mut sum, mut count) = (0.0, 0.0);
    let end = run(
        on_floor(Dimension::Planar, [body], down(Dimension::Planar), friction(0.5)),
        stewart_trinkle(),
        0.01,
        5.0,
        |s, report| {
            if report.time > 4.0 {
                sum += v(s, "box")[2].powi(2);
                count += 1.0;
            }
        },
    );
    let rms = f64::sqrt(sum / count);
    assert!(rms < case.number("tolerance.complementarity_rms_angular_rate_max"), "rocks with {rms}");
    assert!(q(&end, "box")[2].abs() < 1e-12 && (q(&end, "box")[1] - height / 2.0).abs() < 1e-12);
}

#[test]
fn a_planar_scene_embedded_in_space_moves_the_same() {
    let case = reference("c21");
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let angle = number("angle_degrees").to_radians();
    let planar = rod(&case, [0.0, 1.0, angle], [0.2, 0.0, 4.0]);
    // The plane (x, y) becomes (x, z); turning left there is turning about −y here.
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -G).unwrap();
    let table = spatial::Shape::half_space(Vector3::z()).unwrap();
    builder.body(BodyBuilder::fixed("table").shape(table.into())).unwrap();
    let e = UnitQuaternion::from_rotation_matrix(&Rotation3::from_scaled_axis(Vector3::new(0.0, -angle, 0.0)));
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.0005, 0.002, 0.002));
    let rod = BodyBuilder::rigid("rod", 1.0, inertia)
        .position(0.0, 0.0, 1.0)
        .quaternion([e.w, e.i, e.j, e.k])
        .velocity(0.2, 0.0, 0.0)
        .angular_velocity(0.0, -4.0, 0.0)
        .shape(spatial::Shape::capsule(number("length") / 2.0, number("radius")).unwrap().into());
    builder.body(rod).unwrap();
    builder.default_contact(ContactRule { directions: Some(4), ..friction(number("friction")) }).unwrap();

    let h = 0.0025;
    let mut flat = Simulation::new(planar, stewart_trinkle(), h).unwrap();
    let mut deep = Simulation::new(builder.build().unwrap(), stewart_trinkle(), h).unwrap();
    for _ in 0..400 {
        let (_, _) = (step(&mut flat), step(&mut deep));
        let (p, s) = (flat.state(), deep.state());
        let differences = [
            p.q[0] - s.q[0],
            p.q[1] - s.q[2],
            s.q[1],
            p.v[0] - s.v[0],
            p.v[1] - s.v[2],
            p.v[2] + s.v[4],
            // Both half-angles turn about −y: e = (cos θ/2, 0, −sin θ/2, 0) up to sign.
            ((p.q[2] / 2.0).cos().abs() - s.q[3].abs()),
        ];
        for d in differences {
            assert!(d.abs() < 1e-10, "differs by {d:e} at t = {}", p.time);
        }
    }
}

/// An asymmetric top spinning almost about its middle axis.
fn top(scheme: Scheme, h: f64) -> Simulation {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.5, 1.0, 1.5));
    builder.body(BodyBuilder::rigid("top", 1.0, inertia).angular_velocity(0.02, 3.0, 0.01)).unwrap();
    Simulation::new(builder.build().unwrap(), scheme, h).unwrap()
}

/// Angular velocity in body axes.
fn body_rates(simulation: &Simulation) -> Vector3<f64> {
    let omega = Vector3::from_column_slice(&v(simulation, "top")[3..6]);
    simulation.configuration().poses()[1].rotation.inverse() * omega
}

/// Largest relative changes of energy and angular momentum over 5 s in which the top turns over.
fn drift_of_top(scheme: Scheme, h: f64) -> (f64, f64) {
    let mut simulation = top(scheme, h);
    let (energy, momentum) = (simulation.energy().total(), simulation.momentum().angular);
    let mut worst: (f64, f64) = (0.0, 0.0);
    let mut turned_over = false;
    for _ in 0..(5.0 / h) as usize {
        let _ = step(&mut simulation);
        worst.0 = worst.0.max((simulation.energy().total() / energy - 1.0).abs());
        worst.1 = worst.1.max((simulation.momentum().angular - momentum).norm() / momentum.norm());
        turned_over |= body_rates(&simulation).y < 0.0;
    }
    assert!(turned_over, "the middle axis is unstable: the top must turn over");
    worst
}

#[test]
fn a_torque_free_top_keeps_energy_and_angular_momentum() {
    for h in [1e-2, 4e-4] {
        let (energy, momentum) = drift_of_top(stewart_trinkle(), h);
        assert!(energy < 1e-11 && momentum < 1e-11, "h = {h}: energy {energy:e}, angular momentum {momentum:e}");
    }
}

#[test]
fn with_explicit_terms_a_top_keeps_energy_and_angular_momentum_to_first_order() {
    let drift = |h| drift_of_top(stewart_trinkle().as_published(), h);
    let (coarse, fine) = (drift(4e-4), drift(2e-4));
    for (a, b) in [(coarse.0, fine.0), (coarse.1, fine.1)] {
        assert!(b < 2e-2 && (1.7..2.3).contains(&(a / b)), "drifts {a:e} and {b:e}");
    }
}

#[test]
fn a_torque_free_top_follows_eulers_equations() {
    // I ω̇ = −ω × I ω in body axes, by the classical Runge-Kutta method with steps that leave no error to speak of.
    let moments = Vector3::new(0.5, 1.0, 1.5);
    let rate = |w: Vector3<f64>| -w.cross(&w.component_mul(&moments)).component_div(&moments);
    let (mut exact, dt) = (Vector3::new(0.02, 3.0, 0.01), 1e-4);
    for _ in 0..20_000 {
        let k1 = rate(exact);
        let k2 = rate(exact + k1 * (dt / 2.0));
        let k3 = rate(exact + k2 * (dt / 2.0));
        let k4 = rate(exact + k3 * dt);
        exact += (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (dt / 6.0);
    }
    let error = |h: f64| {
        let mut simulation = top(stewart_trinkle(), h);
        steps(&mut simulation, (2.0 / h).round() as usize);
        (body_rates(&simulation) - exact).norm()
    };
    let (coarse, fine) = (error(4e-3), error(2e-3));
    assert!(fine < 1e-6 && (3.8..4.2).contains(&(coarse / fine)), "errors {coarse:e} and {fine:e}");
}
