//! Next state, contact reports and events from v⁺ and the impulses.

use nalgebra::Vector3;
use stiction_multibody::{ContactMemory, ContactMode, Model, State};

use crate::{
    Contact, ContactImpulse, ContactReport, Dynamics, Event, EventKind, Impact, Kick, PositionUpdate, Start, StepCause,
    Workspace, impact, joint_space,
    layers::surface_at_end,
    loop_energy,
    rates::{gap_after, relative_velocity, side_rate},
    reduced::{Reduced, singular_inertia},
    support_points, surface, velocity_terms,
    workspace::{Solution, StepKinematics},
};

/// Fills `ws.result.next`, the reports of contacts and support points and the events from v⁺ and the impulses in the workspace.
///
/// The state itself is not modified: the caller swaps it with `ws.result.next` after success.
pub fn advance(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    next_state(start, ws)?;
    if let Some(place) = ws.result.next.first_non_finite() {
        return Err(StepCause::non_finite("next state", body_of_coordinate(start.model, place)));
    }
    report_contacts(start, ws);
    remember_contacts(ws);
    report_events(start.state, ws);
    support_points::report(start, ws);
    ws.result.end.update(start.model, &ws.result.next.q, &ws.result.next.v, ws.result.next.time);
    loop_energy::take_back_work(start, ws);
    Ok(())
}

/// Computes the velocity that moves the bodies over the step: v⁺, or the mean of both ends.   [STEP-5] [SOFT-6]
pub(crate) fn find_moving_velocity(start: &Start, ws: &mut Workspace) {
    let Workspace {
        solution: Solution { moving, velocity, .. },
        kinematics: StepKinematics { before, .. },
        reduced,
        ..
    } = ws;
    let choose = |moving: &mut Vec<f64>, velocity: &Vec<f64>, before: &[f64]| {
        moving.clone_from(velocity);
        if start.scheme.position_update == PositionUpdate::Average {
            debug_assert_eq!(moving.len(), before.len(), "velocities at both ends have equally many entries");
            moving.iter_mut().zip(before).for_each(|(v, before)| *v = 0.5 * (*v + *before));
        }
    };
    choose(moving, velocity, before);
    if let Some(reduced) = reduced {
        let Reduced { moving, velocity, before, .. } = &mut **reduced;
        choose(moving, velocity, before);
    }
}

/// Writes v⁺ and q⁺ = q ⊕ h v⁺ into the next state.   [STEP-5]
fn next_state(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let &Start { model, scheme, state, h, .. } = start;
    find_moving_velocity(start, ws);
    if ws.reduced.is_none() && scheme.dynamics == Dynamics::Inertial {
        let mut moving = std::mem::take(&mut ws.solution.moving);
        velocity_terms::turn_fast_bodies(start, ws, &mut moving);
        ws.solution.moving = moving;
    }
    let mut angles = std::mem::take(&mut ws.result.next.angles);
    joint_space::angles_at_end(start, ws, &mut angles);
    let next = &mut ws.result.next;
    next.angles = angles;
    (next.step, next.time, next.time_carry) = (state.step, state.time, state.time_carry);
    if start.moves() {
        next.step += 1;
        next.advance_time(h);
    }
    next.joint_impulses.clone_from(&ws.solution.joint_impulses);
    let collides = start.kick == Kick::First && collides(start, ws);
    let next = &mut ws.result.next;
    if let Some(reduced) = &mut ws.reduced {
        reduced.expect_collision(collides);
        return reduced.advance(start, next).map_err(|singular| singular_inertia(model, singular));
    }
    next.forest_q.clear();
    next.forest_v.clear();
    next.v.clear();
    next.v.extend(&ws.solution.velocity);
    if !start.moves() {
        next.q.clone_from(&state.q);
        return Ok(());
    }
    model.integrate(&state.q, &ws.solution.moving, h, scheme.orientation, &mut next.q);
    if scheme.dynamics == Dynamics::Inertial {
        velocity_terms::keep_momentum(start, ws);
    }
    Ok(())
}

