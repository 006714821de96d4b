//! Joint-space rows of the mixed linear problem: constraints along DOFs of joints, which are limits, dry friction, motors, couplings
//! and implicit forces, and the implicit forces of springs and dampers between bodies.
//!
//! Equations follow the joint rows. Rows with two finite bounds are formulated as friction with a known normal impulse. Limits are the
//! last complementary rows.

use stiction_complementarity::{Law, SparseMatrix};

use crate::{RowMeaning, Workspace, rates::JointSpaceRow};

/// Joint-space rows that are equations; they follow the joint rows.
pub(super) fn equalities(rows: &[JointSpaceRow]) -> impl Iterator<Item = &JointSpaceRow> {
    rows.iter().filter(|row| matches!(row.law, Law::Equality { .. }))
}

/// Joint limits; they are the last complementary rows.
pub(super) fn limits(rows: &[JointSpaceRow]) -> impl Iterator<Item = &JointSpaceRow> {
    rows.iter().filter(|row| matches!(row.law, Law::Bounded { upper, .. } if upper == f64::INFINITY))
}

/// Joint-space rows with two finite bounds, each with the midpoint and half width of its bounds.   [JSPACE-5]
///
/// They are friction rows with a known normal impulse, after those of the support points. A row with a finite upper bound has a finite lower
/// one too: only limits are one-sided, with bounds [0, ∞).
pub(super) fn doubly_bounded(rows: &[JointSpaceRow]) -> impl Iterator<Item = (&JointSpaceRow, f64, f64)> {
    rows.iter().filter_map(|row| match row.law {
        Law::Bounded { lower, upper } if upper < f64::INFINITY => {
            Some((row, 0.5 * (lower + upper), 0.5 * (upper - lower)))
        }
        _ => None,
    })
}

/// Joint-space row that a row of the problem belongs to, if any.
pub(super) fn joint_space_of(ws: &Workspace, meaning: RowMeaning) -> Option<&JointSpaceRow> {
    let (rows, layout) = (&ws.constraints.joint_space_rows, &ws.mixed.layout);
    let count = doubly_bounded(rows).count();
    match meaning {
        RowMeaning::Joint(row) => equalities(rows).nth((row + equalities(rows).count()).checked_sub(layout.joints)?),
        RowMeaning::Limit(row) => limits(rows).nth(row),
        RowMeaning::Friction(row) => {
            Some(doubly_bounded(rows).nth((row + 2 * count).checked_sub(layout.friction)? / 2)?.0)
        }
        RowMeaning::FrictionBound(row) => {
            Some(doubly_bounded(rows).nth((row + count).checked_sub(layout.friction_bounds)?)?.0)
        }
        _ => None,
    }
}

/// Adds the midpoint of the bounds of joint-space rows, a known impulse, to the momentum rows.
pub(super) fn add_midpoint_impulses(ws: &mut Workspace, rows: &SparseMatrix, joint_space_rows: &[JointSpaceRow]) {
    let first = ws.mixed.layout.contacts + ws.mixed.layout.friction - 2 * doubly_bounded(joint_space_rows).count();
    for (place, (_, middle, _)) in doubly_bounded(joint_space_rows).enumerate() {
        for (column, value) in rows.row(first + 2 * place) {
            if let Some(constant) = ws.mixed.problem.equality.constant.get_mut(column) {
                *constant += value * middle / ws.mass_unit;
            }
        }
    }
}

/// Extracts the impulses of joint-space rows, in the order of the rows.
///
/// Equations have one free unknown, doubly bounded rows the difference of two unknowns about the midpoint, limits one complementary unknown.
pub(super) fn extract_joint_space_impulses(ws: &mut Workspace) {
    let (layout, rows) = (ws.mixed.layout, &ws.constraints.joint_space_rows);
    debug_assert_eq!(limits(rows).count(), layout.limits, "joint-space rows are those of the problem");
    debug_assert_eq!(
        rows.len(),
        equalities(rows).count() + doubly_bounded(rows).count() + layout.limits,
        "a joint-space row is an equation, doubly bounded or a limit"
    );
    let first_equation = layout.velocities + layout.joints - equalities(rows).count();
    let mut equations = ws.mixed.solution.free.iter().skip(first_equation);
    let first_doubly_bounded = layout.friction_at(layout.friction - 2 * doubly_bounded(rows).count());
    let of_doubly_bounded = ws.mixed.solution.complementary.iter().skip(first_doubly_bounded);
    let mut differences = of_doubly_bounded.clone().step_by(2).zip(of_doubly_bounded.skip(1).step_by(2));
    let of_limits = ws.mixed.solution.complementary.iter();
    let mut limits = of_limits.skip(layout.complementary() - layout.limits);
    ws.solution.joint_space_impulses.clear();
    ws.solution.joint_space_impulses.extend(rows.iter().map(|row| match row.law {
        Law::Bounded { lower, upper } if upper < f64::INFINITY => {
            0.5 * (lower + upper) + differences.next().map_or(0.0, |(plus, minus)| plus - minus) * ws.mass_unit
        }
        Law::Bounded { .. } => limits.next().map_or(0.0, |p| p * ws.mass_unit),
        _ => equations.next().map_or(0.0, |p| p * ws.mass_unit),
    }));
}
