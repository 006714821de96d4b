//! Outlines of bodies: their collision shapes as simple figures in body coordinates.

use std::f64::consts::TAU;

use nalgebra::{Point2, Point3, Rotation2, Vector2, Vector3};
use serde::{Deserialize, Serialize};
use stiction_geometry::spatial::{self, Figure};
use stiction_geometry::{Pose, Shape, planar};
use stiction_multibody::ShapeOnBody;

/// A figure in body coordinates. In the plane the third coordinate is zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outline {
    /// A point.
    Point {
        /// Position.
        at: [f64; 3],
    },
    /// A disc or a ball.
    Round {
        /// Centre.
        at: [f64; 3],
        /// Radius.
        radius: f64,
    },
    /// All points within a distance of a segment.
    Capsule {
        /// One end of the segment.
        from: [f64; 3],
        /// The other end.
        to: [f64; 3],
        /// The distance.
        radius: f64,
    },
    /// An ellipse in the plane.
    Ellipse {
        /// Centre.
        at: [f64; 3],
        /// First semi-axis as a vector.
        first: [f64; 3],
        /// Second semi-axis as a vector.
        second: [f64; 3],
    },
    /// A polygon in the plane, vertices in order.
    Polygon {
        /// Vertices.
        vertices: Vec<[f64; 3]>,
    },
    /// A polyhedron in space.
    Polyhedron {
        /// Vertices.
        vertices: Vec<[f64; 3]>,
        /// Edges as pairs of vertex numbers.
        edges: Vec<[u32; 2]>,
    },
    /// A half-plane or half-space.
    HalfSpace {
        /// A point of the surface.
        at: [f64; 3],
        /// Outward normal.
        normal: [f64; 3],
    },
}

impl Outline {
    /// Returns the figure of a shape; `None` for a kind without one.
    pub(crate) fn of(on_body: &ShapeOnBody) -> Option<Self> {
        match &on_body.shape {
            Shape::Planar(shape) => planar_outline(shape, &on_body.local),
            Shape::Spatial(shape) => spatial_outline(shape, &on_body.local),
        }
    }
}

fn planar_outline(shape: &planar::Shape, local: &Pose) -> Option<Outline> {
    Some(match shape {
        planar::Shape::Point => Outline::Point { at: place(local, 0.0, 0.0, 0.0) },
        planar::Shape::Disc { radius } => Outline::Round { at: place(local, 0.0, 0.0, 0.0), radius: *radius },
        planar::Shape::Capsule { half_length, radius } => capsule(local, *half_length, *radius),
        planar::Shape::Box { half_extents: [a, b] } => {
            let corners = [(-a, -b), (*a, -b), (*a, *b), (-a, *b)];
            Outline::Polygon { vertices: corners.map(|(x, y)| place(local, x, y, 0.0)).to_vec() }
        }
        planar::Shape::Polygon(polygon) => placed_polygon(local, polygon.vertices()),
        planar::Shape::SimplePolygon(polygon) => placed_polygon(local, polygon.vertices()),
        planar::Shape::HalfPlane { normal } => half_space(local, Vector3::new(normal.x, normal.y, 0.0)),
        planar::Shape::Ellipse { semi_axes: [a, b] } => Outline::Ellipse {
            at: place(local, 0.0, 0.0, 0.0),
            first: (local.rotation * Vector3::new(*a, 0.0, 0.0)).into(),
            second: (local.rotation * Vector3::new(0.0, *b, 0.0)).into(),
        },
        planar::Shape::Superellipse { .. } | planar::Shape::Implicit(_) => {
            Outline::Polygon { vertices: seen_from_inside(&shape.clone().into(), local)? }
        }
        _ => return None,
    })
}

fn spatial_outline(shape: &spatial::Shape, local: &Pose) -> Option<Outline> {
    Some(match shape.figure()? {
        Figure::Point => Outline::Point { at: place(local, 0.0, 0.0, 0.0) },
        Figure::Ball { radius } => Outline::Round { at: place(local, 0.0, 0.0, 0.0), radius },
        Figure::Capsule { half_length, radius } => capsule(local, half_length, radius),
        Figure::HalfSpace { normal } => half_space(local, normal),
        Figure::Wireframe { vertices, edges } => {
            Outline::Polyhedron { vertices: vertices.iter().map(|v| place(local, v.x, v.y, v.z)).collect(), edges }
        }
        _ => return None,
    })
}

