//! Studies: many simulations and their statistics.
//!
//! A study makes *trials*. Each is a pure function of its index: its random numbers come from a [`Stream`] that the seed of the study and
//! the index start. Results do not depend on the number of threads or on the order of execution. A trial that fails is recorded with its
//! reason and counted; it never stops the others.
//!
//! ```text
//! file     study files (TOML) with the messages of scene files
//! trial    run_trials: any trials, on any number of threads        random  streams of numbers
//! success_rate  success rates with their confidence intervals        push    push planning
//! monte_carlo  parameters of any scene, success and metrics over the run
//! design   parameters of a scene that minimise an objective        verify  designs that work under all circumstances
//! ```

mod file;
mod random;
mod success_rate;
mod trial;

pub mod design;
pub mod monte_carlo;
pub mod push;
pub mod verify;

pub use file::{PushStudy, Study, load, parse_monte_carlo, schema};
pub use random::Stream;
pub use success_rate::SuccessRate;
pub use trial::{Failure, Outcome, ThreadsError, Watch, run_trials};
