//! Log of evaluations on disk: one line of JSON each, appended as they are made.
//!
//! The first line identifies the design. An interruption can damage only the last line, which is removed when the log is opened again. The
//! order of the lines depends on the threads, their contents do not.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::{Design, Evaluation};
use crate::{Failure, Outcome};

/// Evaluations that were made, in memory and optionally in a file.
#[derive(Debug, Default)]
pub struct Log {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Key: bits of the parameters.
    known: BTreeMap<Vec<u64>, Outcome<Evaluation>>,
    /// Number of evaluations that were in the file when it was opened.
    found: usize,
    file: Option<(PathBuf, File)>,
    trouble: Option<LogError>,
}

/// Errors of a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Reason.
        source: io::Error,
    },
    /// The evaluations belong to another design.
    #[error("{path} holds evaluations of another design: {reason}")]
    Other {
        /// The file.
        path: PathBuf,
        /// Difference.
        reason: String,
    },
}

/// The first line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    /// Version of the program.
    stiction: String,
    /// Name of the design.
    design: String,
    /// Digest of all inputs of an evaluation.
    digest: String,
}

/// Any other line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    parameters: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<[String; 2]>,
}

impl Log {
    /// Creates a new log; an older file of this name is replaced.
    pub fn create(path: &Path, design: &Design) -> Result<Self, LogError> {
        let unwritten = |source| LogError::Io { path: path.to_path_buf(), source };
        let mut file = File::create(path).map_err(unwritten)?;
        write_line(&mut file, &Header::of(design)).map_err(unwritten)?;
        Ok(Self::with(BTreeMap::new(), path, file))
    }

    /// Continues a log: the evaluations in the file are known. Without a file it creates a new one.
    pub fn resume(path: &Path, design: &Design) -> Result<Self, LogError> {
        let unread = |source| LogError::Io { path: path.to_path_buf(), source };
        let mut file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::create(path, design),
            opened => opened.map_err(unread)?,
        };
        let mut known = BTreeMap::new();
        let mut whole = 0;
        let mut reader = BufReader::new(&mut file);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).map_err(unread)? > 0 && bytes.ends_with(b"\n") {
            if whole == 0 {
                Header::of(design).check(&bytes, path)?;
            } else if let Some((key, outcome)) = Line::read(&bytes) {
                known.insert(key, outcome);
            } else {
                break;
            }
            whole += bytes.len() as u64;
            bytes.clear();
        }
        drop(reader);
        if whole == 0 {
            return Self::create(path, design);
        }
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::Start(whole))).map_err(unread)?;
        Ok(Self::with(known, path, file))
    }

    fn with(known: BTreeMap<Vec<u64>, Outcome<Evaluation>>, path: &Path, file: File) -> Self {
        let file = Some((path.to_path_buf(), file));
        Self { inner: Mutex::new(Inner { found: known.len(), known, file, trouble: None }) }
    }

    /// Number of known evaluations.
    pub fn len(&self) -> usize {
        self.lock().known.len()
    }

    /// True if no evaluation is known.
    pub fn is_empty(&self) -> bool {
        self.lock().known.is_empty()
    }

    /// Number of evaluations that were in the file when it was opened.
    pub fn found(&self) -> usize {
        self.lock().found
    }

    /// Error of the file, if any. Evaluations are still kept in memory.
    pub fn trouble(&self) -> Option<String> {
        self.lock().trouble.as_ref().map(ToString::to_string)
    }

    /// All known evaluations, one line each, for [`Self::add_line`] of another log.
    pub fn lines(&self) -> Vec<String> {
        let line = |(key, outcome): (&Vec<u64>, &Outcome<Evaluation>)| {
            let parameters: Vec<f64> = key.iter().map(|bits| f64::from_bits(*bits)).collect();
            serde_json::to_string(&Line::of(&parameters, outcome)).unwrap_or_default()
        };
        self.lock().known.iter().map(line).collect()
    }

    /// Adds an evaluation that was made elsewhere; a damaged line is ignored.
    pub fn add_line(&self, line: &str) {
        if let Some((key, outcome)) = Line::read(line.as_bytes()) {
            let parameters: Vec<f64> = key.iter().map(|bits| f64::from_bits(*bits)).collect();
            self.add(&parameters, &outcome);
        }
    }

    /// Evaluation at these parameters, if it is known.
    pub(super) fn get(&self, parameters: &[f64]) -> Option<Outcome<Evaluation>> {
        self.lock().known.get(&key(parameters)).cloned()
    }

    /// Adds an evaluation.
    pub(super) fn add(&self, parameters: &[f64], outcome: &Outcome<Evaluation>) {
        let mut inner = self.lock();
        if inner.known.insert(key(parameters), outcome.clone()).is_some() {
            return;
        }
        let Some((path, file)) = &mut inner.file else { return };
        if let Err(source) = write_line(file, &Line::of(parameters, outcome)) {
            let trouble = LogError::Io { path: path.clone(), source };
            (inner.file, inner.trouble) = (None, Some(trouble));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Header {
    fn of(design: &Design) -> Self {
        let stiction = env!("CARGO_PKG_VERSION").to_owned();
        Self { stiction, design: design.name.clone(), digest: format!("{:016x}", design.digest()) }
    }

    fn check(&self, line: &[u8], path: &Path) -> Result<(), LogError> {
        let other = |reason: String| Err(LogError::Other { path: path.to_path_buf(), reason });
        let Ok(found) = serde_json::from_slice::<Self>(line) else {
            return other("its first line is no header of a log".to_owned());
        };
        if found.stiction != self.stiction {
            return other(format!("made with version {}, this is {}", found.stiction, self.stiction));
        }
        if found.digest != self.digest {
            return other("the scene, the runs, the parameters or the terms have changed".to_owned());
        }
        Ok(())
    }
}

impl Line {
    fn of(parameters: &[f64], outcome: &Outcome<Evaluation>) -> Self {
        let parameters = parameters.to_vec();
        match outcome {
            Outcome::Done(evaluation) => Self { parameters, values: Some(evaluation.values.clone()), failed: None },
            Outcome::Failed(Failure { reason, detail }) => {
                Self { parameters, values: None, failed: Some([reason.clone(), detail.clone()]) }
            }
        }
    }

    fn read(bytes: &[u8]) -> Option<(Vec<u64>, Outcome<Evaluation>)> {
        let Self { parameters, values, failed } = serde_json::from_slice(bytes).ok()?;
        let outcome = match (values, failed) {
            (Some(values), _) => Outcome::Done(Evaluation { values }),
            (None, Some([reason, detail])) => Outcome::Failed(Failure { reason, detail }),
            (None, None) => return None,
        };
        Some((key(&parameters), outcome))
    }
}

impl Design {
    /// Digest of all inputs of an evaluation (FNV-1a of 64 bits), without the method and the budget.
    fn digest(&self) -> u64 {
        let parameters: Vec<_> = self.parameters.iter().map(|p| (&p.name, &p.path)).collect();
        let formulas: Vec<_> = self.formulas.iter().map(|(path, formula)| (path, formula.text())).collect();
        let terms: Vec<_> = self.terms.iter().map(|term| (&term.name, term.measure.text(), term.weight)).collect();
        let text = format!(
            "{}\n{parameters:?}\n{formulas:?}\n{:?}\n{terms:?}\n{}",
            self.scene_text, self.runs, self.record_every
        );
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

fn key(parameters: &[f64]) -> Vec<u64> {
    parameters.iter().map(|x| x.to_bits()).collect()
}

/// Writes one line in one call, so that it is written completely or not at all.
fn write_line(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    file.write_all(text.as_bytes())
}
