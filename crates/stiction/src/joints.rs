//! Joint coordinates: position, velocity and effort of a joint, and the coordinates of the whole model.
//!
//! The coordinates of the model are those of its forest ([`Model::joint_coordinate_names`] names them), in reduced and in maximal coordinates. Setting them
//! places all bodies by the kinematics of the forest, so that its joints hold. Joints that close loops follow from the others and cannot be set.

use stiction_multibody::{Configuration, Joint, JointId, Model, State, articulated::Kinematics, plain};
use stiction_stepping::{Coordinates, adopt};

use crate::{RestoreError, Simulation};

impl Simulation {
    /// Joint coordinates of the model, m, rad or quaternions: those of the file, full turns counted.
    pub fn qpos(&self) -> Vec<f64> {
        let mut q = self.forest_state().0;
        q.iter_mut().zip(self.model.joint_offsets()).for_each(|(q, offset)| *q += offset);
        q
    }

    /// Joint velocities of the model, m/s or rad/s.
    pub fn qvel(&self) -> Vec<f64> {
        self.forest_state().1
    }

    /// Names of the entries of [`Self::qpos`].
    pub fn qpos_names(&self) -> Vec<String> {
        self.model.joint_coordinate_names().0
    }

    /// Names of the entries of [`Self::qvel`], forces and rows and columns of the mass matrix.
    pub fn qvel_names(&self) -> Vec<String> {
        self.model.joint_coordinate_names().1
    }

    /// Sets the joint coordinates of the model, the joint velocities, or both, and places all bodies by them. Contacts are forgotten. On error nothing
    /// changes.
    ///
    /// Loops may open, and close at the closing speed.
    pub fn set_joint_coordinates(&mut self, qpos: Option<&[f64]>, qvel: Option<&[f64]>) -> Result<(), RestoreError> {
        let (mut q, mut v) = self.forest_state();
        if let Some(qpos) = qpos {
            copy("qpos", &mut q, qpos)?;
            let offsets = self.model.joint_offsets();
            q.iter_mut().zip(&offsets).for_each(|(q, offset)| *q -= offset);
            self.model.normalise_forest(&mut q).map_err(|place| self.no_quaternion(place))?;
        }
        if let Some(qvel) = qvel {
            copy("qvel", &mut v, qvel)?;
        }
        self.place(&q, &v)
    }

    /// Position of a joint: one number per DOF (m or rad), or a quaternion of the body farther from the root against that nearer to it, which is 1
    /// where the scene begins. None for a joint without DOFs.
    pub fn joint_position(&self, id: JointId) -> Option<Vec<f64>> {
        match self.model.joint_places(id) {
            Some(places) => picked(&self.qpos(), &places.q),
            None => self.measured(id).map(|(position, _)| position),
        }
    }

    /// Velocity of a joint: one number per DOF (m/s or rad/s), or an angular velocity in the axes of the body farther from the root. None for a joint
    /// without DOFs.
    pub fn joint_velocity(&self, id: JointId) -> Option<Vec<f64>> {
        match self.model.joint_places(id) {
            Some(places) => picked(&self.forest_state().1, &places.v),
            None => self.measured(id).map(|(_, velocity)| velocity),
        }
    }

    /// Force of the motors along each DOF of a joint at the present state and controls, N or N m. None for a joint without DOFs.
    ///
    /// It is that of the actuators only: passive forces, limits and dry friction are not part of it.
    pub fn joint_effort(&self, id: JointId) -> Option<Vec<f64>> {
        let joint = self.model.joint(id)?;
        let count = joint.joint_dofs().len();
        let (position, velocity) = match self.model.joint_places(id).filter(|places| places.q.len() == count) {
            Some(_) => (self.joint_position(id)?, self.joint_velocity(id)?),
            None => self.measured(id)?,
        };
        let effort = |number: usize| {
            let place = self.model.joint_space_dofs().iter().position(|dof| *dof == (id, number));
            let motors = place.into_iter().flat_map(|place| self.model.motors_along(place));
            let at = |values: &[f64]| values.get(number).copied().unwrap_or(0.0);
            motors.map(|motor| motor.force(at(&position), at(&velocity), self.state.time)).sum()
        };
        (count > 0).then(|| (0..count).map(effort).collect())
    }

    /// Sets the position of a joint; the bodies beyond it move along. On error nothing changes.
    pub fn set_joint_position(&mut self, id: JointId, position: &[f64]) -> Result<(), RestoreError> {
        let places = self.settable(id, "position")?.q;
        let mut qpos = self.qpos();
        replace(&mut qpos, &places, position)?;
        self.set_joint_coordinates(Some(&qpos), None)
    }

