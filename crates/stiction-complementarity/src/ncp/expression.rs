//! Functions given as expression trees, with exact derivatives.
//!
//! Derivatives are computed by forward differentiation (dual numbers), only for the variables of each row. Evaluation does
//! not allocate.

use super::NcpFunction;
use crate::linalg::SparseMatrix;
use crate::problem::{ProblemError, ensure_size};
use libm::{exp, pow};

/// An expression in the variables x₀, x₁, ….
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Expression {
    /// A number.
    Number(f64),
    /// The variable of this index.
    Variable(usize),
    /// The sum of all terms.
    Sum(Vec<Expression>),
    /// The product of all factors.
    Product(Vec<Expression>),
    /// The first minus the second.
    Difference(Box<[Expression; 2]>),
    /// The first over the second.
    Quotient(Box<[Expression; 2]>),
    /// A base to a constant exponent.
    Power(Box<Expression>, f64),
    /// e to the expression.
    Exp(Box<Expression>),
}

/// A value with its derivative.
type Dual = (f64, f64);

impl Expression {
    /// The value at z; NaN outside the domain.
    pub fn value(&self, z: &[f64]) -> f64 {
        self.dual(z, usize::MAX).0
    }

    /// The value and the derivative with respect to one variable.
    pub fn dual(&self, z: &[f64], variable: usize) -> Dual {
        match self {
            Self::Number(number) => (*number, 0.0),
            Self::Variable(i) => (z.get(*i).copied().unwrap_or(f64::NAN), if *i == variable { 1.0 } else { 0.0 }),
            Self::Sum(terms) => terms
                .iter()
                .map(|term| term.dual(z, variable))
                .fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1)),
            Self::Product(factors) => {
                let factors = factors.iter().map(|factor| factor.dual(z, variable));
                factors.fold((1.0, 0.0), |a, b| (a.0 * b.0, a.1 * b.0 + a.0 * b.1))
            }
            Self::Difference(pair) => {
                let (a, b) = (pair[0].dual(z, variable), pair[1].dual(z, variable));
                (a.0 - b.0, a.1 - b.1)
            }
            Self::Quotient(pair) => {
                let (a, b) = (pair[0].dual(z, variable), pair[1].dual(z, variable));
                let value = a.0 / b.0;
                (value, (a.1 - value * b.1) / b.0)
            }
            Self::Power(base, exponent) => {
                let base = base.dual(z, variable);
                // 0 · ∞ at a base of zero is NaN, but the slope is zero if the base is constant.
                let slope = if base.1 == 0.0 { 0.0 } else { exponent * pow(base.0, exponent - 1.0) * base.1 };
                (pow(base.0, *exponent), slope)
            }
            Self::Exp(exponent) => {
                let exponent = exponent.dual(z, variable);
                let value = exp(exponent.0);
                (value, value * exponent.1)
            }
        }
    }

    /// Marks the variables of the expression; false if one does not exist.
    fn mark_variables(&self, held: &mut [bool]) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Variable(i) => held.get_mut(*i).map(|held| *held = true).is_some(),
            Self::Sum(parts) | Self::Product(parts) => parts.iter().all(|part| part.mark_variables(held)),
            Self::Difference(pair) | Self::Quotient(pair) => pair.iter().all(|part| part.mark_variables(held)),
            Self::Power(part, _) | Self::Exp(part) => part.mark_variables(held),
        }
    }
}

/// A function of n rows between bounds, given by expressions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpressionFunction {
    rows: Vec<Expression>,
    /// The variables of each row.
    variables: Vec<Vec<usize>>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl ExpressionFunction {
    /// The function with these rows and bounds; rejects wrong sizes and variables that do not exist.
    pub fn new(rows: Vec<Expression>, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, ProblemError> {
        let n = rows.len();
        ensure_size("lower", n, lower.len())?;
        ensure_size("upper", n, upper.len())?;
        let mut variables = Vec::with_capacity(n);
        for (row, expression) in rows.iter().enumerate() {
            let mut held = vec![false; n];
            if !expression.mark_variables(&mut held) {
                return Err(ProblemError::UnknownVariable { row });
            }
            variables.push((0..n).filter(|&j| held[j]).collect());
        }
        Ok(Self { rows, variables, lower, upper })
    }

    /// The expression of each row.
    pub fn rows(&self) -> &[Expression] {
        &self.rows
    }
}

impl NcpFunction for ExpressionFunction {
    fn size(&self) -> usize {
        self.rows.len()
    }

    fn bounds(&self, i: usize) -> (f64, f64) {
        (self.lower[i], self.upper[i])
    }

    fn value(&self, z: &[f64], out: &mut [f64]) {
        debug_assert_eq!(out.len(), self.rows.len(), "one value per row");
        out.iter_mut().zip(&self.rows).for_each(|(f, row)| *f = row.value(z));
    }

    fn jacobian(&self, z: &[f64], out: &mut SparseMatrix) {
        out.clear(self.size(), self.size());
        for (row, variables) in self.rows.iter().zip(&self.variables) {
            for &j in variables {
                out.push(j, row.dual(z, j).1);
            }
            out.finish_row();
        }
    }
}
