//! Convex polyhedra.

use nalgebra::{Point3, Vector3};

use super::{ConvexSolid, Figure, Shape};
use crate::broad_phase::Aabb;
use crate::implicit::{Build, Convex, Function};
use crate::moments::Moments;
use crate::spatial::ConvexPolyhedron;
use crate::{Pose, ShapeError};

impl Shape {
    /// Creates a shape from a convex polyhedron.
    pub fn polyhedron(polyhedron: ConvexPolyhedron) -> Self {
        Self::Polyhedron(polyhedron)
    }

    /// Creates the convex hull of `points`.
    pub fn convex_hull(points: &[Point3<f64>]) -> Result<Self, ShapeError> {
        ConvexPolyhedron::from_points(points).map(Self::Polyhedron)
    }
}

impl ConvexSolid for ConvexPolyhedron {
    fn name(&self) -> &'static str {
        "polyhedron"
    }

    fn functions(&self, build: Build) -> Convex {
        let vertices = self.vertices();
        let faces = self.faces().zip(self.normals()).filter_map(|(face, normal)| {
            let corner = face.first().and_then(|&corner| vertices.get(corner as usize))?;
            Some(Function::Flat { normal: *normal, offset: normal.dot(&corner.coords) })
        });
        let solid = build.hull(faces, vertices.iter().map(|v| v.coords), Some(self.radius_bound()));
        debug_assert_eq!(solid.functions(), self.normals().len(), "every face has a function");
        solid
    }

    fn support(&self, direction: &Vector3<f64>) -> Option<f64> {
        self.vertices().iter().map(|v| v.coords.dot(direction)).reduce(f64::max)
    }

    fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let (min, max) = self.vertices().iter().map(|v| pose * v).fold(
            (Point3::from(Vector3::repeat(f64::INFINITY)), Point3::from(Vector3::repeat(f64::NEG_INFINITY))),
            |(min, max), v| (min.inf(&v), max.sup(&v)),
        );
        Some(Aabb { min, max })
    }

    fn radius_bound(&self) -> Option<f64> {
        Some(self.radius_bound())
    }

    /// Sums over the tetrahedra from the mean vertex to each triangle of a fan of each face.   [MASS-1]
    fn moments(&self) -> Option<Moments> {
        let vertices = self.vertices();
        let mean = vertices.iter().map(|v| v.coords).sum::<Vector3<f64>>() / vertices.len() as f64;
        debug_assert!(self.faces().flatten().all(|&i| (i as usize) < vertices.len()), "faces refer to vertices");
        debug_assert!(self.faces().all(|face| face.len() > 2), "a face has at least three vertices");
        let corner = move |i: &u32| vertices.get(*i as usize).map_or_else(Vector3::zeros, |v| v.coords - mean);
        let tetrahedra = self.faces().flat_map(move |face| {
            let apex = face.first().map_or_else(Vector3::zeros, corner);
            face.windows(2).skip(1).map(move |side| {
                let [q, r] = [side.first(), side.last()].map(|i| i.map_or_else(Vector3::zeros, corner));
                (apex.dot(&q.cross(&r)) / 6.0, [apex, q, r])
            })
        });
        Some(Moments::of_simplices(mean, tetrahedra))
    }

    fn figure(&self) -> Option<Figure> {
        Some(Figure::Wireframe { vertices: self.vertices().to_vec(), edges: self.edges().collect() })
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.2, 0.9, 0.0], [0.1, 0.2, 0.8], [0.9, 0.8, 0.7]];
        vec![Shape::convex_hull(&corners.map(Point3::from)).unwrap()]
    }
}
