//! `[[body]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Angle, Inertia, Orientation, Scalar, ScalarVector, ShapeTable, Spin, SupportTable, Vector};

/// A body. The frame of a dynamic body has its origin at the centre of mass.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("not" = { "required": ["mass", "density"] }))]
pub(crate) struct BodyTable {
    /// Unique name. `world` is reserved for the fixed frame.
    #[schemars(extend("examples" = ["rod"]))]
    pub(crate) name: String,
    /// Kind of body: `fixed`, `kinematic`, `dynamic` or `frame`. Default: `dynamic`.
    #[serde(default)]
    pub(crate) kind: BodyKindName,
    /// Mass, kg. A dynamic body needs `mass` or `density`.
    #[schemars(extend("examples" = [1.0], "minimum" = 1e-12, "maximum" = 1e12))]
    pub(crate) mass: Option<f64>,
    /// Density of the shapes, instead of `mass`: kg/m² in the plane, kg/m³ in space.
    #[schemars(extend("examples" = [1000.0], "exclusiveMinimum" = 0))]
    pub(crate) density: Option<f64>,
    /// Inertia about the centre of mass, kg m². Default: computed from the shapes.
    pub(crate) inertia: Option<Inertia>,
    /// True for a point mass, which has no orientation. Default: false.
    #[serde(default)]
    pub(crate) particle: bool,
    /// Initial position, m. Default: the origin.
    pub(crate) position: Option<Vector>,
    /// Initial angle, in the plane. Default: 0.
    pub(crate) angle: Option<Angle>,
    /// Initial orientation, in space. Default: that of the world axes.
    pub(crate) orientation: Option<Orientation>,
    /// Initial velocity of the centre of mass, m/s. Default: 0.
    pub(crate) velocity: Option<Vector>,
    /// Initial angular velocity, rad/s. Default: 0.
    pub(crate) angular_velocity: Option<Spin>,
    /// Prescribed motion of a kinematic body.
    pub(crate) motion: Option<MotionTable>,
    /// Vibration of a kinematic body about its `position` and `orientation`, in space; instead of `motion`.
    pub(crate) vibration: Option<VibrationTable>,
    /// Moving surface, as of a conveyor belt.
    pub(crate) conveyor: Option<ConveyorTable>,
    /// Support of a body in the plane: gravity along −z presses the body onto it, with friction.
    pub(crate) support: Option<SupportTable>,
    /// Compliant layer on the surface: the name of a `[material]`, or `rigid` for none. Default: `rigid`.
    #[schemars(extend("examples" = ["rubber"]))]
    pub(crate) material: Option<String>,
    /// Collision shapes.
    #[serde(default)]
    pub(crate) shape: Vec<ShapeTable>,
}

/// Kind of body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BodyKindName {
    /// Never moves.
    Fixed,
    /// Moves as prescribed by `motion` or `vibration`.
    Kinematic,
    /// Moves under forces.
    #[default]
    Dynamic,
    /// Has no mass and moves with its joints, in reduced coordinates. Two joints in series need a frame between them.
    Frame,
}

/// Position and angle as functions of time. Omitted coordinates keep the values of the body's `position`, `angle` and
/// `orientation`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MotionTable {
    /// Coordinate x, m.
    pub(crate) x: Option<Scalar>,
    /// Coordinate y, m.
    pub(crate) y: Option<Scalar>,
    /// Coordinate z, m; in space.
    pub(crate) z: Option<Scalar>,
    /// Angle, rad. In space it is a rotation about `axis`, applied after `orientation`.
    pub(crate) angle: Option<Scalar>,
    /// Rotation axis in world coordinates, in space.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, 0.0, 1.0]]))]
    pub(crate) axis: Option<[f64; 3]>,
}

/// Sinusoidal accelerations A sin(2π f t + C) along and about the world axes, with zero means. With rotation about
/// several axes, the initial orientation is the one whose angles are symmetric about zero.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VibrationTable {
    /// Frequency f, Hz.
    #[schemars(extend("examples" = [33.0], "minimum" = 1e-6, "maximum" = 1e6))]
    pub(crate) frequency: f64,
    /// Amplitudes A along x, y and z, m/s². Default: 0.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, 0.0, 8.0]]))]
    pub(crate) acceleration: Option<[f64; 3]>,
    /// Phases C of `acceleration`. Default: 0.
    #[schemars(title = "three angles", extend("examples" = [[0.0, 0.0, "270 deg"]]))]
    pub(crate) phase: Option<[Angle; 3]>,
    /// Amplitudes A about x, y and z, rad/s². Default: 0.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, 0.0, 100.0]]))]
    pub(crate) angular_acceleration: Option<[f64; 3]>,
    /// Phases C of `angular_acceleration`. Default: 0.
    #[schemars(title = "three angles", extend("examples" = [[0.0, 0.0, "90 deg"]]))]
    pub(crate) angular_phase: Option<[Angle; 3]>,
}

/// A surface that moves relative to its body.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConveyorTable {
    /// Velocity of the surface relative to the body, in world axes, m/s.
    pub(crate) velocity: ScalarVector,
}
