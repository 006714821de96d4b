//! The search with bounds against the search through all faces and all pairs of edges.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

use nalgebra::{Point3, Rotation3, Vector3};

use super::{Arc, Axis, Candidates, Kind, axis, edge_separation};
use crate::spatial::placed::{Core, CoreBuffer};
use crate::spatial::polytope_bounds::{Bounds, face_separation};
use crate::spatial::segment::{cross, is_transverse};
use crate::spatial::{Shape, sink::Tolerance};

/// The direction of largest separation by measuring every face and every pair of edges.
fn exhaustive(a: &Core<'_>, b: &Core<'_>, reach: f64, lead: f64) -> Option<Axis> {
    let mut candidates = Candidates::new(lead);
    for face in 0..a.normals.len() as u32 {
        let (vertex, separation) = face_separation(a, face, b);
        candidates.consider(Kind::FaceOfA { face, vertex }, a.normal(face), separation);
    }
    for face in 0..b.normals.len() as u32 {
        let (vertex, separation) = face_separation(b, face, a);
        candidates.consider(Kind::FaceOfB { face, vertex }, -b.normal(face), separation);
    }
    for (edge_a, of_a) in a.edges() {
        for (edge_b, of_b) in b.edges() {
            if let Some((direction, separation)) = edge_separation(a, (of_a, &Arc::new(a, of_a)), b, of_b) {
                candidates.consider(Kind::Edges { edge_a, edge_b }, direction, separation);
            }
        }
    }
    let meet = |kind: &Kind| match *kind {
        Kind::FaceOfA { face, vertex } => a.is_over_face(face, &b.vertex(vertex), lead),
        Kind::FaceOfB { face, vertex } => b.is_over_face(face, &a.vertex(vertex), lead),
        Kind::Edges { edge_a, edge_b } => {
            let (ends_a, ends_b) = (a.ends(a.edge(edge_a)), b.ends(b.edge(edge_b)));
            is_transverse(&ends_a, &ends_b) && cross(&ends_a, &ends_b, lead)
        }
    };
    candidates.first(meet).filter(|_| candidates.largest <= reach)
}

/// Numbers in -1..1 by a linear congruential generator.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 / (1u64 << 52) as f64) - 1.0
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.number(), self.number(), self.number())
    }
}

/// Ball of points, slab with flat faces, box, needle, prism, and a capsule's segment.
fn shape(kind: usize, random: &mut Random) -> Shape {
    let cloud = |count: usize, sizes: Vector3<f64>, random: &mut Random| {
        let points = (0..count).map(|_| random.vector().normalize().component_mul(&sizes));
        Shape::convex_hull(&points.map(Point3::from).collect::<Vec<_>>()).unwrap()
    };
    match kind {
        0 => cloud(40, Vector3::new(1.0, 1.0, 1.0), random),
        1 => cloud(12, Vector3::new(1.0, 0.6, 0.1), random),
        2 => Shape::cuboid([0.7, 0.4, 0.2]).unwrap(),
        3 => cloud(20, Vector3::new(1.5, 0.1, 0.1), random),
        4 => {
            let corner = |k: u32| {
                let (sin, cos) = libm::sincos(f64::from(k / 2) * core::f64::consts::TAU / 16.0);
                Point3::new(0.5 * cos, 0.5 * sin, if k.is_multiple_of(2) { -0.4 } else { 0.4 })
            };
            Shape::convex_hull(&(0..32).map(corner).collect::<Vec<_>>()).unwrap()
        }
        _ => Shape::capsule(0.6, 0.1).unwrap(),
    }
}

/// Ten thousand placements: apart, touching to rounding, and in overlap; turned at random and with parallel faces.
#[test]
fn bounds_exclude_nothing_that_matters() {
    let mut random = Random(7);
    let (mut buffers, mut bounds) = ([CoreBuffer::default(), CoreBuffer::default()], Bounds::default());
    let (mut overlapping, mut edges) = (0, 0);
    for round in 0..10_000 {
        let shapes = [shape(round % 5, &mut random), shape(round / 5 % 6, &mut random)];
        let mut turn = || match round % 7 {
            0 => Rotation3::identity(),
            1 => Rotation3::from_axis_angle(&Vector3::z_axis(), core::f64::consts::FRAC_PI_2),
            _ => Rotation3::new(random.vector() * 3.0),
        };
        let turns = [turn(), turn()];
        let way = random.vector().normalize();
        // First beside each other; then moved along a line until the gap along their direction is as wanted.
        let wanted = [0.05, 1e-3, 0.0, -1e-9, -1e-3, -0.1, -0.5, -5.0][round % 8];
        let [first, second] = &mut buffers;
        let a = first.place(&shapes[0], turns[0].matrix(), &Vector3::zeros()).unwrap();
        let top = a.vertices.iter().map(|v| way.dot(&v.coords)).fold(f64::NEG_INFINITY, f64::max);
        let b = second.place(&shapes[1], turns[1].matrix(), &Vector3::zeros()).unwrap();
        let (_, bottom) = b.lowest(&way);
        let offset = way * (top - bottom + wanted).max(0.0);
        let b = second.place(&shapes[1], turns[1].matrix(), &offset).unwrap();
        let lead = Tolerance::new(a.size, b.size, offset.norm()).touching;
        for reach in [0.01, 10.0] {
            let (found, all) = (axis(&a, &b, reach, lead, &mut bounds), exhaustive(&a, &b, reach, lead));
            let of = |axis: &Axis| (axis.kind, axis.direction, axis.separation, axis.is_unique);
            assert_eq!(found.as_ref().map(of), all.as_ref().map(of), "{round}, {reach}");
            overlapping += usize::from(found.is_some_and(|axis| axis.separation < 0.0));
            edges += usize::from(found.is_some_and(|axis| matches!(axis.kind, Kind::Edges { .. })));
        }
    }
    assert!(overlapping > 4000 && edges > 4000, "{overlapping} in overlap, {edges} by edges");
}
