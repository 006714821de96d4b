//! `trials.parquet`: one row per trial, in the order of their numbers.

use std::path::Path;

use stiction::record::{Cell, CellKind, TableWriter};

use super::{Draw, MonteCarlo, Parameter, Row, StudyError, Value, journal::digest};

/// File name inside the folder of a study.
pub(super) const FILE: &str = "trials.parquet";

/// Rows of a group, which are kept in memory.
const ROWS_PER_GROUP: usize = 8192;

/// Writes the table.
pub(super) struct TrialsTable {
    table: TableWriter,
}

impl TrialsTable {
    /// Begins the table, replacing an older one.
    pub(super) fn create(folder: &Path, study: &MonteCarlo) -> Result<Self, StudyError> {
        let named = |name: &str, kind| (name.to_owned(), kind);
        let mut columns: Vec<_> = ["index", "trial", "cell"].map(|name| named(name, CellKind::Integer)).into();
        columns.push(named("variant", CellKind::Text));
        columns.extend(study.parameters().map(|parameter| (parameter.name.clone(), kind(parameter))));
        columns.extend(["success", "steps"].map(|name| named(name, CellKind::Integer)));
        columns.extend(study.metrics().map(|name| named(name, CellKind::Real)));
        columns.extend(["failure", "detail"].map(|name| named(name, CellKind::Text)));
        let metadata = vec![
            ("stiction.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("stiction.study".to_owned(), study.name.clone()),
            ("stiction.study_digest".to_owned(), format!("{:016x}", digest(study.study_text.as_bytes()))),
            ("stiction.scene_digest".to_owned(), format!("{:016x}", digest(study.scene_texts().as_bytes()))),
            ("stiction.seed".to_owned(), study.seed.to_string()),
        ];
        Ok(Self { table: TableWriter::create(&folder.join(FILE), &columns, metadata)? })
    }

    /// Adds the row of trial `index`. Groups of rows are written at the same rows for any number of threads.
    pub(super) fn push(&mut self, study: &MonteCarlo, index: u64, row: &Row) -> Result<(), StudyError> {
        let integer = |n: u64| Cell::Integer(i64::try_from(n).unwrap_or(i64::MAX));
        let place = study.place(index);
        let variant = study.variants().get(place.variant).map_or("", |variant| variant.name.as_str());
        let values = study.values(place);
        let head = [integer(index), integer(place.trial), integer(place.cell), Cell::Text(variant)];
        let values = values.iter().map(|value| match value {
            Value::Number(x) => Cell::Real(*x),
            Value::Word(word) => Cell::Text(word),
        });
        let failure = row.failure.as_ref();
        let [reason, detail] =
            [failure.map(|failure| failure.reason.as_str()), failure.map(|failure| failure.detail.as_str())];
        let tail = [reason, detail].map(|text| Cell::Text(text.unwrap_or_default()));
        let metrics = row.metrics.iter().map(|x| Cell::Real(*x));
        let outcome = [integer(u64::from(row.success)), integer(row.steps)];
        self.table.push(head.into_iter().chain(values).chain(outcome).chain(metrics).chain(tail));
        self.table.flush_beyond(ROWS_PER_GROUP)?;
        Ok(())
    }

    /// Writes the remaining rows.
    pub(super) fn finish(self) -> Result<(), StudyError> {
        self.table.finish()?;
        Ok(())
    }
}

fn kind(parameter: &Parameter) -> CellKind {
    match &parameter.draw {
        Draw::Choice(values) if values.iter().all(|value| matches!(value, Value::Word(_))) => CellKind::Text,
        _ => CellKind::Real,
    }
}
