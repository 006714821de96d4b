//! Corners with a known rule: holes, notches, teeth, thin walls, and outlines without interior.

use nalgebra::{Point2, Vector2};
use stiction_geometry::planar::{Shape, SimplePolygon};
use stiction_geometry::{self as geometry, ContactPoint, CornerRule, Feature, chains};

use crate::planar::support::{Random, contacts, pose};

fn points(list: &[(f64, f64)]) -> Vec<Point2<f64>> {
    list.iter().map(|&(x, y)| Point2::new(x, y)).collect()
}

fn before(shape: &Shape, x: f64, y: f64, margin: f64) -> Vec<ContactPoint> {
    contacts(shape, &pose(0.0, 0.0, 0.0), &Shape::point(), &pose(x, y, 0.0), margin)
}

/// Ground y = 0 with a hole between x = 0 and x = 1: a vertical wall, a bottom, and a diagonal wall up to (1, 0).
fn ground_with_hole() -> Shape {
    Shape::polygon(&points(&[
        (-4.0, -1.0),
        (6.0, -1.0),
        (6.0, 0.0),
        (1.0, 0.0),
        (0.6, -0.4),
        (0.0, -0.4),
        (0.0, 0.0),
        (-4.0, 0.0),
    ]))
    .unwrap()
}

/// Case C-08: the front lower corner of a block just before and just behind the edge of the hole.
#[test]
fn block_over_a_hole_has_its_corner_before_two_faces_of_which_one_has_to_hold() {
    let (ground, block) = (ground_with_hole(), Shape::rectangle([1.5, 0.25]).unwrap());
    let (right_ground, diagonal) = (8 + 2, 8 + 3);
    for x in [0.99, 1.01] {
        let found = contacts(&ground, &pose(0.0, 0.0, 0.0), &block, &pose(x - 1.5, 0.25, 0.0), 0.05);
        let of_front: Vec<_> = found.iter().filter(|contact| contact.feature.0 & 0xFFFF_FFFF == 1).collect();
        let [flat, slope] = of_front[..] else { panic!("two faces: {found:#?}") };
        assert_eq!((flat.feature, slope.feature), (Feature::new(right_ground, 1), Feature::new(diagonal, 1)));
        assert_eq!(flat.corner_rule(slope), CornerRule::Any);
        // ψ₁ = (y − (x − 1)) / √2 and ψ₂ = y.
        assert!((slope.gap + (x - 1.0) / 2.0_f64.sqrt()).abs() < 1e-15 && flat.gap == 0.0);
        assert!((slope.normal.into_inner() - nalgebra::Vector3::new(-1.0, 1.0, 0.0).normalize()).norm() < 1e-15);
        // The edges of the hole are corners that must not enter the block: before the edge it is in front of the block's side.
        let edge_at_one: Vec<_> = found.iter().filter(|contact| contact.feature.0 >> 32 == 3).collect();
        let bottom = edge_at_one.iter().find(|c| c.feature == Feature::new(3, 4)).unwrap();
        let front = edge_at_one.iter().find(|c| c.feature == Feature::new(3, 5)).unwrap();
        assert_eq!((edge_at_one.len(), bottom.corner_rule(front)), (2, CornerRule::Any));
        assert!((front.gap - (1.0 - x)).abs() < 1e-15 && bottom.gap.abs() < 1e-15);
    }
    // In the middle of the hole the front corner is free, the edge at x = 0 carries the block, and the rear corner is on the ground.
    let found = contacts(&ground, &pose(0.0, 0.0, 0.0), &block, &pose(-1.0, 0.25, 0.0), 0.05);
    let features: Vec<_> = found.iter().map(|contact| contact.feature).collect();
    assert_eq!(features, [Feature::new(6, 4), Feature::new(8 + 6, 0)]);
    assert!(found.iter().all(|contact| contact.gap == 0.0 && contact.normal.y == 1.0));
}

