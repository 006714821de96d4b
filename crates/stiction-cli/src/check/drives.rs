//! What drives joints, and what couples them.

use serde::Serialize;
use stiction::{
    Model,
    multibody::{Coupling, FreedomId, Motor},
};

use super::shown;

#[derive(Debug, Serialize)]
pub(super) struct MotorRow {
    pub(super) name: String,
    pub(super) joint: String,
    /// The control as a function of t.
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
        joint: joint(model, motor.freedom),
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

/// The name of a joint, with the number of the freedom where it has several.
fn joint(model: &Model, (id, number): FreedomId) -> String {
    let Some(joint) = model.joint(id) else { return String::new() };
    if joint.freedoms().len() > 1 { format!("{} {number}", joint.name) } else { joint.name.clone() }
}
