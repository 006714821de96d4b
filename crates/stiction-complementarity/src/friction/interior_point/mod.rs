//! Primal-dual interior point for exact friction, with De Saxcé's term inside: no convex relaxation.
//!
//! Newton's method on the law, the dynamics and perturbed complementarity,
//!
//! ```text
//! x = A r + b,   Σ Aᵀ g⁻¹(y) = W r + q,   x ∘ y = τ e,   x, y inside their cones,   τ → 0,          [CONE-8]
//! ```
//!
//! with Nesterov-Todd scaling [CONE-9], Mehrotra's start and corrector [CONE-12], and a gap that does not run ahead of the
//! infeasibility. The shift makes the problem nonconvex, so convergence is not guaranteed once contacts slide: the method
//! stops when it no longer improves and hands back the best impulses. A guess is not used: points near the solution are
//! points near the boundary, where an interior method has no room. References: [Mehrotra1992],
//! [Vandenberghe2010].

mod cones;
mod newton_system;
mod soc;
mod start;
mod step;

use super::{FrictionProblem, FrictionSolution, Operator};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use cones::{Cones, Locals};
use newton_system::NewtonSystem;
use soc::{Scaling, Vector};
use step::{Direction, Point};

/// The knobs of [`FrictionInteriorPoint`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrictionInteriorPointOptions {
    /// The method claims success at this residual [CONE-5]. Dimensionless, default 1e-9; resting contacts reach 1e-10,
    /// sliding ones often only 1e-6.
    pub tolerance: f64,
    /// Newton steps, of all starts together, after which the method gives up with `BudgetExhausted`. Default 120; resting
    /// piles take about 8, sliding ones 10 to 60.
    pub max_iterations: u32,
    /// Newton steps without a better residual after which the method stops and claims `SolvedLoosely`. Default 30: where the
    /// path folds, two dozen steps may go by before the residual falls again.
    pub stall_iterations: u32,
}

impl Default for FrictionInteriorPointOptions {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_iterations: 120, stall_iterations: 30 }
    }
}

impl FrictionInteriorPointOptions {
    /// Refuses a tolerance that is not positive and finite.
    pub fn validate(&self) -> Result<(), OptionError> {
        let value = self.tolerance;
        if value.is_finite() && value > 0.0 {
            Ok(())
        } else {
            Err(OptionError { name: "tolerance", value, range: "(0, ∞)" })
        }
    }
}

/// Why the last run did not reach its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InteriorPointFailure {
    /// No better residual for a number of steps.
    #[error("no progress below residual {residual:e} up to step {iteration}")]
    Stalled {
        /// The best residual.
        residual: f64,
        /// The step at which the method stopped.
        iteration: u32,
    },
    /// The budget ran out.
    #[error("residual {residual:e} after {budget} steps")]
    Budget {
        /// The best residual.
        residual: f64,
        /// The budget.
        budget: u32,
    },
    /// The matrix of a step was singular to working precision.
    #[error("the matrix of step {iteration} is singular at row {row}")]
    Singular {
        /// The step; 0 is the start.
        iteration: u32,
        /// The row, of the body velocities or, with explicit W, of the impulses.
        row: usize,
    },
    /// Numbers overflowed.
    #[error("numbers overflowed in step {iteration}")]
    Overflow {
        /// The step; 0 is the start.
        iteration: u32,
    },
}

/// Springs of the start [CONE-12], stiff to soft. Stiff ones come nearest, but where contacts are redundant they also find
/// tensions, and the shift that undoes these may lead too far away; then the next one is tried.
pub(crate) const STARTS: [f64; 3] = [1e-4, 1e-2, 1.0];

/// At this residual no other start is tried.
const NEAR: f64 = 1e-8;

/// A residual counts as progress when it is below this fraction of the best one.
const NOTICEABLE: f64 = 0.9;

/// Steps shorter than this share of the direction make the next ones lean towards the convex problem.
const SHORT_STEP: f64 = 0.3;

