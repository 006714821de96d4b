//! Problems of the literature, restated from their sources.

use super::CorpusFile;
use stiction_complementarity::{DenseMatrix, Expression, ExpressionFunction, Lcp, Ncp, NcpSolution, ProblemFile};

const FOLDER: &str = "textbook";

pub(super) fn files() -> Vec<CorpusFile> {
    [exponential(), small(), nonlinear()].concat()
}

fn lcp(
    name: &str,
    family: &'static str,
    citation: &str,
    entry: impl Fn(usize, usize) -> f64,
    q: Vec<f64>,
) -> CorpusFile {
    let mut m = DenseMatrix::zeros(q.len(), q.len());
    for i in 0..q.len() {
        m.row_mut(i).iter_mut().enumerate().for_each(|(j, value)| *value = entry(i, j));
    }
    let lcp = Lcp::new(m, q).unwrap_or_else(|error| panic!("{name}: {error}"));
    CorpusFile::new(FOLDER, name, family, citation, ProblemFile::Lcp(lcp))
}

fn given<const N: usize>(
    name: &str,
    family: &'static str,
    citation: &str,
    m: [[f64; N]; N],
    q: [f64; N],
) -> CorpusFile {
    lcp(name, family, citation, |i, j| m[i][j], q.to_vec())
}

/// Lower triangular matrix with 1 on the diagonal and 2 below it.
fn lower(i: usize, j: usize) -> f64 {
    match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => 2.0,
    }
}

/// Families on which pivoting rules visit exponentially many bases.
fn exponential() -> Vec<CorpusFile> {
    let murty = "K. G. Murty, Computational complexity of complementary pivot methods, Math. Programming Study 7, 1978: \
                 lower triangular, q_i = −Σ_{j=n−i}^{n} 2^j; Lemke's path has 2ⁿ pivots";
    let upper = "K. G. Murty, Linear Complementarity, Linear and Nonlinear Programming, 1988, ch. 6: upper triangular, q = −e; \
                 the least-index rule visits exponentially many sets";
    let fathi = "Y. Fathi, Computational complexity of LCPs associated with positive definite symmetric matrices, Math. \
                 Programming 17, 1979: M = L Lᵀ with L Murty's matrix, q = −e";
    let murty_q =
        |n: usize| -> Vec<f64> { (0..n).map(|i| -(n - i..=n).map(|j| f64::from(1 << j)).sum::<f64>()).collect() };
    let gram = |i: usize, j: usize| (0..=i.min(j)).map(|k| lower(i, k) * lower(j, k)).sum();
    vec![
        lcp("murty-8", "exponential", murty, lower, murty_q(8)),
        lcp("murty-14", "exponential", murty, lower, murty_q(14)),
        lcp("murty-upper-10", "exponential", upper, |i, j| lower(j, i), vec![-1.0; 10]),
        lcp("fathi-16", "exponential", fathi, gram, vec![-1.0; 16]),
        lcp("fathi-40", "exponential", fathi, gram, vec![-1.0; 40]),
    ]
}

const KOSTREVA: &str = "M. M. Kostreva, Cycling in linear complementarity problems, Math. Programming 16, 1979: all ratios \
                        tie at the first pivot, and pivoting by blocks cycles";
const PANG: &str = "after J.-S. Pang: a solution at one point only, gone after a small change of q (the example that other \
                    collections carry under this name; restated)";
const GAME: &str = "C. E. Lemke, J. T. Howson, Equilibrium points of bimatrix games, J. SIAM 12, 1964: the LCP of a game; numbers \
                    of C. A. Floudas et al., Handbook of Test Problems in Local and Global Optimization, 1999, sec. 10.2.4";
const PAINLEVE: &str = "P. Lötstedt, Coulomb friction in two-dimensional rigid body systems, ZAMM 61, 1981: the normal \
                        acceleration of Painlevé's sliding rod with a negative diagonal";
const HORN: &str = "M. Hall, M. Newman, Copositive and completely positive quadratic forms, Proc. Cambridge Phil. Soc. 59, 1963: \
                    Horn's matrix, copositive but no sum of a semidefinite and a nonnegative one; q = −e";
const Z_MATRIX: &str = "R. Chandrasekaran, A special case of the complementary pivot problem, Opsearch 7, 1970: Z-matrices; \
                        here the obstacle problem of a string over 25 points";
const AHN: &str = "B.-H. Ahn, Iterative methods for linear complementarity problems with upper bounds on primary variables, Math. \
                   Programming 26, 1983: tridiagonal (1, 4, −2), q = −e";
const MURTY_BOOK: &str =
    "K. G. Murty, Linear Complementarity, Linear and Nonlinear Programming, 1988, sec. 1.1: z = (4/3, 7/3)";

