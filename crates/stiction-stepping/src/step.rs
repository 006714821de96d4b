//! One step by complementarity: detect, assemble, solve, advance, repeated until linearisation and contacts are consistent.

use std::cell::OnceCell;

use stiction_complementarity::{Problem, Status, Tolerance};
use stiction_multibody::{ContactId, ContactMode};

use crate::{
    Changes, Contact, ContactReport, CornerLogic, Detector, Dynamics, FeatureDetector, Impact, Infeasibility, Kick,
    Ladder, LineariseAt, PositionUpdate, Scheme, Stabilisation, Start, StepCause, StepEnergy, StepReport, Workspace,
    advance,
    advance::find_moving_velocity,
    corners,
    corners::disjunctive,
    detect,
    detect::prepare,
    formulation,
    impact::{self, collide},
    implicit::{self, ImplicitNewton},
    joint_space,
    ladder::{CONE_TOLERANCE, LadderOutcome},
    layers,
    measure::{joint_error, penetration},
    pairs::find_pairs_at_end,
    quasistatic,
    rates::{approach, linearised_start_gap},
    reduced,
    review::{Change, PassCounts, Stage, Verdict},
    rows,
    stabilise::{corrects_drift, leave_closing, stabilise},
    step_energy::{forces_on_correction, step_energy},
    workspace::ProblemToSolve,
};

/// Stepping method. It fills `ws.result.next` and the reports of the workspace; the caller swaps the state.
pub trait Stepper: Send {
    /// Makes the step or returns the cause of failure; the state in `start` is not modified.
    fn step(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause>;

    /// Makes the second half of a step of second order: forces and constraints at its end, without motion.   [STEP-18]
    ///
    /// `start.state` is the result of [`Self::step`] with the first kick. Steppers without steps of second order keep the default, an error.
    fn kick(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        let _ = (start, ws);
        Err(StepCause::FirstOrder)
    }
}

/// Time-stepping schemes of this crate, with exchangeable detector and solver ladder.
pub struct TimeStepper {
    /// Collision detector.
    pub detector: Box<dyn Detector>,
    /// Ladder of solver methods.
    pub ladder: Ladder,
    /// Memory of Newton's method for implicit steps.
    newton: ImplicitNewton,
}

impl TimeStepper {
    /// Replaces the collision detector.
    #[must_use]
    pub fn with_detector(self, detector: impl Detector + 'static) -> Self {
        Self { detector: Box::new(detector), ..self }
    }

