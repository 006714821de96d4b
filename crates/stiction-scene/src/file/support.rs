//! `[body.support]`.

use schemars::JsonSchema;
use serde::Deserialize;

/// What a body in the plane lies on: feet with known loads, or a limit surface.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SupportTable {
    /// Where it rests, in the frame of the body, m: three feet whose loads follow from the weight, or any number with `loads`.
    #[schemars(
        title = "a list of places, two numbers each",
        extend("examples" = [[[0.0, 0.3], [-0.26, -0.15], [0.26, -0.15]]])
    )]
    #[serde(alias = "feet")]
    pub(crate) points: Option<Vec<[f64; 2]>>,
    /// Loads of the feet in any unit: shares of the weight.
    #[schemars(title = "a list of numbers", extend("examples" = [[1.0, 1.0, 2.0, 2.0]]))]
    pub(crate) loads: Option<Vec<f64>>,
    /// Instead of `feet`: the friction of a patch around the centre of mass.
    pub(crate) limit_surface: Option<LimitSurfaceTable>,
    /// Coulomb's coefficient of friction, for all feet or for each of them; 0 when left out.
    pub(crate) friction: Option<SupportFriction>,
    /// The body it lies on: its motion and its conveyor take it along. The world when left out.
    #[schemars(extend("examples" = ["table"]))]
    pub(crate) on: Option<String>,
}

/// A limit surface; exactly one of the two.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitSurfaceTable {
    /// Radius of a uniformly loaded disc, m.
    #[schemars(extend("examples" = [0.1], "minimum" = 0))]
    pub(crate) disc: Option<f64>,
    /// Lever of an ellipsoid, m: spinning is resisted like sliding at this radius.
    #[schemars(extend("examples" = [0.07], "minimum" = 0))]
    pub(crate) lever: Option<f64>,
}

/// One coefficient, or one for each foot.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "a number, or a list of one for each foot", extend("examples" = [0.3]))]
pub(crate) enum SupportFriction {
    All(f64),
    Each(Vec<f64>),
}
