//! Dynamics in joint coordinates, Jacobians, and sites of a simulation.

use nalgebra::{Dyn, OMatrix, U6, UnitQuaternion, Vector3};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use stiction::{Pose, SiteId, Twist};

use crate::{arrays, errors, simulation::Simulation};

type Vector = Py<PyArray1<f64>>;
type Matrix = Py<PyArray2<f64>>;

/// Position, and orientation with w first.
pub(crate) type PoseNumbers = ([f64; 3], [f64; 4]);
/// Linear and angular velocity.
pub(crate) type TwistNumbers = ([f64; 3], [f64; 3]);

/// Numbers of a pose.
pub(crate) fn pose_numbers(pose: &Pose) -> PoseNumbers {
    let e = UnitQuaternion::from_rotation_matrix(&pose.rotation);
    (pose.translation.vector.into(), [e.w, e.i, e.j, e.k])
}

/// Numbers of a twist.
pub(crate) fn twist_numbers(twist: &Twist) -> TwistNumbers {
    (twist.linear.into(), twist.angular.into())
}

fn rows(py: Python<'_>, rows: &[Vec<f64>], columns: usize) -> PyResult<Matrix> {
    if rows.is_empty() {
        return Ok(PyArray2::zeros(py, [0, columns], false).unbind());
    }
    Ok(PyArray2::from_vec2(py, rows)?.unbind())
}

fn of_jacobian(py: Python<'_>, jacobian: &OMatrix<f64, U6, Dyn>) -> PyResult<Matrix> {
    let all: Vec<Vec<f64>> = jacobian.row_iter().map(|row| row.iter().copied().collect()).collect();
    rows(py, &all, jacobian.ncols())
}

/// Mass matrix.
#[pyfunction]
pub(crate) fn mass_matrix(py: Python<'_>, mut simulation: PyRefMut<'_, Simulation>) -> PyResult<Matrix> {
    let mass = simulation.inner().mass_matrix();
    let all: Vec<Vec<f64>> = mass.row_iter().map(|row| row.iter().copied().collect()).collect();
    rows(py, &all, mass.ncols())
}

/// Force along each joint velocity: `"bias"`, `"actuator"` or `"passive"`.
#[pyfunction]
pub(crate) fn joint_forces(py: Python<'_>, mut simulation: PyRefMut<'_, Simulation>, what: &str) -> Vector {
    let inner = simulation.inner();
    let force = match what {
        "bias" => inner.bias(),
        "actuator" => inner.actuator_force(),
        _ => inner.passive_force(),
    };
    PyArray1::from_vec(py, force).unbind()
}

/// Force of an acceleration.
#[pyfunction]
pub(crate) fn inverse_dynamics(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    acceleration: &Bound<'_, PyAny>,
) -> PyResult<Vector> {
    let acceleration = arrays::reals(py, "qacc", acceleration)?;
    let force = simulation.inner().inverse_dynamics(&acceleration).map_err(|error| errors::restore(py, &error))?;
    Ok(PyArray1::from_vec(py, force).unbind())
}

/// Acceleration of a force.
#[pyfunction]
pub(crate) fn forward_dynamics(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    effort: &Bound<'_, PyAny>,
) -> PyResult<Vector> {
    let effort = arrays::reals(py, "effort", effort)?;
    let acceleration = simulation.inner().forward_dynamics(&effort).map_err(|error| errors::restore(py, &error))?;
    Ok(PyArray1::from_vec(py, acceleration).unbind())
}

/// Jacobian of a point of a body, given in the body frame.
#[pyfunction]
pub(crate) fn jacobian(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    body: usize,
    point: [f64; 3],
) -> PyResult<Matrix> {
    let id = simulation.body(py, body)?;
    if point.iter().any(|x| !x.is_finite()) {
        return Err(errors::state(py, "the point must be finite numbers"));
    }
    of_jacobian(py, &simulation.inner().jacobian(id, &Vector3::from(point)))
}

/// Names of the sites.
#[pyfunction]
pub(crate) fn site_names(mut simulation: PyRefMut<'_, Simulation>) -> Vec<String> {
    simulation.inner().model().sites().iter().map(|site| site.name.clone()).collect()
}

fn site(py: Python<'_>, simulation: &mut Simulation, name: &str) -> PyResult<SiteId> {
    let found = simulation.inner().model().find_site(name);
    found.ok_or_else(|| errors::exception(py, "HandleError", format!("there is no site \"{name}\""), Vec::new()))
}

/// Index of the body of a site, and the pose of the site in the body frame.
#[pyfunction]
pub(crate) fn site_on_body(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    name: &str,
) -> PyResult<(usize, PoseNumbers)> {
    let id = site(py, &mut simulation, name)?;
    let found = simulation.inner().model().site(id);
    Ok(found.map_or((0, pose_numbers(&Pose::identity())), |site| (site.body.index(), pose_numbers(&site.pose))))
}

/// Pose of a site in the world.
#[pyfunction]
pub(crate) fn site_pose(py: Python<'_>, mut simulation: PyRefMut<'_, Simulation>, name: &str) -> PyResult<PoseNumbers> {
    let id = site(py, &mut simulation, name)?;
    Ok(pose_numbers(&simulation.inner().site_pose(id).unwrap_or_else(Pose::identity)))
}

/// Velocity of the origin of a site, and its angular velocity, world axes.
#[pyfunction]
pub(crate) fn site_twist(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    name: &str,
) -> PyResult<TwistNumbers> {
    let id = site(py, &mut simulation, name)?;
    Ok(twist_numbers(&simulation.inner().site_twist(id).unwrap_or_default()))
}
