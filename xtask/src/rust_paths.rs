//! Paths that Rust code mentions: those of `use` declarations, spelt out, and those inside the code.

use crate::rust_items;

/// A path in the code, such as `crate::step::Stepper`.
#[derive(Debug, PartialEq)]
pub(crate) struct Mention {
    /// Inline modules around it, outermost first.
    pub(crate) inside: Vec<String>,
    pub(crate) segments: Vec<String>,
    /// Name that a `use` gives it; none outside `use`.
    pub(crate) imported_as: Option<String>,
    /// Line of the last segment, counted from one.
    pub(crate) line: usize,
}

/// All paths of at least two segments in `code`, and all of `use`, in order.
///
/// The code is free of comments and literals. A path that starts with `::` names another crate: its first segment is empty in
/// `use`, and it is left out elsewhere.
pub(crate) fn mentions(code: &str) -> Vec<Mention> {
    let mut reader = Reader { tokens: tokens(code), at: 0, inside: Vec::new(), found: Vec::new() };
    let mut depth = 0_usize;
    let mut modules: Vec<usize> = Vec::new();
    while let Some(token) = reader.next() {
        match token {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if modules.pop_if(|opened| *opened == depth).is_some() {
                    reader.inside.pop();
                }
            }
            "mod" if reader.peek(1) == "{" => {
                reader.inside.push(reader.peek(0).to_owned());
                modules.push(depth);
            }
            // `use<…>` in a bound captures lifetimes and imports nothing.
            "use" if reader.peek(0) != "<" => reader.read_use_tree(&[]),
            "::" => {
                reader.next();
            }
            name if is_name(name) => reader.read_path(name),
            _ => {}
        }
    }
    reader.found
}

/// Tokens of the code with their lines: identifiers, `::`, and single characters.
fn tokens(code: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if rest.starts_with("::") {
                2
            } else {
                rest.find(|c| !rust_items::is_part_of_name(c)).unwrap_or(rest.len()).max(first.len_utf8())
            };
            found.push((&rest[..length], number + 1));
            rest = rest[length..].trim_start();
        }
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| rust_items::is_part_of_name(c) && !c.is_ascii_digit())
}

struct Reader<'a> {
    tokens: Vec<(&'a str, usize)>,
    at: usize,
    inside: Vec<String>,
    found: Vec<Mention>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let token = self.tokens.get(self.at)?.0;
        self.at += 1;
        Some(token)
    }

    /// The token `ahead` of the next one; empty at the end.
    fn peek(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.0)
    }

    fn push(&mut self, segments: Vec<String>, imported_as: Option<String>) {
        let line = self.tokens.get(self.at.saturating_sub(1)).map_or(1, |token| token.1);
        self.found.push(Mention { inside: self.inside.clone(), segments, imported_as, line });
    }

    /// Reads the rest of a path that starts with `first`.
    fn read_path(&mut self, first: &str) {
        let mut segments = vec![first.to_owned()];
        while self.peek(0) == "::" && is_name(self.peek(1)) {
            segments.push(self.peek(1).to_owned());
            self.at += 2;
        }
        if segments.len() > 1 {
            self.push(segments, None);
        }
    }

    /// Reads a `use` declaration, or one entry of a group in it, below `prefix`.
    fn read_use_tree(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        while let Some(token) = self.next() {
            match token {
                "{" => {
                    while !matches!(self.peek(0), "}" | "") {
                        self.read_use_tree(&segments);
                        if self.peek(0) == "," {
                            self.next();
                        }
                    }
                    self.next();
                    return;
                }
                "::" => {
                    segments.push(String::new());
                    continue;
                }
                "*" => return self.push(segments, Some("*".into())),
                // `a::{self}` is `a`.
                "self" if !segments.is_empty() => {}
                name => segments.push(name.to_owned()),
            }
            if self.peek(0) == "::" {
                self.next();
                continue;
            }
            let mut name = segments.last().cloned();
            if self.peek(0) == "as" {
                name = Some(self.peek(1).to_owned());
                self.push(segments, name);
                self.at += 2;
            } else {
                self.push(segments, name);
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mentions;
    use crate::rust_items::shipped_code;

    /// Mentions as `line [inline modules] path [as name]`.
    fn read(source: &str) -> Vec<String> {
        mentions(&shipped_code(source))
            .into_iter()
            .map(|found| {
                let inside = [found.inside, vec![String::new()]].concat().join("/");
                let name = found.imported_as.map_or(String::new(), |name| format!(" as {name}"));
                format!("{} {inside}{}{name}", found.line, found.segments.join("::"))
            })
            .collect()
    }

    #[test]
    fn groups_are_spelt_out() {
        let source = "\
pub(crate) use crate::{
    a::{self, B as C, d::*},
    E, // not F
    g::{H as _, i::{J}},
};
use super::super::k;
use self::l::M;
use ::std::fmt;
";
        let expected = [
            "2 crate::a as a",
            "2 crate::a::B as C",
            "2 crate::a::d as *",
            "3 crate::E as E",
            "4 crate::g::H as _",
            "4 crate::g::i::J as J",
            "6 super::super::k as k",
            "7 self::l::M as M",
            "8 ::std::fmt as fmt",
        ];
        assert_eq!(read(source), expected);
    }

    #[test]
    fn paths_in_code_are_found() {
        let source = "\
fn f<T: crate::a::B>(x: &super::super::C) -> impl Iterator + use<'_, T> {
    <T as crate::d::E>::f(\"crate::not::this {\", ::std::mem::take(x));
    g::h::<crate::i::J>::k(1.0)
}
pub(in crate::l) struct S;
pub(super) struct R { a: u8 }
";
        let expected = ["1 crate::a::B", "1 super::super::C", "2 crate::d::E", "3 g::h", "3 crate::i::J", "5 crate::l"];
        assert_eq!(read(source), expected);
    }

    #[test]
    fn inline_modules_are_followed_to_their_end() {
        let source = "\
mod a;
mod b {
    fn f() { if x { super::c::d() } }
    mod e { use super::super::g; }
    use super::h;
}
use super::i;
#[cfg(test)]
mod tests { use super::j; }
";
        let expected = ["3 b/super::c::d", "4 b/e/super::super::g as g", "5 b/super::h as h", "7 super::i as i"];
        assert_eq!(read(source), expected);
    }
}
