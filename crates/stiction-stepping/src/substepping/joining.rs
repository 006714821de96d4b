//! Parts of a step joined into one: impulses, impacts and events of the whole, the state and the configuration of its end.

use nalgebra::Vector3;
use stiction_multibody::Model;

use crate::{
    ContactReport, Correction, Event, ImpactReport, StepReport, SupportPointReport, Workspace,
    advance::remember_contacts, reactions::find_reactions, support_points,
};

/// Results of the parts made so far, joined, kept while the next part is made.
#[derive(Debug, Default)]
pub(super) struct EarlierParts {
    /// Joint impulses in the state at their end.
    state_joint_impulses: Vec<f64>,
    joint_impulses: Vec<f64>,
    contacts: Vec<ContactReport>,
    merged: Vec<ContactReport>,
    support_points: Vec<SupportPointReport>,
    impacts: Vec<ImpactReport>,
    events: Vec<Event>,
    /// Impulses without collision (Painlevé), of the reference stepper only.
    shocks: usize,
}

/// Report of two consecutive parts as one: sums of work, the larger residual and slack, and the end of the second.
pub(super) fn joined(first: &StepReport, second: &StepReport) -> StepReport {
    let worse = if first.residual.value > second.residual.value { first } else { second };
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
        worst: worse.worst,
        rung: worse.rung,
        iterations: first.iterations + second.iterations,
        passes: first.passes + second.passes,
        changes: first.changes.sum(&second.changes),
        impacts: first.impacts + second.impacts,
        slack: first.slack.max(second.slack),
        substeps: first.substeps + second.substeps,
        correction,
        energy: first.energy.and(second.energy),
        ..*second
    }
}

impl EarlierParts {
    /// Stores what the next part will overwrite.
    pub(super) fn keep(&mut self, model: &Model, ws: &mut Workspace) {
        find_reactions(model, ws);
        self.state_joint_impulses.clone_from(&ws.result.next.joint_impulses);
        self.joint_impulses.clone_from(&ws.solution.joint_impulses);
        self.contacts.clone_from(&ws.result.contact_reports);
        self.support_points.clone_from(&ws.result.support_reports);
        self.impacts.clone_from(&ws.result.impacts);
        self.events.clone_from(&ws.result.events);
        self.shocks = ws.result.shocks;
    }

    /// Leaves the impulses of these contacts to the part that reports them: it has found those of the whole step.   [STEP-18]
    pub(super) fn leave_to(&mut self, reports: &[ContactReport]) {
        for earlier in &mut self.contacts {
            if reports.binary_search_by_key(&earlier.id, |report| report.id).is_ok() {
                let nothing = Vector3::zeros();
                (earlier.normal_impulse, earlier.spin_impulse) = (0.0, 0.0);
                (earlier.friction_impulse, earlier.rolling_impulse) = (nothing, nothing);
            }
        }
    }

    /// Adds the earlier parts to the last one in the workspace: impulses, impacts, events.
    pub(super) fn merge(&mut self, model: &Model, ws: &mut Workspace) {
        find_reactions(model, ws);
        debug_assert_eq!(ws.solution.joint_impulses.len(), self.joint_impulses.len(), "all parts have the same joints");
        debug_assert_eq!(
            ws.result.support_reports.len(),
            self.support_points.len(),
            "all parts have the same support points"
        );
        ws.solution.joint_impulses.iter_mut().zip(&self.joint_impulses).for_each(|(sum, p)| *sum += p);
        ws.result.next.joint_impulses.iter_mut().zip(&self.state_joint_impulses).for_each(|(sum, p)| *sum += p);
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
        ws.solution.balanced_step_size = 0.0;
    }

    /// Merges two lists of reports, both sorted by id.
    ///
    /// A contact that ended in an earlier part is open and its pending restitution is dropped, as after a step of its own. Its impulse is
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
