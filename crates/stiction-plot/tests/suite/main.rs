//! Tests of the figures through their SVG.

// A test may panic, and its data need not have the same bits everywhere.
#![allow(clippy::expect_used, clippy::disallowed_methods)]

mod figures;
mod hostile;
mod ticks;
