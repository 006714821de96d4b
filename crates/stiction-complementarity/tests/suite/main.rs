//! Tests of the crate as its users see it.

#![allow(clippy::doc_markdown)]

mod collection;
mod contact;
mod generate;
mod json;
mod lcp_cases;
mod lcp_random;
mod linalg;
mod mixed_lcp;
mod verdict;
