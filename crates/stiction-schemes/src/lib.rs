//! Published schemes beside the time stepper, and the event-driven reference.
//!
//! They are steppers of their own on the stages of `stiction-stepping`: the θ-method of Acary and others ([`ThetaStepper`], [`MoreauJean`]),
//! hybrid absolute and joint coordinates with divide and conquer ([`HybridStepper`]), the contact problem of several trees in generalised
//! coordinates ([`SystemContacts`]), and an event-driven integrator that computes reference solutions ([`ReferenceStepper`]).

// Doc comments contain symbols such as λ_app, which are mathematics and not code.
#![allow(clippy::doc_markdown)]

mod generalised;
mod hybrid;
mod reference;
mod theta;

pub use generalised::{ArticulatedSystem, SystemContact, SystemContacts, SystemLink, SystemsError};
pub use hybrid::{
    ContactStep, HybridError, HybridForm, HybridOptions, HybridReport, HybridState, HybridStepper, PlaneContact,
    RootEquations, RootExtent,
};
pub use reference::ReferenceStepper;
pub use theta::{ConstraintLaw, MoreauJean, System, SystemState, ThetaError, ThetaReport, ThetaScheme, ThetaStepper};
