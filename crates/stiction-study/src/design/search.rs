//! Searches from one or several starts, within a budget.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use rayon::prelude::*;

use super::{
    Chosen, Design, DesignFailure, DesignReport, Ending, Evaluation, Log, Method, Milestone, RunScore, StartReport,
    optimise::{self, Setting, Stopped, Target},
};
use crate::{Failure, Outcome, Stream, ThreadsError, Watch};

/// Options of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// The method.
    pub method: Method,
    /// Number of starts: the given one, and others drawn from the bounds.
    pub starts: u32,
    /// Evaluations of each search. The number is checked after every iteration, so that the last one may exceed it.
    pub evaluations: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Size of the simplex (or of the distribution) at which a search ends, in units of the scales. A boundary-value problem is solved when
    /// every term is smaller than this.
    pub tolerance: f64,
    /// Half-width of the finite differences for derivatives, in units of the scales; for least squares.
    pub difference: f64,
}

impl Default for SearchOptions {
    fn default() -> Self {
        let method = Method::default();
        Self { method, starts: 1, evaluations: 500, seed: 1, tolerance: 1e-3, difference: 1e-4 }
    }
}

/// Error in a value of a design.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct DesignError {
    /// Keys of the value in a design file.
    pub place: Vec<String>,
    /// Reason.
    pub reason: String,
}

impl DesignError {
    pub(super) fn new(place: &[&str], reason: impl Into<String>) -> Self {
        Self { place: place.iter().map(ToString::to_string).collect(), reason: reason.into() }
    }
}

/// Design with the options of its search.
#[derive(Clone, Debug)]
pub struct DesignSearch {
    design: Design,
    options: SearchOptions,
}

impl DesignSearch {
    /// Checks that the options fit the design.
    pub fn new(design: Design, options: SearchOptions) -> Result<Self, DesignError> {
        let refuse = |key: &str, reason: String| Err(DesignError::new(&["design", key], reason));
        for (key, value) in [("tolerance", options.tolerance), ("difference", options.difference)] {
            if !(value > 0.0 && value.is_finite()) {
                return refuse(key, format!("`{key}` must be positive, but is {value}"));
            }
        }
        if options.starts == 0 || options.evaluations == 0 {
            let key = if options.starts == 0 { "starts" } else { "evaluations" };
            return refuse(key, format!("`{key}` must be at least 1"));
        }
        let free = design.parameters.iter().find(|parameter| parameter.bounds.iter().any(|bound| bound.is_infinite()));
        if let (2.., Some(free)) = (options.starts, free) {
            return refuse("starts", format!("several starts are drawn from the bounds, and `{}` has none", free.name));
        }
        let equations = design.runs.len() * design.terms.len();
        if options.method == Method::LeastSquares && equations < design.parameters.len() {
            let (given, asked) = (equations, design.parameters.len());
            return refuse("method", format!("least squares need a term per parameter: there are {given} for {asked}"));
        }
        Ok(Self { design, options })
    }

    /// The design.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The options.
    pub fn options(&self) -> &SearchOptions {
        &self.options
    }

    /// Largest number of evaluations of a search, except for the last iteration of each start.
    pub fn work(&self) -> u64 {
        u64::from(self.options.starts) * self.options.evaluations
    }

    /// Searches on this number of threads (0 for one per core). Evaluations in the log are not repeated.
    pub fn run(&self, threads: usize, log: &Log, watch: &dyn Watch) -> Result<DesignReport, ThreadsError> {
        Ok(crate::trial::pool(threads)?.install(|| self.run_here(log, watch)))
    }

    /// Searches on the threads of the calling pool.
    pub fn run_here(&self, log: &Log, watch: &dyn Watch) -> DesignReport {
        let shared = Shared { search: self, log, watch, seen: Mutex::default(), stopped: AtomicBool::new(false) };
        let starts = (0..self.options.starts).into_par_iter().map(|number| shared.search_from(number)).collect();
        let seen = shared.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.report(starts, log, &seen)
    }

    /// Searches from one start only and adds its evaluations to the log.
    pub fn run_start(&self, number: u32, log: &Log, watch: &dyn Watch) -> StartReport {
        let shared = Shared { search: self, log, watch, seen: Mutex::default(), stopped: AtomicBool::new(false) };
        shared.search_from(number)
    }

