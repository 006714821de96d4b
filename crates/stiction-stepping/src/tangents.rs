//! Friction directions in the tangent plane: the frame, and the star of a polygon.

use nalgebra::Vector3;
use stiction_multibody::{Configuration, ContactRule, Dimension};

/// e_t t and e_o o: the tangents of a contact with the given normal, as long as the semi-axes of its friction ellipse.
///
/// In space t is the first direction, turned with the body it is fixed to, projected onto the tangent plane and turned by the
/// offset, o = n × t; in the plane t = z × n and the second is zero.   [FRIC-3]
pub(crate) fn tangents(
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

/// The direction the first tangent should have, in world axes.
fn wanted(rule: &ContactRule, at: &Configuration) -> Option<Vector3<f64>> {
    match rule.direction_body {
        Some(body) => Some(at.pose(body).rotation * rule.first_direction.unwrap_or_else(Vector3::x)),
        None => rule.first_direction,
    }
}

/// How the [`tangents`] change with the normal, and with a small rotation of the body that their direction is fixed to.   [GIM-5]
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

/// Appends the corners of a friction polygon on the frame of [`tangents`]: in space n_d vectors cos φ e_t t + sin φ e_o o,
/// φ = 2π k / n_d, in the plane ±e_t t. Each has its exact opposite.   [FRIC-1]
pub(crate) fn push_star([t, o]: &[Vector3<f64>; 2], corners: usize, dimension: Dimension, out: &mut Vec<Vector3<f64>>) {
    if dimension == Dimension::Planar {
        out.extend([*t, -t]);
        return;
    }
    let (first, half) = (out.len(), corners / 2);
    for k in 0..half {
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / corners as f64);
        out.push(t * cos + o * sin);
    }
    out.extend_from_within(first..first + half);
    out.iter_mut().skip(first + half).for_each(|d| *d = -*d);
}

/// Sine of the angle to the normal below which a wanted direction is too steep to be projected.
const STEEPEST: f64 = 1e-3;

/// The wanted direction projected onto the tangent plane; else world x, or y where x is too steep.
pub(crate) fn first_tangent(normal: &Vector3<f64>, wanted: Option<&Vector3<f64>>) -> Vector3<f64> {
    let d = projected(normal, wanted).0;
    let t = d - normal * normal.dot(&d);
    let length = t.norm();
    t / length
}

/// The direction that is projected, and whether it is the wanted one.
fn projected(normal: &Vector3<f64>, wanted: Option<&Vector3<f64>>) -> (Vector3<f64>, bool) {
    let is_flat = |d: &Vector3<f64>| (d - normal * normal.dot(d)).norm() > STEEPEST;
    match wanted.filter(|d| is_flat(d)) {
        Some(d) => (*d, true),
        None if normal.x.abs() < 0.9 => (Vector3::x(), false),
        None => (Vector3::y(), false),
    }
}
