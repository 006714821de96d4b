//! Problems generated from a seed, and small helpers of the tests.

use stiction_complementarity::linalg::DenseLu;
use stiction_complementarity::{DenseMatrix, Lcp, LcpLemke, LcpSolution, Outcome, Tolerance, solve};
pub(crate) use stiction_testkit::dense::{mixed, product, sparse, transpose};

/// SplitMix64 generator: the same sequence on every platform.
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// Uniform in [−1, 1).
    pub(crate) fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub(crate) fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.real()).collect()
    }

    /// Entries from −3 to 3.
    pub(crate) fn integers(&mut self, rows: usize, cols: usize) -> DenseMatrix {
        let data = (0..rows * cols).map(|_| self.below(7) as f64 - 3.0).collect();
        DenseMatrix::from_row_major(rows, cols, data).unwrap()
    }

    pub(crate) fn matrix(&mut self, rows: usize, cols: usize) -> DenseMatrix {
        DenseMatrix::from_row_major(rows, cols, self.vector(rows * cols)).unwrap()
    }
}

/// a⁻¹, column by column.
pub(crate) fn inverse(a: &DenseMatrix) -> DenseMatrix {
    let n = a.rows();
    let mut lu = DenseLu::default();
    lu.factor(n, |data| data.copy_from_slice(a.as_slice())).unwrap();
    let (mut result, mut x) = (DenseMatrix::zeros(n, n), vec![0.0; n]);
    for j in 0..n {
        let mut e = vec![0.0; n];
        e[j] = 1.0;
        lu.solve(&e, &mut x);
        for i in 0..n {
            result[(i, j)] = x[i];
        }
    }
    result
}

/// A random P-matrix: positive definite symmetric part plus a skew part.
pub(crate) fn p_matrix(seed: &mut Seed, n: usize) -> DenseMatrix {
    let a = seed.matrix(n, n);
    let mut m = product(&a, &transpose(&a));
    for i in 0..n {
        m[(i, i)] += 0.1;
        for j in 0..i {
            let skew = 2.0 * seed.real();
            m[(i, j)] += skew;
            m[(j, i)] -= skew;
        }
    }
    m
}

pub(crate) fn lcp<const N: usize>(m: [[f64; N]; N], q: [f64; N]) -> Lcp {
    Lcp::new(DenseMatrix::from_rows(&m), q.to_vec()).unwrap()
}

pub(crate) fn lemke(problem: &Lcp) -> Outcome<LcpSolution> {
    let mut solution = LcpSolution::default();
    let outcome = solve(&mut LcpLemke::new(), problem, None, &mut solution, &Tolerance::default());
    Outcome {
        solution: outcome.solution.clone(),
        status: outcome.status,
        residual: outcome.residual,
        iterations: outcome.iterations,
        guess_ignored: outcome.guess_ignored,
    }
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |largest: f64, (x, y)| largest.max((x - y).abs()))
}