    fn report(&self, starts: Vec<StartReport>, log: &Log, seen: &Seen) -> DesignReport {
        let best = starts.iter().filter(|start| start.objective.is_some());
        let best = best.min_by(|a, b| a.objective.unwrap_or(f64::NAN).total_cmp(&b.objective.unwrap_or(f64::NAN)));
        let first: Vec<_> = self.design.parameters.iter().map(|parameter| parameter.start).collect();
        let values = best.map_or(&first, |start| &start.best);
        let known = |values: &[f64]| match log.get(values) {
            Some(Outcome::Done(evaluation)) => Some(evaluation),
            _ => None,
        };
        let chosen = self.design.parameters.iter().zip(values).map(|(parameter, value)| Chosen {
            name: parameter.name.clone(),
            path: parameter.path.clone(),
            value: *value,
            start: parameter.start,
            bounds: parameter.bounds.map(|bound| bound.is_finite().then_some(bound)),
        });
        DesignReport {
            method: self.options.method,
            seed: self.options.seed,
            parameters: chosen.collect(),
            objective: best.and_then(|start| start.objective),
            objective_at_start: known(&first).map(|evaluation| self.objective(&evaluation)),
            runs: known(values).map(|evaluation| self.scores(&evaluation)).unwrap_or_default(),
            evaluations: seen.len() as u64,
            failed: count_failures(seen),
            interrupted: starts.iter().any(|start| start.ending == Ending::Stopped),
            starts,
        }
    }

    fn scores(&self, evaluation: &Evaluation) -> Vec<RunScore> {
        let scores = self.design.runs.iter().zip(&evaluation.values).map(|(run, values)| {
            let terms = self.design.terms.iter().zip(values).map(|(term, value)| (term.name.clone(), *value));
            RunScore { run: run.name.clone(), terms: terms.collect() }
        });
        scores.collect()
    }

    /// Objective of an evaluation.
    pub fn objective(&self, evaluation: &Evaluation) -> f64 {
        match self.options.method {
            Method::LeastSquares => evaluation.sum_of_squares(),
            _ => evaluation.sum(),
        }
    }

    /// Start of a search: the first is that of the design, the others are drawn from the bounds.
    fn start(&self, number: u32) -> Vec<f64> {
        let mut stream = Stream::new(self.options.seed, u64::from(number));
        let start = self.design.parameters.iter().map(|parameter| {
            let [low, high] = parameter.bounds;
            if number == 0 { parameter.start } else { stream.between(low, high) }
        });
        start.collect()
    }
}

/// Points that were evaluated, by the bits of their parameters, each with its failure if any.
type Seen = BTreeMap<Vec<u64>, Option<Failure>>;

/// Failures by reason.
fn count_failures(seen: &Seen) -> Vec<DesignFailure> {
    let mut counts: BTreeMap<&str, DesignFailure> = BTreeMap::new();
    for Failure { reason, detail } in seen.values().flatten() {
        let new = || DesignFailure { reason: reason.clone(), count: 0, detail: detail.clone() };
        counts.entry(reason).or_insert_with(new).count += 1;
    }
    counts.into_values().collect()
}

/// Data shared by the searches from all starts.
struct Shared<'s> {
    search: &'s DesignSearch,
    log: &'s Log,
    watch: &'s dyn Watch,
    seen: Mutex<Seen>,
    stopped: AtomicBool,
}

