//! Laws of compliant layers: measured stiffness and damping equal the given ones, and stiff layers approach rigid contact.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, ContactMode, ContactRule, Dimension, Expression, Layer, LayerRule, LineariseAt, Model, PositionUpdate,
    Preset, Simulation, multibody::ExpressionMotion, planar, spatial,
};

use crate::support::{G, down, on_floor, solid_box, solid_rectangle, step, steps};

fn soft(layer: Layer, friction: f64) -> ContactRule {
    ContactRule { friction, layer: LayerRule::Given(layer), ..ContactRule::default() }
}

/// A point mass in the plane with a disc around it, touching the floor: one contact, and nothing turns.
fn particle(mass: f64) -> BodyBuilder {
    BodyBuilder::particle("part", mass).position(0.0, 1.0, 0.0).shape(planar::Shape::disc(1.0).unwrap().into())
}

fn at_rest(model: Model, h: f64, count: usize) -> Simulation {
    let mut simulation = Simulation::new(model, Preset::Ncp.scheme(), h).unwrap();
    steps(&mut simulation, count);
    simulation
}

#[test]
fn stiffness_typed_is_stiffness_measured() {
    let mass: f64 = 2.0;
    for stiffness in [50.0, 1e3, 1e5, 1e7] {
        let damping = 2.0 * (mass * stiffness).sqrt();
        let rule = soft(Layer::normal(stiffness, damping), 0.0);
        let simulation =
            at_rest(on_floor(Dimension::Planar, [particle(mass)], down(Dimension::Planar), rule), 1e-3, 6000);
        let deflection = 1.0 - simulation.state().q[1];
        assert!((deflection - mass * G / stiffness).abs() < 1e-9, "{stiffness}: {deflection}");
        let contact = simulation.contacts()[0];
        let layer = contact.layer.unwrap();
        assert!((contact.gap + deflection).abs() < 1e-12 && (layer.compression - deflection).abs() < 1e-12);
        assert!((contact.normal_impulse - mass * G * 1e-3).abs() < 1e-9);
        assert!((layer.energy - 0.5 * stiffness * deflection * deflection).abs() < 1e-9);
    }
}

#[test]
fn layers_of_both_bodies_are_in_series() {
    let (first, second) = (Layer::normal(400.0, 8.0).with_depth(0.03), Layer::normal(600.0, 12.0).with_depth(0.02));
    let floor = BodyBuilder::fixed("floor").shape(crate::support::floor()).layer(first);
    let model = |bodies: Vec<BodyBuilder>, rule| {
        crate::support::world(Dimension::Planar, bodies, down(Dimension::Planar), rule)
    };
    let both = model(vec![floor, particle(1.0).layer(second)], ContactRule::default());
    let simulation = at_rest(both, 1e-3, 8000);
    let deflection = 1.0 - simulation.state().q[1];
    assert!((deflection - G * (1.0 / 400.0 + 1.0 / 600.0)).abs() < 1e-9, "{deflection}");
    // The same time constant: the two are one layer with it.
    let series = first.in_series(&second);
    assert!((series.stiffness.m11 - 240.0).abs() < 1e-9 && (series.damping.m11 - 4.8).abs() < 1e-9);
    assert_eq!(series.depth, Some(0.05));
    // Deeper than both together nothing goes: a mass twice as heavy as the layers can bear rests on the core.
    let floor = BodyBuilder::fixed("floor").shape(crate::support::floor()).layer(first);
    let heavy = model(vec![floor, particle(3.0).layer(second)], ContactRule::default());
    let simulation = at_rest(heavy, 1e-3, 8000);
    assert!((1.0 - simulation.state().q[1] - 0.05).abs() < 1e-9);
    let layer = simulation.contacts()[0].layer.unwrap();
    assert!((layer.core_impulse - 1e-3 * (3.0 * G - 240.0 * 0.05)).abs() < 1e-9);
    assert!(simulation.infeasibility().unwrap().penetration < 1e-9);
}

