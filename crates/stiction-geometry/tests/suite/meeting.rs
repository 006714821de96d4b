//! Fixed feature pairs: the narrow phase finds the same contact at other poses, and differences agree with the
//! sensitivity.

use nalgebra::{IsometryMatrix3, Point2, Rotation3, Translation3, Vector2, Vector3};
use stiction_geometry::{ContactPoint, FeaturePair, Pose, Scratch, Shape, contacts, planar, spatial};

use crate::spatial::{Random, cuboid};

fn displaced(pose: &Pose, v: &Vector3<f64>, w: &Vector3<f64>) -> Pose {
    IsometryMatrix3::from_parts(
        Translation3::from(pose.translation.vector + v),
        Rotation3::from_scaled_axis(*w) * pose.rotation,
    )
}

fn query(a: (&Shape, &Pose), b: (&Shape, &Pose), margin: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    contacts(a.0, a.1, b.0, b.1, margin, &mut Scratch::default(), &mut out).unwrap();
    out
}

fn spatial_shapes(random: &mut Random) -> Vec<Shape> {
    [
        spatial::Shape::sphere(0.7).unwrap(),
        spatial::Shape::capsule(0.8, 0.3).unwrap(),
        cuboid(0.6, 0.9, 0.5),
        random.polyhedron(12, 1.0),
        spatial::Shape::half_space(Vector3::new(0.3, -0.2, 1.0)).unwrap(),
    ]
    .map(Shape::from)
    .to_vec()
}

fn planar_shapes() -> Vec<Shape> {
    let corners = [[1.0, 0.0], [0.3, 0.9], [-0.7, 0.6], [-0.8, -0.5], [0.4, -0.8]].map(|[x, y]| Point2::new(x, y));
    [
        planar::Shape::disc(0.6).unwrap(),
        planar::Shape::capsule(0.7, 0.2).unwrap(),
        planar::Shape::rectangle([0.9, 0.5]).unwrap(),
        planar::Shape::polygon(&corners).unwrap(),
        planar::Shape::half_plane(Vector2::new(0.2, 1.0)).unwrap(),
    ]
    .map(Shape::from)
    .to_vec()
}

/// Random motions of a body in the plane or in space.
fn motion(random: &mut Random, plane: bool) -> (Vector3<f64>, Vector3<f64>) {
    let (v, w) = (random.unit(), random.unit());
    if plane { (Vector3::new(v.x, v.y, 0.0), Vector3::new(0.0, 0.0, w.z)) } else { (v, w) }
}

fn pose(random: &mut Random, plane: bool, reach: f64) -> Pose {
    let pose = random.pose(reach);
    if !plane {
        return pose;
    }
    let angle = random.uniform(-3.0, 3.0);
    let at = pose.translation.vector;
    IsometryMatrix3::from_parts(
        Translation3::new(at.x, at.y, 0.0),
        Rotation3::from_axis_angle(&Vector3::z_axis(), angle),
    )
}

fn check_pairs(shapes: &[Shape], plane: bool, random: &mut Random) -> (usize, usize) {
    let (mut followed, mut compared) = (0, 0);
    for (a, b) in shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a, b))) {
        if a.name().starts_with("half") && b.name().starts_with("half") {
            continue;
        }
        for _ in 0..60 {
            let (pose_a, pose_b) = (pose(random, plane, 0.8), pose(random, plane, 1.2));
            let (va, wa) = motion(random, plane);
            let (vb, wb) = motion(random, plane);
            for contact in query((a, &pose_a), (b, &pose_b), 1.0).iter().filter(|c| c.normal_is_unique) {
                let pair = FeaturePair::new((a, &pose_a), (b, &pose_b), contact).unwrap();
                let point = pair.at(&pose_a, &pose_b);
                assert!((point.gap - contact.gap).abs() < 1e-12, "{} {} {contact:?} {point:?}", a.name(), b.name());
                assert!((point.point_a - contact.point_a).norm() < 1e-11);
                assert!((point.point_b - contact.point_b).norm() < 1e-11);
                // At other poses the narrow phase finds the same contact, as long as it finds the same features.
                let far = 1e-3;
                let moved =
                    (displaced(&pose_a, &(va * far), &(wa * far)), displaced(&pose_b, &(vb * far), &(wb * far)));
                let there = pair.at(&moved.0, &moved.1);
                let found = query((a, &moved.0), (b, &moved.1), 2.0);
                // Two corners of the plane may be the end of a flat overlap here and two points there.
                let same_kind = |c: &ContactPoint| !plane || (c.normal.into_inner() - there.normal).norm() < 1e-9;
                if let Some(same) = found.iter().find(|c| c.feature == contact.feature && same_kind(c)) {
                    followed += 1;
                    assert!((there.gap - same.gap).abs() < 1e-11, "{} {} {there:?} {same:?}", a.name(), b.name());
                    assert!((there.normal - same.normal.into_inner()).norm() < 1e-11);
                }
                // Near edges and corners of no radius the normal turns arbitrarily fast.
                let distance = (point.gap + radius(a) + radius(b)).abs();
                if distance < 0.05 {
                    continue;
                }
                let h = 1e-5;
                let near = |h: f64| pair.at(&pose_a, &displaced(&pose_b, &(vb * h), &(wb * h)));
                let sensitivity = pair.sensitivity(&pose_a, &pose_b, &point);
                let linear = vb + wb.cross(&(point.point_b.coords - pose_b.translation.vector));
                let twist = nalgebra::Vector6::new(linear.x, linear.y, linear.z, wb.x, wb.y, wb.z);
                let d_point = (near(h).point_a - near(-h).point_a) / (2.0 * h);
                let d_normal = (near(h).normal - near(-h).normal) / (2.0 * h);
                compared += 1;
                let scale = 1.0 + d_normal.norm() + d_point.norm();
                let place = format!("{} {} {contact:?} {pair:?}", a.name(), b.name());
                assert!((sensitivity.point_a * twist - d_point).norm() < 1e-6 * scale.powi(3), "point {place}");
                assert!((sensitivity.normal * twist - d_normal).norm() < 1e-6 * scale.powi(3), "normal {place}");
            }
        }
    }
    (followed, compared)
}

fn radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Planar(planar::Shape::Disc { radius } | planar::Shape::Capsule { radius, .. })
        | Shape::Spatial(spatial::Shape::Sphere { radius } | spatial::Shape::Capsule { radius, .. }) => *radius,
        _ => 0.0,
    }
}

#[test]
fn meetings_follow_their_features_in_space() {
    let mut random = Random(11);
    let shapes = spatial_shapes(&mut random);
    let (followed, compared) = check_pairs(&shapes, false, &mut random);
    assert!(followed > 3000 && compared > 3000, "{followed} {compared}");
}

#[test]
fn meetings_follow_their_features_in_the_plane() {
    let (followed, compared) = check_pairs(&planar_shapes(), true, &mut Random(5));
    assert!(followed > 1500 && compared > 1500, "{followed} {compared}");
}
