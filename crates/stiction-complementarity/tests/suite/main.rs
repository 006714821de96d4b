//! Tests of the crate through its public interface.

// Symbols in comments are mathematics, and helpers of tests may panic.
#![allow(clippy::doc_markdown, clippy::unwrap_used, clippy::panic)]

mod boundaries;
mod collection;
mod contact;
mod corpus;
mod friction_active_set;
mod friction_collection;
mod friction_equality;
mod friction_files;
mod friction_general;
mod friction_hard;
mod friction_interior_point;
mod friction_islands;
mod friction_ladder;
mod friction_local;
mod friction_newton;
mod friction_nsgs;
mod friction_properties;
mod friction_small_mixed;
mod fuzz;
mod generate;
mod interrupts;
mod json;
mod lcp_cases;
mod lcp_methods;
mod lcp_random;
mod lcp_uniqueness;
mod linalg;
mod mixed_lcp;
mod ncp;
mod reformulations;
mod verdict;

#[global_allocator]
static ALLOCATOR: stiction_testkit::CountingAllocator = stiction_testkit::CountingAllocator;
