//! Redundant joints that contradict each other (inconsistent constraints): the part of their errors that no motion removes.   [EQ-2]
//!
//! Stabilisation prescribes the rates −γ Φ/h. If joints are redundant, the rates Hᵀ v of all velocities v form a proper subspace, which may not contain
//! them: the errors Φ of a closed loop lie in it to first order only, and in a singular position not at all. The least-squares solution of
//! W r + q = 0 leaves the part u outside of the subspace, so that the joint error h u remains whatever the motion. With q − u instead of q the system
//! is consistent.

use stiction_complementarity::Law;
use stiction_multibody::Model;

use super::{cone::is_equality, redundancy::rates_of_errors};
use crate::{
    Start, Workspace,
    constraints::{Constraints, Source},
    rates::{JointSpaceRow, RowOwner},
};

/// Largest joint error that is left uncorrected because no motion removes it, m or rad.
///
/// Errors of linearisation are of the order h². Placements in a scene that do not fit together are usually off by more: they are typed with digits
/// of this size or larger ones.
const MAX_ERROR: f64 = 1e-3;

/// Largest norm of the joint errors ‖Φ‖ that still counts as drift of a motion, m or rad. Joints that were placed wrongly have larger errors.
const MAX_DRIFT: f64 = 1e-2;

/// Largest rate that almost redundant rows may leave, as a fraction of ‖q‖, the rates of joints without impulses. With prescribed motion the fraction
/// is zero. Dimensionless.
///
/// Rows of an overconstrained loop, such as Bennett's linkage, are redundant up to its relative joint error only, and the rates that they leave grow with
/// that error: with too small a value such steps fail. With a larger value, rows that are redundant in a singular position only are left out over a
/// longer part of the motion past that position.
const NEARLY_REDUNDANT: f64 = 1e-2;

/// Joint error at the level of rounding errors of positions of a metre, m or rad.
const ROUNDING_ERROR: f64 = 1e-14;

/// Hint of a failed step with equalities alone.
pub(super) const HINT: &str =
    "joints contradict each other: no motion satisfies them all; check their placement and the prescribed motions";

/// Hint of a failed step with limits or couplings, and without contacts.
pub(super) const JOINT_SPACE_HINT: &str = "limits, couplings and joints may contradict each other, so that no motion satisfies them all: check `limits` and couplings where the mechanism starts";

/// True for the row of a coupling.
pub(super) fn is_coupling(row: &JointSpaceRow) -> bool {
    matches!(row.owner, RowOwner::Joint(_)) && row.compliance == 0.0 && matches!(row.law, Law::Equality { .. })
}

/// True if the problem has limits or couplings, and no contacts or support points.
pub(super) fn is_of_joint_space_alone(ws: &Workspace) -> bool {
    let Constraints { contacts, support_points, joint_space_rows, .. } = &ws.constraints;
    let is_limit = |row: &JointSpaceRow| matches!(row.law, Law::Bounded { upper, .. } if upper == f64::INFINITY);
    contacts.is_empty()
        && support_points.is_empty()
        && joint_space_rows.iter().any(|row| is_limit(row) || is_coupling(row))
}

/// True if the problem has equalities alone: joints, and equations along joint DOFs such as couplings. It is linear.
pub(super) fn is_of_equalities_alone(ws: &Workspace) -> bool {
    let laws = ws.friction.problem.laws();
    !laws.is_empty() && laws.iter().all(is_equality)
}

/// Rates of a joint, as a fraction of the largest, below which it takes no part in a contradiction. Dimensionless.
const NO_PART: f64 = 1e-3;

