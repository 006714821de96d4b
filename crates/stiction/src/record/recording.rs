//! Reads a recorded run back as states, without solving anything.

use std::{collections::BTreeMap, ops::Range, path::Path};

use parquet::data_type::ByteArray;
use stiction_multibody::{ContactId, ContactMemory, ContactMode, ShapeId, State};

use super::{
    RecordingError, RunInfo,
    contacts::{self, feature_of, mode_called},
    error::presentable,
    info::FORMAT,
    table_reader::TableReader,
    trajectory::{self, CARRY, INFO_KEY, body_column},
};

/// A run read from its folder; coordinates, velocities and times equal those of the run bit for bit.
#[derive(Clone, Debug)]
pub struct Recording {
    info: RunInfo,
    steps: Vec<u64>,
    times: Vec<f64>,
    carries: Vec<f64>,
    /// Values frame after frame.
    q: Rows,
    v: Rows,
    joint_impulses: Rows,
    forest: Rows,
    support_impulses: Rows,
    contacts: Vec<ContactMemory>,
    /// Range of each frame in `contacts`.
    contacts_of: Vec<Range<usize>>,
    is_cut: bool,
}

/// One recorded moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// Number of the step; 0 is the initial state.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// Coordinates of all dynamic bodies.
    pub q: &'a [f64],
    /// Velocities of all dynamic bodies.
    pub v: &'a [f64],
    /// Contacts of the step that ended at this moment.
    pub contacts: &'a [ContactMemory],
}

/// A dense table stored row after row.
#[derive(Clone, Debug, Default)]
struct Rows {
    width: usize,
    values: Vec<f64>,
}

impl Rows {
    fn from_columns(columns: &[Vec<f64>], rows: usize) -> Self {
        let values = (0..rows).flat_map(|k| columns.iter().filter_map(move |column| column.get(k).copied()));
        Self { width: columns.len(), values: values.collect() }
    }

    fn row(&self, k: usize) -> &[f64] {
        self.values.get(k * self.width..(k + 1) * self.width).unwrap_or_default()
    }
}

impl Recording {
    /// Reads the tables in `folder`. Truncated files are read up to the last complete part. Damaged files, files of other programs and other
    /// layouts are rejected.
    pub fn read(folder: &Path) -> Result<Self, RecordingError> {
        let path = folder.join(trajectory::FILE);
        let table = TableReader::open(&path)?;
        let info = read_info(&table, &path)?;
        let steps = counts(&table, &path, "step")?;
        let (times, carries) = (table.reals("t")?, table.reals(CARRY)?);
        let dimension = info.dimension();
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for body in info.bodies.iter().filter(|body| body.role.has_unknowns()) {
            for quantity in body.role.coordinates(dimension) {
                q.push(table.reals(&body_column(&body.name, quantity))?);
            }
            for quantity in body.role.velocities(dimension) {
                v.push(table.reals(&body_column(&body.name, quantity))?);
            }
        }
        let (q, v) = (Rows::from_columns(&q, steps.len()), Rows::from_columns(&v, steps.len()));
        let joint_impulses = read_impulses(&table, info.joint_columns(), steps.len())?;
        let support_impulses = read_impulses(&table, info.support_columns(), steps.len())?;
        let forest = read_impulses(&table, info.forest_columns(), steps.len())?;
        let (contacts, contacts_of) = read_contacts(folder, &info, &steps)?;
        let is_cut = table.is_cut();
        Ok(Self {
            info,
            steps,
            times,
            carries,
            q,
            v,
            joint_impulses,
            forest,
            support_impulses,
            contacts,
            contacts_of,
            is_cut,
        })
    }

