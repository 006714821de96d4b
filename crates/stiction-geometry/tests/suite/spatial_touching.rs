//! Nearly touching, nearly aligned poses of polytopes and capsules, where round-off decides which features are closest.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use nalgebra::{IsometryMatrix3, Rotation3, Translation3, Vector3};
use stiction_geometry::spatial::Shape;
use stiction_geometry::{ContactPoint, Pose, Scratch, contacts};

use crate::spatial::{Random, cuboid, decisive, hulled, query};

const GAPS: [f64; 9] = [0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3];

fn shape(kind: usize, random: &mut Random) -> Shape {
    match kind {
        0 => Shape::capsule(0.6, 0.3).unwrap(),
        1 => cuboid(0.5, 0.7, 0.3),
        2 => hulled([0.5, 0.7, 0.3]),
        _ => random.polyhedron(14, 0.7),
    }
}

/// B moved along the normal of the signed distance until the gap is as wanted: the signed distance is the wanted gap, or,
/// for overlap, at most that deep.
#[test]
fn random_orientations_brought_into_touch() {
    let mut random = Random(41);
    for round in 0..900 {
        let (a, b) = (shape(round % 4, &mut random), shape(round / 4 % 4, &mut random));
        let pose_a = random.pose(1.0);
        let direction = random.unit();
        let apart = IsometryMatrix3::from_parts(
            Translation3::from(pose_a.translation.vector + direction * random.uniform(1.5, 4.0)),
            random.rotation(),
        );
        let found = query(&a, &pose_a, &b, &apart, 10.0);
        let best = decisive(&a, &pose_a, &b, &apart, &found, 4e-10);
        for gap in GAPS {
            let pose_b = Translation3::from(best.normal.into_inner() * (gap - best.gap)) * apart;
            let found = query(&a, &pose_a, &b, &pose_b, 0.02);
            // The direction of a line between points a gap apart is known to round-off / gap.
            let within = if gap > 0.0 { 4e-10 + 4e-16 / gap.max(1e-10) } else { 4e-10 };
            let now = decisive(&a, &pose_a, &b, &pose_b, &found, within);
            let error = now.gap - gap;
            assert!(error > -4e-10 && (error < 4e-10 || gap < 0.0), "{} {} {gap:e} {:e}", a.name(), b.name(), now.gap);
        }
    }
}

/// Boxes on boxes, concentric or shifted, tilted and turned by anything from nothing to a tenth: the signed distance is
/// certified and the manifold keeps at least three contacts while the tilt is small against the margin.
#[test]
fn stacks_with_every_small_tilt() {
    let mut random = Random(42);
    for round in 0..6000 {
        let (a, b) = (shape(1 + round % 2, &mut random), shape(1 + round / 2 % 2, &mut random));
        let tilt = [0.0, 1e-16, 1e-13, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2][round % 9];
        let turn = [0.0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.1][round % 10];
        let shift = [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3, 0.1][round % 7];
        let gap = GAPS[round % 8];
        let mut place = random.vector(shift);
        place.z = 0.6 + gap;
        let rotation =
            Rotation3::from_scaled_axis(random.unit() * tilt) * Rotation3::from_axis_angle(&Vector3::z_axis(), turn);
        let world = random.pose(1.0);
        let pose_b = world * IsometryMatrix3::from_parts(Translation3::from(place), rotation);
        let found = query(&a, &world, &b, &pose_b, 0.03);
        decisive(&a, &world, &b, &pose_b, &found, 4e-10);
        assert!(
            found.len() >= 3 && found.len() <= 8,
            "tilt {tilt:e} turn {turn:e} shift {shift:e} gap {gap:e} {found:#?}"
        );
        // The contacts span the overlap: the mean of the lowest and the highest corner is near the middle.
        let spread = |axis: usize| {
            let values = || found.iter().map(|c| world.inverse_transform_point(&c.point_b)[axis]);
            values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
        };
        assert!(spread(0) > 0.7 && spread(1) > 1.0, "tilt {tilt:e} turn {turn:e} shift {shift:e} {found:#?}");
    }
}

/// Capsules on a box, every small tilt and turn, within and across the border of the face.
#[test]
fn capsules_with_every_small_tilt() {
    let mut random = Random(43);
    let (slab, rod) = (cuboid(1.0, 0.8, 0.5), Shape::capsule(0.5, 0.2).unwrap());
    for round in 0..6000 {
        let tilt = [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2][round % 8];
        let turn = [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, core::f64::consts::FRAC_PI_2][round % 9];
        let place = [[0.0, 0.0], [0.5, 0.0], [0.9, 0.3], [0.2, 0.8], [0.5, 0.8], [0.0, 0.81], [1.1, 0.79]][round % 7];
        let noise = random.vector([0.0, 1e-16, 1e-12, 1e-9, 1e-5][round % 5]);
        let place = Vector3::new(place[0], place[1], 0.7 + GAPS[round % 8]) + noise;
        let rotation =
            Rotation3::from_scaled_axis(random.unit() * tilt) * Rotation3::from_axis_angle(&Vector3::z_axis(), turn);
        let world = random.pose(1.0);
        let pose_b = world * IsometryMatrix3::from_parts(Translation3::from(place), rotation);
        let found = query(&slab, &world, &rod, &pose_b, 0.03);
        decisive(&slab, &world, &rod, &pose_b, &found, 4e-10);
        // At a corner of the box several features are equally near.
        assert!(found.len() <= 6, "{found:#?}");
    }
}

/// The same poses give the same bits, for any earlier use of the scratch and any content of `out`.
#[test]
fn the_past_does_not_matter() {
    let mut random = Random(44);
    let mut used = Scratch::default();
    let mut all: Vec<ContactPoint> = Vec::new();
    for round in 0..500 {
        let wrap = stiction_geometry::Shape::Spatial;
        let (a, b) = (wrap(shape(round % 4, &mut random)), wrap(shape(round / 4 % 4, &mut random)));
        let (pose_a, pose_b): (Pose, Pose) = (random.pose(0.8), random.pose(0.8));
        let mut fresh = Vec::new();
        contacts(&a, &pose_a, &b, &pose_b, 0.5, &mut Scratch::default(), &mut fresh).unwrap();
        let first = all.len();
        contacts(&a, &pose_a, &b, &pose_b, 0.5, &mut used, &mut all).unwrap();
        assert_eq!(all[first..], fresh[..]);
    }
    assert!(all.len() > 500);
}
