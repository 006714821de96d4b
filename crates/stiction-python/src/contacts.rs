//! Contacts of the last step as arrays.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use stiction::{BodyId, ContactMode, ContactReport};

/// Contacts within reach in the last step, one row each, in the order of their ids.
#[pyclass(frozen, get_all, module = "stiction")]
pub(crate) struct Contacts {
    /// Index of the first body.
    body_a: Py<PyArray1<i64>>,
    /// Index of the second body.
    body_b: Py<PyArray1<i64>>,
    /// Mode: 0 open, 1 stick, 2 slip.
    mode: Py<PyArray1<i64>>,
    /// Point on the second body, m.
    point: Py<PyArray2<f64>>,
    /// Unit normal from the first to the second body.
    normal: Py<PyArray2<f64>>,
    /// Gap at the end of the step, m.
    gap: Py<PyArray1<f64>>,
    /// Normal impulse, N s.
    normal_impulse: Py<PyArray1<f64>>,
    /// Friction impulse on the second body, world axes, N s.
    friction_impulse: Py<PyArray2<f64>>,
    /// Torsional friction impulse on the second body about the normal, N m s.
    spin_impulse: Py<PyArray1<f64>>,
    /// Moment of rolling friction on the second body, world axes, N m s.
    rolling_impulse: Py<PyArray2<f64>>,
    /// Velocity of the second surface along the first at the end of the step, m/s.
    slip: Py<PyArray2<f64>>,
}

/// Index of a body in the model.
fn count(body: BodyId) -> i64 {
    i64::try_from(body.index()).unwrap_or(i64::MAX)
}

impl Contacts {
    pub(crate) fn new(py: Python<'_>, reports: &[ContactReport]) -> PyResult<Self> {
        let reals = |f: fn(&ContactReport) -> f64| reports.iter().map(f).collect::<Vec<_>>().into_pyarray(py).unbind();
        let counts = |f: fn(&ContactReport) -> i64| reports.iter().map(f).collect::<Vec<_>>().into_pyarray(py).unbind();
        let vectors = |f: fn(&ContactReport) -> [f64; 3]| -> PyResult<_> {
            let flat: Vec<f64> = reports.iter().flat_map(f).collect();
            Ok(flat.into_pyarray(py).reshape([reports.len(), 3])?.unbind())
        };
        Ok(Self {
            body_a: counts(|c| count(c.body_a)),
            body_b: counts(|c| count(c.body_b)),
            mode: counts(|c| match c.mode {
                ContactMode::Open => 0,
                ContactMode::Stick => 1,
                ContactMode::Slip => 2,
            }),
            point: vectors(|c| c.point.coords.into())?,
            normal: vectors(|c| c.normal.into())?,
            gap: reals(|c| c.gap),
            normal_impulse: reals(|c| c.normal_impulse),
            friction_impulse: vectors(|c| c.friction_impulse.into())?,
            spin_impulse: reals(|c| c.spin_impulse),
            rolling_impulse: vectors(|c| c.rolling_impulse.into())?,
            slip: vectors(|c| c.slip.into())?,
        })
    }
}

#[pymethods]
impl Contacts {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.gap.bind(py).len()
    }
}