impl Shared<'_> {
    fn search_from(&self, number: u32) -> StartReport {
        let (search, options) = (self.search, &self.search.options);
        let start = search.start(number);
        let scaled =
            |values: [f64; 2], k: usize, by: f64| values.map(|x| (x - start.get(k).copied().unwrap_or(0.0)) / by);
        let bounds = search.design.parameters.iter().enumerate().map(|(k, p)| scaled(p.bounds, k, p.scale));
        let (lower, upper) = bounds.map(|[low, high]| (low, high)).unzip();
        let setting = Setting {
            start: vec![0.0; start.len()],
            lower,
            upper,
            tolerance: options.tolerance,
            difference: options.difference,
            seed: options.seed.wrapping_add(u64::from(number)),
        };
        let one = One { shared: self, start: &start, evaluations: AtomicU64::new(0), milestones: Mutex::default() };
        let ending = optimise::search(options.method, &setting, &one).unwrap_or(Ending::Stopped);
        let Progress { milestones, best } = one.milestones.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (best, objective) = best.map_or_else(|| (start.clone(), None), |(best, objective)| (best, Some(objective)));
        StartReport { start, best, objective, ending, milestones }
    }

    /// Evaluation from the log, or a new one.
    fn evaluate(&self, values: &[f64]) -> Result<Outcome<Evaluation>, Stopped> {
        let outcome = match self.log.get(values) {
            Some(known) => known,
            None if self.stopped.load(Ordering::Relaxed) || !self.watch.goes_on(self.seen().len() as u64) => {
                self.stopped.store(true, Ordering::Relaxed);
                return Err(Stopped);
            }
            None => {
                let outcome = self.search.design.evaluate(values);
                self.log.add(values, &outcome);
                outcome
            }
        };
        let failure = match &outcome {
            Outcome::Done(_) => None,
            Outcome::Failed(failure) => Some(failure.clone()),
        };
        self.seen().insert(values.iter().map(|x| x.to_bits()).collect(), failure);
        Ok(outcome)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The search from one start.
struct One<'s> {
    shared: &'s Shared<'s>,
    /// Values at which the scaled parameters are zero.
    start: &'s [f64],
    evaluations: AtomicU64,
    milestones: Mutex<Progress>,
}

/// Progress of a search.
#[derive(Default)]
struct Progress {
    milestones: Vec<Milestone>,
    best: Option<(Vec<f64>, f64)>,
}

impl One<'_> {
    /// x = x₀ + s u, clamped to its bounds against rounding.
    fn values(&self, u: &[f64]) -> Vec<f64> {
        let parameters = self.shared.search.design.parameters.iter().zip(self.start).zip(u);
        let value = parameters.map(|((parameter, start), u)| {
            let [low, high] = parameter.bounds;
            (start + parameter.scale * u).clamp(low, high)
        });
        value.collect()
    }

    fn evaluate(&self, u: &[f64]) -> Result<Outcome<Evaluation>, Stopped> {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        self.shared.evaluate(&self.values(u))
    }
}

impl Target for One<'_> {
    fn cost(&self, u: &[f64]) -> Result<f64, Stopped> {
        let outcome = self.evaluate(u)?;
        Ok(outcome.done().map_or(f64::INFINITY, |evaluation| self.shared.search.objective(evaluation)))
    }

    fn residuals(&self, u: &[f64]) -> Result<Vec<f64>, Stopped> {
        let design = &self.shared.search.design;
        let outcome = self.evaluate(u)?;
        let none = || vec![f64::INFINITY; design.runs.len() * design.terms.len()];
        Ok(outcome.done().map_or_else(none, |evaluation| evaluation.residuals().collect()))
    }

    fn after(&self, iteration: u64, best: Option<&[f64]>) -> Option<Ending> {
        let SearchOptions { method, evaluations: budget, tolerance, .. } = self.shared.search.options;
        let best = best.map(|u| self.values(u));
        let known = match best.as_ref().and_then(|best| self.shared.log.get(best)) {
            Some(Outcome::Done(evaluation)) => Some(evaluation),
            _ => None,
        };
        let objective = known.as_ref().map(|evaluation| self.shared.search.objective(evaluation));
        let evaluations = self.evaluations.load(Ordering::Relaxed);
        let mut progress = self.milestones.lock().unwrap_or_else(PoisonError::into_inner);
        progress.milestones.push(Milestone { iteration, evaluations, objective });
        if let Some((best, objective)) = best.zip(objective) {
            progress.best = Some((best, objective));
        }
        let solved = |evaluation: &Evaluation| evaluation.residuals().all(|residual| residual.abs() <= tolerance);
        if method == Method::LeastSquares && known.as_ref().is_some_and(solved) {
            return Some(Ending::Converged);
        }
        (evaluations >= budget).then_some(Ending::Budget)
    }
}
