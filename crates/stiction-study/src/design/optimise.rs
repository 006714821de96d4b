//! Methods of optimisation: a thin layer over the crate `basin`. No other module uses it directly.
//!
//! Methods work on scaled parameters u = (x − x₀)/s in a box. They request values and are informed after every iteration. A population is
//! evaluated in parallel if there are threads for it. Another crate could replace this one.

use basin::{
    BoundedCmaEs, BoundedLevenbergMarquardt, BoxBounds, ConstraintDescription, ConstraintSet, ConstraintSolveError,
    Constraints, CostFunction, CountsMirror, DenseMatrix, Executor, IncumbentState, Jacobian, NelderMead, PointState,
    PopulationProgress, Residual, SimplexProgress, Solver, State, StepOutcome, TerminationCode,
};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ending;

/// Method of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The simplex method of Nelder and Mead: for few parameters, and objectives with kinks and small jumps.
    #[default]
    NelderMead,
    /// Evolution strategy with covariance matrix adaptation: for more parameters, several minima, many threads.
    CmaEs,
    /// The method of Levenberg and Marquardt: for terms that must all vanish, as in boundary-value problems.
    LeastSquares,
}

impl Method {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::NelderMead => "nelder-mead",
            Self::CmaEs => "cma-es",
            Self::LeastSquares => "least-squares",
        }
    }
}

/// Objective in scaled parameters.
pub(super) trait Target: Sync {
    /// Objective; infinite if it has no value.
    fn cost(&self, u: &[f64]) -> Result<f64, Stopped>;
    /// Residuals that should vanish; infinite if they have no value.
    fn residuals(&self, u: &[f64]) -> Result<Vec<f64>, Stopped>;
    /// Called after every iteration with the best point so far, or none if no value was finite. Returns an ending to end the search.
    fn after(&self, iteration: u64, best: Option<&[f64]>) -> Option<Ending>;
}

/// The search was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped on request")]
pub(super) struct Stopped;

/// Options of a search.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Start, in scaled parameters.
    pub(super) start: Vec<f64>,
    /// Bounds of the box.
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// Size of the simplex or of the distribution at which the search ends.
    pub(super) tolerance: f64,
    /// Half-width of the central differences for derivatives.
    pub(super) difference: f64,
    /// Seed of the random numbers.
    pub(super) seed: u64,
}

/// Searches until the method has converged, or the target ends it.
pub(super) fn search(method: Method, setting: &Setting, target: &impl Target) -> Result<Ending, Stopped> {
    match method {
        Method::NelderMead => {
            // Only the size decides: jumps of the objective may keep the costs of the corners apart for ever.
            let solver = NelderMead::new()
                .projected()
                .with_absolute_simplex_size_tolerance(setting.tolerance)
                .with_relative_simplex_size_tolerance(None)
                .with_absolute_simplex_cost_tolerance(None)
                .with_relative_simplex_cost_tolerance(None);
            drive(solver, SimplexProgress::from_simplex(simplex(setting)), setting, target)
        }
        Method::CmaEs => {
            let solver = BoundedCmaEs::<Vec<f64>, DenseMatrix>::new(setting.seed, 1.0)
                .with_absolute_distribution_size_tolerance(setting.tolerance);
            drive(solver, PopulationProgress::from_point(setting.start.clone()), setting, target)
        }
        Method::LeastSquares => {
            let solver = BoundedLevenbergMarquardt::<Vec<f64>, DenseMatrix>::new();
            drive(solver, PointState::new(setting.start.clone()), setting, target)
        }
    }
}

/// The start and one step along each axis, inwards if the box is near.
fn simplex(setting: &Setting) -> Vec<Vec<f64>> {
    let corner = |k: usize| {
        let mut corner = setting.start.clone();
        let upper = setting.upper.get(k).copied().unwrap_or(f64::INFINITY);
        if let Some(u) = corner.get_mut(k) {
            *u += if *u + 1.0 <= upper { 1.0 } else { -1.0 };
        }
        corner
    };
    std::iter::once(setting.start.clone()).chain((0..setting.start.len()).map(corner)).collect()
}

