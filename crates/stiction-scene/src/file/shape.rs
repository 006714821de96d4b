//! `[[body.shape]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Angle, Orientation, Vector};

/// A collision shape: exactly one kind of shape, and where it sits on the body.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShapeTable {
    /// A single point.
    pub(crate) point: Option<PointTable>,
    /// A disc in the plane.
    pub(crate) disc: Option<RadiusTable>,
    /// A ball in space.
    pub(crate) sphere: Option<RadiusTable>,
    /// All points within `radius` of a segment on the local x axis.
    pub(crate) capsule: Option<CapsuleTable>,
    /// A rectangle in the plane, a cuboid in space.
    #[serde(rename = "box")]
    pub(crate) cuboid: Option<BoxTable>,
    /// A polygon in the plane, convex or with notches.
    pub(crate) polygon: Option<PolygonTable>,
    /// The convex hull of points in space.
    pub(crate) polyhedron: Option<VerticesTable>,
    /// The convex hull of points, in the plane or in space.
    pub(crate) hull: Option<VerticesTable>,
    /// Everything below a line (plane) or a plane (space) through the shape's origin.
    pub(crate) halfspace: Option<HalfSpaceTable>,
    /// An ellipse in the plane.
    pub(crate) ellipse: Option<EllipseTable>,
    /// A superellipse |x/a|^p + |y/b|^p ≤ 1 in the plane.
    pub(crate) superellipse: Option<SuperellipseTable>,
    /// An ellipsoid in space.
    pub(crate) ellipsoid: Option<EllipsoidTable>,
    /// A solid cylinder along the local x axis, with flat ends, in space.
    pub(crate) cylinder: Option<CylinderTable>,
    /// A superquadric (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q ≤ 1 in space.
    pub(crate) superquadric: Option<SuperquadricTable>,
    /// A convex solid made of other shapes.
    pub(crate) implicit: Option<ImplicitTable>,
    /// Where the shape's origin sits in the body frame, m.
    pub(crate) position: Option<Vector>,
    /// How the shape is turned on the body, in the plane.
    pub(crate) angle: Option<Angle>,
    /// How the shape is turned on the body, in space.
    pub(crate) orientation: Option<Orientation>,
    /// The groups it belongs to, numbers from 0 to 31; `[0]` when left out.
    #[schemars(title = "a list of whole numbers from 0 to 31", extend("examples" = [[0, 3]]))]
    pub(crate) groups: Option<Vec<GroupNumber>>,
    /// The groups it meets; `[0]` when left out. Two shapes touch where a group of one is among those that the other meets.
    #[schemars(title = "a list of whole numbers from 0 to 31", extend("examples" = [[0, 3]]))]
    pub(crate) meets: Option<Vec<GroupNumber>>,
}

/// The number of a group of shapes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "a whole number from 0 to 31", extend("examples" = [1]))]
pub(crate) struct GroupNumber(#[schemars(range(min = 0, max = 31))] pub(crate) u32);

/// A point needs no sizes: `point = {}`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PointTable {}

/// The size of a disc or ball.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RadiusTable {
    /// Radius, m.
    #[schemars(extend("examples" = [0.1], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) radius: f64,
}

/// The sizes of a capsule.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CapsuleTable {
    /// Half the length of the segment between the centres of the two caps, m.
    #[schemars(extend("examples" = [0.25], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) half_length: f64,
    /// Radius, m.
    #[schemars(extend("examples" = [0.05], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) radius: f64,
}

/// The sizes of a box: `half_extents` or `size`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoxTable {
    /// Half the edge lengths along the local axes, m.
    pub(crate) half_extents: Option<Vector>,
    /// The edge lengths along the local axes, m.
    pub(crate) size: Option<Vector>,
}

/// A polygon: `vertices` or `regular`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolygonTable {
    /// The corners, counter-clockwise, m; the outline must not touch itself.
    pub(crate) vertices: Option<Vec<Vector>>,
    /// A polygon with equal sides.
    pub(crate) regular: Option<RegularTable>,
}

/// A regular polygon; its first corner is on the local x axis.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegularTable {
    /// Number of sides, from 3 to 1000.
    #[schemars(range(min = 3, max = 1000), title = "a whole number from 3 to 1000", extend("examples" = [6]))]
    pub(crate) sides: u32,
    /// Distance of the corners from the centre, m.
    #[schemars(extend("examples" = [0.1], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) radius: f64,
}

/// Corners of a convex hull.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerticesTable {
    /// The points, m; those inside the hull are dropped.
    pub(crate) vertices: Vec<Vector>,
}

/// The direction of a half-space.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HalfSpaceTable {
    /// Direction out of the solid; need not have length one.
    pub(crate) normal: Vector,
}

/// The sizes of an ellipse.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EllipseTable {
    /// Half the lengths of the two axes, along the local x and y axis, m.
    #[schemars(title = "two numbers", extend("examples" = [[4.0, 2.0]]))]
    pub(crate) semi_axes: [f64; 2],
}

/// The sizes of a superellipse.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuperellipseTable {
    /// Half the lengths of the two axes, along the local x and y axis, m.
    #[schemars(title = "two numbers", extend("examples" = [[2.3, 1.1]]))]
    pub(crate) semi_axes: [f64; 2],
    /// The exponent p: 2 is an ellipse, larger ones come nearer to a rectangle.
    #[schemars(extend("examples" = [4.0], "minimum" = 2, "maximum" = 64))]
    pub(crate) exponent: f64,
}

/// The sizes of an ellipsoid.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EllipsoidTable {
    /// Half the lengths of the three axes, along the local x, y and z axis, m.
    #[schemars(title = "three numbers", extend("examples" = [[0.3, 0.2, 0.1]]))]
    pub(crate) semi_axes: [f64; 3],
}

/// The sizes of a cylinder.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CylinderTable {
    /// Half the length, m.
    #[schemars(extend("examples" = [0.25], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) half_length: f64,
    /// Radius, m.
    #[schemars(extend("examples" = [0.05], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) radius: f64,
}

/// The sizes of a superquadric.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuperquadricTable {
    /// Half the lengths of the three axes, along the local x, y and z axis, m.
    #[schemars(title = "three numbers", extend("examples" = [[0.3, 0.2, 0.1]]))]
    pub(crate) semi_axes: [f64; 3],
    /// The exponents p (round the z axis) and q (along it), from 2 to 64.
    #[schemars(title = "two numbers", extend("examples" = [[4.0, 4.0]]))]
    pub(crate) exponents: [f64; 2],
}

/// A convex solid made of other shapes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImplicitTable {
    /// Convex shapes, each with its place; the solid is what they have in common.
    pub(crate) intersection: Vec<ShapeTable>,
}
