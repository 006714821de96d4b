//! `cargo xtask check-promises`: every test that RELIABILITY.md names exists, and in which tier each promise is kept.
//!
//! A paragraph that starts with `Kept by:` names tests as words in backticks, in the form of function names. Other words
//! in backticks (commands, lints with a path) are left alone when they are not of that form.

use std::collections::BTreeSet;

use crate::rust_source;
use crate::tree;

/// Words of the form of a function name that are not tests.
const NOT_TESTS: [&str; 3] = ["unwrap", "expect", "infinite_loop"];

/// A promise of RELIABILITY.md: the words that name it, and the tests that keep it.
struct Promise {
    name: String,
    tests: BTreeSet<String>,
}

/// Runs the check on this checkout.
pub(crate) fn run() -> Result<(), String> {
    let root = tree::root();
    let promises = promises(&tree::read(&root.join("RELIABILITY.md"))?);
    let mut existing = Tests::default();
    for path in tree::files(&root.join("crates"), "rs")? {
        existing.add(&tree::read(&path)?);
    }
    let mut missing = 0;
    for Promise { name, tests } in &promises {
        for test in tests.iter().filter(|test| !existing.short.contains(*test) && !existing.long.contains(*test)) {
            eprintln!("RELIABILITY.md, {name}: there is no test `{test}`");
            missing += 1;
        }
        let long: Vec<&str> = tests.intersection(&existing.long).map(String::as_str).collect();
        let short = tests.len() - long.len();
        let by_all = if long.is_empty() { String::new() } else { format!("; by `--all` {}", long.join(", ")) };
        println!("{name}: kept by {short} tests of the short tier{by_all}");
    }
    if missing == 0 { Ok(()) } else { Err(format!("check-promises: {missing} test(s) missing")) }
}

/// The promises in the order of the text. A paragraph `Kept by:` belongs to the numbered line or the heading before it.
fn promises(text: &str) -> Vec<Promise> {
    let (mut inside, mut name) = (false, String::new());
    let mut found: Vec<Promise> = Vec::new();
    for line in text.lines() {
        let begins = line.trim_start().starts_with("Kept by:");
        inside = !line.trim().is_empty() && (inside || begins);
        if let Some(heading) = heading(line) {
            name = heading;
        }
        if begins {
            found.push(Promise { name: name.clone(), tests: BTreeSet::new() });
        }
        if let Some(promise) = found.last_mut().filter(|_| inside) {
            let quoted = line.split('`').skip(1).step_by(2);
            promise.tests.extend(quoted.filter(|word| is_test_name(word)).map(str::to_string));
        }
    }
    found
}

/// The name of a promise: the number and the bold words of a numbered line, or the words of a heading.
fn heading(line: &str) -> Option<String> {
    if let Some(words) = line.strip_prefix('#') {
        return Some(words.trim_start_matches('#').trim().to_owned());
    }
    let (number, rest) = line.split_once(". ")?;
    let bold = rest.strip_prefix("**")?.split("**").next()?;
    number.parse::<u32>().ok().map(|number| format!("{number}. {}", bold.trim_end_matches('.')))
}

fn is_test_name(word: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !word.is_empty() && word.chars().all(legal) && !NOT_TESTS.contains(&word)
}

/// The test functions of the sources, by tier.
#[derive(Default)]
struct Tests {
    short: BTreeSet<String>,
    /// Those with `#[ignore]`.
    long: BTreeSet<String>,
}

impl Tests {
    /// Adds the functions that stand under a `#[test]`, other attributes between them allowed.
    fn add(&mut self, source: &str) {
        let code = rust_source::mask(source).code;
        let (mut awaiting, mut ignored) = (false, false);
        for line in code.lines().map(str::trim) {
            awaiting |= line.contains("#[test]");
            ignored |= awaiting && line.contains("#[ignore");
            if let Some((_, after)) = line.split_once("fn ").filter(|_| awaiting) {
                let tier = if ignored { &mut self.long } else { &mut self.short };
                tier.insert(after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
                (awaiting, ignored) = (false, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Tests, promises};

    #[test]
    fn names_are_read_from_the_paragraph_alone() {
        let text = "## Promises\n1. **No panic.** `not_this`.\n   Kept by: `a_b`, `c2`; and by\n   `d_e`, not `cargo test` or `unwrap`.\n\n`nor_this`\n";
        let found = promises(text);
        assert_eq!((found.len(), found[0].name.as_str()), (1, "1. No panic"));
        assert_eq!(found[0].tests.iter().map(String::as_str).collect::<Vec<_>>(), ["a_b", "c2", "d_e"]);
    }

    #[test]
    fn only_tests_count_and_long_ones_are_told_apart() {
        let source = "fn helper() {}\n#[test]\n#[should_panic]\nfn real() {}\n// #[test]\nfn other() {}\n#[test]\n#[ignore = \"long\"]\nfn slow() {}\n#[test]\nfn quick() {}\n";
        let mut tests = Tests::default();
        tests.add(source);
        assert_eq!(tests.short.into_iter().collect::<Vec<_>>(), ["quick", "real"]);
        assert_eq!(tests.long.into_iter().collect::<Vec<_>>(), ["slow"]);
    }
}
