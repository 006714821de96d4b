//! Orientations: unit quaternion (the state), rotation matrix, Euler angles and rotation vectors, and their rates.
//!
//! R maps body coordinates to world coordinates; quaternions are written `[w, x, y, z]`; angular velocity is expressed in
//! the world frame. Angles are for initial conditions and reports; conversions to angles flag singular orientations.

use nalgebra::{Matrix3, Matrix4x3, Quaternion, Rotation3, UnitQuaternion, Vector3, Vector4};

/// `[w]ₓ` with `[w]ₓ x = w × x`.
#[inline]
pub fn cross_matrix(w: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -w.z, w.y, w.z, 0.0, -w.x, -w.y, w.x, 0.0)
}

/// J(e) of ė = J ω, the 4 × 3 map from world angular velocity to quaternion rate: ė = ½ (0, ω) ⊗ e.   [KIN-5]
///
/// Its columns are orthogonal: Jᵀ J = ¼ I.
pub fn quaternion_rate_matrix(e: &UnitQuaternion<f64>) -> Matrix4x3<f64> {
    let [x, y, z, w] = [e.i, e.j, e.k, e.w];
    Matrix4x3::new(-x, -y, -z, w, z, -y, -z, w, x, y, -x, w) * 0.5
}

/// Turns `e` by the rotation vector `h ω` on the group: e⁺ = exp(½ h ω) ⊗ e.   [KIN-6]
pub fn turn(e: &UnitQuaternion<f64>, omega: &Vector3<f64>, h: f64) -> UnitQuaternion<f64> {
    let half = omega * (0.5 * h);
    let angle = half.norm();
    let (sin, cos) = libm::sincos(angle);
    // sin(a)/a, by its series where the quotient loses digits.
    let sinc = if angle < 1e-4 { 1.0 - angle * angle / 6.0 } else { sin / angle };
    let step = Quaternion::new(cos, half.x * sinc, half.y * sinc, half.z * sinc);
    UnitQuaternion::new_normalize(step * e.quaternion())
}

/// Explicit Euler update: e⁺ = (e + h J ω) / ‖·‖. First order; for comparison with [`turn`].   [KIN-7]
pub fn turn_euler(e: &UnitQuaternion<f64>, omega: &Vector3<f64>, h: f64) -> UnitQuaternion<f64> {
    let rate: Vector4<f64> = quaternion_rate_matrix(e) * omega;
    UnitQuaternion::new_normalize(Quaternion::new(
        e.w + h * rate[0],
        e.i + h * rate[1],
        e.j + h * rate[2],
        e.k + h * rate[3],
    ))
}

/// Rotation matrix of a unit quaternion.
pub fn matrix(e: &UnitQuaternion<f64>) -> Matrix3<f64> {
    *e.to_rotation_matrix().matrix()
}

/// Unit quaternion of a rotation matrix, with w ≥ 0.
///
/// Shepperd's method: dividing by the largest component avoids cancellation at every angle.
pub fn from_matrix(r: &Matrix3<f64>) -> UnitQuaternion<f64> {
    let (xx, yy, zz) = (r.m11, r.m22, r.m33);
    let trace = xx + yy + zz;
    let q = if trace >= xx.max(yy).max(zz) {
        Quaternion::new(1.0 + trace, r.m32 - r.m23, r.m13 - r.m31, r.m21 - r.m12)
    } else if xx >= yy && xx >= zz {
        Quaternion::new(r.m32 - r.m23, 1.0 + xx - yy - zz, r.m12 + r.m21, r.m13 + r.m31)
    } else if yy >= zz {
        Quaternion::new(r.m13 - r.m31, r.m12 + r.m21, 1.0 + yy - zz - xx, r.m23 + r.m32)
    } else {
        Quaternion::new(r.m21 - r.m12, r.m13 + r.m31, r.m23 + r.m32, 1.0 + zz - xx - yy)
    };
    UnitQuaternion::new_normalize(if q.w < 0.0 { -q } else { q })
}

/// Three angles of a rotation, with a flag of singularity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angles {
    /// The angles, in radians and in the order of the rotations.
    pub angles: [f64; 3],
    /// True if the first and third axes are aligned, so that only the combination of their angles is defined. The third angle
    /// is then zero, and the three angles still give the rotation.
    pub singular: bool,
}

