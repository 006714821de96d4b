//! Warnings about the start of a scene.

use stiction::{
    Simulation,
    record::{StartError, StartImpactSummary},
};

use super::{JointRow, TouchingPair};
use crate::{
    layout::number,
    summary::{start_error, start_impact},
};

/// Overlaps and joint errors above this cause a warning, m.
const NOTICEABLE: f64 = 1e-9;

/// All warnings about the initial state.
pub(super) fn of(simulation: &Simulation, touching: &[TouchingPair], joints: &[JointRow]) -> Vec<String> {
    let at_start = StartError::all(simulation);
    let not_open = at_start.iter().filter(|error| !matches!(error, StartError::OpenJoint { .. }));
    [
        errors(touching, joints),
        not_open.map(start_error).collect(),
        StartImpactSummary::of(simulation).iter().map(start_impact).collect(),
    ]
    .concat()
}

/// Overlaps, joints that are open in the initial state, and friction directions without effect.
fn errors(touching: &[TouchingPair], joints: &[JointRow]) -> Vec<String> {
    let overlaps = touching.iter().filter(|pair| pair.depth > NOTICEABLE).map(|pair| {
        let [a, b] = &pair.bodies;
        format!("{a} and {b} overlap by {} m at the start", number(pair.depth))
    });
    let open = joints
        .iter()
        .filter(|joint| joint.error > NOTICEABLE)
        .map(|joint| format!("joint {} has an initial error of {}", joint.name, number(joint.error)));
    let directions = touching.iter().filter(|pair| pair.ignores_direction).map(|pair| {
        let [a, b] = &pair.bodies;
        format!("`first_direction` of {a} and {b} is along the normal of a contact, which takes world x or y instead")
    });
    overlaps.chain(open).chain(directions).collect()
}
