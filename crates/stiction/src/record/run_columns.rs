//! Columns of a run in memory: only those that expressions need, without files.
//!
//! The writers of the tables make the rows. An expression thus has the same value, bit for bit, in memory and from files.

use std::{collections::BTreeMap, ops::Range, path::Path};

use stiction_multibody::Energy;
use stiction_stepping::StepReport;

use super::{
    Column, ColumnKind, RecordingError, RunInfo, Words, contacts,
    layout::Sample,
    table::{Cell, Kind},
    trajectory,
};
use crate::{
    Simulation,
    measure::{Needs, Source},
};

/// The columns of one run.
#[derive(Debug)]
pub struct RunColumns {
    step: f64,
    every: u64,
    constants: BTreeMap<String, f64>,
    columns: Kept,
    contact_columns: Kept,
    /// Number of contact rows up to the end of each moment.
    ends: Vec<usize>,
    keeps: Keeps,
    has_layers: bool,
    sample: Sample,
    row: Vec<Cell<'static>>,
    label: String,
}

/// Optional quantities that are needed.
#[derive(Clone, Copy, Debug)]
struct Keeps {
    energy: bool,
    joints: bool,
    contacts: bool,
}

/// Names of all columns of a table, and the values of those that are kept.
#[derive(Debug, Default)]
struct Kept {
    /// Name, kind, and the values if the column is kept.
    columns: Vec<(String, Kind, Option<Column>)>,
}

impl Kept {
    fn new(columns: impl Iterator<Item = (String, Kind)>, is_needed: impl Fn(&str) -> bool) -> Self {
        let kept = |kind| match kind {
            Kind::Integer => Column::Integers(Vec::new()),
            Kind::Real => Column::Reals(Vec::new()),
            Kind::Text => Column::Texts(Words::default()),
        };
        let columns = columns.map(|(name, kind)| {
            let values = is_needed(&name).then(|| kept(kind));
            (name, kind, values)
        });
        Self { columns: columns.collect() }
    }

    fn push<'c>(&mut self, row: impl Iterator<Item = Cell<'c>>) {
        for ((_, _, kept), cell) in self.columns.iter_mut().zip(row) {
            match (kept, cell) {
                (Some(Column::Integers(values)), Cell::Integer(n)) => values.push(n),
                (Some(Column::Reals(values)), Cell::Real(x)) => values.push(x),
                (Some(Column::Texts(words)), Cell::Text(word)) => {
                    let index = words.words.iter().position(|known| known == word).unwrap_or_else(|| {
                        words.words.push(word.to_owned());
                        words.words.len() - 1
                    });
                    words.rows.push(index);
                }
                _ => {}
            }
        }
    }

    fn get(&self, name: &str) -> Result<Column, RecordingError> {
        let found = self.columns.iter().find(|(known, ..)| known == name).and_then(|(_, _, values)| values.clone());
        found.ok_or_else(|| RecordingError::bad_column(Path::new("the run in memory"), name))
    }

    fn kinds(&self) -> Vec<(&str, ColumnKind)> {
        let kind = |kind: &Kind| match kind {
            Kind::Integer => ColumnKind::Integer,
            Kind::Real => ColumnKind::Real,
            Kind::Text => ColumnKind::Text,
        };
        self.columns.iter().map(|(name, of, _)| (name.as_str(), kind(of))).collect()
    }

    fn keeps(&self, names: &[&str]) -> bool {
        self.columns.iter().any(|(name, _, values)| values.is_some() && names.contains(&name.as_str()))
    }
}

impl RunColumns {
    /// Keeps the needed columns every `record_every` steps, from the initial state on.
    pub fn new(simulation: &Simulation, needs: &Needs, record_every: u32) -> Self {
        let model = simulation.model();
        let info = RunInfo::new("", simulation.step_size(), model, simulation.scheme());
        let columns = Kept::new(trajectory::columns(&info).into_iter(), |name| needs.columns.contains(name));
        let has_layers = model.has_layers();
        let contact_columns = contacts::columns(has_layers).map(|(name, kind)| (name.to_owned(), kind));
        let contact_columns = Kept::new(contact_columns, |name| needs.contact_columns.contains(name));
        let joints: Vec<_> = info.joint_columns().collect();
        let keeps = Keeps {
            energy: columns.keeps(&["kinetic", "potential", "total"]),
            joints: columns.keeps(&joints.iter().map(String::as_str).collect::<Vec<_>>()),
            contacts: needs.contacts,
        };
        let mut run = Self {
            step: simulation.step_size(),
            every: u64::from(record_every.max(1)),
            constants: BTreeMap::new(),
            columns,
            contact_columns,
            ends: Vec::new(),
            keeps,
            has_layers,
            sample: Sample::default(),
            row: Vec::new(),
            label: String::new(),
        };
        run.push(simulation, None);
        run
    }

    /// Defines a constant that expressions can use.
    pub fn set_constant(&mut self, name: &str, value: f64) {
        self.constants.insert(name.to_owned(), value);
    }

    /// Records a step that the simulation has just made.
    pub fn record(&mut self, simulation: &Simulation, report: &StepReport) {
        if simulation.state().step.is_multiple_of(self.every) {
            self.push(simulation, Some(report));
        }
    }

    /// Records the last step of a run, whatever its number.
    pub fn record_last(&mut self, simulation: &Simulation, report: &StepReport) {
        self.push(simulation, Some(report));
    }

    fn push(&mut self, simulation: &Simulation, report: Option<&StepReport>) {
        let none = Energy { kinetic: 0.0, potential: 0.0 };
        let energy = if self.keeps.energy { simulation.energy() } else { none };
        let impulses = if self.keeps.joints { simulation.joint_impulses() } else { &[] };
        trajectory::fill_row(&mut self.row, &mut self.sample, simulation, (&energy, impulses), report);
        self.columns.push(self.row.iter().copied());
        let mut rows = self.ends.last().copied().unwrap_or(0);
        if self.keeps.contacts && report.is_some() {
            let (model, state) = (simulation.model(), simulation.state());
            for contact in simulation.contacts() {
                self.label.clear();
                contacts::write_label(&mut self.label, model, &contact.id);
                let at = (state.step, state.time);
                self.contact_columns.push(contacts::cells(model, at, contact, &self.label, self.has_layers));
                rows += 1;
            }
        }
        self.ends.push(rows);
    }
}

impl Source for RunColumns {
    fn step(&self) -> f64 {
        self.step
    }

    fn frames(&self) -> usize {
        self.ends.len()
    }

    fn contact_rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn columns(&self) -> Vec<(&str, ColumnKind)> {
        self.columns.kinds()
    }

    fn contact_columns(&self) -> Vec<(&str, ColumnKind)> {
        self.contact_columns.kinds()
    }

    fn column(&self, name: &str) -> Result<Column, RecordingError> {
        self.columns.get(name)
    }

    fn contact_column(&self, name: &str) -> Result<Column, RecordingError> {
        self.contact_columns.get(name)
    }

    fn contacts_of_frames(&self) -> Result<Vec<Range<usize>>, RecordingError> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        Ok(starts.zip(&self.ends).map(|(start, end)| start..*end).collect())
    }

    fn constant(&self, name: &str) -> Option<f64> {
        self.constants.get(name).copied()
    }

    fn allows_unseen_contacts(&self) -> bool {
        true
    }
}
