//! The scene file as written: one struct per table, before any values are checked.
//!
//! Users read these doc comments: they become the descriptions of the JSON Schema. The `title` and `examples`
//! attributes become the words of error messages ("must be an angle: …, such as …").

mod body;
mod contact;
mod force;
mod joint;
mod material;
mod motor;
mod scheme_words;
mod shape;
mod simulation;
mod site;
mod support;
mod value;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use body::{BodyKindName, BodyTable, MotionTable, VibrationTable};
pub(crate) use contact::{ContactDefaultTable, ContactRuleTable, ContactTable};
pub(crate) use force::{DamperTable, LoadTable, SpringTable};
pub(crate) use joint::{JointDofWords, JointTable};
pub(crate) use material::{MaterialTable, Modulus};
pub(crate) use motor::{CouplingTable, MotorTable};
pub(crate) use scheme_words::{ClosingSpeedWord, StabilisationWord};
pub(crate) use shape::{GroupNumber, Made, PolygonTable, ShapeTable};
pub(crate) use simulation::{
    AscherTable, BaumgarteTable, ClosingSpeedTable, ClosingSpeedValue, ResidualTable, SchemeTable, SimulationTable,
    StabilisationTable, StabilisationValue,
};
pub(crate) use site::SiteTable;
pub(crate) use support::{LimitSurfaceTable, SupportFriction, SupportTable};
pub use value::Angle;
pub(crate) use value::{
    Count, Inertia, MarginValue, Orientation, OrientationTable, Scalar, ScalarVector, Spin, Torque, Vector,
};

/// A scene: bodies, joints, forces, contacts and the simulation settings. All quantities are in SI units.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stiction scene")]
pub(crate) struct SceneFile {
    /// Duration, time step and preset of the simulation.
    pub(crate) simulation: SimulationTable,
    /// Options of the time-stepping scheme. Default: those of the preset.
    #[serde(default)]
    pub(crate) scheme: SchemeTable,
    /// Bodies.
    #[serde(default)]
    pub(crate) body: Vec<BodyTable>,
    /// Joints between bodies, or between a body and the world.
    #[serde(default)]
    pub(crate) joint: Vec<JointTable>,
    /// Motors on joint DOFs.
    #[serde(default)]
    pub(crate) motor: Vec<MotorTable>,
    /// Couplings between joint coordinates.
    #[serde(default)]
    pub(crate) coupling: Vec<CouplingTable>,
    /// Sites: named frames on bodies.
    #[serde(default)]
    pub(crate) site: Vec<SiteTable>,
    /// Springs between points of two bodies.
    #[serde(default)]
    pub(crate) spring: Vec<SpringTable>,
    /// Dampers between points of two bodies.
    #[serde(default)]
    pub(crate) damper: Vec<DamperTable>,
    /// Forces and torques on bodies.
    #[serde(default)]
    pub(crate) load: Vec<LoadTable>,
    /// Compliant layers by name, for bodies and contacts.
    #[serde(default)]
    pub(crate) material: BTreeMap<String, MaterialTable>,
    /// Contact rule of all pairs of bodies without a rule of their own.
    #[serde(default)]
    pub(crate) contact_default: ContactDefaultTable,
    /// Contact rules of single pairs of bodies.
    #[serde(default)]
    pub(crate) contact: Vec<ContactTable>,
}
