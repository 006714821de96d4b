//! Integration from event to event: integrate, detect, restart.

use stiction_multibody::{ContactId, ContactMode, Model};

use super::{
    ReferenceStepper,
    balance::{Balance, Mode, balance},
    events::{Bracket, Signal, Signals, contact_signals, is_over, least},
    friction::Impulses,
    geometry::{ContactFinder, Touch},
    instant::{Instant, InstantError, Level},
    ledger::{Ledger, loads},
    modes::consistent,
    motion::Motion,
    projection::project,
    reduction::Chart,
    runge_kutta::{Sample, Trial, attempt},
};
use stiction_stepping::{Event, Stabilisation, Start, StepCause};

/// Accuracy to which the time of an event is located, s.
const TIME_RESOLUTION: f64 = 1e-13;

/// Shortest substep, s.
const SHORTEST: f64 = 1e-11;

/// Largest number of substeps tried in one step, including those that were too long: a step that needs more would not end in a day.
const MAX_TRIALS: u32 = 4000;

/// Time after the end of features at which the next ones are detected, s.
const BEYOND: f64 = 4.0 * SHORTEST;

/// Distance beyond the reach of the bodies within which contacts are detected, m.
const NEAR_MARGIN: f64 = 1e-3;

/// Largest displacement within a substep, as a fraction of the smallest shape. It prevents that bodies pass each other undetected.
const MAX_TRAVEL: f64 = 0.5;

/// Evaluation at the end of a substep.
type Kept = (Instant, Balance);

/// Substep with the signals at its end.
struct Substep {
    trial: Trial<Kept>,
    length: f64,
    signals: Signals,
}

