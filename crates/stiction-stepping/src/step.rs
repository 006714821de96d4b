//! One step by complementarity: detect, assemble, solve, advance; once more where the answer asks for it.

use stiction_multibody::{ContactId, ContactMode};

use crate::{
    Contact, ContactReport, CornerLogic, Detector, Dynamics, FeatureDetector, Impact, Infeasibility, Ladder,
    LineariseAt, PositionUpdate, Scheme, Start, StepCause, StepReport, Workspace, advance,
    advance::find_moving_velocity,
    corners,
    corners::disjunctive,
    detect,
    detect::prepare,
    formulation,
    impact::{self, collide},
    implicit, joint_space,
    ladder::{CONE_TOLERANCE, LadderOutcome},
    layers,
    measure::measure,
    pairs::find_pairs_at_end,
    quasistatic, reduced,
    rows::{approach, gap_now},
    stabilise::stabilise,
};

/// A way to make a step. It fills `ws.next` and the reports of the workspace; the state is swapped by the caller.
pub trait Stepper: Send {
    /// Makes the step, or says why not; the state in `start` is never touched.
    fn step(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause>;
}

/// The schemes of this crate, with their exchangeable parts.
pub struct TimeStepper {
    /// Finds contacts.
    pub detector: Box<dyn Detector>,
    /// Solves problems.
    pub ladder: Ladder,
}

impl Default for TimeStepper {
    fn default() -> Self {
        Self { detector: Box::new(FeatureDetector::default()), ladder: Ladder::default() }
    }
}

/// A body that moves by less than this share of its size and place in a step is where it was, to rounding.
const AT_REST: f64 = f64::EPSILON;

/// Passes in which missed contacts are added, and missed limits before all are.
const GROWTHS: u32 = 4;

/// Passes of the fixed point after which the last answer is kept.
const FIXED_POINT_PASSES: u32 = 50;

/// Passes of an implicit step in which the accuracy that is aimed at is asked for, and not only the one that is required.
const AIMED_PASSES: u32 = 3;

/// The fixed point has settled when no coordinate of q⁺ moves by more than this share of the largest (or of 1).
const SETTLED: f64 = 4.0 * f64::EPSILON;

impl Stepper for TimeStepper {
    fn step(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        let report = self.step_once(start, ws)?;
        if start.scheme.position_update == PositionUpdate::End || !layers::something_rigid_pushes(ws) {
            return Ok(report);
        }
        // Mean velocities would carry bodies into what is rigid: there the end velocity moves them.   [SOFT-6]
        let scheme = Scheme { position_update: PositionUpdate::End, ..start.scheme.clone() };
        let again = self.step_once(&Start { scheme: &scheme, ..*start }, ws)?;
        let (iterations, passes) = (report.iterations + again.iterations, report.passes + again.passes);
        Ok(StepReport { iterations, passes, ..again })
    }
}

impl TimeStepper {
    /// One step with the position update of the scheme, whatever pushes.
    fn step_once(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        prepare(start, ws)?;
        let (mut passes, mut iterations, mut growths, mut misses) = (0, 0, 0, 0);
        ws.impacts.clear();
        ws.impact_loads.clear();
        if start.scheme.impact == Impact::Poisson {
            iterations += collide(start, self.detector.as_mut(), &mut self.ladder, ws)?;
        }
        ws.linearisation_velocity.clear();
        ws.depths.clear();
        if start.scheme.linearise_at != LineariseAt::Start {
            ws.linearisation_velocity.extend(&ws.before);
            if let Some(reduced) = &mut ws.reduced {
                reduced.linearisation_velocity.clone_from(&reduced.before);
            }
        }
        loop {
            let mut ladder_outcome = self.pass(start, ws, &mut passes)?;
            iterations += ladder_outcome.iterations;
            let settled = match start.scheme.linearise_at {
                LineariseAt::Start | LineariseAt::Predicted | LineariseAt::End => look_again(start, ws),
                LineariseAt::Implicit => match self.finish_implicitly(start, passes, ws)? {
                    Some(finished) => {
                        iterations += finished.iterations;
                        ladder_outcome = finished;
                        true
                    }
                    None if passes < FIXED_POINT_PASSES => false,
                    None => return Err(formulation::not_solved(start.model, &self.ladder, ws, &ladder_outcome)),
                },
            };
            let missed_limits = joint_space::missed_limits(start, ws);
            misses += u32::from(missed_limits);
            ws.all_limits |= misses > GROWTHS;
            if (!settled || missed_limits) && passes < FIXED_POINT_PASSES {
                continue;
            }
            if missed_limits {
                return Err(formulation::not_solved(start.model, &self.ladder, ws, &ladder_outcome));
            }
            advance(start, ws)?;
            let (measured, missed) = self.measure_end(start, ws)?;
            if missed && growths < GROWTHS && reach_further(start, ws) {
                growths += 1;
                continue;
            }
            let ladder_outcome = LadderOutcome { iterations, ..ladder_outcome };
            let correction = stabilise(start, (self.detector.as_mut(), &mut self.ladder), ws)?;
            let measured = if correction.is_some() { self.measure_end(start, ws)?.0 } else { measured };
            let report = StepReport::of(start, ws, &ladder_outcome, (passes, impacts(start, ws)), measured);
            impact::add_to_reports(ws);
            return Ok(StepReport { correction, ..report });
        }
    }

