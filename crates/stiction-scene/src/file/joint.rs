//! `[[joint]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Vector;

/// A joint. Anchors and axes are in world coordinates, at the initial configuration.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JointTable {
    /// Unique name; `joint-1`, `joint-2`, … by position in the file when left out.
    #[schemars(extend("examples" = ["elbow"]))]
    pub(crate) name: Option<String>,
    /// What the joint leaves free.
    pub(crate) kind: JointKindName,
    /// The two bodies; `"world"` is the fixed frame.
    #[schemars(title = "the names of two bodies", extend("examples" = [["world", "rod"]]))]
    pub(crate) between: [String; 2],
    /// Where the joint sits.
    pub(crate) anchor: Option<Vector>,
    /// The axis it turns about or slides along.
    pub(crate) axis: Option<Vector>,
    /// Second axis of a universal joint, on the second body, perpendicular to `axis`.
    pub(crate) second_axis: Option<Vector>,
    /// The two end points of a distance joint.
    #[schemars(title = "two points", extend("examples" = [[[0.0, 0.0], [1.0, 0.0]]]))]
    pub(crate) anchors: Option<[Vector; 2]>,
    /// Length of a distance joint, m; the initial distance of its anchors when left out.
    #[schemars(extend("examples" = [1.0], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) length: Option<f64>,
    /// Weight of this joint's position error, from 0 to 1; that of the scheme when left out.
    #[schemars(extend("examples" = [1.0], "minimum" = 0, "maximum" = 1))]
    pub(crate) gamma: Option<f64>,
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JointKindName {
    /// Turns about one axis.
    Revolute,
    /// Slides along one axis.
    Prismatic,
    /// Nothing.
    Weld,
    /// Keeps two points at a distance.
    Distance,
    /// Turns about every axis; in space.
    Spherical,
    /// Turns about two perpendicular axes; in space.
    Universal,
    /// Turns about an axis and slides along it; in space.
    Cylindrical,
    /// Slides in the plane perpendicular to an axis and turns about that axis; in space.
    Planar,
}
