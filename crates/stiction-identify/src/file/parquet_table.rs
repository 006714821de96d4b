//! Columns of Parquet files of any writer.

use std::{
    io::Cursor,
    panic::{AssertUnwindSafe, catch_unwind},
};

use bytes::Bytes;
use parquet::{
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::DataType,
    file::reader::{FileReader, SerializedFileReader},
};
use stiction::record::{check_table_pages, check_table_size};

/// Largest number of rows that are read: a day at a hundred frames per second.
const MAX_ROWS: usize = 10_000_000;

/// An open table.
pub(super) struct ParquetTable {
    pub(super) names: Vec<String>,
    reader: SerializedFileReader<Bytes>,
    /// The whole file; shared with the reader.
    bytes: Bytes,
    rows: usize,
}

impl ParquetTable {
    /// Reads the footer.
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let bytes = Bytes::from(bytes);
        let opened = catch_unwind(AssertUnwindSafe(|| SerializedFileReader::new(bytes.clone())));
        let reader = opened.map_err(|_| damaged())?.map_err(|error| format!("it is no Parquet file: {error}"))?;
        // The decoder trusts the sizes in the file, and allocates as much memory.
        check_table_size(reader.metadata(), bytes.len() as u64)?;
        let about = reader.metadata().file_metadata();
        let rows = usize::try_from(about.num_rows()).map_err(|_| damaged())?;
        if rows > MAX_ROWS {
            return Err(format!("it claims {rows} rows, and recordings have up to {MAX_ROWS}"));
        }
        let names = about.schema_descr().columns().iter().map(|column| column.path().string()).collect();
        Ok(Self { names, reader, bytes, rows })
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Column as numbers; a null is NaN.
    pub(super) fn numbers(&self, column: usize) -> Result<Vec<f64>, String> {
        // The decoder checks most of what it reads, but damaged bytes can still make it panic.
        let values = catch_unwind(AssertUnwindSafe(|| self.decoded(column))).map_err(|_| damaged())??;
        if values.len() != self.rows {
            return Err(damaged());
        }
        match values.iter().position(|value| value.is_infinite()) {
            Some(row) => {
                Err(format!("row {} is infinite: measured numbers are finite, and gaps are NaN or null", row + 1))
            }
            None => Ok(values),
        }
    }

    fn decoded(&self, column: usize) -> Result<Vec<f64>, String> {
        let mut values = Vec::new();
        for group in 0..self.reader.num_row_groups() {
            let failed = |error: parquet::errors::ParquetError| format!("it cannot be decoded: {error}");
            let group = self.reader.get_row_group(group).map_err(failed)?;
            let rows = group.metadata().num_rows();
            let description = self.reader.metadata().file_metadata().schema_descr().column(column);
            if description.max_rep_level() > 0 {
                return Err("it is a column of lists, not of numbers".to_owned());
            }
            let level = description.max_def_level();
            let chunk = group.metadata().columns().get(column).ok_or_else(damaged)?;
            check_table_pages(&mut Cursor::new(&self.bytes), chunk, rows, self.bytes.len() as u64)?;
            let rows = usize::try_from(rows).map_err(|_| damaged())?.min(self.rows);
            let decoded = match group.get_column_reader(column).map_err(failed)? {
                ColumnReader::DoubleColumnReader(reader) => expanded(reader, rows, level, |x| x),
                ColumnReader::FloatColumnReader(reader) => expanded(reader, rows, level, f64::from),
                ColumnReader::Int32ColumnReader(reader) => expanded(reader, rows, level, f64::from),
                ColumnReader::Int64ColumnReader(reader) => expanded(reader, rows, level, |x| x as f64),
                _ => return Err("it is not a column of numbers".to_owned()),
            };
            values.extend(decoded.map_err(failed)?);
        }
        Ok(values)
    }
}

fn damaged() -> String {
    "its bytes are damaged".to_owned()
}

