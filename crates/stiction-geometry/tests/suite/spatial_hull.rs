//! Validity of shapes, and the faces of convex hulls.

use nalgebra::{Point3, Vector3};
use stiction_geometry::spatial::{ConvexPolyhedron, Shape};

use crate::spatial::{Random, at, corners, cuboid};

fn counts(body: &ConvexPolyhedron) -> [usize; 3] {
    [body.vertices().len(), body.edges().count(), body.faces().count()]
}

#[test]
fn points_inside_faces_and_edges_are_dropped() {
    let mut random = Random(31);
    for half in [[1.0, 1.0, 1.0], [1.0, 0.6, 0.4], [1.0, 1e-4, 1e-4], [1e6, 1e6, 1e2], [1e-6, 2e-6, 3e-6]] {
        let mut points = corners(half);
        for mask in [[0.0, 0.3, 1.0], [1.0, -1.0, 0.2], [0.1, 0.2, 0.3], [1.0, 0.5, 0.5], [1.0, 1.0, 1.0]] {
            points.push(Point3::new(half[0] * mask[0], half[1] * mask[1], half[2] * mask[2]));
        }
        assert_eq!(counts(&ConvexPolyhedron::from_points(&points).unwrap()), [8, 12, 6]);
        for _ in 0..200 {
            let pose = random.pose(half[0]);
            let placed: Vec<_> = points.iter().map(|p| pose * p).collect();
            let body =
                ConvexPolyhedron::from_points(&placed).unwrap_or_else(|error| panic!("{error}: {half:?} {pose}"));
            assert_eq!(counts(&body), [8, 12, 6], "{half:?}");
        }
    }
}

/// The supporting half-spaces of the hull contain every point, and every vertex is one of the points.
#[test]
fn hulls_contain_their_points() {
    let mut random = Random(32);
    for round in 0..300 {
        let points: Vec<_> = (0..4 + round % 60).map(|_| Point3::from(random.vector(1.0))).collect();
        let body = ConvexPolyhedron::from_points(&points).unwrap();
        assert!(body.vertices().iter().all(|v| points.contains(v)));
        let [v, e, f] = counts(&body);
        assert_eq!(v + f, e + 2);
        for (face, normal) in body.faces().zip(body.normals()) {
            assert!((normal.norm() - 1.0).abs() < 1e-14);
            let height = normal.dot(&body.vertices()[face[0] as usize].coords);
            assert!(points.iter().all(|p| normal.dot(&p.coords) <= height + 1e-12));
            assert!(face.iter().all(|&i| (normal.dot(&body.vertices()[i as usize].coords) - height).abs() < 1e-9));
        }
    }
}

#[test]
fn a_prism_with_many_sides_has_two_large_faces() {
    let sides = 40;
    let points: Vec<_> = (0..2 * sides)
        .map(|i| {
            let angle = core::f64::consts::TAU * f64::from(i / 2) / f64::from(sides);
            Point3::new(libm::cos(angle), libm::sin(angle), if i % 2 == 0 { -0.3 } else { 0.3 })
        })
        .collect();
    assert_eq!(counts(&ConvexPolyhedron::from_points(&points).unwrap()), [80, 120, 42]);
}

#[test]
fn what_makes_no_body_is_refused_with_a_reason() {
    let refuse = |points: &[[f64; 3]]| {
        let points: Vec<_> = points.iter().map(|p| Point3::from(*p)).collect();
        ConvexPolyhedron::from_points(&points).unwrap_err().to_string()
    };
    let square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    assert!(refuse(&[]).contains("at least four points"));
    assert!(refuse(&square[..1]).contains("at least four points"));
    assert!(refuse(&[[1.0; 3]; 9]).contains("at least four points"));
    assert!(refuse(&square[..3]).contains("one plane"));
    assert!(refuse(&square).contains("one plane"));
    assert!(
        refuse(&[[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3]]).contains("one plane")
            || refuse(&[[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3]]).contains("at least four points")
    );
    assert!(refuse(&[square[0], square[1], square[2], [0.3, 0.3, 1e-9]]).contains("one plane"));
    assert!(refuse(&[square[0], square[1], square[2], [f64::NAN, 0.0, 1.0]]).contains("finite"));
    assert!(refuse(&[square[0], square[1], square[2], [0.0, 0.0, 1e300]]).contains("at most"));
}

