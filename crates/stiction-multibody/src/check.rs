//! The numbers a model may contain: finite, normal, and inside a documented domain.
//!
//! A value outside the domain is refused rather than simulated with garbage digits (f64 carries 16 of them).

use nalgebra::Vector3;

use crate::{Element, ModelError};

/// The domain of every quantity, in SI units. Values outside are refused with a [`ModelError`].
pub mod limits {
    /// Largest coordinate, length or size, in metres.
    pub const LENGTH: f64 = 1e9;
    /// Largest linear (m/s) or angular (rad/s) speed.
    pub const SPEED: f64 = 1e9;
    /// Smallest and largest mass, in kilograms.
    pub const MASS: (f64, f64) = (1e-12, 1e12);
    /// Smallest and largest principal moment of inertia, in kg m².
    pub const INERTIA: (f64, f64) = (1e-18, 1e18);
    /// Largest force (N), torque (N m), acceleration (m/s²), stiffness (N/m) or damping (N s/m).
    pub const LOAD: f64 = 1e15;
    /// Largest friction coefficient.
    pub const FRICTION: f64 = 1e9;
    /// A quaternion this far from unit norm is normalised; further away it is refused.
    pub const QUATERNION_SLACK: f64 = 2e-3;
    /// Relative slack of the triangle inequality of principal moments.
    pub const INERTIA_SLACK: f64 = 1e-9;
    /// Shortest usable direction vector.
    pub const DIRECTION: f64 = 1e-6;
}

/// Checks one field of one element; the error names both.
#[derive(Clone)]
pub(crate) struct Check {
    pub(crate) element: Element,
}

impl Check {
    pub(crate) fn new(element: Element) -> Self {
        Self { element }
    }

    pub(crate) fn error(&self, field: &'static str, reason: impl Into<String>) -> ModelError {
        ModelError::new(self.element.clone(), field, reason)
    }

    /// Finite and at most `limit` in magnitude.
    pub(crate) fn bounded(&self, field: &'static str, value: f64, limit: f64) -> Result<f64, ModelError> {
        if value.is_finite() && value.abs() <= limit {
            return Ok(value);
        }
        Err(self.error(field, format!("must be finite and at most {limit:e} in magnitude, not {value}")))
    }

    /// Like [`Self::bounded`], for every component.
    pub(crate) fn vector(&self, field: &'static str, v: Vector3<f64>, limit: f64) -> Result<Vector3<f64>, ModelError> {
        v.iter().try_for_each(|&x| self.bounded(field, x, limit).map(drop))?;
        Ok(v)
    }

    /// Zero or positive, at most `limit`. Negative zero passes as zero.
    pub(crate) fn non_negative(&self, field: &'static str, value: f64, limit: f64) -> Result<f64, ModelError> {
        self.bounded(field, value, limit)?;
        if value < 0.0 {
            return Err(self.error(field, format!("must not be negative, but is {value}")));
        }
        Ok(value.abs())
    }

    /// Inside `[range.0, range.1]`.
    pub(crate) fn within(&self, field: &'static str, value: f64, range: (f64, f64)) -> Result<f64, ModelError> {
        if (range.0..=range.1).contains(&value) {
            return Ok(value);
        }
        Err(self.error(field, format!("must lie between {:e} and {:e}, but is {value}", range.0, range.1)))
    }

    /// A direction: normalised, refused when shorter than [`limits::DIRECTION`].
    pub(crate) fn direction(&self, field: &'static str, v: Vector3<f64>) -> Result<Vector3<f64>, ModelError> {
        self.vector(field, v, limits::LENGTH)?;
        let length = v.norm();
        if length < limits::DIRECTION {
            return Err(self.error(field, format!("must be a direction, but has length {length:e}")));
        }
        Ok(v / length)
    }
}
