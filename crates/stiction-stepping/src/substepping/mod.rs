//! Substeps: a step in parts, if it is not solved as a whole or compliant contact requires shorter ones.   [STEP-13] [SOFT-10]
//!
//! The result is that of one step: impulses are those of the whole, and the report contains the number of substeps.

mod joining;
mod layer_parts;
mod second_kick;

use stiction_complementarity::Status;
use stiction_multibody::State;

use joining::{EarlierParts, joined};
use layer_parts::LayerParts;
use second_kick::SecondKick;

use crate::{
    Acceptance, Kick, OnUnsolved, Start, StepCause, StepReport, Stepper, Workspace, closing::resolves_loops,
    formulation::LIMIT_OF_THE_METHOD,
};

/// Bound on the substeps of one step.
const MAX_SUBSTEPS: u32 = 10_000;

/// Fraction of a step below which its remainder is rounding.
const REMAINDER_FRACTION: f64 = 1e-12;

/// Makes the steps of any stepper, in parts if necessary.
///
/// A part that is not solved, whose projection onto the constraints (stabilisation) does not converge, or that is too long for the velocities of trees
/// [ROT-4] or loops [STAB-9], is halved, at most `Solving::halve_steps` times.   [STEP-13] With `OnUnsolved::Accept` a part that is still not solved
/// then is accepted. With `Substeps::locate_contacts` a part ends at the
/// first touch of a compliant layer, and with `Substeps::steps_per_period` it is as short as the stiffness of the layer requires.   [SOFT-10]
#[derive(Debug, Default)]
pub struct Substepping {
    /// Parts still to be made, the next one last.
    pending: Vec<Part>,
    /// State at the start of the next part.
    from: State,
    /// Results of the parts made so far.
    earlier: EarlierParts,
    second_kick: SecondKick,
}

/// Part of a step.
#[derive(Clone, Copy, Debug)]
struct Part {
    length: f64,
    /// Length of the part that was halved because it was too long for fast links; otherwise that of this part.   [STAB-14]
    closing_duration: f64,
    /// How often a part was halved to give this one.
    halvings: u32,
    /// True for the second half of a part.
    is_second_half: bool,
}

