//! Tests of programs with complementarity constraints.

// Tests say what they expect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(any(feature = "ipopt", feature = "ripopt"))]
mod small;
