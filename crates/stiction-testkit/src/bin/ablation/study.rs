//! Removal of single rungs, and of one rung after another for as long as nothing is lost.

use crate::case::{Case, Grade, Run, run_all};

/// Part of the iterations of all cases that a removal may add: one in this many.
const AFFORDED: i128 = 20;

/// A case that ends worse without a rung.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    /// Number of the case.
    pub(crate) case: usize,
    pub(crate) before: Grade,
    pub(crate) after: Grade,
    /// Residual without the rung.
    pub(crate) residual: f64,
}

/// Effect of a removal.
#[derive(Clone, Debug)]
pub(crate) struct Removal<R> {
    pub(crate) rung: R,
    /// Cases in which the rung ran, and in which it gave the result, before the removal.
    pub(crate) ran: usize,
    pub(crate) decided: usize,
    pub(crate) losses: Vec<Loss>,
    /// Iterations of the cases in which it ran, with and without it.
    pub(crate) iterations: (u64, u64),
    /// Seconds of the cases in which it ran, with and without it.
    pub(crate) seconds: (f64, f64),
}

impl<R> Removal<R> {
    /// Losses of cases that a file or a test promises.
    pub(crate) fn promised<'a>(&'a self, cases: &'a [Case<R>]) -> impl Iterator<Item = &'a Loss> {
        self.losses.iter().filter(|loss| cases[loss.case].promised)
    }

    fn added_iterations(&self) -> i128 {
        i128::from(self.iterations.1) - i128::from(self.iterations.0)
    }
}

/// Results of all removals.
pub(crate) struct Study<R> {
    pub(crate) rungs: Vec<R>,
    /// Runs with all rungs.
    pub(crate) full: Vec<Run<R>>,
    /// Each rung removed alone.
    pub(crate) single: Vec<Removal<R>>,
    /// Rungs removed one after the other, in this order, without a promised loss.
    pub(crate) eliminated: Vec<Removal<R>>,
    /// Effect of removing each of the others as well.
    pub(crate) remaining: Vec<Removal<R>>,
}

/// Removes every rung alone, then one after another.
///
/// A rung that did not run in a case has no effect on it, so only the other cases are run again.
pub(crate) fn study<R: Copy + PartialEq + Send + Sync + std::fmt::Display>(cases: &[Case<R>], rungs: &[R]) -> Study<R> {
    let all: Vec<usize> = (0..cases.len()).collect();
    let full = run_all(cases, &all, rungs);
    eprintln!("{} cases", full.len());
    let removal = |rung: R, rungs: &[R], runs: &[Run<R>]| {
        let (found, after) = remove(cases, &full, rung, rungs, runs);
        eprintln!("without {rung}: ran {}, lost {}, {:.1} s", found.ran, found.losses.len(), found.seconds.1);
        (found, after)
    };
    let single: Vec<Removal<R>> = rungs.iter().map(|&rung| removal(rung, rungs, &full).0).collect();
    let (mut kept, mut runs, mut eliminated) = (rungs.to_vec(), full.clone(), Vec::new());
    let mut witnesses: Vec<(R, usize)> =
        single.iter().filter_map(|found| Some((found.rung, found.promised(cases).next()?.case))).collect();
    let total: u64 = full.iter().map(|run| u64::from(run.iterations)).sum();
    // From the last rung to the first, because later rungs run less often.
    while let Some(found) = kept.iter().rev().find_map(|&rung| {
        let rest: Vec<R> = kept.iter().copied().filter(|other| *other != rung).collect();
        let lost = |case: usize| cases[case].run(&rest).grade < full[case].grade;
        if witnesses.iter().any(|(of, case)| *of == rung && lost(*case)) {
            return None;
        }
        let (found, after) = removal(rung, &kept, &runs);
        witnesses.extend(found.promised(cases).next().map(|loss| (rung, loss.case)));
        let free = found.promised(cases).next().is_none() && found.added_iterations() * AFFORDED <= i128::from(total);
        free.then_some((found, after))
    }) {
        kept.retain(|rung| *rung != found.0.rung);
        runs = found.1;
        eliminated.push(found.0);
    }
    let remaining = kept.iter().map(|&rung| removal(rung, &kept, &runs).0).collect();
    Study { rungs: rungs.to_vec(), full, single, eliminated, remaining }
}

/// Runs the ladder without a rung in the cases in which it ran; returns the effect and the runs of all cases.
fn remove<R: Copy + PartialEq + Send + Sync>(
    cases: &[Case<R>],
    full: &[Run<R>],
    rung: R,
    rungs: &[R],
    runs: &[Run<R>],
) -> (Removal<R>, Vec<Run<R>>) {
    let rest: Vec<R> = rungs.iter().copied().filter(|other| *other != rung).collect();
    let affected: Vec<usize> = (0..cases.len()).filter(|&case| runs[case].ran.contains(&rung)).collect();
    let mut after = runs.to_vec();
    let (mut iterations, mut seconds, mut losses) = ((0, 0), (0.0, 0.0), Vec::new());
    for (&case, run) in affected.iter().zip(run_all(cases, &affected, &rest)) {
        iterations.0 += u64::from(runs[case].iterations);
        iterations.1 += u64::from(run.iterations);
        seconds.0 += runs[case].seconds;
        seconds.1 += run.seconds;
        if run.grade < full[case].grade.min(runs[case].grade) {
            losses.push(Loss { case, before: full[case].grade, after: run.grade, residual: run.residual });
        }
        after[case] = run;
    }
    let decided = runs.iter().filter(|run| run.decided == Some(rung) && run.grade == Grade::Decided).count();
    (Removal { rung, ran: affected.len(), decided, losses, iterations, seconds }, after)
}
