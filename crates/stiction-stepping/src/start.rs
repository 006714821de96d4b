//! Inputs of a step.

use stiction_multibody::{Model, State};

use crate::{Order, PositionUpdate, Scheme};

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
    /// Time in which errors of joints close, s: h, or in a part of a step that was too long for fast links the length before it was halved.   [STAB-14]
    pub closing_duration: f64,
    /// Forces that act, and whether the bodies move.
    pub kick: Kick,
    /// Solutions that are accepted.
    pub acceptance: Acceptance,
}

/// Solutions of a step that are accepted, by their residual.   [STEP-19]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceptance {
    /// Those within the aimed residual; with many contacts, where a shorter step is not easier, those within the residual that is refused.
    #[default]
    Usual,
    /// Those within the residual that is refused: the step will not be halved again.
    Loose,
    /// The best solution found, whatever its residual.
    Any,
}

/// Forces of a step that act at once: all of them, or one of the two halves of a step of second order.   [STEP-18]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kick {
    /// All forces act at the start of the step, then the bodies move: first order.
    #[default]
    Whole,
    /// The first half of the forces acts at the start of the step, then the bodies move.
    First,
    /// The second half acts at the end of the step, where the bodies already are.
    Second,
}

impl Kick {
    /// First kick of a step.
    pub fn first(scheme: &Scheme) -> Self {
        match scheme.order {
            Order::First => Self::Whole,
            Order::Second => Self::First,
        }
    }
}

impl<'a> Start<'a> {
    /// Start of a step of size `h` with the first kick of the scheme.
    pub fn new(model: &'a Model, scheme: &'a Scheme, state: &'a State, h: f64) -> Self {
        let (kick, acceptance) = (Kick::first(scheme), Acceptance::default());
        Self { model, scheme, state, h, closing_duration: h, kick, acceptance }
    }

    /// Time over which forces act, s: h, or h/2 in each of the two kicks of a step of second order.   [STEP-18]
    pub fn force_duration(&self) -> f64 {
        self.h * self.force_weight()
    }

    /// Fraction of the forces of a step that acts.
    pub(crate) fn force_weight(&self) -> f64 {
        if self.kick == Kick::Whole { 1.0 } else { 0.5 }
    }

    /// Weight w of the velocity at the end of the step in the velocity that moves the bodies.
    pub(crate) fn end_velocity_weight(&self) -> f64 {
        match self.scheme.position_update {
            PositionUpdate::End => 1.0,
            PositionUpdate::Average => 0.5,
        }
    }

    /// True if the bodies move after the kick.
    pub(crate) fn moves(&self) -> bool {
        self.kick != Kick::Second
    }
}
