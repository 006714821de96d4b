//! Contacts that are not needed sleep: where there are more than the method of few contacts takes, the step is solved with those that
//! carried something or would be hit first, and with others as the solution asks for them.   [STEP-15]
//!
//! A contact with u_n ≥ 0 and no impulse solves its part of the problem whether it was written or not, so what is found
//! this way solves the whole.

use stiction_complementarity::{MAX_CONTACTS, MAX_SPATIAL_CONTACTS};
use stiction_multibody::Model;

use super::cone;
use crate::{Contact, ContactImpulse, Start, Workspace, rows::power};

/// Moves all but the most urgent contacts from `ws.contacts` to `ws.dormant`; false when there are few enough, or too many urgent ones.
pub(super) fn screen(start: &Start, ws: &mut Workspace) -> bool {
    ws.working_set.clear();
    // The surface of a layer moves before anything touches it: all of them stay awake.
    if !ws.surfaces.is_empty() {
        return false;
    }
    let (most, others) = (most(ws), ws.support_points.len() + ws.joint_space_rows.len());
    let Some(room) = most.checked_sub(others + SPARE) else { return false };
    if ws.contacts.len() + others <= most {
        return false;
    }
    cone::free_velocity(start, ws);
    let Workspace { contacts, working_set, free_velocity, free_bodies, urgencies, reduced, .. } = ws;
    let free = if reduced.is_some() { free_bodies } else { free_velocity };
    let urgency = |contact: &Contact| urgency(start, contact, free);
    urgencies.clear();
    urgencies.extend(contacts.iter().map(urgency).filter(|time| *time <= 1.0));
    urgencies.sort_unstable_by(f64::total_cmp);
    // The last one that is awake; those without urgency all sleep.
    let last = match urgencies.get(room.saturating_sub(1)) {
        Some(&last) => last,
        None => 1.0,
    };
    if contacts.iter().filter(|contact| urgency(contact) <= last).count() > room {
        return false;
    }
    working_set.extend(contacts.iter().filter(|contact| urgency(contact) > last).cloned());
    contacts.retain(|contact| urgency(contact) <= last);
    true
}

/// Blocks that the method for few contacts takes of this step.
fn most(ws: &Workspace) -> usize {
    if ws.joint_space_rows.is_empty() { MAX_SPATIAL_CONTACTS } else { MAX_CONTACTS }
}

/// Places kept for contacts that the solution wakes.
const SPARE: usize = 2;

/// When in the step the free velocity closes a contact, from 0 to 1; zero for what carried something before, infinite for what stays open.
fn urgency(start: &Start, contact: &Contact, free: &[f64]) -> f64 {
    let memories = &start.state.contacts;
    let place = memories.binary_search_by_key(&contact.id, |memory| memory.id).ok();
    if place.and_then(|place| memories.get(place)).is_some_and(|memory| memory.normal_impulse > 0.0) {
        return 0.0;
    }
    let u = normal_velocity(start.model, contact, free);
    if u > 0.0 { f64::INFINITY } else { contact.bias.max(0.0) / (contact.bias.max(0.0) - u).max(f64::MIN_POSITIVE) }
}

/// u_n = n · v + bias.   [STEP-3]
fn normal_velocity(model: &Model, contact: &Contact, v: &[f64]) -> f64 {
    let (a, b) = contact.row(&contact.normal);
    power(model, v, contact.a, &a) + power(model, v, contact.b, &b) + contact.bias
}

/// What a solution without the dormant contacts is worth.
pub(super) enum Verdict {
    /// It leaves all of them open: it is the solution.
    Solved,
    /// Some of them were woken: the problem is to be solved again.
    Woken,
    /// Too many would have to be.
    TooMany,
}

/// Wakes the dormant contacts that the solution would close.
pub(super) fn extend_working_set(start: &Start, ws: &mut Workspace) -> Verdict {
    let most = most(ws);
    let Workspace { contacts, working_set, velocity, support_points, joint_space_rows, .. } = ws;
    let closes = |contact: &Contact| normal_velocity(start.model, contact, velocity) < 0.0;
    let count = working_set.iter().filter(|contact| closes(contact)).count();
    if count == 0 {
        return Verdict::Solved;
    }
    if contacts.len() + support_points.len() + joint_space_rows.len() + count > most {
        return Verdict::TooMany;
    }
    for contact in working_set.iter().filter(|contact| closes(contact)) {
        let place = contacts.partition_point(|other| other.id < contact.id);
        contacts.insert(place, contact.clone());
    }
    working_set.retain(|contact| !closes(contact));
    Verdict::Woken
}

/// Puts the dormant contacts back into their places, without impulses.
pub(super) fn bring_back(ws: &mut Workspace) {
    let Workspace { contacts, working_set, contact_impulses, .. } = ws;
    for contact in working_set.drain(..) {
        let place = contacts.partition_point(|other| other.id < contact.id);
        if place <= contact_impulses.len() {
            contact_impulses.insert(place, ContactImpulse::default());
        }
        contacts.insert(place, contact);
    }
}
