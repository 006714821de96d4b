//! Errors of push studies.

use stiction::multibody::plain;

/// Error in a value of a push study.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {reason}")]
#[non_exhaustive]
pub struct PushError {
    /// Key of the value in a study file.
    pub field: &'static str,
    /// Reason.
    pub reason: String,
    /// Remedy, if there is a short one.
    pub hint: Option<String>,
}

impl PushError {
    pub(super) fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into(), hint: None }
    }

    /// An angle in text that has no unit.
    pub(crate) fn without_unit(field: &'static str) -> Self {
        Self::new(field, "is an angle in text and needs its unit").hint("such as \"30 deg\" or \"0.5 rad\"")
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Checks that a number is between two others.
pub(super) fn within(field: &'static str, value: f64, (least, most): (f64, f64)) -> Result<f64, PushError> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let [least, most, value] = [least, most, value].map(plain);
    Err(PushError::new(field, format!("must be from {least} to {most}, but is {value}")))
}
