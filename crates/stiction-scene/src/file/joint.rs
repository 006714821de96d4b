//! `[[joint]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Angle, Vector};

macro_rules! joint_dof_table {
    ($(#[$doc:meta])* $name:ident { $($extra:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $($extra)*
            /// Least and greatest coordinate, m or rad; none when left out.
            #[schemars(title = "two coordinates: numbers, or angles with a unit", extend("examples" = [["-90 deg", "90 deg"]]))]
            pub(crate) limits: Option<[Angle; 2]>,
            /// Dry friction: the greatest force (N) or torque (N m) the freedom resists with; 0 when left out.
            #[schemars(extend("examples" = [0.1], "minimum" = 0, "maximum" = 1e15))]
            pub(crate) friction: Option<f64>,
            /// Viscous damping, N s/m or N m s/rad; 0 when left out.
            #[schemars(extend("examples" = [0.5], "minimum" = 0, "maximum" = 1e15))]
            pub(crate) damping: Option<f64>,
            /// Stiffness of a spring in the joint, N/m or N m/rad; 0 when left out.
            #[schemars(extend("examples" = [10.0], "minimum" = 0, "maximum" = 1e15))]
            pub(crate) stiffness: Option<f64>,
            /// The coordinate at which the spring is at rest; 0 when left out.
            pub(crate) rest: Option<Angle>,
            /// Inertia of a rotor seen at the joint, kg or kg m²; 0 when left out.
            #[schemars(extend("examples" = [0.01], "minimum" = 0, "maximum" = 1e18))]
            pub(crate) armature: Option<f64>,
            /// The coordinate at the start; 0 when left out.
            pub(crate) initial: Option<Angle>,
        }

        impl $name {
            /// What acts along the freedom, without what else the table says.
            pub(crate) fn joint_dof(&self) -> JointDofWords<'_> {
                JointDofWords {
                    limits: self.limits.as_ref(),
                    friction: self.friction,
                    damping: self.damping,
                    stiffness: self.stiffness,
                    rest: self.rest.as_ref(),
                    armature: self.armature,
                    initial: self.initial.as_ref(),
                }
            }
        }
    };
}

joint_dof_table!(
    /// A joint. Anchors and axes are in world coordinates, at the initial configuration. What acts along the freedom of a
    /// joint with one stands here; joints with several have a list, `freedoms`.
    JointTable {
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
        /// The two end points of a distance joint; the two points of a spherical joint or a weld that is open at the start.
        #[schemars(title = "two points", extend("examples" = [[[0.0, 0.0], [1.0, 0.0]]]))]
        pub(crate) anchors: Option<[Vector; 2]>,
        /// Length of a distance joint, m; the initial distance of its anchors when left out.
        #[schemars(extend("examples" = [1.0], "exclusiveMinimum" = 0, "maximum" = 1e9))]
        pub(crate) length: Option<f64>,
        /// Weight of this joint's position error, from 0 to 1; that of the scheme when left out.
        #[schemars(extend("examples" = [1.0], "minimum" = 0, "maximum" = 1))]
        pub(crate) gamma: Option<f64>,
        /// What acts along the freedoms of a joint with several, one table each: slide and turn of a cylindrical joint, the two
        /// turns of a universal one, two slides and a turn of a planar one.
        #[serde(alias = "freedoms")]
        pub(crate) dofs: Option<Vec<JointDofTable>>,
    }
);

joint_dof_table!(
    /// What acts along one freedom of a joint.
    JointDofTable {}
);

/// What both kinds of table say of a freedom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointDofWords<'a> {
    pub(crate) limits: Option<&'a [Angle; 2]>,
    pub(crate) friction: Option<f64>,
    pub(crate) damping: Option<f64>,
    pub(crate) stiffness: Option<f64>,
    pub(crate) rest: Option<&'a Angle>,
    pub(crate) armature: Option<f64>,
    pub(crate) initial: Option<&'a Angle>,
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
