//! Contacts that joints hold: no velocity of the forest changes their gap.

use crate::{Start, Workspace};

/// Joints can hold a body against what it lies on: where it touches to rounding and no joint lets the gap change, the contact has nothing to
/// say, and its force could be any.   [RED-5]
pub(crate) fn drop_immovable(start: &Start, ws: &mut Workspace) {
    let Some(reduced) = &mut ws.reduced else { return };
    let (forest, threshold) = (start.model.forest(), start.scheme.touch_threshold);
    ws.contacts.retain(|contact| {
        let touches =
            contact.gap_start <= 0.0 && contact.gap_start >= -threshold && contact.gap_end == contact.gap_start;
        let (a, b) = contact.row(&contact.normal);
        !touches || reduced.moves(forest, [(contact.a, &a), (contact.b, &b)])
    });
}
