//! Tables of `stiction identify`; the page has the same rows.

use std::path::PathBuf;

use stiction_identify::{Bound, Identification, IdentificationReport, Method, MethodReport, PredictionError};

use crate::layout::{Sheet, columns, counted, number, seconds};

pub(super) const ESTIMATES: [&str; 7] =
    ["unknown", "estimate", "95 % interval", "unit", "start", "bounds", "in the scene"];
pub(super) const RESIDUALS: [&str; 6] =
    ["column", "compared", "noise", "rms / noise", "mean / noise", "largest / noise"];
pub(super) const PREDICTIONS: [&str; 6] =
    ["held out", "rows", "position", "at the end", "angle", "position, initial guess"];

pub(super) fn text(
    identification: &Identification,
    report: &IdentificationReport,
    elapsed: f64,
    files: &[PathBuf],
) -> String {
    let mut parts = vec![head(identification, report, elapsed)];
    if let Some(method) = report.methods.first() {
        parts.push(columns(&ESTIMATES, &estimates(method)));
        parts.push(columns(&RESIDUALS, &residuals(method)));
    }
    if report.methods.len() > 1 {
        parts.push(columns(&heading("method", report), &methods(report)));
    }
    if !report.windows.is_empty() {
        parts.push(columns(&heading("window", report), &windows(report)));
    }
    if !report.predictions.is_empty() {
        parts.push(columns(&PREDICTIONS, &predictions(report)));
    }
    let mut sheet = Sheet::default();
    let files: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
    sheet.row("files", files.join("\n"));
    parts.push(sheet.text());
    parts.join("\n")
}

fn head(identification: &Identification, report: &IdentificationReport, elapsed: f64) -> String {
    let mut sheet = Sheet::default();
    let scene = identification.scene_path.display();
    sheet.row("identification", format!("{}, of the scene {scene}", identification.name));
    let rows: usize = identification.recordings.iter().map(|recording| recording.times.len()).sum();
    let recordings = counted(identification.recordings.len(), "recording", "recordings");
    sheet.row("recordings", format!("{recordings}, {rows} rows"));
    for method in &report.methods {
        sheet.row("method", of_method(method));
        sheet.row("misfit", misfit(method));
        // The particle filter shows unobservable unknowns only by wide intervals.
        if method.method != Method::Filter {
            sheet.row("not observable", lines(&method.unseen, "all unknowns are observable"));
        }
        sheet.row("excluded", lines(&method.left_out, "nothing"));
    }
    if !report.notes.is_empty() {
        sheet.row("notes", report.notes.join("\n"));
    }
    sheet.row("time", seconds(elapsed));
    sheet.text()
}

fn lines(lines: &[String], none: &str) -> String {
    if lines.is_empty() { none.to_owned() } else { lines.join("\n") }
}

/// `shooting, converged after 7 iterations; 273 numbers compared, 7 free`.
pub(super) fn of_method(method: &MethodReport) -> String {
    let ended = match method.method {
        Method::Filter => {
            let updates = counted(method.iterations, "update", "updates");
            format!("means over the second half of the rows after {updates}")
        }
        _ if method.converged => format!("converged after {}", counted(method.iterations, "iteration", "iterations")),
        _ => format!("NOT converged after {}", counted(method.iterations, "iteration", "iterations")),
    };
    let (compared, free) = (method.compared, method.free);
    format!("{}, {ended}; {compared} numbers compared, {free} free", method.method.word())
}

/// Misfit, and its interpretation.
pub(super) fn misfit(method: &MethodReport) -> String {
    let meaning = match method.misfit {
        misfit if misfit > 1.5 && method.method == Method::Filter => {
            ": with these values the model does not explain the recordings within their noise"
        }
        misfit if misfit > 1.5 => {
            ": the model does not explain the recordings within their noise; intervals are widened by it"
        }
        misfit if misfit < 0.5 => ": the noise is smaller than stated",
        _ => ", where 1 is noise as stated",
    };
    format!("{} of the noise{meaning}", number(method.misfit))
}

