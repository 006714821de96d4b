//! Newton's method for the implicit step, semismooth through the maps of Alart and Curnier.   [GIM-3]

use std::ops::Range;

use stiction_complementarity::{Delassus, interrupt};
use stiction_geometry::implicit;
use stiction_multibody::{ContactId, Model};

use super::contacts::{ContactGeometry, TrackedContact};
use super::iterate::{Fixed, Iterate, bodies};
use super::matrix::NewtonMatrix;
use super::points::Points;
use crate::{Contact, Start, Workspace, formulation};

/// Largest number of Newton steps before the next rung.
const MAX_STEPS: u32 = 25;

/// Residual at which the rows are solved, relative to the largest velocity or to 1 m/s.
const TARGET: f64 = 1e-13;

/// Multiple of the target up to which the remaining residual may be rounding.
const ROUNDING: f64 = 1e3;

/// Number of merit values that the nonmonotone line search compares with.
const MERIT_MEMORY: usize = 4;

/// Smallest fraction of a Newton step that is tried.
const MIN_STEP_FRACTION: f64 = 1.0 / 64.0;

/// Newton's method with its memory. It carries no state from one step to the next.
#[derive(Default)]
pub(crate) struct ImplicitNewton {
    here: Iterate,
    trial: Iterate,
    fixed: Fixed,
    matrix: NewtonMatrix,
    direction: Vec<f64>,
    /// Contacts of the last run, and their rows among those of all contacts.
    ids: Vec<ContactId>,
    rows: Vec<Range<usize>>,
    scratch: implicit::Scratch,
    is_first_pass: bool,
    iterations: u32,
}

impl ImplicitNewton {
    /// v⁺, and the velocities of auxiliary masses.
    pub(crate) fn velocity(&self) -> &[f64] {
        &self.here.v
    }

    /// Newton steps of the last run.
    pub(crate) fn iterations(&self) -> u32 {
        self.iterations
    }

    /// Continues from the solution of the linearised step in the workspace. Returns false if that fails; the iterate is then the linearised
    /// solution itself.
    ///
    /// From the second pass on a feature may have changed, and pairs of shapes with one contact are tracked by their closest points.
    pub(crate) fn solve(&mut self, start: &Start, pass: u32, ws: &Workspace) -> bool {
        self.iterations = 0;
        self.is_first_pass = pass <= 1;
        let solved = self.load(start.model, ws) && self.track_contacts(start, ws) && self.run_newton(start, ws);
        let solved =
            solved || (self.load(start.model, ws) && self.add_point_unknowns(start, ws) && self.run_newton(start, ws));
        if !solved {
            self.load(start.model, ws);
        }
        solved
    }

    /// Makes the closest points of smooth shapes unknowns; false if there are none.   [GIM-7]
    fn add_point_unknowns(&mut self, start: &Start, ws: &Workspace) -> bool {
        if !self.track_contacts(start, ws) {
            return false;
        }
        for tracked in &self.here.tracked {
            let ContactGeometry::Smooth(closest) = &tracked.geometry else {
                self.fixed.points.push(None);
                continue;
            };
            let points = Points::new(self.here.z.len(), start.model.dimension(), closest);
            points.push_start(closest, &mut self.here.z);
            self.fixed.points.push(Some(points));
        }
        !self.here.z.is_empty()
    }

    fn run_newton(&mut self, start: &Start, ws: &Workspace) -> bool {
        self.here.evaluate(start, &self.fixed, ws);
        self.trial.make_room(&self.here);
        let speed = self.here.v.iter().fold(1.0_f64, |most, v| most.max(v.abs()));
        let target = TARGET * speed;
        let mut recent = [self.here.merit; MERIT_MEMORY];
        let last = self.iterations + MAX_STEPS;
        while self.error() > target {
            if self.iterations >= last || !self.here.merit.is_finite() || interrupt::is_requested() {
                return false;
            }
            recent[self.iterations as usize % MERIT_MEMORY] = self.here.merit;
            self.iterations += 1;
            let system = self.matrix.fill(start, ws, &self.fixed, &self.here);
            if system.factor().is_err() {
                return false;
            }
            system.solve(&self.here.f, &mut self.direction);
            let allowed = recent.iter().fold(0.0_f64, |most, merit| most.max(*merit));
            let before = self.error();
            if !self.search(start, ws, allowed) {
                // At the level of rounding the residual does not decrease any more.
                return before <= ROUNDING * target;
            }
        }
        true
    }

