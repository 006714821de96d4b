//! Contacts in steps of second order: what the removal of overlap and contacts that move along a body leave in the velocities.   [STEP-18]

#![allow(clippy::cast_sign_loss, reason = "counts of steps are positive")]

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stiction_geometry::spatial;
use stiction_multibody::{BodyBuilder, Dimension};

use super::support::{G, Run, ball, friction, on_floor};
use crate::{Coordinates, Order, Scheme};

fn second(coordinates: Coordinates) -> Scheme {
    Scheme { order: Order::Second, coordinates, ..Scheme::default() }
}

/// A ball that overlaps the floor is moved out of it and rests there: the speed of the removal does not stay.
#[test]
fn removal_of_overlap_leaves_no_velocity() {
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer] {
        for depth in [1e-4, 1e-3, 1e-2] {
            let ball = ball("ball", 2.0, 0.1).position(0.0, 0.0, 0.1 - depth);
            let mut run = Run::new(on_floor(Dimension::Spatial, friction(0.5), [ball]), second(coordinates), 0.01);
            let mut highest = 0.0_f64;
            for _ in 0..20 {
                run.step();
                highest = highest.max(run.case.q("ball")[2]);
            }
            assert!((highest - 0.1).abs() < 1e-9, "{coordinates:?} {depth}: {highest}");
            let normal = run.case.ws.result.contact_reports[0].normal_impulse;
            assert!((normal / (2.0 * G * 0.01) - 1.0).abs() < 1e-9, "{coordinates:?} {depth}: {normal}");
        }
    }
}

/// A coin that rolls on its rim, leaning and turning, keeps its energy up to the impacts of its other rim.
#[test]
fn a_rolling_coin_loses_less_than_with_first_order() {
    let (radius, half, mass, lean) = (0.1_f64, 0.005, 0.314, libm::sin(0.174_532_925));
    let cosine = libm::sqrt(1.0 - lean * lean);
    let across = mass * (3.0 * radius * radius + 4.0 * half * half) / 12.0;
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.5 * mass * radius * radius, across, across));
    let axis = nalgebra::Unit::new_normalize(Vector3::new(0.0, -lean, cosine));
    let turned = UnitQuaternion::from_axis_angle(&axis, std::f64::consts::FRAC_PI_2);
    let lost = |order: Order, h: f64| {
        let coin = BodyBuilder::rigid("coin", mass, inertia)
            .position(0.0, 0.0, radius * cosine + half * lean)
            .quaternion([turned.w, turned.i, turned.j, turned.k])
            .velocity(1.0, 0.0, 0.0)
            .angular_velocity(0.0, 10.0, 4.0)
            .shape(spatial::Shape::cylinder(half, radius).unwrap().into());
        let scheme = Scheme { order, ..Scheme::default() };
        let mut run = Run::new(on_floor(Dimension::Spatial, friction(0.5), [coin]), scheme, h);
        let before = run.energy();
        run.steps((2.0 / h) as usize);
        1.0 - run.energy() / before
    };
    // It slides for the first steps, and its other rim touches the floor in passing.
    for (h, most) in [(5e-3, 0.06), (2e-3, 0.01), (5e-4, 0.001)] {
        let [first, second] = [Order::First, Order::Second].map(|order| lost(order, h));
        assert!(second < most && second < first, "{h}: {first} {second}");
    }
}
