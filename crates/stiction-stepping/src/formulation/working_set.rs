//! Constraint screening: a step with many contacts is solved for a working set, usually small enough for the active-set
//! method.   [STEP-15]
//!
//! The blocks that count here are contacts, support points and joint-space rows, not joints. Many means more than [`MAX_SPATIAL_CONTACTS`]
//! of them, or more than [`MAX_CONTACTS`] if there are joint-space rows.
//!
//! The working set contains the contacts that had an impulse in the last step or would close first. It is extended by those that the
//! solution would close.
//!
//! A contact with u_n ≥ 0 and no impulse satisfies its law whether or not it is in the problem. So a solution that leaves all screened
//! contacts open solves the whole problem.

use stiction_complementarity::{MAX_CONTACTS, MAX_SPATIAL_CONTACTS};
use stiction_multibody::Model;

use super::cone;
use crate::{Constraints, Contact, ContactImpulse, Start, Workspace, assembly::Screening, rates::side_rate};

/// Moves the contacts outside the working set from `ws.constraints.contacts` to `ws.screening.screened`.
///
/// Returns false, and moves nothing, if there are compliant layers or few contacts, or if the working set would be too large.
pub(super) fn screen(start: &Start, ws: &mut Workspace) -> bool {
    ws.screening.screened.clear();
    // The surface of a layer moves before anything touches it: no contact is screened.
    if !ws.constraints.layer_surfaces.is_empty() {
        return false;
    }
    let (max_blocks, others) =
        (max_blocks(ws), ws.constraints.support_points.len() + ws.constraints.joint_space_rows.len());
    let Some(max_contacts) = max_blocks.checked_sub(others + RESERVED_BLOCKS) else { return false };
    if ws.constraints.contacts.len() + others <= max_blocks {
        return false;
    }
    cone::free_velocity_of_bodies(start, ws);
    let free = if ws.reduced.is_some() { &ws.free_body_velocities } else { &ws.friction.free_velocity };
    let (contacts, Screening { screened, closing_fractions }) = (&mut ws.constraints.contacts, &mut ws.screening);
    let closing_fraction = |contact: &Contact| closing_fraction(start, contact, free);
    closing_fractions.clear();
    closing_fractions.extend(contacts.iter().map(closing_fraction).filter(|fraction| *fraction <= 1.0));
    closing_fractions.sort_unstable_by(f64::total_cmp);
    // Closing fraction of the last contact of the working set; contacts that do not close in the step are screened.
    let last = match closing_fractions.get(max_contacts.saturating_sub(1)) {
        Some(&last) => last,
        None => 1.0,
    };
    if contacts.iter().filter(|contact| closing_fraction(contact) <= last).count() > max_contacts {
        return false;
    }
    screened.extend(contacts.iter().filter(|contact| closing_fraction(contact) > last).cloned());
    contacts.retain(|contact| closing_fraction(contact) <= last);
    true
}

/// Largest number of contacts, support points and joint-space rows together in a working set.
///
/// 16 without joint-space rows (even in the plane, where the active-set method takes 32), otherwise 32. The latter may still exceed its 72
/// rows.
fn max_blocks(ws: &Workspace) -> usize {
    if ws.constraints.joint_space_rows.is_empty() { MAX_SPATIAL_CONTACTS } else { MAX_CONTACTS }
}

/// Blocks reserved for contacts that extend the working set.
const RESERVED_BLOCKS: usize = 2;

/// Fraction of the step after which the free velocity closes a contact.
///
/// It is zero for a contact with an impulse in the last step and infinite for one whose u_N at the free velocity is positive: it does
/// not close within the step.
fn closing_fraction(start: &Start, contact: &Contact, free: &[f64]) -> f64 {
    let memories = &start.state.contacts;
    let place = memories.binary_search_by_key(&contact.id, |memory| memory.id).ok();
    if place.and_then(|place| memories.get(place)).is_some_and(|memory| memory.normal_impulse > 0.0) {
        return 0.0;
    }
    let u = normal_velocity(start.model, contact, free);
    if u > 0.0 { f64::INFINITY } else { contact.bias.max(0.0) / (contact.bias.max(0.0) - u).max(f64::MIN_POSITIVE) }
}

/// Normal velocity u_n = W_nᵀ v + bias, which is positive if the contact stays open.   [STEP-3]
fn normal_velocity(model: &Model, contact: &Contact, v: &[f64]) -> f64 {
    let (a, b) = contact.row(&contact.normal);
    side_rate(model, v, contact.a, &a) + side_rate(model, v, contact.b, &b) + contact.bias
}

/// Result of checking a solution against the screened contacts.
pub(super) enum ScreeningOutcome {
    /// All screened contacts stay open: the problem is solved.
    Complete,
    /// Contacts were added to the working set: the problem must be solved again.
    Extended,
    /// All contacts must be taken: the working set would exceed [`max_blocks`], or its problem was not solved.
    Abandoned,
}

/// Adds the screened contacts that the solution would close to the working set.
pub(super) fn extend_working_set(start: &Start, ws: &mut Workspace) -> ScreeningOutcome {
    let max_blocks = max_blocks(ws);
    let Constraints { contacts, support_points, joint_space_rows, .. } = &mut ws.constraints;
    let (screened, velocity) = (&mut ws.screening.screened, &ws.solution.velocity);
    let closes = |contact: &Contact| normal_velocity(start.model, contact, velocity) < 0.0;
    let count = screened.iter().filter(|contact| closes(contact)).count();
    if count == 0 {
        return ScreeningOutcome::Complete;
    }
    if contacts.len() + support_points.len() + joint_space_rows.len() + count > max_blocks {
        return ScreeningOutcome::Abandoned;
    }
    for contact in screened.iter().filter(|contact| closes(contact)) {
        let place = contacts.partition_point(|other| other.id < contact.id);
        contacts.insert(place, contact.clone());
    }
    screened.retain(|contact| !closes(contact));
    ScreeningOutcome::Extended
}

/// Moves the screened contacts back to `ws.constraints.contacts`, with zero impulses, in the order of their ids.
pub(super) fn restore_screened(ws: &mut Workspace) {
    let (contacts, contact_impulses) = (&mut ws.constraints.contacts, &mut ws.solution.contact_impulses);
    debug_assert!(contacts.is_sorted_by(|a, b| a.id <= b.id), "contacts are in the order of their ids");
    for contact in ws.screening.screened.drain(..) {
        let place = contacts.partition_point(|other| other.id < contact.id);
        if place <= contact_impulses.len() {
            contact_impulses.insert(place, ContactImpulse::default());
        }
        contacts.insert(place, contact);
    }
}
