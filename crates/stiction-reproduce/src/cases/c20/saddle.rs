//! The saddle that the source prints, with its labels put right.

use rayon::prelude::*;
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use super::{CM, Field, Way};
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

const SCENE: &str = include_str!("../../../../../scenes/plate/learned_saddle.toml");

/// Starts of the figure beside those of the table, cm.
const FURTHER: [[f64; 2]; 4] = [[-4.0, 3.0], [-6.0, -2.0], [4.0, -4.0], [1.0, 1.0]];

pub(super) fn add(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let rows = case.table("derived.saddle")?;
    let starts: Result<Vec<_>, CaseError> = rows.iter().map(|row| Ok([row.number("x")?, row.number("y")?])).collect();
    let starts: Vec<_> = starts?.into_iter().chain(FURTHER).collect();
    let plate = Field { name: "scenes/plate/learned_saddle.toml", text: SCENE, changes: Vec::new() };
    let duration = case.parameter("duration")?;
    let ways: Result<Vec<_>, CaseError> =
        starts.par_iter().map(|start| Way::run(case, &plate, *start, duration)).collect();
    let ways = ways?;
    for (way, row) in ways.iter().zip(&rows) {
        add_rows(case, way, row, account)?;
    }
    let mut panel = Panel::new(Axis::new("x", "cm"), Axis::new("y", "cm")).equal_aspect();
    for (k, (way, [x, y])) in ways.iter().zip(&starts).enumerate() {
        panel = panel.with(Layer::line(way.place(0), way.place(1)).colour(k));
        panel = panel.with(Layer::points(vec![*x], vec![*y]).marker(Marker::Ring).colour(k));
    }
    account.draw(
        "Six seconds on the learned saddle from several starts (rings)",
        "Figure 6.4: learned saddle from several starts",
        Figure::new("").with(panel).panel_size(90.0, 110.0),
    );
    Ok(())
}

fn add_rows(case: &Reference, way: &Way, row: &Entry, account: &mut Account) -> Result<(), CaseError> {
    let (x, y) = (row.number("x")?, row.number("y")?);
    let (duration, second) = (case.parameter("duration")?, 1.0);
    let [published_x, published_y] = case.vector("published.saddle_rates")?;
    let middle = 0.5 * duration;
    for (axis, name, published) in [(0, "x", published_x), (1, "y", published_y)] {
        // Whole periods of the plate, so that its vibration is out.
        let place = |time: f64| way.at(time).map(|sample| sample.place[axis]);
        let (before, after) = (place(middle - 0.5 * second)?, place(middle + 0.5 * second)?);
        let rate = (after - before) / (second * place(middle)?);
        let expected = Expected::shown(row.number(&format!("rate_{name}"))?);
        let label = format!("saddle from ({x}, {y}) cm: v{name}/{name} at {middle} s");
        account.add(Row::new(label, "1/s", rate).reference(expected).published(Expected::shown(published)));
        let end = Expected::shown(row.number(&format!("end_{name}"))?);
        let label = format!("saddle from ({x}, {y}) cm: {name} at {duration} s");
        account.add(Row::new(label, "cm", place(duration)? * CM).reference(end));
    }
    Ok(())
}
