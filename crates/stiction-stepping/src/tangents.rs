//! Tangent frame of a contact, and the vertices of its friction polygon.

use nalgebra::Vector3;
use stiction_multibody::{Configuration, ContactRule, Dimension};

/// Tangents e_t t and e_o o of a contact with the given normal, as long as the semi-axes of its friction ellipse.
///
/// In space t is the first direction, rotated with the body it is fixed to, projected onto the tangent plane and rotated by the offset,
/// and o = n × t. In the plane t = z × n and the second is zero.   [FRIC-3]
pub fn tangents(
    normal: &Vector3<f64>,
    rule: &ContactRule,
    dimension: Dimension,
    at: &Configuration,
) -> [Vector3<f64>; 2] {
    let [e_t, e_o] = rule.ellipse;
    if dimension == Dimension::Planar {
        return [Vector3::new(-normal.y, normal.x, 0.0) * e_t, Vector3::zeros()];
    }
    let t = first_tangent(normal, wanted(rule, at).as_ref());
    let o = normal.cross(&t);
    let (sin, cos) = libm::sincos(rule.direction_offset);
    [(t * cos + o * sin) * e_t, (o * cos - t * sin) * e_o]
}

/// Requested direction of the first tangent, in world axes.
fn wanted(rule: &ContactRule, at: &Configuration) -> Option<Vector3<f64>> {
    match rule.direction_body {
        Some(body) => Some(at.pose(body).rotation * rule.first_direction.unwrap_or_else(Vector3::x)),
        None => rule.first_direction,
    }
}

/// True if the rule requests a first direction that is along the normal, so that another one takes its place.
pub fn ignores_first_direction(normal: &Vector3<f64>, rule: &ContactRule, at: &Configuration) -> bool {
    let wanted = wanted(rule, at);
    wanted.is_some() && !projected(normal, wanted.as_ref()).1
}

/// Derivative of the [`tangents`] along a change of the normal and a small rotation of the body that their direction is fixed
/// to.   [GIM-5]
pub(crate) fn tangents_change(
    (normal, change): (&Vector3<f64>, &Vector3<f64>),
    rule: &ContactRule,
    dimension: Dimension,
    (at, turned): (&Configuration, &Vector3<f64>),
) -> [Vector3<f64>; 2] {
    let [e_t, e_o] = rule.ellipse;
    if dimension == Dimension::Planar {
        return [Vector3::new(-change.y, change.x, 0.0) * e_t, Vector3::zeros()];
    }
    let wanted = wanted(rule, at);
    let (d, is_wanted) = projected(normal, wanted.as_ref());
    let d_change = if is_wanted && rule.direction_body.is_some() { turned.cross(&d) } else { Vector3::zeros() };
    // t = w/|w| with w = d − n (n · d); o = n × t.
    let w = d - normal * normal.dot(&d);
    let (length, t) = (w.norm(), w.normalize());
    let dw = d_change - change * normal.dot(&d) - normal * (change.dot(&d) + normal.dot(&d_change));
    let dt = (dw - t * t.dot(&dw)) / length;
    let d_o = change.cross(&t) + normal.cross(&dt);
    let (sin, cos) = libm::sincos(rule.direction_offset);
    [(dt * cos + d_o * sin) * e_t, (d_o * cos - dt * sin) * e_o]
}

/// Appends the vertices of a friction polygon in the frame of [`tangents`]: in space n_d vectors cos φ e_t t + sin φ e_o o, φ = 2π k /
/// n_d, in the plane ±e_t t. Each has its exact opposite.   [FRIC-1]
pub(crate) fn push_polygon_vertices(
    [t, o]: &[Vector3<f64>; 2],
    vertices: usize,
    dimension: Dimension,
    out: &mut Vec<Vector3<f64>>,
) {
    if dimension == Dimension::Planar {
        out.extend([*t, -t]);
        return;
    }
    debug_assert_eq!(vertices % 2, 0, "a friction polygon has an even number of vertices");
    let (first, half) = (out.len(), vertices / 2);
    for k in 0..half {
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / vertices as f64);
        out.push(t * cos + o * sin);
    }
    out.extend_from_within(first..first + half);
    out.iter_mut().skip(first + half).for_each(|d| *d = -*d);
}

/// Sine of the angle to the normal below which a requested direction is not projected onto the tangent plane.
const STEEPEST: f64 = 1e-3;

/// Requested direction projected onto the tangent plane; otherwise world x, or y if x is too close to the normal.
pub fn first_tangent(normal: &Vector3<f64>, wanted: Option<&Vector3<f64>>) -> Vector3<f64> {
    let d = projected(normal, wanted).0;
    let t = d - normal * normal.dot(&d);
    let length = t.norm();
    t / length
}

/// Direction that is projected; the second value is true if it is the requested one.
fn projected(normal: &Vector3<f64>, wanted: Option<&Vector3<f64>>) -> (Vector3<f64>, bool) {
    let is_flat = |d: &Vector3<f64>| (d - normal * normal.dot(d)).norm() > STEEPEST;
    match wanted.filter(|d| is_flat(d)) {
        Some(d) => (*d, true),
        None if normal.x.abs() < 0.9 => (Vector3::x(), false),
        None => (Vector3::y(), false),
    }
}