#[test]
fn vertex_in_a_notch_has_two_chains_and_before_a_tooth_one_of_two_faces() {
    let saw = Shape::polygon(&points(&[
        (-2.0, -1.0),
        (2.0, -1.0),
        (2.0, 0.0),
        (1.0, 0.5),
        (0.0, 0.0),
        (-1.0, 0.5),
        (-2.0, 0.0),
    ]))
    .unwrap();
    let notch = before(&saw, 0.0, 0.01, 0.05);
    assert_eq!(chains(&notch).map(<[_]>::len).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(notch[0].corner_rule(&notch[1]), CornerRule::All);
    let tooth = before(&saw, 1.0, 0.51, 0.05);
    assert_eq!(chains(&tooth).map(<[_]>::len).collect::<Vec<_>>(), [2]);
    assert!(tooth.iter().all(|contact| (contact.gap - 0.01 * 2.0 / 5.0_f64.sqrt()).abs() < 1e-15));
    // Beside the tip the vertex is above one face and below the line of the other.
    let beside = before(&saw, 1.02, 0.495, 0.05);
    assert_eq!(beside.len(), 2);
    assert_eq!(beside.iter().filter(|contact| contact.gap > 0.0).count(), 1);
    // A wide reach sees both teeth: each is a chain, and each of their inner faces is the notch's.
    let wide = before(&saw, 0.0, 0.5, 1.0);
    assert_eq!(chains(&wide).map(<[_]>::len).collect::<Vec<_>>(), [2, 2]);
}

/// A wall thinner than the margin: the far side is within reach, and must neither block the vertex nor pull it
/// through.
#[test]
fn far_side_of_a_thin_wall_is_no_contact() {
    let hall =
        Shape::polygon(&points(&[(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (3.98, 2.0), (3.98, 0.02), (0.0, 0.02)])).unwrap();
    for (x, y, normal) in [(2.0, 0.03, 1.0), (2.0, -0.01, -1.0), (2.0, 0.018, 1.0), (2.0, 0.002, -1.0)] {
        let found = before(&hall, x, y, 0.1);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].normal.y, normal);
    }
    // At its end the two sides and the end face are one chain.
    let end = before(&hall, -0.01, 0.01, 0.1);
    assert_eq!(chains(&end).map(<[_]>::len).collect::<Vec<_>>(), [3]);
    assert_eq!(end.iter().filter(|contact| contact.gap > 0.0).count(), 1);
}

#[test]
fn spike_thinner_than_the_margin_is_one_chain() {
    let spike = Shape::polygon(&points(&[
        (-1.0, -1.0),
        (1.0, -1.0),
        (1.0, 0.0),
        (0.01, 0.0),
        (0.0, 1.0),
        (-0.01, 0.0),
        (-1.0, 0.0),
    ]))
    .unwrap();
    let found = before(&spike, 0.02, 0.5, 0.1);
    assert_eq!(chains(&found).map(<[_]>::len).collect::<Vec<_>>(), [2]);
    assert!(found[0].gap.max(found[1].gap) > 0.0 && found[0].gap.min(found[1].gap) < 0.0);
    let inside = before(&spike, 0.001, 0.5, 0.1);
    assert_eq!(chains(&inside).map(<[_]>::len).collect::<Vec<_>>(), [2]);
    assert!(inside.iter().all(|contact| contact.gap < 0.0));
}

