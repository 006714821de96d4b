//! Derivatives of a run.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use stiction::gradient::{GradientError, GradientRun, Unknown};

use crate::{errors, interrupt::Signals};

/// States and their derivatives after every step: times, q, v, and derivatives of displacements and velocities with respect to unknowns.
type Derivatives = (Vec<f64>, Vec<Vec<f64>>, Vec<Vec<f64>>, Vec<Py<PyArray2<f64>>>, Vec<Py<PyArray2<f64>>>);

/// Time, q, v, and both derivatives row by row, after a step.
type Row = (f64, Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

/// Derivatives of the state after every step with respect to unknowns: `value` with a path of the scene and its value, or `q` and `v` with the index
/// of a component of the initial state.
#[pyfunction]
pub(crate) fn gradients(
    py: Python<'_>,
    text: &str,
    file_name: &str,
    unknowns: Vec<(String, String, f64)>,
    steps: u64,
) -> PyResult<Derivatives> {
    #[expect(clippy::cast_sign_loss, reason = "places are counts")]
    let unknown = |(kind, path, value): (String, String, f64)| match kind.as_str() {
        "q" => Unknown::Place(value as usize),
        "v" => Unknown::Velocity(value as usize),
        _ => Unknown::value(&path, value),
    };
    let unknowns: Vec<Unknown> = unknowns.into_iter().map(unknown).collect();
    let columns = unknowns.len();
    let make = || -> Result<Vec<Row>, GradientError> {
        let mut run = GradientRun::new(text, file_name, &unknowns)?;
        let mut rows = Vec::new();
        for _ in 0..steps {
            let _ = run.step()?;
            let by_row = |matrix: nalgebra::DMatrixView<'_, f64>| matrix.transpose().as_slice().to_vec();
            let state = run.simulation().state();
            let (moved, faster) = (by_row(run.displacements()), by_row(run.velocities()));
            rows.push((state.time, state.q.clone(), state.v.clone(), moved, faster));
        }
        Ok(rows)
    };
    let rows = py.detach(|| Signals::new().during(make))?.map_err(|error| errors::gradient(py, &error))?;
    let shaped = |numbers: Vec<f64>| -> PyResult<Py<PyArray2<f64>>> {
        let rows = numbers.len() / columns.max(1);
        Ok(numbers.into_pyarray(py).reshape([rows, columns])?.unbind())
    };
    let mut out: Derivatives = Default::default();
    for (time, q, v, moved, faster) in rows {
        out.0.push(time);
        out.1.push(q);
        out.2.push(v);
        out.3.push(shaped(moved)?);
        out.4.push(shaped(faster)?);
    }
    Ok(out)
}
