//! Tables of numbers and text in Parquet files, written row group by row group.
//!
//! A Parquet file is read from its footer, so an ordinary writer leaves nothing readable until it is closed. Here every
//! row group is written together with a complete footer over all groups so far, and the next group is appended after it.
//! Readers skip the older footers. Between two writes the file is complete for any tool. If a write is interrupted,
//! the last footer before it is intact, and `table_file` finds it. Memory is bounded by one row group.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use parquet::{
    basic::{Compression, ConvertedType, Encoding, Repetition, Type as Physical},
    column::writer::ColumnWriter,
    data_type::ByteArray,
    errors::ParquetError,
    file::{
        metadata::{FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter},
        properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr},
        writer::{SerializedFileWriter, TrackedWrite},
    },
    schema::types::{SchemaDescriptor, Type, TypePtr},
};

use super::RecordError;

/// Number of rows in the first row groups.
const ROWS_PER_GROUP: usize = 4096;

/// Later groups hold at least 1/8 of the rows already written. Every group comes with a footer over all groups; with
/// growing groups their number grows as the logarithm of the rows, and the cost per row stays bounded.
const GROWTH_DIVISOR: usize = 8;

/// Distinct texts that are cached between row groups.
const MOST_WORDS: usize = 1024;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Counts and indices.
    Integer,
    /// Real numbers, bit for bit.
    Real,
    /// Text.
    Text,
}

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A count or an index.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// Text.
    Text(&'a str),
}

/// Rows of one column that are not in the file yet.
enum Pending {
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Pending {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integer(Vec::new()),
            Kind::Real => Self::Real(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Integer(values) => values.clear(),
            Self::Real(values) => values.clear(),
            Self::Text(values) => values.clear(),
        }
    }
}

/// Writer of one table. After the first error the file stays as it was after the last complete write.
pub struct TableWriter {
    path: PathBuf,
    file: File,
    /// Encodes into memory; its output is moved to the file after each row group.
    encoder: SerializedFileWriter<Vec<u8>>,
    properties: WriterPropertiesPtr,
    pending: Vec<Pending>,
    rows: usize,
    /// Rows in the file.
    written: usize,
    /// Rows in the file after the last footer.
    uncovered: usize,
    /// Texts seen so far, so that a repeated text costs a reference instead of a copy.
    words: BTreeMap<String, ByteArray>,
    /// Length of the file, which ends with a footer.
    end: u64,
}

impl TableWriter {
    /// Creates the file, replacing an older one, and writes a complete table without rows.
    pub fn create(
        path: &Path,
        columns: &[(String, Kind)],
        metadata: Vec<(String, String)>,
    ) -> Result<Self, RecordError> {
        let file = File::create(path).map_err(|source| RecordError::write(path, source))?;
        let schema = schema(columns).map_err(|source| RecordError::encode(path, &source))?;
        let properties = Arc::new(properties(columns, metadata));
        let encoder = SerializedFileWriter::new(Vec::new(), schema, Arc::clone(&properties))
            .map_err(|source| RecordError::encode(path, &source))?;
        let mut table = Self {
            path: path.to_path_buf(),
            file,
            encoder,
            properties,
            pending: columns.iter().map(|(_, kind)| Pending::new(*kind)).collect(),
            rows: 0,
            written: 0,
            uncovered: 0,
            words: BTreeMap::new(),
            end: 0,
        };
        table.commit()?;
        Ok(table)
    }

