//! Tests of the crate as its users see it, in one binary.

// Tests write files and cause errors on purpose.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod designs;
mod files;
mod findings;
mod folders;
mod monte_carlo;
mod paths;
mod plans;
mod searches;
mod shares;
mod support;
mod trials;
mod variants;
mod verify;
