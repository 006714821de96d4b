//! Mathematical programs as values: variables, elements (functions of few of them), and complementary pairs.

use std::sync::Arc;

/// Reason why an element has no value at a point; engines then try a point closer to the last.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// A function of few variables with one or several values, which are constraints. Rows and columns are local indices.
pub trait Element: Send + Sync {
    /// Number of variables that it depends on.
    fn inputs(&self) -> usize;
    /// Number of its values.
    fn outputs(&self) -> usize;
    /// Structurally nonzero derivatives: (output, input), each once.
    fn jacobian_pattern(&self) -> &[(usize, usize)];
    /// Structurally nonzero second derivatives: (input, input), the first not less than the second, each once.
    fn hessian_pattern(&self) -> &[(usize, usize)];
    /// The values.
    fn values(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused>;
    /// The derivatives, in the order of their pattern.
    fn jacobian(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused>;
    /// Second derivatives of Σ multiplier · value, in the order of their pattern.
    fn hessian(&self, x: &[f64], multipliers: &[f64], out: &mut [f64]) -> Result<(), Refused>;
}

/// An unknown with bounds and an initial guess.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variable {
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
    /// Initial guess.
    pub start: f64,
}

impl Variable {
    /// Variable without bounds.
    pub fn free(start: f64) -> Self {
        Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY, start }
    }

    /// Nonnegative variable.
    pub fn positive(start: f64) -> Self {
        Self { lower: 0.0, upper: f64::INFINITY, start }
    }
}

/// An element with its variables; its values are constraints of the program.
#[derive(Clone)]
pub struct Placed {
    /// The function.
    pub element: Arc<dyn Element>,
    /// Variables that it depends on, in its order.
    pub variables: Vec<usize>,
    /// Its first constraint.
    pub first: usize,
}

/// Complementary pair 0 ≤ a ⊥ b ≥ 0; the lower bounds of both are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// a: a variable.
    pub variable: usize,
    /// b: a constraint.
    pub constraint: usize,
    /// Typical sizes of a and b, which scale the relaxation.
    pub sizes: [f64; 2],
}

impl Pair {
    /// a·b in units of its sizes.
    pub(crate) fn unit(&self) -> f64 {
        let [a, b] = self.sizes;
        1.0 / (a * b)
    }
}

/// Term w (x − c)² of the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Square {
    /// Index of the variable x.
    pub variable: usize,
    /// Weight w.
    pub weight: f64,
    /// Centre c.
    pub centre: f64,
}

/// A nonlinear program with complementarity constraints.   [MPEC-1]
#[derive(Clone, Default)]
pub struct Program {
    /// Unknowns.
    pub variables: Vec<Variable>,
    /// Lower and upper bounds of the constraints, element after element.
    pub constraints: Vec<[f64; 2]>,
    /// Elements, whose values are the constraints.
    pub elements: Vec<Placed>,
    /// Terms of the objective.
    pub squares: Vec<Square>,
    /// Complementary pairs.
    pub pairs: Vec<Pair>,
}

impl Program {
    /// Adds a variable and returns its index.
    pub fn variable(&mut self, variable: Variable) -> usize {
        self.variables.push(variable);
        self.variables.len() - 1
    }

    /// Adds an element with bounds of its values and returns the index of its first constraint.
    pub fn element(&mut self, element: Arc<dyn Element>, variables: Vec<usize>, bounds: &[[f64; 2]]) -> usize {
        let first = self.constraints.len();
        self.constraints.extend_from_slice(bounds);
        self.elements.push(Placed { element, variables, first });
        first
    }

    /// Σ w (x − c)².
    pub fn objective(&self, x: &[f64]) -> f64 {
        self.squares.iter().map(|square| square.weight * (at(x, square.variable) - square.centre).powi(2)).sum()
    }

    /// The values of all constraints.
    pub fn values(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let mut local = Vec::new();
        for placed in &self.elements {
            placed.gather(x, &mut local);
            let range = placed.first..placed.first + placed.element.outputs();
            placed.element.values(&local, out.get_mut(range).unwrap_or_default())?;
        }
        Ok(())
    }

    /// (constraint, variable) of every derivative.
    pub fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let of = |placed: &Placed| -> Vec<(usize, usize)> {
            let pattern = placed.element.jacobian_pattern().iter();
            pattern.map(|(row, column)| (placed.first + row, placed.global(*column))).collect()
        };
        self.elements.iter().flat_map(of).collect()
    }

    /// The derivatives in the order of their pattern.
    pub fn jacobian(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let (mut local, mut done) = (Vec::new(), 0);
        for placed in &self.elements {
            placed.gather(x, &mut local);
            let count = placed.element.jacobian_pattern().len();
            placed.element.jacobian(&local, out.get_mut(done..done + count).unwrap_or_default())?;
            done += count;
        }
        Ok(())
    }

    /// Largest violation of a bound of a variable or of a constraint.
    pub fn violation(&self, x: &[f64], values: &[f64]) -> f64 {
        let over = |value: f64, [low, high]: [f64; 2]| (low - value).max(value - high).max(0.0);
        let variables = self.variables.iter().zip(x).map(|(v, x)| over(*x, [v.lower, v.upper]));
        let constraints = self.constraints.iter().zip(values).map(|(bounds, value)| over(*value, *bounds));
        variables.chain(constraints).fold(0.0, f64::max)
    }

    /// The largest of min(a, b) over the pairs.
    pub fn complementarity(&self, x: &[f64], values: &[f64]) -> f64 {
        let of = |pair: &Pair| at(x, pair.variable).abs().min(at(values, pair.constraint).abs());
        self.pairs.iter().map(of).fold(0.0, f64::max)
    }

    /// Initial guesses of all variables.
    pub fn starts(&self) -> Vec<f64> {
        self.variables.iter().map(|variable| variable.start).collect()
    }
}

impl Placed {
    /// The variable of an input.
    pub(crate) fn global(&self, input: usize) -> usize {
        self.variables.get(input).copied().unwrap_or(usize::MAX)
    }

    /// Collects the inputs of the element.
    pub(crate) fn gather(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.variables.iter().map(|variable| at(x, *variable)));
    }
}

/// Entry of a list; NaN beyond its end.
pub(crate) fn at(x: &[f64], place: usize) -> f64 {
    x.get(place).copied().unwrap_or(f64::NAN)
}
