//! From event to event: integrate, detect, restart.

use stiction_multibody::{ContactId, ContactMode, Model, ShapeId};

use super::{
    ReferenceStepper,
    balance::{Balance, Mode, balance},
    events::{Bracket, Signal, Signals, contact_signals, is_over, least},
    friction::Impulses,
    geometry::{Eyes, Touch},
    instant::{Depth, Instant, Trouble},
    ledger::{Ledger, loads},
    modes::{Decision, consistent, decide},
    motion::Motion,
    projection::project,
    runge_kutta::{Sample, Trial, attempt},
};
use crate::{Event, EventKind, Impact, Start, StepCause};

/// Gaps up to this are closed, m: what the location of a touch leaves.
const TOUCHING: f64 = 1e-10;

/// Surfaces that approach or part more slowly than this are at rest along the normal, m/s.
const RESTING: f64 = 1e-10;

/// Events are located to this time, s.
const TIME_RESOLUTION: f64 = 1e-13;

/// Pieces of motion are not cut shorter than this, s.
const SHORTEST: f64 = 1e-11;

/// Contacts within this distance are looked at beyond what bodies can reach, m.
const NEAR: f64 = 1e-3;

/// Within a piece no body moves further than this share of the smallest shape: nothing slips through unseen.
const STRIDE: f64 = 0.5;

/// The evaluation kept at the end of a piece.
type Kept = (Instant, Balance);

