//! The variables, constraints and pairs of one step.

use std::sync::Arc;

use stiction::{
    State,
    sensitivity::{StepEquations, StepRow},
    stepping::Start as StepStart,
};
use stiction_mpec::{Pair, Variable};

use super::{Inputs, Layout, Motion, Writer};
use crate::{
    IdentifyError,
    mpec::step::{Guess, Step},
};

impl Writer<'_> {
    /// Adds a step, and returns the variables at the start of the next one.
    pub(super) fn step(
        &self,
        layout: &mut Layout,
        (motion, number): (&mut Motion, usize),
        inputs: &Inputs,
        reach: f64,
    ) -> Result<Inputs, IdentifyError> {
        let (Some(here), Some(there)) = (motion.reference.get(number), motion.reference.get(number + 1)) else {
            return Err(IdentifyError::Nothing);
        };
        let (model, h) = (Arc::clone(&motion.model), self.source.h);
        let n = model.dof();
        let mut from = State { q: here.clone(), ..motion.first.clone() };
        from.time = motion.first.time + number as f64 * h;
        // A little inside the bounds: a contact without friction or restitution would have no law for them.
        let beside = self.source.beside(&self.source.target.starts()).map_err(|error| self.refused(error))?;
        let start = StepStart::new(&beside.centre, &self.source.scheme, &from, h);
        let equations = StepEquations::new(&start, reach).or_else(|error| self.fail(error.to_string()))?;
        let contacts = equations.form().contacts.clone();
        let pending_restitution: Vec<(usize, usize)> = equations
            .form()
            .rebounds
            .iter()
            .enumerate()
            .filter_map(|(place, rebound)| {
                let id = contacts.get(rebound.contact)?;
                Some((place, inputs.pending_after.iter().find(|(pending, _)| pending == id)?.1))
            })
            .collect();
        let pending_rebounds = pending_restitution.iter().map(|(place, _)| *place).collect();
        let scales = inputs.displacements.iter().map(|(_, scale)| *scale).collect();
        let known = inputs.velocity.is_none();
        let seen = motion.seen(number, h);
        let step = Step::new(self.source, equations, (from, there.clone()), (scales, known), pending_rebounds)
            .map_err(|error| self.refused(error))?;
        let program = &mut layout.program;
        let end = program.variables.len();
        program.variables.extend(std::iter::repeat_n(Variable::free(0.0), n));
        program.variables.extend(seen.after.iter().map(|v| Variable::free(*v)));
        let (push, speed) = (step.usual_push().map_err(|error| self.refused(error))?, motion.speed);
        let Guess { impulses, slips, approaches, pending_after } =
            step.guess(&seen).map_err(|error| self.refused(error))?;
        let form = step.form().clone();
        let is_corner = |row: usize| form.frictions.iter().any(|law| law.polygon && law.rows.contains(&row));
        let first_impulse = program.variables.len();
        for (row, (kind, p)) in form.rows.iter().zip(&impulses).enumerate() {
            let pushes = *kind == StepRow::Normal || is_corner(row);
            program.variable(if pushes { Variable::positive(*p) } else { Variable::free(*p) });
        }
        program.variables.extend(slips.iter().map(|slip| Variable::positive(*slip)));
        program.variables.extend(approaches.iter().chain(&pending_after).map(|speed| Variable::positive(*speed)));
        let last = program.variables.len();
        let parameters = self.source.target.parameters.iter();
        let of = |name: &str| layout.parameters.iter().find(|(known, _)| known.name == name).map_or(0, |(_, at)| *at);
        let mut variables: Vec<usize> = inputs.displacements.iter().map(|(variable, _)| *variable).collect();
        variables.extend(inputs.velocity.into_iter().flat_map(|first| first..first + n));
        variables.extend(parameters.map(|parameter| of(&parameter.name)));
        variables.extend((end..last).chain(pending_restitution.into_iter().map(|(_, pending)| pending)));
        let bounds = step.bounds();
        let program = &mut layout.program;
        let first = program.element(Arc::new(step), variables, &bounds) + 2 * n;
        for (row, kind) in form.rows.iter().enumerate() {
            if *kind == StepRow::Normal || is_corner(row) {
                program.pairs.push(Pair {
                    variable: first_impulse + row,
                    constraint: first + row,
                    sizes: [push, speed],
                });
            }
        }
        let count = form.rows.len();
        for (place, law) in form.frictions.iter().enumerate() {
            let slack = if law.polygon { push } else { push * push };
            program.pairs.push(Pair {
                variable: first_impulse + count + place,
                constraint: first + count + place,
                sizes: [speed, slack],
            });
        }
        // Of contacts that rebound: D ⊥ a + D, d ⊥ u, p ⊥ D − d.   [MPEC-9]
        let (rebounds, laws) = (form.rebounds.len(), form.frictions.len());
        let (approach, closing) = (first_impulse + count + laws, first + count + laws);
        let mut pending_after = Vec::with_capacity(rebounds);
        for (place, rebound) in form.rebounds.iter().enumerate() {
            let pending = approach + rebounds + place;
            let (normal, hit) = (first + rebound.normal, closing + rebounds + place);
            let mut pair = |variable, constraint, sizes| program.pairs.push(Pair { variable, constraint, sizes });
            pair(approach + place, closing + place, [speed, speed]);
            pair(pending, normal, [speed, speed]);
            pair(first_impulse + rebound.normal, hit, [push, speed]);
            pending_after.extend(contacts.get(rebound.contact).map(|id| (*id, pending)));
        }
        motion.ends.push((end, end + n));
        motion.steps.push((form, first_impulse, first));
        let displacements = (end..end + n).map(|variable| (variable, 1.0)).collect();
        Ok(Inputs { displacements, velocity: Some(end + n), pending_after })
    }
}
