//! The event-driven reference stepper against closed forms, conservation laws and independently derived event times.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, ContactId, ContactMode, ContactRule, Dimension, EventKind, JointKind, Model, ModelBuilder, Preset,
    Simulation, planar, spatial, stepping::ReferenceStepper,
};
use stiction_testkit::reference;

use crate::{
    family::{Family, floor, friction, q, v},
    published::rod,
};

const G: f64 = 9.81;

/// Runs with the reference stepper; returns all events.
fn run(model: Model, h: f64, duration: f64, mut each: impl FnMut(&Simulation)) -> (Simulation, Vec<stiction::Event>) {
    let mut simulation =
        Simulation::new(model, Preset::Ncp.scheme(), h).unwrap().with_stepper(ReferenceStepper::default());
    let mut events = Vec::new();
    for _ in 0..(duration / h).round() as usize {
        let report = simulation.step().unwrap();
        assert!(report.penetration < 1e-11 && report.joint_error < 1e-12, "{report:?}");
        events.extend_from_slice(simulation.events());
        each(&simulation);
    }
    (simulation, events)
}

fn in_the_plane(bodies: Vec<BodyBuilder>, gravity: [f64; 2], rule: ContactRule) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(gravity[0], gravity[1], 0.0).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor())).unwrap();
    for body in bodies {
        builder.body(body).unwrap();
    }
    builder.default_contact(rule).unwrap();
    builder.build().unwrap()
}

fn in_space(bodies: Vec<BodyBuilder>, gravity: [f64; 3], rule: ContactRule) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(gravity[0], gravity[1], gravity[2]).unwrap();
    let floor = spatial::Shape::half_space(Vector3::z()).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor.into())).unwrap();
    for body in bodies {
        builder.body(body).unwrap();
    }
    builder.default_contact(rule).unwrap();
    builder.build().unwrap()
}

fn ball(radius: f64) -> BodyBuilder {
    BodyBuilder::rigid("ball", 2.0, Matrix3::from_diagonal_element(0.4 * 2.0 * radius * radius))
        .shape(spatial::Shape::sphere(radius).unwrap().into())
}

fn block() -> BodyBuilder {
    BodyBuilder::planar("block", 2.0, 0.5).shape(planar::Shape::rectangle([0.5, 0.25]).unwrap().into())
}

#[test]
fn falling_rod_has_the_derived_event_times() {
    let case = reference("c21");
    let number = |name: &str| case.number(name);
    let start = [0.0, number("parameters.y"), number("parameters.angle_degrees").to_radians()];
    for h in [0.01, 0.0023] {
        let model = rod(&case, start, [0.0, 0.0, number("parameters.angular_velocity")]);
        let mut impulses = Vec::new();
        let (end, events) = run(model, h, 0.7, |simulation| {
            if simulation.events().iter().any(|event| event.kind == EventKind::Touch) {
                impulses.push(simulation.contacts().iter().map(|c| c.normal_impulse).fold(0.0, f64::max));
            }
        });
        let (first, second) = (events[0].contact, ContactId { ..events[3].contact });
        let story: Vec<_> = events.iter().map(|event| (event.kind, event.contact)).collect();
        let expected = [
            (EventKind::Touch, first),
            (EventKind::Stick, first),
            (EventKind::Slip, first),
            (EventKind::Touch, second),
            (EventKind::Slip, second),
        ];
        assert_eq!(story[..5], expected);
        assert!(first != second && story[5..].iter().all(|(kind, _)| *kind == EventKind::Stick) && story.len() == 7);
        for (index, name) in [(0, "impact"), (2, "slips_left"), (3, "slap_down"), (5, "rest"), (6, "rest")] {
            let exact = number(&format!("derived.{name}.t"));
            let error = (events[index].time - exact).abs();
            assert!(error < 1e-8, "{name} at {} instead of {exact}, h = {h}", events[index].time);
        }
        assert!((q(&end, "rod")[0] - number("derived.rest.x")).abs() < 1e-7, "{}", q(&end, "rod")[0]);
        assert!((q(&end, "rod")[2] - std::f64::consts::PI).abs() < 1e-12);
        // The impulse of the impact, and of at most one step of pushing after it.
        let exact = number("derived.impact.impulse_normal");
        assert!(impulses[0] >= exact - 1e-6 && impulses[0] < exact + h * 30.0, "{impulses:?}");
    }
}

