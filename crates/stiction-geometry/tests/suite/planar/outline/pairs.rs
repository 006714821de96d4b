//! Every pair with an outline: vertices stay outside, gradients are wrenches, and neither order nor position matters.

use nalgebra::{Point2, Point3, Vector2};
use stiction_geometry::planar::{Shape, SimplePolygon};
use stiction_geometry::{ContactPoint, Pose, chains};

use super::random_polygon::{distance, edges, interior_angle, is_inside, random_polygon};
use crate::planar::gradient::check;
use crate::planar::oracle::mirrored;
use crate::planar::support::{Random, bounded_shapes, contacts, pose};

fn shape(list: &[(f64, f64)]) -> Shape {
    Shape::polygon(&list.iter().map(|&(x, y)| Point2::new(x, y)).collect::<Vec<_>>()).unwrap()
}

/// An L, a C, a star, a comb.
pub(super) fn outlines() -> Vec<Shape> {
    let star = |k: usize| {
        let (angle, radius) =
            (0.2 + std::f64::consts::TAU * k as f64 / 10.0, if k.is_multiple_of(2) { 0.8 } else { 0.35 });
        Point2::new(radius * libm::cos(angle), radius * libm::sin(angle))
    };
    vec![
        shape(&[(-0.5, -0.5), (0.7, -0.5), (0.7, -0.1), (-0.1, -0.1), (-0.1, 0.6), (-0.5, 0.6)]),
        shape(&[
            (-0.5, -0.6),
            (0.6, -0.6),
            (0.6, -0.4),
            (-0.2, -0.4),
            (-0.2, 0.4),
            (0.6, 0.4),
            (0.6, 0.6),
            (-0.5, 0.6),
        ]),
        Shape::polygon(&(0..10).map(star).collect::<Vec<_>>()).unwrap(),
        shape(&[
            (-0.6, -0.4),
            (0.6, -0.4),
            (0.6, 0.3),
            (0.3, -0.1),
            (0.1, 0.3),
            (-0.1, -0.1),
            (-0.3, 0.35),
            (-0.6, 0.1),
        ]),
    ]
}

/// Outlines with one another and with all bounded shapes, in both orders.
fn pairs() -> Vec<(Shape, Shape)> {
    let (outlines, others) = (outlines(), bounded_shapes());
    let among = outlines.iter().flat_map(|a| outlines.iter().map(move |b| (a.clone(), b.clone())));
    let mixed = outlines.iter().flat_map(|a| others.iter().map(move |b| (a.clone(), b.clone())));
    let reverse = outlines.iter().flat_map(|a| others.iter().map(move |b| (b.clone(), a.clone())));
    among.chain(mixed).chain(reverse).collect()
}

pub(super) fn placed(p: &[Point2<f64>], at: &Pose) -> Vec<Point2<f64>> {
    p.iter().map(|v| (at * Point3::new(v.x, v.y, 0.0)).xy()).collect()
}

fn holds(found: &[ContactPoint]) -> bool {
    chains(found).all(|chain| chain.iter().any(|contact| contact.gap >= 0.0))
}

/// True if a convex corner of `guest` is inside `host`; `None` if one is too near to decide.
pub(super) fn enters(guest: &[Point2<f64>], host: &[Point2<f64>]) -> Option<bool> {
    let convex = (0..guest.len()).filter(|&i| interior_angle(guest, i) < std::f64::consts::PI);
    let mut enters = false;
    for i in convex {
        if distance(host, &guest[i]) < 1e-9 {
            return None;
        }
        enters |= is_inside(host, &guest[i]);
    }
    Some(enters)
}

/// True if an edge of one outline crosses an edge of the other.
pub(super) fn cross(p: &[Point2<f64>], q: &[Point2<f64>]) -> bool {
    let side = |a: Point2<f64>, b: Point2<f64>, c: Point2<f64>| (b - a).perp(&(c - a)) > 0.0;
    let crosses = |(a, b): (Point2<f64>, Point2<f64>), (c, d): (Point2<f64>, Point2<f64>)| {
        side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
    };
    edges(p).any(|e| edges(q).any(|f| crosses(e, f)))
}

/// Chains do not hold if a corner is inside. A contact that replaced two chains may also be negative for corners that
/// have passed each other without entering; then the outlines cross.   [GEOM-12]
#[test]
fn chains_hold_exactly_while_no_convex_corner_is_inside_the_other_outline() {
    let mut random = Random(201);
    let (mut apart, mut entered) = (0, 0);
    for _ in 0..3000 {
        let (p, q) = (random_polygon(&mut random), random_polygon(&mut random));
        let (Ok(a), Ok(b)) = (SimplePolygon::new(&p), SimplePolygon::new(&q)) else { continue };
        let (pose_a, pose_b) = (random.pose(0.9), random.pose(0.9));
        let (p, q) = (placed(a.vertices(), &pose_a), placed(b.vertices(), &pose_b));
        let (Some(into_a), Some(into_b)) = (enters(&q, &p), enters(&p, &q)) else { continue };
        let margin = [0.0, 0.01, 0.2][random.below(3)];
        let found = contacts(&Shape::SimplePolygon(a), &pose_a, &Shape::SimplePolygon(b), &pose_b, margin);
        let has_passed = !(into_a || into_b || holds(&found));
        let is_of_corners = |c: &ContactPoint| {
            ((c.feature.0 >> 32) as usize) < p.len() && ((c.feature.0 & 0xFFFF_FFFF) as usize) < q.len()
        };
        assert!(!holds(&found) || !(into_a || into_b), "{p:?} and {q:?}: {found:#?}");
        assert!(!has_passed || (cross(&p, &q) && found.iter().any(is_of_corners)), "{p:?} and {q:?}: {found:#?}");
        if into_a || into_b { entered += 1 } else { apart += 1 }
    }
    assert!(apart > 300 && entered > 1000, "{apart} apart and {entered} not");
}

