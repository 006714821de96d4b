//! Corrections after the step: positions and velocities are projected onto the constraints, or brought nearer to them.
//!
//! The smallest correction in the metric of the mass matrix is a step of its own without forces. Its unknown velocity is the displacement
//! d from the end of the step. Round k linearises at q⁺ ⊕ d_k:
//!
//! ```text
//! M d = W_b μ + W_n λ,     Φ_k + W_bᵀ (d − d_k) + ε (μ − μ_k) = 0,     0 ≤ λ ⊥ ψ_k + W_nᵀ (d − d_k) ≥ 0      [STAB-5]
//! ```
//!
//! The term with ε vanishes as the rounds converge. It distributes the load among redundant joints.

mod closing_velocity;
mod linkages;

use stiction_multibody::{
    BodyId, Configuration, Model, OrientationUpdate, State, Wrench, apply_inverse_mass, energy, mass_block,
};

use crate::{
    Correction, Detector, FeatureDetector, FrictionSet, JointRow, Ladder, Margin, Method, PrescribedSlip, Scheme,
    Stabilisation, Start, StepCause, Workspace, detect, formulation,
    rates::{Side, rate, side_rate},
    springs,
    workspace::AfterStep,
};

/// Bound on the linear problems of a projection; it needs two or three, with frozen directions some more.
const MAX_ROUNDS: u32 = 50;

/// Number of rounds in which contacts with an impulse must close; later rounds require only that nothing penetrates.
const TIGHT_ROUNDS: u32 = 10;

/// Tolerance of a projection, as a fraction of 1 or of the largest coordinate or velocity.
const PROJECTION_TOLERANCE: f64 = 1e-13;

/// Tolerance if rounding keeps the error from halving any more.
const STALL_TOLERANCE: f64 = 10.0 * PROJECTION_TOLERANCE;

/// Margin of contacts in a round, as a multiple of the previous error: a round moves bodies about as far.
const MARGIN_FACTOR: f64 = 4.0;

/// ε as a fraction of the compliance of the row itself.
const RELATIVE_COMPLIANCE: f64 = 1e-8;

/// Applies the stabilisation of the scheme to `ws.result.next` and returns its report; none if it acts within the step.
pub fn stabilise(
    start: &Start,
    (detector, ladder): (&mut dyn Detector, &mut Ladder),
    ws: &mut Workspace,
) -> Result<Option<Correction>, StepCause> {
    let (scheme, model) = (start.scheme.stabilisation, start.model);
    // The θ-method needs projection: γ in v⁺ moves positions by the fraction θ only, and other terms add energy.   [THETA-5]
    let usual = start.scheme.method == Method::MoreauJean && model.joint_rows() > 0;
    let closing = closing_velocity::is_closing(start, ws);
    match scheme {
        Stabilisation::Usual if usual || closing => {}
        Stabilisation::Usual | Stabilisation::Baumgarte { .. } | Stabilisation::Reduction => return Ok(None),
        _ => {}
    }
    let before = energy(model, &ws.result.end, &ws.result.next.angles).total();
    let mut after = ws.after.take().unwrap_or_default();
    let mut corrector = Corrector { start, detector, ladder, ws, after: &mut after, rounds: 0 };
    let corrected =
        if closing { closing_velocity::remove(&mut corrector) } else { corrector.correct(scheme).map(Some) };
    let rounds = corrector.rounds;
    ws.after = Some(after);
    let Some(residual) = corrected? else { return Ok(None) };
    if ws.result.next.first_non_finite().is_some() {
        return Err(StepCause::non_finite("corrected state", None));
    }
    ws.result.end.update(model, &ws.result.next.q, &ws.result.next.v, ws.result.next.time);
    Ok(Some(Correction {
        rounds,
        residual,
        energy: energy(model, &ws.result.end, &ws.result.next.angles).total() - before,
    }))
}

