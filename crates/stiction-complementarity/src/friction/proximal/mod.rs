//! Proximal semismooth Newton method in body velocities.   [PROX-1] … [PROX-5] [PROX-7]
//!
//! Each proximal problem adds the proximal term α w (r − r̄) to the velocities of the rows. It acts as a compliance α w and vanishes at the centre
//! r̄. The impulses are then an explicit function r(v) of the body velocities v, which are the unknowns of Newton's method. Its matrix
//! M + H D Hᵀ has the graph of the bodies. The solution of a proximal problem is the centre of the next one, which has a smaller α.
//!
//! This is an augmented Lagrangian method with the projection P of Alart and Curnier. It does not minimise a function, because Coulomb's law is
//! non-associated: contacts slide without dilatancy.

mod iterate;
mod options;
mod system;

pub use options::FrictionProximalNewtonOptions;

use std::ops::Range;

use super::newton::copy_warm_start;
use super::newton::system::replace_vanished;
use super::{Bodies, FrictionProblem, FrictionSolution, Operator};
use crate::interrupt;
use crate::linalg::block::mul_add;
use crate::outcome::{Ending, Status};
use crate::problem::{OptionError, Problem};
use crate::solver::Solver;
use iterate::{Iterate, ProximalTerm};
use system::BodySystem;

/// Fraction of the mean diagonal of W + diag c over the block below which the mean diagonal of W over a part or row is replaced by it.
const NEGLIGIBLE_DIAGONAL: f64 = 1e-6;

/// Residual at which the method stops, as a fraction of the tolerance. The error that a time step leaves in the velocities is carried into the next one.
const REFINED: f64 = 3e-2;

/// Largest number of Newton steps within the tolerance. The residual falls at least as fast as α, by a factor of two to ten per proximal
/// problem.
const REFINEMENT_STEPS: u32 = 8;

/// Residual below which a warm start is that of bodies at rest, or nearly so: contact modes hardly change.   [PROX-7]
const NEAR: f64 = 1e-3;

/// Proximal weight α near the solution, as a multiple of the residual. The argument of the projection is off by residual/α of the impulses: with this value by
/// a hundredth, so that contact modes stay. With 0.1 all modes change, and a pyramid of boxes is not solved to rounding.
const NEAR_WEIGHT: f64 = 100.0;

/// Least factor on α near the solution.
const NEAR_SHRINK: f64 = 1e-3;

/// Residual at which the method stops near the solution; a few times the rounding errors of large stacks. Impulses of bodies at rest that are less accurate
/// have to be corrected in the next steps, and so have the velocities of the corrections.
const REST_RESIDUAL: f64 = 1e-13;

/// Required decrease of the merit of a step, relative to its length and to the merit. Any small number: it only excludes steps that change nothing.
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Proximal semismooth Newton method for problems with a matrix-free operator.   [PROX-1]
///
/// It ends with `Solved` if the residual is within the tolerance, otherwise with `BudgetExhausted`. The solution is always the iterate of
/// least residual. With an assembled W it ends with `Breakdown` and returns the warm start.
#[derive(Clone, Debug, Default)]
pub struct FrictionProximalNewton {
    options: FrictionProximalNewtonOptions,
    system: BodySystem,
    term: ProximalTerm,
    /// Present iterate, and the one that the line search or the prediction [PROX-5] tries.
    now: Iterate,
    trial: Iterate,
    step: Vec<f64>,
    /// Argument of the projection with the contact modes of the last proximal problem, and impulses extrapolated from there.
    mode_z: Vec<f64>,
    extrapolated: Vec<f64>,
    /// Impulses of least residual.
    best: FrictionSolution,
    scratch: Vec<f64>,
}

/// Progress of a run.
struct Progress {
    /// Newton steps.
    steps: u32,
    /// Residuals: the least one, that of the last iterate, and that of the proximal centre.
    least: f64,
    last: f64,
    centre: f64,
    /// Steps of the present proximal problem, and true if all of them had full length.
    inner_steps: u32,
    full_length: bool,
    /// Consecutive proximal problems that were not solved.
    failures: u32,
    /// Number of steps when the residual was first within the tolerance.
    first_within: Option<u32>,
    /// True if the warm start is near the solution.   [PROX-7]
    is_near: bool,
    /// Residual at which the method stops.
    refined: f64,
    /// True if the residual is `refined`, or has been within the tolerance for [`REFINEMENT_STEPS`], or an interrupt is requested.
    is_done: bool,
}

