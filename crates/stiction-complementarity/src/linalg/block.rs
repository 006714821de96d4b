//! Products of small dense blocks, stored row by row, with kernels specialised for the sizes of contacts and bodies.
//!
//! Sums run in the order of the index for every size, so all kernels give the same bits.

use super::dot;

/// Calls the kernel specialised for a size if there is one, otherwise the general one.
///
/// The sizes are those of spatial and planar contacts with bodies, of bodies among themselves, of support points with the
/// velocity of their load, and of joint limits.
macro_rules! for_size {
    ($rows:expr, $cols:expr, $kernel:ident($($argument:expr),*), $general:expr) => {
        match ($rows, $cols) {
            (3, 6) => $kernel::<3, 6>($($argument),*),
            (3, 3) => $kernel::<3, 3>($($argument),*),
            (6, 6) => $kernel::<6, 6>($($argument),*),
            (2, 3) => $kernel::<2, 3>($($argument),*),
            (2, 2) => $kernel::<2, 2>($($argument),*),
            (1, 3) => $kernel::<1, 3>($($argument),*),
            (3, 1) => $kernel::<3, 1>($($argument),*),
            (1, 1) => $kernel::<1, 1>($($argument),*),
            _ => $general,
        }
    };
}

/// Block as an array of R rows of N numbers; `None` if it has another size.
#[inline(always)]
fn rows<const R: usize, const N: usize>(a: &[f64]) -> Option<&[[f64; N]; R]> {
    a.as_chunks::<N>().0.try_into().ok()
}

/// y ← y + A x.
#[inline]
pub(crate) fn mul_add(a: &[f64], x: &[f64], y: &mut [f64]) {
    debug_assert_eq!(a.len(), y.len() * x.len(), "size of the block");
    for_size!(y.len(), x.len(), combine_fixed(a, x, y, |y, sum| y + sum), combine(a, x, y, |y, sum| y + sum));
}

/// y ← y − A x.
#[inline]
pub(crate) fn mul_sub(a: &[f64], x: &[f64], y: &mut [f64]) {
    debug_assert_eq!(a.len(), y.len() * x.len(), "size of the block");
    for_size!(y.len(), x.len(), combine_fixed(a, x, y, |y, sum| y - sum), combine(a, x, y, |y, sum| y - sum));
}

fn combine(a: &[f64], x: &[f64], y: &mut [f64], with: impl Fn(f64, f64) -> f64) {
    for (y, row) in y.iter_mut().zip(a.chunks_exact(x.len().max(1))) {
        *y = with(*y, dot(row, x));
    }
}

#[inline]
fn combine_fixed<const R: usize, const N: usize>(a: &[f64], x: &[f64], y: &mut [f64], with: impl Fn(f64, f64) -> f64) {
    let (Some(a), Ok(x), Ok(y)) = (rows::<R, N>(a), <&[f64; N]>::try_from(x), <&mut [f64; R]>::try_from(y)) else {
        debug_assert!(false, "a kernel for {R} x {N} blocks got another size");
        return;
    };
    let mut sums = [0.0; R];
    for (j, x) in x.iter().enumerate() {
        for (sum, row) in sums.iter_mut().zip(a) {
            *sum += row[j] * x;
        }
    }
    y.iter_mut().zip(sums).for_each(|(y, sum)| *y = with(*y, sum));
}

/// y ← y + Aᵀ x.
#[inline]
pub(crate) fn transpose_mul_add(a: &[f64], x: &[f64], y: &mut [f64]) {
    debug_assert_eq!(a.len(), x.len() * y.len(), "size of the block");
    for_size!(x.len(), y.len(), transpose_mul_add_fixed(a, x, y), {
        for (x, row) in x.iter().zip(a.chunks_exact(y.len().max(1))) {
            y.iter_mut().zip(row).for_each(|(y, a)| *y += a * x);
        }
    });
}

#[inline]
fn transpose_mul_add_fixed<const R: usize, const N: usize>(a: &[f64], x: &[f64], y: &mut [f64]) {
    if let (Some(a), Ok(x), Ok(y)) = (rows::<R, N>(a), <&[f64; R]>::try_from(x), <&mut [f64; N]>::try_from(y)) {
        transpose_mul_add_array(a, x, y);
    } else {
        debug_assert!(false, "a kernel for {R} x {N} blocks got another size");
    }
}

/// y ← y + A x of fixed size.
#[inline]
pub(crate) fn mul_add_array<const R: usize, const N: usize>(a: &[[f64; N]; R], x: &[f64; N], y: &mut [f64; R]) {
    for (y, row) in y.iter_mut().zip(a) {
        let mut sum = 0.0;
        row.iter().zip(x).for_each(|(a, x)| sum += a * x);
        *y += sum;
    }
}

/// y ← y + Aᵀ x of fixed size.
#[inline]
pub(crate) fn transpose_mul_add_array<const R: usize, const N: usize>(
    a: &[[f64; N]; R],
    x: &[f64; R],
    y: &mut [f64; N],
) {
    let mut sums = *y;
    for (x, row) in x.iter().zip(a) {
        sums.iter_mut().zip(row).for_each(|(sum, a)| *sum += a * x);
    }
    *y = sums;
}

/// A B of fixed size.
#[inline(always)]
pub(crate) fn product_array<const R: usize, const P: usize, const N: usize>(
    a: &[[f64; P]; R],
    b: &[[f64; N]; P],
) -> [[f64; N]; R] {
    let mut c = [[0.0; N]; R];
    for (c, a) in c.iter_mut().zip(a) {
        for (a, b) in a.iter().zip(b) {
            c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
        }
    }
    c
}

