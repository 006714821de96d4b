//! Impacts by Poisson's hypothesis: before the step proper, in zero time, with impulses of contacts and joints only.
//!
//! Compression brings approaching contacts to rest; decompression returns at least ε times its normal impulses.   [IMPACT-2]

use nalgebra::Vector3;
use stiction_multibody::{
    BodyId, ContactId, ContactMemory, ContactMode, Model, Twist, Wrench, apply_inverse_mass, mass_block,
};

use crate::{
    Contact, ContactReport, Detector, Impact, ImpactReport, Ladder, Start, StepCause, StepResult, Workspace, detect,
    forest, formulation,
    joint_space::first_limit_impulses,
    rates::approach,
    reactions::add_impulses_of_solution,
    rows,
    workspace::{ImpactLoads, StepKinematics},
};

impl ImpactLoads {
    /// Adds the impulses of the solution in the workspace, and a known normal impulse `given` for each contact.
    fn add(&mut self, model: &Model, ws: &Workspace, given: impl Iterator<Item = f64>) {
        self.joints.resize(model.joint_rows(), 0.0);
        self.bodies.resize(model.bodies().len(), Wrench::default());
        debug_assert_eq!(self.joints.len(), ws.solution.joint_impulses.len(), "every joint row has an impulse");
        debug_assert!(
            ws.result.impacts.is_empty() || ws.result.impacts.len() == ws.constraints.contacts.len(),
            "reports exist for none of the contacts before decompression, or for all"
        );
        self.joints.iter_mut().zip(&ws.solution.joint_impulses).for_each(|(sum, p)| *sum += p);
        let mut add = |body: BodyId, impulse: &Wrench| {
            self.bodies.get_mut(body.index()).into_iter().for_each(|sum| sum.add(impulse));
        };
        add_impulses_of_solution(model, ws, &mut add);
        for (contact, given) in ws.constraints.contacts.iter().zip(given) {
            let (on_a, on_b) = contact.row(&(contact.normal * given));
            add(contact.a, &on_a);
            add(contact.b, &on_b);
        }
    }
}

/// Adds the impulses of the solution to the loads, and the known impulses of decompression if `given`.
fn load_joints(start: &Start, ws: &mut Workspace, given: bool) {
    let mut loads = std::mem::take(&mut ws.result.impact_loads);
    let factor = if given { 1.0 } else { 0.0 };
    loads.add(start.model, ws, ws.result.impacts.iter().map(|impact| factor * impact.decompression));
    ws.result.impact_loads = loads;
}

/// Approach velocity of a contact at the time in the step at which it closes, to be returned by Newton's impact law; zero if it does not.   [IMPACT-3]
///
/// With the acceleration a of the first kick the gap is ψ + v τ + a τ²/2, and its rate where it vanishes is −√(v² − 2 a ψ).
pub(crate) fn approach_at_touch(start: &Start, ws: &Workspace, contact: &Contact, impulse: f64) -> f64 {
    let &Start { model, scheme, state, h, .. } = start;
    let before = approach(model, contact, &state.v, h);
    if scheme.impact != Impact::Newton || contact.restitution == 0.0 || impulse <= 0.0 || before >= 0.0 {
        return 0.0;
    }
    let change = contact.normal.dot(&relative_free_change(start, ws, contact));
    let acceleration = change / start.force_duration();
    let square = before * before - 2.0 * acceleration * contact.gap_start.max(0.0);
    // Not faster than at the end of the step.
    -square.max(0.0).sqrt().clamp(0.0, (before + h * acceleration.min(0.0)).abs())
}

/// Change of the relative velocity at a contact by the forces of the kick, without constraints.
fn relative_free_change(start: &Start, ws: &Workspace, contact: &Contact) -> Vector3<f64> {
    let model = start.model;
    let change = |id: BodyId, arm: &Vector3<f64>| {
        let Some((mobility, range)) = model.unknowns(id) else { return Vector3::zeros() };
        if ws.reduced.is_some() {
            let of = |v: &[f64]| mobility.twist(v.get(range.clone()).unwrap_or_default());
            return of(&ws.free_body_velocities).at(arm) - of(&start.state.v).at(arm);
        }
        let at = (mass_block(model, &ws.kinematics.start, id.index()), ws.kinematics.applied.get(id.index()));
        let (Some((mobility, mass, inertia)), Some(wrench)) = at else { return Vector3::zeros() };
        {
            let Wrench { linear, angular } = apply_inverse_mass(mobility, mass, &inertia, wrench);
            Twist { linear, angular }.at(arm) * start.h
        }
    };
    change(contact.b, &contact.arm_b) - change(contact.a, &contact.arm_a)
}

