//! Planar shapes as intersections of convex functions.

use super::shape::Shape;
use crate::Dimension;
use crate::implicit::{Buffer, Build, Convex, Function};
use crate::smooth::{Functions, WithFunctions};

/// Returns the functions of a planar shape, in the given vectors.
pub(crate) fn convex(shape: &Shape, buffer: Buffer) -> Option<Convex> {
    let build = Build::new(Dimension::Planar, buffer);
    Some(match shape {
        Shape::Point => build.cuboid(&[0.0; 2]),
        Shape::Disc { radius } => build.ball(*radius),
        Shape::Capsule { half_length, radius } => {
            let function = Function::Segment { half_length: *half_length, radius: *radius, flat: true };
            build.central([function], shape.radius_bound())
        }
        Shape::Box { half_extents } => build.cuboid(half_extents),
        Shape::Polygon(polygon) => {
            let vertices = polygon.vertices();
            debug_assert_eq!(vertices.len(), polygon.normals().len(), "a polygon has as many edges as vertices");
            let faces = vertices.iter().zip(polygon.normals());
            let faces = faces.map(|(v, n)| Function::Flat { normal: n.push(0.0), offset: n.dot(&v.coords) });
            build.hull(faces, vertices.iter().map(|v| v.coords.push(0.0)), shape.radius_bound())
        }
        Shape::HalfPlane { normal } => build.half_space(normal.push(0.0)),
        Shape::Ellipse { semi_axes: [a, b] } => {
            build.central([Function::quadric([*a, *b, f64::INFINITY])], shape.radius_bound())
        }
        Shape::Superellipse { semi_axes: [a, b], exponent } => {
            // The second exponent has no meaning because z has no extent.
            let function = Function::superquadric([*a, *b, f64::INFINITY], [*exponent, 2.0]);
            build.central([function], shape.radius_bound())
        }
        Shape::Implicit(implicit) => implicit.convex().clone(),
        Shape::SimplePolygon(_) => return None,
    })
}

impl WithFunctions for Shape {
    fn functions(&self, buffer: Buffer) -> Option<Functions<'_>> {
        Some(match self {
            Self::Implicit(solid) => Functions::OfShape(solid.convex(), buffer),
            shape => Functions::InBuffer(convex(shape, buffer)?),
        })
    }
}
