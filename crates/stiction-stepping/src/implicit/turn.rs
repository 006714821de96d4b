//! Derivative of the pose at the end of a step with respect to the velocity at its end.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{Mobility, OrientationUpdate, Twist, rotation::cross_matrix};

/// δθ/δω for R⁺ = turn(h ω) R, where δR⁺ = [δθ]ₓ R⁺.   [GIM-2]
///
/// On the group it is the left Jacobian of the exponential map, h (I + (1 − cos φ)/φ² [φ]ₓ + (φ − sin φ)/φ³ [φ]ₓ²). The update of the
/// papers is Cayley's map, whose derivative is h (I + ½ [φ]ₓ) / (1 + φ²/4). Both with φ = h ω.
pub(super) fn turn_jacobian(omega: &Vector3<f64>, h: f64, update: OrientationUpdate) -> Matrix3<f64> {
    let phi = omega * h;
    let squared = phi.norm_squared();
    let cross = cross_matrix(&phi);
    if update == OrientationUpdate::Euler {
        return (Matrix3::identity() + cross * 0.5) * (h / (1.0 + 0.25 * squared));
    }
    let angle = squared.sqrt();
    // Series where the quotients lose digits: their error is φ⁴/720.
    let (first, second) = if angle < 1e-3 {
        (0.5 - squared / 24.0, 1.0 / 6.0 - squared / 120.0)
    } else {
        let (sin, cos) = libm::sincos(angle);
        ((1.0 - cos) / squared, (angle - sin) / (squared * angle))
    };
    (Matrix3::identity() + cross * first + cross * cross * second) * h
}

/// Twist of a unit of one velocity of a body, and the displacement and rotation that it causes at the end of the step.
pub(super) fn displacement(mobility: Mobility, turn: &Matrix3<f64>, h: f64, component: usize) -> (Twist, Twist) {
    let mut unit = [0.0; 6];
    if let Some(place) = unit.get_mut(component) {
        *place = 1.0;
    }
    let velocity = mobility.twist(unit.get(..mobility.dof()).unwrap_or_default());
    (velocity, Twist { linear: velocity.linear * h, angular: turn * velocity.angular })
}
