//! The scene file as written: one struct per table, before any meaning is checked.
//!
//! The doc comments are what a user reads: they become the descriptions of the JSON Schema, and the `title` and `example`
//! attributes become the words of error messages ("expected an angle: …, such as …").

mod body;
mod contact;
mod force;
mod joint;
mod material;
mod motor;
mod scheme_words;
mod shape;
mod simulation;
mod support;
mod value;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use body::{BodyKindName, BodyTable, MotionTable, VibrationTable};
pub(crate) use contact::{ContactDefaultTable, ContactRuleTable, ContactTable};
pub(crate) use force::{DamperTable, LoadTable, SpringTable};
pub(crate) use joint::{JointDofWords, JointKindName, JointTable};
pub(crate) use material::{MaterialTable, Modulus};
pub(crate) use motor::{CouplingTable, MotorTable};
pub(crate) use scheme_words::StabilisationWord;
pub(crate) use shape::{GroupNumber, PolygonTable, ShapeTable};
pub(crate) use simulation::{
    AscherTable, BaumgarteTable, SchemeTable, SimulationTable, StabilisationTable, StabilisationValue,
};
pub(crate) use support::{LimitSurfaceTable, SupportFriction, SupportTable};
pub use value::Angle;
pub(crate) use value::{
    Count, Inertia, MarginValue, Orientation, OrientationTable, Scalar, ScalarVector, Spin, Torque, Vector,
};

/// A scene: what there is, how it moves, and how long to simulate it. SI units throughout.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stiction scene")]
pub(crate) struct SceneFile {
    /// How long and how finely to simulate.
    pub(crate) simulation: SimulationTable,
    /// Choices of the time-stepping scheme; the preset sets what is left out.
    #[serde(default)]
    pub(crate) scheme: SchemeTable,
    /// The bodies.
    #[serde(default)]
    pub(crate) body: Vec<BodyTable>,
    /// Joints between bodies, or between a body and the world.
    #[serde(default)]
    pub(crate) joint: Vec<JointTable>,
    /// What drives joints.
    #[serde(default)]
    pub(crate) motor: Vec<MotorTable>,
    /// Joints that follow others.
    #[serde(default)]
    pub(crate) coupling: Vec<CouplingTable>,
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
    /// What happens between bodies that touch, where no pair rule says otherwise.
    #[serde(default)]
    pub(crate) contact_default: ContactDefaultTable,
    /// Contact rules for single pairs of bodies.
    #[serde(default)]
    pub(crate) contact: Vec<ContactTable>,
}
