//! Simulated minus measured, in units of the noise.

use nalgebra::{DMatrix, DMatrixView, Matrix3, Rotation3, UnitQuaternion, Vector3};
use stiction::{
    BodyId, Model, Pose,
    multibody::{Configuration, Mobility, rotation},
};

use crate::{Orientation, Recording};

/// Residuals of a run, and their derivatives with respect to parameters and the initial state.
#[derive(Clone, Debug)]
pub struct Residuals {
    /// The residuals.
    pub values: Vec<f64>,
    /// A column for each parameter.
    pub by_parameters: DMatrix<f64>,
    /// A column for each displacement of the start, then for each of its velocities.
    pub by_start: DMatrix<f64>,
}

/// Appends the residuals of one time: (x − x̂)/σ for every coordinate of a position, log(R R̂ᵀ)/σ for an orientation.   [FIT-1]
///
/// `chain` has a row for each velocity of the model (displacements of the bodies) and a column for each unknown; the derivatives are
/// appended row by row.
pub fn observe(
    (model, at): (&Model, &Configuration),
    (recording, row): (&Recording, usize),
    chain: Option<DMatrixView<'_, f64>>,
    (values, slopes): (&mut Vec<f64>, &mut Vec<f64>),
) {
    for track in &recording.tracks {
        let Some(id) = model.find_body(&track.body) else { continue };
        let pose = at.pose(id);
        let arm = pose.rotation * track.point;
        let mut push = |value: f64, noise: f64, gradient: [Vector3<f64>; 2]| {
            values.push(value / noise);
            if let Some(chain) = &chain {
                slopes.extend(slope(model, id, &gradient, chain).map(|x| x / noise));
            }
        };
        if let Some(Some(measured)) = track.positions.get(row) {
            let at = pose.translation.vector + arm;
            for axis in (0..3).filter(|axis| measured[*axis].is_finite()) {
                let along = Vector3::ith(axis, 1.0);
                push(at[axis] - measured[axis], track.noise.position, [along, arm.cross(&along)]);
            }
        }
        match track.orientations.get(row) {
            Some(Some(Orientation::Angle(angle))) => {
                let off = turn_between(&pose, *angle);
                push(off, track.noise.angle, [Vector3::zeros(), Vector3::z()]);
            }
            Some(Some(Orientation::Quaternion(measured))) => {
                let turned = UnitQuaternion::from_rotation_matrix(&pose.rotation) * measured.conjugate();
                let off = rotation::to_rotation_vector(&turned);
                let inverse = inverse_left_jacobian(&off);
                for axis in 0..3 {
                    push(off[axis], track.noise.angle, [Vector3::zeros(), inverse.row(axis).transpose()]);
                }
            }
            _ => {}
        }
    }
}

/// Angle from a measured one to that of a pose in the plane, between −π and π.
fn turn_between(pose: &Pose, angle: f64) -> f64 {
    let off = Rotation3::from_axis_angle(&Vector3::z_axis(), -angle) * pose.rotation;
    libm::atan2(off[(1, 0)], off[(0, 0)])
}

/// J with exp(e + δ) = exp(J δ) exp(e) for small δ: the inverse of that in [FIT-2].
#[cfg(feature = "mpec")]
pub(crate) fn left_jacobian(e: &Vector3<f64>) -> Matrix3<f64> {
    let angle = e.norm();
    let cross = rotation::cross_matrix(e);
    // (1 − cos a)/a² and (a − sin a)/a³, by their series where the quotients lose digits.
    let (first, second) = if angle < 1e-3 {
        (0.5 - angle * angle / 24.0, 1.0 / 6.0 - angle * angle / 120.0)
    } else {
        let half = libm::sin(0.5 * angle);
        (2.0 * half * half / (angle * angle), (angle - libm::sin(angle)) / (angle * angle * angle))
    };
    Matrix3::identity() + cross * first + cross * cross * second
}

/// J with log(exp(δ) exp(e)) = e + J δ for small δ.   [FIT-2]
fn inverse_left_jacobian(e: &Vector3<f64>) -> Matrix3<f64> {
    let angle = e.norm();
    let cross = rotation::cross_matrix(e);
    // (1 − (a/2) cot(a/2)) / a², by its series where the quotient loses digits.
    let factor = if angle < 1e-3 {
        1.0 / 12.0 + angle * angle / 720.0
    } else {
        (1.0 - 0.5 * angle / libm::tan(0.5 * angle)) / (angle * angle)
    };
    Matrix3::identity() - cross * 0.5 + cross * cross * factor
}

/// Force and torque directions on a body, times the derivative of its motion with respect to the unknowns.
fn slope<'a>(
    model: &Model,
    id: BodyId,
    [linear, angular]: &[Vector3<f64>; 2],
    chain: &'a DMatrixView<'a, f64>,
) -> impl Iterator<Item = f64> + 'a {
    let (mobility, range) = model.unknowns(id).unwrap_or((Mobility::Free, 0..0));
    let along: Vec<(usize, f64)> = match mobility {
        Mobility::PlanarParticle => [linear.x, linear.y, 0.0, 0.0, 0.0, 0.0],
        Mobility::Planar => [linear.x, linear.y, angular.z, 0.0, 0.0, 0.0],
        Mobility::Particle => [linear.x, linear.y, linear.z, 0.0, 0.0, 0.0],
        Mobility::Free => [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z],
    }
    .into_iter()
    .zip(range)
    .map(|(factor, row)| (row, factor))
    .collect();
    (0..chain.ncols()).map(move |column| along.iter().map(|(row, factor)| chain[(*row, column)] * factor).sum())
}
