//! Random problems of every class by families, well posed and not.
//!
//! The tests of all methods and the ablation of the ladders use them, by the same seeds.

use crate::Random;
use crate::dense::{mixed, product, transpose};
use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{Bodies, BoxLcp, DenseMatrix, FrictionProblem, Law, Lcp, MixedLcp, Operator};

/// Class of the matrix of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Positive definite.
    Definite,
    /// Positive semidefinite, below full rank.
    Deficient,
    /// Semidefinite with rows and columns, and the constants, in units 1e±8 apart.
    Scaled,
    /// Semidefinite with rows repeated.
    Duplicated,
    /// Semidefinite with zero rows.
    ZeroRows,
    /// Positive definite symmetric part plus a skew one.
    Unsymmetric,
    /// Semidefinite, with constants that may be infeasible.
    Unreachable,
    /// No structure.
    Wild,
}

impl Family {
    /// All families, in the order of the tests.
    pub const ALL: [Self; 8] = [
        Self::Definite,
        Self::Deficient,
        Self::Scaled,
        Self::Duplicated,
        Self::ZeroRows,
        Self::Unsymmetric,
        Self::Unreachable,
        Self::Wild,
    ];

    /// True if a solution exists by construction.
    pub fn is_well_posed(self) -> bool {
        !matches!(self, Self::Unreachable | Self::Wild)
    }
}

/// The value of a constructor whose arguments are right by construction.
fn sound<T, E: std::fmt::Display>(made: Result<T, E>) -> T {
    made.unwrap_or_else(|error| panic!("a problem of a family: {error}"))
}

/// The matrix of these entries, row by row.
fn dense(rows: usize, cols: usize, entries: Vec<f64>) -> DenseMatrix {
    DenseMatrix::from_row_major(rows, cols, entries).unwrap_or_else(|| panic!("{rows} by {cols} entries"))
}

/// Unit between 1e-8 and 1e8.
fn unit(random: &mut Random) -> f64 {
    libm::pow(10.0, random.uniform(-8.0, 8.0))
}

fn normals(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.normal()).collect()
}

/// A factor B of n rows, M = B Bᵀ.
fn factor(random: &mut Random, family: Family, n: usize) -> DenseMatrix {
    let rank = match family {
        Family::Deficient | Family::Unreachable => 1 + random.below(n),
        _ => n + 1,
    };
    let mut b = dense(n, rank, normals(random, n * rank));
    match family {
        Family::Scaled => {
            let columns: Vec<f64> = (0..rank).map(|_| unit(random).sqrt()).collect();
            for i in 0..n {
                b.row_mut(i).iter_mut().zip(&columns).for_each(|(b, unit)| *b *= unit);
            }
        }
        Family::Duplicated if n > 1 => {
            for i in n / 2..n {
                let row = b.row(i - n / 2).to_vec();
                b.row_mut(i).copy_from_slice(&row);
            }
        }
        Family::ZeroRows => b.row_mut(random.below(n)).fill(0.0),
        _ => {}
    }
    b
}

/// M of the family.
fn matrix(random: &mut Random, family: Family, n: usize) -> DenseMatrix {
    if family == Family::Wild {
        // Every other problem has small integers: ties and exact singularity.
        let integers = random.below(2) == 0;
        let entry = |random: &mut Random| if integers { random.below(5) as f64 - 2.0 } else { random.normal() };
        return dense(n, n, (0..n * n).map(|_| entry(random)).collect());
    }
    let b = factor(random, family, n);
    let mut m = product(&b, &transpose(&b));
    if family == Family::Unsymmetric {
        for i in 0..n {
            for j in 0..i {
                let skew = random.uniform(-2.0, 2.0);
                m[(i, j)] += skew;
                m[(j, i)] -= skew;
            }
        }
    }
    m
}

/// q = w − M z for complementary z and w between bounds: a problem with a known solution.
fn planted(random: &mut Random, m: &DenseMatrix, size: f64, bounds: impl Fn(usize) -> (f64, f64)) -> Vec<f64> {
    let n = m.rows();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let (lower, upper) = bounds(i);
        let away = size * random.unit();
        match random.below(3) {
            0 if lower.is_finite() => (z[i], w[i]) = (lower, away),
            1 if upper.is_finite() => (z[i], w[i]) = (upper, -away),
            _ => z[i] = (lower.max(-size) + size * random.unit()).min(upper),
        }
    }
    (0..n).map(|i| w[i] - m.row(i).iter().zip(&z).map(|(m, z)| m * z).sum::<f64>()).collect()
}

