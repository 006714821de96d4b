//! The joint kinds: one entry of a table each, with constraints, coordinates of joint DOFs and words in scene files.
//!
//! A kind whose DOFs are translations and at most two rotations needs no more than its entry: rows of a step, coordinates, tree
//! joint and scene key follow from it.

use stiction_geometry::Dimension;

use super::{
    constraint::Constraint::{self, Coincide, Distance, Offset, Perpendicular},
    joint_dof::Measure::{self, Bend, FirstTurn, SecondTurn, Slide, Turn},
};

/// Largest number of joint DOFs with a coordinate.
pub(crate) const MAX_JOINT_DOFS: usize = 3;

/// Keys that place a joint in a scene file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// `anchor`, and `axis` if the kind has an axis.
    Anchor,
    /// `anchor`, or the two `anchors` of a joint that is open at the start.
    AnchorOrAnchors,
    /// `anchor`, `axis` on the first body and `second_axis` on the second.
    TwoAxes,
    /// Two `anchors` and the `length` between them.
    Ends,
}

/// Entry of the table of kinds.
struct Definition {
    /// Name in scene files.
    name: &'static str,
    /// Description of the name, for the schema of scene files.
    about: &'static str,
    placement: Placement,
    /// Form in the plane; none if the kind exists only in space.
    plane: Option<Form>,
    /// Form in space; none if the kind exists only in the plane.
    space: Option<Form>,
}

/// A kind in one dimension. The joint frame has its x axis along the joint axis; the plane uses x and y of the frame.
struct Form {
    /// Elementary constraints.
    rows: &'static [Constraint],
    /// Coordinates of its joint DOFs, at most [`MAX_JOINT_DOFS`], in the order of their numbers.
    dofs: &'static [Measure],
    /// True if the motion depends on the joint axis.
    axis: bool,
}

const fn form(rows: &'static [Constraint], dofs: &'static [Measure]) -> Form {
    Form { rows, dofs, axis: false }
}

/// Form whose motion depends on the joint axis.
const fn with_axis(rows: &'static [Constraint], dofs: &'static [Measure]) -> Form {
    Form { rows, dofs, axis: true }
}