/// Step in progress.
pub(super) struct Run<'a> {
    pub(super) finder: ContactFinder<'a>,
    pub(super) start: &'a Start<'a>,
    tolerance: f64,
    pub(super) settling_speed: f64,
    pub(super) max_events: u32,
    pub(super) impulses: Impulses,
    pub(super) motion: Motion,
    /// Time since the start of the step, s.
    elapsed: f64,
    pub(super) closed: Vec<(ContactId, Mode)>,
    pub(super) ledger: Ledger,
    pub(super) events: Vec<Event>,
    pub(super) hits: usize,
    pub(super) shocks: usize,
    pub(super) substeps: u32,
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
            finder: ContactFinder::new(start.model, stepper.detector.as_mut()),
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
            substeps: 0,
            restarts: 0,
            largest: start.model.dof(),
        }
    }

    pub(super) fn model(&self) -> &'a Model {
        self.start.model
    }

    pub(super) fn time(&self) -> f64 {
        self.start.state.time + self.elapsed
    }

    pub(super) fn ids(&self) -> Vec<ContactId> {
        self.closed.iter().map(|(id, _)| *id).collect()
    }

    pub(super) fn modes(&self) -> Vec<Mode> {
        self.closed.iter().map(|(_, mode)| *mode).collect()
    }

    /// Makes the whole step.
    pub(super) fn integrate(&mut self) -> Result<(), StepCause> {
        let h = self.start.h;
        self.restart()?;
        let (mut next_length, mut redetect, mut trials) = (h, false, 0);
        while self.elapsed < h {
            StepCause::if_interrupted()?;
            trials += 1;
            if trials > MAX_TRIALS {
                return Err(self.too_many(MAX_TRIALS, None));
            }
            let left = h - self.elapsed;
            let length = next_length.min(self.longest_substep()).min(left);
            let trial = match self.attempt(length) {
                Ok(trial) => trial,
                Err(InstantError::Cause(cause)) => return Err(cause),
                Err(InstantError::Lost(_) | InstantError::OutOfChart) if length > SHORTEST => {
                    next_length = 0.5 * length;
                    continue;
                }
                Err(InstantError::OutOfChart) => return Err(self.no_motion(None)),
                Err(InstantError::Lost(id)) => {
                    self.handle_lost(id)?;
                    next_length = BEYOND;
                    redetect = true;
                    continue;
                }
            };
            if trial.error > 1.0 && length > SHORTEST {
                next_length = length * change_of_length(trial.error);
                continue;
            }
            next_length = length * change_of_length(trial.error);
            let signals = self.signals(&trial, length)?;
            if signals.iter().any(is_over) {
                let Some(substep) = self.locate(trial, length, signals)? else {
                    next_length = SHORTEST;
                    continue;
                };
                self.accept(substep.trial, substep.length)?;
                self.handle(&substep.signals)?;
                next_length = h;
            } else {
                self.accept(trial, length)?;
                if std::mem::take(&mut redetect) {
                    self.restart()?;
                }
            }
        }
        Ok(())
    }

    /// Longest substep in which no body passes another undetected, s.
    fn longest_substep(&self) -> f64 {
        let model = self.model();
        let at = self.motion.configuration(model, self.time());
        let radii = model.shapes().filter_map(|(_, _, shape)| shape.shape.radius_bound()).filter(|&r| r > 0.0);
        let smallest = radii.fold(f64::INFINITY, f64::min);
        let fastest = fastest(model, &at);
        if fastest > 0.0 { MAX_TRAVEL * smallest / fastest } else { f64::INFINITY }
    }

    fn attempt(&mut self, length: f64) -> Result<Trial<Kept>, InstantError> {
        let (ids, modes) = (self.ids(), self.modes());
        let (model, time) = (self.model(), self.time());
        let (by, finder) = (self.stabilisation(), &mut self.finder);
        self.substeps += 1;
        let chart = (by == Stabilisation::Reduction).then(|| Chart::new(finder, &self.motion, time)).transpose()?;
        attempt(&self.motion, time, length, self.tolerance, |motion, time| {
            motion.normalise(model);
            if let Some(chart) = &chart {
                chart.restore(finder, motion, time)?;
            }
            let at = Instant::new(finder, motion, time, &ids, Level::Accelerations)?.stabilised(by);
            let forces = balance(&at, &modes);
            let mut acceleration: Vec<f64> = forces.acceleration.iter().copied().collect();
            let rate = match at.stabilising_rates(&modes, by) {
                None => motion.rate(model, acceleration),
                Some([positions, velocities]) => {
                    let v = motion.v.iter().zip(positions.iter()).map(|(v, dv)| v + dv).collect();
                    acceleration.iter_mut().zip(velocities.iter()).for_each(|(a, da)| *a += da);
                    Motion { q: motion.q.clone(), v }.rate(model, acceleration)
                }
            };
            Ok(Sample { rate, loads: loads(&at, &forces.force), kept: (at, forces) })
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

    pub(super) fn is_closed(&self, id: ContactId) -> bool {
        self.closed.iter().any(|(closed, _)| *closed == id)
    }

    /// Contacts that may close soon.
    pub(super) fn near(&mut self, motion: &Motion, time: f64) -> Result<Vec<Touch>, StepCause> {
        let at = motion.configuration(self.model(), time);
        let margin = NEAR_MARGIN + 2.0 * self.start.h * fastest(self.model(), &at);
        let pairs = self.finder.pairs(&at, 2.0 * margin);
        self.finder.touches(&at, time, &pairs, margin)
    }

    /// Substep up to the first event within a trial, and the signals just after it. If a contact is lost there, the substep ends just
    /// before; none if it is lost at once.   [REF-9]
    fn locate(&mut self, trial: Trial<Kept>, length: f64, signals: Signals) -> Result<Option<Substep>, StepCause> {
        let mut bracket = Bracket::new(length, least(&signals));
        let (mut low, mut high) = (None, Some(Substep { trial, length, signals }));
        while bracket.width() > TIME_RESOLUTION {
            let length = bracket.next();
            let trial = match self.attempt(length) {
                Ok(trial) => trial,
                Err(InstantError::Cause(cause)) => return Err(cause),
                Err(InstantError::Lost(_) | InstantError::OutOfChart) => {
                    bracket.narrow(length, -1.0);
                    high = None;
                    continue;
                }
            };
            let signals = self.signals(&trial, length)?;
            let (over, value) = (signals.iter().any(is_over), least(&signals));
            bracket.narrow(length, if over { value } else { value.abs().max(f64::MIN_POSITIVE) });
            *(if over { &mut high } else { &mut low }) = Some(Substep { trial, length, signals });
        }
        Ok(high.or(low))
    }

    /// Moves to the end of a substep, and removes drift.
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

    pub(super) fn project(&mut self) -> Result<(), StepCause> {
        let (time, by) = (self.time(), self.stabilisation());
        match project(&mut self.finder, &mut self.motion, time, &self.closed, by) {
            Err(InstantError::Cause(cause)) => Err(cause),
            // A lost contact is detected again at the start of the next substep, and handled there.
            Ok(()) | Err(InstantError::Lost(_) | InstantError::OutOfChart) => Ok(()),
        }
    }

    pub(super) fn stabilisation(&self) -> Stabilisation {
        self.start.scheme.stabilisation
    }
}

/// Factor of the length of the next substep: the error is of fifth order.
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
