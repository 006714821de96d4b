//! Finite differences of the terms of a step.

use std::sync::Arc;

use stiction::sensitivity::StepTerms;
use stiction_mpec::{Element, Refused};

use super::{Beside, Step, keep, pattern};

/// Spacing of displacements and velocities, m, rad and m/s.
pub(super) const SPACING: f64 = 1e-4;

/// Points of five-point differences and their weights.
const STENCIL: [(i8, f64); 4] = [(-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0)];

/// Largest second difference that is rounding, relative to the numbers.
const FLAT: f64 = 1e-5;

impl Step {
    /// Terms with some inputs moved.
    pub(super) fn beside(
        &self,
        beside: &Beside,
        x: &[f64],
        shifts: &[(usize, i8)],
        out: &mut StepTerms,
    ) -> Result<(), Refused> {
        let first = self.state_inputs();
        let moved: Vec<(usize, i8)> =
            shifts.iter().filter(|(place, _)| *place >= first).map(|(place, by)| (place - first, *by)).collect();
        let model = match moved.as_slice() {
            [] => Some(&beside.centre),
            [(k, by)] => beside.lines.get(*k).map(|[a, b, c, d]| match by {
                -2 => a,
                -1 => b,
                1 => c,
                _ => d,
            }),
            [(j, by), (k, _), ..] => {
                let key = (*j.min(k), *j.max(k));
                let found = beside.diagonals.iter().find(|(pair, _)| *pair == key);
                found.map(|(_, [low, high])| if *by < 0 { low } else { high })
            }
        };
        let model = model.ok_or_else(|| Refused("there is no model near these values".into()))?;
        self.terms(model, &self.state(model, x, shifts), out)
    }

    pub(super) fn spacing(&self, input: usize) -> f64 {
        let first = self.state_inputs();
        if input < first { SPACING } else { self.source.spacing(input - first) }
    }

    /// Input per unit of displacement.
    pub(super) fn scale(&self, input: usize) -> f64 {
        if input < self.dof() { self.scales.get(input).copied().unwrap_or(1.0) } else { 1.0 }
    }

    /// ∂ terms/∂ input for every input that they depend on.
    pub(super) fn slopes_of_terms(&self, x: &[f64]) -> Result<Arc<Vec<StepTerms>>, Refused> {
        // Jacobian and Hessian are evaluated at the same point.
        keep(&self.slopes, x.get(..self.slow()).unwrap_or_default(), || Ok(Arc::new(self.differences(x)?)))
    }

    pub(super) fn differences(&self, x: &[f64]) -> Result<Vec<StepTerms>, Refused> {
        let beside = self.source.beside(&self.values_of(x))?;
        let mut at = StepTerms::zeros(&self.form);
        let mut slopes = Vec::with_capacity(self.slow());
        for input in 0..self.slow() {
            let mut slope = StepTerms::zeros(&self.form);
            if let Some(known) = self.constant.get(input).and_then(Option::as_ref) {
                slopes.push(known.clone());
                continue;
            }
            for (by, weight) in STENCIL {
                self.beside(&beside, x, &[(input, by)], &mut at)?;
                let weight = weight * self.scale(input) / self.spacing(input);
                slope.numbers.iter_mut().zip(&at.numbers).for_each(|(out, x)| *out += weight * x);
            }
            slopes.push(slope);
        }
        Ok(slopes)
    }

    /// ∂² of a function of the terms for two inputs: [T(i, j) + T(−i, −j) − T(i) − T(−i) − T(j) − T(−j) + 2 T]/(2 h_i h_j).
    pub(super) fn second_difference(
        &self,
        beside: &Beside,
        x: &[f64],
        (i, j): (usize, usize),
        mut each: impl FnMut(&StepTerms, f64),
    ) -> Result<(), Refused> {
        let mut at = StepTerms::zeros(&self.form);
        let size = |k: usize| 2.0 * self.spacing(k) / self.scale(k).abs().max(f64::MIN_POSITIVE);
        let factor = 1.0 / (size(i) * size(j));
        let mut add = |shifts: &[(usize, i8)], weight: f64| {
            self.beside(beside, x, shifts, &mut at)?;
            each(&at, weight * factor);
            Ok(())
        };
        if i == j {
            add(&[(i, 2)], 1.0)?;
            add(&[(i, -2)], 1.0)?;
            return add(&[], -2.0);
        }
        add(&[(i, 2), (j, 2)], 0.5)?;
        add(&[(i, -2), (j, -2)], 0.5)?;
        for k in [i, j] {
            add(&[(k, 2)], -0.5)?;
            add(&[(k, -2)], -0.5)?;
        }
        add(&[], 1.0)
    }

    /// Pairs of inputs whose second differences do not vanish near the measured start of the step.
    pub(super) fn find_curved(&mut self) -> Result<(), Refused> {
        let values = self.source.target.starts();
        let beside = self.source.beside(&values)?;
        let n = self.dof();
        let mut x = vec![0.0; Element::inputs(self)];
        for (k, x) in x.iter_mut().enumerate().take(2 * n) {
            *x = 1e-2 * pattern::generic(k);
        }
        x.iter_mut().skip(self.state_inputs()).zip(&values).for_each(|(x, value)| *x = *value);
        let mut at = StepTerms::zeros(&self.form);
        self.beside(&beside, &x, &[], &mut at)?;
        let sizes: Vec<f64> = at.numbers.iter().map(|x| FLAT * (1.0 + x.abs())).collect();
        let mut curved = Vec::new();
        for i in 0..self.slow() {
            for j in 0..=i {
                let mut sum = vec![0.0; sizes.len()];
                let scale = self.scale(i) * self.scale(j);
                self.second_difference(&beside, &x, (i, j), |terms, weight| {
                    sum.iter_mut().zip(&terms.numbers).for_each(|(out, x)| *out += weight / scale * x);
                })?;
                if sum.iter().zip(&sizes).any(|(sum, size)| sum.abs() > *size) {
                    curved.push((i, j));
                }
            }
        }
        let affine = |input: usize| !curved.iter().any(|(i, j)| *i == input || *j == input);
        let slopes = self.differences(&x)?;
        self.constant = slopes.into_iter().enumerate().map(|(k, slope)| affine(k).then_some(slope)).collect();
        self.curved = curved;
        Ok(())
    }
}