#[test]
fn half_plane_meets_the_convex_vertices() {
    let ground = Shape::half_plane(Vector2::y()).unwrap();
    let horseshoe = Shape::polygon(&points(&[
        (-1.0, 0.0),
        (-0.5, 0.0),
        (-0.5, 0.5),
        (0.5, 0.5),
        (0.5, 0.0),
        (1.0, 0.0),
        (1.0, 1.0),
        (-1.0, 1.0),
    ]))
    .unwrap();
    let found = contacts(&ground, &pose(0.0, 0.0, 0.0), &horseshoe, &pose(0.0, 0.01, 0.0), 0.7);
    let features: Vec<_> = found.iter().map(|contact| contact.feature).collect();
    assert_eq!(features, [0, 1, 4, 5].map(|vertex| Feature::new(0, vertex)));
    assert!(found.iter().all(|contact| contact.gap == 0.01));
    assert_eq!(found.iter().map(|contact| contact.chain).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn polygon_is_convex_where_it_can_be_and_simple_where_it_must() {
    let square = points(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]);
    assert!(matches!(Shape::polygon(&square), Ok(Shape::Polygon(_))));
    let dent = points(&[(0.0, 0.0), (2.0, 0.0), (0.5, 0.5), (0.0, 2.0)]);
    let Ok(Shape::SimplePolygon(dent)) = Shape::polygon(&dent) else { panic!("not simple") };
    assert_eq!((0..4).map(|i| dent.is_convex_at(i)).collect::<Vec<_>>(), [true, true, false, true]);
    assert_eq!(geometry::Shape::from(Shape::SimplePolygon(dent)).name(), "polygon");
    // Repeated and collinear vertices are dropped as from convex polygons.
    let listed = points(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 0.0), (0.5, 0.5), (0.0, 2.0), (0.0, 1.0)]);
    let polygon = SimplePolygon::new(&listed).unwrap();
    assert_eq!(polygon.vertices(), points(&[(0.0, 0.0), (2.0, 0.0), (0.5, 0.5), (0.0, 2.0)]));
}

#[test]
fn refusals_name_the_edges_in_the_users_numbers() {
    let message = |list: &[(f64, f64)]| Shape::polygon(&points(list)).unwrap_err().to_string();
    let bow_tie = message(&[(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]);
    assert!(bow_tie.contains("edge from vertex 2 to 3 meets the edge from vertex 4 to 0"), "{bow_tie}");
    let clockwise = message(&[(0.0, 0.0), (0.0, 2.0), (0.5, 0.5), (2.0, 0.0)]);
    assert!(clockwise.contains("counter-clockwise"), "{clockwise}");
    let fold = message(&[(0.0, 0.0), (2.0, 0.0), (1.0, 0.0), (0.0, 1.0)]);
    assert!(fold.contains("edge from vertex 0 to 1 meets the edge from vertex 1 to 2"), "{fold}");
    // A vertex that rests on another edge: the outline touches itself without crossing.
    let touch = message(&[(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 0.0), (0.0, 1.0)]);
    assert!(touch.contains("must not touch itself"), "{touch}");
    // The same point twice, far along the list: two loops that share a corner.
    let pinch = message(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (2.0, 2.0), (1.0, 1.0), (0.0, 2.0)]);
    assert!(pinch.contains("must not touch itself"), "{pinch}");
    for bad in [f64::NAN, f64::INFINITY, 1e10] {
        assert!(message(&[(0.0, 0.0), (2.0, 0.0), (0.5, bad), (0.0, 2.0)]).contains("must be finite"), "{bad}");
    }
    for too_few in [&[][..], &[(0.0, 0.0)], &[(0.0, 0.0), (1.0, 0.0)], &[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]] {
        assert!(message(too_few).contains("at least three vertices"));
    }
}

#[test]
fn pentagram_and_random_tangles_are_refused() {
    let star: Vec<_> = (0..5).map(|i| 2.0 * std::f64::consts::TAU * f64::from(i) / 5.0).collect();
    let star: Vec<_> = star.iter().map(|a| Point2::new(libm::cos(*a), libm::sin(*a))).collect();
    assert!(Shape::polygon(&star).is_err());
    let mut random = Random(301);
    let tangle = |_| (0..30).map(|_| Point2::new(random.unit(), random.unit())).collect::<Vec<_>>();
    assert!((0..50).map(tangle).all(|tangle| Shape::polygon(&tangle).is_err()));
}

#[test]
fn ellipse_before_a_notched_polygon_is_refused() {
    let ellipse = geometry::Shape::Planar(Shape::ellipse([1.0, 0.5]).unwrap());
    assert!(geometry::ensure_supported(&ellipse, &geometry::Shape::Planar(ground_with_hole())).is_err());
}
