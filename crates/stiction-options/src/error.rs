//! Error of a scheme that cannot be used.

/// Scheme that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("scheme, {field}: {reason}")]
pub struct SchemeError {
    /// Option at fault, named as in a scene file.
    pub field: &'static str,
    /// Reason.
    pub reason: String,
}
