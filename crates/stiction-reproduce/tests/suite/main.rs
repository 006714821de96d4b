//! Every case runs to its end, no row fails, and the committed pages about them are current.

// Errors in tests should panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod report;
