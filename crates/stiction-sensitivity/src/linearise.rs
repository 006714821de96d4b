//! Linearised laws of a solved step: the change of impulses and of v⁺ with the equations.
//!
//! With W = J M⁻¹ Jᵀ and a change (dm, du) of the equations at fixed velocities and impulses,
//!
//! ```text
//! dv⁺ = M⁻¹ (Jᵀ dp − dm),    dU = W dp + du − J M⁻¹ dm                                                       [GRAD-2]
//! ```
//!
//! and each law adds as many equations as it has rows: dU = 0 for joints and sticking contacts, dp = 0 for open ones. All others have
//! weights between the two.   [GRAD-4]

use nalgebra::{DMatrix, DVector};
use stiction_complementarity::Law;
use stiction_multibody::ContactId;

use super::{
    SensitivityError,
    equations::{Axis, Parts, Row, Solved, contact, jacobian, mass},
};
use stiction_stepping::{Start, Workspace};

/// Distance of a step from another mode of one of its contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// Smallest change of a velocity that changes the mode, m/s.
    pub speed: f64,
    /// Contact that changes its mode; none for support points and joint-space rows.
    pub contact: Option<ContactId>,
}

/// Smallest singular value relative to the largest, dimensionless. Below it a system is solved by least norm.
const RANK: f64 = 1e-10;

/// Linearised laws as A y = B. The unknowns are impulses times the diagonal of W, and slip speeds, so that all are velocities.
pub(crate) struct System<'s> {
    start: &'s Start<'s>,
    solved: &'s Solved,
    /// Nominal rows.
    ws: &'s Workspace,
    /// Values of the equations, and their changes, one column for each cause.
    values: &'s [f64],
    changes: &'s DMatrix<f64>,
    parts: Parts,
    j: DMatrix<f64>,
    inverse_mass: DMatrix<f64>,
    w: DMatrix<f64>,
    /// du − J M⁻¹ dm.
    driven: DMatrix<f64>,
    /// Smoothing, m/s.
    smoothing: f64,
    equations: Vec<Equation>,
    unknowns: usize,
    pub(crate) clearance: Option<Clearance>,
}

/// Equation Σ impulses·dp + Σ rows·dU + Σ speeds·dσ + Σ changes·dE = 0, with the indices of rows.
#[derive(Default)]
struct Equation {
    impulses: Vec<(usize, f64)>,
    rows: Vec<(usize, f64)>,
    speeds: Vec<(usize, f64)>,
    changes: Vec<(usize, f64)>,
}

/// Weights (a, b) of a dx + b dy = 0 for 0 ≤ x ⊥ y ≥ 0: one and zero if the law is strict, in between if it is smoothed.   [GRAD-6]
fn weights(x: f64, y: f64, smoothing: f64, closed: bool) -> (f64, f64) {
    if smoothing == 0.0 {
        return if closed { (0.0, 1.0) } else { (1.0, 0.0) };
    }
    let norm = libm::hypot(libm::hypot(x, y), smoothing * std::f64::consts::SQRT_2);
    (1.0 - x / norm, 1.0 - y / norm)
}

impl<'s> System<'s> {
    pub(crate) fn new(
        (start, solved, ws): (&'s Start<'s>, &'s Solved, &'s Workspace),
        (values, changes): (&'s [f64], &'s DMatrix<f64>),
        smoothing: f64,
    ) -> Result<Self, SensitivityError> {
        let model = start.model;
        let parts = Parts::of(model, solved);
        let j = jacobian(start, solved, ws);
        let inverse_mass = mass(model, ws).try_inverse().ok_or(SensitivityError::Indeterminate)?;
        let response = &j * &inverse_mass;
        let mut w = &response * j.transpose();
        for (place, row) in solved.rows.iter().enumerate() {
            if let Row::JointSpace(index) = row {
                w[(place, place)] += ws.constraints.joint_space_rows.get(*index).map_or(0.0, |row| row.compliance);
            }
        }
        let driven = changes.rows(parts.rows, solved.rows.len()) - response * changes.rows(0, model.dof());
        let mut system = Self {
            start,
            solved,
            ws,
            values,
            changes,
            parts,
            j,
            inverse_mass,
            w,
            driven,
            smoothing,
            equations: Vec::new(),
            unknowns: solved.rows.len(),
            clearance: None,
        };
        system.write();
        Ok(system)
    }

