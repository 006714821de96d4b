//! `[[spring]]`, `[[damper]]`, `[[load]]`.

use stiction_multibody::{Damper, Expression, Load, Spring, limits};

use super::{
    Assembly,
    reader::{At, Reader},
};
use crate::{
    error::Fault,
    file::{SceneFile, Torque},
};

pub(super) fn add(assembly: &mut Assembly, file: &SceneFile) -> Result<(), Fault> {
    for (index, table) in file.spring.iter().enumerate() {
        let at = assembly.root.key("spring").index(index);
        let [(a, _), (b, _)] = assembly.find_both(&at, &table.between)?;
        let [p, q] = assembly.points(&at, table.points.as_ref())?;
        let (stiffness, rest_length, damping) = (table.stiffness, table.rest_length, table.damping);
        let spring = Spring { a: (a, p), b: (b, q), stiffness, rest_length, damping };
        assembly.builder.spring(spring).map_err(|error| at.model_error(&error))?;
    }
    for (index, table) in file.damper.iter().enumerate() {
        let at = assembly.root.key("damper").index(index);
        let [(a, _), (b, _)] = assembly.find_both(&at, &table.between)?;
        let [p, q] = assembly.points(&at, table.points.as_ref())?;
        let damper = Damper { a: (a, p), b: (b, q), damping: table.damping };
        assembly.builder.damper(damper).map_err(|error| at.model_error(&error))?;
    }
    for (index, table) in file.load.iter().enumerate() {
        let at = assembly.root.key("load").index(index);
        let (body, _) = assembly.find(&at.key("body"), &table.body)?;
        let reader = &assembly.reader;
        let point = reader.optional_vector(&at.key("point"), table.point.as_ref())?;
        let force = match &table.force {
            Some(force) => reader.scalars(&at.key("force"), force, limits::LOAD)?,
            None => zero(),
        };
        let torque = torque(reader, &at.key("torque"), table.torque.as_ref())?;
        let load = Load { body, point, force, torque };
        assembly.builder.load(load).map_err(|error| at.model_error(&error))?;
    }
    Ok(())
}

fn zero() -> [Expression; 3] {
    [0.0; 3].map(Expression::constant)
}

fn torque(reader: &Reader, at: &At, table: Option<&Torque>) -> Result<[Expression; 3], Fault> {
    let [x, y, z] = zero();
    match (table, reader.planar()) {
        (None, _) => Ok([x, y, z]),
        (Some(Torque::Planar(torque)), true) => Ok([x, y, reader.scalar(at, torque, limits::LOAD)?]),
        (Some(Torque::Spatial([x, y, z])), false) => {
            let scalar = |index, value| reader.scalar(&at.index(index), value, limits::LOAD);
            Ok([scalar(0, x)?, scalar(1, y)?, scalar(2, z)?])
        }
        (Some(Torque::Planar(_)), false) => Err(reader.only_in(at, "a single torque", "give three components")),
        (Some(Torque::Spatial(_)), true) => Err(reader.only_in(at, "a torque vector", "give one number or expression")),
    }
}
