//! Steps in pieces where compliant contact asks for it: cut where a layer is touched first, and as short as its stiffness wants.   [SOFT-10]
//!
//! For everybody outside it is one step: impulses are those of the whole, and the report tells how many pieces there were.

use stiction_multibody::State;

use super::{lightness, unit_tangents};
use crate::{
    Contact, ContactReport, Halving, Start, StepCause, StepReport, Stepper, Workspace,
    halving::{FirstHalf, joined},
    rows::gap_now,
};

/// Pieces of one step at most.
const MOST_PIECES: u32 = 10_000;

/// Touches that are located in one step at most: what trembles more is not followed touch by touch.
const MOST_CUTS: u32 = 100;

/// Tries after which the moment of touch is taken as it is bracketed.
const TRIES: u32 = 100;

/// Of the threshold of touching, how near a located touch comes.
const NEAR: f64 = 0.5;

/// What is left of a step that is this share of it is rounding.
const ROUNDING: f64 = 1e-12;

/// Makes the steps of any stepper: in pieces where `Scheme::locate_contacts` and `Scheme::steps_per_period` ask for it, and each of
/// these in halves where it was not solved.
#[derive(Debug, Default)]
pub struct Substepping {
    halving: Halving,
    /// Where the next piece starts.
    from: State,
    /// The pieces before it, as one.
    before: FirstHalf,
}

impl Substepping {
    /// Makes a step, whole or in pieces, or says why not; the state in `start` is never touched.
    pub fn step(
        &mut self,
        stepper: &mut dyn Stepper,
        start: &Start,
        ws: &mut Workspace,
    ) -> Result<StepReport, StepCause> {
        let scheme = start.scheme;
        if !(scheme.locate_contacts || scheme.steps_per_period > 0) || !start.model.has_layers() {
            return self.halving.step(stepper, start, ws);
        }
        self.from.copy_from(start.state);
        let (mut left, mut limit, mut cuts) = (start.h, f64::INFINITY, 0);
        let mut whole: Option<StepReport> = None;
        for _ in 0..MOST_PIECES {
            let Self { halving, from, .. } = self;
            let substep = Start { state: from, h: left, ..*start };
            let mut maker = Maker { halving, stepper, start: &substep, ws };
            let Substep { length, report, is_cut } =
                maker.make(&mut limit, scheme.locate_contacts && cuts < MOST_CUTS)?;
            left -= length;
            cuts += u32::from(is_cut);
            if left > limit * f64::from(MOST_PIECES) {
                break;
            }
            self.from.copy_from(&ws.next);
            whole = Some(match whole {
                None => report,
                Some(earlier) => {
                    self.before.merge(start.model, ws);
                    StepReport { layer_substeps: earlier.layer_substeps + 1, ..joined(&earlier, report) }
                }
            });
            self.before.keep(start.model, ws);
            if left <= ROUNDING * start.h {
                return Ok(finish(start, ws, whole.unwrap_or(report)));
            }
        }
        Err(StepCause::TooManySubsteps { most: MOST_PIECES, shortest: limit })
    }
}

/// The very step and time a whole one would have ended at.
fn finish(start: &Start, ws: &mut Workspace, report: StepReport) -> StepReport {
    ws.next.step = start.state.step + 1;
    (ws.next.time, ws.next.time_carry) = start.state.time_after(start.h);
    ws.end.update(start.model, &ws.next.q, &ws.next.v, ws.next.time);
    StepReport { step: ws.next.step, time: ws.next.time, ..report }
}

/// A piece that was made.
struct Substep {
    length: f64,
    report: StepReport,
    /// Whether it ends where a surface is met.
    is_cut: bool,
}

/// An equal part of a length that is no longer than `limit`.
fn shortened(length: f64, limit: f64) -> f64 {
    if length > limit { length / (length / limit).ceil() } else { length }
}

/// Makes one piece from a state.
struct Maker<'a, 's> {
    halving: &'a mut Halving,
    stepper: &'a mut dyn Stepper,
    start: &'a Start<'s>,
    ws: &'a mut Workspace,
}

impl Maker<'_, '_> {
    fn attempt(&mut self, length: f64) -> Result<StepReport, StepCause> {
        self.halving.step(self.stepper, &Start { h: length, ..*self.start }, self.ws)
    }

    /// The next piece. `limit` is the longest piece in contact, as far as it is known in this step.
    fn make(&mut self, limit: &mut f64, may_cut: bool) -> Result<Substep, StepCause> {
        let mut length = if self.is_pressed() { shortened(self.start.h, *limit) } else { self.start.h };
        let mut is_shortened = false;
        loop {
            let report = self.attempt(length)?;
            if may_cut && let Some(gaps) = self.bracket(length) {
                return self.locate(length, gaps);
            }
            if self.start.scheme.steps_per_period > 0 {
                *limit = limit.min(self.longest());
            }
            let shorter = if self.was_or_is_pressed() { shortened(length, *limit) } else { length };
            if shorter >= length || is_shortened {
                return Ok(Substep { length, report, is_cut: false });
            }
            (length, is_shortened) = (shorter, true);
        }
    }

