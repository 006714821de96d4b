//! Twists, wrenches and their change of frame, checked by power.

use nalgebra::{Matrix6, Vector3, Vector6};
use stiction_multibody::{
    Pose, Twist, Wrench,
    spatial::{adjoint, adjoint_dual},
};
use stiction_testkit::Random;

use crate::support::{close, close_vector, pose, vector};

fn stack(linear: &Vector3<f64>, angular: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
}

/// KIN-5.
#[test]
fn power_is_the_same_in_both_frames() {
    let mut random = Random::new(31);
    for _ in 0..1000 {
        let b_in_a = pose(&mut random);
        let twist_b = stack(&vector(&mut random, 1.0), &vector(&mut random, 1.0));
        let wrench_a = stack(&vector(&mut random, 1.0), &vector(&mut random, 1.0));
        let twist_a = adjoint(&b_in_a) * twist_b;
        let wrench_b = adjoint_dual(&b_in_a) * wrench_a;
        close(wrench_b.dot(&twist_b), wrench_a.dot(&twist_a), 1e-13);
    }
}

/// KIN-5: the adjoint against its definition, the velocity of a point of the body in both frames.
#[test]
fn adjoint_moves_point_velocities() {
    let mut random = Random::new(32);
    for _ in 0..1000 {
        let b_in_a = pose(&mut random);
        let (v, w) = (vector(&mut random, 1.0), vector(&mut random, 1.0));
        let point_b = vector(&mut random, 2.0);
        let point_a = b_in_a * nalgebra::Point3::from(point_b);
        let velocity_b = v + w.cross(&point_b);
        let twist_a = adjoint(&b_in_a) * stack(&v, &w);
        let (v_a, w_a) = (twist_a.fixed_rows::<3>(0).into_owned(), twist_a.fixed_rows::<3>(3).into_owned());
        close_vector(&(v_a + w_a.cross(&point_a.coords)), &(b_in_a.rotation * velocity_b), 1e-13);
    }
}

/// KIN-5: composition and inverse.
#[test]
fn adjoint_is_a_homomorphism() {
    let mut random = Random::new(33);
    for _ in 0..1000 {
        let (x, y) = (pose(&mut random), pose(&mut random));
        assert!((adjoint(&(x * y)) - adjoint(&x) * adjoint(&y)).abs().max() < 1e-13);
        assert!((adjoint_dual(&(x * y)) - adjoint_dual(&y) * adjoint_dual(&x)).abs().max() < 1e-13);
        assert!((adjoint(&x) * adjoint(&x.inverse()) - Matrix6::identity()).abs().max() < 1e-13);
    }
    assert_eq!(adjoint(&Pose::identity()), Matrix6::identity());
}

/// KIN-7: a set of forces and its reduction do the same work, Σ fᵢ · v(pᵢ).
#[test]
fn reduced_wrench_has_the_power_of_its_forces() {
    let mut random = Random::new(34);
    for _ in 0..1000 {
        let twist = Twist { linear: vector(&mut random, 3.0), angular: vector(&mut random, 3.0) };
        let (mut reduced, mut power) = (Wrench::default(), 0.0);
        for _ in 0..=random.below(8) {
            let (force, arm) = (vector(&mut random, 5.0), vector(&mut random, 2.0));
            reduced.add(&Wrench::of_force(force, &arm));
            power += force.dot(&(twist.linear + twist.angular.cross(&arm)));
            close_vector(&twist.at(&arm), &(twist.linear + twist.angular.cross(&arm)), 1e-15);
        }
        let torque = vector(&mut random, 5.0);
        reduced.add(&Wrench::of_torque(torque));
        power += torque.dot(&twist.angular);
        close(reduced.power(&twist), power, 1e-13);
        close(reduced.scaled(-2.5).power(&twist), -2.5 * power, 1e-13);
    }
}
