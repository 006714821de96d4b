//! Substeps for compliant contact: cut at the first touch of a layer, and as short as its stiffness requires.   [SOFT-10]
//!
//! The result is that of one step: impulses are those of the whole, and the report contains the number of substeps.

mod halving;

pub use halving::Halving;

use stiction_multibody::State;

use halving::{FirstHalf, joined};

use crate::{
    Contact, ContactReport, Start, StepCause, StepReport, Stepper, Workspace, layers::inverse_effective_mass,
    rates::gap_now, surface::unit_tangents,
};

/// Bound on the substeps of one step.
const MAX_SUBSTEPS: u32 = 10_000;

/// Bound on the touches located in one step; further ones are not located.
const MAX_CUTS: u32 = 100;

/// Bound on the iterations that locate a touch; then its bracket is used.
const MAX_LOCATION_ITERATIONS: u32 = 100;

/// Accuracy of a located touch, as a fraction of the touch threshold.
const TOUCH_FRACTION: f64 = 0.5;

/// Fraction of a step below which its remainder is rounding.
const REMAINDER_FRACTION: f64 = 1e-12;

/// Makes the steps of any stepper, with substeps if `Scheme::locate_contacts` or `Scheme::steps_per_period` require them.
///
/// A substep that is not solved is halved.
#[derive(Debug, Default)]
pub struct Substepping {
    halving: Halving,
    /// State at the start of the next substep.
    from: State,
    /// Results of the previous substeps, joined.
    before: FirstHalf,
}

impl Substepping {
    /// Makes a step, whole or in substeps, or returns the cause of failure; the state in `start` is not modified.
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
        for _ in 0..MAX_SUBSTEPS {
            let Self { halving, from, .. } = self;
            let substep = Start { state: from, h: left, ..*start };
            let mut maker = SubstepMaker { halving, stepper, start: &substep, ws };
            let Substep { length, report, is_cut } =
                maker.make(&mut limit, scheme.locate_contacts && cuts < MAX_CUTS)?;
            left -= length;
            cuts += u32::from(is_cut);
            if left > limit * f64::from(MAX_SUBSTEPS) {
                break;
            }
            self.from.copy_from(&ws.result.next);
            whole = Some(match whole {
                None => report,
                Some(earlier) => {
                    self.before.merge(start.model, ws);
                    StepReport { layer_substeps: earlier.layer_substeps + 1, ..joined(&earlier, report) }
                }
            });
            self.before.keep(start.model, ws);
            if left <= REMAINDER_FRACTION * start.h {
                return Ok(finish(start, ws, whole.unwrap_or(report)));
            }
        }
        Err(StepCause::TooManySubsteps { most: MAX_SUBSTEPS, shortest: limit })
    }
}

/// Sets the exact step number and time of a whole step.
fn finish(start: &Start, ws: &mut Workspace, report: StepReport) -> StepReport {
    ws.result.next.step = start.state.step + 1;
    (ws.result.next.time, ws.result.next.time_carry) = start.state.time_after(start.h);
    ws.result.end.update(start.model, &ws.result.next.q, &ws.result.next.v, ws.result.next.time);
    StepReport { step: ws.result.next.step, time: ws.result.next.time, ..report }
}

/// Completed substep.
struct Substep {
    length: f64,
    report: StepReport,
    /// True if it ends at a touch.
    is_cut: bool,
}

/// Equal part of a length that does not exceed `limit`.
fn shortened(length: f64, limit: f64) -> f64 {
    if length > limit { length / (length / limit).ceil() } else { length }
}

/// Makes one substep from a state.
struct SubstepMaker<'a, 's> {
    halving: &'a mut Halving,
    stepper: &'a mut dyn Stepper,
    start: &'a Start<'s>,
    ws: &'a mut Workspace,
}

impl SubstepMaker<'_, '_> {
    fn attempt(&mut self, length: f64) -> Result<StepReport, StepCause> {
        self.halving.step(self.stepper, &Start { h: length, ..*self.start }, self.ws)
    }

    /// Makes the next substep. `limit` is the longest substep in contact found so far in this step.
    fn make(&mut self, limit: &mut f64, may_cut: bool) -> Result<Substep, StepCause> {
        let mut length = if self.is_compressed() { shortened(self.start.h, *limit) } else { self.start.h };
        let mut is_shortened = false;
        loop {
            let report = self.attempt(length)?;
            if may_cut && let Some(gaps) = self.bracket(length) {
                return self.locate(length, gaps);
            }
            if self.start.scheme.steps_per_period > 0 {
                *limit = limit.min(self.longest_substep());
            }
            let shorter = if self.was_or_is_compressed() { shortened(length, *limit) } else { length };
            if shorter >= length || is_shortened {
                return Ok(Substep { length, report, is_cut: false });
            }
            (length, is_shortened) = (shorter, true);
        }
    }

