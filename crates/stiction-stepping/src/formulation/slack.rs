//! Jammed contacts, which no motion keeps from overlapping: which overlaps a step keeps, whether it gets slack, the rate a at which they may overlap, and
//! whether the overlap a h is small enough.   [EXIST-1] [EXIST-2]

use stiction_complementarity::{Delassus, FrictionIslands, Problem};
use stiction_multibody::{Body, Model};

use super::{LARGE_MASS_RATIO, mass_ratio, name_contact};
use crate::{
    Acceptance, Contact, Dynamics, Ladder, LineariseAt, Start, StepCause, Workspace,
    constraints::{AuxiliaryKind, Block, Source},
    contact_rows::MAX_CONTACT_ROWS,
    rates::linearised_start_gap,
    slack::{Slack, may_jam},
};

/// Largest overlap by slack in a step that is not halved again, as a fraction of the radius of the smallest moving body with jammed contacts.
/// Dimensionless.
///
/// Bodies that turn by an angle of h ω leave an error of ½ (h ω)² of their radius in the gaps: this is that of 2.5° in a step. Larger overlaps of
/// contacts that joints do not let open are kept.
const MAX_OVERLAP: f64 = 1e-3;

/// The same with few contacts, if a shorter step may be tried.
const MAX_OVERLAP_OF_FEW: f64 = 1e-4;

/// Changes a problem that was not solved so that contacts around its worst row may overlap; false if nothing is left to change, or if no contact is
/// connected with that row.
///
/// Larger overlaps than slack may have were there before the step. They are kept: the biases of their contacts do not open them any more. Only then is slack added.
/// Custom methods solve the problem as it is. With large mass ratios the residual says nothing about light bodies. Quasistatic and implicit steps are left
/// as they are.
pub(crate) fn review_jam(start: &Start, ladder: &Ladder, ws: &mut Workspace) -> bool {
    let is_admitted = is_admitted(start) && ladder.has_own_methods() && ws.is_friction_problem;
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
    keep_overlaps(start, &added.connected, ws) || add_slack(added, worst, ws)
}

/// Effective mass of a contact, as a multiple of that of all bodies together, from which on no motion is taken to open it. Dimensionless.
///
/// That of bodies which part freely is at most theirs, and of those that joints hold at most that of the mechanism, unless joints turn a small opening into a
/// large motion: at this value the bodies move some three times as fast (mass-weighted root mean square) as the contact opens, at ten times it ten times
/// as fast.
const IMMOVABLE_MASS: f64 = 10.0;

/// Keeps the overlaps of contacts that joints do not let open, before the problem is solved; false if there is none, and in maximal coordinates, where W
/// does not contain the joints.   [EXIST-2]
pub(super) fn keep_immovable_overlaps(start: &Start, ws: &mut Workspace) -> bool {
    if !is_admitted(start) || ws.reduced.is_none() {
        return false;
    }
    let Workspace { constraints, friction, kinematics, mass_unit, .. } = ws;
    let bodies = start.model.bodies().iter().filter_map(Body::mass).sum::<f64>();
    let mut is_any_kept = false;
    for (block, source) in constraints.blocks.iter().map(|block| block.source).enumerate() {
        let Source::Contact(index) = source else { continue };
        let Some(contact) = constraints.contacts.get_mut(index) else { continue };
        let moving = [contact.a, contact.b].into_iter().filter(|id| start.model.unknowns(*id).is_some());
        let radius = moving.map(|id| start.model.radius(id)).fold(f64::INFINITY, f64::min);
        if overlap(start, contact, &kinematics.linearisation_velocity) <= MAX_OVERLAP * radius {
            continue;
        }
        let mut entries = [0.0; MAX_CONTACT_ROWS * MAX_CONTACT_ROWS];
        let rows = friction.problem.range(block).len();
        friction.problem.operator().diagonal(block, &mut entries[..rows * rows]);
        // W is that of impulses in the unit of mass: W_N is an inverse effective mass.
        if entries[0] * bodies * IMMOVABLE_MASS < *mass_unit {
            is_any_kept |= keep_overlap(start.h, contact);
        }
    }
    is_any_kept
}

/// Lets a contact keep its overlap; false if it has a layer, or if its bias does not open it.
fn keep_overlap(h: f64, contact: &mut Contact) -> bool {
    let opening = (contact.gap_end - contact.gap_start) / h - contact.bias;
    if opening <= 0.0 || contact.layer.is_some() {
        return false;
    }
    contact.bias += opening;
    contact.overlap.deferred += opening;
    contact.overlap.is_kept = true;
    true
}

/// True for steps of which contacts may keep their overlap, or get slack.
fn is_admitted(start: &Start) -> bool {
    mass_ratio(start.model) <= LARGE_MASS_RATIO
        && start.scheme.dynamics != Dynamics::Quasistatic
        && start.scheme.linearise_at != LineariseAt::Implicit
}

/// Keeps the overlaps of connected contacts that are larger than slack may be, instead of opening them; false if there is none.   [EXIST-2]
fn keep_overlaps(start: &Start, connected: &[bool], ws: &mut Workspace) -> bool {
    let allowed = allowed_overlap(start, connected, ws);
    let mut is_any_kept = false;
    let Workspace { constraints, kinematics, .. } = ws;
    for index in contacts_of(connected, &constraints.blocks) {
        let Some(contact) = constraints.contacts.get_mut(index) else { continue };
        if overlap(start, contact, &kinematics.linearisation_velocity) > allowed {
            is_any_kept |= keep_overlap(start.h, contact);
        }
    }
    is_any_kept
}

