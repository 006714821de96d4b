//! Direct transcription of recorded motions: all their steps, all their observations, and shared parameters.

mod seen;
mod step;

use std::sync::Arc;

use stiction::{
    ContactId, Model, State,
    sensitivity::{StepForm, displacement},
};
use stiction_mpec::{Program, Refused, Square, Variable};

use self::seen::{extent, fastest, is_whole, numbers};
use super::{
    Member, MpecOptions, StartVelocity,
    models::Source,
    observation::{Observation, deviations},
    step::Seen,
};
use crate::{IdentifyError, Start};

/// Layout of a motion in the program.
pub(super) struct Motion {
    pub(super) model: Arc<Model>,
    /// Origins of displacements: the start, then the end of every step.
    pub(super) reference: Vec<Vec<f64>>,
    /// Displacements and velocities of the ends of the steps: first variables.
    pub(super) ends: Vec<(usize, usize)>,
    /// Inputs of the start: variable and scale of every displacement, variables of velocities unless they are known.
    pub(super) start: Vec<(usize, f64)>,
    pub(super) start_velocity: Option<usize>,
    pub(super) first: State,
    /// The errors: variables.
    pub(super) errors: Vec<usize>,
    /// Structure of each step, with its first impulse and its first constraint.
    pub(super) steps: Vec<(StepForm, usize, usize)>,
    /// Measured numbers that may move the start.
    pub(super) free: usize,
    /// Largest speed that was measured, m/s.
    pub(super) speed: f64,
}

impl Motion {
    /// Measured motion of bodies about a step; at the ends of the recording that of the neighbouring step.
    fn seen(&self, step: usize, h: f64) -> Seen {
        let way = |step: usize| -> Option<Vec<f64>> {
            let (from, to) = (self.reference.get(step)?, self.reference.get(step + 1)?);
            Some(displacement(&self.model, from, to).iter().map(|way| way / h).collect())
        };
        let after = way(step).unwrap_or_else(|| self.first.v.clone());
        let before = step.checked_sub(1).and_then(way).unwrap_or_else(|| self.first.v.clone());
        Seen { before, next: way(step + 1).unwrap_or_else(|| after.clone()), after }
    }
}

/// Program with its layout.
pub(super) struct Layout {
    pub(super) program: Program,
    /// Parameters by name: their variables.
    pub(super) parameters: Vec<(crate::Parameter, usize)>,
    pub(super) motions: Vec<Motion>,
}

/// Writes the program of all members.
pub(super) fn build(members: &[Member], options: &MpecOptions) -> Result<Layout, IdentifyError> {
    let mut layout = Layout { program: Program::default(), parameters: Vec::new(), motions: Vec::new() };
    for member in members {
        // Members have their own models, so that blocks do not wait for each other.
        let source = Arc::new(Source::new(member.target)?);
        for parameter in &member.target.parameters {
            if !layout.parameters.iter().any(|(known, _)| known.name == parameter.name) {
                let [lower, upper] = parameter.bounds;
                let variable = layout.program.variable(Variable { lower, upper, start: parameter.start });
                layout.parameters.push((parameter.clone(), variable));
            }
        }
        let motion = Writer { member, source: &source, options }.write(&mut layout)?;
        layout.motions.push(motion);
    }
    Ok(layout)
}

struct Writer<'a> {
    member: &'a Member<'a>,
    source: &'a Arc<Source>,
    options: &'a MpecOptions,
}

/// Variables at the start of a step.
struct Inputs {
    displacements: Vec<(usize, f64)>,
    velocity: Option<usize>,
    /// Variables of pending restitution.
    pending_after: Vec<(ContactId, usize)>,
}

