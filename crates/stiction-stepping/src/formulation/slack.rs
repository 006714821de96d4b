//! Jammed contacts: whether a step gets slack, and whether its overlap is small enough.   [EXIST-1]

use stiction_complementarity::{FrictionIslands, Problem};
use stiction_multibody::Model;

use crate::{
    Acceptance, Dynamics, Ladder, LineariseAt, Start, Workspace,
    constraints::{AuxiliaryKind, AuxiliaryMass, Block, Source},
    slack::Slack,
};

/// Hint of a failed step whose contacts overlap too much with slack.
pub(super) const HINT: &str = "bodies are jammed: no motion keeps all contacts from overlapping; a smaller step helps unless prescribed motions, or bodies placed into each other, force them together";

/// Largest overlap by slack in a step that is not divided further, as a fraction of the radius of the smallest body of the jam. Dimensionless.
///
/// Bodies that turn by an angle of h ω leave an error of ½ (h ω)² of their radius in the gaps: this is that of 2.5° in a step.
const MAX_OVERLAP: f64 = 1e-3;

/// The same with few contacts, if a shorter step may be tried.
const MAX_OVERLAP_OF_FEW: f64 = 1e-4;

/// Adds slack around the worst row of a problem that was not solved; false if it has it already, if no contact is connected with
/// that row, or if the step has none.
///
/// Custom methods are asked about the problem as it is. With divide and conquer and in quasistatic or implicit steps there is no slack.
pub(crate) fn review_jam(start: &Start, ladder: &Ladder, ws: &mut Workspace) -> bool {
    let is_admitted = ladder.has_own_methods()
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

/// True if the overlap by slack in the solution is small enough, or if there is none.
pub(super) fn is_admissible(start: &Start, ws: &Workspace) -> bool {
    let Some(slack) = &ws.constraints.slack else { return true };
    let may_divide = start.acceptance == Acceptance::Usual && !FrictionIslands::applies(&ws.friction.problem);
    let fraction = if may_divide { MAX_OVERLAP_OF_FEW } else { MAX_OVERLAP };
    start.acceptance == Acceptance::Any
        || slack.rate * start.h <= fraction * smallest_radius(start.model, &ws.constraints.blocks)
}

/// Radius of the smallest moving body with a contact that has slack, m; infinite if there is none.
fn smallest_radius(model: &Model, blocks: &[Block]) -> f64 {
    let has_slack =
        |block: &&Block| matches!(block.auxiliary, Some(AuxiliaryMass { kind: AuxiliaryKind::Slack(_), .. }));
    let bodies = blocks.iter().filter(has_slack).filter_map(|block| block.bodies).flat_map(|(a, b)| [a, b]);
    let moving = bodies.filter(|id| model.unknowns(*id).is_some());
    moving.map(|id| model.radius(id)).fold(f64::INFINITY, f64::min)
}
