//! Contacts whose gap no velocity of the forest changes.

use crate::{Start, Workspace};

/// Removes the contacts whose gap is fixed by joints and that do not overlap.   [RED-5]
///
/// Just above zero gap the force of such a contact is zero, and at zero gap it is indeterminate. The rounding of a pose must not decide
/// between the two.
pub(crate) fn drop_immovable(start: &Start, ws: &mut Workspace) {
    let Some(reduced) = &mut ws.reduced else { return };
    let (forest, threshold) = (start.model.forest(), start.scheme.touch_threshold);
    ws.constraints.contacts.retain(|contact| {
        let stays = contact.gap_start >= -threshold && (contact.gap_end - contact.gap_start).abs() <= threshold;
        if !stays {
            return true;
        }
        // A floating body can move along every normal against a body that is no link: no row is needed to decide that.
        let moves_freely = forest.floats(contact.a) != forest.floats(contact.b)
            && (forest.link(contact.a).is_none() || forest.link(contact.b).is_none());
        let mut moves = || {
            let (a, b) = contact.row(&contact.normal);
            reduced.moves(forest, [(contact.a, &a), (contact.b, &b)])
        };
        moves_freely || moves()
    });
}
