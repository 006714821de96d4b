//! Lexer: text to names, numbers, quoted text and operators, each with its position.

use std::ops::Range;

use super::{Fault, MAX_LENGTH};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// An unquoted name, with its dots: `rod.y`.
    Name(String),
    /// Quoted text.
    Text(String),
    /// An operator, a bracket, a comma or a dot.
    Sign(&'static str),
}

/// Operators and punctuation; longer ones precede their prefixes.
const SIGNS: [&str; 17] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "^", "(", ")", ",", ".", "="];

/// Returns the tokens of a text with their byte ranges.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, Fault> {
    if text.len() > MAX_LENGTH {
        let reason = format!("the text is {} bytes long; at most {MAX_LENGTH} are accepted", text.len());
        return Err(Fault::new(0..0, reason));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let (token, length) = token(rest).map_err(|(length, reason)| Fault::new(at..at + length, reason))?;
        tokens.push((token, at..at + length));
        at += length;
    }
    Ok(tokens)
}

/// Returns the first token and its length, or the length of the invalid part and the reason.
fn token(rest: &str) -> Result<(Token, usize), (usize, String)> {
    let first = rest.chars().next().unwrap_or(' ');
    let digit_follows = rest.get(1..).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()));
    if first.is_ascii_digit() || (first == '.' && digit_follows) {
        return number(rest);
    }
    if first.is_alphabetic() || first == '_' {
        return Ok(name(rest));
    }
    if first == '"' || first == '\'' || first == '`' {
        return quoted(rest, first);
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(&"=") => Err((1, "a comparison is written with `==`".to_owned())),
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => Err((first.len_utf8(), format!("`{}` has no meaning here", first.escape_default()))),
    }
}

fn number(rest: &str) -> Result<(Token, usize), (usize, String)> {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let after = |at: usize| rest.get(at..).unwrap_or_default();
    let mut length = digits(rest);
    if after(length).starts_with('.') {
        length += 1 + digits(after(length + 1));
    }
    if after(length).starts_with(['e', 'E']) {
        let sign = usize::from(after(length + 1).starts_with(['+', '-']));
        let exponent = digits(after(length + 1 + sign));
        length += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    match rest.get(..length).unwrap_or_default().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), length)),
        Ok(_) => Err((length, "the number is too large".to_owned())),
        Err(_) => Err((length.max(1), "this is not a number".to_owned())),
    }
}

/// Reads a name, or names with dots between them.
fn name(rest: &str) -> (Token, usize) {
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum::<usize>();
    let mut length = word(rest);
    while rest.get(length..).is_some_and(|tail| tail.starts_with('.')) {
        match word(rest.get(length + 1..).unwrap_or_default()) {
            0 => break,
            more => length += 1 + more,
        }
    }
    (Token::Name(rest.get(..length).unwrap_or_default().to_owned()), length)
}

/// Reads quoted text; a doubled quote inside stands for one.
fn quoted(rest: &str, quote: char) -> Result<(Token, usize), (usize, String)> {
    let mut text = String::new();
    let mut inside = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = inside.next() {
        if c != quote {
            text.push(c);
        } else if inside.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return Ok((Token::Text(text), at + 1));
        }
    }
    Err((rest.len(), format!("the text that begins here has no closing {quote}")))
}