/// Rows of estimates.
pub(super) fn estimates(method: &MethodReport) -> Vec<Vec<String>> {
    let row = |estimate: &stiction_identify::EstimateReport| {
        let interval = match (&estimate.interval, estimate.at_bound) {
            (Some([low, high]), _) => format!("{} to {}", digits(*low), digits(*high)),
            (None, Some(_)) => "none: at its bound".to_owned(),
            (None, None) => "none: not observable".to_owned(),
        };
        let [low, high] = estimate.bounds;
        let hit = match estimate.at_bound {
            Some(Bound::Low) => ", at the lower bound",
            Some(Bound::High) => ", at the upper bound",
            None => "",
        };
        let unit = if estimate.unit.is_empty() { "-".to_owned() } else { estimate.unit.clone() };
        let bounds = format!("{} to {}{hit}", number(low), number(high));
        vec![
            estimate.name.clone(),
            digits(estimate.value),
            interval,
            unit,
            number(estimate.start),
            bounds,
            estimate.paths.join(", "),
        ]
    };
    method.estimates.iter().map(row).collect()
}

/// Formats six significant digits.
fn digits(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e6).contains(&x.abs()) {
        return format!("{x:.5e}");
    }
    let before = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    format!("{x:.*}", usize::try_from(5 - before).unwrap_or(0))
}

/// Rows of columns with their residuals.
pub(super) fn residuals(method: &MethodReport) -> Vec<Vec<String>> {
    let row = |column: &stiction_identify::ColumnMisfit| {
        vec![
            column.column.clone(),
            column.count.to_string(),
            format!("{} {}", number(column.noise), column.unit),
            number(column.rms),
            number(column.mean),
            number(column.largest),
        ]
    };
    method.residuals.iter().map(row).collect()
}

/// A heading with the names of the unknowns.
pub(super) fn heading<'r>(first: &'r str, report: &'r IdentificationReport) -> Vec<&'r str> {
    let unknowns = report.methods.first().into_iter().flat_map(|method| &method.estimates);
    std::iter::once(first).chain(unknowns.map(|estimate| estimate.name.as_str())).collect()
}

/// Rows of methods: each unknown with its standard deviation.
pub(super) fn methods(report: &IdentificationReport) -> Vec<Vec<String>> {
    let row = |method: &MethodReport| {
        let cells = method.estimates.iter().map(|estimate| with_deviation(estimate.value, estimate.deviation));
        std::iter::once(method.method.word().to_owned()).chain(cells).collect()
    };
    report.methods.iter().map(row).collect()
}

/// Rows of windows: mean and scatter of each unknown.
pub(super) fn windows(report: &IdentificationReport) -> Vec<Vec<String>> {
    let row = |study: &stiction_identify::WindowStudy| {
        let cells = study.mean.iter().zip(&study.scatter).map(|(mean, scatter)| with_deviation(*mean, Some(*scatter)));
        let count = counted(study.windows.len(), "window", "windows");
        std::iter::once(format!("{}: {count} of {} rows", study.recording, study.length)).chain(cells).collect()
    };
    report.windows.iter().map(row).collect()
}

fn with_deviation(value: f64, deviation: Option<f64>) -> String {
    match deviation {
        Some(deviation) => format!("{} ± {}", digits(value), number(deviation)),
        None => digits(value),
    }
}

/// Rows of held-out motions, and their medians if there are several.
pub(super) fn predictions(report: &IdentificationReport) -> Vec<Vec<String>> {
    let length = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{} mm", number(1e3 * x)));
    let angle = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{}°", number(x.to_degrees())));
    let numbers = |prediction: &stiction_identify::Prediction| {
        let PredictionError { position_median, position_last, angle_median, .. } = prediction.found;
        let guessed = prediction.guessed.as_ref().and_then(|guessed| guessed.position_median);
        [position_median, position_last, angle_median, guessed]
    };
    let row = |name: &str, rows: usize, [median, last, turned, guessed]: [Option<f64>; 4]| {
        vec![name.to_owned(), rows.to_string(), length(median), length(last), angle(turned), length(guessed)]
    };
    let all: Vec<_> = report.predictions.iter().map(numbers).collect();
    let mut rows: Vec<_> =
        report.predictions.iter().zip(&all).map(|(of, numbers)| row(&of.recording, of.compared, *numbers)).collect();
    if all.len() > 1 {
        let count = report.predictions.iter().map(|prediction| prediction.compared).sum();
        let middle = [0, 1, 2, 3].map(|k| median(all.iter().filter_map(|numbers| *numbers.get(k)?).collect()));
        rows.push(row("median", count, middle));
    }
    rows
}

/// Upper median.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
