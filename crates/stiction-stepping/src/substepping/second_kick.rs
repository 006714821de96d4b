//! Second half of a step of second order, joined with the first.   [STEP-18]

use stiction_multibody::State;

use super::joining::{EarlierParts, joined};
use crate::{Kick, Start, StepCause, StepReport, Stepper, Workspace};

/// Result of the first half while the second is made.
#[derive(Debug, Default)]
pub(super) struct SecondKick {
    moved: State,
    first: EarlierParts,
}

impl SecondKick {
    /// Makes the second half of a step whose first half is in the workspace, with its report; the results are those of the whole step.
    pub(super) fn make(
        &mut self,
        stepper: &mut dyn Stepper,
        start: &Start,
        report: &StepReport,
        ws: &mut Workspace,
    ) -> Result<StepReport, StepCause> {
        let Self { moved, first } = self;
        first.keep(start.model, ws);
        moved.copy_from(&ws.result.next);
        let second = stepper.kick(&Start { state: moved, kick: Kick::Second, ..*start }, ws)?;
        first.leave_to(&ws.result.contact_reports);
        first.merge(start.model, ws);
        // The bodies did not move: their overlap and joint errors are those of the first half.
        Ok(StepReport {
            substeps: report.substeps,
            penetration: report.penetration,
            joint_error: report.joint_error,
            ..joined(report, &second)
        })
    }
}
