//! Pseudo-transient continuation: proximal-point steps, that is implicit Euler steps in pseudo-time on the impulses, with adaptive step
//! length.   [NEWTON-7]
//!
//! In a collapsing pile Gauss-Seidel drifts slowly for thousands of iterations and then changes abruptly to another combination of
//! contact modes. The central path of the interior point has turning points there, and the start is outside of the basin of attraction of Newton's method.
//! A proximal problem whose proximal centre is the solution of the last one is an implicit Euler step along that drift. Its proximal weight, called
//! weight here, is the inverse of the step length. While it is large, the step has one solution nearby. As the weight falls, the steps grow without
//! bound and the method becomes Newton's method.

use super::merit::{evaluate, natural_residual};
use super::{FrictionNewton, along};
use crate::friction::{FrictionProblem, FrictionSolution};
use crate::interrupt;
use crate::outcome::{Ending, Status};

/// Largest number of Newton steps of one implicit step.
const MAX_INNER_STEPS: u32 = 10;

/// Largest number of Newton steps after which the next implicit step becomes longer.
const EASY_INNER_STEPS: u32 = 4;

/// Factor on the weight after an implicit step with few Newton steps.
const EASY_FACTOR: f64 = 0.5;

/// Factor on the weight after an implicit step with nearly [`MAX_INNER_STEPS`] Newton steps.
const HARD_FACTOR: f64 = 1.5;

/// Factor on the weight after a failed implicit step.
const FAILURE_FACTOR: f64 = 4.0;

/// Least and largest weight, dimensionless: the proximal term is weight/ρ (r − r̄).
const WEIGHT_RANGE: (f64, f64) = (1e-9, 10.0);

/// Factor by which the merit, the squared norm of the Alart-Curnier function weighted by 1/ρ, must fall until an implicit step is solved.
const INNER_DECREASE: f64 = 1e-2;

/// Number of merits in the nonmonotone line search: a step must improve on the largest of the last ones.   [NEWTON-8]
const LINE_SEARCH_MEMORY: usize = 3;

/// Largest number of halvings of a Newton step.
const MAX_HALVINGS: u32 = 11;

/// Largest number of consecutive failed implicit steps.
const MAX_FAILURES: u32 = 12;

/// Number of Newton steps without progress of the residual after which the method stops.
const MAX_STALLED_STEPS: u32 = 1000;

/// Factor by which the residual must fall to count as progress.
const PROGRESS_FACTOR: f64 = 0.9;

impl FrictionNewton {
    /// Runs pseudo-transient continuation from the warm start to the acceptable residual.
    ///
    /// It begins no implicit step after `max_steps` Newton steps; the first implicit step has this weight. The solution is the iterate of least residual.
    pub(crate) fn run_pseudo_transient(
        &mut self,
        (max_steps, weight): (u32, f64),
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let tolerance = self.options.acceptable_residual;
        self.initialise(problem, guess, &mut solution.r);
        let mut least = natural_residual(problem, &solution.r, &self.u);
        let (mut weight, mut steps, mut failures) = (weight.clamp(WEIGHT_RANGE.0, WEIGHT_RANGE.1), 0, 0);
        // Reference residual of the stall test and the step that reached it.
        let (mut stall_reference, mut reference_step) = (least, 0);
        while least > tolerance
            && steps < max_steps
            && failures <= MAX_FAILURES
            && steps - reference_step < MAX_STALLED_STEPS
            && !interrupt::is_requested()
        {
            let taken = self.implicit_step(problem, &mut solution.r, weight);
            steps += taken.unwrap_or_else(|spent| spent);
            let residual = natural_residual(problem, &solution.r, &self.u);
            if residual < least {
                least = residual;
                self.best.copy_from_slice(&solution.r);
            }
            if least <= PROGRESS_FACTOR * stall_reference {
                (stall_reference, reference_step) = (least, steps);
            }
            let factor = match taken {
                Ok(spent) if spent <= EASY_INNER_STEPS => EASY_FACTOR,
                Ok(spent) if spent + 2 >= MAX_INNER_STEPS => HARD_FACTOR,
                Ok(_) => 1.0,
                Err(_) => FAILURE_FACTOR,
            };
            weight = (weight * factor).clamp(WEIGHT_RANGE.0, WEIGHT_RANGE.1);
            if taken.is_ok() {
                self.proximal_centre.copy_from_slice(&solution.r);
                failures = 0;
            } else {
                solution.r.copy_from_slice(&self.proximal_centre);
                failures += 1;
            }
        }
        solution.r.copy_from_slice(&self.best);
        let status = if least <= tolerance { Status::Solved } else { Status::BudgetExhausted };
        Ending::new(status, steps)
    }

    /// Makes one implicit step from the proximal centre: Newton's method on the proximal problem.   [NEWTON-7]
    ///
    /// Returns the number of Newton steps, as an error if it did not converge.
    fn implicit_step(&mut self, problem: &FrictionProblem, r: &mut [f64], weight: f64) -> Result<u32, u32> {
        problem.velocities(r, &mut self.u, &mut self.state);
        let first = evaluate(problem, &self.rho, (r, &self.u), None, &mut self.function);
        let (mut merit, mut recent) = (first, [0.0; LINE_SEARCH_MEMORY]);
        for step in 0..MAX_INNER_STEPS {
            recent[step as usize % LINE_SEARCH_MEMORY] = merit;
            self.linearise(problem, r, weight);
            if self.system.factor(problem).is_err() {
                return Err(step + 1);
            }
            self.solve_for_step(problem);
            let bound = recent.iter().fold(0.0, |worst, merit| f64::max(worst, *merit));
            let Some(next) = self.line_search(problem, r, weight, bound) else { return Err(step + 1) };
            merit = next;
            r.copy_from_slice(&self.trial_r);
            problem.velocities(r, &mut self.u, &mut self.state);
            if merit <= INNER_DECREASE * first {
                return Ok(step + 1);
            }
        }
        Err(MAX_INNER_STEPS)
    }

    /// Halves the step until the merit satisfies the sufficient decrease condition; the trial vectors hold the accepted point.   [NEWTON-8]
    fn line_search(&mut self, problem: &FrictionProblem, r: &[f64], weight: f64, bound: f64) -> Option<f64> {
        let mut length = 1.0;
        for _ in 0..=MAX_HALVINGS {
            along(r, length, &self.step, &mut self.trial_r);
            along(&self.u, length, &self.change, &mut self.trial_u);
            let trial = (&self.trial_r[..], &self.trial_u[..]);
            let merit = evaluate(problem, &self.rho, trial, Some((weight, &self.proximal_centre)), &mut self.function);
            if merit <= (1.0 - 2.0 * self.options.sufficient_decrease * length) * bound {
                return Some(merit);
            }
            length *= 0.5;
        }
        None
    }
}
