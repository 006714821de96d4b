//! Tests of the crate as its users see it, in one binary.

// Symbols in comments are mathematics, and a helper that fails is a test that fails.
#![allow(clippy::doc_markdown, clippy::unwrap_used, clippy::panic)]

use stiction_testkit::CountingAllocator;

mod articulated;
mod energies;
mod forces;
mod forests;
mod joint_motion;
mod joint_rows;
mod layers;
mod layout;
mod numbers;
mod plates;
mod refusals;
mod rotations;
mod states;
mod support;
mod supports;
mod twists;
mod variants;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
