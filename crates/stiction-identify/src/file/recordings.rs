//! Recordings from tables: columns with their units, time, gaps.

use std::{ops::Range, path::Path};

use stiction::{Simulation, scene};

use super::{
    FieldError,
    frame::Frame,
    plausible,
    table::Table,
    tables::RecordingTable,
    tracks::{self, Mapped},
    unit::Dimension,
};
use crate::Recording;

/// The key of the column of times.
const TIME: &str = "time";

/// Largest fraction of a column that may be missing, by default.
const MAX_GAPS: f64 = 0.5;

/// Reads files relative to a folder.
pub(super) struct Reader<'a> {
    pub(super) folder: &'a Path,
    pub(super) read: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
}

/// Column of a file as numbers in SI units; gaps are NaN.
pub(super) struct Column<'m> {
    pub(super) mapped: &'m Mapped,
    pub(super) values: Vec<f64>,
}

impl Reader<'_> {
    /// The recordings of the files of a table.
    pub(super) fn recordings(
        &self,
        simulation: &Simulation,
        table: &RecordingTable,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Recording>, FieldError> {
        let mapping = tracks::mapping(simulation.model(), table)?;
        let frame = Frame::new(simulation.model().dimension(), table.frame.as_ref())?;
        if let (Some(from), Some(to)) = (table.from, table.to)
            && from >= to
        {
            return Err(FieldError::new(&["from"], format!("the cut is empty: from {from} s to {to} s")));
        }
        let mut recordings = Vec::new();
        for (keys, file) in files(table)? {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let path = self.folder.join(file);
            let refused =
                |reason: String| FieldError::new(&keys, format!("the recording {}: {reason}", path.display()));
            let bytes = (self.read)(&path).map_err(refused)?;
            let source = Table::parse(file, bytes).map_err(refused)?;
            let of_file = |mut field_error: FieldError| {
                field_error.reason = format!("{file}: {}", field_error.reason);
                field_error
            };
            let recording = read(&source, (table, &mapping, &frame), file).map_err(of_file)?;
            plausible::check(simulation, (&recording, table), notes).map_err(of_file)?;
            recordings.push(recording);
        }
        Ok(recordings)
    }
}

/// Files of a table, and their keys.
fn files(table: &RecordingTable) -> Result<Vec<(Vec<String>, &str)>, FieldError> {
    match (&table.file, &table.files) {
        (Some(file), None) => Ok(vec![(vec!["file".to_owned()], file)]),
        (None, Some(files)) if !files.is_empty() => {
            let numbered = files.iter().enumerate();
            Ok(numbered.map(|(k, file)| (vec!["files".to_owned(), k.to_string()], file.as_str())).collect())
        }
        (Some(_), Some(_)) => Err(FieldError::new(&["files"], "a recording has `file` or `files`, not both")),
        _ => Err(FieldError::new(&[], "a recording needs `file`").hint("such as file = \"block.csv\"")),
    }
}

fn read(
    source: &Table,
    (table, mapping, frame): (&RecordingTable, &[Mapped], &Frame),
    file: &str,
) -> Result<Recording, FieldError> {
    let times = times(source, table)?;
    let rows = cut(&times, table)?;
    let mut columns = Vec::new();
    for mapped in mapping {
        let values = numbers(source, &mapped.key, &mapped.column)?;
        let values: Vec<f64> = values.iter().map(|x| x * mapped.factor).collect();
        let values = values.get(rows.clone()).unwrap_or_default().to_vec();
        check_gaps(&values, (mapped, source), (rows.start, table.max_gaps.unwrap_or(MAX_GAPS)))?;
        columns.push(Column { mapped, values });
    }
    let tracks = tracks::tracks(&columns, frame, &|row| source.place(rows.start + row))?;
    let times = times.get(rows).unwrap_or_default().to_vec();
    Ok(Recording { name: file.to_owned(), times, tracks })
}