    fn value(&self, row: usize) -> f64 {
        debug_assert!(self.parts.rows + row < self.values.len(), "row {row} has a value");
        self.values.get(self.parts.rows + row).copied().unwrap_or(0.0)
    }

    fn impulse(&self, row: usize) -> f64 {
        debug_assert!(row < self.solved.impulses.len(), "row {row} has an impulse");
        self.solved.impulses.get(row).copied().unwrap_or(0.0)
    }

    fn update_clearance(&mut self, speed: f64, contact: Option<ContactId>) {
        if self.clearance.is_none_or(|nearest| speed < nearest.speed) {
            self.clearance = Some(Clearance { speed, contact });
        }
    }

    fn write(&mut self) {
        for (place, row) in self.solved.rows.iter().enumerate() {
            match *row {
                Row::Joint(_) => self.fix_velocity(place),
                Row::Normal(contact) => self.normal(place, contact),
                Row::JointSpace(index) => self.joint_space_law(place, index),
                Row::Contact(..) | Row::SupportPoint(..) => {}
            }
        }
        for place in 0..self.solved.contacts.len() {
            let Some(contact) = contact(self.solved, self.ws, place) else { continue };
            let of = move |row: &Row| {
                if let Row::Contact(owner, axis) = row { (*owner == place).then_some(*axis) } else { None }
            };
            let Some(normal) = self.solved.place(Row::Normal(place)) else { continue };
            let limit = Limit {
                normal: Some((normal, contact.mu)),
                change: self.parts.friction + place,
                by: self.impulse(normal),
            };
            let counts = (contact.friction_bounds.len(), contact.directions.len());
            self.friction(&self.solved.friction(of).collect::<Vec<_>>(), &limit, counts, Row::Normal(place));
        }
        for place in 0..self.solved.support_points {
            let Some(support_point) =
                self.ws.constraints.support_points.get(place).filter(|support_point| support_point.mu > 0.0)
            else {
                continue;
            };
            let of = move |row: &Row| {
                if let Row::SupportPoint(owner, axis) = row { (*owner == place).then_some(*axis) } else { None }
            };
            let limit = Limit { normal: None, change: self.parts.limits + place, by: 1.0 };
            let counts = (support_point.friction_bounds.len(), support_point.directions.len());
            self.friction(
                &self.solved.friction(of).collect::<Vec<_>>(),
                &limit,
                counts,
                Row::SupportPoint(place, Axis::Spin),
            );
        }
    }

    /// Adds the equation dU = 0.
    fn fix_velocity(&mut self, row: usize) {
        self.equations.push(Equation { rows: vec![(row, 1.0)], ..Equation::default() });
    }

    /// Adds the equation dp = 0.
    fn fix_impulse(&mut self, row: usize) {
        self.equations.push(Equation { impulses: vec![(row, 1.0)], ..Equation::default() });
    }

    /// Adds the equation of 0 ≤ p ⊥ u ≥ 0.
    fn normal(&mut self, row: usize, contact: usize) {
        let stiffness = self.w[(row, row)];
        let (x, y) = (self.impulse(row) * stiffness, self.value(row));
        let (a, b) = weights(x, y, self.smoothing, x > 0.0 && x >= y);
        self.equations.push(Equation {
            impulses: vec![(row, a * stiffness)],
            rows: vec![(row, b)],
            ..Equation::default()
        });
        self.update_clearance(x.max(y), self.solved.contacts.get(contact).copied());
    }

    /// Adds the equation of a joint-space row: at one of its bounds the impulse follows the bound, between them dU = 0.
    fn joint_space_law(&mut self, row: usize, index: usize) {
        let law = self.ws.constraints.joint_space_rows.get(index).map(|row| row.law);
        let Some(Law::Bounded { lower, upper }) = law else { return self.fix_velocity(row) };
        let (p, scale) = (self.impulse(row), self.w[(row, row)]);
        let bound = if p <= lower {
            Some(0)
        } else if p >= upper {
            Some(1)
        } else {
            None
        };
        if let Some(side) = bound {
            let change = self.parts.bounds + 2 * index + side;
            self.equations.push(Equation {
                impulses: vec![(row, scale)],
                changes: vec![(change, -scale)],
                ..Equation::default()
            });
            self.update_clearance(self.value(row).abs(), None);
        } else {
            self.fix_velocity(row);
            self.update_clearance((p - lower).min(upper - p) * scale, None);
        }
    }

