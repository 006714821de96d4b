//! Kinetic energy over single steps, [ENERGY-1..4]; that the bound holds is checked in every step of every test (`support::step`).

use nalgebra::Vector3;
use stiction::{BodyBuilder, ContactRule, Dimension, Model, Preset, Scheme, Simulation, planar, scene, spatial};
use stiction_testkit::Random;

use crate::support::{friction, on_floor, solid_ball, solid_box, step, world};

const PLANAR: Dimension = Dimension::Planar;
const SPATIAL: Dimension = Dimension::Spatial;

fn with_gamma(preset: Preset, gamma: f64) -> Scheme {
    let mut scheme = preset.scheme();
    scheme.gamma = gamma;
    scheme
}

/// Balls flying about without gravity, so that nothing acts but contacts: M does not turn and nothing is gyroscopic.
fn swarm(random: &mut Random, count: u32, rule: ContactRule) -> Model {
    let balls = (0..count).map(|k| {
        let [x, y, _] = random.direction().map(|x| 0.3 * x);
        solid_ball(&format!("ball {k}"), random.uniform(0.2, 3.0), 0.1)
            .position(x, y, 0.1 + 0.21 * f64::from(k))
            .velocity(random.normal(), random.normal(), random.normal() - 1.0)
            .angular_velocity(random.normal(), 5.0 * random.normal(), random.normal())
    });
    let balls: Vec<_> = balls.collect();
    let walls = [Vector3::x(), -Vector3::x(), Vector3::y(), -Vector3::y(), Vector3::z()].map(|normal| {
        let place = Vector3::new(0.5, 0.5, 0.0).component_mul(&-normal);
        let wall = spatial::Shape::half_space(normal).unwrap();
        BodyBuilder::fixed(format!("wall {normal:?}")).position(place.x, place.y, place.z).shape(wall.into())
    });
    world(SPATIAL, walls.into_iter().chain(balls), [0.0; 3], rule)
}

/// Steps without forces and asserts that the energy never grows, not even by an infeasibility term; returns how much was lost.
fn never_grows(model: Model, scheme: Scheme, h: f64, count: usize) -> f64 {
    let mut simulation = Simulation::new(model, scheme, h).unwrap();
    let first = simulation.energy().kinetic;
    for _ in 0..count {
        let before = simulation.energy().kinetic;
        let _ = step(&mut simulation);
        let after = simulation.energy().kinetic;
        assert!(after <= before * (1.0 + 1e-12), "grew from {before} to {after} at {}", simulation.time());
        assert!(simulation.energy_bound().unwrap().forces.abs() < 1e-15 * before, "nothing acts");
    }
    first - simulation.energy().kinetic
}

#[test]
fn without_forces_the_energy_never_grows_at_velocity_level() {
    let (mut random, mut lost) = (Random::new(3), 0.0);
    for round in 0..20 {
        let rule = friction(if round % 2 == 0 { 0.0 } else { random.uniform(0.1, 1.0) });
        for preset in [Preset::AnitescuPotra, Preset::Ncp] {
            lost += never_grows(swarm(&mut random, 5, rule.clone()), with_gamma(preset, 0.0), 0.005, 200);
        }
    }
    assert!(lost > 10.0, "balls and walls were hit: {lost} J");
}

#[test]
fn without_forces_the_energy_never_grows_on_flat_contact() {
    // One ball between flat walls: its gaps are linear in q.
    let (mut random, mut lost) = (Random::new(4), 0.0);
    for round in 0..20 {
        let rule = friction(if round % 2 == 0 { 0.0 } else { random.uniform(0.1, 1.0) });
        for (preset, gamma) in [(Preset::StewartTrinkle, 1.0), (Preset::Ncp, 1.0), (Preset::AnitescuHart, 0.3)] {
            lost += never_grows(swarm(&mut random, 1, rule.clone()), with_gamma(preset, gamma), 0.005, 200);
        }
    }
    assert!(lost > 10.0, "walls were hit: {lost} J");
}

#[test]
fn removing_a_penetration_costs_what_the_bound_says_and_not_more() {
    // A particle in the floor by d leaves it with d/h: the smallest velocity that removes the error, and the bound is met.
    let (depth, h, mass) = (1e-3, 0.01, 2.0);
    for gamma in [1.0, 0.3] {
        let point = planar::Shape::point();
        let particle = BodyBuilder::particle("particle", mass).position(0.0, -depth, 0.0).shape(point.into());
        let model = on_floor(PLANAR, [particle], [0.0; 3], friction(0.3));
        let mut simulation = Simulation::new(model, with_gamma(Preset::StewartTrinkle, gamma), h).unwrap();
        let _ = step(&mut simulation);
        let (account, u) = (simulation.energy_bound().unwrap(), gamma * depth / h);
        let cheapest = 0.5 * mass * u * u;
        assert!((account.infeasibility() - cheapest).abs() < 1e-15 && (account.after - cheapest).abs() < 1e-15);
    }
}

