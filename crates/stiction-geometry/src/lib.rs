//! Shapes in the plane and in space, and an exact, history-free narrow phase.
//!
//! Contact data is a pure function of the two poses: there are no caches and no memory of earlier calls. Gaps,
//! witness points and normals are analytic. Every contact is *feature-exact*: its gap is the distance between two
//! named features (vertex and face, edge and edge, centre and centre), so the gradient of the gap with respect to the
//! poses is the wrench of its normal, to round-off. parry supplies hulls, mass properties and the bounding-volume
//! tree.
//!
//! The plane is the plane z = 0 of space. Planar shapes are in [`planar`], spatial ones in [`spatial`]. Both report
//! [`ContactPoint`]s in three coordinates, so other crates need not distinguish them.

mod contact;
mod dimension;
mod error;
mod feature_pair;
mod moments;
mod pair;
mod shape;
mod smooth;

pub mod broad_phase;
pub mod implicit;
pub mod mass;
pub mod mesh;
pub mod planar;
pub mod spatial;

pub use contact::{ContactPoint, CornerRule, Feature, chains};
pub use dimension::Dimension;
pub use error::{ShapeError, UnsupportedPair};
pub use feature_pair::{FeatureContact, FeaturePair};
pub use pair::{Scratch, contacts, contacts_in_chains, distance_to_face_end, ensure_supported, has_numbered_features};
pub use shape::Shape;

/// A pose: rotation matrix and translation, taking body coordinates to world coordinates.
///
/// A planar pose is a rotation about z and a translation in the plane z = 0.
pub type Pose = nalgebra::IsometryMatrix3<f64>;