    /// Whether a layer is pressed where the piece starts.
    fn is_pressed(&self) -> bool {
        self.start.state.contacts.iter().any(|memory| memory.layer.is_some() && memory.normal_impulse > 0.0)
    }

    /// Whether a layer is pressed at either end of the piece.
    fn was_or_is_pressed(&self) -> bool {
        let pressed = |report: &ContactReport| report.layer.is_some() && report.normal_impulse > 0.0;
        self.is_pressed() || self.ws.contact_reports.iter().any(pressed)
    }

    /// What is told of a contact; a step in halves tells of more contacts than it ends with.
    fn report_of(&self, contact: &Contact) -> Option<&ContactReport> {
        let reports = &self.ws.contact_reports;
        reports.get(reports.binary_search_by_key(&contact.id, |report| report.id).ok()?)
    }

    /// The smallest gaps of surfaces that are open where the piece starts, there and at its end, if one closes.
    fn bracket(&self, length: f64) -> Option<(f64, f64)> {
        let (open, closed) = self.surface_gaps(length)?;
        (closed < 0.0).then_some((open, closed))
    }

    /// The smallest gap at the end among surfaces that are open where the piece starts, and the smallest gap there.
    fn surface_gaps(&self, length: f64) -> Option<(f64, f64)> {
        let Start { model, state, scheme, .. } = *self.start;
        let near = NEAR * scheme.touch_threshold;
        let mut found: Option<(f64, f64)> = None;
        for contact in &self.ws.contacts {
            let Some((layer, report)) = contact.layer.zip(self.report_of(contact)) else { continue };
            let place = state.contacts.binary_search_by_key(&contact.id, |memory| memory.id).ok();
            let memory = place.and_then(|place| state.contacts.get(place)).and_then(|memory| memory.layer);
            let deflected = memory.map_or(0.0, |memory| memory.compression);
            let open = gap_now(model, contact, &self.ws.linearisation_velocity, length) + deflected;
            if open <= near {
                continue;
            }
            let (elastic, damping) = (length * layer.stiffness.m11, layer.damping.m11);
            let end = report.gap + damping / (elastic + damping) * deflected;
            found = Some(found.map_or((open, end), |(a, b)| (a.min(open), b.min(end))));
        }
        found
    }

    /// Makes the piece that ends where a surface closes first, by the Illinois method on its gap.   [SOFT-10]
    fn locate(&mut self, length: f64, (open, closed): (f64, f64)) -> Result<Substep, StepCause> {
        let near = NEAR * self.start.scheme.touch_threshold;
        let ((mut low, mut at_low), (mut high, mut at_high)) = ((0.0, open), (length, closed));
        let mut side = 0_i8;
        for _ in 0..TRIES {
            // Aimed at the middle of what counts as touching, so that the end of the piece is on the open side.
            let aim = 0.5 * near;
            let guess = (low * (at_high - aim) - high * (at_low - aim)) / (at_high - at_low);
            let length = if guess > low && guess < high { guess } else { 0.5 * (low + high) };
            if length <= low || length >= high {
                break;
            }
            let report = self.attempt(length)?;
            let gap = self.surface_gaps(length).map_or(at_low, |(_, end)| end);
            if (0.0..=near).contains(&gap) {
                return Ok(Substep { length, report, is_cut: true });
            }
            let open_side = gap > near;
            if open_side {
                (low, at_low) = (length, gap);
            } else {
                (high, at_high) = (length, gap);
            }
            // The end that stays is given less weight.
            match (open_side, side) {
                (true, 1) => at_high = 0.5 * (at_high + aim),
                (false, -1) => at_low = 0.5 * (at_low + aim),
                _ => {}
            }
            side = if open_side { 1 } else { -1 };
        }
        // Where rounding does not let the gap come near enough, the piece ends before it; one without length is no piece.
        let length = if low > ROUNDING * self.start.h { low } else { length };
        self.attempt(length).map(|report| Substep { length, report, is_cut: true })
    }

    /// The longest piece that the pressed layers allow: a share of the shorter of 2π √(m/K) and 2π m/C.   [SOFT-10]
    fn longest(&self) -> f64 {
        let Start { model, scheme, .. } = *self.start;
        let share = std::f64::consts::TAU / f64::from(scheme.steps_per_period);
        let mut longest = f64::INFINITY;
        for contact in &self.ws.contacts {
            let Some((layer, report)) = contact.layer.zip(self.report_of(contact)) else { continue };
            if report.normal_impulse <= 0.0 {
                continue;
            }
            let [t, o] = unit_tangents(contact);
            for (k, d) in [contact.normal, t, o].iter().enumerate() {
                let light = lightness(model, self.ws, contact, contact.row(d));
                let rate = (layer.stiffness[(k, k)] * light).sqrt().max(layer.damping[(k, k)] * light);
                longest = longest.min(share / rate);
            }
        }
        longest
    }
}
