//! Scratch memory of a step. It may be dropped between steps without changing any result.

use nalgebra::Vector3;
use stiction_complementarity::{MixedLcp, MixedLcpSolution, SparseMatrix};
use stiction_geometry::{
    ContactPoint, Scratch,
    broad_phase::{Aabb, BroadPhase},
};
use stiction_multibody::{Configuration, Model, State, Wrench};

use crate::{Contact, ContactReport, Event, Layout, Scheme};

/// What a step starts from.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The system.
    pub model: &'a Model,
    /// How the step is discretised.
    pub scheme: &'a Scheme,
    /// Where the system is.
    pub state: &'a State,
    /// The step size h, s.
    pub h: f64,
}

/// Everything a step needs besides model, scheme and state. The next step needs nothing of it but
/// memory; the reports, events and impulses of the last step stay readable until then.
#[derive(Default)]
pub struct Workspace {
    /// Bodies at q and v, all at the start time.
    pub start: Configuration,
    /// Bodies where the constraints are linearised, prescribed ones at the start time.
    pub(crate) linear_start: Configuration,
    /// The same with prescribed bodies at the end time.
    pub(crate) linear_end: Configuration,
    /// Predicted coordinates q + h v.
    pub(crate) predicted: Vec<f64>,
    /// Applied wrenches of all bodies.
    pub(crate) applied: Vec<Wrench>,
    /// How far each body can reach within the step.
    pub(crate) reach: Vec<f64>,
    pub(crate) boxes: Vec<Option<Aabb>>,
    pub(crate) broad_phase: BroadPhase,
    pub(crate) narrow: Scratch,
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) points: Vec<ContactPoint>,
    pub(crate) points_start: Vec<ContactPoint>,
    /// Potential contacts in the order of their ids.
    pub contacts: Vec<Contact>,
    /// Friction directions of all contacts.
    pub directions: Vec<Vector3<f64>>,
    /// Where things stand in the problem.
    pub layout: Layout,
    /// The problem of the step.
    pub problem: MixedLcp,
    pub(crate) joint_jacobian: SparseMatrix,
    pub(crate) joint_jacobian_transposed: SparseMatrix,
    /// Its solution.
    pub solution: MixedLcpSolution,
    /// What the contacts did in the last step.
    pub contact_reports: Vec<ContactReport>,
    /// Contact transitions of the last step.
    pub events: Vec<Event>,
    /// The state being made.
    pub next: State,
    /// Bodies at the state being made.
    pub end: Configuration,
}

impl Workspace {
    /// The bodies where the constraints of the last step were linearised.
    pub fn linearised(&self) -> &Configuration {
        &self.linear_end
    }

    /// Overwrites the numbers left in scratch memory with NaN. The next step must not notice.
    pub fn poison(&mut self) {
        let numbers = [
            &mut self.predicted,
            &mut self.reach,
            &mut self.solution.free,
            &mut self.solution.complementary,
            &mut self.next.q,
            &mut self.next.v,
            &mut self.problem.equality.constant,
            &mut self.problem.complementarity.constant,
        ];
        numbers.into_iter().flatten().for_each(|x| *x = f64::NAN);
        self.directions.iter_mut().for_each(|d| *d = Vector3::repeat(f64::NAN));
        self.applied.iter_mut().for_each(|w| *w = Wrench::of_torque(Vector3::repeat(f64::NAN)));
        self.contacts.iter_mut().for_each(|c| c.gap_end = f64::NAN);
    }
}
