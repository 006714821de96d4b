//! Run as MCAP: two channels of JSON messages with their schemas, with times in nanoseconds of simulated time.

use std::{collections::BTreeMap, io::BufWriter, path::Path};

use mcap::{WriteOptions, Writer, records::MessageHeader};
use serde_json::{Map, Value, json};
use stiction::record::{Column, ColumnKind, RecordingError, RunTables};

use crate::{failure::Failure, output};

/// Columns of a table by name.
type Columns = Vec<(String, Column)>;

/// Writes the channels `/trajectory` and `/contacts`: one message each per recorded moment.
pub(super) fn write(run: &RunTables, path: &Path) -> Result<(), Failure> {
    let read = || -> Result<_, RecordingError> {
        let trajectory = columns(&run.columns(), |name| run.column(name))?;
        let contacts = columns(&run.contact_columns(), |name| run.contact_column(name))?;
        Ok((trajectory, contacts, run.contacts_of_frames()?))
    };
    let (trajectory, contacts, frames) = read().map_err(Failure::input)?;
    let file = output::create(path)?;
    let rows = |row: usize| object(&trajectory, row);
    let touching = |row: usize| {
        let contacts_of = frames.get(row).cloned().unwrap_or_default().map(|row| object(&contacts, row));
        json!({ "contacts": contacts_of.collect::<Vec<_>>() })
    };
    let written = || -> mcap::McapResult<()> {
        // The compression of this format needs a C toolchain.
        let options = WriteOptions::new().compression(None).profile("stiction");
        let mut writer = Writer::with_options(BufWriter::new(file), options)?;
        let contact = schema(&run.contact_columns());
        let of_contacts =
            json!({ "type": "object", "properties": { "contacts": { "type": "array", "items": contact } } });
        let channels = [
            channel(&mut writer, "/trajectory", "stiction.Trajectory", &schema(&run.columns()))?,
            channel(&mut writer, "/contacts", "stiction.Contacts", &of_contacts)?,
        ];
        for (row, time) in times(&trajectory).into_iter().enumerate() {
            for (channel_id, value) in channels.into_iter().zip([rows(row), touching(row)]) {
                let sequence = u32::try_from(row).unwrap_or(u32::MAX);
                let header = MessageHeader { channel_id, sequence, log_time: time, publish_time: time };
                writer.write_to_known_channel(&header, value.to_string().as_bytes())?;
            }
        }
        writer.finish()?;
        Ok(())
    };
    written().map_err(|error| output::unwritable(path, &error))
}

fn columns(
    names: &[(&str, ColumnKind)],
    read: impl Fn(&str) -> Result<Column, RecordingError>,
) -> Result<Columns, RecordingError> {
    names.iter().map(|(name, _)| Ok(((*name).to_owned(), read(name)?))).collect()
}

fn channel<W: std::io::Write + std::io::Seek>(
    writer: &mut Writer<W>,
    topic: &str,
    name: &str,
    schema: &Value,
) -> mcap::McapResult<u16> {
    let schema = writer.add_schema(name, "jsonschema", schema.to_string().as_bytes())?;
    writer.add_channel(schema, topic, "json", &BTreeMap::new())
}

/// A JSON Schema of the rows of a table; numbers that are not finite become null.
fn schema(columns: &[(&str, ColumnKind)]) -> Value {
    let properties = columns.iter().map(|(name, kind)| {
        let kind = match kind {
            ColumnKind::Integer => json!({ "type": "integer" }),
            ColumnKind::Real => json!({ "type": ["number", "null"] }),
            ColumnKind::Text => json!({ "type": "string" }),
        };
        ((*name).to_owned(), kind)
    });
    json!({ "type": "object", "properties": properties.collect::<Map<_, _>>() })
}

fn object(columns: &Columns, row: usize) -> Value {
    let fields = columns.iter().map(|(name, column)| {
        let value = match column {
            Column::Integers(values) => json!(values.get(row)),
            Column::Reals(values) => json!(values.get(row)),
            Column::Texts(words) => json!(words.get(row)),
        };
        (name.clone(), value)
    });
    Value::Object(fields.collect())
}

/// Nanoseconds of simulated time; zero if there is none.
fn times(trajectory: &Columns) -> Vec<u64> {
    let time = trajectory.iter().find(|(name, _)| name == "t").map(|(_, column)| column);
    match time {
        // Negative times and NaN become zero.
        #[allow(clippy::cast_sign_loss)]
        Some(Column::Reals(times)) => times.iter().map(|t| (t * 1e9).round() as u64).collect(),
        _ => Vec::new(),
    }
}
