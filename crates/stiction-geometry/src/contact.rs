//! What the narrow phase reports.

use nalgebra::{Point3, Unit, Vector3};

/// Names the two features that meet, stable under motion as long as the same features meet.
///
/// The high half belongs to shape A, the low half to shape B; see [`Feature::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Feature(pub u64);

impl Feature {
    /// Packs the feature numbers of A and B. Each shape numbers its vertices, then its edges, then its faces.
    pub fn new(a: u32, b: u32) -> Self {
        Self((u64::from(a) << 32) | u64::from(b))
    }
}

/// One potential contact between shape A and shape B, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Which features meet.
    pub feature: Feature,
    /// The point on the surface of A.
    pub point_a: Point3<f64>,
    /// The point on the surface of B.
    pub point_b: Point3<f64>,
    /// Unit normal, pointing out of A towards B.
    pub normal: Unit<Vector3<f64>>,
    /// Signed distance `ψ = n · (p_b − p_a)`: positive apart, negative in penetration.   [GEOM-1]
    pub gap: f64,
    /// False where the configuration has no unique normal (concentric discs, coincident points) and a fixed one was chosen.
    pub normal_is_unique: bool,
}
