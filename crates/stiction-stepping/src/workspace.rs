//! Scratch memory of a step. It may be dropped between steps without changing any result.

use nalgebra::{Matrix6, Vector3};
use stiction_complementarity::{FrictionProblem, FrictionSolution, MixedLcp, MixedLcpSolution};
use stiction_geometry::{ContactPoint, Pose, broad_phase::Aabb};
use stiction_multibody::{Configuration, ContactId, JointId, ShapeId, State, Wrench};

use crate::{
    ContactImpulse, ContactReport, Event, ImpactReport, Scheme, SupportPointReport,
    alternatives::Alternatives,
    assembly::{FrictionAssembly, MixedAssembly, Screening, StepProblem},
    constraints::Constraints,
    linkage_energies::LoopEnergies,
    rates::RowOwner,
    reduced::Reduced,
};

/// Values of a step, stage by stage, besides model, scheme and state. Each stage owns its results and its scratch memory.
///
/// The next step depends on none of them. The result of the last step stays readable until then.
#[derive(Default)]
pub struct Workspace {
    /// Motion at the start of the step and where the constraints are linearised.
    pub kinematics: StepKinematics,
    /// Pairs of shapes near each other.
    pub detection: Detection,
    /// Constraints of the step.
    pub constraints: Constraints,
    /// Contacts that are alternatives of each other.
    pub alternatives: Alternatives,
    /// Contacts outside the working set.
    pub(crate) screening: Screening,
    /// State of reduced coordinates: velocity-level scratch of the forest; none in maximal coordinates.
    pub(crate) reduced: Option<Box<Reduced>>,
    /// Velocities of the bodies that belong to v_free of the forest, where the constraints are linearised; in reduced coordinates only.
    pub(crate) free_body_velocities: Vec<f64>,
    /// Proximal mass fraction ε: factor on all masses in the problem; none means 1.   [QS-2]
    pub(crate) proximal_mass_fraction: Option<f64>,
    /// Unit of mass in the problem, kg.
    pub mass_unit: f64,
    /// True if the problem of the step is that of `friction`, with second-order cones or with equalities alone; otherwise it is that of `mixed`.
    pub is_friction_problem: bool,
    /// Problem with linear friction sets.
    pub mixed: MixedAssembly,
    /// Problem with second-order cones.
    pub(crate) friction: FrictionAssembly,
    /// Velocities and impulses that solve the problem.
    pub solution: Solution,
    /// Rows of δ that must vanish, for the uniqueness check of a quasistatic motion.   [QS-6]
    pub(crate) balance_rows: Vec<f64>,
    /// Energies of the linkages with loops.   [ROT-6]
    pub(crate) loop_energies: LoopEnergies,
    /// Memory of corrections after the step.
    pub(crate) after: Option<Box<AfterStep>>,
    /// State at the end of the step, reports and events.
    pub result: StepResult,
}

/// Motion at the start of a step and where its constraints are linearised.
#[derive(Default)]
pub struct StepKinematics {
    /// Configuration of all bodies at q, v and the start time.
    pub start: Configuration,
    /// Configuration where the constraints are linearised, with prescribed bodies at the start time.
    pub linear_start: Configuration,
    /// Configuration where the constraints are linearised, with prescribed bodies at the end time.
    pub linear_end: Configuration,
    /// Velocity v at the start of the step, of all bodies: that of the state, or the one after an impact by Poisson's hypothesis. In a quasistatic
    /// step it is v_k, the centre of a proximal-point iteration.
    pub(crate) before: Vec<f64>,
    /// Linearisation velocity v̂: constraints are linearised at q ⊕ h v̂. An empty list means zero, that is the start of the step.
    pub linearisation_velocity: Vec<f64>,
    /// Coordinates q ⊕ h v̂.
    pub predicted: Vec<f64>,
    /// Wrenches λ_app + λ_vp of all bodies; λ_app alone in reduced coordinates, where the equations of the forest contain the velocity products.
    pub applied: Vec<Wrench>,
    /// Gyroscopic torques λ_vp among them; empty in reduced coordinates and for bodies without inertia.   [ROT-2]
    pub gyroscopic: Vec<Vector3<f64>>,
    /// Among them, in the second kick of a step, the impulses of closed contacts in the first, taken back and divided by h; otherwise empty.   [STEP-18]
    pub(crate) withdrawn: Vec<Wrench>,
    /// Configurations here and where rotors get the rates of the kick, each with prescribed bodies at two times; only for rotors with rows.   [JSPACE-10]
    pub(crate) rotors_at: [[Configuration; 2]; 2],
    /// Velocities of the bodies there.
    pub(crate) rotor_velocity: Vec<f64>,
    /// Configurations at q ⊖ h v and at q ⊕ h v, for Baumgarte's equation; in the first kick of a step the second is that of its middle, for dampers.
    pub(crate) behind: Configuration,
    pub(crate) ahead: Configuration,
    /// Velocities of the bodies there, if those of the forest stay the same.
    pub(crate) ahead_velocity: Vec<f64>,
    /// Velocities with which the step closes the errors of joints, for dampers; empty if there are none.   [FORCE-6]
    pub(crate) closing: Vec<f64>,
    /// Damping of all springs and dampers on each body.   [FORCE-4]
    pub(crate) drag: Vec<Matrix6<f64>>,
    /// Mean rates by which the points of springs without rest length leave their tangents.   [FORCE-5]
    pub(crate) bends: Vec<Vector3<f64>>,
}

