//! `[[joint]]`.

use nalgebra::{Matrix3, Rotation3, Vector3};
use stiction_multibody::{BodyId, Dimension, JointId, JointKind, ModelError, Pose, joint::Placement, limits};

use super::{
    Assembly, joint_dof,
    reader::{At, direction},
};
use crate::{
    error::Fault,
    file::{JointTable, SceneFile},
    numbers::plain,
};

type Bodies = [(BodyId, Pose); 2];

pub(super) fn add(assembly: &mut Assembly, file: &SceneFile) -> Result<(), Fault> {
    for (index, table) in file.joint.iter().enumerate() {
        let at = assembly.root.key("joint").index(index);
        let name = table.name.clone().unwrap_or_else(|| format!("joint-{}", index + 1));
        let bodies = assembly.find_both(&at, &table.between)?;
        refuse_foreign_keys(&at, table)?;
        let id = match table.kind.placement() {
            Placement::Ends => distance(assembly, &at, table, name.clone(), bodies)?,
            Placement::TwoAxes => with_two_axes(assembly, &at, table, name.clone(), bodies)?,
            Placement::AnchorOrAnchors if table.anchors.is_some() => open(assembly, &at, table, name.clone(), bodies)?,
            Placement::Anchor | Placement::AnchorOrAnchors => simple(assembly, &at, table, name.clone(), bodies)?,
        };
        assembly.joints.push((name, id));
        joint_dof::add(assembly, &at, table, id)?;
        if let Some(gamma) = table.gamma {
            assembly.builder.joint_gamma(id, gamma).map_err(|error| at.model_error(&error))?;
        }
    }
    Ok(())
}

/// Refuses keys that have no meaning for this kind of joint.
fn refuse_foreign_keys(at: &At, table: &JointTable) -> Result<(), Fault> {
    let foreign: &[&str] = match table.kind.placement() {
        Placement::Ends => &["anchor", "axis", "second_axis"],
        Placement::TwoAxes => &["anchors", "length"],
        Placement::AnchorOrAnchors => &["length", "second_axis"],
        Placement::Anchor => &["anchors", "length", "second_axis"],
    };
    match foreign.iter().find(|field| at.key(field).exists()) {
        Some(field) => Err(at.key(field).fault(format!("a {} joint has no `{field}`", table.kind.name()))),
        None => Ok(()),
    }
}

fn needed<'t, T>(at: &At, table: &JointTable, field: &str, value: Option<&'t T>) -> Result<&'t T, Fault> {
    value.ok_or_else(|| at.fault(format!("a {} joint needs `{field}`", table.kind.name())))
}

fn simple(
    assembly: &mut Assembly,
    at: &At,
    table: &JointTable,
    name: String,
    [a, b]: Bodies,
) -> Result<JointId, Fault> {
    let reader = &assembly.reader;
    let anchor = reader.vector(&at.key("anchor"), needed(at, table, "anchor", table.anchor.as_ref())?)?;
    // A kind of the other dimension is refused by the model, after its keys.
    let exists = table.kind.joint_dof(reader.dimension).is_some();
    let in_any = || [Dimension::Planar, Dimension::Spatial].into_iter().any(|dimension| table.kind.has_axis(dimension));
    let needs_axis = if exists { table.kind.has_axis(reader.dimension) } else { in_any() };
    let axis = match &table.axis {
        Some(axis) => reader.vector(&at.key("axis"), axis)?,
        None if needs_axis => {
            return Err(at.fault(format!("a {} joint needs `axis`", table.kind.name())));
        }
        None => Vector3::x(),
    };
    let made = assembly.builder.joint_at(name, table.kind, (a.0, b.0), anchor, axis);
    made.map_err(|error| at.model_error(&error))
}

