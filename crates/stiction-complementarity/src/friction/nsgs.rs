//! Nonsmooth block Gauss-Seidel (NSGS): each block is solved exactly in turn while the other impulses are fixed.   [GS-1]
//!
//! The method takes any Delassus operator. With the matrix-free one, [`Bodies`](super::Bodies), an impulse changes the velocities of its bodies only.
//! Blocks are visited in the order of the problem, so results are deterministic.

use super::law::local::{LocalBlock, MultiplierWarmStart};
use super::operator::Delassus;
use super::{FrictionProblem, FrictionSolution};
use crate::interrupt;
use crate::linalg::dot;
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// Options of [`FrictionNsgs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionNsgsOptions {
    /// Largest number of iterations, each over all blocks. A symmetric iteration counts as two. Default 10,000.
    pub max_iterations: u32,
    /// Residual [CONE-5] at which the method ends. Dimensionless. Default 1e-9; residuals below 1e-14 are rarely reached.
    pub tolerance: f64,
    /// Iterations between two evaluations of the residual. It is evaluated earlier if the impulses stop changing. Default 10.
    pub check_every: u32,
    /// Relaxation ω in (0, 1]: r_i ← r_i + ω (r_i* − r_i). Default 1; 0.5 damps oscillations of redundant contacts. For ω > 1
    /// impulses would leave their cones.
    pub relaxation: f64,
    /// Alternates between forward and backward order of the blocks. Default off.
    pub symmetric: bool,
    /// Iterations within which the best residual must fall by a factor 0.9. Otherwise the method ends with `BudgetExhausted`.
    /// 0 disables the test; an iteration that changes no impulse ends the method in any case. Default 2000.
    pub stall_after: u32,
}

impl Default for FrictionNsgsOptions {
    fn default() -> Self {
        Self {
            max_iterations: 10_000,
            tolerance: 1e-9,
            check_every: 10,
            relaxation: 1.0,
            symmetric: false,
            stall_after: 2000,
        }
    }
}

impl FrictionNsgsOptions {
    /// Rejects options outside of their ranges.
    pub fn validate(&self) -> Result<(), OptionError> {
        let error = |name, value, range| Err(OptionError { name, value, range });
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return error("tolerance", self.tolerance, "(0, ∞)");
        }
        if !(self.relaxation > 0.0 && self.relaxation <= 1.0) {
            return error("relaxation", self.relaxation, "(0, 1]");
        }
        if self.check_every == 0 {
            return error("check_every", 0.0, "[1, ∞)");
        }
        Ok(())
    }
}

/// Reason for which a run ended without a solution.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NsgsFailure {
    /// The residual stopped decreasing.
    #[error(
        "Gauss-Seidel stalled at residual {residual:e} after {iterations} iterations: \
         try relaxation 0.5 or a method with factorisations"
    )]
    Stalled {
        /// Iterations made.
        iterations: u32,
        /// Best residual [CONE-5].
        residual: f64,
    },
    /// The iterations ran out before the residual reached the tolerance. If there is a stall test, the residual was still decreasing.
    #[error("Gauss-Seidel has residual {residual:e} after all {iterations} iterations: raise max_iterations")]
    OutOfIterations {
        /// Iterations made.
        iterations: u32,
        /// Best residual [CONE-5].
        residual: f64,
    },
    /// Impulses overflowed.
    #[error("impulses overflowed in Gauss-Seidel iteration {iterations}: check the scaling of the problem")]
    Overflow {
        /// Iterations made.
        iterations: u32,
    },
}

/// Nonsmooth block Gauss-Seidel with exact local solutions.   [GS-1]
///
/// It is best for many contacts with short load paths: piles, single objects, warm starts. Towers, walls and large mass ratios
/// converge too slowly; the method then ends with `BudgetExhausted` and its best iterate.
#[derive(Clone, Debug, Default)]
pub struct FrictionNsgs {
    options: FrictionNsgsOptions,
    locals: Vec<LocalBlock>,
    /// Warm start of each local problem.
    warm_starts: Vec<MultiplierWarmStart>,
    /// State of the operator, consistent with the impulses.
    state: Vec<f64>,
    /// Velocities of all rows at the last evaluation of the residual.
    u: Vec<f64>,
    /// Impulses of least residual.
    best: Vec<f64>,
    /// Scratch memory of the size of the largest block: local right-hand side and local impulses.
    g: Vec<f64>,
    r: Vec<f64>,
    /// Diagonal blocks of W + diag c, row by row, one after the other.
    diagonals: Vec<f64>,
    /// Offset of each block in `diagonals`.
    offsets: Vec<usize>,
    /// min(1, ‖A_ii‖²): converts squared changes of impulses into those of velocities if these are smaller.
    weights: Vec<f64>,
    failure: Option<NsgsFailure>,
}

