//! The event-driven reference stepper against closed forms, conservation laws and independently derived event times.

use nalgebra::{Matrix3, Point3, UnitQuaternion, Vector3};
use stiction::{
    BodyBuilder, ContactMode, ContactRule, Dimension, EventKind, JointKind, Model, ModelBuilder, Preset, Simulation,
    multibody::rotation::from_body_123, planar, schemes::ReferenceStepper, spatial,
};
use stiction_testkit::reference;

use crate::{
    family::Family,
    published::{balls, rod},
    support::{G, friction, on_floor, q, solid_ball, solid_box, step, v},
};

/// Runs with the reference stepper; returns all events.
fn run(model: Model, h: f64, duration: f64, mut each: impl FnMut(&Simulation)) -> (Simulation, Vec<stiction::Event>) {
    let mut simulation =
        Simulation::new(model, Preset::Ncp.scheme(), h).unwrap().with_stepper(ReferenceStepper::default());
    let mut events = Vec::new();
    for _ in 0..(duration / h).round() as usize {
        let report = step(&mut simulation);
        assert!(report.penetration < 1e-11 && report.joint_error < 1e-12, "{report:?}");
        events.extend_from_slice(simulation.events());
        each(&simulation);
    }
    (simulation, events)
}

fn in_the_plane(bodies: Vec<BodyBuilder>, [x, y]: [f64; 2], rule: ContactRule) -> Model {
    on_floor(Dimension::Planar, bodies, [x, y, 0.0], rule)
}

fn in_space(bodies: Vec<BodyBuilder>, gravity: [f64; 3], rule: ContactRule) -> Model {
    on_floor(Dimension::Spatial, bodies, gravity, rule)
}