    /// True if every contact that carries an impulse is among those of the workspace. An impulse without a contact is missing in the momentum there.
    pub(crate) fn finds_loaded_contacts(&self, model: &Model, ws: &Workspace) -> bool {
        let now = &ws.constraints.contacts;
        let found = |id: &ContactId| {
            let is_of_pair = |other: &ContactId| (other.shape_a, other.shape_b) == (id.shape_a, id.shape_b);
            let of_pair = || now.iter().filter(|contact| is_of_pair(&contact.id));
            now.binary_search_by_key(id, |contact| contact.id).is_ok()
                || (of_pair().count() == 1 && self.ids.iter().filter(|other| is_of_pair(other)).count() == 1)
        };
        let first = model.joint_rows();
        let is_loaded = |rows: &Range<usize>| self.here.r.get(first + rows.start).is_some_and(|normal| *normal != 0.0);
        self.ids.iter().zip(&self.rows).all(|(id, rows)| !is_loaded(rows) || found(id))
    }

    /// Writes the impulses as the solution of the problem in the workspace, contact by contact. New contacts have zero impulses.
    pub(crate) fn write_impulses(&self, model: &Model, ws: &mut Workspace) {
        let r = &mut ws.friction.solution.r;
        r.clear();
        let (joints, rest) = self.here.r.split_at(model.joint_rows().min(self.here.r.len()));
        r.extend(joints);
        let laws = ws.friction.problem.laws().iter().skip(model.joints().len());
        for (contact, law) in ws.constraints.contacts.iter().zip(laws) {
            let first = r.len();
            if let Some(rows) = self.rows_of(contact.id, &ws.constraints.contacts) {
                debug_assert!(rows.end <= rest.len(), "the rows of a contact are within the impulses");
                r.extend(rest.get(rows).unwrap_or_default());
            }
            r.resize(first + law.rows(), 0.0);
        }
        // Support points and cores.
        let contacts = self.rows.last().map_or(0, |rows| rows.end);
        r.extend(rest.get(contacts..).unwrap_or_default());
        r.resize(ws.friction.problem.rows(), 0.0);
    }

    /// Rows of a contact among those of all contacts: those of the same id, or those of the only contact of its two shapes, whose feature
    /// may have changed within the step.
    fn rows_of(&self, id: ContactId, now: &[Contact]) -> Option<Range<usize>> {
        let is_of_pair = |other: &ContactId| (other.shape_a, other.shape_b) == (id.shape_a, id.shape_b);
        let place = self.ids.binary_search(&id).ok().or_else(|| {
            let is_only = now.iter().filter(|contact| is_of_pair(&contact.id)).count() == 1;
            let mut before = self.ids.iter().enumerate().filter(|(_, other)| is_of_pair(other));
            let (place, _) = before.next()?;
            (is_only && before.next().is_none()).then_some(place)
        })?;
        self.rows.get(place).cloned()
    }

    fn error(&self) -> f64 {
        self.here.f.iter().fold(0.0_f64, |most, f| most.max(f.abs()))
    }

    /// Copies velocities and impulses from the linearised step.
    fn load(&mut self, model: &Model, ws: &Workspace) -> bool {
        self.ids.clear();
        self.ids.extend(ws.constraints.contacts.iter().map(|contact| contact.id));
        self.rows.clear();
        let laws = ws.friction.problem.laws().iter().skip(model.joints().len());
        let mut next = 0;
        self.rows.extend(laws.take(ws.constraints.contacts.len()).map(|law| {
            next += law.rows();
            next - law.rows()..next
        }));
        let Some(bodies) = bodies(ws) else { return false };
        self.here.r.clone_from(&ws.friction.solution.r);
        bodies.begin(&self.here.r, &mut self.here.v);
        debug_assert_eq!(self.here.v.len(), ws.friction.free_velocity.len(), "every velocity has its free part");
        self.here.v.iter_mut().zip(&ws.friction.free_velocity).for_each(|(v, free)| *v += free);
        true
    }

    /// Copies contacts and support points from the linearised step; false if a contact cannot be tracked.
    fn track_contacts(&mut self, start: &Start, ws: &Workspace) -> bool {
        self.here.tracked.clear();
        self.here.z.clear();
        self.fixed.points.clear();
        for contact in &ws.constraints.contacts {
            let is_single = !self.is_first_pass && is_alone(contact, &ws.constraints.contacts);
            let Some(tracked) = TrackedContact::new(start, (contact, is_single), ws, &mut self.scratch) else {
                return false;
            };
            self.here.tracked.push(tracked);
        }
        self.trial.tracked.clone_from(&self.here.tracked);
        for iterate in [&mut self.here, &mut self.trial] {
            iterate.contacts.clone_from(&ws.constraints.contacts);
            iterate.support_points.clone_from(&ws.constraints.support_points);
        }
        self.set_scaling(start, ws);
        true
    }

