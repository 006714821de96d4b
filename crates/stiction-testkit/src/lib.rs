//! Test support: reference cases as data, tolerances with units, allocators that count, seeded random numbers, the
//! penalty model that exact contact is measured against, and a solver that fails on demand.
//!
//! Never published, only ever a dev-dependency. What is wrong with a test or its data is reported by a panic with a
//! sentence, because that is how a test speaks.

pub mod alloc;
pub mod cases;
pub mod corpus;
pub mod failing;
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