    /// Goes on from the linearised step in the workspace to the one whose contacts hold at its end; none where the pass has to be
    /// repeated from where it came to.   [GIM-1]
    fn finish_implicitly(
        &mut self,
        start: &Start,
        passes: u32,
        ws: &mut Workspace,
    ) -> Result<Option<LadderOutcome>, StepCause> {
        let mut newton = ws.newton.take().unwrap_or_default();
        let rung = if newton.solve(start, passes, ws) { "implicit-newton" } else { "fixed-point" };
        // A contact that was seen only at the end may miss by a little; the next pass knows of it.
        let tolerance = if passes <= AIMED_PASSES { CONE_TOLERANCE } else { self.ladder.cone_tolerance.solved };
        let accepted = implicit::accept(start, self.detector.as_mut(), (&newton, rung), tolerance, ws);
        ws.newton = Some(newton);
        accepted
    }

    /// Finds the contacts and solves for them, again where a corner asks for it.   [CORNER-2]
    fn pass(&mut self, start: &Start, ws: &mut Workspace, passes: &mut u32) -> Result<LadderOutcome, StepCause> {
        detect(start, self.detector.as_mut(), ws)?;
        let mut iterations = 0;
        loop {
            let ladder_outcome = self.solve(start, ws, passes)?;
            iterations += ladder_outcome.iterations;
            if corners::look_closer(start, self.detector.as_mut(), ws) {
                detect(start, self.detector.as_mut(), ws)?;
            } else if !corners::again(start, ws) {
                let ladder_outcome = LadderOutcome { iterations, ..ladder_outcome };
                let disjunctive = start.scheme.corners == CornerLogic::Disjunctive && !ws.chains.is_empty();
                return if disjunctive { self.branch(start, ws, ladder_outcome, passes) } else { Ok(ladder_outcome) };
            }
        }
    }

    /// Measures the solution in the problem with the choice of faces in it, and tries other faces until one is right.   [CORNER-4]
    fn branch(
        &mut self,
        start: &Start,
        ws: &mut Workspace,
        mut ladder_outcome: LadderOutcome,
        passes: &mut u32,
    ) -> Result<LadderOutcome, StepCause> {
        let mut branch = 0;
        let mut solved = true;
        loop {
            if solved {
                ladder_outcome.residual = disjunctive::complete(start, ws)?;
                if ladder_outcome.residual.value <= self.ladder.tolerance.solved {
                    return Ok(ladder_outcome);
                }
            }
            if !disjunctive::next_branch(ws, &mut branch) {
                return Err(formulation::not_solved(start.model, &self.ladder, ws, &ladder_outcome));
            }
            let other = self.solve(start, ws, passes);
            solved = other.is_ok();
            if let Ok(other) = other {
                ladder_outcome = LadderOutcome { iterations: ladder_outcome.iterations + other.iterations, ..other };
            }
        }
    }

    fn solve(&mut self, start: &Start, ws: &mut Workspace, passes: &mut u32) -> Result<LadderOutcome, StepCause> {
        if start.scheme.dynamics == Dynamics::Quasistatic {
            *passes += 1;
            return quasistatic::solve(start, &mut self.ladder, ws);
        }
        if start.scheme.linearise_at == LineariseAt::Implicit {
            // All contacts take part: which of them are needed is seen at the end of the step.
            *passes += 1;
            formulation::assemble(start, ws)?;
            return formulation::solve(start, &mut self.ladder, ws);
        }
        formulation::assemble_and_solve(start, &mut self.ladder, ws, passes)
    }

