//! Simulation: a model, a scheme and a state.

use std::sync::{Arc, OnceLock};

use stiction_multibody::{Configuration, Energy, JointId, Model, Momentum, State, Wrench, energy, momentum};
use stiction_scene::Scene;
use stiction_schemes::{MoreauJean, ReferenceStepper};
use stiction_sensitivity::{Differentiator, SensitivityError, SensitivityOptions, StepDerivative, Variation};
use stiction_stepping::{
    ContactReport, Coordinates, EnergyBound, Event, FeatureDetector, ImpactReport, Infeasibility, Ladder, Method,
    ProtectiveLayer, Scheme, Start, StartImpact, StepCause, StepError, StepProblem, StepReport, Stepper, Substepping,
    SupportPointReport, TimeStepper, Uniqueness, Workspace, adopt, adopt_start, check_closable, energy_bound,
    infeasibility, joint_impulses, uniqueness,
};

use crate::{BuildError, EnergyAccount, RestoreError};

/// Smallest and largest step, s.
pub(crate) const STEP_RANGE: (f64, f64) = (1e-12, 10.0);

/// Default of the largest ratio between an earlier step and a later one.   [STEP-14]
const STEP_RATIO: f64 = 1000.0;

/// A running simulation.
pub struct Simulation {
    pub(crate) model: Arc<Model>,
    pub(crate) scheme: Scheme,
    pub(crate) h: f64,
    /// Length of the last step, s.
    last_step: f64,
    /// Largest step so far, the fixed one included, s.
    pub(crate) largest_step: f64,
    step_ratio: f64,
    pub(crate) stepper: Box<dyn Stepper>,
    substepping: Substepping,
    pub(crate) state: State,
    pub(crate) configuration: Configuration,
    pub(crate) workspace: Workspace,
    /// Joint impulses of the last step, computed on demand.
    pub(crate) joint_impulses: OnceLock<Vec<f64>>,
    start_impact: Option<StartImpact>,
    /// Energy over the run.
    pub(crate) energy_account: EnergyAccount,
}

/// Returns the stepper of a scheme.
fn stepper(scheme: &Scheme) -> Box<dyn Stepper> {
    match scheme.method {
        Method::TimeStepping => Box::new(time_stepper(scheme, Ladder::default())),
        Method::MoreauJean => Box::new(MoreauJean::default()),
        Method::Reference => Box::new(ReferenceStepper::default()),
    }
}

fn time_stepper(scheme: &Scheme, ladder: Ladder) -> TimeStepper {
    if scheme.protective_layer > 0.0 {
        let detector = ProtectiveLayer::new(FeatureDetector::default(), scheme.protective_layer);
        return TimeStepper::default().with_detector(detector).with_ladder(ladder);
    }
    TimeStepper::default().with_ladder(ladder)
}

impl Simulation {
    /// Creates a simulation at the initial state of the model, with fixed steps of `step` seconds.
    pub fn new(model: impl Into<Arc<Model>>, scheme: Scheme, step: f64) -> Result<Self, BuildError> {
        scheme.validate()?;
        let (least, most) = STEP_RANGE;
        if !(least..=most).contains(&step) {
            return Err(BuildError::Step { least, most, value: step });
        }
        let model = model.into();
        scheme.check_model(&model)?;
        let mut state = model.initial_state();
        // Without a weight, open joints stay open.
        if scheme.joint_gamma > 0.0 {
            check_closable(&model, &state)?;
        }
        let start_impact = adopt_start(&model, &scheme, &mut state);
        let mut configuration = Configuration::default();
        configuration.update(&model, &state.q, &state.v, state.time);
        let stepper = stepper(&scheme);
        Ok(Self {
            model,
            scheme,
            h: step,
            last_step: step,
            largest_step: step,
            step_ratio: STEP_RATIO,
            stepper,
            substepping: Substepping::default(),
            state,
            configuration,
            workspace: Workspace::default(),
            joint_impulses: OnceLock::new(),
            start_impact,
            energy_account: EnergyAccount::default(),
        })
    }

    /// Creates the simulation that a scene describes.
    pub fn from_scene(scene: &Scene) -> Result<Self, BuildError> {
        Self::new(Arc::clone(&scene.model), scene.settings.scheme.clone(), scene.settings.step)
    }

    /// Uses time stepping with this ladder of solvers.
    pub fn with_ladder(self, ladder: Ladder) -> Self {
        let stepper = time_stepper(&self.scheme, ladder);
        self.with_stepper(stepper)
    }

    /// Uses another stepper.
    pub fn with_stepper(mut self, stepper: impl Stepper + 'static) -> Self {
        self.stepper = Box::new(stepper);
        self
    }

    /// Sets the largest ratio, at least 1, between earlier and later steps of [`Self::step_with`]; default 1000.
    pub fn with_step_ratio(mut self, bound: f64) -> Self {
        self.step_ratio = bound.max(1.0);
        self
    }

