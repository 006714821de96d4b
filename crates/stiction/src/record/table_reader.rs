//! Reads the tables of a recording back, column by column.

use std::{collections::BTreeMap, fs::File, path::Path};

use parquet::{
    basic::Type as Physical,
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{ByteArray, DataType},
    file::reader::{FileReader, SerializedFileReader},
};

use super::RecordingError;

/// An open table.
pub(crate) struct TableReader<'p> {
    path: &'p Path,
    reader: SerializedFileReader<File>,
    /// Where each column is.
    places: BTreeMap<String, usize>,
}

impl<'p> TableReader<'p> {
    /// Opens a Parquet file and reads its footer.
    pub(crate) fn open(path: &'p Path) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(|source| RecordingError::Read { path: path.into(), source })?;
        let reader = SerializedFileReader::new(file)
            .map_err(|source| RecordingError::NotATable { path: path.into(), reason: source.to_string() })?;
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let places = columns.iter().enumerate().map(|(k, column)| (column.name().to_owned(), k)).collect();
        Ok(Self { path, reader, places })
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Whether there is such a column.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Names of the columns of numbers, in order.
    pub(crate) fn numeric_columns(&self) -> impl Iterator<Item = &str> {
        let columns = self.reader.metadata().file_metadata().schema_descr().columns();
        let numeric = |kind| matches!(kind, Physical::DOUBLE | Physical::INT64);
        columns.iter().filter(move |column| numeric(column.physical_type())).map(|column| column.name())
    }

    /// All values of a column of numbers, integers as the nearest real.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>, RecordingError> {
        self.reals(name).or_else(|_| Ok(self.integers(name)?.into_iter().map(|n| n as f64).collect()))
    }

    /// A text stored beside the table.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        let pairs = self.reader.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// All values of a column of real numbers, to the bit.
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

    /// All values of a column of words.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<ByteArray>, RecordingError> {
        self.column(name, |reader, rows, values| match reader {
            ColumnReader::ByteArrayColumnReader(mut reader) => read_all(&mut reader, rows, values),
            _ => None,
        })
    }

    /// Reads a column over all row groups; `read` gives `None` for a wrong type or broken data.
    fn column<T>(
        &self,
        name: &str,
        read: impl Fn(ColumnReader, usize, &mut Vec<T>) -> Option<()>,
    ) -> Result<Vec<T>, RecordingError> {
        let bad = || RecordingError::BadColumn { path: self.path.into(), column: name.to_owned() };
        let index = *self.places.get(name).ok_or_else(bad)?;
        let mut values = Vec::new();
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|_| bad())?;
            let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| bad())?;
            let reader = group.get_column_reader(index).map_err(|_| bad())?;
            read(reader, rows, &mut values).ok_or_else(bad)?;
        }
        if values.len() == self.rows() { Ok(values) } else { Err(bad()) }
    }
}

fn read_all<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize, values: &mut Vec<T::T>) -> Option<()> {
    let (read, ..) = reader.read_records(rows, None, None, values).ok()?;
    (read == rows).then_some(())
}
