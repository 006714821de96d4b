//! Outlines of bodies: their collision shapes as simple figures in body coordinates.

use std::f64::consts::{PI, TAU};

use nalgebra::{Point2, Point3, Rotation2, Vector2, Vector3};
use serde::{Deserialize, Serialize};
use stiction_geometry::{Pose, Shape, planar, spatial};
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
            Outline::Polygon { vertices: seen_from_inside(&shape.clone().into(), local, [1, ROUND])? }
        }
        _ => return None,
    })
}

fn spatial_outline(shape: &spatial::Shape, local: &Pose) -> Option<Outline> {
    Some(match shape {
        spatial::Shape::Point => Outline::Point { at: place(local, 0.0, 0.0, 0.0) },
        spatial::Shape::Sphere { radius } => Outline::Round { at: place(local, 0.0, 0.0, 0.0), radius: *radius },
        spatial::Shape::Capsule { half_length, radius } => capsule(local, *half_length, *radius),
        spatial::Shape::Box { half_extents } => cuboid(local, *half_extents),
        spatial::Shape::Polyhedron(polyhedron) => Outline::Polyhedron {
            vertices: polyhedron.vertices().iter().map(|v| place(local, v.x, v.y, v.z)).collect(),
            edges: polyhedron.edges().collect(),
        },
        spatial::Shape::HalfSpace { normal } => half_space(local, normal.into_inner()),
        spatial::Shape::Cylinder { half_length, radius } => cylinder(local, *half_length, *radius),
        spatial::Shape::Ellipsoid { .. } | spatial::Shape::Superquadric { .. } | spatial::Shape::Implicit(_) => {
            let vertices = seen_from_inside(&shape.clone().into(), local, [LEVELS, MERIDIANS])?;
            Outline::Polyhedron { vertices, edges: net() }
        }
        _ => return None,
    })
}

/// Number of vertices that approximate a smooth outline in the plane.
const ROUND: u32 = 128;
/// Circles of latitude and meridians of the grid on a smooth solid.
const LEVELS: u32 = 7;
const MERIDIANS: u32 = 12;

/// Points where rays from the inside leave a smooth solid: `meridians` of them on each of `levels` circles of latitude. None for an
/// unbounded solid.
fn seen_from_inside(shape: &Shape, local: &Pose, [levels, meridians]: [u32; 2]) -> Option<Vec<[f64; 3]>> {
    let convex = shape.convex()?;
    let rays = (0..levels).flat_map(|level| (0..meridians).map(move |k| (level, k)));
    let point = |(level, k): (u32, u32)| {
        let [out, up] = cosine_and_sine(PI * (f64::from(level + 1) / f64::from(levels + 1) - 0.5));
        let [cosine, sine] = cosine_and_sine(TAU * f64::from(k) / f64::from(meridians));
        let at = convex.leaving(&Vector3::new(out * cosine, out * sine, up))?;
        Some(place(local, at.x, at.y, at.z))
    };
    rays.map(point).collect()
}

fn cosine_and_sine(angle: f64) -> [f64; 2] {
    (Rotation2::new(angle) * Vector2::x()).into()
}

/// Edges of the grid: around each circle of latitude and along each meridian.
fn net() -> Vec<[u32; 2]> {
    let number = |level: u32, k: u32| level * MERIDIANS + k % MERIDIANS;
    let round = (0..LEVELS).flat_map(|level| (0..MERIDIANS).map(move |k| [number(level, k), number(level, k + 1)]));
    let along = (1..LEVELS).flat_map(|level| (0..MERIDIANS).map(move |k| [number(level - 1, k), number(level, k)]));
    round.chain(along).collect()
}

/// Two rims and the lines between them.
fn cylinder(local: &Pose, half_length: f64, radius: f64) -> Outline {
    const CORNERS: u32 = 24;
    let corner = |end: f64, k: u32| {
        let [cosine, sine] = cosine_and_sine(TAU * f64::from(k) / f64::from(CORNERS));
        place(local, end, radius * cosine, radius * sine)
    };
    let rim = |end: f64| (0..CORNERS).map(move |k| corner(end, k));
    let edges = (0..CORNERS).flat_map(|k| {
        let next = (k + 1) % CORNERS;
        let line = (k % 4 == 0).then_some([k, k + CORNERS]);
        [[k, next], [k + CORNERS, next + CORNERS]].into_iter().chain(line)
    });
    Outline::Polyhedron { vertices: rim(-half_length).chain(rim(half_length)).collect(), edges: edges.collect() }
}

fn placed_polygon(local: &Pose, vertices: &[Point2<f64>]) -> Outline {
    Outline::Polygon { vertices: vertices.iter().map(|v| place(local, v.x, v.y, 0.0)).collect() }
}

/// Vertex number k has the sign of bit i of k along axis i; an edge joins vertices that differ in one bit.
fn cuboid(local: &Pose, [a, b, c]: [f64; 3]) -> Outline {
    let sign = |k: u32, bit: u32, half: f64| if k >> bit & 1 == 1 { half } else { -half };
    let vertices = (0..8).map(|k| place(local, sign(k, 0, a), sign(k, 1, b), sign(k, 2, c))).collect();
    let upward = |k: u32| (0..3).map(move |bit| [k, k | 1 << bit]);
    let edges = (0..8).flat_map(upward).filter(|[from, to]| from != to).collect();
    Outline::Polyhedron { vertices, edges }
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
        let Outline::Polyhedron { vertices, edges } = cylinder(&Pose::identity(), 2.0, 0.5) else { panic!() };
        assert!(vertices.iter().all(|[x, y, z]| x.abs() == 2.0 && (y * y + z * z - 0.25).abs() < 1e-12));
        assert!(edges.iter().flatten().all(|&k| (k as usize) < vertices.len()));
    }

    #[test]
    fn a_box_has_twelve_edges_of_the_right_lengths() {
        let Outline::Polyhedron { vertices, edges } = cuboid(&Pose::identity(), [0.5, 1.0, 1.5]) else {
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
