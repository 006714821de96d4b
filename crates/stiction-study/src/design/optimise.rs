//! The methods of optimisation: a thin layer over the crate `basin`, which nobody else here knows.
//!
//! Methods work on scaled parameters u = (x − x₀)/s in a box. They call for values and are told how things stand after every iteration;
//! a population is evaluated at once where there are threads for it. Another crate could take the place of this one.

use basin::{
    BoundedCmaEs, BoundedLevenbergMarquardt, BoxBounds, ConstraintDescription, ConstraintSet, ConstraintSolveError,
    Constraints, CostFunction, CountsMirror, DenseMatrix, Executor, IncumbentState, Jacobian, NelderMead, PointState,
    PopulationProgress, Residual, SimplexProgress, Solver, State, StepOutcome, TerminationCode,
};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ending;

/// How parameters are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The simplex method of Nelder and Mead: few parameters, an objective with kinks and small jumps.
    #[default]
    NelderMead,
    /// Evolution with an adapted covariance matrix: more parameters, several valleys, many threads.
    CmaEs,
    /// The method of Levenberg and Marquardt: terms that should all vanish, as in boundary-value problems.
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

/// What is minimised, in scaled parameters.
pub(super) trait Target: Sync {
    /// The objective; infinite where it has no value.
    fn cost(&self, u: &[f64]) -> Result<f64, Stopped>;
    /// What should vanish; infinite where it has no value.
    fn residuals(&self, u: &[f64]) -> Result<Vec<f64>, Stopped>;
    /// Told after every iteration the best point so far, or that none had a finite value; an ending makes it the end.
    fn after(&self, iteration: u64, best: Option<&[f64]>) -> Option<Ending>;
}

/// Somebody wanted to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped on request")]
pub(super) struct Stopped;

/// The numbers of a search.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Where it begins.
    pub(super) start: Vec<f64>,
    /// The box.
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// The search ends when the simplex or the distribution is smaller than this.
    pub(super) tolerance: f64,
    /// Central differences of this half-width make derivatives.
    pub(super) difference: f64,
    /// Where randomness begins.
    pub(super) seed: u64,
}

/// Searches until the method has converged, or the target wants an end.
pub(super) fn search(method: Method, setting: &Setting, target: &impl Target) -> Result<Ending, Stopped> {
    match method {
        Method::NelderMead => {
            // Size alone decides: jumps of the objective may keep the costs of the corners apart for ever.
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

/// The start and one step along each axis, inwards where the box is near.
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
            // What shrinks to a point without a value has not converged to anything.
            return Ok(if broke || best.is_none() { Ending::NoProgress } else { Ending::Converged });
        }
    }
}

/// Bounds are right where they come from, so that nothing but the wish to stop comes back.
fn stopped(_error: ConstraintSolveError<Stopped>) -> Stopped {
    Stopped
}

/// A target as `basin` sees it.
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

    /// Central differences, one-sided where the box ends; all columns at once where there are threads for them.
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
    /// How the residuals change with one parameter.
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
