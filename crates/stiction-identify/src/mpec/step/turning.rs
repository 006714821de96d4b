//! Orientations in space, whose displacements cannot be added: derivatives of the position rows of a step.
//!
//! Of a rotating body, log(exp(δ⁺) R̂⁺ (exp(h ω) exp(δ) R̂)ᵀ) is the error of the end. It depends on a dozen numbers of that body alone.
//! Its finite differences cost little compared with those of the terms.   [MPEC-5]

use std::ops::Range;

use stiction::{Model, multibody::Mobility};
use stiction_mpec::{Element, Refused};

use super::Step;

/// Spacing of first five-point differences, and of second ones.
const FIRST: f64 = 1e-4;
const SECOND: f64 = 1e-3;

/// Points of five-point differences and their weights.
const STENCIL: [(f64, f64); 4] = [(-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0)];

/// Angular velocities of bodies that rotate in space, among all velocities.
fn turning(model: &Model) -> impl Iterator<Item = Range<usize>> {
    let bodies = model.bodies().iter().zip(model.layout());
    let free = bodies.filter(|(body, _)| body.mobility() == Some(Mobility::Free));
    free.map(|(_, slot)| slot.v.start + 3..slot.v.end)
}

impl Step {
    /// Inputs that change these rotations: at the start, by velocities, at the end.
    fn inputs_of_turn(&self, angles: &Range<usize>) -> Vec<usize> {
        let n = self.dof();
        let of_start = angles.clone();
        let before = (self.by_mean() && !self.known_velocity).then(|| angles.clone().map(|k| n + k));
        let end = [0, n].into_iter().flat_map(|first| angles.clone().map(move |k| self.slow() + first + k));
        of_start.chain(before.into_iter().flatten()).chain(end).collect()
    }

    fn position_beside(&self, model: &Model, x: &[f64], shifts: &[(usize, f64)]) -> Vec<f64> {
        let mut moved = x.to_vec();
        for (input, by) in shifts {
            moved.get_mut(*input).into_iter().for_each(|x| *x += by);
        }
        self.position(model, &moved, &self.inputs(&moved))
    }

    /// Writes the derivatives of orientations into those of all outputs, row by row.
    pub(super) fn write_turns(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let model = self.source.model(&self.values_of(x))?;
        let inputs = Element::inputs(self);
        for angles in turning(&model) {
            for input in self.inputs_of_turn(&angles) {
                let mut slopes = vec![0.0; self.dof()];
                for (place, weight) in STENCIL {
                    let beside = self.position_beside(&model, x, &[(input, place * FIRST)]);
                    slopes.iter_mut().zip(&beside).for_each(|(slope, x)| *slope += weight / FIRST * x);
                }
                for row in angles.clone() {
                    let slope = slopes.get(row).copied().unwrap_or(0.0);
                    out.get_mut(row * inputs + input).into_iter().for_each(|out| *out = slope);
                }
            }
        }
        Ok(())
    }

    /// Adds the second derivatives of orientations.
    pub(super) fn add_turns(
        &self,
        x: &[f64],
        multipliers: &[f64],
        add: &mut impl FnMut(usize, usize, f64),
    ) -> Result<(), Refused> {
        let model = self.source.model(&self.values_of(x))?;
        for angles in turning(&model) {
            let weighed = |shifts: &[(usize, f64)]| -> f64 {
                let position = self.position_beside(&model, x, shifts);
                let rows = position.iter().zip(multipliers).skip(angles.start).take(angles.len());
                rows.map(|(x, multiplier)| x * multiplier).sum()
            };
            let inputs = self.inputs_of_turn(&angles);
            let h = SECOND;
            for (place, i) in inputs.iter().enumerate() {
                let same = weighed(&[(*i, h)]) - 2.0 * weighed(&[]) + weighed(&[(*i, -h)]);
                add(*i, *i, same / (h * h));
                for j in inputs.iter().take(place) {
                    let corner = |a: f64, b: f64| weighed(&[(*i, a), (*j, b)]);
                    let mixed = corner(h, h) - corner(h, -h) - corner(-h, h) + corner(-h, -h);
                    add(*i, *j, mixed / (4.0 * h * h));
                }
            }
        }
        Ok(())
    }
}
