//! Every contact is feature-exact: the gradient of its gap is the wrench of its normal.

use nalgebra::{IsometryMatrix3, Rotation3, Translation3, Vector3};
use stiction_geometry::spatial::Shape;
use stiction_geometry::{ContactPoint, Feature, Pose};

use crate::spatial::{Random, at, cuboid, query};

/// The pose displaced by a translation and a rotation about the origin of the body.
fn displaced(pose: &Pose, v: &Vector3<f64>, w: &Vector3<f64>) -> Pose {
    IsometryMatrix3::from_parts(
        Translation3::from(pose.translation.vector + v),
        Rotation3::from_scaled_axis(*w) * pose.rotation,
    )
}

fn with_feature(found: &[ContactPoint], feature: Feature) -> Option<f64> {
    found.iter().find(|c| c.feature == feature).map(|c| c.gap)
}

/// Numbers of compared gradients and of features that vanished within the difference step.
#[derive(Default, Debug)]
struct Tally {
    compared: usize,
    vanished: usize,
}

/// Compares central differences of every gap with n · (v + ω × r) on B and its opposite on A.
fn compare(random: &mut Random, a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, margin: f64, tally: &mut Tally) {
    let step = 1e-6;
    let slack = 10.0 * step;
    for contact in query(a, pose_a, b, pose_b, margin).iter().filter(|c| c.normal_is_unique) {
        let (v, w) = (random.unit(), random.unit());
        let wide = margin + slack;
        let gap_b =
            |h: f64| with_feature(&query(a, pose_a, b, &displaced(pose_b, &(v * h), &(w * h)), wide), contact.feature);
        let gap_a =
            |h: f64| with_feature(&query(a, &displaced(pose_a, &(v * h), &(w * h)), b, pose_b, wide), contact.feature);
        let velocity = |p: nalgebra::Point3<f64>, pose: &Pose| v + w.cross(&(p.coords - pose.translation.vector));
        let rate_b = contact.normal.dot(&velocity(contact.point_b, pose_b));
        let rate_a = -contact.normal.dot(&velocity(contact.point_a, pose_a));
        for (gap, rate) in [(&gap_b as &dyn Fn(f64) -> Option<f64>, rate_b), (&gap_a, rate_a)] {
            let Some(difference) = derivative(gap, step) else {
                tally.vanished += 1;
                continue;
            };
            tally.compared += 1;
            assert!((difference - rate).abs() < 1e-7, "{} {} {difference} {rate} {contact:?}", a.name(), b.name());
        }
    }
}

/// The central difference of fourth order, if the feature persists.
fn derivative(gap: &dyn Fn(f64) -> Option<f64>, h: f64) -> Option<f64> {
    let difference = |h: f64| Some((gap(h)? - gap(-h)?) / (2.0 * h));
    Some((4.0 * difference(h)? - difference(2.0 * h)?) / 3.0)
}

#[test]
fn at_random_poses() {
    let mut random = Random(11);
    let mut tally = Tally::default();
    for _ in 0..60 {
        let shapes = [
            Shape::point(),
            Shape::sphere(0.4).unwrap(),
            Shape::capsule(0.8, 0.2).unwrap(),
            cuboid(0.9, 0.5, 0.7),
            random.polyhedron(10, 0.8),
            Shape::half_space(random.unit()).unwrap(),
        ];
        for (i, a) in shapes.iter().enumerate() {
            for (j, b) in shapes.iter().enumerate() {
                if (i, j) != (0, 0) && (i, j) != (5, 5) {
                    let (pose_a, pose_b) = (random.pose(1.0), random.pose(1.0));
                    compare(&mut random, a, &pose_a, b, &pose_b, 0.5, &mut tally);
                }
            }
        }
    }
    assert!(tally.compared > 3000 && tally.vanished * 100 < tally.compared, "{tally:?}");
}

/// Boxes, hulls and capsules that lie nearly flat on a box: the whole manifold, tilted a little, stays exact.
#[test]
fn of_tilted_manifolds() {
    let mut random = Random(12);
    let mut tally = Tally::default();
    let slab = cuboid(1.0, 0.8, 0.3);
    for round in 0..400 {
        let half = 0.4;
        let shape = match round % 3 {
            0 => cuboid(0.9, 0.6, half),
            1 => crate::spatial::hulled([0.7, 0.9, half]),
            _ => Shape::capsule(0.9, half).unwrap(),
        };
        let yaw = Rotation3::from_axis_angle(&Vector3::z_axis(), random.uniform(-3.0, 3.0));
        let tilt = Rotation3::from_scaled_axis(random.vector(0.02));
        let place =
            Vector3::new(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 0.7 + random.uniform(-0.03, 0.03));
        let world = random.pose(2.0);
        let pose = world * IsometryMatrix3::from_parts(Translation3::from(place), tilt * yaw);
        let found = query(&slab, &world, &shape, &pose, 0.1).len();
        assert!(found >= if round % 3 == 2 { 2 } else { 3 }, "{round}: {found}");
        compare(&mut random, &slab, &world, &shape, &pose, 0.1, &mut tally);
    }
    assert!(tally.compared > 3000 && tally.vanished * 100 < tally.compared, "{tally:?}");
}

/// The ends of two capsules side by side, nearly parallel.
#[test]
fn of_capsules_side_by_side() {
    let mut random = Random(13);
    let mut tally = Tally::default();
    let rod = Shape::capsule(1.0, 0.2).unwrap();
    for _ in 0..100 {
        let turn = Rotation3::from_scaled_axis(random.vector(0.03));
        let pose = IsometryMatrix3::from_parts(Translation3::new(random.uniform(-1.0, 1.0), 0.0, 0.4), turn);
        let world = random.pose(2.0);
        assert!(query(&rod, &world, &rod, &(world * pose), 0.1).len() >= 2);
        compare(&mut random, &rod, &world, &rod, &(world * pose), 0.1, &mut tally);
    }
    assert!(tally.compared > 300 && tally.vanished * 50 < tally.compared, "{tally:?}");
    assert_eq!(query(&rod, &at(0.0, 0.0, 0.0), &rod, &at(0.3, 0.0, 0.4), 0.1).len(), 2);
}