impl Substepping {
    /// Makes a step, whole or in parts, or returns the cause of failure; the state in `start` is not modified.
    pub fn step(
        &mut self,
        stepper: &mut dyn Stepper,
        start: &Start,
        ws: &mut Workspace,
    ) -> Result<StepReport, StepCause> {
        let Self { pending, from, earlier, second_kick } = self;
        let mut layers = LayerParts::new(start);
        pending.clear();
        let length = start.h / f64::from(start.scheme.substeps.count);
        let equal = Part { length, closing_duration: length, halvings: 0, is_second_half: false };
        pending.extend((0..start.scheme.substeps.count).map(|_| equal));
        let (mut whole, mut made, mut other_length) = (None, 0_u32, None);
        // Passes and iterations of parts that were solved and made again as halves.
        let (mut passes, mut iterations) = (0_u32, 0_u32);
        // Once a part is accepted that no halving helped, no other part of the step is halved: the work of a step is bounded.
        let mut has_accepted = false;
        while let Some(part) = pending.pop() {
            let state = if whole.is_some() { &*from } else { start.state };
            let length = other_length.take().unwrap_or_else(|| layers.first_length(part.length, state));
            let may_halve = part.halvings < start.scheme.solving.halve_steps && !has_accepted;
            let acceptance = match (may_halve, start.scheme.solving.on_unsolved) {
                (true, _) => Acceptance::Usual,
                (false, OnUnsolved::Stop) => Acceptance::Loose,
                (false, OnUnsolved::Accept) => Acceptance::Any,
            };
            let closing_duration = if part.halvings > 0 { part.closing_duration.max(length) } else { length };
            let tried = Start { closing_duration, acceptance, ..Start::new(start.model, start.scheme, state, length) };
            let left = part.length - length;
            let remainder = Part { length: left, ..part };
            let is_divided = left > REMAINDER_FRACTION * start.h;
            let result = stepper.step(&tried, ws);
            // Methods that ended early may have left a larger residual, which might be accepted.
            StepCause::if_interrupted()?;
            let is_resolved =
                ws.reduced.as_ref().is_none_or(|reduced| reduced.resolves_motion() && resolves_loops(&tried, ws));
            let result = match result {
                // A part that will be halved needs no second half.
                Ok(report) if tried.kick == Kick::First && (is_resolved || !may_halve) => {
                    second_kick.make(stepper, &tried, &report, ws)
                }
                other => other,
            };
            let is_unsolved = match &result {
                Ok(_) => !is_resolved,
                Err(cause) => {
                    use StepCause::{Jammed, NotProjected, NotSolved};
                    matches!(cause, NotSolved { .. } | Jammed { .. } | NotProjected { .. })
                }
            };
            if is_unsolved && may_halve {
                if let Ok(report) = &result {
                    (passes, iterations) = (passes + report.passes, iterations + report.iterations);
                }
                pending.extend(is_divided.then_some(remainder));
                let halvings = part.halvings + 1;
                let closing_duration = if result.is_ok() { closing_duration } else { 0.5 * length };
                let half = Part { length: 0.5 * length, closing_duration, halvings, is_second_half: true };
                pending.extend([half, Part { is_second_half: part.is_second_half, ..half }]);
                layers.begin_next();
                continue;
            }
            let report = result.map_err(|cause| if part.halvings > 0 { with_halving_hint(cause) } else { cause })?;
            has_accepted |= part.halvings > 0 && !may_halve && report.status != Status::Solved;
            other_length = layers.review(&tried, part.length, ws);
            if other_length.is_some() {
                pending.push(part);
                continue;
            }
            layers.begin_next();
            made += 1;
            if left > layers.limit * f64::from(MAX_SUBSTEPS) || made > MAX_SUBSTEPS {
                return Err(StepCause::TooManySubsteps { most: MAX_SUBSTEPS, shortest: layers.limit });
            }
            pending.extend(is_divided.then_some(Part { is_second_half: false, ..remainder }));
            let is_last = pending.is_empty();
            if !is_last {
                from.copy_from(&ws.result.next);
            }
            let report = match whole {
                None => report,
                Some(before) => {
                    earlier.merge(start.model, ws);
                    StepReport { layer_substeps: layer_substeps(&before, part), ..joined(&before, &report) }
                }
            };
            if is_last {
                let report = StepReport {
                    // Those of all parts, each once.
                    contacts: if made > 1 { ws.result.contact_reports.len() } else { report.contacts },
                    passes: report.passes + passes,
                    iterations: report.iterations + iterations,
                    ..report
                };
                return Ok(if made > 1 { at_exact_time(start, ws, &report) } else { report });
            }
            earlier.keep(start.model, ws);
            whole = Some(report);
        }
        debug_assert!(false, "the last part ends the step");
        Err(StepCause::TooManySubsteps { most: MAX_SUBSTEPS, shortest: layers.limit })
    }
}

/// Number of substeps that layers required, with this part. A second half belongs to the same substep as the first.
fn layer_substeps(before: &StepReport, part: Part) -> u32 {
    before.layer_substeps + u32::from(!part.is_second_half)
}

/// Sets the exact step number and time of a whole step, which the sums over its parts have only to rounding.
fn at_exact_time(start: &Start, ws: &mut Workspace, report: &StepReport) -> StepReport {
    let result = &mut ws.result;
    result.next.step = start.state.step + 1;
    (result.next.time, result.next.time_carry) = start.state.time_after(start.h);
    result.end.update(start.model, &result.next.q, &result.next.v, result.next.time);
    StepReport { step: result.next.step, time: result.next.time, ..*report }
}

/// Replaces the general hint of a failed part. The cause is that of the smallest part, whose problem is in the workspace.
fn with_halving_hint(cause: StepCause) -> StepCause {
    match cause {
        StepCause::NotSolved { status, residual, worst, rungs, hint: LIMIT_OF_THE_METHOD } => {
            let hint = "halving the step as often as `halve_steps` allows did not help; the problem of the last try is in `failed_problem.json` of `stiction run` and in `Simulation::problem`";
            StepCause::NotSolved { status, residual, worst, rungs, hint }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
