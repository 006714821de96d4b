//! Errors of illegal models.

use std::fmt;

/// The part of a model that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Element {
    /// The model as a whole: gravity, dimension, number of parts.
    Model,
    /// A body, by name.
    Body(String),
    /// The shape of a body, by body name and position in its list.
    Shape(String, usize),
    /// A joint, by name.
    Joint(String),
    /// A motor, by name.
    Motor(String),
    /// A coupling of joints, by name.
    Coupling(String),
    /// A site, by name.
    Site(String),
    /// A spring, by position in the list.
    Spring(usize),
    /// A damper, by position in the list.
    Damper(usize),
    /// A load, by position in the list.
    Load(usize),
    /// A compliant layer, by the name of its material.
    Material(String),
    /// A contact rule between two bodies; the default rule has position `None`.
    Contact(Option<usize>),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model => write!(f, "model"),
            Self::Body(name) => write!(f, "body \"{name}\""),
            Self::Shape(body, index) => write!(f, "shape {index} of body \"{body}\""),
            Self::Joint(name) => write!(f, "joint \"{name}\""),
            Self::Motor(name) => write!(f, "motor \"{name}\""),
            Self::Coupling(name) => write!(f, "coupling \"{name}\""),
            Self::Site(name) => write!(f, "site \"{name}\""),
            Self::Spring(index) => write!(f, "spring {index}"),
            Self::Damper(index) => write!(f, "damper {index}"),
            Self::Load(index) => write!(f, "load {index}"),
            Self::Material(name) => write!(f, "material \"{name}\""),
            Self::Contact(None) => write!(f, "default contact rule"),
            Self::Contact(Some(index)) => write!(f, "contact rule {index}"),
        }
    }
}

/// Error of an illegal model: the part, its field, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{element}, {field}: {reason}")]
pub struct ModelError {
    /// The part at fault.
    pub element: Element,
    /// Its field at fault, named as in a scene file.
    pub field: &'static str,
    /// Reason of the refusal, with the illegal value.
    pub reason: String,
}

impl ModelError {
    /// An error about `field` of `element`.
    pub fn new(element: Element, field: &'static str, reason: impl Into<String>) -> Self {
        Self { element, field, reason: reason.into() }
    }
}
