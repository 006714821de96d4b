//! Test support: reference cases as data, tolerances with units, counting allocators, seeded random numbers, a penalty
//! model for comparison with exact contact, and a solver that fails on demand.
//!
//! The crate is never published and only used as a dev-dependency. Errors of a test or its data are reported by a panic with
//! a message.

pub mod alloc;
pub mod cases;
pub mod corpus;
pub mod dense;
pub mod failing;
pub mod families;
pub mod hard;
pub mod peak;
pub mod penalty;
pub mod plate;
pub mod problems;
pub mod random;
pub mod rocks;
pub mod tolerance;

pub use alloc::{Allocations, CountingAllocator, count_allocations};
pub use cases::{Reference, reference};
pub use failing::{FailingSolver, Fault};
pub use peak::{PeakAllocator, peak_bytes};
pub use penalty::PenaltyBox;
pub use random::Random;
pub use tolerance::Tol;
