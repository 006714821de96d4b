//! Whether the balance of forces determines the motion of a quasistatic step.
//!
//! For the normal impulses of the solution the motion minimises a convex function [QS-5], and another motion v + δ is as good if
//! and only if δ is in the cone [QS-6]:
//!
//! ```text
//! W_bᵀ δ = 0                                joints
//! W_nᵀ δ = 0   where p_n > 0,               W_nᵀ δ ≥ 0   where a contact is closed and carries nothing
//! friction inside its set:                  δ_t = 0
//! friction on the edge of it, no slip:      δ_t = −α p_f,   α ≥ 0
//! friction on the edge of it, slip s:       δ_t = α s
//! ```
//!
//! The last two lines replace the equality δ_t = 0 of the published condition, which calls a particle dragged with exactly
//! μ m g unique. With linear sets the edge is a corner or a side of the polygon, and the lines become inequalities.
//! The motion is unique if the cone is {0}.

use nalgebra::{DMatrix, DVector};
use stiction_complementarity::{DenseMatrix, Lcp, LcpLadder, LcpSolution, Solver};
use stiction_multibody::{BodyId, Model, Wrench};

use crate::{Contact, ContactImpulse, Dynamics, Scheme, Workspace};

/// Whether the last quasistatic step could have gone otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Uniqueness {
    /// Forces in balance leave one motion only.
    Unique,
    /// Another motion is in balance as well: in this direction, in the order of the velocities, of unit length.
    NotUnique(Vec<f64>),
}

/// Relative size below which a number counts as zero: forces of friction at the edge of their set, entries of normalised rows.
const ZERO: f64 = 1e-7;

/// Judges the last step in the workspace; `None` where bodies have inertia.   [QS-6]
pub fn uniqueness(model: &Model, scheme: &Scheme, ws: &Workspace) -> Option<Uniqueness> {
    if scheme.dynamics != Dynamics::Quasistatic {
        return None;
    }
    let mut cone = Cone { velocities: model.dof(), columns: model.dof(), equalities: Vec::new(), inequalities: Vec::new() };
    for joint in model.joints() {
        for row in ws.joint_rows.iter().skip(joint.first_row()).take(joint.rows()) {
            cone.equalities.push(dense(model, [(joint.a.0, &row.a), (joint.b.0, &row.b)]));
        }
    }
    let scale = ws.contact_impulses.iter().map(|p| p.normal.max(p.friction.norm())).fold(0.0, f64::max);
    for (contact, impulse) in ws.contacts.iter().zip(&ws.contact_impulses) {
        let velocity = |row: &[f64]| row.iter().zip(&ws.velocity).map(|(w, v)| w * v).sum::<f64>();
        let normal = row_along(model, contact, &contact.normal);
        if impulse.normal <= ZERO * scale {
            let closed = velocity(&normal) + contact.bias <= scheme.slip_threshold;
            if closed {
                cone.inequalities.push(normal);
            }
            continue;
        }
        cone.equalities.push(normal);
        if contact.mu == 0.0 {
            continue;
        }
        if ws.quadratic {
            let rows = friction_rows(model, contact);
            let slip: Vec<f64> = rows.iter().map(|(row, prescribed)| velocity(row) + prescribed).collect();
            let force = friction_parts(contact, impulse);
            let rows: Vec<_> = rows.into_iter().map(|(row, _)| row).collect();
            cone.add_disc(&rows, &slip, &force, contact.mu * impulse.normal, scheme.slip_threshold);
        } else {
            let directions = ws.directions.get(contact.directions.clone()).unwrap_or_default();
            let at = |place: usize| ws.layout.friction_at(place);
            let impulses = contact
                .directions
                .clone()
                .map(|place| ws.mixed_solution.complementary.get(at(place)).copied().unwrap_or(0.0) * ws.mass_unit);
            let rows: Vec<_> = directions.iter().map(|d| row_along(model, contact, d)).collect();
            let speeds: Vec<_> =
                rows.iter().zip(directions).map(|(row, d)| velocity(row) + d.dot(&contact.surface_velocity)).collect();
            let impulses: Vec<_> = impulses.collect();
            let share = contact.directions.len() / contact.cones.len().max(1);
            for part in 0..contact.cones.len() {
                let range = part * share..(part + 1) * share;
                cone.add_polygon(
                    rows.get(range.clone()).unwrap_or_default(),
                    speeds.get(range.clone()).unwrap_or_default(),
                    impulses.get(range).unwrap_or_default(),
                    (contact.mu * impulse.normal, scheme.slip_threshold),
                );
            }
        }
    }
    Some(cone.direction().map_or(Uniqueness::Unique, Uniqueness::NotUnique))
}