    fn friction(&mut self, rows: &[(usize, Axis)], limit: &Limit, (friction_bounds, corners): (usize, usize), of: Row) {
        if rows.is_empty() {
            return;
        }
        if corners == 0 {
            return self.cone(rows, limit, of);
        }
        let per_bound = corners / friction_bounds.max(1);
        for chunk in rows.chunks(per_bound.max(1)) {
            self.polygon(chunk, limit, of);
        }
    }

    /// Bound L of the law, at the solution.
    fn limit(&self, limit: &Limit) -> f64 {
        match limit.normal {
            Some((normal, mu)) => mu * self.impulse(normal),
            None => self.values.get(limit.change).copied().unwrap_or(0.0),
        }
    }

    fn contact_of(&self, of: Row) -> Option<ContactId> {
        if let Row::Normal(place) = of { self.solved.contacts.get(place).copied() } else { None }
    }

    /// Adds L u + σ p = 0 and 0 ≤ L − |p| ⊥ σ ≥ 0 with σ = |u|, the law of Fritz and John.   [GRAD-4]
    fn cone(&mut self, rows: &[(usize, Axis)], limit: &Limit, of: Row) {
        let most = self.limit(limit);
        let u = DVector::from_iterator(rows.len(), rows.iter().map(|(row, _)| self.value(*row)));
        let p = DVector::from_iterator(rows.len(), rows.iter().map(|(row, _)| self.impulse(*row)));
        let stiffness = rows.iter().map(|(row, _)| self.w[(*row, *row)]).fold(0.0, f64::max);
        let (sigma, pushes) = (u.norm(), p.norm());
        let scale = most.max(if stiffness > 0.0 { sigma / stiffness } else { 0.0 });
        if scale == 0.0 || (most == 0.0 && self.smoothing == 0.0) {
            return rows.iter().for_each(|(row, _)| self.fix_impulse(*row));
        }
        let speed = self.unknowns;
        self.unknowns += 1;
        let slips = sigma > ((most - pushes) * stiffness).max(0.0);
        for (k, (row, _)) in rows.iter().enumerate() {
            let mut equation = Equation {
                rows: vec![(*row, most / scale)],
                impulses: vec![(*row, sigma / scale)],
                speeds: vec![(speed, p[k] / scale)],
                changes: Vec::new(),
            };
            limit.add(u[k] / scale, &mut equation);
            self.equations.push(equation);
        }
        let (a, b) = weights((most - pushes) * stiffness, sigma, self.smoothing, !slips);
        let mut slack = Equation { speeds: vec![(speed, b)], ..Equation::default() };
        if pushes > 0.0 {
            slack.impulses =
                rows.iter().enumerate().map(|(k, (row, _))| (*row, -a * stiffness * p[k] / pushes)).collect();
        }
        limit.add(a * stiffness, &mut slack);
        self.equations.push(slack);
        self.update_clearance(if slips { sigma } else { (most - pushes) * stiffness }, self.contact_of(of));
    }

    /// Adds the equations of a polygon. Corners with an impulse share the limit and slip at one speed; without slip dU = 0.   [GRAD-4]
    fn polygon(&mut self, rows: &[(usize, Axis)], limit: &Limit, of: Row) {
        let most = self.limit(limit);
        let stiffness = rows.iter().map(|(row, _)| self.w[(*row, *row)]).fold(0.0, f64::max);
        let total: f64 = rows.iter().map(|(row, _)| self.impulse(*row)).sum();
        if most <= 0.0 {
            return rows.iter().for_each(|(row, _)| self.fix_impulse(*row));
        }
        let fastest = rows.iter().map(|(row, _)| -self.value(*row)).fold(0.0, f64::max);
        if fastest <= ((most - total) * stiffness).max(0.0) {
            let kept = self.independent(rows);
            for (row, _) in rows {
                if kept.contains(row) { self.fix_velocity(*row) } else { self.fix_impulse(*row) }
            }
            return self.update_clearance((most - total) * stiffness, self.contact_of(of));
        }
        let speed = self.unknowns;
        self.unknowns += 1;
        let mut sum = Equation::default();
        let mut slowest = f64::INFINITY;
        for (row, _) in rows {
            if self.impulse(*row) > 1e-9 * most {
                self.equations.push(Equation {
                    rows: vec![(*row, 1.0)],
                    speeds: vec![(speed, 1.0)],
                    ..Equation::default()
                });
                sum.impulses.push((*row, -stiffness));
                slowest = slowest.min(-self.value(*row));
            } else {
                self.fix_impulse(*row);
            }
        }
        limit.add(stiffness, &mut sum);
        self.equations.push(sum);
        self.update_clearance(slowest, self.contact_of(of));
    }

