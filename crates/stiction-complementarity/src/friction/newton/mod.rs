//! Semismooth Newton on the map of Alart and Curnier, with a proximal term: the polisher.
//!
//! Started near a solution, where Gauss-Seidel or an interior point left off, it takes a few steps to rounding level. It is
//! no globaliser: from far away the line search keeps it honest, but it may run out of steps. The equations are in
//! `docs/theory/cones.md`, section "Semismooth Newton".

mod alart_curnier;
mod merit;
mod options;
mod pseudo_transient;
pub(crate) mod system;

pub use options::FrictionNewtonOptions;

use crate::friction::{Delassus, FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use merit::{evaluate, proximal_velocities, scale_rows};
pub(crate) use merit::{natural_map, start_from};
use system::ImpulseSystem;

/// Where rounding is the limit the residual hovers although α is at its least: after this many such steps an acceptable
/// residual is taken.
const ROUNDING_PATIENCE: u32 = 4;

/// Semismooth Newton for frictional contact.   [NEWTON-1] … [NEWTON-5]
///
/// Claims `Solved` when the measured residual is within its tolerance (or, where rounding stops progress, within the
/// acceptable one), `BudgetExhausted` when the steps run out and `Breakdown` when no step helps any more. The answer is
/// always the iterate of least residual.
#[derive(Clone, Debug, Default)]
pub struct FrictionNewton {
    options: FrictionNewtonOptions,
    system: ImpulseSystem,
    /// ρ of each row, kg; the map is divided by its root so that its squared length is an energy.
    rho: Vec<f64>,
    /// Velocities at r, and the point r̄ the proximal term pulls towards.
    u: Vec<f64>,
    anchor: Vec<f64>,
    map: Vec<f64>,
    step: Vec<f64>,
    /// Change of u along the step.
    change: Vec<f64>,
    correction: Vec<f64>,
    trial_r: Vec<f64>,
    trial_u: Vec<f64>,
    best: Vec<f64>,
    state: Vec<f64>,
}

/// The numbers that steer the iteration.
struct Course {
    /// Proximal weight α, relative to the diagonal of W.
    alpha: f64,
    /// How far the merit may rise above that of the anchor before steps are shortened.
    slack: f64,
    /// Merit when the anchor was set, and now.
    anchor_merit: f64,
    merit: f64,
    /// Steps since the anchor was set.
    since_anchor: u32,
    /// Failures in a row, of the line search or of the factorisation.
    failures: u32,
}

impl FrictionNewton {
    /// The method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options.
    pub fn with_options(options: FrictionNewtonOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// The options in force.
    pub fn options(&self) -> &FrictionNewtonOptions {
        &self.options
    }

    /// Makes room, copies the guess and finds the parameters ρ.
    fn start(&mut self, problem: &FrictionProblem, guess: Option<&FrictionSolution>, r: &mut Vec<f64>) {
        let n = problem.rows();
        start_from(guess, n, r);
        self.system.prepare(problem);
        scale_rows(problem, &mut self.state, &mut self.map, &mut self.rho);
        for vector in [
            &mut self.map,
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
        self.anchor.clone_from(r);
        problem.velocities(r, &mut self.u, &mut self.state);
    }

    /// One Newton step on the proximal problem; the length of the step taken, or nothing when it failed.
    fn advance(&mut self, problem: &FrictionProblem, r: &mut Vec<f64>, course: &mut Course) -> Option<f64> {
        self.linearise(problem, r, course.alpha);
        self.system.factor(problem).ok()?;
        self.solve_for_step(problem);
        let bound = course.merit.max(course.slack * course.anchor_merit);
        let mut length = 1.0;
        for _ in 0..=self.options.max_halvings {
            along(r, length, &self.step, &mut self.trial_r);
            along(&self.u, length, &self.change, &mut self.trial_u);
            let merit = evaluate(
                problem,
                &self.rho,
                (&self.trial_r, &self.trial_u),
                Some((course.alpha, &self.anchor)),
                &mut self.map,
            );
            if merit <= (1.0 - 2.0 * self.options.sufficient_decrease * length) * bound {
                std::mem::swap(r, &mut self.trial_r);
                problem.velocities(r, &mut self.u, &mut self.state);
                course.merit = merit;
                return Some(length);
            }
            length *= 0.5;
        }
        None
    }

    /// Writes the map at r, with the proximal term, and the blocks A + B (c + α/ρ) and B of its derivative.   [NEWTON-3]
    fn linearise(&mut self, problem: &FrictionProblem, r: &[f64], alpha: f64) {
        evaluate(problem, &self.rho, (r, &self.u), Some((alpha, &self.anchor)), &mut self.map);
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let n = range.len();
            let rho = &self.rho[range.clone()];
            let u = &mut self.trial_u[range.clone()];
            proximal_velocities(
                rho,
                alpha,
                (&r[range.clone()], &self.anchor[range.clone()], &self.u[range.clone()]),
                u,
            );
            let (a, b) = self.system.blocks_mut(block);
            alart_curnier::derivative(law, rho, &r[range.clone()], u, a, b);
            let compliance = problem.compliance().get(range).unwrap_or(&[]);
            for column in 0..n {
                let weight = alpha / rho[column] + compliance.get(column).copied().unwrap_or(0.0);
                for row in 0..n {
                    a[row * n + column] += b[row * n + column] * weight;
                }
            }
        }
    }

    /// Newton's step A x + B W x = −f, refined once, and the change of the velocities along it.   [NEWTON-4]
    fn solve_for_step(&mut self, problem: &FrictionProblem) {
        self.map.iter_mut().for_each(|f| *f = -*f);
        self.system.solve(problem, &self.map, &mut self.step);
        problem.operator().apply(&self.step, &mut self.change, &mut self.state);
        self.system.subtract_product(&self.step, &self.change, &mut self.map);
        self.system.solve(problem, &self.map, &mut self.correction);
        self.step.iter_mut().zip(&self.correction).for_each(|(x, dx)| *x += dx);
        problem.operator().apply(&self.step, &mut self.change, &mut self.state);
        let compliant = self.change.iter_mut().zip(problem.compliance().iter().zip(&self.step));
        compliant.for_each(|(du, (c, dr))| *du += c * dr);
    }

    /// Sets the anchor to r: the proximal term vanishes there.
    fn anchor_at(&mut self, problem: &FrictionProblem, r: &[f64], course: &mut Course) {
        self.anchor.copy_from_slice(r);
        course.anchor_merit = evaluate(problem, &self.rho, (r, &self.u), None, &mut self.map);
        (course.merit, course.since_anchor) = (course.anchor_merit, 0);
    }

    /// After a step: a proximal problem solved well enough gives the next anchor, a smaller weight and more slack; one
    /// that takes too long, or a failed step, leads back to the better of r and the anchor with a larger weight and less
    /// slack. False after too many failures.
    fn steer(&mut self, problem: &FrictionProblem, r: &mut [f64], taken: Option<f64>, course: &mut Course) -> bool {
        let options = self.options;
        course.since_anchor += 1;
        course.failures = if taken.is_some() { 0 } else { course.failures + 1 };
        // Merits are squares, the option speaks of lengths.
        if taken.is_some() && course.merit <= options.inner_accuracy.powi(2) * course.anchor_merit {
            course.alpha = (course.alpha * options.shrink).max(options.least_proximal);
            course.slack = (course.slack * 10.0).min(options.slack);
            self.anchor_at(problem, r, course);
        } else if taken.is_none() || course.since_anchor >= options.inner_steps {
            course.alpha = (course.alpha / options.shrink.powi(2)).min(options.largest_proximal);
            course.slack = (course.slack * 0.01).max(1.0);
            if evaluate(problem, &self.rho, (r, &self.u), None, &mut self.map) > course.anchor_merit {
                r.copy_from_slice(&self.anchor);
                problem.velocities(r, &mut self.u, &mut self.state);
            }
            self.anchor_at(problem, r, course);
        }
        course.failures <= options.max_failures
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
    /// Runs with another budget of steps.
    pub(crate) fn run_at_most(
        &mut self,
        max_steps: u32,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let options = FrictionNewtonOptions { max_steps, ..self.options };
        self.start(problem, guess, &mut solution.r);
        let mut least = natural_map(problem, &solution.r, &self.u);
        let mut course = Course {
            alpha: least.sqrt().clamp(options.least_proximal, options.proximal),
            slack: options.slack,
            anchor_merit: 0.0,
            merit: 0.0,
            since_anchor: 0,
            failures: 0,
        };
        self.anchor_at(problem, &solution.r, &mut course);
        let (mut steps, mut idle, mut status) = (0, 0, Status::BudgetExhausted);
        while least > options.tolerance && steps < options.max_steps {
            let taken = self.advance(problem, &mut solution.r, &mut course);
            steps += 1;
            let residual = natural_map(problem, &solution.r, &self.u);
            // Near enough, and the last step led no nearer: smaller proximal weights lead through other modes and back.
            let idles_near = least <= options.acceptable && residual > 0.5 * least;
            let at_floor = course.alpha <= options.least_proximal;
            idle = if residual < 0.5 * least || !at_floor { 0 } else { idle + 1 };
            if residual < least {
                least = residual;
                self.best.copy_from_slice(&solution.r);
            }
            let stuck = !self.steer(problem, &mut solution.r, taken, &mut course);
            if idles_near || stuck || (idle >= ROUNDING_PATIENCE && least <= options.acceptable) {
                status = Status::Breakdown;
                break;
            }
        }
        solution.r.copy_from_slice(&self.best);
        let stopped_by_rounding = status == Status::Breakdown && least <= options.acceptable;
        let solved = least <= options.tolerance || stopped_by_rounding;
        Ending::new(if solved { Status::Solved } else { status }, steps)
    }
}

/// out ← x + length · step.
fn along(x: &[f64], length: f64, step: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(x.iter().zip(step)).for_each(|(out, (x, step))| *out = x + length * step);
}
