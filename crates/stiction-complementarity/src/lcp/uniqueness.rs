//! Matrix classes decided face by face, with witnesses: copositive-plus and column adequate (w-unique).   [LCP-14] [LCP-15]

use super::diagnostics::{Finding, MAX_DECIDED_SIZE, is_copositive, is_p_matrix, is_positive_semidefinite};
use crate::linalg::{DenseMatrix, dot};

/// Fraction of the largest number involved below which a number counts as zero. Dimensionless.
const ZERO: f64 = 1e-12;

/// Fraction above which a number counts as nonzero; between [`ZERO`] and this nothing is decided. Dimensionless.
const CLEAR: f64 = 1e-9;

/// Tests if M is copositive-plus: copositive, and u ≥ 0 with uᵀ M u = 0 implies (M + Mᵀ) u = 0.   [LCP-14]
///
/// Then a ray of Lemke's method proves infeasibility. The witness of `No` is a u that violates this, or an x ≥ 0 with
/// xᵀ M x < 0. The test is complete for n ≤ [`MAX_DECIDED_SIZE`] unless a minor is too small to decide. For larger n, `Yes`
/// comes from a positive semidefinite symmetric part, `No` from a matrix that is not copositive.
pub fn is_copositive_plus(m: &DenseMatrix) -> Finding {
    if is_positive_semidefinite(m) {
        return Finding::Yes;
    }
    match is_copositive(m) {
        Finding::Yes => {}
        other => return other,
    }
    let n = m.rows().min(m.cols());
    if n > MAX_DECIDED_SIZE {
        return Finding::Unknown;
    }
    let s = symmetric_sum(m, n);
    let mut doubt = false;
    for set in 1..1_u32 << n {
        let face = Face::new(&s, set);
        doubt |= face.doubtful;
        // Zeros of smallest support span all others, and their faces have a kernel of one dimension.
        let [kernel] = face.kernel.as_slice() else { continue };
        let signed = kernel[face.rows[0]].signum();
        if face.rows.iter().any(|&i| kernel[i] * signed <= CLEAR) {
            continue;
        }
        let u: Vec<f64> = kernel.iter().map(|x| x * signed).collect();
        match vanishes(&s, &u) {
            Some(true) => {}
            Some(false) => return Finding::No { witness: u },
            None => doubt = true,
        }
    }
    if doubt { Finding::Unknown } else { Finding::Yes }
}

/// Tests if w = M z + q is the same for all solutions z and every q: M is column adequate.   [LCP-15]
///
/// The witness of `No` is a z with z_i (M z)_i ≤ 0 for all i and M z ≠ 0: the problem with q = (M z)⁺ − M z⁺ has the solutions
/// z⁺ and z⁻, with w = (M z)⁺ and (M z)⁻. The test is complete for n ≤ [`MAX_DECIDED_SIZE`] unless a minor is too small to
/// decide. For larger n, `Yes` comes from a symmetric positive semidefinite or a positive definite matrix, `No` from a
/// diagonal entry.
pub fn is_w_unique(m: &DenseMatrix) -> Finding {
    let n = m.rows().min(m.cols());
    let symmetric = (0..n).all(|i| (0..i).all(|j| m[(i, j)] == m[(j, i)]));
    if symmetric && is_positive_semidefinite(m) {
        return Finding::Yes;
    }
    if n > MAX_DECIDED_SIZE {
        if let Some(i) = (0..n).find(|&i| m[(i, i)] < 0.0) {
            let mut witness = vec![0.0; n];
            witness[i] = 1.0;
            return Finding::No { witness };
        }
        return if is_p_matrix(m) == Finding::Yes { Finding::Yes } else { Finding::Unknown };
    }
    let mut doubt = false;
    for set in 1..1_u32 << n {
        let face = Face::new(m, set);
        doubt |= face.doubtful;
        for z in &face.kernel {
            match vanishes(m, z) {
                Some(true) => {}
                Some(false) => return Finding::No { witness: z.clone() },
                None => doubt = true,
            }
        }
        match face.column_against_itself(n) {
            Ok(None) => {}
            Ok(Some(witness)) => return Finding::No { witness },
            Err(Doubtful) => doubt = true,
        }
    }
    if doubt { Finding::Unknown } else { Finding::Yes }
}

/// The result depends on a number between [`ZERO`] and [`CLEAR`].
struct Doubtful;

/// A principal block M_FF after elimination.
struct Face {
    rows: Vec<usize>,
    /// M_FF⁻¹, row by row, if it is regular; empty otherwise.
    inverse: Vec<f64>,
    /// Basis of its kernel, padded with zeros, each vector with largest entry 1.
    kernel: Vec<Vec<f64>>,
    /// True if a pivot lies between [`ZERO`] and [`CLEAR`].
    doubtful: bool,
}