    /// True if a layer is compressed at the start of the substep.
    fn is_compressed(&self) -> bool {
        self.start.state.contacts.iter().any(|memory| memory.layer.is_some() && memory.normal_impulse > 0.0)
    }

    /// True if a layer is compressed at either end of the substep.
    fn was_or_is_compressed(&self) -> bool {
        let pressed = |report: &ContactReport| report.layer.is_some() && report.normal_impulse > 0.0;
        self.is_compressed() || self.ws.result.contact_reports.iter().any(pressed)
    }

    /// Report of a contact; a halved step reports more contacts than it ends with.
    fn report_of(&self, contact: &Contact) -> Option<&ContactReport> {
        let reports = &self.ws.result.contact_reports;
        reports.get(reports.binary_search_by_key(&contact.id, |report| report.id).ok()?)
    }

    /// Smallest gaps of surfaces that are open at the start of the substep, there and at its end, if one closes.
    fn bracket(&self, length: f64) -> Option<(f64, f64)> {
        let (open, closed) = self.surface_gaps(length)?;
        (closed < 0.0).then_some((open, closed))
    }

    /// Smallest gap at the start among surfaces open there, and their smallest gap at the end.
    fn surface_gaps(&self, length: f64) -> Option<(f64, f64)> {
        let Start { model, state, scheme, .. } = *self.start;
        let near = TOUCH_FRACTION * scheme.touch_threshold;
        let mut found: Option<(f64, f64)> = None;
        for contact in &self.ws.constraints.contacts {
            let Some((layer, report)) = contact.layer.zip(self.report_of(contact)) else { continue };
            let place = state.contacts.binary_search_by_key(&contact.id, |memory| memory.id).ok();
            let memory = place.and_then(|place| state.contacts.get(place)).and_then(|memory| memory.layer);
            let deflected = memory.map_or(0.0, |memory| memory.compression);
            let open = gap_now(model, contact, &self.ws.kinematics.linearisation_velocity, length) + deflected;
            if open <= near {
                continue;
            }
            let (elastic, damping) = (length * layer.stiffness.m11, layer.damping.m11);
            let end = report.gap + damping / (elastic + damping) * deflected;
            found = Some(found.map_or((open, end), |(a, b)| (a.min(open), b.min(end))));
        }
        found
    }

    /// Makes the substep that ends at the first touch of a surface, by the Illinois method on its gap.   [SOFT-10]
    fn locate(&mut self, length: f64, (open, closed): (f64, f64)) -> Result<Substep, StepCause> {
        let near = TOUCH_FRACTION * self.start.scheme.touch_threshold;
        let ((mut low, mut at_low), (mut high, mut at_high)) = ((0.0, open), (length, closed));
        let mut side = 0_i8;
        for _ in 0..MAX_LOCATION_ITERATIONS {
            // The target is the middle of the touch interval, so that the substep ends on the open side.
            let aim = 0.5 * near;
            let estimate = (low * (at_high - aim) - high * (at_low - aim)) / (at_high - at_low);
            let length = if estimate > low && estimate < high { estimate } else { 0.5 * (low + high) };
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
            // Illinois rule: the value at the end that stays is reduced.
            match (open_side, side) {
                (true, 1) => at_high = 0.5 * (at_high + aim),
                (false, -1) => at_low = 0.5 * (at_low + aim),
                _ => {}
            }
            side = if open_side { 1 } else { -1 };
        }
        // If rounding prevents the gap from coming near enough, the substep ends before the touch; its length must be positive.
        let length = if low > REMAINDER_FRACTION * self.start.h { low } else { length };
        self.attempt(length).map(|report| Substep { length, report, is_cut: true })
    }

    /// Longest substep that the compressed layers allow: a fraction of the shorter of 2π √(m/K) and 2π m/C.   [SOFT-10]
    fn longest_substep(&self) -> f64 {
        let Start { model, scheme, .. } = *self.start;
        let fraction = std::f64::consts::TAU / f64::from(scheme.steps_per_period);
        let mut longest_substep = f64::INFINITY;
        for contact in &self.ws.constraints.contacts {
            let Some((layer, report)) = contact.layer.zip(self.report_of(contact)) else { continue };
            if report.normal_impulse <= 0.0 {
                continue;
            }
            let [t, o] = unit_tangents(contact);
            for (k, d) in [contact.normal, t, o].iter().enumerate() {
                let inverse_mass = inverse_effective_mass(model, self.ws, contact, contact.row(d));
                let rate = (layer.stiffness[(k, k)] * inverse_mass).sqrt().max(layer.damping[(k, k)] * inverse_mass);
                longest_substep = longest_substep.min(fraction / rate);
            }
        }
        longest_substep
    }
}
