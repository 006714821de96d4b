//! Limits, budgets and schedules of the ladder.

/// Largest number of rows for which a solution is refined beyond the tolerance.
pub(super) const MAX_REFINED_ROWS: usize = 120;

/// Largest number of rows for which stick recovery runs.
pub(super) const MAX_STICK_RECOVERY_ROWS: usize = 600;

/// Residual at the level of rounding errors, the target of the refinement.
pub(super) const ROUNDING_RESIDUAL: f64 = 1e-15;

/// Largest number of starts (initial iterates) of the active-set method before the single-pivot method takes over.
pub(super) const ACTIVE_SET_STARTS: u32 = 6;

/// Gauss-Seidel iterations between two estimates of the convergence rate.
pub(super) const RATE_INTERVAL: u32 = 10;

/// Gauss-Seidel iterations of each of the two runs that give the first estimate, matrix-free: towers and walls show slow convergence at
/// once.
pub(super) const FIRST_RATE_INTERVAL: u32 = 4;

/// Gauss-Seidel iterations of a Gauss-Seidel rung with [`Accuracy::RealTime`](super::Accuracy::RealTime).
pub(super) const REAL_TIME_ITERATIONS: u32 = 50;

/// Approximate cost of the interior point in Gauss-Seidel iterations, matrix-free: their budget after the first interval.
pub(super) const INTERIOR_POINT_COST: f64 = 150.0;

/// Gauss-Seidel iterations after the first interval with an assembled W, whatever their rate: factors of W fill in, and iterations are cheap beside them.
pub(super) const ASSEMBLED_ITERATIONS: f64 = 200.0;

/// Largest residual from which semismooth Newton alone is tried before the interior point.
pub(super) const NEWTON_START_RESIDUAL: f64 = 1e-3;

/// Largest number of Newton steps from a start within [`NEWTON_START_RESIDUAL`].
pub(super) const SHORT_NEWTON_STEPS: u32 = 20;

/// Largest number of Newton steps after the interior point.
pub(super) const POLISH_STEPS: u32 = 40;

/// Largest number of Newton steps with an assembled W.
pub(super) const NEWTON_STEPS: u32 = 100;

/// Largest number of Newton steps of pseudo-transient continuation, and proximal weight of its first implicit step.
pub(super) const PSEUDO_TRANSIENT: (u32, f64) = (5000, 0.1);

/// Largest number of interior-point steps from each start (initial iterate).
pub(super) const INTERIOR_POINT_STEPS: u32 = 60;

/// Schedule of Newton polishes during the interior point. With a residual above `residual` the path may not have passed its turning point yet, and
/// Newton's method would not converge to the solution beyond it.
pub(super) const POLISH_SCHEDULE: PolishSchedule =
    PolishSchedule { first: 28, interval: 10, residual: 2e-5, steps: 24 };

/// Schedule of Newton polishes during an interior-point run that has not converged.
pub(super) struct PolishSchedule {
    /// Interior-point steps before the first polish.
    pub(super) first: u32,
    /// Interior-point steps between two polishes.
    pub(super) interval: u32,
    /// Largest residual at which a polish is tried.
    pub(super) residual: f64,
    /// Largest number of Newton steps of a polish.
    pub(super) steps: u32,
}

/// Largest number of Newton steps of the proximal method. With 60 twice as many steps of a jam of 100 boxes end above the aim, in the same time.
pub(super) const PROXIMAL_STEPS: u32 = 100;

/// Largest number of Newton steps of the proximal method with [`Accuracy::RealTime`](super::Accuracy::RealTime).
pub(super) const REAL_TIME_NEWTON_STEPS: u32 = 25;

/// Residual above which a start of the proximal method is first improved by Gauss-Seidel iterations.
pub(super) const POOR_START: f64 = 1e-2;

/// Largest number of Gauss-Seidel iterations from a poor start.
pub(super) const POOR_START_ITERATIONS: u32 = 60;

/// Factor on the residual in [`RATE_INTERVAL`] iterations up to which Gauss-Seidel goes on from a poor start. These iterations cost as much as one or two
/// Newton steps, and the residual of proximal Newton falls by this much in so many.
pub(super) const FAST_CONVERGENCE: f64 = 0.3;

/// Gauss-Seidel iterations from zero before the proximal method.
pub(super) const COLD_START_ITERATIONS: u32 = 60;

/// Starts of the active-set method on an island: proximal Newton is cheap and takes over.
pub(super) const ISLAND_ACTIVE_SET_STARTS: u32 = 2;

/// Residual that steps with [`Accuracy::Exact`](super::Accuracy::Exact) try to reach, with few contacts and on islands, as a fraction of the aimed one.
pub(super) const STEP_TOLERANCE: f64 = 1e-2;