impl Face {
    /// Gauss-Jordan elimination of [M_FF | I] with complete pivoting.
    fn new(m: &DenseMatrix, set: u32) -> Self {
        let n = m.rows().min(m.cols());
        let rows: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let size = rows.len();
        let mut a = DenseMatrix::zeros(size, 2 * size);
        for (k, &i) in rows.iter().enumerate() {
            rows.iter().enumerate().for_each(|(l, &j)| a[(k, l)] = m[(i, j)]);
            a[(k, size + k)] = 1.0;
        }
        let largest = rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i, j)));
        let largest = largest.fold(0.0, |largest: f64, place| largest.max(m[place].abs()));
        let mut columns: Vec<usize> = (0..size).collect();
        let (mut rank, mut doubtful) = (0, false);
        while rank < size {
            let places = (rank..size).flat_map(|i| (rank..size).map(move |j| (i, j)));
            let (row, col) =
                places.fold((rank, rank), |best, next| if a[next].abs() > a[best].abs() { next } else { best });
            let pivot = a[(row, col)].abs();
            doubtful |= pivot > ZERO * largest && pivot < CLEAR * largest;
            if pivot <= ZERO * largest {
                break;
            }
            interchange(&mut a, (rank, row), (rank, col), size);
            columns.swap(rank, col);
            eliminate(&mut a, rank);
            rank += 1;
        }
        let mut inverse = Vec::new();
        if rank == size {
            inverse.resize(size * size, 0.0);
            for k in 0..size {
                inverse[columns[k] * size..(columns[k] + 1) * size].copy_from_slice(&a.row(k)[size..]);
            }
        }
        let kernel = (rank..size).map(|free| {
            let mut z = vec![0.0; n];
            z[rows[columns[free]]] = 1.0;
            (0..rank).for_each(|k| z[rows[columns[k]]] = -a[(k, free)]);
            let largest = z.iter().fold(0.0, |largest: f64, z| largest.max(z.abs()));
            z.iter().map(|z| z / largest).collect()
        });
        let kernel = kernel.collect();
        Self { rows, inverse, kernel, doubtful }
    }

    /// A column z = M_FF⁻¹ e_j with z_j ≤ 0: (M z)_F = e_j, so z_i (M z)_i ≤ 0 for all i.
    fn column_against_itself(&self, n: usize) -> Result<Option<Vec<f64>>, Doubtful> {
        let size = self.rows.len();
        let largest = self.inverse.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let mut doubt = false;
        for (j, &diagonal) in self.inverse.iter().step_by(size + 1).enumerate() {
            if diagonal.abs() <= ZERO * largest || diagonal < -CLEAR * largest {
                let mut z = vec![0.0; n];
                self.rows.iter().enumerate().for_each(|(k, &i)| z[i] = self.inverse[k * size + j]);
                return Ok(Some(z));
            }
            doubt |= diagonal < CLEAR * largest;
        }
        if doubt { Err(Doubtful) } else { Ok(None) }
    }
}

/// Interchanges two rows and two columns of the left half.
fn interchange(a: &mut DenseMatrix, (row, other_row): (usize, usize), (col, other_col): (usize, usize), size: usize) {
    for k in 0..2 * size {
        let x = a[(row, k)];
        a[(row, k)] = a[(other_row, k)];
        a[(other_row, k)] = x;
    }
    for k in 0..size {
        a.row_mut(k).swap(col, other_col);
    }
}

/// Makes column k a unit vector.
fn eliminate(a: &mut DenseMatrix, k: usize) {
    let inverse = 1.0 / a[(k, k)];
    let pivot_row: Vec<f64> = a.row(k).iter().map(|x| x * inverse).collect();
    for i in 0..a.rows() {
        let factor = a[(i, k)];
        if i != k && factor != 0.0 {
            a.row_mut(i).iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= factor * p);
        }
    }
    a.row_mut(k).copy_from_slice(&pivot_row);
}

/// True if M z = 0; `None` if rounding does not allow a decision.
fn vanishes(m: &DenseMatrix, z: &[f64]) -> Option<bool> {
    let (mut clearly, mut doubt) = (false, false);
    for i in 0..z.len() {
        let row = m.row(i).get(..z.len())?;
        let size: f64 = row.iter().zip(z).map(|(m, z)| (m * z).abs()).sum();
        let value = dot(row, z).abs();
        clearly |= value > CLEAR * size;
        doubt |= value > ZERO * size;
    }
    match (clearly, doubt) {
        (true, _) => Some(false),
        (false, true) => None,
        (false, false) => Some(true),
    }
}

fn symmetric_sum(m: &DenseMatrix, n: usize) -> DenseMatrix {
    let mut s = DenseMatrix::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            s[(i, j)] = m[(i, j)] + m[(j, i)];
        }
    }
    s
}