/// Number of vertices that approximate a smooth outline in the plane.
const ROUND: u32 = 128;

/// Points where rays from the inside leave a smooth planar shape. None for an unbounded shape.
fn seen_from_inside(shape: &Shape, local: &Pose) -> Option<Vec<[f64; 3]>> {
    let convex = shape.convex()?;
    let point = |k: u32| {
        let [cosine, sine] = cosine_and_sine(TAU * f64::from(k) / f64::from(ROUND));
        let at = convex.leaving(&Vector3::new(cosine, sine, 0.0))?;
        Some(place(local, at.x, at.y, at.z))
    };
    (0..ROUND).map(point).collect()
}

fn cosine_and_sine(angle: f64) -> [f64; 2] {
    (Rotation2::new(angle) * Vector2::x()).into()
}

fn placed_polygon(local: &Pose, vertices: &[Point2<f64>]) -> Outline {
    Outline::Polygon { vertices: vertices.iter().map(|v| place(local, v.x, v.y, 0.0)).collect() }
}

fn capsule(local: &Pose, half_length: f64, radius: f64) -> Outline {
    Outline::Capsule { from: place(local, -half_length, 0.0, 0.0), to: place(local, half_length, 0.0, 0.0), radius }
}

fn half_space(local: &Pose, normal: Vector3<f64>) -> Outline {
    Outline::HalfSpace { at: place(local, 0.0, 0.0, 0.0), normal: (local.rotation * normal).into() }
}

fn place(local: &Pose, x: f64, y: f64, z: f64) -> [f64; 3] {
    (local * Point3::new(x, y, z)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_shapes_are_drawn_on_their_surfaces() {
        let local = Pose::translation(1.0, 2.0, 0.0);
        let shape = planar::Shape::superellipse([2.0, 1.0], 4.0).unwrap();
        let Some(Outline::Polygon { vertices }) = planar_outline(&shape, &local) else { panic!("not a polygon") };
        for [x, y, _] in &vertices {
            let sum = ((x - 1.0) / 2.0).powi(4) + (y - 2.0).powi(4);
            assert!((sum - 1.0).abs() < 1e-12);
        }
        let shape = spatial::Shape::ellipsoid([3.0, 2.0, 1.0]).unwrap();
        let Some(Outline::Polyhedron { vertices, edges }) = spatial_outline(&shape, &Pose::identity()) else {
            panic!("not a polyhedron")
        };
        for [x, y, z] in &vertices {
            assert!(((x / 3.0).powi(2) + (y / 2.0).powi(2) + z * z - 1.0).abs() < 1e-12);
        }
        assert!(edges.iter().flatten().all(|&k| (k as usize) < vertices.len()));
        let shape = spatial::Shape::cylinder(2.0, 0.5).unwrap();
        let Some(Outline::Polyhedron { vertices, edges }) = spatial_outline(&shape, &Pose::identity()) else {
            panic!()
        };
        assert!(vertices.iter().all(|[x, y, z]| x.abs() == 2.0 && (y * y + z * z - 0.25).abs() < 1e-12));
        assert!(edges.iter().flatten().all(|&k| (k as usize) < vertices.len()));
    }

    #[test]
    fn a_box_has_twelve_edges_of_the_right_lengths() {
        let shape = spatial::Shape::cuboid([0.5, 1.0, 1.5]).unwrap();
        let Some(Outline::Polyhedron { vertices, edges }) = spatial_outline(&shape, &Pose::identity()) else {
            panic!("not a polyhedron")
        };
        assert_eq!((vertices.len(), edges.len()), (8, 12));
        let length =
            |&[i, j]: &[u32; 2]| (Vector3::from(vertices[i as usize]) - Vector3::from(vertices[j as usize])).norm();
        for expected in [1.0, 2.0, 3.0] {
            assert_eq!(edges.iter().filter(|edge| length(edge) == expected).count(), 4);
        }
    }
}