impl Writer<'_> {
    fn fail<T>(&self, reason: String) -> Result<T, IdentifyError> {
        Err(IdentifyError::Recording { recording: self.member.recording.name.clone(), reason })
    }

    fn refused(&self, error: Refused) -> IdentifyError {
        let name = self.member.recording.name.clone();
        IdentifyError::Recording { recording: name, reason: error.0 }
    }

    fn write(&self, layout: &mut Layout) -> Result<Motion, IdentifyError> {
        let recording = self.member.recording;
        recording.validate()?;
        let target = self.source.target.starts();
        let model = self.source.model(&target).map_err(|error| self.refused(error))?;
        let rows = self.rows()?;
        let (reference, first) = self.reference(&model, &rows);
        let errors_at: Vec<Vec<usize>> = rows.iter().map(|(row, _)| self.errors(layout, &model, *row)).collect();
        let (inputs, rest, free) = self.start(layout, &model, errors_at.first().map_or(&[], Vec::as_slice));
        let shared = Arc::new(recording.clone());
        let observe = |layout: &mut Layout,
                       (row, step): (usize, usize),
                       places: Vec<usize>,
                       moved: &[usize],
                       errors: &[usize]| {
            if places.is_empty() {
                return Ok(());
            }
            let known = errors.to_vec();
            let picked: Vec<usize> = places.iter().filter_map(|place| known.get(*place).copied()).collect();
            let at = reference.get(step).map_or(&[][..], Vec::as_slice);
            let time = first.time + step as f64 * self.source.h;
            let observation = Observation::new(&model, (&shared, row), (at, time), places)?;
            let bounds = vec![[0.0, 0.0]; picked.len()];
            layout.program.element(Arc::new(observation), moved.iter().copied().chain(picked).collect(), &bounds);
            Ok::<(), Refused>(())
        };
        let mut errors_at = errors_at.into_iter();
        let at_start = errors_at.next().unwrap_or_default();
        if let Some((row, _)) = rows.first() {
            let moved: Vec<usize> = inputs.displacements.iter().map(|(variable, _)| *variable).collect();
            observe(layout, (*row, 0), rest, &moved, &at_start).map_err(|error| self.refused(error))?;
        }
        let mut motion = Motion {
            model: Arc::clone(&model),
            reference: reference.clone(),
            ends: Vec::new(),
            start: inputs.displacements.clone(),
            start_velocity: inputs.velocity,
            first: first.clone(),
            errors: at_start,
            steps: Vec::new(),
            free,
            speed: fastest(&model, &reference, self.source.h),
        };
        let mut waiting = rows.iter().skip(1).zip(errors_at).peekable();
        let reach = self.options.reach.unwrap_or_else(|| extent(&model, &reference));
        let mut inputs = inputs;
        for step in 0..reference.len().saturating_sub(1) {
            inputs = self.step(layout, (&mut motion, step), &inputs, reach)?;
            while let Some(((row, _), errors)) = waiting.next_if(|((_, at), _)| *at == step + 1) {
                let moved: Vec<usize> = inputs.displacements.iter().map(|(variable, _)| *variable).collect();
                let all = (0..errors.len()).collect();
                observe(layout, (*row, step + 1), all, &moved, &errors).map_err(|error| self.refused(error))?;
                motion.errors.extend(errors);
            }
        }
        Ok(motion)
    }

    /// A variable for the error of every number of a row.
    fn errors(&self, layout: &mut Layout, model: &Model, row: usize) -> Vec<usize> {
        let bound = self.options.error_bound;
        let count = deviations(model, self.member.recording, row).len();
        (0..count)
            .map(|_| {
                let variable = layout.program.variable(Variable { lower: -bound, upper: bound, start: 0.0 });
                layout.program.squares.push(Square { variable, weight: 0.5, centre: 0.0 });
                variable
            })
            .collect()
    }

    /// Variables at the start of the first step. A completely measured body is there except for the errors. Also returns the numbers of the
    /// row that are not used for that.
    fn start(&self, layout: &mut Layout, model: &Model, errors: &[usize]) -> (Inputs, Vec<usize>, usize) {
        let recording = self.member.recording;
        let row = self.member.rows.start;
        let all = deviations(model, recording, row);
        let mut displacements: Vec<Option<(usize, f64)>> = vec![None; model.dof()];
        let mut seen = vec![false; model.dof()];
        let (mut place, mut rest) = (0, Vec::new());
        for track in &recording.tracks {
            let Some((_, range)) = model.find_body(&track.body).and_then(|id| model.unknowns(id)) else { continue };
            let count = numbers(track, row);
            seen.iter_mut().skip(range.start).take(range.len()).for_each(|seen| *seen = true);
            if let Some(components) = is_whole(model, track, row) {
                for (number, component) in (place..).zip(components) {
                    let (Some(variable), Some(deviation)) = (errors.get(number), all.get(number)) else { continue };
                    let of = displacements.get_mut(range.start + component);
                    if let Some(of) = of {
                        *of = Some((*variable, *deviation));
                    }
                }
            } else {
                rest.extend(place..place + count);
            }
            place += count;
        }
        let fixed = |value: f64| Variable { lower: value, upper: value, start: value };
        let mut free = 0;
        let displacements: Vec<(usize, f64)> = displacements
            .into_iter()
            .zip(&seen)
            .map(|(known, seen)| {
                free += usize::from(*seen);
                let variable = || if *seen { Variable::free(0.0) } else { fixed(0.0) };
                known.unwrap_or_else(|| (layout.program.variable(variable()), 1.0))
            })
            .collect();
        let velocity = (self.options.start_velocity == StartVelocity::Free).then(|| {
            let v = Start::measured(model, recording, row).state.v;
            let first = layout.program.variables.len();
            for (v, seen) in v.iter().zip(&seen) {
                free += usize::from(*seen);
                layout.program.variable(if *seen { Variable::free(*v) } else { fixed(*v) });
            }
            first
        });
        (Inputs { displacements, velocity, pending_after: Vec::new() }, rest, free)
    }
}
