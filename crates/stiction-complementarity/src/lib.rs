//! Complementarity problems (LCP, mixed LCP, box LCP, NCP, frictional contact), their residuals and their solvers.
//!
//! A problem is a value and computes the natural-map residual of any proposed solution; a solver proposes one. The crate
//! holds numbers only, nothing of bodies, contacts or time. The equations, with their tags, are in
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

mod box_lcp;
pub mod catalogue;
mod friction;
pub mod interrupt;
mod json;
mod lcp;
pub mod linalg;
mod mixed_lcp;
mod ncp;
mod outcome;
mod problem;
mod reformulate;
mod solver;

pub use box_lcp::{BoxLcp, BoxLcpLadder, BoxLcpSolution};
pub use friction::active_set::{FrictionActiveSet, FrictionActiveSetOptions, MAX_CONTACTS, MAX_SPATIAL_CONTACTS};
pub use friction::admm::{FrictionAdmm, FrictionAdmmOptions};
#[cfg(feature = "cone-programs")]
pub use friction::diagnostics::{ImpulseRange, ImpulseReport, Pointed, impulse_report, pointed};
pub use friction::interior_point::{FrictionInteriorPoint, FrictionInteriorPointOptions, InteriorPointFailure};
pub use friction::islands::{FrictionIslands, IslandCounts};
pub use friction::ladder::{Accuracy, FrictionLadder, FrictionRung, FrictionRungRecord, Policy};
pub use friction::newton::{FrictionNewton, FrictionNewtonOptions};
pub use friction::nsgs::{FrictionNsgs, FrictionNsgsOptions, NsgsFailure};
pub use friction::proximal::{FrictionProximalNewton, FrictionProximalNewtonOptions};
#[cfg(feature = "cone-programs")]
pub use friction::reference::{FrictionReference, FrictionReferenceOptions};
pub use friction::{Bodies, Delassus, FrictionProblem, FrictionSolution, Law, LocalMode, Operator, solve_local};
pub use json::{MAX_FILE_BYTES, MAX_FILE_SIZE, ProblemFile, ProblemFileError};
pub use lcp::diagnostics::{
    Finding, MAX_DECIDED_SIZE, explain, is_copositive, is_p_matrix, is_positive_semidefinite, proves_infeasible,
};
pub use lcp::enumeration::{Enumerated, LcpEnumeration};
pub use lcp::gauss_seidel::{GaussSeidelFailure, LcpGaussSeidel, LcpGaussSeidelOptions};
pub use lcp::ladder::{Certificate, LcpLadder, LcpRung, RungRecord};
pub use lcp::lemke::{LcpLemke, LcpLemkeOptions, LemkeFailure};
pub use lcp::newton::{LcpNewton, LcpNewtonOptions};
pub use lcp::principal_pivoting::{LcpPrincipalPivoting, LcpPrincipalPivotingOptions, PrincipalPivotingFailure};
pub use lcp::uniqueness::{is_copositive_plus, is_w_unique};
pub use lcp::{Lcp, LcpSolution};
pub use linalg::{DenseMatrix, SparseMatrix};
pub use mixed_lcp::ladder::{MixedLcpLadder, MixedLcpRung, MixedRungRecord};
pub use mixed_lcp::pivoting::{MixedLcpPivoting, PivotingFailure};
pub use mixed_lcp::schur::{MixedLcpSchur, SchurFailure};
pub use mixed_lcp::{MixedLcp, MixedLcpSolution, RowBlock};
pub use ncp::expression::{Expression, ExpressionFunction};
pub use ncp::newton::{NcpAttempt, NcpNewton, NcpNewtonOptions, NcpRecord};
pub use ncp::reformulation::Reformulation;
pub use ncp::{Ncp, NcpFunction, NcpSolution};
pub use outcome::{Ending, Outcome, Status, Tolerance};
pub use problem::{OptionError, Problem, ProblemError, Residual};
pub use reformulate::eliminate_free;
pub use reformulate::fritz_john::FritzJohn;
pub use reformulate::polygon::{PolygonOptions, PolygonalFriction};
pub use reformulate::scaling::{ScaledLcp, regularise_diagonal};
pub use solver::{Solver, solve};
