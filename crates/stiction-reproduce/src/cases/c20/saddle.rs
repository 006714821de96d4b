//! The saddle that the source prints, with its labels corrected, and with the labels as they are printed.

use rayon::prelude::*;
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use super::{CM, Field, Trajectory};
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

const SCENE: &str = include_str!("../../../../../scenes/plate/learned_saddle.toml");

/// Starts of the figure in addition to those of the table, cm.
const FURTHER: [[f64; 2]; 4] = [[-4.0, 3.0], [-6.0, -2.0], [4.0, -4.0], [1.0, 1.0]];

pub(super) fn add(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (rows, first) = (case.table("derived.saddle")?, case.table("first_derivation.saddle")?);
    let starts: Vec<_> = starts(&rows)?.into_iter().chain(FURTHER).collect();
    let trajectories = trajectories(case, Vec::new(), &starts)?;
    let published = case.vector::<2>("published.saddle_rates")?.map(Some).into_iter().chain([None, None]);
    for (trajectory, row) in trajectories.iter().zip(&rows) {
        for (found, published) in quantities(case, trajectory, row)?.into_iter().zip(published.clone()) {
            let expected = Expected::within(row.number(&found.key)?, case.tolerance("tolerance.saddle")?);
            let row = found.row("saddle").reference(expected);
            account.add(match published {
                Some(rate) => row.published(Expected::shown(rate)),
                None => row,
            });
        }
    }
    for (trajectory, row) in trajectories.iter().zip(&first) {
        for found in quantities(case, trajectory, row)? {
            let expected = Expected::within(row.number(&found.key)?, case.tolerance("tolerance.rate")?);
            let row = found.row("first derivation, saddle").first_derivation(expected);
            account.add(row.explained(case.text("first_derivation.note")?));
        }
    }
    add_as_printed(case, account)?;
    account.draw(
        "Six seconds on the learned saddle from several starts (rings)",
        "Figure 6.4: learned saddle from several starts",
        drawn(&trajectories, &starts),
    );
    Ok(())
}

/// With the labels as printed the motion is not a saddle: particles move away along the diagonal.
fn add_as_printed(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let vectors = ["acceleration", "phase", "angular_acceleration", "angular_phase"];
    let changes: Result<Vec<_>, CaseError> = vectors
        .into_iter()
        .map(|name| {
            let [x, y, z] = case.vector(&format!("published.saddle_as_printed.{name}"))?;
            Ok((format!("body.plate.vibration.{name}"), format!("[{x:?}, {y:?}, {z:?}]")))
        })
        .collect();
    let changes = changes?;
    let changes = changes.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
    let rows = case.table("derived.saddle_as_printed")?;
    for (trajectory, row) in trajectories(case, changes, &starts(&rows)?)?.iter().zip(&rows) {
        for found in quantities(case, trajectory, row)? {
            let Some(expected) = row.get(&found.key) else { continue };
            let expected = Expected::within(expected, case.tolerance("tolerance.saddle")?);
            account.add(found.row("labels as printed,").reference(expected));
        }
    }
    Ok(())
}

fn starts(rows: &[Entry]) -> Result<Vec<[f64; 2]>, CaseError> {
    rows.iter().map(|row| Ok([row.number("x")?, row.number("y")?])).collect()
}

/// The paths from all starts.
fn trajectories(
    case: &Reference,
    changes: Vec<(&str, String)>,
    starts: &[[f64; 2]],
) -> Result<Vec<Trajectory>, CaseError> {
    let plate = Field { name: "scenes/plate/learned_saddle.toml", text: SCENE, changes };
    starts.par_iter().map(|start| Trajectory::run(case, &plate, *start)).collect()
}

/// A quantity of a path, and its name in the file.
struct Quantity {
    key: String,
    label: String,
    unit: &'static str,
    value: f64,
}

impl Quantity {
    fn row(&self, of: &str) -> Row {
        Row::new(format!("{of} {}", self.label), self.unit, self.value)
    }
}

/// Rates in the middle of the run, then the final position.
fn quantities(case: &Reference, trajectory: &Trajectory, row: &Entry) -> Result<[Quantity; 4], CaseError> {
    let (x, y) = (row.number("x")?, row.number("y")?);
    let (duration, second) = (case.parameter("duration")?, 1.0);
    let middle = 0.5 * duration;
    let place = |axis: usize, time: f64| trajectory.at(time).map(|sample| sample.place[axis]);
    let rate = |axis: usize, name: &str| {
        // Whole periods of the plate, so that its vibration cancels.
        let (before, after) = (place(axis, middle - 0.5 * second)?, place(axis, middle + 0.5 * second)?);
        let value = (after - before) / (second * place(axis, middle)?);
        let label = format!("from ({x}, {y}) cm: v{name}/{name} at {middle} s");
        Ok::<_, CaseError>(Quantity { key: format!("rate_{name}"), label, unit: "1/s", value })
    };
    let end = |axis: usize, name: &str| {
        let label = format!("from ({x}, {y}) cm: {name} at {duration} s");
        let value = place(axis, duration)? * CM;
        Ok::<_, CaseError>(Quantity { key: format!("end_{name}"), label, unit: "cm", value })
    };
    Ok([rate(0, "x")?, rate(1, "y")?, end(0, "x")?, end(1, "y")?])
}

fn drawn(trajectories: &[Trajectory], starts: &[[f64; 2]]) -> Figure {
    let mut panel = Panel::new(Axis::new("x", "cm"), Axis::new("y", "cm")).equal_aspect();
    for (k, (trajectory, [x, y])) in trajectories.iter().zip(starts).enumerate() {
        panel = panel.with(Layer::line(trajectory.place(0), trajectory.place(1)).colour(k));
        panel = panel.with(Layer::points(vec![*x], vec![*y]).marker(Marker::Ring).colour(k));
    }
    Figure::new("").with(panel).panel_size(90.0, 110.0)
}
