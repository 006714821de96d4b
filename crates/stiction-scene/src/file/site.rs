//! `[[site]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Angle, Orientation, Vector};

/// A site: a named frame on a body, without mass and shape.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SiteTable {
    /// Unique name.
    #[schemars(extend("examples" = ["tool"]))]
    pub(crate) name: String,
    /// Name of the body that carries it; `"world"` is the fixed frame.
    #[schemars(extend("examples" = ["hand"]))]
    pub(crate) body: String,
    /// Origin in the body frame, m. Default: the origin of the body.
    pub(crate) position: Option<Vector>,
    /// Angle in the body frame, in the plane. Default: 0.
    pub(crate) angle: Option<Angle>,
    /// Orientation in the body frame, in space. Default: that of the body.
    pub(crate) orientation: Option<Orientation>,
}