/// Projects the velocities of a state onto those that the joints allow, with the mass matrix as metric: an inelastic impact in all joints.   [RED-7]
pub(crate) fn project_velocities(model: &Model, scheme: &Scheme, state: &mut State) -> Result<(), StepCause> {
    let mut ws = Workspace::default();
    ws.result.next = state.clone();
    ws.constraints.joint_rows.resize(model.joint_rows(), JointRow::default());
    let (mut detector, mut ladder, mut after) = (FeatureDetector::default(), Ladder::default(), AfterStep::default());
    let start = Start::new(model, scheme, state, 0.0);
    let (detector, ladder) = (&mut detector, &mut ladder);
    let mut corrector = Corrector { start: &start, detector, ladder, ws: &mut ws, after: &mut after, rounds: 0 };
    corrector.project(Level::Velocities)?;
    state.v.clone_from(&ws.result.next.v);
    Ok(())
}

/// True if the correction of the step removes errors that steps have left in joints: not those of the start, and no overlap.   [ENERGY-6]
pub(crate) fn corrects_drift(start: &Start, ws: &Workspace) -> bool {
    let lifts = || ws.after.as_ref().is_some_and(|after| !after.pushing.is_empty());
    start.state.step > 0 && !closing_velocity::is_closing(start, ws) && !lifts()
}

/// Makes dampers between bodies leave the closing of joints alone, in the rows of a step.   [FORCE-6]
pub fn leave_closing(start: &Start, ladder: &mut Ladder, ws: &mut Workspace) {
    if springs::damps_closing(start, ws) {
        find_closing(start, ladder, ws);
        springs::leave_closing(start, ws);
    }
}

/// Finds the velocities of least kinetic energy with which the rows of the step close the errors of joints; empty if they contradict each other.
/// [FORCE-6]
fn find_closing(start: &Start, ladder: &mut Ladder, ws: &mut Workspace) {
    let model = start.model;
    let mut after = ws.after.take().unwrap_or_default();
    after.begin(model);
    let workspace = &mut after.workspace;
    workspace.kinematics.start.copy_from(&ws.kinematics.start);
    workspace.constraints.contacts.clear();
    workspace.constraints.support_points.clear();
    workspace.constraints.joint_space_rows.clear();
    workspace.constraints.joint_rows.clear();
    let closing = |row: &JointRow| JointRow { bias: row.bias - row.prescribed, prescribed: 0.0, deferred: 0.0, ..*row };
    workspace.constraints.joint_rows.extend(ws.constraints.joint_rows.iter().map(closing));
    let is_solved = after.solve_linear(model, start.state, (ladder, 0.0)).is_ok();
    ws.kinematics.closing.clear();
    if is_solved {
        ws.kinematics.closing.extend_from_slice(&after.moved);
    }
    ws.after = Some(after);
}

/// Quantities that a correction acts on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Joint errors Φ and gaps ψ.
    Positions,
    /// Joint errors Φ, along the directions W_b of the step itself.   [STAB-7]
    PositionsAlongStep,
    /// Joint errors Φ.
    Joints,
    /// Rates Φ̇ of joint errors.
    Velocities,
    /// Rates Φ̇ of joint errors in the step, along its own directions W_b.   [STAB-10]
    ClosingVelocities,
}

struct Corrector<'a, 's> {
    start: &'a Start<'s>,
    detector: &'a mut dyn Detector,
    ladder: &'a mut Ladder,
    /// Workspace of the completed step.
    ws: &'a mut Workspace,
    after: &'a mut AfterStep,
    rounds: u32,
}

impl Corrector<'_, '_> {
    /// Corrects positions and velocities; returns the largest remaining error.
    fn correct(&mut self, scheme: Stabilisation) -> Result<f64, StepCause> {
        match scheme {
            Stabilisation::Projection(manifold) => {
                let mut residual = 0.0_f64;
                if manifold.has_positions() {
                    residual = self.project(Level::Positions)?;
                    self.refresh_gaps();
                }
                if manifold.has_velocities() {
                    residual = residual.max(self.project(Level::Velocities)?);
                }
                Ok(residual)
            }
            Stabilisation::Usual => {
                let positions = self.project(Level::Joints)?;
                Ok(positions.max(self.project(Level::Velocities)?))
            }
            Stabilisation::Multiplier => self.project(Level::PositionsAlongStep),
            Stabilisation::Ascher { rate } => {
                // The decay ė = −α e over a step removes the fraction 1 − e^(−αh) of an error.   [STAB-4]
                let fraction = -libm::expm1(-rate * self.start.h);
                let positions = self.approach(Level::Joints, fraction)?;
                Ok(positions.max(self.approach(Level::Velocities, fraction)?))
            }
            Stabilisation::Baumgarte { .. } | Stabilisation::Reduction => Ok(0.0),
        }
    }

