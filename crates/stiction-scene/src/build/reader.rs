//! Places in the document and their values.

use std::ops::Range;

use nalgebra::{UnitQuaternion, Vector3};
use stiction_multibody::{Dimension, Expression, ModelError, Pose, limits, rotation};

use crate::{
    document::{Document, Step, Value},
    error::Fault,
    file::{Angle, Orientation, OrientationTable, Scalar, ScalarVector, SceneFile, Vector},
    numbers::{moment, plain},
};

/// A place in the document, for error messages.
#[derive(Clone)]
pub(super) struct At<'d> {
    document: &'d Document,
    path: Vec<Step<'d>>,
}

impl<'d> At<'d> {
    pub(super) fn root(document: &'d Document) -> Self {
        Self { document, path: Vec::new() }
    }

    pub(super) fn key(&self, key: &'d str) -> Self {
        self.then(Step::Key(key))
    }

    pub(super) fn index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    fn then(&self, step: Step<'d>) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self { document: self.document, path }
    }

    /// True if the file has a value there.
    pub(super) fn exists(&self) -> bool {
        self.document.find(&self.path).is_some()
    }

    /// Returns the key of the value there, for messages.
    fn name(&self) -> &'d str {
        let keys = self.path.iter().rev().filter_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Index(_) => None,
        });
        keys.into_iter().next().unwrap_or("scene")
    }

    /// Returns the key with its element: `` `mass` of body "rod" ``.
    pub(super) fn what(&self) -> String {
        let name = self.name();
        match self.owner() {
            Some(owner) => format!("`{name}` of {owner}"),
            None => format!("`{name}`"),
        }
    }

    /// Returns the body, joint, … that contains this place, by name or by number in the file.
    pub(super) fn owner(&self) -> Option<String> {
        let [Step::Key(list), Step::Index(index), ..] = self.path.as_slice() else { return None };
        let name = self.document.find(&[Step::Key(list), Step::Index(*index), Step::Key("name")]);
        Some(match name.map(|node| &node.value) {
            Some(Value::Text(name)) => format!("{list} \"{name}\""),
            _ => format!("{list} {index}"),
        })
    }

    fn span(&self) -> Range<usize> {
        self.document.place(&self.path)
    }

    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.span(), message)
    }

    /// Returns an error of the model about a key of the table at this place.
    pub(super) fn model_error(&self, error: &ModelError) -> Fault {
        let field = match error.field {
            "point" if self.key("points").exists() => "points",
            field => field,
        };
        let path: Vec<_> = self.path.iter().copied().chain(std::iter::once(Step::Key(field))).collect();
        Fault::new(self.document.place(&path), error.to_string())
    }

    /// Returns an error about one byte of the text at this place.
    fn fault_inside(&self, text: &str, byte: usize, message: impl Into<String>) -> Fault {
        let span = self.span();
        // Two bytes longer than its content: a string in plain quotes. Equally long: a bare value of an override.
        let start = match span.len().checked_sub(text.len()) {
            Some(2) => span.start + 1 + byte,
            Some(0) => span.start + byte,
            _ => return Fault::new(span, message),
        };
        Fault::new(start..(start + 1).min(span.end), message)
    }
}

/// Reads values in the dimension of the scene.
pub(super) struct Reader {
    pub(super) dimension: Dimension,
    decided_by: String,
    duration: f64,
}

impl Reader {
    /// Finds the dimension: from `simulation.dimension`, else from the first position or support, else from gravity.
    pub(super) fn new(file: &SceneFile, root: &At, duration: f64) -> Result<Self, Fault> {
        let positions = file.body.iter().filter_map(|body| Some((body.position.as_ref()?.0.len(), body.name.as_str())));
        let first =
            positions.map(|(length, name)| (length, format!("body \"{name}\" has a position of {length}"))).next();
        let supported = file.body.iter().find(|body| body.support.is_some());
        let supported = supported.map(|body| (2, format!("body \"{}\" has a support", body.name)));
        let gravity = file.simulation.gravity.as_ref().map(|g| (g.0.len(), "gravity decides".to_owned()));
        let stated = file.simulation.dimension.map(|d| (d as usize, "`simulation.dimension` says so".to_owned()));
        let Some((length, decided_by)) = stated.or(first).or(supported).or(gravity) else {
            let fault = root
                .key("simulation")
                .fault("the dimension of the scene is not determined by any position, support or gravity");
            return Err(fault.hint("add `dimension = 2` or `dimension = 3` to [simulation]"));
        };
        let dimension = if length == 2 { Dimension::Planar } else { Dimension::Spatial };
        Ok(Self { dimension, decided_by, duration })
    }

