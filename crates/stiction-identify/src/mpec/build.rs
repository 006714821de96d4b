//! The program of recorded motions: all their steps, all their observations, parameters that they share.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction::{
    ContactId, Model, OrientationUpdate, State,
    multibody::Mobility,
    stepping::{Start as StepStart, StepEquations, StepForm, StepRow, displacement},
};
use stiction_mpec::{Pair, Program, Refused, Square, Variable};

use super::{
    Member, MpecOptions, StartVelocity,
    models::Source,
    observation::{Observation, deviations},
    step::{Guess, Seen, Step},
};
use crate::{IdentifyError, Orientation, Start, Track};

/// How far a row may be from a step and still be at it, as a share of the step.
const AT_STEP: f64 = 1e-6;

/// Where the numbers of a motion stand in the program.
pub(super) struct Motion {
    pub(super) model: Arc<Model>,
    /// Where displacements are counted from: the start, then the end of every step.
    pub(super) reference: Vec<Vec<f64>>,
    /// Displacements and velocities of the ends of the steps: first variables.
    pub(super) ends: Vec<(usize, usize)>,
    /// Inputs of the start: variable and scale of every displacement, variables of velocities unless they are known.
    pub(super) start: Vec<(usize, f64)>,
    pub(super) start_velocity: Option<usize>,
    pub(super) first: State,
    /// The errors: variables.
    pub(super) errors: Vec<usize>,
    /// What each step asks, with its first impulse and its first constraint.
    pub(super) steps: Vec<(StepForm, usize, usize)>,
    /// Measured numbers that may move the start.
    pub(super) free: usize,
    /// How fast anything was seen to move, m/s.
    pub(super) speed: f64,
}

impl Motion {
    /// How bodies were seen to move about a step; at the ends of the recording as in the step beside.
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

/// A program and where things stand in it.
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
        // Members have models of their own, so that blocks do not wait for each other.
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

/// What a step starts from.
struct Inputs {
    displacements: Vec<(usize, f64)>,
    velocity: Option<usize>,
    /// Variables of what contacts owe.
    debts: Vec<(ContactId, usize)>,
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

    /// Rows with the steps at whose ends they are; the first is at 0.
    fn rows(&self) -> Result<Vec<(usize, usize)>, IdentifyError> {
        let times = &self.member.recording.times;
        let last = self.member.rows.end.min(times.len());
        let range = self.member.rows.start..last;
        if range.len() < 2 {
            return Err(IdentifyError::Nothing);
        }
        let origin = times.get(range.start).copied().unwrap_or(0.0);
        let mut rows = Vec::with_capacity(range.len());
        for row in range {
            let steps = (times.get(row).copied().unwrap_or(0.0) - origin) / self.source.h;
            if (steps - steps.round()).abs() > AT_STEP {
                return self.fail(format!(
                    "row {} is {steps} steps after the first: the program of all steps needs rows at ends of steps; choose another step",
                    row + 1
                ));
            }
            #[expect(clippy::cast_sign_loss, reason = "times increase")]
            rows.push((row, steps.round() as usize));
        }
        Ok(rows)
    }

    /// Where the bodies were seen at the start and at the end of every step, in between on straight ways; and the state at the start.
    fn reference(&self, model: &Model, rows: &[(usize, usize)]) -> (Vec<Vec<f64>>, State) {
        let recording = self.member.recording;
        let seen = |row: usize| {
            let whole = |track: &Track| recording.tracks.len() > 1 || is_whole(model, track, row).is_some();
            recording.tracks.iter().all(whole)
        };
        let known: Vec<(usize, State)> = rows
            .iter()
            .enumerate()
            .filter(|(place, (row, _))| *place == 0 || seen(*row))
            .map(|(_, (row, step))| (*step, Start::measured(model, recording, *row).state))
            .collect();
        let last = rows.last().map_or(0, |(_, step)| *step);
        let mut reference = Vec::with_capacity(last + 1);
        for step in 0..=last {
            let after = known.iter().position(|(at, _)| *at >= step).unwrap_or(known.len().saturating_sub(1));
            let before =
                if known.get(after).is_some_and(|(at, _)| *at <= step) { after } else { after.saturating_sub(1) };
            let (Some((from, a)), Some((to, b))) = (known.get(before), known.get(after)) else { continue };
            let share = if to > from { (step - from) as f64 / (to - from) as f64 } else { 0.0 };
            let mut q = Vec::new();
            let way = displacement(model, &a.q, &b.q);
            model.integrate(&a.q, &way, share, OrientationUpdate::Exponential, &mut q);
            reference.push(q);
        }
        let mut first = known.into_iter().next().map_or_else(|| model.initial_state(), |(_, state)| state);
        if self.options.start_velocity == StartVelocity::AsInScene {
            first.v = model.initial_state().v;
        }
        (reference, first)
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

    /// What the first step starts from: where a body was seen whole it is there but for the errors; the numbers of the row that are not used up so.
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
        (Inputs { displacements, velocity, debts: Vec::new() }, rest, free)
    }

