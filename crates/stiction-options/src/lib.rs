//! The choices that make a time-stepping scheme, as data, and the checks of their combinations.
//!
//! A [`Scheme`] is plain data: a scene file and a Rust program describe it with the same type, and no reader of files needs a stepper.
//! [`Scheme::validate`] checks its numbers, [`Scheme::check_model`] the choices against each other and against a model.

// Doc comments contain symbols such as λ_app, which are mathematics and not code.
#![allow(clippy::doc_markdown)]

mod axes;
mod checks;
mod closing_speed;
mod error;
mod joint_space;
mod layers;
mod order;
mod preset;
mod scheme;
mod solving;
mod stabilisation;
mod substeps;
mod support;

pub use axes::{
    Coordinates, CornerLogic, Dynamics, FrictionSet, Impact, ImpulsePoints, LineariseAt, Margin, Method, Order,
    PositionUpdate, PrescribedSlip, Undetermined, VelocityTerms,
};
pub use closing_speed::ClosingSpeed;
pub use error::SchemeError;
pub use preset::Preset;
pub use scheme::Scheme;
pub use solving::{OnUnsolved, Residuals, Solving};
pub use stabilisation::{Manifold, Stabilisation};
pub use substeps::Substeps;
