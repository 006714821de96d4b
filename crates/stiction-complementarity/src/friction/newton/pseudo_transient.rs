//! Pseudo-transient continuation: implicit steps along the flow that leads to a solution, their length found on the way.   [NEWTON-7]
//!
//! Where a pile collapses, sweeps drift for thousands of rounds and then snap into another arrangement of contacts; the path of
//! the interior point folds there and Newton's method has no basin to fall into. Each proximal problem with its anchor where the
//! last one ended is one implicit Euler step along that drift: as long as its weight is large the step has one solution nearby, and
//! as it falls the steps grow without bound and the method ends as Newton's.

use super::merit::{evaluate, natural_map};
use super::{FrictionNewton, along};
use crate::friction::{FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};

/// Newton steps for one implicit step before it is given up, and so few that the next one may be longer.
const INNER: u32 = 10;
const EASY: u32 = 4;

/// Factors on the weight after an easy step, after one that nearly took all of [`INNER`], and after one given up.
const LONGER: f64 = 0.5;
const SHORTER: f64 = 1.5;
const RETRY: f64 = 4.0;

/// The weight stays within these, relative to the diagonal of W.
const WEIGHTS: (f64, f64) = (1e-9, 10.0);

/// An implicit step is done when the merit, a square, has fallen by this factor.
const DONE: f64 = 1e-2;

/// A Newton step must improve on the worst of so many merits before it.   [NEWTON-8]
const MEMORY: usize = 3;

/// Halvings of a Newton step, implicit steps given up in a row, and Newton steps without a residual noticeably better.
const HALVINGS: u32 = 11;
const MOST_RETRIES: u32 = 12;
const PATIENCE: u32 = 1000;
const NOTICEABLE: f64 = 0.9;

impl FrictionNewton {
    /// Follows the flow from the guess with at most so many Newton steps, the first implicit step with this weight, to the
    /// residual called acceptable. The answer is the iterate of least residual.
    pub(crate) fn run_pseudo_transient(
        &mut self,
        (most, weight): (u32, f64),
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let tolerance = self.options.acceptable;
        self.start(problem, guess, &mut solution.r);
        let mut least = natural_map(problem, &solution.r, &self.u);
        let (mut weight, mut steps, mut retries) = (weight.clamp(WEIGHTS.0, WEIGHTS.1), 0, 0);
        // The residual and the step from which patience is counted.
        let (mut mark, mut marked_at) = (least, 0);
        while least > tolerance && steps < most && retries <= MOST_RETRIES && steps - marked_at < PATIENCE {
            let taken = self.implicit_step(problem, &mut solution.r, weight);
            steps += taken.unwrap_or_else(|spent| spent);
            let residual = natural_map(problem, &solution.r, &self.u);
            if residual < least {
                least = residual;
                self.best.copy_from_slice(&solution.r);
            }
            if least <= NOTICEABLE * mark {
                (mark, marked_at) = (least, steps);
            }
            let factor = match taken {
                Ok(spent) if spent <= EASY => LONGER,
                Ok(spent) if spent + 2 >= INNER => SHORTER,
                Ok(_) => 1.0,
                Err(_) => RETRY,
            };
            weight = (weight * factor).clamp(WEIGHTS.0, WEIGHTS.1);
            if taken.is_ok() {
                self.anchor.copy_from_slice(&solution.r);
                retries = 0;
            } else {
                solution.r.copy_from_slice(&self.anchor);
                retries += 1;
            }
        }
        solution.r.copy_from_slice(&self.best);
        let status = if least <= tolerance { Status::Solved } else { Status::BudgetExhausted };
        Ending::new(status, steps)
    }

    /// One implicit step, from the anchor: Newton's method on the proximal problem. The Newton steps it took, as an error when
    /// it did not end.   [NEWTON-7]
    fn implicit_step(&mut self, problem: &FrictionProblem, r: &mut Vec<f64>, weight: f64) -> Result<u32, u32> {
        problem.velocities(r, &mut self.u, &mut self.state);
        let first = evaluate(problem, &self.rho, (r, &self.u), None, &mut self.map);
        let (mut merit, mut recent) = (first, [0.0; MEMORY]);
        for step in 0..INNER {
            recent[step as usize % MEMORY] = merit;
            self.linearise(problem, r, weight);
            if self.system.factor(problem).is_err() {
                return Err(step + 1);
            }
            self.solve_for_step(problem);
            let bound = recent.iter().fold(0.0, |worst, merit| f64::max(worst, *merit));
            let Some(next) = self.shorten(problem, r, weight, bound) else { return Err(step + 1) };
            merit = next;
            std::mem::swap(r, &mut self.trial_r);
            problem.velocities(r, &mut self.u, &mut self.state);
            if merit <= DONE * first {
                return Ok(step + 1);
            }
        }
        Err(INNER)
    }

    /// Halves the step until the merit is below the bound; it is left in the trial vectors.   [NEWTON-8]
    fn shorten(&mut self, problem: &FrictionProblem, r: &[f64], weight: f64, bound: f64) -> Option<f64> {
        let mut length = 1.0;
        for _ in 0..=HALVINGS {
            along(r, length, &self.step, &mut self.trial_r);
            along(&self.u, length, &self.change, &mut self.trial_u);
            let trial = (&self.trial_r[..], &self.trial_u[..]);
            let merit = evaluate(problem, &self.rho, trial, Some((weight, &self.anchor)), &mut self.map);
            if merit <= (1.0 - 2.0 * self.options.sufficient_decrease * length) * bound {
                return Some(merit);
            }
            length *= 0.5;
        }
        None
    }
}
