//! Semismooth Newton method on the Alart-Curnier function, with a proximal term.
//!
//! From a start near a solution, such as an iterate of Gauss-Seidel or of the interior point, it converges to rounding level in a few
//! steps. It is not globally convergent: far from a solution the line search controls the steps, but they may run out. The equations are
//! in `docs/theory/cones.md`, section "Semismooth Newton".

mod merit;
mod options;
mod pseudo_transient;
pub(crate) mod system;

pub use options::FrictionNewtonOptions;

use crate::friction::{Delassus, FrictionProblem, FrictionSolution};
use crate::interrupt;
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use merit::{compute_rho, evaluate, proximal_velocities};
pub(crate) use merit::{copy_warm_start, natural_residual};
use system::ImpulseSystem;

/// Number of steps at the least α without progress after which an acceptable residual ends the method: rounding is the limit.
const MAX_IDLE_STEPS: u32 = 4;

/// Semismooth Newton method for frictional contact.   [NEWTON-1] … [NEWTON-5]
///
/// It ends with `Solved` if the residual is within the tolerance, or within the acceptable residual if a step no longer halves it. It ends
/// with `BudgetExhausted` if the steps run out and with `Breakdown` if too many steps in a row fail. The solution is always the iterate
/// of least residual.
#[derive(Clone, Debug, Default)]
pub struct FrictionNewton {
    options: FrictionNewtonOptions,
    system: ImpulseSystem,
    /// ρ of each row, kg. The Alart-Curnier function is divided by √ρ, so its squared norm is an energy.
    rho: Vec<f64>,
    /// Velocities at r.
    u: Vec<f64>,
    /// Centre r̄ of the proximal term.
    proximal_centre: Vec<f64>,
    /// Alart-Curnier function f; −f is the right-hand side of the Newton step.
    function: Vec<f64>,
    /// Newton step of the impulses.
    step: Vec<f64>,
    /// Change of u along the full step.
    change: Vec<f64>,
    correction: Vec<f64>,
    trial_r: Vec<f64>,
    trial_u: Vec<f64>,
    best: Vec<f64>,
    state: Vec<f64>,
}

/// State of the proximal iteration and of its line search.
struct ProximalState {
    /// Proximal weight α, relative to the diagonal of W.
    alpha: f64,
    /// Largest ratio of the merit to that of the proximal centre that the line search accepts.
    nonmonotone_bound: f64,
    /// Merit, the squared norm of the Alart-Curnier function weighted by 1/ρ, at the proximal centre.
    centre_merit: f64,
    /// Merit at the present iterate.
    merit: f64,
    /// Steps since the proximal centre was set.
    steps_since_centre: u32,
    /// Consecutive failures of the line search or of the factorisation.
    failures: u32,
}