    /// Solves rounds until the error is at the level of rounding.   [STAB-5]
    fn project(&mut self, level: Level) -> Result<f64, StepCause> {
        self.begin(level);
        let (mut margin, mut before) = (self.start.scheme.touch_threshold, f64::INFINITY);
        for round in 0..=MAX_ROUNDS {
            let (error, loose) = self.measure(level, margin)?;
            let left = if round < TIGHT_ROUNDS { error.max(loose) } else { error };
            let size = self.size(level);
            if left <= PROJECTION_TOLERANCE * size || (left <= STALL_TOLERANCE * size && left > 0.5 * before) {
                return Ok(error);
            }
            self.solve(left)?;
            self.apply(level, 1.0);
            (margin, before) = (MARGIN_FACTOR * left, left);
        }
        let (residual, _) = self.measure(level, margin)?;
        Err(StepCause::NotProjected { residual, rounds: self.rounds, worst: self.worst() })
    }

    /// Applies a fraction of one linear correction; returns the remaining error.   [STAB-4]
    fn approach(&mut self, level: Level, fraction: f64) -> Result<f64, StepCause> {
        self.begin(level);
        let (error, _) = self.measure(level, 0.0)?;
        if error == 0.0 {
            return Ok(0.0);
        }
        self.solve(error)?;
        self.apply(level, fraction);
        Ok(self.measure(level, 0.0)?.0)
    }

    /// Starts a correction at the end of the step.
    fn begin(&mut self, level: Level) {
        let (model, next, after) = (self.start.model, &self.ws.result.next, &mut *self.after);
        after.base.clone_from(match level {
            Level::Velocities => &next.v,
            Level::ClosingVelocities => &self.ws.solution.velocity,
            _ => &next.q,
        });
        after.begin(model);
    }

    /// Magnitude of the values whose rounding limits a projection.
    fn size(&self, level: Level) -> f64 {
        let numbers = if level == Level::Velocities { &self.ws.result.next.v } else { &self.ws.result.next.q };
        numbers.iter().fold(1.0, |most: f64, x| most.max(x.abs()))
    }

    /// Writes the rows of a round at the present end of the step, with the errors as constants.
    ///
    /// Returns the largest error, and the largest gap of contacts with an impulse.
    fn measure(&mut self, level: Level, margin: f64) -> Result<(f64, f64), StepCause> {
        if level == Level::ClosingVelocities {
            return Ok((closing_velocity::write_rows(self), 0.0));
        }
        let (model, ws, after) = (self.start.model, &mut *self.ws, &mut *self.after);
        let workspace = &mut after.workspace;
        workspace.kinematics.start.update(model, &ws.result.next.q, &ws.result.next.v, ws.result.next.time);
        workspace.constraints.contacts.clear();
        if level == Level::Positions {
            let scheme = frictionless(Margin::Fixed(margin));
            detect(&Start::new(model, &scheme, &ws.result.next, 0.0), self.detector, workspace)?;
        }
        workspace.constraints.support_points.clear();
        let (mut worst, mut loose) = (0.0_f64, 0.0_f64);
        for contact in &mut workspace.constraints.contacts {
            (contact.mu, contact.bias) = (0.0, contact.gap_end);
            worst = worst.max(-contact.bias);
            if after.pushing.binary_search(&contact.id).is_ok() {
                loose = loose.max(contact.bias);
            }
        }
        workspace.constraints.joint_rows.clear();
        workspace.constraints.joint_space_rows.clear();
        for joint in model.joints() {
            let (a, b) = (workspace.kinematics.start.twist(joint.a.0), workspace.kinematics.start.twist(joint.b.0));
            let of_step = ws.constraints.joint_rows.iter().skip(joint.first_row());
            for (row, of_step) in joint.evaluate(&workspace.kinematics.start).zip(of_step) {
                let bias = if level == Level::Velocities { row.a.power(&a) + row.b.power(&b) } else { row.value };
                let frozen = level == Level::PositionsAlongStep;
                let (a, b) = if frozen { (of_step.a, of_step.b) } else { (row.a, row.b) };
                workspace.constraints.joint_rows.push(JointRow { a, b, bias, prescribed: 0.0, deferred: 0.0 });
                worst = worst.max(bias.abs());
            }
        }
        debug_assert_eq!(
            workspace.constraints.joint_rows.len(),
            model.joint_rows(),
            "the step has written the rows of all joints"
        );
        Ok((worst, loose))
    }

