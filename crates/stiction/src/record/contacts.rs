//! `contacts.parquet`: one row per contact and recorded step.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use stiction_geometry::Feature;
use stiction_multibody::{BodyId, ContactId, ContactMode, LayerMemory, Model};
use stiction_stepping::ContactReport;

use super::{
    RecordError,
    table::{Cell, Kind, TableWriter},
    trajectory::count,
};

/// File name inside the folder of a run.
pub(crate) const FILE: &str = "contacts.parquet";

/// Columns in order.
const COLUMNS: [(&str, Kind); 31] = [
    ("step", Kind::Integer),
    ("t", Kind::Real),
    ("contact", Kind::Text),
    ("body_a", Kind::Text),
    ("body_b", Kind::Text),
    ("shape_a", Kind::Integer),
    ("shape_b", Kind::Integer),
    ("feature_a", Kind::Integer),
    ("feature_b", Kind::Integer),
    ("mode", Kind::Text),
    ("gap", Kind::Real),
    ("normal_impulse", Kind::Real),
    ("friction_impulse_x", Kind::Real),
    ("friction_impulse_y", Kind::Real),
    ("friction_impulse_z", Kind::Real),
    ("spin_impulse", Kind::Real),
    ("rolling_impulse_x", Kind::Real),
    ("rolling_impulse_y", Kind::Real),
    ("rolling_impulse_z", Kind::Real),
    ("slip_x", Kind::Real),
    ("slip_y", Kind::Real),
    ("slip_z", Kind::Real),
    ("sigma", Kind::Real),
    ("pending_restitution", Kind::Real),
    ("point_x", Kind::Real),
    ("point_y", Kind::Real),
    ("point_z", Kind::Real),
    ("normal_x", Kind::Real),
    ("normal_y", Kind::Real),
    ("normal_z", Kind::Real),
    ("friction", Kind::Real),
];

/// Columns of rolling friction, which older recordings do not have.
pub(crate) const ROLLING_COLUMNS: [&str; 3] = ["rolling_impulse_x", "rolling_impulse_y", "rolling_impulse_z"];

/// Additional columns if bodies have compliant layers; NaN for contacts without a layer.
pub(crate) const LAYER_COLUMNS: [&str; 10] = [
    "compression",
    "shear_x",
    "shear_y",
    "shear_z",
    "layer_energy",
    "core_impulse",
    "core_friction_x",
    "core_friction_y",
    "core_friction_z",
    "core_spin",
];

/// Writes the table.
pub(crate) struct ContactsWriter {
    table: TableWriter,
    label: String,
    has_layers: bool,
}

