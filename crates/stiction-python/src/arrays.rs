//! Checked conversion of arrays from Python, and arrays that expose values of Rust.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::{prelude::*, types::PyDict};

use crate::errors;

/// Converts an array or sequence to this many finite numbers; numpy must be able to convert it to real numbers without rounding.
pub(crate) fn finite(py: Python<'_>, what: &str, value: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<f64>> {
    let array = reals(py, what, value)?;
    if array.len() != count {
        return Err(errors::state(py, format!("{what} has {} numbers, but {count} are needed", array.len())));
    }
    if let Some(place) = array.iter().position(|x| !x.is_finite()) {
        let bad = array.get(place).copied().unwrap_or(f64::NAN);
        return Err(errors::state(py, format!("{what}[{place}] is {bad}, but must be a finite number")));
    }
    Ok(array)
}

/// Converts a one-dimensional array to real numbers.
pub(crate) fn reals(py: Python<'_>, what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    if let Ok(array) = value.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(array.as_array().to_vec());
    }
    let numpy = py.import("numpy")?;
    let array = numpy
        .call_method1("asarray", (value,))
        .map_err(|error| errors::state(py, format!("{what} must be an array of numbers, but numpy says: {error}")))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "f" | "i" | "u") {
        let name: String = array.getattr("dtype")?.str()?.extract()?;
        return Err(errors::state(py, format!("{what} must hold real numbers, but its dtype is {name}")));
    }
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Err(errors::state(py, format!("{what} must have one dimension, but has {dimensions}")));
    }
    let options = PyDict::new(py);
    options.set_item("dtype", "float64")?;
    let array = numpy.call_method("ascontiguousarray", (array,), Some(&options))?;
    Ok(array.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec())
}

/// Read-only array that always shows the last written values: the same object, without a copy per access.
///
/// It is a view of `numbers`, which is writable only while values are replaced: numpy lets the flag of a view be set where that of its base is.
pub(crate) struct Live {
    numbers: Py<PyArray1<f64>>,
    view: Py<PyAny>,
}

impl Live {
    pub(crate) fn new(py: Python<'_>, values: &[f64]) -> PyResult<Self> {
        let numbers = PyArray1::from_slice(py, values);
        set_writable(numbers.as_any(), false)?;
        let view = numbers.call_method0("view")?;
        Ok(Self { numbers: numbers.unbind(), view: view.unbind() })
    }

    /// Creates an array with this many rows.
    pub(crate) fn rows(py: Python<'_>, values: &[f64], rows: usize) -> PyResult<Self> {
        let Self { numbers, view } = Self::new(py, values)?;
        let columns = values.len().checked_div(rows).unwrap_or(0);
        let view = view.call_method1(py, "reshape", (rows, columns))?;
        Ok(Self { numbers, view })
    }

    /// Replaces the values; allocates a new array if their number changes.
    pub(crate) fn show(&mut self, py: Python<'_>, values: &[f64]) -> PyResult<()> {
        let numbers = self.numbers.bind(py);
        if numbers.len() != values.len() {
            *self = Self::new(py, values)?;
            return Ok(());
        }
        replace(numbers, |numbers| numbers.copy_from_slice(values))
    }

    /// Replaces the values from an index on.
    pub(crate) fn show_at(&mut self, py: Python<'_>, place: usize, values: &[f64]) -> PyResult<()> {
        replace(self.numbers.bind(py), |numbers| {
            if let Some(part) = numbers.get_mut(place..place + values.len()) {
                part.copy_from_slice(values);
            }
        })
    }

    /// Returns the array.
    pub(crate) fn array(&self, py: Python<'_>) -> Py<PyAny> {
        self.view.clone_ref(py)
    }
}

/// Changes an array that is read-only between these calls.
fn replace(numbers: &Bound<'_, PyArray1<f64>>, change: impl FnOnce(&mut [f64])) -> PyResult<()> {
    set_writable(numbers.as_any(), true)?;
    let mut writable = numbers.try_readwrite()?;
    change(writable.as_slice_mut()?);
    writable.make_nonwriteable();
    Ok(())
}

fn set_writable(array: &Bound<'_, PyAny>, is_writable: bool) -> PyResult<()> {
    array.call_method1("setflags", (is_writable,)).map(drop)
}