    /// Replaces the ladder of solver methods.
    #[must_use]
    pub fn with_ladder(self, ladder: Ladder) -> Self {
        Self { ladder, ..self }
    }
}

impl Default for TimeStepper {
    fn default() -> Self {
        Self {
            detector: Box::new(FeatureDetector::default()),
            ladder: Ladder::default(),
            newton: ImplicitNewton::default(),
        }
    }
}

/// Relative displacement in a step below which a body is at rest, to rounding: fraction of its size and distance from the origin.
const AT_REST: f64 = f64::EPSILON;

/// Bound on the passes that add missed contacts, on those that add slack, and on those that add single missed joint limits before all are added.
const MAX_REDETECTIONS: u32 = 4;

/// Bound on the fixed-point passes of a step; the last result is then kept.
const MAX_PASSES: u32 = 50;

/// Number of passes of an implicit step that must reach [`CONE_TOLERANCE`]; later passes must reach the tolerance of the ladder, or rounding.
const TIGHT_PASSES: u32 = 3;

/// Fixed-point tolerance: largest change of a coordinate of q⁺, as a fraction of the largest coordinate (or of 1).
const FIXED_POINT_TOLERANCE: f64 = 4.0 * f64::EPSILON;

impl Stepper for TimeStepper {
    /// Makes a step: passes through the stages until a review accepts the result.
    fn step(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        self.ladder.follow(&start.scheme.solving.residual);
        let end_velocity_scheme = OnceCell::new();
        let (mut start, mut first_try) = (*start, None);
        let (mut counts, mut stage) = (PassCounts::default(), Stage::Kinematics);
        loop {
            StepCause::if_interrupted()?;
            if stage == Stage::Kinematics {
                prepare(&start, ws)?;
                counts.iterations += self.begin(&start, ws)?;
            }
            if stage <= Stage::Detection {
                detect(&start, self.detector.as_mut(), ws)?;
            }
            if stage <= Stage::Rows {
                rows::write(&start, ws);
                leave_closing(&start, &mut self.ladder, ws);
                counts.working_sets = formulation::screen(&start, ws).then_some(0);
            }
            let solved = if start.scheme.dynamics == Dynamics::Quasistatic {
                quasistatic::solve(&start, &mut self.ladder, ws)
            } else {
                formulation::assemble_rows(&start, ws).and_then(|()| {
                    formulation::write_warm_start(&start, ws);
                    let outcome = match ws.problem_to_solve() {
                        ProblemToSolve::Friction(problem, guess, solution) => {
                            self.ladder.solve(problem, Some(guess), solution)
                        }
                        ProblemToSolve::Mixed(problem, solution) => self.ladder.solve(problem, None, solution),
                    };
                    formulation::recover(&start, &self.ladder, outcome, ws)
                })
            };
            counts.passes += 1;
            let change = match self.review_solution(&start, solved, &mut counts, ws)? {
                Verdict::Repeat(change) => change,
                Verdict::Accepted(ladder_outcome) => {
                    advance(&start, ws)?;
                    match self.review_end(&start, &counts, ws)? {
                        Verdict::Repeat(change) => change,
                        Verdict::Accepted(measured) => {
                            let report = self.finish(&start, &counts, &ladder_outcome, measured, ws)?;
                            let by_mean = start.scheme.position_update != PositionUpdate::End;
                            if !by_mean || !layers::rigid_contact_is_active(ws) {
                                return Ok(first_try.map_or(report, |first| with_first_try(&first, &report)));
                            }
                            // Mean velocities would move bodies into rigid contacts: there the end velocity moves them.   [SOFT-6]
                            let end = || Scheme { position_update: PositionUpdate::End, ..start.scheme.clone() };
                            start.scheme = end_velocity_scheme.get_or_init(end);
                            (first_try, counts) = (Some(report), PassCounts::default());
                            Change::EndVelocity
                        }
                    }
                }
            };
            counts.changes.add(change);
            stage = change.resume();
        }
    }

    fn kick(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        debug_assert_eq!(start.kick, Kick::Second, "the bodies have moved");
        self.ladder.follow(&start.scheme.solving.residual);
        prepare(start, ws)?;
        ws.result.impacts.clear();
        ws.result.impact_loads.clear();
        ws.kinematics.linearisation_velocity.clear();
        detect(start, self.detector.as_mut(), ws)?;
        impact::keep_closed(start, ws);
        impact::withdraw_first_kick(start, ws)?;
        formulation::assemble(start, ws)?;
        let solved = formulation::solve(start, &mut self.ladder, ws);
        let is_solved = solved.as_ref().is_ok_and(|outcome| outcome.status.is_solved());
        let outcome = if !is_solved && formulation::review_contradictions(start, ws) {
            formulation::assemble_rows(start, ws)?;
            formulation::solve(start, &mut self.ladder, ws)
        } else {
            solved
        }?;
        advance(start, ws)?;
        // The bodies do not move: overlap and joint errors are those of the first kick.
        let report = report_step(start, ws, &outcome, (1, 0), Infeasibility { penetration: 0.0, joints: 0.0 });
        Ok(StepReport { energy: step_energy(start, ws, outcome.residual.value), ..report })
    }
}

/// Report of a step that was made a second time, with the work of both tries.
fn with_first_try(first: &StepReport, second: &StepReport) -> StepReport {
    let (iterations, passes) = (first.iterations + second.iterations, first.passes + second.passes);
    StepReport { iterations, passes, changes: first.changes.sum(&second.changes), ..*second }
}

impl TimeStepper {
    /// Applies impacts by Poisson's hypothesis and chooses the first linearisation; returns the iterations of the impacts.
    fn begin(&mut self, start: &Start, ws: &mut Workspace) -> Result<u32, StepCause> {
        ws.result.impacts.clear();
        ws.result.impact_loads.clear();
        let poisson = start.scheme.impact == Impact::Poisson;
        let iterations = if poisson { collide(start, self.detector.as_mut(), &mut self.ladder, ws)? } else { 0 };
        begin_linearisation(start, ws);
        Ok(iterations)
    }