    /// Solves a round for d and μ. Constants are scaled by the largest one, so that the residual of the problem is of order one.
    fn solve(&mut self, error: f64) -> Result<(), StepCause> {
        self.rounds += 1;
        let after = &mut *self.after;
        after.solve_linear(self.start.model, &self.ws.result.next, (self.ladder, error)).map_err(
            |cause| match cause {
                StepCause::NotSolved { worst, .. } => {
                    StepCause::NotProjected { residual: error, rounds: self.rounds, worst }
                }
                other => other,
            },
        )?;
        let workspace = &after.workspace;
        let impulses = workspace.constraints.contacts.iter().zip(&workspace.solution.contact_impulses);
        after.pushing.clear();
        after.pushing.extend(impulses.filter(|(_, p)| p.normal > 0.0).map(|(contact, _)| contact.id));
        Ok(())
    }

    /// Applies a fraction of the correction.
    fn apply(&mut self, level: Level, fraction: f64) {
        let (next, after) = (&mut self.ws.result.next, &*self.after);
        if level == Level::ClosingVelocities {
            // It is applied as a whole, when it is known.
        } else if level == Level::Velocities {
            let changed = after.base.iter().zip(&after.moved).map(|(v, d)| v + fraction * d);
            next.v.iter_mut().zip(changed).for_each(|(v, changed)| *v = changed);
        } else {
            let update = OrientationUpdate::Exponential;
            self.start.model.integrate(&after.base, &after.moved, fraction, update, &mut next.q);
        }
    }

    /// Updates the gaps in contact reports after projection.
    fn refresh_gaps(&mut self) {
        let found = &self.after.workspace.constraints.contacts;
        for report in &mut self.ws.result.contact_reports {
            if let Ok(place) = found.binary_search_by_key(&report.id, |contact| contact.id)
                && let Some(contact) = found.get(place)
            {
                report.gap = contact.gap_end;
            }
        }
    }

    /// Name of the joint or contact with the largest error.
    fn worst(&self) -> String {
        let (model, at) = (self.start.model, &self.after.workspace);
        let joint =
            at.constraints.joint_rows.iter().enumerate().max_by(|(_, x), (_, y)| x.bias.abs().total_cmp(&y.bias.abs()));
        let contact = at.constraints.contacts.iter().min_by(|x, y| x.bias.total_cmp(&y.bias));
        match (joint, contact) {
            (Some((row, joint)), contact) if contact.is_none_or(|contact| joint.bias.abs() >= -contact.bias) => {
                formulation::name_joint(model, row)
            }
            (_, contact) => formulation::name_contact(model, contact),
        }
    }
}

impl AfterStep {
    /// Starts a correction that has not moved anything.
    fn begin(&mut self, model: &Model) {
        self.pushing.clear();
        let zero = |numbers: &mut Vec<f64>, length: usize| {
            numbers.clear();
            numbers.resize(length, 0.0);
        };
        zero(&mut self.moved, model.dof());
        zero(&mut self.multipliers, model.joint_rows());
        let workspace = &mut self.workspace;
        zero(&mut workspace.kinematics.before, model.dof());
        zero(&mut workspace.detection.reach, model.bodies().len());
        workspace.kinematics.applied.clear();
        workspace.kinematics.linearisation_velocity.clear();
    }

