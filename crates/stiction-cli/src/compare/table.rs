//! Tables of `stiction compare`.

use std::path::PathBuf;

use stiction::compare::{Comparison, Outcome, Row};

use crate::layout::{Sheet, columns, counted, moment, number, seconds};

/// Placeholder for a missing number.
const NONE: &str = "-";

const ACCURACY: [&str; 8] =
    ["preset", "step (s)", "velocity error", "order", "position error", "order", "variation", "heading"];

const COST: [&str; 10] =
    ["preset", "step (s)", "steps", "iterations", "time", "infeasible", "joints", "energy", "slip", "residual"];

pub(super) fn text(comparison: &Comparison, files: &[PathBuf]) -> String {
    let mut parts = vec![head(comparison)];
    if !comparison.rows.is_empty() {
        parts.push(columns(&ACCURACY, &comparison.rows.iter().map(accuracy_cells).collect::<Vec<_>>()));
        parts.push(columns(&COST, &comparison.rows.iter().map(cost_cells).collect::<Vec<_>>()));
    }
    parts.push(tail(comparison, files));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn head(comparison: &Comparison) -> String {
    let truth = &comparison.truth;
    let mut sheet = Sheet::default();
    sheet.row("scene", format!("{}, to t = {}", comparison.scene, moment(comparison.until)));
    sheet.row("compared with", format!("{} in steps of {} s", truth.preset, number(truth.step)));
    for refusal in &truth.rejected_candidates {
        sheet.row("", format!("not {}: {}", refusal.preset, refusal.reason));
    }
    sheet.row(
        "resolution",
        format!(
            "errors below {} (velocity) and {} (position) are not significant",
            number(truth.resolution.velocity),
            number(truth.resolution.position)
        ),
    );
    sheet.text()
}

/// Errors; none for a failed run.
fn accuracy_cells(row: &Row) -> Vec<String> {
    let error = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), number);
    let order = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |p| format!("{p:.2}"));
    let heading = row.errors.and_then(|errors| errors.heading).map(f64::to_degrees);
    vec![
        row.preset.clone(),
        row.step.to_string(),
        error(row.errors.map(|errors| errors.velocity)),
        order(row.orders.velocity),
        error(row.errors.map(|errors| errors.position)),
        order(row.orders.position),
        error(row.errors.map(|_| row.variation)),
        heading.map_or_else(|| NONE.to_owned(), |degrees| format!("{}°", number(degrees))),
    ]
}

/// Number of steps, and of halved ones.
fn steps(row: &Row) -> String {
    match row.cost.halved {
        0 => row.cost.steps.to_string(),
        halved => format!("{} ({halved} halved)", row.cost.steps),
    }
}

fn cost_cells(row: &Row) -> Vec<String> {
    vec![
        row.preset.clone(),
        row.step.to_string(),
        steps(row),
        row.cost.iterations.to_string(),
        seconds(row.cost.wall_seconds),
        number(row.infeasibility.total.r#final),
        number(row.infeasibility.joints.r#final),
        number(row.energy.r#final - row.energy.initial),
        number(row.slip),
        number(row.residual.max),
    ]
}

/// Schemes that were not run, failures, and the paths of the files.
fn tail(comparison: &Comparison, files: &[PathBuf]) -> String {
    let mut sheet = Sheet::default();
    for refusal in &comparison.refusals {
        sheet.row("not run", format!("{}: {}", refusal.preset, refusal.reason));
    }
    for row in &comparison.rows {
        if let Outcome::Failed { step, time, cause } = &row.outcome {
            let made = counted(usize::try_from(row.cost.steps).unwrap_or(usize::MAX), "step", "steps");
            let place = format!("in step {step} from t = {} after {made}", moment(*time));
            sheet.row("failed", format!("{} at {} s, {place}: {cause}", row.preset, row.step));
        }
    }
    if !files.is_empty() {
        let files: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
        sheet.row("files", files.join("\n"));
    }
    sheet.text()
}
