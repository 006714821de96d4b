//! Matrix classes (copositive, P, positive semidefinite) and the meaning of a ray of Lemke's method.   [LCP-9] [LCP-10]

use super::Lcp;
use super::lemke::LemkeFailure;
use crate::linalg::{DenseLu, DenseMatrix};

/// Largest number of rows for which all 2ⁿ faces are examined.
pub const MAX_DECIDED_SIZE: usize = 16;

/// Result of a test of a matrix class.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// The matrix is in the class, up to rounding.
    Yes,
    /// The matrix is not in the class; the witness is a vector, or a set as a vector of zeros and ones.
    No {
        /// The witness.
        witness: Vec<f64>,
    },
    /// The matrix is too large for a complete test, and no sufficient condition holds.
    Unknown,
}

/// Fraction of the largest entry of a matrix below which an entry counts as zero. Dimensionless.
const ZERO: f64 = 1e-12;

/// Tests if M is copositive: xᵀ M x ≥ 0 for all x ≥ 0; the witness of `No` is an x ≥ 0 with xᵀ M x < 0.   [LCP-9]
///
/// The test is complete for n ≤ [`MAX_DECIDED_SIZE`]. For larger n, `Yes` comes from a positive semidefinite symmetric part
/// or from nonnegative entries, `No` from a face of one or two rows.
pub fn is_copositive(m: &DenseMatrix) -> Finding {
    let n = m.rows().min(m.cols());
    let s = symmetric_part(m, n);
    if s.as_slice().iter().all(|&x| x >= 0.0) {
        return Finding::Yes;
    }
    let mut lu = DenseLu::default();
    if n <= MAX_DECIDED_SIZE {
        let faces = 1..1_u32 << n;
        return match faces.into_iter().find_map(|set| negative_on_face(&s, set, &mut lu)) {
            Some(witness) => Finding::No { witness },
            None => Finding::Yes,
        };
    }
    let witness = (0..n).find_map(|i| (0..=i).find_map(|j| negative_on_edge(&s, i, j)));
    match witness {
        Some(witness) => Finding::No { witness },
        None if is_positive_semidefinite(m) => Finding::Yes,
        None => Finding::Unknown,
    }
}

/// Tests if every principal minor is positive; the witness of `No` marks the rows of one that is not.   [LCP-10]
///
/// The test is complete for n ≤ [`MAX_DECIDED_SIZE`]. For larger n, `Yes` comes from a positive definite symmetric part,
/// `No` from a diagonal entry.
pub fn is_p_matrix(m: &DenseMatrix) -> Finding {
    let n = m.rows().min(m.cols());
    if n <= MAX_DECIDED_SIZE {
        let rows: Vec<usize> = (0..n).collect();
        let mut witness = vec![0.0; n];
        return if has_positive_minors(m, &rows, &mut witness) { Finding::Yes } else { Finding::No { witness } };
    }
    if let Some(i) = (0..n).find(|&i| m[(i, i)] <= 0.0) {
        let mut witness = vec![0.0; n];
        witness[i] = 1.0;
        return Finding::No { witness };
    }
    let definite = cholesky_succeeds(symmetric_part(m, n), ZERO);
    if definite { Finding::Yes } else { Finding::Unknown }
}

/// True if the symmetric part of M is positive semidefinite up to rounding. Such an M is copositive-plus.
pub fn is_positive_semidefinite(m: &DenseMatrix) -> bool {
    cholesky_succeeds(symmetric_part(m, m.rows().min(m.cols())), -ZERO)
}

/// True if y proves that no z ≥ 0 has M z + q ≥ 0: y ≥ 0, Mᵀ y ≤ 0, qᵀ y < 0, up to rounding.   [LCP-11]
pub fn proves_infeasible(problem: &Lcp, y: &[f64]) -> bool {
    let n = problem.size();
    if y.len() != n || y.iter().any(|&y| !y.is_finite() || y < 0.0) {
        return false;
    }
    let (q_y, q_size) = problem
        .q()
        .iter()
        .zip(y)
        .fold((0.0, 0.0), |(sum, size): (f64, f64), (q, y)| (sum + q * y, size + (q * y).abs()));
    // A large z can compensate a wrong sign among the columns, so their tolerance is far smaller than that of q.
    let column_holds = |j: usize| {
        let terms = (0..n).map(|i| problem.m()[(i, j)] * y[i]);
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size): (f64, f64), x| (sum + x, size + x.abs()));
        sum <= 1e-14 * n as f64 * size
    };
    q_y < -1e-9 * q_size && (0..n).all(column_holds)
}

/// Explanation of the end of Lemke's path for the user.
pub fn explain(problem: &Lcp, failure: LemkeFailure, ray: &[f64]) -> String {
    let LemkeFailure::Ray { row } = failure else { return failure.to_string() };
    let rows = || ray.iter().enumerate().filter(|(_, y)| **y > 0.0).map(|(i, _)| i.to_string());
    if proves_infeasible(problem, ray) {
        let rows: Vec<String> = rows().collect();
        return format!(
            "no solution: the rows {} of w = M z + q ≥ 0, added with positive weights, contradict z ≥ 0",
            rows.join(", ")
        );
    }
    match is_copositive(problem.m()) {
        _ if is_positive_semidefinite(problem.m()) => format!(
            "the path ended on a ray at row {row}; the matrix is positive semidefinite, so there is no solution unless \
             the ray is an artefact of rounding"
        ),
        Finding::Yes => format!(
            "the path ended on a ray at row {row}; the matrix is copositive, so q lies outside the cone for which a \
             solution is guaranteed, but one may exist"
        ),
        Finding::No { .. } => format!(
            "the path ended on a ray at row {row}; the matrix is not copositive, so this means only that this path found \
             no solution"
        ),
        Finding::Unknown => format!(
            "the path ended on a ray at row {row}; whether the matrix is copositive is unknown, so nothing is proved"
        ),
    }
}

