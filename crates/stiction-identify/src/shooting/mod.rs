//! Least squares over runs: shared parameters, and the start of each run.
//!
//! ```text
//! min Σ ρ(r_i(θ, s_i)),    r_i = simulated minus measured in units of the noise                              [FIT-3]
//! ```
//!
//! By default Gauss and Newton's steps with Levenberg and Marquardt's damping; the starts s_i are eliminated run by run, so that the work
//! grows linearly with the number of runs.   [FIT-4]  Or quasi-Newton steps of limited memory, whose gradients come from the
//! adjoint.   [FIT-7]

mod backward;
mod estimate;
mod limited;
pub(crate) mod normal;
mod window;

#[cfg(feature = "mpec")]
pub(crate) use estimate::summary;
pub use estimate::{Estimate, FitReport, Observability};
pub use window::{Window, windows};

use std::sync::Arc;

use nalgebra::DVector;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stiction::{Model, Simulation};

use crate::{IdentifyError, Recording, Segment, Start, Target, segment::residuals_of};
use normal::Normal;

/// Method of minimisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Gauss and Newton's steps with damping, by forward sensitivities: few parameters, few steps.   [FIT-4]
    #[default]
    GaussNewton,
    /// Quasi-Newton steps from the last gradients, by the adjoint. Their cost does not grow with the number of parameters. But they are
    /// many, several hundred where Gauss and Newton need tens; give it more iterations.   [FIT-7]
    LimitedMemory,
}

/// Options of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitOptions {
    /// Method of minimisation.
    pub method: Method,
    /// Largest number of iterations.
    pub iterations: u32,
    /// Largest change of the parameters, as a fraction of their deviations, and of the objective at which the iteration ends.
    pub tolerance: f64,
    /// Residuals beyond this number of standard deviations count linearly (Huber); none if it is infinite.
    pub huber: f64,
    /// True if the starts of runs are corrected; otherwise they are as measured.
    pub free_starts: bool,
    /// True if the initial guess is first improved on short runs from measured states: the objective of long ones may have no useful
    /// gradient.   [FIT-5]
    pub warm_up: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            method: Method::GaussNewton,
            iterations: 50,
            tolerance: 1e-2,
            huber: f64::INFINITY,
            free_starts: true,
            warm_up: true,
        }
    }
}

/// Parameters of a scene from recordings.
#[derive(Clone, Debug)]
pub struct Fit<'a> {
    /// The scene and its unknown parameters.
    pub target: &'a Target,
    /// The recordings.
    pub recordings: &'a [Recording],
    /// The runs that are compared.
    pub segments: Vec<Segment>,
    /// Options.
    pub options: FitOptions,
}

/// Values of the parameters, and the starts of the runs.
#[derive(Clone, Debug)]
struct Guess {
    values: Vec<f64>,
    starts: Vec<Start>,
}

impl Guess {
    /// Number of velocities of the model.
    fn dof(&self) -> usize {
        self.starts.first().map_or(0, |start| start.state.v.len())
    }
}

/// Guess with its normal equations. Derivatives cost many times as much as the runs, so none are computed twice.
struct Linearised {
    /// Model there. States are moved in the same way for all values of the parameters, so that no step reads the scene for that.
    model: Arc<Model>,
    guess: Guess,
    normal: Normal,
}

/// Number of rows of the shortest runs of the warm-up, and the factor from round to round.   [FIT-5]
const SHORTEST: usize = 4;
const LONGER: usize = 4;

/// Iterations and Huber bound of the warm-up: measured velocities have more noise than positions.
const WARM_UP_ITERATIONS: u32 = 8;
const WARM_UP_HUBER: f64 = 10.0;

/// Initial damping, as a fraction of the diagonal; its factors of increase and decrease; and its largest value.
const DAMPING: f64 = 1e-4;
const MORE: f64 = 4.0;
const LESS: f64 = 0.3;
const MAX_DAMPING: f64 = 1e12;

impl<'a> Fit<'a> {
    /// The fit of whole recordings.
    pub fn of_all(target: &'a Target, recordings: &'a [Recording], options: FitOptions) -> Self {
        let whole = |(recording, rows): (usize, &Recording)| Segment {
            recording,
            first: 0,
            last: rows.times.len().saturating_sub(1),
        };
        Self { target, recordings, segments: recordings.iter().enumerate().map(whole).collect(), options }
    }

