//! Step halving: smaller steps if one cannot be solved and the scheme allows it.
//!
//! A step that no rung of the ladder solves is made in two halves, recursively, at most `halve_steps` times.   [STEP-13] The result is
//! that of one step: impulses are those of the whole, and the report contains the number of substeps.

use crate::formulation::LIMIT_OF_THE_METHOD;
use stiction_multibody::{Model, State};

use crate::{
    ContactReport, Correction, Event, ImpactReport, Start, StepCause, StepReport, Stepper, SupportPointReport,
    Workspace, advance::remember_contacts, reactions::find_reactions, support_points,
};

/// Makes the steps of any stepper, in halves if `Scheme::halve_steps` allows it and the whole was not solved.
#[derive(Debug, Default)]
pub struct Halving {
    levels: Vec<FirstHalf>,
}

/// Results of a first half, kept while the second is made: one for each depth.
#[derive(Debug, Default)]
pub(crate) struct FirstHalf {
    end: State,
    joint_impulses: Vec<f64>,
    contacts: Vec<ContactReport>,
    merged: Vec<ContactReport>,
    support_points: Vec<SupportPointReport>,
    impacts: Vec<ImpactReport>,
    events: Vec<Event>,
    shocks: usize,
}

impl Halving {
    /// Makes a step, whole or in halves, or returns the cause of failure; the state in `start` is not modified.
    pub fn step(
        &mut self,
        stepper: &mut dyn Stepper,
        start: &Start,
        ws: &mut Workspace,
    ) -> Result<StepReport, StepCause> {
        let depth = start.scheme.halve_steps as usize;
        if self.levels.len() < depth {
            self.levels.resize_with(depth, FirstHalf::default);
        }
        debug_assert!(self.levels.len() >= depth, "every level of recursion has memory");
        let levels = self.levels.get_mut(..depth).unwrap_or_default();
        let report = attempt(stepper, start, ws, levels)?;
        if report.substeps == 1 {
            return Ok(report);
        }
        // The exact step number and time of a whole step.
        let (model, state) = (start.model, start.state);
        ws.result.next.step = state.step + 1;
        (ws.result.next.time, ws.result.next.time_carry) = state.time_after(start.h);
        ws.result.end.update(model, &ws.result.next.q, &ws.result.next.v, ws.result.next.time);
        Ok(StepReport { step: ws.result.next.step, time: ws.result.next.time, ..report })
    }
}

/// Tries the whole step, then its halves; each level of recursion has its own memory.
fn attempt(
    stepper: &mut dyn Stepper,
    start: &Start,
    ws: &mut Workspace,
    levels: &mut [FirstHalf],
) -> Result<StepReport, StepCause> {
    let whole = stepper.step(start, ws);
    let (Err(StepCause::NotSolved { .. } | StepCause::NotProjected { .. }), Some((here, deeper))) =
        (&whole, levels.split_first_mut())
    else {
        return whole;
    };
    let half = Start { h: 0.5 * start.h, ..*start };
    let first = attempt(stepper, &half, ws, deeper).map_err(with_halving_hint)?;
    here.keep(start.model, ws);
    let second = attempt(stepper, &Start { state: &here.end, ..half }, ws, deeper).map_err(with_halving_hint)?;
    here.merge(start.model, ws);
    Ok(joined(&first, second))
}

/// Replaces the general hint of a failed substep. The cause is that of the smallest substep, whose problem is in the workspace.
fn with_halving_hint(cause: StepCause) -> StepCause {
    match cause {
        StepCause::NotSolved { status, residual, worst, rungs, hint: LIMIT_OF_THE_METHOD } => {
            let hint = "halving the step as often as `halve_steps` allows did not help; the problem of the last try is kept to be solved again";
            StepCause::NotSolved { status, residual, worst, rungs, hint }
        }
        other => other,
    }
}

