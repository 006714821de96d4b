//! Why a shape or a pair is refused.

/// A shape that cannot exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size is not a finite, normal, positive number.
    #[error("{what} must be a positive finite number, not {value}")]
    BadSize {
        /// Which size.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// A coordinate is not finite, or beyond the documented domain.
    #[error("{what} must be finite and at most {limit:e} in magnitude, not {value}")]
    BadCoordinate {
        /// Which coordinate.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The largest magnitude accepted.
        limit: f64,
    },
    /// A direction has no direction.
    #[error("{what} must be a vector of non-zero finite length")]
    BadDirection {
        /// Which direction.
        what: &'static str,
    },
    /// An exponent outside the range for which the surface is resolved.
    #[error(
        "{what} must be between {least} and {most}, not {value}: below two the curvature is infinite where the surface crosses its axes"
    )]
    BadExponent {
        /// Which exponent.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The least accepted.
        least: f64,
        /// The greatest accepted.
        most: f64,
    },
    /// The vertices do not make a convex body with an interior.
    #[error("{reason}")]
    NotConvexBody {
        /// What is wrong with the vertices.
        reason: String,
    },
    /// The vertices do not make an outline that goes once round an interior without touching itself.
    #[error("{reason}")]
    NotSimplePolygon {
        /// What is wrong with the vertices.
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

/// Two shapes between which no contact can be computed (yet).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("contact between {a} and {b} is not available: {reason}")]
pub struct UnsupportedPair {
    /// Name of the first shape.
    pub a: &'static str,
    /// Name of the second shape.
    pub b: &'static str,
    /// Why, and what to use instead.
    pub reason: &'static str,
}
