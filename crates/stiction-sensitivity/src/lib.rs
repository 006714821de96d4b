//! Derivatives of a step: those of its end with respect to the state it starts from and to parameters of the model.
//!
//! A step solves equations that belong to the modes of its contacts: open, stick or slip.   [GRAD-1] As long as the modes stay the same,
//! the implicit function theorem gives the derivative of the solution from that of the equations.   [GRAD-2] The equations are smooth. They
//! are evaluated at five points along every direction, and nothing is solved for that.   [GRAD-3]
//!
//! Exactly at a change of modes there is no derivative, and a one-sided one is given. A contact that neither pushes nor opens counts as
//! open; one that neither slips nor has friction in reserve counts as sticking. [`StepDerivative::clearance`] is the distance to such a
//! change; [`SensitivityOptions::smoothing`] blends the modes instead.   [GRAD-6]

// Doc comments contain symbols such as λ_app, which are mathematics and not code.
#![allow(clippy::doc_markdown)]

mod equations;
mod linearise;
mod tangent;
mod terms;

use nalgebra::{DMatrix, Vector3};
use stiction_multibody::{BodyKind, ContactId, Model, State, mass_block};

pub use linearise::Clearance;
pub use tangent::displacement;
pub use terms::{FrictionLaw, FrictionLimit, Rebound, StepEquations, StepForm, StepRow, StepTerms};

use equations::{Parts, Solved, evaluate, has_pending_restitution, place};
use linearise::System;
use stiction_stepping::{
    Coordinates, Detector, Dynamics, FeatureDetector, Impact, LineariseAt, Method, Order, PositionUpdate,
    ProtectiveLayer, Scheme, Stabilisation, Start, StepCause, StepReport, Workspace, prepare,
};
use tangent::{Advance, STENCIL, spacings};

/// Parameter of the model, given by the models at two values below and two above, `spacing` apart from each other.
#[derive(Clone, Copy, Debug)]
pub struct Variation<'a> {
    /// The models at −2, −1, 1 and 2 times the spacing.
    pub models: [&'a Model; 4],
    /// The spacing.
    pub spacing: f64,
}

/// Options of derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SensitivityOptions {
    /// Speed over which contact modes are blended, m/s; 0 takes them as they are.   [GRAD-6]
    pub smoothing: f64,
}

/// Reason why a step has no derivative.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SensitivityError {
    /// The scheme has no derivatives.
    #[error("derivatives are not available with {what}; {instead}")]
    Unsupported {
        /// Unsupported choice.
        what: &'static str,
        /// Supported alternative.
        instead: &'static str,
    },
    /// A contact of the step is not found at a neighbouring state.
    #[error(
        "{contact} is not found if the state changes by a ten-thousandth of its size, because the geometry changes there; use a slightly different state"
    )]
    Lost {
        /// Name of the contact.
        contact: String,
    },
    /// The equations cannot be solved.
    #[error("the equations of the step have no derivative: a mass or a row is zero or not finite")]
    Indeterminate,
    /// The solution in the workspace is not that of the step.
    #[error("the workspace does not hold the solution of this step: the relative error of its momentum is {error:e}")]
    NotTheStep {
        /// Relative error of the momentum.
        error: f64,
    },
    /// Something cannot be evaluated at a neighbouring state.
    #[error("at a neighbouring state: {0}")]
    Beside(#[from] StepCause),
}

/// Derivative of a step. Rows and columns are displacements of the bodies (those of [`displacement`]), velocities, and the pending
/// restitution of contacts.
#[derive(Clone, Debug)]
pub struct StepDerivative {
    /// ∂x⁺/∂x.
    pub by_state: DMatrix<f64>,
    /// ∂x⁺/∂p, a column for each parameter.
    pub by_parameters: DMatrix<f64>,
    /// Contacts whose pending restitution is a column of `by_state`, after displacements and velocities.
    pub pending_before: Vec<ContactId>,
    /// Contacts whose pending restitution is a row.
    pub pending_after: Vec<ContactId>,
    /// Contact that is nearest to another mode; none if there are none.
    pub clearance: Option<Clearance>,
    /// Fraction of the changes that the modes cannot follow, such as two contacts that stick and one at its limit. Elsewhere it is
    /// rounding. The derivative is then that of least squares.
    pub left: f64,
}

