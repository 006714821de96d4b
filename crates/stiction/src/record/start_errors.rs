//! Joints, limits and couplings that do not hold at the start of a run.

use serde::{Deserialize, Serialize};
use stiction_multibody::{Configuration, Coupling, Joint, JointDofId};

use crate::Simulation;

/// Errors below this are rounding of the numbers in the file, m or rad: numbers typed with six digits cause none.
const MOVED: f64 = 1e-6;

/// Joint, limit or coupling that does not hold at the start. It closes at `Scheme::joint_closing_speed`, unless the bodies are moved before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum StartError {
    /// The joint is open.
    OpenJoint {
        /// Its name.
        joint: String,
        /// Its largest error, m or rad.
        error: f64,
    },
    /// The joint is open at the poses of the scene. Reduced coordinates have moved the bodies beyond it.
    MovedJoint {
        /// Its name.
        joint: String,
        /// Its largest error at the poses of the scene, m or rad.
        error: f64,
    },
    /// The coordinate of the joint is beyond its limits.
    PassedLimit {
        /// Name of the joint.
        joint: String,
        /// Number of the DOF, if the joint has several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dof: Option<usize>,
        /// Its coordinate, m or rad.
        coordinate: f64,
        /// Its limits, m or rad.
        limits: [f64; 2],
    },
    /// The coupling does not hold.
    OpenCoupling {
        /// Its name.
        coupling: String,
        /// Coordinate of the follower less the wanted one, m or rad.
        error: f64,
    },
}

impl StartError {
    /// All errors in the present state of a simulation, which is its start: those of joints, of limits and of couplings.
    pub fn all(simulation: &Simulation) -> Vec<Self> {
        let model = simulation.model();
        let (state, mut given) = (model.initial_state(), Configuration::default());
        given.update(model, &state.q, &state.v, state.time);
        let joints = model.joints().iter().filter_map(|joint| of_joint(joint, simulation.configuration(), &given));
        // DOFs with limits are among the actuated ones.
        let limits = model.joint_space_dofs().iter().filter_map(|id| of_limit(simulation, *id));
        let couplings = model.couplings().iter().filter_map(|coupling| of_coupling(simulation, coupling));
        joints.chain(limits).chain(couplings).collect()
    }
}

fn of_joint(joint: &Joint, at: &Configuration, given: &Configuration) -> Option<StartError> {
    let error_at = |at| joint.evaluate(at).fold(0.0, |worst: f64, row| worst.max(row.value.abs()));
    let (error, of_file, name) = (error_at(at), error_at(given), || joint.name.clone());
    if error > MOVED {
        Some(StartError::OpenJoint { joint: name(), error })
    } else {
        (of_file > MOVED).then(|| StartError::MovedJoint { joint: name(), error: of_file })
    }
}

fn of_limit(simulation: &Simulation, id: JointDofId) -> Option<StartError> {
    let joint = simulation.model().joint(id.0)?;
    let joint_dofs = joint.joint_dofs();
    let limits = joint_dofs.get(id.1)?.limits?;
    let coordinate = simulation.joint_coordinate(id)?;
    let is_beyond = coordinate < limits[0] - MOVED || coordinate > limits[1] + MOVED;
    let dof = (joint_dofs.len() > 1).then_some(id.1);
    is_beyond.then(|| StartError::PassedLimit { joint: joint.name.clone(), dof, coordinate, limits })
}

fn of_coupling(simulation: &Simulation, coupling: &Coupling) -> Option<StartError> {
    let leader = match coupling.leader {
        Some(leader) => simulation.joint_coordinate(leader)?,
        None => 0.0,
    };
    let error = simulation.joint_coordinate(coupling.follower)? - coupling.at(leader).0;
    (error.abs() > MOVED).then(|| StartError::OpenCoupling { coupling: coupling.name.clone(), error })
}
