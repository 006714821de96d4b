//! Tables of `stiction design`.

use std::path::PathBuf;

use stiction_study::design::{DesignReport, DesignSearch, Method};

use crate::layout::{Sheet, columns, counted, number, seconds};

/// Number of starts in the table; all are in the file.
const SHOWN: usize = 8;

pub(super) fn text(
    search: &DesignSearch,
    report: &DesignReport,
    (elapsed, found): (f64, usize),
    files: &[PathBuf],
) -> String {
    let mut parts = vec![head(search, report, (elapsed, found))];
    parts.push(columns(&["parameter", "found", "start", "bounds", "in the scene"], &parameters(report)));
    if let Some(first) = report.runs.first() {
        let terms: Vec<_> = first.terms.iter().map(|(name, _)| name.as_str()).collect();
        let heading: Vec<_> = std::iter::once("run").chain(terms).collect();
        parts.push(columns(&heading, &runs(report)));
    }
    if report.starts.len() > 1 {
        parts.push(columns(&["start", "objective", "evaluations", "ended"], &starts(report)));
    }
    let mut sheet = Sheet::default();
    let files: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
    sheet.row("files", files.join("\n"));
    parts.push(sheet.text());
    parts.join("\n")
}

fn head(search: &DesignSearch, report: &DesignReport, (elapsed, found): (f64, usize)) -> String {
    let design = search.design();
    let mut sheet = Sheet::default();
    sheet.row("design", format!("{}, of the scene {}", design.name, design.scene_path.display()));
    let starts = counted(report.starts.len(), "start", "starts");
    sheet.row("method", format!("{} from {starts}, seed {}", report.method.name(), report.seed));
    let again = if found > 0 { format!(", {found} of them from the log") } else { String::new() };
    let evaluations = counted(report.evaluations as usize, "evaluation", "evaluations");
    let runs = counted(design.runs.len(), "run", "runs");
    sheet.row("made", format!("{evaluations} of {runs}{again}; total time {}", seconds(elapsed)));
    let failed: u64 = report.failed.iter().map(|failure| failure.count).sum();
    let reasons = report.failed.iter().map(|f| format!("{}: {} ({})", f.count, f.reason, f.detail));
    let lines: Vec<_> =
        std::iter::once(if failed == 0 { "none".into() } else { failed.to_string() }).chain(reasons).collect();
    sheet.row("failed", lines.join("\n"));
    let what = if report.method == Method::LeastSquares { "sum of squares" } else { "objective" };
    sheet.row(what, objective(report));
    if let [start] = report.starts.as_slice() {
        sheet.row("ended", start.ending.words());
    }
    sheet.text()
}

/// `1.036, from 97.2 at the start`.
pub(super) fn objective(report: &DesignReport) -> String {
    let value = report.objective.map_or_else(|| "none".to_owned(), number);
    match report.objective_at_start {
        Some(start) => format!("{value}, from {} at the start", number(start)),
        None => value,
    }
}

/// Rows of parameters.
pub(super) fn parameters(report: &DesignReport) -> Vec<Vec<String>> {
    let bound = |bound: Option<f64>| bound.map_or_else(|| "none".to_owned(), number);
    let row = |chosen: &stiction_study::design::Chosen| {
        let [low, high] = chosen.bounds;
        let bounds =
            if low.is_none() && high.is_none() { "-".into() } else { format!("{} to {}", bound(low), bound(high)) };
        let path = chosen.path.clone().unwrap_or_else(|| "through formulas".to_owned());
        vec![chosen.name.clone(), format!("{:.6}", chosen.value), number(chosen.start), bounds, path]
    };
    report.parameters.iter().map(row).collect()
}

/// Rows of runs and their terms.
pub(super) fn runs(report: &DesignReport) -> Vec<Vec<String>> {
    let row = |run: &stiction_study::design::RunScore| {
        std::iter::once(run.run.clone()).chain(run.terms.iter().map(|(_, value)| number(*value))).collect()
    };
    report.runs.iter().map(row).collect()
}

/// Rows of starts, the best first.
pub(super) fn starts(report: &DesignReport) -> Vec<Vec<String>> {
    let mut order: Vec<_> = report.starts.iter().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| {
        let cost = |objective: Option<f64>| objective.unwrap_or(f64::INFINITY);
        cost(a.objective).total_cmp(&cost(b.objective))
    });
    let row = |(k, start): &(usize, &stiction_study::design::StartReport)| {
        let evaluations = start.milestones.last().map_or(0, |milestone| milestone.evaluations);
        let objective = start.objective.map_or_else(|| "none".to_owned(), number);
        vec![(k + 1).to_string(), objective, evaluations.to_string(), start.ending.words().to_owned()]
    };
    order.iter().take(SHOWN).map(row).collect()
}
