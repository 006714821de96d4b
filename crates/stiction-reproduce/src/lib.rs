//! Reproduction of the published cases: published values, independent reference values, our values, and the verdicts.
//!
//! All expected values are read from `reference/*.json`, which this crate includes: parameters, published values with
//! their source, independent reference values and their derivation, tolerances. A case is a function from its file to an
//! [`Account`]; verdicts are computed from the rows, and only the file can give a reason for a deviation.
//!
//! ```
//! let case = stiction_reproduce::find("C-02").unwrap();
//! let outcome = stiction_reproduce::reproduce(case);
//! assert!(outcome.account.unwrap().rows.iter().all(|row| row.verdict() != stiction_reproduce::Verdict::Fails));
//! ```

// Symbols in documentation are mathematics, bound in docs/NOTATION.md, not code.
#![allow(clippy::doc_markdown)]

mod account;
mod cases;
mod draw;
mod error;
mod format;
mod norms;
mod outline;
mod reference;
pub mod report;
mod run;
mod world;

pub use account::{Account, Expected, Illustration, Row, Tolerance, Value, Verdict};
pub use cases::CASES;
pub use error::CaseError;
pub use reference::{Entry, Reference};
pub use run::{Case, Outcome, find, reproduce, reproduce_all, with_threads};
