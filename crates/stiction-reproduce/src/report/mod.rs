//! Reports of cases that were run: data for programs, a table for the documentation, a page for readers.

mod markdown;
mod page;

use serde::Serialize;

use crate::{Outcome, Row, Tolerance, Value, Verdict};

pub use markdown::markdown;
pub use page::page;

/// All cases that were run, for programs.
#[derive(Debug, Serialize)]
pub struct Report<'o> {
    /// Version of this crate.
    pub version: &'static str,
    /// Number of rows with each verdict.
    pub rows: Tally,
    /// The cases.
    pub cases: Vec<CaseReport<'o>>,
}

/// One case that was run.
#[derive(Debug, Serialize)]
pub struct CaseReport<'o> {
    /// Its name.
    pub id: &'static str,
    /// Its title.
    pub title: &'o str,
    /// Its publication.
    pub source: String,
    /// Its file.
    pub file: &'static str,
    /// Verdict on the case.
    pub verdict: Conclusion,
    /// Error that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its rows.
    pub rows: Vec<RowReport<'o>>,
    /// Contents of its figures, and the corresponding figures of the source.
    pub figures: Vec<[&'o str; 2]>,
    /// Remarks for the reader.
    pub remarks: &'o [String],
}

/// One row.
#[derive(Debug, Serialize)]
pub struct RowReport<'o> {
    quantity: &'o str,
    unit: &'static str,
    published: Option<&'o Value>,
    reference: Option<&'o Value>,
    ours: &'o Value,
    tolerance: Option<Tolerance>,
    error: Option<f64>,
    verdict: Verdict,
}

/// Verdict on a case from its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Every row that can be compared holds.
    Holds,
    /// No row fails, and a published value is not met for a stated reason.
    Differs,
    /// No row fails, and a row needs a build with an engine.
    NotInBuild,
    /// A row fails, or the case ended with an error.
    Fails,
}

impl Conclusion {
    /// Text of the verdict.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Differs => "holds, differs from print",
            Self::NotInBuild => "not all in this build",
            Self::Fails => "FAILS",
        }
    }
}

/// Number of rows with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Rows that hold.
    pub hold: usize,
    /// Rows that fail, and cases that ended with an error.
    pub fail: usize,
    /// Rows that meet the reference and not the published value.
    pub differ: usize,
    /// Rows that do not meet a first derivation, which was not published and which a later derivation did not confirm.
    pub differ_from_first: usize,
    /// Rows without a value to compare with.
    pub no_reference: usize,
    /// Rows that need a build with an engine.
    pub not_in_build: usize,
}

impl Tally {
    /// Counts over outcomes.
    pub fn of<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            match &outcome.account {
                Ok(account) => account.rows.iter().for_each(|row| tally.count(&row.verdict())),
                Err(_) => tally.fail += 1,
            }
        }
        tally
    }

    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Holds => self.hold += 1,
            Verdict::Fails => self.fail += 1,
            Verdict::Differs(_) => self.differ += 1,
            Verdict::DiffersFromFirst(_) => self.differ_from_first += 1,
            Verdict::NoReference => self.no_reference += 1,
            Verdict::NotInBuild => self.not_in_build += 1,
            Verdict::Informative => {}
        }
    }

    /// `12 hold, 1 fails, 2 differ from print`; counts of zero are left out.
    pub fn words(&self) -> String {
        let verb = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let parts = [
            (self.hold, verb(self.hold, "holds", "hold")),
            (self.fail, verb(self.fail, "fails", "fail")),
            (self.differ, verb(self.differ, "differs from print", "differ from print")),
            (
                self.differ_from_first,
                verb(self.differ_from_first, "differs from first derivation", "differ from first derivation"),
            ),
            (self.no_reference, format!("{} without reference", self.no_reference)),
            (self.not_in_build, format!("{} not in this build", self.not_in_build)),
        ];
        let said = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
        said.collect::<Vec<_>>().join(", ")
    }
}

impl Outcome {
    /// Title of the case, or its name if its file cannot be read.
    pub fn title(&self) -> &str {
        self.reference.as_ref().and_then(|reference| reference.note("title")).unwrap_or(self.case.id)
    }

    /// Its publication.
    pub fn source(&self) -> String {
        let Some(reference) = &self.reference else { return String::new() };
        let work = reference.note("source.work").unwrap_or_default();
        match reference.note("source.place") {
            Some(place) => format!("{work}, {place}"),
            None => work.to_owned(),
        }
    }

    /// Its publication, by author, year and place only.
    pub fn short_source(&self) -> String {
        let Some(reference) = &self.reference else { return String::new() };
        let Some(key) = reference.note("source.key") else { return self.source() };
        // Keys are names followed by a year: Berard2009.
        let name = key.trim_end_matches(|c: char| c.is_ascii_digit());
        let year = key.get(name.len()..).unwrap_or_default();
        match reference.note("source.place") {
            Some(place) => format!("{name} {year}, {place}"),
            None => format!("{name} {year}"),
        }
    }

