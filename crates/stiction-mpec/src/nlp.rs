//! A program as a nonlinear program for an engine: pairs become relaxed products.   [MPEC-2]

use std::collections::BTreeMap;

use crate::{Program, Refused, program::at};

/// A program with a·b ≤ ε for every pair, in units of its sizes.
///
/// Constraints are those of the program, then one product for each pair.
pub struct Nlp<'p> {
    program: &'p Program,
    relaxation: f64,
    start: Vec<f64>,
    jacobian: Vec<(usize, usize)>,
    /// Places of the derivatives of each paired constraint in the Jacobian of the program: (place, variable).
    paired: Vec<Vec<(usize, usize)>>,
    hessian: Vec<(usize, usize)>,
    /// Place of each entry of the Hessian of each element; of each square; of each entry of the products.
    of_elements: Vec<Vec<usize>>,
    of_squares: Vec<usize>,
    of_products: Vec<Vec<usize>>,
}

impl<'p> Nlp<'p> {
    /// The program with products below `relaxation`, from an initial guess.
    pub fn new(program: &'p Program, relaxation: f64, start: &[f64]) -> Self {
        let own = program.jacobian_pattern();
        let mut by_constraint: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, (row, variable)) in own.iter().enumerate() {
            by_constraint.entry(*row).or_default().push((place, *variable));
        }
        let paired: Vec<_> =
            program.pairs.iter().map(|pair| by_constraint.get(&pair.constraint).cloned().unwrap_or_default()).collect();
        let mut jacobian = own;
        for (row, (pair, entries)) in (program.constraints.len()..).zip(program.pairs.iter().zip(&paired)) {
            jacobian.extend(entries.iter().map(|(_, variable)| (row, *variable)));
            jacobian.push((row, pair.variable));
        }
        let mut places = Places::default();
        let of_squares = program.squares.iter().map(|square| places.of(square.variable, square.variable)).collect();
        let mut of_elements = Vec::with_capacity(program.elements.len());
        for placed in &program.elements {
            let pattern = placed.element.hessian_pattern().iter();
            of_elements.push(pattern.map(|(i, j)| places.of(placed.global(*i), placed.global(*j))).collect());
        }
        let of_products = program
            .pairs
            .iter()
            .zip(&paired)
            .map(|(pair, entries)| entries.iter().map(|(_, variable)| places.of(pair.variable, *variable)).collect())
            .collect();
        Self {
            program,
            relaxation,
            start: start.to_vec(),
            jacobian,
            paired,
            hessian: places.entries,
            of_elements,
            of_squares,
            of_products,
        }
    }

    /// The initial guess.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.program.variables.len()
    }

    /// Number of constraints.
    pub fn constraints(&self) -> usize {
        self.program.constraints.len() + self.program.pairs.len()
    }

    /// Lower and upper bounds of the variables.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.program.variables.iter().map(|variable| (variable.lower, variable.upper)).unzip()
    }

    /// Lower and upper bounds of the constraints.
    pub fn constraint_bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let products = self.program.pairs.iter().map(|_| [f64::NEG_INFINITY, self.relaxation]);
        self.program.constraints.iter().copied().chain(products).map(|[low, high]| (low, high)).unzip()
    }

    /// The objective.
    pub fn objective(&self, x: &[f64]) -> f64 {
        self.program.objective(x)
    }

    /// Gradient of the objective.
    pub fn gradient(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for square in &self.program.squares {
            let slope = 2.0 * square.weight * (at(x, square.variable) - square.centre);
            out.get_mut(square.variable).into_iter().for_each(|out| *out += slope);
        }
    }

    /// The constraints.
    pub fn values(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let Some((own, products)) = out.split_at_mut_checked(self.program.constraints.len()) else { return Ok(()) };
        self.program.values(x, own)?;
        for (pair, out) in self.program.pairs.iter().zip(products) {
            *out = at(x, pair.variable) * at(own, pair.constraint) * pair.unit();
        }
        Ok(())
    }

    /// (constraint, variable) of every derivative.
    pub fn jacobian_pattern(&self) -> &[(usize, usize)] {
        &self.jacobian
    }

    /// The derivatives.
    pub fn jacobian(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let mut own = vec![0.0; self.program.constraints.len()];
        if !self.program.pairs.is_empty() {
            self.program.values(x, &mut own)?;
        }
        let count = self.jacobian.len() - self.paired.iter().map(|entries| entries.len() + 1).sum::<usize>();
        let Some((first, products)) = out.split_at_mut_checked(count) else { return Ok(()) };
        self.program.jacobian(x, first)?;
        let mut products = products.iter_mut();
        for (pair, entries) in self.program.pairs.iter().zip(&self.paired) {
            let a = at(x, pair.variable) * pair.unit();
            let slopes = entries.iter().map(|(place, _)| a * at(first, *place));
            let all = slopes.chain([at(&own, pair.constraint) * pair.unit()]);
            products.by_ref().zip(all).for_each(|(out, slope)| *out = slope);
        }
        Ok(())
    }

    /// (variable, variable) of every second derivative, the first not less than the second.
    pub fn hessian_pattern(&self) -> &[(usize, usize)] {
        &self.hessian
    }

    /// Second derivatives of factor · objective + Σ multiplier · constraint.
    ///
    /// With the multiplier m of the product a b, the multiplier of b increases by m a, and m ∂b couples a with the variables
    /// of b.
    pub fn hessian(&self, x: &[f64], factor: f64, multipliers: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        out.fill(0.0);
        let mut add = |place: usize, value: f64| out.get_mut(place).into_iter().for_each(|out| *out += value);
        for (square, place) in self.program.squares.iter().zip(&self.of_squares) {
            add(*place, 2.0 * factor * square.weight);
        }
        let own = self.program.constraints.len();
        let mut all: Vec<f64> = multipliers.iter().take(own).copied().collect();
        let of_pairs = multipliers.get(own..).unwrap_or_default();
        for (pair, m) in self.program.pairs.iter().zip(of_pairs) {
            all.get_mut(pair.constraint).into_iter().for_each(|out| *out += m * pair.unit() * at(x, pair.variable));
        }
        let (mut local, mut second) = (Vec::new(), Vec::new());
        for (placed, places) in self.program.elements.iter().zip(&self.of_elements) {
            if places.is_empty() {
                continue;
            }
            placed.gather(x, &mut local);
            second.clear();
            second.resize(places.len(), 0.0);
            let range = placed.first..placed.first + placed.element.outputs();
            placed.element.hessian(&local, all.get(range).unwrap_or_default(), &mut second)?;
            places.iter().zip(&second).for_each(|(place, value)| add(*place, *value));
        }
        if self.program.pairs.is_empty() {
            return Ok(());
        }
        let mut slopes = vec![0.0; self.jacobian.len()];
        self.program.jacobian(x, &mut slopes)?;
        for ((entries, places), (pair, m)) in
            self.paired.iter().zip(&self.of_products).zip(self.program.pairs.iter().zip(of_pairs))
        {
            for ((entry, variable), place) in entries.iter().zip(places) {
                let twice = if *variable == pair.variable { 2.0 } else { 1.0 };
                add(*place, twice * m * pair.unit() * at(&slopes, *entry));
            }
        }
        Ok(())
    }
}

/// Distinct entries of a lower triangle.
#[derive(Default)]
struct Places {
    known: BTreeMap<(usize, usize), usize>,
    entries: Vec<(usize, usize)>,
}

impl Places {
    fn of(&mut self, i: usize, j: usize) -> usize {
        let key = (i.max(j), i.min(j));
        *self.known.entry(key).or_insert_with(|| {
            self.entries.push(key);
            self.entries.len() - 1
        })
    }
}
