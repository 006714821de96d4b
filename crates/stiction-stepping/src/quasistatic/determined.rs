//! Sufficient condition for the uniqueness of a quasistatic motion, cheaper than the full check.

use nalgebra::Vector3;
use stiction_multibody::{BodyId, Model, Wrench};

use super::uniqueness::ZERO;
use crate::{Scheme, SupportPointContact, Workspace, rates::side_rate};

/// Largest number of velocities for which [`is_determined`] is evaluated; above it the elimination is not worth its cost.
const MAX_DOF: usize = 48;

/// True if the equalities of [QS-6] alone leave no other motion. This is sufficient for uniqueness.
pub(super) fn is_determined(model: &Model, scheme: &Scheme, ws: &mut Workspace) -> bool {
    let columns = model.dof();
    if columns > MAX_DOF {
        return false;
    }
    let mut rows = std::mem::take(&mut ws.balance_rows);
    rows.clear();
    equalities(model, scheme, ws, &mut rows);
    let rank = rank(&mut rows, columns);
    ws.balance_rows = rows;
    rank == columns
}

/// Rows of δ that must vanish: those of joints, of contacts with an impulse, and across the slip, or along both tangents if there is none.
/// Edges of friction sets without slip, and linear sets, are omitted: their rows are not certain to vanish.
fn equalities(model: &Model, scheme: &Scheme, ws: &Workspace, rows: &mut Vec<f64>) {
    let mut push = |bodies: [BodyId; 2], (a, b): &(Wrench, Wrench)| {
        let first = rows.len();
        rows.resize(first + model.dof(), 0.0);
        for (id, wrench) in bodies.into_iter().zip([a, b]) {
            let Some((mobility, range)) = model.unknowns(id) else { continue };
            let row = rows.get_mut(first..).and_then(|row| row.get_mut(range)).unwrap_or_default();
            row.iter_mut().zip(mobility.project(wrench)).for_each(|(x, w)| *x += w);
        }
    };
    for joint in model.joints() {
        for row in ws.constraints.joint_rows.iter().skip(joint.first_row()).take(joint.rows()) {
            push([joint.a.0, joint.b.0], &(row.a, row.b));
        }
    }
    debug_assert_eq!(ws.constraints.contacts.len(), ws.solution.contact_impulses.len(), "every contact has an impulse");
    debug_assert_eq!(
        ws.constraints.support_points.len(),
        ws.solution.support_impulses.len(),
        "every support point has an impulse"
    );
    let scale = ws.solution.contact_impulses.iter().map(|p| p.normal).fold(0.0, f64::max);
    for (contact, impulse) in ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses) {
        if impulse.normal > ZERO * scale {
            push([contact.a, contact.b], &contact.row(&contact.normal));
        }
    }
    for (support_point, impulse) in
        ws.constraints.support_points.iter().zip(&ws.solution.support_impulses).filter(|_| ws.is_friction_problem)
    {
        let along = |d: &Vector3<f64>| {
            let (on, body) = support_point.row(d);
            side_rate(model, &ws.solution.velocity, support_point.supporting_body, &on)
                + side_rate(model, &ws.solution.velocity, support_point.body, &body)
        };
        let [x, y] = SupportPointContact::tangents();
        let slip = x * along(&x) + y * along(&y) + support_point.surface_velocity;
        if support_point.torsion > 0.0 || support_point.mu == 0.0 {
            continue;
        }
        if slip.norm() > scheme.slip_threshold {
            push(
                [support_point.supporting_body, support_point.body],
                &support_point.row(&(Vector3::z().cross(&slip) / slip.norm())),
            );
        } else if impulse.friction.norm() < (1.0 - ZERO) * support_point.mu * impulse.normal {
            push([support_point.supporting_body, support_point.body], &support_point.row(&x));
            push([support_point.supporting_body, support_point.body], &support_point.row(&y));
        }
    }
}

/// Number of independent rows, by elimination with full pivoting.
fn rank(rows: &mut [f64], columns: usize) -> usize {
    if columns == 0 {
        return 0;
    }
    let most = rows.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    debug_assert!(rows.len().is_multiple_of(columns), "the rows are complete");
    let full = columns.min(rows.len() / columns);
    for done in 0..full {
        let left = rows.get_mut(done * columns..).unwrap_or_default();
        let sizes = left.iter().map(|x| x.abs()).enumerate();
        let Some((place, pivot)) = sizes.reduce(|best, next| if next.1 > best.1 { next } else { best }) else {
            return done;
        };
        if pivot <= ZERO * most {
            return done;
        }
        let (first, column) = (place - place % columns, place % columns);
        (0..columns).for_each(|k| left.swap(k, first + k));
        let (head, below) = left.split_at_mut(columns);
        for row in below.chunks_exact_mut(columns) {
            let factor = row[column] / head[column];
            row.iter_mut().zip(&*head).for_each(|(x, h)| *x -= factor * h);
        }
    }
    full
}

#[cfg(test)]
mod tests;
