//! The committed summary: every row that can be compared, as Markdown. Times on a machine are left out.

use std::fmt::Write;

use super::Tally;
use crate::{Outcome, Row};

/// The summary of all outcomes.
pub fn markdown(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "# Reproduction of published cases\n\n\
         Made by `stiction reproduce --all --markdown docs/reproduction.md`; a test checks that it is current. Do not edit.\n\n\
         *Published* is what the source prints, *reference* an independent computation or a closed form (each file says which), \
         *ours* what this program gives. A row that *differs from first derivation* compares with a reference value of our own that a \
         second, independent computation did not confirm; nothing was published, and another row compares the same quantity with \
         the second. Parameters, sources, derivations and tolerances are in `reference/`; \
         `stiction reproduce --all --out DIR` draws the figures.\n\n",
    );
    let tally = Tally::of(outcomes);
    let _ = writeln!(text, "{} cases, {} rows: {}.\n", outcomes.len(), compared_rows(outcomes), tally.words());
    headlines(&mut text, outcomes);
    text.push_str("\n## All cases\n\n| case | | source | rows | verdict |\n|---|---|---|---|---|\n");
    for outcome in outcomes {
        let (id, title, verdict) = (outcome.case.id, cell(outcome.title()), outcome.conclusion().word());
        let (source, rows) = (cell(&outcome.short_source()), Tally::of([outcome]).words());
        let _ = writeln!(text, "| [{id}](#{}) | {title} | {source} | {rows} | {verdict} |", anchor(outcome));
    }
    for outcome in outcomes {
        section(&mut text, outcome);
    }
    text
}

fn compared_rows(outcomes: &[Outcome]) -> usize {
    outcomes.iter().flat_map(Outcome::rows).filter(|row| !row.is_timing()).count()
}

fn section(text: &mut String, outcome: &Outcome) {
    let _ = writeln!(text, "\n## {} {}\n", outcome.case.id, outcome.title());
    let account = match &outcome.account {
        Ok(account) => account,
        Err(error) => {
            let _ = writeln!(text, "Did not come to its end: {error}");
            return;
        }
    };
    let _ = writeln!(text, "| {} |\n|{}", Row::HEADINGS.join(" | "), "---|".repeat(Row::HEADINGS.len()));
    for row in account.rows.iter().filter(|row| !row.is_timing()) {
        let _ = writeln!(text, "| {} |", row.cells().map(|text| cell(&text)).join(" | "));
    }
    for remark in &account.remarks {
        let _ = writeln!(text, "\n{}", remark.replace('\n', " "));
    }
    for (quantity, reason) in account.reasons() {
        let _ = writeln!(text, "\n*{quantity}*: {}", reason.replace('\n', " "));
    }
}

/// The table of the headline rows of all cases.
fn headlines(text: &mut String, outcomes: &[Outcome]) {
    text.push_str("## Headlines\n\n| case | quantity | published | reference | ours | verdict |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for outcome in outcomes {
        for row in outcome.rows().iter().filter(|row| row.is_headline()) {
            let [quantity, published, reference, ours, _, _, verdict] = row.cells().map(|text| cell(&text));
            let (id, title) = (outcome.case.id, cell(outcome.title()));
            let _ = writeln!(text, "| {id} {title} | {quantity} | {published} | {reference} | {ours} | {verdict} |");
        }
    }
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Anchor of the heading of the case in Markdown viewers.
fn anchor(outcome: &Outcome) -> String {
    let heading = format!("{} {}", outcome.case.id, outcome.title()).to_lowercase();
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-')
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
