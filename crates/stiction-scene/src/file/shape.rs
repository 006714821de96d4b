//! `[[body.shape]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Angle, Orientation, Vector};

/// A collision shape: exactly one kind of shape, and its pose on the body.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShapeTable {
    /// A single point.
    pub(crate) point: Option<PointTable>,
    /// A disc in the plane.
    pub(crate) disc: Option<RadiusTable>,
    /// A ball in space.
    pub(crate) sphere: Option<RadiusTable>,
    /// A capsule: all points within `radius` of a segment on the local x axis.
    pub(crate) capsule: Option<CapsuleTable>,
    /// A rectangle in the plane, or a cuboid in space.
    #[serde(rename = "box")]
    pub(crate) cuboid: Option<BoxTable>,
    /// A polygon in the plane, convex or not.
    pub(crate) polygon: Option<PolygonTable>,
    /// The convex hull of points in space.
    pub(crate) polyhedron: Option<VerticesTable>,
    /// The convex hull of points, in the plane or in space.
    pub(crate) hull: Option<VerticesTable>,
    /// A half-plane or half-space, bounded by the line or plane through the shape's origin.
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
    /// The intersection of convex shapes.
    pub(crate) implicit: Option<ImplicitTable>,
    /// Origin of the shape in the body frame, m. Default: the origin of the body.
    pub(crate) position: Option<Vector>,
    /// Angle of the shape in the body frame, in the plane. Default: 0.
    pub(crate) angle: Option<Angle>,
    /// Orientation of the shape in the body frame, in space. Default: that of the body.
    pub(crate) orientation: Option<Orientation>,
    /// Collision groups of the shape, numbers from 0 to 31. Default: `[0]`.
    #[schemars(title = "a list of whole numbers from 0 to 31", extend("examples" = [[0, 3]]))]
    pub(crate) groups: Option<Vec<GroupNumber>>,
    /// Collision groups that the shape collides with. Default: `[0]`. Two shapes collide if a group of one is in
    /// `meets` of the other.
    #[schemars(title = "a list of whole numbers from 0 to 31", extend("examples" = [[0, 3]]))]
    pub(crate) meets: Option<Vec<GroupNumber>>,
}

/// Number of a collision group.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "a whole number from 0 to 31", extend("examples" = [1]))]
pub(crate) struct GroupNumber(#[schemars(range(min = 0, max = 31))] pub(crate) u32);

/// A point, which has no sizes: `point = {}`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PointTable {}

/// Size of a disc or ball.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RadiusTable {
    /// Radius, m.
    #[schemars(extend("examples" = [0.1], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) radius: f64,
}

/// Sizes of a capsule.
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

/// Sizes of a box: `half_extents` or `size`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoxTable {
    /// Half the edge lengths along the local axes, m.
    pub(crate) half_extents: Option<Vector>,
    /// Edge lengths along the local axes, m.
    pub(crate) size: Option<Vector>,
}

/// A polygon: `vertices` or `regular`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolygonTable {
    /// Vertices in counter-clockwise order, m. The outline must not touch itself.
    pub(crate) vertices: Option<Vec<Vector>>,
    /// A regular polygon.
    pub(crate) regular: Option<RegularTable>,
}

/// A regular polygon; its first vertex is on the local x axis.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegularTable {
    /// Number of sides, from 3 to 1000.
    #[schemars(range(min = 3, max = 1000), title = "a whole number from 3 to 1000", extend("examples" = [6]))]
    pub(crate) sides: u32,
    /// Distance of the vertices from the centre, m.
    #[schemars(extend("examples" = [0.1], "exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub(crate) radius: f64,
}

/// Points of a convex hull.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerticesTable {
    /// Points, m. Points inside the hull are dropped.
    pub(crate) vertices: Vec<Vector>,
}

/// Direction of a half-space.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HalfSpaceTable {
    /// Outward normal of the solid; its length does not matter.
    pub(crate) normal: Vector,
}

/// Sizes of an ellipse.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EllipseTable {
    /// Semi-axes along the local x and y axis, m.
    #[schemars(title = "two numbers", extend("examples" = [[4.0, 2.0]]))]
    pub(crate) semi_axes: [f64; 2],
}

/// Sizes of a superellipse.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuperellipseTable {
    /// Semi-axes along the local x and y axis, m.
    #[schemars(title = "two numbers", extend("examples" = [[2.3, 1.1]]))]
    pub(crate) semi_axes: [f64; 2],
    /// Exponent p, from 2 (an ellipse) to 64 (nearly a rectangle).
    #[schemars(extend("examples" = [4.0], "minimum" = 2, "maximum" = 64))]
    pub(crate) exponent: f64,
}

/// Sizes of an ellipsoid.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EllipsoidTable {
    /// Semi-axes along the local x, y and z axis, m.
    #[schemars(title = "three numbers", extend("examples" = [[0.3, 0.2, 0.1]]))]
    pub(crate) semi_axes: [f64; 3],
}

/// Sizes of a cylinder.
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

/// Sizes of a superquadric.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuperquadricTable {
    /// Semi-axes along the local x, y and z axis, m.
    #[schemars(title = "three numbers", extend("examples" = [[0.3, 0.2, 0.1]]))]
    pub(crate) semi_axes: [f64; 3],
    /// Exponents p (around the z axis) and q (along it), from 2 to 64.
    #[schemars(title = "two numbers", extend("examples" = [[4.0, 4.0]]))]
    pub(crate) exponents: [f64; 2],
}

/// An intersection of convex shapes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImplicitTable {
    /// Convex shapes, each with its own pose. The solid is their intersection.
    pub(crate) intersection: Vec<ShapeTable>,
}
