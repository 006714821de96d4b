//! Convex polyhedra: vertices, edges and faces with their incidences.

use nalgebra::{Point3, Vector3};

use super::hull::{self, FLATNESS, Faces};
use super::topology::{Edge, Face, Topology};
use crate::ShapeError;

/// A convex body with an interior, bounded by convex polygons.
///
/// Triangles of the hull in the same plane are one face, so a box given by its vertices has six.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexPolyhedron {
    vertices: Vec<Point3<f64>>,
    normals: Vec<Vector3<f64>>,
    edges: Vec<Edge>,
    faces: Vec<Face>,
    corners: Vec<u32>,
    sides: Vec<u32>,
    radius_bound: f64,
}

impl ConvexPolyhedron {
    /// Returns the convex hull of `points`, which must not lie near one plane. Points inside the hull are dropped.
    pub fn from_points(points: &[Point3<f64>]) -> Result<Self, ShapeError> {
        let Faces { vertices, loops, normals } = hull::faces(points)?;
        let mut body = Self {
            radius_bound: vertices.iter().map(|v| v.coords.norm()).fold(0.0, f64::max),
            vertices,
            normals,
            edges: Vec::new(),
            faces: Vec::new(),
            corners: Vec::new(),
            sides: Vec::new(),
        };
        for (index, corners) in (0u32..).zip(&loops) {
            body.faces.push(Face { first: body.corners.len() as u32, count: corners.len() as u32 });
            body.corners.extend(corners);
            for (&from, &to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
                let side = body.side(from, to, index)?;
                body.sides.push(side);
            }
        }
        debug_assert_eq!(body.normals.len(), body.faces.len(), "every face has a normal");
        debug_assert_eq!(body.sides.len(), body.corners.len(), "a face has as many sides as vertices");
        body.ensure_convex()?;
        Ok(body)
    }

    /// Returns the vertices, in body coordinates.
    pub fn vertices(&self) -> &[Point3<f64>] {
        &self.vertices
    }

    /// Returns the unit outward normals of the faces.
    pub fn normals(&self) -> &[Vector3<f64>] {
        &self.normals
    }

    /// Returns the faces: indices of the vertices, counter-clockwise seen from outside.
    pub fn faces(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.faces.len()).map(|face| {
            let face = self.faces.get(face).map_or(0..0, |f| f.first as usize..(f.first + f.count) as usize);
            self.corners.get(face).unwrap_or(&[])
        })
    }

    /// Returns the edges: indices of the two ends.
    pub fn edges(&self) -> impl Iterator<Item = [u32; 2]> {
        self.edges.iter().map(|edge| edge.ends)
    }

    /// Returns the largest distance of a vertex from the body's origin.
    pub fn radius_bound(&self) -> f64 {
        self.radius_bound
    }

    pub(super) fn topology(&self) -> Topology<'_> {
        Topology { edges: &self.edges, faces: &self.faces, corners: &self.corners, sides: &self.sides }
    }

    /// Returns the number of the edge from `from` to `to` as a side of `face`.
    ///
    /// The first face of an edge defines it; the second must traverse it in the opposite direction.
    fn side(&mut self, from: u32, to: u32, face: u32) -> Result<u32, ShapeError> {
        let known = (0u32..).zip(&mut self.edges).find(|(_, edge)| edge.ends == [to, from]);
        if let Some((index, edge)) = known {
            if edge.faces[1] != edge.faces[0] {
                return Err(not_closed());
            }
            edge.faces[1] = face;
            return Ok(index);
        }
        self.edges.push(Edge { ends: [from, to], faces: [face, face] });
        Ok(self.edges.len() as u32 - 1)
    }

    /// Checks that the faces close (two per edge, Euler's V − E + F = 2) and that no vertex is outside of any face.
    fn ensure_convex(&self) -> Result<(), ShapeError> {
        let [v, e, f] = [self.vertices.len(), self.edges.len(), self.faces.len()];
        let is_closed = self.edges.iter().all(|edge| edge.faces[0] != edge.faces[1]) && v + f == e + 2;
        if !is_closed {
            return Err(not_closed());
        }
        let size = hull::extent(&self.vertices);
        let is_outside = self.faces().zip(&self.normals).any(|(corners, normal)| {
            let origin = corners.first().and_then(|&corner| self.vertices.get(corner as usize));
            origin.is_none_or(|origin| {
                self.vertices.iter().any(|vertex| normal.dot(&(vertex - origin)) > 4.0 * FLATNESS * size)
            })
        });
        if is_outside { Err(not_closed()) } else { Ok(()) }
    }
}

fn not_closed() -> ShapeError {
    ShapeError::NotConvexBody {
        reason:
            "the points make no well-conditioned convex body: some are so close to a face or an edge of the others \
                 that it is not clear whether they belong to it; remove them or move them"
                .to_owned(),
    }
}