fn ball(radius: f64) -> BodyBuilder {
    solid_ball("ball", 2.0, radius)
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
        let (first, second) = (events[0].contact, events[3].contact);
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
    let (mut exact, mut flight) = (fall, 2.0 * fall);
    let touches: Vec<_> =
        events.iter().filter(|event| event.kind == EventKind::Touch).map(|event| event.time).collect();
    assert!(touches.len() > 20, "{} bounces", touches.len());
    for (k, time) in touches.iter().take(20).enumerate() {
        assert!((time - exact).abs() < 1e-9, "bounce {k} at {time} instead of {exact}");
        flight *= restitution;
        exact += flight;
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
    for (fraction, slides) in [(0.99, false), (1.01, true)] {
        let angle = fraction * mu.atan();
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

fn standing_box(half: [f64; 3]) -> BodyBuilder {
    solid_box("box", 1.0, half).position(0.0, 0.0, half[2])
}

#[test]
fn box_in_space_slides_straight_on_four_corners_and_stops() {
    let (mu, speed) = (0.5, 3.0);
    let (sin, cos) = 22.5_f64.to_radians().sin_cos();
    let sliding = standing_box([0.2, 0.2, 0.02]).velocity(speed * cos, speed * sin, 0.0);
    let (end, _) = run(in_space(vec![sliding], [0.0, 0.0, -G], friction(mu)), 0.05, 0.8, |_| ());
    let distance = speed * speed / (2.0 * mu * G);
    assert!((q(&end, "box")[0] - distance * cos).abs() < 1e-9 && (q(&end, "box")[1] - distance * sin).abs() < 1e-9);
    assert!(v(&end, "box").iter().all(|v| v.abs() < 1e-12));
    assert_eq!(end.contacts().iter().filter(|contact| contact.mode == ContactMode::Stick).count(), 4);
}

#[test]
fn box_on_a_slope_in_space_sticks_up_to_the_friction_angle() {
    // Near the friction angle the lower corners carry more: no even distribution of the friction is within all cones.
    let mu = 0.5_f64;
    for (fraction, slides) in [(0.99, false), (1.01, true)] {
        let angle = fraction * mu.atan();
        let gravity = [G * angle.sin() * 0.8, G * angle.sin() * 0.6, -G * angle.cos()];
        let (end, _) = run(in_space(vec![standing_box([0.5, 0.4, 0.3])], gravity, friction(mu)), 0.1, 0.5, |_| ());
        let exact = if slides { 0.5 * G * (angle.sin() - mu * angle.cos()) } else { 0.0 };
        let velocity = Vector3::from_column_slice(&v(&end, "box")[..3]);
        let along = Vector3::new(0.8, 0.6, 0.0) * exact;
        assert!((velocity - along).norm() < 1e-9, "{velocity} against {along}");
    }
}

#[test]
fn spinning_ball_is_stopped_by_torsion() {
    let (mu, e_r, radius, spin) = (0.3, 0.05, 0.1, 20.0);
    let spinning = ball(radius).position(0.0, 0.0, radius).angular_velocity(0.0, 0.0, spin);
    let rule = ContactRule { torsion: e_r, ..friction(mu) };
    let (end, events) = run(in_space(vec![spinning], [0.0, 0.0, -G], rule), 0.1, 0.6, |_| ());
    let rate = mu * e_r * G / (0.4 * radius * radius);
    let stop = events.iter().find(|event| event.kind == EventKind::Stick).unwrap();
    assert!((stop.time - spin / rate).abs() < 1e-9, "{}", stop.time);
    assert!(v(&end, "ball").iter().all(|v| v.abs() < 1e-12));
}

#[test]
fn particle_leaves_a_sphere_where_it_should() {
    let (radius, speed) = (0.7, 0.5);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -G).unwrap();
    builder.body(BodyBuilder::fixed("dome").shape(spatial::Shape::sphere(radius).unwrap().into())).unwrap();
    let particle = BodyBuilder::particle("particle", 1.0)
        .position(0.0, 0.0, radius)
        .velocity(speed * 0.6, speed * 0.8, 0.0)
        .shape(spatial::Shape::point().into());
    builder.body(particle).unwrap();
    // Energy and N = 0 give cos θ = 2/3 + v²/(3 g R); energy is kept on the way and after.
    let cosine = 2.0 / 3.0 + speed * speed / (3.0 * G * radius);
    let mut last_height = radius;
    let mut left = None;
    let (end, events) = run(builder.build().unwrap(), 1e-3, 0.8, |simulation| {
        if left.is_none() && simulation.events().iter().any(|event| event.kind == EventKind::Separate) {
            left = Some((last_height, q(simulation, "particle")[2]));
        }
        last_height = q(simulation, "particle")[2];
        let energy = simulation.energy().total();
        assert!((energy - (0.5 * speed * speed + G * radius)).abs() < 1e-9, "{energy}");
    });
    let (above, below) = left.unwrap();
    assert!(below <= radius * cosine && radius * cosine <= above, "{below} < {} < {above}", radius * cosine);
    // From there it flies: back along the parabola to the very point.
    let leave = events.iter().find(|event| event.kind == EventKind::Separate).unwrap().time;
    let (z, w, t) = (q(&end, "particle")[2], v(&end, "particle")[2], end.time() - leave);
    let start = z - w * t - 0.5 * G * t * t;
    assert!((start - radius * cosine).abs() < 1e-9, "left at {start} instead of {}", radius * cosine);
}

#[test]
fn painleve_rod_is_stopped_by_a_shock() {
    let case = reference("c33");
    let number = |name: &str| case.number(name);
    let (theta, half, r) = (number("parameters.theta"), number("parameters.length") / 2.0, number("parameters.radius"));
    let speed = case.numbers("parameters.tip_velocity")[0];
    let model = rod(&case, [0.0, half * theta.sin() + r, theta], [speed, 0.0, 0.0]);
    let scheme = Preset::Ncp.scheme();
    let mut simulation = Simulation::new(model, scheme, 1e-6).unwrap().with_stepper(ReferenceStepper::default());
    let report = step(&mut simulation);
    assert_eq!((report.impacts, simulation.workspace_mut().result.shocks), (1, 1));
    // The impulse that stops the tip: A p = −(0, speed).
    let [a_nn, a_tt, a_nt] = ["a_nn", "a_tt", "a_nt"].map(|name| number(&format!("derived.{name}")));
    let exact = a_nt * speed / (a_nn * a_tt - a_nt * a_nt);
    let contact = simulation.contacts().iter().find(|contact| contact.mode == ContactMode::Stick).unwrap();
    // The contact pushes with about 8 N for the rest of the step.
    let pushed = contact.normal_impulse - exact;
    assert!(pushed > 0.0 && pushed < 2e-5, "{} against {exact}", contact.normal_impulse);
    assert!(contact.slip.norm() < 1e-12);
}

/// The rods of C-27: body a from P1 to P2, body b from P2 on, along −z of the bodies.
fn double_pendulum(angles: [[f64; 3]; 2], p1: Vector3<f64>, velocity: Vector3<f64>, rule: ContactRule) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -G).unwrap();
    let floor = spatial::Shape::half_space(Vector3::z()).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor.into())).unwrap();
    let first = from_body_123(angles[0]);
    let second = first * from_body_123(angles[1]);
    let p2 = p1 - first * Vector3::z();
    let link = |name: &str, e: &UnitQuaternion<f64>, centre: Vector3<f64>| {
        BodyBuilder::rigid(name, 1.0, Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0)))
            .position(centre.x, centre.y, centre.z)
            .quaternion([e.w, e.i, e.j, e.k])
            .velocity(velocity.x, velocity.y, velocity.z)
    };
    let tip = stiction::Pose::translation(0.0, 0.0, 0.5);
    let a = link("a", &first, p1 - first * Vector3::z() * 0.5).shape_at(spatial::Shape::point().into(), tip);
    let a = builder.body(a).unwrap();
    let b = builder.body(link("b", &second, p2 - second * Vector3::z() * 0.5)).unwrap();
    builder.joint_at("p2", JointKind::Spherical, (a, b), p2, Vector3::x()).unwrap();
    builder.default_contact(rule).unwrap();
    builder.build().unwrap()
}