    /// Adds a row; its cells must match the types of the columns. The encoder checks their number.
    pub fn push<'a>(&mut self, row: impl IntoIterator<Item = Cell<'a>>) {
        for (column, cell) in self.pending.iter_mut().zip(row) {
            match (column, cell) {
                (Pending::Integer(values), Cell::Integer(x)) => values.push(x),
                (Pending::Real(values), Cell::Real(x)) => values.push(x),
                (Pending::Text(values), Cell::Text(word)) => values.push(intern(&mut self.words, word)),
                (_, cell) => debug_assert!(false, "{cell:?} does not fit its column"),
            }
        }
        self.rows += 1;
    }

    /// True if the pending rows fill a row group.
    pub fn is_full(&self) -> bool {
        self.rows >= ROWS_PER_GROUP.max(self.written / GROWTH_DIVISOR)
    }

    /// Writes the pending rows and closes the file.
    pub fn finish(mut self) -> Result<PathBuf, RecordError> {
        self.flush()?;
        self.file.sync_all().map_err(|source| RecordError::write(&self.path, source))?;
        Ok(self.path)
    }

    /// Writes the pending rows to the file as one row group.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        if self.rows == 0 && self.uncovered == 0 {
            return Ok(());
        }
        self.encode_pending()?;
        self.commit()
    }

    /// Writes the pending rows if there are at least `most`. Groups do not grow and most have no footer, so memory stays bounded.
    /// Until the next footer other tools cannot read the file.
    pub fn flush_beyond(&mut self, most: usize) -> Result<(), RecordError> {
        if self.rows < most.max(1) {
            return Ok(());
        }
        self.encode_pending()?;
        if self.uncovered >= ROWS_PER_GROUP.max(self.written / GROWTH_DIVISOR) { self.commit() } else { self.append() }
    }

    fn encode_pending(&mut self) -> Result<(), RecordError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.encode().map_err(|source| RecordError::encode(&self.path, &source))?;
        self.pending.iter_mut().for_each(Pending::clear);
        self.written += self.rows;
        self.uncovered += self.rows;
        self.rows = 0;
        // Bounds the cache if all texts differ, such as messages with numbers.
        if self.words.len() > MOST_WORDS {
            self.words.clear();
        }
        Ok(())
    }

    fn encode(&mut self) -> Result<(), ParquetError> {
        let mut group = self.encoder.next_row_group()?;
        for column in &self.pending {
            let Some(mut writer) = group.next_column()? else { break };
            match (column, writer.untyped()) {
                (Pending::Integer(values), ColumnWriter::Int64ColumnWriter(w)) => w.write_batch(values, None, None)?,
                (Pending::Real(values), ColumnWriter::DoubleColumnWriter(w)) => w.write_batch(values, None, None)?,
                (Pending::Text(values), ColumnWriter::ByteArrayColumnWriter(w)) => w.write_batch(values, None, None)?,
                _ => return Err(ParquetError::General("a column has the wrong type".into())),
            };
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Appends the output of the encoder, and a footer that completes the file.
    fn commit(&mut self) -> Result<(), RecordError> {
        let footer = self.encode_footer().map_err(|source| RecordError::encode(&self.path, &source))?;
        // The encoder writes the footer, so that it counts these bytes too.
        let encoded = self.encoder.write_all(&footer);
        encoded.map_err(|source| RecordError::write(&self.path, source))?;
        self.append()?;
        self.uncovered = 0;
        Ok(())
    }

    /// Appends the output of the encoder.
    fn append(&mut self) -> Result<(), RecordError> {
        self.encoder.flush().map_err(|source| RecordError::write(&self.path, source))?;
        let bytes = std::mem::take(self.encoder.inner_mut());
        let written = self.file.seek(SeekFrom::Start(self.end)).and_then(|_| self.file.write_all(&bytes));
        if let Err(source) = written {
            // Truncation to the last footer makes the file complete again; if the file is gone, nothing is lost.
            let _ = self.file.set_len(self.end);
            return Err(RecordError::write(&self.path, source));
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Encodes the footer for the row groups written so far.
    fn encode_footer(&self) -> Result<Vec<u8>, ParquetError> {
        let groups = self.encoder.flushed_row_groups().to_vec();
        let description = Arc::new(SchemaDescriptor::new(self.encoder.schema_descr().root_schema_ptr()));
        let file = FileMetaData::new(
            self.properties.writer_version().as_num(),
            groups.iter().map(parquet::file::metadata::RowGroupMetaData::num_rows).sum(),
            Some(self.properties.created_by().to_owned()),
            self.properties.key_value_metadata().cloned(),
            description,
            None,
        );
        let mut footer = Vec::new();
        let metadata = ParquetMetaData::new(file, groups);
        ParquetMetaDataWriter::new_with_tracked(TrackedWrite::new(&mut footer), &metadata).finish()?;
        Ok(footer)
    }
}

fn intern(words: &mut BTreeMap<String, ByteArray>, word: &str) -> ByteArray {
    if let Some(known) = words.get(word) {
        return known.clone();
    }
    let new = ByteArray::from(word);
    words.insert(word.to_owned(), new.clone());
    new
}

fn schema(columns: &[(String, Kind)]) -> Result<TypePtr, ParquetError> {
    let field = |(name, kind): &(String, Kind)| {
        let (physical, converted) = match kind {
            Kind::Integer => (Physical::INT64, ConvertedType::NONE),
            Kind::Real => (Physical::DOUBLE, ConvertedType::NONE),
            Kind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let field = Type::primitive_type_builder(name, physical);
        field.with_repetition(Repetition::REQUIRED).with_converted_type(converted).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("stiction").with_fields(fields).build()?))
}

/// Smooth numbers compress best byte by byte, counters by differences, text by a dictionary.
fn properties(columns: &[(String, Kind)], metadata: Vec<(String, String)>) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("stiction ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(metadata.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect()));
    for (name, kind) in columns {
        let column = parquet::schema::types::ColumnPath::new(vec![name.clone()]);
        properties = match kind {
            Kind::Integer => properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
            Kind::Real => properties.set_column_encoding(column, Encoding::BYTE_STREAM_SPLIT),
            Kind::Text => properties.set_column_dictionary_enabled(column, true),
        };
    }
    properties.build()
}