    pub(super) fn planar(&self) -> bool {
        self.dimension == Dimension::Planar
    }

    /// Returns the unit vector against gravity.
    pub(super) fn up(&self) -> Vector3<f64> {
        if self.planar() { Vector3::y() } else { Vector3::z() }
    }

    /// Returns the error "… exists only in the plane", with the reason why the scene is in space, or vice versa.
    pub(super) fn only_in(&self, at: &At, what: &str, instead: &str) -> Fault {
        let (other, here) = if self.planar() { ("space", "in the plane") } else { ("the plane", "in space") };
        at.fault(format!("{what} exists only in {other}, but the scene is {here}: {}", self.decided_by)).hint(instead)
    }

    fn components<T: Clone>(&self, at: &At, values: &[T], zero: T) -> Result<[T; 3], Fault> {
        match (self.dimension, values) {
            (Dimension::Planar, [x, y]) => Ok([x.clone(), y.clone(), zero]),
            (Dimension::Spatial, [x, y, z]) => Ok([x.clone(), y.clone(), z.clone()]),
            (dimension, _) => {
                let planar = dimension == Dimension::Planar;
                let (here, wanted) = if planar { ("in the plane", "give two") } else { ("in space", "give three") };
                let (name, count, why) = (at.name(), values.len(), &self.decided_by);
                Err(at.fault(format!("`{name}` has {count} components, but the scene is {here}: {why}")).hint(wanted))
            }
        }
    }

    pub(super) fn vector(&self, at: &At, vector: &Vector) -> Result<Vector3<f64>, Fault> {
        self.components(at, &vector.0, 0.0).map(Vector3::from)
    }

    /// Reads gravity. In the plane it may have a third component, which presses bodies onto their supports.
    pub(super) fn gravity(&self, at: &At, gravity: &Vector) -> Result<Vector3<f64>, Fault> {
        match gravity.0.as_slice() {
            &[x, y, z] => Ok(Vector3::new(x, y, z)),
            _ => self.vector(at, gravity),
        }
    }

    pub(super) fn optional_vector(&self, at: &At, vector: Option<&Vector>) -> Result<Vector3<f64>, Fault> {
        vector.map_or(Ok(Vector3::zeros()), |vector| self.vector(at, vector))
    }

    /// Reads a pose in the frame of a body: position, and an angle in the plane or an orientation in space.
    pub(super) fn local_pose(
        &self,
        at: &At,
        position: Option<&Vector>,
        turned: (Option<&Angle>, Option<&Orientation>),
    ) -> Result<Pose, Fault> {
        let position = self.optional_vector(&at.key("position"), position)?;
        let rotation = match turned {
            (None, None) => rotation::planar(0.0),
            (Some(value), None) if self.planar() => rotation::planar(angle(&at.key("angle"), value)?),
            (Some(_), None) => return Err(self.only_in(&at.key("angle"), "an angle", "give an `orientation`")),
            (_, Some(orientation)) => {
                let at = at.key("orientation");
                unit_quaternion(&at, self.orientation(&at, orientation)?)?.to_rotation_matrix()
            }
        };
        Ok(Pose::from_parts(position.into(), rotation))
    }

    /// Reads components that may be expressions, each at most `limit` in magnitude.
    pub(super) fn scalars(&self, at: &At, vector: &ScalarVector, limit: f64) -> Result<[Expression; 3], Fault> {
        let scalars = vector.0.iter().enumerate().map(|(index, scalar)| self.scalar(&at.index(index), scalar, limit));
        let scalars: Vec<_> = scalars.collect::<Result<_, _>>()?;
        self.components(at, &scalars, Expression::constant(0.0))
    }

    /// Reads a number or an expression, at most `limit` in magnitude at all sample times.
    pub(super) fn scalar(&self, at: &At, scalar: &Scalar, limit: f64) -> Result<Expression, Fault> {
        let expression = match scalar {
            Scalar::Number(number) => Expression::constant(*number),
            Scalar::Expression(text) => {
                Expression::parse(text).map_err(|error| at.fault_inside(text, error.at, error.reason))?
            }
        };
        for t in self.sample_times() {
            let value = expression.value(t);
            if !within(value, limit) {
                let (what, most, value, t) = (at.what(), plain(limit), plain(value), moment(t));
                let message =
                    format!("{what} must be finite and at most {most} in magnitude, but is {value} at t = {t}");
                return Err(at.fault(message));
            }
        }
        Ok(expression)
    }

