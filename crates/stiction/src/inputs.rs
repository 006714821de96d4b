//! Inputs of a controller.
//!
//! Inputs are no part of the state: they are held until others are given, and a simulation that goes on from a saved state needs them again.

use std::sync::Arc;

use stiction_multibody::{BodyId, ModelError, Wrench};

use crate::Simulation;

impl Simulation {
    /// Holds a force and a torque (about the centre of mass, world axes) on a dynamic body in all steps that follow, until another is given.
    pub fn hold_wrench(&mut self, body: BodyId, wrench: Wrench) -> Result<(), ModelError> {
        Arc::make_mut(&mut self.model).hold_wrench(body, wrench)
    }

    /// Lets go of all bodies.
    pub fn release_wrenches(&mut self) {
        Arc::make_mut(&mut self.model).release_wrenches();
    }

    /// Holds the control of a motor, by its place in the model, in all steps that follow, until another is given.
    pub fn hold_control(&mut self, motor: usize, control: f64) -> Result<(), ModelError> {
        Arc::make_mut(&mut self.model).hold_control(motor, control)
    }
}
