//! Prescribed surfaces that pass through another shape within a step.   [STEP-20]
//!
//! Gaps are those with prescribed bodies at their end poses. A plate that moves by more than its thickness and that of what it hits is beyond it then, and its
//! contact would push to the wrong side. Such contacts have the geometry of the start of the step, and the gap at the end from the motion along its normal.

use nalgebra::Vector3;
use stiction_geometry::{ContactPoint, chains};
use stiction_multibody::BodyId;

use crate::Workspace;

/// Largest product of two normals that point to opposite sides. Dimensionless: it is the cosine of 120°. Where a corner or a ball goes around another one, such as
/// the tip of a follower over the tooth of a gear, the normal turns by less.
const OPPOSITE: f64 = -0.5;

/// Replaces the contact points at the end of the step by those at its start if the prescribed surface has passed through; true if it has.
///
/// It has if all contacts at the end are opposite to the one at the start whose gap is used up first by the motion along its normal. `margin` is that of the
/// gaps at the end.
pub(crate) fn take_passed(
    points: &mut Vec<ContactPoint>,
    points_start: &[ContactPoint],
    margin: f64,
    advance: impl Fn(&ContactPoint) -> f64,
) -> bool {
    let part = |at: &ContactPoint| at.gap.max(0.0) / advance(at).abs().max(f64::MIN_POSITIVE);
    // Alternatives at a corner are apart if one of them is: the last one decides.
    let used_up = chains(points_start).filter(|chain| chain.iter().all(|at| at.gap + advance(at) < 0.0));
    let last = used_up.filter_map(|chain| chain.iter().max_by(|a, b| part(a).total_cmp(&part(b))));
    let Some(first) = last.min_by(|a, b| part(a).total_cmp(&part(b))) else { return false };
    if points.iter().any(|end| end.normal.dot(&first.normal) > OPPOSITE) {
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