    /// Reviews the solution: contacts left out, faces of corners, linearisation and joint limits.
    fn review_solution(
        &mut self,
        start: &Start,
        solved: Result<LadderOutcome, StepCause>,
        counts: &mut PassCounts,
        ws: &mut Workspace,
    ) -> Result<Verdict<LadderOutcome>, StepCause> {
        // Whatever may lead to a smaller residual is tried before a solution above the aimed one is accepted.
        let is_solved = solved.as_ref().is_ok_and(|ladder_outcome| ladder_outcome.status.is_solved());
        if let Some(change) = formulation::review_working_set(start, is_solved, &mut counts.working_sets, ws) {
            counts.iterations += solved.map_or(0, |ladder_outcome| ladder_outcome.iterations);
            return Ok(Verdict::Repeat(change));
        }
        if let (Err(_), Some(branch)) = (&solved, &mut counts.branch)
            && disjunctive::next_branch(ws, branch)
        {
            return Ok(Verdict::Repeat(Change::NextFaceCombination));
        }
        if !is_solved
            && counts.changes.count(Change::LeaveContradictions) == 0
            && formulation::review_contradictions(start, ws)
        {
            return Ok(Verdict::Repeat(Change::LeaveContradictions));
        }
        if matches!(solved, Err(StepCause::NotSolved { .. }))
            && counts.changes.count(Change::AddSlack) < MAX_REDETECTIONS
            && formulation::review_jam(start, &self.ladder, ws)
        {
            return Ok(Verdict::Repeat(Change::AddSlack));
        }
        let mut ladder_outcome = solved?;
        counts.iterations += ladder_outcome.iterations;
        if let Some(change) = self.review_corners(start, &mut ladder_outcome, counts, ws)? {
            return Ok(Verdict::Repeat(change));
        }
        let converged = match start.scheme.linearise_at {
            LineariseAt::Start | LineariseAt::Predicted | LineariseAt::End => fixed_point_converged(start, ws),
            LineariseAt::Implicit => match self.finish_implicitly(start, counts.passes, ws)? {
                Some(finished) => {
                    counts.iterations += finished.iterations;
                    ladder_outcome = finished;
                    true
                }
                None if counts.passes < MAX_PASSES => false,
                None => {
                    // The linearised problem was solved; what was not reached are the laws at the end of the step.
                    let residual = ws.friction.problem.residual(&ws.friction.solution);
                    let failed = LadderOutcome { status: Status::BudgetExhausted, residual, ..ladder_outcome };
                    return Err(formulation::not_solved(start.model, &self.ladder, ws, &failed));
                }
            },
        };
        let missed_limits = joint_space::missed_limits(start, ws);
        let misses = counts.changes.count(Change::AddJointLimits) + u32::from(missed_limits);
        ws.constraints.all_limits |= misses > MAX_REDETECTIONS;
        match (converged, missed_limits) {
            (_, true) if counts.passes < MAX_PASSES => Ok(Verdict::Repeat(Change::AddJointLimits)),
            (_, true) => Err(formulation::not_solved(start.model, &self.ladder, ws, &ladder_outcome)),
            (false, false) if counts.passes < MAX_PASSES => Ok(Verdict::Repeat(Change::Relinearise)),
            (_, false) => Ok(Verdict::Accepted(ladder_outcome)),
        }
    }

    /// Reviews the choice of faces at corners.   [CORNER-2]
    ///
    /// In the disjunctive problem the residual is measured with all faces, and other combinations are tried until one solves it.   [CORNER-4]
    fn review_corners(
        &mut self,
        start: &Start,
        ladder_outcome: &mut LadderOutcome,
        counts: &mut PassCounts,
        ws: &mut Workspace,
    ) -> Result<Option<Change>, StepCause> {
        if counts.branch.is_none() {
            if corners::refine_pairs(start, self.detector.as_mut(), ws) {
                return Ok(Some(Change::VertexContacts));
            }
            if corners::reselect_faces(start, ws) {
                return Ok(Some(Change::SwitchFace));
            }
            if start.scheme.corners != CornerLogic::Disjunctive || ws.alternatives.chains.is_empty() {
                return Ok(None);
            }
        }
        ladder_outcome.residual = disjunctive::complete(start, ws)?;
        if ladder_outcome.residual.value <= self.ladder.tolerance.solved {
            counts.branch = None;
            return Ok(None);
        }
        if disjunctive::next_branch(ws, counts.branch.get_or_insert(0)) {
            return Ok(Some(Change::NextFaceCombination));
        }
        Err(formulation::not_solved(start.model, &self.ladder, ws, ladder_outcome))
    }

