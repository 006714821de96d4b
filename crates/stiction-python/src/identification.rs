//! Identification: parameters of a scene from recorded motions.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use pyo3::prelude::*;
use stiction_identify::IdentifyError;

use crate::errors;

/// An identification file with its recordings.
#[pyclass(subclass, frozen, module = "stiction._stiction")]
pub(crate) struct Identification {
    inner: stiction_identify::Identification,
}

#[pymethods]
impl Identification {
    /// Reads an identification file, its scene and its recordings.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| stiction_identify::load(&path, &stiction_identify::read_bytes));
        Ok(Self { inner: loaded.map_err(|error| errors::scene(py, &error))? })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Names of the unknowns.
    #[getter]
    fn unknowns(&self) -> Vec<String> {
        self.inner.target.parameters.iter().map(|parameter| parameter.name.clone()).collect()
    }

    /// Names of the recordings.
    #[getter]
    fn recordings(&self) -> Vec<String> {
        self.inner.recordings.iter().map(|recording| recording.name.clone()).collect()
    }

    /// Runs the identification and returns the report as JSON text. `progress` is called with the number of completed parts.
    #[pyo3(signature = (progress = None))]
    fn identify(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<String> {
        let raised: Mutex<Option<PyErr>> = Mutex::new(None);
        let goes_on = |done: usize| {
            let answer = Python::attach(|py| -> PyResult<()> {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done,)).map(drop))
            });
            let Err(error) = answer else { return true };
            raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            false
        };
        let made = py.detach(|| self.inner.run(&goes_on));
        if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let report = made.map_err(|error| match error {
            IdentifyError::Scene(error) => errors::scene(py, &error),
            other => errors::exception(py, "IdentificationError", other, Vec::new()),
        })?;
        serde_json::to_string(&report).map_err(|error| errors::exception(py, "IdentificationError", error, Vec::new()))
    }

    /// Scene with other values of the unknowns, as TOML text.
    fn scene_with(&self, py: Python<'_>, values: Vec<f64>) -> PyResult<String> {
        self.inner.scene_with(&values).map_err(|error| errors::scene(py, &error))
    }
}
