//! `cargo xtask check-promises`: every test that RELIABILITY.md names exists.
//!
//! A paragraph that starts with `Kept by:` names tests as words in backticks, in the form of function names. Other words
//! in backticks (commands, lints with a path) are left alone when they are not of that form.

use std::collections::BTreeSet;

use crate::rust_source;
use crate::tree;

/// Words of the form of a function name that are not tests.
const NOT_TESTS: [&str; 3] = ["unwrap", "expect", "infinite_loop"];

/// Runs the check on this checkout.
pub(crate) fn run() -> Result<(), String> {
    let root = tree::root();
    let promised = promised_tests(&tree::read(&root.join("RELIABILITY.md"))?);
    let mut existing = BTreeSet::new();
    for path in tree::files(&root.join("crates"), "rs")? {
        existing.extend(test_functions(&tree::read(&path)?));
    }
    let missing: Vec<&String> = promised.difference(&existing).collect();
    for name in &missing {
        eprintln!("RELIABILITY.md: there is no test `{name}`");
    }
    if missing.is_empty() {
        println!("{} tests named by RELIABILITY.md, all there", promised.len());
        Ok(())
    } else {
        Err(format!("check-promises: {} test(s) missing", missing.len()))
    }
}

fn promised_tests(text: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut names = BTreeSet::new();
    for line in text.lines() {
        inside = !line.trim().is_empty() && (inside || line.trim_start().starts_with("Kept by:"));
        if inside {
            let quoted = line.split('`').skip(1).step_by(2);
            names.extend(quoted.filter(|word| is_test_name(word)).map(str::to_string));
        }
    }
    names
}

fn is_test_name(word: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !word.is_empty() && word.chars().all(legal) && !NOT_TESTS.contains(&word)
}

/// The functions that stand under a `#[test]`, other attributes between them allowed.
fn test_functions(source: &str) -> BTreeSet<String> {
    let code = rust_source::mask(source).code;
    let mut awaiting = false;
    let mut names = BTreeSet::new();
    for line in code.lines().map(str::trim) {
        awaiting |= line.contains("#[test]");
        if let Some((_, after)) = line.split_once("fn ").filter(|_| awaiting) {
            names.insert(after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
            awaiting = false;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{promised_tests, test_functions};

    #[test]
    fn names_are_read_from_the_paragraph_alone() {
        let text =
            "1. `not_this`.\n   Kept by: `a_b`, `c2`; and by\n   `d_e`, not `cargo test` or `unwrap`.\n\n`nor_this`\n";
        let names: Vec<String> = promised_tests(text).into_iter().collect();
        assert_eq!(names, ["a_b", "c2", "d_e"]);
    }

    #[test]
    fn only_tests_count() {
        let source = "fn helper() {}\n#[test]\n#[should_panic]\nfn real() {}\n// #[test]\nfn other() {}\n";
        let names: Vec<String> = test_functions(source).into_iter().collect();
        assert_eq!(names, ["real"]);
    }
}
