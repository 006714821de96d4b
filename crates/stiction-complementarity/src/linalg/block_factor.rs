//! LU factors of one small dense block and the solves with them, with kernels for spatial (6) and planar (3) bodies.

use super::VANISHED_PIVOT;

/// P A = L U in place with partial pivoting; the diagonal of U is stored inverted. False if a pivot has vanished.
#[inline(always)]
pub(super) fn factor_in_place(n: usize, a: &mut [f64], interchanges: &mut [usize], vanished: f64) -> bool {
    debug_assert_eq!((a.len(), interchanges.len()), (n * n, n), "a square block");
    match n {
        6 => return factor_fixed::<6>(a, interchanges, vanished),
        3 => return factor_fixed::<3>(a, interchanges, vanished),
        _ => {}
    }
    for k in 0..n {
        let (mut pivot, mut largest) = (k, 0.0);
        for i in k..n {
            if a[i * n + k].abs() > largest {
                (pivot, largest) = (i, a[i * n + k].abs());
            }
        }
        let size = a[pivot * n + k..(pivot + 1) * n].iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        // The negated comparison rejects a NaN too.
        if !(largest > vanished * size && largest.is_finite()) {
            return false;
        }
        interchanges[k] = pivot;
        if pivot != k {
            for j in 0..n {
                a.swap(k * n + j, pivot * n + j);
            }
        }
        let reciprocal = 1.0 / a[k * n + k];
        a[k * n + k] = reciprocal;
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let upper = &upper[k * n + k + 1..];
        for row in lower.chunks_exact_mut(n) {
            let factor = row[k] * reciprocal;
            row[k] = factor;
            row[k + 1..].iter_mut().zip(upper).for_each(|(x, u)| *x -= factor * u);
        }
    }
    true
}

#[inline(always)]
fn factor_fixed<const N: usize>(a: &mut [f64], interchanges: &mut [usize], vanished: f64) -> bool {
    let Ok(a) = <&mut [[f64; N]; N]>::try_from(a.as_chunks_mut::<N>().0) else { return false };
    let Ok(interchanges) = <&mut [usize; N]>::try_from(interchanges) else { return false };
    for k in 0..N {
        let (mut pivot, mut largest) = (k, 0.0);
        for (i, row) in a.iter().enumerate().skip(k) {
            if row[k].abs() > largest {
                (pivot, largest) = (i, row[k].abs());
            }
        }
        let size = a[pivot].iter().skip(k).fold(0.0, |size: f64, x| size.max(x.abs()));
        // The negated comparison rejects a NaN too.
        if !(largest > vanished * size && largest.is_finite()) {
            return false;
        }
        interchanges[k] = pivot;
        a.swap(k, pivot);
        let reciprocal = 1.0 / a[k][k];
        a[k][k] = reciprocal;
        let upper = a[k];
        for row in a.iter_mut().skip(k + 1) {
            let factor = row[k] * reciprocal;
            row[k] = factor;
            for j in k + 1..N {
                row[j] -= factor * upper[j];
            }
        }
    }
    true
}

/// X ← L⁻¹ P X for X with n rows.
#[inline(always)]
pub(super) fn solve_lower(n: usize, factors: &[f64], interchanges: &[usize], x: &mut [f64]) {
    let width = x.len() / n.max(1);
    debug_assert_eq!((factors.len(), interchanges.len(), x.len()), (n * n, n, n * width), "X has n rows");
    match (n, width) {
        (6, 6) => return solve_lower_square::<6>(factors, interchanges, x),
        (3, 3) => return solve_lower_square::<3>(factors, interchanges, x),
        _ => {}
    }
    for (k, &pivot) in interchanges.iter().enumerate() {
        if pivot != k {
            for j in 0..width {
                x.swap(k * width + j, pivot * width + j);
            }
        }
    }
    for (i, l) in factors.chunks_exact(n.max(1)).enumerate() {
        let (above, row) = x.split_at_mut(i * width);
        let row = &mut row[..width];
        for (l, above) in l.iter().zip(above.chunks_exact(width.max(1))) {
            row.iter_mut().zip(above).for_each(|(x, above)| *x -= l * above);
        }
    }
}

#[inline(always)]
fn solve_lower_square<const N: usize>(factors: &[f64], interchanges: &[usize], x: &mut [f64]) {
    let Ok(factors) = <&[[f64; N]; N]>::try_from(factors.as_chunks::<N>().0) else { return };
    let Ok(x) = <&mut [[f64; N]; N]>::try_from(x.as_chunks_mut::<N>().0) else { return };
    interchanges.iter().enumerate().for_each(|(k, &pivot)| x.swap(k, pivot));
    for i in 1..N {
        let mut row = x[i];
        for k in 0..i {
            let (factor, above) = (factors[i][k], &x[k]);
            row.iter_mut().zip(above).for_each(|(x, above)| *x -= factor * above);
        }
        x[i] = row;
    }
}

/// x ← L⁻¹ P x for a single column.
pub(super) fn solve_lower_column(n: usize, factors: &[f64], interchanges: &[usize], x: &mut [f64]) {
    debug_assert_eq!((factors.len(), interchanges.len(), x.len()), (n * n, n, n), "x has n rows");
    match n {
        6 => solve_lower_fixed::<6>(factors, interchanges, x),
        3 => solve_lower_fixed::<3>(factors, interchanges, x),
        _ => solve_lower(n, factors, interchanges, x),
    }
}

