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
//! points near the boundary, where an interior method has no room. References: [Acary2023], [Mehrotra1992],
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
    /// Newton steps after which the method gives up with `BudgetExhausted`. Default 80; resting piles take about 10.
    pub max_iterations: u32,
    /// Newton steps without a better residual after which the method stops and claims `SolvedLoosely`. Default 8.
    pub stall_iterations: u32,
}

impl Default for FrictionInteriorPointOptions {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_iterations: 80, stall_iterations: 8 }
    }
}

impl FrictionInteriorPointOptions {
    /// Refuses a tolerance that is not positive and finite.
    pub fn validate(&self) -> Result<(), OptionError> {
        let value = self.tolerance;
        if value.is_finite() && value > 0.0 { Ok(()) } else { Err(OptionError { name: "tolerance", value, range: "(0, ∞)" }) }
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

/// A residual counts as progress when it is below this fraction of the best one.
const NOTICEABLE: f64 = 0.9;

/// Steps shorter than this share of the direction make the next ones careful.
const SHORT_STEP: f64 = 0.3;

/// How many steps are careful, and the share of De Saxcé's derivative in their matrix.
const CAREFUL: (u32, f64) = (3, 0.5);

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

    /// Iterates from Mehrotra's start; `best` ends as the impulses with the least residual.
    fn iterate(&mut self, problem: &FrictionProblem, best: &mut [f64]) -> Result<u32, InteriorPointFailure> {
        let FrictionInteriorPointOptions { tolerance, max_iterations: budget, stall_iterations } = self.options;
        self.cones.rebuild(problem);
        self.system.prepare(problem);
        self.start(problem)?;
        let initial = (self.point.infeasibility(), self.point.gap());
        let (mut best_residual, mut best_iteration, mut careful) = (f64::INFINITY, 0, 0);
        (self.floor, self.share) = (0.0, 1.0);

        for iteration in 0..=budget {
            // ---- Where are we? ----
            let (residual, gap) = (self.point.natural_residual(problem), self.point.gap());
            if !(residual.is_finite() && gap.is_finite()) {
                return Err(InteriorPointFailure::Overflow { iteration });
            }
            if residual < NOTICEABLE * best_residual {
                best_iteration = iteration;
            }
            if residual < best_residual {
                best_residual = residual;
                best.copy_from_slice(&self.point.r);
            }
            if residual <= tolerance {
                return Ok(iteration);
            }
            if iteration - best_iteration >= stall_iterations {
                return Err(InteriorPointFailure::Stalled { residual: best_residual, iteration });
            }
            if iteration == budget {
                break;
            }

            // ---- Predictor: straight to τ = 0; how far it gets decides the target of the corrector ----
            self.aim_at_zero();
            self.factor_and_solve(problem, iteration)?;
            let sigma = self.centring(gap, initial);

            // ---- Corrector ----
            self.aim_at(sigma * gap);
            self.solve(problem);
            let step = self.interior_step();
            self.advance(problem, step);

            // ---- Where the shift's curvature blocks the way, lean towards the convex problem for a while ----
            careful = if step < SHORT_STEP { CAREFUL.0 } else { u32::saturating_sub(careful, 1) };
            self.share = if careful > 0 { CAREFUL.1 } else { 1.0 };
        }
        Err(InteriorPointFailure::Budget { residual: best_residual, budget })
    }
}

impl Solver<FrictionProblem<Operator>> for FrictionInteriorPoint {
    fn run(
        &mut self,
        problem: &FrictionProblem<Operator>,
        _guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        let ended = self.iterate(problem, &mut solution.r);
        self.failure = ended.err();
        match ended {
            Ok(iterations) => Ending::new(Status::Solved, iterations),
            Err(InteriorPointFailure::Budget { budget, .. }) => Ending::new(Status::BudgetExhausted, budget),
            // As near as this method gets; the ruler decides whether that is near.
            Err(InteriorPointFailure::Stalled { iteration, .. }) => Ending::new(Status::SolvedLoosely, iteration),
            Err(InteriorPointFailure::Singular { iteration, .. } | InteriorPointFailure::Overflow { iteration }) => {
                Ending::new(Status::Breakdown, iteration)
            }
        }
    }
}
