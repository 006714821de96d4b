//! Tests of identification.

// Tests say what they expect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod filter;
mod information;
mod limited_memory;
#[cfg(feature = "ipopt")]
mod mpec;
mod sliding_block;
mod tosses;
