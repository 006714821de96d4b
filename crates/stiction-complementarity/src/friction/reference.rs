//! Slow reference method: De Saxcé's fixed-point iteration over second-order cone programs solved by Clarabel.
//!
//! With the De Saxcé correction s held fixed the law [CONE-1] is the optimality condition of a convex program,   [CONE-20]
//!
//! ```text
//! minimise ½ rᵀ W r + (q + s e_N)ᵀ r   over r ∈ K,      then  s ← s(u(r)),
//! ```
//!
//! and a fixed point of s is a solution of the exact problem. Clarabel is independent code, so the method is a check of the fast ones.
//! It assembles W as a dense matrix and allocates in every run. W must be symmetric, because the law is an optimality condition for
//! symmetric W only.

use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{self, NonnegativeConeT, SecondOrderConeT, ZeroConeT};
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus};

use super::law::Kind;
use super::{Delassus, FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};
use crate::problem::{OptionError, Problem};
use crate::solver::Solver;

/// Largest number of rows for which the reference method is offered: its matrices are dense and its cost is cubic.
pub(crate) const REFERENCE_ROWS: usize = 400;

/// Options of the reference method.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrictionReferenceOptions {
    /// Largest number of cone programs. Default 200.
    pub max_programs: u32,
    /// Residual [CONE-5] at which the iteration ends. Dimensionless. Default 1e-10. Clarabel itself reaches about 1e-11, so with 1e-12
    /// and below the programs usually run out, and the method returns its iterate of least residual.
    pub tolerance: f64,
    /// Largest ratio max |W_ij − W_ji| / max |W_ij| of entries at which W counts as symmetric. Dimensionless. Default 1e-9.
    pub asymmetry: f64,
}

impl Default for FrictionReferenceOptions {
    fn default() -> Self {
        Self { max_programs: 200, tolerance: 1e-10, asymmetry: 1e-9 }
    }
}

/// De Saxcé's fixed-point iteration over cone programs.
#[derive(Clone, Debug, Default)]
pub struct FrictionReference {
    options: FrictionReferenceOptions,
}

impl FrictionReference {
    /// Creates the method with these options, which are validated.
    pub fn with_options(options: FrictionReferenceOptions) -> Result<Self, OptionError> {
        for (name, value) in [("tolerance", options.tolerance), ("asymmetry", options.asymmetry)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(OptionError { name, value, range: "(0, ∞)" });
            }
        }
        Ok(Self { options })
    }
}

impl<W: Delassus> Solver<FrictionProblem<W>> for FrictionReference {
    fn run(
        &mut self,
        problem: &FrictionProblem<W>,
        _: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let n = problem.rows();
        solution.r.clear();
        solution.r.resize(n, 0.0);
        if n == 0 {
            return Ending::new(Status::Solved, 0);
        }
        let w = dense_operator(problem);
        if asymmetry(n, &w) > self.options.asymmetry {
            return Ending::new(Status::Breakdown, 0);
        }
        let program = ConeProgram::new(problem, &w);
        let (mut u, mut state, mut corrected) = (Vec::new(), Vec::new(), problem.q().to_vec());
        let mut best = (f64::INFINITY, Vec::new());
        for count in 1..=self.options.max_programs {
            let Some(r) = program.solve(&corrected) else { return Ending::new(Status::Breakdown, count) };
            solution.r.copy_from_slice(&r);
            let residual = problem.residual(solution).value;
            if residual < best.0 {
                best = (residual, r);
            }
            if residual <= self.options.tolerance {
                return Ending::new(Status::Solved, count);
            }
            problem.velocities(&solution.r, &mut u, &mut state);
            corrected.copy_from_slice(problem.q());
            for (block, law) in problem.laws().iter().enumerate() {
                let range = problem.range(block);
                corrected[range.start] += law.de_saxce_correction(&u[range.clone()]);
            }
        }
        if best.1.len() == n {
            solution.r.copy_from_slice(&best.1);
        }
        Ending::new(Status::BudgetExhausted, self.options.max_programs)
    }
}

/// Assembles W + diag c column by column, by applying W to unit impulses; the result is stored row by row. Below it is called W.
pub(super) fn dense_operator<W: Delassus>(problem: &FrictionProblem<W>) -> Vec<f64> {
    let n = problem.rows();
    let (mut unit, mut column, mut state) = (vec![0.0; n], vec![0.0; n], Vec::new());
    let mut w = vec![0.0; n * n];
    for j in 0..n {
        unit[j] = 1.0;
        problem.operator().apply(&unit, &mut column, &mut state);
        unit[j] = 0.0;
        for (i, value) in column.iter().enumerate() {
            w[i * n + j] = *value;
        }
        w[j * n + j] += problem.compliance().get(j).copied().unwrap_or(0.0);
    }
    w
}

/// Relative asymmetry of W: largest |W_ij − W_ji| over the largest |W_ij|.
pub(crate) fn relative_asymmetry<W: Delassus>(problem: &FrictionProblem<W>) -> f64 {
    asymmetry(problem.rows(), &dense_operator(problem))
}

fn asymmetry(n: usize, w: &[f64]) -> f64 {
    let largest = w.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let mut worst: f64 = 0.0;
    for i in 0..n {
        for j in 0..i {
            worst = worst.max((w[i * n + j] - w[j * n + i]).abs());
        }
    }
    if largest > 0.0 { worst / largest } else { 0.0 }
}

/// Cone program: minimise ½ rᵀ P r + gᵀ r subject to b − A r ∈ cones (A and b of Clarabel, not of a local problem). It holds everything but g, which
/// changes with the De Saxcé correction.
pub(super) struct ConeProgram {
    n: usize,
    p: CscMatrix<f64>,
    constraints: Slacks,
}

