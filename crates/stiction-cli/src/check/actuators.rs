//! Actuators and couplings of joints.

use serde::Serialize;
use stiction::{
    Model,
    multibody::{Coupling, Joint, JointDofId, Motor},
};

use super::shown;

#[derive(Debug, Serialize)]
pub(super) struct MotorRow {
    pub(super) name: String,
    pub(super) joint: String,
    /// Control as a function of t.
    pub(super) control: String,
    pub(super) gear: f64,
    pub(super) gain: f64,
    pub(super) bias: [f64; 3],
}

#[derive(Debug, Serialize)]
pub(super) struct CouplingRow {
    pub(super) name: String,
    pub(super) follower: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) leader: Option<String>,
    pub(super) polynomial: [f64; 5],
}

pub(super) fn motor_rows(model: &Model) -> Vec<MotorRow> {
    let row = |motor: &Motor| MotorRow {
        name: motor.name.clone(),
        joint: joint(model, motor.joint_dof),
        control: shown(&motor.control),
        gear: motor.gear,
        gain: motor.gain,
        bias: motor.bias,
    };
    model.motors().iter().map(row).collect()
}

pub(super) fn coupling_rows(model: &Model) -> Vec<CouplingRow> {
    let row = |coupling: &Coupling| CouplingRow {
        name: coupling.name.clone(),
        follower: joint(model, coupling.follower),
        leader: coupling.leader.map(|leader| joint(model, leader)),
        polynomial: coupling.polynomial,
    };
    model.couplings().iter().map(row).collect()
}

/// Name of a joint, with the number of the joint DOF if it has several.
fn name(joint: &Joint, joint_dof: usize) -> String {
    if joint.joint_dofs().len() > 1 { format!("{} {joint_dof}", joint.name) } else { joint.name.clone() }
}

fn joint(model: &Model, (id, joint_dof): JointDofId) -> String {
    model.joint(id).map_or_else(String::new, |joint| name(joint, joint_dof))
}
