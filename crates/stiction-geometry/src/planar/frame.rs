//! The frame of the planar kernels, and the transformation of their results to the world.

use nalgebra::{Matrix2, Point3, Unit, Vector2, Vector3};

use crate::{ContactPoint, Feature, Pose};

/// A planar pose relative to the midpoint between the two bodies.
///
/// Far from the world's origin the coordinates of two close bodies share their leading digits. Relative to the
/// midpoint these digits cancel and no precision is lost. The midpoint does not change if A and B are exchanged, so
/// the result is the same to the last bit.
pub(super) struct Frame {
    rotation: Matrix2<f64>,
    pub(super) translation: Vector2<f64>,
}

impl Frame {
    /// Returns the frames of A and B relative to their midpoint, and the midpoint.
    pub(super) fn about_midpoint(pose_a: &Pose, pose_b: &Pose) -> (Self, Self, Vector2<f64>) {
        let (a, b) = (pose_a.translation.vector.xy(), pose_b.translation.vector.xy());
        let origin = (a + b) * 0.5;
        let frame = |pose: &Pose, at: Vector2<f64>| Self {
            rotation: pose.rotation.matrix().fixed_view::<2, 2>(0, 0).into_owned(),
            translation: at - origin,
        };
        (frame(pose_a, a), frame(pose_b, b), origin)
    }

    pub(super) fn point(&self, local: &Vector2<f64>) -> Vector2<f64> {
        self.translation + self.rotation * local
    }

    pub(super) fn direction(&self, local: &Vector2<f64>) -> Vector2<f64> {
        self.rotation * local
    }

    /// Returns the rotation and translation from the coordinates of this frame's body to those of the `host` frame's
    /// body.
    pub(super) fn seen_from(&self, host: &Self) -> (Matrix2<f64>, Vector2<f64>) {
        let rotation = host.rotation.tr_mul(&self.rotation);
        (rotation, host.rotation.tr_mul(&(self.translation - host.translation)))
    }

    pub(super) fn direction_to_local(&self, world: &Vector2<f64>) -> Vector2<f64> {
        self.rotation.tr_mul(world)
    }
}

/// A contact in midpoint coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaneContact {
    pub(super) feature_a: usize,
    pub(super) feature_b: usize,
    pub(super) point_a: Vector2<f64>,
    pub(super) point_b: Vector2<f64>,
    pub(super) normal: Vector2<f64>,
    pub(super) gap: f64,
    pub(super) normal_is_unique: bool,
}

impl PlaneContact {
    /// Returns the same contact with A and B exchanged.
    pub(super) fn mirrored(self) -> Self {
        Self {
            feature_a: self.feature_b,
            feature_b: self.feature_a,
            point_a: self.point_b,
            point_b: self.point_a,
            normal: -self.normal,
            ..self
        }
    }
}

/// Receiver of contacts, which transforms those within the margin to the world.
pub(super) struct Sink<'a> {
    origin: Vector2<f64>,
    pub(super) margin: f64,
    out: &'a mut Vec<ContactPoint>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(origin: Vector2<f64>, margin: f64, out: &'a mut Vec<ContactPoint>) -> Self {
        Self { origin, margin, out }
    }

    /// Keeps the contact if its gap is at most the margin. The chains are numbered after sorting.
    pub(super) fn push(&mut self, contact: PlaneContact) {
        if contact.gap > self.margin {
            return;
        }
        self.push_in_chain(contact, 0);
    }

    /// Keeps the contact as a member of the given chain.
    pub(super) fn push_in_chain(&mut self, contact: PlaneContact, chain: u32) {
        let world = |p: Vector2<f64>| Point3::new(self.origin.x + p.x, self.origin.y + p.y, 0.0);
        self.out.push(ContactPoint {
            feature: Feature::new(contact.feature_a as u32, contact.feature_b as u32),
            point_a: world(contact.point_a),
            point_b: world(contact.point_b),
            normal: Unit::new_unchecked(Vector3::new(contact.normal.x, contact.normal.y, 0.0)),
            gap: contact.gap,
            normal_is_unique: contact.normal_is_unique,
            chain,
        });
    }
}
