//! The star of friction directions in the tangent plane.

use nalgebra::Vector3;
use stiction_multibody::{ContactRule, Dimension};

/// Appends the friction directions of a contact with the given normal.
///
/// In space n_d equally spaced unit vectors cos φ t₁ + sin φ t₂, φ = φ₀ + 2π k / n_d, with t₁ the first direction
/// projected onto the tangent plane and t₂ = n × t₁; in the plane ±t₁. Each has its exact opposite.   [FRIC-1]
pub(crate) fn push_directions(
    normal: &Vector3<f64>,
    rule: &ContactRule,
    default_count: u32,
    dimension: Dimension,
    out: &mut Vec<Vector3<f64>>,
) {
    if dimension == Dimension::Planar {
        let t = Vector3::new(-normal.y, normal.x, 0.0);
        out.extend([t, -t]);
        return;
    }
    let n_d = rule.directions.unwrap_or(default_count) as usize;
    let t1 = first_tangent(normal, rule.first_direction.as_ref());
    let t2 = normal.cross(&t1);
    let half = n_d / 2;
    let first = out.len();
    for k in 0..half {
        let (sin, cos) = libm::sincos(rule.direction_offset + std::f64::consts::TAU * k as f64 / n_d as f64);
        out.push(t1 * cos + t2 * sin);
    }
    out.extend_from_within(first..first + half);
    out.iter_mut().skip(first + half).for_each(|d| *d = -*d);
}

/// Sine of the angle to the normal below which a wanted direction is too steep to be projected.
const STEEPEST: f64 = 1e-3;

/// The wanted direction projected onto the tangent plane; else world x, or y where x is too steep.
fn first_tangent(normal: &Vector3<f64>, wanted: Option<&Vector3<f64>>) -> Vector3<f64> {
    let project = |d: &Vector3<f64>| {
        let t = d - normal * normal.dot(d);
        let length = t.norm();
        (length > STEEPEST).then(|| t / length)
    };
    wanted
        .and_then(project)
        .or_else(|| (normal.x.abs() < 0.9).then(|| project(&Vector3::x())).flatten())
        .or_else(|| project(&Vector3::y()))
        .unwrap_or_else(Vector3::z)
}
