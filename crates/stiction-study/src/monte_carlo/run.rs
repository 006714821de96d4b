//! Makes the trials of a study on any number of threads, and keeps them in order.
//!
//! Workers claim the next missing trial. Completed trials are written to the journal at once, in any order. Rows of the table and the
//! counts follow in the order of their numbers, so that both are the same for any number of threads. No worker is further ahead of the
//! first missing trial than [`WINDOW`], which bounds the memory.

use std::{
    collections::BTreeMap,
    fs,
    ops::ControlFlow,
    path::Path,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    MonteCarlo, Report, Row, StudyError, Trial,
    design::permuted,
    journal::{self, Header, Journal},
    problems::Problems,
    table::TrialsTable,
    tally::Tally,
};
use crate::{Watch, trial::pool};

/// Largest distance of a trial ahead of the first missing one.
const WINDOW: u64 = 1024;

/// Length of the blocks within which an order is shuffled.
const SHUFFLED: u64 = 256;

/// Order in which trials are begun; the results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By their numbers.
    #[default]
    Counted,
    /// At random within blocks.
    Shuffled {
        /// Seed of the order.
        seed: u64,
    },
}

/// Options of a run of a study.
#[derive(Clone, Copy, Debug, Default)]
pub struct SweepOptions {
    /// Threads; 0 for one per core.
    pub threads: usize,
    /// Continues the study in the folder.
    pub resume: bool,
    /// Replaces a study in the folder, which is refused otherwise. It has no effect with `resume`.
    pub replace: bool,
    /// Order in which trials are begun.
    pub order: Order,
}

/// Reason why no more trials were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// All were made.
    Complete,
    /// The study was stopped from outside.
    Stopped,
    /// More failed than the budget allows.
    TooManyFailures,
}

/// Data shared by the workers.
struct Shared<'s> {
    study: &'s MonteCarlo,
    order: Order,
    ledger: Mutex<Ledger<'s>>,
    moved: Condvar,
}

/// Trials that were made.
struct Ledger<'s> {
    study: &'s MonteCarlo,
    /// Trials claimed or skipped so far, in the order of execution.
    cursor: u64,
    /// All trials with smaller numbers are in the table.
    committed: u64,
    finished: u64,
    /// Trials that were made before some with smaller numbers.
    waiting: BTreeMap<u64, Row>,
    table: TrialsTable,
    tally: Tally,
    ending: Option<Ending>,
    error: Option<StudyError>,
}

impl MonteCarlo {
    /// Makes the trials that are missing in `folder` and returns the report of all of them.
    ///
    /// A folder that holds trials already is refused and left unchanged, unless the options say what to do with them.
    pub fn run(&self, folder: &Path, options: &SweepOptions, watch: &dyn Watch) -> Result<Report, StudyError> {
        fs::create_dir_all(folder).map_err(|source| StudyError::write(folder, source))?;
        let header = Header::of(self);
        if options.resume || !options.replace {
            journal::check(folder, &header, options.resume)?;
        }
        let mut problems = Problems::open(folder);
        let mut ledger = Ledger::new(self, folder)?;
        let journal = if options.resume {
            Journal::resume(folder, &header, |index, row| ledger.accept(index, row))?
        } else {
            problems.remove_from(0)?;
            Journal::create(folder, &header)?
        };
        let books = Mutex::new((journal, problems));
        let shared = Shared { study: self, order: options.order, ledger: Mutex::new(ledger), moved: Condvar::new() };
        if options.threads == 1 {
            shared.work(watch, &books);
        } else {
            pool(options.threads)?.broadcast(|_| shared.work(watch, &books));
        }
        let ledger = shared.ledger.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = ledger.error {
            return Err(error);
        }
        ledger.table.finish()?;
        let mut report = ledger.tally.report(self, ledger.ending.unwrap_or(Ending::Complete));
        let (_, mut problems) = books.into_inner().unwrap_or_else(PoisonError::into_inner);
        if report.ending != Ending::Stopped {
            // Trials after the end of the study do not count.
            problems.remove_from(report.made)?;
        }
        report.problems = problems.among(report.made);
        Ok(report)
    }
}