/// So many steps in a row, each shorter than this, and the method will not move again.
const STANDSTILL: (u32, f64) = (3, 1e-2);

/// Share of De Saxcé's derivative in the matrix: the factor on it after a short step, and its least value.
const LEAN: (f64, f64) = (0.9, 0.5);

/// Steps longer than this take back so much of what the share lacks.
const STRAIGHTEN: (f64, f64) = (0.5, 0.6);

/// The impulses with the least residual so far.
struct Best<'s> {
    r: &'s mut [f64],
    residual: f64,
}

impl Best<'_> {
    fn offer(&mut self, r: &[f64], residual: f64) {
        if residual < self.residual {
            self.residual = residual;
            self.r.copy_from_slice(r);
        }
    }
}

/// What the iteration remembers of its way.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    /// Steps so far, of all starts together.
    steps: u32,
    /// Infeasibility and gap at the start.
    initial: (f64, f64),
    /// The residual here, and the least one of all starts.
    residual: f64,
    best: f64,
    /// The last noticeably lower residual, and the step that led there.
    lowest: f64,
    lowest_at: u32,
    /// Whether the last step was a short one.
    short: bool,
    /// Steps in a row that hardly moved.
    standing: u32,
}

impl Course {
    /// Takes note of a step of this length.
    fn note(&mut self, step: f64) {
        self.steps += 1;
        self.short = step < SHORT_STEP;
        self.standing = if step < STANDSTILL.1 { self.standing + 1 } else { 0 };
    }
}

/// Interior point for [`FrictionProblem`], with its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct FrictionInteriorPoint {
    options: FrictionInteriorPointOptions,
    failure: Option<InteriorPointFailure>,
    cones: Cones,
    locals: Locals,
    system: NewtonSystem,
    /// trace(W_ii)/rows of each block.
    diagonal: Vec<f64>,
    /// Regularisation of the scalings, as a fraction of `diagonal`.
    floor: f64,
    /// Share of De Saxcé's derivative in the matrix: 1 is Newton's method, less is safer where it jams.
    share: f64,
    point: Point,
    scalings: Vec<Scaling>,
    /// Right sides of the cones and of the rows, and the direction they give.
    targets: Vec<Vector>,
    right_side: Vec<f64>,
    direction: Direction,
    state: Vec<f64>,
    course: Course,
}

