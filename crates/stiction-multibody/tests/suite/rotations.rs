//! Orientations against closed forms: Rodrigues' matrix, products of elementary rotations, a fine integration.

use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3, Vector4};
use stiction_multibody::rotation::{self, Angles, cross_matrix};
use stiction_testkit::Random;

use crate::support::{direction, orientation, vector, wxyz};

/// Rodrigues' formula: the matrix of a rotation by `angle` about the unit vector `axis`.
fn rodrigues(axis: &Vector3<f64>, angle: f64) -> Matrix3<f64> {
    let k = Matrix3::new(0.0, -axis.z, axis.y, axis.z, 0.0, -axis.x, -axis.y, axis.x, 0.0);
    Matrix3::identity() + k * libm::sin(angle) + k * k * (1.0 - libm::cos(angle))
}

fn distance(a: &Matrix3<f64>, b: &Matrix3<f64>) -> f64 {
    (a - b).abs().max()
}

/// Angles of every size, with many close to 0 and to π.
fn angle(random: &mut Random, case: usize) -> f64 {
    let tiny = libm::pow(10.0, random.uniform(-12.0, -1.0));
    match case % 4 {
        0 => random.uniform(0.0, PI),
        1 => PI - tiny,
        2 => tiny,
        _ => PI,
    }
}

/// KIN-1.
#[test]
fn quaternion_to_matrix_and_back() {
    let mut random = Random::new(11);
    for case in 0..4000 {
        let (axis, angle) = (direction(&mut random), angle(&mut random, case));
        let half = axis * libm::sin(angle / 2.0);
        let e = UnitQuaternion::new_normalize(Quaternion::new(libm::cos(angle / 2.0), half.x, half.y, half.z));
        let r = rotation::matrix(&e);
        assert!(distance(&r, &rodrigues(&axis, angle)) < 1e-14, "angle {angle}");
        assert!((r.determinant() - 1.0).abs() < 1e-14);
        let back = rotation::from_matrix(&r);
        // e and −e are the same rotation; at half a turn round-off selects one.
        let error = wxyz(&back)
            .iter()
            .zip(wxyz(&e))
            .fold([0.0_f64; 2], |[same, opposite], (a, b)| [same.max((a - b).abs()), opposite.max((a + b).abs())]);
        assert!(error[0].min(error[1]) < 1e-14, "angle {angle}: {error:?}");
        assert!(back.w >= 0.0);
    }
}

/// KIN-2: the rate matrix integrated by Runge and Kutta's method is a rotation about the fixed axis.
#[test]
fn quaternion_rate_matrix_integrates_to_the_closed_form() {
    let mut random = Random::new(12);
    for _ in 0..10 {
        let (start, omega) = (orientation(&mut random), vector(&mut random, 3.0));
        let rate = |e: Vector4<f64>| {
            let e = UnitQuaternion::new_unchecked(Quaternion::new(e[0], e[1], e[2], e[3]));
            rotation::quaternion_rate_matrix(&e) * omega
        };
        let steps = 1000;
        let h = 1.0 / f64::from(steps);
        let mut e = Vector4::from(wxyz(&start));
        for _ in 0..steps {
            let a = rate(e);
            let b = rate(e + a * (h / 2.0));
            let c = rate(e + b * (h / 2.0));
            let d = rate(e + c * h);
            e += (a + b * 2.0 + c * 2.0 + d) * (h / 6.0);
        }
        let end = UnitQuaternion::new_unchecked(Quaternion::new(e[0], e[1], e[2], e[3]));
        let expected = rodrigues(&omega.normalize(), omega.norm()) * rotation::matrix(&start);
        assert!(distance(&rotation::matrix(&end), &expected) < 1e-10);
    }
}

/// KIN-2: the columns of J are orthogonal, of length ½, and orthogonal to e.
#[test]
fn quaternion_rate_matrix_has_orthogonal_columns() {
    let mut random = Random::new(13);
    for _ in 0..100 {
        let e = orientation(&mut random);
        let j = rotation::quaternion_rate_matrix(&e);
        assert!((j.transpose() * j - Matrix3::identity() * 0.25).abs().max() < 1e-15);
        assert!((j.transpose() * Vector4::from(wxyz(&e))).abs().max() < 1e-15);
    }
}

