//! Writes the tables and the summary during a simulation, and the page at the end.

use std::{
    fs,
    path::{Path, PathBuf},
};

use stiction_multibody::Energy;
use stiction_scene::Scene;
use stiction_stepping::{Method, StepReport};

use super::{
    Ending, RecordError, RunInfo, Summary,
    contacts::{self, ContactsWriter},
    summary::SummaryBuilder,
    trajectory::{self, TrajectoryWriter},
    view::{ViewLimits, view_page},
};
use crate::Simulation;

/// Labels and options of a recording; none of them affects the numbers.
#[derive(Clone, Debug)]
pub struct RunLabels {
    /// Name of the scene.
    pub scene: String,
    /// Name of the scheme.
    pub preset: String,
    /// Name of the solver.
    pub solver: String,
    /// Number of steps per recorded row; 1 records all.
    pub record_every: u32,
}

impl RunLabels {
    /// Labels of a scene that is simulated as by [`Simulation::from_scene`].
    pub fn of(scene: &Scene) -> Self {
        let settings = &scene.settings;
        let solver = match settings.scheme.method {
            Method::Reference => EVENT_DRIVEN,
            Method::TimeStepping | Method::MoreauJean => "ladder",
        };
        Self {
            scene: scene.name.clone(),
            preset: settings.preset.name().to_owned(),
            solver: solver.to_owned(),
            record_every: settings.record_every,
        }
    }
}

/// Solver name in recordings of the event-driven reference scheme.
pub const EVENT_DRIVEN: &str = "event-driven";

/// Records a run into a folder.
///
/// Write errors never disturb the simulation. After the first one the recorder writes no more rows, keeps the summary up to date,
/// and reports the error once, in [`Finished::trouble`].
pub struct Recorder {
    folder: PathBuf,
    every: u64,
    /// Dropped at the first error; the files stay readable up to the last row group.
    tables: Option<Tables>,
    trouble: Option<RecordError>,
    summary: SummaryBuilder,
    makes_page: bool,
}

/// The two tables, which grow together.
struct Tables {
    trajectory: TrajectoryWriter,
    contacts: ContactsWriter,
}

/// Result of a finished recording.
#[derive(Debug)]
#[must_use = "a recording can fail without disturbing the run; inspect `trouble`"]
pub struct Finished {
    /// Summary, also if it could not be written.
    pub summary: Summary,
    /// Complete files.
    pub files: Vec<PathBuf>,
    /// First write error.
    pub trouble: Option<RecordError>,
}

/// The four files of a run, in the order they are written.
const FILES: [&str; 4] = [trajectory::FILE, contacts::FILE, "summary.json", "view.html"];

impl Recorder {
    /// Files of a run in this folder, which [`Self::create`] removes and then writes.
    pub fn files(folder: &Path) -> [PathBuf; 4] {
        FILES.map(|name| folder.join(name))
    }

    /// Creates the folder, removes the files of an older run in it, and records the initial state.
    pub fn create(folder: &Path, labels: &RunLabels, simulation: &Simulation) -> Result<Self, RecordError> {
        fs::create_dir_all(folder).map_err(|source| RecordError::write(folder, source))?;
        for name in FILES {
            remove_if_there(&folder.join(name))?;
        }
        let (model, energy) = (simulation.model(), simulation.energy());
        let info = RunInfo::new(&labels.scene, simulation.step_size(), model, simulation.scheme());
        let mut trajectory = TrajectoryWriter::create(folder, &info)?;
        trajectory.push(simulation, &energy, None);
        let contacts = ContactsWriter::create(folder, &labels.scene, model.has_layers())?;
        let mut summary = SummaryBuilder::new(&info, labels, &energy);
        if let Ok(start) = simulation.infeasibility() {
            summary.see_start(&start);
        }
        if simulation.state().step == 0 {
            summary.see_scene(simulation);
        }
        Ok(Self {
            folder: folder.to_path_buf(),
            every: u64::from(labels.record_every.max(1)),
            tables: Some(Tables { trajectory, contacts }),
            trouble: None,
            summary,
            makes_page: true,
        })
    }

