//! Trials, refinement, rehearsals.

use super::{
    Arrival, FailureCount, Path, Plan, Push, PushError, PushReport, Sampler,
    error::within,
    refine::{Attempt, refine},
};
use crate::{Failure, Outcome, Stream, SuccessRate, ThreadsError, Watch, run_trials};

/// Number of plans that are rehearsed.
const REHEARSED: usize = 5;

/// Key that separates the streams of rehearsals from those of trials.
const REHEARSAL: u64 = 0x5EED_0F2E_4EA2_5A15;

/// Options of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// Number of paths.
    pub trials: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Near misses to refine.
    pub refine: u32,
    /// Largest number of simulations for each of them.
    pub refine_simulations: u32,
    /// Number of rehearsals of each of the five best plans under other friction.
    pub rehearsals: u32,
    /// Relative variation of the coefficients of friction in rehearsals.
    pub variation: f64,
}

impl Default for SearchOptions {
    /// 1000 trials, 10 near misses refined by up to 200 simulations each, no rehearsals, which would vary friction by 5 %.
    fn default() -> Self {
        Self { trials: 1000, seed: 1, refine: 10, refine_simulations: 200, rehearsals: 0, variation: 0.05 }
    }
}

/// A search for plans.
#[derive(Clone, Debug)]
pub struct Search {
    push: Push,
    sampler: Sampler,
    options: SearchOptions,
}

impl Search {
    /// Search with valid options.
    pub fn new(push: Push, sampler: Sampler, options: SearchOptions) -> Result<Self, PushError> {
        within("variation", options.variation, (0.0, 0.9))?;
        Ok(Self { push, sampler, options })
    }

    /// Task of the search.
    pub fn push(&self) -> &Push {
        &self.push
    }

    /// Sampler of paths.
    pub fn sampler(&self) -> &Sampler {
        &self.sampler
    }

    /// Options of the search.
    pub fn options(&self) -> &SearchOptions {
        &self.options
    }

