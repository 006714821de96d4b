//! Response to an event: impacts, shocks, and new modes for the remaining contacts.

use nalgebra::DVector;
use stiction_multibody::{ContactId, ShapeId};

use super::{
    balance::{Mode, balance, norm},
    events::{Signal, Signals, is_over},
    geometry::Touch,
    instant::{Instant, InstantError, Level},
    ledger::loads,
    modes::{Decision, SHOCK_TIME, consistent, decide},
    run::Run,
};
use stiction_stepping::{Event, EventKind, Impact, StepCause};

/// Gap up to which a contact is closed, m: the error of the location of a touch.
const CLOSED_GAP: f64 = 1e-10;

/// Normal speed below which surfaces are at rest, m/s, or as a fraction of the speeds before an impact if that is more.
const REST_SPEED: f64 = 1e-10;

/// Multiple of the settling speed up to which impacts do not open other contacts.
const GRAZING: f64 = 10.0;

impl Run<'_> {
    /// Responds to the signals whose conditions ended.
    pub(super) fn handle(&mut self, signals: &Signals) -> Result<(), StepCause> {
        let over: Vec<_> = signals.iter().filter(|signal| is_over(signal)).map(|(signal, _)| *signal).collect();
        let first = over.iter().find_map(|signal| match signal {
            Signal::Push(contact) | Signal::Cone(contact) | Signal::Slip(contact) => self.closed.get(*contact),
            Signal::Gap | Signal::Balance => None,
        });
        self.count_event(first.map(|(id, _)| *id))?;
        let simple = over.iter().all(|signal| matches!(signal, Signal::Push(_) | Signal::Cone(_)));
        if simple && self.release(&over)? { Ok(()) } else { self.restart() }
    }

    /// Opens contacts that stopped pushing, and lets those at the edge of their cone slip; false if that is not consistent.
    fn release(&mut self, over: &[Signal]) -> Result<bool, StepCause> {
        let before = self.closed.clone();
        let ids = self.ids();
        let time = self.time();
        let at = match Instant::new(&mut self.finder, &self.motion, time, &ids, Level::Accelerations) {
            Ok(at) => at.stabilised(self.stabilisation()),
            Err(InstantError::Cause(cause)) => return Err(cause),
            Err(InstantError::Lost(_) | InstantError::OutOfChart) => return Ok(false),
        };
        let mut modes = self.modes();
        let forces = balance(&at, &modes);
        for signal in over {
            let mode = match *signal {
                Signal::Push(contact) => (contact, Mode::Open),
                Signal::Cone(contact) => {
                    let friction = at.friction_of(contact, &forces.force);
                    let size = norm(friction);
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
        self.set_modes(&before, ids.into_iter().zip(modes));
        Ok(true)
    }

    /// Determines closed contacts, impacts and modes from the state alone.
    pub(super) fn restart(&mut self) -> Result<(), StepCause> {
        self.restart_without(None)
    }

    fn restart_without(&mut self, lost: Option<ContactId>) -> Result<(), StepCause> {
        let before = self.closed.clone();
        let motion = self.motion.clone();
        let near = self.near(&motion, self.time())?;
        let touching =
            |touch: &&Touch| Some(touch.id) != lost && touch.gap <= CLOSED_GAP && touch.opening() <= REST_SPEED;
        let mut ids: Vec<_> = near.iter().filter(touching).map(|touch| touch.id).collect();
        if near.iter().filter(touching).any(|touch| touch.opening() < -REST_SPEED) {
            ids = self.collide(&ids, &before)?;
        }
        // A shock may cause another one, at most once for every contact that can stop.
        for _ in 0..=ids.len() {
            let at = self.instant(&ids)?;
            match decide(self.model(), &at, &mut self.impulses) {
                Some(Decision::Modes(modes)) => {
                    self.set_modes(&before, ids.into_iter().zip(modes));
                    return self.project();
                }
                Some(Decision::Shock(impulse)) => {
                    self.shocks += 1;
                    ids = self.apply_impulse(&at, &impulse, &ids, 10.0 * SHOCK_TIME * (1.0 + at.free_rate.amax()))?;
                }
                None => break,
            }
        }
        Err(self.no_motion(ids.first().copied()))
    }

    fn instant(&mut self, ids: &[ContactId]) -> Result<Instant, StepCause> {
        let time = self.time();
        match Instant::new(&mut self.finder, &self.motion, time, ids, Level::Accelerations) {
            Ok(at) => Ok(at.stabilised(self.stabilisation())),
            Err(InstantError::Cause(cause)) => Err(cause),
            Err(InstantError::Lost(id)) => Err(self.no_motion(Some(id))),
            Err(InstantError::OutOfChart) => Err(self.no_motion(None)),
        }
    }

    /// Solves the impact of all contacts that touch: u_n⁺ + ε u_n⁻ ≥ 0 ⊥ p_n ≥ 0 with friction. Returns those that stay closed.   [REF-10]
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
            return Err(self.no_motion(ids.first().copied()));
        };
        self.hits +=
            at.contacts.iter().filter(|block| impulse[block.first] > 0.0 && at.rate[block.first] < -REST_SPEED).count();
        let staying = self.apply_impulse(&at, &impulse, ids, REST_SPEED * at.rate.amax().max(1.0))?;
        let time = self.time();
        for id in ids.iter().filter(|id| !staying.contains(id) && !before.iter().any(|(old, _)| old == *id)) {
            let both = [EventKind::Touch, EventKind::Separate];
            self.events.extend(both.map(|kind| Event { time, kind, contact: *id }));
        }
        Ok(staying)
    }

    /// Applies v⁺ = v + M⁻¹ Jᵀ p and returns the contacts that do not separate. Velocities below `slack` are set to zero.
    fn apply_impulse(
        &mut self,
        at: &Instant,
        impulse: &DVector<f64>,
        ids: &[ContactId],
        slack: f64,
    ) -> Result<Vec<ContactId>, StepCause> {
        self.ledger.add(at, &loads(at, impulse));
        let change = &at.response * impulse;
        self.motion.v.iter_mut().zip(change.iter()).for_each(|(v, dv)| *v += dv);
        let after = &at.delassus * impulse + &at.rate;
        let still = |contact: usize| norm(at.friction_of(contact, &after)) <= slack;
        let mode = |contact: usize| if still(contact) { Mode::Stick } else { Mode::Slip([0.0; 3]) };
        // A contact that a very slow impact opens elsewhere closes again at once, and would open the first one. Both stay closed.
        let approach = -(0..ids.len()).map(|contact| at.normal_of(contact, &at.rate)).fold(0.0, f64::min);
        let lifted = |contact: usize| {
            approach <= GRAZING * self.settling_speed
                && at.normal_of(contact, &at.rate) >= -REST_SPEED
                && at.normal_of(contact, &after) <= approach
        };
        let stays = |contact: usize| at.normal_of(contact, &after) <= slack || lifted(contact);
        let staying = ids.iter().enumerate().filter(|(contact, _)| stays(*contact));
        self.closed = staying.map(|(contact, &id)| (id, mode(contact))).collect();
        self.project()?;
        Ok(self.ids())
    }

    /// Sets new modes and reports the changes.
    fn set_modes(&mut self, before: &[(ContactId, Mode)], after: impl Iterator<Item = (ContactId, Mode)>) {
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

    /// Opens a closed contact whose features separated. The next features are detected just after this time.
    pub(super) fn handle_lost(&mut self, id: ContactId) -> Result<(), StepCause> {
        self.count_event(Some(id))?;
        self.restart_without(Some(id))
    }

    /// Counts an event, and fails if there are more than allowed.
    fn count_event(&mut self, contact: Option<ContactId>) -> Result<(), StepCause> {
        self.restarts += 1;
        if self.restarts <= self.max_events {
            return Ok(());
        }
        Err(self.too_many(self.max_events, contact))
    }

    pub(super) fn too_many(&self, count: u32, contact: Option<ContactId>) -> StepCause {
        let contact = contact.or_else(|| self.events.last().map(|event| event.contact));
        StepCause::TooManyEvents { count, contact: self.name(contact) }
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

    pub(super) fn no_motion(&self, id: Option<ContactId>) -> StepCause {
        StepCause::NoMotion { time: self.time(), contact: self.name(id) }
    }
}
