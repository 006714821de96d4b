//! Recording a run and reading it back.
//!
//! A [`Recorder`] receives every step and fills a folder: `trajectory.parquet` (one row per recorded step),
//! `contacts.parquet` (one row per contact and recorded step), `summary.json` and `view.html`, a self-contained page that plays the run.
//! A [`Recording`] reads the tables back bit for bit, so that a run can be inspected, measured and continued without solving it again.
//!
//! Reading order: [`layout`](self) (columns of a body), `table` (writing rows to a file; `table_file` and `table_guard` read it back),
//! `trajectory`, `contacts`, `summary`, `view`, then `recorder`, which uses all of them, `recording`, the inverse, and `run_tables`, the
//! columns by name (`csv`: as text); `run_columns` keeps columns of a run in memory instead.

mod contacts;
mod csv;
mod error;
mod info;
mod joint_errors;
mod layout;
mod outline;
mod recorder;
mod recording;
mod run_columns;
mod run_tables;
mod start_errors;
mod summary;
mod table;
mod table_file;
mod table_guard;
mod table_reader;
mod trajectory;
mod view;

#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod tests;

pub use contacts::contact_label;
pub use csv::{ExportError, Table};
pub use error::{RecordError, RecordingError};
pub use info::{BodyInfo, JointInfo, LinkInfo, RunInfo, SupportPointInfo};
pub use joint_errors::{JOINT_WARNING_FRACTION, LargeJointError};
pub use layout::Role;
pub use outline::Outline;
pub use recorder::{EVENT_DRIVEN, Finished, Recorder, RunLabels};
pub use recording::{Frame, Recording};
pub use run_columns::RunColumns;
pub use run_tables::{Column, ColumnKind, RunTables, Words};
pub use start_errors::StartError;
pub use summary::{
    AcceptedSummary, BodySummary, CorrectionSummary, Ending, EnergySummary, EventSummary, Extreme, HalvedSummary,
    ImpactSummary, JammedSummary, JointErrorSummary, ResidualSummary, StartImpactSummary, Summary, Turn,
    UndeterminedSummary, UnexplainedSummary,
};
pub use table::{Cell, Kind as CellKind, TableWriter};
pub use table_guard::{check_pages as check_table_pages, check_size as check_table_size};
pub use view::{ViewLimits, view_page};
