//! Speed at which open joints close and overlapping bodies separate.   [STAB-9] [STAB-13]

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{BodyId, Configuration, Joint, JointKind, Pose, Twist, joint::Row};

use crate::{ClosingSpeed, Contact, JointRow, LineariseAt, Start, Workspace};

/// Largest angle of a body in a step, rad, that counts as motion which the step resolves. Drift of faster motion grows without bound; at a
/// tenth of it, joints of bodies that turn by a radian in a step open.
const RESOLVED_TURN: f64 = 1.0;

/// Largest angle of an anchor of a loop joint about its body in a step, rad. The rows at the start of the step err by half its square, 3% of the arm. At four
/// times as much, light links that whirl between two joints gain energy; at a tenth, linkages of ordinary speed are halved.
const LOOP_TURN: f64 = 0.25;

/// Largest error of directions, rad, for which the sine of an angle counts as the angle. The closing speed is larger by 0.5% at most.
const SMALL_ERROR: f64 = 0.1;

/// Weight that determines rotations which a joint allows, against 1 of those that it does not allow: rounding stays below 1e-4 of the angle.
const REGULARISATION: f64 = 1e-12;

/// Least rate at which an error from the start closes, as a fraction of the closing speed. Such errors close at half of it or more.
const SLOWEST_CLOSING: f64 = 0.25;

/// Relative difference up to which two speeds are the same.
const SAME_SPEED: f64 = 1e-9;

/// Largest number of rows of a joint.
const MAX_ROWS: usize = 6;

/// Deferred correction γ (1 − s) Φ/h, row by row: rates of the part of a joint error that is left for later steps. A step removes the fraction s for which γ s |Φ|/h is at most the
/// closing speed and the drift of a step. `later` has the twists of the bodies after a step of the forest at constant velocities; none if the unknowns are
/// those of the bodies.   [STAB-9]
pub(crate) fn deferred_rates<'l>(
    joint: &Joint,
    at: &Configuration,
    (gamma, h): (f64, f64),
    speed: ClosingSpeed,
    later: impl FnOnce() -> Option<&'l Configuration>,
) -> [f64; MAX_ROWS] {
    let mut rates = [0.0; MAX_ROWS];
    if speed == ClosingSpeed::UNBOUNDED || gamma == 0.0 {
        return rates;
    }
    let (mut linear, mut angular) = (0.0, 0.0);
    for row in joint.evaluate(at) {
        let sum = if is_linear(&row) { &mut linear } else { &mut angular };
        *sum += row.value * row.value;
    }
    let [linear, angular] = [linear, angular].map(|squares: f64| squares.sqrt());
    // Of small errors the rate is that of the rotation.
    let turn = if angular <= SMALL_ERROR { angular } else { rotation_to_close(joint, at) };
    let [linear, angular] = [linear, turn].map(|error| gamma * error / h);
    if linear <= speed.linear && angular <= speed.angular {
        return rates;
    }
    let drift = Drift::of(joint, (at, later()), h);
    let kept = |rate: f64, bound: f64| if rate > bound { 1.0 - bound / rate } else { 0.0 };
    let (linear, angular) = (kept(linear, speed.linear + drift.linear), kept(angular, speed.angular + drift.angular));
    debug_assert!(joint.rows() <= MAX_ROWS, "a joint removes at most {MAX_ROWS} degrees of freedom");
    for (rate, row) in rates.iter_mut().zip(joint.evaluate(at)) {
        *rate = gamma * if is_linear(&row) { linear } else { angular } * row.value / h;
    }
    rates
}

/// Deferred correction of an overlap that the gap weight would open at the rate `wanted`: what exceeds the closing speed and the drift of a
/// step, which is the change of the gap by the curvature of paths and shapes, ½ h (Σ ω² R + v²/R). Implicit steps know the gap at the end, and defer nothing.   [STAB-13]
pub(crate) fn deferred_overlap_rate(start: &Start, contact: &Contact, wanted: f64, at: &Configuration) -> f64 {
    let speed = start.scheme.joint_closing_speed.overlap;
    if wanted <= speed || start.scheme.linearise_at == LineariseAt::Implicit {
        return 0.0;
    }
    let bodies = [contact.a, contact.b].map(|id| (at.twist(id), start.model.radius(id)));
    let turning: f64 = bodies.iter().map(|(twist, radius)| twist.angular.norm_squared() * radius).sum();
    let approach = (bodies[0].0.linear - bodies[1].0.linear).norm_squared();
    let smallest =
        bodies.iter().map(|(_, radius)| *radius).filter(|radius| *radius > 0.0).fold(f64::INFINITY, f64::min);
    (wanted - speed - 0.5 * start.h * (turning + approach / smallest)).max(0.0)
}

/// True if no body at the joint of a loop turns by more than [`LOOP_TURN`] in the step. Turning about a line through the anchor does not count.   [STAB-9]
pub(crate) fn resolves_loops(start: &Start, ws: &Workspace) -> bool {
    let is_resolved = |(body, anchor): (BodyId, &Pose)| {
        [&ws.kinematics.start, &ws.result.end].into_iter().all(|at| {
            let arm = at.pose(body).rotation * anchor.translation.vector;
            start.h * at.twist(body).angular.cross(&arm).norm() <= LOOP_TURN * arm.norm()
        })
    };
    let joints = start.model.forest().loops().iter().filter_map(|id| start.model.joint(*id));
    joints.flat_map(|joint| [(joint.a.0, &joint.a.1), (joint.b.0, &joint.b.1)]).all(is_resolved)
}

