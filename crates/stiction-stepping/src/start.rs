//! Inputs of a step.

use stiction_multibody::{Model, State};

use crate::Scheme;

/// Inputs of a step: model, scheme, state and step size.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Model of the system.
    pub model: &'a Model,
    /// Discretisation of the step.
    pub scheme: &'a Scheme,
    /// State at the start of the step.
    pub state: &'a State,
    /// Step size h, s.
    pub h: f64,
}
