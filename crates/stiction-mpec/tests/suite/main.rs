//! Tests of programs with complementarity constraints.

// Tests may panic with `expect` and `unwrap`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(any(feature = "ipopt", feature = "ripopt"))]
mod small;