/// The row W(d)ᵀ of a contact over all velocities.
fn row_along(model: &Model, contact: &Contact, d: &nalgebra::Vector3<f64>) -> Vec<f64> {
    let (a, b) = contact.row(d);
    dense(model, [(contact.a, &a), (contact.b, &b)])
}

/// The rows of tangents and spin as long as the semi-axes of the friction ellipsoid, with what is prescribed along them.
fn friction_rows(model: &Model, contact: &Contact) -> Vec<(Vec<f64>, f64)> {
    let tangents = contact.tangents.iter().filter(|t| t.norm_squared() > 0.0);
    let mut rows: Vec<_> = tangents.map(|t| (row_along(model, contact, t), t.dot(&contact.surface_velocity))).collect();
    if contact.torsion > 0.0 {
        let (a, b) = contact.spin_row();
        let row = dense(model, [(contact.a, &a.scaled(contact.torsion)), (contact.b, &b.scaled(contact.torsion))]);
        rows.push((row, contact.torsion * contact.surface_spin));
    }
    rows
}

/// The friction impulse in the units of [`friction_rows`], in which its set is a ball.
fn friction_parts(contact: &Contact, impulse: &ContactImpulse) -> Vec<f64> {
    let tangents = contact.tangents.iter().filter(|t| t.norm_squared() > 0.0);
    let mut parts: Vec<_> = tangents.map(|t| t.dot(&impulse.friction) / t.norm_squared()).collect();
    if contact.torsion > 0.0 {
        parts.push(impulse.spin / contact.torsion);
    }
    parts
}

/// A row over all velocities of the model.
fn dense(model: &Model, wrenches: [(BodyId, &Wrench); 2]) -> Vec<f64> {
    let mut row = vec![0.0; model.dof()];
    for (id, wrench) in wrenches {
        let Some((mobility, range)) = model.unknowns(id) else { continue };
        let place = row.get_mut(range).unwrap_or_default();
        place.iter_mut().zip(mobility.project(wrench)).for_each(|(x, w)| *x += w);
    }
    row
}

/// { x : A x = 0, B x ≥ 0 } with the velocities as the first columns.
pub(crate) struct Cone {
    velocities: usize,
    columns: usize,
    equalities: Vec<Vec<f64>>,
    inequalities: Vec<Vec<f64>>,
}

impl Cone {
    /// Friction in a ball of radius `most`.
    pub(crate) fn add_disc(&mut self, rows: &[Vec<f64>], slip: &[f64], force: &[f64], most: f64, still: f64) {
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let slips = norm(slip) > still;
        if !slips && norm(force) < (1.0 - ZERO) * most {
            self.equalities.extend(rows.iter().cloned());
            return;
        }
        // δ_t may only be parallel to the slip, or against the force on the edge of its set.
        let (along, sign) = if slips { (slip, 1.0) } else { (force, -1.0) };
        let unit: Vec<f64> = along.iter().map(|x| sign * x / norm(along)).collect();
        let combined = |weights: &dyn Fn(usize) -> f64| {
            let mut sum = vec![0.0; self.columns];
            for (k, row) in rows.iter().enumerate() {
                sum.iter_mut().zip(row).for_each(|(s, x)| *s += weights(k) * x);
            }
            sum
        };
        let at = |x: &[f64], k: usize| x.get(k).copied().unwrap_or(0.0);
        let across: Vec<_> = (0..rows.len())
            .filter(|_| rows.len() > 1)
            .map(|i| combined(&|k| f64::from(u8::from(i == k)) - at(&unit, i) * at(&unit, k)))
            .collect();
        let forward = combined(&|k| at(&unit, k));
        self.equalities.extend(across);
        if !slips {
            self.inequalities.push(forward);
        }
    }

