//! Expressions of time with exact derivatives.
//!
//! `parse` turns text such as `0.5 + 0.4*sin(2*pi*t)` into a flat postfix program. `jet` runs it on truncated Taylor
//! series and returns f(t), f′(t) and f″(t) exact to round-off, without finite differences and without allocating.
//!
//! # Language
//!
//! Numbers (`2`, `.5`, `1e-3`), the time `t`, `pi`; `+ - * / % ^` with the usual precedence (`^` binds tightest and to the
//! right, so `-t^2` is −(t²)); parentheses; and the functions
//!
//! | | |
//! |---|---|
//! | `sin cos tan asin acos atan sqrt exp log` | `log` is the natural logarithm |
//! | `abs(x)`, `sign(x)`, `floor(x)` | `sign(0)` is 0 |
//! | `step(x)` | 0 for x < 0, else 1 |
//! | `min(a, b)`, `max(a, b)`, `clamp(x, a, b)` | |
//! | `mod(a, b)`, also `a % b` | a − b ⌊a/b⌋: the result has the sign of b |
//! | `if(c, a, b)` | `c` compares two expressions by `<`, `<=`, `>` or `>=` |
//!
//! # Derivatives at a switch
//!
//! `if`, `floor`, `mod`, `sign` and `step` are differentiated on the branch that gives their value: with
//! `if(t < 1, a, b)` that is the right derivative at t = 1. Jumps have no derivative and contribute none. `abs`, `min`,
//! `max` and `clamp` are continuous, and at a kink their derivative is the one from the right. Where a derivative does not
//! exist (`sqrt(t)` at 0) it comes out infinite or NaN; the value is right all the same.

mod jet;
mod parse;
mod program;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

pub use jet::Jet;
use program::{Op, Program};

/// The longest text [`Expression::parse`] accepts, in bytes.
pub const MAX_LENGTH: usize = 10_000;

/// The deepest nesting of parentheses, calls and prefix signs [`Expression::parse`] accepts.
pub const MAX_DEPTH: usize = 64;

/// A function of the time t, in seconds. See the [module documentation](self) for its language.
#[derive(Clone, Debug)]
pub struct Expression {
    program: Program,
    source: Box<str>,
}

/// Error of a text that is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (at byte {at})")]
pub struct ExpressionError {
    /// Byte offset of the error in the text; at most its length.
    pub at: usize,
    /// Reason of the error.
    pub reason: String,
}

impl Expression {
    /// A constant function. The text of a value that is not finite cannot be parsed back.
    pub fn constant(value: f64) -> Self {
        Self { program: Program::new(vec![Op::Constant(value)]), source: format!("{value:?}").into() }
    }

    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self { program: parse::parse(text)?, source: text.into() })
    }

    /// f(t) alone.
    pub fn value(&self, t: f64) -> f64 {
        self.as_constant().unwrap_or_else(|| self.jet(t).value)
    }

    /// f(t), f′(t) and f″(t), exact to round-off.
    pub fn jet(&self, t: f64) -> Jet {
        self.program.run(t)
    }

    /// Value of an expression that is a single number.
    pub fn as_constant(&self) -> Option<f64> {
        self.program.as_constant()
    }
}

/// Two expressions are equal if they have the same operations, regardless of blanks.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.program == other.program
    }
}

/// The text it was parsed from: parses back to an equal expression.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl FromStr for Expression {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Self::parse(text)
    }
}
