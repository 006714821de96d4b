//! Warnings about the start of a scene.

use stiction::{Configuration, Model, Simulation, record::StartImpactSummary};

use super::{JointRow, TouchingPair, actuators, joint_rows};
use crate::{layout::number, summary::start_impact};

/// Overlaps and joint errors above this cause a warning, m.
pub(super) const NOTICEABLE: f64 = 1e-9;

/// Joint errors of the given poses above this cause a warning if reduced coordinates close them, m or rad: numbers typed with six digits cause none.
const MOVED: f64 = 1e-6;

/// All warnings about the initial state.
pub(super) fn of(simulation: &Simulation, touching: &[TouchingPair], joints: &[JointRow]) -> Vec<String> {
    let model = simulation.model();
    [
        errors(touching, joints),
        moved_joints(model, joints),
        actuators::beyond_limits(model, simulation.configuration()),
        StartImpactSummary::of(simulation).iter().map(start_impact).collect(),
    ]
    .concat()
}

/// Overlaps, and joints that are open in the initial state.
fn errors(touching: &[TouchingPair], joints: &[JointRow]) -> Vec<String> {
    let overlaps = touching.iter().filter(|pair| pair.depth > NOTICEABLE).map(|pair| {
        let [a, b] = &pair.bodies;
        format!("{a} and {b} overlap by {} m at the start", number(pair.depth))
    });
    let open = joints
        .iter()
        .filter(|joint| joint.error > NOTICEABLE)
        .map(|joint| format!("joint {} has an initial error of {}", joint.name, number(joint.error)));
    overlaps.chain(open).collect()
}

/// Joints that are open at the given poses and closed in the initial state, in reduced coordinates.
fn moved_joints(model: &Model, joints: &[JointRow]) -> Vec<String> {
    let (state, mut given) = (model.initial_state(), Configuration::default());
    given.update(model, &state.q, &state.v, state.time);
    let open = |(joint, given): &(&JointRow, JointRow)| given.error > MOVED && joint.error <= NOTICEABLE;
    let all = joints.iter().zip(joint_rows(model, &given)).filter(open);
    all.map(|(joint, given)| {
        let error = number(given.error);
        format!(
            "joint {} is open by {error} m or rad: reduced coordinates move the bodies beyond it to close it",
            joint.name
        )
    })
    .collect()
}
