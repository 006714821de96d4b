//! Samples of several parameters: all combinations of those on a grid, with a number of draws of the random ones in each.

use crate::monte_carlo::{Design, Draw, Parameter, Value};

/// Samples of candidates or of circumstances.
#[derive(Clone, Debug)]
pub struct Sample {
    parameters: Vec<Parameter>,
    design: Design,
    seed: u64,
    draws: u64,
}

impl Sample {
    /// All combinations of the grid parameters, with this number of draws of the others in each; one draw if nothing is random.
    pub fn new(parameters: Vec<Parameter>, design: Design, seed: u64, draws: u64) -> Self {
        let draws = if parameters.iter().all(Parameter::is_grid) { 1 } else { draws };
        Self { parameters, design, seed, draws }
    }

    /// The parameters, in the order of their values.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Combinations of the grid parameters: the product of their numbers of values.
    fn cells(&self) -> u64 {
        self.parameters.iter().map(steps).fold(1, u64::saturating_mul)
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.cells().saturating_mul(self.draws)
    }

    /// Values of sample number `index`; the first draw of all combinations comes before the second.
    pub fn values(&self, index: u64) -> Vec<Value> {
        let cells = self.cells().max(1);
        let (cell, draw) = (index % cells, index / cells);
        let mut probabilities = vec![0.0; self.parameters.iter().filter(|parameter| !parameter.is_grid()).count()];
        self.design.point(self.seed, [cell, draw], self.draws, &mut probabilities);
        let (mut probabilities, mut rest) = (probabilities.into_iter(), cell);
        let value = |parameter: &Parameter| match &parameter.draw {
            Draw::Grid(values) => {
                let step = rest % steps(parameter).max(1);
                rest /= steps(parameter).max(1);
                Value::Number(values.get(step as usize).copied().unwrap_or(f64::NAN))
            }
            random => random.at(probabilities.next().unwrap_or(0.0)),
        };
        self.parameters.iter().map(value).collect()
    }

    /// The values as changes of a scene.
    pub fn changes<'s>(&'s self, values: &'s [Value]) -> impl Iterator<Item = (String, String)> + 's {
        self.parameters.iter().zip(values).flat_map(|(parameter, value)| {
            let written = parameter.written(value);
            parameter.paths.iter().map(move |path| (path.clone(), written.clone()))
        })
    }

    pub(super) fn with(mut self, seed: u64, draws: Option<u64>) -> Self {
        self.seed = seed;
        if let Some(draws) = draws.filter(|_| !self.parameters.iter().all(Parameter::is_grid)) {
            self.draws = draws;
        }
        self
    }
}

/// Number of values of a grid parameter; one for others.
fn steps(parameter: &Parameter) -> u64 {
    if let Draw::Grid(values) = &parameter.draw { values.len() as u64 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(name: &str, values: &[f64]) -> Parameter {
        Parameter { name: name.to_owned(), paths: vec![], unit: None, draw: Draw::Grid(values.to_vec()) }
    }

    #[test]
    fn every_combination_of_a_grid_comes_once() {
        let sample = Sample::new(vec![grid("a", &[1.0, 2.0]), grid("b", &[3.0, 4.0, 5.0])], Design::Random, 1, 9);
        let all: Vec<_> = (0..sample.count()).map(|index| sample.values(index)).collect();
        assert_eq!(all.len(), 6);
        for a in [1.0, 2.0] {
            for b in [3.0, 4.0, 5.0] {
                let wanted = [Value::Number(a), Value::Number(b)];
                assert_eq!(all.iter().filter(|values| **values == wanted).count(), 1, "{a} {b}");
            }
        }
    }

    #[test]
    fn what_is_random_is_drawn_anew_in_every_combination() {
        let ends = crate::monte_carlo::Ends { low: true, high: true };
        let draw = Draw::Uniform { range: [0.0, 1.0], ends };
        let random = Parameter { name: "r".to_owned(), paths: vec![], unit: None, draw };
        let sample = Sample::new(vec![random, grid("a", &[1.0, 2.0])], Design::LatinHypercube, 3, 5);
        let mut drawn: Vec<_> = (0..sample.count()).map(|index| format!("{:?}", sample.values(index)[0])).collect();
        assert_eq!(drawn.len(), 10);
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn.len(), 10);
    }
}
