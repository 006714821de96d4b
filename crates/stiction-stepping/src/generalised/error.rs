//! Why a problem of several systems was not written.

use stiction_multibody::articulated::SingularInertia;

/// Why a problem of several systems was not written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SystemsError {
    /// A friction polygon that has no opposite corners.
    #[error("the friction polygon has {0} directions, but needs an even number of 2 or more")]
    Directions(usize),
    /// The step is not a positive number.
    #[error("the step is {0} s, but must be positive and finite")]
    Step(f64),
    /// Other systems than there is room for.
    #[error("there are {found} systems, but room was made for {expected}")]
    Systems {
        /// How many were given.
        found: usize,
        /// How many were announced.
        expected: usize,
    },
    /// A system with another tree, or with numbers that are not those of its tree.
    #[error(
        "system {system} is not the tree that room was made for, or its velocities or forces are not of its length"
    )]
    Size {
        /// Its number.
        system: usize,
    },
    /// A contact with impossible numbers, or on a link that does not exist.
    #[error("contact {contact}: `{field}` is impossible")]
    Contact {
        /// Its number.
        contact: usize,
        /// The field at fault.
        field: &'static str,
    },
    /// A velocity that moves nothing.
    #[error("system {system}: {cause}")]
    Singular {
        /// Its number.
        system: usize,
        /// The velocity.
        cause: SingularInertia,
    },
}
