//! Runs of single methods of the ladder, with their schedules and polishes.

use super::schedule::{
    ASSEMBLED_ITERATIONS, COLD_START_ITERATIONS, FAST_CONVERGENCE, FIRST_RATE_INTERVAL, INTERIOR_POINT_COST,
    INTERIOR_POINT_STEPS, MAX_REFINED_ROWS, MAX_STICK_RECOVERY_ROWS, POLISH_SCHEDULE, POLISH_STEPS, POOR_START,
    POOR_START_ITERATIONS, PROXIMAL_STEPS, RATE_INTERVAL, REAL_TIME_ITERATIONS, REAL_TIME_NEWTON_STEPS,
    ROUNDING_RESIDUAL,
};
use super::{Accuracy, FrictionLadder, FrictionRung};
use crate::friction::active_set::REFINED_RESIDUAL;
use crate::friction::{FrictionProblem, FrictionSolution, Operator};
use crate::interrupt;
use crate::outcome::Status;
use crate::problem::Problem;
use crate::solver::Solver;

impl FrictionLadder {
    /// Runs Gauss-Seidel while its convergence rate predicts the tolerance within what is left of a budget, the cost of the interior point. With an
    /// assembled W it runs for [`ASSEMBLED_ITERATIONS`] more, whatever the rate, and with `RealTime` for [`REAL_TIME_ITERATIONS`] at most.   [GS-6]
    pub(super) fn run_gauss_seidel(&mut self, problem: &FrictionProblem, start: Option<&FrictionSolution>) -> u32 {
        let assembled = matches!(problem.operator(), Operator::Assembled(_));
        let (mut budget, mut interval) =
            if assembled { (ASSEMBLED_ITERATIONS, RATE_INTERVAL) } else { (INTERIOR_POINT_COST, FIRST_RATE_INTERVAL) };
        if self.accuracy == Accuracy::RealTime {
            (budget, interval) = (0.0, REAL_TIME_ITERATIONS);
        }
        let mut iterations = self.gauss_seidel.run_at_most(interval, problem, start, &mut self.candidate).iterations;
        let mut residual = problem.residual(&self.candidate).value;
        while residual > self.tolerance && budget > 0.0 && !interrupt::is_requested() {
            std::mem::swap(&mut self.candidate, &mut self.scratch);
            let last = Some(&self.scratch);
            iterations += self.gauss_seidel.run_at_most(interval, problem, last, &mut self.candidate).iterations;
            let before = std::mem::replace(&mut residual, problem.residual(&self.candidate).value);
            budget -= f64::from(interval);
            // Linear convergence: the residual falls by a constant factor per interval, and the tolerance is predicted within the budget or not.
            let intervals = libm::log(self.tolerance / residual) / libm::log(residual / before);
            let in_budget = residual < before && intervals * f64::from(interval) <= budget;
            if !(assembled || in_budget) {
                break;
            }
            interval = RATE_INTERVAL;
        }
        self.gauss_seidel_end.r.clone_from(&self.candidate.r);
        iterations
    }

    /// Runs proximal Newton from the warm start, or from zero without one. If there are no more rows than velocities, a start that is far off is first
    /// improved by Gauss-Seidel iterations, as long as they converge fast.   [PROX-6]
    pub(super) fn run_proximal(&mut self, problem: &FrictionProblem, start: Option<&FrictionSolution>) -> u32 {
        let Operator::MatrixFree(bodies) = problem.operator() else { return self.run_proximal_from(problem, start) };
        if problem.rows() > bodies.jacobian().cols() {
            return self.run_proximal_from(problem, start);
        }
        let given = start.map_or(f64::INFINITY, |start| problem.residual(start).value);
        let (mut iterations, mut residual) = (0, given);
        while residual > POOR_START && iterations < POOR_START_ITERATIONS && !interrupt::is_requested() {
            std::mem::swap(&mut self.candidate, &mut self.scratch);
            let from = if iterations == 0 { start } else { Some(&self.scratch) };
            iterations += self.gauss_seidel.run_at_most(RATE_INTERVAL, problem, from, &mut self.candidate).iterations;
            let before = std::mem::replace(&mut residual, problem.residual(&self.candidate).value);
            if residual > FAST_CONVERGENCE * before {
                break;
            }
        }
        if residual < given {
            std::mem::swap(&mut self.candidate, &mut self.scratch);
            let improved = std::mem::take(&mut self.scratch);
            iterations += self.run_proximal_from(problem, Some(&improved));
            self.scratch = improved;
            return iterations;
        }
        iterations + self.run_proximal_from(problem, start)
    }

    fn run_proximal_from(&mut self, problem: &FrictionProblem, start: Option<&FrictionSolution>) -> u32 {
        let steps = if self.accuracy == Accuracy::RealTime { REAL_TIME_NEWTON_STEPS } else { PROXIMAL_STEPS };
        self.proximal.run_to((self.acceptable_residual, steps), problem, start, &mut self.candidate).iterations
    }