impl FrictionProximalNewton {
    /// Creates the method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the method with these options, which are validated.
    pub fn with_options(options: FrictionProximalNewtonOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Options of the method.
    pub fn options(&self) -> &FrictionProximalNewtonOptions {
        &self.options
    }

    /// Runs with another tolerance and another budget of Newton steps.
    pub(crate) fn run_to(
        &mut self,
        (tolerance, max_steps): (f64, u32),
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let Operator::MatrixFree(bodies) = problem.operator() else {
            copy_warm_start(guess, problem.rows(), &mut solution.r);
            return Ending::new(Status::Breakdown, 0);
        };
        self.initialise(problem, bodies, guess);
        let options = FrictionProximalNewtonOptions { tolerance, max_steps, ..self.options };
        let (steps, least) = self.iterate(problem, bodies, &options);
        solution.r.clone_from(&self.best.r);
        Ending::new(if least <= tolerance { Status::Solved } else { Status::BudgetExhausted }, steps)
    }

    /// Allocates memory, copies the warm start and computes the weights of the proximal term.
    fn initialise(&mut self, problem: &FrictionProblem, bodies: &Bodies, guess: Option<&FrictionSolution>) {
        let (rows, columns) = (problem.rows(), bodies.jacobian().cols());
        copy_warm_start(guess, rows, &mut self.term.centre);
        self.best.r.clone_from(&self.term.centre);
        self.system.prepare(bodies);
        self.compute_weights(problem, bodies);
        let Self { term, mode_z, extrapolated, .. } = self;
        for vector in [&mut term.rho, &mut term.offset, &mut term.u, mode_z, extrapolated] {
            vector.clear();
            vector.resize(rows, 0.0);
        }
        self.now.resize(rows, columns);
        self.trial.resize(rows, columns);
        self.step.clear();
        self.step.resize(columns, 0.0);
    }

    /// Computes the proximal compliance w and the common compliance ĉ of each row: the mean diagonal of W, or that of W + diag c over the block
    /// where it is negligible, and the largest c over the rows with a common ρ.
    fn compute_weights(&mut self, problem: &FrictionProblem, bodies: &Bodies) {
        let ProximalTerm { w, compliance, .. } = &mut self.term;
        let means = &mut self.scratch;
        means.clear();
        for vector in [&mut *w, &mut *compliance] {
            vector.clear();
            vector.resize(problem.rows(), 0.0);
        }
        let own = |rows: Range<usize>| problem.compliance().get(rows).unwrap_or(&[]);
        for block in 0..problem.blocks() {
            let rows = problem.range(block);
            bodies.diagonal_entries(block, &mut w[rows.clone()]);
            let trace: f64 = w[rows.clone()].iter().chain(own(rows.clone())).sum();
            means.push(trace / rows.len() as f64);
        }
        replace_vanished(means);
        for ((block, law), block_mean) in problem.laws().iter().enumerate().zip(means) {
            let (first, n) = (problem.range(block).start, law.rows());
            let mut k = 0;
            while k < n {
                let end = law.part_end(k);
                let rows = first + k..first + end;
                let mean = w[rows.clone()].iter().sum::<f64>() / (end - k) as f64;
                let is_regular = mean > NEGLIGIBLE_DIAGONAL * *block_mean && mean.is_finite();
                let largest = own(rows.clone()).iter().fold(0.0, |largest: f64, c| largest.max(*c));
                w[rows.clone()].fill(if is_regular { mean } else { *block_mean });
                compliance[rows].fill(largest);
                k = end;
            }
        }
    }

    /// Solves proximal problems until the residual is [`REFINED`] of the tolerance, or has been within it for [`REFINEMENT_STEPS`], or the budget is spent,
    /// too many proximal problems in a row fail, or an interrupt is requested; returns the number of steps and the least residual.
    fn iterate(
        &mut self,
        problem: &FrictionProblem,
        bodies: &Bodies,
        options: &FrictionProximalNewtonOptions,
    ) -> (u32, f64) {
        let start = problem.residual(&self.best).value;
        let is_near = start <= NEAR;
        let mut progress = Progress {
            steps: 0,
            least: start,
            last: start,
            centre: start,
            inner_steps: 0,
            full_length: true,
            failures: 0,
            first_within: None,
            is_near,
            refined: if is_near { REST_RESIDUAL } else { REFINED * options.tolerance },
            is_done: false,
        };
        if start <= progress.refined {
            return (0, start);
        }
        let near = (NEAR_WEIGHT * start).max(options.least_proximal);
        self.restart(problem, bodies, if is_near { near.min(options.proximal) } else { options.proximal });
        while progress.steps < options.max_steps && progress.failures <= options.max_failures {
            let solved = self.solve_proximal(problem, bodies, options, &mut progress);
            if progress.is_done {
                break;
            }
            let alpha = self.term.alpha;
            if solved {
                progress.failures = 0;
                progress.centre = progress.last;
                let single = progress.inner_steps <= 1 && progress.full_length;
                let next = if progress.is_near {
                    (NEAR_WEIGHT * progress.last).clamp(alpha * NEAR_SHRINK, alpha * options.shrink)
                } else {
                    alpha * if single { options.fast_shrink } else { options.shrink }
                };
                self.continue_from_solution(problem, bodies, next.max(options.least_proximal));
                (progress.inner_steps, progress.steps) = (1, progress.steps + 1);
            } else {
                progress.failures += 1;
                if progress.least < progress.centre {
                    self.term.centre.copy_from_slice(&self.best.r);
                    progress.centre = progress.least;
                }
                let larger = (alpha * options.growth).min(options.largest_proximal);
                let is_near = std::mem::take(&mut progress.is_near);
                self.restart(problem, bodies, if is_near { larger.max(options.proximal) } else { larger });
                progress.inner_steps = 0;
            }
            progress.full_length = true;
        }
        (progress.steps, progress.least)
    }

    /// Makes Newton steps on the present proximal problem; returns true if it is solved well enough.   [PROX-4]
    fn solve_proximal(
        &mut self,
        problem: &FrictionProblem,
        bodies: &Bodies,
        options: &FrictionProximalNewtonOptions,
        progress: &mut Progress,
    ) -> bool {
        loop {
            progress.is_done |= interrupt::is_requested();
            progress.last = self.now.measure(problem, bodies, &mut self.scratch);
            if progress.last < progress.least {
                progress.least = progress.last;
                self.best.r.copy_from_slice(&self.now.r);
            }
            if progress.least <= options.tolerance {
                let first = *progress.first_within.get_or_insert(progress.steps);
                progress.is_done = progress.least <= progress.refined || progress.steps >= first + REFINEMENT_STEPS;
            }
            // Both are squared norms, the option is a ratio of norms.
            let solved = self.now.merit <= options.inner_accuracy.powi(2) * self.now.distance;
            let is_last = progress.inner_steps >= options.inner_steps || progress.steps >= options.max_steps;
            if (solved && progress.inner_steps > 0) || is_last || progress.is_done {
                return solved;
            }
            progress.steps += 1;
            progress.inner_steps += 1;
            let Some(length) = self.advance(problem, bodies, options) else { return false };
            progress.full_length &= length == 1.0;
        }
    }

    /// Makes one Newton step; returns its length, or none if the factorisation or the line search failed.   [PROX-3]
    fn advance(
        &mut self,
        problem: &FrictionProblem,
        bodies: &Bodies,
        options: &FrictionProximalNewtonOptions,
    ) -> Option<f64> {
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let d = self.system.block_mut(block);
            law.alart_curnier_slope(&self.term.rho[range.clone()], &self.now.z[range], d, &mut self.scratch);
        }
        self.system.factor(bodies).ok()?;
        self.solve_for_step(bodies, false);
        let mut length = 1.0;
        for _ in 0..=options.max_halvings {
            self.evaluate_along_step(problem, bodies, length);
            if self.trial.merit <= (1.0 - SUFFICIENT_DECREASE * length) * self.now.merit {
                std::mem::swap(&mut self.now, &mut self.trial);
                return Some(length);
            }
            length *= 0.5;
        }
        None
    }

