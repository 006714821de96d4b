//! Random data and helpers of several tests.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use stiction_multibody::{Configuration, Model, OrientationUpdate, Pose};
use stiction_testkit::Random;

/// A vector with components uniform in ±size.
pub(crate) fn vector(random: &mut Random, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| random.uniform(-size, size))
}

/// A vector of the plane z = 0.
pub(crate) fn planar_vector(random: &mut Random, size: f64) -> Vector3<f64> {
    Vector3::new(random.uniform(-size, size), random.uniform(-size, size), 0.0)
}

/// A unit vector.
pub(crate) fn direction(random: &mut Random) -> Vector3<f64> {
    random.direction().into()
}

/// An orientation, all equally likely (nearly: the normal numbers are).
pub(crate) fn orientation(random: &mut Random) -> UnitQuaternion<f64> {
    let [w, x, y, z] = std::array::from_fn(|_| random.normal());
    UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z))
}

/// A pose in space.
pub(crate) fn pose(random: &mut Random) -> Pose {
    Pose::from_parts(vector(random, 2.0).into(), orientation(random).to_rotation_matrix())
}

/// `[w, x, y, z]`.
pub(crate) fn wxyz(e: &UnitQuaternion<f64>) -> [f64; 4] {
    [e.w, e.i, e.j, e.k]
}

/// A legal inertia: that of a box with random sides, in random axes.
pub(crate) fn inertia(random: &mut Random) -> Matrix3<f64> {
    let sides: Vector3<f64> = Vector3::from_fn(|_, _| random.uniform(0.2, 1.0));
    let squares = sides.component_mul(&sides);
    let moments = Vector3::repeat(squares.sum()) - squares;
    let r: Rotation3<f64> = orientation(random).to_rotation_matrix();
    let turned = r.matrix() * Matrix3::from_diagonal(&moments) * r.matrix().transpose();
    (turned + turned.transpose()) * 0.5
}

/// Numbers uniform in ±size, one per velocity of the model.
pub(crate) fn velocities(random: &mut Random, model: &Model, size: f64) -> Vec<f64> {
    (0..model.dof()).map(|_| random.uniform(-size, size)).collect()
}

/// q ⊕ h v.
pub(crate) fn moved(model: &Model, q: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    let mut out = Vec::new();
    model.integrate(q, v, h, OrientationUpdate::Exponential, &mut out);
    out
}

/// The configuration at (q, v, t).
pub(crate) fn configuration(model: &Model, q: &[f64], v: &[f64], t: f64) -> Configuration {
    let mut at = Configuration::default();
    at.update(model, q, v, t);
    at
}

/// Central difference of `f` at `q` for bodies that move along `v`.
pub(crate) fn slope(model: &Model, q: &[f64], v: &[f64], f: impl Fn(&[f64]) -> f64) -> f64 {
    let step = 1e-5;
    (f(&moved(model, q, v, step)) - f(&moved(model, q, v, -step))) / (2.0 * step)
}

/// The k-th unit velocity of the model.
pub(crate) fn unit(model: &Model, k: usize) -> Vec<f64> {
    (0..model.dof()).map(|i| f64::from(u8::from(i == k))).collect()
}

/// Fails unless `actual` is within `tolerance` of `expected`, relative to the larger of 1 and its size.
#[track_caller]
pub(crate) fn close(actual: f64, expected: f64, tolerance: f64) {
    let error = (actual - expected).abs();
    assert!(error <= tolerance * expected.abs().max(1.0), "{actual:e} is not {expected:e}: off by {error:e}");
}

/// [`close`] for vectors.
#[track_caller]
pub(crate) fn close_vector(actual: &Vector3<f64>, expected: &Vector3<f64>, tolerance: f64) {
    let error = (actual - expected).norm();
    assert!(error <= tolerance * expected.norm().max(1.0), "{actual:?} is not {expected:?}: off by {error:e}");
}
