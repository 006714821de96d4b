//! `cargo xtask sizes`: files, functions and parameter lists that have outgrown a reader's head.
//!
//! Soft limits are reported, hard limits fail. Counted are `crates/*/src` and `xtask/src`, without test modules: a file
//! counts the lines outside `#[cfg(test)]`, a function the lines from `fn` to its closing brace, a parameter list
//! everything but `self`.

use std::ops::Range;
use std::path::Path;

use crate::rust_source;
use crate::tree;

/// The limits of one kind of thing: above `soft` it is listed, above `hard` the check fails.
struct Limit {
    soft: usize,
    hard: usize,
}

const FILE_LINES: Limit = Limit { soft: 400, hard: 700 };
const FUNCTION_LINES: Limit = Limit { soft: 60, hard: 120 };
/// There is no hard limit on parameters: a kernel with seven honest arguments beats a struct invented to hide them.
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
    for path in sources.iter().filter(|path| !is_test_file(path)) {
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

/// `tests.rs` and `tests/…` inside `src` hold the test module of their parent.
fn is_test_file(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
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

struct Function {
    name: String,
    /// The line of `fn`, counted from one.
    line: usize,
    lines: usize,
    parameters: usize,
}

struct Measure {
    lines: usize,
    functions: Vec<Function>,
}

fn measure(source: &str) -> Measure {
    let code = rust_source::mask(source).code;
    let tests = test_modules(&code);
    let line_of = |at: usize| code[..at].matches('\n').count() + 1;
    let test_lines: usize = tests.iter().map(|range| line_of(range.end) - line_of(range.start) + 1).sum();
    let functions = words(&code, "fn")
        .filter(|at| !tests.iter().any(|range| range.contains(at)))
        .filter_map(|at| {
            let shape = function_shape(&code[at..])?;
            let (line, last) = (line_of(at), line_of(at + shape.end - 1));
            Some(Function { name: shape.name, line, lines: last - line + 1, parameters: shape.parameters })
        })
        .collect();
    Measure { lines: source.lines().count().saturating_sub(test_lines), functions }
}

/// Byte ranges of inline modules under `#[cfg(test)]`, attribute included.
fn test_modules(code: &str) -> Vec<Range<usize>> {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let mut found: Vec<Range<usize>> = Vec::new();
    for (start, _) in code.match_indices(ATTRIBUTE) {
        if found.last().is_some_and(|previous| start < previous.end) {
            continue;
        }
        let rest = &code[start + ATTRIBUTE.len()..];
        let Some(open) = rest.find(['{', ';']).filter(|&at| rest[at..].starts_with('{')) else { continue };
        if words(&rest[..open], "mod").next().is_some() {
            found.push(start..start + ATTRIBUTE.len() + open + group_length(&rest[open..]));
        }
    }
    found
}

/// Places at which `word` stands alone in the code.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| !code[..at].ends_with(part_of_name) && !code[at + word.len()..].starts_with(part_of_name))
}

struct Shape {
    name: String,
    parameters: usize,
    /// Length from `fn` to the end of the body.
    end: usize,
}

/// Reads `fn name<…>(…) … { … }`; nothing for `fn(…)` types and for functions without a body.
fn function_shape(code: &str) -> Option<Shape> {
    let after = code["fn".len()..].trim_start();
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() {
        return None;
    }
    let generics = code.find(&name)? + name.len();
    let open = generics + parameter_list_offset(&code[generics..])?;
    let close = open + group_length(&code[open..]);
    let parameters = count_parameters(code.get(open + 1..close - 1)?);
    let body = close + body_offset(&code[close..])?;
    Some(Shape { name, parameters, end: body + group_length(&code[body..]) })
}

/// The first `(` outside the generic parameters; the `>` of `->` closes nothing.
fn parameter_list_offset(code: &str) -> Option<usize> {
    let mut depth = 0_i32;
    let mut previous = ' ';
    for (at, c) in code.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if previous != '-' => depth -= 1,
            '(' if depth == 0 => return Some(at),
            _ => {}
        }
        previous = c;
    }
    None
}

/// The `{` of the body; nothing if the signature ends in `;`. Brackets (`[f64; 3]`) are skipped.
fn body_offset(code: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return Some(at),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The length of the bracketed group that opens at the start of `code`.
fn group_length(code: &str) -> usize {
    let mut depth = 0_i32;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + c.len_utf8();
        }
    }
    code.len()
}

/// Parameters separated by commas at the outermost level, `self` not counted.
fn count_parameters(list: &str) -> usize {
    let mut depth = 0_i32;
    let mut parts = vec![String::new()];
    let mut previous = ' ';
    for c in list.chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if previous != '-' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
        previous = c;
    }
    let named = |part: &&String| !part.trim_matches([',', ' ', '\n']).is_empty();
    let is_self = |part: &String| part.split(':').next().is_some_and(|p| words(p, "self").next().is_some());
    parts.iter().filter(named).filter(|part| !is_self(part)).count()
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
