//! All cases: their results, and their lookup by name.

use std::sync::OnceLock;

use stiction_reproduce::{CASES, Outcome, Verdict, find, report, reproduce_all, with_threads};

/// All cases, run once for all tests.
pub(crate) fn outcomes() -> &'static [Outcome] {
    static OUTCOMES: OnceLock<Vec<Outcome>> = OnceLock::new();
    OUTCOMES.get_or_init(|| reproduce_all(&CASES.iter().collect::<Vec<_>>(), |_| ()))
}

#[test]
fn no_row_fails_and_every_case_is_drawn() {
    for outcome in outcomes() {
        let id = outcome.case.id;
        let account = outcome.account.as_ref().unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(!account.rows.is_empty() && !account.figures.is_empty(), "{id} has no rows or no figures");
        for row in &account.rows {
            assert_ne!(row.verdict(), Verdict::Fails, "{id}: {row:?}");
        }
        for illustration in &account.figures {
            assert!(!illustration.stands_for.is_empty() && !illustration.caption.is_empty(), "{id}");
            assert_eq!(illustration.figure.left_out(), 0, "{id}: {}", illustration.caption);
            for panel in &illustration.figure.panels {
                assert!(!panel.x.label.is_empty() && !panel.y.label.is_empty(), "{id}: {}", illustration.caption);
            }
        }
    }
}

#[test]
fn cases_are_in_order_and_found_by_their_names() {
    assert!(CASES.is_sorted_by_key(|case| case.id));
    for case in CASES {
        let number = case.id.trim_start_matches("C-");
        for name in [case.id.to_owned(), format!("c{number}"), number.to_owned()] {
            assert_eq!(find(&name).unwrap().id, case.id);
        }
        assert_eq!(case.file, format!("reference/c{number}.json"));
    }
    assert!(find("C-99").is_none() && find("rod").is_none());
}

/// Cases run in parallel, and some of them run their parts in parallel: the page is the same for any number of threads.
#[test]
fn any_number_of_threads_gives_the_same_page() {
    let cases: Vec<_> = ["C-02", "C-05", "C-13", "C-32"].iter().map(|id| find(id).unwrap()).collect();
    let pages = [1, 3].map(|threads| with_threads(threads, || report::page(&reproduce_all(&cases, |_| ()))).unwrap());
    assert!(pages[0] == pages[1]);
}
