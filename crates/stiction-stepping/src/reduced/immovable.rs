//! Contacts that joints hold: no velocity of the forest changes their gap.

use crate::{Start, Workspace};

/// Joints can hold a body beside what it lies on: where no joint lets the gap change and nothing overlaps, the contact has nothing to
/// say. Just above zero its force is zero, at zero it could be any, and rounding of a pose must not decide between the two.   [RED-5]
pub(crate) fn drop_immovable(start: &Start, ws: &mut Workspace) {
    let Some(reduced) = &mut ws.reduced else { return };
    let (forest, threshold) = (start.model.forest(), start.scheme.touch_threshold);
    ws.contacts.retain(|contact| {
        let stays = contact.gap_start >= -threshold && (contact.gap_end - contact.gap_start).abs() <= threshold;
        if !stays {
            return true;
        }
        // What floats beside something that is no link moves along every normal: no row has to be written to know that.
        let moves_freely = forest.floats(contact.a) != forest.floats(contact.b)
            && (forest.link(contact.a).is_none() || forest.link(contact.b).is_none());
        let mut moves = || {
            let (a, b) = contact.row(&contact.normal);
            reduced.moves(forest, [(contact.a, &a), (contact.b, &b)])
        };
        moves_freely || moves()
    });
}