impl FrictionInteriorPoint {
    /// The method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options.
    pub fn with_options(options: FrictionInteriorPointOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Why the last run did not reach its tolerance; none when it did.
    pub fn last_failure(&self) -> Option<InteriorPointFailure> {
        self.failure
    }

    /// Iterates from one start after the other until one leads near.
    fn attempt(
        &mut self,
        (starts, budget): (&[f64], u32),
        problem: &FrictionProblem,
        best: &mut Best,
    ) -> Result<(), InteriorPointFailure> {
        self.cones.rebuild(problem);
        self.system.prepare(problem);
        self.course.steps = 0;
        let mut result = Ok(());
        for &spring in starts {
            result = self.set_out(problem, spring).and_then(|()| self.iterate(problem, budget, best));
            if result.is_ok() || best.residual <= NEAR || self.course.steps >= budget {
                break;
            }
        }
        result
    }

    /// Mehrotra's start, with nothing remembered but the steps so far.
    fn set_out(&mut self, problem: &FrictionProblem, spring: f64) -> Result<(), InteriorPointFailure> {
        self.start(problem, spring)?;
        let (steps, initial) = (self.course.steps, (self.point.infeasibility(), self.point.gap()));
        self.course = Course { steps, initial, lowest: f64::INFINITY, lowest_at: steps, ..Course::default() };
        (self.floor, self.share) = (0.0, 1.0);
        Ok(())
    }

    /// Iterates until `budget` steps are made; `best` ends as the impulses with the least residual.
    fn iterate(&mut self, problem: &FrictionProblem, budget: u32, best: &mut Best) -> Result<(), InteriorPointFailure> {
        let FrictionInteriorPointOptions { tolerance, stall_iterations, .. } = self.options;
        loop {
            // ---- Where are we? ----
            let iteration = self.course.steps;
            let (residual, gap) = (self.point.natural_residual(problem), self.point.gap());
            if !(residual.is_finite() && gap.is_finite()) {
                return Err(InteriorPointFailure::Overflow { iteration });
            }
            self.course.residual = residual;
            if residual < NOTICEABLE * self.course.lowest {
                (self.course.lowest, self.course.lowest_at) = (residual, iteration);
            }
            best.offer(&self.point.r, residual);
            if residual <= tolerance {
                return Ok(());
            }
            // Where a step is short although the matrix is regularised, rounding is the limit.
            let at_rounding = self.course.short && self.floor > 0.0;
            let waited = iteration - self.course.lowest_at >= stall_iterations;
            if waited || at_rounding || self.course.standing >= STANDSTILL.0 {
                return Err(InteriorPointFailure::Stalled { residual: best.residual, iteration });
            }
            if iteration >= budget {
                return Err(InteriorPointFailure::Budget { residual: best.residual, budget });
            }

            // ---- Predictor and corrector ----
            self.find_direction(problem, iteration, (gap, self.course.initial))?;
            let step = self.interior_step();
            self.advance(problem, step);
            self.course.note(step);

            // ---- Where the shift's curvature blocks the way, lean towards the convex problem until it is free again ----
            if self.course.short {
                self.share = (LEAN.0 * self.share).max(LEAN.1);
            } else if step > STRAIGHTEN.0 {
                self.share = 1.0 - STRAIGHTEN.1 * (1.0 - self.share);
            }
        }
    }
}

impl FrictionInteriorPoint {
    /// Runs from these starts only, one after the other, with this budget of steps; each start is the compliance of the
    /// springs of [CONE-12].
    pub(crate) fn run_from(
        &mut self,
        (starts, budget): (&[f64], u32),
        problem: &FrictionProblem<Operator>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        let mut best = Best { r: &mut solution.r, residual: f64::INFINITY };
        let ended = self.attempt((starts, budget), problem, &mut best);
        self.end(ended, best.residual)
    }

    /// Goes on where the budget of the last run ended, until `budget` steps are made in all; `solution` holds what that run found.
    pub(crate) fn go_on(
        &mut self,
        budget: u32,
        problem: &FrictionProblem<Operator>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let mut best = Best { r: &mut solution.r, residual: self.course.best };
        let ended = self.iterate(problem, budget, &mut best);
        self.end(ended, best.residual)
    }

    /// The impulses where the iteration stands; others may have had a lower residual.
    pub(crate) fn impulses(&self) -> &[f64] {
        &self.point.r
    }

    /// The residual of [`impulses`](Self::impulses).
    pub(crate) fn residual(&self) -> f64 {
        self.course.residual
    }

    fn end(&mut self, ended: Result<(), InteriorPointFailure>, best: f64) -> Ending {
        self.course.best = best;
        self.failure = ended.err();
        let status = match ended {
            Ok(()) => Status::Solved,
            Err(InteriorPointFailure::Budget { .. }) => Status::BudgetExhausted,
            // As near as this method gets; the ruler decides whether that is near.
            Err(InteriorPointFailure::Stalled { .. }) => Status::SolvedLoosely,
            Err(InteriorPointFailure::Singular { .. } | InteriorPointFailure::Overflow { .. }) => Status::Breakdown,
        };
        Ending::new(status, self.course.steps)
    }
}

impl Solver<FrictionProblem<Operator>> for FrictionInteriorPoint {
    fn run(
        &mut self,
        problem: &FrictionProblem<Operator>,
        _guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.run_from((&STARTS, self.options.max_iterations), problem, solution)
    }
}
