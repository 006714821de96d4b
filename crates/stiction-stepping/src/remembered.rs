//! Contacts that the last step leaves something to do, which are found at any distance: layers that have not relaxed [SOFT-4], and approach
//! velocities that Newton's impact law has still to return [IMPACT-1].

use stiction_geometry::Feature;
use stiction_multibody::{ContactMemory, ShapeId};

use crate::{Start, layers};

fn is_unfinished(start: &Start, memory: &ContactMemory) -> bool {
    memory.pending_restitution < 0.0 || layers::is_relaxing(start, memory)
}

/// Features of two shapes whose contacts are unfinished.
pub(crate) fn unfinished_features<'a>(
    start: &'a Start,
    (a, b): (ShapeId, ShapeId),
) -> impl Iterator<Item = Feature> + use<'a> {
    let memories = &start.state.contacts;
    let first = memories.partition_point(|memory| (memory.id.shape_a, memory.id.shape_b) < (a, b));
    let of_pair =
        memories.iter().skip(first).take_while(move |memory| (memory.id.shape_a, memory.id.shape_b) == (a, b));
    of_pair.filter(|memory| is_unfinished(start, memory)).map(|memory| memory.id.feature)
}

/// Adds the pairs of shapes whose contacts are unfinished.
pub(crate) fn add_unfinished_pairs(start: &Start, pairs: &mut Vec<(usize, usize)>) {
    for memory in start.state.contacts.iter().filter(|memory| is_unfinished(start, memory)) {
        let pair = (memory.id.shape_a.index(), memory.id.shape_b.index());
        if let Err(place) = pairs.binary_search(&pair) {
            pairs.insert(place, pair);
        }
    }
}