    /// Reviews the end of the step: a contact that was not in the problem must not penetrate.   [STEP-12]
    fn review_end(
        &mut self,
        start: &Start,
        counts: &PassCounts,
        ws: &mut Workspace,
    ) -> Result<Verdict<Infeasibility>, StepCause> {
        let (measured, missed) = self.measure_end(start, Pairs::ThatMoved, ws)?;
        let may_repeat = counts.changes.count(Change::EnlargeReach) < MAX_REDETECTIONS;
        if missed && may_repeat && enlarge_reach(start, ws) {
            return Ok(Verdict::Repeat(Change::EnlargeReach));
        }
        Ok(Verdict::Accepted(measured))
    }

    /// Stabilises the accepted step and reports it.
    fn finish(
        &mut self,
        start: &Start,
        counts: &PassCounts,
        ladder_outcome: &LadderOutcome,
        measured: Infeasibility,
        ws: &mut Workspace,
    ) -> Result<StepReport, StepCause> {
        let ladder_outcome = LadderOutcome { iterations: counts.iterations, ..*ladder_outcome };
        let energy = step_energy(start, ws, ladder_outcome.residual.value);
        let slack = formulation::overlap_of_jam(start, ws);
        let is_corrected = start.scheme.stabilisation != Stabilisation::Usual;
        if is_corrected {
            ws.kinematics.ahead_velocity.clone_from(&ws.result.next.v);
        }
        let correction = stabilise(start, (self.detector.as_mut(), &mut self.ladder), ws)?;
        let added = correction.map_or(0.0, |correction| correction.energy);
        let drift = corrects_drift(start, ws);
        let added = if drift && is_corrected {
            added + forces_on_correction(start, ws, &ws.kinematics.ahead_velocity)
        } else {
            added
        };
        let energy = energy.corrected(added, drift);
        let measured = if correction.is_some() { self.measure_end(start, Pairs::All, ws)?.0 } else { measured };
        let report = report_step(start, ws, &ladder_outcome, (counts.passes, impacts(start, ws)), measured);
        impact::add_to_reports(ws);
        Ok(StepReport { correction, energy, slack, changes: counts.changes, ..report })
    }

    /// Solves the step with end-of-step geometry, from the linearised step in the workspace; none if another pass is needed.   [GIM-1]
    fn finish_implicitly(
        &mut self,
        start: &Start,
        passes: u32,
        ws: &mut Workspace,
    ) -> Result<Option<LadderOutcome>, StepCause> {
        let rung = if self.newton.solve(start, passes, ws) { "implicit-newton" } else { "fixed-point" };
        // A contact found only at the end may be violated slightly; the next pass contains it.
        let Tolerance { solved, loose } = self.ladder.cone_tolerance;
        let solved =
            if passes <= TIGHT_PASSES { CONE_TOLERANCE } else { solved.max(implicit::rounding_of_gaps(start.h, ws)) };
        // What a step may leave above the aim is known after the last pass.   [STEP-19]
        let loose = if passes < MAX_PASSES { solved } else { loose.max(solved) };
        let tolerance = Tolerance { solved, loose };
        implicit::accept(start, self.detector.as_mut(), (&self.newton, rung), tolerance, ws)
    }

