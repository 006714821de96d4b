//! Random simple polygons, and properties computed without the library.

use nalgebra::{Point2, Vector2};

use crate::planar::support::Random;

/// A polygon around the origin with a random radius in every direction, or a tangle of random points with its crossings undone.
pub(super) fn random_polygon(random: &mut Random) -> Vec<Point2<f64>> {
    let count = 3 + random.below(18);
    if random.unit() < 0.5 { star(random, count) } else { untangled(random, count) }
}

fn star(random: &mut Random, count: usize) -> Vec<Point2<f64>> {
    let corner = |k: usize| {
        let angle = std::f64::consts::TAU * (k as f64 + random.between(-0.3, 0.3)) / count as f64;
        let radius = random.between(0.2, 1.0);
        Point2::new(radius * libm::cos(angle), radius * libm::sin(angle))
    };
    (0..count).map(corner).collect()
}

/// Random points in random order; while two edges cross, the part between them is reversed, which shortens the outline.
fn untangled(random: &mut Random, count: usize) -> Vec<Point2<f64>> {
    let mut p: Vec<_> = (0..count).map(|_| Point2::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0))).collect();
    while let Some((i, j)) = crossing(&p) {
        p[i + 1..=j].reverse();
    }
    if area(&p) < 0.0 {
        p.reverse();
    }
    p
}

fn crossing(p: &[Point2<f64>]) -> Option<(usize, usize)> {
    let n = p.len();
    let side = |a: Point2<f64>, b: Point2<f64>, c: Point2<f64>| (b - a).perp(&(c - a)) > 0.0;
    let cross = |i: usize, j: usize| {
        let (a, b, c, d) = (p[i], p[i + 1], p[j], p[(j + 1) % n]);
        side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
    };
    let pairs = (0..n - 1).flat_map(|i| (i + 2..n).map(move |j| (i, j)));
    pairs.filter(|&(i, j)| (j + 1) % n != i).find(|&(i, j)| cross(i, j))
}

fn area(p: &[Point2<f64>]) -> f64 {
    edges(p).map(|(a, b)| a.coords.perp(&b.coords)).sum::<f64>() / 2.0
}

pub(super) fn edges(p: &[Point2<f64>]) -> impl Iterator<Item = (Point2<f64>, Point2<f64>)> + '_ {
    (0..p.len()).map(|i| (p[i], p[(i + 1) % p.len()]))
}

/// Returns the winding number of the outline about the point: the sum of the angles subtended by the edges.
pub(super) fn is_inside(p: &[Point2<f64>], x: &Point2<f64>) -> bool {
    let turn = |(a, b): (Point2<f64>, Point2<f64>)| {
        let (u, v) = (a - x, b - x);
        libm::atan2(u.perp(&v), u.dot(&v))
    };
    edges(p).map(turn).sum::<f64>().abs() > std::f64::consts::PI
}

pub(super) fn distance_to_edge(x: &Point2<f64>, (a, b): (Point2<f64>, Point2<f64>)) -> f64 {
    let (edge, d) = (b - a, x - a);
    (d - edge * (d.dot(&edge) / edge.norm_squared()).clamp(0.0, 1.0)).norm()
}

pub(super) fn distance(p: &[Point2<f64>], x: &Point2<f64>) -> f64 {
    edges(p).map(|edge| distance_to_edge(x, edge)).fold(f64::INFINITY, f64::min)
}

/// The interior angle at a corner, from the directions of its edges.
pub(super) fn interior_angle(p: &[Point2<f64>], i: usize) -> f64 {
    let n = p.len();
    let (before, after): (Vector2<f64>, Vector2<f64>) = (p[(i + n - 1) % n] - p[i], p[(i + 1) % n] - p[i]);
    let angle = libm::atan2(after.perp(&before), after.dot(&before));
    if angle < 0.0 { angle + std::f64::consts::TAU } else { angle }
}

/// The least distance between two edges that do not share a corner.
pub(super) fn feature_size(p: &[Point2<f64>]) -> f64 {
    let n = p.len();
    let all: Vec<_> = edges(p).collect();
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let apart = pairs.filter(|&(i, j)| i != j && (i + 1) % n != j && (j + 1) % n != i);
    // Edges do not cross: the nearest points of two include an end.
    apart.map(|(i, j)| distance_to_edge(&all[i].0, all[j]).min(distance_to_edge(&all[i].1, all[j]))).fold(2.0, f64::min)
}
