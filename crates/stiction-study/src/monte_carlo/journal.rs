//! Journal of a study: every trial is written as soon as it is made, so that an interruption loses only the trials in progress.
//!
//! A file of lines. The first identifies the study; each other line is a trial as JSON and a checksum. An incomplete end of the file is
//! recognised by its checksum and dropped. Numbers are written as their bits.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{MonteCarlo, Row, StudyError};
use crate::{Failure, random::mix};

/// File name inside the folder of a study.
pub(super) const FILE: &str = "trials.journal";

/// Version of the format.
const VERSION: u32 = 1;

/// Largest length of a line, in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// First line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    stiction_journal: u32,
    version: String,
    study: String,
    scene: String,
    trials: u64,
    seed: u64,
    /// Number of all trials, which follows from the rest.
    #[serde(skip)]
    count: u64,
}

impl Header {
    pub(super) fn of(study: &MonteCarlo) -> Self {
        Self {
            stiction_journal: VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            study: format!("{:016x}", digest(study.study_text.as_bytes())),
            scene: format!("{:016x}", digest(study.scene_texts().as_bytes())),
            trials: study.trials,
            seed: study.seed,
            count: study.count(),
        }
    }

    /// Difference between the study of a journal and this one.
    fn difference(&self, found: &Self) -> Option<String> {
        if found.stiction_journal != self.stiction_journal || found.version != self.version {
            return Some(format!("it was made by version {}, this is {}", found.version, self.version));
        }
        let numbers = [("trials per cell", found.trials, self.trials), ("seed", found.seed, self.seed)];
        if let Some((what, then, now)) = numbers.into_iter().find(|(_, then, now)| then != now) {
            return Some(format!("its {what} was {then}, now it is {now}"));
        }
        let changed = |what| Some(format!("the {what} has changed since"));
        if found.scene != self.scene {
            changed("scene")
        } else if found.study != self.study {
            changed("study file")
        } else {
            None
        }
    }
}

/// A trial in the journal: index, success, steps, bits of metrics, reason and detail of a failure.
#[derive(Serialize, Deserialize)]
struct Entry(u64, bool, u64, Vec<u64>, Option<(String, String)>);

impl Entry {
    fn of(index: u64, row: &Row) -> Self {
        let failure = row.failure.as_ref().map(|failure| (failure.reason.clone(), failure.detail.clone()));
        Self(index, row.success, row.steps, row.metrics.iter().map(|x| x.to_bits()).collect(), failure)
    }

    fn into_row(self) -> (u64, Row) {
        let Self(index, success, steps, metrics, failure) = self;
        let failure = failure.map(|(reason, detail)| Failure { reason, detail });
        (index, Row { success, steps, metrics: metrics.into_iter().map(f64::from_bits).collect(), failure })
    }
}

/// Line of a trial, for the journal of another process.
pub(super) fn line_of(index: u64, row: &Row) -> String {
    line(&Entry::of(index, row)).unwrap_or_default()
}

/// Trial of a line, if the line is complete.
pub(super) fn row_of(line: &str) -> Option<(u64, Row)> {
    checked::<Entry>(line.as_bytes()).map(Entry::into_row)
}

/// Reads a journal line by line.
struct Reader<'p> {
    path: &'p Path,
    file: BufReader<File>,
    line: Vec<u8>,
    /// Bytes of complete lines so far.
    whole: u64,
}

impl<'p> Reader<'p> {
    /// Journal of a study and its header; `None` if there is no journal.
    fn open(path: &'p Path) -> Result<Option<(Self, Header)>, StudyError> {
        let file = match stiction::scene::open_regular(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|source| StudyError::read(path, source))?,
        };
        let mut reader = Self { path, file: BufReader::new(file), line: Vec::new(), whole: 0 };
        match reader.next()? {
            Some(header) => Ok(Some((reader, header))),
            // The first line is incomplete: nothing is lost.
            None if reader.line.last() != Some(&b'\n') => Ok(None),
            None => Err(StudyError::NotAJournal { path: path.to_path_buf() }),
        }
    }

    /// Next line, if it is complete.
    fn next<T: for<'de> Deserialize<'de>>(&mut self) -> Result<Option<T>, StudyError> {
        self.line.clear();
        let mut part = std::io::Read::take(&mut self.file, LONGEST_LINE as u64);
        let read = part.read_until(b'\n', &mut self.line);
        let length = read.map_err(|source| StudyError::read(self.path, source))?;
        let value = checked(&self.line);
        if value.is_some() {
            self.whole += length as u64;
        }
        Ok(value)
    }
}

