//! Changes of the closest points and of the normal, in the frame of A, for motions of B.   [IMP-10]

use nalgebra::{Matrix3, Matrix3x6, Vector3};

use super::kkt::Linearised;
use super::multipliers::MOST_ACTIVE;
use super::pair::Pair;

/// Returns the first `columns` of ∂a₁ and ∂n in the frame of A; `None` if the equations are singular.
///
/// Moving B by (v, ω) about a₂ changes g there by −∇g · v and Σμ∇g by ω × Σμ∇g − Σμ∇²g v.   [IMP-10]
pub(super) fn responses(pair: &Pair<'_>, found: &Linearised, columns: usize) -> Option<[Matrix3x6<f64>; 2]> {
    let d = pair.axes;
    let mut system = found.system(pair, columns);
    let hessian_b = found.hessian_of_b();
    for axis in 0..3 {
        let turned = Vector3::ith(axis, 1.0).cross(&found.opposite);
        for i in 0..d {
            system.set_side(i, axis, hessian_b[(i, axis)]);
            if columns > 3 {
                system.set_side(i, 3 + axis, -turned[i]);
            }
        }
        for (k, jet) in found.gradients_of_b().iter().enumerate() {
            let row = d + 1 + found.state.lambda.len() + k;
            system.set_side(row, axis, jet.gradient[axis] / pair.length);
        }
    }
    let (solution, rank) = system.solve();
    if rank < found.unknowns(pair) {
        return None;
    }
    debug_assert!(d + MOST_ACTIVE < solution.len(), "every multiplier of A has a row");
    let mut point = Matrix3x6::zeros();
    let mut normal = Matrix3x6::zeros();
    for column in 0..columns {
        let mut change = Vector3::zeros();
        for k in 0..d {
            change[k] = solution[k][column] * pair.length;
        }
        let multipliers = (0..MOST_ACTIVE).map(|k| solution.get(d + 1 + k).map_or(0.0, |row| row[column]));
        point.set_column(column, &change);
        normal.set_column(column, &found.normal_change(&change, multipliers));
    }
    Some([point, normal])
}

/// True if a pair of opposite points in overlap is a local minimum of the depth: the normal turns with B, not against
/// it.   [IMP-11]
pub(super) fn is_least_depth(pair: &Pair<'_>, found: &Linearised) -> bool {
    /// Turning against the motion that is attributed to round-off.
    const CLEAR: f64 = 1e-9;
    let Some([_, normal]) = responses(pair, found, 3) else { return true };
    let turn: Matrix3<f64> = normal.fixed_columns::<3>(0) * pair.length;
    let symmetric = (turn + turn.transpose()) * 0.5;
    let room = CLEAR * (1.0 + symmetric.amax());
    (symmetric + Matrix3::from_diagonal_element(room)).cholesky().is_some()
}
