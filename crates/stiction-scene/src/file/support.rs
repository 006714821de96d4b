//! `[body.support]`.

use schemars::JsonSchema;
use serde::Deserialize;

/// Support of a body in the plane: support points with known loads, or a limit surface.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SupportTable {
    /// Support points in the frame of the body, m: three, whose loads follow from the weight, or any number with
    /// `loads`.
    #[schemars(
        title = "a list of points, two numbers each",
        extend("examples" = [[[0.0, 0.3], [-0.26, -0.15], [0.26, -0.15]]])
    )]
    pub(crate) points: Option<Vec<[f64; 2]>>,
    /// Loads of the support points, in any unit; only their ratios count.
    #[schemars(title = "a list of numbers", extend("examples" = [[1.0, 1.0, 2.0, 2.0]]))]
    pub(crate) loads: Option<Vec<f64>>,
    /// Limit surface of a contact patch around the centre of mass; instead of `points`.
    pub(crate) limit_surface: Option<LimitSurfaceTable>,
    /// Coulomb's coefficient of friction, for all support points or for each. Default: 0.
    pub(crate) friction: Option<SupportFriction>,
    /// Name of the body under the support. Its motion and its conveyor carry the body. Default: `world`.
    #[schemars(extend("examples" = ["table"]))]
    pub(crate) on: Option<String>,
}

/// A limit surface; exactly one of the two keys.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitSurfaceTable {
    /// Radius of a uniformly loaded disc, m.
    #[schemars(extend("examples" = [0.1], "minimum" = 0))]
    pub(crate) disc: Option<f64>,
    /// Lever of an ellipsoidal limit surface, m. Spinning is resisted like sliding at this radius.
    #[schemars(extend("examples" = [0.07], "minimum" = 0))]
    pub(crate) lever: Option<f64>,
}

/// One coefficient, or one for each support point.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "a number, or a list of one for each support point", extend("examples" = [0.3]))]
pub(crate) enum SupportFriction {
    All(f64),
    Each(Vec<f64>),
}