    /// Adds a step; tells what the next one starts from.
    fn step(
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
        let start = StepStart { model: &beside.centre, scheme: &self.source.scheme, state: &from, h };
        let equations = StepEquations::new(&start, reach).or_else(|error| self.fail(error.to_string()))?;
        let contacts = equations.form().contacts.clone();
        let owed: Vec<(usize, usize)> = equations
            .form()
            .rebounds
            .iter()
            .enumerate()
            .filter_map(|(place, rebound)| {
                let id = contacts.get(rebound.contact)?;
                Some((place, inputs.debts.iter().find(|(owing, _)| owing == id)?.1))
            })
            .collect();
        let owing = owed.iter().map(|(place, _)| *place).collect();
        let scales = inputs.displacements.iter().map(|(_, scale)| *scale).collect();
        let known = inputs.velocity.is_none();
        let seen = motion.seen(number, h);
        let step = Step::new(self.source, equations, (from, there.clone()), (scales, known), owing)
            .map_err(|error| self.refused(error))?;
        let program = &mut layout.program;
        let end = program.variables.len();
        program.variables.extend(std::iter::repeat_n(Variable::free(0.0), n));
        program.variables.extend(seen.after.iter().map(|v| Variable::free(*v)));
        let (push, speed) = (step.usual_push().map_err(|error| self.refused(error))?, motion.speed);
        let Guess { impulses, slips, approaches, debts } = step.guess(&seen).map_err(|error| self.refused(error))?;
        let form = step.form().clone();
        let is_corner = |row: usize| form.frictions.iter().any(|law| law.polygon && law.rows.contains(&row));
        let first_impulse = program.variables.len();
        for (row, (kind, p)) in form.rows.iter().zip(&impulses).enumerate() {
            let pushes = *kind == StepRow::Normal || is_corner(row);
            program.variable(if pushes { Variable::positive(*p) } else { Variable::free(*p) });
        }
        program.variables.extend(slips.iter().map(|slip| Variable::positive(*slip)));
        program.variables.extend(approaches.iter().chain(&debts).map(|speed| Variable::positive(*speed)));
        let last = program.variables.len();
        let parameters = self.source.target.parameters.iter();
        let of = |name: &str| layout.parameters.iter().find(|(known, _)| known.name == name).map_or(0, |(_, at)| *at);
        let mut variables: Vec<usize> = inputs.displacements.iter().map(|(variable, _)| *variable).collect();
        variables.extend(inputs.velocity.into_iter().flat_map(|first| first..first + n));
        variables.extend(parameters.map(|parameter| of(&parameter.name)));
        variables.extend((end..last).chain(owed.into_iter().map(|(_, debt)| debt)));
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
        let mut debts = Vec::with_capacity(rebounds);
        for (place, rebound) in form.rebounds.iter().enumerate() {
            let debt = approach + rebounds + place;
            let (normal, hit) = (first + rebound.normal, closing + rebounds + place);
            let mut pair = |variable, constraint, sizes| program.pairs.push(Pair { variable, constraint, sizes });
            pair(approach + place, closing + place, [speed, speed]);
            pair(debt, normal, [speed, speed]);
            pair(first_impulse + rebound.normal, hit, [push, speed]);
            debts.extend(contacts.get(rebound.contact).map(|id| (*id, debt)));
        }
        motion.ends.push((end, end + n));
        motion.steps.push((form, first_impulse, first));
        let displacements = (end..end + n).map(|variable| (variable, 1.0)).collect();
        Ok(Inputs { displacements, velocity: Some(end + n), debts })
    }
}

/// Numbers that were measured of a track in a row.
fn numbers(track: &Track, row: usize) -> usize {
    let positions = track.positions.get(row).copied().flatten();
    let turned = match track.orientations.get(row).copied().flatten() {
        Some(Orientation::Angle(_)) => 1,
        Some(Orientation::Quaternion(_)) => 3,
        None => 0,
    };
    positions.map_or(0, |x| x.iter().filter(|x| x.is_finite()).count()) + turned
}

/// The components of a body in the order in which a row measures them, where it measures each once and at its reference point.
fn is_whole(model: &Model, track: &Track, row: usize) -> Option<Vec<usize>> {
    let (mobility, _) = model.find_body(&track.body).and_then(|id| model.unknowns(id))?;
    let x = track.positions.get(row).copied().flatten()?;
    let finite = |k: usize| x.get(k).is_some_and(|x| x.is_finite());
    let orientation = track.orientations.get(row).copied().flatten();
    let angle = matches!(orientation, Some(Orientation::Angle(_)));
    let turned = matches!(orientation, Some(Orientation::Quaternion(_)));
    let at_centre = track.point == Vector3::zeros();
    match mobility {
        Mobility::PlanarParticle if finite(0) && finite(1) && !finite(2) && !angle => Some(vec![0, 1]),
        Mobility::Planar if finite(0) && finite(1) && !finite(2) && angle && at_centre => Some(vec![0, 1, 2]),
        Mobility::Particle if finite(0) && finite(1) && finite(2) && !angle => Some(vec![0, 1, 2]),
        Mobility::Free if finite(0) && finite(1) && finite(2) && turned && at_centre => Some(vec![0, 1, 2, 3, 4, 5]),
        _ => None,
    }
}

/// How far anything was seen from where it started.
fn extent(model: &Model, reference: &[Vec<f64>]) -> f64 {
    let Some(first) = reference.first() else { return 0.0 };
    let sizes = model.bodies().iter().map(stiction::multibody::Body::radius).filter(|size| size.is_finite());
    let away = reference.iter().flat_map(|q| displacement(model, first, q)).map(f64::abs);
    away.fold(0.0, f64::max) + sizes.fold(0.0, f64::max)
}

/// How fast anything was seen to move, and 1 m/s where nothing did.
fn fastest(model: &Model, reference: &[Vec<f64>], h: f64) -> f64 {
    let ways = reference.windows(2).flat_map(|pair| match pair {
        [from, to] => displacement(model, from, to),
        _ => Vec::new(),
    });
    let most = ways.map(|way| way.abs() / h).fold(0.0, f64::max);
    if most > 0.0 { most } else { 1.0 }
}
