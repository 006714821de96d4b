//! `[contact_default]` and `[[contact]]`.

use stiction_multibody::ContactRule;
use stiction_options::Margin;

use super::{
    Assembly,
    reader::{At, angle},
    settings,
};
use crate::{
    error::Fault,
    file::{ContactRuleTable, MarginValue, SceneFile},
};

pub(super) fn add(assembly: &mut Assembly, file: &SceneFile) -> Result<(), Fault> {
    let at = assembly.root.key("contact_default");
    let default = rule(assembly, &at, file.contact_default.rule(), &ContactRule::default())?;
    assembly.builder.default_contact(default.clone()).map_err(|error| at.model_error(&error))?;
    for (index, table) in file.contact.iter().enumerate() {
        let at = assembly.root.key("contact").index(index);
        let [(a, _), (b, _)] = assembly.find_both(&at, &table.between)?;
        let rule = rule(assembly, &at, table.rule(), &default)?;
        assembly.builder.contact(a, b, rule).map_err(|error| at.model_error(&error))?;
    }
    Ok(())
}

/// Returns the rule of a table; omitted keys are those of `default`.
fn rule(assembly: &Assembly, at: &At, table: ContactRuleTable, default: &ContactRule) -> Result<ContactRule, Fault> {
    let reader = &assembly.reader;
    // The plane has one tangent, and nothing spins about a normal in it.
    let spatial = [
        ("torsion", table.torsion.is_some_and(|lever| lever > 0.0), "torsional friction", "leave `torsion` out"),
        ("first_direction", table.first_direction.is_some(), "a choice of directions", "leave `first_direction` out"),
        ("direction_body", table.direction_body.is_some(), "a choice of directions", "leave `direction_body` out"),
    ];
    if let Some((key, _, what, instead)) = spatial.into_iter().find(|(_, is_given, ..)| *is_given && reader.planar()) {
        return Err(reader.only_in(&at.key(key), what, instead));
    }
    let first_direction = match table.first_direction {
        Some(direction) => Some(reader.vector(&at.key("first_direction"), direction)?),
        None => default.first_direction,
    };
    let direction_offset = match table.direction_offset {
        Some(offset) => angle(&at.key("direction_offset"), offset)?,
        None => default.direction_offset,
    };
    let direction_body = match table.direction_body {
        Some("world") => None,
        Some(name) => Some(assembly.find(&at.key("direction_body"), name)?.0),
        None => default.direction_body,
    };
    let friction = table.friction.unwrap_or(default.friction);
    Ok(ContactRule {
        collide: table.collide.unwrap_or(default.collide),
        friction,
        directions: table.directions.or(default.directions),
        first_direction,
        direction_body,
        direction_offset,
        ellipse: table.ellipse.unwrap_or(default.ellipse),
        torsion: table.torsion.unwrap_or(default.torsion),
        // A pair without friction has no rolling friction either, unless it asks for it.
        rolling: table.rolling.unwrap_or(if friction > 0.0 { default.rolling } else { 0.0 }),
        restitution: table.restitution.unwrap_or(default.restitution),
        gamma: table.gamma.or(default.gamma),
        margin: margin(&at.key("margin"), table.margin, default.margin)?,
        layer: assembly.layer_rule(&at.key("material"), table.material, default.layer)?,
    })
}

fn margin(at: &At, value: Option<&MarginValue>, default: Option<f64>) -> Result<Option<f64>, Fault> {
    match (value, settings::margin(at, value)?) {
        (None, _) => Ok(default),
        (Some(_), Margin::Fixed(distance)) => Ok(Some(distance)),
        (Some(_), Margin::Automatic) => Ok(None),
    }
}
