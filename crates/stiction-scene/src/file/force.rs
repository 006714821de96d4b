//! `[[spring]]`, `[[damper]]`, `[[load]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ScalarVector, Torque, Vector};

/// A linear spring between two points.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpringTable {
    /// Names of the two bodies; `"world"` is the fixed frame.
    #[schemars(title = "the names of two bodies", extend("examples" = [["world", "rod"]]))]
    pub(crate) between: [String; 2],
    /// The two end points, each in the frame of its body, m. Default: the origins.
    #[schemars(title = "two points", extend("examples" = [[[0.5, 0.0], [0.0, 0.0]]]))]
    pub(crate) points: Option<[Vector; 2]>,
    /// Stiffness, N/m.
    #[schemars(extend("examples" = [50.0], "minimum" = 0, "maximum" = 1e15))]
    pub(crate) stiffness: f64,
    /// Rest length, m.
    #[schemars(extend("examples" = [0.5], "minimum" = 0, "maximum" = 1e9))]
    pub(crate) rest_length: f64,
    /// Damping along the line of the spring, or in every direction if its rest length is 0, N s/m. Default: 0.
    #[serde(default)]
    #[schemars(extend("examples" = [0.5], "minimum" = 0, "maximum" = 1e15))]
    pub(crate) damping: f64,
}

/// A damper between two points. It resists their relative velocity in every direction.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DamperTable {
    /// Names of the two bodies; `"world"` is the fixed frame.
    #[schemars(title = "the names of two bodies", extend("examples" = [["world", "rod"]]))]
    pub(crate) between: [String; 2],
    /// The two end points, each in the frame of its body, m. Default: the origins.
    #[schemars(title = "two points", extend("examples" = [[[0.5, 0.0], [0.0, 0.0]]]))]
    pub(crate) points: Option<[Vector; 2]>,
    /// Damping, N s/m.
    #[schemars(extend("examples" = [0.5], "minimum" = 0, "maximum" = 1e15))]
    pub(crate) damping: f64,
}

/// A force and a torque on one body, in world axes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadTable {
    /// Name of the body that the load acts on.
    #[schemars(extend("examples" = ["rod"]))]
    pub(crate) body: String,
    /// Point of application in the body frame, m. Default: the origin.
    pub(crate) point: Option<Vector>,
    /// Force, N. Default: 0.
    pub(crate) force: Option<ScalarVector>,
    /// Torque, N m. Default: 0.
    pub(crate) torque: Option<Torque>,
}
