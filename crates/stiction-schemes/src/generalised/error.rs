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
    #[error("there are {found} systems, but {expected} were given to the constructor")]
    Systems {
        /// Number of systems given.
        found: usize,
        /// Number of systems of the constructor.
        expected: usize,
    },
    /// The tree of a system, or the length of its vectors, differs from that of the constructor.
    #[error("system {system} differs from the tree of the constructor, or the length of its velocities or forces does")]
    Size {
        /// Its number.
        system: usize,
    },
    /// A contact has a parameter out of range, or is on a link that does not exist.
    #[error("contact {contact}: `{field}` is out of range")]
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
