//! Rows of closed loops that are redundant up to the errors of their joints.   [EQ-3]
//!
//! Rows of an overconstrained loop, such as that of Bennett, depend on each other where its joints are closed. Errors Φ of position turn the rows by
//! Φ over the size of the loop, and the dependent ones become independent by as much: eigenvalues of D^(-1/2) W D^(-1/2) of that size squared, where
//! there should be zeros. A loop that obeys such rows is locked or damped. They are made dependent again: W is replaced by
//!
//! ```text
//! D^(1/2) P S P D^(1/2),    S = D^(-1/2) W D^(-1/2),    P the projection onto the eigenvectors of S with λ > (3 η)²            [EQ-3]
//! ```
//!
//! with η the largest joint error, positions by the size of the loop. Impulses of least norm are the same with both matrices but for the rows left out.

use nalgebra::{DMatrix, SymmetricEigen};
use stiction_complementarity::{Law, linalg::BlockMatrix};
use stiction_multibody::{Joint, Model};

use super::{columns, cone::is_equality, impulses::MAX_ROWS};
use crate::{Start, Workspace, constraints::Source};

/// Largest singular value of scaled rows that is explained by joint errors, as a multiple of them. Dimensionless; that of Bennett's linkage is 0.15. With a
/// tenth of this value, such loops are near being locked; with ten times as much, rows are left out further from singular positions.
const ROWS_BY_ERRORS: f64 = 3.0;

/// Largest eigenvalue that counts as redundant, for large joint errors. Dimensionless.
const MOST_REDUNDANT: f64 = 1e-4;

/// Eigenvalue at the level of rounding errors. Dimensionless.
const ROUNDING: f64 = 1e-14;

/// Makes rows of joints alone that are redundant up to joint errors redundant to rounding.   [EQ-3]
pub(super) fn make_dependent(start: &Start, ws: &Workspace, laws: &[Law], w: &mut BlockMatrix) {
    let offsets: Vec<usize> = super::impulses::offsets(laws).collect();
    let rows: usize = laws.iter().map(Law::rows).sum();
    if rows > MAX_ROWS || !laws.iter().all(is_equality) {
        return;
    }
    let limit = (ROWS_BY_ERRORS * relative_error(start.model, ws)).powi(2).min(MOST_REDUNDANT);
    if limit <= ROUNDING {
        return;
    }
    let mut scaled = DMatrix::<f64>::zeros(rows, rows);
    for (i, law) in laws.iter().enumerate() {
        for (j, block) in w.row(i) {
            let columns = block.len() / law.rows().max(1);
            for (place, entry) in block.iter().enumerate() {
                scaled[(offsets[i] + place / columns, offsets[j] + place % columns)] = *entry;
            }
        }
    }
    let scales = scales(start.model, ws, &scaled, &offsets);
    let inverse = |scale: f64| if scale > 0.0 { scale.recip() } else { 0.0 };
    scaled = DMatrix::from_fn(rows, rows, |i, j| scaled[(i, j)] * inverse(scales[i]) * inverse(scales[j]));
    let SymmetricEigen { mut eigenvalues, eigenvectors } = SymmetricEigen::new(scaled);
    if !eigenvalues.iter().any(|value| *value > ROUNDING && *value <= limit) {
        return;
    }
    eigenvalues.iter_mut().filter(|value| **value <= limit).for_each(|value| *value = 0.0);
    let mut projected = &eigenvectors * DMatrix::from_diagonal(&eigenvalues) * eigenvectors.transpose();
    projected =
        DMatrix::from_fn(rows, rows, |i, j| 0.5 * (projected[(i, j)] + projected[(j, i)]) * scales[i] * scales[j]);
    let sizes = || laws.iter().map(Law::rows);
    w.clear(sizes(), sizes());
    for (first, law) in offsets.iter().zip(laws) {
        for (j, (other, column_law)) in offsets.iter().zip(laws).enumerate() {
            let entries = (0..law.rows()).flat_map(|a| (0..column_law.rows()).map(move |b| (a, b)));
            let block: Vec<f64> = entries.map(|(a, b)| projected[(first + a, other + b)]).collect();
            w.push(j, &block);
        }
        w.finish_row();
    }
}

/// Square roots of D: of the largest diagonal entry of W for the positions of a joint, and for its angles.
///
/// A single row can vanish in the course of a motion, and its own entry would enlarge what joint errors leave of it.
fn scales(model: &Model, ws: &Workspace, w: &DMatrix<f64>, offsets: &[usize]) -> Vec<f64> {
    let mut scales: Vec<f64> = (0..w.nrows()).map(|i| w[(i, i)].max(0.0).sqrt()).collect();
    for (block, &first) in ws.constraints.blocks.iter().zip(offsets) {
        let Source::Joint(joint) = block.source else { continue };
        let Some(joint) = model.joints().get(joint) else { continue };
        let kinds: Vec<bool> = joint.evaluate(&ws.kinematics.start).map(|row| row.b.linear.norm() > 0.0).collect();
        let own = scales.get_mut(first..first + kinds.len()).unwrap_or_default();
        for kind in [true, false] {
            let same = || kinds.iter().enumerate().filter(move |(_, other)| **other == kind).map(|(place, _)| place);
            let most = same().map(|place| own[place]).fold(0.0, f64::max);
            same().for_each(|place| own[place] = most);
        }
    }
    scales
}

/// Largest joint error of the problem: angles in rad, positions as a fraction of the largest distance of a joint from the centre of mass of its body.
fn relative_error(model: &Model, ws: &Workspace) -> f64 {
    let joints = || columns::joints(model, ws);
    let arm = |joint: &Joint| {
        let sides = [&joint.a, &joint.b].into_iter().filter(|(id, _)| model.unknowns(*id).is_some());
        sides.map(|(_, frame)| frame.translation.vector.norm()).fold(0.0, f64::max)
    };
    let size = joints().map(arm).fold(0.0, f64::max);
    let error = |joint: &Joint| {
        let rows = joint.evaluate(&ws.kinematics.start);
        let errors = rows.map(|row| if row.b.linear.norm() > 0.0 { row.value.abs() / size } else { row.value.abs() });
        errors.filter(|error| error.is_finite()).fold(0.0, f64::max)
    };
    joints().map(error).fold(0.0, f64::max)
}