/// Cosine of the middle angle below which the angles count as singular. There the other two angles keep only seven digits.
/// Setting one of them to zero changes no entry of R by more than twice this number.
const SINGULAR_COSINE: f64 = 1e-9;

/// Rotation of body-fixed 1-2-3 angles: R = Rx(a) Ry(b) Rz(c).   [KIN-8]
pub fn from_body_123(angles: [f64; 3]) -> UnitQuaternion<f64> {
    let [a, b, c] = angles;
    let about = |axis, angle| turn(&UnitQuaternion::identity(), &axis, angle);
    about(Vector3::x(), a) * about(Vector3::y(), b) * about(Vector3::z(), c)
}

/// Body-fixed 1-2-3 angles of a rotation, the middle one in ±90°.
pub fn to_body_123(e: &UnitQuaternion<f64>) -> Angles {
    let r = matrix(e);
    let cos_b = libm::hypot(r.m11, r.m12);
    let b = libm::atan2(r.m13, cos_b);
    if cos_b < SINGULAR_COSINE {
        return Angles { angles: [libm::atan2(r.m32, r.m22), b, 0.0], singular: true };
    }
    let a = libm::atan2(-r.m23, r.m33);
    // The second row of Rx(−a) R = Ry(b) Rz(c) is (sin c, cos c, 0): no division by a small cos b.
    let (sin, cos) = libm::sincos(a);
    let c = libm::atan2(cos * r.m21 + sin * r.m31, cos * r.m22 + sin * r.m32);
    Angles { angles: [a, b, c], singular: false }
}

/// Rotation of roll, pitch and yaw: R = Rz(yaw) Ry(pitch) Rx(roll), the Euler angles of vehicles and robots.   [KIN-9]
pub fn from_roll_pitch_yaw(angles: [f64; 3]) -> UnitQuaternion<f64> {
    let [roll, pitch, yaw] = angles;
    let about = |axis, angle| turn(&UnitQuaternion::identity(), &axis, angle);
    about(Vector3::z(), yaw) * about(Vector3::y(), pitch) * about(Vector3::x(), roll)
}

/// Roll, pitch and yaw of a rotation, the pitch in ±90°.
pub fn to_roll_pitch_yaw(e: &UnitQuaternion<f64>) -> Angles {
    let r = matrix(e);
    let cos_pitch = libm::hypot(r.m11, r.m21);
    let pitch = libm::atan2(-r.m31, cos_pitch);
    if cos_pitch < SINGULAR_COSINE {
        return Angles { angles: [libm::atan2(-r.m23, r.m22), pitch, 0.0], singular: true };
    }
    let yaw = libm::atan2(r.m21, r.m11);
    // The second row of Rz(−yaw) R = Ry(pitch) Rx(roll) is (0, cos roll, −sin roll).
    let (sin, cos) = libm::sincos(yaw);
    let roll = libm::atan2(sin * r.m13 - cos * r.m23, cos * r.m22 - sin * r.m12);
    Angles { angles: [roll, pitch, yaw], singular: false }
}

/// Rotation of a rotation vector (axis times angle), the three-parameter form.
pub fn from_rotation_vector(v: &Vector3<f64>) -> UnitQuaternion<f64> {
    turn(&UnitQuaternion::identity(), v, 1.0)
}

/// Rotation vector of a rotation, of length at most π.
pub fn to_rotation_vector(e: &UnitQuaternion<f64>) -> Vector3<f64> {
    let sign = if e.w < 0.0 { -1.0 } else { 1.0 };
    let v = e.imag() * sign;
    let sin = v.norm();
    if sin < 1e-12 {
        return v * 2.0;
    }
    v * (2.0 * libm::atan2(sin, e.w * sign) / sin)
}

/// Rotation about z, as in planar models.
pub fn planar(angle: f64) -> Rotation3<f64> {
    let (s, c) = libm::sincos(angle);
    Rotation3::from_matrix_unchecked(Matrix3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0))
}

/// Angle that differs from `angle` by full turns and is nearest to another.
pub(crate) fn unwrap_angle(angle: f64, other: f64) -> f64 {
    const TURN: f64 = 2.0 * std::f64::consts::PI;
    angle + TURN * libm::round((other - angle) / TURN)
}

/// Orientation of a free body from its seven coordinates.
pub(crate) fn quaternion_of(q: &[f64]) -> UnitQuaternion<f64> {
    match *q {
        [_, _, _, w, x, y, z] => UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)),
        _ => UnitQuaternion::identity(),
    }
}