/// Adds slack; false if the worst row has it already, or with divide and conquer, which has no mass that contacts share.   [EXIST-1]
fn add_slack(added: Slack, worst: usize, ws: &mut Workspace) -> bool {
    let Workspace { constraints, friction, reduced, .. } = ws;
    if reduced.as_ref().is_some_and(|reduced| reduced.divided.is_some()) {
        return false;
    }
    match &mut constraints.slack {
        Some(slack) if slack.has_row(&friction.problem, worst) => return false,
        Some(slack) => slack.extend(&added),
        none => *none = Some(added),
    }
    true
}

/// Refuses a solution whose overlap by slack is too large.
pub(super) fn admit(start: &Start, ws: &Workspace) -> Result<(), StepCause> {
    let Some(slack) = &ws.constraints.slack else { return Ok(()) };
    let (overlap, allowed) = (overlap_by(slack, start, ws), allowed_overlap(start, &slack.connected, ws));
    if start.acceptance == Acceptance::Any || overlap <= allowed {
        return Ok(());
    }
    Err(StepCause::Jammed { overlap, allowed, contact: hardest_pressed(start.model, ws) })
}

/// Largest overlap that jammed contacts are left with, by slack or because it is kept, m.
pub(crate) fn overlap_of_jam(start: &Start, ws: &Workspace) -> f64 {
    let slack = ws.constraints.slack.as_ref().map_or(0.0, |slack| overlap_by(slack, start, ws).max(0.0));
    let kept = ws.constraints.contacts.iter().filter(|contact| contact.overlap.is_kept);
    kept.map(|contact| overlap(start, contact, &ws.kinematics.linearisation_velocity)).fold(slack, f64::max)
}

/// Overlap that slack lets contacts have at the end of the step, with what the closing speed leaves of overlaps that were there before, m.
fn overlap_by(slack: &Slack, start: &Start, ws: &Workspace) -> f64 {
    let contacts =
        contacts_of(&slack.connected, &ws.constraints.blocks).filter_map(|index| ws.constraints.contacts.get(index));
    let with_slack = contacts.filter(|contact| !contact.overlap.is_kept);
    start.h * (slack.rate + with_slack.map(|contact| contact.overlap.deferred).fold(0.0, f64::max))
}

/// Largest overlap by slack. It is smaller if a shorter step may be tried and would reduce it, which it does not for an overlap that was there before.
fn allowed_overlap(start: &Start, connected: &[bool], ws: &Workspace) -> f64 {
    let radius = smallest_radius(start.model, connected, &ws.constraints.blocks);
    let may_halve = start.acceptance == Acceptance::Usual && !FrictionIslands::applies(&ws.friction.problem);
    let at = &ws.kinematics.linearisation_velocity;
    let contacts =
        contacts_of(connected, &ws.constraints.blocks).filter_map(|index| ws.constraints.contacts.get(index));
    let is_new = |contact: &Contact| overlap(start, contact, at) <= MAX_OVERLAP_OF_FEW * radius;
    let fraction = if may_halve && contacts.into_iter().all(is_new) { MAX_OVERLAP_OF_FEW } else { MAX_OVERLAP };
    fraction * radius
}

/// Overlap of a contact at the start of the step, m; negative if it is open.
fn overlap(start: &Start, contact: &Contact, linearisation_velocity: &[f64]) -> f64 {
    -linearised_start_gap(start.model, contact, linearisation_velocity, start.h)
}

/// Contacts among connected blocks.
fn contacts_of(connected: &[bool], blocks: &[Block]) -> impl Iterator<Item = usize> {
    debug_assert_eq!(connected.len(), blocks.len(), "every block is connected or not");
    blocks.iter().zip(connected).filter(|(_, connected)| **connected).filter_map(|(block, _)| match block.source {
        Source::Contact(index) => Some(index),
        _ => None,
    })
}

/// Name of the contact with the largest normal impulse.
fn hardest_pressed(model: &Model, ws: &Workspace) -> String {
    let pairs = ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses);
    let hardest = pairs.max_by(|(_, a), (_, b)| a.normal.total_cmp(&b.normal));
    name_contact(model, hardest.map(|(contact, _)| contact))
}

/// Radius of the smallest moving body with a connected contact that may jam, m; infinite if there is none. Limits have no pair of bodies and do not
/// count.
fn smallest_radius(model: &Model, connected: &[bool], blocks: &[Block]) -> f64 {
    let may_jam = |block: &Block| match block.auxiliary {
        None => may_jam(block.law),
        Some(auxiliary) => matches!(auxiliary.kind, AuxiliaryKind::Slack(_)),
    };
    let jammed = blocks.iter().zip(connected).filter(|(block, connected)| **connected && may_jam(block));
    let bodies = jammed.filter_map(|(block, _)| block.bodies).flat_map(|(a, b)| [a, b]);
    let moving = bodies.filter(|id| model.unknowns(*id).is_some());
    moving.map(|id| model.radius(id)).fold(f64::INFINITY, f64::min)
}