fn solve_lower_fixed<const N: usize>(factors: &[f64], interchanges: &[usize], x: &mut [f64]) {
    let Ok(factors) = <&[[f64; N]; N]>::try_from(factors.as_chunks::<N>().0) else { return };
    let Ok(x) = <&mut [f64; N]>::try_from(x) else { return };
    interchanges.iter().enumerate().for_each(|(k, &pivot)| x.swap(k, pivot));
    for i in 0..N {
        for k in 0..i {
            x[i] -= factors[i][k] * x[k];
        }
    }
}

/// x ← U⁻¹ x.
pub(super) fn solve_upper(n: usize, factors: &[f64], x: &mut [f64]) {
    debug_assert_eq!((factors.len(), x.len()), (n * n, n), "x has n rows");
    match n {
        6 => return solve_upper_fixed::<6>(factors, x),
        3 => return solve_upper_fixed::<3>(factors, x),
        _ => {}
    }
    for (i, u) in factors.chunks_exact(n.max(1)).enumerate().rev() {
        let sum = super::dot(&u[i + 1..], &x[i + 1..]);
        x[i] = (x[i] - sum) * u[i];
    }
}

fn solve_upper_fixed<const N: usize>(factors: &[f64], x: &mut [f64]) {
    let Ok(factors) = <&[[f64; N]; N]>::try_from(factors.as_chunks::<N>().0) else { return };
    let Ok(x) = <&mut [f64; N]>::try_from(x) else { return };
    for i in (0..N).rev() {
        let mut sum = 0.0;
        for k in i + 1..N {
            sum += factors[i][k] * x[k];
        }
        x[i] = (x[i] - sum) * factors[i][i];
    }
}

/// X ← X U⁻¹ for X with n columns.
#[inline(always)]
pub(super) fn solve_upper_from_right(n: usize, factors: &[f64], x: &mut [f64]) {
    debug_assert_eq!((factors.len(), x.len() % n.max(1)), (n * n, 0), "X has n columns");
    match n {
        6 => solve_upper_from_right_fixed::<6>(factors, x),
        3 => solve_upper_from_right_fixed::<3>(factors, x),
        _ => {
            for x in x.chunks_exact_mut(n.max(1)) {
                for (k, u) in factors.chunks_exact(n.max(1)).enumerate() {
                    x[k] *= u[k];
                    let factor = x[k];
                    x[k + 1..].iter_mut().zip(&u[k + 1..]).for_each(|(x, u)| *x -= factor * u);
                }
            }
        }
    }
}

#[inline(always)]
fn solve_upper_from_right_fixed<const N: usize>(factors: &[f64], x: &mut [f64]) {
    let Ok(factors) = <&[[f64; N]; N]>::try_from(factors.as_chunks::<N>().0) else { return };
    for x in x.as_chunks_mut::<N>().0 {
        for k in 0..N {
            x[k] *= factors[k][k];
            for j in k + 1..N {
                x[j] -= x[k] * factors[k][j];
            }
        }
    }
}

/// A ← A⁻¹ by Gauss-Jordan elimination with partial pivoting; false if A is singular to working precision.
///
/// `scratch` has at least n² numbers, for the inverse under construction.
pub(crate) fn invert_in_place(n: usize, a: &mut [f64], scratch: &mut [f64]) -> bool {
    debug_assert!(a.len() == n * n && scratch.len() >= n * n, "a square block and its scratch");
    let inverse = &mut scratch[..n * n];
    inverse.fill(0.0);
    inverse.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
    for k in 0..n {
        let (mut pivot, mut largest) = (k, 0.0);
        for i in k..n {
            if a[i * n + k].abs() > largest {
                (pivot, largest) = (i, a[i * n + k].abs());
            }
        }
        let size = a[pivot * n..(pivot + 1) * n].iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        // The negated comparison rejects a NaN too.
        if !(largest > VANISHED_PIVOT * size && largest.is_finite()) {
            return false;
        }
        for j in 0..n {
            a.swap(k * n + j, pivot * n + j);
            inverse.swap(k * n + j, pivot * n + j);
        }
        let reciprocal = 1.0 / a[k * n + k];
        a[k * n..(k + 1) * n].iter_mut().for_each(|x| *x *= reciprocal);
        inverse[k * n..(k + 1) * n].iter_mut().for_each(|x| *x *= reciprocal);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i * n + k];
            subtract_row(n, a, (i, k), factor);
            subtract_row(n, inverse, (i, k), factor);
        }
    }
    a.copy_from_slice(inverse);
    true
}

/// Subtracts `factor` times row k from row i of an n × n matrix.
fn subtract_row(n: usize, a: &mut [f64], (i, k): (usize, usize), factor: f64) {
    if factor == 0.0 {
        return;
    }
    let (low, high) = a.split_at_mut(i.max(k) * n);
    let (row, other) =
        if i > k { (&mut high[..n], &low[k * n..(k + 1) * n]) } else { (&mut low[i * n..(i + 1) * n], &high[..n]) };
    row.iter_mut().zip(other).for_each(|(x, y)| *x -= factor * y);
}