    /// I(q⁺), and whether something penetrates there that the problem did not know of.   [STEP-9] [STEP-12]
    fn measure_end(&mut self, start: &Start, ws: &mut Workspace) -> Result<(Infeasibility, bool), StepCause> {
        let (model, scheme) = (start.model, start.scheme);
        find_pairs_at_end(model, scheme, self.detector.as_mut(), ws);
        let resting = drop_resting_pairs(start, ws);
        let mut missed = false;
        let contacts = if ws.candidates.is_empty() { &ws.contacts } else { &ws.candidates };
        let joints = reduced::joints_in_problem(model, ws.reduced.as_deref());
        let at = (&ws.end, &ws.shape_poses[..]);
        let measured =
            measure((model, joints), at, &ws.pairs, (self.detector.as_mut(), &mut ws.points), |(i, j), point| {
                let (Some((shape_a, a, _)), Some((shape_b, b, _))) = (model.shape(i), model.shape(j)) else { return };
                // At velocity level what did not touch before is not asked.
                let asked = model.contact_rule(a, b).gamma.unwrap_or(scheme.gamma) > 0.0;
                let id = ContactId { shape_a, shape_b, feature: point.feature };
                let known = contacts.binary_search_by_key(&id, |contact| contact.id).is_ok();
                let missed_core = layers::core_is_missed(ws.contacts.as_slice(), &ws.surfaces, &id, |depth| {
                    -point.gap - depth > scheme.touch_threshold
                });
                missed |= asked && (missed_core || (-point.gap > scheme.touch_threshold && !known));
            })?;
        let penetration = measured.penetration.max(resting);
        Ok((Infeasibility { penetration, ..measured }, missed))
    }
}

/// Leaves in `ws.pairs` those that moved in the step; of the others the contacts of the step tell all, and their deepest penetration is
/// returned.
fn drop_resting_pairs(start: &Start, ws: &mut Workspace) -> f64 {
    let (model, h) = (start.model, start.h);
    let Workspace { pairs, start: before, end, contacts, candidates, .. } = ws;
    let rests = |shape: usize| {
        model.shape(shape).is_none_or(|(_, id, _)| {
            if model.unknowns(id).is_none() {
                return !model.kinematic_bodies().contains(&id);
            }
            let (twist, place) = (end.twist(id), before.pose(id).translation.vector.norm());
            let radius = model.radius(id);
            let way = h * (twist.linear.norm() + radius * twist.angular.norm());
            way <= AT_REST * (place + radius)
        })
    };
    // What has alternatives is measured anew: its contacts may be negative while it is apart.
    let mut deepest = 0.0_f64;
    pairs.retain(|&(i, j)| {
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

/// Looks ahead with the latest v⁺, and at the laws of layers; true when that changes nothing any more.   [STEP-10] [SOFT-7]
fn look_again(start: &Start, ws: &mut Workspace) -> bool {
    let tolerance = || SETTLED * start.state.q.iter().fold(1.0_f64, |most, q| most.max(q.abs()));
    if start.scheme.linearise_at != LineariseAt::End && ws.surfaces.is_empty() {
        return true;
    }
    find_moving_velocity(start, ws);
    let settled = layers::settled(start, ws, tolerance);
    if start.scheme.linearise_at != LineariseAt::End {
        return settled;
    }
    let change =
        ws.moving.iter().zip(&ws.linearisation_velocity).fold(0.0_f64, |most, (v, old)| most.max((v - old).abs()));
    if start.h * change <= tolerance() {
        return settled;
    }
    ws.linearisation_velocity.clone_from(&ws.moving);
    if let Some(reduced) = &mut ws.reduced {
        reduced.linearisation_velocity.clone_from(&reduced.moving);
    }
    false
}

/// Lets every body reach as far as it just went; false when none goes further than it already could.   [STEP-12]
fn reach_further(start: &Start, ws: &mut Workspace) -> bool {
    let mut further = false;
    for ((id, body), reach) in start.model.iter_bodies().zip(&mut ws.reach) {
        if body.mobility().is_none() {
            continue;
        }
        let twist = ws.end.twist(id);
        let went = (twist.linear.norm() + body.radius() * twist.angular.norm()) * start.h;
        if went > *reach {
            (*reach, further) = (went, true);
        }
    }
    further
}

/// Contacts that were hit in the step: by Poisson's hypothesis, or they closed with an impulse, or they owe a rebound.
fn impacts(start: &Start, ws: &Workspace) -> usize {
    let &Start { model, scheme, state, h } = start;
    let memory = |id: ContactId| {
        let found = state.contacts.binary_search_by_key(&id, |memory| memory.id).ok();
        found.and_then(|place| state.contacts.get(place))
    };
    let closed = |id: ContactId| memory(id).is_some_and(|memory| memory.mode != ContactMode::Open);
    let core_was_closed =
        |id: ContactId| memory(id).and_then(|memory| memory.layer).is_some_and(|layer| layer.core_impulse > 0.0);
    let hit = |(contact, report): (&Contact, &ContactReport)| {
        // What lies on something when the simulation begins is not hit by it.
        let came = || {
            gap_now(model, contact, &ws.linearisation_velocity, h) > scheme.touch_threshold
                || h * approach(model, contact, &ws.before, h) < -scheme.touch_threshold
        };
        // What meets a layer is not hit; what meets its core is.
        let struck = match report.layer {
            Some(layer) => layer.core_impulse > 0.0 && !core_was_closed(contact.id),
            None => report.pending_restitution < 0.0 || (report.normal_impulse > 0.0 && !closed(contact.id) && came()),
        };
        struck && ws.impacts.iter().all(|impact| impact.id != contact.id)
    };
    ws.impacts.len() + ws.contacts.iter().zip(&ws.contact_reports).filter(|&pair| hit(pair)).count()
}
