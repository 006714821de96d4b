//! What is committed about the cases is what they give now; the page holds everything it shows.

// Compares files of the project with what the cases give.
#![allow(clippy::disallowed_methods)]

use std::path::Path;

use stiction_reproduce::{CASES, LATER, Outcome, report};

use crate::cases::outcomes;

const RENEW: &str = "stiction reproduce --all --markdown docs/reproduction.md --headline README.md";

fn committed(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap()
}

/// The first line in which two texts differ.
fn difference(ours: &str, theirs: &str) -> Option<String> {
    let line = ours.lines().zip(theirs.lines()).find(|(a, b)| a != b);
    line.map(|(a, b)| format!("\n  now       {a}\n  committed {b}"))
}

#[test]
fn the_committed_summary_is_current() {
    let (now, then) = (report::markdown(outcomes()), committed("docs/reproduction.md"));
    assert!(now == then, "renew it with `{RENEW}`{}", difference(&now, &then).unwrap_or_default());
}

#[test]
fn the_headline_rows_of_the_readme_are_current() {
    let readme = committed("README.md");
    let renewed = report::with_headline(&readme, outcomes()).expect("the README has a place for them");
    assert!(renewed == readme, "renew it with `{RENEW}`{}", difference(&renewed, &readme).unwrap_or_default());
    assert!(report::headline(outcomes()).lines().count() > 4);
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
    assert!(LATER.iter().all(|later| page.contains(later.id)));
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