fn drive<'t, T, S, So>(solver: So, state: S, setting: &'t Setting, target: &'t T) -> Result<Ending, Stopped>
where
    T: Target,
    S: State<Param = Vec<f64>, Float = f64> + IncumbentState + CountsMirror,
    So: Solver<Problem<'t, T>, S, Error = ConstraintSolveError<Stopped>>,
{
    let executor = Executor::new(Problem { target, setting }, solver, state);
    let mut stepper = executor.into_stepper().map_err(stopped)?;
    loop {
        let outcome = stepper.step().map_err(stopped)?;
        let state = stepper.state();
        // There is no best point as long as every evaluation failed.
        let best = state.incumbent_record().map(|best| best.param.as_slice());
        if let Some(ending) = target.after(state.iter(), best) {
            return Ok(ending);
        }
        if let StepOutcome::Stopped(report) = outcome {
            let broke = matches!(report.code(), TerminationCode::SolverFailed | TerminationCode::NumericalNoProgress);
            // A method that shrinks to a point without a value has not converged.
            return Ok(if broke || best.is_none() { Ending::NoProgress } else { Ending::Converged });
        }
    }
}

/// The bounds are valid, so that the only possible error is the request to stop.
fn stopped(_error: ConstraintSolveError<Stopped>) -> Stopped {
    Stopped
}

/// Target as a problem of `basin`.
struct Problem<'t, T> {
    target: &'t T,
    setting: &'t Setting,
}

impl<T: Target> Constraints for Problem<'_, T> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.setting.lower), Some(&self.setting.upper)))
    }
}

impl<T: Target> CostFunction for Problem<'_, T> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Stopped;

    fn cost(&self, u: &Vec<f64>) -> Result<f64, Stopped> {
        self.target.cost(u)
    }
}

impl<T: Target> Residual for Problem<'_, T> {
    type Param = Vec<f64>;
    type Output = Vec<f64>;
    type Error = Stopped;

    fn residual(&self, u: &Vec<f64>) -> Result<Vec<f64>, Stopped> {
        self.target.residuals(u)
    }
}

impl<T: Target> Jacobian for Problem<'_, T> {
    type Jacobian = DenseMatrix;

    /// Central differences, one-sided at the ends of the box; all columns in parallel if there are threads for them.
    fn jacobian(&self, u: &Vec<f64>) -> Result<DenseMatrix, Stopped> {
        let columns: Result<Vec<_>, Stopped> = (0..u.len()).into_par_iter().map(|k| self.slope(u, k)).collect();
        let columns = columns?;
        let rows = columns.first().map_or(0, Vec::len);
        let entry = |row: usize, column: &Vec<f64>| column.get(row).copied().unwrap_or(f64::NAN);
        let entries: Vec<f64> =
            (0..rows).flat_map(|row| columns.iter().map(move |column| entry(row, column))).collect();
        Ok(DenseMatrix::from_row_slice(rows, columns.len(), &entries))
    }
}

impl<T: Target> Problem<'_, T> {
    /// Derivative of the residuals with respect to one parameter.
    fn slope(&self, u: &[f64], k: usize) -> Result<Vec<f64>, Stopped> {
        let moved = |by: f64| {
            let mut moved = u.to_vec();
            let (low, high) = (self.setting.lower.get(k), self.setting.upper.get(k));
            if let (Some(u), Some(low), Some(high)) = (moved.get_mut(k), low, high) {
                *u = (*u + by).clamp(*low, *high);
            }
            moved
        };
        let [ahead, behind] = [self.setting.difference, -self.setting.difference].map(moved);
        let width = ahead.get(k).zip(behind.get(k)).map_or(f64::NAN, |(a, b)| a - b);
        let (ahead, behind) = (self.target.residuals(&ahead)?, self.target.residuals(&behind)?);
        Ok(ahead.iter().zip(&behind).map(|(a, b)| (a - b) / width).collect())
    }
}