    /// Omits the page; [`view_page`] can create it from the folder later.
    pub fn without_page(self) -> Self {
        Self { makes_page: false, ..self }
    }

    /// Records a step that the simulation has just made.
    pub fn record(&mut self, simulation: &Simulation, report: &StepReport) {
        let energy = simulation.energy();
        self.summary.step(simulation, &energy, report);
        if let Some(uniqueness) = simulation.uniqueness() {
            self.summary.see_uniqueness(report.time, &uniqueness);
        }
        if simulation.state().step.is_multiple_of(self.every)
            && let Some(tables) = &mut self.tables
            && let Err(error) = tables.push(simulation, &energy, report)
        {
            self.trouble = Some(error);
            self.tables = None;
        }
    }

    /// First write error so far.
    pub fn trouble(&self) -> Option<&RecordError> {
        self.trouble.as_ref()
    }

    /// Closes the tables and writes the summary and the page. `wall_seconds` is the wall-clock time of the run, for the summary.
    pub fn finish(self, simulation: &Simulation, wall_seconds: f64, ending: Ending) -> Finished {
        let Self { folder, tables, mut trouble, summary, makes_page, .. } = self;
        let summary = summary.finish(simulation, wall_seconds, ending);
        let mut files = Vec::new();
        let mut keep = |written: Result<PathBuf, RecordError>| match written {
            Ok(path) => files.push(path),
            Err(error) => drop(trouble.get_or_insert(error)),
        };
        if let Some(Tables { trajectory, contacts }) = tables {
            let contacts = contacts.finish();
            keep(trajectory.finish());
            keep(contacts);
        }
        let [.., summary_file, view_file] = FILES.map(|name| folder.join(name));
        keep(summary_json(&summary, &summary_file).and_then(|text| write_text(summary_file, &text)));
        if makes_page {
            keep(page(&folder, &view_file).and_then(|text| write_text(view_file, &text)));
        }
        Finished { summary, files, trouble }
    }
}

impl Tables {
    /// Adds the rows of a step. A full group of contacts is written alone, a full group of the trajectory after its contacts.
    /// Therefore every moment in a truncated trajectory has its contacts.
    fn push(&mut self, simulation: &Simulation, energy: &Energy, report: &StepReport) -> Result<(), RecordError> {
        let (model, state) = (simulation.model(), simulation.state());
        self.trajectory.push(simulation, energy, Some(report));
        for contact in simulation.contacts() {
            self.contacts.push(model, state.step, state.time, contact);
        }
        if self.trajectory.is_full() {
            self.contacts.flush()?;
            self.trajectory.flush()?;
        } else if self.contacts.is_full() {
            self.contacts.flush()?;
        }
        Ok(())
    }
}

/// Creates the page of the recording in the folder.
fn page(folder: &Path, path: &Path) -> Result<String, RecordError> {
    view_page(&[folder], &ViewLimits::default()).map_err(|error| RecordError::encode(path, &error))
}

fn summary_json(summary: &Summary, path: &Path) -> Result<String, RecordError> {
    let text = serde_json::to_string_pretty(summary);
    text.map(|text| text + "\n").map_err(|error| RecordError::encode(path, &error))
}

/// Writes to a temporary file and renames it, so that a reader sees the whole file or none.
fn write_text(path: PathBuf, text: &str) -> Result<PathBuf, RecordError> {
    let mut temporary = path.clone().into_os_string();
    temporary.push(".part");
    let temporary = PathBuf::from(temporary);
    // Writing files is the purpose of this module.
    #[allow(clippy::disallowed_methods)]
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &path));
    written.map(|()| path).map_err(|source| {
        // Removes an incomplete file, which may not exist.
        let _ = fs::remove_file(&temporary);
        RecordError::write(&temporary, source)
    })
}

fn remove_if_there(path: &Path) -> Result<(), RecordError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(RecordError::write(path, source)),
        _ => Ok(()),
    }
}
