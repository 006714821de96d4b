//! What is to be compared.

use std::sync::Arc;

use stiction_multibody::Model;
use stiction_scene::steps_in;
use stiction_stepping::{Preset, Scheme};

use super::Refusal;

/// A scheme by name, or the sentence that says why the model cannot have it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name in the report.
    pub name: String,
    /// The scheme.
    pub scheme: Result<Scheme, String>,
}

impl Entry {
    /// A preset as it is.
    pub fn of(preset: Preset) -> Self {
        Self { name: preset.name().to_owned(), scheme: Ok(preset.scheme()) }
    }
}

/// A scheme that may serve as the truth.
#[derive(Clone, Debug)]
pub struct TruthCandidate {
    /// The scheme.
    pub entry: Entry,
    /// Its step, s; a quarter of the smallest step of the plan when left out.
    pub step: Option<f64>,
}

/// Schemes and steps to run a model with, and what they are measured against.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What moves.
    pub model: Arc<Model>,
    /// The schemes.
    pub entries: Vec<Entry>,
    /// The steps, s; every scheme runs with each.
    pub steps: Vec<f64>,
    /// Simulated time, s. Runs make whole steps; what goes beyond is not measured.
    pub until: f64,
    /// Candidates for the truth: the first that simulates the whole time is taken.
    pub truth: Vec<TruthCandidate>,
    /// Most passes through a run; its time is the least of them. Default 3.
    pub repetitions: u32,
    /// A run is not repeated once it has taken this long, s. Default 1.
    pub patience: f64,
}

/// The default truth is this much finer than the smallest step.
const FINER: f64 = 4.0;

/// Smallest and largest step, s.
const STEP_RANGE: (f64, f64) = (1e-9, 10.0);

/// Most numbers a trajectory may hold: a gigabyte.
const MOST_NUMBERS: f64 = 1.34e8;

/// A comparison that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// No schemes, or no steps.
    #[error("there is nothing to compare: name at least one {0}")]
    Empty(&'static str),
    /// A step out of range.
    #[error("a step must be from {least:e} to {most} seconds, but one is {value}")]
    Step {
        /// Smallest step accepted, s.
        least: f64,
        /// Largest step accepted, s.
        most: f64,
        /// The value given.
        value: f64,
    },
    /// A duration out of range.
    #[error("the simulated time must be positive, but is {0} s")]
    Until(f64),
    /// A trajectory that would not fit into memory.
    #[error("{until} s in steps of {step} s are too many numbers to keep; compare a shorter time or larger steps")]
    TooLong {
        /// Simulated time, s.
        until: f64,
        /// The step, s.
        step: f64,
    },
    /// No candidate for the truth simulates the whole time.
    #[error("there is nothing to measure against: {}", sentences(.0))]
    NoTruth(Vec<Refusal>),
    /// Somebody stopped it before there was anything to measure against.
    #[error("stopped on request before the truth was known")]
    Stopped,
}

fn sentences(refusals: &[Refusal]) -> String {
    let sentence = |refusal: &Refusal| format!("{}: {}", refusal.preset, refusal.reason);
    refusals.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

impl Plan {
    /// A plan for these steps and this time, s, without schemes yet.
    pub fn new(model: impl Into<Arc<Model>>, steps: Vec<f64>, until: f64) -> Self {
        let (entries, truth) = (Vec::new(), Vec::new());
        Self { model: model.into(), entries, steps, until, truth, repetitions: 3, patience: 1.0 }
    }

    /// The step of a candidate for the truth, s.
    pub fn truth_step(&self, candidate: &TruthCandidate) -> f64 {
        let smallest = self.steps.iter().copied().fold(f64::INFINITY, f64::min);
        candidate.step.unwrap_or(smallest / FINER)
    }

    /// Steps that all runs make together, each counted once, with the first candidate as the truth.
    pub fn total_steps(&self) -> u64 {
        let truth = self.truth.first().map_or(0, |candidate| steps_in(self.until, self.truth_step(candidate)));
        let running = self.entries.iter().filter(|entry| entry.scheme.is_ok()).count() as u64;
        truth + running * self.steps.iter().map(|step| steps_in(self.until, *step)).sum::<u64>()
    }

    /// Checks every number.
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
