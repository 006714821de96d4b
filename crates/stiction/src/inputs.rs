//! Inputs of a controller: wrenches on bodies and controls of motors.
//!
//! Inputs are not part of the state. They are held until they are replaced, and must be set again after a saved state is restored.

use std::sync::Arc;

use stiction_multibody::{BodyId, ModelError, Wrench};

use crate::Simulation;

impl Simulation {
    /// Applies a force and a torque (about the centre of mass, world axes) to a dynamic body in all following steps, until it is replaced.
    pub fn hold_wrench(&mut self, body: BodyId, wrench: Wrench) -> Result<(), ModelError> {
        Arc::make_mut(&mut self.model).hold_wrench(body, wrench)
    }

    /// Removes the applied wrenches of all bodies.
    pub fn release_wrenches(&mut self) {
        Arc::make_mut(&mut self.model).release_wrenches();
    }

    /// Sets the control of a motor, by its index in the model, in all following steps, until it is replaced.
    pub fn hold_control(&mut self, motor: usize, control: f64) -> Result<(), ModelError> {
        Arc::make_mut(&mut self.model).hold_control(motor, control)
    }
}
