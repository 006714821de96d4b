//! Errors of the hybrid stepper.

use stiction_complementarity::{OptionError, ProblemError, Status};
use stiction_multibody::articulated::SingularInertia;

/// Reason why a step of a tree failed; the state is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HybridError {
    /// An option is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A velocity has no inertia.
    #[error(transparent)]
    Singular(#[from] SingularInertia),
    /// The step is not a positive number.
    #[error("the step is {0} s, but must be positive and finite")]
    Step(f64),
    /// The state does not fit the tree.
    #[error("`{part}` of the state has {found} entries, but the tree needs {expected}")]
    Size {
        /// The part of the state.
        part: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// The state holds, or the step computed, a number that is not finite.
    #[error("entry {index} of `{part}` is not a finite number")]
    NotFinite {
        /// The part of the state.
        part: &'static str,
        /// Its entry.
        index: usize,
    },
    /// A contact has a parameter out of range, or is on a link that does not exist.
    #[error("contact {contact}: `{field}` is out of range")]
    Contact {
        /// Its index.
        contact: usize,
        /// Name of the field.
        field: &'static str,
    },
    /// Terminal handles exist for one tree only.
    #[error(
        "the forms with terminal handles are for one tree, but this forest has {roots} roots; use the reduced form"
    )]
    SeveralRoots {
        /// Number of roots.
        roots: usize,
    },
    /// The numbers that a form needs were not assembled.
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
        /// Status of the last method.
        status: Status,
        /// Its residual.
        residual: f64,
    },
}
