//! Contacts of a run as columns of a page, grouped by contact in order of time. Neighbouring values are thus similar, and the plot of
//! one contact is contiguous.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use super::{
    payload::{Packed, Payload},
    trajectory::Frames,
};
use crate::record::{
    RecordingError,
    contacts::{FILE, mode_called},
    recording::counts,
    table_reader::TableReader,
};
use stiction_multibody::ContactMode;

/// Columns of real numbers in a page, with their units.
const COLUMNS: [(&str, &str); 20] = [
    ("gap", "m"),
    ("normal_impulse", "N s"),
    ("friction_impulse_x", "N s"),
    ("friction_impulse_y", "N s"),
    ("friction_impulse_z", "N s"),
    ("spin_impulse", "N m s"),
    ("rolling_impulse_x", "N m s"),
    ("rolling_impulse_y", "N m s"),
    ("rolling_impulse_z", "N m s"),
    ("slip_x", "m/s"),
    ("slip_y", "m/s"),
    ("slip_z", "m/s"),
    ("sigma", "m/s"),
    ("point_x", "m"),
    ("point_y", "m"),
    ("point_z", "m"),
    ("normal_x", ""),
    ("normal_y", ""),
    ("normal_z", ""),
    ("friction", ""),
];

/// All contacts of a run.
#[derive(Serialize)]
pub(super) struct ContactsHead {
    /// Labels of the contacts.
    labels: Vec<String>,
    /// Number of rows of each contact, in order.
    rows: Vec<usize>,
    /// Moment of each row.
    frame: Packed,
    /// Mode of each row: 0 open, 1 stick, 2 slip.
    mode: Packed,
    columns: Vec<ContactColumn>,
}

#[derive(Serialize)]
struct ContactColumn {
    name: &'static str,
    unit: &'static str,
    #[serde(flatten)]
    packed: Packed,
}

pub(super) fn read_contacts(
    folder: &Path,
    frames: &Frames,
    payload: &mut Payload,
) -> Result<ContactsHead, RecordingError> {
    let path = folder.join(FILE);
    let table = TableReader::open(&path)?;
    let steps = counts(&table, &path, "step")?;
    let frame_of = |step: &u64| frames.kept.binary_search(step).ok();
    let mut names = BTreeMap::new();
    let mut labels = Vec::new();
    let mut rows: Vec<(usize, usize, usize)> = Vec::new();
    for (row, (label, frame)) in table.texts("contact")?.iter().zip(steps.iter().map(frame_of)).enumerate() {
        let Some(frame) = frame else { continue };
        let number = *names.entry(label.data().to_vec()).or_insert_with(|| {
            labels.push(String::from_utf8_lossy(label.data()).into_owned());
            labels.len() - 1
        });
        rows.push((number, frame, row));
    }
    rows.sort_unstable();
    let mut lengths = vec![0; labels.len()];
    for (number, ..) in &rows {
        lengths.get_mut(*number).map(|length| *length += 1).unwrap_or_default();
    }
    let frame = payload.push(&rows.iter().map(|(_, frame, _)| *frame as f64).collect::<Vec<_>>());
    let ordered = |values: &[f64]| -> Vec<f64> {
        rows.iter().map(|(.., row)| values.get(*row).copied().unwrap_or(f64::NAN)).collect()
    };
    let modes: Vec<f64> = table.texts("mode")?.iter().map(|word| mode_number(word.data())).collect();
    let mode = payload.push(&ordered(&modes));
    let present = COLUMNS.into_iter().filter(|(name, _)| table.has(name));
    let pack = |(name, unit)| Ok(ContactColumn { name, unit, packed: payload.push(&ordered(&table.reals(name)?)) });
    let columns = present.map(pack).collect::<Result<_, _>>()?;
    Ok(ContactsHead { labels, rows: lengths, frame, mode, columns })
}

fn mode_number(word: &[u8]) -> f64 {
    match mode_called(word) {
        Some(ContactMode::Stick) => 1.0,
        Some(ContactMode::Slip) => 2.0,
        Some(ContactMode::Open) | None => 0.0,
    }
}
