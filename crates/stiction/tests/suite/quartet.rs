//! Common complaints about other engines, tested with the default preset in space: creep on slopes, friction that depends
//! on direction, a rod that lands elsewhere, stacks that sink, slides that lift and tumble.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stiction::{BodyBuilder, ContactRule, Dimension, Model, Preset, Scheme, spatial};
use stiction_testkit::reference;

use crate::support::{G, friction, on_floor, q, run, solid_ball, solid_box, v};

fn default_scheme() -> Scheme {
    Preset::default().scheme()
}

/// Gravity on a slope that falls towards `azimuth`; the floor stays at z = 0.
fn slope(angle: f64, azimuth: f64) -> [f64; 3] {
    [G * angle.sin() * azimuth.cos(), G * angle.sin() * azimuth.sin(), -G * angle.cos()]
}

#[test]
fn a_box_on_a_slope_sticks_up_to_the_friction_angle_and_slides_beyond() {
    let (mu, h) = (0.5_f64, 0.01);
    for azimuth in [0.0, 0.3, 1.0] {
        for fraction in [0.99, 1.0] {
            let gravity = slope(fraction * mu.atan(), azimuth);
            let block = solid_box("box", 1.0, [0.5, 0.4, 0.3]).position(0.0, 0.0, 0.3);
            let end = run(
                on_floor(Dimension::Spatial, [block], gravity, friction(mu)),
                default_scheme(),
                h,
                10.0,
                |simulation, _| {
                    let speed = Vector3::from_column_slice(&v(simulation, "box")[..3]).norm();
                    assert!(speed < 1e-9, "{fraction} of the friction angle: {speed} m/s at {}", simulation.time());
                },
            );
            assert!(q(&end, "box")[0].abs() < 1e-9);
        }
        let angle = 1.01 * mu.atan();
        let block = solid_box("box", 1.0, [0.5, 0.4, 0.3]).position(0.0, 0.0, 0.3);
        let end = run(
            on_floor(Dimension::Spatial, [block], slope(angle, azimuth), friction(mu)),
            default_scheme(),
            h,
            10.0,
            |_, _| (),
        );
        let exact = G * (angle.sin() - mu * angle.cos()) * 10.0;
        let velocity = v(&end, "box");
        let along = velocity[0] * azimuth.cos() + velocity[1] * azimuth.sin();
        assert!((along - exact).abs() < 1e-9 * exact.max(1.0) * 100.0, "{along} against {exact}");
    }
}

#[test]
fn a_slide_keeps_its_heading_and_its_distance() {
    let (mu, v0, h) = (0.5_f64, 3.0_f64, 0.01);
    for degrees in [0.0_f64, 22.5, 30.0, 45.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let block = solid_box("box", 1.0, [0.2, 0.2, 0.02]).position(0.0, 0.0, 0.02).velocity(v0 * cos, v0 * sin, 0.0);
        let end = run(
            on_floor(Dimension::Spatial, [block], [0.0, 0.0, -G], friction(mu)),
            default_scheme(),
            h,
            1.5,
            |_, _| (),
        );
        let place = q(&end, "box");
        let heading = place[1].atan2(place[0]).to_degrees();
        assert!((heading - degrees).abs() < 0.01, "heading {heading} of {degrees}");
        let (distance, exact) = (place[0].hypot(place[1]), v0 * v0 / (2.0 * mu * G));
        assert!((distance - exact).abs() <= h * v0 / 2.0 + 1e-9, "{distance} against {exact} at {degrees}");
    }
}

/// The rod of C-21 as a capsule in space: it turns about −y, so that x and z are the plane.
fn rod_in_space() -> Model {
    let case = reference("c21");
    let angle = case.number("parameters.angle_degrees").to_radians();
    let tilt = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -angle);
    let (half, radius) = (case.number("parameters.length") / 2.0, case.number("parameters.radius"));
    let capsule = spatial::Shape::capsule(half, radius).unwrap();
    let inertia = case.number("parameters.inertia");
    let rod = BodyBuilder::rigid("rod", case.number("parameters.mass"), Matrix3::from_diagonal_element(inertia))
        .position(0.0, 0.0, case.number("parameters.y"))
        .quaternion([tilt.w, tilt.i, tilt.j, tilt.k])
        .angular_velocity(0.0, -case.number("parameters.angular_velocity"), 0.0)
        .shape(capsule.into());
    on_floor(Dimension::Spatial, [rod], [0.0, 0.0, -G], friction(case.number("parameters.friction")))
}

