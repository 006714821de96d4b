//! From v⁺ and the impulses to the next state, its contact reports and its events.

use nalgebra::Vector3;
use stiction_multibody::{BodyId, ContactMemory, ContactMode, Model, State};

use crate::{Contact, ContactReport, Event, EventKind, Impact, Start, StepCause, Workspace, feet, rows::power};

/// Fills `ws.next`, the reports of contacts and feet and the events from v⁺ and the impulses in the workspace.
///
/// The state itself is not touched: the caller swaps it with `ws.next` when all went well.
pub fn advance(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    next_state(start, ws);
    if let Some(place) = ws.next.first_non_finite() {
        return Err(StepCause::non_finite("next state", body_of_coordinate(start.model, place)));
    }
    report_contacts(start, ws);
    remember_contacts(ws);
    report_events(start.state, ws);
    feet::report(start, ws);
    ws.end.update(start.model, &ws.next.q, &ws.next.v, ws.next.time);
    Ok(())
}

/// v⁺ from the solution, q⁺ = q ⊕ h v⁺.   [STEP-5]
fn next_state(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h } = start;
    let next = &mut ws.next;
    next.step = state.step + 1;
    (next.time, next.time_carry) = (state.time, state.time_carry);
    next.advance_time(h);
    next.v.clear();
    next.v.extend(&ws.velocity);
    next.joint_impulses.clone_from(&ws.joint_impulses);
    model.integrate(&state.q, &next.v, h, scheme.orientation, &mut next.q);
}

fn report_contacts(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h } = start;
    let mut reports = std::mem::take(&mut ws.contact_reports);
    reports.clear();
    let mut memories = state.contacts.iter().peekable();
    for (contact, impulse) in ws.contacts.iter().zip(&ws.contact_impulses) {
        let relative = relative_velocity(model, contact, &ws.next.v);
        let normal_velocity = contact.normal.dot(&relative);
        let surface = relative + contact.surface_velocity;
        let slip = surface - contact.normal * contact.normal.dot(&surface);
        // The gap at the end as its linearisation at q ⊕ h v̂ sees it.
        let looked_ahead = contact.normal.dot(&relative_velocity(model, contact, &ws.lookahead));
        let gap = contact.gap_end + h * (normal_velocity - looked_ahead);
        // Among redundant contacts some carry nothing: they touch as long as the step leaves them closed.
        let touches = impulse.normal > 0.0 || (normal_velocity + contact.bias) * h <= scheme.touch_threshold;
        let spin = relative_spin(model, contact, &ws.next.v) + contact.surface_spin;
        let sliding = slip.norm().max(contact.torsion * spin.abs()) > scheme.slip_threshold;
        let mode = match (touches, sliding) {
            (false, _) => ContactMode::Open,
            (true, false) => ContactMode::Stick,
            (true, true) => ContactMode::Slip,
        };
        let [t, o] = &contact.tangents;
        let sigma = if ws.quadratic && impulse.normal > 0.0 && contact.mu > 0.0 {
            // [FRIC-3]: √(e_t² v_t² + e_o² v_o² + e_r² ω_n²).
            Vector3::new(t.dot(&slip), o.dot(&slip), contact.torsion * spin).norm()
        } else {
            impulse.sigma
        };
        while memories.next_if(|memory| memory.id < contact.id).is_some() {}
        let owed_before = memories.next_if(|memory| memory.id == contact.id).map_or(0.0, |memory| memory.owed);
        reports.push(ContactReport {
            id: contact.id,
            body_a: contact.a,
            body_b: contact.b,
            point: contact.point,
            normal: contact.normal,
            gap,
            mode,
            normal_impulse: impulse.normal,
            friction_impulse: impulse.friction,
            spin_impulse: impulse.spin,
            slip,
            sigma,
            owed: owed(start, contact, impulse.normal, owed_before),
        });
    }
    ws.contact_reports = reports;
}

/// n · (ω_b − ω_a), as far as the velocities `v` decide it.
fn relative_spin(model: &Model, contact: &Contact, v: &[f64]) -> f64 {
    if contact.torsion == 0.0 {
        return 0.0;
    }
    let (a, b) = contact.spin_row();
    power(model, v, contact.a, &a) + power(model, v, contact.b, &b)
}

/// Velocity of the contact point of b against that of a, as far as the velocities `v` decide it.
fn relative_velocity(model: &Model, contact: &Contact, v: &[f64]) -> Vector3<f64> {
    let of = |id: BodyId, arm: &Vector3<f64>| {
        let Some((mobility, range)) = model.unknowns(id) else { return Vector3::zeros() };
        mobility.twist(v.get(range).unwrap_or_default()).at(arm)
    };
    of(contact.b, &contact.arm_b) - of(contact.a, &contact.arm_a)
}

/// What the next step has to know of the contacts, from their reports.
pub(crate) fn remember_contacts(ws: &mut Workspace) {
    ws.next.contacts.clear();
    ws.next.contacts.extend(ws.contact_reports.iter().map(|report| ContactMemory {
        id: report.id,
        mode: report.mode,
        normal_impulse: report.normal_impulse,
        friction_impulse: report.friction_impulse.into(),
        spin_impulse: report.spin_impulse,
        owed: report.owed,
    }));
}

/// The speed of approach that a contact hit in this step has to give back in the next; what was owed before is paid.   [IMPACT-1]
fn owed(start: &Start, contact: &Contact, impulse: f64, before: f64) -> f64 {
    let &Start { model, scheme, state, h } = start;
    if scheme.impact != Impact::Newton || contact.restitution == 0.0 || impulse <= 0.0 || before < 0.0 {
        return 0.0;
    }
    let prescribed = (contact.gap_end - contact.gap_start) / h;
    (contact.normal.dot(&relative_velocity(model, contact, &state.v)) + prescribed).min(0.0)
}

/// Compares the contact modes before and after: both lists are in the order of the ids, so one pass suffices.
fn report_events(state: &State, ws: &mut Workspace) {
    use ContactMode::{Open, Slip, Stick};
    let time = ws.next.time;
    let (mut before, mut after) = (state.contacts.iter().peekable(), ws.next.contacts.iter().peekable());
    ws.events.clear();
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
        // A contact that closes says at once whether it sticks or slips.
        let kinds: &[EventKind] = match (old, new) {
            (Open, Open) | (Stick, Stick) | (Slip, Slip) => &[],
            (Open, Stick) => &[EventKind::Touch, EventKind::Stick],
            (Open, Slip) => &[EventKind::Touch, EventKind::Slip],
            (_, Open) => &[EventKind::Separate],
            (Slip, Stick) => &[EventKind::Stick],
            (Stick, Slip) => &[EventKind::Slip],
        };
        ws.events.extend(kinds.iter().map(|&kind| Event { time, kind, contact: id }));
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