/// Clouds with nearly coincident, nearly coplanar and tiny points either make a valid body or are refused; nothing panics.
#[test]
fn hostile_clouds_never_panic() {
    let mut random = Random(33);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..3000 {
        let scale = [1e-23, 1e-9, 1e-6, 1.0, 1e6, 1e9][round % 6];
        let flatness = [1.0, 1e-3, 1e-5, 1e-6, 1e-7, 1e-12, 0.0][round % 7];
        let grid = [0.0, 0.25, 1e-9, 1e-12][round % 4];
        let points: Vec<_> = (0..3 + round % 30)
            .map(|_| {
                let mut p = random.vector(0.5);
                p.z *= flatness;
                if grid > 0.1 {
                    p = (p / grid).map(f64::round) * grid;
                }
                Point3::from((p + random.vector(1.0) * if grid < 0.1 { grid } else { 0.0 }) * scale)
            })
            .collect();
        match ConvexPolyhedron::from_points(&points) {
            Ok(body) => {
                accepted += 1;
                let [v, e, f] = counts(&body);
                assert_eq!(v + f, e + 2);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(accepted > 300 && refused > 300, "{accepted} {refused}");
}

#[test]
fn sizes_must_be_positive_numbers() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320, 1e12] {
        assert!(Shape::sphere(bad).is_err());
        assert!(Shape::capsule(bad, 1.0).is_err());
        assert!(Shape::capsule(1.0, bad).is_err());
        assert!(Shape::cuboid([1.0, bad, 1.0]).is_err());
    }
    for bad in [Vector3::zeros(), Vector3::new(f64::NAN, 0.0, 1.0), Vector3::new(f64::INFINITY, 0.0, 1.0)] {
        assert!(Shape::half_space(bad).is_err());
    }
    let Shape::HalfSpace { normal } = Shape::half_space(Vector3::new(3e200, 0.0, 4e200)).unwrap() else { panic!() };
    assert!((normal.into_inner() - Vector3::new(0.6, 0.0, 0.8)).norm() < 1e-15);
}

/// The bounds touch the vertices of the shape on every side.
#[test]
fn bounds_are_tight() {
    let mut random = Random(34);
    for _ in 0..200 {
        let shapes = [
            Shape::point(),
            Shape::sphere(0.3).unwrap(),
            Shape::capsule(1.0, 0.2).unwrap(),
            cuboid(0.3, 0.4, 0.5),
            random.polyhedron(9, 1.0),
        ];
        for shape in shapes {
            let pose = random.pose(3.0);
            let bounds = shape.aabb(&pose).unwrap();
            let (vertices, radius) = crate::spatial::core(&shape);
            for axis in 0..3 {
                let values = || vertices.iter().map(|v| (pose * v)[axis]);
                assert!((bounds.min[axis] - (values().fold(f64::INFINITY, f64::min) - radius)).abs() < 1e-14);
                assert!((bounds.max[axis] - (values().fold(f64::NEG_INFINITY, f64::max) + radius)).abs() < 1e-14);
            }
            let reach = vertices.iter().map(|v| v.coords.norm()).fold(0.0, f64::max) + radius;
            assert!((shape.radius_bound().unwrap() - reach).abs() < 1e-14);
        }
    }
    let floor = Shape::half_space(Vector3::z()).unwrap();
    assert!(floor.aabb(&at(0.0, 0.0, 0.0)).is_none() && floor.radius_bound().is_none());
}