/// A step under way.
pub(super) struct Run<'a> {
    pub(super) eyes: Eyes<'a>,
    start: &'a Start<'a>,
    tolerance: f64,
    settling_speed: f64,
    max_events: u32,
    pub(super) impulses: Impulses,
    pub(super) motion: Motion,
    /// Time since the start of the step, s.
    elapsed: f64,
    pub(super) closed: Vec<(ContactId, Mode)>,
    pub(super) ledger: Ledger,
    pub(super) events: Vec<Event>,
    pub(super) hits: usize,
    pub(super) shocks: usize,
    pub(super) pieces: u32,
    pub(super) restarts: u32,
    pub(super) largest: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(stepper: &'a mut ReferenceStepper, start: &'a Start<'a>) -> Self {
        let state = start.state;
        let remembered = state.contacts.iter().filter_map(|memory| match memory.mode {
            ContactMode::Open => None,
            ContactMode::Stick => Some((memory.id, Mode::Stick)),
            ContactMode::Slip => Some((memory.id, Mode::Slip([0.0; 3]))),
        });
        Self {
            eyes: Eyes::new(start.model, stepper.detector.as_mut()),
            start,
            tolerance: stepper.tolerance,
            settling_speed: stepper.settling_speed,
            max_events: stepper.max_events,
            impulses: Impulses::new(),
            motion: Motion { q: state.q.clone(), v: state.v.clone() },
            elapsed: 0.0,
            closed: remembered.collect(),
            ledger: Ledger::new(start.model.joint_rows()),
            events: Vec::new(),
            hits: 0,
            shocks: 0,
            pieces: 0,
            restarts: 0,
            largest: start.model.dof(),
        }
    }

    fn model(&self) -> &'a Model {
        self.start.model
    }

    pub(super) fn time(&self) -> f64 {
        self.start.state.time + self.elapsed
    }

    fn ids(&self) -> Vec<ContactId> {
        self.closed.iter().map(|(id, _)| *id).collect()
    }

    fn modes(&self) -> Vec<Mode> {
        self.closed.iter().map(|(_, mode)| *mode).collect()
    }

    /// Makes the whole step.
    pub(super) fn drive(&mut self) -> Result<(), StepCause> {
        let h = self.start.h;
        self.restart()?;
        let mut wanted = h;
        while self.elapsed < h {
            let left = h - self.elapsed;
            let length = wanted.min(self.stride()).min(left);
            let trial = match self.attempt(length) {
                Ok(trial) => trial,
                Err(Trouble::Cause(cause)) => return Err(cause),
                Err(Trouble::Lost(_)) if length > SHORTEST => {
                    wanted = 0.5 * length;
                    continue;
                }
                Err(Trouble::Lost(id)) => {
                    self.lose(id)?;
                    continue;
                }
            };
            if trial.error > 1.0 && length > SHORTEST {
                wanted = length * change_of_length(trial.error);
                continue;
            }
            wanted = length * change_of_length(trial.error);
            let signals = self.signals(&trial, length)?;
            if signals.iter().any(is_over) {
                let (trial, length, signals) = self.locate(length, trial, signals)?;
                self.accept(trial, length)?;
                self.handle(&signals)?;
                wanted = h;
            } else {
                self.accept(trial, length)?;
            }
        }
        Ok(())
    }

    /// The longest piece in which no body passes another unseen.
    fn stride(&self) -> f64 {
        let model = self.model();
        let at = self.motion.configuration(model, self.time());
        let radii = model.shapes().filter_map(|(_, _, shape)| shape.shape.radius_bound()).filter(|&r| r > 0.0);
        let smallest = radii.fold(f64::INFINITY, f64::min);
        let fastest = fastest(model, &at);
        if fastest > 0.0 { STRIDE * smallest / fastest } else { f64::INFINITY }
    }

    fn attempt(&mut self, length: f64) -> Result<Trial<Kept>, Trouble> {
        let (ids, modes) = (self.ids(), self.modes());
        let (model, time) = (self.model(), self.time());
        let eyes = &mut self.eyes;
        self.pieces += 1;
        attempt(&self.motion, time, length, self.tolerance, |motion, time| {
            motion.normalise(model);
            let at = Instant::new(eyes, motion, time, &ids, Depth::Accelerations)?;
            let forces = balance(&at, &modes);
            let acceleration: Vec<f64> = forces.acceleration.iter().copied().collect();
            Ok(Sample { rate: motion.rate(model, acceleration), loads: loads(&at, &forces.force), kept: (at, forces) })
        })
    }

    /// All signals at the end of a trial.
    fn signals(&mut self, trial: &Trial<Kept>, length: f64) -> Result<Signals, StepCause> {
        let (at, forces) = &trial.end;
        let modes = self.modes();
        let mut signals = contact_signals(at, &modes, forces);
        if forces.redundant {
            let good = consistent(self.model(), at, &modes, forces, &mut self.impulses);
            signals.push((Signal::Balance, if good { 1.0 } else { -1.0 }));
        }
        let time = self.time() + length;
        let open = self.near(&trial.motion, time)?.into_iter().filter(|touch| !self.is_closed(touch.id));
        let gap = open.map(|touch| touch.gap).fold(f64::INFINITY, f64::min);
        if gap.is_finite() {
            signals.push((Signal::Gap, gap));
        }
        Ok(signals)
    }

    fn is_closed(&self, id: ContactId) -> bool {
        self.closed.iter().any(|(closed, _)| *closed == id)
    }

    /// Contacts that may matter soon.
    pub(super) fn near(&mut self, motion: &Motion, time: f64) -> Result<Vec<Touch>, StepCause> {
        let at = motion.configuration(self.model(), time);
        let margin = NEAR + 2.0 * self.start.h * fastest(self.model(), &at);
        let pairs = self.eyes.pairs(&at, 2.0 * margin);
        self.eyes.touches(&at, time, &pairs, margin)
    }

    /// The piece up to the first event within a trial, and the signals just after it.   [REF-9]
    fn locate(
        &mut self,
        length: f64,
        mut trial: Trial<Kept>,
        mut signals: Signals,
    ) -> Result<(Trial<Kept>, f64, Signals), StepCause> {
        let mut bracket = Bracket::new(length, least(&signals));
        let mut end = length;
        while bracket.width() > TIME_RESOLUTION {
            let place = bracket.next();
            let inner = match self.attempt(place) {
                Ok(inner) => inner,
                Err(Trouble::Cause(cause)) => return Err(cause),
                Err(Trouble::Lost(id)) => return Err(self.unresolved(id)),
            };
            let found = self.signals(&inner, place)?;
            let value = if found.iter().any(is_over) { least(&found) } else { least(&found).abs().max(f64::MIN_POSITIVE) };
            bracket.narrow(place, value);
            if value <= 0.0 {
                (trial, signals, end) = (inner, found, place);
            }
        }
        Ok((trial, end, signals))
    }

    /// Moves on to the end of a piece, without drift.
    fn accept(&mut self, trial: Trial<Kept>, length: f64) -> Result<(), StepCause> {
        let at = &trial.end.0;
        self.largest = self.largest.max(self.model().dof() + at.rate.len());
        self.ledger.add(at, &trial.impulses);
        self.motion = trial.motion;
        self.motion.normalise(self.model());
        let left = self.start.h - self.elapsed;
        self.elapsed = if length >= left { self.start.h } else { self.elapsed + length };
        self.project()
    }

    fn project(&mut self) -> Result<(), StepCause> {
        let time = self.time();
        match project(&mut self.eyes, &mut self.motion, time, &self.closed) {
            Ok(()) => Ok(()),
            Err(Trouble::Cause(cause)) => Err(cause),
            // Found lost once more at the start of the next piece, and dealt with there.
            Err(Trouble::Lost(_)) => Ok(()),
        }
    }

    /// What follows from the signals that are over.
    fn handle(&mut self, signals: &Signals) -> Result<(), StepCause> {
        self.restarts += 1;
        let over: Vec<_> = signals.iter().filter(|signal| is_over(signal)).map(|(signal, _)| *signal).collect();
        if self.restarts > self.max_events {
            return Err(self.too_many(&over));
        }
        let simple = over.iter().all(|signal| matches!(signal, Signal::Push(_) | Signal::Cone(_)));
        if simple && self.let_go(&over)? { Ok(()) } else { self.restart() }
    }

    /// Contacts that stopped pushing open, those at the edge of their cone slip; false where that is not consistent.
    fn let_go(&mut self, over: &[Signal]) -> Result<bool, StepCause> {
        let before = self.closed.clone();
        let ids = self.ids();
        let time = self.time();
        let at = match Instant::new(&mut self.eyes, &self.motion, time, &ids, Depth::Accelerations) {
            Ok(at) => at,
            Err(Trouble::Cause(cause)) => return Err(cause),
            Err(Trouble::Lost(_)) => return Ok(false),
        };
        let mut modes = self.modes();
        let forces = balance(&at, &modes);
        for signal in over {
            let mode = match *signal {
                Signal::Push(contact) => (contact, Mode::Open),
                Signal::Cone(contact) => {
                    let friction = at.friction_of(contact, &forces.force);
                    let size = super::balance::norm(friction);
                    (contact, Mode::Slip(friction.map(|f| -f / size)))
                }
                _ => continue,
            };
            if let Some(old) = modes.get_mut(mode.0)
                && *old != Mode::Open
            {
                *old = mode.1;
            }
        }
        let forces = balance(&at, &modes);
        if !consistent(self.model(), &at, &modes, &forces, &mut self.impulses) {
            return Ok(false);
        }
        self.adopt(&before, ids.into_iter().zip(modes));
        Ok(true)
    }

    /// Looks at everything anew: who touches, who collides, who sticks.
    fn restart(&mut self) -> Result<(), StepCause> {
        let before = self.closed.clone();
        let motion = self.motion.clone();
        let near = self.near(&motion, self.time())?;
        let touching = |touch: &&Touch| touch.gap <= TOUCHING && touch.opening() <= RESTING;
        let mut ids: Vec<_> = near.iter().filter(touching).map(|touch| touch.id).collect();
        if near.iter().filter(touching).any(|touch| touch.opening() < -RESTING) {
            ids = self.collide(&ids, &before)?;
        }
        // A shock may leave another one to be made, at most once for every contact that can stop.
        for _ in 0..=ids.len() {
            let at = self.instant(&ids)?;
            match decide(self.model(), &at, &mut self.impulses) {
                Some(Decision::Modes(modes)) => {
                    self.adopt(&before, ids.into_iter().zip(modes));
                    return self.project();
                }
                Some(Decision::Shock(impulse)) => {
                    self.shocks += 1;
                    ids = self.strike(&at, &impulse, &ids);
                }
                None => break,
            }
        }
        Err(StepCause::NoMotion { time: self.time(), contact: self.name(ids.first().copied()) })
    }

    fn instant(&mut self, ids: &[ContactId]) -> Result<Instant, StepCause> {
        let time = self.time();
        Instant::new(&mut self.eyes, &self.motion, time, ids, Depth::Accelerations).map_err(|trouble| match trouble {
            Trouble::Cause(cause) => cause,
            Trouble::Lost(id) => self.unresolved(id),
        })
    }

    /// The impact of all contacts that touch: u_n⁺ + ε u_n⁻ ≥ 0 ⊥ p_n ≥ 0 with friction. Returns those that stay closed.   [REF-10]
    fn collide(&mut self, ids: &[ContactId], before: &[(ContactId, Mode)]) -> Result<Vec<ContactId>, StepCause> {
        let at = self.instant(ids)?;
        let elastic = self.start.scheme.impact != Impact::Inelastic;
        let mut q = at.rate.clone();
        for (touch, block) in at.touches.iter().zip(&at.contacts) {
            let approach = at.rate[block.first];
            if elastic && approach < -self.settling_speed {
                q[block.first] += touch.restitution * approach;
            }
        }
        let Some(impulse) = self.impulses.solve(self.model(), &at, &q) else {
            return Err(StepCause::NoMotion { time: self.time(), contact: self.name(ids.first().copied()) });
        };
        self.hits += at.contacts.iter().filter(|block| impulse[block.first] > 0.0 && at.rate[block.first] < -RESTING).count();
        let staying = self.strike(&at, &impulse, ids);
        let time = self.time();
        for id in ids.iter().filter(|id| !staying.contains(id) && !before.iter().any(|(old, _)| old == *id)) {
            let both = [EventKind::Touch, EventKind::Separate];
            self.events.extend(both.map(|kind| Event { time, kind, contact: *id }));
        }
        Ok(staying)
    }

    /// v⁺ = v + M⁻¹ Jᵀ p; returns the contacts that do not part.
    fn strike(&mut self, at: &Instant, impulse: &nalgebra::DVector<f64>, ids: &[ContactId]) -> Vec<ContactId> {
        self.ledger.add(at, &loads(at, impulse));
        let change = &at.response * impulse;
        self.motion.v.iter_mut().zip(change.iter()).for_each(|(v, dv)| *v += dv);
        let after = &at.delassus * impulse + &at.rate;
        let stays = |contact: usize| at.normal_of(contact, &after) <= RESTING.max(1e-9 * at.rate.amax());
        ids.iter().enumerate().filter(|(contact, _)| stays(*contact)).map(|(_, id)| *id).collect()
    }

    /// Takes over new modes and reports what changed.
    fn adopt(&mut self, before: &[(ContactId, Mode)], after: impl Iterator<Item = (ContactId, Mode)>) {
        let time = self.time();
        self.closed = after.filter(|(_, mode)| *mode != Mode::Open).collect();
        for &(id, mode) in &self.closed {
            let kind = if mode == Mode::Stick { EventKind::Stick } else { EventKind::Slip };
            match before.iter().find(|(old, _)| *old == id) {
                None => self.events.extend([EventKind::Touch, kind].map(|kind| Event { time, kind, contact: id })),
                Some((_, old)) if (*old == Mode::Stick) != (mode == Mode::Stick) => {
                    self.events.push(Event { time, kind, contact: id });
                }
                Some(_) => {}
            }
        }
        for (id, _) in before {
            if !self.is_closed(*id) {
                self.events.push(Event { time, kind: EventKind::Separate, contact: *id });
            }
        }
    }

    /// A closed contact whose features parted: the next ones take over, or it is open.
    fn lose(&mut self, _: ContactId) -> Result<(), StepCause> {
        self.restarts += 1;
        if self.restarts > self.max_events {
            return Err(self.too_many(&[]));
        }
        self.restart()
    }

    fn name(&self, id: Option<ContactId>) -> String {
        let model = self.model();
        let owner = |shape: ShapeId| model.shape_owner(shape).and_then(|(body, _)| model.body(body));
        let bodies = id.and_then(|id| Some((owner(id.shape_a)?, owner(id.shape_b)?)));
        bodies.map_or_else(
            || "the joints".into(),
            |(a, b)| format!("the contact between \"{}\" and \"{}\"", a.name, b.name),
        )
    }

    fn unresolved(&self, id: ContactId) -> StepCause {
        StepCause::NoMotion { time: self.time(), contact: self.name(Some(id)) }
    }

    fn too_many(&self, over: &[Signal]) -> StepCause {
        let culprit = over.iter().find_map(|signal| match signal {
            Signal::Push(contact) | Signal::Cone(contact) | Signal::Slip(contact) => self.closed.get(*contact).map(|(id, _)| *id),
            Signal::Gap | Signal::Balance => None,
        });
        let culprit = culprit.or_else(|| self.events.last().map(|event| event.contact));
        StepCause::TooManyEvents { count: self.max_events, contact: self.name(culprit) }
    }
}

/// By how much the next piece may be longer: the error is of fifth order.
fn change_of_length(error: f64) -> f64 {
    if error == 0.0 { 5.0 } else { (0.9 * libm::pow(error, -0.2)).clamp(0.2, 5.0) }
}

/// Speed of the fastest point of all bodies, m/s.
fn fastest(model: &Model, at: &stiction_multibody::Configuration) -> f64 {
    let speed = |(id, body): (stiction_multibody::BodyId, &stiction_multibody::Body)| {
        let twist = at.twist(id);
        twist.linear.norm() + body.radius() * twist.angular.norm()
    };
    model.iter_bodies().map(speed).fold(0.0, f64::max)
}
