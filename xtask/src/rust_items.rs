//! Functions and structs of Rust code: names, extents, parameters, fields.
//!
//! Everything here reads code that [`rust_source::mask`] has freed of comments and literals. It matches brackets and does not
//! parse; the code is taken to be what `rustfmt` and the compiler accept.

use std::ops::Range;
use std::path::Path;

use crate::rust_source;

/// Function with a body.
pub(crate) struct Function {
    pub(crate) name: String,
    /// The line of `fn`, counted from one.
    pub(crate) line: usize,
    /// Lines from `fn` to the closing brace.
    pub(crate) lines: usize,
    /// Parameters without `self`; a tuple counts with its elements.
    pub(crate) parameters: usize,
}

/// Struct with its own fields; those of nested types do not count.
#[derive(Debug, PartialEq)]
pub(crate) struct Struct {
    pub(crate) name: String,
    /// The line of `struct`, counted from one.
    pub(crate) line: usize,
    pub(crate) fields: usize,
}

/// True for `tests.rs` and `tests/…` inside `src`, which hold the test module of their parent.
pub(crate) fn is_test_file(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

/// The code of `source` without comments, literals and items under `#[cfg(test)]`; lines keep their numbers.
pub(crate) fn shipped_code(source: &str) -> String {
    let mut code = rust_source::mask(source).code;
    for range in test_items(&code) {
        let blank: String = code[range.clone()].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        code.replace_range(range.start..range.end, &blank);
    }
    code
}

/// Byte ranges of the items under `#[cfg(test)]`, attribute included, last one first.
pub(crate) fn test_items(code: &str) -> Vec<Range<usize>> {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let mut found: Vec<Range<usize>> = Vec::new();
    for (start, _) in code.match_indices(ATTRIBUTE) {
        if found.last().is_none_or(|previous| start >= previous.end) {
            let item = start + ATTRIBUTE.len();
            found.push(start..item + item_length(&code[item..]));
        }
    }
    found.reverse();
    found
}

/// The functions of `code`, in order.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    words(code, "fn")
        .filter_map(|at| {
            let shape = function_shape(&code[at..])?;
            let (line, last) = (line_of(code, at), line_of(code, at + shape.end - 1));
            Some(Function { name: shape.name, line, lines: last - line + 1, parameters: shape.parameters })
        })
        .collect()
}

/// The structs of `code`, in order, those inside functions included.
pub(crate) fn structs(code: &str) -> Vec<Struct> {
    words(code, "struct")
        .filter_map(|at| {
            let (name, fields) = struct_shape(&code[at..])?;
            Some(Struct { name, line: line_of(code, at), fields })
        })
        .collect()
}

/// True if `code` has a function of this name, with or without a body.
pub(crate) fn defines_function(code: &str, name: &str) -> bool {
    words(code, "fn").any(|at| name_after(&code[at..], "fn").is_some_and(|(found, _)| found == name))
}

/// True if a function of this name contains a call of `callee`.
pub(crate) fn calls(code: &str, caller: &str, callee: &str) -> bool {
    words(code, "fn").any(|at| {
        let body =
            function_shape(&code[at..]).filter(|shape| shape.name == caller).map(|shape| &code[at..at + shape.end]);
        body.is_some_and(|body| words(body, callee).any(|at| body[at + callee.len()..].starts_with(['(', ':'])))
    })
}

/// The line of a byte, counted from one.
pub(crate) fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

/// Places at which `word` stands alone in the code.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !code[..at].ends_with(is_part_of_name) && !code[at + word.len()..].starts_with(is_part_of_name)
    })
}

/// True for the characters of an identifier.
pub(crate) fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Shape {
    name: String,
    parameters: usize,
    /// Length from `fn` to the end of the body.
    end: usize,
}

/// Reads `fn name<…>(…) … { … }`; nothing for `fn(…)` types and for functions without a body.
fn function_shape(code: &str) -> Option<Shape> {
    let (name, generics) = name_after(code, "fn")?;
    let open = generics + outside_generics(&code[generics..], |c| c == '(')?;
    let close = open + group_length(&code[open..]);
    let parameters = parts(code.get(open + 1..close - 1)?).into_iter().map(parameter_count).sum();
    let body = close + body_offset(&code[close..])?;
    Some(Shape { name, parameters, end: body + group_length(&code[body..]) })
}

/// Reads `struct Name<…> where … { … }` and `struct Name<…>(…)`; a unit struct has no fields.
fn struct_shape(code: &str) -> Option<(String, usize)> {
    let (name, generics) = name_after(code, "struct")?;
    let after = &code[generics..];
    let list = match outside_generics(after, |c| matches!(c, '(' | '{' | ';' | 'w'))? {
        at if after[at..].starts_with('w') => at + body_offset(&after[at..])?,
        at if after[at..].starts_with(';') => return Some((name, 0)),
        at => at,
    };
    let inside = after.get(list + 1..list + group_length(&after[list..]) - 1)?;
    Some((name, parts(inside).len()))
}

/// The identifier after `keyword`, and the place after it.
fn name_after(code: &str, keyword: &str) -> Option<(String, usize)> {
    let after = code[keyword.len()..].trim_start();
    let name: String = after.chars().take_while(|&c| is_part_of_name(c)).collect();
    let end = code.len() - after.len() + name.len();
    (!name.is_empty()).then_some((name, end))
}

