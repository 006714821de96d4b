//! Tests of the crate as its users see it.

// Symbols in comments are mathematics, and a helper that fails is a test that fails.
#![allow(clippy::doc_markdown, clippy::unwrap_used, clippy::panic)]

mod collection;
mod contact;
mod friction_collection;
mod friction_local;
mod generate;
mod json;
mod lcp_cases;
mod lcp_random;
mod linalg;
mod mixed_lcp;
mod ncp;
mod verdict;
