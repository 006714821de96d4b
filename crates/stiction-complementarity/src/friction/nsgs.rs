//! Block Gauss-Seidel for frictional contact: block after block is solved exactly while the others stand still.   [GS-1]
//!
//! Matrix-free: with [`Bodies`](super::Bodies) an impulse changes the velocities of its bodies only. Blocks are visited in the
//! order of the problem, so results do not depend on anything else.

use super::local::{LocalBlock, Memory};
use super::operator::Delassus;
use super::{FrictionProblem, FrictionSolution};
use crate::linalg::dot;
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// Options of [`FrictionNsgs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionNsgsOptions {
    /// The most sweeps over all blocks. A symmetric sweep counts as two. Default 10,000.
    pub max_iterations: u32,
    /// The residual [CONE-5] at which the method ends. Dimensionless. Default 1e-9; below 1e-14 it is rarely reached.
    pub tolerance: f64,
    /// The residual is measured every so many sweeps, and earlier when the impulses stop changing. Default 10.
    pub check_every: u32,
    /// Relaxation ω: r_i ← r_i + ω (r_i* − r_i). Default 1; 0.5 ends oscillations of redundant contacts. In (0, 1], because
    /// beyond 1 impulses would leave their cones.
    pub relaxation: f64,
    /// Sweeps forth and back in turn. Default off.
    pub symmetric: bool,
    /// Ends with `BudgetExhausted` when the best residual has not fallen to 0.9 of itself within so many sweeps; 0 never
    /// ends so. Default 2000.
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
    /// Refuses numbers that make no sense.
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

/// Why the last run ended without a solution.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NsgsFailure {
    /// Progress became too slow.
    #[error(
        "stalled at residual {residual:e} after {sweeps} sweeps: try relaxation 0.5, or a method with factorisations"
    )]
    Stalled {
        /// Sweeps made.
        sweeps: u32,
        /// Best residual [CONE-5].
        residual: f64,
    },
    /// The budget ran out while the residual still fell.
    #[error("{sweeps} sweeps were not enough; the residual is {residual:e}")]
    OutOfIterations {
        /// Sweeps made.
        sweeps: u32,
        /// Best residual [CONE-5].
        residual: f64,
    },
    /// Numbers overflowed.
    #[error("numbers overflowed in sweep {sweeps}")]
    Overflow {
        /// Sweeps made.
        sweeps: u32,
    },
}

/// Block Gauss-Seidel with exact local solutions.   [GS-1]
///
/// Best where contacts are many and loads short: piles, single objects, warm starts. Towers, walls and large mass ratios
/// need more sweeps than anyone has; it then ends with `BudgetExhausted` and its best iterate.
#[derive(Clone, Debug, Default)]
pub struct FrictionNsgs {
    options: FrictionNsgsOptions,
    locals: Vec<LocalBlock>,
    memory: Vec<Memory>,
    state: Vec<f64>,
    /// Velocities of all rows at a measurement.
    u: Vec<f64>,
    best: Vec<f64>,
    /// Scratch of the size of the largest block.
    g: Vec<f64>,
    r: Vec<f64>,
    /// The diagonal blocks of W + diag c, row by row, one after the other, and where each begins.
    diagonals: Vec<f64>,
    starts: Vec<usize>,
    /// min(1, ‖A_ii‖²): turns squares of impulses into squares of velocities where those are smaller.
    weights: Vec<f64>,
    failure: Option<NsgsFailure>,
}

