//! `stiction sweep`: runs the trials of a study and summarises them.

mod figures;
mod monte_carlo;
mod monte_carlo_table;
pub(crate) mod page;
mod push;
mod push_table;
mod verification;
mod verification_table;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use stiction_study::{Study, Watch};

use crate::{arguments::SweepOptions, failure::Failure, progress::Progress, signals};

pub(crate) fn run(options: &SweepOptions) -> Result<(), Failure> {
    let study = stiction_study::load(&options.study)?;
    if options.naive && !matches!(study, Study::Verification(_)) {
        return Err(Failure::input("`--naive` is for studies of the kind `verification`"));
    }
    if options.max_seconds.is_some() && !matches!(study, Study::MonteCarlo(_)) {
        return Err(Failure::input("`--max-seconds` is for studies of the kind `monte-carlo`"));
    }
    match study {
        Study::Push(study) => push::run(*study, options),
        Study::MonteCarlo(study) => monte_carlo::run(*study, options),
        Study::Verification(study) => verification::run(*study, options),
        _ => Err(Failure::not_yet("this kind of study")),
    }
}

/// Creates the folder of the results.
fn folder_of(options: &SweepOptions, study: &str) -> Result<PathBuf, Failure> {
    let folder = options.out.clone().unwrap_or_else(|| Path::new("out").join(study));
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::input(format!("cannot write {}: {error}", folder.display()))
            .with_help("choose a folder that can be written with --out DIR")
    })?;
    Ok(folder)
}

/// Progress bar, Ctrl-C and time limit.
pub(crate) struct Observer {
    progress: Mutex<Progress>,
    stop: Arc<AtomicBool>,
    started: Instant,
    limit: Option<Duration>,
}

impl Observer {
    /// Creates an observer of this amount of work, counted in this unit.
    pub(crate) fn new((work, unit): (u64, &'static str), limit: Option<Duration>) -> Result<Self, Failure> {
        let progress = Mutex::new(Progress::new(work, unit));
        Ok(Self { progress, stop: signals::stop_on_signals()?, started: Instant::now(), limit })
    }

    /// True if the time limit is exceeded.
    fn is_late(&self) -> bool {
        self.limit.is_some_and(|limit| self.started.elapsed() >= limit)
    }
}

impl Watch for Observer {
    fn goes_on(&self, finished: u64) -> bool {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).at(finished);
        !self.stop.load(Ordering::Relaxed) && !self.is_late()
    }
}