/// C ← C + Aᵀ B of fixed size.
#[inline(always)]
pub(crate) fn transposed_product_add_array<const P: usize, const N: usize>(
    a: &[[f64; N]; P],
    b: &[[f64; N]; P],
    c: &mut [[f64; N]; N],
) {
    for (i, c) in c.iter_mut().enumerate() {
        let mut sums = *c;
        for (a, b) in a.iter().zip(b) {
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a[i] * b);
        }
        *c = sums;
    }
}

/// C ← C + sign A B with A m × p and B p × n.
#[inline(always)]
pub(crate) fn product_add(sign: f64, a: &[f64], b: &[f64], (m, p, n): (usize, usize, usize), c: &mut [f64]) {
    debug_assert_eq!((a.len(), b.len(), c.len()), (m * p, p * n, m * n), "sizes of A, B and C");
    for_size!(p, n, product_add_fixed(sign, a, b, c), {
        for (a, c) in a.chunks_exact(p.max(1)).zip(c.chunks_exact_mut(n.max(1))) {
            for (a, b) in a.iter().zip(b.chunks_exact(n.max(1))) {
                let factor = sign * a;
                c.iter_mut().zip(b).for_each(|(c, b)| *c += factor * b);
            }
        }
    });
}

#[inline(always)]
fn product_add_fixed<const P: usize, const N: usize>(sign: f64, a: &[f64], b: &[f64], c: &mut [f64]) {
    let Some(b) = rows::<P, N>(b) else {
        debug_assert!(false, "a kernel for {P} x {N} blocks got another size");
        return;
    };
    for (a, c) in a.as_chunks::<P>().0.iter().zip(c.as_chunks_mut::<N>().0) {
        let mut sums = *c;
        for (a, b) in a.iter().zip(b) {
            let factor = sign * a;
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += factor * b);
        }
        *c = sums;
    }
}

/// C ← C + Aᵀ B with A and B of p rows, B with n columns.
#[inline(always)]
pub(crate) fn transposed_product_add(a: &[f64], b: &[f64], (p, n): (usize, usize), c: &mut [f64]) {
    let m = a.len() / p.max(1);
    debug_assert!(
        p == 0 || (a.len(), b.len(), c.len()) == (m * p, p * n, m * n),
        "A, B and C of {}, {} and {} numbers with p = {p}, n = {n}",
        a.len(),
        b.len(),
        c.len()
    );
    if m == n {
        for_size!(p, n, transposed_square_add(a, b, c), transposed_product_add_general(a, b, (m, n), c));
    } else {
        transposed_product_add_general(a, b, (m, n), c);
    }
}

#[inline(always)]
fn transposed_square_add<const P: usize, const N: usize>(a: &[f64], b: &[f64], c: &mut [f64]) {
    let c = <&mut [[f64; N]; N]>::try_from(c.as_chunks_mut::<N>().0);
    if let (Some(a), Some(b), Ok(c)) = (rows::<P, N>(a), rows::<P, N>(b), c) {
        transposed_product_add_array(a, b, c);
    } else {
        debug_assert!(false, "a kernel for {P} x {N} blocks got another size");
    }
}

#[inline(always)]
fn transposed_product_add_general(a: &[f64], b: &[f64], (m, n): (usize, usize), c: &mut [f64]) {
    for (a, b) in a.chunks_exact(m.max(1)).zip(b.chunks_exact(n.max(1))) {
        for (a, c) in a.iter().zip(c.chunks_exact_mut(n.max(1))) {
            c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn compiled_sizes_give_the_bits_of_the_general_ones() {
        for (m, p, n) in [
            (3, 3, 6),
            (6, 6, 6),
            (3, 3, 3),
            (2, 2, 3),
            (2, 2, 2),
            (1, 1, 3),
            (3, 3, 1),
            (5, 4, 3),
            (1, 3, 6),
            (6, 3, 6),
        ] {
            let (a, b, c) = (numbers(m * p, 1), numbers(p * n, 2), numbers(m * n, 3));
            let at = |x: &[f64], i: usize, j: usize, width: usize| x[i * width + j];

            let mut product = c.clone();
            product_add(-1.0, &a, &b, (m, p, n), &mut product);
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let expected = (0..p).fold(at(&c, i, j, n), |sum, k| sum + -at(&a, i, k, p) * at(&b, k, j, n));
                assert_eq!(at(&product, i, j, n), expected);
            }

            let (transposed, mut product) = (numbers(p * m, 4), c.clone());
            transposed_product_add(&transposed, &b, (p, n), &mut product);
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let expected = (0..p).fold(at(&c, i, j, n), |sum, k| sum + at(&transposed, k, i, m) * at(&b, k, j, n));
                assert_eq!(at(&product, i, j, n), expected);
            }

            let (x, mut y) = (numbers(n, 5), numbers(p, 6));
            let expected: Vec<f64> = y.iter().zip(b.chunks_exact(n)).map(|(y, row)| y + dot(row, &x)).collect();
            mul_add(&b, &x, &mut y);
            assert_eq!(y, expected);

            let (x, mut y) = (numbers(p, 7), numbers(n, 8));
            let expected: Vec<f64> = (0..n).map(|j| (0..p).fold(y[j], |sum, i| sum + at(&b, i, j, n) * x[i])).collect();
            transpose_mul_add(&b, &x, &mut y);
            assert_eq!(y, expected);
        }
    }
}
