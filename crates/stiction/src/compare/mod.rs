//! Work-precision comparison: one model, several schemes and step sizes, errors against a reference solution.
//!
//! A [`Plan`] names the schemes, the step sizes and the candidates for the reference solution (the truth). [`run`] executes it and returns a
//! [`Comparison`], plain data with a [`page`] for browsers. The norms can be used alone: a [`Trajectory`] is recorded from any simulation,
//! and [`Errors::between`] compares two. The definitions are in `docs/theory/compare.md`.
//!
//! ```
//! use stiction::{BodyBuilder, Dimension, ModelBuilder, Preset, compare::{self, Entry, Plan, TruthCandidate}};
//!
//! let mut builder = ModelBuilder::new(Dimension::Planar);
//! builder.gravity(0.0, -9.81, 0.0)?;
//! builder.body(BodyBuilder::particle("stone", 1.0))?;
//! let mut plan = Plan::new(builder.build()?, vec![0.1, 0.05], 1.0);
//! plan.entries = [Preset::Ncp, Preset::MoreauJean].map(Entry::of).into();
//! plan.truth = vec![TruthCandidate { entry: Entry::of(Preset::Reference), step: None }];
//!
//! let comparison = compare::run(&plan, &mut compare::Unwatched)?;
//! // Free fall: with end-of-step velocities the error of y is g h t / 2; with midpoint velocities it is zero.
//! let errors: Vec<_> = comparison.rows.iter().filter_map(|row| row.errors).collect();
//! assert!((errors[0].position - 9.81 * 0.1 / 2.0).abs() < 1e-9);
//! assert!(errors[2].position < 9.81 * 0.1 * 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod norms;
mod page;
mod plan;
mod preset;
mod report;
mod run;
mod tally;
mod trajectory;

pub use norms::{Errors, difference};
pub use page::page;
pub use plan::{CompareError, Entry, Plan, TruthCandidate};
pub use preset::scheme_of;
pub use report::{Comparison, Cost, InfeasibilityExtremes, Orders, Outcome, Refusal, Row, Truth};
pub use run::{Unwatched, Watch, run};
pub use trajectory::{Between, Trajectory};