    /// Times at which expressions are checked: enough to find one that diverges for good.
    pub(super) fn sample_times(&self) -> impl Iterator<Item = f64> + use<> {
        const INTERVALS: u32 = 64;
        let duration = self.duration;
        (0..=INTERVALS).map(move |k| duration * f64::from(k) / f64::from(INTERVALS))
    }

    /// Reads an orientation in space, as a quaternion.
    pub(super) fn orientation(&self, at: &At, orientation: &Orientation) -> Result<[f64; 4], Fault> {
        if self.planar() {
            return Err(self.only_in(at, "an orientation", "give an `angle`"));
        }
        let table = match orientation {
            Orientation::Quaternion(quaternion) => return Ok(*quaternion),
            Orientation::Angles(table) => table,
        };
        let e = match table {
            OrientationTable { roll_pitch_yaw: Some(angles), body_123: None, axis: None, angle: None } => {
                rotation::from_roll_pitch_yaw(three_angles(&at.key("roll_pitch_yaw"), angles)?)
            }
            OrientationTable { roll_pitch_yaw: None, body_123: Some(angles), axis: None, angle: None } => {
                rotation::from_body_123(three_angles(&at.key("body_123"), angles)?)
            }
            OrientationTable { roll_pitch_yaw: None, body_123: None, axis: Some(axis), angle: Some(turn) } => {
                let axis = direction(&at.key("axis"), Vector3::from(*axis))?;
                rotation::from_rotation_vector(&(axis * angle(&at.key("angle"), turn)?))
            }
            _ => {
                return Err(at
                    .fault(format!("`{}` must be given in exactly one way", at.name()))
                    .hint("`roll_pitch_yaw`, or `body_123`, or `axis` with `angle`"));
            }
        };
        Ok([e.w, e.i, e.j, e.k])
    }
}

fn three_angles(at: &At, angles: &[Angle; 3]) -> Result<[f64; 3], Fault> {
    let [a, b, c] = angles;
    Ok([angle(&at.index(0), a)?, angle(&at.index(1), b)?, angle(&at.index(2), c)?])
}

/// Returns an angle in radians.
pub(super) fn angle(at: &At, value: &Angle) -> Result<f64, Fault> {
    let radians = value.radians().ok_or_else(|| {
        at.fault(format!("`{}` is an angle written as text and needs its unit", at.name()))
            .hint("such as \"30 deg\" or \"0.5 rad\"")
    })?;
    if within(radians, limits::LENGTH) {
        return Ok(radians);
    }
    let message = format!("{} must be an angle, at most {} in magnitude", at.what(), plain(limits::LENGTH));
    Err(at.fault(message).hint("such as \"30 deg\""))
}

/// True if the magnitude is at most `limit`; false for NaN.
pub(super) fn within(value: f64, limit: f64) -> bool {
    value.abs() <= limit
}

/// Returns the vector scaled to length 1.
pub(super) fn direction(at: &At, vector: Vector3<f64>) -> Result<Vector3<f64>, Fault> {
    let length = vector.norm();
    if (limits::DIRECTION..=limits::LENGTH).contains(&length) {
        return Ok(vector / length);
    }
    let [least, most, length] = [limits::DIRECTION, limits::LENGTH, length].map(plain);
    Err(at.fault(format!("{} must be a direction of length {least} to {most}, but has length {length}", at.what())))
}

/// Returns the rotation of a quaternion of any norm; the model refuses a norm far from 1.
pub(super) fn rotation_of([w, x, y, z]: [f64; 4]) -> UnitQuaternion<f64> {
    let q = nalgebra::Quaternion::new(w, x, y, z);
    UnitQuaternion::try_new(q, limits::DIRECTION).unwrap_or_else(UnitQuaternion::identity)
}

/// Returns a unit quaternion, or an error.
pub(super) fn unit_quaternion(at: &At, quaternion: [f64; 4]) -> Result<UnitQuaternion<f64>, Fault> {
    let norm = nalgebra::Vector4::from(quaternion).norm();
    if (norm - 1.0).abs() <= limits::QUATERNION_SLACK {
        return Ok(rotation_of(quaternion));
    }
    let (what, norm) = (at.what(), plain(norm));
    Err(at.fault(format!("{what} must be a unit quaternion [w, x, y, z], but its norm is {norm}")))
}
