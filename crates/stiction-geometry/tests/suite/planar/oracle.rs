//! The least gap of every pair is the signed distance, and every contact is a pair of points on the two surfaces.

use nalgebra::{Vector2, Vector3};
use stiction_geometry::planar::Shape;
use stiction_geometry::{ContactPoint, Pose};

use super::support::{Random, bounded_pairs, bounded_shapes, contacts, least_gap, pose, signed_distance, support};

/// The normal is a unit vector, `ψ = n · (p_b − p_a)`, and `p_b − p_a` is along n.
fn assert_consistent(contact: &ContactPoint) {
    let d = contact.point_b - contact.point_a;
    assert!((contact.normal.norm() - 1.0).abs() < 1e-14);
    assert!((contact.normal.dot(&d) - contact.gap).abs() < 1e-13, "{contact:?}");
    assert!(d.cross(&contact.normal).norm() < 1e-13, "{contact:?}");
    assert_eq!((contact.normal.z, contact.point_a.z, contact.point_b.z), (0.0, 0.0, 0.0));
}

/// The distance from a point to the outline of a shape, by the same sampled support function.
fn off_surface(shape: &Shape, at: &Pose, point: &nalgebra::Point3<f64>) -> f64 {
    signed_distance(shape, at, &Shape::Point, &Pose::from_parts(point.coords.into(), nalgebra::Rotation3::identity()))
}

#[test]
fn least_gap_is_the_signed_distance_of_every_bounded_pair() {
    let mut random = Random(1);
    let mut penetrating = 0;
    let mut separated = 0;
    for (a, b) in bounded_pairs() {
        for _ in 0..120 {
            let (pose_a, pose_b) = (random.pose(0.9), random.pose(0.9));
            let exact = signed_distance(&a, &pose_a, &b, &pose_b);
            let found = contacts(&a, &pose_a, &b, &pose_b, 10.0);
            found.iter().for_each(assert_consistent);
            let gap = least_gap(&found);
            assert!((gap - exact).abs() < 1e-10, "{} on {}: {gap} is not {exact}: {found:#?}", a.name(), b.name());
            if exact < 0.0 { penetrating += 1 } else { separated += 1 }
        }
    }
    assert!(penetrating > 500 && separated > 500, "{penetrating} penetrating, {separated} separated");
}

/// Every contact point belongs to its body, and those of the closest contact lie on the outlines. (The far end of a tilted capsule
/// is a disc whose lowest point is inside the capsule: a valid constraint, yet no point of the outline.)
#[test]
fn contact_points_belong_to_their_bodies() {
    let mut random = Random(2);
    for (a, b) in bounded_pairs() {
        for _ in 0..40 {
            let (pose_a, pose_b) = (random.pose(0.9), random.pose(0.9));
            let found = contacts(&a, &pose_a, &b, &pose_b, 0.3);
            for contact in found.iter().filter(|contact| contact.gap > 0.0) {
                let off = [off_surface(&a, &pose_a, &contact.point_a), off_surface(&b, &pose_b, &contact.point_b)];
                let is_closest = contact.gap == least_gap(&found);
                for off in off {
                    assert!(off < 1e-10 && (off > -1e-10 || !is_closest), "{} on {}: {off}", a.name(), b.name());
                }
            }
        }
    }
}

#[test]
fn margin_selects_and_never_alters() {
    let mut random = Random(3);
    for (a, b) in bounded_pairs() {
        for _ in 0..40 {
            let (pose_a, pose_b) = (random.pose(1.0), random.pose(1.0));
            let wide = contacts(&a, &pose_a, &b, &pose_b, 0.5);
            let narrow = contacts(&a, &pose_a, &b, &pose_b, 0.1);
            assert!(narrow.iter().all(|contact| contact.gap <= 0.1));
            let least = least_gap(&wide);
            assert_eq!(narrow.is_empty(), least > 0.1);
            for contact in &narrow {
                let same_gap = |other: &&ContactPoint| other.gap == contact.gap && other.point_a == contact.point_a;
                assert!(wide.iter().any(|other| same_gap(&other)), "{contact:?} is not among {wide:?}");
            }
        }
    }
}

