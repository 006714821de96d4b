//! Convex corners: a vertex in front of one must stay outside *one* of the two faces, and the step chooses which.
//!
//! Contacts of one chain are alternatives: max ψ_i ≥ 0 at the end of the step, and only a face with ψ_i = max ψ = 0 has an
//! impulse.   [CORNER-1]
//! Enforcing all of them would make every face an infinite line: a block that slides over a hole would be stopped by its far wall. The
//! default chooses for each chain the face in whose region the vertex is at the end of the step. It solves the step, and chooses again if
//! the vertex ended in another region.   [CORNER-2]

pub(crate) mod disjunctive;

use crate::{
    Contact, CornerLogic, Detector, Start, Workspace,
    alternatives::{Chain, Gaps},
    rates::linearised_start_gap,
    rates::side_rate,
};

/// Depth to which a vertex may cut through a corner on its path around it, as a fraction of its path.   [CORNER-3]
const MAX_CUT_FRACTION: f64 = 0.1;

/// Depth at which a vertex still counts as outside, as a fraction of its path: steps have errors of this size.   [CORNER-3]
const GRAZE_FRACTION: f64 = 0.01;

/// Bound on the choices of a face for one chain in a step.
const MAX_SWITCHES: u32 = 4;

/// Keeps one contact of every chain in `ws.constraints.contacts`; all contacts are in `ws.alternatives.candidates`.   [CORNER-2]
pub(crate) fn select_faces(start: &Start, ws: &mut Workspace) {
    ws.alternatives.chains.clear();
    ws.alternatives.candidates.clear();
    if start.scheme.corners == CornerLogic::Conjunctive || !has_alternatives(ws) {
        return;
    }
    std::mem::swap(&mut ws.alternatives.candidates, &mut ws.constraints.contacts);
    collect_chains(ws);
    let mut gaps = std::mem::take(&mut ws.alternatives.gaps);
    for index in 0..ws.alternatives.chains.len() {
        gaps.measure(start, ws, index, &ws.kinematics.before);
        choose(ws, index, gaps.first_choice());
    }
    ws.alternatives.gaps = gaps;
    rebuild(ws);
}

/// Chooses another face for chains whose vertex ended in the region of another face; true if a choice changed.   [CORNER-2]
pub(crate) fn reselect_faces(start: &Start, ws: &mut Workspace) -> bool {
    let mut changed = false;
    let mut gaps = std::mem::take(&mut ws.alternatives.gaps);
    for index in 0..ws.alternatives.chains.len() {
        let Some(chain) = ws.alternatives.chains.get(index).filter(|chain| chain.switches < MAX_SWITCHES) else {
            continue;
        };
        let chosen = ws.alternatives.members.get(chain.first..chain.end).unwrap_or_default();
        let Some(place) = chosen.iter().position(|&member| member == chain.chosen) else {
            debug_assert!(false, "the chosen face is a member of its chain");
            continue;
        };
        gaps.measure(start, ws, index, &ws.solution.velocity);
        let pushes = impulse(ws, chain.chosen) > 0.0;
        if let Some(better) = gaps.better_choice(place, pushes, start.scheme.touch_threshold) {
            choose(ws, index, better);
            changed = true;
        }
    }
    ws.alternatives.gaps = gaps;
    if changed {
        rebuild(ws);
    }
    changed
}

/// Refines pairs of convex polygons in which a vertex is stopped near the end of a face; true if there are new pairs.   [CORNER-5]
///
/// The end may be a seam or the edge of a hole, which only alternatives distinguish.
pub(crate) fn refine_pairs(start: &Start, detector: &mut dyn Detector, ws: &mut Workspace) -> bool {
    let &Start { model, scheme, state, h, .. } = start;
    if scheme.corners == CornerLogic::Conjunctive {
        return false;
    }
    debug_assert_eq!(ws.constraints.contacts.len(), ws.solution.contact_impulses.len(), "every contact has an impulse");
    let mut found = false;
    for (contact, impulse) in ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses) {
        let pair = (contact.id.shape_a, contact.id.shape_b);
        if impulse.normal <= 0.0 || contact.has_alternatives || ws.detection.close_pairs.contains(&pair) {
            continue;
        }
        let gap = linearised_start_gap(model, contact, &ws.kinematics.linearisation_velocity, h);
        let path = gap - gap_at_end(start, contact, &ws.kinematics.linearisation_velocity, &state.v);
        if gap <= scheme.touch_threshold || path <= gap {
            continue;
        }
        let (Some((_, a, shape_a)), Some((_, b, shape_b))) = (model.shape(pair.0.index()), model.shape(pair.1.index()))
        else {
            continue;
        };
        let (pose_a, pose_b) =
            (ws.kinematics.linear_end.pose(a) * shape_a.local, ws.kinematics.linear_end.pose(b) * shape_b.local);
        let inside =
            detector.distance_to_face_end((&shape_a.shape, &pose_a), (&shape_b.shape, &pose_b), contact.id.feature);
        if inside.is_some_and(|inside| inside <= path) {
            ws.detection.close_pairs.push(pair);
            found = true;
        }
    }
    found
}

fn has_alternatives(ws: &Workspace) -> bool {
    ws.constraints.contacts.iter().any(|contact| contact.has_alternatives)
}

