//! `contacts.parquet`: one row per contact and recorded step.

use std::path::{Path, PathBuf};

use stiction_multibody::{BodyId, ContactId, ContactMode, Model};
use stiction_stepping::ContactReport;

use super::{
    RecordError,
    table::{Cell, Kind, TableWriter},
    trajectory::count,
};

/// File name inside the folder of a run.
pub(crate) const FILE: &str = "contacts.parquet";

/// Columns in order.
const COLUMNS: [(&str, Kind); 23] = [
    ("step", Kind::Integer),
    ("t", Kind::Real),
    ("body_a", Kind::Text),
    ("body_b", Kind::Text),
    ("shape_a", Kind::Integer),
    ("shape_b", Kind::Integer),
    ("feature", Kind::Integer),
    ("mode", Kind::Text),
    ("gap", Kind::Real),
    ("normal_impulse", Kind::Real),
    ("friction_impulse_x", Kind::Real),
    ("friction_impulse_y", Kind::Real),
    ("friction_impulse_z", Kind::Real),
    ("slip_x", Kind::Real),
    ("slip_y", Kind::Real),
    ("slip_z", Kind::Real),
    ("sigma", Kind::Real),
    ("point_x", Kind::Real),
    ("point_y", Kind::Real),
    ("point_z", Kind::Real),
    ("normal_x", Kind::Real),
    ("normal_y", Kind::Real),
    ("normal_z", Kind::Real),
];

/// Writes the table.
pub(crate) struct ContactsWriter {
    table: TableWriter,
}

impl ContactsWriter {
    pub(crate) fn create(folder: &Path, scene: &str) -> Result<Self, RecordError> {
        let columns: Vec<_> = COLUMNS.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        let metadata = vec![
            ("stiction.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("stiction.scene".to_owned(), scene.to_owned()),
        ];
        Ok(Self { table: TableWriter::create(&folder.join(FILE), &columns, metadata)? })
    }

    pub(crate) fn push(&mut self, model: &Model, step: u64, time: f64, contact: &ContactReport) {
        let ContactId { shape_a, shape_b, feature } = contact.id;
        let names = [contact.body_a, contact.body_b].map(|id| Cell::Text(body_name(model, id)));
        let place = [shape_a, shape_b].map(|shape| count(shape.index() as u64));
        // Features are 64 bits without a sign; the column holds the same bits.
        let identity = names.into_iter().chain(place).chain([Cell::Integer(feature.0.cast_signed())]);
        let (f, s, p, n) = (&contact.friction_impulse, &contact.slip, &contact.point, &contact.normal);
        let numbers = [contact.gap, contact.normal_impulse, f.x, f.y, f.z, s.x, s.y, s.z, contact.sigma]
            .into_iter()
            .chain([p.x, p.y, p.z, n.x, n.y, n.z])
            .map(Cell::Real);
        let row = [count(step), Cell::Real(time)].into_iter().chain(identity);
        self.table.push(row.chain([Cell::Text(mode_name(contact.mode))]).chain(numbers));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.table.is_full()
    }

    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        self.table.flush()
    }

    pub(crate) fn finish(self) -> Result<PathBuf, RecordError> {
        self.table.finish()
    }
}

/// The word for a mode in tables.
pub(crate) fn mode_name(mode: ContactMode) -> &'static str {
    match mode {
        ContactMode::Open => "open",
        ContactMode::Stick => "stick",
        ContactMode::Slip => "slip",
    }
}

/// The mode behind a word.
pub(crate) fn mode_called(name: &[u8]) -> Option<ContactMode> {
    [ContactMode::Open, ContactMode::Stick, ContactMode::Slip]
        .into_iter()
        .find(|mode| mode_name(*mode).as_bytes() == name)
}

/// Name of a body; empty for a body of another model.
pub(crate) fn body_name(model: &Model, id: BodyId) -> &str {
    model.body(id).map_or("", |body| body.name.as_str())
}

/// A short readable name of a contact: the two bodies, a shape number where a body has several, the two features.
pub(crate) fn contact_label(model: &Model, id: &ContactId) -> String {
    let side = |shape| {
        let Some((body, local)) = model.shape_owner(shape) else { return String::new() };
        let several = model.body(body).is_some_and(|body| body.shapes.len() > 1);
        let name = body_name(model, body);
        if several { format!("{name}.{local}") } else { name.to_owned() }
    };
    let feature = id.feature.0;
    format!("{}/{}:{}-{}", side(id.shape_a), side(id.shape_b), feature >> 32, feature & u64::from(u32::MAX))
}