fn p1(simulation: &Simulation) -> Point3<f64> {
    let a = simulation.model().find_body("a").unwrap();
    simulation.configuration().pose(a) * Point3::new(0.0, 0.0, 0.5)
}

#[test]
fn c27_sliding_and_dropped_pendulum_in_space() {
    let case = reference("c27");
    let angles = [[0.0, 2.0, 0.0], [2.0, 0.0, 0.0]];
    let sliding = double_pendulum(angles, Vector3::zeros(), Vector3::new(1.0, 1.0, 0.0), friction(0.2));
    let mut rows = case.table("derived.sliding.motion").into_iter().peekable();
    let (_, events) = run(sliding, 0.05, 1.0, |simulation| {
        let Some(row) = rows.next_if(|row| (row["t"] - simulation.time()).abs() < 1e-9) else { return };
        let tip = p1(simulation);
        let error = (tip.x - row["p1_x"]).abs().max((tip.y - row["p1_y"]).abs());
        assert!(error < 1e-6 && tip.z.abs() < 1e-12, "{tip} at {}", row["t"]);
        assert!((simulation.energy().total() - row["energy"]).abs() < 1e-6);
        let slip = simulation.contacts()[0].slip;
        assert!((slip.x - row["v_x"]).abs() < 1e-6 && (slip.y - row["v_y"]).abs() < 1e-6);
    });
    assert!(rows.peek().is_none());
    assert_eq!(events.len(), 2, "touches and slips: {events:?}");

    let dropped = double_pendulum(angles, Vector3::z(), Vector3::zeros(), friction(0.0));
    let mut rows = case.table("derived.drift.p1").into_iter().peekable();
    let (end, events) = run(dropped, 0.05, 2.0, |simulation| {
        let Some(row) = rows.next_if(|row| (row["t"] - simulation.time()).abs() < 1e-9) else { return };
        let tip = p1(simulation);
        assert!((tip.x - row["x"]).abs() < 2e-7 && (tip.y - row["y"]).abs() < 2e-7, "{tip} at {}", row["t"]);
    });
    assert!((events[0].time - case.number("derived.drift.impact")).abs() < 1e-9);
    assert!((end.energy().total() - case.number("derived.drift.energy_after")).abs() < 1e-6);
}

/// Derived in reduced coordinates (P1, two angles) with modes by hand and RK4 of steps 2e-4 and 1e-4, which agree in all
/// digits shown but the last.
#[test]
fn c29_pendulum_sticks_and_slips() {
    let angles = [[0.0, 1.0, 0.0]; 2];
    let model = double_pendulum(angles, Vector3::z() * 0.1, Vector3::zeros(), friction(0.2));
    let mut energy = f64::INFINITY;
    let mut places =
        vec![(0.5, -0.032_198_510_434), (1.0, -0.106_134_447_997), (3.0, 0.234_718_293_112)].into_iter().peekable();
    let (_, events) = run(model, 0.05, 3.0, |simulation| {
        let now = simulation.energy().total();
        assert!(now < energy + 1e-9, "energy grew from {energy} to {now}");
        energy = now;
        if let Some((_, x)) = places.next_if(|(t, _)| (t - simulation.time()).abs() < 1e-9) {
            assert!((p1(simulation).x - x).abs() < 1e-9, "{} against {x}", p1(simulation).x);
        }
    });
    assert!(places.peek().is_none());
    // The impact leaves no slip, but what holds it would be outside the cone: it slides left at once.
    let expected = [
        (EventKind::Touch, 0.142_784_312_293),
        (EventKind::Slip, 0.142_784_312_293),
        (EventKind::Stick, 0.814_224_234_164),
        (EventKind::Slip, 1.353_208_955_834),
        (EventKind::Stick, 2.302_794_060_206),
    ];
    assert_eq!(events.len(), expected.len(), "{events:?}");
    for (event, (kind, time)) in events.iter().zip(expected) {
        assert!(event.kind == kind && (event.time - time).abs() < 1e-9, "{event:?} against {kind:?} at {time}");
    }
}

