//! Tables of numbers, from CSV or Parquet.

use super::{csv::CsvTable, parquet_table::ParquetTable};

/// A table of a recording.
pub(super) enum Table {
    /// Comma-separated values.
    Csv(CsvTable),
    /// Parquet.
    Parquet(Box<ParquetTable>),
}

impl Table {
    /// Reads a file by the ending of its name.
    pub(super) fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, String> {
        let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "parquet" => Ok(Self::Parquet(Box::new(ParquetTable::parse(bytes)?))),
            "csv" | "tsv" | "txt" => {
                let text = String::from_utf8(bytes).map_err(|error| {
                    format!(
                        "it is not UTF-8 text: the first wrong byte is number {}",
                        error.utf8_error().valid_up_to() + 1
                    )
                })?;
                Ok(Self::Csv(CsvTable::parse(&text)?))
            }
            _ => Err("its ending must be .csv or .parquet".to_owned()),
        }
    }

    /// Names of the columns, in order.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::Csv(table) => &table.names,
            Self::Parquet(table) => &table.names,
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Csv(table) => table.len(),
            Self::Parquet(table) => table.len(),
        }
    }

    /// Place of a row, for messages.
    pub(super) fn place(&self, row: usize) -> String {
        match self {
            Self::Csv(table) => table.place(row),
            Self::Parquet(_) => format!("row {}", row + 1),
        }
    }

    /// Column by name; a missing measurement is NaN. None if there is no such column.
    pub(super) fn numbers(&self, name: &str) -> Option<Result<Vec<f64>, String>> {
        let column = self.names().iter().position(|known| known == name)?;
        Some(match self {
            Self::Csv(table) => table.numbers(column),
            Self::Parquet(table) => table.numbers(column),
        })
    }
}
