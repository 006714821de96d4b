//! Rows of closed loops that are redundant up to the errors of their joints.   [EQ-3]
//!
//! Rows of an overconstrained loop, such as Bennett's linkage, depend on each other if its joints have no error. Joint errors turn the rows by angles of
//! the size of the relative error η. The dependent rows then become independent: S below has eigenvalues of about η² instead of zeros. A loop that obeys
//! such rows is locked or damped. W is replaced by a matrix in which they are dependent again:
//!
//! ```text
//! D^(1/2) P S P D^(1/2),    S = D^(-1/2) W D^(-1/2),    P the projection onto the eigenvectors of S with λ > (3 η)²            [EQ-3]
//! ```
//!
//! However large η is, P keeps eigenvectors with λ > [`MAX_REDUNDANT_EIGENVALUE`].
//! D is a diagonal block scaling: all position rows of a joint have the largest of their diagonal entries of W, its angle rows likewise, and any other
//! row its own. η is the largest joint error: angles in rad, positions as a fraction of the largest distance of a joint from the centre of mass of its
//! body. Impulses of least norm lose only their parts along the eigenvectors that P removes.

use nalgebra::{DMatrix, SymmetricEigen, Vector3};
use stiction_complementarity::{FrictionActiveSet, Law, linalg::BlockMatrix};
use stiction_multibody::{Joint, Model, joint::Row};

use super::columns;
use crate::{Start, Workspace, constraints::Source, rates::side_rate};

/// Largest number of rows for which W is assembled in reduced coordinates: the limit of the active-set method.
pub(super) const MAX_ASSEMBLED_ROWS: usize = FrictionActiveSet::MAX_PROBLEM_ROWS;

/// Largest singular value of the scaled rows D^(-1/2) Hᵀ M^(-1/2) that joint errors explain, as a multiple of η. Dimensionless.
///
/// Bennett's linkage has 0.15; with a value near or below that such loops lock. With a larger value, rows are left out at a larger distance
/// from singular positions, where they are independent.
const SINGULAR_VALUE_PER_ERROR: f64 = 3.0;

/// Upper bound on the eigenvalues of S that count as redundant, however large η is. Dimensionless.
const MAX_REDUNDANT_EIGENVALUE: f64 = 1e-4;

/// Eigenvalue at the level of rounding errors. Dimensionless.
const ROUNDING: f64 = 1e-14;

/// Bound on the last pivot of a Cholesky factorisation with diagonal pivoting, as a multiple of the least eigenvalue. Dimensionless.
///
/// If the pivot is larger than this multiple of a limit, all eigenvalues are taken to be above the limit and are not computed.
const PIVOT_PER_EIGENVALUE: f64 = 1e3;

/// In a problem of joints and equations alone, makes rows that are redundant up to joint errors redundant to rounding.   [EQ-3]
pub(super) fn make_dependent(start: &Start, ws: &mut Workspace, laws: &[Law], w: &mut BlockMatrix) {
    let rows: usize = laws.iter().map(Law::rows).sum();
    if rows > MAX_ASSEMBLED_ROWS || !laws.iter().all(|law| matches!(law, Law::Equality { .. })) {
        return;
    }
    let limit = (SINGULAR_VALUE_PER_ERROR * relative_error(start.model, ws)).powi(2).min(MAX_REDUNDANT_EIGENVALUE);
    if limit <= ROUNDING {
        return;
    }
    let mut scratch = std::mem::take(&mut ws.friction.block);
    scratch.clear();
    scratch.resize(2 * rows * rows + rows, 0.0);
    let (scaled, rest) = scratch.split_at_mut(rows * rows);
    let (factor, scales) = rest.split_at_mut(rows * rows);
    write_scaled(start.model, ws, (laws, w), (scaled, scales));
    factor.copy_from_slice(scaled);
    if smallest_pivot(factor, rows) <= PIVOT_PER_EIGENVALUE * limit {
        project((laws, scales), DMatrix::from_row_slice(rows, rows, scaled), limit, w);
    }
    ws.friction.block = scratch;
}

/// Writes S and the square roots of the block scaling D.
///
/// All rates of a row can be zero but for joint errors. Divided by its own diagonal entry it would not be small.
fn write_scaled(
    model: &Model,
    ws: &Workspace,
    (laws, w): (&[Law], &BlockMatrix),
    (scaled, scales): (&mut [f64], &mut [f64]),
) {
    let rows = scales.len();
    for (i, (first, law)) in offsets(laws).zip(laws).enumerate() {
        for (j, block) in w.row(i) {
            let columns = block.len() / law.rows().max(1);
            let other = offsets(laws).nth(j).unwrap_or(0);
            for (place, entry) in block.iter().enumerate() {
                let at = (first + place / columns.max(1)) * rows + other + place % columns.max(1);
                scaled.get_mut(at).into_iter().for_each(|out| *out = *entry);
            }
        }
    }
    for (i, scale) in scales.iter_mut().enumerate() {
        *scale = scaled.get(i * (rows + 1)).map_or(0.0, |entry| entry.max(0.0).sqrt());
    }
    for (block, first) in ws.constraints.blocks.iter().zip(offsets(laws)) {
        let Source::Joint(joint) = block.source else { continue };
        let Some(joint) = model.joints().get(joint) else { continue };
        let own = scales.get_mut(first..first + joint.rows()).unwrap_or_default();
        let mut most = [0.0_f64; 2];
        for (row, scale) in joint.evaluate(&ws.kinematics.start).zip(own.iter()) {
            let most = &mut most[usize::from(is_position(&row))];
            *most = most.max(*scale);
        }
        for (row, scale) in joint.evaluate(&ws.kinematics.start).zip(own) {
            *scale = most[usize::from(is_position(&row))];
        }
    }
    let inverse = |scale: f64| if scale > 0.0 { scale.recip() } else { 0.0 };
    for (row, scale) in scaled.chunks_exact_mut(rows.max(1)).zip(scales.iter()) {
        row.iter_mut().zip(scales.iter()).for_each(|(entry, other)| *entry *= inverse(*scale) * inverse(*other));
    }
}

