//! Whole simulations against published and independently derived numbers.

#![allow(missing_docs, clippy::disallowed_methods, reason = "tests")]

mod family;
mod pendulum;
