//! Second implementation of the residuals of all problems, from their definitions and without the code of the crate.
//!
//! Products are summed in twice the precision, projections are computed by bisection.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{BoxLcp, FrictionProblem, Law, Lcp, MixedLcp, Operator};

/// A residual and a bound on its rounding error in double precision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) residual: f64,
    pub(crate) rounding: f64,
}

/// Σ x y with its accumulated rounding error, and Σ |x y|.
#[derive(Clone, Copy, Default)]
struct Sum {
    value: f64,
    error: f64,
    size: f64,
}

impl Sum {
    fn add(&mut self, x: f64, y: f64) {
        let product = x * y;
        let next = self.value + product;
        let part = next - self.value;
        self.error += x.mul_add(y, -product) + ((self.value - (next - part)) + (product - part));
        self.value = next;
        self.size += product.abs();
    }

    fn total(&self) -> f64 {
        self.value + self.error
    }
}

/// Bound on the rounding error of a row: twice the unit roundoff times its operations.
fn rounding(terms: usize, size: f64) -> f64 {
    f64::EPSILON * (terms as f64 + 8.0) * size
}

/// Largest violation over all rows, divided by max(1, constants).
fn worst(rows: impl Iterator<Item = (f64, f64)>, constants: impl Iterator<Item = f64>) -> Measured {
    let scale = constants.fold(1.0, |scale: f64, c| scale.max(c.abs()));
    let mut measured = Measured { residual: 0.0, rounding: 0.0 };
    for (violation, error) in rows {
        let violation = if violation.is_nan() { f64::INFINITY } else { violation.abs() };
        measured.residual = measured.residual.max(violation / scale);
        measured.rounding = measured.rounding.max(error / scale);
    }
    measured
}

/// Natural map: distance from z to the projection of z − w onto its bounds.
fn step_back(z: f64, w: f64, lower: f64, upper: f64) -> f64 {
    if !(z.is_finite() && w.is_finite()) {
        return f64::INFINITY;
    }
    let goal = z - w;
    let end = if goal < lower {
        lower
    } else if goal > upper {
        upper
    } else {
        return w;
    };
    z - end
}

pub(crate) fn lcp(problem: &Lcp, z: &[f64]) -> Measured {
    let row = |i: usize| {
        let mut w = Sum::default();
        w.add(problem.q()[i], 1.0);
        problem.m().row(i).iter().zip(z).for_each(|(m, z)| w.add(*m, *z));
        (step_back(z[i], w.total(), 0.0, f64::INFINITY), rounding(z.len(), w.size + z[i].abs()))
    };
    worst((0..problem.size()).map(row), problem.q().iter().copied())
}

pub(crate) fn box_lcp(problem: &BoxLcp, z: &[f64]) -> Measured {
    let row = |i: usize| {
        let mut w = Sum::default();
        w.add(problem.q()[i], 1.0);
        problem.m().row(i).iter().zip(z).for_each(|(m, z)| w.add(*m, *z));
        let violation = step_back(z[i], w.total(), problem.lower()[i], problem.upper()[i]);
        (violation, rounding(z.len(), w.size + z[i].abs()))
    };
    worst((0..problem.size()).map(row), problem.q().iter().copied())
}

pub(crate) fn mixed_lcp(problem: &MixedLcp, free: &[f64], z: &[f64]) -> Measured {
    let value = |block: &stiction_complementarity::RowBlock, i: usize| {
        let mut sum = Sum::default();
        sum.add(block.constant[i], 1.0);
        block.on_free.row(i).for_each(|(j, a)| sum.add(a, free[j]));
        block.on_complementary.row(i).for_each(|(j, a)| sum.add(a, z[j]));
        sum
    };
    let terms = free.len() + z.len();
    let equalities = (0..free.len()).map(|i| {
        let sum = value(&problem.equality, i);
        (sum.total(), rounding(terms, sum.size))
    });
    let pairs = (0..z.len()).map(|i| {
        let w = value(&problem.complementarity, i);
        (step_back(z[i], w.total(), 0.0, f64::INFINITY), rounding(terms, w.size + z[i].abs()))
    });
    let constants = problem.equality.constant.iter().chain(&problem.complementarity.constant);
    worst(equalities.chain(pairs), constants.copied())
}

