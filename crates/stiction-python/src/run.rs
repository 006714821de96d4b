//! Recordings: writing during a simulation, and reading.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Instant,
};

use numpy::IntoPyArray;
use pyo3::{exceptions::PyKeyError, prelude::*, types::PyList};
use stiction::{
    measure::{Measure, Value},
    record::{self, Column, Ending, RunLabels, RunTables, ViewLimits},
};

use crate::{errors, simulation::Simulation};

/// Records a run into a folder.
#[pyclass(module = "stiction._stiction")]
pub(crate) struct Recorder {
    /// None once it is finished. The lock is never contended.
    inner: Mutex<Option<record::Recorder>>,
    folder: PathBuf,
    started: Instant,
}

impl Recorder {
    pub(crate) fn create(
        py: Python<'_>,
        folder: &Path,
        labels: &RunLabels,
        simulation: &stiction::Simulation,
    ) -> PyResult<Self> {
        let made = record::Recorder::create(folder, labels, simulation).map_err(|error| errors::record(py, &error))?;
        let inner = Mutex::new(Some(made.without_page()));
        Ok(Self { inner, folder: folder.to_path_buf(), started: Instant::now() })
    }

    pub(crate) fn inner(&mut self) -> Option<&mut record::Recorder> {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
    }
}

#[pymethods]
impl Recorder {
    /// Closes the files; `failure` is the reason of an early end, empty for a stop on request.
    #[pyo3(signature = (simulation, failure = None))]
    fn finish(
        &mut self,
        py: Python<'_>,
        mut simulation: PyRefMut<'_, Simulation>,
        failure: Option<String>,
    ) -> PyResult<()> {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(recorder) = inner else { return Ok(()) };
        let ending = match failure {
            None => Ending::Finished,
            Some(reason) if reason.is_empty() => Ending::Interrupted,
            Some(reason) => Ending::Failed(reason),
        };
        let finished = recorder.finish(simulation.inner(), self.started.elapsed().as_secs_f64(), ending);
        finished.trouble.map_or(Ok(()), |trouble| Err(errors::record(py, &trouble)))
    }

    /// Folder of the recording.
    #[getter]
    fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The tables of a recorded run.
#[pyclass(module = "stiction._stiction")]
pub(crate) struct Tables {
    inner: Mutex<RunTables>,
}

impl Tables {
    fn inner(&mut self) -> &mut RunTables {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts a column to an array of numbers or a list of text.
fn column(py: Python<'_>, values: Column) -> PyResult<Bound<'_, PyAny>> {
    Ok(match values {
        Column::Integers(values) => values.into_pyarray(py).into_any(),
        Column::Reals(values) => values.into_pyarray(py).into_any(),
        Column::Texts(words) => {
            let rows = 0..words.rows.len();
            PyList::new(py, rows.map(|row| words.get(row).unwrap_or_default()))?.into_any()
        }
    })
}

#[pymethods]
impl Tables {
    /// Opens the tables in a folder.
    #[new]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let tables = RunTables::open(&folder).map_err(|error| errors::recording(py, &error))?;
        Ok(Self { inner: Mutex::new(tables) })
    }

    /// Names of the columns of the trajectory.
    #[getter]
    fn columns(&mut self) -> Vec<String> {
        self.inner().columns().into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Names of the columns of the contact table.
    #[getter]
    fn contact_columns(&mut self) -> Vec<String> {
        self.inner().contact_columns().into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Number of recorded moments.
    #[getter]
    fn frames(&mut self) -> usize {
        self.inner().frames()
    }

    /// True if the recording was truncated while it was written.
    #[getter]
    fn is_cut(&mut self) -> bool {
        self.inner().is_cut()
    }

    /// A column of the trajectory.
    fn column<'py>(&mut self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if !self.inner().columns().iter().any(|(known, _)| *known == name) {
            return Err(PyKeyError::new_err(name.to_owned()));
        }
        let values = self.inner().column(name).map_err(|error| errors::recording(py, &error))?;
        column(py, values)
    }

    /// A column of the contact table.
    fn contact_column<'py>(&mut self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if !self.inner().contact_columns().iter().any(|(known, _)| *known == name) {
            return Err(PyKeyError::new_err(name.to_owned()));
        }
        let values = self.inner().contact_column(name).map_err(|error| errors::recording(py, &error))?;
        column(py, values)
    }

    /// Value of an expression over the columns: a number, or an array with one value per recorded moment.
    fn measure<'py>(&mut self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let value = Measure::parse(text).and_then(|measure| measure.evaluate(self.inner()));
        Ok(match value.map_err(|error| errors::measure(py, &error))?.value {
            Value::Scalar(x) => x.into_pyobject(py)?.into_any(),
            Value::Series(values) => values.into_pyarray(py).into_any(),
        })
    }
}

/// Creates a self-contained page that plays recorded runs, overlaid.
#[pyfunction]
pub(crate) fn view_page(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<String> {
    let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    let page = py.detach(|| record::view_page(&folders, &ViewLimits::default()));
    page.map_err(|error| errors::recording(py, &error))
}
