//! The tables of a run by the names of their columns, read when asked for.

use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
};

use super::{
    RecordingError, RunInfo, Summary, contacts, error::presentable, recording::read_info, table::Kind,
    table_reader::TableReader, trajectory,
};

/// Largest `summary.json` that is read, in bytes.
const LARGEST_SUMMARY: u64 = 64 << 20;

/// The two tables of a run. Opening reads their footers only; a column is read when it is asked for.
pub struct RunTables {
    folder: PathBuf,
    info: RunInfo,
    trajectory: TableReader,
    contacts: TableReader,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Counts and numbers of things.
    Integer,
    /// Real numbers.
    Real,
    /// Words.
    Text,
}

/// The values of a column.
#[derive(Clone, Debug)]
pub enum Column {
    /// Counts and numbers of things.
    Integers(Vec<i64>),
    /// Real numbers, to the bit.
    Reals(Vec<f64>),
    /// Words.
    Texts(Words),
}

/// A column of words, each different word stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The different words, in order of appearance; bytes that are not UTF-8 are replaced.
    pub words: Vec<String>,
    /// For each row the index of its word.
    pub rows: Vec<usize>,
}

impl Words {
    /// The word of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.words.get(*self.rows.get(row)?).map(String::as_str)
    }
}

impl RunTables {
    /// Opens the tables in `folder`. Of files that were cut off it reads what is whole; refuses those that are damaged,
    /// foreign or of another layout.
    pub fn open(folder: &Path) -> Result<Self, RecordingError> {
        let [path, contacts] = [trajectory::FILE, contacts::FILE].map(|name| folder.join(name));
        let trajectory = TableReader::open(&path)?;
        let info = read_info(&trajectory, &path)?;
        Ok(Self { folder: folder.to_path_buf(), info, trajectory, contacts: TableReader::open(&contacts)? })
    }

    /// The folder they are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Scene, step size, dimension and bodies.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Whether the recording was cut off while it was written; what is here came before the cut.
    pub fn is_cut(&self) -> bool {
        self.trajectory.is_cut()
    }

    /// Number of recorded moments, the initial state included.
    pub fn frames(&self) -> usize {
        self.trajectory.rows()
    }

    /// Number of rows of the contact table.
    pub fn contact_rows(&self) -> usize {
        self.contacts.rows()
    }

    /// Columns of the trajectory, one row per recorded moment.
    pub fn columns(&self) -> Vec<(&str, ColumnKind)> {
        kinds(&self.trajectory)
    }

    /// Columns of the contact table, one row per contact and recorded moment.
    pub fn contact_columns(&self) -> Vec<(&str, ColumnKind)> {
        kinds(&self.contacts)
    }

    /// A column of the trajectory.
    pub fn column(&self, name: &str) -> Result<Column, RecordingError> {
        read(&self.trajectory, name)
    }

    /// A column of the contact table.
    pub fn contact_column(&self, name: &str) -> Result<Column, RecordingError> {
        read(&self.contacts, name)
    }

    /// For each recorded moment the rows of its contacts; both tables are in the order of their steps.
    pub fn contacts_of_frames(&self) -> Result<Vec<Range<usize>>, RecordingError> {
        let (frames, steps) = (self.trajectory.integers("step")?, self.contacts.integers("step")?);
        let rows = |step: &i64| {
            let start = steps.partition_point(|other| other < step);
            start..steps.partition_point(|other| other <= step).max(start)
        };
        Ok(frames.iter().map(rows).collect())
    }

    /// The summary beside the tables; a run that was cut off has none.
    pub fn summary(&self) -> Result<Summary, RecordingError> {
        let path = self.folder.join("summary.json");
        let unreadable = |source| RecordingError::Read { path: path.clone(), source };
        let foreign = |reason: String| RecordingError::Foreign { path: path.clone(), reason };
        if !fs::metadata(&path).map_err(unreadable)?.is_file() {
            return Err(foreign("it is not an ordinary file".to_owned()));
        }
        let file = fs::File::open(&path).map_err(unreadable)?;
        let mut text = String::new();
        file.take(LARGEST_SUMMARY + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > LARGEST_SUMMARY {
            return Err(foreign(format!("it is longer than {} MiB", LARGEST_SUMMARY >> 20)));
        }
        serde_json::from_str(&text).map_err(|error| foreign(presentable(&error.to_string())))
    }
}

fn kinds(table: &TableReader) -> Vec<(&str, ColumnKind)> {
    let known = |(name, kind): (_, Option<Kind>)| {
        let kind = match kind? {
            Kind::Integer => ColumnKind::Integer,
            Kind::Real => ColumnKind::Real,
            Kind::Text => ColumnKind::Text,
        };
        Some((name, kind))
    };
    table.columns().filter_map(known).collect()
}

fn read(table: &TableReader, name: &str) -> Result<Column, RecordingError> {
    match table.columns().find(|(known, _)| *known == name) {
        Some((_, Some(Kind::Integer))) => table.integers(name).map(Column::Integers),
        Some((_, Some(Kind::Text))) => Ok(Column::Texts(words(table, name)?)),
        // A missing column, or one of a foreign kind, is refused by the reader with its name.
        _ => table.reals(name).map(Column::Reals),
    }
}

fn words(table: &TableReader, name: &str) -> Result<Words, RecordingError> {
    let mut known: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut words = Words::default();
    for value in table.texts(name)? {
        let index = if let Some(index) = known.get(value.data()) {
            *index
        } else {
            known.insert(value.data().to_vec(), words.words.len());
            words.words.push(String::from_utf8_lossy(value.data()).into_owned());
            words.words.len() - 1
        };
        words.rows.push(index);
    }
    Ok(words)
}