    /// Measures I(q⁺); the second value is true if a contact that was not in the problem penetrates.   [STEP-9] [STEP-12]
    fn measure_end(
        &mut self,
        start: &Start,
        measured: Pairs,
        ws: &mut Workspace,
    ) -> Result<(Infeasibility, bool), StepCause> {
        let (model, scheme) = (start.model, start.scheme);
        find_pairs_at_end(model, scheme, self.detector.as_mut(), ws);
        let resting = if measured == Pairs::ThatMoved { drop_resting_pairs(start, ws) } else { 0.0 };
        let mut missed = false;
        let contacts =
            if ws.alternatives.candidates.is_empty() { &ws.constraints.contacts } else { &ws.alternatives.candidates };
        let deepest = penetration(
            model,
            &ws.detection.shape_poses,
            &ws.detection.pairs,
            (self.detector.as_mut(), &mut ws.detection.points),
            |(i, j), point| {
                let (Some((shape_a, a, _)), Some((shape_b, b, _))) = (model.shape(i), model.shape(j)) else {
                    debug_assert!(false, "pairs are indices of shapes");
                    return;
                };
                // At velocity level, contacts that did not touch before are not constrained.
                let is_constrained = model.contact_rule(a, b).gamma.unwrap_or(scheme.gamma) > 0.0;
                let id = ContactId { shape_a, shape_b, feature: point.feature };
                let known = contacts.binary_search_by_key(&id, |contact| contact.id).is_ok();
                let missed_core = layers::core_is_missed(
                    ws.constraints.contacts.as_slice(),
                    &ws.constraints.layer_surfaces,
                    &id,
                    |depth| -point.gap - depth > scheme.touch_threshold,
                );
                missed |= is_constrained && (missed_core || (-point.gap > scheme.touch_threshold && !known));
            },
        )?;
        let joints = joint_error(reduced::joints_in_problem(model, ws.reduced.as_deref()), &ws.result.end);
        Ok((Infeasibility { penetration: deepest.max(resting), joints }, missed))
    }
}

/// Pairs of shapes whose penetration is measured at the end of a step.
#[derive(Clone, Copy, PartialEq)]
enum Pairs {
    /// Pairs that moved; for others the gaps at the start are known.
    ThatMoved,
    /// All: a projection moves bodies that have no velocity.
    All,
}

/// Chooses where the constraints of the first pass are linearised.   [STEP-10]
fn begin_linearisation(start: &Start, ws: &mut Workspace) {
    ws.kinematics.linearisation_velocity.clear();
    ws.constraints.penetrations.clear();
    if start.scheme.linearise_at != LineariseAt::Start {
        ws.kinematics.linearisation_velocity.extend(&ws.kinematics.before);
        if let Some(reduced) = &mut ws.reduced {
            reduced.linearisation_velocity.clone_from(&reduced.before);
        }
    }
}

/// Removes the pairs at rest from `ws.detection.pairs` and returns their deepest penetration, m, from the contacts of the step.
fn drop_resting_pairs(start: &Start, ws: &mut Workspace) -> f64 {
    let (model, h) = (start.model, start.h);
    let (before, end) = (&ws.kinematics.start, &ws.result.end);
    let (contacts, candidates) = (&ws.constraints.contacts, &ws.alternatives.candidates);
    let rests = |shape: usize| {
        model.shape(shape).is_none_or(|(_, id, _)| {
            if model.unknowns(id).is_none() {
                return !model.kinematic_bodies().contains(&id);
            }
            let (twist, place) = (end.twist(id), before.pose(id).translation.vector.norm());
            let radius = model.radius(id);
            let displacement = h * (twist.linear.norm() + radius * twist.angular.norm());
            displacement <= AT_REST * (place + radius)
        })
    };
    // Contacts with alternatives are measured again: single gaps may be negative while the shapes are apart.
    let mut deepest = 0.0_f64;
    ws.detection.pairs.retain(|&(i, j)| {
        let is_of_pair = |contact: &&Contact| (contact.id.shape_a.index(), contact.id.shape_b.index()) == (i, j);
        let rests = candidates.is_empty() && rests(i) && rests(j);
        if rests {
            let depth = |contact: &Contact| -contact.gap_start - contact.layer.map_or(0.0, |layer| layer.allowance());
            deepest = contacts.iter().filter(is_of_pair).map(depth).fold(deepest, f64::max);
        }
        !rests
    });
    deepest
}

/// Updates the linearisation by the latest v⁺; true if the fixed-point iteration has converged.   [STEP-10] [SOFT-7]
fn fixed_point_converged(start: &Start, ws: &mut Workspace) -> bool {
    let tolerance = || FIXED_POINT_TOLERANCE * start.state.q.iter().fold(1.0_f64, |most, q| most.max(q.abs()));
    if start.scheme.linearise_at != LineariseAt::End && ws.constraints.layer_surfaces.is_empty() {
        return true;
    }
    find_moving_velocity(start, ws);
    let converged = layers::linearisation_converged(start, ws, tolerance);
    if start.scheme.linearise_at != LineariseAt::End {
        return converged;
    }
    debug_assert_eq!(ws.solution.moving.len(), ws.kinematics.linearisation_velocity.len(), "both have all velocities");
    let change = ws
        .solution
        .moving
        .iter()
        .zip(&ws.kinematics.linearisation_velocity)
        .fold(0.0_f64, |most, (v, old)| most.max((v - old).abs()));
    if start.h * change <= tolerance() {
        return converged;
    }
    ws.kinematics.linearisation_velocity.clone_from(&ws.solution.moving);
    if let Some(reduced) = &mut ws.reduced {
        reduced.linearisation_velocity.clone_from(&reduced.moving);
    }
    false
}

/// Enlarges the reach of bodies to their displacement in the step; false if none exceeds its reach.   [STEP-12]
fn enlarge_reach(start: &Start, ws: &mut Workspace) -> bool {
    debug_assert_eq!(start.model.bodies().len(), ws.detection.reach.len(), "every body has a reach");
    let mut further = false;
    for ((id, body), reach) in start.model.iter_bodies().zip(&mut ws.detection.reach) {
        if body.mobility().is_none() {
            continue;
        }
        let twist = ws.result.end.twist(id);
        let moved = (twist.linear.norm() + body.radius() * twist.angular.norm()) * start.h;
        if moved > *reach {
            (*reach, further) = (moved, true);
        }
    }
    further
}

/// Number of contacts hit in the step: by Poisson's hypothesis, by closing with an impulse, or with restitution pending.
fn impacts(start: &Start, ws: &Workspace) -> usize {
    let &Start { model, scheme, state, h, .. } = start;
    let memory = |id: ContactId| {
        let found = state.contacts.binary_search_by_key(&id, |memory| memory.id).ok();
        found.and_then(|place| state.contacts.get(place))
    };
    let closed = |id: ContactId| memory(id).is_some_and(|memory| memory.mode != ContactMode::Open);
    let core_was_closed =
        |id: ContactId| memory(id).and_then(|memory| memory.layer).is_some_and(|layer| layer.core_impulse > 0.0);
    let hit = |(contact, report): (&Contact, &ContactReport)| {
        // Contacts that are closed when the simulation begins are not hit.
        let came = || {
            linearised_start_gap(model, contact, &ws.kinematics.linearisation_velocity, h) > scheme.touch_threshold
                || h * approach(model, contact, &ws.kinematics.before, h) < -scheme.touch_threshold
        };
        // Touching a layer is no impact; touching its rigid core is.
        let is_hit = match report.layer {
            Some(layer) => layer.core_impulse > 0.0 && !core_was_closed(contact.id),
            None => report.pending_restitution < 0.0 || (report.normal_impulse > 0.0 && !closed(contact.id) && came()),
        };
        is_hit && ws.result.impacts.iter().all(|impact| impact.id != contact.id)
    };
    debug_assert_eq!(ws.constraints.contacts.len(), ws.result.contact_reports.len(), "every contact has a report");
    ws.result.impacts.len()
        + ws.constraints.contacts.iter().zip(&ws.result.contact_reports).filter(|&pair| hit(pair)).count()
}

/// Report of the step in the workspace, made by one complementarity problem in `passes` passes with `impacts` impacts.
pub fn report_step(
    start: &Start,
    ws: &Workspace,
    ladder_outcome: &LadderOutcome,
    (passes, impacts): (u32, usize),
    measured: Infeasibility,
) -> StepReport {
    StepReport {
        step: ws.result.next.step,
        time: ws.result.next.time,
        contacts: ws.constraints.contacts.len(),
        problem_size: formulation::size(start, ws),
        residual: ladder_outcome.residual,
        status: ladder_outcome.status,
        worst: ladder_outcome.worst,
        iterations: ladder_outcome.iterations,
        passes,
        changes: Changes::default(),
        impacts,
        rung: ladder_outcome.rung,
        slack: 0.0,
        penetration: measured.penetration,
        joint_error: measured.joints,
        substeps: 1,
        layer_substeps: 1,
        correction: None,
        energy: StepEnergy::default(),
    }
}
