//! Values of keys: numbers, angles, expressions of time, vectors, orientations.

use schemars::JsonSchema;
use serde::Deserialize;

/// An angle: a number of radians, or a text with a unit, `"30 deg"` or `"0.5 rad"`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "an angle: a number of radians or a text with a unit", extend("examples" = ["30 deg"]))]
pub enum Angle {
    /// Radians.
    Radians(f64),
    /// Number with a unit.
    Text(#[schemars(regex(pattern = r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*(deg|rad)\s*$"))] String),
}

impl Angle {
    /// Returns the angle in radians; NaN for a text without a valid number, `None` for a text without a unit.
    pub fn radians(&self) -> Option<f64> {
        let text = match self {
            Self::Radians(radians) => return Some(*radians),
            Self::Text(text) => text.trim(),
        };
        let (number, unit) = match (text.strip_suffix("deg"), text.strip_suffix("rad")) {
            (Some(number), _) => (number, std::f64::consts::PI / 180.0),
            (None, Some(number)) => (number, 1.0),
            (None, None) => return None,
        };
        Some(number.trim().parse::<f64>().unwrap_or(f64::NAN) * unit)
    }
}

/// A number, or an expression of the time t.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "a number or an expression of t", extend("examples" = ["0.5 + 0.4*sin(2*pi*t)"]))]
pub(crate) enum Scalar {
    Number(f64),
    Expression(String),
}

/// A vector: two components in the plane, three in space.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "two numbers in the plane or three in space", extend("examples" = [[0.0, 1.0]]))]
pub(crate) struct Vector(#[schemars(length(min = 2, max = 3))] pub(crate) Vec<f64>);

/// A vector that may vary with time: two components in the plane, three in space.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "two numbers or expressions of t in the plane, three in space", extend("examples" = [["0.4*t", "0"]]))]
pub(crate) struct ScalarVector(#[schemars(length(min = 2, max = 3))] pub(crate) Vec<Scalar>);

/// An angular velocity: one number in the plane, a vector in space.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "one number in the plane or three in space", extend("examples" = [4.0]))]
pub(crate) enum Spin {
    Planar(f64),
    Spatial([f64; 3]),
}

/// A torque: one number or expression in the plane, three in space.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "one number or expression of t in the plane, three in space", extend("examples" = ["0.1*sin(t)"]))]
pub(crate) enum Torque {
    Planar(Scalar),
    Spatial([Scalar; 3]),
}

/// Inertia about the centre of mass. In the plane: one number. In space: the three principal moments along the body
/// axes, or the symmetric matrix by rows.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "one number in the plane, three principal moments or a 3x3 matrix in space", extend("examples" = [[0.1, 0.2, 0.2]]))]
pub(crate) enum Inertia {
    Planar(f64),
    Principal([f64; 3]),
    Matrix([[f64; 3]; 3]),
}

/// An orientation in space: a unit quaternion `[w, x, y, z]`, or a table of angles.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "a unit quaternion [w, x, y, z] or a table of angles", extend("examples" = [[1.0, 0.0, 0.0, 0.0]]))]
pub(crate) enum Orientation {
    Quaternion([f64; 4]),
    Angles(OrientationTable),
}

/// An orientation by angles; exactly one of the three ways.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrientationTable {
    /// Rotations about the fixed x, y and z axes, in this order.
    #[schemars(title = "three angles", extend("examples" = [["30 deg", 0.0, 0.0]]))]
    pub(crate) roll_pitch_yaw: Option<[Angle; 3]>,
    /// Rotations about the body's own first, second and third axis, in this order.
    #[schemars(title = "three angles", extend("examples" = [["30 deg", 0.0, 0.0]]))]
    pub(crate) body_123: Option<[Angle; 3]>,
    /// Axis of a single rotation; needs `angle`.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, 0.0, 1.0]]))]
    pub(crate) axis: Option<[f64; 3]>,
    /// Angle of the rotation about `axis`.
    pub(crate) angle: Option<Angle>,
}

/// Distance below which contacts enter the solver: metres, or `"auto"` for the distance that can be closed in one
/// step.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "a distance in metres or \"auto\"", extend("examples" = [0.02]))]
pub(crate) enum MarginValue {
    Distance(f64),
    Word(AutoWord),
}

/// The word `auto`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AutoWord {
    Auto,
}

/// A count of at least 1.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "a whole number from 1 on", extend("examples" = [8]))]
pub(crate) struct Count(#[schemars(range(min = 1, max = 1_000_000_000))] pub(crate) u32);
