//! Newton's matrix: the derivative of momentum and of the maps of the laws with respect to velocities and impulses.   [GIM-4]
//!
//! ```text
//! ⎡ M − ∂(W p)/∂v⁺     −W ⎤
//! ⎣ B ∂u/∂v⁺            A ⎦      with A and B the slopes of the Alart-Curnier function in impulses and velocities
//! ```

use std::ops::Range;

use nalgebra::Matrix3;
use stiction_multibody::{BodyId, Model, Twist, Wrench};

use super::iterate::{Fixed, Iterate, auxiliary_blocks, bodies};
use super::points::{Local, Points};
use super::slopes::{Change, ContactSlope, Moved, Slope, support_column, twist_or_rest};
use super::system::NewtonSystem;
use super::turn::{displacement, turn_jacobian};
use crate::{
    Start, Workspace,
    contact_rows::{ContactRows, support_rows},
    surface_motion::{surface_rotation, surface_slope},
};

/// Largest number of rows of a law: a weld in space.
const MAX_ROWS: usize = 6;

/// Largest number of rows of the points of a contact: two points, three functions at each, and the gap.
const MAX_POINT_ROWS: usize = 13;

/// Regularisation that is added to the derivatives of the maps with respect to their own impulses, which are of the size of 1. Without it redundant
/// contacts and joints make the matrix singular. With it Newton's method converges linearly by this factor instead of quadratically.
const REGULARISATION: f64 = 1e-10;

/// The matrix with its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct NewtonMatrix {
    system: NewtonSystem,
    /// δθ/δω of each body.   [GIM-2]
    turns: Vec<Matrix3<f64>>,
}

/// One law between two bodies.
struct LawPlace<'a> {
    bodies: [BodyId; 2],
    rows: Range<usize>,
    /// Offset of its rows in the matrix.
    first: usize,
    /// B by rows.
    on_u: &'a [f64],
}

impl NewtonMatrix {
    /// Writes the matrix at an iterate.
    pub(super) fn fill(&mut self, start: &Start, ws: &Workspace, fixed: &Fixed, at: &Iterate) -> &mut NewtonSystem {
        let &Start { model, scheme, h, .. } = start;
        self.system.begin(model, ws, fixed, at);
        self.turns.clear();
        let turn = |id| turn_jacobian(&twist_or_rest(model, &at.v, id).angular, h, scheme.orientation);
        self.turns.extend(model.iter_bodies().map(|(id, _)| turn(id)));
        self.masses(ws);
        self.joints(start, ws, fixed, at);
        self.contacts(start, ws, fixed, at);
        self.support_points(start, ws, fixed, at);
        self.auxiliary_masses(start, ws, fixed, at);
        &mut self.system
    }

    fn masses(&mut self, ws: &Workspace) {
        let Some(bodies) = bodies(ws) else {
            debug_assert!(false, "an implicit step has a matrix-free operator");
            return;
        };
        for body in 0..bodies.jacobian().block_cols() {
            let columns = bodies.jacobian().col_range(body);
            for (row, mass) in columns.clone().zip(bodies.mass(body).chunks_exact(columns.len().max(1))) {
                columns.clone().zip(mass).for_each(|(column, mass)| self.system.add(row, column, *mass));
            }
        }
    }

    fn joints(&mut self, start: &Start, ws: &Workspace, fixed: &Fixed, at: &Iterate) {
        let model = start.model;
        for (block, joint) in model.joints().iter().enumerate() {
            let rows = ws.friction.problem.range(block);
            let on_u = self.law(ws, fixed, at, block);
            let place = LawPlace {
                bodies: [joint.a.0, joint.b.0],
                rows: rows.clone(),
                first: at.v.len(),
                on_u: &on_u[..rows.len().pow(2)],
            };
            let mut wrenches = [(Wrench::default(), Wrench::default()); MAX_ROWS];
            wrenches.iter_mut().zip(joint.evaluate(&at.at)).for_each(|(w, row)| *w = (row.a, row.b));
            self.impulse_columns(model, &place, &wrenches);
            self.velocity_columns(start, &place, |change| {
                let rest = Twist::default();
                let (a, b) = match change.moved {
                    Moved::A => (change.displacement, rest),
                    Moved::B => (rest, change.displacement),
                };
                let (on_a, on_b) = joint.wrench_change(&at.at, &at.r[rows.clone()], (&a, &b));
                let mut slope = Slope { on_a, on_b, ..Slope::default() };
                for (u, (w_a, w_b)) in slope.u.iter_mut().zip(&wrenches) {
                    *u = (w_a.power(&a) + w_b.power(&b)) / start.h;
                }
                slope
            });
        }
    }

