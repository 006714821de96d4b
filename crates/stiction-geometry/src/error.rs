//! Errors of shapes and of pairs of shapes.

/// An invalid shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size is not a finite, normal, positive number.
    #[error("{what} must be a positive finite number, not {value}")]
    BadSize {
        /// Name of the size.
        what: &'static str,
        /// Given value.
        value: f64,
    },
    /// A coordinate is not finite, or beyond the documented domain.
    #[error("{what} must be finite and at most {limit:e} in magnitude, not {value}")]
    BadCoordinate {
        /// Name of the coordinate.
        what: &'static str,
        /// Given value.
        value: f64,
        /// Largest accepted magnitude.
        limit: f64,
    },
    /// A direction is a null vector or not finite.
    #[error("{what} must be a vector of non-zero finite length")]
    BadDirection {
        /// Name of the direction.
        what: &'static str,
    },
    /// An exponent is outside the range in which the surface is resolved.
    #[error(
        "{what} must be between {least} and {most}, not {value}: below two the curvature is infinite where the surface crosses its axes"
    )]
    BadExponent {
        /// Name of the exponent.
        what: &'static str,
        /// Given value.
        value: f64,
        /// Smallest accepted value.
        least: f64,
        /// Largest accepted value.
        most: f64,
    },
    /// The vertices do not make a convex body with an interior.
    #[error("{reason}")]
    NotConvexBody {
        /// Description of the error.
        reason: String,
    },
    /// The vertices do not form an outline that encloses an interior once without touching itself.
    #[error("{reason}")]
    NotSimplePolygon {
        /// Description of the error.
        reason: String,
    },
}

/// Accepts the exponent of a superellipse or superquadric.
pub(crate) fn exponent(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    const LEAST: f64 = 2.0;
    const MOST: f64 = 64.0;
    if (LEAST..=MOST).contains(&value) {
        Ok(value)
    } else {
        Err(ShapeError::BadExponent { what, value, least: LEAST, most: MOST })
    }
}

/// A pair of shapes for which no contact can be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("contact between {a} and {b} is not available: {reason}")]
pub struct UnsupportedPair {
    /// Name of the first shape.
    pub a: &'static str,
    /// Name of the second shape.
    pub b: &'static str,
    /// Reason and alternative.
    pub reason: &'static str,
}
