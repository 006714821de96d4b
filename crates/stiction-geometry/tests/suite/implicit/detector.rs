//! The narrow phase with smooth shapes: every pair, feature-exact and symmetric; cylinders that stand and lie.

use nalgebra::{Rotation3, Vector3};
use stiction_geometry::{ContactPoint, Feature, Pose, Scratch, Shape, contacts, ensure_supported, planar, spatial};

use super::support::Random;

fn query(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, margin: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    contacts(a, pose_a, b, pose_b, margin, &mut Scratch::default(), &mut out).unwrap();
    out
}

fn displaced(pose: &Pose, v: &Vector3<f64>, w: &Vector3<f64>) -> Pose {
    Pose::from_parts((pose.translation.vector + v).into(), Rotation3::from_scaled_axis(*w) * pose.rotation)
}

fn is_smooth(shape: &Shape) -> bool {
    ["ellipse", "ellipsoid", "superellipse", "superquadric", "cylinder"].contains(&shape.name())
}

/// Compares differences of each gap with n · (v + ω × r); returns the numbers of compared contacts and of changed
/// features.
fn compare(random: &mut Random, a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, margin: f64) -> (usize, usize) {
    let step = 1e-6;
    let is_planar = matches!(a, Shape::Planar(_));
    let (mut compared, mut changed) = (0, 0);
    for contact in query(a, pose_a, b, pose_b, margin).iter().filter(|contact| contact.normal_is_unique) {
        let v = random.unit(is_planar);
        let w = if is_planar { Vector3::z() } else { random.unit(false) };
        let gap = |feature: Feature, h: f64| {
            let moved = displaced(pose_b, &(v * h), &(w * h));
            query(a, pose_a, b, &moved, margin + 1.0).iter().find(|c| c.feature == feature).map(|c| c.gap)
        };
        let velocity = v + w.cross(&(contact.point_b.coords - pose_b.translation.vector));
        let expected = contact.normal.dot(&velocity);
        let (Some(after), Some(before)) = (gap(contact.feature, step), gap(contact.feature, -step)) else {
            changed += 1;
            continue;
        };
        compared += 1;
        let rate = (after - before) / (2.0 * step);
        // Near corners the normal turns by step / |gap| within the difference.
        let error = 1e-6 + 4.0 * step / contact.gap.abs().max(1e-3);
        assert!((rate - expected).abs() < error, "{} {}: {rate} {expected} {contact:?}", a.name(), b.name());
    }
    (compared, changed)
}

#[test]
fn contacts_are_feature_exact() {
    let mut random = Random(51);
    let (mut compared, mut changed) = (0, 0);
    for round in 0..2000 {
        let is_planar = round % 2 == 0;
        let a = if round % 7 == 0 { random.half_space(is_planar) } else { random.shape(is_planar, 1.0) };
        let b = random.shape(is_planar, 1.0);
        if !is_smooth(&a) && !is_smooth(&b) {
            continue;
        }
        assert!(ensure_supported(&a, &b).is_ok());
        let away = random.unit(is_planar) * random.uniform(0.8, 2.5);
        let (pose_a, pose_b) = (random.pose(is_planar, Vector3::zeros()), random.pose(is_planar, away));
        let (more, lost) = compare(&mut random, &a, &pose_a, &b, &pose_b, 0.4);
        compared += more;
        changed += lost;
    }
    assert!(compared > 250 && changed * 20 < compared, "{compared} {changed}");
}

#[test]
fn exchanged_shapes_give_mirrored_contacts() {
    let mut random = Random(52);
    let mut compared = 0;
    for round in 0..1600 {
        let is_planar = round % 2 == 0;
        let a = if round % 7 == 0 { random.half_space(is_planar) } else { random.shape(is_planar, 1.0) };
        let b = random.shape(is_planar, 1.0);
        if !is_smooth(&a) && !is_smooth(&b) {
            continue;
        }
        let away = random.unit(is_planar) * random.uniform(1.2, 2.5);
        let (pose_a, pose_b) = (random.pose(is_planar, Vector3::zeros()), random.pose(is_planar, away));
        let there = query(&a, &pose_a, &b, &pose_b, 0.4);
        let mut back = query(&b, &pose_b, &a, &pose_a, 0.4);
        // Deep inside, each order may find a different local minimum of the depth.
        if there.iter().any(|contact| contact.gap < -0.05) {
            continue;
        }
        back.sort_by_key(|contact| {
            let (p, q) = contact.feature.parts();
            (q, p)
        });
        assert_eq!(there.len(), back.len(), "{} {}", a.name(), b.name());
        for (c, d) in there.iter().zip(&back) {
            let (p, q) = d.feature.parts();
            assert_eq!(c.feature.parts(), (q, p));
            assert!((c.gap - d.gap).abs() < 1e-9, "{} {}: {} {}", a.name(), b.name(), c.gap, d.gap);
            assert!((c.normal.into_inner() + d.normal.into_inner()).norm() < 1e-5);
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}

fn cylinder() -> Shape {
    spatial::Shape::cylinder(0.5, 0.3).unwrap().into()
}

/// Upright with its centre at the given height, or lying along y.
fn upright(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(Vector3::new(x, y, z), Vector3::y() * std::f64::consts::FRAC_PI_2)
}

fn lying(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(Vector3::new(x, y, z), Vector3::z() * std::f64::consts::FRAC_PI_2)
}

#[test]
fn a_cylinder_stands_and_lies_on_the_ground() {
    let ground: Shape = spatial::Shape::half_space(Vector3::z()).unwrap().into();
    let standing = query(&ground, &Pose::identity(), &cylinder(), &upright(0.2, 0.1, 0.5), 0.01);
    assert_eq!(standing.len(), 8);
    assert!(standing.iter().all(|contact| contact.gap.abs() < 1e-12));
    let flat = query(&ground, &Pose::identity(), &cylinder(), &lying(0.2, 0.1, 0.3), 0.01);
    assert_eq!(flat.len(), 2);
    let ends: Vec<_> = flat.iter().map(|contact| contact.point_b.y - 0.1).collect();
    assert!(flat.iter().all(|contact| contact.gap.abs() < 1e-12 && (contact.point_b.x - 0.2).abs() < 1e-9));
    assert!((ends[0] + ends[1]).abs() < 1e-9 && (ends[0] - ends[1]).abs() > 0.99);
    // Tilted, it touches with one point of one rim.
    let tilted = Pose::new(Vector3::new(0.0, 0.0, 1.0), Vector3::y() * 0.7);
    let depth = 0.5 * libm::sin(0.7) + 0.3 * libm::cos(0.7);
    let found = query(&ground, &Pose::identity(), &cylinder(), &tilted, 1.0 - depth + 1e-9);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - (1.0 - depth)).abs() < 1e-12);
}

