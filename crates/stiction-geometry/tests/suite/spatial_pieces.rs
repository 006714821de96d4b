//! Convex parts of meshes: they cover the mesh, keep notches free, and accept random triangles.

use nalgebra::{Point3, Vector3};
use proptest::prelude::*;
use stiction_geometry::spatial::{ConvexPolyhedron, convex_parts};

/// Height of a point above the highest of the faces of a hull; negative inside.
fn height(hull: &ConvexPolyhedron, p: &Point3<f64>) -> f64 {
    let faces = hull.faces().zip(hull.normals());
    faces.map(|(face, n)| n.dot(&(p - hull.vertices()[face[0] as usize]))).fold(f64::NEG_INFINITY, f64::max)
}

/// A prism over an outline in the xy plane, which may have notches; triangulated by hand.
fn prism(outline: &[[f64; 2]], caps: &[[usize; 3]], depth: f64) -> (Vec<Point3<f64>>, Vec<[usize; 3]>) {
    let n = outline.len();
    let level = |z: f64| outline.iter().map(move |[x, y]| Point3::new(*x, *y, z));
    let points = level(0.0).chain(level(depth)).collect();
    let sides = (0..n).flat_map(|k| {
        let next = (k + 1) % n;
        [[k, next, n + next], [k, n + next, n + k]]
    });
    let bottom = caps.iter().map(|&[a, b, c]| [a, c, b]);
    let top = caps.iter().map(|cap| cap.map(|k| n + k));
    (points, sides.chain(bottom).chain(top).collect())
}

#[test]
fn an_angle_becomes_pieces_that_leave_its_corner_free() {
    let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 0.5], [0.5, 0.5], [0.5, 2.0], [0.0, 2.0]];
    let caps = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
    for scale in [1e-3, 1.0, 1e4] {
        let (points, triangles) = prism(&outline.map(|p| p.map(|x| x * scale)), &caps, 0.5 * scale);
        let pieces = convex_parts(&points, &triangles);
        assert!((2..=32).contains(&pieces.len()), "{} pieces", pieces.len());
        let hulls: Vec<_> = pieces.iter().map(|piece| ConvexPolyhedron::from_points(piece).expect("a hull")).collect();
        let voxel = 2.0 * scale / 60.0;
        let above = |p: Vector3<f64>| {
            hulls.iter().map(|hull| height(hull, &Point3::from(p * scale))).fold(f64::INFINITY, f64::min)
        };
        for inside in [[0.1, 0.1, 0.1], [1.9, 0.25, 0.25], [0.25, 1.9, 0.4], [0.25, 0.25, 0.25]] {
            assert!(above(Vector3::from(inside)) <= 0.0, "{inside:?} is covered");
        }
        for outside in [[0.8, 0.8, 0.25], [1.5, 0.7, 0.25], [0.7, 1.5, 0.25], [2.1, 0.2, 0.2]] {
            assert!(above(Vector3::from(outside)) > voxel, "{outside:?} is free");
        }
    }
}

#[test]
fn what_has_no_extent_has_no_pieces() {
    assert!(convex_parts(&[], &[]).is_empty());
    assert!(convex_parts(&[Point3::origin(); 3], &[[0, 1, 2]]).is_empty());
    let points = [Point3::origin(), Point3::new(1.0, 0.0, 0.0)];
    let _ = convex_parts(&points, &[[0, 1, 7], [0, 0, 1]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_triangles_have_pieces(
        points in prop::collection::vec(prop::array::uniform3(prop_oneof![-1.0..1.0_f64, Just(0.0), Just(1.0), -1e-9..1e-9_f64]), 3..12),
        triangles in prop::collection::vec(prop::array::uniform3(0_usize..12), 1..12),
        size in prop_oneof![Just(1e-23), Just(1e-3), Just(1.0), Just(1e9)],
    ) {
        let points: Vec<_> = points.into_iter().map(|p| Point3::from(p.map(|x| x * size))).collect();
        for piece in convex_parts(&points, &triangles) {
            prop_assert!(piece.iter().all(|p| p.coords.amax() <= 2.0 * size));
        }
    }
}
