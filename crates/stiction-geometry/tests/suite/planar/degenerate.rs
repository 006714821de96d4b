//! Degenerate poses: concentric, coincident, just touching, nearly parallel.

use nalgebra::{Point2, Vector2};
use stiction_geometry::planar::Shape;

use super::oracle::mirrored;
use super::support::{Random, bounded_pairs, bounded_shapes, contacts, least_gap, pose, signed_distance};

const GAPS: [f64; 9] = [0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3];
const TILTS: [f64; 9] = [0.0, 1e-16, -1e-16, 1e-14, -1e-14, 1e-12, -1e-12, 1e-9, -1e-9];

/// A box on an equal box, both far from axis-aligned in the world, or not.
#[test]
fn box_resting_on_an_equal_box_always_has_two_contacts() {
    let (half_width, half_height) = (0.5, 0.3);
    let block = Shape::rectangle([half_width, half_height]).unwrap();
    let mut random = Random(21);
    for gap in GAPS {
        for tilt in TILTS {
            for world_angle in [0.0, 0.3, -1.1, 2.5] {
                for _ in 0..20 {
                    let noise = [(); 3].map(|()| random.between(-2e-16, 2e-16));
                    let world = pose(random.between(-1.0, 1.0), random.between(-1.0, 1.0), world_angle);
                    let upper = world * pose(noise[0], 2.0 * half_height + gap + noise[1], tilt + noise[2]);
                    let found = contacts(&block, &world, &block, &upper, 0.01);
                    assert_eq!(found.len(), 2, "gap {gap:e}, tilt {tilt:e}: {found:?}");
                    let up = world.rotation * nalgebra::Vector3::y();
                    for contact in &found {
                        // The tilt turns the normal and lifts the ends by at most this much.
                        assert!((contact.normal.into_inner() - up).norm() < 1e-15 + 1.01 * tilt.abs());
                        assert!((contact.gap - gap).abs() < 1e-15 + 1.01 * half_width * tilt.abs(), "{contact:?}");
                        assert!(contact.normal_is_unique);
                    }
                    let apart = (found[1].point_a - found[0].point_a).norm();
                    assert!((apart - 2.0 * half_width).abs() < 1e-8);
                }
            }
        }
    }
}

#[test]
fn features_of_equal_stacked_boxes_do_not_flicker() {
    let block = Shape::rectangle([0.5, 0.3]).unwrap();
    let mut random = Random(22);
    let reference = contacts(&block, &pose(0.0, 0.0, 0.0), &block, &pose(0.0, 0.6, 0.0), 0.01);
    for _ in 0..1000 {
        let noise = [(); 3].map(|()| random.between(-4e-16, 4e-16));
        let found = contacts(&block, &pose(0.0, 0.0, 0.0), &block, &pose(noise[0], 0.6 + noise[1], noise[2]), 0.01);
        assert!(found.iter().zip(&reference).all(|(now, then)| now.feature == then.feature));
    }
}

#[test]
fn coincident_shapes_give_a_deterministic_unit_normal() {
    for shape in bounded_shapes() {
        if shape == Shape::Point {
            continue;
        }
        let at = pose(0.2, -0.4, 0.0);
        let found = contacts(&shape, &at, &shape, &at, 0.01);
        assert!(!found.is_empty(), "{}", shape.name());
        assert!(least_gap(&found) < 0.0);
        for contact in &found {
            assert!((contact.normal.norm() - 1.0).abs() < 1e-14);
            assert!(!contact.normal_is_unique, "{}: {contact:?}", shape.name());
        }
        assert_eq!(found, contacts(&shape, &at, &shape, &at, 0.01));
    }
}

#[test]
fn concentric_discs_part_upwards() {
    let (large, small) = (Shape::disc(0.5).unwrap(), Shape::disc(0.2).unwrap());
    let [contact] = contacts(&large, &pose(3.0, 1.0, 0.4), &small, &pose(3.0, 1.0, -2.0), 0.0)[..] else {
        panic!("one contact")
    };
    assert_eq!(contact.normal.into_inner(), nalgebra::Vector3::y());
    assert_eq!(contact.gap, -0.7);
    assert!(!contact.normal_is_unique);
}

#[test]
fn just_touching_pairs_have_the_gap_to_the_last_bits() {
    let (disc, point) = (Shape::disc(0.4).unwrap(), Shape::point());
    let (capsule, block) = (Shape::capsule(0.5, 0.2).unwrap(), Shape::rectangle([0.6, 0.3]).unwrap());
    let triangle = Shape::polygon(&[Point2::new(-0.5, 0.25), Point2::new(0.0, -0.5), Point2::new(0.5, 0.25)]).unwrap();
    let ground = Shape::half_plane(Vector2::y()).unwrap();
    // Each is placed upright above the other; `below` and `above` are the heights of its lowest and highest point.
    let lower = [(&disc, 0.4), (&capsule, 0.2), (&block, 0.3), (&ground, 0.0)];
    let upper = [(&disc, 0.4), (&point, 0.0), (&capsule, 0.2), (&block, 0.3), (&triangle, 0.5)];
    for (a, above) in lower {
        for (b, below) in upper {
            for gap in GAPS {
                let found = contacts(a, &pose(0.0, 0.0, 0.0), b, &pose(0.0, above + below + gap, 0.0), 0.01);
                let names = (a.name(), b.name());
                assert!((least_gap(&found) - gap).abs() < 2e-16, "{names:?} at {gap:e}: {found:?}");
                assert!(found.iter().all(|contact| contact.normal.y > 1.0 - 1e-15), "{names:?} at {gap:e}");
            }
        }
    }
}

