//! Impulses of joints and contacts over a step.

use nalgebra::Vector3;
use stiction_multibody::ContactId;

use super::{geometry::Touch, instant::Instant};
use stiction_stepping::ContactImpulse;

/// A contact and its impulse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The contact as it was at its last impulse.
    pub(super) touch: Touch,
    pub(super) impulse: ContactImpulse,
}

/// Impulses of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    pub(super) joints: Vec<f64>,
    /// In the order of the ids.
    pub(super) contacts: Vec<Entry>,
}

/// Numbers a contact has among the loads: normal, friction in world axes, spin.
const PER_CONTACT: usize = 5;

/// The loads of forces (or impulses) over all rows: those of joints, then five numbers for each contact.
pub(super) fn loads(at: &Instant, force: &nalgebra::DVector<f64>) -> Vec<f64> {
    let mut loads: Vec<f64> = force.iter().take(at.joint_rows).copied().collect();
    for (contact, touch) in at.touches.iter().enumerate() {
        let [t, o, spin] = at.friction_of(contact, force);
        let friction = touch.tangents[0] * t + touch.tangents[1] * o;
        loads.extend([at.normal_of(contact, force), friction.x, friction.y, friction.z, touch.torsion * spin]);
    }
    loads
}

impl Ledger {
    pub(super) fn new(joint_rows: usize) -> Self {
        Self { joints: vec![0.0; joint_rows], contacts: Vec::new() }
    }

    /// Adds impulses in the order of [`loads`].
    pub(super) fn add(&mut self, at: &Instant, impulses: &[f64]) {
        debug_assert_eq!(self.joints.len(), at.joint_rows, "every row of a joint has an impulse");
        debug_assert_eq!(
            impulses.len(),
            at.joint_rows + PER_CONTACT * at.touches.len(),
            "the impulses are those of joints and contacts"
        );
        self.joints.iter_mut().zip(impulses).for_each(|(sum, p)| *sum += p);
        let rest = impulses.get(at.joint_rows..).unwrap_or_default();
        for (touch, p) in at.touches.iter().zip(rest.chunks_exact(PER_CONTACT)) {
            let &[normal, x, y, z, spin] = p else { continue };
            let entry = self.entry(touch);
            entry.touch = *touch;
            entry.impulse.normal += normal;
            entry.impulse.friction += Vector3::new(x, y, z);
            entry.impulse.spin += spin;
        }
    }

    /// Entry of a contact, inserted if there is none.
    fn entry(&mut self, touch: &Touch) -> &mut Entry {
        let place = match self.contacts.binary_search_by_key(&touch.id, |entry| entry.touch.id) {
            Ok(place) => place,
            Err(place) => {
                self.contacts.insert(place, Entry { touch: *touch, impulse: ContactImpulse::default() });
                place
            }
        };
        &mut self.contacts[place]
    }

    pub(super) fn find(&self, id: ContactId) -> Option<&Entry> {
        self.contacts.binary_search_by_key(&id, |entry| entry.touch.id).ok().and_then(|place| self.contacts.get(place))
    }
}
