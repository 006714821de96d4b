//! Prescribed surfaces that pass through another shape within a step.   [STEP-20]
//!
//! Gaps are those with prescribed bodies at their end poses. A plate that moves by more than its thickness and that of what it hits is beyond it then, and its
//! contact would push to the wrong side. Such contacts have the geometry of the start of the step, and the gap at the end from the motion along its normal.

use nalgebra::Vector3;
use stiction_geometry::ContactPoint;
use stiction_multibody::BodyId;

use crate::Workspace;

/// Replaces the contact points at the end of the step by those at its start if the prescribed surface has passed through; true if it has.
///
/// It has if a gap at the start is used up by the motion along its normal, and no contact at the end is on the same side. `margin` is that of the gaps at the end.
pub(crate) fn take_passed(
    points: &mut Vec<ContactPoint>,
    points_start: &[ContactPoint],
    margin: f64,
    advance: impl Fn(&ContactPoint) -> f64,
) -> bool {
    let is_on_same_side = |at: &ContactPoint| points.iter().any(|end| end.normal.dot(&at.normal) > 0.0);
    if !points_start.iter().any(|at| at.gap + advance(at) < 0.0 && !is_on_same_side(at)) {
        return false;
    }
    let moved = points_start.iter().map(|at| ContactPoint { gap: at.gap + advance(at), ..*at });
    let reached: Vec<_> = moved.filter(|at| at.gap <= margin).collect();
    points.clear();
    points.extend(reached);
    true
}

/// Displacement over the step of the material point of a prescribed body that is at this place at the start.
pub(crate) fn displacement_from(body: BodyId, place: &Vector3<f64>, ws: &Workspace) -> Vector3<f64> {
    let (from, to) = (ws.kinematics.linear_start.pose(body), ws.kinematics.linear_end.pose(body));
    let local = from.rotation.inverse() * (place - from.translation.vector);
    to.translation.vector + to.rotation * local - place
}
