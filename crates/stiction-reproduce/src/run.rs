//! Running cases: one alone, or all in parallel.

use rayon::prelude::*;

use crate::{Account, CASES, CaseError, Reference};

/// A case that can be run.
#[derive(Debug)]
pub struct Case {
    /// Name, such as `C-02`.
    pub id: &'static str,
    /// Its file, from the root of the project.
    pub file: &'static str,
    /// Content of that file.
    pub text: &'static str,
    /// Function that runs it.
    pub run: fn(&Reference) -> Result<Account, CaseError>,
}

impl Case {
    /// Title of the case in its file; its name if the file cannot be read.
    pub fn title(&self) -> String {
        let reference = Reference::parse(self.file, self.text).ok();
        reference.and_then(|reference| reference.note("title").map(str::to_owned)).unwrap_or_else(|| self.id.to_owned())
    }
}

/// A case that was run.
#[derive(Debug)]
pub struct Outcome {
    /// The case.
    pub case: &'static Case,
    /// Its file.
    pub reference: Option<Reference>,
    /// Its results, or the error that ended it.
    pub account: Result<Account, CaseError>,
}

/// The case of that name; `c02`, `c-2` and `C-02` name the same.
pub fn find(name: &str) -> Option<&'static Case> {
    let number = |id: &str| id.trim_start_matches(['c', 'C']).trim_start_matches('-').parse::<u32>().ok();
    let wanted = number(name)?;
    CASES.iter().find(|case| number(case.id) == Some(wanted))
}

/// Runs one case.
pub fn reproduce(case: &'static Case) -> Outcome {
    match Reference::parse(case.file, case.text) {
        Ok(reference) => Outcome { case, account: (case.run)(&reference), reference: Some(reference) },
        Err(error) => Outcome { case, reference: None, account: Err(error) },
    }
}

/// Runs a function with so many threads; 0 is one per core.
pub fn with_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, rayon::ThreadPoolBuildError> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(work))
}

/// Runs cases on all cores and calls `finished` after each; outcomes are in the order of `cases`.
pub fn reproduce_all(cases: &[&'static Case], finished: impl Fn(&Case) + Sync) -> Vec<Outcome> {
    let run = |case: &&'static Case| {
        let outcome = reproduce(case);
        finished(case);
        outcome
    };
    // One case is one task: their durations differ by orders of magnitude.
    cases.par_iter().with_max_len(1).map(run).collect()
}
