//! Recursive descent from tokens to a tree.
//!
//! ```text
//! either     = both { "or" both }
//! both       = negated { "and" negated }
//! negated    = { "not" } comparison
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = signed { ("*" | "/" | "%") signed }
//! signed     = { "-" | "+" } power
//! power      = atom [ "^" signed ]
//! atom       = number | name | text [ "." name ] | "(" either ")"
//!            | name "(" either { "," either } ")" | "contact" "(" text ")" "." name
//! ```

use std::{iter::Peekable, ops::Range, vec::IntoIter};

use stiction_scene::suggestion;

use super::{
    Fault, MAX_DEPTH,
    lexer::{Token, tokens},
    syntax::{FUNCTIONS, Kind, Node, Operator},
};

type Parsed<T = Node> = Result<T, Fault>;

const COMPARISONS: [(&str, Operator); 6] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Parsed {
    let end = text.len()..text.len();
    let mut parser = Parser { tokens: tokens(text)?.into_iter().peekable(), end, depth: 0 };
    let node = parser.either()?;
    match parser.tokens.next() {
        None => Ok(node),
        Some((Token::Name(_) | Token::Number(_) | Token::Text(_) | Token::Sign("("), span)) => {
            Err(Fault::new(span, "expected an operator").hint("a product is written with `*`"))
        }
        Some((_, span)) => Err(Fault::new(span, "expected an operator or the end")),
    }
}

struct Parser {
    tokens: Peekable<IntoIter<(Token, Range<usize>)>>,
    end: Range<usize>,
    depth: usize,
}

impl Parser {
    fn either(&mut self) -> Parsed {
        self.chain(Self::both, |token| is_word(token, "or").then_some(Operator::Or))
    }

    fn both(&mut self) -> Parsed {
        self.chain(Self::negated, |token| is_word(token, "and").then_some(Operator::And))
    }

    fn negated(&mut self) -> Parsed {
        match self.tokens.next_if(|(token, _)| is_word(token, "not")) {
            None => self.comparison(),
            Some((_, span)) => {
                let node = self.nested(Self::negated)?;
                let whole = span.start..node.span.end;
                Ok(Node { kind: Kind::Not(Box::new(node)), span: whole })
            }
        }
    }

    fn comparison(&mut self) -> Parsed {
        let left = self.sum()?;
        let compares = |token: &Token| {
            COMPARISONS.iter().find(|(sign, _)| matches!(token, Token::Sign(found) if found == sign)).map(|(_, op)| *op)
        };
        match self.next_operator(compares) {
            None => Ok(left),
            Some(operator) => {
                let right = self.sum()?;
                if let Some((_, span)) = self.tokens.next_if(|(token, _)| compares(token).is_some()) {
                    return Err(Fault::new(span, "a comparison has two sides").hint("join two by `and`"));
                }
                Ok(binary(operator, left, right))
            }
        }
    }

    fn sum(&mut self) -> Parsed {
        self.chain(Self::product, |token| match token {
            Token::Sign("+") => Some(Operator::Add),
            Token::Sign("-") => Some(Operator::Subtract),
            _ => None,
        })
    }

    fn product(&mut self) -> Parsed {
        self.chain(Self::signed, |token| match token {
            Token::Sign("*") => Some(Operator::Multiply),
            Token::Sign("/") => Some(Operator::Divide),
            Token::Sign("%") => Some(Operator::Modulo),
            _ => None,
        })
    }

    /// Parses operands joined by left-associative operators of one precedence.
    fn chain(&mut self, operand: fn(&mut Self) -> Parsed, operator: fn(&Token) -> Option<Operator>) -> Parsed {
        let mut left = self.nested(operand)?;
        while let Some(operator) = self.next_operator(operator) {
            let right = self.nested(operand)?;
            left = binary(operator, left, right);
        }
        Ok(left)
    }

    fn signed(&mut self) -> Parsed {
        let mut negative = false;
        let mut start = None;
        while let Some((token, span)) = self.tokens.next_if(|(token, _)| matches!(token, Token::Sign("-" | "+"))) {
            negative ^= token == Token::Sign("-");
            start.get_or_insert(span.start);
        }
        let node = self.power()?;
        let span = start.unwrap_or(node.span.start)..node.span.end;
        Ok(if negative { Node { kind: Kind::Negate(Box::new(node)), span } } else { node })
    }

    fn power(&mut self) -> Parsed {
        let base = self.atom()?;
        if self.take("^").is_none() {
            return Ok(base);
        }
        let exponent = self.nested(Self::signed)?;
        Ok(binary(Operator::Power, base, exponent))
    }

