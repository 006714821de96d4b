//! Number and features of the contacts: the combinatorial side of the kernel.

use nalgebra::{Point2, Vector2};
use stiction_geometry::Feature;
use stiction_geometry::planar::Shape;

use super::support::{contacts, pose, regular_polygon};

fn block(x: f64, y: f64) -> Shape {
    Shape::rectangle([x, y]).unwrap()
}

#[test]
fn small_box_on_wide_box_stands_on_its_own_corners() {
    let found = contacts(&block(2.0, 0.5), &pose(0.0, 0.0, 0.0), &block(0.5, 0.5), &pose(0.3, 1.0, 0.0), 0.01);
    // Corners 0 and 1 of the upper box on face 2 (feature 4 + 2) of the lower.
    let features: Vec<_> = found.iter().map(|contact| contact.feature).collect();
    assert_eq!(features, [Feature::new(6, 0), Feature::new(6, 1)]);
    assert!((found[0].point_b.x + 0.2).abs() < 1e-15);
    assert!((found[1].point_b.x - 0.8).abs() < 1e-15);
}

#[test]
fn overhanging_box_rests_on_one_corner_of_each() {
    let found = contacts(&block(1.0, 0.5), &pose(0.0, 0.0, 0.0), &block(1.0, 0.5), &pose(0.7, 1.0, 0.0), 0.01);
    let features: Vec<_> = found.iter().map(|contact| contact.feature).collect();
    // Corner 2 of A under face 0 (feature 4) of B, and corner 0 of B over face 2 (feature 6) of A.
    assert_eq!(features, [Feature::new(2, 4), Feature::new(6, 0)]);
    assert!(found.iter().all(|contact| contact.normal.y == 1.0 && contact.gap.abs() < 1e-15));
}

#[test]
fn far_side_of_a_body_is_never_reported_however_large_the_margin() {
    let found = contacts(&block(2.0, 0.5), &pose(0.0, 0.0, 0.0), &block(0.5, 0.5), &pose(0.3, 1.0, 0.0), 100.0);
    assert_eq!(found.len(), 2);
}

#[test]
fn corner_near_corner_is_one_contact_along_the_connecting_line() {
    let found = contacts(&block(1.0, 1.0), &pose(0.0, 0.0, 0.0), &block(1.0, 1.0), &pose(2.03, 2.04, 0.0), 0.1);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 0.05).abs() < 1e-15);
    assert!((found[0].normal.x - 0.6).abs() < 1e-13 && (found[0].normal.y - 0.8).abs() < 1e-13);
    assert_eq!(found[0].feature, Feature::new(2, 0));
}

#[test]
fn lying_capsule_has_both_ends_on_a_face_and_on_a_half_plane() {
    let capsule = Shape::capsule(0.5, 0.1).unwrap();
    let grounds = [(block(2.0, 0.5), 0.5), (Shape::half_plane(Vector2::y()).unwrap(), 0.0)];
    for (ground, top) in grounds {
        let found = contacts(&ground, &pose(0.0, 0.0, 0.0), &capsule, &pose(0.2, top + 0.1 + 1e-3, 0.0), 0.01);
        assert_eq!(found.len(), 2, "{}", ground.name());
        for (contact, x) in found.iter().zip([-0.3, 0.7]) {
            assert!((contact.gap - 1e-3).abs() < 1e-15);
            assert!((contact.point_b.x - x).abs() < 1e-15);
        }
    }
}

#[test]
fn upright_capsule_has_only_its_lower_end() {
    let capsule = Shape::capsule(0.5, 0.1).unwrap();
    for penetration in [-1e-3, 0.0, 1e-3, 0.05, 0.15] {
        let at = pose(0.2, 0.5 + 0.6 - penetration, std::f64::consts::FRAC_PI_2);
        let found = contacts(&block(2.0, 0.5), &pose(0.0, 0.0, 0.0), &capsule, &at, 0.01);
        assert_eq!(found.len(), 1, "{penetration}: {found:?}");
        assert!((found[0].gap + penetration).abs() < 1e-15);
    }
}

#[test]
fn parallel_capsules_touch_at_both_ends_of_the_overlap() {
    let (long, short) = (Shape::capsule(1.0, 0.1).unwrap(), Shape::capsule(0.4, 0.2).unwrap());
    for gap in [0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3] {
        let found = contacts(&long, &pose(0.0, 0.0, 0.0), &short, &pose(0.1, 0.3 + gap, 0.0), 0.01);
        assert_eq!(found.len(), 2, "gap {gap}");
        assert!(found.iter().all(|contact| (contact.gap - gap).abs() < 1e-15 && contact.normal.y == 1.0));
    }
}

#[test]
fn capsules_end_to_end_meet_with_their_caps() {
    let capsule = Shape::capsule(0.5, 0.1).unwrap();
    for gap in [0.0, 1e-9, -1e-9, 1e-3, -1e-3, -0.1] {
        let found = contacts(&capsule, &pose(0.0, 0.0, 0.0), &capsule, &pose(1.2 + gap, 0.0, 0.0), 0.01);
        assert_eq!(found.len(), 1, "gap {gap}: {found:?}");
        assert!((found[0].gap - gap).abs() < 1e-15 && found[0].normal.x == 1.0 && found[0].normal_is_unique);
    }
}

#[test]
fn wheel_with_many_corners_reports_all_corners_in_reach_of_floor_and_half_plane_alike() {
    let wheel = regular_polygon(100, 1.0);
    let floor = contacts(&block(5.0, 1.0), &pose(0.0, -1.0, 0.0), &wheel, &pose(0.0, 1.0, 0.0), 0.01);
    let ground = Shape::half_plane(Vector2::y()).unwrap();
    let plane = contacts(&ground, &pose(0.0, 0.0, 0.0), &wheel, &pose(0.0, 1.0, 0.0), 0.01);
    assert!(plane.len() >= 4);
    assert_eq!(floor.len(), plane.len());
    for (on_floor, on_plane) in floor.iter().zip(&plane) {
        assert!((on_floor.gap - on_plane.gap).abs() < 1e-14);
        assert!((on_floor.point_b - on_plane.point_b).norm() < 1e-14);
    }
}

#[test]
fn wedge_pressed_into_a_face_reports_no_far_corner() {
    let wedge = Shape::polygon(&[Point2::new(0.0, 0.0), Point2::new(0.5, 5.0), Point2::new(-0.5, 5.0)]).unwrap();
    for depth in [0.01, 0.1, 1.0] {
        let found = contacts(&block(5.0, 3.0), &pose(0.0, -3.0, 0.0), &wedge, &pose(0.0, -depth, 0.0), 0.01);
        assert_eq!(found.len(), 1, "depth {depth}: {found:?}");
        assert!((found[0].gap + depth).abs() < 1e-15);
    }
}
