//! Report of a verification.

use serde::Serialize;

use super::{
    Verification,
    run::{Examined, Findings},
};
use crate::{Failure, Outcome, monte_carlo::Value};

/// Report of a verification. All but `seconds` is the same on every machine and for any number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct VerificationReport {
    /// Number of candidates.
    pub candidates: u64,
    /// Number of candidates that were verified.
    pub made: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// True if it was stopped.
    pub interrupted: bool,
    /// Names of the parameters, in the order of the values of candidates.
    pub parameters: Vec<String>,
    /// Counts of the stages.
    pub stages: Vec<StageReport>,
    /// Candidates that passed all stages.
    pub accepted: Vec<Accepted>,
    /// Candidates that did not, each with the first objection.
    pub rejected: Vec<Rejected>,
    /// The verification without hierarchy, if it was requested.
    pub naive: Option<NaiveReport>,
    /// Times, which are those of the machine.
    pub seconds: Seconds,
}

/// The counts of a stage.
#[derive(Clone, Debug, Serialize)]
pub struct StageReport {
    /// Its name.
    pub name: String,
    /// True if it simulates.
    pub simulates: bool,
    /// Names of its circumstances, in the order of their values.
    pub over: Vec<String>,
    /// Circumstances under which a candidate must pass.
    pub circumstances: u64,
    /// Number of candidates that reached it.
    pub candidates: u64,
    /// Number of candidates that passed.
    pub passed: u64,
    /// Number of runs.
    pub runs: u64,
    /// Number of candidates that were rejected because a run failed.
    pub failed: u64,
}

/// A candidate that passed all stages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accepted {
    /// Its number.
    pub candidate: u64,
    /// Its values.
    pub values: Vec<Value>,
}

/// A candidate that was rejected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rejected {
    /// Its number.
    pub candidate: u64,
    /// Its values.
    pub values: Vec<Value>,
    /// Index of the stage that rejected it.
    pub stage: usize,
    /// Circumstances under which it was rejected.
    pub circumstances: Vec<Value>,
    /// Failure of the run; none if the run was completed and the candidate did not satisfy the condition.
    pub failure: Option<Failure>,
}

/// Verification of every candidate in every stage that simulates.
#[derive(Clone, Debug, Serialize)]
pub struct NaiveReport {
    /// Counts of the stages that simulate, by their indices; none for the others.
    pub stages: Vec<Option<NaiveStage>>,
    /// Candidates that passed all stages that simulate.
    pub accepted: Vec<u64>,
    /// True if these are the accepted ones of the hierarchy.
    pub same: bool,
    /// Candidates that pass all simulations and were rejected by a stage without any: the condition of that stage is not necessary.
    pub lost: Vec<u64>,
    /// Candidates that the last stage alone would have accepted, but an earlier one rejected.
    pub last_alone: Vec<u64>,
}

/// A stage without hierarchy.
#[derive(Clone, Debug, Serialize)]
pub struct NaiveStage {
    /// Candidates that passed.
    pub passed: u64,
    /// Number of runs.
    pub runs: u64,
}

/// Times of stages, summed over all threads, s.
#[derive(Clone, Debug, Serialize)]
pub struct Seconds {
    /// Times in the hierarchy.
    pub hierarchy: Vec<f64>,
    /// Times without it; none for stages that do not simulate.
    pub naive: Option<Vec<Option<f64>>>,
}

impl VerificationReport {
    /// Runs of stages that simulate, in the hierarchy.
    pub fn simulations(&self) -> u64 {
        self.stages.iter().filter(|stage| stage.simulates).map(|stage| stage.runs).sum()
    }

