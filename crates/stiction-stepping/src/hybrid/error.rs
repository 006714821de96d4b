//! Why a step did not happen.

use stiction_complementarity::{OptionError, ProblemError, Status};
use stiction_multibody::articulated::SingularInertia;

/// Why a step of a tree did not happen; the state is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HybridError {
    /// A choice that makes no sense.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A velocity that moves nothing.
    #[error(transparent)]
    Singular(#[from] SingularInertia),
    /// The step is not a positive number.
    #[error("the step is {0} s, but must be positive and finite")]
    Step(f64),
    /// The state does not belong to the tree.
    #[error("`{part}` of the state has {found} entries, but the tree needs {expected}")]
    Size {
        /// The part of the state.
        part: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// The state holds, or the step made, a number that is not finite.
    #[error("entry {index} of `{part}` is not a finite number")]
    NotFinite {
        /// The part of the state.
        part: &'static str,
        /// Its entry.
        index: usize,
    },
    /// A contact with impossible numbers, or on a link that does not exist.
    #[error("contact {contact}: `{field}` is impossible")]
    Contact {
        /// Its index.
        contact: usize,
        /// The field at fault.
        field: &'static str,
    },
    /// Terminal handles are those of one tree.
    #[error(
        "the forms with terminal handles are for one tree, but this forest has {roots} roots; use the reduced form"
    )]
    SeveralRoots {
        /// Number of roots.
        roots: usize,
    },
    /// The numbers of a form were not gathered.
    #[error("this problem needs the equations assembled with `RootExtent::{needed}`")]
    Extent {
        /// The extent it needs.
        needed: &'static str,
    },
    /// The contact problem cannot be written.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The contact problem was not solved.
    #[error("the contact problem was not solved ({status}, residual {residual:.3e})")]
    NotSolved {
        /// How the last method ended.
        status: Status,
        /// Its residual.
        residual: f64,
    },
}
