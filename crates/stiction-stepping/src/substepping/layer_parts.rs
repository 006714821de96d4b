//! Lengths of the parts of a step with compliant contact: cut at the first touch of a layer, and as short as its stiffness requires.   [SOFT-10]

use stiction_multibody::State;

use super::REMAINDER_FRACTION;
use crate::{
    Contact, ContactReport, Start, Workspace, layers::inverse_effective_mass, rates::linearised_start_gap,
    surface::unit_tangents,
};

/// Bound on the touches located in one step; further ones are not located.
const MAX_CUTS: u32 = 100;

/// Bound on the iterations that locate a touch; then its bracket is used.
const MAX_LOCATION_ITERATIONS: u32 = 100;

/// Accuracy of a located touch, as a fraction of `Scheme::touch_threshold`, the gap up to which a contact counts as touching.
const TOUCH_FRACTION: f64 = 0.5;

/// Lengths of the parts that layers require.
#[derive(Debug)]
pub(super) struct LayerParts {
    /// True if the scheme asks for such parts and there are layers.
    applies: bool,
    /// Longest part in contact found so far in this step.
    pub(super) limit: f64,
    /// Touches located so far.
    cuts: u32,
    search: Search,
}

/// Search for the length of a part.
#[derive(Clone, Copy, Debug)]
enum Search {
    /// Nothing is known yet.
    Begun,
    /// The part was shortened once by the limit.
    Shortened,
    /// A touch is being located.
    Locating(Bracket),
    /// The length is final: the part ends at a touch.
    Located,
}

/// Bracket of a touch: lengths before and after it, with the gaps there.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    low: (f64, f64),
    high: (f64, f64),
    /// End that moved last: 1 the lower, −1 the upper one.
    side: i8,
    iterations: u32,
}

/// Equal part of a length that does not exceed `limit`.
fn shortened(length: f64, limit: f64) -> f64 {
    if length > limit { length / (length / limit).ceil() } else { length }
}

impl Bracket {
    /// Next length to try, by the Illinois method on the gap; none if rounding, the shortest length or the bound on iterations ends the
    /// search.   [SOFT-10]
    fn next(&self, near: f64, shortest: f64) -> Option<f64> {
        let ((low, at_low), (high, at_high)) = (self.low, self.high);
        // The target is the middle of [0, near], the gaps at which a touch counts as located, so that the part ends on the open side.
        let aim = 0.5 * near;
        let estimate = (low * (at_high - aim) - high * (at_low - aim)) / (at_high - at_low);
        let length = if estimate > low && estimate < high { estimate } else { 0.5 * (low + high) };
        (self.iterations < MAX_LOCATION_ITERATIONS && length > low.max(shortest) && length < high).then_some(length)
    }

    /// Narrows the bracket by the gap at a length.
    fn narrow(&mut self, length: f64, gap: f64, near: f64) {
        let (aim, open) = (0.5 * near, gap > near);
        if open {
            self.low = (length, gap);
        } else {
            self.high = (length, gap);
        }
        // Illinois rule: the value at the end that stays is reduced.
        match (open, self.side) {
            (true, 1) => self.high.1 = 0.5 * (self.high.1 + aim),
            (false, -1) => self.low.1 = 0.5 * (self.low.1 + aim),
            _ => {}
        }
        self.side = if open { 1 } else { -1 };
        self.iterations += 1;
    }
}

impl LayerParts {
    pub(super) fn new(start: &Start) -> Self {
        let asked = start.scheme.substeps.locate_contacts || start.scheme.substeps.steps_per_period > 0;
        let applies = asked && start.model.has_layers();
        Self { applies, limit: f64::INFINITY, cuts: 0, search: Search::Begun }
    }

    /// First length to try of a remainder `available` from this state.
    pub(super) fn first_length(&self, available: f64, state: &State) -> f64 {
        if self.applies && is_compressed(state) { shortened(available, self.limit) } else { available }
    }

    /// Reviews a part of a remainder `available` that was solved: none accepts it, otherwise another length is to be tried.
    pub(super) fn review(&mut self, tried: &Start, available: f64, ws: &Workspace) -> Option<f64> {
        if !self.applies {
            return None;
        }
        let (length, scheme) = (tried.h, tried.scheme);
        let part = SolvedPart { start: tried, ws };
        let near = TOUCH_FRACTION * scheme.touch_threshold;
        let mut bracket = match self.search {
            Search::Located => return None,
            Search::Locating(bracket) => bracket,
            Search::Begun | Search::Shortened => {
                let gaps = part.surface_gaps(length).filter(|(_, closed)| *closed < 0.0);
                if scheme.substeps.locate_contacts
                    && self.cuts < MAX_CUTS
                    && let Some((open, closed)) = gaps
                {
                    let bracket = Bracket { low: (0.0, open), high: (length, closed), side: 0, iterations: 0 };
                    return Some(self.locate(bracket, available, near));
                }
                return self.shorten(&part, length);
            }
        };
        let gap = part.surface_gaps(length).map_or(bracket.low.1, |(_, end)| end);
        if (0.0..=near).contains(&gap) {
            self.search = Search::Located;
            return None;
        }
        bracket.narrow(length, gap, near);
        Some(self.locate(bracket, available, near))
    }