/// True if a contact that was open at the start has an impulse.
fn collides(start: &Start, ws: &Workspace) -> bool {
    let is_closed = |contact: &Contact| {
        let found = start.state.contacts.binary_search_by_key(&contact.id, |memory| memory.id).ok();
        found.and_then(|place| start.state.contacts.get(place)).is_some_and(|memory| memory.mode != ContactMode::Open)
    };
    let contacts = ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses);
    contacts.into_iter().any(|(contact, impulse)| impulse.normal > 0.0 && !is_closed(contact))
}

fn report_contacts(start: &Start, ws: &mut Workspace) {
    let mut reports = std::mem::take(&mut ws.result.contact_reports);
    reports.clear();
    debug_assert_eq!(ws.constraints.contacts.len(), ws.solution.contact_impulses.len(), "every contact has an impulse");
    let mut memories = start.state.contacts.iter().peekable();
    for (index, (contact, impulse)) in ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses).enumerate() {
        while memories.next_if(|memory| memory.id < contact.id).is_some() {}
        let pending_before =
            memories.next_if(|memory| memory.id == contact.id).map_or(0.0, |memory| memory.pending_restitution);
        let pending_restitution = match start.kick {
            Kick::Whole => pending_restitution(start, contact, impulse.normal, pending_before),
            Kick::First => impact::approach_at_touch(start, ws, contact, impulse.normal),
            Kick::Second => 0.0,
        };
        reports.push(ContactReport { pending_restitution, ..report_contact(start, ws, (index, contact), impulse) });
    }
    ws.result.contact_reports = reports;
}

fn report_contact(
    start: &Start,
    ws: &Workspace,
    (index, contact): (usize, &Contact),
    impulse: &ContactImpulse,
) -> ContactReport {
    let &Start { model, scheme, h, .. } = start;
    let relative = relative_velocity(model, contact, &ws.solution.velocity);
    let normal_velocity = contact.normal.dot(&relative);
    let moving = match scheme.position_update {
        PositionUpdate::End => relative,
        PositionUpdate::Average => relative_velocity(model, contact, &ws.solution.moving),
    };
    let gap = gap_after(model, contact, &ws.kinematics.linearisation_velocity, &moving, start.h);
    let surface = surface::find(&ws.constraints.layer_surfaces, index).zip(contact.layer);
    let end = surface.map(|(surface, layer)| surface_at_end(start, ws, (surface, contact, &layer), impulse, gap));
    let total = surface.map_or(*impulse, |(surface, _)| impulse.and(&surface.core_impulse));
    // Some redundant contacts have no impulse: they touch if the step leaves them closed.
    let remaining_gap =
        end.as_ref().map_or((normal_velocity + contact.bias - contact.overlap.deferred) * h, |end| end.gap);
    let touches = total.normal > 0.0 || remaining_gap <= scheme.touch_threshold;
    // Friction acts on the velocity at the end of the step, or on its mean if a layer shears.   [SOFT-6]
    let shears = surface.is_some_and(|(surface, _)| surface.compliant_directions > 1);
    let slip = slip(contact, if shears { &moving } else { &relative })
        + end.as_ref().map_or_else(Vector3::zeros, |end| end.shear_rate);
    let spin = relative_spin(model, contact, &ws.solution.velocity) + contact.surface_spin;
    let sliding = slip.norm().max(contact.torsion * spin.abs()) > ws.solution.slip_threshold(scheme);
    let mode = match (touches, sliding) {
        (false, _) => ContactMode::Open,
        (true, false) => ContactMode::Stick,
        (true, true) => ContactMode::Slip,
    };
    let [t, o] = &contact.tangents;
    let sigma = if ws.is_friction_problem && impulse.normal > 0.0 && contact.mu > 0.0 {
        // [FRIC-3]: √(e_t² v_t² + e_o² v_o² + e_r² ω_n²).
        Vector3::new(t.dot(&slip), o.dot(&slip), contact.torsion * spin).norm()
    } else {
        impulse.sigma
    };
    ContactReport {
        id: contact.id,
        body_a: contact.a,
        body_b: contact.b,
        point: contact.point,
        normal: contact.normal,
        gap,
        mode,
        normal_impulse: total.normal,
        friction_impulse: total.friction,
        spin_impulse: total.spin,
        rolling_impulse: total.rolling,
        slip,
        sigma,
        pending_restitution: 0.0,
        layer: end.map(|end| end.memory),
    }
}