    /// Solves (M + H D Hᵀ) x = M defect for the step, with the defect of the present iterate or of the trial.
    fn solve_for_step(&mut self, bodies: &Bodies, of_trial: bool) {
        let defect = if of_trial { &self.trial.defect } else { &self.now.defect };
        self.step.fill(0.0);
        for body in 0..bodies.jacobian().block_cols() {
            let columns = bodies.jacobian().col_range(body);
            mul_add(bodies.mass(body), &defect[columns.clone()], &mut self.step[columns]);
        }
        self.system.solve(&mut self.step);
    }

    /// Evaluates the trial at `length` times the step from the present iterate.
    fn evaluate_along_step(&mut self, problem: &FrictionProblem, bodies: &Bodies, length: f64) {
        for ((trial, v), step) in self.trial.v.iter_mut().zip(&self.now.v).zip(&self.step) {
            *trial = v + length * step;
        }
        self.trial.evaluate(problem, bodies, &self.term);
    }

    /// Starts a proximal problem at the velocities of its centre.
    fn restart(&mut self, problem: &FrictionProblem, bodies: &Bodies, alpha: f64) {
        self.term.set_weight(problem, alpha);
        self.term.compute_velocities(problem, bodies, &mut self.now.v);
        self.now.v.fill(0.0);
        self.now.evaluate(problem, bodies, &self.term);
    }

