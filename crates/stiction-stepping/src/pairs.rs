//! Broad phase: poses and bounding boxes of all shapes, and the pairs whose boxes overlap.

use stiction_geometry::{Pose, Shape, broad_phase::Aabb};
use stiction_multibody::{BodyId, BodyKind, Configuration, Model};

use crate::{
    Detector, Margin, Scheme, Workspace,
    surface_motion::is_kinematic,
    workspace::{Detection, StepKinematics},
};

/// Finds the pairs of shapes whose boxes, enlarged by the reach of their bodies, overlap.
pub(crate) fn find_pairs(model: &Model, scheme: &Scheme, detector: &mut dyn Detector, ws: &mut Workspace) {
    let widest = widest_margin(model, scheme);
    let nothing_is_prescribed = model.kinematic_bodies().is_empty();
    let is_fixed = |id| model.body(id).is_some_and(|body| matches!(body.kind, BodyKind::Fixed));
    let Detection { reach, shape_poses, boxes, pairs, .. } = &mut ws.detection;
    let StepKinematics { linear_start, linear_end, .. } = &ws.kinematics;
    place_shapes(model, linear_end, shape_poses);
    bound_shapes(model, shape_poses, boxes, |body, shape, pose| {
        // Prescribed bodies may have moved away and still count where they were; but they never meet fixed ones.
        let extent = if nothing_is_prescribed || is_fixed(body) { shape.extent(pose) } else { shape.aabb(pose) };
        let extent = if is_kinematic(model, body) {
            // Their surfaces may pass through others on their way from the start of the step.   [STEP-20]
            let from = linear_start.pose(body) * linear_end.pose(body).inverse() * pose;
            extent.zip(shape.aabb(&from)).map(|(end, start)| end.union(&start))
        } else {
            extent
        };
        let grow = widest + reach.get(body.index()).copied().unwrap_or(0.0);
        extent.map(|aabb| aabb.padded(grow))
    });
    detector.pairs(boxes, &|i, j| model.shapes_may_collide(i, j), pairs);
}

/// Finds the pairs of shapes whose boxes overlap at the end of the step.
pub fn find_pairs_at_end(model: &Model, scheme: &Scheme, detector: &mut dyn Detector, ws: &mut Workspace) {
    let Detection { shape_poses, boxes, pairs, .. } = &mut ws.detection;
    place_shapes(model, &ws.result.end, shape_poses);
    bound_shapes(model, shape_poses, boxes, |_, shape, pose| {
        // Rounding of boxes must not decide on which side of a plane a shape is.
        shape.aabb(pose).or_else(|| shape.extent(pose).map(|extent| extent.padded(scheme.touch_threshold)))
    });
    detector.pairs(boxes, &|i, j| model.shapes_may_collide(i, j), pairs);
}

/// Computes the poses of all shapes.
pub fn place_shapes(model: &Model, at: &Configuration, poses: &mut Vec<Pose>) {
    poses.resize(model.shape_count(), Pose::identity());
    for (pose, (_, body, shape)) in poses.iter_mut().zip(model.shapes()) {
        *pose = at.poses().get(body.index()).map_or_else(Pose::identity, |body| body * shape.local);
    }
}

/// Computes the boxes of all shapes at their poses.
fn bound_shapes(
    model: &Model,
    poses: &[Pose],
    boxes: &mut Vec<Option<Aabb>>,
    bounds: impl Fn(BodyId, &Shape, &Pose) -> Option<Aabb>,
) {
    boxes.resize(model.shape_count(), None);
    for (place, ((_, body, shape), pose)) in boxes.iter_mut().zip(model.shapes().zip(poses)) {
        *place = bounds(body, &shape.shape, pose);
    }
}

/// Largest margin of any pair, besides the reach of its bodies.
fn widest_margin(model: &Model, scheme: &Scheme) -> f64 {
    let fixed = if let Margin::Fixed(margin) = scheme.margin { margin } else { scheme.touch_threshold };
    model.widest_margin().map_or(fixed, |widest| widest.max(fixed))
}