    /// Runs Gauss-Seidel from zero, then proximal Newton.
    pub(super) fn run_cold_proximal(&mut self, problem: &FrictionProblem) -> u32 {
        let iterations =
            self.gauss_seidel.run_at_most(COLD_START_ITERATIONS, problem, None, &mut self.scratch).iterations;
        let start = std::mem::take(&mut self.scratch);
        let steps = self.run_proximal_from(problem, Some(&start));
        self.scratch = start;
        iterations + steps
    }

    /// Runs the interior point from the initial iterate of this Tikhonov weight, and then polishes: a few Gauss-Seidel iterations and Newton's method.
    ///
    /// The interior point may need many steps to pass a turning point of the central path. So it is also polished on the way, as [`POLISH_SCHEDULE`]
    /// says, from the present iterate. The iterate of least residual often lies before the turning point, on the wrong side for Newton's method.
    pub(super) fn run_interior_point(&mut self, problem: &FrictionProblem, tikhonov_weight: f64) -> u32 {
        let (mut budget, mut polish_iterations) = (POLISH_SCHEDULE.first, 0);
        let mut ending =
            self.interior_point.run_from((&[tikhonov_weight], budget), problem, &mut self.interior_point_best);
        while ending.status == Status::BudgetExhausted && budget < INTERIOR_POINT_STEPS && !interrupt::is_requested() {
            let polishes = self.interior_point.residual() <= POLISH_SCHEDULE.residual;
            if polishes {
                self.scratch.r.clear();
                self.scratch.r.extend_from_slice(self.interior_point.impulses());
                polish_iterations += self.iterate_and_polish(problem, POLISH_SCHEDULE.steps);
                if problem.residual(&self.candidate).value <= self.tolerance {
                    return ending.iterations + polish_iterations;
                }
            }
            budget += if polishes { POLISH_SCHEDULE.interval } else { 1 };
            let steps = budget.min(INTERIOR_POINT_STEPS);
            ending = self.interior_point.resume(steps, problem, &mut self.interior_point_best);
        }
        self.candidate.r.clone_from(&self.interior_point_best.r);
        if problem.residual(&self.candidate).value > self.tolerance {
            self.scratch.r.clone_from(&self.interior_point_best.r);
            polish_iterations += self.iterate_and_polish(problem, POLISH_STEPS);
        }
        ending.iterations + polish_iterations
    }

    /// Runs a few Gauss-Seidel iterations and Newton from `self.scratch` into `self.candidate`; returns the number of iterations.
    fn iterate_and_polish(&mut self, problem: &FrictionProblem, max_steps: u32) -> u32 {
        let iterations = self.short_gauss_seidel.run(problem, Some(&self.scratch), &mut self.candidate).iterations;
        iterations + self.polish(problem, max_steps)
    }

    /// Polishes the candidate of another method: runs semismooth Newton from it and keeps the result if its residual is smaller. Returns the number of
    /// steps, zero if the candidate is within the tolerance.
    pub(super) fn polish(&mut self, problem: &FrictionProblem, max_steps: u32) -> u32 {
        let before = problem.residual(&self.candidate).value;
        if before <= self.tolerance {
            return 0;
        }
        let steps = self.newton.run_at_most(max_steps, problem, Some(&self.candidate), &mut self.scratch).iterations;
        if problem.residual(&self.scratch).value < before {
            std::mem::swap(&mut self.candidate, &mut self.scratch);
        }
        steps
    }

    /// Refines small problems by a few Newton steps, then runs stick recovery. Does nothing in a ladder without stick recovery.
    ///
    /// At the stick-slip transition velocities are accurate to residual^(2/3) only, so the residual is reduced as far as is cheap.
    pub(super) fn refine_and_recover_stick(
        &mut self,
        problem: &FrictionProblem,
        residual: f64,
        solution: &mut FrictionSolution,
    ) {
        // The active-set method has refined its own solution already, and that of the single-pivot method.
        let solved_by_active_set = self
            .records
            .iter()
            .any(|record| record.rung == FrictionRung::ActiveSet && record.residual <= self.tolerance);
        let Some(stick_recovery) = &mut self.stick_recovery else { return };
        if problem.rows() <= MAX_REFINED_ROWS
            && residual > if solved_by_active_set { REFINED_RESIDUAL } else { ROUNDING_RESIDUAL }
        {
            let _ = self.refinement.run(problem, Some(solution), &mut self.scratch);
            if problem.residual(&self.scratch).value < residual {
                std::mem::swap(solution, &mut self.scratch);
            }
        }
        if problem.rows() <= MAX_STICK_RECOVERY_ROWS {
            stick_recovery.run(problem, residual.max(self.tolerance), &mut solution.r);
        }
    }
}
