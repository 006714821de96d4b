//! Spatial shapes as intersections of convex functions.

use super::shape::Shape;
use crate::Dimension;
use crate::implicit::{Buffer, Build, Convex, Function};
use crate::smooth::{Functions, WithFunctions};

/// Returns the functions of a spatial shape, in the given vectors.
pub(crate) fn convex(shape: &Shape, buffer: Buffer) -> Convex {
    let build = Build::new(Dimension::Spatial, buffer);
    match shape {
        Shape::Point => build.cuboid(&[0.0; 3]),
        Shape::Sphere { radius } => build.ball(*radius),
        Shape::Capsule { half_length, radius } => {
            let function = Function::Segment { half_length: *half_length, radius: *radius, flat: false };
            build.central([function], shape.radius_bound())
        }
        Shape::Box { half_extents } => build.cuboid(half_extents),
        Shape::Polyhedron(polyhedron) => {
            let vertices = polyhedron.vertices();
            let faces = polyhedron.faces().zip(polyhedron.normals()).filter_map(|(face, normal)| {
                let corner = face.first().and_then(|&corner| vertices.get(corner as usize))?;
                Some(Function::Flat { normal: *normal, offset: normal.dot(&corner.coords) })
            });
            let solid = build.hull(faces, vertices.iter().map(|v| v.coords), shape.radius_bound());
            debug_assert_eq!(solid.functions(), polyhedron.normals().len(), "every face has a function");
            solid
        }
        Shape::HalfSpace { normal } => build.half_space(normal.into_inner()),
        Shape::Ellipsoid { semi_axes } => build.central([Function::quadric(*semi_axes)], shape.radius_bound()),
        Shape::Superquadric { semi_axes, exponents } => {
            build.central([Function::superquadric(*semi_axes, *exponents)], shape.radius_bound())
        }
        Shape::Cylinder { half_length, radius } => build.cylinder(*half_length, *radius, shape.radius_bound()),
        Shape::Implicit(implicit) => implicit.convex().clone(),
    }
}

impl WithFunctions for Shape {
    fn functions(&self, buffer: Buffer) -> Option<Functions<'_>> {
        Some(match self {
            Self::Implicit(solid) => Functions::OfShape(solid.convex(), buffer),
            shape => Functions::InBuffer(convex(shape, buffer)),
        })
    }
}
