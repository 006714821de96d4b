//! Feeds the tables, the summary and the page while a simulation runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use stiction_multibody::Energy;
use stiction_stepping::StepReport;

use super::{
    Ending, RecordError, RunInfo, Summary,
    contacts::{self, ContactsWriter},
    summary::SummaryBuilder,
    trajectory::{self, TrajectoryWriter},
    view::ViewBuilder,
};
use crate::Simulation;

/// Names and choices that a recording carries along; none of them influences the numbers.
#[derive(Clone, Debug)]
pub struct RunLabels {
    /// Name of the scene.
    pub scene: String,
    /// Name of the scheme.
    pub preset: String,
    /// Name of the solver.
    pub solver: String,
    /// Every how many steps a row is written; 1 records all.
    pub record_every: u32,
}

/// Records a run into a folder.
///
/// Trouble with the disk never disturbs the simulation: the recorder goes quiet, keeps the summary up to date, and tells
/// once, in [`Finished::trouble`].
pub struct Recorder {
    folder: PathBuf,
    every: u64,
    /// A table is given up at its first failure; the other is then closed in an orderly way.
    trajectory: Option<TrajectoryWriter>,
    contacts: Option<ContactsWriter>,
    trouble: Option<RecordError>,
    summary: SummaryBuilder,
    view: ViewBuilder,
}

/// What a finished recording leaves.
#[derive(Debug)]
#[must_use = "a recording can fail without disturbing the run; inspect `trouble`"]
pub struct Finished {
    /// The summary, also when it could not be written.
    pub summary: Summary,
    /// The files that are complete.
    pub files: Vec<PathBuf>,
    /// The first thing that went wrong with the files.
    pub trouble: Option<RecordError>,
}

/// The four files of a run, in the order they are written.
const FILES: [&str; 4] = [trajectory::FILE, contacts::FILE, "summary.json", "view.html"];

impl Recorder {
    /// Makes the folder, removes the files of an older run in it, and records the initial state.
    pub fn create(folder: &Path, labels: &RunLabels, simulation: &Simulation) -> Result<Self, RecordError> {
        fs::create_dir_all(folder).map_err(|source| RecordError::write(folder, source))?;
        for name in FILES {
            remove_if_there(&folder.join(name))?;
        }
        let (model, energy) = (simulation.model(), simulation.energy());
        let info = RunInfo::new(&labels.scene, simulation.step_size(), model);
        let mut trajectory = TrajectoryWriter::create(folder, &info)?;
        trajectory.push(model, simulation.state(), &energy, None)?;
        let contacts = ContactsWriter::create(folder, &labels.scene)?;
        let mut view = ViewBuilder::new(&info, labels, model);
        view.push(simulation, &energy);
        Ok(Self {
            folder: folder.to_path_buf(),
            every: u64::from(labels.record_every.max(1)),
            trajectory: Some(trajectory),
            contacts: Some(contacts),
            trouble: None,
            summary: SummaryBuilder::new(&info, labels, &energy),
            view,
        })
    }

    /// Takes note of a step the simulation has just made.
    pub fn record(&mut self, simulation: &Simulation, report: &StepReport) {
        let energy = simulation.energy();
        self.summary.step(simulation.model(), &energy, report, simulation.events());
        self.view.push(simulation, &energy);
        if self.trouble.is_none() && simulation.state().step.is_multiple_of(self.every) {
            self.write_rows(simulation, &energy, report);
        }
    }

    fn write_rows(&mut self, simulation: &Simulation, energy: &Energy, report: &StepReport) {
        let (model, state) = (simulation.model(), simulation.state());
        if let Some(table) = &mut self.trajectory
            && let Err(error) = table.push(model, state, energy, Some(report))
        {
            self.trouble = Some(error);
            self.trajectory = None;
            return;
        }
        if let Some(table) = &mut self.contacts
            && let Err(error) =
                simulation.contacts().iter().try_for_each(|contact| table.push(model, state.step, state.time, contact))
        {
            self.trouble = Some(error);
            self.contacts = None;
        }
    }

    /// The first thing that went wrong with the files so far.
    pub fn trouble(&self) -> Option<&RecordError> {
        self.trouble.as_ref()
    }

    /// Closes the tables and writes the summary and the page. `wall_seconds` is what the run took, for those who read.
    pub fn finish(self, simulation: &Simulation, wall_seconds: f64, ending: Ending) -> Finished {
        let Self { folder, trajectory, contacts, mut trouble, summary, mut view, .. } = self;
        let summary = summary.finish(simulation.model(), simulation.state(), wall_seconds, ending);
        let mut files = Vec::new();
        let mut keep = |written: Result<PathBuf, RecordError>| match written {
            Ok(path) => files.push(path),
            Err(error) => drop(trouble.get_or_insert(error)),
        };
        trajectory.map(TrajectoryWriter::finish).into_iter().for_each(&mut keep);
        contacts.map(ContactsWriter::finish).into_iter().for_each(&mut keep);
        let [.., summary_file, view_file] = FILES.map(|name| folder.join(name));
        keep(summary_json(&summary, &summary_file).and_then(|text| write_text(summary_file, &text)));
        view.push_last(simulation);
        keep(view.page(&summary, &view_file).and_then(|text| write_text(view_file, &text)));
        Finished { summary, files, trouble }
    }
}

fn summary_json(summary: &Summary, path: &Path) -> Result<String, RecordError> {
    let text = serde_json::to_string_pretty(summary);
    text.map(|text| text + "\n").map_err(|error| RecordError::Encode { path: path.into(), reason: error.to_string() })
}

/// Writes under a temporary name and renames, so that a reader sees the whole file or none.
fn write_text(path: PathBuf, text: &str) -> Result<PathBuf, RecordError> {
    let mut temporary = path.clone().into_os_string();
    temporary.push(".part");
    let temporary = PathBuf::from(temporary);
    // Files are what this module is for.
    #[allow(clippy::disallowed_methods)]
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &path));
    written.map(|()| path).map_err(|source| RecordError::write(&temporary, source))
}

fn remove_if_there(path: &Path) -> Result<(), RecordError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(RecordError::write(path, source)),
        _ => Ok(()),
    }
}
