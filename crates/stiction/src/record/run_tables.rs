//! Tables of a run by the names of their columns, read on demand.

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

/// Largest `summary.json` that is read, bytes.
const LARGEST_SUMMARY: u64 = 64 << 20;

/// The two tables of a run. Opening reads only their footers; a column is read on demand.
pub struct RunTables {
    folder: PathBuf,
    info: RunInfo,
    trajectory: TableReader,
    contacts: TableReader,
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Counts and indices.
    Integer,
    /// Real numbers.
    Real,
    /// Text.
    Text,
}

/// Values of a column.
#[derive(Clone, Debug)]
pub enum Column {
    /// Counts and indices.
    Integers(Vec<i64>),
    /// Real numbers, bit for bit.
    Reals(Vec<f64>),
    /// Text.
    Texts(Words),
}

/// A text column that stores each distinct value once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Distinct values in order of appearance; bytes that are not UTF-8 are replaced.
    pub words: Vec<String>,
    /// Index of the value of each row.
    pub rows: Vec<usize>,
}

impl Words {
    /// Value of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.words.get(*self.rows.get(row)?).map(String::as_str)
    }
}

impl RunTables {
    /// Opens the tables in `folder`. Truncated files are read up to the last complete part. Damaged files, files of other programs and other
    /// layouts are rejected.
    pub fn open(folder: &Path) -> Result<Self, RecordingError> {
        let [path, contacts] = [trajectory::FILE, contacts::FILE].map(|name| folder.join(name));
        let trajectory = TableReader::open(&path)?;
        let info = read_info(&trajectory, &path)?;
        Ok(Self { folder: folder.to_path_buf(), info, trajectory, contacts: TableReader::open(&contacts)? })
    }

    /// Folder of the tables.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Scene, step size, dimension and bodies.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// True if the recording was truncated while it was written; the remaining part is valid.
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

    /// Row ranges of the contacts of each recorded moment; both tables are sorted by step.
    pub fn contacts_of_frames(&self) -> Result<Vec<Range<usize>>, RecordingError> {
        let (frames, steps) = (self.trajectory.integers("step")?, self.contacts.integers("step")?);
        let rows = |step: &i64| {
            let start = steps.partition_point(|other| other < step);
            start..steps.partition_point(|other| other <= step).max(start)
        };
        Ok(frames.iter().map(rows).collect())
    }

    /// Reads the summary in the same folder; a truncated run has none.
    pub fn summary(&self) -> Result<Summary, RecordingError> {
        let path = self.folder.join("summary.json");
        let unreadable = |source| RecordingError::Read { path: path.clone(), source };
        let foreign = |reason: String| RecordingError::Foreign { path: path.clone(), reason };
        if !fs::metadata(&path).map_err(unreadable)?.is_file() {
            return Err(foreign("it is not a regular file".to_owned()));
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
        // The reader rejects a missing column, or one of an unknown type, with its name.
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
