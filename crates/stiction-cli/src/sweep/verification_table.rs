//! Tables of `stiction sweep` for `verification` studies.

use std::path::PathBuf;

use stiction_study::{
    monte_carlo::Value,
    verify::{NaiveReport, Rejected, Verification, VerificationReport},
};

use crate::layout::{Sheet, columns, counted, number, seconds};

/// Number of accepted candidates and counterexamples in the table; all are in the file.
const SHOWN: usize = 5;

pub(super) fn text(study: &Verification, report: &VerificationReport, elapsed: f64, files: &[PathBuf]) -> String {
    let mut parts = vec![head(study, report, elapsed), table(report)];
    parts.extend(report.naive.as_ref().map(|naive| comparison(report, naive)));
    parts.extend(objections(report));
    let mut sheet = Sheet::default();
    let files: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
    sheet.row("files", files.join("\n"));
    parts.push(sheet.text());
    parts.join("\n")
}

fn head(study: &Verification, report: &VerificationReport, elapsed: f64) -> String {
    let mut sheet = Sheet::default();
    let scene = study.scene_path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    sheet.row("study", format!("{}, of the scene {scene}", study.name));
    let made = counted(report.made as usize, "candidate", "candidates");
    let asked = if report.interrupted { format!(" of {}", report.candidates) } else { String::new() };
    sheet.row("verified", format!("{made}{asked} from seed {}; total time {}", report.seed, seconds(elapsed)));
    let numbers = report.accepted.iter().map(|accepted| accepted.candidate);
    sheet.row("accepted", format!("{}{}", report.accepted.len(), listed(numbers)));
    let failed: u64 = report.stages.iter().map(|stage| stage.failed).sum();
    let because = if failed > 0 { format!(", {failed} of them because a run failed") } else { String::new() };
    sheet.row("rejected", format!("{}{because}", report.rejected.len()));
    sheet.text()
}

/// Formats a list: `: 3, 7, 12, …`.
fn listed(numbers: impl ExactSizeIterator<Item = u64>) -> String {
    let more = if numbers.len() > SHOWN { ", …" } else { "" };
    let shown: Vec<_> = numbers.take(SHOWN).map(|n| n.to_string()).collect();
    if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) }
}

/// A row per stage and a total, without and with hierarchy, as in table 4.1 of Berard (2009).
fn table(report: &VerificationReport) -> String {
    let mut heading = vec!["stage", "candidates", "passed", "runs", "time"];
    let beside = report.naive.as_ref().zip(report.seconds.naive.as_ref());
    if beside.is_some() {
        heading.extend(["naive: passed", "runs", "time"]);
    }
    let none = || "-".to_owned();
    let mut rows = Vec::new();
    for (k, (stage, spent)) in report.stages.iter().zip(&report.seconds.hierarchy).enumerate() {
        let counts = [stage.candidates, stage.passed, stage.runs].map(|count| count.to_string());
        let mut row = vec![stage.name.clone()];
        row.extend(counts);
        row.push(seconds(*spent));
        if let Some((naive, times)) = beside {
            let stage = naive.stages.get(k).and_then(Option::as_ref);
            row.push(stage.map_or_else(none, |stage| stage.passed.to_string()));
            row.push(stage.map_or_else(none, |stage| stage.runs.to_string()));
            row.push(times.get(k).copied().flatten().map_or_else(none, seconds));
        }
        rows.push(row);
    }
    let runs: u64 = report.stages.iter().map(|stage| stage.runs).sum();
    let spent: f64 = report.seconds.hierarchy.iter().sum();
    let mut total = vec!["total".to_owned(), report.made.to_string(), report.accepted.len().to_string()];
    total.extend([runs.to_string(), seconds(spent)]);
    if let Some((naive, times)) = beside {
        let runs: u64 = naive.stages.iter().flatten().map(|stage| stage.runs).sum();
        total.extend([naive.accepted.len().to_string(), runs.to_string(), seconds(times.iter().flatten().sum())]);
    }
    rows.push(total);
    columns(&heading, &rows)
}

fn comparison(report: &VerificationReport, naive: &NaiveReport) -> String {
    let mut sheet = Sheet::default();
    let runs: u64 = naive.stages.iter().flatten().map(|stage| stage.runs).sum();
    let same = if naive.same {
        "the same candidates are accepted without hierarchy".to_owned()
    } else {
        let (lost, count) = (listed(naive.lost.iter().copied()), naive.lost.len());
        let more = counted(count, "more is", "more are");
        format!("without hierarchy {more} accepted{lost}\na stage without simulation requires more than necessary")
    };
    sheet.row("naive", same);
    sheet.row("simulations", format!("{} instead of {runs}", report.simulations()));
    if !naive.last_alone.is_empty() {
        let listed = listed(naive.last_alone.iter().copied());
        sheet.row(
            "last alone",
            format!("would accept {} that an earlier stage rejects{listed}", naive.last_alone.len()),
        );
    }
    sheet.text()
}

/// First candidates that simulations rejected, with the circumstances.
fn objections(report: &VerificationReport) -> Option<String> {
    let row = |rejected: &Rejected| {
        let stage = report.stages.get(rejected.stage);
        let named = stage.into_iter().flat_map(|stage| &stage.over).zip(&rejected.circumstances);
        let circumstances: Vec<_> = named.map(|(name, value)| format!("{name} {}", written(value))).collect();
        let why = rejected.failure.as_ref().map_or("does not meet its requirements", |failure| failure.reason.as_str());
        vec![
            rejected.candidate.to_string(),
            stage.map_or_else(String::new, |stage| stage.name.clone()),
            circumstances.join(", "),
            why.to_owned(),
        ]
    };
    let rows: Vec<_> = report.rejected.iter().take(SHOWN).map(row).collect();
    (!rows.is_empty()).then(|| columns(&["candidate", "rejected by", "under", "because it"], &rows))
}

fn written(value: &Value) -> String {
    match value {
        Value::Number(x) => number(*x),
        Value::Word(word) => word.trim_matches('"').to_owned(),
    }
}