#[test]
fn two_bar_pendulum_follows_the_derived_angles() {
    let case = reference("c02");
    let family = Family::read(&case, &["rod_b"]);
    let rows = case.table("derived.motion");
    let h = 0.05;
    let mut next = rows.iter().peekable();
    let start = Simulation::new(family.model(), Preset::Ncp.scheme(), h).unwrap().energy().total();
    run(family.model(), h, 1.5, |simulation| {
        assert!((simulation.energy().total() - start).abs() < 1e-9, "energy {}", simulation.energy().total() - start);
        if let Some(row) = next.next_if(|row| (row["t"] - simulation.time()).abs() < 1e-9) {
            for (name, value) in [
                ("theta_a", q(simulation, "a")[2]),
                ("theta_b", q(simulation, "b")[2]),
                ("omega_a", v(simulation, "a")[2]),
                ("omega_b", v(simulation, "b")[2]),
            ] {
                assert!((value - row[name]).abs() < 2e-9, "{name} at {}: {value} against {}", row["t"], row[name]);
            }
        }
    });
    assert!(next.peek().is_none());
}

#[test]
fn chain_in_space_keeps_its_energy() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -G).unwrap();
    let (mut last, mut pivot) = (stiction::BodyId::WORLD, Vector3::zeros());
    for k in 0..3 {
        let along = if k % 2 == 0 { Vector3::x() } else { Vector3::y() };
        let centre = pivot + along * 0.2;
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.011, 0.02, 0.016));
        let link = BodyBuilder::rigid(format!("link {k}"), 1.0, inertia).position(centre.x, centre.y, centre.z);
        let link = builder.body(link).unwrap();
        builder.joint_at(format!("ball {k}"), JointKind::Spherical, (last, link), pivot, Vector3::x()).unwrap();
        (last, pivot) = (link, pivot + along * 0.4);
    }
    let model = builder.build().unwrap();
    let mut start = None;
    run(model, 0.05, 1.0, |simulation| {
        let energy = simulation.energy();
        let first = *start.get_or_insert(energy.total());
        assert!((energy.total() - first).abs() < 1e-9, "energy changed by {:e}", energy.total() - first);
        assert!(simulation.time() < 0.2 || energy.kinetic > 0.1);
    });
}

#[test]
fn bouncing_ball_follows_its_closed_form_until_it_rests() {
    let (restitution, radius, height) = (0.7, 0.1, 0.5);
    let rule = ContactRule { restitution, ..friction(0.3) };
    let dropped = ball(radius).position(0.0, 0.0, radius + height);
    let (end, events) = run(in_space(vec![dropped], [0.0, 0.0, -G], rule), 0.02, 3.0, |_| ());
    let fall = (2.0 * height / G).sqrt();
    let mut exact = fall;
    let touches: Vec<_> = events.iter().filter(|event| event.kind == EventKind::Touch).map(|event| event.time).collect();
    assert!(touches.len() > 20, "{} bounces", touches.len());
    for (k, time) in touches.iter().take(20).enumerate() {
        assert!((time - exact).abs() < 1e-9, "bounce {k} at {time} instead of {exact}");
        exact += 2.0 * fall * restitution.powi(k as i32 + 1);
    }
    // The series of all bounces ends at fall (1 + 2 ε/(1 − ε)).
    let rest = fall * (1.0 + 2.0 * restitution / (1.0 - restitution));
    assert!((touches.last().unwrap() - rest).abs() < 1e-5);
    assert_eq!(end.contacts()[0].mode, ContactMode::Stick);
    assert!((q(&end, "ball")[2] - radius).abs() < 1e-12 && v(&end, "ball").iter().all(|v| v.abs() < 1e-12));
}