/// A block on a slope creeps until its spring carries it, and then sticks; laid flat it goes back.
#[test]
fn shear_creeps_then_sticks_and_returns() {
    let (mass, stiffness, tangential, slope) = (2.0, 2e4, 5e3, 0.4_f64);
    let layer = Layer::shearing([stiffness, tangential], [400.0, 200.0]);
    let gravity = [G * slope.sin(), -G * slope.cos(), 0.0];
    let model = || on_floor(Dimension::Planar, [particle(mass)], gravity, soft(layer, 0.6));
    for (update, count) in [(PositionUpdate::End, 4000), (PositionUpdate::Average, 4000)] {
        let mut scheme = Preset::Ncp.scheme();
        scheme.position_update = update;
        let mut simulation = Simulation::new(model(), scheme.clone(), 1e-3).unwrap();
        steps(&mut simulation, count);
        let x = simulation.state().q[0];
        assert!((x - mass * gravity[0] / tangential).abs() < 1e-9, "{update:?}: {x}");
        assert!(simulation.state().v[0].abs() < 1e-12);
        assert_eq!(simulation.contacts()[0].mode, ContactMode::Stick);
        let flat = on_floor(Dimension::Planar, [particle(mass)], down(Dimension::Planar), soft(layer, 0.6));
        let mut back = Simulation::new(flat, scheme, 1e-3).unwrap();
        back.set_state(simulation.state()).unwrap();
        steps(&mut back, count);
        assert!(back.state().q[0].abs() < 1e-9, "{update:?}: {}", back.state().q[0]);
    }
    // Steeper than friction holds it slides, with friction on its cone.
    let steep = [G * 0.7_f64.sin(), -G * 0.7_f64.cos(), 0.0];
    let mut simulation = Simulation::new(
        on_floor(Dimension::Planar, [particle(mass)], steep, soft(layer, 0.6)),
        Preset::Ncp.scheme(),
        1e-3,
    )
    .unwrap();
    steps(&mut simulation, 1000);
    let contact = simulation.contacts()[0];
    assert_eq!(contact.mode, ContactMode::Slip);
    assert!((contact.friction_impulse.norm() - 0.6 * contact.normal_impulse).abs() < 1e-9);
    let sheared = Vector3::from(contact.layer.unwrap().shear).norm();
    assert!((sheared - 0.6 * mass * G * 0.7_f64.cos() / tangential).abs() < 1e-9, "{sheared}");
}

/// K and C with all their entries: the load that a deflection balances is K times it.
#[test]
fn coupled_springs_hold_what_their_matrix_says() {
    let stiffness = Matrix3::new(3000.0, 600.0, -400.0, 600.0, 1500.0, 250.0, -400.0, 250.0, 1200.0);
    let gravity = [1.5, -0.8, -G];
    let ball = BodyBuilder::particle("part", 1.0).position(0.0, 0.0, 1.0);
    let ball = ball.shape(spatial::Shape::sphere(1.0).unwrap().into());
    let rule = soft(Layer::coupled(stiffness, stiffness * 0.02), 5.0);
    for at in [LineariseAt::Start, LineariseAt::Predicted, LineariseAt::End] {
        let model = on_floor(Dimension::Spatial, [ball.clone()], gravity, rule.clone());
        let mut scheme = Preset::Ncp.scheme();
        scheme.linearise_at = at;
        let mut simulation = Simulation::new(model, scheme, 1e-3).unwrap();
        steps(&mut simulation, 4000);
        let q = &simulation.state().q;
        // The frame of the contact is (z, x, y), and a deflection in the direction of the force is minus the displacement.
        let deflection = -Vector3::new(q[2] - 1.0, q[0], q[1]);
        let force = stiffness * deflection;
        let error = force + Vector3::new(gravity[2], gravity[0], gravity[1]);
        assert!(error.norm() < 1e-7, "{at:?}: {error}");
        assert_eq!(simulation.contacts()[0].mode, ContactMode::Stick);
    }
}

/// Largest distance between the motion of a disc that slides, then rolls, on a layer and on rigid ground, and where it ends.
#[test]
fn stiff_layers_converge_to_rigid_contact() {
    let disc = || {
        BodyBuilder::planar("disc", 1.0, 0.5)
            .position(0.0, 1.0, 0.0)
            .velocity(2.0, 0.0, 0.0)
            .shape(planar::Shape::disc(1.0).unwrap().into())
    };
    let (h, count) = (1e-3, 1200);
    let path = |rule: ContactRule| {
        let model = on_floor(Dimension::Planar, [disc()], down(Dimension::Planar), rule);
        let mut simulation = Simulation::new(model, Preset::Ncp.scheme(), h).unwrap();
        (0..count)
            .map(|_| {
                let _ = step(&mut simulation);
                simulation.state().q.clone()
            })
            .collect::<Vec<_>>()
    };
    let rigid = path(ContactRule { friction: 0.3, ..ContactRule::default() });
    let distances = [1e4_f64, 1e5, 1e6, 1e7, 1e8].map(|stiffness| {
        // Critically damped.
        let damping = 2.0 * stiffness.sqrt();
        let soft = path(soft(Layer::shearing([stiffness, stiffness], [damping, damping]), 0.3));
        let apart = soft.iter().zip(&rigid).flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()));
        let last = soft.last().unwrap();
        assert!((1.0 - last[1] - G / stiffness).abs() < 1e-9, "{stiffness}: {last:?}");
        apart.fold(0.0, f64::max)
    });
    let orders: Vec<_> = distances.windows(2).map(|pair| (pair[0] / pair[1]).log10()).collect();
    println!("distances {distances:?}, orders in 1/K {orders:?}");
    assert!(orders.iter().all(|order| (0.7..1.3).contains(order)), "{orders:?}");
}

