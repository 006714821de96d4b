//! Second derivatives of the Lagrangian of a step.

use stiction::sensitivity::FrictionLaw;
use stiction_mpec::{Element, Refused};

use super::{
    Step,
    laws::{Assembled, Tangent},
};

impl Step {
    /// Weights of momentum, u, L and n·v⁻ in the Lagrangian.
    pub(super) fn weights(&self, assembled: &Assembled, multipliers: &[f64]) -> Assembled {
        let (n, count) = (self.dof(), self.form.rows.len());
        let part = |from: usize, count: usize| multipliers.get(from..from + count).unwrap_or_default().to_vec();
        let (momentum, mut rows) = (part(n, n), part(2 * n, count));
        let laws = self.form.frictions.len();
        let (slacks, closing) = (part(2 * n + count, laws), part(2 * n + count + laws, self.form.rebounds.len()));
        let mut limits = Vec::with_capacity(slacks.len());
        for ((law, limit), slack) in self.form.frictions.iter().zip(&assembled.limits).zip(slacks) {
            let mut weight = if law.polygon { slack } else { 2.0 * limit * slack };
            for row in law.rows.iter().filter(|_| !law.polygon) {
                let Some(multiplier) = rows.get_mut(*row) else { continue };
                weight += *multiplier * assembled.rows.get(*row).copied().unwrap_or(0.0);
                *multiplier *= limit;
            }
            limits.push(weight);
        }
        Assembled { momentum, rows, limits, closing }
    }

    /// Second derivatives of the Lagrangian, all of them, row by row.
    pub(super) fn all_curvatures(&self, x: &[f64], multipliers: &[f64]) -> Result<Vec<f64>, Refused> {
        let at = self.inputs(x);
        let (terms, slopes) = (self.terms_here(x)?, self.slopes_of_terms(x)?);
        let assembled = self.assemble(&terms, &at);
        let weights = self.weights(&assembled, multipliers);
        let tangents = self.tangents(&terms, &slopes, &at);
        let inputs = Element::inputs(self);
        let mut out = vec![0.0; inputs * inputs];
        let mut add = |i: usize, j: usize, value: f64| {
            out.get_mut(i * inputs + j).into_iter().for_each(|out| *out += value);
            if i != j {
                out.get_mut(j * inputs + i).into_iter().for_each(|out| *out += value);
            }
        };
        // Nonlinear terms.
        let beside = self.source.beside(&self.values_of(x))?;
        for (i, j) in &self.curved {
            let mut sum = 0.0;
            self.second_difference(&beside, x, (*i, *j), |terms, weight| {
                sum += weight * dot(&weights, &self.assemble(terms, &at));
            })?;
            add(*i, *j, sum);
        }
        // Variable terms, with the velocities and impulses that they multiply.
        for (i, slope) in slopes.iter().enumerate() {
            let changed = self.tangents(slope, &[], &at);
            for (k, tangent) in changed.iter().enumerate().skip(self.dof()) {
                add(i, self.slow() + k, dot(&weights, &tangent.assembled));
            }
            for place in 0..self.state_inputs() - self.dof() {
                let pull: f64 = weights.momentum.iter().enumerate().map(|(row, w)| -w * slope.mass(row, place)).sum();
                let closing = weights.closing.iter().zip(&self.form.rebounds);
                let pull = pull + closing.map(|(w, rebound)| w * slope.row(rebound.normal, place)).sum::<f64>();
                let velocity = self.dof() + place;
                // The product of two velocities has two mixed derivatives.
                add(i, velocity, if i == velocity { 2.0 * pull } else { pull });
            }
        }
        self.add_laws(multipliers, &tangents, &mut add);
        self.add_turns(x, multipliers, &mut add)?;
        Ok(out)
    }

    /// Products in the laws of cones.
    pub(super) fn add_laws(&self, multipliers: &[f64], tangents: &[Tangent], add: &mut impl FnMut(usize, usize, f64)) {
        let (first, count) = (2 * self.dof(), self.form.rows.len());
        let get = |list: &[f64], place: usize| list.get(place).copied().unwrap_or(0.0);
        for (place, law) in self.form.frictions.iter().enumerate().filter(|(_, law)| !law.polygon) {
            let slack = get(multipliers, first + count + place);
            for (i, a) in tangents.iter().enumerate() {
                for (j, b) in tangents.iter().enumerate().take(i + 1) {
                    let value = Self::product(law, place, (a, b), (slack, &|row| get(multipliers, first + row)));
                    if value != 0.0 {
                        add(i, j, value);
                    }
                }
            }
        }
    }

    /// ∂² of Σ λ (L u + σ p) + λ_s (L² − |p|²) along two tangents.
    pub(super) fn product(
        law: &FrictionLaw,
        place: usize,
        (a, b): (&Tangent, &Tangent),
        (slack, multiplier): (f64, &dyn Fn(usize) -> f64),
    ) -> f64 {
        let limit = |t: &Tangent| t.assembled.limits.get(place).copied().unwrap_or(0.0);
        let slip = |t: &Tangent| f64::from(u8::from(t.slip == Some(place)));
        let mut sum = 2.0 * slack * limit(a) * limit(b);
        for row in &law.rows {
            let u = |t: &Tangent| t.assembled.rows.get(*row).copied().unwrap_or(0.0);
            let p = |t: &Tangent| f64::from(u8::from(t.impulse == Some(*row)));
            let mixed = limit(a) * u(b) + limit(b) * u(a) + slip(a) * p(b) + slip(b) * p(a);
            sum += multiplier(*row) * mixed - 2.0 * slack * p(a) * p(b);
        }
        sum
    }
}

fn dot(a: &Assembled, b: &Assembled) -> f64 {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let of_laws = product(&a.limits, &b.limits) + product(&a.closing, &b.closing);
    product(&a.momentum, &b.momentum) + product(&a.rows, &b.rows) + of_laws
}
