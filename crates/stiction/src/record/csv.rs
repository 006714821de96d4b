//! The tables of a run as comma-separated values (RFC 4180).

use std::io::{self, Write};

use stiction_scene::text::csv_field;

use super::{Column, RecordingError, RunTables};

/// One of the two tables of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// One row per recorded moment.
    Trajectory,
    /// One row per contact and recorded moment.
    Contacts,
}

/// Error of an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The run cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The target cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl RunTables {
    /// Writes a table with a header line. Numbers have the fewest digits that reproduce the same bits; non-finite numbers are `NaN`, `inf`
    /// and `-inf`. Fields with commas, quotes or line breaks are quoted; texts that a spreadsheet would compute, such as `=1+1`, get an
    /// apostrophe in front; lines end with CR LF.
    pub fn write_csv(&self, table: Table, out: &mut impl Write) -> Result<(), ExportError> {
        let names: Vec<String> = match table {
            Table::Trajectory => self.columns(),
            Table::Contacts => self.contact_columns(),
        }
        .into_iter()
        .map(|(name, _)| name.to_owned())
        .collect();
        let read = |name: &String| match table {
            Table::Trajectory => self.column(name),
            Table::Contacts => self.contact_column(name),
        };
        let columns = names.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let rows = match table {
            Table::Trajectory => self.frames(),
            Table::Contacts => self.contact_rows(),
        };
        for (i, name) in names.iter().enumerate() {
            separate(out, i)?;
            field(out, name)?;
        }
        out.write_all(b"\r\n")?;
        for row in 0..rows {
            for (i, column) in columns.iter().enumerate() {
                separate(out, i)?;
                match column {
                    Column::Integers(values) => values.get(row).map_or(Ok(()), |n| write!(out, "{n}"))?,
                    Column::Reals(values) => values.get(row).map_or(Ok(()), |x| write!(out, "{x:?}"))?,
                    Column::Texts(words) => field(out, words.get(row).unwrap_or_default())?,
                }
            }
            out.write_all(b"\r\n")?;
        }
        Ok(())
    }
}

fn separate(out: &mut impl Write, index: usize) -> io::Result<()> {
    if index == 0 { Ok(()) } else { out.write_all(b",") }
}

fn field(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(csv_field(text).as_bytes())
}
