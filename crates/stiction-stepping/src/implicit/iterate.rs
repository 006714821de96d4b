//! One iterate (v⁺, p) of Newton's method, and its residual.   [GIM-3]

use stiction_complementarity::{Bodies, Operator};
use stiction_geometry::{FeatureContact, implicit};
use stiction_multibody::{BodyId, Configuration, Model, Wrench};

use super::contacts::{Placed, TrackedContact, place_support_point, write_place};
use super::points::{Local, Points};
use super::slopes::twist_of;
use crate::{
    Contact, Start, SupportPointContact, Workspace,
    contact_rows::{ContactRows, support_rows},
};

/// Velocities and impulses, the configuration they lead to, and their residual.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterate {
    /// v⁺, then the velocities of the auxiliary masses of normals of support points.
    pub(super) v: Vec<f64>,
    /// Impulses of all laws, in the unit of the linearised problem.
    pub(super) r: Vec<f64>,
    /// Closest points and multipliers, if they are unknowns.   [GIM-7]
    pub(super) z: Vec<f64>,
    /// Velocities u of all laws.
    pub(super) u: Vec<f64>,
    /// The rows of momentum, then the maps of the laws, then those of the points.
    pub(super) f: Vec<f64>,
    /// ½ |f|².
    pub(super) merit: f64,
    /// q ⊕ h v⁺, with prescribed bodies at the end of the step.
    pub(super) at: Configuration,
    pub(super) contacts: Vec<Contact>,
    pub(super) support_points: Vec<SupportPointContact>,
    /// Geometry of each of `contacts`.
    pub(super) tracked: Vec<TrackedContact>,
    /// Unknowns of each contact that has some, with its functions.
    pub(super) locals: Vec<Option<Local>>,
    q: Vec<f64>,
    scratch: implicit::Scratch,
}

/// Data that are fixed while Newton's method runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Fixed {
    /// ρ of each row of Alart and Curnier's map.   [NEWTON-1]
    pub(super) rho: Vec<f64>,
    /// Part of u besides geometry: constant terms of rows that also act on auxiliary masses.
    pub(super) extra: Vec<f64>,
    /// Laws of contacts, each with the index of its contact and of its block: those of the surfaces, then those of rigid cores.   [SOFT-5]
    pub(super) laws: Vec<(usize, usize)>,
    /// Point unknowns of each contact; empty if no contact has any.
    pub(super) points: Vec<Option<Points>>,
}

/// The bodies of the linearised problem, with their masses.
pub(super) fn bodies(ws: &Workspace) -> Option<&Bodies> {
    match ws.friction.problem.operator() {
        Operator::MatrixFree(bodies) => Some(bodies),
        _ => None,
    }
}