#[test]
fn c30_pendulum_bounces_with_seven_tenths() {
    let angles = [[0.0, 1.0, 0.0]; 2];
    let rule = ContactRule { restitution: 0.7, ..friction(0.2) };
    let (_, events) = run(double_pendulum(angles, Vector3::z() * 0.5, Vector3::zeros(), rule), 0.05, 1.0, |_| ());
    let touches: Vec<_> =
        events.iter().filter(|event| event.kind == EventKind::Touch).map(|event| event.time).collect();
    for (time, exact) in touches.iter().zip([0.319_275_428_4, 0.688_993_9, 0.930_518_6]) {
        assert!((time - exact).abs() < 1e-7, "{time} against {exact}");
    }
    assert!((touches[0] - 0.319_275_428_4).abs() < 1e-9);
}

#[test]
fn c04_block_under_a_pendulum_slides_sticks_and_slides() {
    let case = reference("c04");
    let mut family = Family::read(&case, &["rod_b", "block"]);
    family.floor_friction = case.number("derived.mixed.friction");
    let mut rows = case.table("derived.mixed.positions").into_iter().peekable();
    let (_, events) = run(family.model(), 0.05, 2.0, |simulation| {
        if let Some(row) = rows.next_if(|row| (row["t"] - simulation.time()).abs() < 1e-9) {
            let x = q(simulation, "block")[0];
            assert!((x - row["x"]).abs() < 2e-8, "{x} against {} at {}", row["x"], row["t"]);
        }
    });
    assert!(rows.peek().is_none());
    let first = events[0].contact;
    let times: Vec<_> = events.iter().filter(|event| event.contact == first).skip(2).collect();
    assert_eq!(times.len(), 3, "{times:?}");
    for (event, name) in times.iter().zip(["sticks_first", "slips_left", "sticks_again"]) {
        let exact = case.number(&format!("derived.mixed.{name}"));
        assert!((event.time - exact).abs() < 1e-6, "{name} at {} against {exact}", event.time);
    }
}

#[test]
fn c05_and_c06_pushers_and_belts() {
    let case = reference("c06");
    let family = Family::read(&case, &["rod_b", "block", "friction_floor", "belt_speed"]);
    let mut rows = case.table("derived.positions").into_iter().peekable();
    let (_, events) = run(family.model(), 0.05, 2.0, |simulation| {
        if let Some(row) = rows.next_if(|row| (row["t"] - simulation.time()).abs() < 1e-9) {
            assert!((q(simulation, "block")[0] - row["x"]).abs() < 1e-8, "{}", q(simulation, "block")[0]);
        }
    });
    let stuck = events.iter().find(|event| event.kind == EventKind::Stick).unwrap();
    assert!((stuck.time - case.number("derived.sticks")).abs() < 1e-7, "{}", stuck.time);

    let case = reference("c05");
    let family = Family::read(&case, &["rod_b", "block", "friction_floor", "pusher"]);
    let mut rows = case.table("derived.motion_after_hit").into_iter().peekable();
    let (hit, speed) = (case.number("derived.hit.t"), case.number("derived.hit.block_speed"));
    run(family.model(), 0.05, 1.1, |simulation| {
        let exact = speed * (simulation.time() - hit).max(0.0);
        assert!((q(simulation, "block")[0] - exact).abs() < 1e-11, "{} against {exact}", q(simulation, "block")[0]);
        if let Some(row) = rows.next_if(|row| (row["t_since_hit"] + hit - simulation.time()).abs() < 1e-9) {
            let error =
                (q(simulation, "a")[2] - row["theta_a"]).abs().max((q(simulation, "b")[2] - row["theta_b"]).abs());
            assert!(error < 1e-8, "angles off by {error} at {}", simulation.time());
        }
    });
    assert!(rows.peek().is_none());
}

#[test]
fn too_many_events_and_foreign_laws_are_refused_by_name() {
    let rule = ContactRule { restitution: 0.7, ..friction(0.3) };
    let dropped = ball(0.1).position(0.0, 0.0, 0.6);
    let model = in_space(vec![dropped], [0.0, 0.0, -G], rule);
    let stepper = ReferenceStepper { max_events: 5, ..ReferenceStepper::default() };
    let mut simulation = Simulation::new(model.clone(), Preset::Ncp.scheme(), 3.0).unwrap().with_stepper(stepper);
    let before = simulation.state().clone();
    let error = simulation.step().unwrap_err().to_string();
    assert!(error.contains("more than 5 events") && error.contains("\"ball\""), "{error}");
    assert!(simulation.state().bit_equal(&before));
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.impact = stiction::Impact::Poisson;
    let mut simulation = Simulation::new(model, scheme, 0.1).unwrap().with_stepper(ReferenceStepper::default());
    assert!(simulation.step().unwrap_err().to_string().contains("Newton's law"));
}