/// Adds a joint that is open at the start: its two anchors are apart.
fn open(assembly: &mut Assembly, at: &At, table: &JointTable, name: String, bodies: Bodies) -> Result<JointId, Fault> {
    if let Some(second) = ["anchor", "axis"].into_iter().find(|key| at.key(key).exists()) {
        return Err(at.key(second).fault(format!("{} has `anchors` as well", at.owner().unwrap_or_default())));
    }
    let [a, b] = anchored(assembly, at, table, bodies)?;
    let made = assembly.builder.joint(name, table.kind, a, b);
    made.map_err(|error| anchor_error(at, &error))
}

/// Returns frames on both bodies at their `anchors`, along the world axes.
fn anchored(assembly: &Assembly, at: &At, table: &JointTable, [a, b]: Bodies) -> Result<Bodies, Fault> {
    let [first, second] = needed(at, table, "anchors", table.anchors.as_ref())?;
    let at = at.key("anchors");
    let frame = |(id, pose): (BodyId, Pose), anchor: Vector3<f64>| {
        (id, pose.inverse() * Pose::from_parts(anchor.into(), Rotation3::identity()))
    };
    let first = assembly.reader.vector(&at.index(0), first)?;
    Ok([frame(a, first), frame(b, assembly.reader.vector(&at.index(1), second)?)])
}

fn distance(
    assembly: &mut Assembly,
    at: &At,
    table: &JointTable,
    name: String,
    [a, b]: Bodies,
) -> Result<JointId, Fault> {
    let [first, second] = needed(at, table, "anchors", table.anchors.as_ref())?;
    let anchors = at.key("anchors");
    let first = assembly.reader.vector(&anchors.index(0), first)?;
    let second = assembly.reader.vector(&anchors.index(1), second)?;
    let length = table.length.unwrap_or_else(|| (second - first).norm());
    let frame = |(id, pose): (BodyId, Pose), anchor: Vector3<f64>| {
        (id, Pose::from_parts(pose.inverse_transform_point(&anchor.into()).into(), Rotation3::identity()))
    };
    let made = assembly.builder.joint(name, JointKind::Distance(length), frame(a, first), frame(b, second));
    made.map_err(|error| anchor_error(at, &error))
}

/// Returns an error of the model at the key `anchors` if the file has no `anchor` or `length`.
fn anchor_error(at: &At, error: &ModelError) -> Fault {
    let field = match error.field {
        "anchor" => "anchors",
        "length" if !at.key("length").exists() => "anchors",
        _ => return at.model_error(error),
    };
    at.key(field).fault(error.to_string())
}

fn with_two_axes(
    assembly: &mut Assembly,
    at: &At,
    table: &JointTable,
    name: String,
    [a, b]: Bodies,
) -> Result<JointId, Fault> {
    const PERPENDICULAR: f64 = 1e-9;
    let reader = &assembly.reader;
    let anchor = reader.vector(&at.key("anchor"), needed(at, table, "anchor", table.anchor.as_ref())?)?;
    let axis = |field: &'static str, value| {
        let at = &at.key(field);
        direction(at, reader.vector(at, value)?)
    };
    let first = axis("axis", needed(at, table, "axis", table.axis.as_ref())?)?;
    let second = axis("second_axis", needed(at, table, "second_axis", table.second_axis.as_ref())?)?;
    let slant = first.dot(&second);
    if slant.abs() > PERPENDICULAR {
        let message = format!("`second_axis` must be perpendicular to `axis`, but their cosine is {slant:.3e}");
        return Err(at.key("second_axis").fault(message));
    }
    if anchor.amax() > limits::LENGTH {
        let at = at.key("anchor");
        return Err(at.fault(format!("{} must be at most {} in magnitude", at.what(), plain(limits::LENGTH))));
    }
    let columns = [first, (second - first * slant).normalize(), first.cross(&second).normalize()];
    let frame = Pose::from_parts(anchor.into(), Rotation3::from_matrix_unchecked(Matrix3::from_columns(&columns)));
    let local = |(id, pose): (BodyId, Pose)| (id, pose.inverse() * frame);
    let made = assembly.builder.joint(name, table.kind, local(a), local(b));
    made.map_err(|error| at.model_error(&error))
}