#[test]
fn corner_on_corner_falls_back_to_a_face_without_a_unique_normal() {
    let block = Shape::rectangle([1.0, 1.0]).unwrap();
    for offset in [0.0, 1e-16, 1e-14, -1e-14] {
        let found = contacts(&block, &pose(0.0, 0.0, 0.0), &block, &pose(2.0 + offset, 2.0, 0.0), 0.01);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].gap.abs() < 1e-13 && !found[0].normal_is_unique, "{found:?}");
    }
    for distance in [1e-11, 1e-9, 1e-6] {
        let found = contacts(&block, &pose(0.0, 0.0, 0.0), &block, &pose(2.0 + distance, 2.0 + distance, 0.0), 0.01);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].gap > 0.5 * distance && found[0].gap < 2.0 * distance);
    }
}

#[test]
fn disc_centre_on_vertex_edge_and_inside() {
    let (block, disc) = (Shape::rectangle([1.0, 0.5]).unwrap(), Shape::disc(0.1).unwrap());
    for (x, y, gap, unique) in [(1.0, 0.5, -0.1, false), (0.2, 0.5, -0.1, true), (0.2, 0.3, -0.3, true)] {
        let found = contacts(&block, &pose(0.0, 0.0, 0.0), &disc, &pose(x, y, 0.0), 0.01);
        assert_eq!(found.len(), 1);
        assert!((found[0].gap - gap).abs() < 1e-15);
        assert_eq!(found[0].normal_is_unique, unique, "({x}, {y})");
    }
}

#[test]
fn needle_on_slab_of_aspect_ten_thousand() {
    let (slab, needle) = (Shape::rectangle([1e4, 1.0]).unwrap(), Shape::rectangle([1.0, 1e-4]).unwrap());
    for x in [0.0, 5000.0, 9998.0] {
        for gap in GAPS {
            // The height of the slab's face is known to a rounding error of its length, 1e4 · 2⁻⁵³.
            let found = contacts(&slab, &pose(0.0, 0.0, 0.0), &needle, &pose(x, 1.0 + 1e-4 + gap, 0.0), 0.01);
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found.iter().all(|contact| (contact.gap - gap).abs() < 1e-15 && contact.normal.y == 1.0));
            let upright = pose(x, 1.0 + 1.0 + gap, std::f64::consts::FRAC_PI_2);
            let found = contacts(&slab, &pose(0.0, 0.0, 0.0), &needle, &upright, 0.01);
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found.iter().all(|contact| (contact.gap - gap).abs() < 1e-15));
        }
    }
}

#[test]
fn degenerate_pairs_are_mirrored_too() {
    let block = Shape::rectangle([0.5, 0.3]).unwrap();
    for gap in GAPS {
        for tilt in TILTS {
            let (lower, upper) = (pose(0.0, 0.0, 0.0), pose(0.0, 0.6 + gap, tilt));
            let forth = contacts(&block, &lower, &block, &upper, 0.01);
            let back = mirrored(&contacts(&block, &upper, &block, &lower, 0.01));
            assert_eq!(forth, back, "gap {gap:e}, tilt {tilt:e}");
        }
    }
}

/// Aligned, symmetric poses on a grid, exact and with noise of every size: many ties, but still the signed distance.
#[test]
fn least_gap_is_the_signed_distance_on_a_grid_of_aligned_poses() {
    let mut random = Random(23);
    let noises = [0.0, 1e-16, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-7, 1e-5];
    let mut pairs = bounded_pairs();
    let shapes = [
        Shape::rectangle([0.5, 0.5]).unwrap(),
        Shape::rectangle([1.0, 0.25]).unwrap(),
        Shape::capsule(0.5, 0.25).unwrap(),
        Shape::polygon(&[Point2::new(0.0, 0.0), Point2::new(1.0, 0.0), Point2::new(0.0, 1.0)]).unwrap(),
        // A box with a lid that is not quite flat.
        Shape::polygon(&[
            Point2::new(-1.0, 0.0),
            Point2::new(1.0, 0.0),
            Point2::new(1.0, 0.5),
            Point2::new(0.0, 0.5 + 1e-7),
            Point2::new(-1.0, 0.5),
        ])
        .unwrap(),
    ];
    pairs.extend(shapes.iter().flat_map(|a| shapes.iter().map(|b| (a.clone(), b.clone()))));
    for (a, b) in pairs {
        for noise in noises.iter().cycle().take(150) {
            let mut coordinate = || (random.between(-4.0, 4.0)).round() * 0.25;
            let (x, y) = (coordinate(), coordinate());
            let angle = std::f64::consts::FRAC_PI_4 * random.between(-4.0, 4.0).round();
            let mut noisy = |value: f64| value + noise * random.between(-1.0, 1.0);
            let (pose_a, pose_b) = (pose(0.0, 0.0, 0.0), pose(noisy(x), noisy(y), noisy(angle)));
            let found = contacts(&a, &pose_a, &b, &pose_b, 10.0);
            let exact = signed_distance(&a, &pose_a, &b, &pose_b);
            // Below 1e-10 of the scale, a face defines the normal of nearly coincident corners.
            let error = (least_gap(&found) - exact).abs();
            assert!(error < 1e-9, "{a:?} on {b:?} at {x} {y} {angle} noise {noise:e}: {found:?}, not {exact}");
            let is_mirrored = mirrored(&contacts(&b, &pose_b, &a, &pose_a, 10.0)) == found;
            assert!(is_mirrored || found.iter().any(|contact| !contact.normal_is_unique), "{a:?} on {b:?}: {found:?}");
        }
    }
}