/// Contacts that are closed at the end of a step: those with an impulse in its first half, and those that touch.   [STEP-18]
///
/// Where a contact with an impulse is gone, because it rolled or slid to another feature, the nearest new contact of the pair takes its place. Other new
/// contacts are open.
pub(crate) fn keep_closed(start: &Start, ws: &mut Workspace) {
    let (scheme, memories) = (start.scheme, &start.state.contacts);
    let mut contacts = std::mem::take(&mut ws.constraints.contacts);
    let memory_of = |contact: &Contact| {
        memories.binary_search_by_key(&contact.id, |memory| memory.id).ok().and_then(|place| memories.get(place))
    };
    let pair = |id: ContactId| (id.shape_a, id.shape_b);
    let is_closed = |contact: &Contact| {
        if contact.gap_start <= scheme.touch_threshold {
            return true;
        }
        if let Some(memory) = memory_of(contact) {
            return memory.normal_impulse > 0.0;
        }
        let is_gone = |memory: &ContactMemory| {
            memory.normal_impulse > 0.0 && contacts.binary_search_by_key(&memory.id, |contact| contact.id).is_err()
        };
        let is_nearest = || {
            let of_pair = contacts.iter().filter(|other| pair(other.id) == pair(contact.id));
            of_pair.filter(|other| memory_of(other).is_none()).all(|other| contact.gap_start <= other.gap_start)
        };
        scheme.gamma > 0.0
            && memories.iter().any(|memory| pair(memory.id) == pair(contact.id) && is_gone(memory))
            && is_nearest()
    };
    ws.detection.closed.clear();
    ws.detection.closed.extend(contacts.iter().map(is_closed));
    let mut closed = ws.detection.closed.iter();
    contacts.retain(|_| closed.next().is_some_and(|closed| *closed));
    ws.constraints.contacts = contacts;
}

/// Takes back the impulses that closed contacts and limits had in the first kick, so that the second finds those of the whole step.   [STEP-18]
pub(crate) fn withdraw_first_kick(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let Workspace { constraints, kinematics, result, .. } = &mut *ws;
    let StepKinematics { withdrawn, applied, start: at, .. } = kinematics;
    withdrawn.resize(applied.len(), Wrench::default());
    let mut add = |body: BodyId, impulse: &Wrench| {
        let wrench = impulse.scaled(-1.0 / start.h);
        for place in [withdrawn.get_mut(body.index()), applied.get_mut(body.index())].into_iter().flatten() {
            place.add(&wrench);
        }
    };
    for contact in &constraints.contacts {
        let Some(first) = report_of(&result.contact_reports, contact.id) else { continue };
        let along = first.friction_impulse - contact.normal * contact.normal.dot(&first.friction_impulse);
        let (spin_a, spin_b) = contact.spin_row();
        let rows = [
            contact.row(&(contact.normal * first.normal_impulse + along)),
            (spin_a.scaled(first.spin_impulse), spin_b.scaled(first.spin_impulse)),
            Contact::rolling_row(&first.rolling_impulse),
        ];
        for (on_a, on_b) in rows {
            add(contact.a, &on_a);
            add(contact.b, &on_b);
        }
    }
    for (body, impulse) in first_limit_impulses(start.model, &constraints.joint_space_dofs, at) {
        add(body, &impulse);
    }
    forest::accelerate(start, ws)
}

/// Report of a contact in a list sorted by id.
fn report_of(reports: &[ContactReport], id: ContactId) -> Option<&ContactReport> {
    reports.binary_search_by_key(&id, |report| report.id).ok().and_then(|place| reports.get(place))
}

