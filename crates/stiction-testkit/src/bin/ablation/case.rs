//! Cases: one problem with one setting of a ladder, and runs of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use stiction_complementarity::Status;

/// End of a run, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    /// Neither a solution nor a proof.
    Failed,
    /// A residual within the loose tolerance.
    Loose,
    /// A solution, or a proof that there is none.
    Decided,
}

impl Grade {
    pub(crate) fn of(status: Status) -> Self {
        match status {
            Status::Solved | Status::Infeasible => Self::Decided,
            Status::SolvedLoosely => Self::Loose,
            _ => Self::Failed,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Loose => "solved loosely",
            Self::Decided => "decided",
        }
    }
}

/// Result of one run.
#[derive(Clone, Debug)]
pub(crate) struct Run<R> {
    pub(crate) grade: Grade,
    pub(crate) residual: f64,
    pub(crate) iterations: u32,
    pub(crate) seconds: f64,
    /// Rungs that ran, in order.
    pub(crate) ran: Vec<R>,
    /// Rung that gave the solution or the proof.
    pub(crate) decided: Option<R>,
}

/// Runs the ladder of these rungs on a case.
type Solve<R> = Box<dyn Fn(&[R]) -> Run<R> + Send + Sync>;

/// A problem with a setting of the ladder.
pub(crate) struct Case<R> {
    /// Collection of files, or family of seeds.
    pub(crate) set: String,
    /// File or seed inside the set.
    pub(crate) name: String,
    /// Accuracy and start.
    pub(crate) setting: &'static str,
    /// True if a file or a test promises the result; false for random problems that need not have a solution.
    pub(crate) promised: bool,
    solve: Solve<R>,
}

impl<R: Clone + Send + Sync> Case<R> {
    pub(crate) fn new(
        (set, name, setting): (&str, &str, &'static str),
        solve: impl Fn(&[R]) -> Run<R> + Send + Sync + 'static,
    ) -> Self {
        Self { set: set.to_owned(), name: name.to_owned(), setting, promised: true, solve: Box::new(solve) }
    }

    /// Marks the result as promised or not.
    pub(crate) fn promised(self, promised: bool) -> Self {
        Self { promised, ..self }
    }

    /// Runs the ladder of these rungs.
    pub(crate) fn run(&self, rungs: &[R]) -> Run<R> {
        let begun = Instant::now();
        let run = (self.solve)(rungs);
        Run { seconds: begun.elapsed().as_secs_f64(), ..run }
    }
}

/// Runs the cases of these numbers, on all cores; the results are in the order of `numbers`.
pub(crate) fn run_all<R: Clone + Send + Sync>(cases: &[Case<R>], numbers: &[usize], rungs: &[R]) -> Vec<Run<R>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((place, &number)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| numbers.get(k).map(|n| (k, n)))
        {
            done.push((place, cases[number].run(rungs)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, Run<R>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, run)| run).collect()
}
