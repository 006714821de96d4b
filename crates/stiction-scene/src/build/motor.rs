//! `[[motor]]` and `[[coupling]]`.

use stiction_multibody::{Coupling, JointDofId, ModelError, Motor, limits};

use super::{Assembly, reader::At};
use crate::{
    error::Fault,
    file::{CouplingTable, MotorTable, SceneFile},
    suggest,
};

pub(super) fn add(assembly: &mut Assembly, file: &SceneFile) -> Result<(), Fault> {
    for (index, table) in file.motor.iter().enumerate() {
        let at = assembly.root.key("motor").index(index);
        let name = table.name.clone().unwrap_or_else(|| format!("motor-{}", index + 1));
        let motor = motor(assembly, &at, table, &name)?;
        assembly.builder.motor(motor).map_err(|error| dof_error(&at, "joint", "dof", &error))?;
    }
    for (index, table) in file.coupling.iter().enumerate() {
        let at = assembly.root.key("coupling").index(index);
        let name = table.name.clone().unwrap_or_else(|| format!("coupling-{}", index + 1));
        let coupling = coupling(assembly, &at, table, name)?;
        assembly.builder.coupling(coupling).map_err(|error| match error.field {
            "polynomial" if at.key("ratio").exists() => at.key("ratio").fault(error.to_string()),
            "polynomial" if at.key("offset").exists() => at.key("offset").fault(error.to_string()),
            "leader" => dof_error(&at, "leader", "leader_dof", &error),
            _ => dof_error(&at, "follower", "follower_dof", &error),
        })?;
    }
    Ok(())
}

/// Returns an error of the model about a joint at the number of its DOF, if the file gives that number.
fn dof_error(at: &At, joint: &'static str, joint_dof: &'static str, error: &ModelError) -> Fault {
    if error.field == joint && at.key(joint_dof).exists() {
        return at.key(joint_dof).fault(error.to_string());
    }
    at.model_error(error)
}

/// Returns a joint DOF by the name of its joint.
fn joint_dof(assembly: &Assembly, at: &At, name: &str, number: Option<u32>) -> Result<JointDofId, Fault> {
    let found = assembly.joints.iter().find(|(joint, _)| joint == name);
    let (_, id) = found.ok_or_else(|| {
        let known = assembly.joints.iter().map(|(joint, _)| joint.as_str());
        at.fault(format!("there is no joint \"{name}\"")).hint(suggest::hint(name, known))
    })?;
    Ok((*id, number.unwrap_or(0) as usize))
}

fn motor(assembly: &Assembly, at: &At, table: &MotorTable, name: &str) -> Result<Motor, Fault> {
    let joint_dof = joint_dof(assembly, &at.key("joint"), &table.joint, table.dof)?;
    let given = [("torque", &table.torque), ("position", &table.position), ("velocity", &table.velocity)];
    let mut given = given.into_iter().filter_map(|(word, scalar)| Some((word, scalar.as_ref()?)));
    let (Some((word, scalar)), None) = (given.next(), given.next()) else {
        let fault = at.fault(format!("motor \"{name}\" needs exactly one of `torque`, `position` and `velocity`"));
        return Err(fault.hint("such as torque = \"2*sin(t)\""));
    };
    let control = assembly.reader.scalar(&at.key(word), scalar, limits::LOAD)?;
    let foreign_keys: &[&str] = match word {
        "torque" => &["stiffness", "damping"],
        "position" => &["gain", "bias"],
        _ => &["stiffness", "damping", "bias"],
    };
    if let Some(foreign) = foreign_keys.iter().find(|foreign| at.key(foreign).exists()) {
        return Err(at.key(foreign).fault(format!("a motor with a `{word}` has no `{foreign}`")));
    }
    let needed = |key: &str, value: Option<f64>| {
        value.ok_or_else(|| at.fault(format!("motor \"{name}\" has a `{word}` and needs a `{key}`")))
    };
    let made = match word {
        "torque" => {
            let (gain, bias) = (table.gain.unwrap_or(1.0), table.bias.unwrap_or_default());
            Motor { gain, bias, ..Motor::torque(name, joint_dof, control) }
        }
        "position" => {
            let gains = (needed("stiffness", table.stiffness)?, table.damping.unwrap_or(0.0));
            for (key, gain) in [("stiffness", gains.0), ("damping", gains.1)] {
                if !(0.0..=limits::LOAD).contains(&gain) {
                    let at = at.key(key);
                    return Err(at.fault(format!("{} must lie between 0 and {:e}", at.what(), limits::LOAD)));
                }
            }
            Motor::position(name, joint_dof, control, gains)
        }
        _ => Motor::velocity(name, joint_dof, control, needed("gain", table.gain)?),
    };
    let (control_limits, force_limits) = (table.control_limits, table.force_limits);
    Ok(Motor { control_limits, force_limits, gear: table.gear.unwrap_or(1.0), ..made })
}

fn coupling(assembly: &Assembly, at: &At, table: &CouplingTable, name: String) -> Result<Coupling, Fault> {
    let follower = joint_dof(assembly, &at.key("follower"), &table.follower, table.follower_dof)?;
    let leader = match &table.leader {
        Some(leader) => Some(joint_dof(assembly, &at.key("leader"), leader, table.leader_dof)?),
        None => None,
    };
    let mut coefficients = [table.offset.unwrap_or(0.0), 0.0, 0.0, 0.0, 0.0];
    if let Some(polynomial) = &table.polynomial {
        if let Some(second) = ["ratio", "offset"].into_iter().find(|key| at.key(key).exists()) {
            let fault = at.key(second).fault(format!("coupling \"{name}\" has a `polynomial` as well"));
            return Err(fault.hint("keep one of the two"));
        }
        for (slot, coefficient) in coefficients.iter_mut().zip(&polynomial.0) {
            *slot = *coefficient;
        }
    } else if leader.is_some() {
        coefficients[1] = table.ratio.unwrap_or(1.0);
    }
    let foreign = ["ratio", "leader_dof"].into_iter().find(|key| leader.is_none() && at.key(key).exists());
    if let Some(foreign) = foreign {
        let fault = at.key(foreign).fault(format!("coupling \"{name}\" has no `leader` for this `{foreign}`"));
        return Err(fault);
    }
    Ok(Coupling { name, follower, leader, polynomial: coefficients })
}