    /// Verdict on the case.
    pub fn conclusion(&self) -> Conclusion {
        let tally = Tally::of([self]);
        match tally {
            Tally { fail: 1.., .. } => Conclusion::Fails,
            Tally { not_in_build: 1.., .. } => Conclusion::NotInBuild,
            Tally { differ: 1.., .. } => Conclusion::Differs,
            _ => Conclusion::Holds,
        }
    }

    /// Its rows.
    pub fn rows(&self) -> &[Row] {
        self.account.as_ref().map_or(&[], |account| account.rows.as_slice())
    }
}

/// The report of outcomes, for programs.
pub fn report(outcomes: &[Outcome]) -> Report<'_> {
    Report {
        version: env!("CARGO_PKG_VERSION"),
        rows: Tally::of(outcomes),
        cases: outcomes.iter().map(case_report).collect(),
    }
}

fn case_report(outcome: &Outcome) -> CaseReport<'_> {
    let account = outcome.account.as_ref();
    CaseReport {
        id: outcome.case.id,
        title: outcome.title(),
        source: outcome.source(),
        file: outcome.case.file,
        verdict: outcome.conclusion(),
        error: account.err().map(ToString::to_string),
        rows: outcome.rows().iter().map(row_report).collect(),
        figures: account.map_or_else(
            |_| Vec::new(),
            |account| account.figures.iter().map(|f| [f.caption.as_str(), f.stands_for.as_str()]).collect(),
        ),
        remarks: account.map_or(&[], |account| account.remarks.as_slice()),
    }
}

fn row_report(row: &Row) -> RowReport<'_> {
    RowReport {
        quantity: row.quantity(),
        unit: row.unit(),
        published: row.published_value(),
        reference: row.reference_value(),
        ours: row.ours(),
        tolerance: row.tolerance(),
        error: row.error(),
        verdict: row.verdict(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Account, CASES, CaseError, Expected};

    /// A case with rows of these values, each of which should be 1.
    fn outcome(values: &[f64]) -> Outcome {
        let mut account = Account::default();
        for value in values {
            account.add(Row::new("x", "m", *value).reference(Expected::within(1.0, Tolerance::default())));
        }
        Outcome { case: &CASES[0], reference: None, account: Ok(account) }
    }

    #[test]
    fn one_row_that_fails_fails_the_case() {
        assert_eq!(outcome(&[1.0, 1.0]).conclusion(), Conclusion::Holds);
        let failing = outcome(&[1.0, 2.0, f64::NAN]);
        assert_eq!(failing.conclusion(), Conclusion::Fails);
        assert_eq!(Tally::of([&failing]).words(), "1 holds, 2 fail");
        assert!(page(std::slice::from_ref(&failing)).contains("FAILS") && markdown(&[failing]).contains("FAILS"));
    }

    #[test]
    fn a_case_that_did_not_come_to_its_end_fails_and_says_why() {
        let account = Err(CaseError::Never("the <end>".to_owned()));
        let broken = [Outcome { case: &CASES[0], reference: None, account }];
        assert_eq!(broken[0].conclusion(), Conclusion::Fails);
        assert!(page(&broken).contains("the &lt;end&gt; did not happen"));
        assert_eq!(report(&broken).cases[0].error.as_deref(), Some("the <end> did not happen"));
    }

    #[test]
    fn what_differs_from_print_is_told_with_its_reason() {
        let mut differs = outcome(&[1.0]);
        if let Ok(account) = &mut differs.account {
            let published = Expected::within(3.0, Tolerance::default());
            let row = Row::new("y", "m", 1.0).reference(Expected::within(1.0, Tolerance::default()));
            account.add(row.published(published).explained("a misprint"));
        }
        assert_eq!(differs.conclusion(), Conclusion::Differs);
        assert_eq!(Tally::of([&differs]).words(), "1 holds, 1 differs from print");
        assert!(markdown(std::slice::from_ref(&differs)).contains("*y*: a misprint"));
        assert!(page(&[differs]).contains("A misprint."));
    }

    #[test]
    fn a_case_that_needs_an_engine_does_not_hold_without_it() {
        let mut partly = outcome(&[1.0]);
        if let Ok(account) = &mut partly.account {
            let expected = Expected::within(1.0, Tolerance::default());
            account.add(Row::new("y", "m", Value::NotInBuild).reference(expected));
        }
        assert_eq!(partly.conclusion(), Conclusion::NotInBuild);
        assert_eq!(Tally::of([&partly]).words(), "1 holds, 1 not in this build");
        assert!(markdown(&[partly]).contains("| y (m) | – | 1 | – |  | exact | not in this build |"));
    }

    #[test]
    fn a_first_derivation_that_is_not_met_is_told_and_the_case_holds() {
        let mut first = outcome(&[1.0]);
        if let Ok(account) = &mut first.account {
            let expected = Expected::within(3.0, Tolerance::default());
            account.add(Row::new("y", "m", 1.0).first_derivation(expected).explained("not confirmed"));
        }
        assert_eq!(first.conclusion(), Conclusion::Holds);
        assert_eq!(Tally::of([&first]).words(), "1 holds, 1 differs from first derivation");
        let text = markdown(std::slice::from_ref(&first));
        assert!(text.contains("| differs from first derivation |") && text.contains("*y*: not confirmed"), "{text}");
        assert!(page(&[first]).contains("Not confirmed."));
    }
}