impl FrictionNewton {
    /// Creates the method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the method with these options, which are validated.
    pub fn with_options(options: FrictionNewtonOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Options of the method.
    pub fn options(&self) -> &FrictionNewtonOptions {
        &self.options
    }

    /// Allocates memory, copies the warm start and computes the parameters ρ.
    fn initialise(&mut self, problem: &FrictionProblem, guess: Option<&FrictionSolution>, r: &mut Vec<f64>) {
        let n = problem.rows();
        copy_warm_start(guess, n, r);
        self.system.prepare(problem);
        compute_rho(problem, &mut self.state, &mut self.function, &mut self.rho);
        for vector in [
            &mut self.function,
            &mut self.step,
            &mut self.change,
            &mut self.correction,
            &mut self.trial_r,
            &mut self.trial_u,
        ] {
            vector.clear();
            vector.resize(n, 0.0);
        }
        self.best.clone_from(r);
        self.proximal_centre.clone_from(r);
        problem.velocities(r, &mut self.u, &mut self.state);
    }

    /// Makes one Newton step on the proximal problem; returns its length, or none if it failed.
    fn advance(&mut self, problem: &FrictionProblem, r: &mut [f64], proximal: &mut ProximalState) -> Option<f64> {
        self.linearise(problem, r, proximal.alpha);
        self.system.factor(problem).ok()?;
        self.solve_for_step(problem);
        let bound = proximal.merit.max(proximal.nonmonotone_bound * proximal.centre_merit);
        let mut length = 1.0;
        for _ in 0..=self.options.max_halvings {
            along(r, length, &self.step, &mut self.trial_r);
            along(&self.u, length, &self.change, &mut self.trial_u);
            let merit = evaluate(
                problem,
                &self.rho,
                (&self.trial_r, &self.trial_u),
                Some((proximal.alpha, &self.proximal_centre)),
                &mut self.function,
            );
            if merit <= (1.0 - 2.0 * self.options.sufficient_decrease * length) * bound {
                r.copy_from_slice(&self.trial_r);
                problem.velocities(r, &mut self.u, &mut self.state);
                proximal.merit = merit;
                return Some(length);
            }
            length *= 0.5;
        }
        None
    }

    /// Computes the Alart-Curnier function at r with the proximal term, and the blocks A + B (c + α/ρ) and B of its derivative.   [NEWTON-3]
    fn linearise(&mut self, problem: &FrictionProblem, r: &[f64], alpha: f64) {
        evaluate(problem, &self.rho, (r, &self.u), Some((alpha, &self.proximal_centre)), &mut self.function);
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let n = range.len();
            let rho = &self.rho[range.clone()];
            let u = &mut self.trial_u[range.clone()];
            proximal_velocities(
                rho,
                alpha,
                (&r[range.clone()], &self.proximal_centre[range.clone()], &self.u[range.clone()]),
                u,
            );
            let (a, b) = self.system.blocks_mut(block);
            law.alart_curnier_jacobian(rho, &r[range.clone()], u, a, b);
            let compliance = problem.compliance().get(range).unwrap_or(&[]);
            for column in 0..n {
                let weight = alpha / rho[column] + compliance.get(column).copied().unwrap_or(0.0);
                for row in 0..n {
                    a[row * n + column] += b[row * n + column] * weight;
                }
            }
        }
    }

    /// Solves A x + B W x = −f with one refinement, and computes the change of the velocities along the step.   [NEWTON-4]
    fn solve_for_step(&mut self, problem: &FrictionProblem) {
        self.function.iter_mut().for_each(|f| *f = -*f);
        self.system.solve(problem, &self.function, &mut self.step);
        problem.operator().apply(&self.step, &mut self.change, &mut self.state);
        self.system.subtract_product(&self.step, &self.change, &mut self.function);
        self.system.solve(problem, &self.function, &mut self.correction);
        self.step.iter_mut().zip(&self.correction).for_each(|(x, dx)| *x += dx);
        problem.operator().apply(&self.step, &mut self.change, &mut self.state);
        let compliant = self.change.iter_mut().zip(problem.compliance().iter().zip(&self.step));
        compliant.for_each(|(du, (c, dr))| *du += c * dr);
    }

    /// Sets the proximal centre to r, where the proximal term vanishes.
    fn set_centre(&mut self, problem: &FrictionProblem, r: &[f64], proximal: &mut ProximalState) {
        self.proximal_centre.copy_from_slice(r);
        proximal.centre_merit = evaluate(problem, &self.rho, (r, &self.u), None, &mut self.function);
        (proximal.merit, proximal.steps_since_centre) = (proximal.centre_merit, 0);
    }

