//! The kind `mcp`: expression trees between bounds.
//!
//! Fields: `n`, `lb`, `ub` (null for no bound), `F` with one tree per row, and `starts`, a list of initial guesses. A tree
//! is a number, `["x", i]`, or an operator with its arguments: `["+", a, …]`, `["*", a, …]`, `["-", a, b]`, `["/", a, b]`,
//! `["^", a, number]`, `["exp", a]`.

use super::lcp::{bounds, finite_or_null};
use super::{MAX_FILE_SIZE, ProblemFileError};
use crate::ncp::expression::{Expression, ExpressionFunction};
use crate::ncp::{Ncp, NcpFunction, NcpSolution};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize)]
struct NcpFields {
    kind: String,
    n: usize,
    lb: Vec<Option<f64>>,
    ub: Vec<Option<f64>>,
    #[serde(rename = "F")]
    f: Vec<Value>,
    #[serde(default)]
    starts: Vec<Vec<f64>>,
}

/// A problem with the initial guesses of its file.
type WithStarts = (Ncp<ExpressionFunction>, Vec<NcpSolution>);

pub(super) fn read(text: &str) -> Result<WithStarts, ProblemFileError> {
    let fields: NcpFields = serde_json::from_str(text)?;
    if fields.n > MAX_FILE_SIZE {
        return Err(ProblemFileError::TooLarge { rows: fields.n });
    }
    let start_lengths = fields.starts.iter().map(|start| ("starts", start.len()));
    let lengths = [("lb", fields.lb.len()), ("ub", fields.ub.len()), ("F", fields.f.len())];
    for (field, found) in lengths.into_iter().chain(start_lengths) {
        if found != fields.n {
            return Err(ProblemFileError::WrongLength { field, expected: fields.n, found });
        }
    }
    let rows = fields
        .f
        .iter()
        .enumerate()
        .map(|(row, tree)| expression(tree).map_err(|what| ProblemFileError::BadExpression { row, what }));
    let (lower, upper) = bounds(fields.lb, fields.ub);
    let function = ExpressionFunction::new(rows.collect::<Result<_, _>>()?, lower, upper)?;
    let starts = fields.starts.into_iter().map(|z| NcpSolution { z }).collect();
    Ok((Ncp::new(function)?, starts))
}

/// Converts the tree to an expression, or describes the error. The parser limits the depth of the text.
fn expression(tree: &Value) -> Result<Expression, String> {
    if let Some(number) = tree.as_f64() {
        return Ok(Expression::Number(number));
    }
    let Some([operator, arguments @ ..]) = tree.as_array().map(Vec::as_slice) else {
        return Err(format!("`{tree}` is neither a number nor a list"));
    };
    let all = || arguments.iter().map(expression).collect::<Result<Vec<_>, _>>();
    match (operator.as_str(), arguments) {
        (Some("x"), [index]) => match index.as_u64() {
            Some(index) => Ok(Expression::Variable(usize::try_from(index).unwrap_or(usize::MAX))),
            None => Err(format!("`{index}` is not an index of a variable")),
        },
        (Some("+"), [_, ..]) => all().map(Expression::Sum),
        (Some("*"), [_, ..]) => all().map(Expression::Product),
        (Some("-"), [a, b]) => Ok(Expression::Difference(Box::new([expression(a)?, expression(b)?]))),
        (Some("/"), [a, b]) => Ok(Expression::Quotient(Box::new([expression(a)?, expression(b)?]))),
        (Some("^"), [base, exponent]) => match exponent.as_f64() {
            Some(exponent) => Ok(Expression::Power(Box::new(expression(base)?), exponent)),
            None => Err(format!("the exponent `{exponent}` is not a number")),
        },
        (Some("exp"), [a]) => Ok(Expression::Exp(Box::new(expression(a)?))),
        _ => Err(format!("operator `{operator}` with {} arguments is unknown", arguments.len())),
    }
}

pub(super) fn write(problem: &Ncp<ExpressionFunction>, starts: &[NcpSolution]) -> Result<String, ProblemFileError> {
    let function = problem.function();
    let n = function.size();
    let fields = NcpFields {
        kind: "mcp".to_owned(),
        n,
        lb: finite_or_null((0..n).map(|i| function.bounds(i).0)),
        ub: finite_or_null((0..n).map(|i| function.bounds(i).1)),
        f: function.rows().iter().map(tree).collect(),
        starts: starts.iter().map(|start| start.z.clone()).collect(),
    };
    Ok(serde_json::to_string(&fields)?)
}

fn tree(expression: &Expression) -> Value {
    let list = |operator: &str, parts: &[Expression]| {
        Value::Array(std::iter::once(json!(operator)).chain(parts.iter().map(tree)).collect())
    };
    match expression {
        Expression::Number(number) => json!(number),
        Expression::Variable(i) => json!(["x", i]),
        Expression::Sum(parts) => list("+", parts),
        Expression::Product(parts) => list("*", parts),
        Expression::Difference(pair) => list("-", &pair[..]),
        Expression::Quotient(pair) => list("/", &pair[..]),
        Expression::Power(base, exponent) => json!(["^", tree(base), exponent]),
        Expression::Exp(part) => list("exp", std::slice::from_ref(part)),
    }
}