/// ‖r − P_K(r − û)‖₂ / ‖q‖₂.
pub(crate) fn friction(problem: &FrictionProblem, r: &[f64]) -> Measured {
    let mut u: Vec<Sum> = problem.q().iter().map(|q| Sum { value: *q, error: 0.0, size: q.abs() }).collect();
    let terms = match problem.operator() {
        Operator::Assembled(w) => add_product(w, r, &mut u),
        Operator::MatrixFree(bodies) => {
            let jacobian = bodies.jacobian();
            let impulses = transposed_product(jacobian, r);
            let mut velocities = vec![Sum::default(); impulses.len()];
            for body in 0..jacobian.block_cols() {
                let range = jacobian.col_range(body);
                let inverse = inverse(bodies.mass(body), range.len());
                for (k, i) in range.clone().enumerate() {
                    for (l, j) in range.clone().enumerate() {
                        velocities[i].add(inverse[k * range.len() + l], impulses[j].total());
                        velocities[i].size += (inverse[k * range.len() + l] * impulses[j].size).abs();
                    }
                }
            }
            let totals: Vec<f64> = velocities.iter().map(Sum::total).collect();
            let terms = add_product(jacobian, &totals, &mut u);
            let sizes: Vec<f64> = velocities.iter().map(|v| v.size).collect();
            add_sizes(jacobian, &sizes, &mut u);
            // Masses are inverted a second time: a few more roundings, amplified by their condition number below ten.
            10 * terms
        }
        _ => panic!("the test has no residual for this operator"),
    };
    for ((u, c), r) in u.iter_mut().zip(problem.compliance()).zip(r) {
        u.add(*c, *r);
    }
    let scale = length(problem.q());
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let (mut violations, mut errors) = (Vec::new(), Vec::new());
    for (block, law) in problem.laws().iter().enumerate() {
        let range = problem.range(block);
        let totals: Vec<f64> = u[range.clone()].iter().map(Sum::total).collect();
        let (violation, cut) = violation(law, &r[range.clone()], &totals);
        violations.push(violation);
        let friction = match *law {
            Law::Cone { mu, .. } => mu,
            Law::Rolling { mu, mu_r, .. } => mu + mu_r,
            _ => 0.0,
        };
        // Impulses have a rounding error only if the projection changes them.
        let sizes: Vec<f64> = range.map(|i| u[i].size + if cut { r[i].abs() } else { 0.0 }).collect();
        errors.push((1.0 + friction) * (1.0 + friction) * rounding(terms, length(&sizes)));
    }
    let finite = r.iter().all(|r| r.is_finite()) && violations.iter().all(|v| v.is_finite());
    let residual = if finite { length(&violations) / scale } else { f64::INFINITY };
    Measured { residual, rounding: length(&errors) / scale }
}

/// Euclidean length without overflow or underflow of the squares.
fn length(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |length: f64, x| libm::hypot(length, *x))
}

fn add_product(a: &BlockMatrix, x: &[f64], y: &mut [Sum]) -> usize {
    for i in 0..a.block_rows() {
        for (col, block) in a.row(i) {
            let cols = a.col_range(col);
            for (y, row) in y[a.row_range(i)].iter_mut().zip(block.chunks_exact(cols.len())) {
                row.iter().zip(&x[cols.clone()]).for_each(|(a, x)| y.add(*a, *x));
            }
        }
    }
    a.cols()
}

fn add_sizes(a: &BlockMatrix, x: &[f64], y: &mut [Sum]) {
    for i in 0..a.block_rows() {
        for (col, block) in a.row(i) {
            let cols = a.col_range(col);
            for (y, row) in y[a.row_range(i)].iter_mut().zip(block.chunks_exact(cols.len())) {
                row.iter().zip(&x[cols.clone()]).for_each(|(a, x)| y.size += (a * x).abs());
            }
        }
    }
}

