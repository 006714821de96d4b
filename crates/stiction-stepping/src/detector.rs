//! Collision detection as an exchangeable part.

use stiction_geometry::{
    ContactPoint, Pose, Scratch, Shape,
    broad_phase::{Aabb, BroadPhase},
    contacts,
};

use crate::StepCause;

/// Finds which shapes may touch, and where. Answers must be pure functions of what is asked: a detector may keep memory for
/// speed, but nothing that changes a result.
pub trait Detector: Send {
    /// Pairs (i < j) of overlapping boxes for which `wanted` is true, sorted. A shape without a box reaches everywhere.
    fn pairs(&mut self, boxes: &[Option<Aabb>], wanted: &dyn Fn(usize, usize) -> bool, out: &mut Vec<(usize, usize)>);

    /// Appends the contact points of two shapes with a gap of at most `margin`, negative gaps included.
    fn contacts(
        &mut self,
        a: (&Shape, &Pose),
        b: (&Shape, &Pose),
        margin: f64,
        out: &mut Vec<ContactPoint>,
    ) -> Result<(), StepCause>;
}

/// The detector of `stiction-geometry`: a bounding-volume tree, and feature-exact contacts.
#[derive(Default)]
pub struct FeatureDetector {
    broad_phase: BroadPhase,
    scratch: Scratch,
}

impl Detector for FeatureDetector {
    fn pairs(&mut self, boxes: &[Option<Aabb>], wanted: &dyn Fn(usize, usize) -> bool, out: &mut Vec<(usize, usize)>) {
        self.broad_phase.pairs(boxes, wanted, out);
    }

    fn contacts(
        &mut self,
        (shape_a, pose_a): (&Shape, &Pose),
        (shape_b, pose_b): (&Shape, &Pose),
        margin: f64,
        out: &mut Vec<ContactPoint>,
    ) -> Result<(), StepCause> {
        contacts(shape_a, pose_a, shape_b, pose_b, margin, &mut self.scratch, out)
            .map_err(|unsupported| StepCause::Geometry(unsupported.to_string()))
    }
}
