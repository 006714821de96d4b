//! Values with units, and the operators and functions on them.

use super::{
    Value,
    series::holds,
    syntax::{Each, Operator},
    unit::Unit,
};

/// A value and its unit, if known.
pub(super) struct Quantity {
    pub(super) value: Value,
    pub(super) unit: Unit,
}

impl Quantity {
    pub(super) fn scalar(value: f64, unit: Unit) -> Self {
        Self { value: Value::Scalar(value), unit }
    }

    pub(super) fn series(values: Vec<f64>, unit: Unit) -> Self {
        Self { value: Value::Series(values), unit }
    }

    pub(super) fn map(self, f: impl Fn(f64) -> f64, unit: Unit) -> Self {
        let value = match self.value {
            Value::Scalar(x) => Value::Scalar(f(x)),
            Value::Series(mut values) => {
                for x in &mut values {
                    *x = f(*x);
                }
                Value::Series(values)
            }
        };
        Self { value, unit }
    }

    /// Combines two values element by element; scalars are broadcast.
    pub(super) fn join(self, other: Self, f: impl Fn(f64, f64) -> f64, unit: Unit) -> Self {
        let value = match (self.value, other.value) {
            (Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(f(a, b)),
            (Value::Series(mut a), Value::Scalar(b)) => {
                for a in &mut a {
                    *a = f(*a, b);
                }
                Value::Series(a)
            }
            (Value::Scalar(a), Value::Series(mut b)) => {
                for b in &mut b {
                    *b = f(a, *b);
                }
                Value::Series(b)
            }
            (Value::Series(mut a), Value::Series(b)) => {
                a.iter_mut().zip(&b).for_each(|(a, b)| *a = f(*a, *b));
                Value::Series(a)
            }
        };
        Self { value, unit }
    }
}

/// 1 for true, 0 for false.
pub(super) fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Combines two values; the result has the unit of a sum.
pub(super) fn summed(a: Quantity, b: Quantity, f: impl Fn(f64, f64) -> f64) -> Quantity {
    let unit = a.unit.sum(b.unit);
    a.join(b, f, unit)
}

/// Selects the second value if the first is true, else the third.
pub(super) fn choose(condition: &Quantity, yes: &Quantity, no: &Quantity) -> Quantity {
    let unit = yes.unit.sum(no.unit);
    let at = |quantity: &Quantity, row: usize| match &quantity.value {
        Value::Scalar(x) => *x,
        Value::Series(values) => values.get(row).copied().unwrap_or(f64::NAN),
    };
    let chosen = |row| at(if holds(at(condition, row)) { yes } else { no }, row);
    let rows = [condition, yes, no].into_iter().find_map(|quantity| match &quantity.value {
        Value::Scalar(_) => None,
        Value::Series(values) => Some(values.len()),
    });
    match rows {
        None => Quantity::scalar(chosen(0), unit),
        Some(rows) => Quantity::series((0..rows).map(chosen).collect(), unit),
    }
}

/// Applies an operator to two values; `exponent` is the second one if it is a literal number.
pub(super) fn join(operator: Operator, a: Quantity, b: Quantity, exponent: Option<f64>) -> Quantity {
    let logic = |f: fn(bool, bool) -> bool| move |a: f64, b: f64| truth(f(holds(a), holds(b)));
    let compare = |f: fn(&f64, &f64) -> bool| move |a: f64, b: f64| truth(f(&a, &b));
    match operator {
        Operator::Or => a.join(b, logic(|a, b| a || b), Unit::NONE),
        Operator::And => a.join(b, logic(|a, b| a && b), Unit::NONE),
        Operator::Less => a.join(b, compare(|a, b| a < b), Unit::NONE),
        Operator::LessOrEqual => a.join(b, compare(|a, b| a <= b), Unit::NONE),
        Operator::Greater => a.join(b, compare(|a, b| a > b), Unit::NONE),
        Operator::GreaterOrEqual => a.join(b, compare(|a, b| a >= b), Unit::NONE),
        Operator::Equal => a.join(b, compare(|a, b| a == b), Unit::NONE),
        // Comparisons with NaN are false.
        Operator::NotEqual => a.join(b, |a, b| truth(a != b && !a.is_nan() && !b.is_nan()), Unit::NONE),
        Operator::Add => summed(a, b, |a, b| a + b),
        Operator::Subtract => summed(a, b, |a, b| a - b),
        Operator::Modulo => summed(a, b, |a, b| a - b * (a / b).floor()),
        Operator::Multiply | Operator::Divide => {
            let sign = if operator == Operator::Multiply { 1 } else { -1 };
            let unit = a.unit.product(b.unit, sign);
            if sign == 1 { a.join(b, |a, b| a * b, unit) } else { a.join(b, |a, b| a / b, unit) }
        }
        Operator::Power => {
            let unit = a.unit.power(exponent);
            a.join(b, libm::pow, unit)
        }
    }
}

/// Applies a function element by element.
pub(super) fn apply(each: Each, x: Quantity) -> Quantity {
    let same = x.unit;
    match each {
        Each::Abs => x.map(f64::abs, same),
        Each::Floor => x.map(f64::floor, same),
        Each::Sqrt => x.map(f64::sqrt, same.power(Some(0.5))),
        Each::Sign => x.map(
            |x| {
                if x > 0.0 {
                    1.0
                } else if x < 0.0 {
                    -1.0
                } else {
                    x
                }
            },
            Unit::NONE,
        ),
        Each::Exp => x.map(libm::exp, Unit::NONE),
        Each::Log => x.map(libm::log, Unit::NONE),
        Each::Sin => x.map(libm::sin, Unit::NONE),
        Each::Cos => x.map(libm::cos, Unit::NONE),
        Each::Tan => x.map(libm::tan, Unit::NONE),
        Each::Asin => x.map(libm::asin, Unit::NONE),
        Each::Acos => x.map(libm::acos, Unit::NONE),
        Each::Atan => x.map(libm::atan, Unit::NONE),
    }
}
