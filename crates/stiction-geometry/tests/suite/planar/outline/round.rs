//! Discs and capsules in contact with an outline.   [GEOM-13]

use nalgebra::{Point2, Vector2};
use stiction_geometry::planar::{Shape, SimplePolygon};
use stiction_geometry::{ContactPoint, Feature};

use super::random_polygon::{distance, distance_to_edge, edges, interior_angle, is_inside, random_polygon};
use crate::planar::support::{Random, contacts, least_gap, pose};

fn before(shape: &Shape, guest: &Shape, x: f64, y: f64, margin: f64) -> Vec<ContactPoint> {
    contacts(shape, &pose(0.0, 0.0, 0.0), guest, &pose(x, y, 0.0), margin)
}

/// A floor with a step of one up at x = 0 and a block of width one behind a gap.
fn stairs() -> Shape {
    let corners =
        [(-3.0, -1.0), (3.0, -1.0), (3.0, 1.0), (2.0, 1.0), (2.0, 0.0), (-1.0, 0.0), (-1.0, 1.0), (-3.0, 1.0)];
    Shape::polygon(&corners.map(|(x, y)| Point2::new(x, y))).unwrap()
}

#[test]
fn disc_before_a_corner_has_one_contact_along_the_line_of_centres() {
    let disc = Shape::disc(0.5).unwrap();
    let found = before(&stairs(), &disc, -0.7, 1.4, 0.05);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].feature, Feature::new(6, 0));
    assert!(found[0].gap.abs() < 1e-15);
    assert!((found[0].normal.xy() - Vector2::new(0.6, 0.8)).norm() < 1e-15);
}

#[test]
fn disc_in_a_notch_has_two_contacts_and_on_a_face_one() {
    let disc = Shape::disc(0.5).unwrap();
    let found = before(&stairs(), &disc, -0.5, 0.5, 0.05);
    assert_eq!(
        found.iter().map(|c| (c.feature, c.chain)).collect::<Vec<_>>(),
        [(Feature::new(12, 0), 0), (Feature::new(13, 0), 1)]
    );
    assert!(found.iter().all(|contact| contact.gap == 0.0));
    assert_eq!(before(&stairs(), &disc, 0.5, 0.5, 0.05).len(), 1);
    // A disc that just fits between the walls touches both and, lowered, the floor.
    let fitting = Shape::disc(1.5).unwrap();
    assert_eq!(before(&stairs(), &fitting, 0.5, 1.5, 0.01).len(), 1, "the walls are too low");
    let fitting = Shape::disc(0.75).unwrap();
    assert_eq!(before(&stairs(), &fitting, -0.25, 0.75, 0.01).len(), 2);
}

/// The least gap is the signed distance to the outline, unless the centre is inside and nearest to a notch.
#[test]
fn least_gap_of_a_disc_is_the_signed_distance() {
    let mut random = Random(401);
    let (mut outside, mut inside) = (0, 0);
    while outside < 3000 || inside < 1000 {
        let Ok(polygon) = SimplePolygon::new(&random_polygon(&mut random)) else { continue };
        let p = polygon.vertices().to_vec();
        let shape = Shape::SimplePolygon(polygon);
        for _ in 0..10 {
            let radius = [0.01, 0.1, 0.5, 3.0][random.below(4)];
            let x = Point2::new(random.between(-1.3, 1.3), random.between(-1.3, 1.3));
            let away = distance(&p, &x);
            let found = before(&shape, &Shape::disc(radius).unwrap(), x.x, x.y, 0.3);
            if is_inside(&p, &x) {
                let notch =
                    |i: usize| interior_angle(&p, i) > std::f64::consts::PI && (p[i] - x).norm() <= away + 1e-12;
                let expected = if (0..p.len()).any(notch) { -radius } else { -away - radius };
                assert!(least_gap(&found) <= expected + 1e-12, "{p:?} at {x:?}: {found:#?}");
                assert!(least_gap(&found) >= -away - radius - 1e-12, "{p:?} at {x:?}: {found:#?}");
                inside += 1;
            } else if away - radius < 0.3 {
                assert!((least_gap(&found) - (away - radius)).abs() < 1e-12, "{p:?} at {x:?}: {found:#?}");
                outside += 1;
            } else {
                assert!(found.is_empty());
            }
        }
    }
}

/// The least gap of a capsule that does not pass through the outline is the distance of its core minus the radius.
#[test]
fn least_gap_of_a_capsule_is_the_distance_of_its_core() {
    let mut random = Random(402);
    let mut checked = 0;
    while checked < 3000 {
        let Ok(polygon) = SimplePolygon::new(&random_polygon(&mut random)) else { continue };
        let p = polygon.vertices().to_vec();
        let shape = Shape::SimplePolygon(polygon);
        for _ in 0..10 {
            let (half_length, radius) = (random.between(0.05, 1.0), random.between(0.01, 0.3));
            let at = random.pose(1.5);
            let core = [-1.0, 1.0].map(|s| (at * nalgebra::Point3::new(s * half_length, 0.0, 0.0)).xy());
            let side = |a: Point2<f64>, b: Point2<f64>, c: Point2<f64>| (b - a).perp(&(c - a)) > 0.0;
            let crosses = edges(&p).any(|(a, b)| {
                side(a, b, core[0]) != side(a, b, core[1]) && side(core[0], core[1], a) != side(core[0], core[1], b)
            });
            if crosses || is_inside(&p, &core[0]) {
                continue;
            }
            let to_core = p.iter().map(|v| distance_to_edge(v, (core[0], core[1])));
            let away = core.iter().map(|end| distance(&p, end)).chain(to_core).fold(f64::INFINITY, f64::min);
            let found = contacts(&shape, &pose(0.0, 0.0, 0.0), &Shape::capsule(half_length, radius).unwrap(), &at, 0.3);
            if away - radius < 0.3 {
                assert!((least_gap(&found) - (away - radius)).abs() < 1e-12, "{p:?} {core:?} {radius}: {found:#?}");
                checked += 1;
            }
        }
    }
}

/// A capsule on a narrow block has the block's two vertices under its side. A penetration deeper than its radius is
/// still resolved in the direction it came from.
#[test]
fn corners_over_the_side_of_a_capsule() {
    let capsule = Shape::capsule(1.0, 0.1).unwrap();
    let table = [(-0.4, -1.0), (0.4, -1.0), (0.4, 0.0), (0.2, 0.0), (0.0, -0.5), (-0.2, 0.0), (-0.4, 0.0)];
    let table = Shape::polygon(&table.map(|(x, y)| Point2::new(x, y))).unwrap();
    for height in [0.15, 0.1, 0.05, -0.05] {
        let found = before(&table, &capsule, 0.0, height, 0.06);
        let on_top: Vec<_> = found.iter().map(|contact| contact.feature).collect();
        assert_eq!(on_top, [2, 3, 5, 6].map(|corner| Feature::new(corner, 2)), "{height}: {found:#?}");
        assert!(found.iter().all(|contact| (contact.gap - (height - 0.1)).abs() < 1e-15 && contact.normal.y == 1.0));
    }
}