/// Report of two halves as one step: sums of work, the larger residual, and the end of the second.
pub(crate) fn joined(first: &StepReport, second: StepReport) -> StepReport {
    let worse = if first.residual.value > second.residual.value { first } else { &second };
    let correction = match (first.correction, second.correction) {
        (Some(a), Some(b)) => {
            Some(Correction { rounds: a.rounds + b.rounds, residual: b.residual, energy: a.energy + b.energy })
        }
        (a, b) => a.or(b),
    };
    StepReport {
        contacts: first.contacts.max(second.contacts),
        problem_size: first.problem_size.max(second.problem_size),
        residual: worse.residual,
        status: worse.status,
        rung: worse.rung,
        iterations: first.iterations + second.iterations,
        passes: first.passes + second.passes,
        changes: first.changes.and(&second.changes),
        impacts: first.impacts + second.impacts,
        substeps: first.substeps + second.substeps,
        correction,
        ..second
    }
}

impl FirstHalf {
    /// Stores what the second half will overwrite.
    pub(crate) fn keep(&mut self, model: &Model, ws: &mut Workspace) {
        find_reactions(model, ws);
        self.end.copy_from(&ws.result.next);
        self.joint_impulses.clone_from(&ws.solution.joint_impulses);
        self.contacts.clone_from(&ws.result.contact_reports);
        self.support_points.clone_from(&ws.result.support_reports);
        self.impacts.clone_from(&ws.result.impacts);
        self.events.clone_from(&ws.result.events);
        self.shocks = ws.result.shocks;
    }

    /// Adds the first half to the second in the workspace: impulses, impacts, events.
    pub(crate) fn merge(&mut self, model: &Model, ws: &mut Workspace) {
        find_reactions(model, ws);
        debug_assert_eq!(
            ws.solution.joint_impulses.len(),
            self.joint_impulses.len(),
            "both halves have the same joints"
        );
        debug_assert_eq!(
            ws.result.support_reports.len(),
            self.support_points.len(),
            "both halves have the same support points"
        );
        ws.solution.joint_impulses.iter_mut().zip(&self.joint_impulses).for_each(|(sum, p)| *sum += p);
        ws.result.next.joint_impulses.iter_mut().zip(&self.end.joint_impulses).for_each(|(sum, p)| *sum += p);
        self.merge_contacts(&ws.result.contact_reports);
        ws.result.contact_reports.clone_from(&self.merged);
        remember_contacts(ws);
        for (report, earlier) in ws.result.support_reports.iter_mut().zip(&self.support_points) {
            report.friction_impulse += earlier.friction_impulse;
            report.spin_impulse += earlier.spin_impulse;
        }
        support_points::remember(ws);
        self.impacts.extend_from_slice(&ws.result.impacts);
        ws.result.impacts.clone_from(&self.impacts);
        self.events.extend_from_slice(&ws.result.events);
        ws.result.events.clone_from(&self.events);
        ws.result.shocks += self.shocks;
        // Two momentum balances cannot be combined into one.
        ws.solution.balanced_over = 0.0;
    }

    /// Merges two lists of reports, both sorted by id.
    ///
    /// A contact that ended in the first half is open and its pending restitution is dropped, as after a step of its own. Its impulse is
    /// part of the whole step.
    fn merge_contacts(&mut self, second: &[ContactReport]) {
        use stiction_multibody::ContactMode::Open;
        let Self { merged, contacts, .. } = self;
        merged.clear();
        let mut first = contacts.iter().peekable();
        let gone = |report: &ContactReport| ContactReport { mode: Open, pending_restitution: 0.0, ..*report };
        for report in second {
            while let Some(earlier) = first.next_if(|earlier| earlier.id < report.id) {
                merged.push(gone(earlier));
            }
            let mut report = *report;
            if let Some(earlier) = first.next_if(|earlier| earlier.id == report.id) {
                report.normal_impulse += earlier.normal_impulse;
                report.friction_impulse += earlier.friction_impulse;
                report.spin_impulse += earlier.spin_impulse;
                report.rolling_impulse += earlier.rolling_impulse;
                if let (Some(layer), Some(before)) = (&mut report.layer, &earlier.layer) {
                    layer.core_impulse += before.core_impulse;
                    layer.core_friction.iter_mut().zip(before.core_friction).for_each(|(sum, p)| *sum += p);
                    layer.core_spin += before.core_spin;
                }
            }
            merged.push(report);
        }
        merged.extend(first.map(gone));
    }
}
