//! The integration tests of the crate, in one binary.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by panicking")]

mod broad_phase;
mod implicit;
mod mass;
mod meeting;
mod mesh;
mod planar;
mod spatial;
mod spatial_degenerate;
mod spatial_gradient;
mod spatial_hull;
mod spatial_pairs;
mod spatial_pieces;
mod spatial_touching;
