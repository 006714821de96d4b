//! `[[body]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Angle, Inertia, Orientation, Scalar, ScalarVector, ShapeTable, Spin, SupportTable, Vector};

/// A body. The frame of a dynamic body has its origin in the centre of mass.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("not" = { "required": ["mass", "density"] }))]
pub(crate) struct BodyTable {
    /// Unique name; `world` is taken by the fixed frame.
    #[schemars(extend("examples" = ["rod"]))]
    pub(crate) name: String,
    /// Whether it is an obstacle, moves as prescribed, moves freely, or is a frame without mass between joints.
    #[serde(default)]
    pub(crate) kind: BodyKindName,
    /// Mass, kg. Dynamic bodies need it, or `density`.
    #[schemars(extend("examples" = [1.0], "minimum" = 1e-12, "maximum" = 1e12))]
    pub(crate) mass: Option<f64>,
    /// Instead of `mass`: mass per area in the plane (kg/m²) or per volume in space (kg/m³) of the shapes.
    #[schemars(extend("examples" = [1000.0], "exclusiveMinimum" = 0))]
    pub(crate) density: Option<f64>,
    /// Moment of inertia about the centre of mass, kg m²; computed from the shapes when left out.
    pub(crate) inertia: Option<Inertia>,
    /// True for a point mass, which has no orientation.
    #[serde(default)]
    pub(crate) particle: bool,
    /// Initial position, m; the origin when left out.
    pub(crate) position: Option<Vector>,
    /// Initial angle in the plane.
    pub(crate) angle: Option<Angle>,
    /// Initial orientation in space.
    pub(crate) orientation: Option<Orientation>,
    /// Initial velocity of the centre of mass, m/s.
    pub(crate) velocity: Option<Vector>,
    /// Initial angular velocity, rad/s.
    pub(crate) angular_velocity: Option<Spin>,
    /// Motion of a kinematic body.
    pub(crate) motion: Option<MotionTable>,
    /// Instead of `motion`, in space: vibration of a kinematic body about its `position` and `orientation`.
    pub(crate) vibration: Option<VibrationTable>,
    /// Lets the surface run like a conveyor belt.
    pub(crate) conveyor: Option<ConveyorTable>,
    /// What it lies on, in the plane: gravity presses it down along −z, and it rubs.
    pub(crate) support: Option<SupportTable>,
    /// The compliant layer on its surface: the name of a `[material]`, or `rigid` for none.
    #[schemars(extend("examples" = ["rubber"]))]
    pub(crate) material: Option<String>,
    /// Collision shapes.
    #[serde(default)]
    pub(crate) shape: Vec<ShapeTable>,
}

/// How a body moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BodyKindName {
    /// Never.
    Fixed,
    /// As given by `motion`.
    Kinematic,
    /// By the laws of mechanics.
    #[default]
    Dynamic,
    /// With what its joints leave it, without mass of its own: what two joints one after the other need between them, in reduced
    /// coordinates.
    Frame,
}

/// Position and angle as functions of time. A coordinate left out stays at the body's `position`, `angle`, `orientation`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MotionTable {
    /// First coordinate, m.
    pub(crate) x: Option<Scalar>,
    /// Second coordinate, m.
    pub(crate) y: Option<Scalar>,
    /// Third coordinate, m; in space.
    pub(crate) z: Option<Scalar>,
    /// Angle, rad: in the plane the angle itself, in space a turn about `axis` on top of `orientation`.
    pub(crate) angle: Option<Scalar>,
    /// World axis of the angle, in space.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, 0.0, 1.0]]))]
    pub(crate) axis: Option<[f64; 3]>,
}

/// Sinusoids of acceleration along and about the world axes, A sin(2π f t + C) with zero means. About several axes the
/// orientation starts where its angles are symmetric about zero.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VibrationTable {
    /// Frequency f, Hz.
    #[schemars(extend("examples" = [33.0], "minimum" = 1e-6, "maximum" = 1e6))]
    pub(crate) frequency: f64,
    /// Amplitudes A along x, y and z, m/s²; zero when left out.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, 0.0, 8.0]]))]
    pub(crate) acceleration: Option<[f64; 3]>,
    /// Phases C of `acceleration`; zero when left out.
    #[schemars(title = "three angles", extend("examples" = [[0.0, 0.0, "270 deg"]]))]
    pub(crate) phase: Option<[Angle; 3]>,
    /// Amplitudes A about x, y and z, rad/s²; zero when left out.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, 0.0, 100.0]]))]
    pub(crate) angular_acceleration: Option<[f64; 3]>,
    /// Phases C of `angular_acceleration`; zero when left out.
    #[schemars(title = "three angles", extend("examples" = [[0.0, 0.0, "90 deg"]]))]
    pub(crate) angular_phase: Option<[Angle; 3]>,
}

/// A surface that runs relative to its body.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConveyorTable {
    /// Velocity of the surface relative to the body, world axes, m/s.
    pub(crate) velocity: ScalarVector,
}
