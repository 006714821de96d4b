//! Linear and mixed linear complementarity problems as values, the ruler that measures a proposed solution, and the
//! methods that propose one.
//!
//! This crate knows numbers only: nothing of bodies, contacts or time. The equations, with their tags, are in
//! `docs/theory/complementarity.md`.
//!
//! ```
//! use stiction_complementarity::{DenseMatrix, Lcp, LcpLemke, LcpSolution, Status, Tolerance, solve};
//!
//! let m = DenseMatrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]]);
//! let problem = Lcp::new(m, vec![-5.0, -6.0])?;
//! let mut solution = LcpSolution::default();
//! let outcome = solve(&mut LcpLemke::new(), &problem, None, &mut solution, &Tolerance::default());
//! assert_eq!(outcome.status, Status::Solved);
//! assert!((solution.z[0] - 4.0 / 3.0).abs() < 1e-15);
//! # Ok::<(), stiction_complementarity::ProblemError>(())
//! ```

// Doc comments here are full of symbols such as M_ZZ, which are mathematics and not code.
#![allow(clippy::doc_markdown)]

mod friction;
mod json;
mod lcp;
pub mod linalg;
mod mixed_lcp;
mod outcome;
mod problem;
mod solver;

pub use friction::{Bodies, Delassus, FrictionProblem, FrictionSolution, Law, Operator};
pub use json::{MAX_FILE_BYTES, MAX_FILE_SIZE, ProblemFile, ProblemFileError};
pub use lcp::enumeration::{Enumerated, LcpEnumeration};
pub use lcp::lemke::{LcpLemke, LcpLemkeOptions, LemkeFailure};
pub use lcp::{Lcp, LcpSolution};
pub use linalg::{DenseMatrix, SparseMatrix};
pub use mixed_lcp::schur::{MixedLcpSchur, SchurFailure};
pub use mixed_lcp::{MixedLcp, MixedLcpSolution, RowBlock};
pub use outcome::{Ending, Outcome, Status, Tolerance};
pub use problem::{OptionError, Problem, ProblemError, Residual};
pub use solver::{Solver, solve};