    fn contacts(&mut self, start: &Start, ws: &Workspace, fixed: &Fixed, at: &Iterate) {
        let &Start { model, h, .. } = start;
        for &(index, block) in &fixed.laws {
            debug_assert!(index < at.contacts.len() && index < at.tracked.len(), "law {block} is that of a contact");
            let (Some(contact), Some(tracked)) = (at.contacts.get(index), at.tracked.get(index)) else { continue };
            let rows = ws.friction.problem.range(block);
            let on_u = self.law(ws, fixed, at, block);
            let on_u = &on_u[..rows.len().pow(2)];
            let place = LawPlace { bodies: [contact.a, contact.b], rows: rows.clone(), first: at.v.len(), on_u };
            self.impulse_columns(model, &place, &ContactRows::new(contact, rows.len()).wrenches());
            let mut impulses = [0.0; 4];
            impulses.iter_mut().zip(&at.r[rows]).for_each(|(p, r)| *p = *r);
            let slope = ContactSlope {
                contact,
                sensitivity: tracked.sensitivity(start, &at.at, contact),
                rule: model.contact_rule(contact.a, contact.b),
                dimension: model.dimension(),
                at: &at.at,
                impulses,
                twists: [contact.a, contact.b].map(|id| twist_or_rest(model, &at.v, id)),
                surface: [contact.a, contact.b].map(|id| surface_slope(start, id, ws)),
                surface_spin: surface_rotation(model, contact, ws),
                rebounds: tracked.rebound.is_some(),
                h,
            };
            match (fixed.points.get(index).copied().flatten(), at.locals.get(index).copied().flatten()) {
                (Some(points), Some(local)) => {
                    // A surface and the core below it share their points, whose rows are written once.
                    let is_surface = block == model.joints().len() + index;
                    self.point_columns(start, &place, &slope, (&points, &local, is_surface), at);
                }
                _ => self.velocity_columns(start, &place, |change| slope.column(change)),
            }
        }
    }

    /// Writes the rows and columns of a contact whose points are unknowns.   [GIM-7]
    fn point_columns(
        &mut self,
        start: &Start,
        place: &LawPlace,
        slope: &ContactSlope,
        (points, local, with_rows): (&Points, &Local, bool),
        at: &Iterate,
    ) {
        let &Start { model, h, .. } = start;
        let first = at.v.len() + at.r.len() + points.first;
        debug_assert!(points.len() <= MAX_POINT_ROWS, "the points of a contact have {} rows", points.len());
        let mut rows = [0.0; MAX_POINT_ROWS];
        for k in 0..points.len() {
            let shift = points.column(local, k, h, &mut rows);
            self.add_slope(model, place, &slope.point_column(&shift), first + k);
            for (row, x) in rows.iter().take(if with_rows { points.len() } else { 0 }).enumerate() {
                self.system.add(first + row, first + k, *x);
            }
        }
        for (moved, id) in [Moved::A, Moved::B].into_iter().zip(place.bodies) {
            let Some((mobility, columns)) = model.unknowns(id) else { continue };
            let turn = self.turns.get(id.index()).copied().unwrap_or_else(Matrix3::zeros);
            for (component, column) in columns.enumerate() {
                let (velocity, moved_by) = displacement(mobility, &turn, h, component);
                let change = Change { moved, velocity, displacement: moved_by };
                let shift = points.body_column(local, &change, h, &mut rows);
                self.add_slope(model, place, &slope.body_column(&change, &shift), column);
                for (row, x) in rows.iter().take(if with_rows { points.len() } else { 0 }).enumerate() {
                    self.system.add(first + row, column, *x);
                }
            }
        }
    }

    fn support_points(&mut self, start: &Start, ws: &Workspace, fixed: &Fixed, at: &Iterate) {
        let model = start.model;
        for (index, support_point) in at.support_points.iter().enumerate() {
            let block = model.joints().len() + at.contacts.len() + index;
            let rows = ws.friction.problem.range(block);
            let on_u = self.law(ws, fixed, at, block);
            let on_u = &on_u[..rows.len().pow(2)];
            let place = LawPlace {
                bodies: [support_point.supporting_body, support_point.body],
                rows: rows.clone(),
                first: at.v.len(),
                on_u,
            };
            self.impulse_columns(model, &place, &support_rows(support_point, rows.len()));
            let twists = [support_point.supporting_body, support_point.body].map(|id| twist_or_rest(model, &at.v, id));
            self.velocity_columns(start, &place, |change| {
                support_column(support_point, &at.r[rows.clone()], twists, change)
            });
        }
    }