    fn atom(&mut self) -> Parsed {
        let Some((token, span)) = self.tokens.next() else {
            return Err(Fault::new(
                self.end.clone(),
                "expected a number, a column or a function, but the text ends here",
            ));
        };
        match token {
            Token::Number(value) => Ok(Node { kind: Kind::Number(value), span }),
            Token::Sign("(") => {
                let inside = self.nested(Self::either)?;
                let end = self.expect(")")?.end;
                Ok(Node { span: span.start..end, ..inside })
            }
            Token::Text(text) => match self.dotted(span.end)? {
                Some((name, end)) => Ok(Node { kind: Kind::Name(format!("{text}.{name}")), span: span.start..end }),
                None => Ok(Node { kind: Kind::Text(text), span }),
            },
            Token::Name(name) if matches!(self.tokens.peek(), Some((Token::Sign("("), _))) => self.call(&name, span),
            Token::Name(name) => Ok(Node { kind: Kind::Name(name), span }),
            Token::Sign(sign) => {
                Err(Fault::new(span, format!("expected a number, a column or a function, found `{sign}`")))
            }
        }
    }

    /// Parses a dot directly after `end`, and the name after it; returns the name and its end.
    fn dotted(&mut self, end: usize) -> Parsed<Option<(String, usize)>> {
        let follows = |(token, span): &(Token, Range<usize>)| *token == Token::Sign(".") && span.start == end;
        let Some((_, dot)) = self.tokens.next_if(follows) else { return Ok(None) };
        match self.tokens.next() {
            Some((Token::Name(name), span)) => Ok(Some((name, span.end))),
            _ => Err(Fault::new(dot, "expected the name of a column after the dot")),
        }
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Parsed {
        self.expect("(")?;
        if name == "contact" {
            return self.contact(span.start);
        }
        let mut arguments = vec![self.nested(Self::either)?];
        while self.take(",").is_some() {
            arguments.push(self.nested(Self::either)?);
        }
        let whole = span.start..self.expect(")")?.end;
        let called: Vec<_> = FUNCTIONS.iter().filter(|(known, _, _)| *known == name).collect();
        if called.is_empty() {
            let known = FUNCTIONS.iter().map(|(known, _, _)| *known).chain(["contact"]);
            let reason = format!("there is no function `{}`", shortened(name));
            return Err(Fault::new(span, reason).hint(suggestion(name, known)));
        }
        if let Some((_, function, _)) = called.iter().find(|(_, _, count)| *count == arguments.len()) {
            return Ok(Node { kind: Kind::Call(*function, arguments), span: whole });
        }
        let counts: Vec<_> = called.iter().map(|(_, _, count)| count.to_string()).collect();
        let reason = format!("`{name}` takes {} arguments, not {}", counts.join(" or "), arguments.len());
        Err(Fault::new(whole, reason))
    }

    fn contact(&mut self, start: usize) -> Parsed {
        let wrong = |span| {
            let fault = Fault::new(span, "expected the label of a contact in quotes");
            Err(fault.hint("such as contact(\"table/rod:0-1\").gap"))
        };
        let label = match self.tokens.next() {
            Some((Token::Text(label), _)) => label,
            Some((_, span)) => return wrong(span),
            None => return wrong(self.end.clone()),
        };
        let end = self.expect(")")?.end;
        if let Some((column, end)) = self.dotted(end)? {
            return Ok(Node { kind: Kind::Contact { label, column }, span: start..end });
        }
        let fault = Fault::new(start..end, "a column of the contact is missing");
        Err(fault.hint("such as contact(\"table/rod:0-1\").gap"))
    }

    /// Runs a rule one level deeper, within [`MAX_DEPTH`] levels of brackets.
    fn nested(&mut self, rule: fn(&mut Self) -> Parsed) -> Parsed {
        // An open bracket passes through five rules that count.
        const RULES: usize = 5;
        if self.depth >= RULES * MAX_DEPTH {
            let at = self.tokens.peek().map_or(self.end.clone(), |(_, span)| span.clone());
            return Err(Fault::new(at, format!("the text is nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let done = rule(self);
        self.depth -= 1;
        done
    }

    fn next_operator(&mut self, operator: impl Fn(&Token) -> Option<Operator>) -> Option<Operator> {
        let found = operator(&self.tokens.peek()?.0)?;
        self.tokens.next();
        Some(found)
    }

    fn take(&mut self, sign: &str) -> Option<Range<usize>> {
        self.tokens.next_if(|(token, _)| matches!(token, Token::Sign(found) if *found == sign)).map(|(_, span)| span)
    }

    fn expect(&mut self, sign: &str) -> Parsed<Range<usize>> {
        self.take(sign).ok_or_else(|| {
            let at = self.tokens.peek().map_or(self.end.clone(), |(_, span)| span.clone());
            Fault::new(at, format!("expected `{sign}`"))
        })
    }
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Name(name) if name == word)
}

fn binary(operator: Operator, left: Node, right: Node) -> Node {
    let span = left.span.start..right.span.end;
    Node { kind: Kind::Binary(operator, Box::new(left), Box::new(right)), span }
}

/// Returns the first characters of a text, for a message.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut short: String = text.chars().take(LONGEST).map(visible).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
