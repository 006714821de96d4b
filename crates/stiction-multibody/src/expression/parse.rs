//! Recursive descent from text to postfix.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/" | "%") signed }
//! signed  = { "-" | "+" } power
//! power   = atom [ "^" signed ]
//! atom    = number | "t" | "pi" | "(" sum ")" | name "(" sum { "," sum } ")"
//!         | "if" "(" sum ("<" | "<=" | ">" | ">=") sum "," sum "," sum ")"
//! ```

use super::{
    ExpressionError, MAX_DEPTH, MAX_LENGTH,
    program::{Binary, Comparison, MAX_STACK, Op, Program, Unary},
};

const FUNCTIONS: [(&str, Op); 17] = [
    ("sin", Op::Unary(Unary::Sin)),
    ("cos", Op::Unary(Unary::Cos)),
    ("tan", Op::Unary(Unary::Tan)),
    ("asin", Op::Unary(Unary::Asin)),
    ("acos", Op::Unary(Unary::Acos)),
    ("atan", Op::Unary(Unary::Atan)),
    ("sqrt", Op::Unary(Unary::Sqrt)),
    ("exp", Op::Unary(Unary::Exp)),
    ("log", Op::Unary(Unary::Log)),
    ("abs", Op::Unary(Unary::Abs)),
    ("sign", Op::Unary(Unary::Sign)),
    ("floor", Op::Unary(Unary::Floor)),
    ("step", Op::Unary(Unary::Step)),
    ("min", Op::Binary(Binary::Min)),
    ("max", Op::Binary(Binary::Max)),
    ("mod", Op::Binary(Binary::Modulo)),
    ("clamp", Op::Clamp),
];

type Parsed<T = ()> = Result<T, ExpressionError>;

