//! Candidates on all cores, through the stages and, to compare, without hierarchy.

use super::{Stage, Verification, VerificationReport};
use crate::{Failure, Outcome, ThreadsError, Watch, monte_carlo::Value, run_trials};

/// Clock in seconds from any origin. Times are summed and reported; no result depends on them.
pub type Clock<'c> = &'c (dyn Fn() -> f64 + Sync);

/// Options of a verification.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifyOptions {
    /// Threads; 0 for one per core.
    pub threads: usize,
    /// Verifies every candidate without hierarchy as well.
    pub naive: bool,
}

/// Result of a stage for a candidate.
#[derive(Clone, Debug, Default)]
pub(super) struct Examined {
    /// Number of runs.
    pub(super) runs: u64,
    /// Time of the runs, s.
    pub(super) seconds: f64,
    /// Circumstances under which it did not pass, if any.
    pub(super) objection: Option<Objection>,
}

/// Circumstances under which a candidate did not pass.
#[derive(Clone, Debug)]
pub(super) struct Objection {
    pub(super) circumstances: Vec<Value>,
    /// Failure of the run, if it failed.
    pub(super) failure: Option<Failure>,
}

/// Results of a candidate: of the stages up to the first objection and, without hierarchy, of all that simulate.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    pub(super) hierarchy: Vec<Examined>,
    pub(super) naive: Option<Vec<Option<Examined>>>,
}

impl Verification {
    /// Verifies all candidates, or the first ones if the watch stopped it.
    pub fn run(
        &self,
        options: &VerifyOptions,
        clock: Clock<'_>,
        watch: &dyn Watch,
    ) -> Result<VerificationReport, ThreadsError> {
        let findings = run_trials(self.candidates.count(), options.threads, watch, |index| {
            let candidate = self.candidates.values(index);
            let hierarchy = self.evaluate_stages(&candidate, clock);
            let naive = options.naive.then(|| {
                let every =
                    self.stages.iter().map(|stage| stage.simulates.then(|| self.examine(stage, &candidate, clock)));
                every.collect()
            });
            Outcome::Done(Findings { hierarchy, naive })
        })?;
        Ok(VerificationReport::new(self, findings, options.naive))
    }

    /// Evaluates stage after stage, up to the first objection.   [VERIFY-1]
    fn evaluate_stages(&self, candidate: &[Value], clock: Clock<'_>) -> Vec<Examined> {
        let mut examined = Vec::with_capacity(self.stages.len());
        for stage in &self.stages {
            let found = self.examine(stage, candidate, clock);
            let ends = found.objection.is_some();
            examined.push(found);
            if ends {
                break;
            }
        }
        examined
    }

    /// Evaluates the circumstances in order, up to the first objection.   [VERIFY-1]
    fn examine(&self, stage: &Stage, candidate: &[Value], clock: Clock<'_>) -> Examined {
        let started = clock();
        let mut examined = Examined::default();
        for index in 0..stage.circumstances.count() {
            let circumstances = stage.circumstances.values(index);
            examined.runs += 1;
            let failure = match self.passes(stage, candidate, &circumstances) {
                Ok(true) => continue,
                Ok(false) => None,
                Err(failure) => Some(failure),
            };
            examined.objection = Some(Objection { circumstances, failure });
            break;
        }
        examined.seconds = clock() - started;
        examined
    }
}
