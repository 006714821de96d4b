//! Extreme sizes, places and shapes: finite numbers and unit normals, always.

use nalgebra::Point2;
use stiction_geometry::planar::Shape;
use stiction_geometry::{self as geometry, Pose, Scratch, chains};

use super::pairs::outlines;
use crate::planar::support::{Random, bounded_shapes, contacts, pose};

/// A comb with needles of the given thickness, of the given size.
fn comb(size: f64, thickness: f64) -> Shape {
    let mut corners = vec![Point2::new(0.0, -size), Point2::new(size, -size)];
    for k in (0..4).rev() {
        let x = size * 0.25 * f64::from(k);
        corners.extend([
            Point2::new(x + size * thickness, 0.0),
            Point2::new(x + size * thickness * 0.5, size),
            Point2::new(x, 0.0),
        ]);
    }
    Shape::polygon(&corners).unwrap()
}

#[test]
fn no_size_place_or_coincidence_breaks_a_contact() {
    let sizes = [1e-6, 1.0, 1e6];
    let outlines: Vec<Shape> =
        sizes.iter().flat_map(|&size| [1e-1, 1e-3, 1e-7].map(|thickness| comb(size, thickness))).collect();
    let mut others = bounded_shapes();
    others.extend(outlines.iter().cloned());
    let angles = [0.0, 1e-16, 1e-9, std::f64::consts::FRAC_PI_4, std::f64::consts::FRAC_PI_2, 3.0];
    for a in &outlines {
        for b in &others {
            for x in [0.0, 1e-12, 1e-6, 1.0, 1e4] {
                for angle in angles {
                    for contact in contacts(a, &pose(1e4, -x, 0.0), b, &pose(1e4 + x, 0.0, angle), 1.0) {
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

/// Poses with NaN come from a simulation that has failed; they must not panic here.
#[test]
fn poses_that_are_not_numbers_do_not_panic() {
    let shapes = [outlines(), bounded_shapes()].concat();
    for a in &outlines() {
        for b in &shapes {
            for bad in [f64::NAN, f64::INFINITY, f64::MAX] {
                let _ = contacts(a, &pose(0.0, 0.0, 0.0), b, &pose(bad, 0.0, 0.0), 0.1);
                let _ = contacts(b, &pose(0.0, bad, 0.0), a, &pose(0.0, 0.0, 0.3), 0.1);
            }
        }
    }
}

/// A shape on itself, vertex on vertex and face on face: a result that is always the same.
#[test]
fn coincident_outlines_are_treated_the_same_every_time() {
    for shape in outlines() {
        let at = pose(0.2, -0.4, 0.7);
        let found = contacts(&shape, &at, &shape, &at, 0.01);
        assert!(!found.is_empty() && found == contacts(&shape, &at, &shape, &at, 0.01));
    }
}

/// Buffers carry no information from one call to the next.
#[test]
fn scratch_has_no_memory() {
    let mut random = Random(601);
    let mut scratch = Scratch::default();
    let shapes = [outlines(), bounded_shapes()].concat();
    for _ in 0..300 {
        let mut pick = || shapes[random.below(shapes.len())].clone();
        let (a, b) = (pick(), pick());
        if (&a, &b) == (&Shape::Point, &Shape::Point) {
            continue;
        }
        let (pose_a, pose_b): (Pose, Pose) = (random.pose(0.8), random.pose(0.8));
        let mut out = Vec::new();
        let wrap = |shape: &Shape| geometry::Shape::Planar(shape.clone());
        geometry::contacts(&wrap(&a), &pose_a, &wrap(&b), &pose_b, 0.2, &mut scratch, &mut out).unwrap();
        assert_eq!(out, contacts(&a, &pose_a, &b, &pose_b, 0.2));
        assert!(chains(&out).all(|chain| !chain.is_empty()));
    }
}