/// The first wanted character outside the generic parameters; the `>` of `->` closes nothing.
fn outside_generics(code: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let mut depth = 0_i32;
    let mut previous = ' ';
    for (at, c) in code.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if previous != '-' => depth -= 1,
            c if depth == 0 && wanted(c) => return Some(at),
            _ => {}
        }
        previous = c;
    }
    None
}

/// The `{` of the body; nothing if the signature ends in `;`. Brackets (`[f64; 3]`) are skipped.
fn body_offset(code: &str) -> Option<usize> {
    item_head(code).filter(|&at| code[at..].starts_with('{'))
}

/// The length of an item: to its first closing brace, or to its semicolon.
fn item_length(code: &str) -> usize {
    item_head(code)
        .map_or(code.len(), |at| at + if code[at..].starts_with('{') { group_length(&code[at..]) } else { 1 })
}

/// The first `{` or `;` outside brackets.
fn item_head(code: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' | ';' if depth == 0 => return Some(at),
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

/// The parts of a list between the commas at its outermost level; a comma at the end opens no part.
fn parts(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut previous) = (0_i32, 0, ' ');
    let mut found = Vec::new();
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if previous != '-' => depth -= 1,
            ',' if depth == 0 => {
                found.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        previous = c;
    }
    found.push(list[start..].trim());
    found.retain(|part| !part.is_empty());
    found
}

/// Values that a parameter carries: none for `self`, those of its elements for a tuple.
fn parameter_count(parameter: &str) -> usize {
    // A pattern can hold `::`, but only a type follows a colon that stands alone.
    let colon = parameter.char_indices().map(|(at, _)| at).find(|&at| {
        parameter[at..].starts_with(':') && !parameter[at..].starts_with("::") && !parameter[..at].ends_with(':')
    });
    let (pattern, of_type) = colon.map_or((parameter, ""), |at| (&parameter[..at], &parameter[at + 1..]));
    if words(pattern, "self").next().is_some() { 0 } else { tuple_elements(of_type) }
}

/// Elements of a tuple, also behind a reference and nested; one for every other type.
fn tuple_elements(of_type: &str) -> usize {
    let mut inner = of_type.trim();
    while let Some(behind) = inner.strip_prefix('&') {
        inner = behind.trim_start();
        if inner.starts_with('\'') {
            inner = inner.split_once(' ').map_or("", |(_, behind)| behind);
        }
        inner = inner.strip_prefix("mut ").unwrap_or(inner).trim_start();
    }
    if !inner.starts_with('(') || group_length(inner) != inner.len() {
        return 1;
    }
    parts(&inner[1..inner.len() - 1]).into_iter().map(tuple_elements).sum::<usize>().max(1)
}

#[cfg(test)]
mod tests {
    use super::{functions, shipped_code, structs};

    fn parameters(source: &str) -> Vec<usize> {
        functions(&shipped_code(source)).into_iter().map(|function| function.parameters).collect()
    }

    fn fields(source: &str) -> Vec<(String, usize)> {
        structs(&shipped_code(source)).into_iter().map(|found| (found.name, found.fields)).collect()
    }

    #[test]
    fn elements_of_tuples_are_parameters() {
        let source = "\
fn pair((a, b): (f64, [f64; 2]), c: &'a mut (u8, (u8, Map<K, V>))) {}
fn whole(f: impl Fn(u8, u8) -> (u8, u8), list: &[(u8, u8)], unit: (), one: (dyn A + 'a)) {}
fn method(self: &Self, Point { x, y }: Point, (std::cell::Cell { .. }, z): (C, u8)) {}
";
        assert_eq!(parameters(source), [5, 4, 3]);
    }

    #[test]
    fn fields_are_counted_in_every_form() {
        let source = "\
struct Unit;
struct Tuple<F: Fn(u8, u8) -> u8>(F, pub [u8; 2],);
/// Has { braces, and commas }.
struct Named<'a, T, const N: usize> where T: Fn(u8) -> u8, {
    #[doc(a, b)]
    pub(crate) map: Map<K, (V, V)>, // one, two
    text: fn(&'a str, u8) -> T,
}
fn outer() { struct Inner { a: u8 } let s = \"struct Not { a: u8 }\"; let c = '}'; }
struct Empty {}
";
        let expected = [("Unit", 0), ("Tuple", 2), ("Named", 2), ("Inner", 1), ("Empty", 0)];
        assert_eq!(fields(source), expected.map(|(name, count)| (name.to_string(), count)));
    }

    #[test]
    fn nothing_under_cfg_test_is_shipped() {
        let source = "\
#[cfg(test)]
use crate::a::{B, C};
struct Kept { a: [u8; 2] }
#[cfg(test)]
#[allow(x)]
fn gone(a: [u8; 2]) -> u8 { struct Gone { b: u8 } }
#[cfg(test)]
mod tests;
#[cfg(test)]
mod inline {
    #[cfg(test)]
    fn twice() {}
}
fn kept() {}
";
        let code = shipped_code(source);
        assert_eq!(fields(source), [("Kept".to_string(), 1)]);
        assert_eq!(functions(&code).iter().map(|f| (f.name.as_str(), f.line)).collect::<Vec<_>>(), [("kept", 14)]);
        assert!(!code.contains("mod") && !code.contains("crate"), "{code}");
        assert_eq!(code.lines().count(), source.lines().count());
    }
}
