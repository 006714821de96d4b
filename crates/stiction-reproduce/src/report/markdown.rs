//! The committed summary: every row that can be compared, as Markdown. Times on a machine are left out.

use std::fmt::Write;

use super::Tally;
use crate::{Outcome, Row};

/// Marks around the headline rows in the README.
pub const HEADLINE_MARKS: [&str; 2] = ["<!-- reproduction: begin -->", "<!-- reproduction: end -->"];

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
    text.push_str("| case | | source | rows | verdict |\n|---|---|---|---|---|\n");
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

/// The headline rows of all cases, as a table for the README.
pub fn headline(outcomes: &[Outcome]) -> String {
    let mut text =
        String::from("| case | quantity | published | reference | ours | verdict |\n|---|---|---|---|---|---|\n");
    for outcome in outcomes {
        for row in outcome.rows().iter().filter(|row| row.is_headline()) {
            let [quantity, published, reference, ours, _, _, verdict] = row.cells().map(|text| cell(&text));
            let (id, title) = (outcome.case.id, cell(outcome.title()));
            let _ = writeln!(text, "| {id} {title} | {quantity} | {published} | {reference} | {ours} | {verdict} |");
        }
    }
    text
}

/// Replaces the headline rows between their marks in a text; `None` if it lacks the marks.
pub fn with_headline(text: &str, outcomes: &[Outcome]) -> Option<String> {
    let [begin, end] = HEADLINE_MARKS;
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{}{end}{after}", headline(outcomes)))
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
