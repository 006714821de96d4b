//! Which pairs of shapes may touch, whatever their poses.

use crate::{Model, may_collide};

/// The most shapes of which all pairs are told in advance: one bit for each in a word.
const MOST: usize = u64::BITS as usize;

/// For each shape of a model the others it may touch, one bit each. Robots have few shapes and a rule for many of their pairs, and every step asks for most
/// of these; empty where there are more shapes than bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encounters {
    partners: Vec<u64>,
}

impl Encounters {
    /// Of a model with all its shapes and rules.
    pub(crate) fn new(model: &Model) -> Self {
        let count = model.shapes().count();
        if count > MOST {
            return Self::default();
        }
        let partners = |i: usize| (0..count).filter(move |&j| may_touch(model, i, j)).map(|j| 1 << j).sum();
        Self { partners: (0..count).map(partners).collect() }
    }

    #[inline]
    fn know(&self, i: usize, j: usize) -> Option<bool> {
        self.partners.get(i).map(|partners| j < MOST && partners >> j & 1 == 1)
    }
}

impl Model {
    /// Whether contacts between two shapes, by their positions in [`Self::shapes`], count.
    #[inline]
    pub fn shapes_may_collide(&self, i: usize, j: usize) -> bool {
        self.encounters.know(i, j).unwrap_or_else(|| may_touch(self, i, j))
    }
}

fn may_touch(model: &Model, i: usize, j: usize) -> bool {
    let (Some((_, a, shape_a)), Some((_, b, shape_b))) = (model.shape(i), model.shape(j)) else { return false };
    may_collide(model, a, b) && shape_a.filter.meets(&shape_b.filter)
}