    /// Friction in a polygon: −d_k · δ ≤ m for the corners the motion may use, with equality for those that push; m is one more
    /// column.
    fn add_polygon(&mut self, rows: &[Vec<f64>], speeds: &[f64], impulses: &[f64], (most, still): (f64, f64)) {
        let sigma = speeds.iter().map(|u| -u).fold(0.0, f64::max);
        let total: f64 = impulses.iter().sum();
        if sigma <= still && total < (1.0 - ZERO) * most {
            self.equalities.extend(rows.iter().cloned());
            return;
        }
        let m = self.columns;
        self.columns += 1;
        let near = still.max(ZERO * sigma);
        for ((row, speed), impulse) in rows.iter().zip(speeds).zip(impulses) {
            if -speed < sigma - near {
                continue;
            }
            let mut row = row.clone();
            row.resize(m, 0.0);
            row.push(1.0);
            if *impulse > ZERO * most { self.equalities.push(row) } else { self.inequalities.push(row) }
        }
    }

    /// A direction other than zero in the cone, of unit length, without the columns that are not velocities; none if there is none.
    fn direction(&self) -> Option<Vec<f64>> {
        let free = null_space(&self.matrix(&self.equalities), self.columns);
        if free.ncols() == 0 {
            return None;
        }
        let c = self.matrix(&self.inequalities) * &free;
        let lines = null_space(&c, free.ncols());
        let y = match lines.ncols() {
            0 => edge_of(&c)?,
            _ => lines.column(0).into_owned(),
        };
        let x = free * y;
        let velocities = x.rows(0, self.velocities);
        let norm = velocities.norm();
        (norm > 0.0).then(|| velocities.iter().map(|x| x / norm).collect())
    }

    /// Rows of length one, filled up to all columns.
    fn matrix(&self, rows: &[Vec<f64>]) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(rows.len(), self.columns);
        for (i, row) in rows.iter().enumerate() {
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            for (j, x) in row.iter().enumerate().filter(|_| norm > 0.0) {
                matrix[(i, j)] = x / norm;
            }
        }
        matrix
    }
}

/// An orthonormal basis of { x : A x = 0 }.
fn null_space(a: &DMatrix<f64>, columns: usize) -> DMatrix<f64> {
    if a.nrows() == 0 {
        return DMatrix::identity(columns, columns);
    }
    let eigen = (a.transpose() * a).symmetric_eigen();
    let most = eigen.eigenvalues.amax();
    let free: Vec<_> = (0..columns)
        .filter(|&i| eigen.eigenvalues[i] <= ZERO * ZERO * most.max(f64::MIN_POSITIVE))
        .map(|i| eigen.eigenvectors.column(i).into_owned())
        .collect();
    if free.is_empty() { DMatrix::zeros(columns, 0) } else { DMatrix::from_columns(&free) }
}

/// y with C y ≥ 0 and C y ≠ 0, for C of full column rank; none if there is none.   [QS-7]
///
/// By Stiemke's theorem there is one unless Cᵀ x = 0 for some x > 0. The least |Cᵀ x| over x ≥ 1 decides: y = Cᵀ x at the
/// minimum is such a direction, or zero.
fn edge_of(c: &DMatrix<f64>) -> Option<DVector<f64>> {
    let gram = c * c.transpose();
    let n = c.nrows();
    let ones = DVector::from_element(n, 1.0);
    let q = &gram * &ones;
    // Symmetric: column by column is row by row.
    let matrix = DenseMatrix::from_row_major(n, n, gram.as_slice().to_vec())?;
    let lcp = Lcp::new(matrix, q.as_slice().to_vec()).ok()?;
    let mut solution = LcpSolution::default();
    // A half-solved problem gives a y that fails the test C y ≥ 0 below.
    let _ = LcpLadder::new().run(&lcp, None, &mut solution);
    let x = ones + DVector::from_column_slice(&solution.z);
    let y = c.transpose() * &x;
    let inside = (c * &y).min() >= -ZERO * y.norm();
    (inside && y.norm() > ZERO * x.amax()).then_some(y)
}