    /// Sets the velocity of a joint; the bodies beyond it move along. On error nothing changes.
    pub fn set_joint_velocity(&mut self, id: JointId, velocity: &[f64]) -> Result<(), RestoreError> {
        let places = self.settable(id, "velocity")?.v;
        let mut qvel = self.qvel();
        replace(&mut qvel, &places, velocity)?;
        self.set_joint_coordinates(None, Some(&qvel))
    }

    /// Sets the control of the motor of each DOF of a joint to that which gives this force (N or N m), until it is replaced. On error nothing changes.
    ///
    /// Each DOF needs exactly one motor, whose force depends on its control only, and the force must be within its limits.
    pub fn set_joint_effort(&mut self, id: JointId, effort: &[f64]) -> Result<(), RestoreError> {
        let joint = self.model.joint(id).ok_or_else(|| refused("the joint belongs to another model".into()))?;
        let count = joint.joint_dofs().len();
        if effort.len() != count {
            return Err(refused(format!(
                "joint \"{}\" has {count} DOFs, but {} efforts are given",
                joint.name,
                effort.len()
            )));
        }
        let wanted = effort.iter().enumerate().map(|(number, effort)| self.control_for((id, joint), number, *effort));
        let wanted: Vec<(usize, f64)> = wanted.collect::<Result<_, _>>()?;
        for &(motor, control) in &wanted {
            self.model.check_control(motor, control).map_err(|error| refused(error.to_string()))?;
        }
        for (motor, control) in wanted {
            self.hold_control(motor, control).map_err(|error| refused(error.to_string()))?;
        }
        Ok(())
    }

    /// Motor of a DOF and its control for a force.
    fn control_for(
        &self,
        (id, joint): (JointId, &Joint),
        number: usize,
        effort: f64,
    ) -> Result<(usize, f64), RestoreError> {
        let along = |motor: &stiction_multibody::Motor| motor.joint_dof == (id, number);
        let motors = self.model.motors().iter().enumerate().filter(|(_, motor)| along(motor));
        let (index, motor) = match motors.collect::<Vec<_>>()[..] {
            [one] => one,
            [] => {
                return Err(refused(format!(
                    "joint \"{}\" has no motor: add a [[motor]] with `joint` and `torque`",
                    joint.name
                )));
            }
            _ => return Err(refused(format!("joint \"{}\" has several motors: set their controls", joint.name))),
        };
        let [constant, stiffness, damping] = motor.bias;
        let factor = motor.gear * motor.gain;
        if stiffness != 0.0 || damping != 0.0 || factor == 0.0 {
            return Err(refused(format!(
                "motor \"{}\" of joint \"{}\" is a servo, whose force changes with the state: set its control",
                motor.name, joint.name
            )));
        }
        if !effort.is_finite() {
            return Err(refused(format!("the effort of joint \"{}\" must be finite, but is {effort}", joint.name)));
        }
        let control = effort / factor - constant / motor.gain;
        let beyond =
            |value: f64, range: Option<[f64; 2]>| range.is_some_and(|[least, most]| value < least || value > most);
        if beyond(control, motor.control_limits) || beyond(effort / motor.gear, motor.force_limits) {
            return Err(refused(format!(
                "an effort of {} is beyond the limits of motor \"{}\" of joint \"{}\"",
                plain(effort),
                motor.name,
                joint.name
            )));
        }
        Ok((index, control))
    }

    /// Coordinates and velocities of the forest.
    pub(crate) fn forest_state(&self) -> (Vec<f64>, Vec<f64>) {
        let forest = self.model.forest();
        let tree = forest.tree();
        let State { forest_q, forest_v, .. } = &self.state;
        if (forest_q.len(), forest_v.len()) == (tree.coordinates(), tree.velocities()) {
            return (forest_q.clone(), forest_v.clone());
        }
        let (mut q, mut v) = (Vec::new(), Vec::new());
        forest.read_coordinates(&self.model, &self.configuration, &turns(&self.model, &self.state), &mut q);
        let mut at = Kinematics::new(tree);
        at.update(tree, &q, &vec![0.0; tree.velocities()]);
        forest.read_velocities(&at, &self.configuration, &mut v);
        (q, v)
    }