/// Solves the impacts of contacts that would close within the step; returns the iterations.
///
/// `ws.kinematics.before` becomes the velocity after the impacts, and `ws.result.impacts` contains their reports.
pub(crate) fn collide(
    start: &Start,
    detector: &mut dyn Detector,
    ladder: &mut Ladder,
    ws: &mut Workspace,
) -> Result<u32, StepCause> {
    ws.result.impacts.clear();
    ws.kinematics.linearisation_velocity.clear();
    detect(start, detector, ws)?;
    // Support points have finite forces, whose impulse in zero time is zero.
    ws.constraints.support_points.clear();
    if !keep_colliding(start, ws) {
        return Ok(0);
    }
    // ---- Compression: M (v_c − v) = W p, contacts do not approach ----
    let impulsive = Start { h: 0.0, ..*start };
    refactorise(start, ws, true)?;
    rows::write_velocity_level(start, ws);
    formulation::assemble_rows(&impulsive, ws)?;
    let mut iterations = formulation::solve(&impulsive, ladder, ws)?.iterations;
    load_joints(start, ws, false);
    debug_assert_eq!(ws.constraints.contacts.len(), ws.solution.contact_impulses.len(), "every contact has an impulse");
    ws.result.impacts.extend(ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses).map(
        |(contact, impulse)| ImpactReport {
            id: contact.id,
            body_a: contact.a,
            body_b: contact.b,
            point: contact.point,
            normal: contact.normal,
            gap: contact.gap_start,
            compression: impulse.normal,
            decompression: contact.restitution * impulse.normal,
            friction_impulse: impulse.friction,
            spin_impulse: impulse.spin,
        },
    ));
    restart_from_velocity(ws);
    // ---- Decompression: M (v⁺ − v_c) = W_n (ε p_c + x) + W_f p_f, with friction up to μ (ε p_c + x) ----
    if ws.result.impacts.iter().any(|impact| impact.decompression > 0.0) {
        formulation::assemble_rows(&impulsive, ws)?;
        formulation::add_restitution_impulses(ws);
        iterations += formulation::solve(&impulsive, ladder, ws)?.iterations;
        load_joints(start, ws, true);
        debug_assert_eq!(ws.result.impacts.len(), ws.solution.contact_impulses.len(), "every contact has an impulse");
        for (impact, impulse) in ws.result.impacts.iter_mut().zip(&ws.solution.contact_impulses) {
            impact.decompression += impulse.normal;
            impact.friction_impulse += impulse.friction;
            impact.spin_impulse += impulse.spin;
        }
        restart_from_velocity(ws);
    }
    ws.result.impacts.retain(|impact| impact.compression > 0.0 || impact.decompression > 0.0);
    refactorise(start, ws, false)?;
    Ok(iterations)
}

/// Adds the impulses of impacts to the contact reports. The modes stay those at the end of the step.
pub(crate) fn add_to_reports(ws: &mut Workspace) {
    let StepResult { impacts, contact_reports, .. } = &mut ws.result;
    for impact in impacts {
        let place = match contact_reports.binary_search_by_key(&impact.id, |report| report.id) {
            Ok(place) => place,
            // The contact is out of reach with the velocity after the impact.
            Err(place) => {
                contact_reports.insert(place, apart(impact));
                place
            }
        };
        if let Some(report) = contact_reports.get_mut(place) {
            report.normal_impulse += impact.compression + impact.decompression;
            report.friction_impulse += impact.friction_impulse;
            report.spin_impulse += impact.spin_impulse;
        }
    }
}

/// Report of a contact that is not within reach of the step proper.
fn apart(impact: &ImpactReport) -> ContactReport {
    ContactReport {
        id: impact.id,
        body_a: impact.body_a,
        body_b: impact.body_b,
        point: impact.point,
        normal: impact.normal,
        gap: impact.gap,
        mode: ContactMode::Open,
        normal_impulse: 0.0,
        friction_impulse: Vector3::zeros(),
        spin_impulse: 0.0,
        rolling_impulse: Vector3::zeros(),
        slip: Vector3::zeros(),
        sigma: 0.0,
        pending_restitution: 0.0,
        layer: None,
    }
}

/// Refactorises M without springs and dampers, which have no effect in zero time, or with them again.   [JSPACE-8]
fn refactorise(start: &Start, ws: &mut Workspace, impulsive: bool) -> Result<(), StepCause> {
    ws.reduced.as_mut().map_or(Ok(()), |reduced| reduced.refactorise(start.model, impulsive))
}

/// Continues the step with the velocity after the impact.
fn restart_from_velocity(ws: &mut Workspace) {
    ws.kinematics.before.clone_from(&ws.solution.velocity);
    if let Some(reduced) = &mut ws.reduced {
        reduced.restart_from_velocity();
    }
}

/// Keeps the contacts that touch or would close within the step; false if none of them approaches.
fn keep_colliding(start: &Start, ws: &mut Workspace) -> bool {
    let &Start { model, scheme, h, .. } = start;
    let before = &ws.kinematics.before;
    let approach = |contact: &Contact| approach(model, contact, before, h);
    ws.constraints
        .contacts
        .retain(|contact| contact.gap_start + h * approach(contact).min(0.0) <= scheme.touch_threshold);
    ws.constraints.contacts.iter().any(|contact| h * approach(contact) < -scheme.touch_threshold)
}
