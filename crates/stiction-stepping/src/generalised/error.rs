//! Errors of the problem of several systems.

use stiction_multibody::articulated::SingularInertia;

/// Reason why a problem of several systems was not written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SystemsError {
    /// The friction polygon has no opposite corners.
    #[error("the friction polygon has {0} directions, but needs an even number of 2 or more")]
    Directions(usize),
    /// The step is not a positive number.
    #[error("the step is {0} s, but must be positive and finite")]
    Step(f64),
    /// The number of systems differs from that of the constructor.
    #[error("there are {found} systems, but room was made for {expected}")]
    Systems {
        /// Number of systems given.
        found: usize,
        /// Number of systems of the constructor.
        expected: usize,
    },
    /// The tree of a system, or the length of its vectors, differs from that of the constructor.
    #[error(
        "system {system} is not the tree that room was made for, or its velocities or forces are not of its length"
    )]
    Size {
        /// Its number.
        system: usize,
    },
    /// A contact has a parameter out of range, or is on a link that does not exist.
    #[error("contact {contact}: `{field}` is impossible")]
    Contact {
        /// Its number.
        contact: usize,
        /// Name of the field.
        field: &'static str,
    },
    /// A velocity has no inertia.
    #[error("system {system}: {cause}")]
    Singular {
        /// Its number.
        system: usize,
        /// Velocity without inertia.
        cause: SingularInertia,
    },
}
