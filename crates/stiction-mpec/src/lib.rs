//! Sparse nonlinear programs with complementarity constraints.
//!
//! ```text
//! min Σ w_i (x_i − c_i)²,   low ≤ x ≤ high,   low ≤ c(x) ≤ high,   0 ≤ a ⊥ b ≥ 0 for every pair             [MPEC-1]
//! ```
//!
//! ```text
//! program    variables, elements (functions of few variables), pairs
//! blocks     parts without common variables, solved separately
//! nlp        a program as a nonlinear program: pairs as a·b ≤ ε                                             [MPEC-2]
//! engine     Ipopt or ripopt
//! solve      ε → 0, then a solve with the modes of all pairs fixed, and a certificate                        [MPEC-3]
//! spread     covariance of variables if squares are deviations                                              [MPEC-4]
//! ```

// Doc comments here are full of symbols such as AᵀB, which are mathematics and not code.
#![allow(clippy::doc_markdown)]

mod blocks;
mod engine;
#[cfg(feature = "ipopt")]
mod ipopt;
mod nlp;
mod program;
#[cfg(feature = "ripopt")]
mod ripopt;
mod solve;
mod sparse;
mod spread;

pub use blocks::{Block, blocks};
pub use engine::{Engine, EngineOptions, Run, RunStatus};
pub use nlp::Nlp;
pub use program::{Element, Pair, Placed, Program, Refused, Square, Variable};
pub use solve::{Certificate, Mode, MpecError, Schedule, Solution, solve};
pub use spread::covariance;