/// A block slides and stops by friction on two corners: where it stops is that of rigid contact, at first order in 1/K.
#[test]
fn a_block_stops_where_rigid_friction_stops_it() {
    let (h, mu) = (1e-3, 0.4);
    let stop = |rule: ContactRule| {
        let block = solid_rectangle("block", 2.0, [0.3, 0.1]).position(0.0, 0.1, 0.0).velocity(1.0, 0.0, 0.0);
        let model = on_floor(Dimension::Planar, [block], down(Dimension::Planar), rule);
        let simulation = at_rest(model, h, 1500);
        let touching = |contact: &&stiction::ContactReport| contact.normal_impulse > 0.0;
        let mut contacts = simulation.contacts().iter().filter(touching);
        assert!(contacts.all(|contact| contact.mode == ContactMode::Stick));
        assert!(simulation.state().v.iter().all(|v| v.abs() < 1e-9), "{:?}", simulation.state().v);
        simulation.state().q.clone()
    };
    let rigid = stop(ContactRule { friction: mu, ..ContactRule::default() });
    let distances = [1e4_f64, 1e5, 1e6, 1e7].map(|stiffness| {
        let damping = 2.0 * (2.0 * stiffness).sqrt();
        stop(soft(Layer::shearing([stiffness, 0.8 * stiffness], [damping, damping]), mu))
            .iter()
            .zip(&rigid)
            .map(|(a, b)| (a - b).abs())
            .collect::<Vec<_>>()
    });
    println!("{distances:?}");
    let order = |k: usize| (distances[0][k] / distances[3][k]).log10() / 3.0;
    assert!((0.9..1.1).contains(&order(1)), "height: {distances:?}");
    assert!((0.9..1.1).contains(&order(0)), "place: {distances:?}");
}

/// A layer that recovers slowly does so wherever the body that pressed it has gone.
#[test]
fn a_layer_relaxes_when_nothing_touches_it() {
    let (stiffness, damping, h) = (1e3, 400.0, 1e-3);
    let part = particle(1.0).velocity(0.0, -2.0, 0.0);
    let model = on_floor(Dimension::Planar, [part], [0.0; 3], soft(Layer::normal(stiffness, damping), 0.0));
    let mut simulation = Simulation::new(model, Preset::Ncp.scheme(), h).unwrap();
    steps(&mut simulation, 20);
    // Lifted out of it, far beyond the reach of a step.
    let mut state = simulation.state().clone();
    (state.q[1], state.v[1]) = (5.0, 0.0);
    simulation.set_state(&state).unwrap();
    let before = state.contacts[0].layer.unwrap().compression;
    assert!(before > 1e-3);
    steps(&mut simulation, 300);
    let after = simulation.contacts()[0].layer.unwrap();
    let factor = (damping / (h * stiffness + damping)).powi(300);
    assert!((after.compression - before * factor).abs() < 1e-12, "{after:?}");
    assert_eq!((simulation.contacts()[0].mode, simulation.contacts()[0].normal_impulse), (ContactMode::Open, 0.0));
    // Relaxed, it is forgotten.
    steps(&mut simulation, 10_000);
    assert!(simulation.contacts().is_empty());
}