#[test]
fn half_plane_supports_every_bounded_shape_exactly() {
    let mut random = Random(4);
    let mut shapes = bounded_shapes();
    shapes.push(Shape::ellipse([0.9, 0.35]).unwrap());
    for shape in shapes {
        for _ in 0..200 {
            let local_normal = Vector2::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0));
            let ground = Shape::half_plane(local_normal).unwrap();
            let (pose_a, pose_b) = (random.pose(1.0), random.pose(1.0));
            let n = pose_a.rotation * Vector3::new(local_normal.x, local_normal.y, 0.0).normalize();
            let exact = -support(&shape, &pose_b, &-n.xy()) - n.dot(&pose_a.translation.vector);
            let found = contacts(&ground, &pose_a, &shape, &pose_b, 10.0);
            found.iter().for_each(assert_consistent);
            assert!((least_gap(&found) - exact).abs() < 1e-14, "{}", shape.name());
            assert!(found.iter().all(|contact| (contact.normal.into_inner() - n).norm() < 1e-15));
        }
    }
}

#[test]
fn ellipse_touches_the_half_plane_in_its_lowest_point() {
    let mut random = Random(5);
    let (a, b) = (1.3, 0.4);
    let ellipse = Shape::ellipse([a, b]).unwrap();
    let ground = Shape::half_plane(Vector2::y()).unwrap();
    for _ in 0..100 {
        let at = random.pose(2.0);
        let [contact] = contacts(&ground, &pose(0.0, 0.0, 0.0), &ellipse, &at, 10.0)[..] else { panic!("one contact") };
        let outline = (0..100_000).map(|i| {
            let angle = std::f64::consts::TAU * f64::from(i) / 1e5;
            (at * nalgebra::Point3::new(a * libm::cos(angle), b * libm::sin(angle), 0.0)).y
        });
        let lowest = outline.fold(f64::INFINITY, f64::min);
        assert!((contact.gap - lowest).abs() < 1e-8 && contact.gap <= lowest);
        let local = at.inverse_transform_point(&contact.point_b);
        assert!(((local.x / a).powi(2) + (local.y / b).powi(2) - 1.0).abs() < 1e-13);
    }
}

#[test]
fn exchanging_the_bodies_mirrors_every_contact() {
    let mut random = Random(6);
    let mut pairs = bounded_pairs();
    let ground = Shape::half_plane(Vector2::new(0.3, 1.0)).unwrap();
    pairs.extend(bounded_shapes().into_iter().map(|shape| (ground.clone(), shape)));
    for (a, b) in pairs {
        for _ in 0..60 {
            let (pose_a, pose_b) = (random.pose(0.8), random.pose(0.8));
            let forth = contacts(&a, &pose_a, &b, &pose_b, 0.4);
            let back = mirrored(&contacts(&b, &pose_b, &a, &pose_a, 0.4));
            assert_eq!(forth, back, "{} on {}", a.name(), b.name());
        }
    }
}

/// The same contacts with the roles of A and B exchanged, in the order in which they would be reported.
pub(super) fn mirrored(contacts: &[ContactPoint]) -> Vec<ContactPoint> {
    let mirrored = |contact: &ContactPoint| ContactPoint {
        feature: stiction_geometry::Feature(contact.feature.0.rotate_left(32)),
        point_a: contact.point_b,
        point_b: contact.point_a,
        normal: -contact.normal,
        ..*contact
    };
    let mut chains: Vec<Vec<_>> =
        stiction_geometry::chains(contacts).map(|chain| chain.iter().map(mirrored).collect()).collect();
    for chain in &mut chains {
        chain.sort_by_key(|contact| contact.feature);
    }
    chains.sort_by_key(|chain| chain[0].feature);
    let number = |(chain, contacts): (u32, Vec<_>)| contacts.into_iter().map(move |c| ContactPoint { chain, ..c });
    (0..).zip(chains).flat_map(number).collect()
}