    /// Updates proximal centre, proximal weight and nonmonotone bound after a step; returns false after too many failures.
    ///
    /// A proximal problem that is solved well enough gives the next centre, a smaller weight and a larger bound. After too many steps or
    /// a failed step the better one of r and the centre is the next centre, with a larger weight and a smaller bound.
    fn update_proximal(
        &mut self,
        problem: &FrictionProblem,
        r: &mut [f64],
        taken: Option<f64>,
        proximal: &mut ProximalState,
    ) -> bool {
        let options = self.options;
        proximal.steps_since_centre += 1;
        proximal.failures = if taken.is_some() { 0 } else { proximal.failures + 1 };
        // Merits are squared norms, the option is a ratio of norms.
        if taken.is_some() && proximal.merit <= options.inner_accuracy.powi(2) * proximal.centre_merit {
            proximal.alpha = (proximal.alpha * options.shrink_factor).max(options.least_proximal);
            proximal.nonmonotone_bound = (proximal.nonmonotone_bound * 10.0).min(options.nonmonotone_bound);
            self.set_centre(problem, r, proximal);
        } else if taken.is_none() || proximal.steps_since_centre >= options.inner_steps {
            proximal.alpha = (proximal.alpha / options.shrink_factor.powi(2)).min(options.largest_proximal);
            proximal.nonmonotone_bound = (proximal.nonmonotone_bound * 0.01).max(1.0);
            if evaluate(problem, &self.rho, (r, &self.u), None, &mut self.function) > proximal.centre_merit {
                r.copy_from_slice(&self.proximal_centre);
                problem.velocities(r, &mut self.u, &mut self.state);
            }
            self.set_centre(problem, r, proximal);
        }
        proximal.failures <= options.max_failures
    }
}

impl Solver<FrictionProblem> for FrictionNewton {
    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.run_at_most(self.options.max_steps, problem, guess, solution)
    }
}

impl FrictionNewton {
    /// Runs with another budget of Newton steps.
    pub(crate) fn run_at_most(
        &mut self,
        max_steps: u32,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let options = FrictionNewtonOptions { max_steps, ..self.options };
        self.initialise(problem, guess, &mut solution.r);
        let mut least = natural_residual(problem, &solution.r, &self.u);
        let mut proximal = ProximalState {
            alpha: least.sqrt().clamp(options.least_proximal, options.proximal),
            nonmonotone_bound: options.nonmonotone_bound,
            centre_merit: 0.0,
            merit: 0.0,
            steps_since_centre: 0,
            failures: 0,
        };
        self.set_centre(problem, &solution.r, &mut proximal);
        let (mut steps, mut idle, mut status) = (0, 0, Status::BudgetExhausted);
        while least > options.tolerance && steps < options.max_steps && !interrupt::is_requested() {
            let taken = self.advance(problem, &mut solution.r, &mut proximal);
            steps += 1;
            let residual = natural_residual(problem, &solution.r, &self.u);
            // The residual is acceptable, and this step did not halve it: smaller proximal weights would only change modes back and forth.
            let stalls_acceptably = least <= options.acceptable_residual && residual > 0.5 * least;
            let alpha_at_minimum = proximal.alpha <= options.least_proximal;
            idle = if residual < 0.5 * least || !alpha_at_minimum { 0 } else { idle + 1 };
            if residual < least {
                least = residual;
                self.best.copy_from_slice(&solution.r);
            }
            let stalled = !self.update_proximal(problem, &mut solution.r, taken, &mut proximal);
            if stalls_acceptably || stalled || (idle >= MAX_IDLE_STEPS && least <= options.acceptable_residual) {
                status = Status::Breakdown;
                break;
            }
        }
        solution.r.copy_from_slice(&self.best);
        let stopped_by_rounding = status == Status::Breakdown && least <= options.acceptable_residual;
        let solved = least <= options.tolerance || stopped_by_rounding;
        Ending::new(if solved { Status::Solved } else { status }, steps)
    }
}

/// out ← x + length · step.
fn along(x: &[f64], length: f64, step: &[f64], out: &mut [f64]) {
    debug_assert!(x.len() == step.len() && x.len() == out.len(), "equal sizes");
    out.iter_mut().zip(x.iter().zip(step)).for_each(|(out, (x, step))| *out = x + length * step);
}
