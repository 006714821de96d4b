//! Frames of recordings: x = t + R x̂.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction::Dimension;

use super::{
    FieldError,
    tables::{FrameTable, RotationTable},
};

/// Frame of a recording in the scene.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    dimension: Dimension,
    translation: Vector3<f64>,
    rotation: UnitQuaternion<f64>,
    /// The rotation in the plane, rad.
    angle: f64,
}

impl Frame {
    pub(super) fn new(dimension: Dimension, table: Option<&FrameTable>) -> Result<Self, FieldError> {
        let planar = dimension == Dimension::Planar;
        let mut frame =
            Self { dimension, translation: Vector3::zeros(), rotation: UnitQuaternion::identity(), angle: 0.0 };
        let Some(table) = table else { return Ok(frame) };
        if let Some(translation) = &table.translation {
            let wanted = frame.coordinates();
            if translation.len() != wanted || translation.iter().any(|x| !x.is_finite()) {
                let reason = format!("a translation has {wanted} numbers here");
                return Err(FieldError::new(&["frame", "translation"], reason));
            }
            frame.translation.iter_mut().zip(translation).for_each(|(to, from)| *to = *from);
        }
        let refused = |reason: &str| FieldError::new(&["frame", "rotation"], reason);
        match &table.rotation {
            Some(RotationTable::Angle(angle)) if planar => {
                let angle = angle.radians().filter(|angle| angle.is_finite());
                frame.angle = angle.ok_or_else(|| refused("the rotation is no angle").hint("such as \"90 deg\""))?;
                frame.rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), frame.angle);
            }
            Some(RotationTable::Quaternion([w, x, y, z])) if !planar => {
                let quaternion = Quaternion::new(*w, *x, *y, *z);
                frame.rotation = UnitQuaternion::try_new(quaternion, 1e-6)
                    .ok_or_else(|| refused("the rotation is no quaternion: all its numbers are 0"))?;
            }
            Some(_) if planar => return Err(refused("in the plane a rotation is an angle").hint("such as \"90 deg\"")),
            Some(_) => return Err(refused("in space a rotation is a quaternion: w, x, y, z")),
            None => {}
        }
        Ok(frame)
    }

    /// Coordinates of a position.
    pub(super) fn coordinates(&self) -> usize {
        if self.dimension == Dimension::Planar { 2 } else { 3 }
    }

    /// True if it mixes coordinates.
    pub(super) fn is_turned(&self) -> bool {
        self.rotation != UnitQuaternion::identity()
    }

    /// Position in the scene; if the frame is rotated and a coordinate is missing, all are.
    pub(super) fn position(&self, x: &Vector3<f64>) -> Vector3<f64> {
        if !self.is_turned() {
            return x + self.translation;
        }
        let mut x = *x;
        if self.coordinates() == 2 {
            x.z = 0.0;
        }
        let mut turned = self.rotation * x + self.translation;
        if self.coordinates() == 2 {
            turned.z = f64::NAN;
        }
        turned
    }

    /// An angle in the scene.
    pub(super) fn angle(&self, angle: f64) -> f64 {
        angle + self.angle
    }

    /// An orientation in the scene.
    pub(super) fn quaternion(&self, turned: &UnitQuaternion<f64>) -> UnitQuaternion<f64> {
        self.rotation * turned
    }
}
