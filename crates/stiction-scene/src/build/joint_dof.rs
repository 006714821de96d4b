//! Limits, friction, damping and springs of the joint DOFs of `[[joint]]`.

use stiction_multibody::{JointDof, JointDofId, JointId};

use super::{
    Assembly,
    reader::{At, angle},
};
use crate::{
    error::Fault,
    file::{Angle, JointDofWords, JointTable},
};

/// Keys of a joint DOF.
const KEYS: [&str; 8] = ["limits", "friction", "damping", "stiffness", "rest", "armature", "reference", "initial"];

/// Unit of the coordinate of a joint DOF.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Metres,
    Radians,
}

pub(super) fn add(assembly: &mut Assembly, at: &At, table: &JointTable, id: JointId) -> Result<(), Fault> {
    let unit = |is_length| if is_length { Unit::Metres } else { Unit::Radians };
    let units: Vec<_> = table.kind.dof_is_length(assembly.reader.dimension).map(unit).collect();
    let own = KEYS.iter().find(|word| at.key(word).exists());
    match (units.as_slice(), &table.dofs, own) {
        (_, None, None) => Ok(()),
        (&[unit], None, Some(_)) => add_dof(assembly, at, (id, 0), (unit, table.joint_dof())),
        ([], _, Some(foreign)) => {
            Err(at.key(foreign).fault(format!("a {} joint has no `{foreign}`", table.kind.name())))
        }
        ([] | [_], Some(_), _) => {
            let fault = at.key("dofs").fault(format!("a {} joint has no `dofs`", table.kind.name()));
            Err(if units.is_empty() { fault } else { fault.hint("write the keys of its DOF in the joint table") })
        }
        (_, _, Some(foreign)) => {
            let message = format!("a {} joint has {} DOFs", table.kind.name(), units.len());
            let hint = format!("write dofs = [{}], one table each", vec!["{}"; units.len()].join(", "));
            Err(at.key(foreign).fault(format!("{message}: `{foreign}` must be given for one of them")).hint(hint))
        }
        (_, Some(tables), None) if tables.len() != units.len() => {
            let (kind, count, given) = (table.kind.name(), units.len(), tables.len());
            Err(at.key("dofs").fault(format!("a {kind} joint has {count} DOFs, but {given} are listed")))
        }
        (_, Some(tables), None) => {
            for (number, (table, unit)) in tables.iter().zip(&units).enumerate() {
                let at = at.key("dofs").index(number);
                add_dof(assembly, &at, (id, number), (*unit, table.joint_dof()))?;
            }
            Ok(())
        }
    }
}

/// Sets the law along a joint DOF, and its coordinate at the start if that is not the one of the given poses.
fn add_dof(
    assembly: &mut Assembly,
    at: &At,
    id: JointDofId,
    (unit, words): (Unit, JointDofWords),
) -> Result<(), Fault> {
    let joint_dof = joint_dof(at, unit, words)?;
    assembly.builder.joint_dof(id, joint_dof).map_err(|error| at.model_error(&error))?;
    if words.initial.is_some() {
        let initial = coordinate(&at.key("initial"), unit, words.initial)?;
        if initial != joint_dof.initial {
            assembly.builder.joint_start(id, initial).map_err(|error| at.model_error(&error))?;
        }
    }
    Ok(())
}

fn joint_dof(at: &At, unit: Unit, words: JointDofWords) -> Result<JointDof, Fault> {
    let limits = match words.limits {
        Some([least, most]) => {
            let at = at.key("limits");
            Some([coordinate(&at.index(0), unit, Some(least))?, coordinate(&at.index(1), unit, Some(most))?])
        }
        None => None,
    };
    Ok(JointDof {
        limits,
        friction: words.friction.unwrap_or(0.0),
        damping: words.damping.unwrap_or(0.0),
        stiffness: words.stiffness.unwrap_or(0.0),
        rest: coordinate(&at.key("rest"), unit, words.rest)?,
        armature: words.armature.unwrap_or(0.0),
        initial: coordinate(&at.key("reference"), unit, words.reference)?,
    })
}

/// Returns a joint coordinate; only rotations accept angles with a unit.
fn coordinate(at: &At, unit: Unit, value: Option<&Angle>) -> Result<f64, Fault> {
    match (value, unit) {
        (None, _) => Ok(0.0),
        (Some(Angle::Text(_)), Unit::Metres) => {
            Err(at.fault(format!("{} is a length, not an angle", at.what())).hint("give a number of metres"))
        }
        (Some(value), _) => angle(at, value),
    }
}