impl StepDerivative {
    /// Derivative of this step followed by another.
    pub fn then(&self, next: &Self) -> Self {
        let n = self.by_state.nrows() - self.pending_after.len();
        // State at the start of the next step. Pending restitution that the next step does not have is dropped.
        debug_assert_eq!(next.by_state.ncols(), n + next.pending_before.len(), "both steps have the same velocities");
        let carry = |rows: &DMatrix<f64>| {
            let mut carried = DMatrix::zeros(n + next.pending_before.len(), rows.ncols());
            carried.rows_mut(0, n).copy_from(&rows.rows(0, n));
            for (place, id) in next.pending_before.iter().enumerate() {
                if let Some(known) = self.pending_after.iter().position(|pending_restitution| pending_restitution == id)
                {
                    carried.row_mut(n + place).copy_from(&rows.row(n + known));
                }
            }
            carried
        };
        let nearer = |clearance: &Clearance| self.clearance.is_none_or(|other| clearance.speed < other.speed);
        Self {
            by_state: &next.by_state * carry(&self.by_state),
            by_parameters: &next.by_state * carry(&self.by_parameters) + &next.by_parameters,
            pending_before: self.pending_before.clone(),
            pending_after: next.pending_after.clone(),
            clearance: next.clearance.filter(nearer).or(self.clearance),
            left: self.left.max(next.left),
        }
    }
}

/// Computes derivatives of steps, and keeps its memory from one to the next.
#[derive(Default)]
pub struct Differentiator {
    detector: FeatureDetector,
    ws: Workspace,
    values: Vec<f64>,
}

/// Column of derivatives: the quantity that is varied.
enum Cause {
    Displacement(usize),
    Velocity(usize),
    PendingRestitution(ContactId),
    Parameter(usize),
}

/// Largest imbalance of momentum in a solution, as a fraction of the largest momentum or impulse.
const BALANCE: f64 = 1e-5;

/// Largest number of times the spacing is divided by ten after a contact is lost.
const MAX_REFINEMENTS: u32 = 3;

impl Differentiator {
    /// Derivative of the step that led from `start` to the solution in `solved`, with its report.
    pub fn differentiate(
        &mut self,
        start: &Start,
        (solved, report): (&Workspace, &StepReport),
        parameters: &[Variation],
        options: &SensitivityOptions,
    ) -> Result<StepDerivative, SensitivityError> {
        check(start, report)?;
        let keep = |index: usize| {
            options.smoothing > 0.0
                || solved.solution.contact_impulses.get(index).is_some_and(|impulse| impulse.normal > 0.0)
        };
        let mut step = Step { start, ws: solved, solved: Solved::of(start, solved, keep), parameters };
        let mut values = Vec::new();
        self.write(&step, start, 1.0, &mut values)?;
        step.solved.add_joint_space_rows(&self.ws, solved);
        evaluate(start, &step.solved, &self.ws, &mut values);
        step.check_balance(&values)?;
        let causes = step.causes();
        let changes = self.changes_with_refinement(&step, &causes)?;
        self.write(&step, start, 1.0, &mut values)?;
        let system = System::new((start, &step.solved, &self.ws), (&values, &changes), options.smoothing)?;
        let (velocity, left) = system.solve()?;
        let derivative = step.assemble(&causes, &velocity, &changes);
        Ok(StepDerivative { clearance: system.clearance, left, ..derivative })
    }

    /// Writes the equations at a start near that of the step.
    fn write(
        &mut self,
        step: &Step,
        at: &Start,
        spacing_factor: f64,
        values: &mut Vec<f64>,
    ) -> Result<(), SensitivityError> {
        let thickness = at.scheme.protective_layer;
        let margin = step.margin(spacing_factor);
        let close_pairs = &step.ws.detection.close_pairs;
        if thickness > 0.0 {
            let mut detector = ProtectiveLayer::new(FeatureDetector::default(), thickness);
            place(at, &step.solved, (&mut detector as &mut dyn Detector, margin), close_pairs, &mut self.ws)?;
        } else {
            place(at, &step.solved, (&mut self.detector, margin), close_pairs, &mut self.ws)?;
        }
        evaluate(at, &step.solved, &self.ws, values);
        Ok(())
    }

