//! `[[body]]`.

use std::sync::Arc;

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stiction_multibody::{BodyBuilder, Expression, ExpressionMotion, Motion, Pose, limits, rotation};

use super::{
    inertia,
    inertia::ShapeAt,
    reader::{At, Reader, angle, direction, rotation_of, unit_quaternion, within},
    shape,
};
use crate::{
    error::Fault,
    file::{BodyKindName, BodyTable, Inertia, MotionTable, Spin},
};

/// Where a body starts.
struct Start {
    position: Vector3<f64>,
    angle: f64,
    quaternion: Option<[f64; 4]>,
}

impl Start {
    fn orientation(&self) -> UnitQuaternion<f64> {
        self.quaternion.map_or_else(|| rotation::from_rotation_vector(&(Vector3::z() * self.angle)), rotation_of)
    }
}

/// The body, and its pose at the start.
pub(super) fn body(reader: &Reader, at: &At, table: &BodyTable) -> Result<(BodyBuilder, Pose), Fault> {
    refuse_strangers(at, table)?;
    let start = start(reader, at, table)?;
    let shapes = shape::shapes(reader, &at.key("shape"), &table.shape)?;
    let name = table.name.as_str();
    let (mut builder, pose) = match table.kind {
        BodyKindName::Fixed => (placed(BodyBuilder::fixed(name), &start), pose_of(&start)),
        BodyKindName::Kinematic => kinematic(reader, at, table, &start)?,
        BodyKindName::Dynamic => (dynamic(reader, at, table, &start, &shapes)?, pose_of(&start)),
    };
    if let Some(conveyor) = &table.conveyor {
        let at = at.key("conveyor").key("velocity");
        builder = builder.conveyor(reader.scalars(&at, &conveyor.velocity, limits::SPEED)?);
    }
    for ShapeAt { shape, local } in shapes {
        builder = builder.shape_at(shape, local);
    }
    Ok((builder, pose))
}

/// Fields that mean nothing for this kind of body are mistakes.
fn refuse_strangers(at: &At, table: &BodyTable) -> Result<(), Fault> {
    let (kind, strangers): (_, &[&str]) = match table.kind {
        BodyKindName::Fixed => {
            ("fixed", &["mass", "density", "inertia", "particle", "velocity", "angular_velocity", "motion"])
        }
        BodyKindName::Kinematic => {
            ("kinematic", &["mass", "density", "inertia", "particle", "velocity", "angular_velocity"])
        }
        BodyKindName::Dynamic => ("dynamic", &["motion"]),
    };
    match strangers.iter().find(|field| at.key(field).exists()) {
        Some(field) => {
            let wanted = if *field == "motion" { "kinematic" } else { "dynamic" };
            let message = format!("body \"{}\" is {kind}: `{field}` is for {wanted} bodies", table.name);
            Err(at.key(field).fault(message))
        }
        None => Ok(()),
    }
}

fn start(reader: &Reader, at: &At, table: &BodyTable) -> Result<Start, Fault> {
    let position = reader.optional_vector(&at.key("position"), table.position.as_ref())?;
    let angle = match &table.angle {
        Some(_) if !reader.planar() => {
            return Err(reader.only_in(&at.key("angle"), "an angle", "give an `orientation`"));
        }
        Some(value) => angle(&at.key("angle"), value)?,
        None => 0.0,
    };
    let at = at.key("orientation");
    let quaternion = table.orientation.as_ref().map(|orientation| reader.orientation(&at, orientation)).transpose()?;
    Ok(Start { position, angle, quaternion })
}

fn placed(builder: BodyBuilder, start: &Start) -> BodyBuilder {
    let [x, y, z] = start.position.into();
    let builder = builder.position(x, y, z).angle(start.angle);
    match start.quaternion {
        Some(quaternion) => builder.quaternion(quaternion),
        None => builder,
    }
}

fn pose_of(start: &Start) -> Pose {
    Pose::from_parts(start.position.into(), start.orientation().to_rotation_matrix())
}

fn dynamic(
    reader: &Reader,
    at: &At,
    table: &BodyTable,
    start: &Start,
    shapes: &[ShapeAt],
) -> Result<BodyBuilder, Fault> {
    let builder = if table.particle {
        if let Some(field) = ["inertia", "density", "orientation"].into_iter().find(|field| at.key(field).exists()) {
            return Err(at.key(field).fault(format!("a particle has no {field}: it needs only `mass`")));
        }
        let mass = table.mass.ok_or_else(|| at.fault(format!("body \"{}\" needs a `mass`", table.name)))?;
        BodyBuilder::particle(&table.name, mass)
    } else {
        let given = table.inertia.as_ref().map(|given| matrix(reader, &at.key("inertia"), given)).transpose()?;
        let (mass, inertia) = inertia::mass_and_inertia(reader, at, table, given, shapes)?;
        if reader.planar() {
            BodyBuilder::planar(&table.name, mass, inertia.m33)
        } else {
            BodyBuilder::rigid(&table.name, mass, inertia)
        }
    };
    let velocity = reader.optional_vector(&at.key("velocity"), table.velocity.as_ref())?;
    let at = at.key("angular_velocity");
    let spin = match (&table.angular_velocity, reader.planar()) {
        (None, _) => Vector3::zeros(),
        (Some(Spin::Planar(rate)), true) => Vector3::z() * *rate,
        (Some(Spin::Spatial(rates)), false) => Vector3::from(*rates),
        (Some(Spin::Planar(_)), false) => {
            return Err(reader.only_in(&at, "a single angular velocity", "give three numbers"));
        }
        (Some(Spin::Spatial(_)), true) => {
            return Err(reader.only_in(&at, "an angular velocity vector", "give one number"));
        }
    };
    let builder = placed(builder, start).velocity(velocity.x, velocity.y, velocity.z);
    Ok(builder.angular_velocity(spin.x, spin.y, spin.z))
}

