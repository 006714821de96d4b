//! Scratch memory of a step. It may be dropped between steps without changing any result.

use nalgebra::Vector3;
use stiction_complementarity::{FrictionProblem, FrictionSolution, Law, MixedLcp, MixedLcpSolution, SparseMatrix};
use stiction_geometry::{ContactPoint, Pose, broad_phase::Aabb};
use stiction_multibody::{Configuration, JointId, Model, ShapeId, State, Wrench};

use crate::{
    Contact, ContactReport, Event, ImpactReport, Layout, Scheme, SupportPointContact, SupportPointReport,
    corners::{Chain, Disjunction, Gaps},
    formulation::StepProblem,
    impact::ImpactLoads,
    implicit::ImplicitNewton,
    joint_space::{Driven, JointSpaceRow},
    layers::{Depths, Surface},
    reduced::Reduced,
    rows::JointRow,
    stabilise::AfterStep,
};

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

/// What acts at a contact over the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactImpulse {
    /// Normal impulse, N s.
    pub normal: f64,
    /// Friction impulse on the second body, world axes, N s.
    pub friction: Vector3<f64>,
    /// Torsional friction impulse on the second body about the normal, N m s.
    pub spin: f64,
    /// Multiplier σ where the problem has one, m/s.
    pub sigma: f64,
}

