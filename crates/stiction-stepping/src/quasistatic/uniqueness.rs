//! Uniqueness of the motion of a quasistatic step under the balance of forces.
//!
//! For the normal impulses of the solution the motion minimises a convex function [QS-5], and another motion v + δ is also a solution if
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

use std::ops::Range;

use nalgebra::{DMatrix, DVector, Vector3};
use stiction_complementarity::{DenseMatrix, Lcp, LcpLadder, LcpSolution, Solver};
use stiction_multibody::{BodyId, Model, Wrench};

use crate::{Contact, ContactImpulse, Dynamics, Scheme, SupportPointContact, Workspace};

/// Uniqueness of the last quasistatic step.
#[derive(Clone, Debug, PartialEq)]
pub enum Uniqueness {
    /// Forces in balance allow one motion only.
    Unique,
    /// Another motion is in balance as well: in this direction, in the order of the velocities, of unit length.
    NotUnique(Vec<f64>),
}

/// Relative size below which a number counts as zero: friction forces at the edge of their set, entries of normalised rows.
pub(super) const ZERO: f64 = 1e-7;

/// Checks the last step in the workspace; `None` if bodies have inertia.   [QS-6]
pub fn uniqueness(model: &Model, scheme: &Scheme, ws: &Workspace) -> Option<Uniqueness> {
    if scheme.dynamics != Dynamics::Quasistatic {
        return None;
    }
    let mut cone = Cone::new(model.dof(), scheme.slip_threshold);
    for joint in model.joints() {
        for row in ws.constraints.joint_rows.iter().skip(joint.first_row()).take(joint.rows()) {
            cone.equalities.push(dense(model, [(joint.a.0, &row.a), (joint.b.0, &row.b)]));
        }
    }
    let scale = ws.solution.contact_impulses.iter().map(|p| p.normal.max(p.friction.norm())).fold(0.0, f64::max);
    for (contact, impulse) in ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses) {
        let (a, b) = contact.row(&contact.normal);
        let normal = dense(model, [(contact.a, &a), (contact.b, &b)]);
        if impulse.normal > ZERO * scale {
            cone.equalities.push(normal);
            FrictionPair::of_contact(contact, impulse).add_to(&mut cone, model, ws);
        } else if dot(&normal, &ws.solution.velocity) + contact.bias <= scheme.slip_threshold {
            cone.inequalities.push(normal);
        }
    }
    for (support_point, impulse) in ws.constraints.support_points.iter().zip(&ws.solution.support_impulses) {
        FrictionPair::of_support_point(support_point, impulse).add_to(&mut cone, model, ws);
    }
    Some(cone.direction().map_or(Uniqueness::Unique, Uniqueness::NotUnique))
}

/// The wrenches on two bodies of a unit impulse along a direction.
type RowAlong<'a> = dyn Fn(&Vector3<f64>) -> (Wrench, Wrench) + 'a;

/// Friction between two bodies: at a contact, or at a support point.
struct FrictionPair<'a> {
    bodies: [BodyId; 2],
    /// The row along a direction.
    row: Box<RowAlong<'a>>,
    spin_row: (Wrench, Wrench),
    /// As long as the semi-axes of the friction ellipse.
    tangents: Vec<Vector3<f64>>,
    torsion: f64,
    surface_velocity: Vector3<f64>,
    surface_spin: f64,
    impulse: &'a ContactImpulse,
    /// μ p_n.
    most: f64,
    directions: Range<usize>,
    friction_bounds: usize,
}

impl<'a> FrictionPair<'a> {
    fn of_contact(contact: &'a Contact, impulse: &'a ContactImpulse) -> Self {
        Self {
            bodies: [contact.a, contact.b],
            row: Box::new(|d| contact.row(d)),
            spin_row: contact.spin_row(),
            tangents: contact.tangents.iter().copied().filter(|t| t.norm_squared() > 0.0).collect(),
            torsion: contact.torsion,
            surface_velocity: contact.surface_velocity,
            surface_spin: contact.surface_spin,
            impulse,
            most: contact.mu * impulse.normal,
            directions: contact.directions.clone(),
            friction_bounds: contact.friction_bounds.len(),
        }
    }