/// Smallest pivot of the Cholesky factorisation of a matrix with diagonal pivoting; the matrix is overwritten.
fn smallest_pivot(matrix: &mut [f64], size: usize) -> f64 {
    for step in 0..size {
        let diagonal = |k: usize, matrix: &[f64]| matrix.get(k * (size + 1)).copied().unwrap_or(0.0);
        let best = (step..size).max_by(|a, b| diagonal(*a, matrix).total_cmp(&diagonal(*b, matrix))).unwrap_or(step);
        let pivot = diagonal(best, matrix);
        if pivot <= ROUNDING || step + 1 == size {
            return pivot;
        }
        for k in 0..size {
            matrix.swap(step * size + k, best * size + k);
        }
        for k in 0..size {
            matrix.swap(k * size + step, k * size + best);
        }
        for i in step + 1..size {
            let factor = matrix[i * size + step] / pivot;
            for j in step + 1..size {
                matrix[i * size + j] -= factor * matrix[step * size + j];
            }
        }
    }
    f64::INFINITY
}

/// Replaces W by D^(1/2) P S P D^(1/2), if an eigenvalue of S is below the limit and not zero.
fn project((laws, scales): (&[Law], &[f64]), scaled: DMatrix<f64>, limit: f64, w: &mut BlockMatrix) {
    let SymmetricEigen { mut eigenvalues, eigenvectors } = SymmetricEigen::new(scaled);
    if !eigenvalues.iter().any(|value| *value > ROUNDING && *value <= limit) {
        return;
    }
    eigenvalues.iter_mut().filter(|value| **value <= limit).for_each(|value| *value = 0.0);
    let projected = &eigenvectors * DMatrix::from_diagonal(&eigenvalues) * eigenvectors.transpose();
    let entry = |a: usize, b: usize| 0.5 * (projected[(a, b)] + projected[(b, a)]) * scales[a] * scales[b];
    let sizes = || laws.iter().map(Law::rows);
    w.clear(sizes(), sizes());
    for (first, law) in offsets(laws).zip(laws) {
        for (j, (other, column_law)) in offsets(laws).zip(laws).enumerate() {
            let entries = (0..law.rows()).flat_map(|a| (0..column_law.rows()).map(move |b| (first + a, other + b)));
            let block: Vec<f64> = entries.map(|(a, b)| entry(a, b)).collect();
            w.push(j, &block);
        }
        w.finish_row();
    }
}

fn is_position(row: &Row) -> bool {
    row.b.linear != Vector3::zeros()
}

/// Offset of each law: its first row.
pub(super) fn offsets(laws: &[Law]) -> impl Iterator<Item = usize> + Clone {
    laws.iter().scan(0, |next, law| Some(std::mem::replace(next, *next + law.rows())))
}

/// Bound on the rates that rows which are redundant up to the joint errors may leave at the velocities before the step: 3 η times the rates of the
/// single bodies along the rows.   [EQ-2]
pub(super) fn rates_of_errors(model: &Model, ws: &Workspace) -> f64 {
    let mut squares = 0.0;
    for joint in columns::joints(model, ws) {
        for row in ws.constraints.joint_rows.iter().skip(joint.first_row()).take(joint.rows()) {
            let of = |id, wrench| side_rate(model, &ws.kinematics.before, id, wrench).abs();
            squares += (of(joint.a.0, &row.a) + of(joint.b.0, &row.b)).powi(2);
        }
    }
    SINGULAR_VALUE_PER_ERROR * relative_error(model, ws) * squares.sqrt()
}

/// Largest joint error η of the problem: angles in rad, positions as a fraction of the largest distance of a joint from the centre of mass of its body.
fn relative_error(model: &Model, ws: &Workspace) -> f64 {
    let joints = || columns::joints(model, ws);
    let arm = |joint: &Joint| {
        let sides = [&joint.a, &joint.b].into_iter().filter(|(id, _)| model.unknowns(*id).is_some());
        sides.map(|(_, frame)| frame.translation.vector.norm()).fold(0.0, f64::max)
    };
    let size = joints().map(arm).fold(0.0, f64::max);
    let error = |joint: &Joint| {
        let rows = joint.evaluate(&ws.kinematics.start);
        let errors = rows.map(|row| if is_position(&row) { row.value.abs() / size } else { row.value.abs() });
        errors.filter(|error| error.is_finite()).fold(0.0, f64::max)
    };
    joints().map(error).fold(0.0, f64::max)
}
