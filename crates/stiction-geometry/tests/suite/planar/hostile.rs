//! Extreme sizes and places: finite numbers and unit normals, always.

use nalgebra::{Point2, Vector2};
use stiction_geometry::planar::Shape;

use super::support::{contacts, least_gap, pose, signed_distance};

fn shapes_of_size(size: f64) -> Vec<Shape> {
    vec![
        Shape::point(),
        Shape::disc(size).unwrap(),
        Shape::capsule(size, 0.1 * size).unwrap(),
        Shape::capsule(size, 1e-4 * size).unwrap(),
        Shape::rectangle([size, size]).unwrap(),
        Shape::rectangle([size, 1e-4 * size]).unwrap(),
        Shape::polygon(&[Point2::new(0.0, 0.0), Point2::new(size, 0.0), Point2::new(0.0, size)]).unwrap(),
    ]
}

#[test]
fn no_size_place_or_coincidence_breaks_a_contact() {
    let sizes = [1e-6, 1e-3, 1.0, 1e3, 1e6];
    let shapes: Vec<Shape> = sizes.iter().flat_map(|&size| shapes_of_size(size)).collect();
    let places = [0.0, 1e-12, 1e-6, 1.0, 1e4];
    let angles = [0.0, 1e-16, 1e-9, std::f64::consts::FRAC_PI_4, std::f64::consts::FRAC_PI_2, 3.0];
    for a in &shapes {
        for b in shapes.iter().filter(|b| !(a == &Shape::Point && *b == &Shape::Point)) {
            for x in places {
                for angle in angles {
                    let (pose_a, pose_b) = (pose(1e4, -x, 0.0), pose(1e4 + x, 0.0, angle));
                    for contact in contacts(a, &pose_a, b, &pose_b, 1.0) {
                        let coordinates = contact.point_a.iter().chain(contact.point_b.iter());
                        assert!(coordinates.chain([&contact.gap]).all(|number| number.is_finite()), "{contact:?}");
                        assert!((contact.normal.norm() - 1.0).abs() < 1e-12, "{contact:?}");
                        assert!(contact.gap <= 1.0);
                    }
                }
            }
        }
    }
}

#[test]
fn least_gap_is_the_signed_distance_whatever_the_sizes() {
    for size_a in [1e-6, 1.0, 1e6] {
        for size_b in [1e-6, 1.0, 1e6] {
            for a in shapes_of_size(size_a).iter().skip(1) {
                for b in shapes_of_size(size_b).iter().skip(1) {
                    let (pose_a, pose_b) = (pose(0.0, 0.0, 0.2), pose(1e-7, 1e-7, 1.3));
                    let exact = signed_distance(a, &pose_a, b, &pose_b);
                    let scale = a.radius_bound().unwrap() + b.radius_bound().unwrap();
                    let gap = least_gap(&contacts(a, &pose_a, b, &pose_b, scale));
                    assert!((gap - exact).abs() < 1e-9 * scale, "{a:?} on {b:?}: {gap} is not {exact}");
                }
            }
        }
    }
}

#[test]
fn half_plane_far_away_is_exact() {
    let ground = Shape::half_plane(Vector2::y()).unwrap();
    let found = contacts(&ground, &pose(1e4, 0.0, 0.0), &Shape::disc(0.5).unwrap(), &pose(-1e4, 0.5, 1.0), 0.0);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].gap, 0.0);
}

/// Two unit boxes in touch, ten kilometres from the origin: the midpoint frame keeps the digits.
#[test]
fn distance_from_the_origin_costs_no_digits() {
    let block = Shape::rectangle([0.5, 0.5]).unwrap();
    let found = contacts(&block, &pose(1e4, 1e4, 0.3), &block, &pose(1e4, 1e4 + 3.0, 0.3), 10.0);
    let near = contacts(&block, &pose(0.0, 0.0, 0.3), &block, &pose(0.0, 3.0, 0.3), 10.0);
    assert!((least_gap(&found) - least_gap(&near)).abs() < 1e-15);
}
