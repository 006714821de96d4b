//! `[material.NAME]`.

use schemars::JsonSchema;
use serde::Deserialize;

/// A compliant layer on the surface of bodies, or between two: springs and dampers on a rigid core.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaterialTable {
    /// Stiffness, N/m: along the normal, or the symmetric matrix by rows for the normal and the friction directions.
    pub(crate) stiffness: Modulus,
    /// Stiffness along the surface, N/m. Default: rigid along the surface.
    #[schemars(extend("examples" = [1000.0], "exclusiveMinimum" = 0, "maximum" = 1e15))]
    pub(crate) tangential_stiffness: Option<f64>,
    /// Damping, N s/m: along the normal, or the symmetric matrix by rows. Default: 0.
    pub(crate) damping: Option<Modulus>,
    /// Damping along the surface, N s/m. Default: 0.
    #[schemars(extend("examples" = [10.0], "minimum" = 0, "maximum" = 1e15))]
    pub(crate) tangential_damping: Option<f64>,
    /// Thickness of the layer above the rigid core, m. Default: unlimited.
    #[schemars(extend("examples" = [0.02], "exclusiveMinimum" = 0))]
    pub(crate) depth: Option<f64>,
}

/// Stiffness or damping: one number along the normal, or a matrix by rows, 2x2 in the plane and 3x3 in space.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "one number, a 2x2 matrix in the plane or a 3x3 matrix in space", extend("examples" = [1000.0]))]
pub(crate) enum Modulus {
    Normal(f64),
    Planar([[f64; 2]; 2]),
    Spatial([[f64; 3]; 3]),
}
