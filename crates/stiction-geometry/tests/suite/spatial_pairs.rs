//! Every pair of shapes in space at random poses, against optimality certificates, parry and closed forms.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use nalgebra::{Point3, Vector3};
use parry3d_f64::glamx::{DPose3, DQuat, DVec3};
use parry3d_f64::query::distance;
use parry3d_f64::shape::{Ball, ConvexPolyhedron, SharedShape};
use stiction_geometry::Pose;
use stiction_geometry::spatial::Shape;

use crate::spatial::{Random, at, core, cuboid, decisive, query, separation};

fn shapes(random: &mut Random) -> Vec<Shape> {
    let s = |random: &mut Random| random.uniform(0.2, 1.0);
    vec![
        Shape::point(),
        Shape::sphere(s(random)).unwrap(),
        Shape::capsule(s(random), 0.5 * s(random)).unwrap(),
        cuboid(s(random), s(random), s(random)),
        random.polyhedron(12, 0.8),
    ]
}

/// Runs `check` on random poses of all pairs of bounded shapes.
fn for_all_pairs(
    seed: u64,
    rounds: usize,
    reach: f64,
    mut check: impl FnMut(&mut Random, &Shape, &Pose, &Shape, &Pose),
) {
    let mut random = Random(seed);
    for _ in 0..rounds {
        let (left, right) = (shapes(&mut random), shapes(&mut random));
        for (i, a) in left.iter().enumerate() {
            for (j, b) in right.iter().enumerate() {
                if i + j > 0 {
                    let (pose_a, pose_b) = (random.pose(reach), random.pose(reach));
                    check(&mut random, a, &pose_a, b, &pose_b);
                }
            }
        }
    }
}

/// The smallest gap g comes with a normal n of separation σ(n) = g. As no two points are closer than σ(n), this proves a
/// positive g to be the distance; for overlapping shapes no other direction may do better.
#[test]
fn the_smallest_gap_is_the_signed_distance() {
    let (mut apart, mut overlapping) = (0, 0);
    for_all_pairs(1, 500, 1.1, |random, a, pose_a, b, pose_b| {
        let found = query(a, pose_a, b, pose_b, 10.0);
        let best = decisive(a, pose_a, b, pose_b, &found, 4e-10);
        let sigma = |n: &Vector3<f64>| separation(a, pose_a, b, pose_b, n);
        if best.gap > 0.0 {
            apart += 1;
            return;
        }
        overlapping += 1;
        for k in 0..300 {
            // Near the answer and anywhere.
            let spread = [1e-4, 1e-2, 0.3, 10.0][k % 4];
            let n = (best.normal.into_inner() + random.vector(spread)).normalize();
            assert!(sigma(&n) <= best.gap + 4e-10, "{} {} {best:?} {n}", a.name(), b.name());
        }
    });
    assert!(apart > 2000 && overlapping > 2000, "{apart} {overlapping}");
}

fn parry_shape(shape: &Shape) -> (SharedShape, f64) {
    let (vertices, radius) = core(shape);
    let vertices: Vec<DVec3> = vertices.iter().map(|v| DVec3::new(v.x, v.y, v.z)).collect();
    let core = match shape {
        Shape::Capsule { .. } => SharedShape::segment(vertices[0], vertices[1]),
        Shape::Box { half_extents } => SharedShape::cuboid(half_extents[0], half_extents[1], half_extents[2]),
        Shape::Polyhedron(_) => SharedShape::new(ConvexPolyhedron::from_convex_hull(&vertices).unwrap()),
        _ => SharedShape::new(Ball::new(0.0)),
    };
    (core, radius)
}

fn parry_pose(pose: &Pose) -> DPose3 {
    let q = nalgebra::UnitQuaternion::from_rotation_matrix(&pose.rotation);
    let t = pose.translation.vector;
    DPose3::from_parts(DVec3::new(t.x, t.y, t.z), DQuat::from_xyzw(q.i, q.j, q.k, q.w))
}