    /// Makes the present impulses the centre of the next proximal problem, and predicts its solution.   [PROX-5]
    ///
    /// The prediction is a Newton step with the derivative of P at an argument z̄ with P(z̄) = r̄ and the contact modes of the last argument z. A smaller α
    /// changes z, even at the same velocities, by a multiple of the last change of the impulses. The new z often lies beyond a kink of P, where the
    /// derivative belongs to other modes.
    fn continue_from_solution(&mut self, problem: &FrictionProblem, bodies: &Bodies, alpha: f64) {
        self.now.become_centre(&mut self.term);
        self.mode_z.copy_from_slice(&self.now.z);
        self.extrapolated.copy_from_slice(&self.term.rho);
        self.term.set_weight(problem, alpha);
        // z − P(z) is normal to the set of admissible impulses, and grows with ρ while the velocities stay.
        for (k, (z, last_rho)) in self.mode_z.iter_mut().zip(&self.extrapolated).enumerate() {
            let r = self.term.centre[k];
            *z = r + self.term.rho[k] / last_rho * (*z - r);
        }
        self.now.evaluate(problem, bodies, &self.term);
        let Self { system, term, now, trial, mode_z, extrapolated, scratch, .. } = self;
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let (n, rho, mode_z) = (range.len(), &term.rho[range.clone()], &mode_z[range.clone()]);
            let d = system.block_mut(block);
            law.alart_curnier_slope(rho, mode_z, d, scratch);
            let z = &now.z[range.clone()];
            for (row, out) in extrapolated[range].iter_mut().enumerate() {
                *out = (0..n).map(|k| d[row * n + k] / rho[k] * (z[k] - mode_z[k])).sum();
            }
        }
        if system.factor(bodies).is_err() {
            return;
        }
        trial.defect.iter_mut().zip(&now.v).for_each(|(d, v)| *d = -v);
        bodies.response().transpose_mul_add_into(extrapolated, &mut trial.defect);
        self.solve_for_step(bodies, true);
        self.evaluate_along_step(problem, bodies, 1.0);
        if self.trial.merit < self.now.merit {
            std::mem::swap(&mut self.now, &mut self.trial);
        }
    }
}

impl Solver<FrictionProblem> for FrictionProximalNewton {
    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.run_to((self.options.tolerance, self.options.max_steps), problem, guess, solution)
    }
}