#[test]
fn the_falling_rod_ends_where_the_exact_one_does() {
    let exact = reference("c21").number("derived.rest.x");
    let errors = [2e-3, 1e-3, 5e-4].map(|h| {
        let end = run(rod_in_space(), default_scheme(), h, 0.8, |_, _| ());
        assert!(v(&end, "rod").iter().all(|v| v.abs() < 1e-9), "at rest");
        (q(&end, "rod")[0] - exact).abs()
    });
    assert!(errors[1] < 1.5e-3, "{errors:?}");
    assert!(errors[0] / errors[2] > 2.0, "first order: {errors:?}");
}

#[test]
fn ten_boxes_under_a_heavy_one_stand() {
    for ratio in [100.0, 1e4] {
        let half = 0.05;
        let boxes = (0..10).map(|k| {
            let mass = if k == 9 { ratio } else { 1.0 };
            solid_box(&format!("box {k}"), mass, [half; 3]).position(0.0, 0.0, half * f64::from(2 * k + 1))
        });
        let model = on_floor(Dimension::Spatial, boxes, [0.0, 0.0, -G], friction(0.5));
        let end = run(model, default_scheme(), 0.01, 10.0, |_, _| ());
        let sink = half * 19.0 - q(&end, "box 9")[2];
        assert!(sink.abs() < 1e-4, "sank {sink} m with the mass ratio {ratio}");
        assert!(q(&end, "box 9")[0].hypot(q(&end, "box 9")[1]) < 1e-4);
    }
}

#[test]
fn a_fast_cube_slides_flat() {
    let (mu, v0, half, h) = (0.5_f64, 6.0_f64, 0.05, 0.002);
    let cube = solid_box("cube", 1.0, [half; 3]).position(0.0, 0.0, half).velocity(v0, 0.0, 0.0);
    let model = on_floor(Dimension::Spatial, [cube], [0.0, 0.0, -G], friction(mu));
    let (mut lift, mut tilt) = (0.0_f64, 0.0_f64);
    let end = run(model, default_scheme(), h, 2.0, |simulation, _| {
        let place = q(simulation, "cube");
        lift = lift.max((place[2] - half).abs());
        let turned = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(place[3], place[4], place[5], place[6]));
        tilt = tilt.max((turned * Vector3::z()).angle(&Vector3::z()).to_degrees());
    });
    assert!(lift < 1e-4 && tilt < 0.01, "lift {lift} m, tilt {tilt}°");
    let exact = v0 * v0 / (2.0 * mu * G);
    assert!((q(&end, "cube")[0] - exact).abs() <= h * v0 / 2.0 + 1e-9, "{} against {exact}", q(&end, "cube")[0]);
}

#[test]
fn a_ball_bounces_with_the_number_that_was_typed() {
    let (restitution, radius) = (0.7, 0.1);
    for h in [1e-3, 1e-4] {
        let ball = solid_ball("ball", 2.0, radius).position(0.0, 0.0, 1.0);
        let rule = ContactRule { restitution, friction: 0.3, ..ContactRule::default() };
        let (mut fastest_down, mut bounces) = (0.0_f64, Vec::new());
        let end = run(
            on_floor(Dimension::Spatial, [ball], [0.0, 0.0, -G], rule),
            default_scheme(),
            h,
            4.0,
            |simulation, _| {
                let up = v(simulation, "ball")[2];
                if up > 0.0 && fastest_down < 0.0 {
                    bounces.push(-up / fastest_down);
                    fastest_down = 0.0;
                }
                fastest_down = fastest_down.min(up);
            },
        );
        for (k, ratio) in bounces.iter().take(4).enumerate() {
            assert!((ratio - restitution).abs() < 5.0 * G * h, "bounce {k} with {ratio} at h = {h}");
        }
        assert!(bounces.len() >= 4);
        assert!((q(&end, "ball")[2] - radius).abs() < 1e-9 && v(&end, "ball")[2].abs() < 1e-9, "comes to rest");
    }
}