#[test]
fn parry_finds_the_same_distances() {
    let mut compared = 0;
    for_all_pairs(2, 200, 3.0, |_, a, pose_a, b, pose_b| {
        let ((core_a, radius_a), (core_b, radius_b)) = (parry_shape(a), parry_shape(b));
        let expected = distance(&parry_pose(pose_a), &*core_a, &parry_pose(pose_b), &*core_b).unwrap().distance;
        if expected > 1e-3 {
            compared += 1;
            let gap = decisive(a, pose_a, b, pose_b, &query(a, pose_a, b, pose_b, 20.0), 4e-10).gap;
            assert!(
                (gap - (expected - radius_a - radius_b)).abs() < 1e-9,
                "{} {} {gap} {expected}",
                a.name(),
                b.name()
            );
        }
    });
    assert!(compared > 3000, "{compared}");
}

#[test]
fn beyond_the_margin_nothing_and_within_it_something() {
    for_all_pairs(3, 100, 2.0, |_, a, pose_a, b, pose_b| {
        let gap = decisive(a, pose_a, b, pose_b, &query(a, pose_a, b, pose_b, 20.0), 4e-10).gap;
        assert!(query(a, pose_a, b, pose_b, gap - 1e-6).is_empty());
        let found = query(a, pose_a, b, pose_b, gap + 1e-6);
        assert!((decisive(a, pose_a, b, pose_b, &found, 4e-10).gap - gap).abs() < 1e-9);
    });
}

#[test]
fn a_half_space_meets_every_vertex() {
    let mut random = Random(4);
    for _ in 0..300 {
        let plane = Shape::half_space(random.unit() * random.uniform(0.1, 10.0)).unwrap();
        let Shape::HalfSpace { normal } = plane else { panic!() };
        let pose_a = random.pose(2.0);
        let n = pose_a.rotation * normal.into_inner();
        for b in shapes(&mut random) {
            let pose_b = random.pose(2.0);
            let (vertices, radius) = core(&b);
            let mut expected: Vec<f64> = vertices
                .iter()
                .map(|v| n.dot(&(pose_b * v - pose_a * Point3::origin())) - radius)
                .filter(|gap| *gap <= 0.5)
                .collect();
            let found = query(&plane, &pose_a, &b, &pose_b, 0.5);
            assert!(found.iter().all(|c| (c.normal.into_inner() - n).norm() < 1e-15));
            let mut gaps: Vec<f64> = found.iter().map(|c| c.gap).collect();
            expected.sort_by(f64::total_cmp);
            gaps.sort_by(f64::total_cmp);
            assert_eq!(gaps.len(), expected.len());
            assert!(gaps.iter().zip(&expected).all(|(g, e)| (g - e).abs() < 1e-14));
        }
    }
}

#[test]
fn spheres_and_capsules_in_closed_form() {
    let ball = Shape::sphere(0.5).unwrap();
    let rod = Shape::capsule(1.0, 0.25).unwrap();
    let beside = query(&ball, &at(0.0, 0.0, 0.0), &rod, &at(0.3, 0.0, 2.0), 5.0);
    assert_eq!(beside.len(), 1);
    assert!((beside[0].gap - 1.25).abs() < 1e-15 && beside[0].normal.z == 1.0);
    let off_the_end = query(&ball, &at(0.0, 0.0, 0.0), &rod, &at(4.0, 4.0, 0.0), 5.0);
    assert!((off_the_end[0].gap - (5.0 - 0.75)).abs() < 1e-15);
    assert!((off_the_end[0].normal.into_inner() - Vector3::new(0.6, 0.8, 0.0)).norm() < 1e-15);
}

#[test]
fn pairs_without_a_surface_between_them_are_refused() {
    let wrap = stiction_geometry::Shape::Spatial;
    let refuse = |a: Shape, b: Shape| stiction_geometry::ensure_supported(&wrap(a), &wrap(b)).unwrap_err().to_string();
    let floor = Shape::half_space(Vector3::z()).unwrap();
    assert!(refuse(floor.clone(), floor.clone()).contains("replace one of them by a box"));
    assert!(refuse(Shape::point(), Shape::point()).contains("give one of them a radius"));
    assert!(stiction_geometry::ensure_supported(&wrap(floor), &wrap(Shape::point())).is_ok());
}
