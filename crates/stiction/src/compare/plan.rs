//! Plan of a comparison: schemes, step sizes and candidates for the reference solution.

use std::sync::Arc;

use stiction_multibody::Model;
use stiction_scene::steps_in;
use stiction_stepping::{Preset, Scheme};

use super::Refusal;

/// A named scheme, or the reason why the model does not support it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name in the report.
    pub name: String,
    /// The scheme.
    pub scheme: Result<Scheme, String>,
}

impl Entry {
    /// An entry for an unmodified preset.
    pub fn of(preset: Preset) -> Self {
        Self { name: preset.name().to_owned(), scheme: Ok(preset.scheme()) }
    }
}

/// A scheme that may provide the reference solution.
#[derive(Clone, Debug)]
pub struct TruthCandidate {
    /// The scheme.
    pub entry: Entry,
    /// Step size, s; a quarter of the smallest step size of the plan by default.
    pub step: Option<f64>,
}

/// Schemes and step sizes to run a model with, and the reference solution they are compared with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Model to simulate.
    pub model: Arc<Model>,
    /// Schemes.
    pub entries: Vec<Entry>,
    /// Step sizes, s; every scheme runs with each.
    pub steps: Vec<f64>,
    /// Simulated time, s. Runs make whole steps; errors are measured up to this time.
    pub until: f64,
    /// Candidates for the reference solution; the first that simulates the whole time is used.
    pub truth: Vec<TruthCandidate>,
    /// Largest number of timed repetitions of a run; the minimum is reported. Default 3.
    pub repetitions: u32,
    /// A run that took longer than this is not repeated, s. Default 1.
    pub patience: f64,
}

/// Ratio of the smallest step size of the plan to the default step size of the reference solution.
const FINER: f64 = 4.0;

/// Smallest and largest step size, s.
const STEP_RANGE: (f64, f64) = (1e-9, 10.0);

/// Most numbers in a trajectory: about a gigabyte.
const MOST_NUMBERS: f64 = 1.34e8;

/// Error of a comparison.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// No schemes or no step sizes.
    #[error("there is nothing to compare: name at least one {0}")]
    Empty(&'static str),
    /// Step size out of range.
    #[error("a step must be from {least:e} to {most} seconds, but one is {value}")]
    Step {
        /// Smallest step accepted, s.
        least: f64,
        /// Largest step accepted, s.
        most: f64,
        /// Given value, s.
        value: f64,
    },
    /// Duration out of range.
    #[error("the simulated time must be positive, but is {0} s")]
    Until(f64),
    /// Trajectory that does not fit into memory.
    #[error("{until} s in steps of {step} s need too much memory; compare a shorter time or larger steps")]
    TooLong {
        /// Simulated time, s.
        until: f64,
        /// Step size, s.
        step: f64,
    },
    /// No candidate for the reference solution simulates the whole time.
    #[error("no candidate for the reference solution simulates the whole time: {}", sentences(.0))]
    NoTruth(Vec<Refusal>),
    /// Stopped on request before the reference solution was computed.
    #[error("stopped on request before the reference solution was computed")]
    Stopped,
}

fn sentences(refusals: &[Refusal]) -> String {
    let sentence = |refusal: &Refusal| format!("{}: {}", refusal.preset, refusal.reason);
    refusals.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

impl Plan {
    /// Creates a plan for these step sizes and this duration, s, without schemes.
    pub fn new(model: impl Into<Arc<Model>>, steps: Vec<f64>, until: f64) -> Self {
        let (entries, truth) = (Vec::new(), Vec::new());
        Self { model: model.into(), entries, steps, until, truth, repetitions: 3, patience: 1.0 }
    }

    /// Step size of a candidate for the reference solution, s.
    pub fn truth_step(&self, candidate: &TruthCandidate) -> f64 {
        let smallest = self.steps.iter().copied().fold(f64::INFINITY, f64::min);
        candidate.step.unwrap_or(smallest / FINER)
    }

    /// Total number of steps of all runs without repetitions, with the first candidate as the reference solution.
    pub fn total_steps(&self) -> u64 {
        let truth = self.truth.first().map_or(0, |candidate| steps_in(self.until, self.truth_step(candidate)));
        let running = self.entries.iter().filter(|entry| entry.scheme.is_ok()).count() as u64;
        truth + running * self.steps.iter().map(|step| steps_in(self.until, *step)).sum::<u64>()
    }

    /// Checks all numbers.
    pub fn validate(&self) -> Result<(), CompareError> {
        let (least, most) = STEP_RANGE;
        if self.entries.is_empty() || self.truth.is_empty() {
            return Err(CompareError::Empty("scheme"));
        }
        if self.steps.is_empty() {
            return Err(CompareError::Empty("step"));
        }
        if !(self.until.is_normal() && self.until > 0.0) {
            return Err(CompareError::Until(self.until));
        }
        for step in self.steps.iter().copied().chain(self.truth.iter().map(|truth| self.truth_step(truth))) {
            if !(least..=most).contains(&step) {
                return Err(CompareError::Step { least, most, value: step });
            }
            let numbers = self.until / step * (1 + self.model.coordinates() + self.model.dof()) as f64;
            if numbers > MOST_NUMBERS {
                return Err(CompareError::TooLong { until: self.until, step });
            }
        }
        Ok(())
    }
}