    /// Fit of recordings in runs of so many rows, each from the measured state of its first row.
    pub fn of_pieces(target: &'a Target, recordings: &'a [Recording], rows: usize, options: FitOptions) -> Self {
        let rows = rows.max(1);
        let runs = |(recording, of): (usize, &Recording)| -> Vec<Segment> {
            let last = of.times.len().saturating_sub(1);
            (0..last).step_by(rows).map(|first| Segment { recording, first, last: (first + rows).min(last) }).collect()
        };
        Self { target, recordings, segments: recordings.iter().enumerate().flat_map(runs).collect(), options }
    }

    /// Searches from the initial guesses of the parameters and the measured states. They are first improved on short runs if that is
    /// chosen.
    pub fn run(&self) -> Result<FitReport, IdentifyError> {
        let mut values = self.target.starts();
        let longest = self.segments.iter().map(|segment| segment.last - segment.first).max().unwrap_or(0);
        let mut rows = SHORTEST;
        while self.options.warm_up && rows < longest {
            // Parameters that short runs do not determine are left to longer ones.
            if let Ok(report) = self.divided(rows).run_from(values.clone()) {
                values = report.values();
            }
            rows *= LONGER;
        }
        self.run_from(values)
    }

    /// The same runs divided into runs of so many rows, from measured states.
    fn divided(&self, rows: usize) -> Self {
        let runs = |segment: &Segment| {
            let Segment { recording, first, last } = *segment;
            (first..last).step_by(rows).map(move |first| Segment { recording, first, last: (first + rows).min(last) })
        };
        let segments = self.segments.iter().flat_map(runs).collect();
        let options = FitOptions {
            method: self.options.method,
            free_starts: false,
            iterations: self.options.iterations.min(WARM_UP_ITERATIONS),
            tolerance: self.options.tolerance,
            huber: self.options.huber.min(WARM_UP_HUBER),
            warm_up: false,
        };
        Self { target: self.target, recordings: self.recordings, segments, options }
    }

    /// Searches from these values of the parameters.
    fn run_from(&self, values: Vec<f64>) -> Result<FitReport, IdentifyError> {
        for recording in self.recordings {
            recording.validate()?;
        }
        if !self.segments.iter().any(|segment| segment.last > segment.first) {
            return Err(IdentifyError::Nothing);
        }
        let model = self.target.scene(&values)?.model;
        for recording in self.recordings {
            recording.check_bodies(&model)?;
        }
        let start = |segment: &Segment| {
            let recording = self.recordings.get(segment.recording).ok_or(IdentifyError::Nothing)?;
            let mut start = Start::measured(&model, recording, segment.first);
            if !self.options.free_starts {
                start.free.clear();
            }
            Ok(start)
        };
        let starts = self.segments.iter().map(start).collect::<Result<Vec<_>, IdentifyError>>()?;
        let (fit, first, left_out) = self.without_failures(model, Guess { values, starts })?;
        let report = match self.options.method {
            Method::GaussNewton => fit.search(first)?,
            Method::LimitedMemory => fit.search_with_limited_memory(first)?,
        };
        Ok(FitReport { left_out, ..report })
    }