    fn of_support_point(support_point: &'a SupportPointContact, impulse: &'a ContactImpulse) -> Self {
        Self {
            bodies: [support_point.supporting_body, support_point.body],
            row: Box::new(|d| support_point.row(d)),
            spin_row: support_point.spin_row(),
            tangents: SupportPointContact::tangents().into(),
            torsion: support_point.torsion,
            surface_velocity: support_point.surface_velocity,
            surface_spin: support_point.surface_spin,
            impulse,
            most: support_point.mu * impulse.normal,
            directions: support_point.directions.clone(),
            friction_bounds: support_point.friction_bounds.len(),
        }
    }

    /// Adds the conditions of friction on δ.   [QS-6]
    fn add_to(&self, cone: &mut Cone, model: &Model, ws: &Workspace) {
        if self.most == 0.0 {
            return;
        }
        if ws.is_friction_problem {
            self.add_ellipsoid(cone, model, ws);
        } else {
            self.add_polygons(cone, model, ws);
        }
    }

    fn dense(&self, model: &Model, (a, b): &(Wrench, Wrench)) -> Vec<f64> {
        let [body_a, body_b] = self.bodies;
        dense(model, [(body_a, a), (body_b, b)])
    }

    /// In units of the semi-axes the friction ellipsoid is a ball.   [FRIC-3]
    fn add_ellipsoid(&self, cone: &mut Cone, model: &Model, ws: &Workspace) {
        let (mut rows, mut slip, mut force) = (Vec::new(), Vec::new(), Vec::new());
        for t in &self.tangents {
            let row = self.dense(model, &(self.row)(t));
            slip.push(dot(&row, &ws.solution.velocity) + t.dot(&self.surface_velocity));
            force.push(t.dot(&self.impulse.friction) / t.norm_squared());
            rows.push(row);
        }
        if self.torsion > 0.0 {
            let (a, b) = &self.spin_row;
            let row = self.dense(model, &(a.scaled(self.torsion), b.scaled(self.torsion)));
            slip.push(dot(&row, &ws.solution.velocity) + self.torsion * self.surface_spin);
            force.push(self.impulse.spin / self.torsion);
            rows.push(row);
        }
        cone.add_ball(&rows, &slip, &force, self.most);
    }

    fn add_polygons(&self, cone: &mut Cone, model: &Model, ws: &Workspace) {
        let per_bound = self.directions.len() / self.friction_bounds.max(1);
        for part in 0..self.friction_bounds {
            let first = self.directions.start + part * per_bound;
            let corners = (first..first + per_bound).filter_map(|place| Some((place, ws.mixed.directions.get(place)?)));
            let corners: Vec<_> = corners
                .map(|(place, d)| {
                    let row = self.dense(model, &(self.row)(d));
                    let speed = dot(&row, &ws.solution.velocity) + d.dot(&self.surface_velocity);
                    let impulse = ws.mixed.solution.complementary.get(ws.mixed.layout.friction_at(place));
                    Corner { row, speed, impulse: impulse.copied().unwrap_or(0.0) * ws.mass_unit }
                })
                .collect();
            cone.add_polygon(&corners, self.most);
        }
    }
}

/// A corner of a friction polygon.
struct Corner {
    row: Vec<f64>,
    speed: f64,
    impulse: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
struct Cone {
    velocities: usize,
    columns: usize,
    /// Speed up to which a slip counts as zero, m/s.
    slip_threshold: f64,
    equalities: Vec<Vec<f64>>,
    inequalities: Vec<Vec<f64>>,
}

impl Cone {
    fn new(velocities: usize, slip_threshold: f64) -> Self {
        Self { velocities, columns: velocities, slip_threshold, equalities: Vec::new(), inequalities: Vec::new() }
    }