    /// Writes A, and returns B.
    fn law(&mut self, ws: &Workspace, fixed: &Fixed, at: &Iterate, block: usize) -> [f64; 36] {
        let (on_r, on_u) = slopes(ws, fixed, at, block);
        let rows = ws.friction.problem.range(block);
        let (n, first) = (rows.len(), at.v.len() + rows.start);
        for (k, on_r) in on_r[..n * n].chunks_exact(n).enumerate() {
            on_r.iter().enumerate().for_each(|(j, on_r)| self.system.add(first + k, first + j, *on_r));
            self.system.add(first + k, first + k, REGULARISATION);
        }
        on_u
    }

    /// Writes −W, the momentum of a unit of each impulse.
    fn impulse_columns(&mut self, model: &Model, place: &LawPlace, wrenches: &[(Wrench, Wrench)]) {
        for (row, (on_a, on_b)) in place.rows.clone().zip(wrenches) {
            for (id, wrench) in place.bodies.into_iter().zip([on_a, on_b]) {
                self.push_wrench(model, id, wrench, place.first + row);
            }
        }
    }

    fn push_wrench(&mut self, model: &Model, id: BodyId, wrench: &Wrench, column: usize) {
        let Some((mobility, range)) = model.unknowns(id) else { return };
        for (row, w) in range.zip(mobility.project(wrench)) {
            self.system.add(row, column, -w);
        }
    }

    /// Writes −∂(W p)/∂v⁺ and B ∂u/∂v⁺, column by column.
    fn velocity_columns(&mut self, start: &Start, place: &LawPlace, slope: impl Fn(&Change) -> Slope) {
        let &Start { model, h, .. } = start;
        for (moved, id) in [Moved::A, Moved::B].into_iter().zip(place.bodies) {
            let Some((mobility, columns)) = model.unknowns(id) else { continue };
            let turn = self.turns.get(id.index()).copied().unwrap_or_else(Matrix3::zeros);
            for (component, column) in columns.enumerate() {
                let (velocity, moved_by) = displacement(mobility, &turn, h, component);
                let slope = slope(&Change { moved, velocity, displacement: moved_by });
                self.add_slope(model, place, &slope, column);
            }
        }
    }

    /// Adds the derivatives of momentum and of the Alart-Curnier function of a law with respect to one unknown.
    fn add_slope(&mut self, model: &Model, place: &LawPlace, slope: &Slope, column: usize) {
        self.push_wrench(model, place.bodies[0], &slope.on_a, column);
        self.push_wrench(model, place.bodies[1], &slope.on_b, column);
        for (k, on_u) in place.on_u.chunks_exact(place.rows.len()).enumerate() {
            let change: f64 = on_u.iter().zip(&slope.u).map(|(b, u)| b * u).sum();
            self.system.add(place.first + place.rows.start + k, column, change);
        }
    }

    /// Adds rows that act on auxiliary masses. They do not depend on the configuration.
    fn auxiliary_masses(&mut self, start: &Start, ws: &Workspace, fixed: &Fixed, at: &Iterate) {
        let first = at.v.len();
        for (rows, columns, block) in auxiliary_blocks(start.model, ws) {
            for (row, block) in rows.clone().zip(block.chunks_exact(columns.len().max(1))) {
                for (column, x) in columns.clone().zip(block) {
                    self.system.add(column, first + row, -x);
                }
            }
            let Some(index) = (0..ws.friction.problem.blocks()).find(|&index| ws.friction.problem.range(index) == rows)
            else {
                debug_assert!(false, "rows {rows:?} of the Jacobian are those of a law");
                continue;
            };
            let (_, on_u) = slopes(ws, fixed, at, index);
            let (n, m) = (rows.len(), columns.len());
            for (k, on_u) in on_u[..n * n].chunks_exact(n).enumerate() {
                for (j, column) in columns.clone().enumerate() {
                    let change: f64 = on_u.iter().enumerate().map(|(i, b)| b * block[i * m + j]).sum();
                    self.system.add(first + rows.start + k, column, change);
                }
            }
        }
    }
}

/// A and B of a law, row by row.
fn slopes(ws: &Workspace, fixed: &Fixed, at: &Iterate, block: usize) -> ([f64; 36], [f64; 36]) {
    let (mut on_r, mut on_u) = ([0.0; 36], [0.0; 36]);
    debug_assert!(block < ws.friction.problem.blocks(), "law {block} exists");
    let (Some(law), rows) = (ws.friction.problem.laws().get(block), ws.friction.problem.range(block)) else {
        return (on_r, on_u);
    };
    let n = rows.len();
    let (rho, r, u) = (&fixed.rho[rows.clone()], &at.r[rows.clone()], &at.u[rows]);
    law.alart_curnier_jacobian(rho, r, u, &mut on_r[..n * n], &mut on_u[..n * n]);
    (on_r, on_u)
}