fn symmetric_part(m: &DenseMatrix, n: usize) -> DenseMatrix {
    let mut s = DenseMatrix::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            s[(i, j)] = 0.5 * m[(i, j)] + 0.5 * m[(j, i)];
        }
    }
    s
}

/// Finds an x ≥ 0 with xᵀ S x < 0 inside the face of `set`.   [LCP-9]
///
/// The least value of xᵀ S x on the simplex lies inside some face, where S_FF x = λ e; it is negative exactly if
/// S_FF y = e has a solution y < 0 for some F.
fn negative_on_face(s: &DenseMatrix, set: u32, lu: &mut DenseLu) -> Option<Vec<f64>> {
    let n = s.rows();
    debug_assert!(n <= MAX_DECIDED_SIZE, "faces of a matrix with {n} rows");
    let face = || (0..n).filter(move |i| set >> i & 1 == 1);
    let size = face().count();
    lu.factor(size, |block| {
        let places = face().flat_map(|i| face().map(move |j| (i, j)));
        block.iter_mut().zip(places).for_each(|(entry, place)| *entry = s[place]);
    })
    .ok()?;
    let (e, mut y) = ([1.0; MAX_DECIDED_SIZE], [0.0; MAX_DECIDED_SIZE]);
    lu.solve(e.get(..size)?, y.get_mut(..size)?);
    if !y.iter().take(size).all(|&y| y < 0.0) {
        return None;
    }
    let total: f64 = y.iter().take(size).sum();
    let mut x = vec![0.0; n];
    face().zip(y).for_each(|(i, y)| x[i] = y / total);
    let largest = s.as_slice().iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    (quadratic(s, &x) < -ZERO * largest).then_some(x)
}

/// Finds an x ≥ 0 with xᵀ S x < 0 in the face of rows i and j.
fn negative_on_edge(s: &DenseMatrix, i: usize, j: usize) -> Option<Vec<f64>> {
    let mut x = vec![0.0; s.rows()];
    let (a, b, c) = (s[(i, i)], s[(j, j)], s[(i, j)]);
    if i == j || a < 0.0 {
        x[i] = 1.0;
    } else if c < 0.0 && b >= 0.0 {
        // The minimiser of a s² + 2 c s + b over s, with a bound for a = 0.
        x[i] = if a > 0.0 { -c / a } else { (b + 1.0) / -c };
        x[j] = 1.0;
    }
    let size: f64 = x[i] * x[i] * a.abs() + 2.0 * (x[i] * x[j] * c).abs() + x[j] * x[j] * b.abs();
    (quadratic(s, &x) < -ZERO * size).then_some(x)
}

fn quadratic(s: &DenseMatrix, x: &[f64]) -> f64 {
    (0..x.len()).map(|i| x[i] * crate::linalg::dot(s.row(i), x)).sum()
}

/// True if all principal minors are positive.   [LCP-10]
///
/// This holds exactly if m₀₀ > 0 and it holds for M without its first row and column and for the Schur complement of m₀₀.
fn has_positive_minors(m: &DenseMatrix, rows: &[usize], witness: &mut [f64]) -> bool {
    let Some((&first, rest)) = rows.split_first() else { return true };
    let pivot = m[(0, 0)];
    let size = m.row(0).iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    witness[first] = 1.0;
    if pivot <= ZERO * size {
        return false;
    }
    let n = rest.len();
    let (mut minor, mut complement) = (DenseMatrix::zeros(n, n), DenseMatrix::zeros(n, n));
    for i in 0..n {
        for j in 0..n {
            minor[(i, j)] = m[(i + 1, j + 1)];
            complement[(i, j)] = minor[(i, j)] - m[(i + 1, 0)] / pivot * m[(0, j + 1)];
        }
    }
    if !has_positive_minors(&complement, rest, witness) {
        return false;
    }
    witness[first] = 0.0;
    has_positive_minors(&minor, rest, witness)
}

/// True if Cholesky succeeds with pivots above `least` times the largest diagonal entry.
///
/// Pivots that count as zero must have zero columns.
fn cholesky_succeeds(mut s: DenseMatrix, least: f64) -> bool {
    let n = s.rows();
    let largest = (0..n).fold(0.0, |largest: f64, i| largest.max(s[(i, i)].abs()));
    for k in 0..n {
        let pivot = s[(k, k)];
        if pivot < least * largest {
            return false;
        }
        if pivot <= ZERO * largest {
            if (k + 1..n).any(|i| s[(i, k)].abs() > ZERO.sqrt() * largest) {
                return false;
            }
            continue;
        }
        for i in k + 1..n {
            let factor = s[(i, k)] / pivot;
            for j in k + 1..=i {
                let update = factor * s[(j, k)];
                s[(i, j)] -= update;
            }
        }
    }
    true
}
