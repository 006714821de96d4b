//! User-defined solids: definition, bounds and refused input.

use nalgebra::{Point3, Vector2, Vector3};
use stiction_geometry::implicit::{Automatic, ConvexPart, Implicit};
use stiction_geometry::{Dimension, Pose, Shape, ShapeError, planar, spatial};

fn half_plane(x: f64, y: f64) -> Shape {
    planar::Shape::half_plane(Vector2::new(x, y)).unwrap().into()
}

fn at(shape: &Shape, x: f64, y: f64) -> ConvexPart {
    ConvexPart::shape(shape, &Pose::translation(x, y, 0.0)).unwrap()
}

#[test]
fn half_planes_that_enclose_something_are_a_polygon() {
    let pieces = [
        at(&half_plane(1.0, 0.0), 1.0, 0.0),
        at(&half_plane(-1.0, 0.0), -1.0, 0.0),
        at(&half_plane(0.0, 1.0), 0.0, 2.0),
        at(&half_plane(0.0, -1.0), 0.0, -2.0),
    ];
    let shape = planar::Shape::intersection(pieces.clone()).unwrap();
    let planar::Shape::Polygon(polygon) = &shape else { panic!("{shape:?}") };
    assert_eq!(polygon.vertices().len(), 4);
    let open = planar::Shape::intersection(pieces.into_iter().take(3)).unwrap();
    assert_eq!((open.name(), open.aabb(&Pose::identity())), ("implicit shape", None));
    let normals = [Vector3::x(), -Vector3::x(), Vector3::y(), -Vector3::y(), Vector3::z(), -Vector3::z()];
    let cube = spatial::Shape::intersection(normals.map(|normal| {
        let half_space: Shape = spatial::Shape::half_space(normal).unwrap().into();
        ConvexPart::shape(&half_space, &Pose::translation(normal.x, normal.y, normal.z)).unwrap()
    }));
    let spatial::Shape::Polyhedron(cube) = cube.unwrap() else { panic!("a cube is a polyhedron") };
    assert_eq!((cube.vertices().len(), cube.faces().count()), (8, 6));
}

#[test]
fn ends_are_found_from_the_functions() {
    let ellipse: Shape = planar::Shape::ellipse([2.0, 1.0]).unwrap().into();
    let half = planar::Shape::intersection([at(&ellipse, 5.0, 3.0), at(&half_plane(1.0, 0.0), 5.5, 0.0)]).unwrap();
    let aabb = half.aabb(&Pose::identity()).unwrap();
    let expected = [3.0, 2.0, 5.5, 4.0];
    let found = [aabb.min.x, aabb.min.y, aabb.max.x, aabb.max.y];
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4, "{aabb:?}");
    }
    // The box is never too small.
    assert!(found[0] <= 3.0 && found[1] <= 2.0 && found[2] >= 5.5 && found[3] >= 4.0);
    let formula = Automatic::new(|[x, y, z]| (x * x + y * y + z * z + 1e-20).sqrt() - 0.7);
    let ball = spatial::Shape::intersection([ConvexPart::function(formula)]).unwrap();
    assert!((ball.aabb(&Pose::identity()).unwrap().max - Point3::new(0.7, 0.7, 0.7)).amax() < 1e-4);
    assert!(ball.radius_bound().unwrap() >= 0.7);
}

#[test]
fn bounds_of_superquadrics_are_those_of_their_points() {
    let shape: Shape = spatial::Shape::superquadric([1.0, 0.6, 0.8], [3.0, 5.0]).unwrap().into();
    let convex = shape.convex().unwrap();
    let mut random = super::support::Random(41);
    let (mut farthest, mut highest) = (0.0f64, 0.0f64);
    let pose = random.pose(false, Vector3::zeros());
    let aabb = shape.aabb(&pose).unwrap();
    for _ in 0..200_000 {
        let direction = random.unit(false);
        // The gauge is linear along rays outside its core: one evaluation finds the surface.
        let probe = Point3::from(direction * 3.0);
        let point = probe.coords / (convex.jet(0, &probe).value / 0.6 + 1.0);
        farthest = farthest.max(point.norm());
        highest = highest.max((pose * Point3::from(point)).z);
        assert!((pose * Point3::from(point)).z <= aabb.max.z + 1e-12);
    }
    assert!(farthest <= shape.radius_bound().unwrap() + 1e-12 && farthest > shape.radius_bound().unwrap() - 1e-3);
    assert!(highest > aabb.max.z - 1e-3);
}

#[test]
fn what_cannot_be_is_refused() {
    let disc: Shape = planar::Shape::disc(1.0).unwrap().into();
    let nothing = planar::Shape::intersection([at(&disc, 0.0, 0.0), at(&disc, 3.0, 0.0)]);
    assert!(matches!(nothing, Err(ShapeError::NotConvexBody { .. })), "{nothing:?}");
    let touching = planar::Shape::intersection([at(&disc, 0.0, 0.0), at(&disc, 2.0, 0.0)]);
    assert!(matches!(touching, Err(ShapeError::NotConvexBody { .. })), "{touching:?}");
    assert!(Implicit::intersection(Dimension::Planar, []).is_err());
    assert!(Implicit::intersection(Dimension::Spatial, [at(&disc, 0.0, 0.0)]).is_err());
    for exponent in [1.9, 0.0, -4.0, 65.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(planar::Shape::superellipse([1.0, 1.0], exponent), Err(ShapeError::BadExponent { .. })));
        assert!(spatial::Shape::superquadric([1.0; 3], [2.0, exponent]).is_err());
    }
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10] {
        assert!(planar::Shape::superellipse([1.0, size], 4.0).is_err());
        assert!(spatial::Shape::cylinder(size, 1.0).is_err() && spatial::Shape::cylinder(1.0, size).is_err());
        assert!(spatial::Shape::ellipsoid([1.0, 1.0, size]).is_err());
        assert!(spatial::Shape::superquadric([size, 1.0, 1.0], [4.0, 4.0]).is_err());
    }
}
