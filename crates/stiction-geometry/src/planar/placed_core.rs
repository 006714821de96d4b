//! The core of a shape at a pose: a polygon of one, two or more vertices, grown by a radius.   [GEOM-3]
//!
//! A segment is a polygon of two vertices and two faces, one for each side, so that capsules need no code of their own.

use nalgebra::Vector2;

use super::frame::Frame;
use super::shape::Shape;

/// A face "looks towards" a direction when the cosine between its normal and the opposite direction exceeds this (66°): a
/// vertex none of whose faces does so lies on the far side of its body and is no candidate, however large the margin. The value
/// avoids the angles of regular polygons, which must not flip at round-off.
const FACING_COSINE: f64 = 0.4;

/// Cosines that differ by less are equal; symmetric shapes must not flip at round-off.
const EQUAL_COSINE: f64 = 1e-9;

/// Angles (in radians) that differ by less are equal; far below the turn of the flattest corner of a polygon.
const EQUAL_ANGLE: f64 = 1e-12;

/// Vertices and outward face normals in midpoint coordinates; face i runs from vertex i to vertex i + 1.
#[derive(Clone, Debug, Default)]
pub(super) struct PlacedCore {
    pub(super) vertices: Vec<Vector2<f64>>,
    pub(super) normals: Vec<Vector2<f64>>,
    pub(super) radius: f64,
    /// The largest distance of a vertex from the origin of the shape.
    pub(super) bound: f64,
}

impl PlacedCore {
    /// Fills the core of `shape`; half-planes, ellipses and polygons that are not convex have none and leave it empty.
    pub(super) fn place(&mut self, shape: &Shape, frame: &Frame) {
        self.vertices.clear();
        self.normals.clear();
        self.radius = 0.0;
        self.bound = 0.0;
        match shape {
            Shape::Point => self.push_vertex(&Vector2::zeros(), frame),
            Shape::Disc { radius } => {
                self.radius = *radius;
                self.push_vertex(&Vector2::zeros(), frame);
            }
            Shape::Capsule { half_length, radius } => {
                self.radius = *radius;
                self.push_face(&Vector2::new(-half_length, 0.0), &Vector2::new(0.0, -1.0), frame);
                self.push_face(&Vector2::new(*half_length, 0.0), &Vector2::new(0.0, 1.0), frame);
            }
            Shape::Box { half_extents: [x, y] } => {
                self.push_face(&Vector2::new(-x, -y), &Vector2::new(0.0, -1.0), frame);
                self.push_face(&Vector2::new(*x, -y), &Vector2::new(1.0, 0.0), frame);
                self.push_face(&Vector2::new(*x, *y), &Vector2::new(0.0, 1.0), frame);
                self.push_face(&Vector2::new(-x, *y), &Vector2::new(-1.0, 0.0), frame);
            }
            Shape::Polygon(polygon) => {
                for (vertex, normal) in polygon.vertices().iter().zip(polygon.normals()) {
                    self.push_face(&vertex.coords, normal, frame);
                }
            }
            Shape::SimplePolygon(_)
            | Shape::HalfPlane { .. }
            | Shape::Ellipse { .. }
            | Shape::Superellipse { .. }
            | Shape::Implicit(_) => {}
        }
    }

    fn push_vertex(&mut self, vertex: &Vector2<f64>, frame: &Frame) {
        self.vertices.push(frame.point(vertex));
        self.bound = self.bound.max(vertex.norm());
    }

    fn push_face(&mut self, start: &Vector2<f64>, normal: &Vector2<f64>, frame: &Frame) {
        self.push_vertex(start, frame);
        self.normals.push(frame.direction(normal));
    }

    /// The vertex at which the face ends; it starts at the vertex of its own number.
    pub(super) fn end_of(&self, face: usize) -> usize {
        (face + 1) % self.vertices.len()
    }

    /// The feature number of a face: vertices come first.
    pub(super) fn face_feature(&self, face: usize) -> usize {
        self.vertices.len() + face
    }

    /// The height of `point` above the line of `face`, ψ = n · (v − p).   [GEOM-4]
    pub(super) fn height(&self, face: usize, point: &Vector2<f64>) -> f64 {
        self.normals[face].dot(&(point - self.vertices[face]))
    }

    /// Whether the projection of `point` falls on the face, give or take `tolerance`.
    pub(super) fn spans(&self, face: usize, point: &Vector2<f64>, tolerance: f64) -> bool {
        let along = self.tangent(face);
        along.dot(&(point - self.vertices[face])) >= -tolerance
            && along.dot(&(point - self.vertices[self.end_of(face)])) <= tolerance
    }

    /// The unit vector from the start of the face to its end.
    pub(super) fn tangent(&self, face: usize) -> Vector2<f64> {
        let n = self.normals[face];
        Vector2::new(-n.y, n.x)
    }

    /// The face above whose line `point` is highest, and that height: the nearest face of a point over a face.
    pub(super) fn highest_face(&self, point: &Vector2<f64>) -> Option<(usize, f64)> {
        let heights = (0..self.normals.len()).map(|face| (face, self.height(face, point)));
        heights.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// The face whose normal is most opposed to `direction`, the first of equals.
    ///
    /// Measured by |n + d| = 2 sin(φ/2), which resolves small angles as the cosine does not.
    pub(super) fn most_opposed_face(&self, direction: &Vector2<f64>) -> Option<usize> {
        let least = self.normals.iter().map(|n| (n + direction).norm()).fold(f64::INFINITY, f64::min);
        self.normals.iter().position(|n| (n + direction).norm() <= least + EQUAL_ANGLE)
    }

    /// Whether one of the faces at `vertex` looks against `direction`, or none of the core does so better.
    pub(super) fn looks_against(&self, vertex: usize, direction: &Vector2<f64>) -> bool {
        let faces = self.normals.len();
        if faces == 0 {
            return true;
        }
        let threshold = (self.least_cosine(direction) + EQUAL_COSINE).max(-FACING_COSINE);
        [(vertex + faces - 1) % faces, vertex].iter().any(|&face| self.normals[face].dot(direction) <= threshold)
    }

    fn least_cosine(&self, direction: &Vector2<f64>) -> f64 {
        self.normals.iter().map(|n| n.dot(direction)).fold(f64::INFINITY, f64::min)
    }
}
