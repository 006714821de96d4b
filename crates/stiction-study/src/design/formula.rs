//! Formulas of parameters for values of a scene: `-A3*sin(C3)/(66*pi)^2`.

use std::fmt::Write;

use stiction::Expression;

/// An expression over the names of parameters, in the language of motions without the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    text: String,
    /// Parts of the text; every other one is the name of a parameter.
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The parameter of this number.
    Parameter(usize),
}

impl Formula {
    /// Reads a formula over these names. On failure it returns the reason.
    pub fn new(text: &str, names: &[&str]) -> Result<Self, String> {
        let formula = Self { text: text.to_owned(), pieces: pieces(text, names)? };
        // The text is an expression with any numbers, or with none.
        Expression::parse(&formula.filled(&vec![1.0; names.len()])).map_err(|error| error.reason)?;
        Ok(formula)
    }

    /// A number.
    pub(super) fn constant(value: f64) -> Self {
        let text = format!("{value:?}");
        Self { pieces: vec![Piece::Text(text.clone())], text }
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Value of the formula; NaN if it has none.
    pub fn value(&self, parameters: &[f64]) -> f64 {
        Expression::parse(&self.filled(parameters)).map_or(f64::NAN, |expression| expression.value(0.0))
    }

    /// Text with numbers instead of names; brackets separate their signs from operators.
    fn filled(&self, parameters: &[f64]) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Parameter(k) => {
                    // Writing into a text cannot fail; an infinite number is no expression, and so the formula has no value.
                    let _ = write!(text, "({:?})", parameters.get(*k).copied().unwrap_or(f64::NAN));
                }
            }
        }
        text
    }
}

/// Splits a text at its names.
fn pieces(text: &str, names: &[&str]) -> Result<Vec<Piece>, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let (before, behind) = rest.split_at(start);
        let end = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
        let (word, after) = behind.split_at(end);
        // The exponent of a number such as 1e-3 is no name.
        let in_number = before.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        match names.iter().position(|name| *name == word) {
            Some(k) if !in_number => {
                pieces.extend([Piece::Text(before.to_owned()), Piece::Parameter(k)]);
            }
            _ if word == "t" => return Err("formulas depend on parameters, not on the time `t`".to_owned()),
            _ => pieces.push(Piece::Text(format!("{before}{word}"))),
        }
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_know_their_parameters() {
        let formula = Formula::new("-A3*sin(C3)/(66*pi)^2 + 1e-3*A", &["A", "A3", "C3"]).unwrap();
        let expected = 8.0 / (66.0 * std::f64::consts::PI).powi(2) - 2e-3;
        assert!((formula.value(&[-2.0, 8.0, 1.5 * std::f64::consts::PI]) - expected).abs() < 1e-15);
        assert_eq!(formula.text(), "-A3*sin(C3)/(66*pi)^2 + 1e-3*A");
    }

    #[test]
    fn a_negative_parameter_keeps_its_sign() {
        let formula = Formula::new("2-x^2", &["x"]).unwrap();
        assert_eq!(formula.value(&[-3.0]), -7.0);
        assert!(formula.value(&[f64::NAN]).is_nan() && formula.value(&[f64::INFINITY]).is_nan());
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        for text in ["", "2*", "y", "sin", "t", "x x"] {
            assert!(Formula::new(text, &["x"]).is_err(), "{text}");
        }
    }
}
