//! Checks of the numbers of a model: finite, zero or normal, and inside a documented domain.
//!
//! A value outside the domain is refused, because the 16 digits of f64 do not suffice for it.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use stiction_geometry::{Dimension, Pose};

use crate::{Element, Expression, ModelError};

/// Domain of every quantity, in SI units. Values outside are refused with a [`ModelError`].
pub mod limits {
    /// Largest coordinate, length or size, in metres.
    pub const LENGTH: f64 = 1e9;
    /// Largest lever of torsional friction and coefficient of rolling friction, in metres: beyond it rows of a contact differ so much in
    /// size that a small residual says nothing about the smaller ones.
    pub const LEVER: f64 = 1e4;
    /// Largest linear (m/s) or angular (rad/s) speed.
    pub const SPEED: f64 = 1e9;
    /// Smallest and largest mass, in kilograms.
    pub const MASS: (f64, f64) = (1e-12, 1e12);
    /// Largest ratio of the masses of two dynamic bodies. Residuals are relative to the impulses of the whole model: beyond 1/ε = 4.5e15 any impulse on the lightest
    /// body is below the rounding of those on the heaviest, and a wrong one counts as solved.
    pub const MASS_RATIO: f64 = 1e15;
    /// Smallest and largest principal moment of inertia, in kg m².
    pub const INERTIA: (f64, f64) = (1e-18, 1e18);
    /// Largest force (N), torque (N m), acceleration (m/s²), stiffness (N/m) or damping (N s/m).
    pub const LOAD: f64 = 1e15;
    /// Largest force (N), torque (N m) or motor control times gain that a controller may set.
    pub const INPUT: f64 = 1e9;
    /// Smallest and largest stiffness of a layer, N/m; its damping (N s/m) has the same upper bound.
    pub const STIFFNESS: (f64, f64) = (1e-6, 1e15);
    /// Least eigenvalue of a stiffness matrix, as a fraction of its largest entry.
    pub const DEFINITE: f64 = 1e-9;
    /// Smallest and largest thickness of a layer, m.
    pub const DEPTH: (f64, f64) = (1e-9, 1e9);
    /// Largest friction coefficient.
    pub const FRICTION: f64 = 1e9;
    /// Largest deviation of the norm of a quaternion from one. Up to it a quaternion is normalised, beyond it is refused.
    pub const QUATERNION_SLACK: f64 = 2e-3;
    /// Relative slack of the symmetry of an inertia and of the triangle inequality of its principal moments.
    pub const INERTIA_SLACK: f64 = 1e-9;
    /// Largest entry of RᵀR − 1 of the axes R of a frame.
    pub const FRAME_SLACK: f64 = 1e-9;
    /// Shortest usable direction vector.
    pub const DIRECTION: f64 = 1e-6;
}

/// Formats a number without an exponent from 1e-4 to 1e6 in magnitude, with one otherwise.
pub fn plain(x: f64) -> String {
    if x == 0.0 || (1e-4..=1e6).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

/// True if a number is at most `limit` in magnitude, not NaN and not subnormal (subnormal numbers have lost digits).
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

    /// Returns the value if it [`fits`].
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

    /// Checks that the functions of time that are constants are bounded.
    pub(crate) fn constants(&self, field: &'static str, f: &[Expression], limit: f64) -> Result<(), ModelError> {
        f.iter().filter_map(Expression::as_constant).try_for_each(|x| self.bounded(field, x, limit).map(drop))
    }

    /// Like [`Self::bounded`], for every component.
    pub(crate) fn vector(&self, field: &'static str, v: Vector3<f64>, limit: f64) -> Result<Vector3<f64>, ModelError> {
        v.iter().try_for_each(|&x| self.bounded(field, x, limit).map(drop))?;
        Ok(v)
    }

    /// Returns the value if it is zero or positive and at most `limit`. Negative zero becomes zero.
    pub(crate) fn non_negative(&self, field: &'static str, value: f64, limit: f64) -> Result<f64, ModelError> {
        self.bounded(field, value, limit)?;
        if value < 0.0 {
            return Err(self.error(field, format!("must not be negative, but is {}", plain(value))));
        }
        Ok(value.abs())
    }

    /// Returns the value if it is inside `[range.0, range.1]`.
    pub(crate) fn within(&self, field: &'static str, value: f64, range: (f64, f64)) -> Result<f64, ModelError> {
        if (range.0..=range.1).contains(&value) && !value.is_subnormal() {
            return Ok(value);
        }
        Err(self.error(
            field,
            format!("must lie between {} and {}, but is {}", plain(range.0), plain(range.1), plain(value)),
        ))
    }

    /// Returns the normalised direction; a vector shorter than [`limits::DIRECTION`] is refused.
    pub(crate) fn direction(&self, field: &'static str, v: Vector3<f64>) -> Result<Vector3<f64>, ModelError> {
        self.vector(field, v, limits::LENGTH)?;
        let length = v.norm();
        if length < limits::DIRECTION {
            return Err(self.error(field, format!("must be a direction, but has length {}", plain(length))));
        }
        Ok(v / length)
    }

    /// Checks a frame on a body: a bounded origin (field `place`) and right-handed orthonormal axes (field `turn`). In a planar
    /// model the frame must lie in the plane.
    pub(crate) fn frame(
        &self,
        (place, turn): (&'static str, &'static str),
        frame: &Pose,
        dimension: Dimension,
    ) -> Result<(), ModelError> {
        self.vector(place, frame.translation.vector, limits::LENGTH)?;
        let axes = frame.rotation.matrix();
        let error = axes.transpose() * axes - Matrix3::identity();
        // Entry by entry: the maximum over a matrix would ignore NaN.
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

    /// Checks an inertia: symmetric, positive definite, and no principal moment above the sum of the others.
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
                "principal moments {}, {}, {} violate the triangle inequality: no rigid body has them",
                plain(a),
                plain(b),
                plain(c)
            );
            return Err(self.error("inertia", reason));
        }
        Ok(symmetric)
    }
}
