//! Next state, reports of contacts, and events.

use nalgebra::Vector3;
use stiction_multibody::{BodyBuilder, ContactId, ContactMemory, ContactMode, ContactRule, Dimension};

use super::support::{
    Case, G, assert_all_near, assert_close, assert_near, ball, disc, expression, floor, friction, on_floor, world,
};
use crate::{EventKind, Margin, PositionUpdate, Scheme, advance};

fn memory(id: ContactId, mode: ContactMode) -> ContactMemory {
    ContactMemory {
        id,
        mode,
        point: [0.0; 3],
        normal_impulse: 0.0,
        friction_impulse: [0.0; 3],
        spin_impulse: 0.0,
        rolling_impulse: [0.0; 3],
        pending_restitution: 0.0,
        layer: None,
    }
}

fn wide() -> Scheme {
    Scheme { margin: Margin::Fixed(1.0), ..Scheme::default() }
}

/// Frictionless ball that touches the floor, with this velocity.
fn ball_with(velocity: [f64; 3]) -> Case {
    let [x, y, z] = velocity;
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5).velocity(x, y, z);
    Case::new(on_floor(Dimension::Spatial, ContactRule::default(), [body]), wide(), 0.01)
}

/// q⁺ = q + h v⁺ by the end velocity; by the mean velocity, free flight is the exact parabola.
#[test]
fn positions_move_by_the_chosen_velocity() {
    for (position_update, fraction) in [(PositionUpdate::End, 1.0), (PositionUpdate::Average, 0.5)] {
        let body = BodyBuilder::particle("stone", 1.0).velocity(1.0, 2.0, 3.0);
        let model = world(Dimension::Spatial, ContactRule::default(), [body]);
        let mut case = Case::new(model, Scheme { position_update, ..Scheme::default() }, 0.125);
        case.run(8);
        let t = 1.0;
        assert_eq!((case.state.time, case.state.step), (t, 8));
        let fall = G * t * t * 0.5 + (fraction - 0.5) * G * t * 0.125;
        assert_all_near(&case.state.q, &[1.0, 2.0, 3.0 - fall], 1e-12);
        assert_all_near(&case.state.v, &[1.0, 2.0, 3.0 - G], 1e-12);
    }
}

/// Every pair of modes before and after, and contacts that are new.
#[test]
fn events_follow_from_modes() {
    use ContactMode::{Open, Slip, Stick};
    let rising = [0.0, 0.0, 3.0];
    for (velocity, new) in [([0.0; 3], Stick), ([1.0, 0.0, 0.0], Slip), (rising, Open)] {
        for old in [None, Some(Open), Some(Stick), Some(Slip)] {
            let mut case = ball_with(velocity);
            case.detect().unwrap();
            case.state.contacts.extend(old.map(|mode| memory(case.contact().id, mode)));
            case.advance();
            assert_eq!(case.ws.result.next.contacts[0].mode, new);
            let expected: &[EventKind] = match (old.unwrap_or(Open), new) {
                (Open, Stick) => &[EventKind::Touch, EventKind::Stick],
                (Open, Slip) => &[EventKind::Touch, EventKind::Slip],
                (Stick | Slip, Open) => &[EventKind::Separate],
                (Stick, Slip) => &[EventKind::Slip],
                (Slip, Stick) => &[EventKind::Stick],
                _ => &[],
            };
            let events = &case.ws.result.events;
            assert_eq!(events.iter().map(|event| event.kind).collect::<Vec<_>>(), expected, "{old:?} to {new:?}");
            assert!(events.iter().all(|event| event.time == case.ws.result.next.time));
        }
    }
}

/// A contact that is out of reach has separated, wherever it is in the order of ids.
#[test]
fn contacts_out_of_reach_have_separated() {
    let bodies = [0.0, 2.0, 4.0].map(|x| ball(&format!("ball {x}"), 1.0, 0.5).position(x, 0.0, 0.5));
    let mut case = Case::new(on_floor(Dimension::Spatial, ContactRule::default(), bodies), wide(), 0.01);
    case.detect().unwrap();
    let floor = case.body("floor");
    let ids: Vec<_> = case.ws.constraints.contacts.iter().filter(|c| c.a == floor).map(|c| c.id).collect();
    case.state.contacts = ids.iter().map(|&id| memory(id, ContactMode::Stick)).collect();
    for gone in 0..3 {
        let mut q = case.model.initial_state().q;
        q[7 * gone + 2] = 50.0;
        case.state.q = q;
        case.advance();
        let events: Vec<_> = case.ws.result.events.iter().map(|event| (event.kind, event.contact)).collect();
        assert_eq!(events, [(EventKind::Separate, ids[gone])]);
    }
}

