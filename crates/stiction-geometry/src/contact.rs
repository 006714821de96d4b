//! Contacts reported by the narrow phase.

use nalgebra::{Point3, Unit, Vector3};

/// Identifier of the two features in contact, stable under motion as long as the features stay the same.
///
/// The high half belongs to shape A, the low half to shape B; see [`Feature::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Feature(pub u64);

impl Feature {
    /// Packs the feature numbers of A and B. Each shape numbers its vertices, then its edges, then its faces.
    pub fn new(a: u32, b: u32) -> Self {
        Self((u64::from(a) << 32) | u64::from(b))
    }

    /// Returns the feature numbers of A and B.
    pub fn parts(self) -> (usize, usize) {
        ((self.0 >> 32) as usize, (self.0 & 0xffff_ffff) as usize)
    }
}

/// One potential contact between shape A and shape B, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Features in contact.
    pub feature: Feature,
    /// Point on the surface of A.
    pub point_a: Point3<f64>,
    /// Point on the surface of B.
    pub point_b: Point3<f64>,
    /// Unit normal, pointing out of A towards B.
    pub normal: Unit<Vector3<f64>>,
    /// Signed distance `ψ = n · (p_b − p_a)`: positive for separation, negative for penetration.   [GEOM-1]
    pub gap: f64,
    /// False if the configuration has no unique normal (concentric discs, coincident points) and a fixed one was
    /// chosen.
    pub normal_is_unique: bool,
    /// Chain number. Contacts of one call in the same chain are alternatives: the bodies are apart while *one* of
    /// their gaps is not negative. Contacts of different chains must all hold.   [GEOM-10]
    pub chain: u32,
}

/// Logical relation of two contacts of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum CornerRule {
    /// Both gaps must be non-negative: different places, or the two faces of a notch.
    All,
    /// One of the gaps must be non-negative: the two faces of a convex corner.
    Any,
}

impl ContactPoint {
    /// Returns whether this contact and another one of the same call must both hold, or one of them.
    pub fn corner_rule(&self, other: &Self) -> CornerRule {
        if self.chain == other.chain { CornerRule::Any } else { CornerRule::All }
    }
}

/// Splits the contacts of one call into chains.
pub fn chains(contacts: &[ContactPoint]) -> impl Iterator<Item = &[ContactPoint]> {
    contacts.chunk_by(|c, d| c.chain == d.chain)
}

/// Gives every contact its own chain, in order.
pub(crate) fn assign_separate_chains(contacts: &mut [ContactPoint]) {
    for (chain, contact) in (0..).zip(contacts) {
        contact.chain = chain;
    }
}