impl Iterate {
    /// Moves everything to q ⊕ h v⁺ and evaluates the residual.
    pub(super) fn evaluate(&mut self, start: &Start, fixed: &Fixed, ws: &Workspace) {
        self.f.clear();
        self.f.resize(self.v.len() + self.r.len() + self.z.len(), 0.0);
        self.move_bodies(start, fixed, ws);
        self.u.clear();
        self.u.extend_from_slice(&fixed.extra);
        debug_assert_eq!(self.u.len(), self.r.len(), "every row of a law has a velocity and an impulse");
        debug_assert_eq!(fixed.rho.len(), self.r.len(), "every row of a law has a scaling");
        self.momentum(ws);
        self.joints(start, ws);
        self.contact_laws(start, fixed, ws);
        self.support_laws(start, ws);
        self.auxiliary_masses(start.model, ws);
        let (_, maps) = self.f.split_at_mut(self.v.len());
        for (block, law) in ws.friction.problem.laws().iter().enumerate() {
            let rows = ws.friction.problem.range(block);
            debug_assert!(rows.len() <= 6 && rows.end <= self.r.len(), "law {block} has rows {rows:?}");
            let part = |x: &'_ [f64]| -> [f64; 6] {
                let mut out = [0.0; 6];
                out.iter_mut().zip(x.get(rows.clone()).unwrap_or_default()).for_each(|(o, x)| *o = *x);
                out
            };
            let (rho, r, u, n) = (part(&fixed.rho), part(&self.r), part(&self.u), rows.len());
            if let Some(f) = maps.get_mut(rows) {
                law.alart_curnier_function(&rho[..n], &r[..n], &u[..n], f);
            }
        }
        self.merit = 0.5 * self.f.iter().map(|f| f * f).sum::<f64>();
    }

    /// Allocates memory for the numbers of another iterate. The two are swapped, so that both need room for the largest problem.
    pub(super) fn make_room(&mut self, other: &Self) {
        for (to, from) in [
            (&mut self.v, &other.v),
            (&mut self.r, &other.r),
            (&mut self.z, &other.z),
            (&mut self.u, &other.u),
            (&mut self.f, &other.f),
            (&mut self.q, &other.q),
        ] {
            to.clone_from(from);
        }
        self.locals.clone_from(&other.locals);
        self.at.copy_from(&other.at);
    }

    fn move_bodies(&mut self, start: &Start, fixed: &Fixed, ws: &Workspace) {
        let &Start { model, scheme, state, h, .. } = start;
        debug_assert!(self.v.len() >= model.dof(), "an iterate has the velocities of all bodies");
        model.integrate(&state.q, self.v.get(..model.dof()).unwrap_or_default(), h, scheme.orientation, &mut self.q);
        self.at.update(model, &self.q, &self.v, state.time_after(h).0);
        self.locals.clear();
        debug_assert_eq!(self.tracked.len(), self.contacts.len(), "every contact is tracked");
        for (index, (tracked, contact)) in self.tracked.iter_mut().zip(&mut self.contacts).enumerate() {
            let points = fixed.points.get(index).copied().flatten();
            let local = points.and_then(|points| {
                let placed = Placed::new(start, contact, &self.at)?;
                Some((points, points.read(&placed, (&self.at, contact), &self.z)?))
            });
            self.locals.push(local.map(|(_, local)| local));
            let Some((points, local)) = local else {
                tracked.place(start, &self.at, ws, (contact, &mut self.scratch));
                continue;
            };
            let first = self.v.len() + self.r.len() + points.first;
            debug_assert!(first + points.len() <= self.f.len(), "the rows of the points are within the residual");
            points.residual(&local, h, self.f.get_mut(first..first + points.len()).unwrap_or_default());
            let ([a, b], normal, gap) = local.place();
            let point = FeatureContact { point_a: a.into(), point_b: b.into(), normal, gap };
            write_place(start, &self.at, ws, contact, &point);
        }
        for support_point in &mut self.support_points {
            place_support_point(start, &self.at, support_point);
        }
    }

    /// Writes M (v⁺ − v_free), in the unit of mass of the problem.
    fn momentum(&mut self, ws: &Workspace) {
        let Some(bodies) = bodies(ws) else {
            debug_assert!(false, "an implicit step has a matrix-free operator");
            return;
        };
        let jacobian = bodies.jacobian();
        for body in 0..jacobian.block_cols() {
            let columns = jacobian.col_range(body);
            let mass = bodies.mass(body);
            for (row, mass) in columns.clone().zip(mass.chunks_exact(columns.len().max(1))) {
                let change = |j: usize| self.v[j] - ws.friction.free_velocity[j];
                self.f[row] = columns.clone().zip(mass).map(|(j, m)| m * change(j)).sum();
            }
        }
    }

    /// Adds Φ(q⁺, t⁺)/h to u, less the part beyond the closing speed, and the joint impulses to momentum.   [STAB-9]
    fn joints(&mut self, start: &Start, ws: &Workspace) {
        let model = start.model;
        let mut row = 0;
        for joint in model.joints() {
            for constraint in joint.evaluate(&self.at) {
                self.u[row] += constraint.value / start.h - ws.constraints.joint_rows[row].deferred;
                let p = self.r[row];
                push(model, &mut self.f, joint.a.0, &constraint.a, -p);
                push(model, &mut self.f, joint.b.0, &constraint.b, -p);
                row += 1;
            }
        }
        debug_assert_eq!(row, model.joint_rows(), "the joints fill their rows");
    }

    /// Adds the velocities of contacts to u, and their impulses to momentum.
    fn contact_laws(&mut self, start: &Start, fixed: &Fixed, ws: &Workspace) {
        let model = start.model;
        for &(index, block) in &fixed.laws {
            debug_assert!(index < self.contacts.len(), "law {block} is that of a contact");
            let (Some(contact), rows) = (self.contacts.get(index), ws.friction.problem.range(block)) else { continue };
            let wrenches = ContactRows::new(contact, rows.len()).wrenches();
            let constants = [
                0.0,
                contact.tangents[0].dot(&contact.surface_velocity),
                contact.tangents[1].dot(&contact.surface_velocity),
                contact.torsion * contact.surface_spin,
            ];
            for (k, row) in rows.enumerate() {
                let (a, b) = &wrenches[k];
                let along = side_rate(model, &self.v, contact.a, a) + side_rate(model, &self.v, contact.b, b);
                self.u[row] += match (k, self.tracked.get(index).and_then(|tracked| tracked.rebound)) {
                    (0, None) => contact.gap_end / start.h,
                    (0, Some(rebound)) => along + rebound,
                    _ => along + constants[k],
                };
                push(model, &mut self.f, contact.a, a, -self.r[row]);
                push(model, &mut self.f, contact.b, b, -self.r[row]);
            }
        }
    }

    /// Adds the velocities of support points to u, and their impulses to momentum.
    fn support_laws(&mut self, start: &Start, ws: &Workspace) {
        let model = start.model;
        let first = model.joints().len();
        for (index, support_point) in self.support_points.iter().enumerate() {
            let rows = ws.friction.problem.range(first + self.contacts.len() + index);
            let wrenches = support_rows(support_point, rows.len());
            let velocity = &support_point.surface_velocity;
            let constants = [0.0, velocity.x, velocity.y, support_point.torsion * support_point.surface_spin];
            for (k, row) in rows.enumerate() {
                let (on, body) = &wrenches[k];
                self.u[row] += side_rate(model, &self.v, support_point.supporting_body, on)
                    + side_rate(model, &self.v, support_point.body, body)
                    + constants[k];
                push(model, &mut self.f, support_point.supporting_body, on, -self.r[row]);
                push(model, &mut self.f, support_point.body, body, -self.r[row]);
            }
        }
    }

    /// Adds rows that act on auxiliary masses, such as the normals of support points. They do not depend on the configuration.
    fn auxiliary_masses(&mut self, model: &Model, ws: &Workspace) {
        for (rows, columns, block) in auxiliary_blocks(model, ws) {
            debug_assert_eq!(block.len(), rows.len() * columns.len(), "a block has an entry for each row and column");
            for (row, block) in rows.zip(block.chunks_exact(columns.len().max(1))) {
                for (column, x) in columns.clone().zip(block) {
                    self.u[row] += x * self.v[column];
                    self.f[column] -= x * self.r[row];
                }
            }
        }
    }
}