#[test]
fn curved_contact_with_a_weight_gains_no_more_than_its_infeasibility_term() {
    // Ellipses thrown at a floor: where their flat side passes, the linearised gap is too large.
    let (mut random, mut gained, mut largest) = (Random::new(5), 0, 0.0_f64);
    for _ in 0..100 {
        let ellipse = BodyBuilder::planar("ellipse", 1.0, 5.0)
            .position(0.0, 4.1, 0.0)
            .angle(random.uniform(0.0, 3.0))
            .velocity(random.normal(), -1.0, 0.0)
            .angular_velocity(0.0, 0.0, 2.0 * random.normal())
            .shape(planar::Shape::ellipse([4.0, 2.0]).unwrap().into());
        let model = on_floor(PLANAR, [ellipse], [0.0; 3], friction(0.3));
        let mut simulation = Simulation::new(model, Preset::StewartTrinkle.scheme(), 0.05).unwrap();
        for _ in 0..100 {
            let _ = step(&mut simulation);
            let account = simulation.energy_bound().unwrap();
            let gain = account.after - account.before;
            if gain > 1e-9 * account.before {
                assert!(gain <= account.infeasibility() * (1.0 + 1e-9), "{account:?}");
                (gained, largest) = (gained + 1, largest.max(gain / account.before));
            }
        }
    }
    println!("{gained} of 10000 steps gained energy, at most {largest:.1e} of what there was");
    assert!(gained > 0, "the term is there for a reason");
}

#[test]
fn tumbling_boxes_with_joints_and_rebounds_stay_within_the_bound() {
    // Everything at once: turning inertia, joints, friction, restitution, γ between; the check is in the step.
    let mut random = Random::new(6);
    for (round, preset) in
        Preset::INERTIAL.into_iter().filter(|preset| *preset != Preset::Reference).cycle().take(20).enumerate()
    {
        let boxes: Vec<_> = (0..4)
            .map(|k| {
                solid_box(&format!("box {k}"), random.uniform(0.5, 2.0), [0.1, 0.15, 0.2])
                    .position(0.45 * f64::from(k), 0.0, 0.3)
                    .velocity(random.normal(), random.normal(), -1.0)
                    .angular_velocity(3.0 * random.normal(), 3.0 * random.normal(), 3.0 * random.normal())
            })
            .collect();
        let rule = ContactRule { restitution: 0.4, ..friction(random.uniform(0.0, 0.8)) };
        let mut builder = stiction::ModelBuilder::new(SPATIAL);
        let ground = spatial::Shape::half_space(Vector3::z()).unwrap();
        builder.body(BodyBuilder::fixed("floor").shape(ground.into())).unwrap();
        let ids: Vec<_> = boxes.into_iter().map(|body| builder.body(body).unwrap()).collect();
        let anchor = Vector3::new(0.225, 0.0, 0.3);
        builder.joint_at("ball", stiction::JointKind::Spherical, (ids[0], ids[1]), anchor, Vector3::x()).unwrap();
        builder.default_contact(rule).unwrap();
        let gravity = if round % 2 == 0 { 0.0 } else { 9.81 };
        builder.gravity(0.0, 0.0, -gravity).unwrap();
        let mut simulation = Simulation::new(builder.build().unwrap(), preset.scheme(), 0.002).unwrap();
        crate::support::steps(&mut simulation, 200);
    }
}

/// A damped spring along a line joins the two links of a pendulum; where the line passes through the joint, it cannot turn the links. The removal of
/// the error of the joint must not drive them.   [FORCE-6]
#[test]
fn dampers_between_pinned_links_only_take_energy() {
    let content = r#"
        body = [
            { name = "a", mass = 1.0, inertia = 0.08, position = [0.5, 0.0] },
            { name = "b", mass = 0.7, inertia = 0.05, position = [1.5, 0.0] },
        ]
        joint = [
            { name = "j1", kind = "revolute", between = ["world", "a"], anchor = [0.0, 0.0] },
            { name = "j2", kind = "revolute", between = ["a", "b"], anchor = [1.0, 0.0] },
        ]
        spring = [{ between = ["a", "b"], points = [[0.0, 0.2], [0.1, 0.1]], stiffness = 0.0, rest_length = 0.6, damping = 1e6 }]
        simulation = { duration = 3.0, dimension = 2, step = 0.01 }
    "#;
    let run = |scheme: &str, coordinates: &str| {
        let text = format!("{content}\n[scheme]\n{scheme}\ncoordinates = \"{coordinates}\"\n");
        let mut simulation = Simulation::from_scene(&scene::parse(&text, "brake.toml").unwrap()).unwrap();
        let (mut least, mut gained, mut open) = (simulation.energy().total(), 0.0_f64, 0.0_f64);
        for _ in 0..300 {
            open = open.max(simulation.step().unwrap().joint_error);
            let energy = simulation.energy().total();
            (least, gained) = (least.min(energy), gained.max(energy - least));
        }
        (gained, open)
    };
    for scheme in ["", "friction = \"polygon\""] {
        let [(maximal, open), (reduced, _)] = ["maximal", "reduced"].map(|coordinates| run(scheme, coordinates));
        // The links fall by a metre and move as one body, in steps of 10 ms; without joint errors the scheme gains as much.
        assert!((maximal - reduced).abs() < 0.05 && open < 5e-3, "{scheme}: {maximal} {reduced} {open}");
    }
}