/// Returns the distance that `p` can move along `d` before the nearest of its given corners meets an edge of `q`.
fn run(p: &[Point2<f64>], corners: &[usize], q: &[Point2<f64>], d: &Vector2<f64>) -> f64 {
    let hit = |x: Point2<f64>, (a, b): (Point2<f64>, Point2<f64>)| {
        let (edge, w) = (b - a, a - x);
        let (t, s) = (w.perp(&edge) / d.perp(&edge), w.perp(d) / d.perp(&edge));
        (t > 0.0 && (0.0..=1.0).contains(&s)).then_some(t)
    };
    corners.iter().flat_map(|&i| edges(q).filter_map(move |edge| hit(p[i], edge))).fold(f64::INFINITY, f64::min)
}

/// Two outlines first meet at a convex corner of one of them, never at a corner in a notch.   [GEOM-9]
#[test]
fn first_touch_is_by_a_convex_corner() {
    let mut random = Random(202);
    let mut touches = 0;
    for _ in 0..2000 {
        let p = random_polygon(&mut random);
        let q = placed(&random_polygon(&mut random), &pose(4.0, 0.0, random.between(-3.2, 3.2)));
        let d = Vector2::new(1.0, random.between(-0.3, 0.3));
        let convex = |p: &[Point2<f64>]| {
            (0..p.len()).filter(|&i| interior_angle(p, i) < std::f64::consts::PI).collect::<Vec<_>>()
        };
        let all = |p: &[Point2<f64>]| (0..p.len()).collect::<Vec<_>>();
        let of_all = run(&p, &all(&p), &q, &d).min(run(&q, &all(&q), &p, &-d));
        let of_convex = run(&p, &convex(&p), &q, &d).min(run(&q, &convex(&q), &p, &-d));
        assert_eq!(of_all, of_convex, "{p:?} and {q:?} along {d:?}");
        touches += usize::from(of_all.is_finite());
    }
    assert!(touches > 1500);
}

#[test]
fn gradient_of_every_gap_is_the_wrench_of_its_normal() {
    let mut random = Random(203);
    for (a, b) in pairs() {
        let (mut checked, mut changed) = (0, 0);
        for _ in 0..25 {
            // The same margin: a wider one may join chains.
            let (now, lost) = check(&a, &b, &random.pose(0.8), &random.pose(0.8), 0.4);
            checked += now;
            changed += lost;
        }
        assert!(checked >= 20, "{} on {}: only {checked} contacts", a.name(), b.name());
        assert!(changed <= 2, "{} on {}: {changed} of {checked} features changed", a.name(), b.name());
    }
}

#[test]
fn exchanging_the_bodies_mirrors_every_chain() {
    let mut random = Random(204);
    for (a, b) in pairs() {
        for _ in 0..40 {
            let (pose_a, pose_b) = (random.pose(0.8), random.pose(0.8));
            let forth = contacts(&a, &pose_a, &b, &pose_b, 0.2);
            assert_eq!(forth, mirrored(&contacts(&b, &pose_b, &a, &pose_a, 0.2)), "{} on {}", a.name(), b.name());
        }
    }
}

#[test]
fn moving_both_bodies_moves_every_contact_with_them() {
    let mut random = Random(205);
    for (a, b) in pairs() {
        for far in [1.0, 1e4] {
            let (pose_a, pose_b, world) = (random.pose(0.8), random.pose(0.8), random.pose(far));
            let here = contacts(&a, &pose_a, &b, &pose_b, 0.2);
            let there = contacts(&a, &(world * pose_a), &b, &(world * pose_b), 0.2);
            assert_eq!(here.len(), there.len(), "{} on {}", a.name(), b.name());
            // The poses themselves are rounded to 1e-16 of the distance; nothing more is lost.
            let within = 1e-14 + 4e-16 * far;
            let radius = match (&a, &b) {
                (Shape::Disc { radius } | Shape::Capsule { radius, .. }, _)
                | (_, Shape::Disc { radius } | Shape::Capsule { radius, .. }) => *radius,
                _ => 0.0,
            };
            for (c, d) in here.iter().zip(&there) {
                assert_eq!((c.feature, c.chain, c.normal_is_unique), (d.feature, d.chain, d.normal_is_unique));
                // The direction between two points is known to round-off divided by their distance.
                let length = if radius > 0.0 { (c.gap + radius).abs().min(1.0) } else { 1.0 };
                assert!((c.gap - d.gap).abs() < within, "{c:?} {d:?}");
                assert!((world * c.point_a - d.point_a).norm() * length < 4.0 * within, "{c:?} {d:?}");
                let turned = (world.rotation * c.normal.into_inner() - d.normal.into_inner()).norm();
                assert!(turned * length < within, "{c:?} {d:?}");
            }
        }
    }
}

#[test]
fn chains_are_contiguous_and_ordered_by_their_least_features() {
    let mut random = Random(206);
    for (a, b) in pairs() {
        for _ in 0..20 {
            let found = contacts(&a, &random.pose(0.8), &b, &random.pose(0.8), 0.4);
            let numbers: Vec<_> = chains(&found).map(|chain| chain[0].chain).collect();
            assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
            let leaders: Vec<_> = chains(&found).map(|chain| chain[0].feature).collect();
            assert!(leaders.is_sorted() && chains(&found).all(|chain| chain.is_sorted_by_key(|c| c.feature)));
        }
    }
}