/// Column by name; the error lists the existing names.
fn numbers(source: &Table, key: &str, column: &str) -> Result<Vec<f64>, FieldError> {
    let names = source.names();
    if let Some(values) = source.numbers(column) {
        return values.map_err(|reason| FieldError::new(&["columns", key], format!("column `{column}`: {reason}")));
    }
    let suggestion = scene::suggestion(column, names.iter().map(String::as_str));
    let list = format!("columns of the file: {}", names.join(", "));
    let hint = if suggestion.starts_with("did") { format!("{suggestion} {list}") } else { list };
    Err(FieldError::new(&["columns", key], format!("there is no column `{column}`")).hint(hint))
}

/// The times in seconds: numbers that increase.
fn times(source: &Table, table: &RecordingTable) -> Result<Vec<f64>, FieldError> {
    let Some(time) = table.columns.get(TIME) else {
        let field_error = FieldError::new(&["columns"], "no column is the time");
        return Err(field_error.hint("such as columns = { time = \"t\", … }"));
    };
    let (column, unit, _) = time.parts();
    let factor = unit.map_or(Ok(1.0), |unit| Dimension::Time.factor(unit));
    let factor = factor.map_err(|(reason, hint)| FieldError::new(&["columns", TIME, "unit"], reason).hint(hint))?;
    let times: Vec<f64> = numbers(source, TIME, column)?.into_iter().map(|t| t * factor).collect();
    let refused = |reason: String| FieldError::new(&["columns", TIME], reason);
    if times.len() < 2 {
        return Err(refused(format!("too few points: {} rows, and a motion needs two at least", source.len())));
    }
    if let Some(row) = times.iter().position(|t| !t.is_finite()) {
        return Err(refused(format!("the time is missing in {}", source.place(row))).hint("leave such rows out"));
    }
    let back = times.iter().zip(times.iter().skip(1)).position(|(before, after)| before >= after);
    if let Some(row) = back {
        let at = |row: usize| times.get(row).copied().unwrap_or(f64::NAN);
        let reason = format!(
            "time must increase, but is {} s in {} and {} s in {}",
            at(row),
            source.place(row),
            at(row + 1),
            source.place(row + 1)
        );
        return Err(
            refused(reason).hint("sort the rows, leave out those that are there twice, or cut with from and to")
        );
    }
    Ok(times)
}

/// The rows between `from` and `to`.
fn cut(times: &[f64], table: &RecordingTable) -> Result<Range<usize>, FieldError> {
    let start = times.partition_point(|t| table.from.is_some_and(|from| *t < from));
    let end = times.partition_point(|t| table.to.is_none_or(|to| *t <= to));
    if end < start + 2 {
        let key = if table.from.is_some() { "from" } else { "to" };
        let (first, last) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
        let reason = format!("the cut leaves fewer than two rows; the recording goes from {first} s to {last} s");
        return Err(FieldError::new(&[key], reason));
    }
    Ok(start..end)
}

/// Checks that gaps are at most a fraction of the column.
fn check_gaps(
    values: &[f64],
    (mapped, source): (&Mapped, &Table),
    (first_row, most): (usize, f64),
) -> Result<(), FieldError> {
    let missing = values.iter().filter(|x| x.is_nan()).count();
    let (rows, column) = (values.len(), &mapped.column);
    let refused = |reason: String| FieldError::new(&["columns", &mapped.key], reason);
    if missing == rows {
        return Err(refused(format!("column `{column}` holds no number in its {rows} rows")));
    }
    if missing as f64 > most * rows as f64 {
        let gap = longest_gap(values);
        let [from, to] = [gap.start, gap.end - 1].map(|row| source.place(first_row + row));
        let reason = format!(
            "column `{column}` is missing in {missing} of {rows} rows, without interruption from {from} to {to}"
        );
        return Err(refused(reason).hint("cut the recording with from and to, or allow more gaps with max_gaps = 0.9"));
    }
    Ok(())
}

/// The rows of the longest gap.
fn longest_gap(values: &[f64]) -> Range<usize> {
    let (mut longest, mut start) = (0..1, None);
    for (row, value) in values.iter().chain(std::iter::once(&0.0)).enumerate() {
        match (value.is_nan(), start) {
            (true, None) => start = Some(row),
            (false, Some(from)) => {
                if row - from >= longest.len() {
                    longest = from..row;
                }
                start = None;
            }
            _ => {}
        }
    }
    longest
}