    /// Changes of the equations with the widest spacing at which no contact is lost.
    fn changes_with_refinement(&mut self, step: &Step, causes: &[Cause]) -> Result<DMatrix<f64>, SensitivityError> {
        let mut spacing_factor = 1.0;
        for _ in 0..MAX_REFINEMENTS {
            match self.changes(step, causes, spacing_factor) {
                Err(SensitivityError::Lost { .. }) => spacing_factor *= 0.1,
                other => return other,
            }
        }
        self.changes(step, causes, spacing_factor)
    }

    /// Changes of the equations, a column for each cause, by five points with spacings `spacing_factor` times the usual.   [GRAD-3]
    fn changes(
        &mut self,
        step: &Step,
        causes: &[Cause],
        spacing_factor: f64,
    ) -> Result<DMatrix<f64>, SensitivityError> {
        let start = step.start;
        let mut out = DMatrix::zeros(Parts::of(start.model, &step.solved).end, causes.len());
        let lengths = spacings(start.model);
        let mut values = std::mem::take(&mut self.values);
        let mut state = start.state.clone();
        // Contacts do not depend on velocities, but rows along joint DOFs and those of springs do. Velocities come first, while the rows of the step are still
        // in the workspace.
        let model = start.model;
        let has_springs = !(model.springs().is_empty() && model.dampers().is_empty());
        let geometry_stays = model.joint_space_dofs().is_empty() && !has_springs;
        self.write(step, start, spacing_factor, &mut values)?;
        let velocities_first = |(_, cause): &(usize, &Cause)| !matches!(cause, Cause::Velocity(_));
        let mut order: Vec<_> = causes.iter().enumerate().collect();
        order.sort_by_key(velocities_first);
        for (place, cause) in order {
            let mut column = out.column_mut(place);
            for (number, (distance, weight)) in STENCIL.iter().enumerate() {
                state.copy_from(start.state);
                let mut model = start.model;
                let spacing = match cause {
                    Cause::Displacement(place) => {
                        let spacing = spacing_factor * lengths.get(*place).copied().unwrap_or(tangent::SPACING);
                        displace(start, *place, distance * spacing, &mut state);
                        spacing
                    }
                    Cause::Velocity(place) => {
                        state.v.get_mut(*place).into_iter().for_each(|v| *v += distance * tangent::SPACING);
                        tangent::SPACING
                    }
                    Cause::PendingRestitution(id) => {
                        let pending_restitution = state.contacts.iter_mut().find(|memory| memory.id == *id);
                        debug_assert!(pending_restitution.is_some(), "a varied contact has a memory");
                        let Some(pending_restitution) = pending_restitution else { continue };
                        let spacing = tangent::SPACING * pending_restitution.pending_restitution.abs();
                        pending_restitution.pending_restitution += distance * spacing;
                        spacing
                    }
                    Cause::Parameter(place) => {
                        debug_assert!(*place < step.parameters.len(), "a varied parameter is given");
                        let Some(variation) = step.parameters.get(*place) else { continue };
                        model = variation.models[number];
                        variation.spacing
                    }
                };
                let at = Start { model, state: &state, ..*start };
                if geometry_stays && matches!(cause, Cause::Velocity(_)) {
                    prepare(&at, &mut self.ws)?;
                    evaluate(&at, &step.solved, &self.ws, &mut values);
                } else {
                    self.write(step, &at, spacing_factor, &mut values)?;
                }
                debug_assert_eq!(column.len(), values.len(), "the equations keep their number");
                debug_assert_eq!(
                    self.ws.constraints.joint_space_rows.len(),
                    step.solved.joint_space,
                    "no joint-space row appears or vanishes"
                );
                column.iter_mut().zip(&values).for_each(|(out, value)| *out += weight / spacing * value);
            }
        }
        self.values = values;
        Ok(out)
    }
}

/// Displaces the coordinate of a velocity.
fn displace(start: &Start, place: usize, by: f64, state: &mut State) {
    debug_assert!(place < start.model.dof(), "velocity {place} exists");
    let mut shift = vec![0.0; start.model.dof()];
    shift.get_mut(place).into_iter().for_each(|x| *x = by);
    let update = stiction_multibody::OrientationUpdate::Exponential;
    start.model.integrate(&start.state.q, &shift, 1.0, update, &mut state.q);
}

/// Solved step and the parameters it is differentiated by.
struct Step<'s> {
    start: &'s Start<'s>,
    ws: &'s Workspace,
    solved: Solved,
    parameters: &'s [Variation<'s>],
}

