//! The core of a shape at a pose: a polygon of one, two or more vertices, with a radius.   [GEOM-3]
//!
//! A segment is a polygon of two vertices and two faces, one for each side, so capsules need no special code.

use nalgebra::Vector2;

use super::frame::Frame;
use super::shape::Shape;

/// Smallest cosine (66°) between the normal of a face and the opposite of a direction at which the face faces that
/// direction. A vertex without such a face lies on the far side of its body and is no candidate, for any margin. The
/// value avoids the angles of regular polygons, so that round-off does not change the result.
const FACING_COSINE: f64 = 0.4;

/// Difference below which cosines are equal, so that round-off does not change the result for symmetric shapes.
const EQUAL_COSINE: f64 = 1e-9;

/// Difference below which angles (rad) are equal; far below the turn of the flattest corner of a polygon.
const EQUAL_ANGLE: f64 = 1e-12;

/// Vertices and outward face normals in midpoint coordinates; face i runs from vertex i to vertex i + 1.
#[derive(Clone, Debug, Default)]
pub(super) struct PlacedCore {
    pub(super) vertices: Vec<Vector2<f64>>,
    pub(super) normals: Vec<Vector2<f64>>,
    pub(super) radius: f64,
    /// Largest distance of a vertex from the origin of the shape.
    pub(super) bound: f64,
}

impl PlacedCore {
    /// Stores the core of `shape`. Half-planes, ellipses and non-convex polygons have none and leave it empty.
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
                debug_assert_eq!(polygon.vertices().len(), polygon.normals().len(), "as many edges as vertices");
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

    /// Returns the vertex at which the face ends; it starts at the vertex of its own number.
    pub(super) fn end_of(&self, face: usize) -> usize {
        (face + 1) % self.vertices.len()
    }

    /// Returns the feature number of a face: vertices come first.
    pub(super) fn face_feature(&self, face: usize) -> usize {
        self.vertices.len() + face
    }

    /// Returns the height of `point` above the line of `face`, ψ = n · (v − p).   [GEOM-4]
    pub(super) fn height(&self, face: usize, point: &Vector2<f64>) -> f64 {
        self.normals[face].dot(&(point - self.vertices[face]))
    }

    /// True if the projection of `point` is on the face, up to `tolerance`.
    pub(super) fn spans(&self, face: usize, point: &Vector2<f64>, tolerance: f64) -> bool {
        let along = self.tangent(face);
        along.dot(&(point - self.vertices[face])) >= -tolerance
            && along.dot(&(point - self.vertices[self.end_of(face)])) <= tolerance
    }

    /// Returns the unit vector from the start of the face to its end.
    pub(super) fn tangent(&self, face: usize) -> Vector2<f64> {
        let n = self.normals[face];
        Vector2::new(-n.y, n.x)
    }

    /// Returns the face above whose line `point` is highest, and that height: the nearest face of a point over a
    /// face.
    pub(super) fn highest_face(&self, point: &Vector2<f64>) -> Option<(usize, f64)> {
        let heights = (0..self.normals.len()).map(|face| (face, self.height(face, point)));
        heights.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Returns the face whose normal is most opposed to `direction`, the first of equals.
    ///
    /// The measure is |n + d| = 2 sin(φ/2), which resolves small angles better than the cosine.
    pub(super) fn most_opposed_face(&self, direction: &Vector2<f64>) -> Option<usize> {
        let least = self.normals.iter().map(|n| (n + direction).norm()).fold(f64::INFINITY, f64::min);
        self.normals.iter().position(|n| (n + direction).norm() <= least + EQUAL_ANGLE)
    }

    /// True if one of the faces at `vertex` faces against `direction`, or no face of the core does so better.
    pub(super) fn faces_against(&self, vertex: usize, direction: &Vector2<f64>) -> bool {
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
