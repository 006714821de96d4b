//! Tests of identification.

// Tests say what they expect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod filter;
mod information;
mod limited_memory;
mod sliding_block;
mod tosses;
