//! Sparsity patterns of the derivatives of an element, found at generic points.

use stiction_mpec::{Element, Refused};

/// Largest entry that counts as zero, as a fraction of the largest.
const ZERO: f64 = 1e-9;

/// Numbers between a half and three halves without a relation to each other.
pub(super) fn generic(k: usize) -> f64 {
    let turned = 0.37 + 0.618_033_988_749_894_9 * k as f64;
    0.5 + turned - turned.floor()
}

type Entries = Vec<(usize, usize)>;

/// Patterns of first and second derivatives, from two points; `fixed` inputs are kept at their values.
pub(super) fn probe<E: Element>(
    element: &E,
    fixed: &[(usize, f64)],
    slopes: impl Fn(&E, &[f64]) -> Result<Vec<f64>, Refused>,
    curvatures: impl Fn(&E, &[f64], &[f64]) -> Result<Vec<f64>, Refused>,
) -> Result<(Entries, Entries), Refused> {
    let (inputs, outputs) = (element.inputs(), element.outputs());
    let mut largest = (vec![0.0_f64; inputs * outputs], vec![0.0_f64; inputs * inputs]);
    for round in 0..2 {
        let mut x: Vec<f64> = (0..inputs).map(|k| 1e-1 * generic(k + 101 * round)).collect();
        for (place, value) in fixed {
            x.get_mut(*place).into_iter().for_each(|x| *x = *value);
        }
        let multipliers: Vec<f64> = (0..outputs).map(|k| generic(k + 31 * round)).collect();
        let grow = |into: &mut [f64], found: &[f64]| {
            into.iter_mut().zip(found).for_each(|(most, value)| *most = most.max(value.abs()));
        };
        grow(&mut largest.0, &slopes(element, &x)?);
        grow(&mut largest.1, &curvatures(element, &x, &multipliers)?);
    }
    let places = |sizes: &[f64]| -> Entries {
        let most = sizes.iter().copied().fold(0.0, f64::max);
        let found = sizes.iter().enumerate().filter(|(_, size)| **size > ZERO * most);
        found.map(|(place, _)| (place / inputs, place % inputs)).collect()
    };
    let lower = places(&largest.1).into_iter().filter(|(i, j)| i >= j).collect();
    Ok((places(&largest.0), lower))
}

/// Entries of a matrix with this number of columns.
pub(super) fn pick(matrix: &[f64], columns: usize, entries: &[(usize, usize)], out: &mut [f64]) {
    for ((row, column), out) in entries.iter().zip(out) {
        *out = matrix.get(row * columns + column).copied().unwrap_or(0.0);
    }
}
