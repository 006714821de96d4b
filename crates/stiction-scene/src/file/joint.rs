//! `[[joint]]`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use stiction_multibody::{Dimension, JointKind};

use super::{Angle, Vector};

macro_rules! joint_dof_table {
    ($(#[$doc:meta])* $name:ident { $($extra:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $($extra)*
            /// Lower and upper limit of the coordinate, m or rad. Default: no limits.
            #[schemars(title = "two coordinates: numbers, or angles with a unit", extend("examples" = [["-90 deg", "90 deg"]]))]
            pub(crate) limits: Option<[Angle; 2]>,
            /// Dry friction: largest friction force (N) or torque (N m). Default: 0.
            #[schemars(extend("examples" = [0.1], "minimum" = 0, "maximum" = 1e15))]
            pub(crate) friction: Option<f64>,
            /// Viscous damping, N s/m or N m s/rad. Default: 0.
            #[schemars(extend("examples" = [0.5], "minimum" = 0, "maximum" = 1e15))]
            pub(crate) damping: Option<f64>,
            /// Stiffness of the joint spring, N/m or N m/rad. Default: 0.
            #[schemars(extend("examples" = [10.0], "minimum" = 0, "maximum" = 1e15))]
            pub(crate) stiffness: Option<f64>,
            /// Coordinate at which the spring is at rest, m or rad. Default: 0.
            pub(crate) rest: Option<Angle>,
            /// Rotor inertia reflected to the joint, kg or kg m². Default: 0.
            #[schemars(extend("examples" = [0.01], "minimum" = 0, "maximum" = 1e18))]
            pub(crate) armature: Option<f64>,
            /// Coordinate at the poses that the file gives, m or rad. Default: 0.
            pub(crate) reference: Option<Angle>,
            /// Coordinate at the start, m or rad: the bodies beyond the joint are moved there from the poses that the
            /// file gives. Default: `reference`.
            pub(crate) initial: Option<Angle>,
        }

        impl $name {
            /// Returns the keys that act along the DOF.
            pub(crate) fn joint_dof(&self) -> JointDofWords<'_> {
                JointDofWords {
                    limits: self.limits.as_ref(),
                    friction: self.friction,
                    damping: self.damping,
                    stiffness: self.stiffness,
                    rest: self.rest.as_ref(),
                    armature: self.armature,
                    reference: self.reference.as_ref(),
                    initial: self.initial.as_ref(),
                }
            }
        }
    };
}

joint_dof_table!(
    /// A joint. Anchors and axes are in world coordinates, at the poses that the file gives. The keys of a single DOF
    /// stand in this table; a joint with several DOFs has the list `dofs`.
    JointTable {
        /// Unique name. Default: `joint-1`, `joint-2`, … by position in the file.
        #[schemars(extend("examples" = ["elbow"]))]
        pub(crate) name: Option<String>,
        /// Kind of joint.
        #[serde(deserialize_with = "joint_kind")]
        #[schemars(with = "JointKindName")]
        pub(crate) kind: JointKind,
        /// Names of the two bodies; `"world"` is the fixed frame.
        #[schemars(title = "the names of two bodies", extend("examples" = [["world", "rod"]]))]
        pub(crate) between: [String; 2],
        /// Position of the joint, m.
        pub(crate) anchor: Option<Vector>,
        /// Axis of rotation or sliding; normal of a planar joint.
        pub(crate) axis: Option<Vector>,
        /// Second axis of a universal joint, fixed to the second body and perpendicular to `axis`.
        pub(crate) second_axis: Option<Vector>,
        /// The two end points of a distance joint, m; or the two points of a spherical joint or weld that is open at
        /// the start.
        #[schemars(title = "two points", extend("examples" = [[[0.0, 0.0], [1.0, 0.0]]]))]
        pub(crate) anchors: Option<[Vector; 2]>,
        /// Length of a distance joint, m. Default: the initial distance of its anchors.
        #[schemars(extend("examples" = [1.0], "exclusiveMinimum" = 0, "maximum" = 1e9))]
        pub(crate) length: Option<f64>,
        /// Weight γ of the position error of this joint, from 0 to 1. Default: that of `[scheme]`.
        #[schemars(extend("examples" = [1.0], "minimum" = 0, "maximum" = 1))]
        pub(crate) gamma: Option<f64>,
        #[schemars(extend("description" = describe_dofs()))]
        pub(crate) dofs: Option<Vec<JointDofTable>>,
    }
);

joint_dof_table!(
    /// Limits, friction, damping, spring, armature and start of one joint DOF.
    JointDofTable {}
);

/// Keys common to both kinds of table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointDofWords<'a> {
    pub(crate) limits: Option<&'a [Angle; 2]>,
    pub(crate) friction: Option<f64>,
    pub(crate) damping: Option<f64>,
    pub(crate) stiffness: Option<f64>,
    pub(crate) rest: Option<&'a Angle>,
    pub(crate) armature: Option<f64>,
    pub(crate) reference: Option<&'a Angle>,
    pub(crate) initial: Option<&'a Angle>,
}

/// Reads the name of a kind.
fn joint_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JointKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    JointKind::named(&name).ok_or_else(|| D::Error::custom(format!("there is no kind of joint \"{name}\"")))
}

/// Schema of the names of all kinds.
struct JointKindName;

impl JsonSchema for JointKindName {
    fn schema_name() -> Cow<'static, str> {
        "JointKindName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let word =
            |kind: &JointKind| json_schema!({ "type": "string", "const": kind.name(), "description": kind.about() });
        let words: Vec<_> = JointKind::ALL.iter().map(word).collect();
        json_schema!({ "description": "Kind of joint, by the motion it allows.", "oneOf": words })
    }
}

/// Returns the description of `dofs`: the DOFs of all kinds that have several.
fn describe_dofs() -> String {
    let mut sentences = vec!["One table per DOF of a joint with several.".to_owned()];
    sentences.extend(JointKind::ALL.iter().filter_map(|kind| {
        let dimension = [Dimension::Spatial, Dimension::Planar].into_iter().find(|d| kind.joint_dof(*d).is_some())?;
        let is_length: Vec<bool> = kind.dof_is_length(dimension).collect();
        let equal = |equal: &[bool]| {
            let motion = if equal.contains(&true) { "translation" } else { "rotation" };
            match equal.len() {
                1 => motion.to_owned(),
                2 => format!("two {motion}s"),
                _ => format!("three {motion}s"),
            }
        };
        let motions: Vec<_> = is_length.chunk_by(|a, b| a == b).map(equal).collect();
        let (first, rest) = kind.name().split_at(1);
        (is_length.len() > 1).then(|| format!("{}{rest}: {}.", first.to_uppercase(), motions.join(", ")))
    }));
    sentences.join(" ")
}
