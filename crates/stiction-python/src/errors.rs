//! Conversion of errors to the exceptions of `stiction.errors`, with attributes.

use pyo3::{IntoPyObjectExt, prelude::*};
use stiction::{
    BuildError, ContinueError, ModelError, RestoreError, SceneError, StepCause, StepError,
    complementarity::ProblemError,
    gradient::GradientError,
    measure::MeasureError,
    record::{RecordError, RecordingError},
};

/// An attribute of an exception.
pub(crate) type Field<'f> = (&'f str, PyResult<Py<PyAny>>);

/// Creates an exception of `stiction.errors` with these attributes.
pub(crate) fn exception(py: Python<'_>, class: &str, message: impl ToString, fields: Vec<Field<'_>>) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let value = py.import("stiction.errors")?.getattr(class)?.call1((message.to_string(),))?;
        for (name, field) in fields {
            value.setattr(name, field?)?;
        }
        Ok(PyErr::from_value(value))
    };
    made().unwrap_or_else(|error| error)
}

/// Converts a value to an attribute.
pub(crate) fn field<'py, T: IntoPyObjectExt<'py>>(py: Python<'py>, value: T) -> PyResult<Py<PyAny>> {
    value.into_py_any(py)
}

pub(crate) fn scene(py: Python<'_>, error: &SceneError) -> PyErr {
    let place = error.span.is_some().then_some((error.line, error.column));
    let fields = vec![
        ("file", field(py, &error.file)),
        ("line", field(py, place.map(|(line, _)| line))),
        ("column", field(py, place.map(|(_, column)| column))),
        ("reason", field(py, &error.message)),
        ("hint", field(py, error.hint.as_deref())),
    ];
    exception(py, "SceneError", error, fields)
}

pub(crate) fn build(py: Python<'_>, error: &BuildError) -> PyErr {
    exception(py, "SceneError", error, vec![("reason", field(py, error.to_string()))])
}

pub(crate) fn input(py: Python<'_>, error: &ModelError) -> PyErr {
    exception(py, "InputError", error, Vec::new())
}

pub(crate) fn restore(py: Python<'_>, error: &RestoreError) -> PyErr {
    let kind = if let RestoreError::Joints(_) = error { "StateError" } else { "RestoreError" };
    exception(py, kind, error, Vec::new())
}

pub(crate) fn state(py: Python<'_>, message: impl ToString) -> PyErr {
    exception(py, "StateError", message, Vec::new())
}

pub(crate) fn go_on(py: Python<'_>, error: &ContinueError) -> PyErr {
    match error {
        ContinueError::Build(error) => build(py, error),
        ContinueError::State(error) => restore(py, error),
        other => state(py, other),
    }
}

pub(crate) fn step(py: Python<'_>, error: &StepError) -> PyErr {
    let mut fields = vec![
        ("step", field(py, error.step)),
        ("time", field(py, error.time)),
        ("reason", field(py, error.cause.to_string())),
    ];
    match &error.cause {
        StepCause::NotSolved { status, residual, worst, rungs, hint } => fields.extend([
            ("status", field(py, status.to_string())),
            ("residual", field(py, *residual)),
            ("worst", field(py, worst)),
            ("rungs", field(py, rungs)),
            ("hint", field(py, *hint)),
        ]),
        StepCause::NotProjected { residual, worst, .. } => {
            fields.extend([("residual", field(py, *residual)), ("worst", field(py, worst))]);
        }
        StepCause::NoBalance { body, force, .. } => {
            fields.extend([("residual", field(py, *force)), ("worst", field(py, body))]);
        }
        StepCause::NonFinite { culprit, .. } => fields.push(("worst", field(py, culprit))),
        StepCause::TooManyEvents { contact, .. }
        | StepCause::NoMotion { contact, .. }
        | StepCause::Jammed { contact, .. } => {
            fields.push(("worst", field(py, contact)));
        }
        StepCause::EnergyGrew { body, .. } => fields.push(("worst", field(py, body))),
        StepCause::LayerUsedUp { pair, .. } => fields.push(("worst", field(py, pair))),
        _ => {}
    }
    exception(py, "StepError", error, fields)
}

pub(crate) fn recording(py: Python<'_>, error: &RecordingError) -> PyErr {
    exception(py, "RecordingError", error, Vec::new())
}

pub(crate) fn record(py: Python<'_>, error: &RecordError) -> PyErr {
    exception(py, "RecordingError", error, Vec::new())
}

pub(crate) fn measure(py: Python<'_>, error: &MeasureError) -> PyErr {
    let fields = vec![
        ("text", field(py, &error.text)),
        ("span", field(py, (error.span.start, error.span.end))),
        ("reason", field(py, &error.reason)),
        ("hint", field(py, error.hint.as_deref())),
    ];
    exception(py, "MeasureError", error, fields)
}

pub(crate) fn problem(py: Python<'_>, error: &ProblemError) -> PyErr {
    exception(py, "ProblemError", error, Vec::new())
}

pub(crate) fn gradient(py: Python<'_>, error: &GradientError) -> PyErr {
    match error {
        GradientError::Scene(error) => scene(py, error),
        GradientError::Build(error) => build(py, error),
        GradientError::Step(error) => step(py, error),
        other => exception(py, "GradientError", other, Vec::new()),
    }
}
