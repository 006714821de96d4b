//! From a solved problem to the next state, its contact reports and its events.

use nalgebra::Vector3;
use stiction_multibody::{BodyId, ContactMemory, ContactMode, Model, State};

use crate::{
    Contact, ContactReport, Event, EventKind, Infeasibility, Ladder, LineariseAt, RowMeaning, Start, StepCause,
    StepReport, Workspace, detect::find_pairs_at_end, infeasibility, ladder::Climb,
};

/// Solves the assembled problem and, if it was solved, fills `ws.next`, the contact reports and the events.
///
/// The state itself is not touched: the caller swaps it with `ws.next` when all went well.
pub fn advance(start: &Start, ladder: &mut Ladder, ws: &mut Workspace) -> Result<StepReport, StepCause> {
    let model = start.model;
    if ws.problem.ensure_finite().is_err() {
        return Err(StepCause::non_finite("assembled problem", None));
    }
    let climb = ladder.climb(&ws.problem, &mut ws.solution);
    if !climb.status.is_solved() {
        return Err(not_solved(model, ladder, ws, &climb));
    }
    next_state(start, ws);
    if let Some(place) = ws.next.first_non_finite() {
        return Err(StepCause::non_finite("next state", body_of_coordinate(model, place)));
    }
    report_contacts(start, ws);
    remember_contacts(ws);
    report_events(start.state, ws);
    ws.end.update(model, &ws.next.q, &ws.next.v, ws.next.time);
    // Pairs are looked for again: an impulse may have brought together what was out of reach.
    find_pairs_at_end(model, ws);
    let Infeasibility { penetration, joints } =
        infeasibility(model, &ws.end, &ws.pairs, (&mut ws.narrow, &mut ws.points))?;
    Ok(StepReport {
        step: ws.next.step,
        time: ws.next.time,
        contacts: ws.contacts.len(),
        problem_size: ws.layout.size(),
        residual: climb.residual,
        status: climb.status,
        iterations: climb.iterations,
        rung: climb.rung,
        penetration,
        joint_error: joints,
    })
}

/// v⁺ from the solution, q⁺ = q ⊕ h v⁺.   [STEP-5]
fn next_state(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h } = start;
    let next = &mut ws.next;
    next.step = state.step + 1;
    (next.time, next.time_carry) = (state.time, state.time_carry);
    next.advance_time(h);
    next.v.clear();
    next.v.extend(ws.solution.free.iter().take(model.dof()));
    model.integrate(&state.q, &next.v, h, scheme.orientation, &mut next.q);
}

fn report_contacts(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h } = start;
    let mut reports = std::mem::take(&mut ws.contact_reports);
    reports.clear();
    let impulses = &ws.solution.complementary;
    let get = |place: usize| impulses.get(place).copied().unwrap_or(0.0);
    for (index, contact) in ws.contacts.iter().enumerate() {
        let directions = ws.directions.get(contact.directions.clone()).unwrap_or_default();
        let friction_impulse = contact
            .directions
            .clone()
            .zip(directions)
            .fold(Vector3::zeros(), |sum, (place, d)| sum + d * get(ws.layout.friction_at(place)));
        let relative = relative_velocity(model, contact, &ws.next.v);
        let normal_velocity = contact.normal.dot(&relative);
        let surface = relative + contact.surface_velocity;
        let slip = surface - contact.normal * contact.normal.dot(&surface);
        let moved = match scheme.linearise_at {
            LineariseAt::Start => normal_velocity,
            LineariseAt::Predicted => {
                normal_velocity - contact.normal.dot(&relative_velocity(model, contact, &state.v))
            }
        };
        let normal_impulse = get(index);
        // Among redundant contacts some carry nothing: they touch as long as the step leaves them closed.
        let gap_rate = ws.problem.complementarity.value(index, &ws.solution.free, impulses);
        let touches = normal_impulse > 0.0 || gap_rate * h <= scheme.touch_threshold;
        let mode = match (touches, slip.norm() > scheme.slip_threshold) {
            (false, _) => ContactMode::Open,
            (true, false) => ContactMode::Stick,
            (true, true) => ContactMode::Slip,
        };
        reports.push(ContactReport {
            id: contact.id,
            body_a: contact.a,
            body_b: contact.b,
            point: contact.point,
            normal: contact.normal,
            gap: contact.gap_end + h * moved,
            mode,
            normal_impulse,
            friction_impulse,
            slip,
            sigma: contact.cone.map_or(0.0, |cone| get(ws.layout.sigma_at(cone))),
        });
    }
    ws.contact_reports = reports;
}

/// Velocity of the contact point of b against that of a, as far as the velocities `v` decide it.
fn relative_velocity(model: &Model, contact: &Contact, v: &[f64]) -> Vector3<f64> {
    let of = |id: BodyId, arm: &Vector3<f64>| {
        let Some((mobility, range)) = model.unknowns(id) else { return Vector3::zeros() };
        mobility.twist(v.get(range).unwrap_or_default()).at(arm)
    };
    of(contact.b, &contact.arm_b) - of(contact.a, &contact.arm_a)
}

fn remember_contacts(ws: &mut Workspace) {
    ws.next.contacts.clear();
    ws.next.contacts.extend(ws.contact_reports.iter().map(|report| ContactMemory {
        id: report.id,
        mode: report.mode,
        normal_impulse: report.normal_impulse,
    }));
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

/// Penetration beyond which a failed step is blamed on bodies inside each other, m.
const OVERLAP: f64 = 1e-3;

fn not_solved(model: &Model, ladder: &Ladder, ws: &Workspace, climb: &Climb) -> StepCause {
    let name = |id: BodyId| model.body(id).map_or("?", |body| body.name.as_str());
    let contact = |c: Option<&Contact>| {
        c.map_or_else(String::new, |c| format!("the contact between \"{}\" and \"{}\"", name(c.a), name(c.b)))
    };
    let worst = match ws.layout.meaning(climb.residual.row) {
        RowMeaning::Momentum(row) => {
            let index = model.layout().iter().position(|slot| slot.v.contains(&row));
            format!("body \"{}\"", index.and_then(|i| model.bodies().get(i)).map_or("?", |b| b.name.as_str()))
        }
        RowMeaning::Joint(row) => {
            let joint = model.joints().iter().rev().find(|joint| joint.first_row() <= row);
            format!("joint \"{}\"", joint.map_or("?", |joint| joint.name.as_str()))
        }
        RowMeaning::Normal(index) => contact(ws.contacts.get(index)),
        RowMeaning::Friction(row) => contact(ws.contacts.iter().find(|c| c.directions.contains(&row))),
        RowMeaning::Cone(cone) => contact(ws.contacts.iter().find(|c| c.cone == Some(cone))),
    };
    let overlaps = ws.contacts.iter().any(|contact| contact.gap_start < -OVERLAP);
    let hint = match (overlaps, model.joint_rows() > 0) {
        (true, _) => "bodies are inside each other: look at where they start",
        (false, true) => "look for redundant joints; the problem is kept to be solved again",
        (false, false) => "this is a limit of the method, not of the scene; the problem is kept to be solved again",
    };
    StepCause::NotSolved {
        status: climb.status,
        residual: climb.residual.value,
        worst,
        rungs: ladder.names().collect(),
        hint,
    }
}
