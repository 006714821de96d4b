//! Tables of `stiction sweep` for `monte-carlo` studies.

use std::path::PathBuf;

use stiction_study::monte_carlo::{Ending, GroupReport, MonteCarlo, Report, VariantReport};

use super::push_table::success_rate;
use crate::layout::{Sheet, columns, counted, number, seconds};

/// Largest number of cells in the table; larger maps are in the files.
const MOST_CELLS: usize = 30;

pub(super) fn text(study: &MonteCarlo, report: &Report, elapsed: f64, files: &[PathBuf]) -> String {
    let mut parts = vec![head(study, report, elapsed)];
    parts.extend(cells(report));
    parts.extend(metrics(report));
    parts.extend(sensitivity(report));
    if !files.is_empty() {
        let mut sheet = Sheet::default();
        let files: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
        sheet.row("files", files.join("\n"));
        parts.push(sheet.text());
    }
    parts.join("\n")
}

fn head(study: &MonteCarlo, report: &Report, elapsed: f64) -> String {
    let mut sheet = Sheet::default();
    let scene = study.scene_path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    sheet.row("study", format!("{}, of the scene {scene}", study.name));
    let cells = counted(study.cells() as usize, "cell", "cells");
    let variants =
        if report.variants.len() > 1 { format!(" in {} variants", report.variants.len()) } else { String::new() };
    sheet.row("cells", format!("{cells}{variants}, {} each", counted(report.trials as usize, "trial", "trials")));
    let missing = if report.made < report.count { format!(" of {}", report.count) } else { String::new() };
    let ending = match report.ending {
        Ending::Complete => "",
        Ending::Stopped => ", stopped on request or by the time limit",
        Ending::TooManyFailures => ", stopped because too many failed",
    };
    let made = counted(report.made as usize, "trial", "trials");
    let steps = counted(report.steps as usize, "step", "steps");
    let took = seconds(elapsed);
    sheet.row("made", format!("{made}{missing} from seed {}{ending}: {steps}; total time {took}", report.seed));
    for variant in &report.variants {
        let label = if report.variants.len() > 1 { variant.name.as_str() } else { "success" };
        sheet.row(label, success_rate(&variant.all.success));
    }
    for comparison in &report.comparisons {
        let agree = &comparison.agreeing_cells;
        let text = format!(
            "{} of {} cells agree within their intervals; {} trials only succeed in {}, {} only in {}",
            agree.hits, agree.of, comparison.only_first, comparison.first, comparison.only_other, comparison.other
        );
        sheet.row(&format!("{} / {}", comparison.first, comparison.other), text);
    }
    for (variant, symmetry) in report.variants.iter().flat_map(|v| v.symmetry.iter().map(move |s| (v, s))) {
        let of = if report.variants.len() > 1 { format!(" of {}", variant.name) } else { String::new() };
        let text = format!(
            "χ² {} over {} pairs of cells, p = {}",
            number(symmetry.chi_square),
            symmetry.degrees_of_freedom,
            number(symmetry.p)
        );
        sheet.row("symmetry", format!("in {}{of}: {text}", symmetry.parameter));
    }
    sheet.row("failed", failures(report));
    if let (Some(first), Some(last)) = (report.problems.first(), report.problems.last()) {
        let files =
            if report.problems.len() > 1 { format!("{} to {}", first.file, last.file) } else { first.file.clone() };
        let files = format!("{files}, for `stiction solve`");
        sheet.row("problems", format!("{} that were not solved: {files}", report.problems.len()));
    }
    sheet.text()
}

fn failures(report: &Report) -> String {
    let failed: u64 = report.failures.iter().map(|kind| kind.count).sum();
    let reasons =
        report.failures.iter().map(|f| format!("{}: {} (first in trial {})", f.count, f.reason, f.first_trial));
    let total = if failed == 0 { "none".to_owned() } else { format!("{failed}, counted as not successful") };
    std::iter::once(total).chain(reasons).collect::<Vec<_>>().join("\n")
}

/// Table of the cells, if there are several but not too many.
fn cells(report: &Report) -> Option<String> {
    let count = report.variants.first().map_or(0, |variant| variant.cells.len());
    if !(2..=MOST_CELLS).contains(&count) {
        return None;
    }
    let mut heading: Vec<&str> = report.grid.iter().map(|axis| axis.name.as_str()).collect();
    heading.extend(
        report
            .variants
            .iter()
            .map(|variant| if report.variants.len() > 1 { variant.name.as_str() } else { "success (%)" }),
    );
    let row = |k: usize| {
        let first: Option<&GroupReport> = report.variants.first().and_then(|variant| variant.cells.get(k));
        let at = first.into_iter().flat_map(|cell| cell.at.iter().map(|x| number(*x)));
        let rates = report.variants.iter().filter_map(|variant| variant.cells.get(k)).map(|cell| {
            let [value, low, high] =
                [cell.success.value(), cell.success.low, cell.success.high].map(|x| number(100.0 * x));
            format!("{value} ({low} to {high})")
        });
        at.chain(rates).collect::<Vec<_>>()
    };
    Some(columns(&heading, &(0..count).map(row).collect::<Vec<_>>()))
}

/// All metrics of every variant over all its trials.
fn metrics(report: &Report) -> Option<String> {
    let several = report.variants.len() > 1;
    let of = |variant: &VariantReport| {
        let name = variant.name.clone();
        let rows = variant.all.metrics.iter().map(move |metric| {
            let shown = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), number);
            let [least, most] = [0, 1].map(|k| metric.range.and_then(|range| range.get(k).copied()));
            let numbers = [metric.mean, metric.deviation, least, most].map(shown);
            let head = several.then(|| name.clone()).into_iter().chain([metric.name.clone(), metric.count.to_string()]);
            head.chain(numbers).collect::<Vec<_>>()
        });
        rows.collect::<Vec<_>>()
    };
    let rows: Vec<_> = report.variants.iter().flat_map(of).collect();
    let heading = ["variant", "metric", "trials", "mean", "deviation", "least", "greatest"];
    let heading = heading.get(usize::from(!several)..).unwrap_or_default();
    (!rows.is_empty()).then(|| columns(heading, &rows))
}

/// Fraction of the variance of the success that random parameters explain.
fn sensitivity(report: &Report) -> Option<String> {
    let several = report.variants.len() > 1;
    let of = |variant: &VariantReport| {
        let name = variant.name.clone();
        let rows = variant.sensitivity.iter().map(move |influence| {
            let head = several
                .then(|| name.clone())
                .into_iter()
                .chain([influence.response.clone(), influence.parameter.clone()]);
            head.chain([number(100.0 * influence.explained), number(influence.p)]).collect::<Vec<_>>()
        });
        rows.collect::<Vec<_>>()
    };
    let rows: Vec<_> = report.variants.iter().flat_map(of).collect();
    let heading = ["variant", "what", "depends on", "explained (%)", "p-value"];
    let heading = heading.get(usize::from(!several)..).unwrap_or_default();
    (!rows.is_empty()).then(|| columns(heading, &rows))
}
