//! Primal-dual interior-point method for the exact friction law, with the De Saxcé correction: no convex relaxation.
//!
//! Newton's method is applied to the law, the dynamics and perturbed complementarity,
//!
//! ```text
//! x = A r + b,   Σ Aᵀ g⁻¹(y) = (W + diag c) r + q,   x ∘ y = τ e,   x, y inside their cones,   τ → 0,          [CONE-8]
//! ```
//!
//! where x = A r + b are the vectors of the impulses in their cones, y their duals, and g adds the De Saxcé correction to velocities in the
//! coordinates of the cones, (u_N, μ u_T) (`cones.rs`). It uses Nesterov-Todd scaling [CONE-9] and Mehrotra's initial iterate and corrector
//! [CONE-12]. The complementarity gap, called gap here, is the mean of xᵀy over the cones; it is not the gap ψ of a contact. The centring parameter
//! is chosen so that the gap does not decrease faster than the infeasibility; for this purpose it is at most 0.5. The De Saxcé correction makes
//! the problem nonconvex, so convergence is not guaranteed if contacts slide. The method stops when the residual no longer decreases and returns
//! the impulses of least residual.
//! It does not use a warm start: points near the solution are near the boundary of the cones, where an interior-point method makes short
//! steps. References: [Mehrotra1992], [Vandenberghe2010].

mod cones;
mod newton_system;
mod soc;
mod start;
mod step;

use super::{FrictionProblem, FrictionSolution, Operator};
use crate::interrupt;
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use cones::{Cones, LinearisedLaws};
use newton_system::NewtonSystem;
use soc::{Scaling, Vector};
use step::{Direction, Point};

/// Options of [`FrictionInteriorPoint`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrictionInteriorPointOptions {
    /// Residual [CONE-5] at which the method ends with `Solved`. Dimensionless, default 1e-9; resting contacts reach 1e-10,
    /// sliding ones often only 1e-6.
    pub tolerance: f64,
    /// Largest number of Newton steps of all initial iterates together; then the method ends with `BudgetExhausted`. Default 120; resting
    /// piles take about 8, sliding ones 10 to 60.
    pub max_iterations: u32,
    /// Newton steps in which the residual does not fall below 0.9 times its last reference value, after which the method stalls. Default 30:
    /// near a turning point of the central path the residual may not decrease for two dozen steps.
    ///
    /// A stall ends with `Status::SolvedLoosely`, whatever the residual is. The method claims only that it cannot reduce the residual
    /// further. Callers measure the residual themselves: [`solve`](crate::solve) turns the claim into `Status::Breakdown` above the loose
    /// tolerance, and the ladder compares residuals. The other stalls are a short step with a regularised matrix and three consecutive steps
    /// shorter than 0.01.
    pub stall_iterations: u32,
}

impl Default for FrictionInteriorPointOptions {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_iterations: 120, stall_iterations: 30 }
    }
}

impl FrictionInteriorPointOptions {
    /// Rejects a tolerance that is not positive and finite.
    pub fn validate(&self) -> Result<(), OptionError> {
        let value = self.tolerance;
        if value.is_finite() && value > 0.0 {
            Ok(())
        } else {
            Err(OptionError { name: "tolerance", value, range: "(0, ∞)" })
        }
    }
}

/// Reason for which a run did not reach its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InteriorPointFailure {
    /// The residual did not decrease for a number of steps, the steps became too short, or a step was short although the matrix was regularised. The
    /// residual may be large.
    #[error("the interior point stalled at residual {residual:e} in step {iteration}")]
    Stalled {
        /// Least residual.
        residual: f64,
        /// Step at which the method stopped.
        iteration: u32,
    },
    /// The steps ran out.
    #[error("the interior point has residual {residual:e} after all {budget} steps: raise max_iterations")]
    Budget {
        /// Least residual.
        residual: f64,
        /// Largest number of steps.
        budget: u32,
    },
    /// The matrix of a step was singular to working precision.
    #[error("the matrix of interior-point step {iteration} is singular at row {row}")]
    Singular {
        /// Step; 0 is the initial iterate.
        iteration: u32,
        /// Row of the body velocities or, with an assembled W and where a linearised law is singular, of the impulses.
        row: usize,
    },
    /// The iterate overflowed.
    #[error("the iterate overflowed in interior-point step {iteration}: check the scaling of the problem")]
    Overflow {
        /// Step; 0 is the initial iterate.
        iteration: u32,
    },
}

/// Weights of the Tikhonov regularisation that determines each initial iterate [CONE-12], relative to the mean diagonal of W.
///
/// With a small weight the initial impulses are close to those that solve the problem without cones. If contacts are redundant, these may be large
/// and tensile, and their translation into the cones is then large too. The next weight is tried if the residual stays above [`ACCEPTED_RESIDUAL`].
pub(crate) const START_WEIGHTS: [f64; 3] = [1e-4, 1e-2, 1.0];