/// Refuses a folder whose journal cannot be continued. Without `resume` it also refuses a folder that holds any trial. It changes nothing.
pub(super) fn check(folder: &Path, header: &Header, resume: bool) -> Result<(), StudyError> {
    let path = folder.join(FILE);
    let Some((mut reader, found)) = Reader::open(&path)? else { return Ok(()) };
    let difference = header.difference(&found);
    if resume {
        return difference.map_or(Ok(()), |reason| Err(StudyError::OtherStudy { path: path.clone(), reason }));
    }
    let mut made = 0;
    while reader.next::<Entry>()?.is_some() {
        made += 1;
    }
    match difference {
        _ if made == 0 => Ok(()),
        None => Err(StudyError::Present { made, count: header.count, path }),
        Some(reason) => Err(StudyError::OtherPresent { made, reason, path }),
    }
}

/// Writes the journal.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Creates a new journal, replacing an older one.
    pub(super) fn create(folder: &Path, header: &Header) -> Result<Self, StudyError> {
        let path = folder.join(FILE);
        let file = File::create(&path).map_err(|source| StudyError::write(&path, source))?;
        let mut journal = Self { path, file };
        journal.line(header)?;
        Ok(journal)
    }

    /// Continues a journal: `keep` receives its trials, and an incomplete end is removed. A folder without a journal gets a new one.
    pub(super) fn resume(
        folder: &Path,
        header: &Header,
        mut keep: impl FnMut(u64, Row) -> Result<(), StudyError>,
    ) -> Result<Self, StudyError> {
        let path = folder.join(FILE);
        let Some((mut reader, found)) = Reader::open(&path)? else { return Self::create(folder, header) };
        if let Some(reason) = header.difference(&found) {
            return Err(StudyError::OtherStudy { path, reason });
        }
        while let Some(entry) = reader.next::<Entry>()? {
            let (index, row) = entry.into_row();
            keep(index, row)?;
        }
        let whole = reader.whole;
        let opened = OpenOptions::new().write(true).open(&path).and_then(|mut file| {
            file.set_len(whole)?;
            file.seek(SeekFrom::Start(whole))?;
            Ok(file)
        });
        let file = opened.map_err(|source| StudyError::write(&path, source))?;
        Ok(Self { path, file })
    }

    /// Writes a trial. After it returns, the operating system has the data.
    pub(super) fn write(&mut self, index: u64, row: &Row) -> Result<(), StudyError> {
        self.line(&Entry::of(index, row))
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), StudyError> {
        let failed = |source| StudyError::write(&self.path, source);
        let line = line(value).map_err(|error| failed(error.into()))?;
        self.file.write_all(line.as_bytes()).map_err(failed)
    }
}

/// A value with its checksum, and the end of the line.
fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let json = serde_json::to_string(value)?;
    Ok(format!("{json} {:016x}\n", digest(json.as_bytes())))
}

/// Value of a complete line.
fn checked<T: for<'de> Deserialize<'de>>(line: &[u8]) -> Option<T> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (json, sum) = line.rsplit_once(' ')?;
    if u64::from_str_radix(sum, 16).ok()? != digest(json.as_bytes()) {
        return None;
    }
    serde_json::from_str(json).ok()
}

/// A checksum of 64 bits (FNV-1a, then mixed).
pub(super) fn digest(bytes: &[u8]) -> u64 {
    mix(bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)))
}
