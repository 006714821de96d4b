//! Smooth convex shapes as functions: f ≤ 0 inside, with exact first and second derivatives, and the closest points
//! of two of them.
//!
//! Every convex shape is an intersection of finitely many functions ([`Convex`], from
//! [`Shape::convex`](crate::Shape::convex)): one for a ball, an ellipsoid or a superquadric, one per face for a box.
//! [`closest`] finds the closest points with the multipliers that certify them, for separated, touching and
//! overlapping solids. [`sensitivity`] differentiates them.
//!
//! Reading order: `jet`, `function` and `norms` (the functions), `convex`, `kkt` (equations and Newton's method),
//! `active_set`, `closest` (strategies for the start), `barrier` and `programs` (the interior point for a cold
//! start).

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
mod responses;
mod sensitivity;
mod solid;

pub use automatic::{Automatic, Dual};
pub use closest::{Closest, Scratch, closest};
pub use convex::Convex;
pub(crate) use convex::{Buffer, Build};
pub(crate) use function::Function;
pub use jet::{ConvexFunction, Jet};
pub use multipliers::Multipliers;
pub(crate) use norms::{superellipse_reach, superellipse_support, superquadric_reach, superquadric_support};
pub use sensitivity::{Sensitivity, sensitivity};
pub use solid::{ConvexPart, Implicit};