/// Velocities and impulses that solve the problem of a step.
#[derive(Default)]
pub struct Solution {
    /// Velocities v⁺ at the end of the step.
    pub velocity: Vec<f64>,
    /// Velocity that moves the bodies: v⁺, or the mean of v and v⁺.   [SOFT-6]
    pub(crate) moving: Vec<f64>,
    /// Impulses p_b of all joint rows.
    ///
    /// In reduced coordinates only those of loops are set; [`crate::joint_impulses`] computes all.
    pub joint_impulses: Vec<f64>,
    /// Impulse of each joint-space row.
    pub joint_space_impulses: Vec<f64>,
    /// Impulse at each contact.
    pub contact_impulses: Vec<ContactImpulse>,
    /// Impulse at each support point.
    pub support_impulses: Vec<ContactImpulse>,
    /// Step size over which the impulses of the last solved problem balance the change of momentum, s; zero if there is none.
    pub(crate) balanced_step_size: f64,
    /// Largest slip velocity that the residual of the solution leaves to a contact that sticks, m/s: the natural map of a contact whose impulse is inside its
    /// cone is its velocity. Zero for linear problems, which pivoting solves exactly.
    pub(crate) slip_error: f64,
}

impl Solution {
    /// Slip velocity from which on a contact slips, m/s: one within the error of the solution says nothing.
    pub(crate) fn slip_threshold(&self, scheme: &Scheme) -> f64 {
        scheme.slip_threshold.max(self.slip_error)
    }
}

/// Result of a step.
#[derive(Default)]
pub struct StepResult {
    /// State at the end of the step.
    pub next: State,
    /// Configuration at the end of the step.
    pub end: Configuration,
    /// Reports of the contacts.
    pub contact_reports: Vec<ContactReport>,
    /// Reports of the support points.
    pub support_reports: Vec<SupportPointReport>,
    /// Impacts by Poisson's hypothesis at the start of the step.
    pub impacts: Vec<ImpactReport>,
    /// Reactions of joints to these impacts.
    pub(crate) impact_loads: ImpactLoads,
    /// Number of impulses without collision, where no forces exist (Painlevé). Only the reference stepper sets it.
    pub shocks: usize,
    /// Contact transitions.
    pub events: Vec<Event>,
}

/// Problem of a step, with its warm start and the place of its solution.
pub(crate) enum ProblemToSolve<'a> {
    /// Problem with second-order cones.
    Friction(&'a FrictionProblem, &'a FrictionSolution, &'a mut FrictionSolution),
    /// Problem with linear friction sets.
    Mixed(&'a MixedLcp, &'a mut MixedLcpSolution),
}