    /// Begins the search for the next part; a part that ended at a touch is counted.
    pub(super) fn begin_next(&mut self) {
        self.cuts += u32::from(matches!(self.search, Search::Located));
        self.search = Search::Begun;
    }

    /// Next length in the search for a touch.
    fn locate(&mut self, bracket: Bracket, available: f64, near: f64) -> f64 {
        if let Some(length) = bracket.next(near, REMAINDER_FRACTION * available) {
            self.search = Search::Locating(bracket);
            return length;
        }
        // If rounding prevents the gap from coming near enough, the part ends before the touch; its length must be positive.
        self.search = Search::Located;
        if bracket.low.0 > REMAINDER_FRACTION * available { bracket.low.0 } else { bracket.high.0 }
    }

    /// Shorter length that the limit requires; none if the part is short enough, or was shortened before.
    fn shorten(&mut self, part: &SolvedPart, length: f64) -> Option<f64> {
        if part.start.scheme.substeps.steps_per_period > 0 {
            self.limit = self.limit.min(part.longest_substep());
        }
        let shorter = if part.was_or_is_compressed() { shortened(length, self.limit) } else { length };
        if shorter >= length || matches!(self.search, Search::Shortened) {
            return None;
        }
        self.search = Search::Shortened;
        Some(shorter)
    }
}

/// True if a layer is compressed in this state.
fn is_compressed(state: &State) -> bool {
    state.contacts.iter().any(|memory| memory.layer.is_some() && memory.normal_impulse > 0.0)
}

/// Part of a step that was solved, with its result.
struct SolvedPart<'a> {
    start: &'a Start<'a>,
    ws: &'a Workspace,
}

impl SolvedPart<'_> {
    /// True if a layer is compressed at either end of the part.
    fn was_or_is_compressed(&self) -> bool {
        let pressed = |report: &ContactReport| report.layer.is_some() && report.normal_impulse > 0.0;
        is_compressed(self.start.state) || self.ws.result.contact_reports.iter().any(pressed)
    }

    /// Report of a contact.
    fn report_of(&self, contact: &Contact) -> Option<&ContactReport> {
        let reports = &self.ws.result.contact_reports;
        reports.get(reports.binary_search_by_key(&contact.id, |report| report.id).ok()?)
    }

    /// Smallest gap at the start among surfaces open there, and their smallest gap at the end.
    fn surface_gaps(&self, length: f64) -> Option<(f64, f64)> {
        let Start { model, state, scheme, .. } = *self.start;
        let near = TOUCH_FRACTION * scheme.touch_threshold;
        let mut found: Option<(f64, f64)> = None;
        for contact in &self.ws.constraints.contacts {
            let Some((layer, report)) = contact.layer.zip(self.report_of(contact)) else { continue };
            let place = state.contacts.binary_search_by_key(&contact.id, |memory| memory.id).ok();
            let memory = place.and_then(|place| state.contacts.get(place));
            // A layer that is pressed touches, whatever the curvature of the bodies adds to the linearised gap.
            if memory.is_some_and(|memory| memory.normal_impulse > 0.0) {
                continue;
            }
            let deflected = memory.and_then(|memory| memory.layer).map_or(0.0, |layer| layer.compression);
            let open =
                linearised_start_gap(model, contact, &self.ws.kinematics.linearisation_velocity, length) + deflected;
            if open <= near {
                continue;
            }
            let (elastic, damping) = (length * layer.stiffness.m11, layer.damping.m11);
            let end = report.gap + damping / (elastic + damping) * deflected;
            found = Some(found.map_or((open, end), |(a, b)| (a.min(open), b.min(end))));
        }
        found
    }

    /// Longest substep that the compressed layers allow: a fraction of the shorter of 2π √(m/K) and 2π m/C.   [SOFT-10]
    fn longest_substep(&self) -> f64 {
        let Start { model, scheme, .. } = *self.start;
        let fraction = std::f64::consts::TAU / f64::from(scheme.substeps.steps_per_period);
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

#[cfg(test)]
mod tests;
