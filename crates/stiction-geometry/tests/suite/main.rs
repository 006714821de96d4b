//! The integration tests of the crate, in one binary.

mod broad_phase;
mod planar;