    /// Advances by one step. On error the state does not change.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        let h = self.h;
        self.joint_impulses.take();
        let made = self.check_step(h).and_then(|()| {
            let Self { model, scheme, state, stepper, substepping, workspace, .. } = self;
            substepping.step(stepper.as_mut(), &Start::new(model, scheme, state, h), workspace)
        });
        let made = made.and_then(|report| {
            let account = self.energy_account.with_step(report.step, &report.energy);
            account.check(&report.energy, (&self.model, &self.workspace.result.end), &self.scheme)?;
            Ok((report, account))
        });
        let (report, account) =
            made.map_err(|cause| StepError { step: self.state.step + 1, time: self.state.time, cause })?;
        self.energy_account = account;
        // The step succeeded as a whole: the new state replaces the old one.
        std::mem::swap(&mut self.state, &mut self.workspace.result.next);
        std::mem::swap(&mut self.configuration, &mut self.workspace.result.end);
        self.last_step = h;
        self.largest_step = self.largest_step.max(h);
        Ok(report)
    }

    /// Advances by one step of `h` seconds. On error the state does not change.
    ///
    /// Steps may grow freely. No step may be shorter than the largest one so far divided by the bound of [`Self::with_step_ratio`], for which
    /// velocities are known to stay bounded.   [STEP-14]
    pub fn step_with(&mut self, h: f64) -> Result<StepReport, StepError> {
        let fixed = std::mem::replace(&mut self.h, h);
        let made = self.step();
        self.h = fixed;
        made
    }

    /// Derivative of the last step, which began at `before` and has this report.
    pub(crate) fn differentiate(
        &self,
        before: &State,
        report: &StepReport,
        parameters: &[Variation],
        (differentiator, options): (&mut Differentiator, &SensitivityOptions),
    ) -> Result<StepDerivative, SensitivityError> {
        let start = Start::new(&self.model, &self.scheme, before, self.last_step);
        differentiator.differentiate(&start, (&self.workspace, report), parameters, options)
    }

    fn check_step(&self, h: f64) -> Result<(), StepCause> {
        let (least, most) = STEP_RANGE;
        if !(least..=most).contains(&h) {
            return Err(StepCause::StepSize { least, most, value: h });
        }
        let (ratio, bound) = (self.largest_step / h, self.step_ratio);
        if ratio > bound {
            return Err(StepCause::StepRatio { value: h, largest: self.largest_step, ratio, bound });
        }
        Ok(())
    }

    /// Inelastic impact at the start, if the model has velocities that its joints do not allow.
    pub fn start_impact(&self) -> Option<&StartImpact> {
        self.start_impact.as_ref()
    }

    /// Model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Scheme.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Step size of [`Self::step`], s.
    pub fn step_size(&self) -> f64 {
        self.h
    }

    /// Length of the last step, s: that of [`Self::step`] unless [`Self::step_with`] made another.
    pub fn last_step_size(&self) -> f64 {
        self.last_step
    }

    /// Current poses and twists of all bodies.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// True if no speed exceeds `speed` (m/s and rad/s) and nothing else can change: no prescribed motions, no functions of time, no
    /// compliant layers that may still deform.
    pub fn is_at_rest(&self, speed: f64) -> bool {
        self.state.v.iter().all(|v| v.abs() <= speed) && !self.model.changes_with_time() && !self.model.has_layers()
    }

    /// Current mechanical energy, including that of compliant layers.
    pub fn energy(&self) -> Energy {
        let energy = energy(&self.model, &self.configuration, &self.state.angles);
        let layers = self.state.contacts.iter().filter_map(|contact| contact.layer);
        Energy { potential: energy.potential + layers.map(|layer| layer.energy).sum::<f64>(), ..energy }
    }

    /// Current momentum.
    pub fn momentum(&self) -> Momentum {
        momentum(&self.model, &self.configuration)
    }

    /// Balance of the kinetic energy over the last step, and its bound. `None` before the first step and for steppers without a single
    /// momentum balance per step, such as the reference.
    pub fn energy_bound(&self) -> Option<EnergyBound> {
        energy_bound(&self.model, &self.workspace)
    }

    /// Account of the kinetic energy since the start, or since a state was set: what forces, motors, restitution and the removal of errors
    /// explain, and what they do not.
    pub fn energy_account(&self) -> &EnergyAccount {
        &self.energy_account
    }

    /// Uniqueness of the motion in the last step: whether the balance of forces determined it, or another possible motion. `None` if bodies
    /// have inertia and before the first step.
    pub fn uniqueness(&self) -> Option<Uniqueness> {
        if self.workspace.solution.velocity.is_empty() {
            return None;
        }
        uniqueness(&self.model, &self.scheme, &self.workspace)
    }

    /// Current penetration and joint error, over all pairs of shapes.
    pub fn infeasibility(&self) -> Result<Infeasibility, StepCause> {
        infeasibility(&self.model, &self.configuration)
    }

    /// Contacts within reach in the last step, in the order of their ids.
    pub fn contacts(&self) -> &[ContactReport] {
        &self.workspace.result.contact_reports
    }

    /// Support points in the last step, in the order of the model.
    pub fn support_points(&self) -> &[SupportPointReport] {
        &self.workspace.result.support_reports
    }

    /// Impacts by Poisson's hypothesis at the start of the last step.
    pub fn impacts(&self) -> &[ImpactReport] {
        &self.workspace.result.impacts
    }

    /// Contact transitions of the last step.
    pub fn events(&self) -> &[Event] {
        &self.workspace.result.events
    }

    /// Joint impulses of the last step including impacts, row by row, N s or N m s.
    ///
    /// In reduced coordinates those of the forest are computed from the momentum balance on demand.
    pub fn joint_impulses(&self) -> &[f64] {
        if self.scheme.coordinates == Coordinates::Maximal && self.workspace.result.impacts.is_empty() {
            return &self.workspace.solution.joint_impulses;
        }
        self.joint_impulses.get_or_init(|| joint_impulses(&self.model, &self.workspace).into_owned())
    }

    /// Impulses of joint-space constraints (limits, dry friction, limited motors, couplings) in the last step, each with its joint,
    /// N s or N m s.
    pub fn joint_space_impulses(&self) -> impl Iterator<Item = (JointId, f64)> + '_ {
        self.workspace.joint_space_impulses()
    }

    /// Force and torque (about its centre of mass) that a joint exerted on its second body over the last step.
    pub fn joint_wrench(&self, id: JointId) -> Option<Wrench> {
        let joint = self.model.joint(id)?;
        // Impulses of a branch balance the momentum at the start poses; those of rows belong to the linearisation poses.
        let is_row = self.scheme.coordinates == Coordinates::Maximal || self.model.forest().loops().contains(&id);
        let at = if is_row { self.workspace.linearised() } else { self.workspace.started() };
        Some(joint.wrench(at, self.joint_impulses(), self.last_step))
    }

    /// Complementarity problem of the last step, solved or not; it can be saved and solved again.
    pub fn problem(&self) -> StepProblem<'_> {
        self.workspace.problem()
    }

    /// Scratch memory. Replacing it by an empty one changes no result.
    pub fn workspace_mut(&mut self) -> &mut Workspace {
        self.joint_impulses.take();
        &mut self.workspace
    }

    /// Sets another state of the same model; on error nothing changes.
    pub fn set_state(&mut self, state: &State) -> Result<(), RestoreError> {
        if (state.q.len(), state.v.len()) != (self.model.coordinates(), self.model.dof()) {
            return Err(RestoreError::Mismatch("it has the wrong number of coordinates".into()));
        }
        if state.joint_impulses.len() != self.model.joint_rows() {
            return Err(RestoreError::Mismatch("it has the wrong number of joint impulses".into()));
        }
        if state.support_impulses.len() != 3 * self.model.support_point_count() {
            return Err(RestoreError::Mismatch("it has the wrong number of support points".into()));
        }
        let forest = self.model.forest().tree();
        let reduced = !state.forest_q.is_empty() || !state.forest_v.is_empty();
        if reduced && (state.forest_q.len(), state.forest_v.len()) != (forest.coordinates(), forest.velocities()) {
            return Err(RestoreError::Mismatch("it has the wrong number of joint coordinates".into()));
        }
        if !state.angles.is_empty() && state.angles.len() != self.model.joint_space_dofs().len() {
            return Err(RestoreError::Mismatch("it has the wrong number of actuated joint DOFs".into()));
        }
        if state.first_non_finite().is_some() || !(state.time.is_finite() && state.time_carry.is_finite()) {
            return Err(RestoreError::Mismatch("it holds numbers that are not finite".into()));
        }
        if !self.model.has_unit_quaternions(&state.q) {
            return Err(RestoreError::Mismatch("it holds a quaternion that is not of unit length".into()));
        }
        if state.step == u64::MAX || !state.contacts.is_sorted_by_key(|contact| contact.id) {
            return Err(RestoreError::Mismatch("its counters or contacts are not those of a simulation".into()));
        }
        self.energy_account = EnergyAccount::default();
        self.configuration.update(&self.model, &state.q, &state.v, state.time);
        self.state.copy_from(state);
        if self.scheme.coordinates != Coordinates::Maximal {
            self.forget_impulses_of_forest();
        }
        // A state with body coordinates only: joint coordinates and their actuators follow from the bodies.
        let without_joints = self.scheme.coordinates != Coordinates::Maximal && self.state.forest_q.is_empty();
        if without_joints || self.state.angles.len() != self.model.joint_space_dofs().len() {
            adopt(&self.model, &self.scheme, &mut self.state);
            self.configuration.update(&self.model, &self.state.q, &self.state.v, self.state.time);
        }
        Ok(())
    }

    /// Clears the stored impulses of the forest's joints. No step starts from them; recordings hold them beside those of loops.
    fn forget_impulses_of_forest(&mut self) {
        for (joint, ..) in self.model.forest().branches(&self.model) {
            let rows = self.state.joint_impulses.iter_mut().skip(joint.first_row()).take(joint.rows());
            rows.for_each(|impulse| *impulse = 0.0);
        }
    }

    pub(crate) fn body_names(&self) -> impl Iterator<Item = &str> {
        self.model.bodies().iter().map(|body| body.name.as_str())
    }
}