/// Constraint rows b − A r, in the order of the cones.
#[derive(Default)]
struct Slacks {
    rows: Vec<usize>,
    cols: Vec<usize>,
    values: Vec<f64>,
    b: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Slacks {
    /// Adds the row `factor` · r_col + `constant`.
    fn slack(&mut self, col: usize, factor: f64, constant: f64) {
        self.rows.push(self.b.len());
        self.cols.push(col);
        self.values.push(-factor);
        self.b.push(constant);
    }

    /// Adds ‖r_T‖ ≤ μ r_N for the tangential columns; for μ = 0 they are set to zero.
    fn cone(&mut self, normal: usize, mu: f64, tangential: std::ops::Range<usize>) {
        let rows = tangential.len();
        if mu > 0.0 {
            self.slack(normal, mu, 0.0);
            self.cones.push(SecondOrderConeT(rows + 1));
        } else {
            self.cones.push(ZeroConeT(rows));
        }
        tangential.for_each(|col| self.slack(col, 1.0, 0.0));
    }

    /// Adds the bound `factor` · r_col + `constant` ≥ 0.
    fn bound(&mut self, col: usize, factor: f64, constant: f64) {
        self.cones.push(NonnegativeConeT(1));
        self.slack(col, factor, constant);
    }
}

impl ConeProgram {
    /// Creates the program of a problem with quadratic term `w`, row by row.
    pub(super) fn new<W: Delassus>(problem: &FrictionProblem<W>, w: &[f64]) -> Self {
        let n = problem.rows();
        debug_assert_eq!(w.len(), n * n, "W is square");
        let mut rows = Slacks::default();
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let normal = range.start;
            match law.kind() {
                Kind::Equality => {}
                Kind::Bounded { lower, upper } => {
                    if lower.is_finite() {
                        rows.bound(normal, 1.0, -lower);
                    }
                    if upper.is_finite() {
                        rows.bound(normal, -1.0, upper);
                    }
                }
                Kind::Contact(parts) => {
                    rows.bound(normal, 1.0, 0.0);
                    for part in parts.iter() {
                        rows.cone(normal, part.mu, normal + part.first..normal + part.range().end);
                    }
                }
            }
        }
        Self { n, p: upper_triangle(n, w), constraints: rows }
    }

    /// Adds the equation Σ factor · r_col = value.
    pub(super) fn require(&mut self, terms: &[(usize, f64)], value: f64) {
        let Slacks { rows, cols, values, b, cones } = &mut self.constraints;
        for &(col, factor) in terms {
            rows.push(b.len());
            cols.push(col);
            values.push(factor);
        }
        b.push(value);
        cones.push(ZeroConeT(1));
    }

    /// Minimiser for the linear term g; none if Clarabel fails.
    pub(super) fn solve(&self, g: &[f64]) -> Option<Vec<f64>> {
        debug_assert_eq!(g.len(), self.n, "one linear coefficient per row");
        let settings = DefaultSettings {
            verbose: false,
            max_iter: 200,
            tol_gap_abs: 1e-12,
            tol_gap_rel: 1e-12,
            tol_feas: 1e-12,
            ..DefaultSettings::default()
        };
        let Slacks { rows, cols, values, b, cones } = &self.constraints;
        let a = CscMatrix::new_from_triplets(b.len(), self.n, rows.clone(), cols.clone(), values.clone());
        let mut solver = DefaultSolver::new(&self.p, g, &a, b, cones, settings).ok()?;
        solver.solve();
        // At this tolerance "almost solved" is the usual status; the caller checks the residual of the exact problem.
        let usable = [SolverStatus::Solved, SolverStatus::AlmostSolved, SolverStatus::InsufficientProgress];
        usable.contains(&solver.solution.status).then(|| solver.solution.x.clone())
    }
}

/// Upper triangle of the symmetric part, by columns.
fn upper_triangle(n: usize, w: &[f64]) -> CscMatrix<f64> {
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for j in 0..n {
        for i in 0..=j {
            let value = 0.5 * (w[i * n + j] + w[j * n + i]);
            if value != 0.0 {
                rows.push(i);
                cols.push(j);
                values.push(value);
            }
        }
    }
    CscMatrix::new_from_triplets(n, n, rows, cols, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::Law;
    use crate::linalg::BlockMatrix;
    use crate::outcome::Tolerance;
    use crate::solver::solve;

    /// Unit mass on a plane with free velocity (normal, t1, t2): open, stick and slip in closed form.
    #[test]
    fn a_particle_opens_sticks_and_slides() {
        let cases = [
            ([0.5, 1.0, 0.0], 0.5, [0.0, 0.0, 0.0]),
            ([-1.0, 0.3, 0.0], 0.5, [1.0, -0.3, 0.0]),
            ([-1.0, 3.0, 4.0], 0.5, [1.0, -0.3, -0.4]),
            ([-1.0, 3.0, 4.0], 0.0, [1.0, 0.0, 0.0]),
        ];
        for (q, mu, expected) in cases {
            let mut w = BlockMatrix::default();
            w.clear([3], [3]);
            w.push(0, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
            w.finish_row();
            let problem = FrictionProblem::new(w, vec![Law::Cone { rows: 3, mu }], q.to_vec()).unwrap();
            let mut solution = FrictionSolution::default();
            let tolerance = Tolerance { solved: 1e-9, loose: 1e-6 };
            let outcome = solve(&mut FrictionReference::default(), &problem, None, &mut solution, &tolerance);
            assert_eq!(outcome.status, Status::Solved, "{q:?}: {:e}", outcome.residual.value);
            for (ours, expected) in solution.r.iter().zip(expected) {
                assert!((ours - expected).abs() < 1e-8, "{q:?}: {:?}", solution.r);
            }
        }
    }
}