    /// The same search with other numbers of trials or another seed.
    #[must_use]
    pub fn with_options(mut self, change: impl FnOnce(&mut SearchOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// Largest count for the watch: trials, refinements and rehearsals.
    pub fn work(&self) -> u64 {
        let SearchOptions { trials, refine, rehearsals, .. } = self.options;
        trials + u64::from(refine) + REHEARSED as u64 * u64::from(rehearsals)
    }

    /// Trial `index`: draws a path and simulates it. [`Self::path`] gives the path of one that failed.
    pub fn trial(&self, index: u64) -> Outcome<Plan> {
        let Some(path) = self.path(index) else {
            let reason = "no line of the sampler meets the part from a free place".to_owned();
            return Outcome::Failed(Failure { detail: reason.clone(), reason });
        };
        match self.push.follow(&path) {
            Outcome::Done(arrival) => Outcome::Done(self.plan(index, false, Attempt { path, arrival })),
            Outcome::Failed(failure) => Outcome::Failed(failure),
        }
    }

    /// The path of a trial.
    pub fn path(&self, index: u64) -> Option<Path> {
        self.sampler.sample(&self.push, &mut Stream::new(self.options.seed, index))
    }

    /// Makes all trials on this number of threads (0 for one per core), refines near misses, and rehearses the best plans.
    pub fn run(&self, threads: usize, watch: &dyn Watch) -> Result<PushReport, ThreadsError> {
        let SearchOptions { trials, seed, .. } = self.options;
        let outcomes = run_trials(trials, threads, watch, |index| self.trial(index))?;
        let made = outcomes.len() as u64;
        let failed = count_failures(&outcomes);
        let mut plans: Vec<_> = outcomes.into_iter().filter_map(into_done).collect();
        let ratio = |plan: &Plan| self.push.goal().ratio(&plan.miss);
        plans.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)).then(a.trial.cmp(&b.trial)));
        let nearest = plans.first().cloned();
        let reached = plans.partition_point(|plan| ratio(plan) <= 1.0);
        let near_misses = plans.split_off(reached);
        let mut found = plans;
        let mut interrupted = made < trials;
        if !interrupted {
            let wanted = near_misses.len().min(self.options.refine as usize);
            let (refined, complete) =
                self.refined(near_misses.get(..wanted).unwrap_or_default(), threads, &OffsetWatch(trials, watch))?;
            interrupted = !complete;
            found.extend(refined.into_iter().filter(|plan| ratio(plan) <= 1.0));
        }
        found.sort_by(|a, b| a.length.total_cmp(&b.length).then(a.trial.cmp(&b.trial)));
        if !interrupted && self.options.rehearsals > 0 {
            let start = trials + u64::from(self.options.refine);
            interrupted = !self.rehearse(&mut found, threads, &OffsetWatch(start, watch))?;
        }
        let successes = SuccessRate::new(reached as u64, made);
        Ok(PushReport { trials, seed, goal: *self.push.goal(), successes, failed, interrupted, found, nearest })
    }

    /// Near misses after refinement, and true if all were refined.
    fn refined(&self, misses: &[Plan], threads: usize, watch: &dyn Watch) -> Result<(Vec<Plan>, bool), ThreadsError> {
        let refined = run_trials(misses.len() as u64, threads, watch, |index| {
            Outcome::Done(misses.get(index as usize).map(|miss| {
                let arrival = Arrival { pose: miss.pose, miss: miss.miss };
                let attempt = Attempt { path: miss.path.clone(), arrival };
                let better = refine(&self.push, &attempt, self.sampler.clearance, self.options.refine_simulations);
                self.plan(miss.trial, true, better)
            }))
        })?;
        let complete = refined.len() == misses.len();
        Ok((refined.into_iter().filter_map(into_done).flatten().collect(), complete))
    }

    /// Simulates the best plans under other friction. Returns false if it was stopped; the plans then have no rehearsals.
    fn rehearse(&self, found: &mut [Plan], threads: usize, watch: &dyn Watch) -> Result<bool, ThreadsError> {
        let each = u64::from(self.options.rehearsals);
        let best = found.get(..found.len().min(REHEARSED)).unwrap_or_default();
        let count = best.len() as u64 * each;
        let reached = run_trials(count, threads, watch, |index| {
            let mut stream = Stream::new(self.options.seed ^ REHEARSAL, index);
            let mut factor = || 1.0 + stream.between(-self.options.variation, self.options.variation);
            let contacts = factor();
            let support_points: Vec<_> = (0..self.push.support_points()).map(|_| factor()).collect();
            let arrival = best.get((index / each) as usize);
            let arrival = arrival.map(|plan| self.push.follow_with_friction(&plan.path, contacts, &support_points));
            Outcome::Done(
                arrival.is_some_and(|end| end.done().is_some_and(|end| self.push.goal().is_reached(&end.miss))),
            )
        })?;
        if (reached.len() as u64) < count {
            return Ok(false);
        }
        for (plan, rehearsals) in found.iter_mut().zip(reached.chunks(each as usize)) {
            let hits = rehearsals.iter().filter(|outcome| outcome.done() == Some(&true)).count();
            plan.rehearsed = Some(SuccessRate::new(hits as u64, each));
        }
        Ok(true)
    }

    fn plan(&self, trial: u64, refined: bool, Attempt { path, arrival }: Attempt) -> Plan {
        let (length, duration) = (path.length(), self.push.duration(&path));
        Plan { trial, refined, length, duration, path, pose: arrival.pose, miss: arrival.miss, rehearsed: None }
    }
}

/// Watch with an offset of its count.
struct OffsetWatch<'w>(u64, &'w dyn Watch);

impl Watch for OffsetWatch<'_> {
    fn goes_on(&self, finished: u64) -> bool {
        self.1.goes_on(self.0 + finished)
    }
}

fn into_done<T>(outcome: Outcome<T>) -> Option<T> {
    match outcome {
        Outcome::Done(result) => Some(result),
        Outcome::Failed(_) => None,
    }
}

/// Failures by reason, the most frequent first, then by the first trial.
fn count_failures<T>(outcomes: &[Outcome<T>]) -> Vec<FailureCount> {
    let mut counts: Vec<FailureCount> = Vec::new();
    for (trial, outcome) in (0..).zip(outcomes) {
        let Outcome::Failed(Failure { reason, detail }) = outcome else { continue };
        if let Some(known) = counts.iter_mut().find(|known| known.reason == *reason) {
            known.count += 1;
        } else {
            let (reason, detail) = (reason.clone(), detail.clone());
            counts.push(FailureCount { reason, count: 1, first_trial: trial, detail });
        }
    }
    counts.sort_by(|a, b| b.count.cmp(&a.count).then(a.first_trial.cmp(&b.first_trial)));
    counts
}
