//! Cores in the frame of the pair.
//!
//! Every bounded shape is a core (point, segment or polytope) with a radius: S = core ⊕ ball(r).   [GEOM-3]
//!
//! The frame of the pair has the world axes and its origin at the origin of A, so coordinates are of the size of the
//! shapes anywhere in the world.

use nalgebra::{Matrix3, Point3, Vector3};

use super::solids::Shape;
use super::topology::{BOX, BOX_NORMALS, Edge, POINT, SEGMENT, Topology};

/// Coordinates of one core, reused between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct CoreBuffer {
    vertices: Vec<Point3<f64>>,
    normals: Vec<Vector3<f64>>,
}

/// A core in the frame of the pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Core<'a> {
    pub(super) vertices: &'a [Point3<f64>],
    pub(super) normals: &'a [Vector3<f64>],
    pub(super) topology: Topology<'a>,
    pub(super) radius: f64,
    /// Largest distance of a point of the shape, radius included, from the origin of its body.
    pub(super) size: f64,
}

impl CoreBuffer {
    /// Places the core of a bounded shape; `None` for a half-space and for smooth shapes.
    pub(super) fn place<'a>(
        &'a mut self,
        shape: &'a Shape,
        rotation: &Matrix3<f64>,
        offset: &Vector3<f64>,
    ) -> Option<Core<'a>> {
        self.vertices.clear();
        self.normals.clear();
        let (topology, radius) = match shape {
            Shape::Point => {
                self.vertices.push(Point3::from(*offset));
                (POINT, 0.0)
            }
            Shape::Sphere { radius } => {
                self.vertices.push(Point3::from(*offset));
                (POINT, *radius)
            }
            Shape::Capsule { half_length, radius } => {
                let half = rotation.column(0) * *half_length;
                self.vertices.extend([Point3::from(offset - half), Point3::from(offset + half)]);
                (SEGMENT, *radius)
            }
            Shape::Box { half_extents } => {
                let half = rotation * Matrix3::from_diagonal(&Vector3::from(*half_extents));
                self.vertices.extend((0..8u32).map(|index| {
                    let sign = |bit: u32| if index >> bit & 1 == 1 { 1.0 } else { -1.0 };
                    Point3::from(offset + half * Vector3::new(sign(0), sign(1), sign(2)))
                }));
                self.normals.extend(BOX_NORMALS.iter().map(|&(axis, sign)| rotation.column(axis) * sign));
                (BOX, 0.0)
            }
            Shape::Polyhedron(polyhedron) => {
                self.vertices.extend(polyhedron.vertices().iter().map(|v| Point3::from(rotation * v.coords + offset)));
                self.normals.extend(polyhedron.normals().iter().map(|n| rotation * n));
                (polyhedron.topology(), 0.0)
            }
            _ => return None,
        };
        debug_assert_eq!(self.normals.len(), topology.faces.len(), "every face has a normal");
        debug_assert!(shape.radius_bound().is_some(), "a shape with a core is bounded");
        let size = shape.radius_bound()?;
        Some(Core { vertices: &self.vertices, normals: &self.normals, topology, radius, size })
    }
}

impl Core<'_> {
    /// Returns a vertex.
    pub(super) fn vertex(&self, index: u32) -> Point3<f64> {
        debug_assert!((index as usize) < self.vertices.len(), "the vertex exists");
        self.vertices.get(index as usize).copied().unwrap_or_default()
    }

    /// Returns the two ends of an edge.
    pub(super) fn ends(&self, edge: Edge) -> [Point3<f64>; 2] {
        edge.ends.map(|end| self.vertex(end))
    }

    /// Returns the outward normal of a face.
    pub(super) fn normal(&self, face: u32) -> Vector3<f64> {
        debug_assert!((face as usize) < self.normals.len(), "the face exists");
        self.normals.get(face as usize).copied().unwrap_or_default()
    }

    /// Returns the edge with the given number.
    pub(super) fn edge(&self, index: u32) -> Edge {
        debug_assert!((index as usize) < self.topology.edges.len(), "the edge exists");
        self.topology.edges.get(index as usize).copied().unwrap_or(Edge { ends: [0, 0], faces: [0, 0] })
    }

    /// Returns all edges with their numbers.
    pub(super) fn edges(&self) -> impl Iterator<Item = (u32, Edge)> {
        (0u32..).zip(self.topology.edges.iter().copied())
    }

    /// Returns the feature number of an edge.
    pub(super) fn edge_feature(&self, edge: u32) -> u32 {
        self.vertices.len() as u32 + edge
    }

    /// Returns the feature number of a face.
    pub(super) fn face_feature(&self, face: u32) -> u32 {
        (self.vertices.len() + self.topology.edges.len()) as u32 + face
    }

    /// Returns the first vertex of a face: a point of its plane.
    pub(super) fn face_origin(&self, face: u32) -> Point3<f64> {
        self.topology.corners(face as usize).first().map_or_else(Point3::origin, |&corner| self.vertex(corner))
    }

    /// True if the projection of `point` onto the plane of a face is inside the face or at most `tolerance` outside.
    pub(super) fn is_over_face(&self, face: u32, point: &Point3<f64>, tolerance: f64) -> bool {
        let corners = self.topology.corners(face as usize);
        let normal = self.normal(face);
        let next = corners.iter().cycle().skip(1);
        corners.iter().zip(next).all(|(&from, &to)| {
            let from = self.vertex(from);
            let inward = normal.cross(&(self.vertex(to) - from));
            inward.dot(&(point - from)) >= -tolerance * inward.norm()
        })
    }

    /// Returns the vertex farthest along −`direction`, the lowest number among equals, and its coordinate along
    /// `direction`.
    pub(super) fn lowest(&self, direction: &Vector3<f64>) -> (u32, f64) {
        let heights = self.vertices.iter().map(|v| direction.dot(&v.coords));
        (0u32..)
            .zip(heights)
            .fold((0, f64::INFINITY), |best, candidate| if candidate.1 < best.1 { candidate } else { best })
    }

    /// Returns the face whose normal is closest to `direction`, if their cosine exceeds `least_cosine`.
    pub(super) fn face_towards(&self, direction: &Vector3<f64>, least_cosine: f64) -> Option<u32> {
        let cosines = self.normals.iter().map(|n| n.dot(direction));
        let start = (None, least_cosine);
        (0u32..)
            .zip(cosines)
            .fold(start, |best, (face, cosine)| if cosine > best.1 { (Some(face), cosine) } else { best })
            .0
    }
}
