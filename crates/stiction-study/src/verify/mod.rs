//! Hierarchical verification of designs under all circumstances, by models from cheap to expensive.
//!
//! A *candidate* is a set of values of the scene. It is accepted if it passes every *stage* under every one of the stage's *circumstances*.
//! Stages are ordered by cost, and a rejected candidate is not evaluated further. A stage of geometry costs microseconds and avoids the
//! simulations of all candidates that it rejects.   [VERIFY-1]
//!
//! ```text
//! file     the tables of a study file              sample   values of candidates and circumstances
//! study    stages, and how one run is judged       passage  how wide a disc gets through
//! run      candidates on all cores, with and without hierarchy
//! report   what was accepted, what was rejected where, and what that took
//! ```

mod file;
mod passage;
mod report;
mod run;
mod sample;
mod study;

pub use crate::file::parse_verification as parse;
pub use passage::{Passage, PassageError};
pub use report::{Accepted, NaiveReport, NaiveStage, Rejected, Seconds, StageReport, VerificationReport};
pub use run::{Clock, VerifyOptions};
pub use sample::Sample;
pub use study::{Stage, Verification};

pub(crate) use file::{StageTable, VerificationTables, build};
