//! Boxes.

use nalgebra::{Point3, Vector3};

use super::{ConvexSolid, Figure, Shape, size};
use crate::ShapeError;
use crate::implicit::{Build, Convex};
use crate::moments::Moments;

pub(super) struct Cuboid {
    pub(super) half_extents: [f64; 3],
}

impl Shape {
    /// Creates a box about the origin with the given half edge lengths.
    pub fn cuboid(half_extents: [f64; 3]) -> Result<Self, ShapeError> {
        for half_extent in half_extents {
            size("a half extent of a box", half_extent)?;
        }
        Ok(Self::Box { half_extents })
    }
}

impl ConvexSolid for Cuboid {
    fn name(&self) -> &'static str {
        "box"
    }

    fn functions(&self, build: Build) -> Convex {
        build.cuboid(&self.half_extents)
    }

    fn support(&self, direction: &Vector3<f64>) -> Option<f64> {
        Some(direction.abs().dot(&Vector3::from(self.half_extents)))
    }

    fn radius_bound(&self) -> Option<f64> {
        Some(Vector3::from(self.half_extents).norm())
    }

    fn moments(&self) -> Option<Moments> {
        let h = self.half_extents;
        Some(Moments::symmetric(8.0 * h[0] * h[1] * h[2], h.map(|h| h * h / 3.0)))
    }

    /// Vertex number k has the sign of bit i of k along axis i; an edge joins vertices that differ in one bit.
    fn figure(&self) -> Option<Figure> {
        let [a, b, c] = self.half_extents;
        let sign = |k: u32, bit: u32, half: f64| if k >> bit & 1 == 1 { half } else { -half };
        let vertices = (0..8).map(|k| Point3::new(sign(k, 0, a), sign(k, 1, b), sign(k, 2, c))).collect();
        let upward = |k: u32| (0..3).map(move |bit| [k, k | 1 << bit]);
        let edges = (0..8).flat_map(upward).filter(|[from, to]| from != to).collect();
        Some(Figure::Wireframe { vertices, edges })
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        vec![Shape::cuboid([0.3, 0.5, 0.8]).unwrap()]
    }
}