impl MonteCarlo {
    /// Makes all trials in parallel on the threads of the calling pool and returns their report, without files: for studies whose trials
    /// fit into memory.
    pub fn report(&self) -> Report {
        let rows: Vec<Row> = (0..self.count()).into_par_iter().map(|index| self.make(index).row).collect();
        let mut tally = Tally::new(self);
        (0..).zip(&rows).for_each(|(index, row)| tally.add(self, index, row));
        tally.report(self, Ending::Complete)
    }
}

impl<'s> Shared<'s> {
    fn work(&self, watch: &dyn Watch, books: &Mutex<(Journal, Problems)>) {
        while let ControlFlow::Continue(index) = self.claim(watch) {
            let Trial { row, problem } = self.study.make_safely(index);
            let written = {
                let (journal, problems) = &mut *books.lock().unwrap_or_else(PoisonError::into_inner);
                problems.keep(index, problem).and_then(|()| journal.write(index, &row))
            };
            let mut ledger = self.lock();
            ledger.finished += 1;
            if let Err(error) = written.and_then(|()| ledger.accept(index, row)) {
                ledger.error.get_or_insert(error);
            }
            self.moved.notify_all();
        }
    }

    /// The next trial to make.
    fn claim(&self, watch: &dyn Watch) -> ControlFlow<(), u64> {
        let mut ledger = self.lock();
        loop {
            if ledger.ending.is_some() || ledger.error.is_some() {
                return ControlFlow::Break(());
            }
            if ledger.cursor >= self.study.count() {
                return ControlFlow::Break(());
            }
            let index = self.order.at(ledger.cursor, self.study.count());
            if index < ledger.committed || ledger.waiting.contains_key(&index) {
                ledger.cursor += 1;
                continue;
            }
            if ledger.cursor >= ledger.committed + WINDOW {
                // The worker that makes the first missing trial wakes the others. The time limit is for requests to stop.
                let waited = self.moved.wait_timeout(ledger, Duration::from_millis(100));
                ledger = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            if !watch.goes_on(ledger.finished) {
                ledger.ending = Some(Ending::Stopped);
                return ControlFlow::Break(());
            }
            ledger.cursor += 1;
            return ControlFlow::Continue(index);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ledger<'s>> {
        // A panic in another worker leaves the ledger in a consistent state between two trials.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Order {
    /// The trial at a place of the order.
    fn at(self, cursor: u64, count: u64) -> u64 {
        match self {
            Self::Counted => cursor,
            Self::Shuffled { seed } => {
                let start = cursor / SHUFFLED * SHUFFLED;
                start + permuted(cursor - start, SHUFFLED.min(count - start), seed ^ start)
            }
        }
    }
}

impl<'s> Ledger<'s> {
    fn new(study: &'s MonteCarlo, folder: &Path) -> Result<Self, StudyError> {
        Ok(Self {
            study,
            cursor: 0,
            committed: 0,
            finished: 0,
            waiting: BTreeMap::new(),
            table: TrialsTable::create(folder, study)?,
            tally: Tally::new(study),
            ending: None,
            error: None,
        })
    }

    /// Accepts a trial, and moves all trials that are next in order to the table and the counts.
    fn accept(&mut self, index: u64, row: Row) -> Result<(), StudyError> {
        if index >= self.study.count() || index < self.committed {
            return Ok(());
        }
        self.waiting.insert(index, row);
        while self.ending != Some(Ending::TooManyFailures)
            && let Some(row) = self.waiting.remove(&self.committed)
        {
            self.table.push(self.study, self.committed, &row)?;
            self.tally.add(self.study, self.committed, &row);
            self.committed += 1;
            if self.study.budget.failures.is_some_and(|most| self.tally.failed() > most) {
                self.ending = Some(Ending::TooManyFailures);
            }
        }
        Ok(())
    }
}
