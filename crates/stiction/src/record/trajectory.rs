//! `trajectory.parquet`: one row per recorded step, all bodies side by side.

use std::path::{Path, PathBuf};

use stiction_multibody::Energy;
use stiction_stepping::{StepReport, stages::joint_error};

use super::{
    RecordError, Role, RunInfo,
    layout::Sample,
    table::{Cell, Kind, TableWriter},
};
use crate::Simulation;

/// File name inside the folder of a run.
pub(crate) const FILE: &str = "trajectory.parquet";

/// Key of the [`RunInfo`] in the metadata of the table.
pub(crate) const INFO_KEY: &str = "stiction.run";

/// Column of `State::time_carry`; without it a continued run would round its times differently.
pub(crate) const CARRY: &str = "t_carry";

/// Value of the column `rung` in the first row, the initial state.
const INITIAL: &str = "initial";

/// Writes the table.
pub(crate) struct TrajectoryWriter {
    table: TableWriter,
    sample: Sample,
    row: Vec<Cell<'static>>,
}

impl TrajectoryWriter {
    pub(crate) fn create(folder: &Path, info: &RunInfo) -> Result<Self, RecordError> {
        let path = folder.join(FILE);
        let json = serde_json::to_string(info).map_err(|error| RecordError::encode(&path, &error))?;
        let metadata = vec![
            (INFO_KEY.to_owned(), json),
            ("stiction.version".to_owned(), info.version.clone()),
            ("stiction.scene".to_owned(), info.scene.clone()),
            ("stiction.step".to_owned(), info.step.to_string()),
            ("stiction.dimension".to_owned(), info.dimension.to_string()),
        ];
        let table = TableWriter::create(&path, &columns(info), metadata)?;
        Ok(Self { table, sample: Sample::default(), row: Vec::new() })
    }

    /// Adds a row; the initial state has no report.
    pub(crate) fn push(&mut self, simulation: &Simulation, energy: &Energy, report: Option<&StepReport>) {
        fill_row(&mut self.row, &mut self.sample, simulation, (energy, simulation.joint_impulses()), report);
        self.table.push(self.row.iter().copied());
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

/// Makes the row of a moment. The caller supplies the expensive values, energy and joint impulses; missing impulses are zero.
pub(crate) fn fill_row(
    row: &mut Vec<Cell<'static>>,
    sample: &mut Sample,
    simulation: &Simulation,
    (energy, joint_impulses): (&Energy, &[f64]),
    report: Option<&StepReport>,
) {
    let (model, state) = (simulation.model(), simulation.state());
    row.clear();
    row.extend([count(state.step), Cell::Real(state.time), Cell::Real(state.time_carry)]);
    for index in 0..model.bodies().len() {
        sample.take(model, index, state);
        row.extend(sample.q.iter().chain(&sample.v).map(|x| Cell::Real(*x)));
    }
    let impulses = joint_impulses.iter().copied().chain(std::iter::repeat(0.0));
    row.extend(impulses.take(model.joint_rows()).map(Cell::Real));
    row.extend(state.support_impulses.iter().map(|p| Cell::Real(*p)));
    let forest = state.forest_q.iter().chain(&state.forest_v).chain(&state.angles);
    row.extend(forest.map(|x| Cell::Real(*x)));
    row.extend([energy.kinetic, energy.potential, energy.total()].map(Cell::Real));
    row.extend(match report {
        None => {
            let open = Cell::Real(joint_error(model.joints().iter(), simulation.configuration()));
            [count(0), count(0), count(0), Cell::Real(0.0), Cell::Real(0.0), open, Cell::Text(INITIAL)]
        }
        Some(report) => [
            count(report.contacts as u64),
            count(report.problem_size as u64),
            count(u64::from(report.iterations)),
            Cell::Real(report.residual.value),
            Cell::Real(report.penetration),
            Cell::Real(report.joint_error),
            Cell::Text(report.rung),
        ],
    });
}

/// Name of a column of a body.
pub(crate) fn body_column(body: &str, quantity: &str) -> String {
    format!("{body}.{quantity}")
}

/// Columns of a row of [`fill_row`].
pub(crate) fn columns(info: &RunInfo) -> Vec<(String, Kind)> {
    let dimension = info.dimension();
    let named = |name: &str, kind| (name.to_owned(), kind);
    let mut columns = vec![named("step", Kind::Integer), named("t", Kind::Real), named(CARRY, Kind::Real)];
    for body in info.bodies.iter().filter(|body| body.role != Role::Fixed) {
        let quantities = body.role.coordinates(dimension).iter().chain(body.role.velocities(dimension));
        columns.extend(quantities.map(|quantity| (body_column(&body.name, quantity), Kind::Real)));
    }
    columns.extend(
        info.joint_columns().chain(info.support_columns()).chain(info.forest_columns()).map(|name| (name, Kind::Real)),
    );
    columns.extend(["kinetic", "potential", "total"].map(|name| named(name, Kind::Real)));
    columns.extend(["contacts", "problem_size", "iterations"].map(|name| named(name, Kind::Integer)));
    columns.extend(["residual", "penetration", "joint_error"].map(|name| named(name, Kind::Real)));
    columns.push(named("rung", Kind::Text));
    columns
}

/// A count as a Parquet integer; counts are far below 2^63.
pub(crate) fn count(n: u64) -> Cell<'static> {
    Cell::Integer(i64::try_from(n).unwrap_or(i64::MAX))
}
