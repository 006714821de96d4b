//! `[[body]]`.

use std::sync::Arc;

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stiction_multibody::{
    BodyBuilder, Expression, ExpressionMotion, Motion, Pose, Sinusoid, SinusoidalPlate, limits, rotation,
};

use super::{
    inertia,
    inertia::ShapeAt,
    reader::{At, Reader, angle, direction, rotation_of, unit_quaternion, within},
    shape,
};
use crate::{
    error::Fault,
    file::{Angle, BodyKindName, BodyTable, Inertia, MotionTable, Spin, VibrationTable},
    numbers::{moment, plain},
};

/// Largest difference between the start of a motion and the body's own position: relative, and absolute (m or rad)
/// below 1.
const SAME_START: f64 = 1e-9;

/// Initial pose of a body.
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

/// A body ready to be added.
pub(super) struct Made {
    pub(super) builder: BodyBuilder,
    /// Pose at the start.
    pub(super) pose: Pose,
    /// Motion of a kinematic body, if it is given by expressions.
    pub(super) motion: Option<ExpressionMotion>,
}

pub(super) fn body(reader: &Reader, at: &At, table: &BodyTable) -> Result<Made, Fault> {
    refuse_foreign_keys(at, table)?;
    let start = start(reader, at, table)?;
    let shapes = shape::shapes(reader, &at.key("shape"), &table.shape)?;
    let name = table.name.as_str();
    let (mut builder, pose, motion) = match table.kind {
        BodyKindName::Fixed => (placed(BodyBuilder::fixed(name), &start), pose_of(&start), None),
        BodyKindName::Kinematic => match kinematic(reader, at, table, &start)? {
            Prescribed::Expressions(motion) => {
                (moving(name, Arc::new(motion.clone())), motion.at(0.0).pose(), Some(motion))
            }
            Prescribed::Vibration(motion) => {
                let pose = motion.at(0.0).pose();
                (moving(name, Arc::new(motion)), pose, None)
            }
        },
        BodyKindName::Dynamic => (dynamic(reader, at, table, &start, &shapes)?, pose_of(&start), None),
        BodyKindName::Frame => (launched(reader, at, table, BodyBuilder::frame(name), &start)?, pose_of(&start), None),
    };
    if let Some(conveyor) = &table.conveyor {
        let at = at.key("conveyor").key("velocity");
        builder = builder.conveyor(reader.scalars(&at, &conveyor.velocity, limits::SPEED)?);
    }
    for ShapeAt { shape, local, filter } in shapes {
        builder = builder.shape_among(shape, local, filter);
    }
    Ok(Made { builder, pose, motion })
}