    /// Rows of the first corner and of the first other corner that is not parallel to it. Together they span the polygon.
    fn independent(&self, rows: &[(usize, Axis)]) -> Vec<usize> {
        let mut kept: Vec<usize> = rows.iter().take(1).map(|(row, _)| *row).collect();
        let other = rows.iter().skip(1).find(|(row, _)| {
            kept.iter().all(|first| {
                let (a, b) = (self.j.row(*first), self.j.row(*row));
                let (ab, aa, bb) = (a.dot(&b), a.dot(&a), b.dot(&b));
                aa * bb - ab * ab > 1e-6 * aa * bb
            })
        });
        kept.extend(other.map(|(row, _)| *row));
        kept
    }

    /// Solves for dv⁺ of every cause. Also returns the fraction of the changes that the modes cannot follow.
    pub(crate) fn solve(&self) -> Result<(DMatrix<f64>, f64), SensitivityError> {
        debug_assert_eq!(self.equations.len(), self.unknowns, "every impulse and every slip speed has an equation");
        let count = self.solved.rows.len();
        let causes = self.changes.ncols();
        let mut a = DMatrix::zeros(self.equations.len(), self.unknowns);
        let mut b = DMatrix::zeros(self.equations.len(), causes);
        let scale = |row: usize| if self.w[(row, row)] > 0.0 { self.w[(row, row)] } else { 1.0 };
        for (place, equation) in self.equations.iter().enumerate() {
            for &(row, factor) in &equation.impulses {
                a[(place, row)] += factor / scale(row);
            }
            for &(row, factor) in &equation.rows {
                for k in 0..count {
                    a[(place, k)] += factor * self.w[(row, k)] / scale(k);
                }
                let mut line = b.row_mut(place);
                line -= self.driven.row(row) * factor;
            }
            for &(speed, factor) in &equation.speeds {
                a[(place, speed)] += factor;
            }
            for &(change, factor) in &equation.changes {
                let mut line = b.row_mut(place);
                line -= self.changes.row(change) * factor;
            }
        }
        let (y, left) = least_norm(&a, &b)?;
        let mut impulses = y.rows(0, count).into_owned();
        for (row, mut line) in impulses.row_iter_mut().enumerate() {
            line /= scale(row);
        }
        let gained = self.j.transpose() * impulses - self.changes.rows(0, self.start.model.dof());
        Ok((&self.inverse_mass * gained, left))
    }
}

/// Bound L of friction, μ p_n of a contact or a given number, and its derivatives.
struct Limit {
    /// Row of the normal impulse, and μ.
    normal: Option<(usize, f64)>,
    /// Index of the change of μ or of L, and its factor.
    change: usize,
    by: f64,
}

impl Limit {
    /// Adds factor · dL to an equation.
    fn add(&self, factor: f64, equation: &mut Equation) {
        equation.changes.push((self.change, factor * self.by));
        if let Some((normal, mu)) = self.normal {
            equation.impulses.push((normal, factor * mu));
        }
    }
}

/// Least-norm solution y of the least-squares problem A y = B, and the fraction of B that remains.
fn least_norm(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Result<(DMatrix<f64>, f64), SensitivityError> {
    if a.is_empty() {
        return Ok((DMatrix::zeros(a.ncols(), b.ncols()), 0.0));
    }
    let svd = a.clone().svd(true, true);
    let largest = svd.singular_values.max();
    let y = svd.solve(b, RANK * largest).map_err(|_| SensitivityError::Indeterminate)?;
    let left = (a * &y - b).amax() / b.amax().max(f64::MIN_POSITIVE);
    Ok((y, left))
}