/// Residual at which no other initial iterate is tried.
const ACCEPTED_RESIDUAL: f64 = 1e-8;

/// Factor by which the residual must fall to count as progress.
const PROGRESS_FACTOR: f64 = 0.9;

/// Step length below which a step is short: it reduces the weight of the derivative of the De Saxcé correction.
const SHORT_STEP: f64 = 0.3;

/// Step length below which a step counts as blocked.
const BLOCKED_STEP: f64 = 1e-2;

/// Number of consecutive blocked steps after which the method stops.
const MAX_BLOCKED_STEPS: u32 = 3;

/// Factor on the weight of the derivative of the De Saxcé correction after a short step.
const CORRECTION_WEIGHT_FACTOR: f64 = 0.9;

/// Least weight of the derivative of the De Saxcé correction.
const LEAST_CORRECTION_WEIGHT: f64 = 0.5;

/// Step length above which the weight of the derivative of the De Saxcé correction recovers.
const LONG_STEP: f64 = 0.5;

/// Factor on the difference of the weight from 1 after a long step.
const CORRECTION_WEIGHT_RECOVERY: f64 = 0.6;

/// Impulses of least residual so far.
struct Best<'s> {
    r: &'s mut [f64],
    residual: f64,
}

impl Best<'_> {
    /// Replaces the impulses if this residual is smaller.
    fn update(&mut self, r: &[f64], residual: f64) {
        if residual < self.residual {
            self.residual = residual;
            self.r.copy_from_slice(r);
        }
    }
}

/// Progress of the iteration.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Steps so far, of all initial iterates together.
    steps: u32,
    /// Infeasibility and complementarity gap at the initial iterate.
    initial: (f64, f64),
    /// Residual of the present iterate.
    residual: f64,
    /// Least residual of all initial iterates.
    best: f64,
    /// Reference residual of the stall test, and the step that reached it.
    stall_reference: f64,
    reference_step: u32,
    /// True if the last step was short.
    short: bool,
    /// Consecutive blocked steps, those shorter than [`BLOCKED_STEP`].
    blocked: u32,
}

impl Progress {
    /// Records a step of this length.
    fn record(&mut self, step: f64) {
        self.steps += 1;
        self.short = step < SHORT_STEP;
        self.blocked = if step < BLOCKED_STEP { self.blocked + 1 } else { 0 };
    }
}

/// Interior-point method for [`FrictionProblem`], with its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct FrictionInteriorPoint {
    options: FrictionInteriorPointOptions,
    failure: Option<InteriorPointFailure>,
    cones: Cones,
    linearised_laws: LinearisedLaws,
    system: NewtonSystem,
    /// Mean diagonal entry of each block, trace(W_ii)/rows.
    mean_diagonals: Vec<f64>,
    /// Regularisation: multiple of the identity that is added to each Θ, as a fraction of `mean_diagonals`.
    regularisation: f64,
    /// Weight of the derivative of the De Saxcé correction in the matrix. 1 gives Newton's method; a smaller weight allows longer steps at
    /// turning points of the central path.
    correction_weight: f64,
    point: Point,
    scalings: Vec<Scaling>,
    /// Right-hand sides of complementarity, one per cone.
    targets: Vec<Vector>,
    /// Right-hand side of the rows.
    right_hand_side: Vec<f64>,
    direction: Direction,
    state: Vec<f64>,
    progress: Progress,
}