/// The rod of C-21 as a capsule in space: it turns about −y, so that x and z are the plane.
#[test]
fn falling_rod_in_space_ends_where_the_plane_one_does() {
    let case = reference("c21");
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let tilt = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -number("angle_degrees").to_radians());
    let capsule = spatial::Shape::capsule(number("length") / 2.0, number("radius")).unwrap();
    let rod = BodyBuilder::rigid("rod", number("mass"), Matrix3::from_diagonal_element(number("inertia")))
        .position(0.0, 0.0, number("y"))
        .quaternion([tilt.w, tilt.i, tilt.j, tilt.k])
        .angular_velocity(0.0, -number("angular_velocity"), 0.0)
        .shape(capsule.into());
    let (end, events) = run(in_space(vec![rod], [0.0, 0.0, -G], friction(number("friction"))), 0.01, 0.7, |_| ());
    assert!((q(&end, "rod")[0] - case.number("derived.rest.x")).abs() < 1e-7, "{:?}", q(&end, "rod"));
    for (index, name) in [(0, "impact"), (2, "slips_left"), (3, "slap_down"), (5, "rest")] {
        let exact = case.number(&format!("derived.{name}.t"));
        assert!((events[index].time - exact).abs() < 1e-8, "{name}: {:?} against {exact}", events[index]);
    }
}

#[test]
fn particle_slides_off_a_table_over_its_edge() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -G, 0.0).unwrap();
    let table = planar::Shape::rectangle([0.5, 0.5]).unwrap();
    builder.body(BodyBuilder::fixed("table").position(0.0, -0.5, 0.0).shape(table.into())).unwrap();
    let particle = BodyBuilder::particle("particle", 1.0).velocity(2.0, 0.0, 0.0).shape(planar::Shape::point().into());
    builder.body(particle).unwrap();
    let (end, events) = run(builder.build().unwrap(), 0.04, 0.4, |_| ());
    let left = events.iter().find(|event| event.kind == EventKind::Separate).unwrap();
    assert!((left.time - 0.25).abs() < 1e-9, "{left:?}");
    assert!((q(&end, "particle")[1] + 0.5 * G * 0.15 * 0.15).abs() < 1e-9, "{:?}", q(&end, "particle"));
}

#[test]
fn three_boxes_stand_on_each_other() {
    let half = 0.1;
    let boxes = (0..3).map(|k| {
        BodyBuilder::rigid(format!("box {k}"), 1.0 + f64::from(k), Matrix3::from_diagonal_element(0.01))
            .shape(spatial::Shape::cuboid([half; 3]).unwrap().into())
            .position(0.02 * f64::from(k), 0.0, half * f64::from(2 * k + 1))
    });
    let (end, _) = run(in_space(boxes.collect(), [0.0, 0.0, -G], friction(0.5)), 0.1, 0.3, |_| ());
    for (k, x) in [0.0, 0.02, 0.04].iter().enumerate() {
        let place = q(&end, &format!("box {k}"));
        assert!((place[0] - x).abs() < 1e-12 && (place[2] - half * (2 * k + 1) as f64).abs() < 1e-12, "{place:?}");
    }
    let floor: f64 = end.contacts().iter().filter(|c| c.body_a.index() <= 1).map(|c| c.normal_impulse).sum();
    assert!((floor - 6.0 * G * 0.1).abs() < 1e-9, "{floor}");
}

#[test]
fn c22_four_balls_meet_when_they_should_and_lose_energy_only() {
    let case = reference("c22");
    let mut energy = f64::INFINITY;
    let (_, events) = run(balls(&case), 0.01, 1.0, |simulation| {
        let now = simulation.energy().total();
        assert!(now <= energy + 1e-9, "energy grew from {energy} to {now} at {}", simulation.time());
        energy = now;
    });
    let touches: Vec<_> = events
        .iter()
        .filter(|event| event.kind == EventKind::Touch && event.time > 0.0)
        .map(|event| event.time)
        .collect();
    for (time, name) in touches.iter().zip(["table_hit", "ball_hit"]) {
        let exact = case.number(&format!("derived.{name}.t"));
        assert!((time - exact).abs() < 1e-9, "{name} at {time} against {exact}");
    }
}