/// Slip is the velocity along the surface, belts included; σ is its length in units of the friction ellipse.
#[test]
fn reported_slip_is_that_of_the_surfaces() {
    let belt = BodyBuilder::fixed("belt").shape(floor(Dimension::Spatial)).conveyor(["2", "0", "0"].map(expression));
    let rule = ContactRule { ellipse: [0.5, 1.0], ..friction(0.01) };
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5).velocity(0.0, 1.0, 0.0);
    let mut case = Case::new(world(Dimension::Spatial, rule, [belt, body]), Scheme::default(), 0.001);
    case.advance();
    let report = &case.ws.result.contact_reports[0];
    let v = case.velocity("ball");
    let arm = Vector3::new(0.0, 0.0, -0.5);
    let point = Vector3::new(v[0], v[1], v[2]) + Vector3::new(v[3], v[4], v[5]).cross(&arm);
    assert_close(&report.slip, &(point - Vector3::new(2.0, 0.0, 0.0)), 1e-12);
    assert_near(report.sigma, Vector3::new(0.5 * report.slip.x, report.slip.y, 0.0).norm(), 1e-12);
    assert_eq!(report.mode, ContactMode::Slip);
    assert!(report.friction_impulse.dot(&report.slip) < 0.0, "friction opposes the slip");
}

/// Thresholds decide on modes only.
#[test]
fn slow_slip_counts_as_stick() {
    for (slip_threshold, mode) in [(0.5, ContactMode::Slip), (2.0, ContactMode::Stick)] {
        // Larger thresholds than 1 m/s are not legal in scenes, but the comparison is the same.
        let mut case = ball_with([1.0, 0.0, 0.0]);
        case.scheme.slip_threshold = slip_threshold;
        case.advance();
        assert_eq!(case.ws.result.contact_reports[0].mode, mode);
        assert_near(case.ws.result.next.v[0], 1.0, 1e-12);
    }
}

/// Without forces a closed contact needs no impulse and still touches.
#[test]
fn closed_contacts_without_impulse_touch() {
    let mut builder = stiction_multibody::ModelBuilder::new(Dimension::Planar);
    builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Planar))).unwrap();
    builder.body(disc("disc", 1.0, 0.5).position(0.0, 0.5, 0.0)).unwrap();
    let mut case = Case::new(builder.build().unwrap(), wide(), 0.01);
    case.advance();
    let report = &case.ws.result.contact_reports[0];
    assert_eq!((report.normal_impulse, report.mode), (0.0, ContactMode::Stick));
}

/// Newton's law: the approach is pending after the impact, is returned in the next step, and is gone then.
#[test]
fn restitution_is_returned_one_step_later() {
    let rule = ContactRule { restitution: 0.5, ..ContactRule::default() };
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.501).velocity(0.0, 0.0, -2.0);
    let mut case = Case::new(on_floor(Dimension::Spatial, rule, [body]), Scheme::default(), 0.001);
    let report = case.step();
    assert_eq!(report.impacts, 1);
    assert_near(case.state.contacts[0].pending_restitution, -2.0, 1e-12);
    assert_near(case.q("ball")[2], 0.5, 1e-12);
    let _ = case.step();
    assert_near(case.v("ball")[2], 1.0, 1e-9);
    assert!(case.state.contacts.iter().all(|memory| memory.pending_restitution == 0.0));
}

/// The gap in the report is that of the shapes at the end, to second order in the step.
#[test]
fn reported_gaps_are_those_at_the_end() {
    let body = || ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.7).velocity(1.0, 0.0, -3.0);
    let mut case = Case::new(on_floor(Dimension::Spatial, friction(0.2), [body()]), wide(), 0.01);
    case.advance();
    let end = case.ws.result.next.q[2] - 0.5;
    assert_near(case.ws.result.contact_reports[0].gap, end, 1e-14);
    assert_near(case.ws.result.end.pose(case.body("ball")).translation.vector.z, end + 0.5, 1e-14);
}

#[test]
fn a_next_state_that_is_not_finite_names_its_body() {
    let bodies = [disc("first", 1.0, 0.5), disc("second", 1.0, 0.5).position(9.0, 0.0, 0.0)];
    let mut case = Case::new(world(Dimension::Planar, ContactRule::default(), bodies), Scheme::default(), 0.01);
    case.solve().unwrap();
    case.ws.solution.velocity[4] = f64::NAN;
    let cause = case.with(advance).unwrap_err();
    assert_eq!(cause.to_string(), "the next state of body \"second\" is not a finite number");
}
