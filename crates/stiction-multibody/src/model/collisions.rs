//! Collision masks: the pairs of shapes that may touch, independent of their poses.

use crate::{BodyId, Model};

/// Largest number of shapes whose pairs are computed in advance: one bit per shape in a word.
const MAX_SHAPES: usize = u64::BITS as usize;

/// For each shape of a model a mask of the shapes that it may touch; empty if the model has more than [`MAX_SHAPES`].
///
/// Robots have few shapes, rules for many of their pairs, and every step queries most pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollisionMasks {
    masks: Vec<u64>,
}

impl CollisionMasks {
    /// Masks of a model with all its shapes and rules.
    pub(crate) fn new(model: &Model) -> Self {
        let count = model.shape_count();
        if count > MAX_SHAPES {
            return Self::default();
        }
        let mask = |i: usize| (0..count).filter(move |&j| may_touch(model, i, j)).map(|j| 1 << j).sum();
        Self { masks: (0..count).map(mask).collect() }
    }

    /// Entry of a pair; none without a mask.
    #[inline]
    fn get(&self, i: usize, j: usize) -> Option<bool> {
        self.masks.get(i).map(|mask| j < MAX_SHAPES && mask >> j & 1 == 1)
    }
}

impl Model {
    /// True if two shapes, by their positions in [`Self::shapes`], may be in contact.
    #[inline]
    pub fn shapes_may_collide(&self, i: usize, j: usize) -> bool {
        let count = self.shape_count();
        debug_assert!(i < count && j < count, "shapes {i} and {j} are not both among {count}");
        self.collision_masks.get(i, j).unwrap_or_else(|| may_touch(self, i, j))
    }
}

/// True if two bodies may be in contact: at least one of them is dynamic, and their rule lets them collide.
pub fn may_collide(model: &Model, a: BodyId, b: BodyId) -> bool {
    a != b && (model.unknowns(a).is_some() || model.unknowns(b).is_some()) && model.contact_rule(a, b).collide
}

fn may_touch(model: &Model, i: usize, j: usize) -> bool {
    let (Some((_, a, shape_a)), Some((_, b, shape_b))) = (model.shape(i), model.shape(j)) else { return false };
    may_collide(model, a, b) && shape_a.filter.meets(&shape_b.filter)
}
