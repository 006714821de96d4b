//! All cases.

use stiction_reproduce::{CASES, LATER, Verdict, find, reproduce_all};

#[test]
fn no_row_fails() {
    let cases: Vec<_> = CASES.iter().collect();
    for outcome in reproduce_all(&cases, |_| ()) {
        let account = outcome.account.unwrap();
        assert!(!account.rows.is_empty(), "{} has no rows", outcome.case.id);
        for row in &account.rows {
            assert_ne!(row.verdict(), Verdict::Fails, "{}: {row:?}", outcome.case.id);
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
        assert!(LATER.iter().all(|later| later.id != case.id));
    }
    assert!(find("C-99").is_none() && find("rod").is_none());
}