impl Workspace {
    /// Problem of the step.
    pub(crate) fn problem_to_solve(&mut self) -> ProblemToSolve<'_> {
        if self.is_friction_problem {
            ProblemToSolve::Friction(&self.friction.problem, &self.friction.guess, &mut self.friction.solution)
        } else {
            ProblemToSolve::Mixed(&self.mixed.problem, &mut self.mixed.solution)
        }
    }

    /// Configuration where the constraints of the last step were linearised.
    pub fn linearised(&self) -> &Configuration {
        &self.kinematics.linear_end
    }

    /// Configuration at the start of the last step.
    pub fn started(&self) -> &Configuration {
        &self.kinematics.start
    }

    /// Impulses of joint-space rows in the last step (limits, dry friction, clamped motors, couplings), each with its joint, N s or N m
    /// s.
    pub fn joint_space_impulses(&self) -> impl Iterator<Item = (JointId, f64)> + '_ {
        self.constraints
            .joint_space_rows
            .iter()
            .zip(self.solution.joint_space_impulses.iter().copied())
            .filter_map(|(row, p)| if let RowOwner::Joint(joint) = row.owner { Some((joint, p)) } else { None })
    }

    /// Problem of the last step, solved or not.
    pub fn problem(&self) -> StepProblem<'_> {
        if self.is_friction_problem {
            StepProblem::Friction(&self.friction.problem)
        } else {
            StepProblem::Mixed(&self.mixed.problem)
        }
    }

    /// Overwrites the values in scratch memory with NaN, to test that the next step does not depend on them.
    pub fn poison(&mut self) {
        let numbers = [
            &mut self.kinematics.predicted,
            &mut self.detection.reach,
            &mut self.mixed.solution.free,
            &mut self.mixed.solution.complementary,
            &mut self.friction.guess.r,
            &mut self.friction.solution.r,
            &mut self.friction.free_velocity,
            &mut self.free_body_velocities,
            &mut self.solution.velocity,
            &mut self.solution.moving,
            &mut self.solution.joint_impulses,
            &mut self.solution.joint_space_impulses,
            &mut self.kinematics.linearisation_velocity,
            &mut self.kinematics.before,
            &mut self.kinematics.ahead_velocity,
            &mut self.result.next.q,
            &mut self.result.next.v,
            &mut self.result.next.support_impulses,
            &mut self.mixed.problem.equality.constant,
            &mut self.mixed.problem.complementarity.constant,
        ];
        numbers.into_iter().flatten().for_each(|x| *x = f64::NAN);
        self.mixed.directions.iter_mut().for_each(|d| *d = Vector3::repeat(f64::NAN));
        self.kinematics.applied.iter_mut().for_each(|w| *w = Wrench::of_torque(Vector3::repeat(f64::NAN)));
        self.kinematics.gyroscopic.fill(Vector3::repeat(f64::NAN));
        self.kinematics.drag.fill(Matrix6::repeat(f64::NAN));
        self.kinematics.bends.fill(Vector3::repeat(f64::NAN));
        self.constraints.contacts.iter_mut().for_each(|c| c.gap_end = f64::NAN);
        self.constraints.support_points.iter_mut().for_each(|support_point| support_point.load = f64::NAN);
        self.constraints
            .layer_surfaces
            .iter_mut()
            .for_each(|surface| surface.free_velocity = Vector3::repeat(f64::NAN));
        self.constraints.penetrations.iter_mut().for_each(|(_, x)| *x = f64::NAN);
        if let Some(after) = &mut self.after {
            after.poison();
        }
        if let Some(reduced) = &mut self.reduced {
            reduced.poison();
        }
    }
}

/// Impulses of impacts on joints and bodies, which add to the joint reactions of the step proper.   [RED-4]
#[derive(Debug, Default)]
pub(crate) struct ImpactLoads {
    /// Impulses of the joints with rows in the problem, row by row; empty without impacts.
    pub(crate) joints: Vec<f64>,
    /// Impulses on all bodies about their reference points, without those of the forest's own joints.
    pub(crate) bodies: Vec<Wrench>,
}

impl ImpactLoads {
    pub(crate) fn clear(&mut self) {
        self.joints.clear();
        self.bodies.clear();
    }
}

/// Scratch memory of corrections; the next step depends on none of it.
#[derive(Default)]
pub(crate) struct AfterStep {
    pub(crate) workspace: Workspace,
    /// q⁺ or v⁺ before the correction.
    pub(crate) base: Vec<f64>,
    /// Displacement d_k, in velocity coordinates.
    pub(crate) moved: Vec<f64>,
    /// Multipliers μ_k.
    pub(crate) multipliers: Vec<f64>,
    /// Contacts with λ > 0 in the last round, in the order of their ids.
    pub(crate) pushing: Vec<ContactId>,
}

impl AfterStep {
    /// Overwrites the numbers with NaN, see [`Workspace::poison`].
    pub(crate) fn poison(&mut self) {
        self.workspace.poison();
        let numbers = [&mut self.base, &mut self.moved, &mut self.multipliers];
        numbers.into_iter().flatten().for_each(|x| *x = f64::NAN);
    }
}

/// Pairs of shapes near each other, and the scratch memory to find them.
#[derive(Default)]
pub struct Detection {
    /// Distance that each body can move within the step, m.
    pub(crate) reach: Vec<f64>,
    /// Poses of all shapes at the last search for pairs, and their bounding boxes.
    pub shape_poses: Vec<Pose>,
    pub(crate) boxes: Vec<Option<Aabb>>,
    /// Indices of the shapes of each pair.
    pub pairs: Vec<(usize, usize)>,
    /// Contact points of one pair, with prescribed bodies at the end and at the start of the step.
    pub points: Vec<ContactPoint>,
    pub(crate) points_start: Vec<ContactPoint>,
    /// Contacts that are closed at the end of a step of second order.
    pub(crate) closed: Vec<bool>,
    /// Pairs of shapes whose contacts are found vertex by vertex in this step.   [CORNER-5]
    pub close_pairs: Vec<(ShapeId, ShapeId)>,
}
