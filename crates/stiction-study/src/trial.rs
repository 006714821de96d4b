//! Trials on any number of threads, with results that do not depend on that number.
//!
//! Workers claim the next index from a counter, so that trials begin in the order of their indices. After a request to stop, trials in
//! progress are completed. The trials made are then exactly the first ones, without bias towards quick or slow ones.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use serde::Serialize;
use stiction::{StepCause, StepError};

/// Outcome of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome<T> {
    /// It was completed.
    Done(T),
    /// It failed, with a reason.
    Failed(Failure),
}

impl<T> Outcome<T> {
    /// Result of a completed trial.
    pub fn done(&self) -> Option<&T> {
        match self {
            Self::Done(result) => Some(result),
            Self::Failed(_) => None,
        }
    }
}

/// Reason why a trial failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The kind of failure, without the numbers of this trial, so that equal ones can be counted.
    pub reason: String,
    /// Details of this trial.
    pub detail: String,
}

impl Failure {
    /// Failure of a step: its kind without numbers, and the full message.
    pub fn of_step(error: &StepError) -> Self {
        let reason = match &error.cause {
            StepCause::NotSolved { hint, .. } => format!("the contact problem was not solved; {hint}"),
            StepCause::Jammed { contact, .. } => format!("bodies are jammed at {contact}"),
            StepCause::NotProjected { .. } => "positions or velocities could not be projected".to_owned(),
            StepCause::NoBalance { body, .. } => format!("the forces on {body} cannot be balanced"),
            StepCause::EnergyGrew { body, .. } => format!("the energy of \"{body}\" grew without a source"),
            StepCause::NoMotion { contact, .. } => format!("no motion is consistent with the laws at {contact}"),
            StepCause::LayerUsedUp { pair, .. } => format!("the protective layer between {pair} is used up"),
            other => other.to_string(),
        };
        Self { reason, detail: error.to_string() }
    }

    /// A trial that panicked.
    pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let words =
            panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let reason = "the program broke: this is a bug".to_owned();
        Self { detail: format!("{reason}: {}", words.unwrap_or("no words")), reason }
    }
}

/// Observer of trials that can stop them.
pub trait Watch: Sync {
    /// Called before every trial with the number of completed ones; false ends the trials.
    fn goes_on(&self, finished: u64) -> bool;
}

/// Observer that does nothing.
impl Watch for () {
    fn goes_on(&self, _finished: u64) -> bool {
        true
    }
}

/// The threads could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {threads} threads: {source}")]
pub struct ThreadsError {
    threads: usize,
    source: rayon::ThreadPoolBuildError,
}

/// Makes the trials 0 to `count` − 1 on this number of threads (0 for one per core). Returns the outcomes in the order of their indices:
/// all of them, or the first ones if the watch stopped them.
///
/// A trial must be a function of its index alone. A panic in it is a failure of the trial; the others continue.
pub fn run_trials<T: Send>(
    count: u64,
    threads: usize,
    watch: &dyn Watch,
    trial: impl Fn(u64) -> Outcome<T> + Sync,
) -> Result<Vec<Outcome<T>>, ThreadsError> {
    let queue = Queue { count, next: AtomicU64::new(0), finished: AtomicU64::new(0), stopped: AtomicBool::new(false) };
    if threads == 1 || count <= 1 {
        return Ok(queue.work(watch, &trial).into_iter().map(|(_, outcome)| outcome).collect());
    }
    let mut made: Vec<_> = pool(threads)?.broadcast(|_| queue.work(watch, &trial)).into_iter().flatten().collect();
    made.sort_unstable_by_key(|(index, _)| *index);
    Ok(made.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Pool with this number of threads; 0 for one per core.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool, ThreadsError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|source| ThreadsError { threads, source })
}

/// Data shared by the workers.
struct Queue {
    count: u64,
    next: AtomicU64,
    finished: AtomicU64,
    stopped: AtomicBool,
}

impl Queue {
    /// Claims and makes trials until none remain.
    fn work<T>(&self, watch: &dyn Watch, trial: &(impl Fn(u64) -> Outcome<T> + Sync)) -> Vec<(u64, Outcome<T>)> {
        let mut made = Vec::new();
        while !self.stopped.load(Ordering::Relaxed) {
            if !watch.goes_on(self.finished.load(Ordering::Relaxed)) {
                self.stopped.store(true, Ordering::Relaxed);
                break;
            }
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                break;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| trial(index)))
                .unwrap_or_else(|panic| Outcome::Failed(Failure::of_panic(&*panic)));
            made.push((index, outcome));
            self.finished.fetch_add(1, Ordering::Relaxed);
        }
        made
    }
}