/// KIN-2: the rate of a rotating body's matrix is Ṙ = [ω]ₓ R.
#[test]
fn quaternion_rate_is_the_rate_of_the_matrix() {
    let mut random = Random::new(14);
    let h = 1e-5;
    for _ in 0..100 {
        let (e, omega) = (orientation(&mut random), vector(&mut random, 2.0));
        let rate = rotation::quaternion_rate_matrix(&e) * omega * h;
        let at = |sign: f64| {
            let [w, x, y, z] = wxyz(&e);
            let q = Quaternion::new(w + sign * rate[0], x + sign * rate[1], y + sign * rate[2], z + sign * rate[3]);
            rotation::matrix(&UnitQuaternion::new_normalize(q))
        };
        let slope = (at(1.0) - at(-1.0)) / (2.0 * h);
        assert!(distance(&slope, &(cross_matrix(&omega) * rotation::matrix(&e))) < 1e-8);
    }
}

/// KIN-3.
#[test]
fn unit_norm_survives_100_000_steps() {
    let mut random = Random::new(15);
    let (mut exponential, mut euler) = (orientation(&mut random), orientation(&mut random));
    for _ in 0..100_000 {
        let omega = vector(&mut random, 20.0);
        exponential = rotation::turn(&exponential, &omega, 0.01);
        euler = rotation::turn_euler(&euler, &omega, 0.01);
    }
    for e in [exponential, euler] {
        assert!((e.quaternion().norm() - 1.0).abs() <= 1e-15);
    }
}

/// KIN-3: many steps of the exponential update with constant ω are one rotation; Euler's update errs.
#[test]
fn exponential_update_is_exact_for_constant_velocity() {
    let mut random = Random::new(16);
    for _ in 0..10 {
        let start = orientation(&mut random);
        let omega = direction(&mut random) * random.uniform(1.0, 4.0);
        let expected = rodrigues(&omega.normalize(), omega.norm()) * rotation::matrix(&start);
        let error = |steps: i32, turn: fn(&UnitQuaternion<f64>, &Vector3<f64>, f64) -> UnitQuaternion<f64>| {
            let h = 1.0 / f64::from(steps);
            let end = (0..steps).fold(start, |e, _| turn(&e, &omega, h));
            distance(&rotation::matrix(&end), &expected)
        };
        for steps in [1, 10, 1000] {
            assert!(error(steps, rotation::turn) < 1e-13);
        }
        let [coarse, fine] = [500, 1000].map(|steps| error(steps, rotation::turn_euler));
        assert!(fine > 1e-10, "Euler's update must err: {fine:e}");
        // Normalisation makes the angle atan(hω/2), so each step errs at third order and the sum at second.
        let order = libm::log2(coarse / fine);
        assert!((1.9..2.1).contains(&order), "order {order}");
    }
}

/// With a rotating axis, a step with the velocity at its end has a first-order error, for both maps.
#[test]
fn both_updates_are_of_first_order_for_a_turning_axis() {
    // ω(t) of the rotation Rz(t) Rx(2t): z + 2 Rz(t) x.
    let omega = |t: f64| Vector3::new(2.0 * libm::cos(t), 2.0 * libm::sin(t), 1.0);
    let expected = rodrigues(&Vector3::z(), 1.0) * rodrigues(&Vector3::x(), 2.0);
    for turn in [rotation::turn, rotation::turn_euler] {
        let [coarse, fine] = [500, 1000].map(|steps: i32| {
            let h = 1.0 / f64::from(steps);
            let end = (1..=steps).fold(UnitQuaternion::identity(), |e, k| turn(&e, &omega(h * f64::from(k)), h));
            distance(&rotation::matrix(&end), &expected)
        });
        assert!((0.45..0.55).contains(&(fine / coarse)), "error must halve: {coarse:e}, {fine:e}");
    }
}

type ToAngles = fn(&UnitQuaternion<f64>) -> Angles;
type FromAngles = fn([f64; 3]) -> UnitQuaternion<f64>;
type Product = fn([f64; 3]) -> Matrix3<f64>;

