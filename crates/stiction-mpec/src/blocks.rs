//! Decomposition of a program into blocks without common variables.

use std::{collections::BTreeMap, sync::Arc};

use crate::{Element, Pair, Placed, Program, Refused, Square, program::at};

/// A block of a program, as a separate program.
pub struct Block {
    /// The program of the block.
    pub program: Program,
    /// Indices of its variables in the whole program.
    pub variables: Vec<usize>,
    /// Indices of its constraints in the whole program.
    pub constraints: Vec<usize>,
}

/// Disjoint sets (union-find); the root of each is its least member.
struct Sets(Vec<usize>);

impl Sets {
    fn root(&mut self, of: usize) -> usize {
        let mut root = of;
        while let Some(above) = self.0.get(root).copied().filter(|above| *above != root) {
            root = above;
        }
        let mut walk = of;
        while let Some(above) = self.0.get_mut(walk).filter(|above| **above != root) {
            walk = std::mem::replace(above, root);
        }
        root
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(above) = self.0.get_mut(a.max(b)) {
            *above = a.min(b);
        }
    }
}

/// The connected blocks of a program, in the order of their first variables.
///
/// Constraints connect the variables that they depend on, and pairs their sides.
pub fn blocks(program: &Program) -> Vec<Block> {
    let (n, m) = (program.variables.len(), program.constraints.len());
    // Variables first, then constraints.
    let mut sets = Sets((0..n + m).collect());
    for (row, variable) in program.jacobian_pattern() {
        sets.join(variable, n + row);
    }
    for pair in &program.pairs {
        sets.join(pair.variable, n + pair.constraint);
    }
    let mut members: BTreeMap<usize, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for variable in 0..n {
        members.entry(sets.root(variable)).or_default().0.push(variable);
    }
    for row in 0..m {
        // Constant constraints belong to the first block, which checks their bounds.
        let root = sets.root(n + row);
        let key = if root >= n { 0 } else { root };
        members.entry(key).or_default().1.push(row);
    }
    if members.len() <= 1 {
        let whole = Block { program: program.clone(), variables: (0..n).collect(), constraints: (0..m).collect() };
        return vec![whole];
    }
    members.into_values().map(|(variables, constraints)| part(program, variables, &constraints)).collect()
}

fn part(program: &Program, variables: Vec<usize>, constraints: &[usize]) -> Block {
    let place = |list: &[usize], of: usize| list.binary_search(&of).ok();
    let mut out = Program {
        variables: variables.iter().filter_map(|v| program.variables.get(*v).copied()).collect(),
        ..Program::default()
    };
    let mut order = Vec::with_capacity(constraints.len());
    for placed in &program.elements {
        let rows: Vec<usize> =
            (0..placed.element.outputs()).filter(|row| place(constraints, placed.first + row).is_some()).collect();
        if rows.is_empty() {
            continue;
        }
        let inside: Vec<Option<usize>> = placed.variables.iter().map(|v| place(&variables, *v)).collect();
        let bounds: Vec<[f64; 2]> =
            rows.iter().filter_map(|row| program.constraints.get(placed.first + row).copied()).collect();
        order.extend(rows.iter().map(|row| placed.first + row));
        if rows.len() == placed.element.outputs() && inside.iter().all(Option::is_some) {
            out.element(Arc::clone(&placed.element), inside.into_iter().flatten().collect(), &bounds);
        } else {
            let (element, inputs) = Part::of(program, placed, &rows, &inside);
            out.element(Arc::new(element), inputs, &bounds);
        }
    }
    let squares = program.squares.iter();
    out.squares = squares.filter_map(|s| Some(Square { variable: place(&variables, s.variable)?, ..*s })).collect();
    let pairs = program.pairs.iter();
    let constraint = |of: usize| order.iter().position(|row| *row == of);
    out.pairs = pairs
        .filter_map(|pair| {
            let variable = place(&variables, pair.variable)?;
            Some(Pair { variable, constraint: constraint(pair.constraint)?, ..*pair })
        })
        .collect();
    Block { program: out, variables, constraints: order }
}

/// Some rows of an element as functions of the variables that they depend on; other inputs keep their initial guess.
struct Part {
    whole: Arc<dyn Element>,
    rows: Vec<usize>,
    /// Index of each input of the whole element among the inputs of the part.
    places: Vec<Option<usize>>,
    others: Vec<f64>,
    inputs: usize,
    jacobian: Vec<(usize, usize)>,
    /// Indices of these entries in the patterns of the whole element.
    jacobian_at: Vec<usize>,
    hessian: Vec<(usize, usize)>,
    hessian_at: Vec<usize>,
}

impl Part {
    fn of(program: &Program, placed: &Placed, rows: &[usize], inside: &[Option<usize>]) -> (Self, Vec<usize>) {
        let starts = program.starts();
        let mut inputs = Vec::new();
        let mut places = Vec::with_capacity(inside.len());
        for variable in inside {
            places.push(variable.map(|variable| {
                inputs.push(variable);
                inputs.len() - 1
            }));
        }
        let place = |input: &usize| places.get(*input).copied().flatten();
        let whole = &placed.element;
        let slopes = whole.jacobian_pattern().iter().enumerate();
        let (jacobian_at, jacobian) = slopes
            .filter_map(|(at, (row, input))| Some((at, (rows.iter().position(|known| known == row)?, place(input)?))))
            .unzip();
        let second = whole.hessian_pattern().iter().enumerate();
        let (hessian_at, hessian) = second.filter_map(|(at, (i, j))| Some((at, (place(i)?, place(j)?)))).unzip();
        let others = placed.variables.iter().map(|variable| at(&starts, *variable)).collect();
        let count = inputs.len();
        let whole = Arc::clone(whole);
        let part = Self {
            whole,
            rows: rows.to_vec(),
            places,
            others,
            inputs: count,
            jacobian,
            jacobian_at,
            hessian,
            hessian_at,
        };
        (part, inputs)
    }

    fn all(&self, x: &[f64]) -> Vec<f64> {
        let inputs = self.places.iter().zip(&self.others);
        inputs.map(|(place, other)| place.map_or(*other, |place| at(x, place))).collect()
    }
}

impl Element for Part {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.rows.len()
    }

    fn jacobian_pattern(&self) -> &[(usize, usize)] {
        &self.jacobian
    }

    fn hessian_pattern(&self) -> &[(usize, usize)] {
        &self.hessian
    }

    fn values(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let mut all = vec![0.0; self.whole.outputs()];
        self.whole.values(&self.all(x), &mut all)?;
        out.iter_mut().zip(&self.rows).for_each(|(out, row)| *out = at(&all, *row));
        Ok(())
    }

    fn jacobian(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let mut all = vec![0.0; self.whole.jacobian_pattern().len()];
        self.whole.jacobian(&self.all(x), &mut all)?;
        out.iter_mut().zip(&self.jacobian_at).for_each(|(out, place)| *out = at(&all, *place));
        Ok(())
    }

    fn hessian(&self, x: &[f64], multipliers: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let mut all = vec![0.0; self.whole.hessian_pattern().len()];
        let mut every = vec![0.0; self.whole.outputs()];
        for (row, multiplier) in self.rows.iter().zip(multipliers) {
            every.get_mut(*row).into_iter().for_each(|out| *out = *multiplier);
        }
        self.whole.hessian(&self.all(x), &every, &mut all)?;
        out.iter_mut().zip(&self.hessian_at).for_each(|(out, place)| *out = at(&all, *place));
        Ok(())
    }
}