    pub(super) fn new(study: &Verification, outcomes: Vec<Outcome<Findings>>, naive: bool) -> Self {
        let findings: Vec<_> = outcomes.into_iter().map(findings_of).collect();
        let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
        for (candidate, found) in (0..).zip(&findings) {
            let values = study.candidates.values(candidate);
            let objection = found.hierarchy.iter().enumerate().find_map(|(k, at)| Some((k, at.objection.as_ref()?)));
            match objection {
                None => accepted.push(Accepted { candidate, values }),
                Some((stage, objection)) => rejected.push(Rejected {
                    candidate,
                    values,
                    stage,
                    circumstances: objection.circumstances.clone(),
                    failure: objection.failure.clone(),
                }),
            }
        }
        let names = |sample: &super::Sample| sample.parameters().iter().map(|p| p.name.clone()).collect();
        let made = findings.len() as u64;
        let stages = study.stages.iter().enumerate().map(|(k, stage)| {
            let came: Vec<_> = findings.iter().filter_map(|found| found.hierarchy.get(k)).collect();
            let failed = |at: &&&Examined| at.objection.as_ref().is_some_and(|objection| objection.failure.is_some());
            StageReport {
                name: stage.name.clone(),
                simulates: stage.simulates,
                over: names(&stage.circumstances),
                circumstances: stage.circumstances.count(),
                candidates: came.len() as u64,
                passed: passed(&came),
                runs: came.iter().map(|at| at.runs).sum(),
                failed: came.iter().filter(failed).count() as u64,
            }
        });
        let stages: Vec<_> = stages.collect();
        let of_stage = |k: usize| findings.iter().filter_map(move |found| found.hierarchy.get(k));
        let hierarchy = (0..stages.len()).map(|k| of_stage(k).map(|at| at.seconds).sum()).collect();
        let naive = naive.then(|| naive_report(study, &findings, &accepted));
        let (naive, naive_seconds) = naive.unzip();
        Self {
            candidates: study.candidates.count(),
            made,
            seed: study.seed,
            interrupted: made < study.candidates.count(),
            parameters: names(&study.candidates),
            stages,
            accepted,
            rejected,
            naive,
            seconds: Seconds { hierarchy, naive: naive_seconds },
        }
    }
}

/// Findings of a candidate. A panic is a failure before the first stage.
fn findings_of(outcome: Outcome<Findings>) -> Findings {
    match outcome {
        Outcome::Done(findings) => findings,
        Outcome::Failed(failure) => {
            let objection = super::run::Objection { circumstances: Vec::new(), failure: Some(failure) };
            Findings { hierarchy: vec![Examined { objection: Some(objection), ..Examined::default() }], naive: None }
        }
    }
}

fn passed(examined: &[&Examined]) -> u64 {
    examined.iter().filter(|at| at.objection.is_none()).count() as u64
}

fn naive_report(study: &Verification, findings: &[Findings], accepted: &[Accepted]) -> (NaiveReport, Vec<Option<f64>>) {
    let at = |found: &'_ Findings, k: usize| found.naive.as_ref().and_then(|naive| naive.get(k).cloned().flatten());
    let (mut stages, mut seconds) = (Vec::new(), Vec::new());
    for (k, stage) in study.stages.iter().enumerate() {
        let came: Vec<_> = findings.iter().filter_map(|found| at(found, k)).collect();
        let came: Vec<_> = came.iter().collect();
        let counts = NaiveStage { passed: passed(&came), runs: came.iter().map(|at| at.runs).sum() };
        stages.push(stage.simulates.then_some(counts));
        seconds.push(stage.simulates.then(|| came.iter().map(|at| at.seconds).sum()));
    }
    let numbers = |keep: &dyn Fn(&Findings) -> bool| -> Vec<u64> {
        (0..).zip(findings).filter(|(_, found)| keep(found)).map(|(candidate, _)| candidate).collect()
    };
    let holds = |examined: &Option<Examined>| examined.as_ref().is_none_or(|at| at.objection.is_none());
    let all = numbers(&|found| found.naive.as_ref().is_some_and(|naive| naive.iter().all(holds)));
    let last = numbers(&|found| found.naive.as_ref().is_some_and(|naive| naive.last().is_some_and(holds)));
    let ours: Vec<_> = accepted.iter().map(|accepted| accepted.candidate).collect();
    let beyond = |these: &[u64]| these.iter().filter(|candidate| !ours.contains(candidate)).copied().collect();
    (NaiveReport { same: all == ours, lost: beyond(&all), last_alone: beyond(&last), stages, accepted: all }, seconds)
}
