//! The kinds `lcp`, `mlcp` and `boxlcp`: dense matrices as lists of rows.

use super::{Fields, MAX_FILE_SIZE, ProblemFileError, needed};
use crate::box_lcp::BoxLcp;
use crate::lcp::Lcp;
use crate::linalg::{DenseMatrix, SparseMatrix};
use crate::mixed_lcp::{MixedLcp, RowBlock};

pub(super) fn read_lcp(fields: Fields) -> Result<Lcp, ProblemFileError> {
    let n = needed(fields.n, "lcp", "n")?;
    let (m, q) = numbers(fields.m, fields.q, n, "lcp")?;
    Ok(Lcp::new(dense(&m), q)?)
}

pub(super) fn read_box_lcp(fields: Fields) -> Result<BoxLcp, ProblemFileError> {
    let n = needed(fields.n, "boxlcp", "n")?;
    let (m, q) = numbers(fields.m, fields.q, n, "boxlcp")?;
    let (lower, upper) = bounds(needed(fields.lb, "boxlcp", "lb")?, needed(fields.ub, "boxlcp", "ub")?);
    Ok(BoxLcp::new(dense(&m), q, lower, upper)?)
}

pub(super) fn write_box_lcp(problem: &BoxLcp) -> Fields {
    Fields {
        kind: "boxlcp".to_owned(),
        n: Some(problem.size()),
        m: Some((0..problem.size()).map(|i| problem.m().row(i).to_vec()).collect()),
        q: Some(problem.q().to_vec()),
        lb: Some(finite_or_null(problem.lower().iter().copied())),
        ub: Some(finite_or_null(problem.upper().iter().copied())),
        ..Fields::default()
    }
}

/// Bounds as numbers: null is infinite.
pub(super) fn bounds(lower: Vec<Option<f64>>, upper: Vec<Option<f64>>) -> (Vec<f64>, Vec<f64>) {
    let lower = lower.into_iter().map(|bound| bound.unwrap_or(f64::NEG_INFINITY)).collect();
    (lower, upper.into_iter().map(|bound| bound.unwrap_or(f64::INFINITY)).collect())
}

/// Bounds for a file: infinite is null.
pub(super) fn finite_or_null(bounds: impl Iterator<Item = f64>) -> Vec<Option<f64>> {
    bounds.map(|bound| Some(bound).filter(|bound| bound.is_finite())).collect()
}

/// The matrix of square rows.
fn dense(rows: &[Vec<f64>]) -> DenseMatrix {
    let mut matrix = DenseMatrix::zeros(rows.len(), rows.len());
    rows.iter().enumerate().for_each(|(i, row)| matrix.row_mut(i).copy_from_slice(row));
    matrix
}

pub(super) fn read_mixed_lcp(fields: Fields) -> Result<MixedLcp, ProblemFileError> {
    let free = needed(fields.n_eq, "mlcp", "n_eq")?;
    let complementary = needed(fields.m_comp, "mlcp", "m_comp")?;
    let (m, q) = numbers(fields.m, fields.q, free.saturating_add(complementary), "mlcp")?;
    let (upper, lower) = m.split_at(free);
    let (a, b) = q.split_at(free);
    let sizes = (free, complementary);
    Ok(MixedLcp::new(row_block(upper, a, sizes), row_block(lower, b, sizes))?)
}

/// Returns the matrix and the vector if their sizes are n × n and n.
fn numbers(
    m: Option<Vec<Vec<f64>>>,
    q: Option<Vec<f64>>,
    n: usize,
    kind: &'static str,
) -> Result<(Vec<Vec<f64>>, Vec<f64>), ProblemFileError> {
    let (m, q) = (needed(m, kind, "M")?, needed(q, kind, "q")?);
    if n > MAX_FILE_SIZE {
        return Err(ProblemFileError::TooLarge { rows: n });
    }
    for (field, found) in [("M", m.len()), ("q", q.len())] {
        if found != n {
            return Err(ProblemFileError::WrongLength { field, expected: n, found });
        }
    }
    match m.iter().enumerate().find(|(_, row)| row.len() != n) {
        Some((row, entries)) => Err(ProblemFileError::WrongRowLength { row, expected: n, found: entries.len() }),
        None => Ok((m, q)),
    }
}

/// Splits full rows into the columns of the free variables (the first ones) and of the complementary ones.
fn row_block(rows: &[Vec<f64>], constant: &[f64], (free, complementary): (usize, usize)) -> RowBlock {
    let (mut on_free, mut on_complementary) = (SparseMatrix::default(), SparseMatrix::default());
    on_free.clear(rows.len(), free);
    on_complementary.clear(rows.len(), complementary);
    for row in rows {
        let (left, right) = row.split_at(free);
        for (matrix, entries) in [(&mut on_free, left), (&mut on_complementary, right)] {
            for (col, &value) in entries.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                matrix.push(col, value);
            }
            matrix.finish_row();
        }
    }
    RowBlock { on_free, on_complementary, constant: constant.to_vec() }
}

pub(super) fn dense_rows(block: &RowBlock, problem: &MixedLcp) -> impl Iterator<Item = Vec<f64>> {
    (0..block.constant.len()).map(move |i| {
        let mut row = vec![0.0; problem.size()];
        for (col, value) in block.on_free.row(i) {
            row[col] += value;
        }
        for (col, value) in block.on_complementary.row(i) {
            row[problem.free_size() + col] += value;
        }
        row
    })
}