macro_rules! joint_kinds {
    ($($(#[$doc:meta])* $kind:ident $(($parameter:ty = $default:expr))? => { $($definition:tt)* })*) => {
        /// Kind of a joint, described by the relative motion that it allows.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum JointKind {
            $($(#[$doc])* $kind $(($parameter))?,)*
        }

        impl JointKind {
            /// All kinds, in the order of the table; a distance joint is 1 m long.
            pub const ALL: &'static [Self] = &[$(Self::$kind $(($default))?,)*];

            fn definition(self) -> &'static Definition {
                match self {
                    $(Self::$kind { .. } => {
                        static DEFINITION: Definition = Definition { $($definition)* };
                        &DEFINITION
                    })*
                }
            }
        }
    };
}

joint_kinds! {
    /// Rotation about z (plane) or about the joint axis (space).
    Revolute => {
        name: "revolute",
        about: "Rotation about one axis.",
        placement: Placement::Anchor,
        plane: Some(form(&[Coincide(0), Coincide(1)], &[Turn(2)])),
        space: Some(with_axis(
            &[Coincide(0), Coincide(1), Coincide(2), Perpendicular(1, 0), Perpendicular(2, 0)],
            &[Turn(0)],
        )),
    }
    /// Translation along the joint axis.
    Prismatic => {
        name: "prismatic",
        about: "Translation along one axis.",
        placement: Placement::Anchor,
        plane: Some(with_axis(&[Offset(1), Perpendicular(0, 1)], &[Slide(0)])),
        space: Some(with_axis(
            &[Offset(1), Offset(2), Perpendicular(1, 0), Perpendicular(2, 0), Perpendicular(1, 2)],
            &[Slide(0)],
        )),
    }
    /// No relative motion.
    Weld => {
        name: "weld",
        about: "No relative motion.",
        placement: Placement::AnchorOrAnchors,
        plane: Some(form(&[Coincide(0), Coincide(1), Perpendicular(0, 1)], &[])),
        space: Some(form(
            &[Coincide(0), Coincide(1), Coincide(2), Perpendicular(1, 0), Perpendicular(2, 0), Perpendicular(1, 2)],
            &[],
        )),
    }
    /// Motion with two points at a fixed distance, in metres.
    Distance(f64 = 1.0) => {
        name: "distance",
        about: "Two points at a fixed distance.",
        placement: Placement::Ends,
        plane: Some(form(&[Distance], &[])),
        space: Some(form(&[Distance], &[])),
    }
    /// Rotation about every axis; in space.
    Spherical => {
        name: "spherical",
        about: "Rotation about every axis; in space.",
        placement: Placement::AnchorOrAnchors,
        plane: None,
        space: Some(form(&[Coincide(0), Coincide(1), Coincide(2)], &[Bend])),
    }
    /// Rotation about two perpendicular axes: the joint axis of the first body and the second axis of the other; in space.
    Universal => {
        name: "universal",
        about: "Rotation about two perpendicular axes; in space.",
        placement: Placement::TwoAxes,
        plane: None,
        space: Some(with_axis(
            &[Coincide(0), Coincide(1), Coincide(2), Perpendicular(0, 1)],
            &[FirstTurn, SecondTurn],
        )),
    }
    /// Rotation about the joint axis and translation along it; in space.
    Cylindrical => {
        name: "cylindrical",
        about: "Rotation about an axis and translation along it; in space.",
        placement: Placement::Anchor,
        plane: None,
        space: Some(with_axis(
            &[Offset(1), Offset(2), Perpendicular(1, 0), Perpendicular(2, 0)],
            &[Slide(0), Turn(0)],
        )),
    }
    /// Translation in the plane perpendicular to the joint axis and rotation about it; in space.
    Planar => {
        name: "planar",
        about: "Translation in the plane perpendicular to an axis and rotation about that axis; in space.",
        placement: Placement::Anchor,
        plane: None,
        space: Some(with_axis(
            &[Offset(0), Perpendicular(1, 0), Perpendicular(2, 0)],
            &[Slide(1), Slide(2), Turn(0)],
        )),
    }
}

impl JointKind {
    /// Kinds that exist in a dimension, in the order of [`Self::ALL`].
    pub fn all(dimension: Dimension) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |kind| kind.form(dimension).is_some())
    }

    /// Kind with a name of scene files.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The name used in scene files.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// Description in the schema of scene files.
    pub fn about(self) -> &'static str {
        self.definition().about
    }

    /// Keys that place it in a scene file.
    pub fn placement(self) -> Placement {
        self.definition().placement
    }

    /// True if it exists in that dimension and its motion depends on the joint axis.
    pub fn has_axis(self, dimension: Dimension) -> bool {
        self.form(dimension).is_some_and(|form| form.axis)
    }

    /// Number of degrees of freedom between the two bodies; `None` if the kind does not exist in that dimension.
    pub fn joint_dof(self, dimension: Dimension) -> Option<usize> {
        let all = if dimension == Dimension::Planar { 3 } else { 6 };
        Some(all - self.constraints(dimension)?.len())
    }

    /// Elementary constraints of the joint; `None` if it does not exist in that dimension.
    ///
    /// The joint frame has its x axis along the joint axis; the plane uses x and y of the frame.
    pub fn constraints(self, dimension: Dimension) -> Option<&'static [Constraint]> {
        self.form(dimension).map(|form| form.rows)
    }

    /// For each joint DOF with a coordinate: true if the coordinate is a length, false if it is an angle.
    pub fn dof_is_length(self, dimension: Dimension) -> impl Iterator<Item = bool> {
        self.measures(dimension).iter().map(|measure| matches!(measure, Slide(_)))
    }

    /// Coordinates of its joint DOFs, in the order of their numbers.
    pub(crate) fn measures(self, dimension: Dimension) -> &'static [Measure] {
        self.form(dimension).map_or(&[], |form| form.dofs)
    }

    /// Length of a distance joint, m; zero for other kinds.
    pub(crate) fn length(self) -> f64 {
        if let Self::Distance(length) = self { length } else { 0.0 }
    }

    fn form(self, dimension: Dimension) -> Option<&'static Form> {
        let definition = self.definition();
        match dimension {
            Dimension::Planar => definition.plane.as_ref(),
            Dimension::Spatial => definition.space.as_ref(),
        }
    }
}