impl ContactsWriter {
    pub(crate) fn create(folder: &Path, scene: &str, has_layers: bool) -> Result<Self, RecordError> {
        let columns: Vec<_> = columns(has_layers).map(|(name, kind)| (name.to_owned(), kind)).collect();
        let metadata = vec![
            ("stiction.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("stiction.scene".to_owned(), scene.to_owned()),
        ];
        let table = TableWriter::create(&folder.join(FILE), &columns, metadata)?;
        Ok(Self { table, label: String::new(), has_layers })
    }

    pub(crate) fn push(&mut self, model: &Model, step: u64, time: f64, contact: &ContactReport) {
        self.label.clear();
        write_label(&mut self.label, model, &contact.id);
        self.table.push(cells(model, (step, time), contact, &self.label, self.has_layers));
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

/// Columns of a row of [`cells`].
pub(crate) fn columns(has_layers: bool) -> impl Iterator<Item = (&'static str, Kind)> {
    COLUMNS.into_iter().chain(LAYER_COLUMNS.into_iter().filter(move |_| has_layers).map(|name| (name, Kind::Real)))
}

/// Row of a contact with this label.
pub(crate) fn cells<'a>(
    model: &'a Model,
    (step, time): (u64, f64),
    contact: &ContactReport,
    label: &'a str,
    has_layers: bool,
) -> impl Iterator<Item = Cell<'a>> {
    let ContactId { shape_a, shape_b, feature } = contact.id;
    let names = [contact.body_a, contact.body_b].map(|id| Cell::Text(body_name(model, id)));
    // Shapes are numbered from 0 on each body, as in the label.
    let shapes = [shape_a, shape_b].map(|id| count(model.shape_owner(id).map_or(0, |(_, local)| local as u64)));
    let features = halves(feature).map(|half| count(u64::from(half)));
    let identity = names.into_iter().chain(shapes).chain(features);
    let (f, m) = (&contact.friction_impulse, &contact.rolling_impulse);
    let (s, p, n) = (&contact.slip, &contact.point, &contact.normal);
    let numbers = [contact.gap, contact.normal_impulse, f.x, f.y, f.z, contact.spin_impulse]
        .into_iter()
        .chain([m.x, m.y, m.z])
        .chain([s.x, s.y, s.z, contact.sigma, pending_column(contact.pending_restitution)])
        .chain([p.x, p.y, p.z, n.x, n.y, n.z])
        .chain([model.contact_rule(contact.body_a, contact.body_b).friction])
        .map(Cell::Real);
    let row = [count(step), Cell::Real(time), Cell::Text(label)].into_iter().chain(identity);
    let row = row.chain([Cell::Text(mode_name(contact.mode))]).chain(numbers);
    let layer = contact.layer.map_or([f64::NAN; 10], |layer| layer_numbers(&layer));
    row.chain(layer.into_iter().filter(move |_| has_layers).map(Cell::Real))
}

/// Pending restitution in tables: a speed of approach, not the normal velocity of the memory.
fn pending_column(velocity: f64) -> f64 {
    // Zero keeps its sign, so that a run continues with the same bits.
    if velocity == 0.0 { velocity } else { -velocity }
}

/// Inverse of [`pending_column`]. Older tables hold the velocity.
pub(crate) fn pending_of(column: f64) -> f64 {
    if column == 0.0 { column } else { -column.abs() }
}

/// Values of a layer in the order of [`LAYER_COLUMNS`].
fn layer_numbers(layer: &LayerMemory) -> [f64; 10] {
    let ([x, y, z], [u, v, w]) = (layer.shear, layer.core_friction);
    [layer.compression, x, y, z, layer.energy, layer.core_impulse, u, v, w, layer.core_spin]
}

/// Layer from the values of [`LAYER_COLUMNS`].
pub(crate) fn layer_of(numbers: &[f64]) -> Option<LayerMemory> {
    let &[compression, x, y, z, energy, core_impulse, u, v, w, core_spin] = numbers else { return None };
    (!compression.is_nan()).then_some(LayerMemory {
        compression,
        shear: [x, y, z],
        energy,
        core_impulse,
        core_friction: [u, v, w],
        core_spin,
    })
}

/// Name of a mode in tables.
pub(crate) fn mode_name(mode: ContactMode) -> &'static str {
    match mode {
        ContactMode::Open => "open",
        ContactMode::Stick => "stick",
        ContactMode::Slip => "slip",
    }
}

/// Mode with this name.
pub(crate) fn mode_called(name: &[u8]) -> Option<ContactMode> {
    [ContactMode::Open, ContactMode::Stick, ContactMode::Slip]
        .into_iter()
        .find(|mode| mode_name(*mode).as_bytes() == name)
}

/// Name of a body; empty for a body of another model.
pub(crate) fn body_name(model: &Model, id: BodyId) -> &str {
    model.body(id).map_or("", |body| body.name.as_str())
}

/// Features of the two shapes, which [`Feature`] packs into its halves.
fn halves(Feature(both): Feature) -> [u32; 2] {
    [(both >> 32) as u32, both as u32]
}

/// Inverse of [`halves`].
pub(crate) fn feature_of(a: u32, b: u32) -> Feature {
    Feature((u64::from(a) << 32) | u64::from(b))
}

/// Short readable label of a contact: the two bodies, a shape number if a body has several, and the two features.
pub fn contact_label(model: &Model, id: &ContactId) -> String {
    let mut label = String::new();
    write_label(&mut label, model, id);
    label
}

pub(crate) fn write_label(label: &mut String, model: &Model, id: &ContactId) {
    let side = |label: &mut String, shape| {
        let Some((body, local)) = model.shape_owner(shape) else { return };
        label.push_str(body_name(model, body));
        if model.body(body).is_some_and(|body| body.shapes.len() > 1) {
            // Writing to a `String` cannot fail.
            let _ = write!(label, ".{local}");
        }
    };
    side(label, id.shape_a);
    label.push('/');
    side(label, id.shape_b);
    let [a, b] = halves(id.feature);
    let _ = write!(label, ":{a}-{b}");
}