    /// Scene, step size, dimension and bodies.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// True if the recording was truncated while it was written; the remaining part is valid.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Number of recorded moments, the initial state included.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// True if not even the initial state was recorded.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Frame number `k`.
    pub fn frame(&self, k: usize) -> Option<Frame<'_>> {
        let contacts = self.contacts_of.get(k).cloned().and_then(|range| self.contacts.get(range));
        Some(Frame {
            step: *self.steps.get(k)?,
            time: *self.times.get(k)?,
            q: self.q.row(k),
            v: self.v.row(k),
            contacts: contacts.unwrap_or_default(),
        })
    }

    /// All frames in order.
    pub fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        (0..self.len()).filter_map(|k| self.frame(k))
    }

    /// State at frame `k` with contact memory: a simulation restored from it continues as the recorded one did.
    pub fn state(&self, k: usize) -> Option<State> {
        let frame = self.frame(k)?;
        let forest = self.forest.row(k);
        let (forest_q, rest) = forest.split_at_checked(self.info.forest_q.len()).unwrap_or_default();
        let (forest_v, angles) = rest.split_at_checked(self.info.forest_v.len()).unwrap_or_default();
        Some(State {
            step: frame.step,
            time: frame.time,
            time_carry: *self.carries.get(k)?,
            q: frame.q.to_vec(),
            v: frame.v.to_vec(),
            contacts: frame.contacts.to_vec(),
            joint_impulses: self.joint_impulses.row(k).to_vec(),
            support_impulses: self.support_impulses.row(k).to_vec(),
            forest_q: forest_q.to_vec(),
            forest_v: forest_v.to_vec(),
            angles: angles.to_vec(),
        })
    }
}

fn read_impulses(
    table: &TableReader,
    columns: impl Iterator<Item = String>,
    rows: usize,
) -> Result<Rows, RecordingError> {
    let columns: Result<Vec<_>, _> = columns.map(|name| table.reals(&name)).collect();
    Ok(Rows::from_columns(&columns?, rows))
}

/// Part of [`RunInfo`] that all versions share.
#[derive(serde::Deserialize)]
struct Layout {
    format: u32,
    #[serde(default)]
    version: String,
}

pub(crate) fn read_info(table: &TableReader, path: &Path) -> Result<RunInfo, RecordingError> {
    let foreign = |reason: String| RecordingError::Foreign { path: path.into(), reason };
    let json = table.metadata(INFO_KEY).ok_or_else(|| foreign(format!("it has no entry `{INFO_KEY}`")))?;
    let wrong = |error: serde_json::Error| foreign(format!("entry `{INFO_KEY}`: {}", presentable(&error.to_string())));
    // The layout is checked first: other versions may lack fields that this one needs.
    let Layout { format, version } = serde_json::from_str(json).map_err(wrong)?;
    if format != FORMAT {
        let (theirs, ours) = (presentable(&version), env!("CARGO_PKG_VERSION"));
        let reason = format!(
            "stiction {theirs} wrote it in layout {format}; this is stiction {ours}, which knows layout {FORMAT}"
        );
        return Err(foreign(reason));
    }
    let info: RunInfo = serde_json::from_str(json).map_err(wrong)?;
    if let Some(twice) = info.name_given_twice() {
        return Err(foreign(format!("two bodies or two joints are called \"{}\"", presentable(twice))));
    }
    Ok(info)
}

pub(crate) fn counts(table: &TableReader, path: &Path, name: &str) -> Result<Vec<u64>, RecordingError> {
    let bad = |_| RecordingError::bad_column(path, name);
    table.integers(name)?.into_iter().map(|n| u64::try_from(n).map_err(bad)).collect()
}