    /// Adds friction in a ball of radius `most`.
    fn add_ball(&mut self, rows: &[Vec<f64>], slip: &[f64], force: &[f64], most: f64) {
        let norm = |x: &[f64]| dot(x, x).sqrt();
        let slips = norm(slip) > self.slip_threshold;
        if !slips && norm(force) < (1.0 - ZERO) * most {
            self.equalities.extend(rows.iter().cloned());
            return;
        }
        // δ_t may only be parallel to the slip, or against the force on the edge of its set.
        let (along, sign) = if slips { (slip, 1.0) } else { (force, -1.0) };
        let unit: Vec<f64> = along.iter().map(|x| sign * x / norm(along)).collect();
        let columns = self.columns;
        let combined = |weights: &dyn Fn(usize) -> f64| {
            let mut sum = vec![0.0; columns];
            for (k, row) in rows.iter().enumerate() {
                sum.iter_mut().zip(row).for_each(|(s, x)| *s += weights(k) * x);
            }
            sum
        };
        if rows.len() > 1 {
            // (1 − u uᵀ) δ_t = 0.
            for (i, u_i) in unit.iter().enumerate() {
                let row = combined(&|k| f64::from(u8::from(i == k)) - u_i * unit.get(k).copied().unwrap_or(0.0));
                self.equalities.push(row);
            }
        }
        if !slips {
            self.inequalities.push(combined(&|k| unit.get(k).copied().unwrap_or(0.0)));
        }
    }

    /// Adds friction in a polygon: −d_k · δ ≤ m for the corners that the motion may use, with equality for those with an impulse; m is one
    /// more column.
    fn add_polygon(&mut self, corners: &[Corner], most: f64) {
        let sigma = corners.iter().map(|corner| -corner.speed).fold(0.0, f64::max);
        let total: f64 = corners.iter().map(|corner| corner.impulse).sum();
        if sigma <= self.slip_threshold && total < (1.0 - ZERO) * most {
            self.equalities.extend(corners.iter().map(|corner| corner.row.clone()));
            return;
        }
        let m = self.columns;
        self.columns += 1;
        let near = self.slip_threshold.max(ZERO * sigma);
        for corner in corners.iter().filter(|corner| -corner.speed >= sigma - near) {
            let mut row = corner.row.clone();
            row.resize(m, 0.0);
            row.push(1.0);
            if corner.impulse > ZERO * most { self.equalities.push(row) } else { self.inequalities.push(row) }
        }
    }

    /// Nonzero direction in the cone, of unit length, restricted to the velocities; none if the cone is {0}.
    fn direction(&self) -> Option<Vec<f64>> {
        let free = null_space(&self.matrix(&self.equalities), self.columns);
        if free.ncols() == 0 {
            return None;
        }
        let c = self.matrix(&self.inequalities) * &free;
        let lines = null_space(&c, free.ncols());
        let y = match lines.ncols() {
            0 => boundary_direction(&c)?,
            _ => lines.column(0).into_owned(),
        };
        let x = free * y;
        let velocities = x.rows(0, self.velocities);
        let norm = velocities.norm();
        (norm > 0.0).then(|| velocities.iter().map(|x| x / norm).collect())
    }

    /// Normalised rows, extended to all columns.
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
fn boundary_direction(c: &DMatrix<f64>) -> Option<DVector<f64>> {
    let gram = c * c.transpose();
    let n = c.nrows();
    let ones = DVector::from_element(n, 1.0);
    let q = &gram * &ones;
    // Symmetric: column by column is row by row.
    let matrix = DenseMatrix::from_row_major(n, n, gram.as_slice().to_vec())?;
    let lcp = Lcp::new(matrix, q.as_slice().to_vec()).ok()?;
    let mut solution = LcpSolution::default();
    // An inaccurate solution gives a y that fails the test C y ≥ 0 below.
    let _ = LcpLadder::new().run(&lcp, None, &mut solution);
    let x = ones + DVector::from_column_slice(&solution.z);
    let y = c.transpose() * &x;
    let inside = (c * &y).min() >= -ZERO * y.norm();
    (inside && y.norm() > ZERO * x.amax()).then_some(y)
}

#[cfg(test)]
mod tests;
