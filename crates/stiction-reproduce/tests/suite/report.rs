//! The committed pages about the cases equal the current results; the page contains everything it shows.

// Compares files of the project with the results of the cases.
#![allow(clippy::disallowed_methods)]

use std::path::Path;

use stiction_reproduce::{CASES, Outcome, report};

use crate::cases::outcomes;

const RENEW: &str =
    "cargo run --package stiction-cli --features ipopt -- reproduce --all --markdown docs/reproduction.md";

fn committed(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap()
}

/// First line in which two texts differ.
fn difference(ours: &str, theirs: &str) -> Option<String> {
    let line = ours.lines().zip(theirs.lines()).find(|(a, b)| a != b);
    line.map(|(a, b)| format!("\n  now       {a}\n  committed {b}"))
}

/// The part that a build without an engine can compare: everything but the cases that need one, and the sums over all cases.
fn comparable(text: &str) -> String {
    let lacking: Vec<&str> = outcomes()
        .iter()
        .filter(|outcome| outcome.conclusion() == report::Conclusion::NotInBuild)
        .map(|outcome| outcome.case.id)
        .collect();
    if lacking.is_empty() {
        return text.to_owned();
    }
    assert!(std::env::var_os("CI").is_none(), "{lacking:?} are not compared: CI must build with an engine");
    println!("not compared, because this build has no engine for them: {lacking:?}");
    let is_about = |line: &str, mark: &str| lacking.iter().any(|id| line.starts_with(&format!("{mark}{id}")));
    let mut section = false;
    let kept = text.lines().filter(|line| {
        if line.starts_with("## ") {
            section = is_about(line, "## ");
        }
        let sums = line.contains(" cases, ") && line.contains(" rows: ");
        !(section || sums || is_about(line, "| [") || is_about(line, "| "))
    });
    kept.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_committed_summary_is_current() {
    let (now, then) = (report::markdown(outcomes()), committed("docs/reproduction.md"));
    let (now, then) = (comparable(&now), comparable(&then));
    assert!(now == then, "renew it with `{RENEW}`{}", difference(&now, &then).unwrap_or_default());
}

#[test]
fn the_summary_begins_with_the_headline_rows() {
    let summary = report::markdown(outcomes());
    let (_, rest) = summary.split_once("## Headlines\n\n").expect("a section of headlines");
    let (table, _) = rest.split_once("\n## All cases\n").expect("the table of all cases follows");
    let rows = outcomes().iter().flat_map(Outcome::rows).filter(|row| row.is_headline()).count();
    assert!(rows > 4);
    assert_eq!(table.lines().count(), rows + 2);
}

#[test]
fn the_page_refers_to_nothing_outside_and_links_to_every_case() {
    let page = report::page(outcomes());
    let inside = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=", "<script", "@import", "url("] {
        assert!(!inside.contains(word), "the page contains {word}");
    }
    for case in CASES {
        let id = case.id;
        assert!(page.contains(&format!("href=\"#{id}\"")) && page.contains(&format!("id=\"{id}\"")), "{id}");
    }
}

#[test]
fn times_on_this_machine_stay_out_of_what_is_committed() {
    let summary = report::markdown(outcomes());
    for row in outcomes().iter().flat_map(Outcome::rows).filter(|row| row.is_timing()) {
        assert!(!summary.contains(row.quantity()), "{}", row.quantity());
        assert!(!row.is_headline());
    }
}

#[test]
fn the_report_for_programs_has_every_row() {
    let json = serde_json::to_value(report::report(outcomes())).unwrap();
    let cases = json["cases"].as_array().unwrap();
    assert_eq!(cases.len(), CASES.len());
    for (case, outcome) in cases.iter().zip(outcomes()) {
        assert_eq!(case["rows"].as_array().unwrap().len(), outcome.rows().len());
        assert!(case["verdict"].is_string() && case["source"].is_string());
    }
    assert_eq!(json["rows"]["fail"], 0);
}
