//! A scanner that separates Rust code from comments and literals.
//!
//! It knows just enough of the lexical grammar: line and nested block comments, string literals (plain, byte, raw),
//! character literals against lifetimes. It does not parse. What it returns has the same lines as the source, so that
//! line numbers stay true.

/// A source text split in two, line for line.
pub(crate) struct Masked {
    /// The code, with every comment and the inside of every literal replaced by spaces.
    pub(crate) code: String,
    /// The comments, with everything else replaced by spaces.
    pub(crate) comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Splits `source` into code and comments.
pub(crate) fn mask(source: &str) -> Masked {
    let chars: Vec<char> = source.chars().collect();
    let mut kinds = vec![Kind::Code; chars.len()];
    let mut at = 0;
    while at < chars.len() {
        let (kind, end) = token(&chars, at);
        kinds[at..end].fill(kind);
        at = end;
    }
    let keep = |wanted: Kind| {
        chars.iter().zip(&kinds).map(|(&c, &kind)| if c == '\n' || kind == wanted { c } else { ' ' }).collect()
    };
    Masked { code: keep(Kind::Code), comments: keep(Kind::Comment) }
}

/// The kind and the end of the token that starts at `at`. Anything that is neither comment nor literal is one character
/// (or one identifier) of code.
fn token(chars: &[char], at: usize) -> (Kind, usize) {
    let rest = &chars[at..];
    match rest {
        ['/', '/', ..] => (Kind::Comment, at + length_until(rest, '\n')),
        ['/', '*', ..] => (Kind::Comment, at + block_comment(rest)),
        ['"', ..] => (Kind::Literal, at + quoted(rest, '"')),
        ['\'', '\\', ..] | ['\'', _, '\'', ..] => (Kind::Literal, at + quoted(rest, '\'')),
        [c, ..] if c.is_alphanumeric() || *c == '_' => identifier_or_raw_string(rest, at),
        _ => (Kind::Code, at + 1),
    }
}

fn length_until(rest: &[char], stop: char) -> usize {
    rest.iter().position(|&c| c == stop).unwrap_or(rest.len())
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a literal that opens with `quote`, escapes included.
fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Identifiers are consumed whole, so that the `r` of `for` is not taken for the start of a raw string.
fn identifier_or_raw_string(rest: &[char], at: usize) -> (Kind, usize) {
    let length = rest.iter().position(|c| !(c.is_alphanumeric() || *c == '_')).unwrap_or(rest.len());
    let word: String = rest[..length].iter().collect();
    let hashes = rest[length..].iter().take_while(|&&c| c == '#').count();
    let opens_raw = matches!(word.as_str(), "r" | "br" | "cr") && rest.get(length + hashes) == Some(&'"');
    if !opens_raw {
        return (Kind::Code, at + length);
    }
    let mut end = length + hashes + 1;
    while end < rest.len() {
        let closing = rest[end..].iter().skip(1).take_while(|&&c| c == '#').count();
        if rest[end] == '"' && closing >= hashes {
            return (Kind::Literal, at + end + 1 + hashes);
        }
        end += 1;
    }
    (Kind::Literal, at + rest.len())
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn comments_and_code_are_told_apart() {
        let masked = mask("let a = 1; // one { two\n/* x /* y */ z */ b();\n");
        assert_eq!(masked.code, "let a = 1;             \n                  b();\n");
        assert!(masked.comments.contains("// one { two"));
        assert!(masked.comments.contains("/* x /* y */ z */"));
        assert!(!masked.comments.contains("b();"));
    }

    #[test]
    fn literals_hide_braces_and_comment_marks() {
        for literal in [r#""{ // \" }""#, "'{'", r"'\''", "r#\"{ \" }\"#", "br\"{\"", "b\"{\""] {
            let masked = mask(&format!("f({literal}); g()"));
            assert!(!masked.code.contains('{'), "{literal}: {}", masked.code);
            assert!(masked.code.ends_with("g()"), "{literal}: {}", masked.code);
            assert_eq!(masked.comments.trim(), "", "{literal}");
        }
    }

    #[test]
    fn lifetimes_are_code() {
        let source = "fn f<'a>(x: &'a str, y: &'_ str) -> &'a str { x }";
        assert_eq!(mask(source).code, source);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let source = "/*\n\n*/\nlet s = \"\n\n\";\n";
        assert_eq!(mask(source).code.lines().count(), source.lines().count());
    }
}
