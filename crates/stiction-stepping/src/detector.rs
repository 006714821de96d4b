//! Collision detection as an exchangeable component.

use stiction_geometry::{
    ContactPoint, Feature, Pose, Scratch, Shape,
    broad_phase::{Aabb, BroadPhase},
    contacts, contacts_in_chains, distance_to_face_end,
};

use crate::StepCause;

/// Collision detector: broad phase and narrow phase.
///
/// Results must be pure functions of the arguments: a detector may keep memory for speed, but nothing that changes a result.
pub trait Detector: Send {
    /// Writes the pairs (i < j) of overlapping boxes for which `wanted` is true, sorted. A shape without a box is unbounded; unbounded
    /// sides are infinite.
    fn pairs(&mut self, boxes: &[Option<Aabb>], wanted: &dyn Fn(usize, usize) -> bool, out: &mut Vec<(usize, usize)>);

    /// Appends the contact points of two shapes with a gap of at most `margin`, negative gaps included.
    fn contacts(
        &mut self,
        a: (&Shape, &Pose),
        b: (&Shape, &Pose),
        margin: f64,
        out: &mut Vec<ContactPoint>,
    ) -> Result<(), StepCause>;

    /// Appends the contact points vertex by vertex, with alternatives at corners, even for convex polygons.   [CORNER-5]
    ///
    /// Returns false, and appends nothing, if the detector does not support that.
    fn contacts_in_chains(
        &mut self,
        _a: (&Shape, &Pose),
        _b: (&Shape, &Pose),
        _margin: f64,
        _out: &mut Vec<ContactPoint>,
    ) -> bool {
        false
    }

    /// Distance of a vertex from the nearer end of its face; none if the feature is no vertex on a face.   [CORNER-5]
    fn distance_to_face_end(&mut self, _a: (&Shape, &Pose), _b: (&Shape, &Pose), _feature: Feature) -> Option<f64> {
        None
    }
}

/// Detector of `stiction-geometry`: a bounding-volume tree, and feature-exact contacts.
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

    fn contacts_in_chains(
        &mut self,
        a: (&Shape, &Pose),
        b: (&Shape, &Pose),
        margin: f64,
        out: &mut Vec<ContactPoint>,
    ) -> bool {
        contacts_in_chains(a, b, margin, &mut self.scratch, out)
    }

    fn distance_to_face_end(&mut self, a: (&Shape, &Pose), b: (&Shape, &Pose), feature: Feature) -> Option<f64> {
        distance_to_face_end(a, b, feature, &mut self.scratch)
    }
}