impl FrictionNsgs {
    /// With default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these options, once they make sense.
    pub fn with_options(options: FrictionNsgsOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// The options.
    pub fn options(&self) -> &FrictionNsgsOptions {
        &self.options
    }

    /// Why the last run ended without a solution, if it did.
    pub fn last_failure(&self) -> Option<NsgsFailure> {
        self.failure
    }

    /// Makes every block ready: its diagonal block of W + diag c, and what the local solution needs of it.
    fn prepare<W: Delassus>(&mut self, problem: &FrictionProblem<W>) {
        self.locals.truncate(problem.blocks());
        self.memory.clear();
        self.memory.resize(problem.blocks(), Memory::default());
        self.diagonals.clear();
        self.starts.clear();
        self.weights.clear();
        let mut largest = 0;
        for (block, law) in problem.laws().iter().enumerate() {
            let (rows, start) = (law.rows(), self.diagonals.len());
            largest = largest.max(rows);
            self.starts.push(start);
            self.diagonals.resize(start + rows * rows, 0.0);
            let a = &mut self.diagonals[start..];
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
        self.g.resize(largest, 0.0);
        self.r.resize(largest, 0.0);
    }

    /// Solves one block and returns the square of the change of its impulses, in the smaller of the two units.
    fn visit<W: Delassus>(&mut self, problem: &FrictionProblem<W>, block: usize, r: &mut [f64]) -> f64 {
        let range = problem.range(block);
        let rows = range.len();
        let (g, next) = (&mut self.g[..rows], &mut self.r[..rows]);
        problem.operator().velocity(block, r, &self.state, g);
        let present = &mut r[range.clone()];
        let compliance = problem.compliance().get(range.clone()).unwrap_or(&[]);
        g.iter_mut().zip(compliance).zip(&*present).for_each(|((g, c), r)| *g += c * r);
        g.iter_mut().zip(&problem.q()[range]).for_each(|(g, q)| *g += q);
        // g = q_i + Σ_{j≠i} W_ij r_j: what the block would feel without its own impulse.
        let a = self.diagonals[self.starts[block]..].chunks_exact(rows);
        g.iter_mut().zip(a).for_each(|(g, row)| *g -= dot(row, present));
        next.copy_from_slice(present);
        let _ = self.locals[block].solve(g, next, &mut self.memory[block]);
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

    /// The residual [CONE-5] of `r`; brings the state back in step with it.
    fn measure<W: Delassus>(&mut self, problem: &FrictionProblem<W>, r: &[f64]) -> f64 {
        problem.velocities(r, &mut self.u, &mut self.state);
        let sum: f64 = (0..problem.blocks()).map(|block| problem.violation(block, r, &self.u)).sum();
        problem.operator().begin(r, &mut self.state);
        sum.sqrt() / problem.scale()
    }

    fn iterate<W: Delassus>(&mut self, max_iterations: u32, problem: &FrictionProblem<W>, r: &mut [f64]) -> Ending {
        let FrictionNsgsOptions { tolerance, check_every, symmetric, stall_after, .. } = self.options;
        let scale = problem.scale();
        let mut best = self.measure(problem, r);
        if best <= tolerance {
            return Ending::new(Status::Solved, 0);
        }
        self.best.clear();
        self.best.extend_from_slice(r);
        // The sweep at which `mark` was reached; a stall is too long a time without 0.9 of it.
        let (mut mark, mut marked_at) = (best, 0);
        let mut quiet = tolerance;
        for sweep in 1..=max_iterations {
            let backward = symmetric && sweep % 2 == 0;
            let mut change = 0.0;
            for k in 0..problem.blocks() {
                change += self.visit(problem, if backward { problem.blocks() - 1 - k } else { k }, r);
            }
            if !change.is_finite() {
                return self.fail(NsgsFailure::Overflow { sweeps: sweep }, r);
            }
            let settled = change.sqrt() <= quiet * scale;
            if !settled && sweep % check_every != 0 && sweep != max_iterations {
                continue;
            }
            let residual = self.measure(problem, r);
            if residual <= tolerance {
                return Ending::new(Status::Solved, sweep);
            }
            if settled {
                // Small changes promised more than the ruler found: ask for smaller ones next time.
                quiet *= 0.5;
            }
            if residual < best {
                best = residual;
                self.best.copy_from_slice(r);
            }
            if best <= 0.9 * mark {
                (mark, marked_at) = (best, sweep);
            }
            if change == 0.0 || stall_after > 0 && sweep - marked_at >= stall_after {
                return self.fail(NsgsFailure::Stalled { sweeps: sweep, residual: best }, r);
            }
        }
        self.fail(NsgsFailure::OutOfIterations { sweeps: max_iterations, residual: best }, r)
    }

    /// Puts the best iterate back and claims what the failure means.
    fn fail(&mut self, failure: NsgsFailure, r: &mut [f64]) -> Ending {
        r.copy_from_slice(&self.best);
        self.failure = Some(failure);
        match failure {
            NsgsFailure::Overflow { sweeps } => Ending::new(Status::Breakdown, sweeps),
            NsgsFailure::Stalled { sweeps, .. } | NsgsFailure::OutOfIterations { sweeps, .. } => {
                Ending::new(Status::BudgetExhausted, sweeps)
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
    /// Runs with another budget of sweeps.
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
        // From outside its set no relaxation below 1 would ever lead back.
        for (block, law) in problem.laws().iter().enumerate() {
            law.project(&mut r[problem.range(block)]);
        }
        self.prepare(problem);
        self.iterate(max_iterations, problem, r)
    }
}
