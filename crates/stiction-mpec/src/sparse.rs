//! Sparse linear systems: Gaussian elimination with threshold pivoting for little fill-in.

use std::collections::{BTreeMap, BTreeSet};

/// Smallest pivot, as a fraction of the largest entry of its column. Dimensionless.
const THRESHOLD: f64 = 0.1;

/// Solves A x = b for several right-hand sides; `None` if A is singular.
///
/// A is given as (row, column, value); duplicate entries add up.
pub(crate) fn solve(size: usize, entries: &[(usize, usize, f64)], sides: &mut [Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let mut rows: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); size];
    for (i, j, value) in entries {
        *rows.get_mut(*i)?.entry(*j).or_insert(0.0) += value;
    }
    let mut columns: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); size];
    for (i, row) in rows.iter().enumerate() {
        for j in row.keys() {
            columns.get_mut(*j)?.insert(i);
        }
    }
    // Columns by their number of entries.
    let mut queue: BTreeSet<(usize, usize)> = columns.iter().enumerate().map(|(j, rows)| (rows.len(), j)).collect();
    let mut order: Vec<(usize, usize)> = Vec::with_capacity(size);
    while let Some((_, column)) = queue.pop_first() {
        let members: Vec<usize> = columns.get(column)?.iter().copied().collect();
        let value = |i: usize| rows.get(i).and_then(|row| row.get(&column)).map_or(0.0, |x| x.abs());
        let most = members.iter().map(|i| value(*i)).fold(0.0, f64::max);
        if !(most > 1e-300 && most.is_finite()) {
            return None;
        }
        let pivot = members.iter().copied().filter(|i| value(*i) >= THRESHOLD * most);
        let pivot = pivot.min_by_key(|i| rows.get(*i).map_or(usize::MAX, BTreeMap::len))?;
        let pivot_row = rows.get(pivot)?.clone();
        let diagonal = *pivot_row.get(&column)?;
        // The pivot row is removed from all columns.
        for j in pivot_row.keys() {
            let known = columns.get_mut(*j)?;
            let waits = queue.remove(&(known.len(), *j));
            known.remove(&pivot);
            if waits {
                queue.insert((known.len(), *j));
            }
        }
        for i in members.into_iter().filter(|i| *i != pivot) {
            let row = rows.get_mut(i)?;
            let factor = row.remove(&column)? / diagonal;
            columns.get_mut(column)?.remove(&i);
            for (j, entry) in pivot_row.iter().filter(|(j, _)| **j != column) {
                let known = columns.get_mut(*j)?;
                if !row.contains_key(j) {
                    let waits = queue.remove(&(known.len(), *j));
                    known.insert(i);
                    if waits {
                        queue.insert((known.len(), *j));
                    }
                }
                *row.entry(*j).or_insert(0.0) -= factor * entry;
            }
            for side in &mut *sides {
                let by = *side.get(pivot)?;
                *side.get_mut(i)? -= factor * by;
            }
        }
        order.push((pivot, column));
    }
    let mut solutions = Vec::with_capacity(sides.len());
    for side in &*sides {
        let mut x = vec![0.0; size];
        for (pivot, column) in order.iter().rev() {
            let row = rows.get(*pivot)?;
            let known: f64 = row.iter().filter(|(j, _)| *j != column).map(|(j, a)| a * x.get(*j).unwrap_or(&0.0)).sum();
            *x.get_mut(*column)? = (side.get(*pivot)? - known) / row.get(column)?;
        }
        solutions.push(x);
    }
    Some(solutions)
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn equations_with_zeros_on_the_diagonal_are_solved() {
        let size = 60;
        let mut entries = vec![];
        for k in 0..size {
            entries.push((k, (k + 1) % size, 2.0 + k as f64));
            entries.push((k, (k + 7) % size, 0.5));
            entries.push((k, 3, 0.25));
        }
        let x: Vec<f64> = (0..size).map(|k| 1.0 - 0.1 * k as f64).collect();
        let mut side = vec![0.0; size];
        for (i, j, a) in &entries {
            side[*i] += a * x[*j];
        }
        let found = solve(size, &entries, &mut [side]).unwrap();
        assert!(found[0].iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-10));
        assert!(solve(2, &[(0, 0, 1.0), (1, 0, 1.0)], &mut [vec![1.0, 1.0]]).is_none());
    }
}