    /// Places all bodies by coordinates and velocities of the forest.
    fn place(&mut self, q: &[f64], v: &[f64]) -> Result<(), RestoreError> {
        let mut state = State { contacts: Vec::new(), ..self.state.clone() };
        self.model.place_by_forest(&mut state, q, v);
        Self::check_velocities(&state.v)?;
        if self.scheme.coordinates != Coordinates::Maximal {
            state.forest_q = q.to_vec();
            state.forest_v = v.to_vec();
        }
        let mut at = Configuration::default();
        at.update(&self.model, &state.q, &state.v, state.time);
        let forest = self.model.forest();
        for (place, &(id, number)) in self.model.joint_space_dofs().iter().enumerate() {
            let (Some(joint), Some(angle)) = (self.model.joint(id), state.angles.get_mut(place)) else { continue };
            let of_forest = forest.velocity_of(id, number).and_then(|velocity| forest.coordinate_of(velocity));
            let initial = joint.joint_dofs().get(number).map_or(0.0, |dof| dof.initial);
            *angle = match of_forest.and_then(|place| q.get(place)) {
                Some(q) => q + initial,
                None => joint.measured(number, &at, Some(*angle)).map_or(*angle, |(coordinate, _)| coordinate),
            };
        }
        adopt(&self.model, &self.scheme, &mut state);
        self.set_state(&state)
    }

    /// Coordinates and rates of the DOFs of a joint, measured between its bodies.
    fn measured(&self, id: JointId) -> Option<(Vec<f64>, Vec<f64>)> {
        let joint = self.model.joint(id)?;
        let one = |number: usize| {
            let place = self.model.joint_space_dofs().iter().position(|dof| *dof == (id, number));
            let before = place.and_then(|place| self.state.angles.get(place)).copied();
            joint.measured(number, &self.configuration, before)
        };
        let all: Option<Vec<_>> = (0..joint.joint_dofs().len()).map(one).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.into_iter().unzip())
    }

    /// Places of a joint that can be set.
    fn settable(&self, id: JointId, what: &str) -> Result<stiction_multibody::JointPlaces, RestoreError> {
        let joint = self.model.joint(id).ok_or_else(|| refused("the joint belongs to another model".into()))?;
        let name = &joint.name;
        let places = self.model.joint_places(id).ok_or_else(|| {
            refused(format!(
                "joint \"{name}\" closes a loop or is on a prescribed body: its {what} follows from the other joints; set theirs"
            ))
        })?;
        if places.v.is_empty() {
            return Err(refused(format!("joint \"{name}\" has no {what}: it allows no motion")));
        }
        Ok(places)
    }

    fn no_quaternion(&self, place: usize) -> RestoreError {
        let name = self.qpos_names().get(place).cloned().unwrap_or_default();
        refused(format!("the quaternion that begins at qpos[{place}] (\"{name}\") is not of unit length"))
    }
}

/// Coordinates of the forest with the full turns that a state in maximal coordinates counts: those of actuated DOFs and of planar bodies at roots.
fn turns(model: &Model, state: &State) -> Vec<f64> {
    let forest = model.forest();
    let mut turned = vec![0.0; forest.tree().coordinates()];
    for (&(id, number), angle) in model.joint_space_dofs().iter().zip(&state.angles) {
        let place = forest.velocity_of(id, number).and_then(|velocity| forest.coordinate_of(velocity));
        let initial = model.joint(id).and_then(|joint| joint.joint_dofs().get(number)).map_or(0.0, |dof| dof.initial);
        if let Some(turned) = place.and_then(|place| turned.get_mut(place)) {
            *turned = angle - initial;
        }
    }
    turned
}

fn refused(reason: String) -> RestoreError {
    RestoreError::Joints(reason)
}

/// Replaces all numbers, which must be as many and finite.
fn copy(what: &str, into: &mut [f64], from: &[f64]) -> Result<(), RestoreError> {
    if into.len() != from.len() {
        return Err(refused(format!("{what} has {} numbers, but {} are needed", from.len(), into.len())));
    }
    if let Some(place) = from.iter().position(|x| !x.is_finite()) {
        return Err(refused(format!("{what}[{place}] is not a finite number")));
    }
    into.copy_from_slice(from);
    Ok(())
}

/// Numbers at places.
fn picked(all: &[f64], places: &[usize]) -> Option<Vec<f64>> {
    (!places.is_empty()).then(|| places.iter().filter_map(|place| all.get(*place).copied()).collect())
}

/// Replaces numbers at places.
fn replace(all: &mut [f64], places: &[usize], values: &[f64]) -> Result<(), RestoreError> {
    if places.len() != values.len() {
        return Err(refused(format!("the joint has {} numbers here, but {} are given", places.len(), values.len())));
    }
    for (place, value) in places.iter().zip(values) {
        if let Some(x) = all.get_mut(*place) {
            *x = *value;
        }
    }
    Ok(())
}
