//! `cargo xtask sizes`: files, functions and parameter lists that have outgrown a reader's head.
//!
//! Soft limits are reported, hard limits fail. Counted are `crates/*/src` and `xtask/src`, without tests: a file
//! counts the lines outside `#[cfg(test)]`, a function the lines from `fn` to its closing brace, a parameter list
//! everything but `self`, with every element of a tuple.

use crate::rust_items::{self, Function};
use crate::rust_source;
use crate::tree;

/// The limits of one kind of thing: above `soft` it is listed, above `hard` the check fails.
struct Limit {
    soft: usize,
    hard: usize,
}

const FILE_LINES: Limit = Limit { soft: 400, hard: 700 };
const FUNCTION_LINES: Limit = Limit { soft: 60, hard: 120 };
/// Seven honest arguments of a kernel beat a struct invented to hide them. `structure` fails above seven in the numerical crates; functions
/// that foreign libraries call have as many as these ask for.
const PARAMETERS: Limit = Limit { soft: 5, hard: usize::MAX };

struct Finding {
    place: String,
    what: &'static str,
    size: usize,
    hard: bool,
}

/// Runs the check on this checkout.
pub(crate) fn run() -> Result<(), String> {
    let root = tree::root();
    let mut sources = tree::files(&root.join("xtask/src"), "rs")?;
    for package in tree::children(&root.join("crates"))? {
        sources.extend(tree::files(&package.join("src"), "rs")?);
    }
    let mut findings = Vec::new();
    let mut functions = 0;
    for path in sources.iter().filter(|path| !rust_items::is_test_file(path)) {
        let measure = measure(&tree::read(path)?);
        functions += measure.functions.len();
        judge(&tree::relative(path), &measure, &mut findings);
    }
    findings.sort_by(|a, b| b.hard.cmp(&a.hard).then(a.place.cmp(&b.place)));
    print_table(&findings);
    println!("{} files, {functions} functions, {} beyond a soft limit", sources.len(), findings.len());
    match findings.iter().filter(|finding| finding.hard).count() {
        0 => Ok(()),
        count => Err(format!("sizes: {count} beyond a hard limit")),
    }
}

fn judge(name: &str, measure: &Measure, findings: &mut Vec<Finding>) {
    let mut add = |place: String, what, size, limit: &Limit| {
        if size > limit.soft {
            findings.push(Finding { place, what, size, hard: size > limit.hard });
        }
    };
    add(name.to_string(), "lines in a file", measure.lines, &FILE_LINES);
    for function in &measure.functions {
        let place = format!("{name}:{} {}", function.line, function.name);
        add(place.clone(), "lines in a function", function.lines, &FUNCTION_LINES);
        add(place, "parameters", function.parameters, &PARAMETERS);
    }
}

fn print_table(findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    let width = findings.iter().map(|finding| finding.place.len()).max().unwrap_or(0);
    for Finding { place, what, size, hard } in findings {
        let mark = if *hard { "  BEYOND THE HARD LIMIT" } else { "" };
        println!("  {place:width$}  {size:>5} {what}{mark}");
    }
}

struct Measure {
    lines: usize,
    functions: Vec<Function>,
}

fn measure(source: &str) -> Measure {
    let code = rust_source::mask(source).code;
    let line_of = |at| rust_items::line_of(&code, at);
    let tests: usize =
        rust_items::test_items(&code).iter().map(|range| line_of(range.end) - line_of(range.start) + 1).sum();
    let functions = rust_items::functions(&rust_items::shipped_code(source));
    Measure { lines: source.lines().count().saturating_sub(tests), functions }
}

#[cfg(test)]
mod tests {
    use super::measure;

    const SOURCE: &str = "\
//! Doc: fn not_me() {}
pub fn plain(a: f64, b: [f64; 3]) -> [f64; 3] {
    let s = \"}\";
    b
}

trait T {
    fn without_body(&self, a: f64);
}

fn generic<F: Fn(f64) -> f64, const N: usize>(&mut self, f: F, m: Map<K, V>, c: fn(u8, u8) -> u8,) -> f64 {
    f(1.0)
}

#[cfg(test)]
mod tests {
    fn test_only(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8) {
    }
}
";

    #[test]
    fn functions_are_found_with_their_extent() {
        let found: Vec<_> =
            measure(SOURCE).functions.into_iter().map(|f| (f.name, f.line, f.lines, f.parameters)).collect();
        assert_eq!(found, [("plain".to_string(), 2, 4, 2), ("generic".to_string(), 11, 3, 3)]);
    }

    #[test]
    fn test_modules_do_not_count() {
        assert_eq!(measure(SOURCE).lines, 14);
    }

    #[test]
    fn limits_are_applied() {
        let body = "    x();\n".repeat(59);
        let mut findings = Vec::new();
        super::judge("a.rs", &measure(&format!("fn long() {{\n{body}}}\n")), &mut findings);
        assert_eq!(findings.iter().map(|f| (f.size, f.hard)).collect::<Vec<_>>(), [(61, false)]);

        findings.clear();
        super::judge("a.rs", &measure(&"\n".repeat(701)), &mut findings);
        assert_eq!(findings.iter().map(|f| (f.size, f.hard)).collect::<Vec<_>>(), [(701, true)]);
    }
}
