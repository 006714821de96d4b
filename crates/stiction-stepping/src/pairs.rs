//! Which pairs of shapes may meet: where all shapes are, their boxes, and the boxes that overlap.

use stiction_geometry::{Pose, Shape, broad_phase::Aabb};
use stiction_multibody::{BodyId, BodyKind, Configuration, Model};

use crate::{Detector, Margin, Scheme, Workspace};

/// Pairs of shapes whose boxes, grown by the reach of their bodies, overlap.
pub(crate) fn find_pairs(model: &Model, scheme: &Scheme, detector: &mut dyn Detector, ws: &mut Workspace) {
    let widest = widest_margin(model, scheme);
    let nothing_is_prescribed = model.kinematic_bodies().is_empty();
    let is_fixed = |id| model.body(id).is_some_and(|body| matches!(body.kind, BodyKind::Fixed));
    let Workspace { reach, linear_end, shape_poses, boxes, pairs, .. } = ws;
    place_shapes(model, linear_end, shape_poses);
    bound_shapes(model, shape_poses, boxes, |body, shape, pose| {
        // What is prescribed may have left, and still counts where it was; but it never meets what is fixed.
        let extent = if nothing_is_prescribed || is_fixed(body) { shape.extent(pose) } else { shape.aabb(pose) };
        let grow = widest + reach.get(body.index()).copied().unwrap_or(0.0);
        extent.map(|aabb| aabb.padded(grow))
    });
    detector.pairs(boxes, &|i, j| model.shapes_may_collide(i, j), pairs);
}

/// Pairs of shapes whose boxes overlap at the end of the step.
pub(crate) fn find_pairs_at_end(model: &Model, scheme: &Scheme, detector: &mut dyn Detector, ws: &mut Workspace) {
    let Workspace { end, shape_poses, boxes, pairs, .. } = ws;
    place_shapes(model, end, shape_poses);
    bound_shapes(model, shape_poses, boxes, |_, shape, pose| {
        // Whether something is just below a plane or just above it is not decided by the rounding of boxes.
        shape.aabb(pose).or_else(|| shape.extent(pose).map(|extent| extent.padded(scheme.touch_threshold)))
    });
    detector.pairs(boxes, &|i, j| model.shapes_may_collide(i, j), pairs);
}

/// Poses of all shapes.
pub(crate) fn place_shapes(model: &Model, at: &Configuration, poses: &mut Vec<Pose>) {
    poses.resize(model.shape_count(), Pose::identity());
    for (pose, (_, body, shape)) in poses.iter_mut().zip(model.shapes()) {
        *pose = at.poses().get(body.index()).map_or_else(Pose::identity, |body| body * shape.local);
    }
}

/// Boxes of all shapes at their poses.
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

/// The widest margin any pair asks for beyond its reach.
fn widest_margin(model: &Model, scheme: &Scheme) -> f64 {
    let fixed = if let Margin::Fixed(margin) = scheme.margin { margin } else { scheme.touch_threshold };
    model.widest_margin().map_or(fixed, |widest| widest.max(fixed))
}