/// A mass that sticks to a layer and swings along it keeps its energy by the midpoint rule, and what damping takes is C δ̇².
#[test]
fn shear_keeps_its_energy_and_damping_takes_what_it_should() {
    let (mass, stiffness, h) = (1.0, [5e3, 2e3], 2e-3);
    let sunk = mass * G / stiffness[0];
    for damping in [0.0, 3.0] {
        let part = BodyBuilder::particle("part", mass)
            .position(0.0, 1.0 - sunk, 0.0)
            .velocity(0.1, 0.0, 0.0)
            .shape(planar::Shape::disc(1.0).unwrap().into());
        let layer = Layer::shearing(stiffness, [0.0, damping]);
        let model = on_floor(Dimension::Planar, [part], down(Dimension::Planar), soft(layer, 3.0));
        let mut scheme = Preset::Ncp.scheme();
        scheme.position_update = PositionUpdate::Average;
        let mut simulation = Simulation::new(model, scheme, h).unwrap();
        // The first step compresses the layer by nothing: it was in equilibrium.
        steps(&mut simulation, 1);
        let (start, mut taken, mut swing) = (simulation.energy().total(), 0.0, 0.0_f64);
        for _ in 0..2000 {
            let before = simulation.contacts()[0].layer.unwrap().shear[0];
            steps(&mut simulation, 1);
            let after = simulation.contacts()[0].layer.unwrap().shear[0];
            taken += damping * (after - before) * (after - before) / h;
            swing = swing.max(after.abs());
            let error = simulation.energy().total() + taken - start;
            assert!(error.abs() < 1e-12, "damping {damping}: {error:e}");
        }
        assert!(damping > 0.0 || (swing - 0.1 / (stiffness[1] / mass).sqrt()).abs() < 1e-5, "{swing}");
    }
}

/// A belt takes a part along through a layer that shears: at the end they move as one, and nothing slips.
#[test]
fn a_belt_takes_a_part_along_through_its_layer() {
    for update in [PositionUpdate::End, PositionUpdate::Average] {
        let mut scheme = Preset::Ncp.scheme();
        scheme.position_update = update;
        let belt =
            BodyBuilder::fixed("belt").shape(crate::support::floor()).conveyor(crate::support::constant(0.4, 0.0, 0.0));
        let rule = soft(Layer::shearing([1e4, 4e3], [80.0, 60.0]), 0.5);
        let model = crate::support::world(Dimension::Planar, [belt, particle(1.0)], down(Dimension::Planar), rule);
        let mut simulation = Simulation::new(model, scheme, 1e-3).unwrap();
        steps(&mut simulation, 3000);
        let contact = simulation.contacts()[0];
        assert!((simulation.state().v[0] - 0.4).abs() < 1e-9, "{update:?}: {:?}", simulation.state().v);
        assert_eq!(contact.mode, ContactMode::Stick, "{update:?}: {contact:?}");
        assert!(contact.friction_impulse.norm() < 1e-9 && Vector3::from(contact.layer.unwrap().shear).norm() < 1e-9);
    }
}

/// On a turning table a puck is held by the shear of its layer, which turns along, turn after turn.
#[test]
fn shear_turns_with_the_bodies() {
    let (omega, radius, tangential, h) = (2.0_f64, 0.5, 800.0, 1e-3);
    let still = || Expression::constant(0.0);
    let motion = ExpressionMotion {
        position: [still(), still(), still()],
        axis: Vector3::z(),
        angle: Expression::parse(&format!("{omega}*t")).unwrap(),
        base: nalgebra::UnitQuaternion::identity(),
    };
    let table = BodyBuilder::kinematic("table", std::sync::Arc::new(motion))
        .shape(spatial::Shape::half_space(Vector3::z()).unwrap().into());
    let puck = solid_box("puck", 1.0, [0.1, 0.1, 0.02])
        .position(radius, 0.0, 0.02)
        .velocity(0.0, omega * radius, 0.0)
        .angular_velocity(0.0, 0.0, omega);
    let rule = soft(Layer::shearing([5e4, tangential], [400.0, 40.0]), 1.0);
    let model = crate::support::world(Dimension::Spatial, [table, puck], down(Dimension::Spatial), rule);
    let mut scheme = Preset::Ncp.scheme();
    // At the start of the step the table moves along a tangent, and everything on it, rigid or not, drifts outwards by h ω² r.
    scheme.linearise_at = LineariseAt::End;
    let mut simulation = Simulation::new(model, scheme, h).unwrap();
    // Where the puck is, as seen from the table, after it has settled and a whole turn later: four springs hold it.
    let held = radius / (1.0 - omega * omega / (4.0 * tangential));
    for time in [1.0, 4.2] {
        while simulation.time() < time - 0.5 * h {
            steps(&mut simulation, 1);
        }
        let (q, (sin, cos)) = (&simulation.state().q, (omega * simulation.time()).sin_cos());
        let [x, y] = [q[0] * cos + q[1] * sin, q[1] * cos - q[0] * sin];
        assert!((x - held).abs() < 1e-6 && y.abs() < 1e-6, "{x} instead of {held}, and {y} aside");
        let contacts = simulation.contacts();
        assert!(contacts.len() == 4 && contacts.iter().all(|contact| contact.mode == ContactMode::Stick));
    }
}
