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
    joint_space::{ActuatedDof, JointSpaceRow},
    layers::{Depths, Surface},
    reduced::Reduced,
    rows::JointRow,
    stabilise::AfterStep,
};

/// Inputs of a step: model, scheme, state and step size.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Model of the system.
    pub model: &'a Model,
    /// Discretisation of the step.
    pub scheme: &'a Scheme,
    /// State at the start of the step.
    pub state: &'a State,
    /// Step size h, s.
    pub h: f64,
}

/// Impulse at a contact over the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactImpulse {
    /// Normal impulse, N s.
    pub normal: f64,
    /// Friction impulse on the second body, world axes, N s.
    pub friction: Vector3<f64>,
    /// Torsional friction impulse on the second body about the normal, N m s.
    pub spin: f64,
    /// Moment of rolling friction on the second body, world axes, N m s.
    pub rolling: Vector3<f64>,
    /// Multiplier σ, m/s; zero if the problem has none.
    pub sigma: f64,
}

impl ContactImpulse {
    /// Sum with another impulse.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            normal: self.normal + other.normal,
            friction: self.friction + other.friction,
            spin: self.spin + other.spin,
            rolling: self.rolling + other.rolling,
            sigma: self.sigma,
        }
    }
}

/// Scratch memory and results of a step, besides model, scheme and state.
///
/// The next step depends on none of its values. The reports, events and impulses of the last step stay readable until then.
#[derive(Default)]
pub struct Workspace {
    /// Configuration of all bodies at q, v and the start time.
    pub start: Configuration,
    /// Configuration where the constraints are linearised, with prescribed bodies at the start time.
    pub(crate) linear_start: Configuration,
    /// Configuration where the constraints are linearised, with prescribed bodies at the end time.
    pub(crate) linear_end: Configuration,
    /// Velocity v at the start of the step, of all bodies: that of the state, or the one after an impact by Poisson's hypothesis.
    pub(crate) before: Vec<f64>,
    /// Linearisation velocity v̂: constraints are linearised at q ⊕ h v̂. An empty list means zero, that is the start of the step.
    pub(crate) linearisation_velocity: Vec<f64>,
    /// Coordinates q ⊕ h v̂.
    pub(crate) predicted: Vec<f64>,
    /// Proximal mass fraction ε: factor on all masses in the problem; none means 1.   [QS-2]
    pub(crate) proximal_mass_fraction: Option<f64>,
    /// Rows of δ that must vanish, for the uniqueness check of a quasistatic motion.   [QS-6]
    pub(crate) balance_rows: Vec<f64>,
    /// Applied wrenches of all bodies.
    pub(crate) applied: Vec<Wrench>,
    /// Distance that each body can move within the step, m.
    pub(crate) reach: Vec<f64>,
    /// Configurations at q ⊖ h v and at q ⊕ h v, for Baumgarte's equation.
    pub(crate) behind: Configuration,
    pub(crate) ahead: Configuration,
    /// Memory of corrections after the step.
    pub(crate) after: Option<Box<AfterStep>>,
    /// Memory of Newton's method for implicit steps.
    pub(crate) newton: Option<Box<ImplicitNewton>>,
    /// Compliance of the joint rows (diagonal). It is empty in a step, where joints are rigid.
    pub(crate) compliance: Vec<f64>,
    /// Poses of all shapes at the last search for pairs, and their bounding boxes.
    pub(crate) shape_poses: Vec<Pose>,
    pub(crate) boxes: Vec<Option<Aabb>>,
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) points: Vec<ContactPoint>,
    pub(crate) points_start: Vec<ContactPoint>,
    /// Potential contacts in the order of their ids.
    pub contacts: Vec<Contact>,
    /// Support points of supported bodies, in the order of the model.
    pub support_points: Vec<SupportPointContact>,
    /// Surfaces of compliant layers, in the order of `contacts`.   [SOFT-3]
    pub(crate) surfaces: Vec<Surface>,
    /// Depths at which the laws of layers are linearised in this pass and in the next, in steps by mean velocities.   [SOFT-7]
    pub(crate) depths: Depths,
    pub(crate) next_depths: Depths,
    /// Contacts outside the working set, removed by constraint screening; empty after the step.   [STEP-15]
    pub(crate) screened: Vec<Contact>,
    /// Fractions of h after which contacts close, sorted; scratch memory of constraint screening.
    pub(crate) closing_fractions: Vec<f64>,
    /// All contacts, of which `contacts` holds the chosen ones; empty if there are no chains of alternatives.
    pub(crate) candidates: Vec<Contact>,
    pub(crate) chains: Vec<Chain>,
    pub(crate) chain_members: Vec<usize>,
    pub(crate) corner_gaps: Gaps,
    /// Pairs of shapes whose contacts are found vertex by vertex in this step.   [CORNER-5]
    pub(crate) close_pairs: Vec<(ShapeId, ShapeId)>,
    pub(crate) disjunction: Disjunction,
    /// Joint rows with their biases.
    pub joint_rows: Vec<JointRow>,
    /// True if the problem of the step is `cone`; otherwise it is `mixed`.
    pub(crate) quadratic: bool,
    /// Friction directions of all contacts, then of all support points.
    pub(crate) directions: Vec<Vector3<f64>>,
    /// Sizes of the blocks of the mixed problem.
    pub layout: Layout,
    pub(crate) mixed: MixedLcp,
    pub(crate) joint_jacobian: SparseMatrix,
    pub(crate) joint_jacobian_transposed: SparseMatrix,
    pub(crate) mixed_solution: MixedLcpSolution,
    pub(crate) cone: FrictionProblem,
    pub(crate) cone_guess: FrictionSolution,
    pub(crate) cone_solution: FrictionSolution,
    pub(crate) laws: Vec<Law>,
    /// Unit of mass in `mixed` and `cone`, kg.
    pub(crate) mass_unit: f64,
    /// Block column of each body in `cone`.
    pub(crate) block_of_body: Vec<usize>,
    pub(crate) block: Vec<f64>,
    /// Free velocities v + h M⁻¹ (λ_app + λ_vp), then those of auxiliary masses.   [SUP-4]
    pub(crate) free_velocity: Vec<f64>,
    /// Velocities of the bodies that belong to v_free of the forest, where the constraints are linearised; in reduced coordinates only.
    pub(crate) free_bodies: Vec<f64>,
    /// Scratch of the forest, in reduced coordinates.
    pub(crate) reduced: Option<Box<Reduced>>,
    /// Actuated joint DOFs and their joint-space rows.
    pub(crate) actuated: Vec<ActuatedDof>,
    pub(crate) joint_space_rows: Vec<JointSpaceRow>,
    /// Impulse of each joint-space row.
    pub(crate) joint_space_impulses: Vec<f64>,
    /// True if the problem contains all joint limits, not only those within reach.
    pub(crate) all_limits: bool,
    /// Velocities v⁺ at the end of the step.
    pub velocity: Vec<f64>,
    /// Velocity that moves the bodies: v⁺, or the mean of v and v⁺.   [SOFT-6]
    pub(crate) moving: Vec<f64>,
    /// Impulses p_b of all joint rows.
    ///
    /// In reduced coordinates only those of loops are set; [`crate::joint_impulses`] computes all.
    pub joint_impulses: Vec<f64>,
    /// Step size over which the impulses of the last solved problem balance the change of momentum, s; zero if there is none.
    pub(crate) balanced_over: f64,
    /// Impulse at each of `contacts`.
    pub contact_impulses: Vec<ContactImpulse>,
    /// Impulse at each of `support_points`.
    pub support_impulses: Vec<ContactImpulse>,
    /// Reports of the support points of the last step.
    pub support_reports: Vec<SupportPointReport>,
    /// Reports of the contacts of the last step.
    pub contact_reports: Vec<ContactReport>,
    /// Impacts by Poisson's hypothesis at the start of the last step.
    pub impacts: Vec<ImpactReport>,
    /// Reactions of joints to these impacts.
    pub(crate) impact_loads: ImpactLoads,
    /// Number of impulses without collision in the last step, where no forces exist (Painlevé). Only the reference stepper sets it.
    pub shocks: usize,
    /// Contact transitions of the last step.
    pub events: Vec<Event>,
    /// State at the end of the step.
    pub next: State,
    /// Configuration at the end of the step.
    pub end: Configuration,
}

impl Workspace {
    /// Configuration where the constraints of the last step were linearised.
    pub fn linearised(&self) -> &Configuration {
        &self.linear_end
    }

    /// Configuration at the start of the last step.
    pub fn started(&self) -> &Configuration {
        &self.start
    }

    /// Impulses of joint-space rows in the last step (limits, dry friction, clamped motors, couplings), each with its joint, N s or N m
    /// s.
    pub fn joint_space_impulses(&self) -> impl Iterator<Item = (JointId, f64)> + '_ {
        self.joint_space_rows.iter().map(|row| row.joint).zip(self.joint_space_impulses.iter().copied())
    }

    /// Problem of the last step, solved or not.
    pub fn problem(&self) -> StepProblem<'_> {
        if self.quadratic { StepProblem::Friction(&self.cone) } else { StepProblem::Mixed(&self.mixed) }
    }

    /// Overwrites the values in scratch memory with NaN, to test that the next step does not depend on them.
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