    /// Sets ρ = 1/W of each block, one number for the normal and one for all tangents, and the constant terms of rows with auxiliary masses.
    fn set_scaling(&mut self, start: &Start, ws: &Workspace) {
        let Fixed { rho, extra, .. } = &mut self.fixed;
        rho.clear();
        extra.clear();
        extra.resize(ws.friction.problem.rows(), 0.0);
        let mut w = [0.0; 36];
        for (block, law) in ws.friction.problem.laws().iter().enumerate() {
            let n = law.rows();
            let w = &mut w[..n * n];
            ws.friction.problem.operator().diagonal(block, w);
            let inverse = |k: usize| if w[k * (n + 1)] > 0.0 { 1.0 / w[k * (n + 1)] } else { 1.0 };
            let tangential = (1..n).map(inverse).fold(f64::INFINITY, f64::min);
            let is_joint = block < start.model.joints().len();
            rho.extend((0..n).map(|k| if k == 0 || is_joint { inverse(k) } else { tangential }));
        }
        debug_assert_eq!(rho.len(), ws.friction.problem.rows(), "every row of a law has a scaling");
        formulation::layer_constant_terms(start, ws, extra);
        let first = start.model.joints().len();
        self.fixed.laws.clear();
        self.fixed.laws.extend((0..ws.constraints.contacts.len()).map(|index| (index, first + index)));
        let cores = ws.constraints.layer_surfaces.iter().filter(|surface| surface.core_bias.is_some());
        for (block, surface) in
            (first + ws.constraints.contacts.len() + ws.constraints.support_points.len()..).zip(cores)
        {
            self.fixed.laws.push((surface.contact, block));
            let depth =
                ws.constraints.contacts.get(surface.contact).and_then(|contact| contact.layer?.depth).unwrap_or(0.0);
            if let Some(extra) = self.fixed.extra.get_mut(ws.friction.problem.range(block).start) {
                *extra += depth / start.h;
            }
        }
    }

    /// Backtracking line search from the full step; false if no step brings the merit below `allowed`.
    fn search(&mut self, start: &Start, ws: &Workspace, allowed: f64) -> bool {
        let (n_v, mut fraction) = (self.here.v.len(), 1.0);
        while fraction >= MIN_STEP_FRACTION {
            debug_assert_eq!(self.direction.len(), self.here.f.len(), "a Newton step has all unknowns");
            let (on_v, rest) = self.direction.split_at(n_v);
            let (on_r, on_z) = rest.split_at(self.here.r.len());
            self.trial.z.clear();
            self.trial.z.extend(self.here.z.iter().zip(on_z).map(|(z, d)| z - fraction * d));
            self.trial.v.clear();
            self.trial.v.extend(self.here.v.iter().zip(on_v).map(|(v, d)| v - fraction * d));
            self.trial.r.clear();
            self.trial.r.extend(self.here.r.iter().zip(on_r).map(|(r, d)| r - fraction * d));
            self.trial.evaluate(start, &self.fixed, ws);
            if self.trial.merit < allowed * (1.0 - 1e-4 * fraction) {
                std::mem::swap(&mut self.here, &mut self.trial);
                return true;
            }
            fraction *= 0.5;
        }
        false
    }
}

/// True if a contact is the only one of its two shapes.
fn is_alone(contact: &Contact, contacts: &[Contact]) -> bool {
    let pair = (contact.id.shape_a, contact.id.shape_b);
    contacts.iter().filter(|other| (other.id.shape_a, other.id.shape_b) == pair).count() == 1
}

#[cfg(test)]
impl ImplicitNewton {
    /// Largest difference between the matrix and central differences at these impulses, relative to the size of its column, with the number
    /// of rows.
    pub(super) fn derivative_error(&mut self, start: &Start, ws: &Workspace, points: bool) -> (f64, usize) {
        assert!(self.load(start.model, ws) && self.track_contacts(start, ws), "every contact can be tracked");
        if points {
            assert!(self.add_point_unknowns(start, ws), "there are smooth contacts");
        }
        self.here.evaluate(start, &self.fixed, ws);
        let matrix = self.matrix.fill(start, ws, &self.fixed, &self.here).dense();
        let (n_v, n_r, n) = (self.here.v.len(), self.here.r.len(), self.here.f.len());
        let mut worst = 0.0_f64;
        for column in 0..n {
            let mut at = |change: f64| {
                self.trial.v.clone_from(&self.here.v);
                self.trial.r.clone_from(&self.here.r);
                self.trial.z.clone_from(&self.here.z);
                match column {
                    _ if column < n_v => self.trial.v[column] += change,
                    _ if column < n_v + n_r => self.trial.r[column - n_v] += change,
                    _ => self.trial.z[column - n_v - n_r] += change,
                }
                self.trial.evaluate(start, &self.fixed, ws);
                self.trial.f.clone()
            };
            let step = 1e-5;
            let (f1, f2, f3, f4) = (at(step), at(-step), at(2.0 * step), at(-2.0 * step));
            let size = (0..n).fold(1.0_f64, |size, row| size.max(matrix.row(row)[column].abs()));
            for row in 0..n {
                let difference = (8.0 * (f1[row] - f2[row]) - (f3[row] - f4[row])) / (12.0 * step);
                let error = (difference - matrix.row(row)[column]).abs() / size;
                worst = worst.max(error);
            }
        }
        (worst, n)
    }
}