fn matrix(reader: &Reader, at: &At, inertia: &Inertia) -> Result<Matrix3<f64>, Fault> {
    match (inertia, reader.planar()) {
        (Inertia::Planar(moment), true) => Ok(Matrix3::from_diagonal_element(*moment)),
        (Inertia::Principal(moments), false) => Ok(Matrix3::from_diagonal(&Vector3::from(*moments))),
        (Inertia::Matrix(rows), false) => Ok(Matrix3::from_fn(|i, j| rows[i][j])),
        (Inertia::Planar(_), false) => {
            Err(reader.only_in(at, "a single moment of inertia", "give [ixx, iyy, izz] or a 3x3 matrix"))
        }
        (_, true) => Err(reader.only_in(at, "an inertia matrix", "give one number")),
    }
}

fn kinematic(reader: &Reader, at: &At, table: &BodyTable, start: &Start) -> Result<(BodyBuilder, Pose), Fault> {
    let Some(motion_table) = &table.motion else {
        let fault = at.fault(format!("body \"{}\" is kinematic and needs a `motion`", table.name));
        return Err(fault.hint("such as motion = { x = \"0.5*t\" }"));
    };
    if start.position.amax() > limits::LENGTH {
        return Err(at.key("position").fault(format!("`position` must be at most {:e} in magnitude", limits::LENGTH)));
    }
    let at = at.key("motion");
    let motion = motion(reader, &at, motion_table, start)?;
    for t in reader.sample_times() {
        let twist = motion.at(t).twist;
        let fast = twist.linear.iter().chain(twist.angular.iter()).find(|speed| !within(**speed, limits::SPEED));
        if let Some(speed) = fast {
            return Err(at.fault(format!(
                "its velocity must be finite and at most {:e}, but is {speed} at t = {t}",
                limits::SPEED
            )));
        }
    }
    let pose = motion.at(0.0).pose();
    let position = pose.translation.vector;
    let builder = BodyBuilder::kinematic(&table.name, Arc::new(motion));
    Ok((builder.position(position.x, position.y, position.z), pose))
}

fn motion(reader: &Reader, at: &At, table: &MotionTable, start: &Start) -> Result<ExpressionMotion, Fault> {
    let strangers: &[&str] = if reader.planar() { &["z", "axis"] } else { &[] };
    if let Some(field) = strangers.iter().find(|field| at.key(field).exists()) {
        return Err(reader.only_in(&at.key(field), &format!("`{field}`"), "leave it out"));
    }
    let coordinate = |field: &'static str, scalar: &Option<_>, otherwise: f64| match scalar {
        Some(_) if otherwise != 0.0 => {
            Err(at.key(field).fault("the body's `position` gives this coordinate as well").hint("keep one of the two"))
        }
        Some(scalar) => reader.scalar(&at.key(field), scalar, limits::LENGTH),
        None => Ok(Expression::constant(otherwise)),
    };
    let [x, y, z] = start.position.into();
    let position = [coordinate("x", &table.x, x)?, coordinate("y", &table.y, y)?, coordinate("z", &table.z, z)?];
    let turning = coordinate("angle", &table.angle, 0.0)?;
    if reader.planar() {
        let turns = match (&table.angle, start.angle) {
            (Some(_), given) if given != 0.0 => {
                return Err(at.key("angle").fault("the body's `angle` is given as well").hint("keep one of the two"));
            }
            (Some(_), _) => turning,
            (None, given) => Expression::constant(given),
        };
        let [x, y, _] = position;
        return Ok(ExpressionMotion::planar(x, y, turns));
    }
    let axis = match (table.axis, &table.angle) {
        (Some(axis), _) => direction(&at.key("axis"), Vector3::from(axis))?,
        (None, None) => Vector3::z(),
        (None, Some(_)) => {
            return Err(at.key("angle").fault("needs an `axis` to turn about").hint("such as axis = [0.0, 0.0, 1.0]"));
        }
    };
    let base = match start.quaternion {
        Some(quaternion) => unit_quaternion(at, quaternion)?,
        None => UnitQuaternion::identity(),
    };
    Ok(ExpressionMotion { position, axis, angle: turning, base })
}