fn constants(random: &mut Random, family: Family, m: &DenseMatrix, bounds: impl Fn(usize) -> (f64, f64)) -> Vec<f64> {
    let size = if family == Family::Scaled { unit(random) } else { 1.0 };
    if family.is_well_posed() { planted(random, m, size, bounds) } else { normals(random, m.rows()) }
}

/// An LCP of up to eight rows.
pub fn lcp(random: &mut Random, family: Family) -> Lcp {
    let n = 1 + random.below(8);
    lcp_of_size(random, family, n)
}

/// An LCP of `n` rows.
pub fn lcp_of_size(random: &mut Random, family: Family, n: usize) -> Lcp {
    let m = matrix(random, family, n);
    let q = constants(random, family, &m, |_| (0.0, f64::INFINITY));
    sound(Lcp::new(m, q))
}

/// A box-constrained LCP of up to five rows.
pub fn box_lcp(random: &mut Random, family: Family) -> BoxLcp {
    let n = 1 + random.below(5);
    let m = matrix(random, family, n);
    let bounds: Vec<(f64, f64)> = (0..n)
        .map(|_| match random.below(5) {
            0 => (0.0, f64::INFINITY),
            1 => (f64::NEG_INFINITY, random.normal()),
            2 => (f64::NEG_INFINITY, f64::INFINITY),
            3 => (0.5, 0.5),
            _ => (-random.unit(), random.unit()),
        })
        .collect();
    let q = constants(random, family, &m, |i| bounds[i]);
    let (lower, upper) = bounds.into_iter().unzip();
    sound(BoxLcp::new(m, q, lower, upper))
}

/// Mixed problem from the matrix of an LCP with some variables made free.
pub fn mixed_lcp(random: &mut Random, family: Family) -> MixedLcp {
    let (free, pairs) = (1 + random.below(4), random.below(5));
    let n = free + pairs;
    let m = matrix(random, family, n);
    let bounds = |i: usize| if i < free { (f64::NEG_INFINITY, f64::INFINITY) } else { (0.0, f64::INFINITY) };
    let q = constants(random, family, &m, bounds);
    let part = |rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| {
        let data = rows.clone().flat_map(|i| m.row(i)[cols.clone()].to_vec()).collect();
        dense(rows.len(), cols.len(), data)
    };
    let blocks = [part(0..free, 0..free), part(0..free, free..n), part(free..n, 0..free), part(free..n, free..n)];
    sound(mixed(blocks.each_ref(), q[..free].to_vec(), q[free..].to_vec()))
}

/// Random μ, including 0 and 10.
fn coefficient(random: &mut Random) -> f64 {
    match random.below(6) {
        0 => 0.0,
        1 => 10.0,
        _ => random.uniform(0.0, 1.2),
    }
}

fn law(random: &mut Random) -> Law {
    let mu = coefficient(random);
    match random.below(10) {
        0 => Law::Equality { rows: 1 + random.below(3) },
        1 => Law::Bounded { lower: 0.0, upper: f64::INFINITY },
        2 => Law::Bounded { lower: -random.unit(), upper: random.unit() },
        3 => Law::Cone { rows: 2, mu },
        4 => Law::Cone { rows: 4, mu },
        5 => Law::Rolling { rows: 3 + random.below(4), mu, mu_r: coefficient(random) },
        _ => Law::Cone { rows: 3, mu },
    }
}

fn laws(random: &mut Random, family: Family) -> Vec<Law> {
    let mut laws: Vec<Law> = (0..=random.below(3)).map(|_| law(random)).collect();
    if family == Family::Duplicated {
        laws.extend(laws.clone());
    }
    laws
}

/// Rows of a factor B of W = B Bᵀ: duplicated ones by whole blocks.
fn contact_factor(random: &mut Random, family: Family, laws: &[Law]) -> DenseMatrix {
    let n = laws.iter().map(Law::rows).sum();
    let mut b = factor(random, if family == Family::Duplicated { Family::Definite } else { family }, n);
    if family == Family::Duplicated {
        for i in n / 2..n {
            let row = b.row(i - n / 2).to_vec();
            b.row_mut(i).copy_from_slice(&row);
        }
    }
    b
}

