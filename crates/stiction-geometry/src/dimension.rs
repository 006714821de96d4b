//! Plane or space.

/// Plane or space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Dimension {
    /// Two dimensions: the plane z = 0, y up.
    Planar,
    /// Three dimensions, z up.
    Spatial,
}