impl FrictionInteriorPoint {
    /// Creates the method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the method with these options, which are validated.
    pub fn with_options(options: FrictionInteriorPointOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Reason for which the last run did not reach its tolerance; none if it did.
    pub fn last_failure(&self) -> Option<InteriorPointFailure> {
        self.failure
    }

    /// Iterates from one initial iterate after the other until one of them is successful. A Tikhonov weight determines each.
    fn try_starts(
        &mut self,
        (tikhonov_weights, budget): (&[f64], u32),
        problem: &FrictionProblem,
        best: &mut Best,
    ) -> Result<(), InteriorPointFailure> {
        self.cones.rebuild(problem);
        self.system.prepare(problem);
        self.progress.steps = 0;
        let mut result = Ok(());
        for &tikhonov_weight in tikhonov_weights {
            result = self.initialise(problem, tikhonov_weight).and_then(|()| self.iterate(problem, budget, best));
            if result.is_ok() || best.residual <= ACCEPTED_RESIDUAL || self.progress.steps >= budget {
                break;
            }
        }
        result
    }

    /// Computes Mehrotra's initial iterate and resets everything but the number of steps.
    fn initialise(&mut self, problem: &FrictionProblem, tikhonov_weight: f64) -> Result<(), InteriorPointFailure> {
        self.find_initial_iterate(problem, tikhonov_weight)?;
        let (steps, initial) = (self.progress.steps, (self.point.infeasibility_norm(), self.point.gap()));
        self.progress =
            Progress { steps, initial, stall_reference: f64::INFINITY, reference_step: steps, ..Progress::default() };
        (self.regularisation, self.correction_weight) = (0.0, 1.0);
        Ok(())
    }

    /// Iterates until `budget` steps are made in total; `best` becomes the impulses of least residual.
    fn iterate(&mut self, problem: &FrictionProblem, budget: u32, best: &mut Best) -> Result<(), InteriorPointFailure> {
        let FrictionInteriorPointOptions { tolerance, stall_iterations, .. } = self.options;
        loop {
            // ---- Stopping tests ----
            let iteration = self.progress.steps;
            let (residual, gap) = (self.point.natural_residual(problem), self.point.gap());
            if !(residual.is_finite() && gap.is_finite()) {
                return Err(InteriorPointFailure::Overflow { iteration });
            }
            self.progress.residual = residual;
            if residual < PROGRESS_FACTOR * self.progress.stall_reference {
                (self.progress.stall_reference, self.progress.reference_step) = (residual, iteration);
            }
            best.update(&self.point.r, residual);
            if residual <= tolerance {
                return Ok(());
            }
            // A short step with a regularised matrix means that rounding is the limit.
            let at_rounding = self.progress.short && self.regularisation > 0.0;
            let stalled = iteration - self.progress.reference_step >= stall_iterations;
            if stalled || at_rounding || self.progress.blocked >= MAX_BLOCKED_STEPS {
                return Err(InteriorPointFailure::Stalled { residual: best.residual, iteration });
            }
            if iteration >= budget || interrupt::is_requested() {
                return Err(InteriorPointFailure::Budget { residual: best.residual, budget });
            }

            // ---- Predictor and corrector ----
            self.find_direction(problem, iteration, (gap, self.progress.initial))?;
            let step = self.interior_step();
            self.advance(problem, step);
            self.progress.record(step);

            // ---- Weight of the derivative of the correction: short steps reduce it towards the convex problem, long steps restore it ----
            if self.progress.short {
                self.correction_weight =
                    (CORRECTION_WEIGHT_FACTOR * self.correction_weight).max(LEAST_CORRECTION_WEIGHT);
            } else if step > LONG_STEP {
                self.correction_weight = 1.0 - CORRECTION_WEIGHT_RECOVERY * (1.0 - self.correction_weight);
            }
        }
    }
}

impl FrictionInteriorPoint {
    /// Runs from one initial iterate after the other, each determined by a Tikhonov weight [CONE-12], with this budget of steps.
    pub(crate) fn run_from(
        &mut self,
        (tikhonov_weights, budget): (&[f64], u32),
        problem: &FrictionProblem<Operator>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        let mut best = Best { r: &mut solution.r, residual: f64::INFINITY };
        let ended = self.try_starts((tikhonov_weights, budget), problem, &mut best);
        self.end(ended, best.residual)
    }

    /// Continues the last run, which exhausted its budget, until `budget` steps are made in total; `solution` holds its best impulses.
    pub(crate) fn resume(
        &mut self,
        budget: u32,
        problem: &FrictionProblem<Operator>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        debug_assert!(solution.r.len() == problem.rows() && self.point.r.len() == problem.rows(), "same problem");
        let mut best = Best { r: &mut solution.r, residual: self.progress.best };
        let ended = self.iterate(problem, budget, &mut best);
        self.end(ended, best.residual)
    }

    /// Impulses of the present iterate, which need not be those of least residual.
    pub(crate) fn impulses(&self) -> &[f64] {
        &self.point.r
    }

    /// Residual of [`impulses`](Self::impulses).
    pub(crate) fn residual(&self) -> f64 {
        self.progress.residual
    }

    /// Stores the failure and returns the status of the run.
    fn end(&mut self, ended: Result<(), InteriorPointFailure>, best: f64) -> Ending {
        self.progress.best = best;
        self.failure = ended.err();
        let status = match ended {
            Ok(()) => Status::Solved,
            Err(InteriorPointFailure::Budget { .. }) => Status::BudgetExhausted,
            // A stall at any residual, see `stall_iterations`: the caller measures the residual and decides.
            Err(InteriorPointFailure::Stalled { .. }) => Status::SolvedLoosely,
            Err(InteriorPointFailure::Singular { .. } | InteriorPointFailure::Overflow { .. }) => Status::Breakdown,
        };
        Ending::new(status, self.progress.steps)
    }
}

impl Solver<FrictionProblem<Operator>> for FrictionInteriorPoint {
    fn run(
        &mut self,
        problem: &FrictionProblem<Operator>,
        _guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.run_from((&START_WEIGHTS, self.options.max_iterations), problem, solution)
    }
}
