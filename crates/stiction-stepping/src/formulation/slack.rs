//! Jammed contacts, which no motion keeps from overlapping: whether a step gets slack, the rate a at which they may overlap, and whether the overlap
//! a h is small enough.   [EXIST-1]

use stiction_complementarity::{FrictionIslands, Problem};
use stiction_multibody::Model;

use super::{LARGE_MASS_RATIO, mass_ratio, name_contact};
use crate::{
    Acceptance, Dynamics, Ladder, LineariseAt, Start, StepCause, Workspace,
    constraints::{AuxiliaryKind, AuxiliaryMass, Block, Source},
    slack::Slack,
};

/// Largest overlap by slack in a step that is not halved again, as a fraction of the radius of the smallest moving body with jammed contacts.
/// Dimensionless.
///
/// Bodies that turn by an angle of h ω leave an error of ½ (h ω)² of their radius in the gaps: this is that of 2.5° in a step.
const MAX_OVERLAP: f64 = 1e-3;

/// The same with few contacts, if a shorter step may be tried.
const MAX_OVERLAP_OF_FEW: f64 = 1e-4;

/// Adds slack to the contacts and limits that bodies connect with the worst row of a problem that was not solved. Returns false if that row has it
/// already, if no contact is connected with it, or if such a step has no slack.
///
/// Custom methods solve the problem as it is. With large mass ratios the residual says nothing about light bodies. With divide and conquer and in
/// quasistatic or implicit steps there is no slack.
pub(crate) fn review_jam(start: &Start, ladder: &Ladder, ws: &mut Workspace) -> bool {
    let is_admitted = ladder.has_own_methods()
        && mass_ratio(start.model) <= LARGE_MASS_RATIO
        && ws.is_friction_problem
        && start.scheme.dynamics != Dynamics::Quasistatic
        && start.scheme.linearise_at != LineariseAt::Implicit
        && ws.reduced.as_ref().is_none_or(|reduced| reduced.divided.is_none());
    let (problem, solution) = (&ws.friction.problem, &ws.friction.solution);
    if !is_admitted || solution.r.len() != problem.rows() || problem.blocks() != ws.constraints.blocks.len() {
        return false;
    }
    let worst = problem.residual(solution).row;
    let Some(added) = Slack::around(start.model, problem, worst) else { return false };
    let is_contact = |block: &Block| matches!(block.source, Source::Contact(_) | Source::Core { .. });
    let blocks = &ws.constraints.blocks;
    if !blocks.iter().zip(&added.connected).any(|(block, connected)| *connected && is_contact(block)) {
        return false;
    }
    match &mut ws.constraints.slack {
        Some(slack) if slack.has_row(problem, worst) => return false,
        Some(slack) => slack.extend(&added),
        none => *none = Some(added),
    }
    true
}

/// Refuses a solution whose overlap by slack is too large.
pub(super) fn admit(start: &Start, ws: &Workspace) -> Result<(), StepCause> {
    let Some(slack) = &ws.constraints.slack else { return Ok(()) };
    let may_halve = start.acceptance == Acceptance::Usual && !FrictionIslands::applies(&ws.friction.problem);
    let fraction = if may_halve { MAX_OVERLAP_OF_FEW } else { MAX_OVERLAP };
    let (overlap, allowed) = (slack.rate * start.h, fraction * smallest_radius(start.model, &ws.constraints.blocks));
    if start.acceptance == Acceptance::Any || overlap <= allowed {
        return Ok(());
    }
    Err(StepCause::Jammed { overlap, allowed, contact: hardest_pressed(start.model, ws) })
}

/// Name of the contact with the largest normal impulse.
fn hardest_pressed(model: &Model, ws: &Workspace) -> String {
    let pairs = ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses);
    let hardest = pairs.max_by(|(_, a), (_, b)| a.normal.total_cmp(&b.normal));
    name_contact(model, hardest.map(|(contact, _)| contact))
}

/// Radius of the smallest moving body with a contact that has slack, m; infinite if there is none.
fn smallest_radius(model: &Model, blocks: &[Block]) -> f64 {
    let has_slack =
        |block: &&Block| matches!(block.auxiliary, Some(AuxiliaryMass { kind: AuxiliaryKind::Slack(_), .. }));
    let bodies = blocks.iter().filter(has_slack).filter_map(|block| block.bodies).flat_map(|(a, b)| [a, b]);
    let moving = bodies.filter(|id| model.unknowns(*id).is_some());
    moving.map(|id| model.radius(id)).fold(f64::INFINITY, f64::min)
}