/// Frictional problem with an assembled W.
pub fn local_friction(random: &mut Random, family: Family) -> FrictionProblem {
    let laws = laws(random, family);
    let n: usize = laws.iter().map(Law::rows).sum();
    let (w, q) = if family == Family::Wild {
        (matrix(random, family, n), normals(random, n))
    } else {
        let b = contact_factor(random, family, &laws);
        let mut w = product(&b, &transpose(&b));
        // q = B v: rest is admissible, hence there is a solution.
        let speed = if family == Family::Scaled { unit(random) } else { 1.0 };
        let v: Vec<f64> = (0..b.cols()).map(|_| speed * random.normal()).collect();
        let mut q = vec![0.0; n];
        b.mul_add_into(&v, &mut q);
        if family == Family::Unsymmetric {
            for i in 0..n {
                for j in 0..i {
                    let skew = random.uniform(-0.5, 0.5);
                    w[(i, j)] += skew;
                    w[(j, i)] -= skew;
                }
            }
        }
        (w, if family == Family::Unreachable { normals(random, n) } else { q })
    };
    sound(FrictionProblem::new(Operator::Assembled(blocks(&laws, &w)), laws, q))
}

/// Blocks of `w` with the rows of `laws`.
pub fn blocks(laws: &[Law], w: &DenseMatrix) -> BlockMatrix {
    let mut offsets = vec![0];
    for law in laws {
        offsets.push(offsets[offsets.len() - 1] + law.rows());
    }
    let mut result = BlockMatrix::default();
    result.clear(laws.iter().map(Law::rows), laws.iter().map(Law::rows));
    for i in 0..laws.len() {
        for j in 0..laws.len() {
            let block: Vec<f64> =
                (offsets[i]..offsets[i + 1]).flat_map(|row| w.row(row)[offsets[j]..offsets[j + 1]].to_vec()).collect();
            result.push(j, &block);
        }
        result.finish_row();
    }
    result
}

/// Frictional problem with a matrix-free W; families without bodies (unsymmetric, wild) are semidefinite here.
pub fn global_friction(random: &mut Random, family: Family) -> FrictionProblem {
    let (laws, count) = (laws(random, family), 1 + random.below(3));
    let size = if random.below(2) == 0 { 3 } else { 6 };
    let (mut jacobian, mut q) = (BlockMatrix::default(), Vec::new());
    jacobian.clear(laws.iter().map(Law::rows), std::iter::repeat_n(size, count));
    let scaled = family == Family::Scaled;
    let (speed, arm) = if scaled { (unit(random), unit(random).sqrt()) } else { (1.0, 1.0) };
    let v: Vec<f64> = (0..size * count).map(|_| speed * random.normal()).collect();
    let mut rows: Vec<Vec<(usize, Vec<f64>)>> = Vec::new();
    for (i, law) in laws.iter().enumerate() {
        let copy = (family == Family::Duplicated && i >= laws.len() / 2).then(|| rows[i - laws.len() / 2].clone());
        let first = random.below(count);
        let second = Some(random.below(count)).filter(|second| *second > first);
        let fresh = [Some(first), second].into_iter().flatten();
        let row = copy.unwrap_or_else(|| fresh.map(|body| (body, normals(random, law.rows() * size))).collect());
        rows.push(row);
    }
    for (law, row) in laws.iter().zip(&mut rows) {
        let mut free = vec![0.0; law.rows()];
        for (body, block) in row {
            for (k, line) in block.chunks_exact_mut(size).enumerate() {
                if scaled {
                    // Angular velocities are the last half of the unknowns: lengths have other units.
                    line[size / 2..].iter_mut().for_each(|x| *x *= arm);
                }
                if family == Family::ZeroRows && k == 1 {
                    line.fill(0.0);
                }
                free[k] += line.iter().zip(&v[*body * size..]).map(|(a, v)| a * v).sum::<f64>();
            }
            jacobian.push(*body, block);
        }
        jacobian.finish_row();
        q.extend(free);
    }
    if matches!(family, Family::Unreachable | Family::Wild) {
        q = normals(random, q.len());
    }
    let mass = (0..count).flat_map(|_| mass_block(random, size, if scaled { arm } else { 1.0 }, scaled)).collect();
    let bodies = sound(Bodies::new(jacobian, mass));
    sound(FrictionProblem::new(Operator::MatrixFree(bodies), laws, q))
}

/// A mass matrix of condition number below ten, angular velocities in the unit `arm`.
fn mass_block(random: &mut Random, size: usize, arm: f64, scaled: bool) -> Vec<f64> {
    let mass = if scaled { unit(random) } else { random.uniform(0.5, 2.0) };
    let length = |k: usize| if k < size / 2 { 1.0 } else { arm };
    let mut block = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..i {
            block[i * size + j] = mass * length(i) * length(j) * random.uniform(-0.1, 0.1);
            block[j * size + i] = block[i * size + j];
        }
        block[i * (size + 1)] = mass * length(i) * length(i) * random.uniform(1.0, 2.0);
    }
    block
}
