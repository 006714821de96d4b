//! Tests of the crate as its users see it, in one binary.

// Symbols in comments are mathematics, and a helper that fails is a test that fails.
#![allow(clippy::doc_markdown, clippy::unwrap_used, clippy::panic)]

use stiction_testkit::CountingAllocator;

mod divide;
mod generalised;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