    /// Solves the rows in the workspace for d and μ, scaled by the largest constant or `error`.
    fn solve_linear(
        &mut self,
        model: &Model,
        state: &State,
        (ladder, error): (&mut Ladder, f64),
    ) -> Result<(), StepCause> {
        let unit = self.write_constants(model).max(error);
        let Self { workspace, moved, multipliers, .. } = self;
        workspace.constraints.joint_rows.iter_mut().for_each(|row| row.bias /= unit);
        workspace.constraints.joint_space_rows.iter_mut().for_each(|row| row.bias /= unit);
        workspace.constraints.contacts.iter_mut().for_each(|contact| contact.bias /= unit);
        let scheme = frictionless(Margin::Automatic);
        let impulsive = Start::new(model, &scheme, state, 0.0);
        formulation::assemble_rows(&impulsive, workspace)?;
        formulation::solve(&impulsive, ladder, workspace)?;
        debug_assert_eq!(moved.len(), workspace.solution.velocity.len(), "both have all velocities");
        moved.iter_mut().zip(&workspace.solution.velocity).for_each(|(d, x)| *d = unit * x);
        let impulses = workspace.solution.joint_impulses.iter().chain(&workspace.solution.joint_space_impulses);
        debug_assert_eq!(multipliers.len(), impulses.clone().count(), "every row of a joint has a multiplier");
        multipliers.iter_mut().zip(impulses).for_each(|(mu, x)| *mu = unit * x);
        Ok(())
    }

    /// Computes the constants Φ_k − W_bᵀ d_k − ε μ_k and ψ_k − W_nᵀ d_k from the errors in the rows; returns the largest.   [STAB-5]
    fn write_constants(&mut self, model: &Model) -> f64 {
        let Self { workspace, moved, multipliers, .. } = self;
        let mut largest = 0.0_f64;
        workspace.mixed.joint_regularisation.clear();
        let owners = model.joints().iter().flat_map(|joint| std::iter::repeat_n((joint.a.0, joint.b.0), joint.rows()));
        debug_assert_eq!(
            workspace.constraints.joint_rows.len(),
            model.joint_rows(),
            "every joint row belongs to a joint"
        );
        let mut multipliers = multipliers.iter();
        for ((row, (a, b)), multiplier) in workspace.constraints.joint_rows.iter_mut().zip(owners).zip(&mut multipliers)
        {
            let sides = [(a, &row.a), (b, &row.b)];
            let inverse_mass: f64 =
                sides.iter().map(|(id, wrench)| compliance(model, &workspace.kinematics.start, *id, wrench)).sum();
            let displaced: f64 = sides.iter().map(|(id, wrench)| side_rate(model, moved, *id, wrench)).sum();
            workspace.mixed.joint_regularisation.push(RELATIVE_COMPLIANCE * inverse_mass);
            row.bias -= displaced + RELATIVE_COMPLIANCE * inverse_mass * *multiplier;
            largest = largest.max(row.bias.abs());
        }
        for (row, multiplier) in workspace.constraints.joint_space_rows.iter_mut().zip(multipliers) {
            let inverse_mass = row.sides.iter().flatten().map(|side| match side {
                Side::Wrench(id, wrench) => compliance(model, &workspace.kinematics.start, *id, wrench),
                Side::Velocity(..) => 0.0,
            });
            row.compliance = RELATIVE_COMPLIANCE * inverse_mass.sum::<f64>();
            row.bias -= rate(model, &row.sides, moved, None) + row.compliance * multiplier;
            largest = largest.max(row.bias.abs());
        }
        for contact in &mut workspace.constraints.contacts {
            let (a, b) = contact.row(&contact.normal);
            contact.bias -= side_rate(model, moved, contact.a, &a) + side_rate(model, moved, contact.b, &b);
            largest = largest.max(contact.bias.abs());
        }
        largest
    }
}

/// Compliance wᵀ M⁻¹ w of a body along a wrench w of unit size.
fn compliance(model: &Model, at: &Configuration, id: BodyId, wrench: &Wrench) -> f64 {
    let Some((mobility, mass, inertia)) = mass_block(model, at, id.index()) else { return 0.0 };
    let answer = mobility.project(&apply_inverse_mass(mobility, mass, &inertia, wrench));
    mobility.project(wrench).iter().zip(answer).map(|(w, a)| w * a).sum()
}

/// Scheme for corrections: contacts within a margin, without friction, at the present configuration.
fn frictionless(margin: Margin) -> Scheme {
    Scheme { margin, friction: FrictionSet::Polygon, prescribed_slip: PrescribedSlip::Start, ..Scheme::default() }
}
