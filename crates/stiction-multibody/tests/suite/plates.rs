//! The vibrating plate: PLT-1 to PLT-4, C-17.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use nalgebra::{UnitQuaternion, Vector3};
use stiction_multibody::{Motion, Sinusoid, SinusoidalPlate, rotation};
use stiction_testkit::{assert_close, reference};

const NONE: [Sinusoid; 3] = [Sinusoid { amplitude: 0.0, phase: 0.0 }; 3];
const FREQUENCY: f64 = 33.0;

fn plate(along: [Sinusoid; 3], about: [Sinusoid; 3]) -> SinusoidalPlate {
    SinusoidalPlate::new(FREQUENCY, along, about).unwrap()
}

fn centrifuge() -> SinusoidalPlate {
    let case = reference("c17");
    let sinusoid = |name: &str| {
        let [amplitude, phase] = case.numbers(&format!("parameters.{name}"))[..] else { panic!("two numbers") };
        Sinusoid { amplitude, phase }
    };
    plate(NONE, [sinusoid("about_x"), sinusoid("about_y"), Sinusoid::default()])
}

/// A plate with vibration in all six degrees of freedom.
fn shaken() -> SinusoidalPlate {
    let s = Sinusoid::new;
    plate([s(5.0, 0.3), s(-3.0, 1.1), s(8.0, 2.0)], [s(900.0, 0.2), s(-700.0, 1.5), s(1200.0, 4.0)])
}

#[test]
fn c17_the_centrifuge_starts_where_the_thesis_says() {
    let case = reference("c17");
    let start = centrifuge().at(0.0).orientation;
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        let tolerance = || case.tolerance(&format!("tolerance.{axis}"), "");
        assert_close!(start.imag()[k], case.numbers("published.quaternion")[k + 1], tolerance());
        assert_close!(start.imag()[k], case.numbers("derived.half_angles")[k], tolerance());
    }
}

#[test]
fn c17_angles_swing_symmetrically() {
    let case = reference("c17");
    let plate = centrifuge();
    let mut range = [(0.0_f64, 0.0_f64); 2];
    // Far from the start as well: the net rotation after each period is about the normal.
    for first in [0.0, 6.0] {
        for k in 0..1000 {
            let angles = rotation::to_body_123(&plate.at(first + f64::from(k) / 33_000.0).orientation).angles;
            for ((low, high), angle) in range.iter_mut().zip(angles) {
                (*low, *high) = (low.min(angle), high.max(angle));
            }
        }
    }
    for (low, high) in range {
        assert_close!(high, -low, case.tolerance("tolerance.symmetry", "rad"));
        assert_close!(high, case.number("derived.amplitude"), case.tolerance("tolerance.symmetry", "rad"));
    }
}

#[test]
fn the_table_of_several_axes_matches_the_closed_form_of_a_fixed_one() {
    // In phase, rotations about two axes are one about the axis between them.
    let (a, b, c) = (900.0, -400.0, 0.7);
    let plate = plate(NONE, [Sinusoid::new(a, c), Sinusoid::new(b, c), Sinusoid::default()]);
    let square = (TAU * FREQUENCY).powi(2);
    let exact = |t: f64| {
        rotation::from_rotation_vector(&(Vector3::new(a, b, 0.0) * (-libm::sin(TAU * FREQUENCY * t + c) / square)))
    };
    let from = plate.at(0.0).orientation;
    for k in 0..777 {
        let t = f64::from(k) * 1.37e-3;
        let turned = plate.at(t).orientation * from.inverse();
        assert!(turned.angle_to(&(exact(t) * exact(0.0).inverse())) < 1e-12, "{t}");
    }
    assert!(plate.turn_per_period().norm() < 1e-13);
}

#[test]
fn one_axis_has_its_closed_form() {
    let plate = plate(NONE, [Sinusoid::default(), Sinusoid::default(), Sinusoid::new(100.0, 0.4)]);
    let (t, speed) = (0.321, TAU * FREQUENCY);
    let sample = plate.at(t);
    let angle = -100.0 * libm::sin(speed * t + 0.4) / (speed * speed);
    assert!(sample.orientation.angle_to(&UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle)) < 1e-15);
    assert!((sample.twist.angular.z + 100.0 * libm::cos(speed * t + 0.4) / speed).abs() < 1e-12);
}

#[test]
fn the_twist_is_the_derivative_of_the_pose() {
    let d = 1e-6;
    for plate in [centrifuge(), shaken()] {
        for k in 0..500 {
            let t = f64::from(k) * 1.234e-4 + 0.9;
            let [before, now, after] = [t - d, t, t + d].map(|t| plate.at(t));
            let linear = (after.position - before.position) / (2.0 * d);
            let turn = rotation::to_rotation_vector(&(after.orientation * before.orientation.inverse())) / (2.0 * d);
            assert!((linear - now.twist.linear).norm() < 1e-7, "{t}: {linear} against {}", now.twist.linear);
            assert!((turn - now.twist.angular).norm() < 2e-7, "{t}: {turn} against {}", now.twist.angular);
        }
    }
}

#[test]
fn periods_and_steps_of_the_table_join() {
    let plate = shaken();
    for k in 0..4096 {
        // Nodes of the table, and the ends of the periods among them.
        let t = f64::from(k) / (1024.0 * FREQUENCY);
        let (before, after) = (plate.at(t * (1.0 - 1e-15)), plate.at(t * (1.0 + 1e-15)));
        assert!(before.orientation.angle_to(&after.orientation) < 1e-12, "{k}");
    }
    let mean = (0..1000).fold(Vector3::zeros(), |sum, k| sum + plate.at(f64::from(k) / 33_000.0).position) / 1000.0;
    assert!(mean.norm() < 1e-13, "zero mean: {mean}");
}

#[test]
fn what_a_period_leaves_over_is_the_solid_angle() {
    let amplitude = 100.0 / (TAU * FREQUENCY).powi(2);
    let turn = centrifuge().turn_per_period();
    assert!((turn.norm() / (PI * amplitude * amplitude) - 1.0).abs() < 1e-4, "{turn}");
    assert!(turn.z.abs() > 0.99 * turn.norm());
    // A thousand periods in one call equal a thousand periods one by one.
    let plate = centrifuge();
    let (far, near) = (plate.at(1000.0 / FREQUENCY), plate.at(0.0));
    let expected = rotation::from_rotation_vector(&(turn * 1000.0)) * near.orientation;
    assert!(far.orientation.angle_to(&expected) < 1e-12);
}

#[test]
fn a_plate_is_placed_and_refused() {
    let place = Vector3::new(1.0, 2.0, 3.0);
    let base = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.3);
    let moved = plate([Sinusoid::new(8.0, FRAC_PI_2); 3], NONE).about(place, base);
    assert!((moved.at(1.0 / (4.0 * FREQUENCY)).position - place).norm() < 1e-15);
    assert!(moved.at(0.01).orientation.angle_to(&base) < 1e-15);
    let [large, wild] = [Sinusoid::new(1e5, 0.0), Sinusoid::new(f64::NAN, 0.0)];
    assert!(SinusoidalPlate::new(0.0, NONE, NONE).is_none());
    assert!(SinusoidalPlate::new(f64::NAN, NONE, NONE).is_none());
    assert!(SinusoidalPlate::new(33.0, [wild; 3], NONE).is_none());
    assert!(SinusoidalPlate::new(33.0, NONE, [large, large, Sinusoid::default()]).is_none());
    assert!(SinusoidalPlate::new(33.0, NONE, [large, Sinusoid::default(), Sinusoid::default()]).is_some());
}