/// Reads the contacts and finds those of each frame; both tables are sorted by step.
fn read_contacts(
    folder: &Path,
    info: &RunInfo,
    frames: &[u64],
) -> Result<(Vec<ContactMemory>, Vec<Range<usize>>), RecordingError> {
    let path = folder.join(contacts::FILE);
    let table = TableReader::open(&path)?;
    let bad = |column: &str| RecordingError::bad_column(&path, column);
    let steps = counts(&table, &path, "step")?;
    let identities = read_identities(&table, info, &bad)?;
    let modes = table.texts("mode")?.iter().map(|word| mode_called(word.data())).collect::<Option<Vec<_>>>();
    let names = ["normal_impulse", "friction_impulse_x", "friction_impulse_y", "friction_impulse_z"];
    let numbers = names.into_iter().chain(["spin_impulse", "pending_restitution"]).map(|name| table.reals(name));
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    let numbers = Rows::from_columns(&numbers, steps.len());
    let points = ["point_x", "point_y", "point_z"].map(|name| table.reals(name));
    let points = Rows::from_columns(&points.into_iter().collect::<Result<Vec<_>, _>>()?, steps.len());
    let rolling = contacts::ROLLING_COLUMNS.iter().filter(|name| table.has(name)).map(|name| table.reals(name));
    let rolling = Rows::from_columns(&rolling.collect::<Result<Vec<_>, _>>()?, steps.len());
    let layers = contacts::LAYER_COLUMNS.iter().filter(|name| table.has(name)).map(|name| table.reals(name));
    let layers = Rows::from_columns(&layers.collect::<Result<Vec<_>, _>>()?, steps.len());
    let memory = |(row, (id, mode)): (usize, (ContactId, ContactMode))| match *numbers.row(row) {
        [normal_impulse, x, y, z, spin_impulse, pending_restitution] => {
            let layer = contacts::layer_of(layers.row(row));
            Some(ContactMemory {
                id,
                mode,
                point: points.row(row).try_into().unwrap_or_default(),
                normal_impulse,
                friction_impulse: [x, y, z],
                spin_impulse,
                rolling_impulse: rolling.row(row).try_into().unwrap_or_default(),
                pending_restitution: contacts::pending_of(pending_restitution),
                layer,
            })
        }
        _ => None,
    };
    let known = identities.into_iter().zip(modes.ok_or_else(|| bad("mode"))?);
    let contacts =
        known.enumerate().map(memory).collect::<Option<Vec<_>>>().ok_or_else(|| bad("pending_restitution"))?;
    let of_step =
        |step: &u64| steps.partition_point(|other| other < step)..steps.partition_point(|other| other <= step);
    Ok((contacts, frames.iter().map(of_step).collect()))
}

/// Reads the contact ids of the rows of the contact table.
fn read_identities(
    table: &TableReader,
    info: &RunInfo,
    bad: &impl Fn(&str) -> RecordingError,
) -> Result<Vec<ContactId>, RecordingError> {
    let numbers = shape_numbers(info);
    let shapes = |body: &str, shape: &str| {
        let id = |(name, local): (&ByteArray, &i64)| {
            let numbers = numbers.get(name.data())?;
            let number = numbers.clone().nth(usize::try_from(*local).ok()?)?;
            shape_id(u32::try_from(number).ok()?)
        };
        let ids = table.texts(body)?.iter().zip(&table.integers(shape)?).map(id).collect::<Option<Vec<_>>>();
        ids.ok_or_else(|| bad(shape))
    };
    let halves = |name: &str| {
        let halves = table.integers(name)?.into_iter().map(|half| u32::try_from(half).map_err(|_| bad(name)));
        halves.collect::<Result<Vec<_>, _>>()
    };
    let pairs = shapes("body_a", "shape_a")?.into_iter().zip(shapes("body_b", "shape_b")?);
    let features = halves("feature_a")?.into_iter().zip(halves("feature_b")?).map(|(a, b)| feature_of(a, b));
    Ok(pairs.zip(features).map(|((shape_a, shape_b), feature)| ContactId { shape_a, shape_b, feature }).collect())
}

/// Ranges of shape numbers in the model, by name of the body.
fn shape_numbers(info: &RunInfo) -> BTreeMap<&[u8], Range<usize>> {
    let mut next = 0_usize;
    let ranges = info.bodies.iter().map(|body| {
        let start = next;
        next = start.saturating_add(body.shapes);
        (body.name.as_bytes(), start..next)
    });
    ranges.collect()
}

/// Creates a shape id. Only models and this reader create them.
fn shape_id(number: u32) -> Option<ShapeId> {
    serde_json::from_value(number.into()).ok()
}
