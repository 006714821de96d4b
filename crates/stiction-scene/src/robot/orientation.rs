//! Rotations in the forms of URDF and MJCF.

use nalgebra::{Matrix3, Quaternion, Rotation3, Unit, UnitQuaternion, Vector3};

/// Length below which a vector has no direction.
const SHORT: f64 = 1e-10;

/// Rotation about fixed axes x, y, z by roll, pitch, yaw: `R = R_z(y) R_y(p) R_x(r)`.
pub(super) fn roll_pitch_yaw([roll, pitch, yaw]: [f64; 3]) -> UnitQuaternion<f64> {
    about(&Vector3::z_axis(), yaw) * about(&Vector3::y_axis(), pitch) * about(&Vector3::x_axis(), roll)
}

/// Composes rotations about the axes of `sequence`: lower-case axes rotate with the frame, upper-case axes are fixed.
pub(super) fn euler(sequence: &str, angles: [f64; 3]) -> UnitQuaternion<f64> {
    sequence.chars().zip(angles).fold(UnitQuaternion::identity(), |before, (letter, angle)| {
        let axis = match letter.to_ascii_lowercase() {
            'x' => Vector3::x_axis(),
            'y' => Vector3::y_axis(),
            _ => Vector3::z_axis(),
        };
        let turn = about(&axis, angle);
        if letter.is_ascii_lowercase() { before * turn } else { turn * before }
    })
}

pub(super) fn about(axis: &Unit<Vector3<f64>>, angle: f64) -> UnitQuaternion<f64> {
    let (sin, cos) = libm::sincos(0.5 * angle);
    UnitQuaternion::new_normalize(Quaternion::from_parts(cos, axis.into_inner() * sin))
}

/// Returns the rotation of a quaternion w, x, y, z of any length but zero.
pub(super) fn quaternion([w, x, y, z]: [f64; 4]) -> Option<UnitQuaternion<f64>> {
    UnitQuaternion::try_new(Quaternion::new(w, x, y, z), SHORT)
}

/// Returns the direction of a vector.
pub(super) fn direction(vector: Vector3<f64>) -> Option<Unit<Vector3<f64>>> {
    Unit::try_new(vector, SHORT)
}

/// Returns the frame with the first axis along `x` and the second axis near `y`.
pub(super) fn of_axes(x: Vector3<f64>, y: Vector3<f64>) -> Option<UnitQuaternion<f64>> {
    let x = direction(x)?;
    let y = direction(y - *x * x.dot(&y))?;
    let columns = Matrix3::from_columns(&[*x, *y, x.cross(&y)]);
    Some(UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(columns)))
}

/// Returns the shortest rotation that takes the z axis to `z`; half a turn about x if it is opposite.
pub(super) fn of_z_axis(z: Vector3<f64>) -> Option<UnitQuaternion<f64>> {
    let z = direction(z)?;
    let across = Vector3::z().cross(&z);
    let axis = direction(across).unwrap_or_else(Vector3::x_axis);
    Some(about(&axis, libm::atan2(across.norm(), z.z)))
}
