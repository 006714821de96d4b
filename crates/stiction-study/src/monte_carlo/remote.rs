//! Trials that are made on other machines.
//!
//! A study is sent as its texts. A trial comes back as a [`Packet`]: its line of the journal with a checksum, and its unsolved problem. A
//! [`Collector`] writes the trials it accepts to the journal as if they had been made here. [`MonteCarlo::run`] with `resume` makes the
//! missing trials and the table. The result has the same bits, whichever machine made a trial.

use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    MonteCarlo, Row, StudyError, SweepOptions, Trial,
    journal::{self, Header, Journal},
    problems::Problems,
};
use crate::Failure;

/// A study as texts: all that a machine without its files needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parcel {
    /// Name of the study.
    pub name: String,
    /// Folder to which its file names are relative, for messages: they are part of the results of trials.
    pub folder: PathBuf,
    /// The study file.
    pub study: String,
    /// Texts of scenes, by the paths of their files.
    pub scenes: Vec<(PathBuf, String)>,
    /// Trials per cell and variant, and the seed: they may differ from those of the file.
    pub trials: u64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// A trial that was made elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// Its line of the journal.
    pub line: String,
    /// Unsolved problem, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl MonteCarlo {
    /// Makes trial number `index`; a panic in it is a failure of the trial.
    pub(super) fn make_safely(&self, index: u64) -> Trial {
        catch_unwind(AssertUnwindSafe(|| self.make(index))).unwrap_or_else(|panic| {
            let metrics = vec![f64::NAN; self.metrics.len()];
            let failure = Some(Failure::of_panic(&*panic));
            Trial { row: Row { success: false, steps: 0, metrics, failure }, problem: None }
        })
    }

    /// The study as texts.
    pub fn parcel(&self) -> Parcel {
        let mut scenes: Vec<(PathBuf, String)> = Vec::new();
        for variant in &self.variants {
            if !scenes.iter().any(|(path, _)| *path == variant.scene_path) {
                scenes.push((variant.scene_path.clone(), variant.scene_text.to_string()));
            }
        }
        Parcel {
            name: self.name.clone(),
            folder: self.folder.clone(),
            study: self.study_text.to_string(),
            scenes,
            trials: self.trials,
            seed: self.seed,
        }
    }

    /// Makes trial number `index` for another process.
    pub fn make_packet(&self, index: u64) -> Packet {
        let Trial { row, problem } = self.make_safely(index);
        Packet { line: journal::line_of(index, &row), problem }
    }

    /// Collects trials that were made elsewhere in a folder; the options apply to its contents as for [`MonteCarlo::run`].
    pub fn collect(&self, folder: &Path, options: &SweepOptions) -> Result<Collector, StudyError> {
        fs::create_dir_all(folder).map_err(|source| StudyError::write(folder, source))?;
        let header = Header::of(self);
        if options.resume || !options.replace {
            journal::check(folder, &header, options.resume)?;
        }
        let mut missing: BTreeSet<u64> = (0..self.count()).collect();
        let mut problems = Problems::open(folder);
        let journal = if options.resume {
            Journal::resume(folder, &header, |index, _| {
                missing.remove(&index);
                Ok(())
            })?
        } else {
            problems.remove_from(0)?;
            Journal::create(folder, &header)?
        };
        Ok(Collector { journal, problems, missing })
    }
}

/// Collects trials that were made elsewhere.
pub struct Collector {
    journal: Journal,
    problems: Problems,
    missing: BTreeSet<u64>,
}

impl Collector {
    /// Trials that are still missing.
    pub fn missing(&self) -> impl Iterator<Item = u64> + '_ {
        self.missing.iter().copied()
    }

    /// Accepts a trial. A trial that is present already, or that is damaged, is ignored: false.
    pub fn accept(&mut self, packet: &Packet) -> Result<bool, StudyError> {
        let Some((index, row)) = journal::row_of(&packet.line) else { return Ok(false) };
        if !self.missing.contains(&index) {
            return Ok(false);
        }
        self.problems.keep(index, packet.problem.clone())?;
        self.journal.write(index, &row)?;
        self.missing.remove(&index);
        Ok(true)
    }
}
