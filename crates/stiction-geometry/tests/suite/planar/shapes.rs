//! Valid shapes, refused pairs, and bounds.

use nalgebra::{Point2, Vector2};
use stiction_geometry::planar::{ConvexPolygon, Shape};
use stiction_geometry::{self as geometry, ShapeError};

use super::support::{Random, bounded_shapes, pose, regular_polygon, support};

fn points(list: &[(f64, f64)]) -> Vec<Point2<f64>> {
    list.iter().map(|&(x, y)| Point2::new(x, y)).collect()
}

#[test]
fn sizes_must_be_positive_finite_normal() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-310] {
        assert!(matches!(Shape::disc(bad), Err(ShapeError::BadSize { .. })), "{bad}");
        assert!(Shape::capsule(bad, 1.0).is_err() && Shape::capsule(1.0, bad).is_err());
        assert!(Shape::rectangle([1.0, bad]).is_err() && Shape::ellipse([bad, 1.0]).is_err());
    }
    assert!(matches!(Shape::disc(1e10), Err(ShapeError::BadCoordinate { .. })));
    assert!(Shape::half_plane(Vector2::zeros()).is_err());
    assert!(Shape::half_plane(Vector2::new(f64::NAN, 1.0)).is_err());
    assert!(Shape::half_plane(Vector2::new(0.0, 1e-200)).is_ok());
}

#[test]
fn polygon_refuses_what_is_not_a_convex_body() {
    let refused = [
        ("clockwise", points(&[(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)])),
        ("dent", points(&[(0.0, 0.0), (2.0, 0.0), (0.5, 0.5), (0.0, 2.0)])),
        ("spike", points(&[(0.0, 0.0), (2.0, 0.0), (1.0, 0.0), (0.0, 1.0)])),
        ("flat", points(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)])),
        ("pair", points(&[(0.0, 0.0), (1.0, 0.0)])),
        ("empty", points(&[])),
        ("not a number", points(&[(0.0, 0.0), (1.0, 0.0), (f64::NAN, 1.0)])),
        ("infinite", points(&[(0.0, 0.0), (f64::INFINITY, 0.0), (0.0, 1.0)])),
    ];
    for (why, outline) in refused {
        assert!(ConvexPolygon::new(&outline).is_err(), "{why}");
    }
    let star: Vec<_> = (0..5).map(|i| 2.0 * std::f64::consts::TAU * f64::from(i) / 5.0).collect();
    let star: Vec<_> = star.iter().map(|a| Point2::new(libm::cos(*a), libm::sin(*a))).collect();
    assert!(ConvexPolygon::new(&star).is_err(), "a star turns left at every corner and is not convex");
}

#[test]
fn polygon_drops_repeated_and_collinear_vertices() {
    let outline = points(&[(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.3)]);
    let square = ConvexPolygon::new(&outline).unwrap();
    assert_eq!(square.vertices(), points(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]));
    assert_eq!(square.normals(), [Vector2::new(0.0, -1.0), Vector2::x(), Vector2::y(), Vector2::new(-1.0, 0.0)]);
}

#[test]
fn hull_contains_every_point_and_only_given_points() {
    let mut random = Random(31);
    for scale in [1e-6, 1.0, 1e6] {
        for _ in 0..50 {
            let cloud: Vec<_> = (0..40)
                .map(|_| Point2::new(scale * random.between(-1.0, 1.0), scale * random.between(-1.0, 1.0)))
                .collect();
            let hull = ConvexPolygon::from_points(&cloud).unwrap();
            assert!(hull.vertices().iter().all(|vertex| cloud.contains(vertex)));
            for (vertex, normal) in hull.vertices().iter().zip(hull.normals()) {
                assert!(cloud.iter().all(|p| normal.dot(&(p - vertex)) <= 1e-8 * scale));
            }
        }
    }
    for flat in
        [points(&[]), points(&[(1.0, 1.0)]), points(&[(1.0, 1.0); 9]), points(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)])]
    {
        assert!(ConvexPolygon::from_points(&flat).is_err(), "{flat:?}");
    }
}

#[test]
fn refused_pairs_say_why() {
    let plane = || geometry::Shape::Planar(Shape::half_plane(Vector2::y()).unwrap());
    let ellipse = || geometry::Shape::Planar(Shape::ellipse([1.0, 0.5]).unwrap());
    let point = || geometry::Shape::Planar(Shape::point());
    let solid = geometry::Shape::Spatial(geometry::spatial::Shape::point());
    let notched = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 1.0), (0.0, 2.0)].map(|(x, y)| Point2::new(x, y));
    let notched = geometry::Shape::Planar(Shape::polygon(&notched).unwrap());
    let refused = [(plane(), plane()), (point(), point()), (notched, ellipse()), (point(), solid)];
    for (a, b) in refused {
        for (a, b) in [(&a, &b), (&b, &a)] {
            let refusal = geometry::ensure_supported(a, b).unwrap_err();
            assert_eq!((refusal.a, refusal.b), (a.name(), b.name()));
            assert!(refusal.reason.len() > 30);
            let mut out = Vec::new();
            let at = pose(0.0, 0.0, 0.0);
            let result = geometry::contacts(a, &at, b, &at, 1.0, &mut geometry::Scratch::default(), &mut out);
            assert_eq!((result, out.len()), (Err(refusal), 0));
        }
    }
    for other in [plane(), ellipse(), point()] {
        assert!(geometry::ensure_supported(&other, &ellipse()).is_ok());
    }
}

#[test]
fn bounding_box_is_tight() {
    let mut random = Random(32);
    let mut shapes = bounded_shapes();
    shapes.extend([Shape::ellipse([0.7, 0.2]).unwrap(), regular_polygon(5, 0.8)]);
    for shape in shapes {
        for _ in 0..20 {
            let at = random.pose(3.0);
            let aabb = shape.aabb(&at).unwrap();
            for (k, n) in [(0, Vector2::x()), (1, Vector2::y())] {
                assert!((aabb.max[k] - support(&shape, &at, &n)).abs() < 1e-14);
                assert!((aabb.min[k] + support(&shape, &at, &-n)).abs() < 1e-14);
            }
            let farthest = (0..360)
                .map(|i| f64::from(i).to_radians())
                .map(|angle| support(&shape, &pose(0.0, 0.0, 0.0), &Vector2::new(libm::cos(angle), libm::sin(angle))));
            let bound = shape.radius_bound().unwrap();
            assert!(farthest.fold(0.0, f64::max) <= bound + 1e-15);
        }
    }
    assert_eq!(Shape::half_plane(Vector2::y()).unwrap().aabb(&pose(0.0, 0.0, 0.0)), None);
}