    /// Runs that can be made at the initial guess, linearised there, and the failures of the others; an error if none can.
    fn without_failures(
        &self,
        model: Arc<Model>,
        guess: Guess,
    ) -> Result<(Self, Linearised, Vec<String>), IdentifyError> {
        let tried: Vec<_> = self.linearised_runs(&guess)?;
        let (mut segments, mut starts, mut parts, mut left_out) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut first = None;
        for ((segment, start), tried) in self.segments.iter().zip(guess.starts).zip(tried) {
            match tried {
                Ok(part) => {
                    segments.push(*segment);
                    starts.push(start);
                    parts.push(part);
                }
                Err(error) => {
                    left_out.push(format!("rows {} to {}: {error}", segment.first + 1, segment.last + 1));
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            Some(error) if segments.is_empty() => Err(error),
            _ => {
                let guess = Guess { values: guess.values, starts };
                let normal = Normal::of(parts, self.target.parameters.len());
                Ok((Self { segments, ..self.clone() }, Linearised { model, guess, normal }, left_out))
            }
        }
    }

    fn search(&self, first: Linearised) -> Result<FitReport, IdentifyError> {
        let Linearised { model, mut guess, mut normal } = first;
        let mut damping = DAMPING;
        let mut objective = self.objective(&guess)?;
        let mut history = vec![objective];
        let mut converged = false;
        for _ in 0..self.options.iterations {
            let Some((better, value)) = self.step((&model, &guess, &normal), objective, &mut damping) else {
                converged = true;
                break;
            };
            let changes = better.values.iter().zip(&guess.values).map(|(new, old)| (new - old).abs());
            let settled = normal.deviations().is_some_and(|deviations| {
                changes.zip(deviations).all(|(change, deviation)| change <= self.options.tolerance * deviation)
            }) && objective - value <= self.options.tolerance;
            // If a run has no derivative any more, the search ends with its last point.
            let Ok(next) = self.linearise(&better) else { break };
            (guess, objective, normal) = (better, value, next);
            history.push(objective);
            if settled {
                converged = true;
                break;
            }
        }
        Ok(self.report(&guess, &normal, history, converged))
    }

    /// Step that decreases the objective; damping is increased until one does. None if none does.
    fn step(
        &self,
        (model, guess, normal): (&Model, &Guess, &Normal),
        objective: f64,
        damping: &mut f64,
    ) -> Option<(Guess, f64)> {
        let bounds: Vec<_> = self.target.parameters.iter().map(|parameter| parameter.bounds).collect();
        let scales: Vec<_> = self.target.parameters.iter().map(|parameter| parameter.scale).collect();
        while *damping < MAX_DAMPING {
            if let Some((values, steps)) = normal.step(&guess.values, (&bounds, &scales), *damping) {
                let starts = guess.starts.iter().zip(&steps).map(|(start, step)| start.moved(model, step.as_slice()));
                let other = Guess { values, starts: starts.collect() };
                if let Ok(value) = self.objective(&other)
                    && value < objective
                {
                    *damping = (*damping * LESS).max(1e-12);
                    return Some((other, value));
                }
            }
            *damping *= MORE;
        }
        None
    }

    /// Runs with their recordings, segments and starts.
    fn runs<'g>(&'g self, guess: &'g Guess) -> impl IndexedParallelIterator<Item = (Segment, &'g Start)> {
        self.segments.par_iter().copied().zip(guess.starts.par_iter())
    }

    fn recording(&self, segment: Segment) -> Result<&'a Recording, IdentifyError> {
        self.recordings.get(segment.recording).ok_or(IdentifyError::Nothing)
    }

    /// Σ ρ(r) over all runs, summed in their order for any number of threads.
    fn objective(&self, guess: &Guess) -> Result<f64, IdentifyError> {
        let scene = self.target.scene(&guess.values)?;
        let parts: Result<Vec<f64>, IdentifyError> = self
            .runs(guess)
            .map(|(segment, start)| {
                let mut simulation = Simulation::from_scene(&scene)?;
                let residuals = residuals_of(&mut simulation, self.recording(segment)?, (segment, start))?;
                Ok(residuals.iter().map(|r| normal::loss(*r, self.options.huber)).sum())
            })
            .collect();
        Ok(parts?.iter().sum())
    }

    fn linearise(&self, guess: &Guess) -> Result<Normal, IdentifyError> {
        let parts = self.linearised_runs(guess)?.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Normal::of(parts, self.target.parameters.len()))
    }

    /// Part of each run in the normal equations, or the reason why it has none.
    fn linearised_runs(&self, guess: &Guess) -> Result<Vec<Result<normal::Part, IdentifyError>>, IdentifyError> {
        let variants = self.target.variants(&guess.values, guess.dof())?;
        let run = |(segment, start): (Segment, &Start)| {
            let recording = self.recording(segment)?;
            let residuals = self.target.residuals_with_slopes(&variants, recording, (segment, start))?;
            Ok(normal::Part::of(&residuals, self.options.huber))
        };
        Ok(self.runs(guess).map(run).collect())
    }
}

impl Recording {
    /// Checks that its bodies are those of a model.
    pub(crate) fn check_bodies(&self, model: &Model) -> Result<(), IdentifyError> {
        let fail = |reason: String| Err(IdentifyError::Recording { recording: self.name.clone(), reason });
        for track in &self.tracks {
            let Some(id) = model.find_body(&track.body) else {
                let names = model.bodies().iter().map(|body| body.name.as_str()).collect::<Vec<_>>().join(", ");
                return fail(format!("there is no body \"{}\" in the scene; it has {names}", track.body));
            };
            if model.unknowns(id).is_none() {
                return fail(format!(
                    "\"{}\" does not move by itself: only dynamic bodies can be compared",
                    track.body
                ));
            }
        }
        Ok(())
    }
}

/// A vector of a slice.
fn vector(values: &[f64]) -> DVector<f64> {
    DVector::from_column_slice(values)
}
