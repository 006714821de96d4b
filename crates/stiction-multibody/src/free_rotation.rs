//! Rotation of a rigid body without torque over a step.
//!
//! The angular momentum π of the body is constant in world axes. With K = I⁻¹ and any number s, the motion is a rotation about π with the
//! angular velocity s π after that of a body with the inverse inertia D = K − s 1, because energy and equations of the two commute. Such a
//! body is turned by exp(dt Ω), where
//!
//! ```text
//! Ω = D (Π + Π⁺)/2,    Π⁺ = exp(−dt Ω) Π                                                               [ROT-1]
//! ```
//!
//! and Π is its angular momentum in body axes. As Π⁺ − Π is a multiple of Ω × (Π + Π⁺)/2, the step keeps the energy ½ Πᵀ D Π and |Π| to rounding at any
//! rate. It is of second order, and exact for rotations about a principal axis.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use crate::rotation::{cross_matrix, from_rotation_vector, to_rotation_vector, unwrap_angle};

/// Largest angle dt |D| |π| of a part of the step, rad: larger steps are made in parts.
///
/// The error of the phase is about angle²/12 of it, 0.5 %; at ten times this angle the iteration need not converge.
const PART_ANGLE: f64 = 0.25;

/// Bound on the number of parts. A body that turns by more than 16 rad in a step has no resolved motion; momentum and energy stay exact.
const MAX_PARTS: u32 = 64;

/// Bound on the iterations for Ω. At [`PART_ANGLE`] seven reach rounding.
const MAX_ITERATIONS: u32 = 20;

/// Mean angular velocity ξ/h over a step of length h: exp(ξ) is the rotation of a body without torque that has the inertia `inertia` (in
/// world axes) and the angular velocity `omega` at the start.   [ROT-1]
pub fn mean_angular_velocity(inertia: &Matrix3<f64>, omega: &Vector3<f64>, h: f64) -> Vector3<f64> {
    let momentum = inertia * omega;
    // About a principal axis the angular velocity is constant.
    if omega.cross(&momentum).norm() <= 8.0 * f64::EPSILON * omega.norm() * momentum.norm() {
        return *omega;
    }
    let Some(inverse) = inertia.cholesky().map(|factor| factor.inverse()) else { return *omega };
    let mean = inverse.trace() / 3.0;
    let difference = inverse - Matrix3::from_diagonal_element(mean);
    let angle = h.abs() * difference.norm() * momentum.norm();
    let parts = (1..MAX_PARTS).find(|parts| f64::from(*parts) * PART_ANGLE >= angle).unwrap_or(MAX_PARTS);
    let dt = h / f64::from(parts);
    let (mut in_body, mut turned) = (momentum, UnitQuaternion::identity());
    for _ in 0..parts {
        let part = from_rotation_vector(&(part_velocity(&difference, &in_body, dt) * dt));
        in_body = part.inverse() * in_body;
        turned *= part;
    }
    let total = from_rotation_vector(&(momentum * (mean * h))) * turned;
    let vector = to_rotation_vector(&total);
    let angle = vector.norm();
    if !(angle > 0.0 && h != 0.0) {
        return *omega;
    }
    let axis = vector / angle;
    axis * (unwrap_angle(angle, h * omega.dot(&axis)) / h)
}

/// Ω of [ROT-1], by Newton's method with the derivative of exp(−dt Ω) Π at the mean of Π and Π⁺.
fn part_velocity(difference: &Matrix3<f64>, momentum: &Vector3<f64>, dt: f64) -> Vector3<f64> {
    let mut omega = difference * momentum;
    let mut last = f64::INFINITY;
    for _ in 0..MAX_ITERATIONS {
        let mean = (momentum + from_rotation_vector(&(omega * -dt)) * momentum) * 0.5;
        let defect = difference * mean - omega;
        // At rounding level the defect stops falling.
        if defect.norm() == 0.0 || defect.norm() >= last {
            break;
        }
        last = defect.norm();
        let slope = Matrix3::identity() - difference * cross_matrix(&mean) * (0.5 * dt);
        omega += slope.try_inverse().map_or(defect, |inverse| inverse * defect);
    }
    omega
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Rotation3;

    /// Turns a body for `steps` steps; angular velocity in body axes follows from the constant angular momentum.
    fn turn(principal: Vector3<f64>, omega: Vector3<f64>, h: f64, steps: u32) -> (Matrix3<f64>, Vector3<f64>) {
        let body = Matrix3::from_diagonal(&principal);
        let mut rotation = Rotation3::identity();
        let momentum = body * omega;
        let mut omega = omega;
        for _ in 0..steps {
            let r = *rotation.matrix();
            let mean = mean_angular_velocity(&(r * body * r.transpose()), &omega, h);
            rotation = from_rotation_vector(&(mean * h)).to_rotation_matrix() * rotation;
            let r = *rotation.matrix();
            omega = r * Matrix3::from_diagonal(&principal.map(|i| 1.0 / i)) * r.transpose() * momentum;
        }
        (*rotation.matrix(), omega)
    }

    /// Energy at any rate, also where a step turns the body by 1.7 rad.
    #[test]
    fn energy_is_kept_at_any_rate() {
        for rate in [1.0, 10.0, 50.0, 100.0] {
            for principal in [[1.0, 2.0, 2.9], [1.0, 1.0, 1.9], [0.1, 2.0, 2.05], [1.0, 1.0, 0.05]] {
                let (principal, omega) = (Vector3::from(principal), Vector3::repeat(rate));
                let momentum = principal.component_mul(&omega);
                let (_, end) = turn(principal, omega, 0.01, 1000);
                let [before, after] = [omega, end].map(|omega| 0.5 * momentum.dot(&omega));
                assert!((after / before - 1.0).abs() < 1e-10, "{principal:?} at {rate}: {}", after / before - 1.0);
            }
        }
    }

    /// A symmetric top turns about its axis and about the angular momentum with constant rates: the closed form.
    #[test]
    fn a_symmetric_top_precesses_as_the_closed_form_with_second_order() {
        let (principal, omega, time) = (Vector3::new(1.0, 1.0, 1.7), Vector3::new(1.0, 0.5, 3.0), 2.0);
        let momentum = principal.component_mul(&omega);
        let axis = Vector3::z() * (momentum.z * (1.0 / principal.z - 1.0 / principal.x));
        let exact = from_rotation_vector(&(momentum * (time / principal.x))) * from_rotation_vector(&(axis * time));
        let error = |steps: u32| {
            (turn(principal, omega, time / f64::from(steps), steps).0 - exact.to_rotation_matrix().matrix()).norm()
        };
        let order = (error(50) / error(100)).log2();
        assert!((order - 2.0).abs() < 0.1 && error(100) < 1e-3, "order {order}, error {:e}", error(100));
    }

    #[test]
    fn rotation_about_a_principal_axis_and_of_a_ball_is_exact() {
        let omega = Vector3::new(0.0, 0.0, 7.0);
        let inertia = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5));
        assert_eq!(mean_angular_velocity(&inertia, &omega, 0.1), omega);
        let omega = Vector3::new(1.0, -2.0, 30.0);
        assert_eq!(mean_angular_velocity(&Matrix3::from_diagonal_element(0.4), &omega, 0.1), omega);
    }

    /// More than half a turn in a step is not confused with a rotation in the opposite sense.
    #[test]
    fn several_turns_in_a_step_are_counted() {
        let inertia = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 1.001));
        let omega = Vector3::new(0.0, 40.0, 0.1);
        let mean = mean_angular_velocity(&inertia, &omega, 0.5);
        assert!((mean - omega).norm() < 0.1, "{mean}");
    }
}
