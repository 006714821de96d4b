//! The numbers a model may contain: finite, zero or normal, and inside a documented domain.
//!
//! A value outside the domain is refused rather than simulated with garbage digits (f64 carries 16 of them).

use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use stiction_geometry::{Dimension, Pose};

use crate::{Element, Expression, ModelError};

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
    /// Largest force (N), torque (N m) or motor control times gain that a controller may give.
    pub const INPUT: f64 = 1e9;
    /// Smallest and largest stiffness of a layer, N/m; its damping (N s/m) has the same upper bound.
    pub const STIFFNESS: (f64, f64) = (1e-6, 1e15);
    /// Least eigenvalue of a stiffness matrix, as a share of its largest entry.
    pub const DEFINITE: f64 = 1e-9;
    /// Smallest and largest thickness of a layer, m.
    pub const DEPTH: (f64, f64) = (1e-9, 1e9);
    /// Largest friction coefficient.
    pub const FRICTION: f64 = 1e9;
    /// A quaternion this far from unit norm is normalised; further away it is refused.
    pub const QUATERNION_SLACK: f64 = 2e-3;
    /// Relative slack of the symmetry of an inertia and of the triangle inequality of its principal moments.
    pub const INERTIA_SLACK: f64 = 1e-9;
    /// How far the axes of a frame may be from orthonormal.
    pub const FRAME_SLACK: f64 = 1e-9;
    /// Shortest usable direction vector.
    pub const DIRECTION: f64 = 1e-6;
}

/// A number as a person would write it: with an exponent only where that is shorter.
pub fn plain(x: f64) -> String {
    if x == 0.0 || (1e-4..=1e6).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

/// At most `limit` in magnitude; not NaN, and not subnormal (such a number has lost its digits already).
pub(crate) fn fits(value: f64, limit: f64) -> bool {
    value.abs() <= limit && !value.is_subnormal()
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

    /// Whether it [`fits`].
    pub(crate) fn bounded(&self, field: &'static str, value: f64, limit: f64) -> Result<f64, ModelError> {
        if fits(value, limit) {
            return Ok(value);
        }
        let smallest = f64::MIN_POSITIVE;
        Err(self.error(
            field,
            format!("must be zero or between {smallest:e} and {limit:e} in magnitude, but is {}", plain(value)),
        ))
    }

    /// A function of time that, where it is a single number, is a bounded one.
    pub(crate) fn constants(&self, field: &'static str, f: &[Expression], limit: f64) -> Result<(), ModelError> {
        f.iter().filter_map(Expression::as_constant).try_for_each(|x| self.bounded(field, x, limit).map(drop))
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
            return Err(self.error(field, format!("must not be negative, but is {}", plain(value))));
        }
        Ok(value.abs())
    }

    /// Inside `[range.0, range.1]`.
    pub(crate) fn within(&self, field: &'static str, value: f64, range: (f64, f64)) -> Result<f64, ModelError> {
        if (range.0..=range.1).contains(&value) && !value.is_subnormal() {
            return Ok(value);
        }
        Err(self.error(
            field,
            format!("must lie between {} and {}, but is {}", plain(range.0), plain(range.1), plain(value)),
        ))
    }

    /// A direction: normalised, refused when shorter than [`limits::DIRECTION`].
    pub(crate) fn direction(&self, field: &'static str, v: Vector3<f64>) -> Result<Vector3<f64>, ModelError> {
        self.vector(field, v, limits::LENGTH)?;
        let length = v.norm();
        if length < limits::DIRECTION {
            return Err(self.error(field, format!("must be a direction, but has length {}", plain(length))));
        }
        Ok(v / length)
    }

    /// A place on a body: a bounded origin (`place`) and right-handed orthonormal axes (`turn`), in the plane where the
    /// model is.
    pub(crate) fn frame(
        &self,
        (place, turn): (&'static str, &'static str),
        frame: &Pose,
        dimension: Dimension,
    ) -> Result<(), ModelError> {
        self.vector(place, frame.translation.vector, limits::LENGTH)?;
        let axes = frame.rotation.matrix();
        let error = axes.transpose() * axes - Matrix3::identity();
        // Entry by entry: the largest of a matrix would pass over NaN.
        let orthonormal = error.iter().all(|e| e.abs() <= limits::FRAME_SLACK);
        if !orthonormal || axes.determinant() < 0.0 {
            return Err(self.error(turn, "must be a rotation: orthonormal and right-handed axes"));
        }
        if dimension == Dimension::Planar && frame.translation.z != 0.0 {
            return Err(self.error(place, "must have two components in a planar model"));
        }
        if dimension == Dimension::Planar && axes.m33 < 1.0 - limits::FRAME_SLACK {
            return Err(self.error(turn, "must be a rotation about z in a planar model"));
        }
        Ok(())
    }

    /// An inertia some rigid body can have: symmetric, positive, and no principal moment above the sum of the others.
    /// Returns its symmetric part.   [DYN-3]
    pub(crate) fn inertia(&self, inertia: &Matrix3<f64>) -> Result<Matrix3<f64>, ModelError> {
        inertia.iter().try_for_each(|&x| self.bounded("inertia", x, limits::INERTIA.1).map(drop))?;
        let size = inertia.abs().max();
        if (inertia - inertia.transpose()).abs().max() > limits::INERTIA_SLACK * size {
            return Err(self.error("inertia", "must be symmetric"));
        }
        let symmetric = (inertia + inertia.transpose()) * 0.5;
        let moments = SymmetricEigen::new(symmetric).eigenvalues;
        moments.iter().try_for_each(|&moment| self.within("inertia", moment, limits::INERTIA).map(drop))?;
        if 2.0 * moments.max() > moments.sum() * (1.0 + limits::INERTIA_SLACK) {
            let [a, b, c] = moments.into();
            let reason = format!(
                "principal moments {}, {}, {} break the triangle inequality: no rigid body has them",
                plain(a),
                plain(b),
                plain(c)
            );
            return Err(self.error("inertia", reason));
        }
        Ok(symmetric)
    }
}