/// Groups the candidates by chain, in the order of their first member.
fn collect_chains(ws: &mut Workspace) {
    let (candidates, members) = (&ws.alternatives.candidates, &mut ws.alternatives.members);
    members.clear();
    members.extend((0..candidates.len()).filter(|&i| candidates.get(i).is_some_and(|c| c.has_alternatives)));
    let key = |i: &usize| candidates.get(*i).map(|c| (c.id.shape_a, c.id.shape_b, c.chain));
    members.sort_by_key(|i| (key(i), *i));
    let mut first = 0;
    for chunk in members.chunk_by(|i, j| key(i) == key(j)) {
        let chosen = chunk.first().copied().unwrap_or_default();
        ws.alternatives.chains.push(Chain { first, end: first + chunk.len(), chosen, switches: 0 });
        first += chunk.len();
    }
    debug_assert_eq!(first, members.len(), "every candidate with alternatives is in a chain");
}

impl Gaps {
    /// Computes the gaps of a chain when bodies move with velocities `v`.
    fn measure(&mut self, start: &Start, ws: &Workspace, index: usize, v: &[f64]) {
        let &Start { model, h, .. } = start;
        let Some(chain) = ws.alternatives.chains.get(index) else {
            debug_assert!(false, "the chain exists");
            return;
        };
        let members = ws.alternatives.members.get(chain.first..chain.end).unwrap_or_default();
        let contacts = || members.iter().filter_map(|&member| ws.alternatives.candidates.get(member));
        self.from.clear();
        self.from.extend(
            contacts().map(|contact| linearised_start_gap(model, contact, &ws.kinematics.linearisation_velocity, h)),
        );
        self.to.clear();
        self.to.extend(contacts().map(|contact| gap_at_end(start, contact, &ws.kinematics.linearisation_velocity, v)));
        self.slack.clear();
        let slacks = contacts().zip(self.from.iter().zip(&self.to));
        self.slack.extend(slacks.map(|(contact, (now, end))| end - (1.0 - contact.gamma) * now));
    }

    /// Face in whose region the vertex ends, if it can get there; otherwise the face through which it would enter.
    fn first_choice(&self) -> usize {
        self.entry().unwrap_or_else(|| self.highest())
    }

    /// Other face if the solution contradicts the choice, otherwise none.
    ///
    /// A face must not push a vertex that another face of the corner leaves free [CORNER-1], and a vertex must not pass through the
    /// corner.   [CORNER-3]
    fn better_choice(&self, chosen: usize, pushes: bool, touch: f64) -> Option<usize> {
        let wanted = if pushes {
            let best = self.highest();
            self.slack.get(best).is_some_and(|gap| *gap > touch).then_some(best)
        } else {
            self.entry()
        };
        wanted.filter(|&face| face != chosen)
    }

    /// Face with the largest slack, the first of equals.
    fn highest(&self) -> usize {
        let best = self.slack.iter().enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(0, |(place, _)| place)
    }

    /// Face through which the vertex enters the body; none if it stays outside or only grazes the corner.   [CORNER-3]
    ///
    /// Gaps change linearly: a face separates from the start until its gap vanishes, or from there to the end. The vertex is inside
    /// between the last of the former and the first of the latter.
    fn entry(&self) -> Option<usize> {
        let path = self.from.iter().zip(&self.to).map(|(a, b)| (b - a).abs()).fold(0.0, f64::max);
        let graze = GRAZE_FRACTION * path;
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
        (depth > MAX_CUT_FRACTION * path).then_some(face)
    }
}

/// Gap ψ(q⁺, t⁺) by its linearisation at q ⊕ h v̂.
fn gap_at_end(start: &Start, contact: &Contact, linearisation_velocity: &[f64], v: &[f64]) -> f64 {
    let &Start { model, h, .. } = start;
    let (a, b) = contact.row(&contact.normal);
    let rate = |v: &[f64]| side_rate(model, v, contact.a, &a) + side_rate(model, v, contact.b, &b);
    contact.gap_end + h * (rate(v) - rate(linearisation_velocity))
}

/// Normal impulse of a candidate; zero if it was not part of the problem.
fn impulse(ws: &Workspace, candidate: usize) -> f64 {
    let Some(id) = ws.alternatives.candidates.get(candidate).map(|contact| contact.id) else { return 0.0 };
    let place = ws.constraints.contacts.binary_search_by_key(&id, |contact| contact.id).ok();
    place.and_then(|place| ws.solution.contact_impulses.get(place)).map_or(0.0, |impulse| impulse.normal)
}

fn choose(ws: &mut Workspace, index: usize, place: usize) {
    let Some(chain) = ws.alternatives.chains.get_mut(index) else {
        debug_assert!(false, "the chain exists");
        return;
    };
    let members = ws.alternatives.members.get(chain.first..chain.end).unwrap_or_default();
    debug_assert!(place < members.len(), "the face is a member of its chain");
    if let Some(&member) = members.get(place) {
        chain.chosen = member;
        chain.switches += 1;
    }
}

/// Rebuilds the contacts of the step: those without alternatives, and the chosen ones.
fn rebuild(ws: &mut Workspace) {
    ws.constraints.contacts.clear();
    let chosen = |place: usize| ws.alternatives.chains.iter().any(|chain| chain.chosen == place);
    let kept = ws.alternatives.candidates.iter().enumerate().filter(|(place, c)| !c.has_alternatives || chosen(*place));
    ws.constraints.contacts.extend(kept.map(|(_, contact)| contact.clone()));
}

#[cfg(test)]
mod tests;
