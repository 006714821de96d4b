//! Whole simulations against published and independently derived numbers.

#![allow(missing_docs, clippy::disallowed_methods, reason = "tests compute closed forms with the standard library")]

mod analytic;
mod ellipse;
mod family;
mod pendulum;
mod promises;
mod published;

#[global_allocator]
static ALLOCATOR: stiction_testkit::CountingAllocator = stiction_testkit::CountingAllocator;