/// Names of all joints that contradict each other in a problem of equalities alone; `None` if no joint is left with a rate.   [EQ-2]
///
/// They are the joints in whose rows the least-squares solution leaves rates: no velocity changes these, because they are orthogonal to all Hᵀ v.
pub(super) fn contradicting_joints(model: &Model, ws: &Workspace) -> Option<String> {
    let (problem, solution) = (&ws.friction.problem, &ws.friction.solution);
    if solution.r.len() != problem.rows() {
        return None;
    }
    let (mut rates, mut scratch) = (Vec::new(), Vec::new());
    problem.velocities(&solution.r, &mut rates, &mut scratch);
    let left = |block: usize| {
        let rates = rates.get(problem.range(block)).unwrap_or_default();
        rates.iter().map(|u| u * u).sum::<f64>().sqrt()
    };
    let most = (0..problem.blocks()).map(left).fold(0.0, f64::max);
    let named = ws.constraints.blocks.iter().enumerate().filter(|(block, _)| left(*block) > NO_PART * most);
    let mut names: Vec<&str> = named
        .filter_map(|(_, block)| match block.source {
            Source::Joint(index) => model.joints().get(index),
            Source::JointSpace(row) => match ws.constraints.joint_space_rows.get(row)?.owner {
                RowOwner::Joint(joint) => model.joint(joint),
                RowOwner::Spring(_) | RowOwner::Damper(..) => None,
            },
            _ => None,
        })
        .map(|joint| joint.name.as_str())
        .collect();
    names.dedup();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("joint \"{one}\"")),
        all => Some(format!("joints \"{}\"", all.join("\", \""))),
    }
}

/// Stores the inconsistent rates of a problem of equalities alone that was not solved, which the next pass subtracts from q. Returns false if the
/// problem has other laws, or if the rates are larger than linearisation and drift explain.   [EQ-2]
///
/// Rates are stored at most once before the rows are written again, which clears them. So nothing is stored yet, and q is that of the rows.
/// They are the velocities that the least-squares solution leaves. With prescribed motion they must not be larger than the rates of stabilisation, or
/// than rounding errors: a contradiction of the prescribed motion itself is not subtracted.
pub(crate) fn review_contradictions(start: &Start, ws: &mut Workspace) -> bool {
    let of_errors = rates_of_errors(start.model, ws);
    let constraints = &mut ws.constraints;
    let (problem, solution) = (&ws.friction.problem, &ws.friction.solution);
    let rows = problem.rows();
    if !ws.is_friction_problem || rows == 0 || solution.r.len() != rows || !problem.laws().iter().all(is_equality) {
        return false;
    }
    debug_assert!(constraints.contradictions.is_empty(), "rates are stored once for the same rows");
    let mut residual_rates = std::mem::take(&mut constraints.contradictions);
    problem.velocities(&solution.r, &mut residual_rates, &mut ws.friction.state);
    let sum_of_squares = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>();
    let joints = constraints.blocks.iter().filter_map(|block| match block.source {
        Source::Joint(index) => start.model.joints().get(index),
        _ => None,
    });
    let joint_rows = joints.flat_map(|joint| constraints.joint_rows.iter().skip(joint.first_row()).take(joint.rows()));
    // The bias of a joint row is the rate of its stabilisation plus `prescribed`, the rate of prescribed motion. `deferred` is the deferred
    // correction: the rate that `joint_closing_speed` cuts off and leaves for later steps.
    let stabilisation = sum_of_squares(&mut joint_rows.clone().map(|row| row.bias - row.prescribed)).sqrt();
    let errors =
        start.h * sum_of_squares(&mut joint_rows.clone().map(|row| row.bias - row.prescribed + row.deferred)).sqrt();
    let is_prescribed = joint_rows.map(|row| row.prescribed).any(|rate| rate != 0.0);
    let redundant = if is_prescribed {
        0.0
    } else {
        NEARLY_REDUNDANT * sum_of_squares(&mut problem.q().iter().copied()).sqrt() + of_errors
    };
    let residual_norm = sum_of_squares(&mut residual_rates.iter().copied()).sqrt();
    // The comparisons are false for a NaN too.
    let error = residual_norm * start.h;
    let is_drift = errors <= MAX_DRIFT && error <= MAX_ERROR;
    let is_left_out = error <= ROUNDING_ERROR || (residual_norm <= stabilisation + redundant && is_drift);
    if !is_left_out {
        residual_rates.clear();
    }
    constraints.contradictions = residual_rates;
    is_left_out
}
