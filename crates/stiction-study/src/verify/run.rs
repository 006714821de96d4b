//! Candidates on all cores, through the stages and, to compare, without hierarchy.

use super::{Stage, Verification, VerificationReport};
use crate::{Failure, Outcome, ThreadsError, Watch, monte_carlo::Value, run_trials};

/// Seconds since some moment. Times are added up and shown; nothing depends on them.
pub type Clock<'c> = &'c (dyn Fn() -> f64 + Sync);

/// How a verification is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifyOptions {
    /// Threads; 0 for one per core.
    pub threads: usize,
    /// Verify every candidate without hierarchy as well.
    pub naive: bool,
}

/// What a stage found about a candidate.
#[derive(Clone, Debug, Default)]
pub(super) struct Examined {
    /// Runs that were made.
    pub(super) runs: u64,
    /// Time they took.
    pub(super) seconds: f64,
    /// The circumstances under which it did not pass.
    pub(super) objection: Option<Objection>,
}

/// Circumstances under which a candidate did not pass.
#[derive(Clone, Debug)]
pub(super) struct Objection {
    pub(super) circumstances: Vec<Value>,
    /// Where the run did not come to its end.
    pub(super) failure: Option<Failure>,
}

/// What was found about a candidate: by the stages up to the first objection and, without hierarchy, by all that simulate.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    pub(super) hierarchy: Vec<Examined>,
    pub(super) naive: Option<Vec<Option<Examined>>>,
}

impl Verification {
    /// Verifies all candidates; the first so many when the watch wanted to stop.
    pub fn run(
        &self,
        options: &VerifyOptions,
        clock: Clock<'_>,
        watch: &dyn Watch,
    ) -> Result<VerificationReport, ThreadsError> {
        let findings = run_trials(self.candidates.count(), options.threads, watch, |index| {
            let candidate = self.candidates.values(index);
            let hierarchy = self.climb(&candidate, clock);
            let naive = options.naive.then(|| {
                let every =
                    self.stages.iter().map(|stage| stage.simulates.then(|| self.examine(stage, &candidate, clock)));
                every.collect()
            });
            Outcome::Done(Findings { hierarchy, naive })
        })?;
        Ok(VerificationReport::new(self, findings, options.naive))
    }

    /// From stage to stage, up to the first objection.   [VERIFY-1]
    fn climb(&self, candidate: &[Value], clock: Clock<'_>) -> Vec<Examined> {
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

    /// Under one of the circumstances after the other, up to the first objection.   [VERIFY-1]
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