/// Refuses keys that have no meaning for this kind of body.
fn refuse_foreign_keys(at: &At, table: &BodyTable) -> Result<(), Fault> {
    let (kind, foreign): (_, &[&str]) = match table.kind {
        BodyKindName::Fixed => {
            let foreign = &[
                "mass",
                "density",
                "inertia",
                "particle",
                "velocity",
                "angular_velocity",
                "support",
                "motion",
                "vibration",
            ];
            ("fixed", foreign)
        }
        BodyKindName::Kinematic => {
            ("kinematic", &["mass", "density", "inertia", "particle", "velocity", "angular_velocity", "support"])
        }
        BodyKindName::Dynamic => ("dynamic", &["motion", "vibration"]),
        BodyKindName::Frame => {
            ("a frame", &["mass", "density", "inertia", "particle", "support", "motion", "vibration"])
        }
    };
    match foreign.iter().find(|field| at.key(field).exists()) {
        Some(field) => {
            let wanted = if matches!(*field, "motion" | "vibration") { "kinematic" } else { "dynamic" };
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
    launched(reader, at, table, builder, start)
}

/// Returns the body with its initial pose and velocities.
fn launched(
    reader: &Reader,
    at: &At,
    table: &BodyTable,
    builder: BodyBuilder,
    start: &Start,
) -> Result<BodyBuilder, Fault> {
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

/// Prescribed motion of a kinematic body.
enum Prescribed {
    Expressions(ExpressionMotion),
    Vibration(SinusoidalPlate),
}

fn moving(name: &str, motion: Arc<dyn Motion>) -> BodyBuilder {
    let position = motion.at(0.0).position;
    BodyBuilder::kinematic(name, motion).position(position.x, position.y, position.z)
}

fn kinematic(reader: &Reader, at: &At, table: &BodyTable, start: &Start) -> Result<Prescribed, Fault> {
    if start.position.amax() > limits::LENGTH {
        let at = at.key("position");
        return Err(at.fault(format!("{} must be at most {} in magnitude", at.what(), plain(limits::LENGTH))));
    }
    match (&table.motion, &table.vibration) {
        (Some(motion_table), None) => {
            let at = at.key("motion");
            let motion = motion(reader, &at, motion_table, start, table)?;
            check_speed(reader, &at, &table.name, &motion)?;
            Ok(Prescribed::Expressions(motion))
        }
        (None, Some(vibration_table)) => {
            let at = at.key("vibration");
            let plate = vibration(reader, &at, vibration_table, start)?;
            check_speed(reader, &at, &table.name, &plate)?;
            Ok(Prescribed::Vibration(plate))
        }
        (Some(_), Some(_)) => {
            let message = format!("body \"{}\" has a `motion` and a `vibration`: it can follow one", table.name);
            Err(at.key("vibration").fault(message))
        }
        (None, None) => {
            let fault = at.fault(format!("body \"{}\" is kinematic and needs a `motion`", table.name));
            Err(fault.hint("such as motion = { x = \"0.5*t\" }"))
        }
    }
}

fn check_speed(reader: &Reader, at: &At, name: &str, motion: &dyn Motion) -> Result<(), Fault> {
    for t in reader.sample_times() {
        let twist = motion.at(t).twist;
        let fast = twist.linear.iter().chain(twist.angular.iter()).find(|speed| !within(**speed, limits::SPEED));
        if let Some(speed) = fast {
            let (most, speed, t) = (plain(limits::SPEED), plain(*speed), moment(t));
            let message =
                format!("the velocity of body \"{name}\" must be finite and at most {most}, but is {speed} at t = {t}");
            return Err(at.fault(message));
        }
    }
    Ok(())
}

/// Lowest and highest frequency of a vibration, Hz.
const FREQUENCIES: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

fn vibration(reader: &Reader, at: &At, table: &VibrationTable, start: &Start) -> Result<SinusoidalPlate, Fault> {
    if reader.planar() {
        return Err(reader.only_in(at, "a vibration", "write the motion as expressions of t"));
    }
    if !FREQUENCIES.contains(&table.frequency) {
        let at = at.key("frequency");
        return Err(at.fault(format!("{} must be from 1e-6 to 1e6 Hz, but is {}", at.what(), plain(table.frequency))));
    }
    let along = sinusoids(at, ("acceleration", table.acceleration), ("phase", table.phase.as_ref()))?;
    let about = sinusoids(
        at,
        ("angular_acceleration", table.angular_acceleration),
        ("angular_phase", table.angular_phase.as_ref()),
    )?;
    let plate = SinusoidalPlate::new(table.frequency, along, about).ok_or_else(|| {
        let at = at.key("angular_acceleration");
        at.fault(format!("{} turns by more than 1 rad about several axes", at.what()))
            .hint("keep each amplitude below (2 pi frequency)^2, or turn about one axis")
    })?;
    let base = match start.quaternion {
        Some(quaternion) => unit_quaternion(at, quaternion)?,
        None => UnitQuaternion::identity(),
    };
    Ok(plate.about(start.position, base))
}

fn sinusoids(
    at: &At,
    (name, amplitudes): (&'static str, Option<[f64; 3]>),
    (phase_name, phases): (&'static str, Option<&[Angle; 3]>),
) -> Result<[Sinusoid; 3], Fault> {
    let mut sinusoids = [Sinusoid::default(); 3];
    let amplitudes = amplitudes.unwrap_or_default();
    for (k, (sinusoid, amplitude)) in sinusoids.iter_mut().zip(amplitudes).enumerate() {
        if !within(amplitude, limits::LOAD) {
            let at = at.key(name).index(k);
            return Err(at.fault(format!("{} must be at most {} in magnitude", at.what(), plain(limits::LOAD))));
        }
        let phase = phases.and_then(|phases| phases.get(k));
        let phase = phase.map_or(Ok(0.0), |phase| angle(&at.key(phase_name).index(k), phase))?;
        *sinusoid = Sinusoid::new(amplitude, phase);
    }
    Ok(sinusoids)
}

fn motion(
    reader: &Reader,
    at: &At,
    table: &MotionTable,
    start: &Start,
    body: &BodyTable,
) -> Result<ExpressionMotion, Fault> {
    let foreign: &[&str] = if reader.planar() { &["z", "axis"] } else { &[] };
    if let Some(field) = foreign.iter().find(|field| at.key(field).exists()) {
        return Err(reader.only_in(&at.key(field), &format!("`{field}`"), "leave it out"));
    }
    // A coordinate that the body also gives must agree with the motion at t = 0.
    let coordinate = |field: &'static str, scalar: &Option<_>, given: f64, stated: Option<&str>| {
        let Some(scalar) = scalar else { return Ok(Expression::constant(given)) };
        let at = at.key(field);
        let expression = reader.scalar(&at, scalar, limits::LENGTH)?;
        let begins = expression.value(0.0);
        match stated {
            Some(stated) if (begins - given).abs() > SAME_START * given.abs().max(1.0) => {
                let (begins, given) = (plain(begins), plain(given));
                let what = at.what();
                let message = format!("{what} starts at {begins}, but the body's `{stated}` says {given}");
                Err(at.fault(message).hint("keep one of the two, or let them agree at t = 0"))
            }
            _ => Ok(expression),
        }
    };
    let stated = body.position.as_ref().map(|_| "position");
    let [x, y, z] = start.position.into();
    let position = [
        coordinate("x", &table.x, x, stated)?,
        coordinate("y", &table.y, y, stated)?,
        coordinate("z", &table.z, z, stated)?,
    ];
    let turning = coordinate("angle", &table.angle, start.angle, body.angle.as_ref().map(|_| "angle"))?;
    if reader.planar() {
        let [x, y, _] = position;
        return Ok(ExpressionMotion::planar(x, y, turning));
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
