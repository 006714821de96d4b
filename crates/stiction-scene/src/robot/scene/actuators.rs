//! Actuators as motors, and coupled joints as couplings.

use super::{SceneWriter, text};
use crate::robot::description::{Actuator, ActuatorLaw, ConstraintKind, JointId};

impl SceneWriter<'_> {
    pub(super) fn add_actuators(&mut self) {
        let robot = self.robot;
        for (number, actuator) in robot.actuators.iter().enumerate() {
            let controls = self.keyframe.and_then(|key| key.controls.as_ref());
            let control = controls.and_then(|controls| controls.get(number)).copied().unwrap_or(0.0);
            self.add_motor(actuator, control);
        }
        for (number, constraint) in robot.constraints.iter().enumerate() {
            let ConstraintKind::Couple { follower, leader, polynomial } = &constraint.kind else { continue };
            let name = constraint.name.clone().unwrap_or_else(|| format!("coupling-{}", number + 1));
            if constraint.active {
                self.add_coupling(&name, *follower, *leader, polynomial);
            } else {
                self.note(format!("constraint \"{name}\": is not active, and left out"));
            }
        }
    }

    fn add_motor(&mut self, actuator: &Actuator, control: f64) {
        let single = self.robot.joint_of(actuator.joint).is_some_and(|joint| joint.kind.dof() == 1);
        let Some(joint) = self.joints.get(&actuator.joint).filter(|_| single).cloned() else {
            self.note(format!("actuator \"{}\": only joints of one coordinate are driven here", actuator.name));
            return;
        };
        let name = self.motor_names.unique(&actuator.name);
        let text = &mut self.text;
        text.entry("motor");
        text.string("name", &name);
        text.string("joint", &joint);
        match actuator.law {
            ActuatorLaw::Motor => text.number("torque", control),
            ActuatorLaw::Position { stiffness, damping } => {
                text.number("position", control);
                text.number("stiffness", stiffness);
                text.number("damping", damping);
            }
            ActuatorLaw::Velocity { gain } => {
                text.number("velocity", control);
                text.number("gain", gain);
            }
            ActuatorLaw::Affine { gain, bias } => {
                text.number("torque", control);
                text.number("gain", gain);
                text.numbers("bias", &bias);
            }
        }
        let [gear, ..] = actuator.gear;
        if gear != 1.0 {
            text.number("gear", gear);
        }
        for (key, range) in [("control_limits", actuator.control_limits), ("force_limits", actuator.force_limits)] {
            if let Some(range) = range {
                text.numbers(key, &range);
            }
        }
    }

    fn add_coupling(&mut self, name: &str, follower: JointId, leader: Option<JointId>, polynomial: &[f64; 5]) {
        let reference = |id: JointId| self.robot.joint_of(id).map_or(0.0, |joint| joint.reference);
        let mut coefficients = match leader {
            Some(leader) => shifted(polynomial, reference(leader)),
            None => [polynomial[0], 0.0, 0.0, 0.0, 0.0],
        };
        coefficients[0] += reference(follower);
        let named = |id: JointId| self.joints.get(&id).cloned();
        let (Some(follows), leads) = (named(follower), leader.map(named)) else { return };
        let name = self.coupling_names.unique(name);
        let text = &mut self.text;
        text.entry("coupling");
        text.string("name", &name);
        text.string("follower", &follows);
        if let Some(Some(leads)) = leads {
            text.string("leader", &leads);
        }
        text.key("polynomial", text::numbers(&coefficients));
    }
}

/// Returns the coefficients of p(x − by), constant first, by Horner's scheme.
fn shifted(polynomial: &[f64; 5], by: f64) -> [f64; 5] {
    polynomial.iter().rev().fold([0.0; 5], |before, coefficient| {
        let mut next = before.map(|c| -by * c);
        for (slot, c) in next.iter_mut().skip(1).zip(before) {
            *slot += c;
        }
        next[0] += coefficient;
        next
    })
}

#[cfg(test)]
mod tests {
    use super::shifted;

    #[test]
    fn a_shifted_polynomial_has_the_shifted_values() {
        let polynomial = [0.3, -1.0, 0.5, 2.0, -0.25];
        let value = |p: &[f64; 5], x: f64| p.iter().rev().fold(0.0, |sum, c| sum * x + c);
        let moved = shifted(&polynomial, 0.7);
        for x in [-1.3, 0.0, 0.4, 2.0] {
            assert!((value(&moved, x) - value(&polynomial, x - 0.7)).abs() < 1e-12, "{x}");
        }
    }
}
