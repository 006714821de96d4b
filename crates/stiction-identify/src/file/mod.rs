//! Identification files: a scene, recordings, and unknown parameters.

mod bytes;
mod csv;
mod frame;
mod parquet_table;
mod plausible;
mod recordings;
mod table;
mod tables;
mod tracks;
mod unit;
mod unknowns;

pub use bytes::read_bytes;

use std::path::{Path, PathBuf};

use stiction::{
    Simulation,
    scene::{self, Reading, RobotOptions, SceneError, schema_of},
};

use crate::{Identification, Target, identification::HeldOut, shooting::FitOptions};
use recordings::Reader;
pub use tables::Method;
use tables::{IdentificationFile, IdentificationTable};

/// Identifier of the schema, for tools that keep several.
const ID: &str = "urn:stiction:identification";

/// Number of rows that the start of a predicted motion is fitted to.
const START_ROWS: usize = 10;

/// Error in a value of the file: its keys, the reason, and a hint.
#[derive(Debug)]
struct FieldError {
    keys: Vec<String>,
    reason: String,
    hint: Option<String>,
}

impl FieldError {
    fn new(keys: &[&str], reason: impl Into<String>) -> Self {
        Self { keys: keys.iter().map(|key| (*key).to_owned()).collect(), reason: reason.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Error about a value inside another.
    fn inside(mut self, keys: &[&str]) -> Self {
        self.keys.splice(0..0, keys.iter().map(|key| (*key).to_owned()));
        self
    }

    fn placed(self, reading: &Reading<IdentificationFile>) -> SceneError {
        let keys: Vec<_> = self.keys.iter().map(String::as_str).collect();
        let error = reading.error(&keys, self.reason);
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// The JSON Schema of identification files.
pub fn schema() -> serde_json::Value {
    schema_of::<IdentificationFile>(ID)
}

/// Reads an identification, its scene and its recordings; `read` returns the bytes of a recording, or the reason why it cannot be read.
pub fn load(
    path: impl AsRef<Path>,
    read: &dyn Fn(&Path) -> Result<Vec<u8>, String>,
) -> Result<Identification, SceneError> {
    let path = path.as_ref();
    let reading = Reading::<IdentificationFile>::load(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let scene_path = folder.join(&reading.value.identification.scene);
    let text = scene::text_of(&scene_path, &RobotOptions::default()).map_err(|error| {
        if error.span.is_some() {
            return error;
        }
        // The scene file could not be read: the error is in this file.
        let reason = format!("the scene {} {}", scene_path.display(), error.message);
        reading.error(&["identification", "scene"], reason)
    })?;
    let name = path.file_stem().map_or_else(|| "identification".to_owned(), |stem| stem.to_string_lossy().into_owned());
    understood(&reading, (name, scene_path, text.text), &Reader { folder, read })
}

fn understood(
    reading: &Reading<IdentificationFile>,
    (name, scene_path, text): (String, PathBuf, String),
    reader: &Reader,
) -> Result<Identification, SceneError> {
    let placed = |field_error: FieldError| field_error.placed(reading);
    let file = &reading.value;
    let options = options(&file.identification).map_err(placed)?;
    let methods = methods(&file.identification).map_err(placed)?;
    let parameters = unknowns::parameters(&file.unknowns).map_err(placed)?;
    let target = Target { text, file_name: scene_path.display().to_string(), parameters };
    let scene = target.scene(&target.starts()).map_err(|error| unknowns::error_in_unknowns(&target, reading, error))?;
    let simulation = Simulation::from_scene(&scene)
        .map_err(|error| reading.error(&["identification", "scene"], error.to_string()))?;
    let (mut recordings, mut held_out, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (k, table) in file.recording.iter().enumerate() {
        let index = k.to_string();
        let found = reader.recordings(&simulation, table, &mut notes);
        recordings.extend(found.map_err(|field_error| placed(field_error.inside(&["recording", &index])))?);
        if table.start_rows.is_some() {
            let reason = "`start_rows` is for recordings that are predicted";
            return Err(reading.error(&["recording", &index, "start_rows"], reason));
        }
    }
    for (k, table) in file.predict.iter().enumerate() {
        let index = k.to_string();
        let found = reader.recordings(&simulation, table, &mut notes);
        let start_rows = table.start_rows.map_or(START_ROWS, |rows| rows as usize);
        for recording in found.map_err(|field_error| placed(field_error.inside(&["predict", &index])))? {
            if recording.times.len() <= start_rows {
                let rows = recording.times.len();
                let reason =
                    format!("{} has {rows} rows, and the start takes {start_rows}: nothing is left", recording.name);
                return Err(reading.error(&["predict", &index], reason));
            }
            held_out.push(HeldOut { recording, start_rows });
        }
    }
    let identification = Identification {
        name,
        scene_path,
        target,
        recordings,
        held_out,
        methods,
        options,
        rows_per_run: file.identification.rows_per_run.map(|rows| rows as usize),
        windows: file.identification.windows.iter().flatten().map(|rows| *rows as usize).collect(),
        notes,
    };
    enough(&identification, &simulation).map_err(placed)?;
    Ok(identification)
}

fn options(table: &IdentificationTable) -> Result<FitOptions, FieldError> {
    let usual = FitOptions::default();
    let huber = table.huber.unwrap_or(usual.huber);
    if huber.is_nan() || huber <= 0.0 {
        return Err(FieldError::new(&["identification", "huber"], format!("`huber` must be positive, but is {huber}")));
    }
    Ok(FitOptions {
        huber,
        iterations: table.iterations.unwrap_or(usual.iterations),
        free_starts: table.free_starts.unwrap_or(usual.free_starts),
        ..usual
    })
}

/// Methods in their order, each once.
fn methods(table: &IdentificationTable) -> Result<Vec<Method>, FieldError> {
    let first = table.method.unwrap_or(Method::Shooting);
    let mut methods = vec![first];
    let further = table.compare.iter().flatten().enumerate();
    for (index, method) in further {
        if !methods.contains(method) {
            available(*method).map_err(|c| c.inside(&["identification", "compare", &index.to_string()]))?;
            methods.push(*method);
        }
    }
    available(first).map_err(|field_error| field_error.inside(&["identification", "method"]))?;
    for (index, rows) in table.windows.iter().flatten().enumerate() {
        if *rows == 0 {
            let keys = ["identification", "windows", &index.to_string()];
            return Err(FieldError::new(&keys, "a window has one row before the last at least, so 1 or more"));
        }
    }
    Ok(methods)
}

/// Checks that a method is available; `Identification::run` runs it.
fn available(method: Method) -> Result<(), FieldError> {
    if method.is_available() {
        return Ok(());
    }
    let known: Vec<_> = Method::ALL.into_iter().filter(|method| method.is_available()).map(Method::word).collect();
    Err(FieldError::new(&[], format!("the method `{}` is not in this build", method.word()))
        .hint(format!("methods of this build: {}", known.join(", "))))
}

/// Checks that there are more measured numbers than unknowns.
fn enough(identification: &Identification, simulation: &Simulation) -> Result<(), FieldError> {
    let runs = identification.segments();
    let bodies = |recording: &crate::Recording| {
        let model = simulation.model();
        let mut free: Vec<usize> = recording
            .tracks
            .iter()
            .filter_map(|track| Some(model.unknowns(model.find_body(&track.body)?)?.1))
            .flatten()
            .collect();
        free.sort_unstable();
        free.dedup();
        2 * free.len()
    };
    let of = |segment: &crate::Segment| identification.recordings.get(segment.recording);
    let measured: usize =
        runs.iter().filter_map(|segment| Some(of(segment)?.numbers(segment.first..segment.last + 1))).sum();
    let starts: usize = if identification.options.free_starts {
        runs.iter().filter_map(|segment| Some(bodies(of(segment)?))).sum()
    } else {
        0
    };
    let parameters = identification.target.parameters.len();
    if measured < parameters + starts {
        let reason = format!(
            "too few points: {measured} measured numbers do not determine {parameters} unknowns and {starts} numbers of starts"
        );
        let hint = "measure more rows, reduce the unknowns, or use the measured starts: free_starts = false";
        return Err(FieldError::new(&["recording", "0"], reason).hint(hint));
    }
    Ok(())
}
