//! Speed at which open joints close.   [STAB-9]

use nalgebra::Vector3;
use stiction_multibody::{Configuration, Joint, JointKind, joint::Row};

use crate::ClosingSpeed;

/// Largest angle of a body in a step, rad, that counts as motion which the step resolves. Drift of faster motion grows without bound; at a
/// tenth of it, joints of bodies that turn by a radian in a step open.
const RESOLVED_TURN: f64 = 1.0;

/// Largest number of rows of a joint.
const MAX_ROWS: usize = 6;

/// Rates γ (1 − s) Φ/h of the part of a joint error that is left for later steps, row by row. A step removes the fraction s for which γ s |Φ|/h is at most the
/// closing speed and the drift of a step.   [STAB-9]
pub(crate) fn postponed_rates(
    joint: &Joint,
    at: &Configuration,
    (gamma, h): (f64, f64),
    speed: ClosingSpeed,
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
    let [linear, angular] = [linear, angular].map(|squares: f64| gamma * squares.sqrt() / h);
    if linear <= speed.linear && angular <= speed.angular {
        return rates;
    }
    let drift = Drift::of(joint, at, h);
    let kept = |rate: f64, bound: f64| if rate > bound { 1.0 - bound / rate } else { 0.0 };
    let (linear, angular) = (kept(linear, speed.linear + drift.linear), kept(angular, speed.angular + drift.angular));
    debug_assert!(joint.rows() <= MAX_ROWS, "a joint removes at most {MAX_ROWS} degrees of freedom");
    for (rate, row) in rates.iter_mut().zip(joint.evaluate(at)) {
        *rate = gamma * if is_linear(&row) { linear } else { angular } * row.value / h;
    }
    rates
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
    /// ½ h |Φ̈| at constant velocities of the bodies: the remainder of Taylor's formula.   [STAB-9]
    fn of(joint: &Joint, at: &Configuration, h: f64) -> Self {
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
        Self { linear: 0.5 * h * linear, angular: 0.5 * h * turn * turn }
    }
}