/// Angle of the smallest rotation that removes the linearised errors of direction, rad: tan θ for an axis that is off by θ, because the rate of sin θ is
/// cos θ times that of θ.
fn rotation_to_close(joint: &Joint, at: &Configuration) -> f64 {
    let (mut normal, mut right) = (Matrix3::zeros(), Vector3::zeros());
    for row in joint.evaluate(at).filter(|row| !is_linear(row)) {
        normal += row.b.angular * row.b.angular.transpose();
        right += row.b.angular * row.value;
    }
    // The rotations that the joint allows are not determined: a small multiple of one makes the matrix regular.
    normal += Matrix3::from_diagonal_element(REGULARISATION);
    normal.try_inverse().map_or(f64::INFINITY, |inverse| (inverse * right).norm())
}

/// True if the error of a joint closes so slowly that steps have left it, and not the start.   [STAB-10]
pub(crate) fn is_drift(start: &Start, row: &JointRow) -> bool {
    let speed = start.scheme.joint_closing_speed;
    let is_linear = row.b.linear != Vector3::zeros() || row.a.linear != Vector3::zeros();
    let most = SLOWEST_CLOSING * if is_linear { speed.linear } else { speed.angular };
    start.state.step > 0 && most.is_finite() && (row.bias - row.prescribed).abs() <= most
}

/// Rates at which the error of a joint-space constraint closes.   [STAB-9]
#[derive(Clone, Copy)]
pub(crate) struct ClosingBound {
    /// Closing speed.
    speed: f64,
    /// Largest rate that removes the drift of a step.
    drift: f64,
}

impl ClosingBound {
    /// Bound of a constraint along a DOF, if a step leaves its error with this `drift`, as a rate.
    pub(crate) fn new(speed: ClosingSpeed, is_angle: bool, drift: f64) -> Self {
        Self { speed: if is_angle { speed.angular } else { speed.linear }, drift }
    }

    /// Rate at which an error closes that would close at the rate `wanted` without a bound. The last two steps are at half of the closing speed or more,
    /// so that they can be told from the removal of drift.
    pub(crate) fn rate(&self, wanted: f64) -> f64 {
        let (size, most) = (wanted.abs(), self.speed + self.drift);
        let bounded = if size <= most * (1.0 + SAME_SPEED) { size } else { most.min(0.5 * size) };
        bounded.copysign(wanted)
    }

    /// True if the mechanism started with this error: it was there before the first step, or closes faster than drift does.
    pub(crate) fn is_closing(&self, error: f64, wanted: f64, start: &Start) -> bool {
        let least = if start.state.step == 0 { 0.0 } else { SLOWEST_CLOSING * self.speed + self.drift };
        self.speed < f64::INFINITY && error > start.scheme.touch_threshold && wanted.abs() > least
    }
}

/// Bound on the rate γ Φ/h of the error in a coordinate of a joint that a step of the bodies makes.   [STAB-9]
pub(crate) fn coordinate_drift(joint: &Joint, at: &Configuration, is_angle: bool, h: f64) -> f64 {
    let Drift { linear, angular } = Drift::of(joint, (at, None), h);
    if is_angle { angular } else { linear }
}

/// True for errors of position; rows of directions are torques.
fn is_linear(row: &Row) -> bool {
    row.b.linear != Vector3::zeros()
}

/// Bound on the rates γ Φ/h of the errors that a step at the present velocities makes, because rows are linear and motion is not.
struct Drift {
    linear: f64,
    angular: f64,
}

impl Drift {
    /// ½ h |Φ̈| at constant velocities of the bodies or of the forest: the remainder of Taylor's formula.   [STAB-9]
    fn of(joint: &Joint, (at, later): (&Configuration, Option<&Configuration>), h: f64) -> Self {
        let [(a, of_a), (b, of_b)] = [joint.a, joint.b];
        let (twist_a, twist_b) = (at.twist(a), at.twist(b));
        let [arm_a, arm_b] = [(a, of_a), (b, of_b)].map(|(id, frame)| at.pose(id).rotation * frame.translation.vector);
        let between = at.pose(b).translation.vector + arm_b - at.pose(a).translation.vector - arm_a;
        let arm_a_to_b = arm_a + between;
        let resolved = |rate: f64, of: f64| rate.min(of / h);
        let [turn_a, turn_b] = [twist_a, twist_b].map(|twist| resolved(twist.angular.norm(), RESOLVED_TURN));
        let seen_from_a = twist_b.at(&arm_b) - twist_a.at(&arm_a_to_b);
        let mut linear = turn_b * turn_b * arm_b.norm()
            + turn_a * turn_a * arm_a_to_b.norm().max(arm_a.norm())
            + 2.0 * turn_a * seen_from_a.norm();
        if let JointKind::Distance(_) = joint.kind
            && between != Vector3::zeros()
        {
            let length = between.norm();
            let speed = resolved((twist_b.at(&arm_b) - twist_a.at(&arm_a)).norm(), RESOLVED_TURN * length);
            linear += speed * speed / length;
        }
        let turn = turn_a + turn_b;
        let mut angular = turn * turn;
        // Links swing about their parents: their velocities change although those of the forest do not.
        if let Some(later) = later {
            let change =
                |of: Twist, to: Twist| Twist { linear: to.linear - of.linear, angular: to.angular - of.angular };
            let (change_a, change_b) = (change(twist_a, later.twist(a)), change(twist_b, later.twist(b)));
            linear += (change_b.at(&arm_b) - change_a.at(&arm_a_to_b)).norm() / h;
            angular += (change_b.angular - change_a.angular).norm() / h;
        }
        Self { linear: 0.5 * h * linear, angular: 0.5 * h * angular }
    }
}