impl ContactImpulse {
    /// What acts together with another impulse.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            normal: self.normal + other.normal,
            friction: self.friction + other.friction,
            spin: self.spin + other.spin,
            sigma: self.sigma,
        }
    }
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
    /// The velocity the step starts with: that of the state, or the one after an impact by Poisson's hypothesis.
    pub(crate) before: Vec<f64>,
    /// v̂: constraints are linearised at q ⊕ h v̂. Empty stands for zero: at the start of the step.
    pub(crate) linearisation_velocity: Vec<f64>,
    /// The coordinates q ⊕ h v̂.
    pub(crate) predicted: Vec<f64>,
    /// How heavy bodies are in the problem, as a share of their mass, where that is not 1: the proximal weight ε.   [QS-2]
    pub(crate) proximal_weight: Option<f64>,
    /// Rows of δ that have to vanish, to see whether a quasistatic motion is unique.   [QS-6]
    pub(crate) balance_rows: Vec<f64>,
    /// Applied wrenches of all bodies.
    pub(crate) applied: Vec<Wrench>,
    /// How far each body can reach within the step.
    pub(crate) reach: Vec<f64>,
    /// Bodies at q ⊖ h v and at q ⊕ h v, for Baumgarte's equation.
    pub(crate) behind: Configuration,
    pub(crate) ahead: Configuration,
    /// The memory of corrections after the step.
    pub(crate) after: Option<Box<AfterStep>>,
    /// The memory of Newton's method for implicit steps.
    pub(crate) newton: Option<Box<ImplicitNewton>>,
    /// Diagonal of the joint rows: how far each gives way under a unit impulse. Empty in a step, where joints are rigid.
    pub(crate) compliance: Vec<f64>,
    /// Poses of all shapes where pairs of them were looked for last, and their boxes.
    pub(crate) shape_poses: Vec<Pose>,
    pub(crate) boxes: Vec<Option<Aabb>>,
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) points: Vec<ContactPoint>,
    pub(crate) points_start: Vec<ContactPoint>,
    /// Potential contacts in the order of their ids.
    pub contacts: Vec<Contact>,
    /// Feet of supported bodies, in the order of the model.
    pub support_points: Vec<SupportPointContact>,
    /// The surfaces of compliant layers, in the order of `contacts`.   [SOFT-3]
    pub(crate) surfaces: Vec<Surface>,
    /// Where the laws of layers are linearised in this pass and in the next, in steps by mean velocities.   [SOFT-7]
    pub(crate) depths: Depths,
    pub(crate) next_depths: Depths,
    /// Contacts that were left out of the problem because it is solved without them; empty after the step.   [STEP-15]
    pub(crate) working_set: Vec<Contact>,
    pub(crate) urgencies: Vec<f64>,
    /// Where chains of alternatives exist: all contacts, of which `contacts` holds the chosen ones. Empty otherwise.
    pub(crate) candidates: Vec<Contact>,
    pub(crate) chains: Vec<Chain>,
    pub(crate) chain_members: Vec<usize>,
    pub(crate) corner_gaps: Gaps,
    /// Pairs of shapes, as places in the model, that are looked at vertex by vertex in this step.   [CORNER-5]
    pub(crate) close_pairs: Vec<(ShapeId, ShapeId)>,
    pub(crate) disjunction: Disjunction,
    /// Joint rows with their constants.
    pub joint_rows: Vec<JointRow>,
    /// Whether the problem of the step is `cone`; otherwise it is `mixed`.
    pub(crate) quadratic: bool,
    /// Friction directions of all contacts, then of all feet.
    pub(crate) directions: Vec<Vector3<f64>>,
    /// Where things stand in the mixed problem.
    pub layout: Layout,
    pub(crate) mixed: MixedLcp,
    pub(crate) joint_jacobian: SparseMatrix,
    pub(crate) joint_jacobian_transposed: SparseMatrix,
    pub(crate) mixed_solution: MixedLcpSolution,
    pub(crate) cone: FrictionProblem,
    pub(crate) cone_guess: FrictionSolution,
    pub(crate) cone_solution: FrictionSolution,
    pub(crate) laws: Vec<Law>,
    /// The unit of mass in `mixed` and `cone`, kg.
    pub(crate) mass_unit: f64,
    /// Block column of each body in `cone`.
    pub(crate) block_of_body: Vec<usize>,
    pub(crate) block: Vec<f64>,
    /// v + h M⁻¹ (λ_app + λ_vp), and how far the normals of feet fall.   [SUP-4]
    pub(crate) free_velocity: Vec<f64>,
    /// In reduced coordinates: how fast the bodies are with v_free, where the constraints are linearised.
    pub(crate) free_bodies: Vec<f64>,
    /// The forest, where the step is made in its coordinates.
    pub(crate) reduced: Option<Box<Reduced>>,
    /// Freedoms along which something acts, and their rows.
    pub(crate) driven: Vec<Driven>,
    pub(crate) joint_space_rows: Vec<JointSpaceRow>,
    /// What acts in each of these rows.
    pub(crate) joint_space_impulses: Vec<f64>,
    /// Whether the problem asks for all limits of joints, and not only for those within reach.
    pub(crate) all_limits: bool,
    /// v⁺.
    pub velocity: Vec<f64>,
    /// The velocity that moves the bodies: v⁺, or the mean of v and v⁺.   [SOFT-6]
    pub(crate) moving: Vec<f64>,
    /// p_b, row by row; in reduced coordinates of the loops only, and [`crate::joint_impulses`] knows all.
    pub joint_impulses: Vec<f64>,
    /// The time over which the last solved problem balances momentum; zero while there is none.
    pub(crate) balanced_over: f64,
    /// What acts at each of `contacts`.
    pub contact_impulses: Vec<ContactImpulse>,
    /// What acts at each of `feet`.
    pub support_impulses: Vec<ContactImpulse>,
    /// What the feet did in the last step.
    pub support_reports: Vec<SupportPointReport>,
    /// What the contacts did in the last step.
    pub contact_reports: Vec<ContactReport>,
    /// Impacts by Poisson's hypothesis at the start of the last step.
    pub impacts: Vec<ImpactReport>,
    /// What these asked of joints.
    pub(crate) impact_loads: ImpactLoads,
    /// Impulses without collision in the last step, where no forces exist (Painlevé); only the reference stepper knows them.
    pub shocks: usize,
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

    /// The bodies at the start of the last step.
    pub fn started(&self) -> &Configuration {
        &self.start
    }

    /// What rows along freedoms did in the last step (limits, dry friction, clamped motors, couplings), each with its joint, N s or N m s.
    pub fn joint_space_impulses(&self) -> impl Iterator<Item = (JointId, f64)> + '_ {
        self.joint_space_rows.iter().map(|row| row.joint).zip(self.joint_space_impulses.iter().copied())
    }

    /// The problem of the last step, solved or not.
    pub fn problem(&self) -> StepProblem<'_> {
        if self.quadratic { StepProblem::Friction(&self.cone) } else { StepProblem::Mixed(&self.mixed) }
    }

    /// Overwrites the numbers left in scratch memory with NaN. The next step must not notice.
    pub fn poison(&mut self) {
        let numbers = [
            &mut self.predicted,
            &mut self.reach,
            &mut self.mixed_solution.free,
            &mut self.mixed_solution.complementary,
            &mut self.cone_guess.r,
            &mut self.cone_solution.r,
            &mut self.free_velocity,
            &mut self.free_bodies,
            &mut self.velocity,
            &mut self.moving,
            &mut self.joint_impulses,
            &mut self.joint_space_impulses,
            &mut self.linearisation_velocity,
            &mut self.before,
            &mut self.next.q,
            &mut self.next.v,
            &mut self.next.support_impulses,
            &mut self.mixed.equality.constant,
            &mut self.mixed.complementarity.constant,
        ];
        numbers.into_iter().flatten().for_each(|x| *x = f64::NAN);
        self.directions.iter_mut().for_each(|d| *d = Vector3::repeat(f64::NAN));
        self.applied.iter_mut().for_each(|w| *w = Wrench::of_torque(Vector3::repeat(f64::NAN)));
        self.contacts.iter_mut().for_each(|c| c.gap_end = f64::NAN);
        self.support_points.iter_mut().for_each(|support_point| support_point.load = f64::NAN);
        self.surfaces.iter_mut().for_each(|surface| surface.free = Vector3::repeat(f64::NAN));
        self.depths.iter_mut().for_each(|(_, x)| *x = f64::NAN);
        if let Some(after) = &mut self.after {
            after.poison();
        }
        if let Some(reduced) = &mut self.reduced {
            reduced.poison();
        }
    }
}
