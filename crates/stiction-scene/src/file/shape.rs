//! `[[body.shape]]`.

use schemars::JsonSchema;
use serde::Deserialize;
use stiction_geometry::{ShapeError, planar, spatial};

use super::{Angle, Orientation, Vector};
use Made::{Nowhere, Sizes, Vectors};

/// A shape in the plane or in space, as its table of sizes gives it.
pub(crate) enum Made<S> {
    /// The sizes are all that it needs.
    Sizes(Result<S, ShapeError>),
    /// The table has vectors or other shapes, which `build/shape.rs` reads.
    Vectors,
    /// There is no such shape in this dimension; with a hint at another one.
    Nowhere(&'static str),
}

/// Declares the kinds of shapes: description, field and key, table, and what becomes of it in the plane and in space.
macro_rules! shape_words {
    ($($(#[$description:meta])+ $field:ident $key:literal $table:ty {
        plane: $plane:expr,
        space: $space:expr,
    })+) => {
        /// A collision shape: exactly one kind of shape, and its pose on the body.
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct ShapeTable {
            $($(#[$description])+
            #[serde(rename = $key)]
            pub(crate) $field: Option<$table>,)+
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

        impl ShapeTable {
            /// Keys of the kinds.
            pub(crate) const KINDS: &[&str] = &[$($key),+];

            /// Returns the shape in the plane; `None` for a table without a kind.
            pub(crate) fn in_plane(&self) -> Option<Made<planar::Shape>> {
                $(if let Some(table) = &self.$field {
                    let make: fn(&$table) -> Made<planar::Shape> = $plane;
                    return Some(make(table));
                })+
                None
            }

            /// Returns the shape in space; `None` for a table without a kind.
            pub(crate) fn in_space(&self) -> Option<Made<spatial::Shape>> {
                $(if let Some(table) = &self.$field {
                    let make: fn(&$table) -> Made<spatial::Shape> = $space;
                    return Some(make(table));
                })+
                None
            }
        }
    };
}

shape_words! {
    /// A single point.
    point "point" PointTable {
        plane: |_| Sizes(Ok(planar::Shape::point())),
        space: |_| Sizes(Ok(spatial::Shape::point())),
    }
    /// A disc in the plane.
    disc "disc" RadiusTable {
        plane: |disc| Sizes(planar::Shape::disc(disc.radius)),
        space: |_| Nowhere("use `sphere`"),
    }
    /// A ball in space.
    sphere "sphere" RadiusTable {
        plane: |_| Nowhere("use `disc`"),
        space: |sphere| Sizes(spatial::Shape::sphere(sphere.radius)),
    }
    /// A capsule: all points within `radius` of a segment on the local x axis.
    capsule "capsule" CapsuleTable {
        plane: |capsule| Sizes(planar::Shape::capsule(capsule.half_length, capsule.radius)),
        space: |capsule| Sizes(spatial::Shape::capsule(capsule.half_length, capsule.radius)),
    }
    /// A rectangle in the plane, or a cuboid in space.
    cuboid "box" BoxTable {
        plane: |_| Vectors,
        space: |_| Vectors,
    }
    /// A polygon in the plane, convex or not.
    polygon "polygon" PolygonTable {
        plane: |_| Vectors,
        space: |_| Nowhere("use `polyhedron`"),
    }
    /// The convex hull of points in space.
    polyhedron "polyhedron" VerticesTable {
        plane: |_| Nowhere("use `polygon` or `hull`"),
        space: |_| Vectors,
    }
    /// The convex hull of points, in the plane or in space.
    hull "hull" VerticesTable {
        plane: |_| Vectors,
        space: |_| Vectors,
    }
    /// A half-plane or half-space, bounded by the line or plane through the shape's origin.
    halfspace "halfspace" HalfSpaceTable {
        plane: |_| Vectors,
        space: |_| Vectors,
    }
    /// An ellipse in the plane.
    ellipse "ellipse" EllipseTable {
        plane: |ellipse| Sizes(planar::Shape::ellipse(ellipse.semi_axes)),
        space: |_| Nowhere("use `ellipsoid`"),
    }
    /// A superellipse |x/a|^p + |y/b|^p ≤ 1 in the plane.
    superellipse "superellipse" SuperellipseTable {
        plane: |shape| Sizes(planar::Shape::superellipse(shape.semi_axes, shape.exponent)),
        space: |_| Nowhere("use `superquadric`"),
    }
    /// An ellipsoid in space.
    ellipsoid "ellipsoid" EllipsoidTable {
        plane: |_| Nowhere("use `ellipse`"),
        space: |ellipsoid| Sizes(spatial::Shape::ellipsoid(ellipsoid.semi_axes)),
    }
    /// A solid cylinder along the local x axis, with flat ends, in space.
    cylinder "cylinder" CylinderTable {
        plane: |_| Nowhere("use `disc` or `box`"),
        space: |cylinder| Sizes(spatial::Shape::cylinder(cylinder.half_length, cylinder.radius)),
    }
    /// A superquadric (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q ≤ 1 in space.
    superquadric "superquadric" SuperquadricTable {
        plane: |_| Nowhere("use `superellipse`"),
        space: |shape| Sizes(spatial::Shape::superquadric(shape.semi_axes, shape.exponents)),
    }
    /// The intersection of convex shapes.
    implicit "implicit" ImplicitTable {
        plane: |_| Vectors,
        space: |_| Vectors,
    }
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