/// Slip velocity of b against a, from the relative velocity of the contact points.
fn slip(contact: &Contact, relative: &Vector3<f64>) -> Vector3<f64> {
    let surface = relative + contact.surface_velocity;
    surface - contact.normal * contact.normal.dot(&surface)
}

/// Relative spin n · (ω_b − ω_a) by the velocities `v`, without prescribed motion.
fn relative_spin(model: &Model, contact: &Contact, v: &[f64]) -> f64 {
    if contact.torsion == 0.0 {
        return 0.0;
    }
    let (a, b) = contact.spin_row();
    side_rate(model, v, contact.a, &a) + side_rate(model, v, contact.b, &b)
}

/// Stores the contacts for the next step, from their reports.
pub fn remember_contacts(ws: &mut Workspace) {
    ws.result.next.contacts.clear();
    ws.result.next.contacts.extend(ws.result.contact_reports.iter().map(|report| ContactMemory {
        id: report.id,
        mode: report.mode,
        point: report.point.into(),
        normal_impulse: report.normal_impulse,
        friction_impulse: report.friction_impulse.into(),
        spin_impulse: report.spin_impulse,
        rolling_impulse: report.rolling_impulse.into(),
        pending_restitution: report.pending_restitution,
        layer: report.layer,
    }));
}

/// Approach velocity that Newton's impact law has to return in the next step.   [IMPACT-1]
///
/// Restitution that was pending before this step has been applied in it.
fn pending_restitution(start: &Start, contact: &Contact, impulse: f64, before: f64) -> f64 {
    let &Start { model, scheme, state, h, .. } = start;
    if scheme.impact != Impact::Newton || contact.restitution == 0.0 || impulse <= 0.0 || before < 0.0 {
        return 0.0;
    }
    let prescribed = (contact.gap_end - contact.gap_start) / h;
    (contact.normal.dot(&relative_velocity(model, contact, &state.v)) + prescribed).min(0.0)
}

/// Compares the contact modes before and after. Both lists are sorted by id, so one pass suffices.
fn report_events(state: &State, ws: &mut Workspace) {
    use ContactMode::{Open, Slip, Stick};
    let time = ws.result.next.time;
    let (mut before, mut after) = (state.contacts.iter().peekable(), ws.result.next.contacts.iter().peekable());
    ws.result.events.clear();
    loop {
        let (id, old, new) = match (before.peek(), after.peek()) {
            (None, None) => break,
            (Some(b), Some(a)) if b.id == a.id => (a.id, b.mode, a.mode),
            (Some(b), Some(a)) if b.id < a.id => (b.id, b.mode, Open),
            (Some(b), None) => (b.id, b.mode, Open),
            (_, Some(a)) => (a.id, Open, a.mode),
        };
        before.next_if(|b| b.id == id);
        after.next_if(|a| a.id == id);
        // A contact that closes reports stick or slip as well.
        let kinds: &[EventKind] = match (old, new) {
            (Open, Open) | (Stick, Stick) | (Slip, Slip) => &[],
            (Open, Stick) => &[EventKind::Touch, EventKind::Stick],
            (Open, Slip) => &[EventKind::Touch, EventKind::Slip],
            (_, Open) => &[EventKind::Separate],
            (Slip, Stick) => &[EventKind::Stick],
            (Stick, Slip) => &[EventKind::Slip],
        };
        ws.result.events.extend(kinds.iter().map(|&kind| Event { time, kind, contact: id }));
    }
}

fn body_of_coordinate(model: &Model, place: usize) -> Option<&str> {
    let n_q = model.coordinates();
    let inside = |slot: &stiction_multibody::Slot| {
        if place < n_q { slot.q.contains(&place) } else { slot.v.contains(&(place - n_q)) }
    };
    let index = model.layout().iter().position(inside)?;
    model.bodies().get(index).map(|body| body.name.as_str())
}
