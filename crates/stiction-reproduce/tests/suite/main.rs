//! Every case runs to its end, no row fails, and what is committed about them is current.

// What goes wrong in tests should panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod report;
