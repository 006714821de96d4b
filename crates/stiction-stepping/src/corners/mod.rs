//! Corners that stick out: a vertex in front of one has to stay outside *one* of the two faces, and the step chooses which.
//!
//! Contacts of one chain are alternatives: max ψ_i ≥ 0 at the end of the step, and only a face with ψ_i = max ψ = 0 pushes.   [CORNER-1]
//! Asking for all of them would make every face as long as its line, and a block that slides over a hole would be stopped by the
//! far wall of it. The default chooses for each chain the face in whose region the vertex is at the end of the step, solves, looks
//! where the vertex ended, and chooses again where that was another region.   [CORNER-2]

pub(crate) mod disjunctive;

pub(crate) use disjunctive::Disjunction;

use crate::{Contact, CornerLogic, Detector, Start, Workspace, rows::gap_now, rows::power};

/// How far a vertex may cut through a corner on its way around it, as a share of how far it goes.   [CORNER-3]
const CUT: f64 = 0.1;

/// How deep a vertex may be inside and still count as outside, as a share of how far it goes: steps leave errors of that kind.   [CORNER-3]
const GRAZE: f64 = 0.01;

/// A chain of alternatives changes its mind at most so often within a step.
const SWITCHES: u32 = 4;

/// A chain with more than one face: members are places in `ws.candidates`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// Range in `ws.chain_members`.
    first: usize,
    end: usize,
    /// Place of the chosen face in `ws.candidates`.
    chosen: usize,
    switches: u32,
}

/// Leaves in `ws.contacts` one contact of every chain; the others stay in `ws.candidates`.   [CORNER-2]
pub(crate) fn begin(start: &Start, ws: &mut Workspace) {
    ws.chains.clear();
    ws.candidates.clear();
    if start.scheme.corners == CornerLogic::Conjunctive || !has_alternatives(ws) {
        return;
    }
    std::mem::swap(&mut ws.candidates, &mut ws.contacts);
    collect_chains(ws);
    let mut gaps = std::mem::take(&mut ws.corner_gaps);
    for index in 0..ws.chains.len() {
        gaps.measure(start, ws, index, &ws.before);
        choose(ws, index, gaps.first_choice());
    }
    ws.corner_gaps = gaps;
    rebuild(ws);
}

/// Chooses again where the solution put a vertex into the region of another face; true when something changed.   [CORNER-2]
pub(crate) fn again(start: &Start, ws: &mut Workspace) -> bool {
    let mut changed = false;
    let mut gaps = std::mem::take(&mut ws.corner_gaps);
    for index in 0..ws.chains.len() {
        let Some(chain) = ws.chains.get(index).filter(|chain| chain.switches < SWITCHES) else { continue };
        let chosen = ws.chain_members.get(chain.first..chain.end).unwrap_or_default();
        let Some(place) = chosen.iter().position(|&member| member == chain.chosen) else { continue };
        gaps.measure(start, ws, index, &ws.velocity);
        let pushes = impulse(ws, chain.chosen) > 0.0;
        if let Some(better) = gaps.better_choice(place, pushes, start.scheme.touch_threshold) {
            choose(ws, index, better);
            changed = true;
        }
    }
    ws.corner_gaps = gaps;
    if changed {
        rebuild(ws);
    }
    changed
}

/// Looks closer at pairs of convex polygons where a vertex seems to be stopped by the very end of a face: it may be a seam or the
/// edge of a hole, which only alternatives can tell. True when there are new ones.   [CORNER-5]
pub(crate) fn look_closer(start: &Start, detector: &mut dyn Detector, ws: &mut Workspace) -> bool {
    let &Start { model, scheme, state, h } = start;
    if scheme.corners == CornerLogic::Conjunctive {
        return false;
    }
    let mut found = false;
    for (contact, impulse) in ws.contacts.iter().zip(&ws.contact_impulses) {
        let pair = (contact.id.shape_a, contact.id.shape_b);
        if impulse.normal <= 0.0 || contact.has_alternatives || ws.close_pairs.contains(&pair) {
            continue;
        }
        let gap = gap_now(model, contact, &ws.linearisation_velocity, h);
        let way = gap - gap_at_end(start, contact, &ws.linearisation_velocity, &state.v);
        if gap <= scheme.touch_threshold || way <= gap {
            continue;
        }
        let (Some((_, a, shape_a)), Some((_, b, shape_b))) = (model.shape(pair.0.index()), model.shape(pair.1.index()))
        else {
            continue;
        };
        let (pose_a, pose_b) = (ws.linear_end.pose(a) * shape_a.local, ws.linear_end.pose(b) * shape_b.local);
        let inside =
            detector.distance_to_face_end((&shape_a.shape, &pose_a), (&shape_b.shape, &pose_b), contact.id.feature);
        if inside.is_some_and(|inside| inside <= way) {
            ws.close_pairs.push(pair);
            found = true;
        }
    }
    found
}

fn has_alternatives(ws: &Workspace) -> bool {
    ws.contacts.iter().any(|contact| contact.has_alternatives)
}

/// Groups the candidates by chain, in the order of their first member.
fn collect_chains(ws: &mut Workspace) {
    let (candidates, members) = (&ws.candidates, &mut ws.chain_members);
    members.clear();
    members.extend((0..candidates.len()).filter(|&i| candidates.get(i).is_some_and(|c| c.has_alternatives)));
    let key = |i: &usize| candidates.get(*i).map(|c| (c.id.shape_a, c.id.shape_b, c.chain));
    members.sort_by_key(|i| (key(i), *i));
    let mut first = 0;
    for chunk in members.chunk_by(|i, j| key(i) == key(j)) {
        let chosen = chunk.first().copied().unwrap_or_default();
        ws.chains.push(Chain { first, end: first + chunk.len(), chosen, switches: 0 });
        first += chunk.len();
    }
}

