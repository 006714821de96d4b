//! Protective layer: contacts keep a small distance, so that shapes never overlap.
//!
//! Distances are well defined for separate shapes and ambiguous for overlapping ones; many libraries do not compute them for overlaps.
//! With a layer of thickness δ the step enforces ψ − δ ≥ 0. Errors of the step up to δ then leave the shapes apart; a larger error is
//! reported.   [STEP-16]

use stiction_geometry::{ContactPoint, Feature, Pose, Shape, broad_phase::Aabb};

use crate::{Detector, StepCause};

/// Detector that keeps shapes apart by a layer.
#[derive(Debug, Default)]
pub struct ProtectiveLayer<D> {
    detector: D,
    /// Thickness δ, m.
    thickness: f64,
    boxes: Vec<Option<Aabb>>,
}

impl<D: Detector> ProtectiveLayer<D> {
    /// Adds a layer of this thickness (m) to another detector.
    pub fn new(detector: D, thickness: f64) -> Self {
        Self { detector, thickness, boxes: Vec::new() }
    }
}

impl<D: Detector> Detector for ProtectiveLayer<D> {
    fn pairs(&mut self, boxes: &[Option<Aabb>], wanted: &dyn Fn(usize, usize) -> bool, out: &mut Vec<(usize, usize)>) {
        self.boxes.clear();
        let half = 0.5 * self.thickness;
        self.boxes.extend(boxes.iter().map(|aabb| aabb.as_ref().map(|aabb| aabb.padded(half))));
        self.detector.pairs(&self.boxes, wanted, out);
    }

    fn contacts(
        &mut self,
        a: (&Shape, &Pose),
        b: (&Shape, &Pose),
        margin: f64,
        out: &mut Vec<ContactPoint>,
    ) -> Result<(), StepCause> {
        let first = out.len();
        self.detector.contacts(a, b, margin + self.thickness, out)?;
        for point in out.iter_mut().skip(first) {
            if point.gap < 0.0 {
                let pair = String::new();
                return Err(StepCause::LayerUsedUp { pair, thickness: self.thickness, overlap: -point.gap });
            }
            point.gap -= self.thickness;
        }
        Ok(())
    }

    fn contacts_in_chains(
        &mut self,
        a: (&Shape, &Pose),
        b: (&Shape, &Pose),
        margin: f64,
        out: &mut Vec<ContactPoint>,
    ) -> bool {
        let first = out.len();
        let known = self.detector.contacts_in_chains(a, b, margin + self.thickness, out);
        out.iter_mut().skip(first).for_each(|point| point.gap -= self.thickness);
        known
    }

    fn distance_to_face_end(&mut self, a: (&Shape, &Pose), b: (&Shape, &Pose), feature: Feature) -> Option<f64> {
        self.detector.distance_to_face_end(a, b, feature)
    }
}
