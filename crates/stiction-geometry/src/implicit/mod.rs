//! Smooth convex shapes by functions: f ≤ 0 inside, with exact first and second derivatives, and the closest points of two of them.
//!
//! Every convex shape is an intersection of finitely many functions ([`Convex`], from [`Shape::convex`](crate::Shape::convex)): one for a
//! ball, an ellipsoid or a superquadric, one per face for a box. [`closest`] finds the closest points together with the multipliers that
//! prove them, for solids apart, touching and in overlap; [`sensitivity`] differentiates them.
//!
//! Reading order: `jet`, `function` and `norms` (what a function is), `convex`, `kkt` (the equations and Newton's method), `active_set`
//! (which functions matter), `closest` (where to start), `barrier` and `programs` (how to find a start from nothing).

mod active_set;
mod automatic;
mod barrier;
mod closest;
mod convex;
mod formula;
mod function;
mod gauss;
mod jet;
mod kkt;
mod multipliers;
mod nearest;
mod norms;
mod pair;
mod programs;
mod sensitivity;
mod solid;

pub use automatic::{Automatic, Dual};
pub use closest::{Closest, Scratch, closest};
pub use convex::Convex;
pub(crate) use convex::{Buffer, planar_convex, spatial_convex};
pub use jet::{ConvexFunction, Jet};
pub use multipliers::Multipliers;
pub(crate) use norms::{superellipse_reach, superellipse_support, superquadric_reach, superquadric_support};
pub use sensitivity::{Sensitivity, sensitivity};
pub use solid::{Implicit, Piece};