fn small() -> Vec<CorpusFile> {
    let pang = [[0.0, -1.0, -1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]];
    let game = [[0.0, 0.0, 10.0, 20.0], [0.0, 0.0, 30.0, 15.0], [10.0, 20.0, 0.0, 0.0], [30.0, 15.0, 0.0, 0.0]];
    let contact = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, -1.0, 1.0], [0.0, -1.0, 1.0, 1.0], [0.5, -1.0, -1.0, 0.0]];
    let tridiagonal = |below: f64, above: f64, diagonal: f64| {
        move |i: usize, j: usize| match (i.abs_diff(j), i < j) {
            (0, _) => diagonal,
            (1, true) => above,
            (1, false) => below,
            _ => 0.0,
        }
    };
    // Obstacle problem −u'' ≥ f with u ≥ 0: f acts downwards in the middle and upwards at the sides.
    let obstacle_q: Vec<f64> = (0..25).map(|i: i32| if (8..17).contains(&i) { 0.2 } else { -0.1 }).collect();
    let stewart = "D. E. Stewart, J. C. Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic collisions \
                   and Coulomb friction, Int. J. Numer. Meth. Eng. 39, 1996: one sliding contact with two directions, our numbers";
    let cps = "R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992, ch. 3: feasible, but without a \
               solution; our numbers";
    let horn = |i: usize, j: usize| match (j + 5 - i) % 5 {
        1 | 4 => -1.0,
        _ => 1.0,
    };
    vec![
        given("murty-2", "small", MURTY_BOOK, [[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]),
        given(
            "kostreva-3",
            "cycling",
            KOSTREVA,
            [[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]],
            [-1.0, -1.0, -1.0],
        ),
        given("pang-isolated", "degenerate", PANG, pang, [0.0, -1.0, 1.0]),
        given("pang-perturbed", "unsolvable", PANG, pang, [0.0, -1.0, 0.999]),
        given(
            "feasible-unsolvable",
            "unsolvable",
            cps,
            [[-1.0, -1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]],
            [0.0, -2.0, -3.0],
        ),
        given("bimatrix-4", "ray", GAME, game, [-1.0; 4]),
        given("painleve-two", "small", PAINLEVE, [[-1.0]], [1.0]),
        given("painleve-none", "unsolvable", PAINLEVE, [[-1.0]], [-1.0]),
        given("stewart-trinkle-contact", "small", stewart, contact, [-0.1, 0.01, -0.01, 0.0]),
        lcp("horn-5", "copositive", HORN, horn, vec![-1.0; 5]),
        lcp("obstacle-25", "z-matrix", Z_MATRIX, tridiagonal(-1.0, -1.0, 2.0), obstacle_q),
        lcp("ahn-60", "large", AHN, tridiagonal(1.0, -2.0, 4.0), vec![-1.0; 60]),
    ]
}

/// A sum of products, from coefficients and lists of variables.
fn polynomial(terms: &[(f64, &[usize])]) -> Expression {
    let term = |(c, variables): &(f64, &[usize])| {
        let variables = variables.iter().map(|&i| Expression::Variable(i));
        Expression::Product(std::iter::once(Expression::Number(*c)).chain(variables).collect())
    };
    Expression::Sum(terms.iter().map(term).collect())
}

fn ncp(name: &str, family: &'static str, citation: &str, rows: Vec<Expression>, starts: &[&[f64]]) -> CorpusFile {
    let n = rows.len();
    let function = ExpressionFunction::new(rows, vec![0.0; n], vec![f64::INFINITY; n]);
    let problem = function.and_then(Ncp::new).unwrap_or_else(|error| panic!("{name}: {error}"));
    let starts = starts.iter().map(|start| NcpSolution { z: start.to_vec() }).collect();
    CorpusFile::new(FOLDER, name, family, citation, ProblemFile::Ncp { problem, starts })
}

/// The four quadratic rows of the problems of Josephy and of Kojima and Shindo, which differ in three numbers only.
fn quadratics([f2_x3, f3_x4, f3]: [f64; 3]) -> Vec<Expression> {
    let first: &[(f64, &[usize])] =
        &[(3.0, &[0, 0]), (2.0, &[0, 1]), (2.0, &[1, 1]), (1.0, &[2]), (3.0, &[3]), (-6.0, &[])];
    let last: &[(f64, &[usize])] = &[(1.0, &[0, 0]), (3.0, &[1, 1]), (2.0, &[2]), (3.0, &[3]), (-3.0, &[])];
    vec![
        polynomial(first),
        polynomial(&[(2.0, &[0, 0]), (1.0, &[0]), (1.0, &[1, 1]), (f2_x3, &[2]), (2.0, &[3]), (-2.0, &[])]),
        polynomial(&[(3.0, &[0, 0]), (1.0, &[0, 1]), (2.0, &[1, 1]), (2.0, &[2]), (f3_x4, &[3]), (f3, &[])]),
        polynomial(last),
    ]
}

fn nonlinear() -> Vec<CorpusFile> {
    let josephy = "N. H. Josephy, Newton's method for generalized equations, MRC report 1965, University of Wisconsin, 1979: \
                   z = (√6/2, 0, 0, 1/2)";
    let kojima = "M. Kojima, S. Shindo, Extension of Newton and quasi-Newton methods to systems of PC¹ equations, J. Oper. Res. \
                  Soc. Japan 29, 1986: two solutions, one of them degenerate";
    let billups = "S. C. Billups, Algorithms for complementarity problems and generalized equations, thesis, University of \
                   Wisconsin, 1995: F = (x − 1)² − 1.01, built against Newton from zero";
    let starts: &[&[f64]] = &[&[0.0; 4], &[1.0; 4], &[1.0, 0.0, 1.0, 0.0], &[100.0; 4]];
    let bump = polynomial(&[(1.0, &[0, 0]), (-2.0, &[0]), (1.0 - 1.01, &[])]);
    let negative =
        Expression::Product(vec![Expression::Number(-1.0), Expression::Exp(Box::new(Expression::Variable(0)))]);
    vec![
        ncp("josephy", "nonlinear", josephy, quadratics([3.0, 3.0, -1.0]), starts),
        ncp("kojima-shindo", "nonlinear", kojima, quadratics([10.0, 9.0, -9.0]), starts),
        ncp("billups", "nonlinear", billups, vec![bump], &[&[0.0], &[3.0]]),
        ncp("exponential-none", "unsolvable", "F(x) = −exp(x) < 0 for every x ≥ 0: no solution", vec![negative], &[]),
    ]
}