impl FrictionNsgs {
    /// Creates the method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the method with these options, which are validated.
    pub fn with_options(options: FrictionNsgsOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Options of the method.
    pub fn options(&self) -> &FrictionNsgsOptions {
        &self.options
    }

    /// Reason for which the last run ended without a solution; none if it found one.
    pub fn last_failure(&self) -> Option<NsgsFailure> {
        self.failure
    }

    /// Computes the diagonal block of W + diag c of every block and prepares its local problem.
    fn prepare<W: Delassus>(&mut self, problem: &FrictionProblem<W>) {
        self.locals.truncate(problem.blocks());
        self.warm_starts.clear();
        self.warm_starts.resize(problem.blocks(), MultiplierWarmStart::default());
        self.diagonals.clear();
        self.offsets.clear();
        self.weights.clear();
        let mut largest = 0;
        for (block, law) in problem.laws().iter().enumerate() {
            let (rows, offset) = (law.rows(), self.diagonals.len());
            largest = largest.max(rows);
            self.offsets.push(offset);
            self.diagonals.resize(offset + rows * rows, 0.0);
            let a = &mut self.diagonals[offset..];
            problem.operator().diagonal(block, a);
            if let Some(compliance) = problem.compliance().get(problem.range(block)) {
                a.iter_mut().step_by(rows + 1).zip(compliance).for_each(|(a, c)| *a += c);
            }
            self.weights.push(a.iter().map(|a| a * a).sum::<f64>().min(1.0));
            match self.locals.get_mut(block) {
                Some(local) => local.refill(law, a),
                None => self.locals.push(LocalBlock::new(law, a)),
            }
        }
        debug_assert_eq!(self.locals.len(), problem.blocks(), "one local problem per block");
        self.g.resize(largest, 0.0);
        self.r.resize(largest, 0.0);
    }

    /// Solves one block and returns the squared change of its impulses, or of its velocities if that is smaller.
    fn update_block<W: Delassus>(&mut self, problem: &FrictionProblem<W>, block: usize, r: &mut [f64]) -> f64 {
        let range = problem.range(block);
        let rows = range.len();
        let (g, next) = (&mut self.g[..rows], &mut self.r[..rows]);
        problem.operator().velocity(block, r, &self.state, g);
        let present = &mut r[range.clone()];
        let compliance = problem.compliance().get(range.clone()).unwrap_or(&[]);
        g.iter_mut().zip(compliance).zip(&*present).for_each(|((g, c), r)| *g += c * r);
        g.iter_mut().zip(&problem.q()[range]).for_each(|(g, q)| *g += q);
        // g = q_i + Σ_{j≠i} W_ij r_j: velocity of the block without its own impulse.
        let offset = self.offsets[block];
        debug_assert!(offset + rows * rows <= self.diagonals.len(), "the diagonal block is stored");
        let a = self.diagonals[offset..].chunks_exact(rows);
        g.iter_mut().zip(a).for_each(|(g, row)| *g -= dot(row, present));
        next.copy_from_slice(present);
        let _ = self.locals[block].solve(g, next, &mut self.warm_starts[block]);
        let (mut change, omega) = (0.0, self.options.relaxation);
        for (next, present) in next.iter_mut().zip(present) {
            let step = omega * (*next - *present);
            *present += step;
            *next = step;
            change += step * step;
        }
        if change > 0.0 {
            problem.operator().update(block, next, &mut self.state);
        }
        change * self.weights[block]
    }

    /// Residual [CONE-5] of `r`. It also recomputes the state of the operator, which removes accumulated rounding errors.
    fn evaluate_residual<W: Delassus>(&mut self, problem: &FrictionProblem<W>, r: &[f64]) -> f64 {
        problem.velocities(r, &mut self.u, &mut self.state);
        let sum: f64 = (0..problem.blocks()).map(|block| problem.violation_squared(block, r, &self.u)).sum();
        problem.operator().begin(r, &mut self.state);
        sum.sqrt() / problem.scale()
    }

    fn iterate<W: Delassus>(&mut self, max_iterations: u32, problem: &FrictionProblem<W>, r: &mut [f64]) -> Ending {
        let FrictionNsgsOptions { tolerance, check_every, symmetric, stall_after, .. } = self.options;
        let scale = problem.scale();
        let mut best = self.evaluate_residual(problem, r);
        if best <= tolerance {
            return Ending::new(Status::Solved, 0);
        }
        self.best.clear();
        self.best.extend_from_slice(r);
        // Reference residual of the stall test and the iteration that reached it.
        let (mut stall_reference, mut reference_iteration) = (best, 0);
        let mut change_tolerance = tolerance;
        for iteration in 1..=max_iterations {
            let backward = symmetric && iteration % 2 == 0;
            let mut change = 0.0;
            for k in 0..problem.blocks() {
                change += self.update_block(problem, if backward { problem.blocks() - 1 - k } else { k }, r);
            }
            if !change.is_finite() {
                return self.fail(NsgsFailure::Overflow { iterations: iteration }, r);
            }
            let small_change = change.sqrt() <= change_tolerance * scale;
            if !small_change && iteration % check_every != 0 && iteration != max_iterations {
                continue;
            }
            let residual = self.evaluate_residual(problem, r);
            if residual <= tolerance {
                return Ending::new(Status::Solved, iteration);
            }
            if small_change {
                // The change was small although the residual is not: require a smaller change next time.
                change_tolerance *= 0.5;
            }
            if residual < best {
                best = residual;
                self.best.copy_from_slice(r);
            }
            if best <= 0.9 * stall_reference {
                (stall_reference, reference_iteration) = (best, iteration);
            }
            if change == 0.0 || stall_after > 0 && iteration - reference_iteration >= stall_after {
                return self.fail(NsgsFailure::Stalled { iterations: iteration, residual: best }, r);
            }
            if interrupt::is_requested() {
                return self.fail(NsgsFailure::OutOfIterations { iterations: iteration, residual: best }, r);
            }
        }
        self.fail(NsgsFailure::OutOfIterations { iterations: max_iterations, residual: best }, r)
    }

    /// Restores the best iterate, stores the failure and returns its status.
    fn fail(&mut self, failure: NsgsFailure, r: &mut [f64]) -> Ending {
        r.copy_from_slice(&self.best);
        self.failure = Some(failure);
        match failure {
            NsgsFailure::Overflow { iterations } => Ending::new(Status::Breakdown, iterations),
            NsgsFailure::Stalled { iterations, .. } | NsgsFailure::OutOfIterations { iterations, .. } => {
                Ending::new(Status::BudgetExhausted, iterations)
            }
        }
    }
}

impl<W: Delassus> Solver<FrictionProblem<W>> for FrictionNsgs {
    fn run(
        &mut self,
        problem: &FrictionProblem<W>,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.run_at_most(self.options.max_iterations, problem, guess, solution)
    }
}

impl FrictionNsgs {
    /// Runs with another iteration budget.
    pub(crate) fn run_at_most<W: Delassus>(
        &mut self,
        max_iterations: u32,
        problem: &FrictionProblem<W>,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.failure = None;
        let r = &mut solution.r;
        r.clear();
        match guess.filter(|guess| guess.r.len() == problem.rows() && guess.r.iter().all(|r| r.is_finite())) {
            Some(guess) => r.extend_from_slice(&guess.r),
            None => r.resize(problem.rows(), 0.0),
        }
        // Relaxation below 1 does not make an infeasible start feasible, so the start is projected.
        for (block, law) in problem.laws().iter().enumerate() {
            law.project(&mut r[problem.range(block)]);
        }
        self.prepare(problem);
        self.iterate(max_iterations, problem, r)
    }
}
