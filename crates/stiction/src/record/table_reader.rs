//! Reads the tables of a recording, column by column.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use parquet::{
    basic::Type as Physical,
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{ByteArray, DataType},
    file::reader::{FileReader, Length, SerializedFileReader},
};

use super::{RecordingError, table::Kind, table_file::TableFile, table_guard};

/// An open table.
pub(crate) struct TableReader {
    path: PathBuf,
    reader: SerializedFileReader<TableFile>,
    /// Shares its file position with `reader`, which seeks before it reads.
    file: TableFile,
    /// Index of each column by name.
    places: BTreeMap<String, usize>,
}

impl TableReader {
    /// Opens a Parquet file and reads its footer.
    pub(crate) fn open(path: &Path) -> Result<Self, RecordingError> {
        let broken = |reason: String| RecordingError::NotATable { path: path.into(), reason };
        let file = TableFile::open(path)?;
        let shared = file.try_clone().map_err(|source| RecordingError::Read { path: path.into(), source })?;
        let reader = unpanicked(|| SerializedFileReader::new(shared).map_err(|source| broken(source.to_string())))
            .unwrap_or_else(|| Err(broken("its bytes are damaged".to_owned())))?;
        table_guard::check_size(reader.metadata(), file.len()).map_err(broken)?;
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let places = columns.iter().enumerate().map(|(k, column)| (column.name().to_owned(), k)).collect();
        Ok(Self { path: path.to_path_buf(), reader, file, places })
    }

    /// True if the file was truncated, and only its complete part is read.
    pub(crate) fn is_cut(&self) -> bool {
        self.file.is_cut()
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Names and types of the columns, in order; a type that recordings do not use is `None`.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, Option<Kind>)> {
        let columns = self.reader.metadata().file_metadata().schema_descr().columns();
        columns.iter().map(|column| {
            let kind = match column.physical_type() {
                Physical::INT64 => Some(Kind::Integer),
                Physical::DOUBLE => Some(Kind::Real),
                Physical::BYTE_ARRAY => Some(Kind::Text),
                _ => None,
            };
            (column.name(), kind)
        })
    }

    /// True if there is a column of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Names of the numeric columns, in order.
    pub(crate) fn numeric_columns(&self) -> impl Iterator<Item = &str> {
        let columns = self.reader.metadata().file_metadata().schema_descr().columns();
        let numeric = |kind| matches!(kind, Physical::DOUBLE | Physical::INT64);
        columns.iter().filter(move |column| numeric(column.physical_type())).map(|column| column.name())
    }

    /// All values of a numeric column, integers as the nearest real.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>, RecordingError> {
        self.reals(name).or_else(|_| Ok(self.integers(name)?.into_iter().map(|n| n as f64).collect()))
    }

    /// Metadata entry of the table.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        let pairs = self.reader.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// All values of a column of real numbers, bit for bit.
    pub(crate) fn reals(&self, name: &str) -> Result<Vec<f64>, RecordingError> {
        self.column(name, |reader, rows, values| match reader {
            ColumnReader::DoubleColumnReader(mut reader) => read_all(&mut reader, rows, values),
            _ => None,
        })
    }

    /// All values of a column of integers.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>, RecordingError> {
        self.column(name, |reader, rows, values| match reader {
            ColumnReader::Int64ColumnReader(mut reader) => read_all(&mut reader, rows, values),
            _ => None,
        })
    }

    /// All values of a text column.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<ByteArray>, RecordingError> {
        self.column(name, |reader, rows, values| match reader {
            ColumnReader::ByteArrayColumnReader(mut reader) => read_all(&mut reader, rows, values),
            _ => None,
        })
    }

    /// Reads a column over all row groups; `read` returns `None` for a wrong type or damaged data.
    fn column<T>(
        &self,
        name: &str,
        read: impl Fn(ColumnReader, usize, &mut Vec<T>) -> Option<()>,
    ) -> Result<Vec<T>, RecordingError> {
        let bad = || RecordingError::bad_column(&self.path, name);
        let index = *self.places.get(name).ok_or_else(bad)?;
        let mut values = Vec::new();
        for group in 0..self.reader.num_row_groups() {
            let mut file = self.file.try_clone().map_err(|_| bad())?;
            let read_group = || {
                let group = self.reader.get_row_group(group).ok()?;
                let (rows, chunk) = (group.metadata().num_rows(), group.metadata().columns().get(index)?);
                table_guard::check_pages(&mut file, chunk, rows, self.file.len()).ok()?;
                let reader = group.get_column_reader(index).ok()?;
                read(reader, usize::try_from(rows).ok()?, &mut values)
            };
            unpanicked(read_group).flatten().ok_or_else(bad)?;
        }
        if values.len() == self.rows() { Ok(values) } else { Err(bad()) }
    }
}

/// Result of `f`, or `None` if it panicked. The decoder checks most of its input, but a flipped bit can still make it panic.
/// External data must not cause a panic.
fn unpanicked<T>(f: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(f)).ok()
}

fn read_all<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize, values: &mut Vec<T::T>) -> Option<()> {
    let (read, ..) = reader.read_records(rows, None, None, values).ok()?;
    (read == rows).then_some(())
}
