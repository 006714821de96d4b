//! Push planning: open-loop paths of a needle that bring a part to its goal.
//!
//! ```text
//! Push     the question: a part, a needle, a goal; follow(path) simulates one answer
//! Sampler  draws paths                      Path     a polyline at constant speed
//! Search   trials, then refinement of near misses, then rehearsals under other friction; gives a PushReport
//! ```
//!
//! A plan is open loop: there is no feedback during the push. A plan reaches the goal if the simulation of its path, from its numbers
//! alone, ends within the tolerances.

mod error;
mod goal;
mod path;
mod refine;
mod report;
mod sampler;
mod search;
mod setting;

pub use error::PushError;
pub use goal::{Goal, Miss};
pub use path::{Path, Polyline};
pub use report::{FailureCount, Plan, PushReport};
pub use sampler::Sampler;
pub use search::{Search, SearchOptions};
pub use setting::{Arrival, Push};