impl Step<'_> {
    /// Largest gap within which the contacts of the step are found again at neighbouring states, m.
    fn margin(&self, spacing_factor: f64) -> f64 {
        let kept = self.ws.constraints.contacts.iter().filter(|contact| self.solved.contacts.contains(&contact.id));
        let widest = kept.map(|contact| contact.gap_start.abs().max(contact.gap_end.abs())).fold(0.0, f64::max);
        let largest = spacings(self.start.model).into_iter().fold(0.0, f64::max);
        widest + 10.0 * spacing_factor * largest + self.start.scheme.touch_threshold
    }

    fn causes(&self) -> Vec<Cause> {
        let n = self.start.model.dof();
        let displacements = (0..n).map(Cause::Displacement);
        let velocities = (0..n).map(Cause::Velocity);
        let pending_restitution = self.pending_before().into_iter().map(Cause::PendingRestitution);
        let parameters = (0..self.parameters.len()).map(Cause::Parameter);
        displacements.chain(velocities).chain(pending_restitution).chain(parameters).collect()
    }

    fn pending_before(&self) -> Vec<ContactId> {
        let memories = self.start.state.contacts.iter().filter(|memory| memory.pending_restitution < 0.0);
        memories.filter(|_| has_pending_restitution(self.start.scheme)).map(|memory| memory.id).collect()
    }

    /// Kept contacts with an impact in the step.
    fn pending_after(&self) -> Vec<(usize, ContactId)> {
        let reports = || self.ws.result.contact_reports.iter().filter(|report| report.pending_restitution < 0.0);
        let is_pending =
            |id: &ContactId| has_pending_restitution(self.start.scheme) && reports().any(|report| report.id == *id);
        self.solved.contacts.iter().copied().enumerate().filter(|(_, id)| is_pending(id)).collect()
    }

    /// Checks that the momentum of the solution is that of the equations; otherwise they are not its equations.
    fn check_balance(&self, values: &[f64]) -> Result<(), SensitivityError> {
        let n = self.start.model.dof();
        let (mass, state) = (equations::mass(self.start.model, self.ws), self.start.state);
        let size = |v: &[f64]| (&mass * nalgebra::DVector::from_column_slice(v)).amax();
        let pushes = self.solved.impulses.iter().fold(0.0_f64, |most, p| most.max(p.abs()));
        let scale = size(&state.v).max(size(&self.solved.velocity)).max(pushes).max(f64::MIN_POSITIVE);
        let error = values.iter().take(n).fold(0.0_f64, |most, x| most.max(x.abs())) / scale;
        if error <= BALANCE { Ok(()) } else { Err(SensitivityError::NotTheStep { error }) }
    }

    /// Assembles ∂x⁺ from ∂v⁺: q⁺ = q ⊕ h v⁺, or with the mean of v and v⁺.   [GRAD-5]
    fn assemble(&self, causes: &[Cause], velocity: &DMatrix<f64>, changes: &DMatrix<f64>) -> StepDerivative {
        let &Start { model, scheme, state, h, .. } = self.start;
        let n = model.dof();
        let mean = scheme.position_update == PositionUpdate::Average;
        let moving: Vec<f64> = if mean {
            state.v.iter().zip(&self.solved.velocity).map(|(v, end)| 0.5 * (v + end)).collect()
        } else {
            self.solved.velocity.clone()
        };
        let advance = Advance::new(model, &state.q, &moving, h, scheme.orientation);
        let pending_after = self.pending_after();
        let mut all = DMatrix::zeros(2 * n + pending_after.len(), causes.len());
        let mut moving = velocity * if mean { 0.5 } else { 1.0 };
        for (place, cause) in causes.iter().enumerate() {
            if let (Cause::Velocity(k), true) = (cause, mean) {
                moving[(*k, place)] += 0.5;
            }
        }
        all.rows_mut(0, n).copy_from(&(&advance.by_v * moving));
        for (place, cause) in causes.iter().enumerate() {
            if let Cause::Displacement(k) = cause {
                let mut column = all.view_mut((0, place), (n, 1));
                column += advance.by_q.column(*k);
            }
        }
        all.rows_mut(n, n).copy_from(velocity);
        let parts = Parts::of(model, &self.solved);
        self.turn(velocity, &changes.rows(parts.turned, 3 * self.solved.turned.len()).into_owned(), &mut all);
        for (row, (place, _)) in pending_after.iter().enumerate() {
            all.row_mut(2 * n + row).copy_from(&changes.row(parts.approach + place));
        }
        let of_state = causes.len() - self.parameters.len();
        StepDerivative {
            by_state: all.columns(0, of_state).into_owned(),
            by_parameters: all.columns(of_state, self.parameters.len()).into_owned(),
            pending_before: self.pending_before(),
            pending_after: pending_after.into_iter().map(|(_, id)| id).collect(),
            clearance: None,
            left: 0.0,
        }
    }
}