#[test]
fn a_cylinder_stands_and_lies_on_a_box() {
    let slab: Shape = spatial::Shape::cuboid([1.0, 1.0, 0.2]).unwrap().into();
    let top = 0.2;
    let standing = query(&slab, &Pose::identity(), &cylinder(), &upright(0.1, 0.2, top + 0.5), 0.01);
    assert_eq!(standing.len(), 8, "{standing:?}");
    assert!(standing.iter().all(|c| c.gap.abs() < 1e-12 && c.normal.z > 0.999));
    let flat = query(&slab, &Pose::identity(), &cylinder(), &lying(0.1, 0.2, top + 0.3), 0.01);
    assert_eq!(flat.len(), 2, "{flat:?}");
    // Half over the edge: one rim, and the side of the face that crosses below.
    let over = query(&slab, &Pose::identity(), &cylinder(), &lying(0.1, 0.9, top + 0.3), 0.01);
    assert_eq!(over.len(), 2, "{over:?}");
    let ends: Vec<_> = over.iter().map(|contact| contact.point_b.y).collect();
    assert!(ends.iter().any(|y| (y - 1.0).abs() < 1e-9) && ends.iter().any(|y| (y - 0.4).abs() < 1e-9), "{ends:?}");
    // A post narrower than the cylinder supports it with its corners.
    let post: Shape = spatial::Shape::cuboid([0.1, 0.1, 0.2]).unwrap().into();
    let carried = query(&post, &Pose::identity(), &cylinder(), &upright(0.0, 0.0, top + 0.5), 0.01);
    assert_eq!(carried.len(), 4, "{carried:?}");
    // End on end.
    let stacked = query(&cylinder(), &upright(0.0, 0.0, 0.5), &cylinder(), &upright(0.1, 0.0, 1.5), 0.01);
    assert!(stacked.len() >= 4 && stacked.iter().all(|c| c.gap.abs() < 1e-9 && c.normal.z > 0.999), "{stacked:?}");
}

/// Tilted a little, the manifolds of standing and lying cylinders stay exact.
#[test]
fn manifolds_of_tilted_cylinders_are_exact() {
    let mut random = Random(53);
    let slab: Shape = spatial::Shape::cuboid([1.0, 0.8, 0.2]).unwrap().into();
    let (mut compared, mut changed) = (0, 0);
    for round in 0..300 {
        let [x, y] = [random.uniform(-0.9, 0.9), random.uniform(-0.7, 0.7)];
        let base = if round % 2 == 0 { upright(x, y, 0.71) } else { lying(x, y, 0.51) };
        let pose = displaced(&base, &Vector3::zeros(), &(random.unit(false) * random.uniform(0.0, 0.05)));
        let (more, lost) = compare(&mut random, &slab, &Pose::identity(), &cylinder(), &pose, 0.1);
        compared += more;
        changed += lost;
    }
    assert!(compared > 800 && changed * 20 < compared, "{compared} {changed}");
}

#[test]
fn solids_without_end_do_not_meet_each_other() {
    let half_plane: Shape = planar::Shape::half_plane(nalgebra::Vector2::y()).unwrap().into();
    let piece = |angle: f64| {
        let pose = Pose::new(Vector3::zeros(), Vector3::z() * angle);
        stiction_geometry::implicit::ConvexPart::shape(&half_plane, &pose).unwrap()
    };
    let corner: Shape = planar::Shape::intersection([piece(0.0), piece(1.0)]).unwrap().into();
    let disc: Shape = planar::Shape::disc(1.0).unwrap().into();
    assert!(ensure_supported(&corner, &half_plane).is_err() && ensure_supported(&corner, &corner).is_err());
    assert!(ensure_supported(&corner, &disc).is_ok());
    let found = query(&corner, &Pose::identity(), &disc, &Pose::translation(-0.1, 1.2, 0.0), 0.5);
    assert_eq!(found.len(), 1);
}
