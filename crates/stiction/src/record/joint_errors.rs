//! Joint errors that are large against the bodies that a joint connects.

use serde::{Deserialize, Serialize};
use stiction_multibody::{BodyId, Configuration, Joint, JointKind, Model};

/// Joint error from which a run has a warning, as a fraction of the size of the joined bodies, or in rad.
///
/// What an eye sees in a picture of a mechanism. At a tenth, the steps of first order of a fast linkage would warn; at ten times, bodies
/// are visibly apart without a warning.
pub const JOINT_WARNING_FRACTION: f64 = 0.01;

/// Largest joint error of the steps of a run, relative to the bodies, if it is a warning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LargeJointError {
    /// Name of the joint.
    pub joint: String,
    /// Its largest error, m or rad.
    pub error: f64,
    /// This error as a fraction of the size of the smaller of the joined bodies, or of a radian; a warning from 0.01 on.
    pub fraction: f64,
    /// Step with that error.
    pub at_step: u64,
}

impl LargeJointError {
    /// The joint with the largest relative error at a configuration, if it is a warning.
    pub(crate) fn at(model: &Model, at: &Configuration, step: u64) -> Option<Self> {
        let of_joint = |joint: &Joint| {
            let length = size(model, joint);
            let relative = joint.evaluate(at).map(|row| {
                let is_length = row.b.linear.norm_squared() > 0.0;
                let error = row.value.abs();
                (error, if is_length { error / length } else { error })
            });
            relative.max_by(|(_, a), (_, b)| a.total_cmp(b))
        };
        let errors = model.joints().iter().filter_map(|joint| Some((joint, of_joint(joint)?)));
        let (joint, (error, fraction)) = errors.max_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b))?;
        (fraction >= JOINT_WARNING_FRACTION).then(|| Self { joint: joint.name.clone(), error, fraction, at_step: step })
    }
}

/// Size of the smaller of the moving bodies of a joint, m: the radius of its shapes or the arm of the joint, whichever is larger, or the length of a
/// distance joint between points without either. Without any length there is no scale, and the size is infinite.
fn size(model: &Model, joint: &Joint) -> f64 {
    let of_body = |(id, arm): (BodyId, f64)| {
        let body = model.body(id).filter(|body| body.mobility().is_some())?;
        Some(body.radius().max(arm)).filter(|length| *length > 0.0)
    };
    let arms = [&joint.a, &joint.b].map(|(id, frame)| (*id, frame.translation.vector.norm()));
    let of_bodies = arms.into_iter().filter_map(of_body).fold(f64::INFINITY, f64::min);
    match joint.kind {
        JointKind::Distance(length) if of_bodies.is_infinite() => length,
        _ => of_bodies,
    }
}

#[cfg(test)]
mod tests {
    use stiction_geometry::{Dimension, Pose, planar};
    use stiction_multibody::{BodyBuilder, ModelBuilder};

    use super::*;

    /// A disc of 0.5 m on a hinge that is open by `error`, m.
    fn seen(error: f64) -> Option<LargeJointError> {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        let disc = BodyBuilder::planar("disc", 1.0, 0.1).shape(planar::Shape::disc(0.5).unwrap().into());
        let disc = builder.body(disc).unwrap();
        let frames = ((BodyId::WORLD, Pose::translation(error, 0.0, 0.0)), (disc, Pose::identity()));
        builder.joint("hinge", JointKind::Revolute, frames.0, frames.1).unwrap();
        let model = builder.build().unwrap();
        let state = model.initial_state();
        let mut at = Configuration::default();
        at.update(&model, &state.q, &state.v, 0.0);
        LargeJointError::at(&model, &at, 7)
    }

    #[test]
    fn errors_count_against_the_size_of_the_body() {
        assert_eq!(seen(0.004), None);
        let large = seen(-0.02).unwrap();
        assert_eq!((large.joint.as_str(), large.at_step), ("hinge", 7));
        assert!((large.fraction - 0.04).abs() < 1e-12 && (large.error - 0.02).abs() < 1e-12, "{large:?}");
    }
}
