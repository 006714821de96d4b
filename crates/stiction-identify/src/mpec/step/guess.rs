//! Initial guess of the impulses of a step from the measured motion.

use nalgebra::{DMatrix, DVector};
use stiction::sensitivity::{FrictionLimit, StepTerms};
use stiction_mpec::{Element, Refused};

use super::{
    Step,
    laws::{Assembled, Inputs},
};

/// Initial guess of the impulses of a step.
pub(in crate::mpec) struct Guess {
    pub(in crate::mpec) impulses: Vec<f64>,
    pub(in crate::mpec) slips: Vec<f64>,
    /// D and d of contacts that rebound.
    pub(in crate::mpec) approaches: Vec<f64>,
    pub(in crate::mpec) pending_after: Vec<f64>,
}

/// Measured velocities of bodies in the step before, in the step, and in the one after it.
pub(in crate::mpec) struct Seen {
    pub(in crate::mpec) before: Vec<f64>,
    pub(in crate::mpec) after: Vec<f64>,
    pub(in crate::mpec) next: Vec<f64>,
}

impl Step {
    /// Typical size of impulses: those of applied forces over the step, or of friction at support points.
    pub(in crate::mpec) fn usual_push(&self) -> Result<f64, Refused> {
        let mut x = vec![0.0; Element::inputs(self)];
        let values = self.source.target.starts();
        x.iter_mut().skip(self.state_inputs()).zip(&values).for_each(|(x, value)| *x = *value);
        let terms = self.terms_here(&x)?;
        let pushes = (0..self.form.dof).map(|i| terms.push(i).abs());
        let held = self.form.frictions.iter().map(|law| match law.limit {
            FrictionLimit::Known { coefficient } => terms.coefficient(coefficient),
            FrictionLimit::Contact { .. } => 0.0,
        });
        let most = pushes.chain(held).fold(0.0, f64::max);
        Ok(if most > 0.0 { most } else { 1.0 })
    }

    /// Initial guess from the measured motion. Support points slip as measured. Contacts that rebound have an impulse where the measured
    /// motion turns back; all other impulses are zero.
    pub(in crate::mpec) fn guess(&self, seen: &Seen) -> Result<Guess, Refused> {
        let mut x = vec![0.0; Element::inputs(self)];
        let values = self.source.target.starts();
        x.iter_mut().skip(self.state_inputs()).zip(&values).for_each(|(x, value)| *x = *value);
        let at = Inputs { before: seen.before.clone(), after: seen.after.clone(), ..self.inputs(&x) };
        let terms = self.terms_here(&x)?;
        let assembled = self.assemble(&terms, &at);
        let approaches = assembled.closing.iter().map(|closing| (-closing).max(0.0)).collect();
        let (mut impulses, mut slips) = (vec![0.0; self.form.rows.len()], vec![0.0; self.form.frictions.len()]);
        for ((law, limit), slip) in self.form.frictions.iter().zip(&assembled.limits).zip(&mut slips) {
            let u = |row: usize| assembled.rows.get(row).copied().unwrap_or(0.0);
            let fastest = law.rows.iter().copied().min_by(|a, b| u(*a).total_cmp(&u(*b)));
            let speed = if law.polygon {
                fastest.map_or(0.0, |row| (-u(row)).max(0.0))
            } else {
                law.rows.iter().map(|row| u(*row) * u(*row)).sum::<f64>().sqrt()
            };
            if speed == 0.0 || matches!(law.limit, FrictionLimit::Contact { .. }) {
                continue;
            }
            *slip = speed;
            for row in &law.rows {
                let fraction = if law.polygon { f64::from(u8::from(Some(*row) == fastest)) } else { -u(*row) / speed };
                impulses.get_mut(*row).into_iter().for_each(|p| *p = limit * fraction);
            }
        }
        let pending_after = self.guess_rebounds((&terms, &assembled), seen, &mut impulses);
        Ok(Guess { impulses, slips, approaches, pending_after })
    }

    /// Pending restitution and normal impulses of contacts that rebound. An impact is in the last step before the measured separation,
    /// which is in the next. Its impulse is the change of the measured velocity beyond that of applied forces.
    fn guess_rebounds(
        &self,
        (terms, assembled): (&StepTerms, &Assembled),
        seen: &Seen,
        impulses: &mut [f64],
    ) -> Vec<f64> {
        let n = self.dof();
        let masses = DMatrix::from_fn(n, n, |i, j| terms.mass(i, j)).lu();
        let gained = masses.solve(&DVector::from_column_slice(&assembled.momentum));
        let mut pending_after = Vec::with_capacity(self.form.rebounds.len());
        for (rebound, closing) in self.form.rebounds.iter().zip(&assembled.closing) {
            let row = DVector::from_fn(n, |j, _| terms.row(rebound.normal, j));
            let along = |v: &[f64]| -> f64 {
                terms.coefficient(rebound.prescribed) + row.iter().zip(v).map(|(a, v)| a * v).sum::<f64>()
            };
            let (leaving, left) = (along(&seen.after), along(&seen.next));
            let u = assembled.rows.get(rebound.normal).copied().unwrap_or(0.0);
            let is_hit = *closing < 0.0 && left > 0.0 && u < 0.5 * -closing;
            // It was near at the start, and separates.
            let is_left = leaving > 0.0 && u - leaving < 0.5 * leaving;
            let jump = gained.as_ref().map_or(0.0, |gained| row.dot(gained)).max(0.0);
            let give = masses.solve(&row).map_or(0.0, |moved| row.dot(&moved));
            if (is_hit || is_left && jump > 0.5 * leaving) && give > 0.0 {
                impulses.get_mut(rebound.normal).into_iter().for_each(|p| *p = jump / give);
            }
            pending_after.push(if is_hit { -closing } else { 0.0 });
        }
        pending_after
    }
}
