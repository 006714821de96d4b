//! Spatial shapes as intersections of convex functions.

use super::solids::Shape;
use crate::implicit::{Buffer, Convex};
use crate::smooth::{Functions, WithFunctions};

/// Returns the functions of a spatial shape, in the given vectors.
pub(crate) fn convex(shape: &Shape, buffer: Buffer) -> Convex {
    shape.convex(buffer)
}

impl WithFunctions for Shape {
    fn functions(&self, buffer: Buffer) -> Option<Functions<'_>> {
        Some(match self {
            Self::Implicit(solid) => Functions::OfShape(solid.convex(), buffer),
            shape => Functions::InBuffer(convex(shape, buffer)),
        })
    }
}
