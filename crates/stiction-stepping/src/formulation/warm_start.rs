//! Warm start of problems with second-order cones: the impulses of the last step.

use std::ops::Range;

use nalgebra::{Point3, Vector3};
use stiction_multibody::{ContactId, ContactMemory, Joint};

use crate::{ContactImpulse, Kick, Start, Workspace, constraints::Source, contact_rows::ContactRows};

/// Writes the warm start: the last impulses of joints, of contacts that touched before, of support points and of cores, and the loads of support points;
/// zero elsewhere. The impulses of contacts that are gone pass to new ones of the same pair of shapes.
pub(super) fn write(start: &Start, ws: &mut Workspace) {
    let state = start.state;
    let constraints = &ws.constraints;
    debug_assert_eq!(constraints.blocks.len(), ws.friction.problem.blocks(), "the blocks are those of the problem");
    let (r, new_contacts) = (&mut ws.friction.guess.r, &mut ws.friction.new_contacts);
    r.clear();
    new_contacts.clear();
    for block in &constraints.blocks {
        let (first, rows) = (r.len(), block.law.rows());
        match block.source {
            Source::Joint(joint) => {
                let place = start.model.joints().get(joint).map_or(0, Joint::first_row);
                r.extend(state.joint_impulses.iter().skip(place).take(rows));
            }
            Source::Contact(index) => {
                let contact = constraints.contacts.get(index);
                if let Some((contact, memory)) = contact.and_then(|contact| Some((contact, memory(start, contact.id)?)))
                {
                    // The memory holds the sum of layer and core; the core has rows of its own.
                    let core = memory.layer.unwrap_or_default();
                    let layer = ContactImpulse {
                        normal: memory.normal_impulse - core.core_impulse,
                        friction: Vector3::from(memory.friction_impulse) - Vector3::from(core.core_friction),
                        spin: memory.spin_impulse - core.core_spin,
                        rolling: memory.rolling_impulse.into(),
                        sigma: 0.0,
                    };
                    ContactRows::new(contact, rows).push_impulses(&layer, r);
                } else if contact.is_some_and(|contact| contact.layer.is_none()) {
                    new_contacts.push((index, first..first + rows));
                }
            }
            Source::SupportPoint(index) => {
                let before = state.support_impulses.iter().skip(3 * index).take(rows - 1);
                if let Some(support_point) = constraints.support_points.get(index) {
                    r.push(start.h * support_point.load);
                    r.extend(before);
                    if let (4, Some(spin)) = (r.len() - first, r.last_mut()) {
                        *spin /= support_point.torsion;
                    }
                }
            }
            Source::Core { contact, .. } => {
                let contact = constraints.contacts.get(contact);
                let known = contact.and_then(|contact| Some((contact, memory(start, contact.id)?.layer?)));
                if let Some((contact, layer)) = known {
                    let core = ContactImpulse {
                        normal: layer.core_impulse,
                        friction: layer.core_friction.into(),
                        spin: layer.core_spin,
                        ..ContactImpulse::default()
                    };
                    ContactRows::new(contact, rows).push_impulses(&core, r);
                }
            }
            Source::JointSpace(_) => {}
        }
        debug_assert!(r.len() <= first + rows, "a block has one impulse for each row");
        r.resize(first + rows, 0.0);
    }
    pass_impulses_on(start, ws);
    // The first of the two kicks (half steps of the forces, as in Verlet's method) of a step of second order begins with half of the impulses of
    // the last step.   [STEP-18]
    let factor = if start.kick == Kick::First { 0.5 } else { 1.0 };
    for r in &mut ws.friction.guess.r {
        *r *= factor / ws.mass_unit;
    }
}

/// Adds the impulse of every contact that is gone to that of the nearest new contact of the same pair of shapes, if there is one.
///
/// Features that meet change when a vertex crosses an edge. Where faces end in the same plane, as in a wall of boxes, rounding decides in every step between a
/// vertex on a face and two edges, at the same place.
fn pass_impulses_on(start: &Start, ws: &mut Workspace) {
    let (r, new_contacts) = (&mut ws.friction.guess.r, &ws.friction.new_contacts);
    if new_contacts.is_empty() {
        return;
    }
    let contacts = &ws.constraints.contacts;
    let is_gone = |memory: &&ContactMemory| {
        let is_known = || contacts.binary_search_by_key(&memory.id, |contact| contact.id).is_ok();
        memory.normal_impulse > 0.0 && memory.layer.is_none() && !is_known()
    };
    let pair = |id: ContactId| (id.shape_a, id.shape_b);
    let contact_of = |new: &(usize, Range<usize>)| contacts.get(new.0);
    for memory in start.state.contacts.iter().filter(is_gone) {
        // Contacts are sorted by pair, and so are the new ones among them.
        let pair_of = |new: &(usize, Range<usize>)| contact_of(new).map(|contact| pair(contact.id));
        let begin = new_contacts.partition_point(|new| pair_of(new) < Some(pair(memory.id)));
        let of_pair = new_contacts[begin..].iter().take_while(|new| pair_of(new) == Some(pair(memory.id)));
        let point = Point3::from(memory.point);
        let distance = |new: &(usize, Range<usize>)| {
            contact_of(new).map_or(f64::INFINITY, |contact| (contact.point - point).norm_squared())
        };
        let nearest = of_pair.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some((contact, rows)) = nearest.and_then(|new| Some((contact_of(new)?, new.1.clone()))) {
            let friction = Vector3::from(memory.friction_impulse);
            ContactRows::new(contact, rows.len()).add_force_impulse(memory.normal_impulse, &friction, &mut r[rows]);
        }
    }
}

/// Contact history of a contact; none if it is new.
fn memory<'a>(start: &Start<'a>, id: ContactId) -> Option<&'a ContactMemory> {
    let memories = &start.state.contacts;
    let place = memories.binary_search_by_key(&id, |memory| memory.id).ok()?;
    memories.get(place)
}
