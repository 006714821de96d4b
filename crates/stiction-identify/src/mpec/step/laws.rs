//! Equations of a step as functions of its terms: momentum, rows, laws, and their derivatives with respect to every input.   [MPEC-5] [MPEC-6] [MPEC-9]

use stiction::sensitivity::{FrictionLimit, StepRow, StepTerms};

use super::Step;

/// Inputs of a step by their meaning.
#[derive(Clone)]
pub(super) struct Inputs {
    pub(super) before: Vec<f64>,
    pub(super) after: Vec<f64>,
    pub(super) impulses: Vec<f64>,
    pub(super) slips: Vec<f64>,
    /// D and d of contacts that rebound: their speed of approach, and their pending restitution after it.   [MPEC-9]
    pub(super) approaches: Vec<f64>,
    pub(super) pending_after: Vec<f64>,
    /// Pending restitution before the step.
    pub(super) pending_restitution: Vec<f64>,
}

/// Momentum, u, L and n·v⁻ of contacts that rebound, or their derivatives.
#[derive(Clone, Default)]
pub(super) struct Assembled {
    pub(super) momentum: Vec<f64>,
    pub(super) rows: Vec<f64>,
    pub(super) limits: Vec<f64>,
    pub(super) closing: Vec<f64>,
}

/// Derivatives of everything with respect to one input.
pub(super) struct Tangent {
    pub(super) assembled: Assembled,
    pub(super) position: Vec<f64>,
    pub(super) impulse: Option<usize>,
    pub(super) slip: Option<usize>,
    /// Derivatives of the constraints a + D and D − d of a rebound.
    pub(super) rebound: Option<(usize, [f64; 2])>,
}

impl Step {
    /// Momentum, u, L and n·v⁻: linear in the terms.   [MPEC-5] [MPEC-9]
    pub(super) fn assemble(&self, terms: &StepTerms, at: &Inputs) -> Assembled {
        let (n, count) = (self.dof(), self.form.rows.len());
        let change: Vec<f64> = at.after.iter().zip(&at.before).map(|(after, before)| after - before).collect();
        let momentum = (0..n).map(|i| {
            let gained: f64 = change.iter().enumerate().map(|(j, dv)| terms.mass(i, j) * dv).sum();
            let pushed: f64 = at.impulses.iter().enumerate().map(|(row, p)| terms.row(row, i) * p).sum();
            gained - terms.push(i) - pushed
        });
        let along = |row: usize, v: &[f64]| v.iter().enumerate().map(|(j, v)| terms.row(row, j) * v).sum::<f64>();
        let mut rows: Vec<f64> = (0..count).map(|row| terms.constant(row) + along(row, &at.after)).collect();
        for (index, pending_restitution) in self.pending_rebounds.iter().zip(&at.pending_restitution) {
            let Some(rebound) = self.form.rebounds.get(*index) else { continue };
            let given_back = terms.coefficient(rebound.coefficient) * pending_restitution;
            rows.get_mut(rebound.normal).into_iter().for_each(|u| *u -= given_back);
        }
        let closing = self.form.rebounds.iter();
        let closing =
            closing.map(|rebound| terms.coefficient(rebound.prescribed) + along(rebound.normal, &at.before)).collect();
        let limits = self.form.frictions.iter().map(|law| match law.limit {
            FrictionLimit::Contact { normal, coefficient } => {
                terms.coefficient(coefficient) * at.impulses.get(normal).copied().unwrap_or(0.0)
            }
            FrictionLimit::Known { coefficient } => terms.coefficient(coefficient),
        });
        Assembled { momentum: momentum.collect(), rows, limits: limits.collect(), closing }
    }

    /// Derivatives of everything with respect to each input.
    pub(super) fn tangents(&self, terms: &StepTerms, slopes: &[StepTerms], at: &Inputs) -> Vec<Tangent> {
        let (n, count, laws) = (self.dof(), self.form.rows.len(), self.form.frictions.len());
        let rebounds = &self.form.rebounds;
        let none = || Assembled {
            momentum: vec![0.0; n],
            rows: vec![0.0; count],
            limits: vec![0.0; laws],
            closing: vec![0.0; rebounds.len()],
        };
        let unit = |k: usize, value: f64| {
            let mut out = vec![0.0; n];
            out.get_mut(k).into_iter().for_each(|x| *x = value);
            out
        };
        let (h, by_mean) = (self.source.h, self.by_mean());
        let plain = |assembled, position| Tangent { assembled, position, impulse: None, slip: None, rebound: None };
        let mut tangents = Vec::new();
        for (input, slope) in slopes.iter().enumerate() {
            let mut assembled = self.assemble(slope, at);
            let mut position = vec![0.0; n];
            if input < n {
                position = unit(input, -self.scale(input));
            } else if input < self.state_inputs() {
                let place = input - n;
                assembled.momentum.iter_mut().enumerate().for_each(|(i, m)| *m -= terms.mass(i, place));
                let closing = assembled.closing.iter_mut().zip(rebounds);
                closing.for_each(|(out, rebound)| *out += terms.row(rebound.normal, place));
                position = unit(place, if by_mean { -0.5 * h } else { 0.0 });
            }
            tangents.push(plain(assembled, position));
        }
        tangents.extend((0..n).map(|k| plain(none(), unit(k, 1.0))));
        for k in 0..n {
            let assembled = Assembled {
                momentum: (0..n).map(|i| terms.mass(i, k)).collect(),
                rows: (0..count).map(|row| terms.row(row, k)).collect(),
                ..none()
            };
            tangents.push(plain(assembled, unit(k, if by_mean { -0.5 * h } else { -h })));
        }
        for row in 0..count {
            let mut assembled = none();
            assembled.momentum = (0..n).map(|i| -terms.row(row, i)).collect();
            for (limit, law) in assembled.limits.iter_mut().zip(&self.form.frictions) {
                if let FrictionLimit::Contact { normal, coefficient } = law.limit
                    && normal == row
                {
                    *limit = terms.coefficient(coefficient);
                }
            }
            tangents.push(Tangent { impulse: Some(row), ..plain(assembled, vec![0.0; n]) });
        }
        let still = || plain(none(), vec![0.0; n]);
        tangents.extend((0..laws).map(|slip| Tangent { slip: Some(slip), ..still() }));
        tangents.extend((0..rebounds.len()).map(|k| Tangent { rebound: Some((k, [1.0, 1.0])), ..still() }));
        tangents.extend((0..rebounds.len()).map(|k| Tangent { rebound: Some((k, [0.0, -1.0])), ..still() }));
        for rebound in self.pending_rebounds.iter().filter_map(|index| rebounds.get(*index)) {
            let mut tangent = still();
            let less = terms.coefficient(rebound.coefficient);
            tangent.assembled.rows.get_mut(rebound.normal).into_iter().for_each(|u| *u = -less);
            tangents.push(tangent);
        }
        tangents
    }

