//! Joint coordinates of a simulation: of single joints by name, and of the whole model.

use numpy::PyArray1;
use pyo3::prelude::*;
use stiction::{JointId, RestoreError, multibody::JointPlaces};

use crate::{arrays, errors, simulation::Simulation};

type Array = Py<PyArray1<f64>>;

/// Kind of a joint, and the places of its entries among the joint coordinates and velocities; none for a joint
/// that closes a loop.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn joint_facts(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    name: &str,
) -> PyResult<(&'static str, Option<(Vec<usize>, Vec<usize>)>)> {
    let id = simulation.joint(py, name)?;
    let model = simulation.inner().model();
    let kind = model.joint(id).map_or("", |joint| joint.kind.name());
    Ok((kind, model.joint_places(id).map(|JointPlaces { q, v }| (q, v))))
}

/// Joint coordinates of the model.
#[pyfunction]
pub(crate) fn qpos(py: Python<'_>, mut simulation: PyRefMut<'_, Simulation>) -> Array {
    PyArray1::from_vec(py, simulation.inner().qpos()).unbind()
}

/// Joint velocities of the model.
#[pyfunction]
pub(crate) fn qvel(py: Python<'_>, mut simulation: PyRefMut<'_, Simulation>) -> Array {
    PyArray1::from_vec(py, simulation.inner().qvel()).unbind()
}

/// Names of the joint coordinates and of the joint velocities.
#[pyfunction]
pub(crate) fn joint_coordinate_names(mut simulation: PyRefMut<'_, Simulation>) -> (Vec<String>, Vec<String>) {
    simulation.inner().model().joint_coordinate_names()
}

/// Sets the joint coordinates, the joint velocities, or both; the bodies follow. On error nothing changes.
#[pyfunction]
#[pyo3(signature = (simulation, qpos = None, qvel = None))]
pub(crate) fn set_joint_coordinates(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    qpos: Option<&Bound<'_, PyAny>>,
    qvel: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let tree = simulation.inner().model().forest().tree();
    let (coordinates, velocities) = (tree.coordinates(), tree.velocities());
    let qpos = qpos.map(|q| arrays::finite(py, "qpos", q, coordinates)).transpose()?;
    let qvel = qvel.map(|v| arrays::finite(py, "qvel", v, velocities)).transpose()?;
    let set = simulation.inner().set_joint_coordinates(qpos.as_deref(), qvel.as_deref());
    set.map_err(|error| errors::restore(py, &error))?;
    simulation.show(py)
}

/// Quantity of a joint: `"position"`, `"velocity"` or `"effort"`.
#[pyfunction]
pub(crate) fn joint_value(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    name: &str,
    what: &str,
) -> PyResult<Array> {
    let id = simulation.joint(py, name)?;
    let inner = simulation.inner();
    let found = match what {
        "position" => inner.joint_position(id),
        "velocity" => inner.joint_velocity(id),
        _ => inner.joint_effort(id),
    };
    let values =
        found.ok_or_else(|| errors::state(py, format!("joint \"{name}\" has no {what}: it has no coordinate")))?;
    Ok(PyArray1::from_vec(py, values).unbind())
}

/// Sets a quantity of a joint. On error nothing changes.
#[pyfunction]
pub(crate) fn set_joint_value(
    py: Python<'_>,
    mut simulation: PyRefMut<'_, Simulation>,
    name: &str,
    what: &str,
    values: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let id = simulation.joint(py, name)?;
    let values = arrays::reals(py, what, values)?;
    let inner = simulation.inner();
    let set: fn(&mut stiction::Simulation, JointId, &[f64]) -> Result<(), RestoreError> = match what {
        "position" => stiction::Simulation::set_joint_position,
        "velocity" => stiction::Simulation::set_joint_velocity,
        _ => stiction::Simulation::set_joint_effort,
    };
    set(inner, id, &values).map_err(|error| errors::restore(py, &error))?;
    simulation.show(py)
}
