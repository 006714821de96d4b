//! Contacts of a half-plane with bounded shapes.

use nalgebra::{Unit, Vector2};

use super::frame::{Frame, PlaneContact};
use super::placed_core::PlacedCore;
use super::shape::Shape;

/// The only face of a half-plane, which has no vertices.
const LINE: usize = 0;

/// The only feature of a smooth outline.
const OUTLINE: usize = 0;

/// A half-plane in midpoint coordinates.
pub(super) struct HalfPlane {
    normal: Vector2<f64>,
    through: Vector2<f64>,
}

impl HalfPlane {
    pub(super) fn new(local_normal: &Unit<Vector2<f64>>, frame: &Frame) -> Self {
        Self { normal: frame.direction(local_normal), through: frame.translation }
    }

    /// Passes the contacts from the half-plane (as A) to `shape` (as B) to `push`.
    pub(super) fn against(
        &self,
        shape: &Shape,
        frame: &Frame,
        core: &mut PlacedCore,
        push: &mut dyn FnMut(PlaneContact),
    ) {
        if let Shape::Ellipse { semi_axes } = shape {
            push(self.ellipse(*semi_axes, frame));
            return;
        }
        if let Shape::SimplePolygon(polygon) = shape {
            // A vertex in a notch lies between its neighbours and cannot be the lowest point.
            for vertex in (0..polygon.vertices().len()).filter(|&vertex| polygon.is_convex_at(vertex)) {
                let point = frame.point(&polygon.vertices()[vertex].coords);
                push(self.contact(vertex, point, self.normal.dot(&(point - self.through))));
            }
            return;
        }
        core.place(shape, frame);
        debug_assert!(!core.vertices.is_empty(), "shapes without a core have their own kernels");
        for (vertex, centre) in core.vertices.iter().enumerate() {
            // ψ = n · (v − p) − r.   [GEOM-4]
            let height = self.normal.dot(&(centre - self.through));
            push(self.contact(vertex, centre - self.normal * core.radius, height - core.radius));
        }
    }

    /// Returns the lowest point of an ellipse and its height.   [GEOM-8]
    fn ellipse(&self, [a, b]: [f64; 2], frame: &Frame) -> PlaneContact {
        let n = frame.direction_to_local(&self.normal);
        let support = Vector2::new(a * n.x, b * n.y).norm();
        let lowest = Vector2::new(a * (a * n.x / support), b * (b * n.y / support));
        let height = self.normal.dot(&(frame.translation - self.through));
        self.contact(OUTLINE, frame.point(&-lowest), height - support)
    }

    fn contact(&self, feature: usize, point: Vector2<f64>, gap: f64) -> PlaneContact {
        PlaneContact {
            feature_a: LINE,
            feature_b: feature,
            point_a: point - self.normal * gap,
            point_b: point,
            normal: self.normal,
            gap,
            normal_is_unique: true,
        }
    }
}