    /// Laws of the rows as constraints, then a + D and D − d of all that rebound.   [MPEC-6] [MPEC-9]
    pub(super) fn laws(&self, assembled: &Assembled, at: &Inputs) -> Vec<f64> {
        let mut out = assembled.rows.clone();
        let mut slacks = Vec::with_capacity(self.form.frictions.len());
        for ((law, limit), slip) in self.form.frictions.iter().zip(&assembled.limits).zip(&at.slips) {
            let (mut sum, mut squares) = (0.0, 0.0);
            for row in &law.rows {
                let p = at.impulses.get(*row).copied().unwrap_or(0.0);
                let Some(u) = out.get_mut(*row) else { continue };
                *u = if law.polygon { *u + slip } else { limit * *u + slip * p };
                sum += p;
                squares += p * p;
            }
            slacks.push(if law.polygon { limit - sum } else { limit * limit - squares });
        }
        out.extend(slacks);
        out.extend(assembled.closing.iter().zip(&at.approaches).map(|(closing, approach)| closing + approach));
        out.extend(at.approaches.iter().zip(&at.pending_after).map(|(approach, pending)| approach - pending));
        out
    }

    /// Derivatives of the laws along a tangent.
    pub(super) fn laws_along(&self, assembled: &Assembled, at: &Inputs, along: &Tangent) -> Vec<f64> {
        let mut out = along.assembled.rows.clone();
        let mut slacks = Vec::with_capacity(self.form.frictions.len());
        for (place, law) in self.form.frictions.iter().enumerate() {
            let get = |list: &[f64]| list.get(place).copied().unwrap_or(0.0);
            let (limit, slip) = (get(&assembled.limits), get(&at.slips));
            let (d_limit, d_slip) = (get(&along.assembled.limits), f64::from(u8::from(along.slip == Some(place))));
            let mut slack = if law.polygon { d_limit } else { 2.0 * limit * d_limit };
            for row in &law.rows {
                let p = at.impulses.get(*row).copied().unwrap_or(0.0);
                let u = assembled.rows.get(*row).copied().unwrap_or(0.0);
                let dp = f64::from(u8::from(along.impulse == Some(*row)));
                let Some(du) = out.get_mut(*row) else { continue };
                if law.polygon {
                    *du += d_slip;
                    slack -= dp;
                } else {
                    *du = d_limit * u + limit * *du + d_slip * p + slip * dp;
                    slack -= 2.0 * p * dp;
                }
            }
            slacks.push(slack);
        }
        out.extend(slacks);
        let rebound = |place: usize| along.rebound.filter(|(of, _)| *of == place).map_or([0.0; 2], |(_, by)| by);
        let closing = along.assembled.closing.iter().enumerate();
        out.extend(closing.map(|(place, closing)| closing + rebound(place)[0]));
        out.extend((0..self.form.rebounds.len()).map(|place| rebound(place)[1]));
        out
    }

    /// Lower and upper bounds of its constraints.
    pub(in crate::mpec) fn bounds(&self) -> Vec<[f64; 2]> {
        let zero = [0.0, 0.0];
        let positive = [0.0, f64::INFINITY];
        let is_corner = |row: usize| self.form.frictions.iter().any(|law| law.polygon && law.rows.contains(&row));
        let rows = self.form.rows.iter().enumerate().map(|(row, kind)| match kind {
            StepRow::Joint => zero,
            StepRow::Normal => positive,
            StepRow::Friction => {
                if is_corner(row) {
                    positive
                } else {
                    zero
                }
            }
        });
        let others = self.form.frictions.len() + 2 * self.form.rebounds.len();
        std::iter::repeat_n(zero, 2 * self.dof()).chain(rows).chain(std::iter::repeat_n(positive, others)).collect()
    }
}
