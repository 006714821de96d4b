//! Tests of identification.

// Tests say what they expect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(feature = "mpec")]
mod particle;
mod sliding_block;
mod tosses;