fn transposed_product(a: &BlockMatrix, x: &[f64]) -> Vec<Sum> {
    let mut y = vec![Sum::default(); a.cols()];
    for i in 0..a.block_rows() {
        for (col, block) in a.row(i) {
            let cols = a.col_range(col);
            for (row, x) in block.chunks_exact(cols.len()).zip(&x[a.row_range(i)]) {
                y[cols.clone()].iter_mut().zip(row).for_each(|(y, a)| y.add(*a, *x));
            }
        }
    }
    y
}

/// Gauss-Jordan elimination of a positive definite block.
fn inverse(a: &[f64], n: usize) -> Vec<f64> {
    let mut left = a.to_vec();
    let mut right: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
    for k in 0..n {
        let pivot = left[k * n + k];
        for matrix in [&mut left, &mut right] {
            matrix[k * n..(k + 1) * n].iter_mut().for_each(|x| *x /= pivot);
        }
        for i in (0..n).filter(|i| *i != k) {
            let factor = left[i * n + k];
            for matrix in [&mut left, &mut right] {
                for j in 0..n {
                    matrix[i * n + j] -= factor * matrix[k * n + j];
                }
            }
        }
    }
    right
}

/// ‖r − P_K(r − û)‖ of one block, and true if the projection changes r − û.
fn violation(law: &Law, r: &[f64], u: &[f64]) -> (f64, bool) {
    match *law {
        Law::Equality { .. } => (length(u), false),
        Law::Bounded { lower, upper } => (step_back(r[0], u[0], lower, upper), true),
        Law::Cone { mu, .. } => cone_violation(r, u, &[(1, r.len(), mu)]),
        Law::Rolling { rows, mu, mu_r } => cone_violation(r, u, &[(1, 1 + rows / 2, mu), (1 + rows / 2, rows, mu_r)]),
        _ => panic!("the test has no residual for this law"),
    }
}

/// The same for the cone {‖r_k‖ ≤ μ_k r_N for all parts k}.
///
/// At a given normal component n every part is projected onto the disc of radius μ_k n. So the nearest point has the n ≥ 0 at
/// which n − goal_N − Σ μ_k max(0, ‖goal_k‖ − μ_k n), which increases with n, is zero; bisection finds it. Inside of the cone
/// the projection is the identity, and the result is û.
fn cone_violation(r: &[f64], u: &[f64], parts: &[(usize, usize, f64)]) -> (f64, bool) {
    let mut shifted = u.to_vec();
    shifted[0] += parts.iter().map(|(from, to, mu)| mu * length(&u[*from..*to])).sum::<f64>();
    let goal: Vec<f64> = r.iter().zip(&shifted).map(|(r, u)| r - u).collect();
    let reach: Vec<f64> = parts.iter().map(|(from, to, _)| length(&goal[*from..*to])).collect();
    if goal[0] >= 0.0 && parts.iter().zip(&reach).all(|((_, _, mu), reach)| *reach <= mu * goal[0]) {
        return (length(&shifted), false);
    }
    let slope = |n: f64| {
        let pulls = parts.iter().zip(&reach).map(|((_, _, mu), reach)| mu * (reach - mu * n).max(0.0));
        n - goal[0] - pulls.sum::<f64>()
    };
    let (mut low, mut high) = (0.0, goal[0].abs());
    parts.iter().zip(&reach).for_each(|((_, _, mu), reach)| high += mu * reach);
    for _ in 0..1100 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if slope(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    let normal = if slope(0.0) >= 0.0 { 0.0 } else { high };
    let mut point = goal.clone();
    point[0] = normal;
    for ((from, to, mu), reach) in parts.iter().zip(&reach) {
        let factor = if *reach > mu * normal { mu * normal / reach } else { 1.0 };
        point[*from..*to].iter_mut().for_each(|x| *x *= factor);
    }
    let away: Vec<f64> = point.iter().zip(r).map(|(p, r)| p - r).collect();
    (length(&away), true)
}