/// The two sets of angles, with the product of elementary rotations of each.
fn sets() -> [(FromAngles, ToAngles, Product); 2] {
    let body_123 =
        |[a, b, c]: [f64; 3]| rodrigues(&Vector3::x(), a) * rodrigues(&Vector3::y(), b) * rodrigues(&Vector3::z(), c);
    let vehicle = |[roll, pitch, yaw]: [f64; 3]| {
        rodrigues(&Vector3::z(), yaw) * rodrigues(&Vector3::y(), pitch) * rodrigues(&Vector3::x(), roll)
    };
    [
        (rotation::from_body_123, rotation::to_body_123, body_123),
        (rotation::from_roll_pitch_yaw, rotation::to_roll_pitch_yaw, vehicle),
    ]
}

/// KIN-4: away from the singularity the angles themselves are recovered.
#[test]
fn angles_round_trip() {
    let mut random = Random::new(17);
    for (from, to, product) in sets() {
        for _ in 0..2000 {
            let angles = [PI, FRAC_PI_2 - 1e-3, PI].map(|limit| random.uniform(-limit, limit));
            let e = from(angles);
            assert!(distance(&rotation::matrix(&e), &product(angles)) < 1e-14);
            let back = to(&e);
            assert!(!back.singular);
            for (x, y) in back.angles.iter().zip(angles) {
                assert!((x - y).abs() < 1e-12, "{back:?} is not {angles:?}");
            }
        }
    }
}

/// KIN-4: at ±90° of the middle angle the conversion flags the singularity, and the rotation is still the same.
#[test]
fn singular_angles_are_flagged_and_still_give_the_rotation() {
    let mut random = Random::new(18);
    for (from, to, product) in sets() {
        for middle in [FRAC_PI_2, -FRAC_PI_2] {
            for _ in 0..200 {
                let angles = [random.uniform(-PI, PI), middle, random.uniform(-PI, PI)];
                let back = to(&from(angles));
                assert!(back.singular, "{angles:?}");
                assert_eq!(back.angles[2], 0.0);
                assert!(distance(&product(back.angles), &product(angles)) < 1e-14, "{angles:?} became {back:?}");
            }
        }
    }
}

/// KIN-4: close to the singularity the single angles lose digits but the rotation does not.
#[test]
fn angles_close_to_the_singularity_give_the_rotation() {
    let mut random = Random::new(19);
    for (from, to, product) in sets() {
        for _ in 0..2000 {
            let away = libm::pow(10.0, random.uniform(-14.0, -1.0));
            let middle = if random.unit() < 0.5 { FRAC_PI_2 - away } else { away - FRAC_PI_2 };
            let angles = [random.uniform(-PI, PI), middle, random.uniform(-PI, PI)];
            let back = to(&from(angles));
            // If the third angle is set to zero, entries of size cos b < 1e-9 change by twice that at most.
            let bound = if back.singular { 2e-9 } else { 1e-14 };
            assert!(distance(&product(back.angles), &product(angles)) < bound, "{angles:?} became {back:?}");
        }
    }
}

/// KIN-4: rotation vectors of length up to π are recovered.
#[test]
fn rotation_vector_round_trip() {
    let mut random = Random::new(20);
    for case in 0..4000 {
        let (axis, angle) = (direction(&mut random), angle(&mut random, case));
        let e = rotation::from_rotation_vector(&(axis * angle));
        assert!(distance(&rotation::matrix(&e), &rodrigues(&axis, angle)) < 1e-14);
        let back = rotation::to_rotation_vector(&e);
        // At half a turn both signs of the axis are the same rotation.
        let error = (back - axis * angle).norm().min((back + axis * angle).norm() + (PI - angle));
        assert!(error < 1e-14 + 1e-15 / angle.max(1e-3), "angle {angle}: off by {error:e}");
        assert!(back.norm() <= PI + 1e-15);
    }
    assert_eq!(rotation::to_rotation_vector(&rotation::from_rotation_vector(&Vector3::zeros())), Vector3::zeros());
}

/// KIN-6: the planar rotation is the spatial one about z.
#[test]
fn planar_rotation_is_about_z() {
    for angle in [-7.0, -0.3, 0.0, 1e-9, 2.0, 100.0] {
        assert!(distance(rotation::planar(angle).matrix(), &rodrigues(&Vector3::z(), angle)) < 1e-15);
    }
}