/// ψ_i of the faces of a chain at the start and at the end of the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps {
    from: Vec<f64>,
    to: Vec<f64>,
    /// h times what their rows leave: the gap at the end for γ = 1.   [STEP-3]
    slack: Vec<f64>,
}

impl Gaps {
    /// The gaps of a chain when bodies move with velocities `v`.
    fn measure(&mut self, start: &Start, ws: &Workspace, index: usize, v: &[f64]) {
        let &Start { model, h, .. } = start;
        let Some(chain) = ws.chains.get(index) else { return };
        let members = ws.chain_members.get(chain.first..chain.end).unwrap_or_default();
        let contacts = || members.iter().filter_map(|&member| ws.candidates.get(member));
        self.from.clear();
        self.from.extend(contacts().map(|contact| gap_now(model, contact, &ws.linearisation_velocity, h)));
        self.to.clear();
        self.to.extend(contacts().map(|contact| gap_at_end(start, contact, &ws.linearisation_velocity, v)));
        self.slack.clear();
        let slacks = contacts().zip(self.from.iter().zip(&self.to));
        self.slack.extend(slacks.map(|(contact, (now, end))| end - (1.0 - contact.gamma) * now));
    }

    /// The face in whose region the vertex ends, if it can get there; otherwise the face through which it would enter.
    fn first_choice(&self) -> usize {
        self.entry().unwrap_or_else(|| self.highest())
    }

    /// Another face than the one chosen, where the solution contradicts the choice: a face must not push a vertex that another
    /// face of the corner leaves free [CORNER-1], and a vertex must not have come through the corner.   [CORNER-3]
    fn better_choice(&self, chosen: usize, pushes: bool, touch: f64) -> Option<usize> {
        let wanted = if pushes {
            let best = self.highest();
            self.slack.get(best).is_some_and(|gap| *gap > touch).then_some(best)
        } else {
            self.entry()
        };
        wanted.filter(|&face| face != chosen)
    }

    /// The face whose row leaves most, the first of equals.
    fn highest(&self) -> usize {
        let best = self.slack.iter().enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(0, |(place, _)| place)
    }

    /// The face through which the vertex enters the body; none when it stays outside or only grazes the corner.   [CORNER-3]
    ///
    /// Gaps change linearly: a face separates from the start until its gap vanishes, or from there to the end. The vertex is
    /// inside between the last of the former and the first of the latter.
    fn entry(&self) -> Option<usize> {
        let way = self.from.iter().zip(&self.to).map(|(a, b)| (b - a).abs()).fold(0.0, f64::max);
        let graze = GRAZE * way;
        let pairs = || self.from.iter().zip(&self.to).map(|(a, b)| (a + graze, b + graze)).enumerate();
        let time = |(a, b): (f64, f64)| a / (a - b);
        if pairs().any(|(_, (a, b))| a >= 0.0 && b >= 0.0) {
            return None;
        }
        let leaving = pairs().filter(|(_, (a, _))| *a >= 0.0).map(|(face, gaps)| (face, time(gaps)));
        let (face, left) = leaving.reduce(|late, next| if next.1 > late.1 { next } else { late })?;
        let arriving = pairs().filter(|(_, (_, b))| *b >= 0.0).map(|(_, gaps)| time(gaps));
        let back = arriving.fold(f64::INFINITY, f64::min);
        if left >= back {
            return None;
        }
        if back > 1.0 {
            return Some(face);
        }
        let middle = 0.5 * (left + back);
        let depth = pairs().map(|(_, (a, b))| -(a + middle * (b - a))).fold(f64::INFINITY, f64::min);
        (depth > CUT * way).then_some(face)
    }
}

/// ψ(q⁺, t⁺) as its linearisation at q ⊕ h v̂ sees it.
fn gap_at_end(start: &Start, contact: &Contact, linearisation_velocity: &[f64], v: &[f64]) -> f64 {
    let &Start { model, h, .. } = start;
    let (a, b) = contact.row(&contact.normal);
    let rate = |v: &[f64]| power(model, v, contact.a, &a) + power(model, v, contact.b, &b);
    contact.gap_end + h * (rate(v) - rate(linearisation_velocity))
}

/// Normal impulse of a candidate that was given to the solver.
fn impulse(ws: &Workspace, candidate: usize) -> f64 {
    let Some(id) = ws.candidates.get(candidate).map(|contact| contact.id) else { return 0.0 };
    let place = ws.contacts.binary_search_by_key(&id, |contact| contact.id).ok();
    place.and_then(|place| ws.contact_impulses.get(place)).map_or(0.0, |impulse| impulse.normal)
}

fn choose(ws: &mut Workspace, index: usize, place: usize) {
    let Some(chain) = ws.chains.get_mut(index) else { return };
    let members = ws.chain_members.get(chain.first..chain.end).unwrap_or_default();
    if let Some(&member) = members.get(place) {
        chain.chosen = member;
        chain.switches += 1;
    }
}

/// The contacts of the step: those without alternatives, and the chosen ones.
fn rebuild(ws: &mut Workspace) {
    ws.contacts.clear();
    let chosen = |place: usize| ws.chains.iter().any(|chain| chain.chosen == place);
    let kept = ws.candidates.iter().enumerate().filter(|(place, c)| !c.has_alternatives || chosen(*place));
    ws.contacts.extend(kept.map(|(_, contact)| contact.clone()));
}
