//! Inputs of a controller: wrenches on bodies and controls of motors. Each is held constant until the next one is set.

use stiction_geometry::Dimension;

use crate::{
    BodyId, Element, Expression, Model, ModelError, Wrench,
    check::{Check, fits, limits},
};

impl Model {
    /// Applies a force and a torque (about the centre of mass, world axes) to a dynamic body, in addition to the loads of the model.
    ///
    /// The wrench is held until another one is set. On error nothing changes.
    pub fn hold_wrench(&mut self, body: BodyId, wrench: Wrench) -> Result<(), ModelError> {
        self.check_wrench(body, wrench)?;
        self.forces.held.resize(self.bodies.len(), Wrench::default());
        debug_assert!(body.index() < self.forces.held.len(), "a checked body is in the model");
        if let Some(held) = self.forces.held.get_mut(body.index()) {
            *held = wrench;
        }
        Ok(())
    }

    /// Checks that [`Self::hold_wrench`] would accept a force and a torque.
    pub fn check_wrench(&self, body: BodyId, wrench: Wrench) -> Result<(), ModelError> {
        let name = self.body(body).map_or_else(|| "?".to_owned(), |body| body.name.clone());
        let check = Check::new(Element::Body(name));
        if self.body(body).is_none() {
            return Err(check.error("force", "is for a body of another model"));
        }
        let Some((mobility, _)) = self.unknowns(body) else {
            return Err(check.error("force", "does nothing: only dynamic bodies move by forces"));
        };
        check.vector("force", wrench.linear, limits::INPUT)?;
        check.vector("torque", wrench.angular, limits::INPUT)?;
        if !mobility.turns() && wrench.angular.iter().any(|part| *part != 0.0) {
            return Err(check.error("torque", "does nothing to a particle"));
        }
        if self.dimension == Dimension::Planar {
            let (force, torque) = (wrench.linear, wrench.angular);
            let out_of_plane = [("force", force.z), ("torque", torque.x), ("torque", torque.y)];
            if let Some((field, _)) = out_of_plane.into_iter().find(|(_, part)| *part != 0.0) {
                return Err(check.error(field, "has a component out of the plane, which a planar model does not have"));
            }
        }
        Ok(())
    }

    /// Wrench that [`Self::hold_wrench`] set on a body; zero without one.
    pub fn held_wrench(&self, body: BodyId) -> Wrench {
        self.forces.held.get(body.index()).copied().unwrap_or_default()
    }

    /// Removes the held wrenches of all bodies.
    pub fn release_wrenches(&mut self) {
        self.forces.held.clear();
    }

    /// Replaces the control of a motor, by its position in [`Model::motors`], by a constant. On error nothing changes.
    pub fn hold_control(&mut self, motor: usize, control: f64) -> Result<(), ModelError> {
        self.check_control(motor, control)?;
        let held = self.actuation.motors.get_mut(motor).map(|motor| &mut motor.control);
        if let Some(held) = held.filter(|held| held.as_constant().map(f64::to_bits) != Some(control.to_bits())) {
            *held = Expression::constant(control);
        }
        Ok(())
    }

    /// Checks that [`Self::hold_control`] would accept a control.
    pub fn check_control(&self, motor: usize, control: f64) -> Result<(), ModelError> {
        let Some(motor) = self.actuation.motors.get(motor) else {
            let check = Check::new(Element::Motor(motor.to_string()));
            return Err(check.error("control", "is for a motor of another model"));
        };
        let acting = control * motor.gain * motor.gear;
        if fits(control, limits::INPUT) && fits(acting, limits::INPUT) {
            return Ok(());
        }
        let check = Check::new(Element::Motor(motor.name.clone()));
        check.bounded("control", control, limits::INPUT)?;
        check.bounded("control times gain and gear", acting, limits::INPUT)?;
        Ok(())
    }
}
