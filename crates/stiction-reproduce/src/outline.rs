//! Outlines of bodies for figures, as corners in the plane of the page.

use std::f64::consts::{PI, TAU};

use nalgebra::Point3;
use stiction::{Pose, Shape, spatial};

/// Number of corners of a full circle.
const CORNERS: u32 = 72;

/// A circle.
pub(crate) fn circle([x, y]: [f64; 2], radius: f64) -> Vec<[f64; 2]> {
    ellipse([x, y], [radius, radius], 0.0)
}

/// An ellipse rotated by an angle.
pub(crate) fn ellipse([x, y]: [f64; 2], [a, b]: [f64; 2], angle: f64) -> Vec<[f64; 2]> {
    let (sin, cos) = libm::sincos(angle);
    let corner = |k: u32| {
        let (s, c) = libm::sincos(TAU * f64::from(k) / f64::from(CORNERS));
        [x + a * c * cos - b * s * sin, y + a * c * sin + b * s * cos]
    };
    (0..CORNERS).map(corner).collect()
}

/// A bar with round ends: all points within `radius` of a line of `half_length` to both sides of the middle.
pub(crate) fn capsule([x, y]: [f64; 2], half_length: f64, radius: f64, angle: f64) -> Vec<[f64; 2]> {
    let half = CORNERS / 2;
    let end = |side: f64, k: u32| {
        let (sin, cos) = libm::sincos(angle);
        let turn = angle - side * 0.5 * PI + side * PI * f64::from(k) / f64::from(half);
        let (s, c) = libm::sincos(if side > 0.0 { turn } else { turn + PI });
        [x + side * half_length * cos + radius * c, y + side * half_length * sin + radius * s]
    };
    let first = (0..=half).map(|k| end(1.0, k));
    let second = (0..=half).map(|k| end(-1.0, half - k));
    first.chain(second).collect()
}

/// Outline of a box, capsule or cylinder in the view along −z; `None` for other shapes.
pub(crate) fn from_above(shape: &Shape, pose: &Pose) -> Option<Vec<[f64; 2]>> {
    let ring = |x: f64, radius: f64| circle([0.0, 0.0], radius).into_iter().map(move |[y, z]| Point3::new(x, y, z));
    let (corners, radius): (Vec<Point3<f64>>, f64) = match shape {
        Shape::Spatial(spatial::Shape::Box { half_extents: [a, b, c] }) => {
            let sides = [-1.0, 1.0];
            let corner = |x: f64| sides.map(|y| sides.map(|z| Point3::new(x * a, y * b, z * c)));
            (sides.map(corner).into_iter().flatten().flatten().collect(), 0.0)
        }
        Shape::Spatial(spatial::Shape::Cylinder { half_length, radius }) => {
            (ring(-half_length, *radius).chain(ring(*half_length, *radius)).collect(), 0.0)
        }
        Shape::Spatial(spatial::Shape::Capsule { half_length, radius }) => {
            ([-half_length, *half_length].map(|x| Point3::new(x, 0.0, 0.0)).to_vec(), *radius)
        }
        _ => return None,
    };
    let seen = corners.iter().map(|corner| pose * corner).flat_map(|seen| match radius {
        0.0 => vec![[seen.x, seen.y]],
        _ => circle([seen.x, seen.y], radius),
    });
    Some(hull(seen.collect()))
}

/// Convex hull of some points, counterclockwise.
pub(crate) fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let mut around = half_hull(points.iter().copied());
    around.extend(half_hull(points.iter().rev().copied()));
    around
}

/// Lower side of the hull of points sorted from left to right, without its last corner.
fn half_hull(points: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let turns_left =
        |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0]);
    let mut side: Vec<[f64; 2]> = Vec::new();
    for point in points {
        while let [.., a, b] = side[..] {
            if turns_left(a, b, point) {
                break;
            }
            side.pop();
        }
        side.push(point);
    }
    side.pop();
    side
}

#[cfg(test)]
mod tests {
    use super::{capsule, circle, ellipse, hull};

    #[test]
    fn outlines_lie_on_their_curves() {
        for [x, y] in circle([1.0, 2.0], 0.5) {
            assert!((libm::hypot(x - 1.0, y - 2.0) - 0.5).abs() < 1e-12);
        }
        let turned = ellipse([0.0, 0.0], [4.0, 2.0], 0.7);
        let most = turned.iter().map(|[x, y]| x * libm::cos(0.7) + y * libm::sin(0.7)).fold(0.0, f64::max);
        assert!((most - 4.0).abs() < 1e-12);
    }

    #[test]
    fn every_corner_of_a_capsule_is_a_radius_from_its_axis_and_goes_round_once() {
        let corners = capsule([0.3, -0.2], 0.25, 0.05, 0.4);
        let (sin, cos) = libm::sincos(0.4);
        let mut area = 0.0;
        for (k, [x, y]) in corners.iter().enumerate() {
            let (along, across) = ((x - 0.3) * cos + (y + 0.2) * sin, (y + 0.2) * cos - (x - 0.3) * sin);
            let beyond = (along.abs() - 0.25).max(0.0);
            assert!((libm::hypot(beyond, across) - 0.05).abs() < 1e-12);
            let next = corners[(k + 1) % corners.len()];
            area += 0.5 * (x * next[1] - y * next[0]);
        }
        let exact = 4.0 * 0.25 * 0.05 + std::f64::consts::PI * 0.05 * 0.05;
        assert!((area / exact - 1.0).abs() < 1e-3, "{area} {exact}");
    }

    #[test]
    fn a_hull_leaves_out_what_is_inside() {
        let square = vec![[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.2, 0.9]];
        assert_eq!(hull(square), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    }
}