/// Blocks of the linearised Jacobian on auxiliary masses: rows, columns and entries.
pub(super) fn auxiliary_blocks<'w>(
    model: &Model,
    ws: &'w Workspace,
) -> impl Iterator<Item = (std::ops::Range<usize>, std::ops::Range<usize>, &'w [f64])> {
    let dof = model.dof();
    bodies(ws).into_iter().flat_map(move |bodies| {
        let jacobian = bodies.jacobian();
        (0..jacobian.block_rows()).flat_map(move |row| {
            let own = move |(column, block): (usize, &'w [f64])| {
                let columns = jacobian.col_range(column);
                (columns.start >= dof).then(|| (jacobian.row_range(row), columns, block))
            };
            jacobian.row(row).filter_map(own)
        })
    })
}

/// Adds a wrench times a number to the momentum of a body.
pub(super) fn push(model: &Model, f: &mut [f64], id: BodyId, wrench: &Wrench, factor: f64) {
    let Some((mobility, range)) = model.unknowns(id) else { return };
    debug_assert!(range.end <= f.len(), "the momentum of a body is within the residual");
    if let Some(f) = f.get_mut(range) {
        f.iter_mut().zip(mobility.project(wrench)).for_each(|(f, w)| *f += factor * w);
    }
}

/// Power of a wrench on the velocity of a body that moves by `v`.
fn side_rate(model: &Model, v: &[f64], id: BodyId, wrench: &Wrench) -> f64 {
    twist_of(model, v, id).map_or(0.0, |twist| wrench.power(&twist))
}