#[test]
fn sliding_block_stops_after_the_braking_distance() {
    let (mu, speed) = (0.4, 2.0);
    let sliding = block().position(0.0, 0.25, 0.0).velocity(speed, 0.0, 0.0);
    let (end, events) = run(in_the_plane(vec![sliding], [0.0, -G], friction(mu)), 0.03, 0.75, |_| ());
    assert!((q(&end, "block")[0] - speed * speed / (2.0 * mu * G)).abs() < 1e-9, "{:?}", q(&end, "block"));
    let stops: Vec<_> = events.iter().filter(|event| event.kind == EventKind::Stick).collect();
    assert_eq!(stops.len(), 2);
    assert!(stops.iter().all(|event| (event.time - speed / (mu * G)).abs() < 1e-9), "{stops:?}");
    let weight: f64 = end.contacts().iter().map(|contact| contact.normal_impulse).sum();
    assert!((weight - 2.0 * G * 0.03).abs() < 1e-12);
}

#[test]
fn block_on_a_slope_sticks_up_to_the_friction_angle_and_slides_beyond() {
    let mu = 0.5_f64;
    for (share, slides) in [(0.99, false), (1.01, true)] {
        let angle = share * mu.atan();
        let gravity = [G * angle.sin(), -G * angle.cos()];
        let resting = block().position(0.0, 0.25, 0.0);
        let (end, _) = run(in_the_plane(vec![resting], gravity, friction(mu)), 0.1, 1.0, |_| ());
        let exact = if slides { G * (angle.sin() - mu * angle.cos()) } else { 0.0 };
        assert!((v(&end, "block")[0] - exact).abs() < 1e-11, "{:?} against {exact}", v(&end, "block"));
    }
}

#[test]
fn thrown_ball_slides_then_rolls_with_five_sevenths_of_its_speed() {
    let (mu, radius, speed) = (0.3, 0.1, Vector3::new(1.2, -0.5, 0.0));
    let thrown = ball(radius).position(0.0, 0.0, radius).velocity(speed.x, speed.y, 0.0);
    let (end, events) = run(in_space(vec![thrown], [0.0, 0.0, -G], friction(mu)), 0.02, 0.3, |_| ());
    let rolls = events.iter().find(|event| event.kind == EventKind::Stick).unwrap();
    let (size, exact) = (speed.norm(), speed * 5.0 / 7.0);
    assert!((rolls.time - 2.0 * size / (7.0 * mu * G)).abs() < 1e-8, "rolls at {}", rolls.time);
    let velocity = Vector3::from_column_slice(&v(&end, "ball")[..3]);
    assert!((velocity - exact).norm() < 1e-8, "{velocity}");
    let distance = Vector3::from_column_slice(&q(&end, "ball")[..3]).xy().norm();
    let sliding = rolls.time;
    let whole = size * sliding - 0.5 * mu * G * sliding * sliding + 5.0 / 7.0 * size * (end.time() - sliding);
    assert!((distance - whole).abs() < 1e-8, "{distance} against {whole}");
}

#[test]
fn free_body_keeps_energy_and_angular_momentum() {
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.3, 0.5, 0.7));
    let body = BodyBuilder::rigid("body", 1.0, inertia).angular_velocity(0.01, 6.0, 0.02).velocity(0.3, 0.1, 0.0);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.body(body).unwrap();
    let mut start = None;
    let mut turned = false;
    run(builder.build().unwrap(), 0.1, 3.0, |simulation| {
        let now = (simulation.energy().total(), simulation.momentum());
        let first = *start.get_or_insert(now);
        assert!((now.0 - first.0).abs() < 1e-9);
        assert!((now.1.angular - first.1.angular).norm() < 1e-9);
        turned |= v(simulation, "body")[3].abs() > 1.0;
    });
    assert!(turned, "rotation about the middle axis is unstable");
}
