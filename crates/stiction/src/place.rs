//! States set by hand: coordinates of all bodies, the pose of one body, the coordinate of one joint.

use stiction_multibody::{BodyId, Configuration, JointDofId, State, limits, plain};
use stiction_stepping::{Coordinates, adopt};

use crate::{RestoreError, Simulation};

/// Largest error of a tree joint at set poses, m or rad: beyond the rounding of numbers typed with five digits. Smaller errors vanish in reduced
/// coordinates without a motion that can be seen.
const ALLOWED_ERROR: f64 = 1e-4;

impl Simulation {
    /// Sets the coordinates or velocities of all dynamic bodies at the present time, without contact memory. On error nothing changes.
    ///
    /// In reduced coordinates poses that open a joint of the forest are refused. Velocities that joints do not allow end in an inelastic impact.
    pub fn set_coordinates(&mut self, q: Option<&[f64]>, v: Option<&[f64]>) -> Result<(), RestoreError> {
        if let Some(q) = q {
            self.check_poses(q)?;
        }
        if let Some(v) = v {
            Self::check_velocities(v)?;
        }
        let mut state = self.without_memory();
        if let Some(q) = q {
            state.q = q.to_vec();
        }
        if let Some(v) = v {
            state.v = v.to_vec();
        }
        self.set_state(&state)
    }

    /// Sets the coordinates of one body. In reduced coordinates the bodies beyond it in its tree move along, and a pose that its joint does not allow
    /// is refused. On error nothing changes.
    pub fn set_body_coordinates(&mut self, body: BodyId, q: &[f64]) -> Result<(), RestoreError> {
        let mut state = self.without_memory();
        let slot = self.model.layout().get(body.index()).map(|slot| slot.q.clone()).unwrap_or_default();
        let Some(place) = state.q.get_mut(slot.clone()).filter(|place| place.len() == q.len()) else {
            return Err(RestoreError::Mismatch("the body has another number of coordinates".into()));
        };
        if self.scheme.coordinates == Coordinates::Maximal {
            place.copy_from_slice(q);
        } else {
            // A quaternion that is not of unit length is refused before anything moves with it.
            let mut alone = state.q.clone();
            alone.iter_mut().skip(slot.start).zip(q).for_each(|(x, q)| *x = *q);
            if !self.model.has_unit_quaternions(&alone) || q.iter().any(|x| !x.is_finite()) {
                return Err(RestoreError::Mismatch(
                    "it holds a quaternion that is not of unit length, or a number that is not finite".into(),
                ));
            }
            self.model.move_body(&mut state, body, q);
            self.check_poses(&state.q)?;
        }
        self.set_state(&state)
    }

    /// Moves a joint DOF to a coordinate, m or rad. The bodies on the side of the joint that is farther from the root of the tree move along with their
    /// velocities. Loops may open, and close at the closing speed. On error nothing changes.
    pub fn set_joint(&mut self, id: JointDofId, coordinate: f64) -> Result<(), RestoreError> {
        if !coordinate.is_finite() {
            return Err(RestoreError::Joints(format!(
                "the coordinate of the joint must be finite, but is {coordinate}"
            )));
        }
        let mut state = State { contacts: Vec::new(), ..self.state.clone() };
        let refused = |error: stiction_multibody::ModelError| RestoreError::Joints(error.to_string());
        self.model.move_joint(&mut state, id, coordinate).map_err(refused)?;
        adopt(&self.model, &self.scheme, &mut state);
        self.set_state(&state)
    }

    /// Present coordinate of a joint DOF, m or rad; none for a joint without this DOF.
    pub fn joint_coordinate(&self, id: JointDofId) -> Option<f64> {
        let known = self.model.joint_space_dofs().iter().position(|dof| *dof == id);
        let before = known.and_then(|place| self.state.angles.get(place)).copied();
        Some(self.model.joint(id.0)?.measured(id.1, &self.configuration, before)?.0)
    }

    /// Refuses poses that open a joint of the forest in reduced coordinates, where they would be moved back.
    pub fn check_poses(&self, q: &[f64]) -> Result<(), RestoreError> {
        if self.scheme.coordinates == Coordinates::Maximal || q.len() != self.model.coordinates() {
            return Ok(());
        }
        let mut at = Configuration::default();
        at.update(&self.model, q, &self.state.v, self.state.time);
        let open =
            self.model.forest().branches(&self.model).map(|(joint, ..)| {
                (joint, joint.evaluate(&at).fold(0.0, |worst: f64, row| worst.max(row.value.abs())))
            });
        // NaN is refused with the state.
        match open.max_by(|(_, x), (_, y)| x.total_cmp(y)).filter(|(_, error)| *error > ALLOWED_ERROR) {
            None => Ok(()),
            Some((joint, error)) => Err(RestoreError::Joints(format!(
                "joint \"{}\" does not allow these poses, which open it by {error:.3} m or rad; set the coordinate of the joint (`set_joint`), or the coordinates of all bodies so that joints are closed",
                joint.name
            ))),
        }
    }

    /// Refuses velocities that a scene may not have either: their squares, which energies are made of, would not be finite.
    pub fn check_velocities(v: &[f64]) -> Result<(), RestoreError> {
        match v.iter().position(|x| x.is_nan() || x.abs() > limits::SPEED) {
            None => Ok(()),
            Some(place) => Err(RestoreError::Joints(format!(
                "v[{place}] is {}, but must be at most {} m/s or rad/s in magnitude",
                plain(v.get(place).copied().unwrap_or(f64::NAN)),
                plain(limits::SPEED)
            ))),
        }
    }

    /// Present state without contacts, impulses and joint coordinates, which follow from the bodies.
    fn without_memory(&self) -> State {
        let State { step, time, time_carry, ref q, ref v, .. } = self.state;
        State { step, time, time_carry, q: q.clone(), v: v.clone(), ..self.model.initial_state() }
    }
}