/// Values of a column of a group, with gaps for nulls.
fn expanded<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    level: i16,
    number: impl Fn(T::T) -> f64,
) -> Result<Vec<f64>, parquet::errors::ParquetError> {
    let (mut values, mut levels, mut read) = (Vec::new(), Vec::new(), 0);
    while read < rows {
        let (now, ..) = reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if now == 0 {
            break;
        }
        read += now;
    }
    let mut values = values.into_iter().map(number);
    if level == 0 {
        return Ok(values.collect());
    }
    Ok(levels
        .into_iter()
        .map(|here| if here == level { values.next().unwrap_or(f64::NAN) } else { f64::NAN })
        .collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::{
        data_type::{DoubleType, FloatType, Int64Type},
        file::writer::SerializedFileWriter,
        schema::parser::parse_message_type,
    };

    use super::ParquetTable;

    /// Columns of other programs: with nulls, of other types, of lists.
    fn written() -> Vec<u8> {
        let text = "message m { required double t; optional double x; optional float y; required int64 n; repeated double l; }";
        let schema = Arc::new(parse_message_type(text).unwrap());
        let mut out = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut out, schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[0.0, 1.0, 2.0], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[5.0, 7.0], Some(&[1, 0, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<FloatType>().write_batch(&[0.5], Some(&[0, 0, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[3, 4, 5], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[1.0, 2.0, 3.0], Some(&[1; 3]), Some(&[0; 3])).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        out
    }

    #[test]
    fn nulls_are_gaps_and_whole_numbers_are_numbers() {
        let table = ParquetTable::parse(written()).unwrap();
        assert_eq!((table.names.join(" ").as_str(), table.len()), ("t x y n l", 3));
        assert_eq!(table.numbers(0).unwrap(), [0.0, 1.0, 2.0]);
        let x = table.numbers(1).unwrap();
        assert!(x[0] == 5.0 && x[1].is_nan() && x[2] == 7.0, "{x:?}");
        let y = table.numbers(2).unwrap();
        assert!(y[0].is_nan() && y[1].is_nan() && y[2] == 0.5, "{y:?}");
        assert_eq!(table.numbers(3).unwrap(), [3.0, 4.0, 5.0]);
        assert!(table.numbers(4).unwrap_err().contains("lists"));
    }

    /// Errors of reading a file: of the file or of its columns.
    fn refusals(bytes: Vec<u8>) -> Vec<String> {
        let table = match ParquetTable::parse(bytes) {
            Ok(table) => table,
            Err(reason) => return vec![reason],
        };
        (0..table.names.len()).filter_map(|column| table.numbers(column).err()).collect()
    }

    #[test]
    fn damaged_files_are_refused_or_read_but_nothing_worse() {
        let good = written();
        assert_eq!(refusals(good.clone()).len(), 1, "only the column of lists");
        let mut refused = 0;
        for place in 0..good.len() {
            for bit in 0..8 {
                let mut bytes = good.clone();
                bytes[place] ^= 1 << bit;
                refused += usize::from(refusals(bytes).len() > 1);
            }
        }
        assert!(refused > good.len(), "{refused} of {}", 8 * good.len());
        for end in 0..good.len() {
            assert!(ParquetTable::parse(good[..end].to_vec()).is_err(), "cut off after {end} bytes");
        }
        assert!(ParquetTable::parse(b"t,x\n0,1\n".to_vec()).is_err());
    }

    /// The header of the first page claims two gigabytes, in a file of some hundred bytes.
    #[test]
    fn claims_that_the_bytes_cannot_hold_are_refused() {
        let good = written();
        // Behind the magic word: field 1 is the kind of page, field 2 its length when decompressed.
        let (head, claim) = (&good[..6], [0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!((head, good[6]), (&b"PAR1\x15\x04"[..], 0x15), "the header of a dictionary");
        let length = good[7..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        // The claim is longer than the length it replaces; the column begins with it all the same.
        let bytes = [head, &claim, &good[7 + length..]].concat();
        let reasons = refusals(bytes);
        assert!(reasons.iter().any(|reason| reason.contains("page")), "{reasons:?}");
    }
}
