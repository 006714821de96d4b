//! A point is outside exactly where one face of every chain has it above, and corners are tagged by their angle. [GEOM-10]

use nalgebra::{Point2, Vector2};
use stiction_geometry::planar::{Shape, SimplePolygon};
use stiction_geometry::{ContactPoint, CornerRule, chains};

use super::random_polygon::{distance, edges, feature_size, interior_angle, is_inside, random_polygon};
use crate::planar::support::{Random, contacts, pose};

const POLYGONS: usize = 1000;

/// A thousand polygons that the library accepts and keeps as they are.
fn polygons(seed: u64) -> impl Iterator<Item = (Vec<Point2<f64>>, Shape, Random)> {
    let mut random = Random(seed);
    std::iter::repeat_with(move || {
        let vertices = random_polygon(&mut random);
        let polygon = SimplePolygon::new(&vertices).ok().filter(|polygon| polygon.vertices() == vertices)?;
        Some((vertices, Shape::SimplePolygon(polygon), Random(random.0 ^ 0x5DEE_CE66)))
    })
    .flatten()
    .take(POLYGONS)
}

fn before(shape: &Shape, x: &Point2<f64>, margin: f64) -> Vec<ContactPoint> {
    contacts(shape, &pose(0.0, 0.0, 0.0), &Shape::point(), &pose(x.x, x.y, 0.0), margin)
}

/// All chains hold: in each, one gap is not negative. `moved` is how far the point has moved since the gaps were taken.
fn formula(found: &[ContactPoint], moved: &Vector2<f64>) -> bool {
    let gap = |c: &ContactPoint| c.gap + c.normal.xy().dot(moved);
    chains(found).all(|chain| chain.iter().any(|contact| gap(contact) >= 0.0))
}

/// A point within `reach` of a corner or of a face.
fn point_near(random: &mut Random, p: &[Point2<f64>], reach: f64) -> Point2<f64> {
    let all: Vec<_> = edges(p).collect();
    let (a, b) = all[random.below(all.len())];
    let along = if random.unit() < 0.5 { 0.0 } else { random.unit() };
    let angle = random.between(-3.2, 3.2);
    a + (b - a) * along + Vector2::new(libm::cos(angle), libm::sin(angle)) * (reach * random.unit())
}

#[test]
fn corner_tags_are_the_interior_angles_of_a_thousand_random_polygons() {
    let (mut convex, mut reflex) = (0, 0);
    for (p, shape, _) in polygons(101) {
        let Shape::SimplePolygon(polygon) = &shape else { panic!("not convex") };
        for i in 0..p.len() {
            let angle = interior_angle(&p, i);
            let is_convex = angle < std::f64::consts::PI;
            assert_eq!(polygon.is_convex_at(i), is_convex, "{p:?} at {i}: {angle}");
            // The same through the narrow phase: a point just outside or inside the corner, nearest to it or to one of its faces.
            let n = p.len();
            let (u, v) = ((p[(i + n - 1) % n] - p[i]).normalize(), (p[(i + 1) % n] - p[i]).normalize());
            let tiny = 1e-3 * feature_size(&p);
            let x = p[i] + if is_convex { -(u + v) } else { u + v } * (0.5 * tiny);
            let found = before(&shape, &x, tiny * 1.01);
            let face = |face: usize| {
                let feature = stiction_geometry::Feature::new((n + face) as u32, 0);
                *found.iter().find(|contact| contact.feature == feature).unwrap()
            };
            let rule = face((i + n - 1) % n).corner_rule(&face(i));
            assert_eq!(rule, if is_convex { CornerRule::Any } else { CornerRule::All }, "{p:?} at {i}");
            if is_convex { convex += 1 } else { reflex += 1 }
        }
    }
    assert!(convex > 4000 && reflex > 2000, "{convex} convex and {reflex} reflex corners");
}

/// At the point itself the rule is correct for any margin, thin parts and spirals included.
#[test]
fn rule_of_chains_is_outsideness_at_the_point_for_any_margin() {
    let (mut outside, mut inside) = (0, 0);
    for (p, shape, mut random) in polygons(102) {
        for margin in [0.0, 1e-3, 0.05, 0.3, 3.0] {
            for _ in 0..20 {
                let reach = if random.unit() < 0.5 { 0.02 } else { 0.3 };
                let x = point_near(&mut random, &p, reach);
                let away = distance(&p, &x);
                if away < 1e-12 {
                    continue;
                }
                let found = before(&shape, &x, margin);
                let expected = !is_inside(&p, &x);
                let at = format!("{p:?} at {x:?} margin {margin}: {found:#?}");
                assert_eq!(formula(&found, &Vector2::zeros()), expected, "{at}");
                assert_eq!(found.is_empty(), expected && away > margin, "{at}");
                if expected { outside += 1 } else { inside += 1 }
            }
        }
    }
    assert!(outside > 20_000 && inside > 20_000, "{outside} outside and {inside} inside");
}

/// Below half the feature size the rule found at one point is correct for all points within the margin of it.
#[test]
fn rule_of_chains_is_outsideness_all_around_for_a_small_margin() {
    let (mut outside, mut inside, mut crossed) = (0, 0, 0);
    for (p, shape, mut random) in polygons(103) {
        let margin = 0.499 * feature_size(&p);
        for _ in 0..20 {
            let x = point_near(&mut random, &p, margin);
            let found = before(&shape, &x, margin);
            for _ in 0..5 {
                let angle = random.between(-3.2, 3.2);
                let moved = Vector2::new(libm::cos(angle), libm::sin(angle)) * (margin * random.unit());
                let y = x + moved;
                if distance(&p, &y) < 1e-12 || found.is_empty() {
                    continue;
                }
                let expected = !is_inside(&p, &y);
                assert_eq!(formula(&found, &moved), expected, "{p:?} at {x:?}, then {y:?}: {found:#?}");
                crossed += usize::from(expected == is_inside(&p, &x));
                if expected { outside += 1 } else { inside += 1 }
            }
        }
    }
    assert!(outside > 20_000 && inside > 20_000 && crossed > 10_000, "{outside}, {inside}, {crossed}");
}