impl Step<'_> {
    /// Replaces ∂ω⁺ of bodies that turn freely by the derivative of the angular velocity at the end, which belongs to the angular momentum
    /// and the orientation there: I⁺ ω = I ω⁺ − h λ_vp.   [ROT-2]
    ///
    /// `defects` are the changes of the right side less I⁺ ω, at constant ω⁺ and orientation. Displacements are in `all` already.
    fn turn(&self, velocity: &DMatrix<f64>, defects: &DMatrix<f64>, all: &mut DMatrix<f64>) {
        let model = self.start.model;
        let n = model.dof();
        for (place, (index, rotation, omega)) in self.solved.turned.iter().enumerate() {
            let block = mass_block(model, &self.ws.kinematics.start, *index);
            let (Some((_, _, inertia)), Some(slot)) = (block, model.layout().get(*index)) else { continue };
            let Some(BodyKind::Dynamic { inertia: in_body, .. }) = model.bodies().get(*index).map(|body| &body.kind)
            else {
                continue;
            };
            let at_end = rotation * in_body * rotation.transpose();
            let Some(factor) = at_end.cholesky() else { continue };
            let (momentum, first) = (at_end * omega, slot.v.start + 3);
            for cause in 0..all.ncols() {
                let change = velocity.fixed_view::<3, 1>(first, cause);
                let turn: Vector3<f64> = all.fixed_view::<3, 1>(first, cause).into_owned();
                // The inertia turns with the body: its change times ω is θ × (I⁺ ω) − I⁺ (θ × ω).
                let turned = turn.cross(&momentum) - at_end * turn.cross(omega);
                let right = inertia * change + defects.fixed_view::<3, 1>(3 * place, cause) - turned;
                all.fixed_view_mut::<3, 1>(n + first, cause).copy_from(&factor.solve(&right));
            }
        }
    }
}

/// Refuses steps that are not one momentum balance with laws.
fn check(start: &Start, report: &StepReport) -> Result<(), SensitivityError> {
    let no = |what, instead| Err(SensitivityError::Unsupported { what, instead });
    check_scheme(start)?;
    if report.correction.is_some() {
        return no("corrections after the step", "leave `stabilisation` out");
    }
    if report.substeps > 1 {
        return no("a step that was divided into substeps", "make the step shorter");
    }
    Ok(())
}

/// Refuses schemes without derivatives, before the step is made.
fn check_scheme(start: &Start) -> Result<(), SensitivityError> {
    let Scheme { method, coordinates, dynamics, linearise_at, impact, stabilisation, .. } = start.scheme;
    let no = |what, instead| Err(SensitivityError::Unsupported { what, instead });
    let another = "use a preset such as `ncp` or `stewart-trinkle`";
    if *method != Method::TimeStepping {
        return no("methods other than time-stepping", another);
    }
    if *dynamics != Dynamics::Inertial {
        return no("quasistatic steps", another);
    }
    if *coordinates != Coordinates::Maximal {
        return no("reduced coordinates", "use `coordinates = \"maximal\"`");
    }
    if *linearise_at != LineariseAt::Start {
        return no("constraints that are not linearised at the start of the step", "use `jacobians = \"start\"`");
    }
    if start.scheme.order != Order::First || start.scheme.substeps.count > 1 {
        return no("steps of second order and substeps", "leave `order` and `substeps` out");
    }
    if *impact == Impact::Poisson {
        return no("Poisson's hypothesis", "use `impact = \"newton\"`");
    }
    if matches!(stabilisation, Stabilisation::Baumgarte { .. }) {
        return no("Baumgarte's stabilisation", "leave `stabilisation` out");
    }
    if start.model.has_layers() {
        return no("compliant layers", "leave the layers out");
    }
    if let Some((law, without)) = start.model.contact_rules().find_map(|rule| rule.friction_options().beyond_coulomb())
    {
        return no(law, without);
    }
    Ok(())
}