pub(super) fn parse(text: &str) -> Parsed<Program> {
    if text.len() > MAX_LENGTH {
        let reason = format!("is {} bytes long; at most {MAX_LENGTH} are accepted", text.len());
        return Err(ExpressionError { at: 0, reason });
    }
    let mut parser = Parser { text, at: 0, depth: 0, ops: Vec::new() };
    parser.sum()?;
    parser.skip_blanks();
    if let Some(found) = parser.peek() {
        return Err(parser.unexpected_after_operand(found));
    }
    let program = Program::new(parser.ops);
    if program.depth() > MAX_STACK {
        return Err(too_deep(0));
    }
    Ok(program)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    ops: Vec<Op>,
}

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Parsed {
        self.product()?;
        loop {
            let op = match self.next_symbol() {
                Some('+') => Binary::Add,
                Some('-') => Binary::Subtract,
                _ => return Ok(()),
            };
            self.at += 1;
            self.product()?;
            self.ops.push(Op::Binary(op));
        }
    }

    fn product(&mut self) -> Parsed {
        self.signed()?;
        loop {
            let op = match self.next_symbol() {
                Some('*') => Binary::Multiply,
                Some('/') => Binary::Divide,
                Some('%') => Binary::Modulo,
                _ => return Ok(()),
            };
            self.at += 1;
            self.signed()?;
            self.ops.push(Op::Binary(op));
        }
    }

    fn signed(&mut self) -> Parsed {
        let mut negative = false;
        while let Some(sign @ ('-' | '+')) = self.next_symbol() {
            negative ^= sign == '-';
            self.at += 1;
        }
        let start = self.ops.len();
        self.power()?;
        if negative {
            // A negated literal is a literal, so that -2 reads back as the constant −2.
            match self.ops.get_mut(start..) {
                Some([Op::Constant(value)]) => *value = -*value,
                _ => self.ops.push(Op::Unary(Unary::Negate)),
            }
        }
        Ok(())
    }

    fn power(&mut self) -> Parsed {
        self.atom()?;
        if self.next_symbol() == Some('^') {
            self.at += 1;
            self.nested(Self::signed)?;
            self.ops.push(Op::Binary(Binary::Power));
        }
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        match self.next_symbol() {
            Some('(') => {
                self.at += 1;
                self.nested(Self::sum)?;
                self.expect(')')
            }
            Some('0'..='9' | '.') => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(self.error(format!("expected a number, `t`, a function or `(`, found `{c}`"))),
            None => Err(self.error("expected a number, `t`, a function or `(`, but the text ends here")),
        }
    }

    fn number(&mut self) -> Parsed {
        let rest = self.rest();
        let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
        let mut length = digits(rest);
        if rest[length..].starts_with('.') {
            length += 1 + digits(&rest[length + 1..]);
        }
        let tail = &rest[length..];
        if tail.starts_with(['e', 'E']) {
            let sign = usize::from(tail[1..].starts_with(['+', '-']));
            let exponent = digits(&tail[1 + sign..]);
            length += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        let literal = &rest[..length];
        match literal.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += length;
                self.ops.push(Op::Constant(value));
                Ok(())
            }
            Ok(_) => Err(self.error(format!("the number {} is too large", shortened(literal)))),
            Err(_) => Err(self.error(format!("`{literal}` is not a number"))),
        }
    }

    fn name(&mut self) -> Parsed {
        let start = self.at;
        let rest = self.rest();
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let name = &rest[..length];
        self.at += length;
        let op = match name {
            "t" => Op::Time,
            "pi" => Op::Constant(std::f64::consts::PI),
            "if" => return self.conditional(),
            _ => match FUNCTIONS.iter().find(|(known, _)| *known == name) {
                Some((_, op)) => return self.call(name, *op),
                None => return Err(unknown_name(start, name)),
            },
        };
        self.ops.push(op);
        Ok(())
    }

    fn call(&mut self, name: &str, op: Op) -> Parsed {
        self.expect('(')?;
        let wanted = op.operands();
        for position in 0..wanted {
            if position > 0 {
                self.expect_comma(name, wanted)?;
            }
            self.nested(Self::sum)?;
        }
        if self.next_symbol() == Some(',') {
            return Err(self.error(format!("`{name}` takes {}", arguments(wanted))));
        }
        self.expect(')')?;
        self.ops.push(op);
        Ok(())
    }

    fn conditional(&mut self) -> Parsed {
        self.expect('(')?;
        self.nested(Self::sum)?;
        let comparison = self.comparison()?;
        self.nested(Self::sum)?;
        self.expect(',')?;
        self.nested(Self::sum)?;
        self.expect(',')?;
        self.nested(Self::sum)?;
        self.expect(')')?;
        self.ops.push(Op::Select(comparison));
        Ok(())
    }

    fn comparison(&mut self) -> Parsed<Comparison> {
        self.skip_blanks();
        let (comparison, length) = match self.rest().as_bytes() {
            [b'<', b'=', ..] => (Comparison::LessOrEqual, 2),
            [b'>', b'=', ..] => (Comparison::GreaterOrEqual, 2),
            [b'<', ..] => (Comparison::Less, 1),
            [b'>', ..] => (Comparison::Greater, 1),
            _ => return Err(self.error("expected a comparison: `<`, `<=`, `>` or `>=`")),
        };
        self.at += length;
        Ok(comparison)
    }

    /// Runs a rule one level deeper, within [`MAX_DEPTH`].
    fn nested(&mut self, rule: fn(&mut Self) -> Parsed) -> Parsed {
        if self.depth == MAX_DEPTH {
            return Err(too_deep(self.at));
        }
        self.depth += 1;
        let done = rule(self);
        self.depth -= 1;
        done
    }

    fn expect(&mut self, symbol: char) -> Parsed {
        match self.next_symbol() {
            Some(found) if found == symbol => {
                self.at += symbol.len_utf8();
                Ok(())
            }
            Some(found) => Err(self.error(format!("expected `{symbol}`, found `{found}`"))),
            None => Err(self.error(format!("expected `{symbol}`, but the text ends here"))),
        }
    }

    fn expect_comma(&mut self, name: &str, wanted: usize) -> Parsed {
        if self.next_symbol() == Some(')') {
            return Err(self.error(format!("`{name}` takes {}", arguments(wanted))));
        }
        self.expect(',')
    }

    fn rest(&self) -> &'a str {
        debug_assert!(self.text.is_char_boundary(self.at), "byte {} is not the start of a character", self.at);
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn next_symbol(&mut self) -> Option<char> {
        self.skip_blanks();
        self.peek()
    }

    fn error(&self, reason: impl Into<String>) -> ExpressionError {
        ExpressionError { at: self.at, reason: reason.into() }
    }

    fn unexpected_after_operand(&self, found: char) -> ExpressionError {
        self.error(match found {
            '<' | '>' | '=' => format!("`{found}` compares; comparisons belong into `if(a < b, x, y)`"),
            c if c.is_alphanumeric() || c == '(' => {
                format!("expected an operator, found `{c}`; a product is written with `*`")
            }
            c => format!("expected an operator, found `{c}`"),
        })
    }
}

fn too_deep(at: usize) -> ExpressionError {
    ExpressionError { at, reason: format!("is nested more than {MAX_DEPTH} levels deep") }
}

fn unknown_name(at: usize, name: &str) -> ExpressionError {
    let known: Vec<_> = FUNCTIONS.iter().map(|(known, _)| *known).collect();
    let reason = format!("`{}` is not known; there are `t`, `pi`, if, {}", shortened(name), known.join(", "));
    ExpressionError { at, reason }
}

fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".into() } else { format!("{count} arguments") }
}

/// At most the first characters of a text from the file, for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 24;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
