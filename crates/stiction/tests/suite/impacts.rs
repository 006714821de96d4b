//! Restitution: Newton and Poisson, alone, in rows and with friction.

use stiction::{BodyBuilder, ContactRule, Dimension, FrictionSet, Impact, Model, Preset, Scheme, Simulation};
use stiction_testkit::Random;

use crate::support::{on_floor, q, solid_ball, step, steps, v};

const RADIUS: f64 = 0.1;

fn poisson() -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.impact = Impact::Poisson;
    scheme
}

fn newton() -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.impact = Impact::Newton;
    scheme
}

fn ball(name: &str, mass: f64) -> BodyBuilder {
    solid_ball(name, mass, RADIUS)
}

fn model(bodies: Vec<BodyBuilder>, gravity: f64, rule: ContactRule) -> Model {
    on_floor(Dimension::Spatial, bodies, [0.0, 0.0, -gravity], rule)
}

fn rule(restitution: f64, friction: f64) -> ContactRule {
    ContactRule { restitution, friction, ..ContactRule::default() }
}

/// Two balls meet head-on, without gravity.
fn central(scheme: &Scheme, restitution: f64, masses: [f64; 2], speeds: [f64; 2]) -> [f64; 2] {
    let left = ball("left", masses[0]).position(-0.3, 0.0, 1.0).velocity(speeds[0], 0.0, 0.0);
    let right = ball("right", masses[1]).position(0.3, 0.0, 1.0).velocity(speeds[1], 0.0, 0.0);
    let mut simulation =
        Simulation::new(model(vec![left, right], 0.0, rule(restitution, 0.3)), scheme.clone(), 1e-3).unwrap();
    steps(&mut simulation, 1000);
    ["left", "right"].map(|name| v(&simulation, name)[0])
}

#[test]
fn central_impacts_by_both_laws_are_those_of_the_textbook() {
    for restitution in [0.0, 0.4, 1.0] {
        for (masses, speeds) in [([1.0, 1.0], [1.0, -1.0]), ([1.0, 3.0], [2.0, 0.5])] {
            let momentum = masses[0] * speeds[0] + masses[1] * speeds[1];
            let (total, approach) = (masses[0] + masses[1], speeds[0] - speeds[1]);
            let exact = [
                (momentum - restitution * masses[1] * approach) / total,
                (momentum + restitution * masses[0] * approach) / total,
            ];
            for scheme in [newton(), poisson(), Preset::Ncp.scheme()] {
                let after = central(&scheme, restitution, masses, speeds);
                for (after, exact) in after.iter().zip(exact) {
                    assert!((after - exact).abs() < 1e-12, "{after} against {exact}, ε = {restitution}");
                }
            }
        }
    }
}

#[test]
fn decompression_gives_back_at_least_its_share_and_energy_never_grows_without_friction() {
    let mut random = Random::new(7);
    for _ in 0..60 {
        let friction = if random.below(2) == 0 { 0.0 } else { random.uniform(0.1, 1.0) };
        let restitution = random.uniform(0.0, 1.0);
        let balls = (0..4).map(|k| {
            let x = 2.0 * RADIUS * f64::from(k) + random.uniform(0.0, 1e-4);
            ball(&format!("ball {k}"), random.uniform(0.2, 3.0))
                .position(x, random.uniform(-0.02, 0.02), RADIUS + random.uniform(0.0, 0.01))
                .velocity(random.uniform(-2.0, 2.0), random.uniform(-0.5, 0.5), random.uniform(-3.0, 0.0))
        });
        let balls: Vec<_> = balls.collect();
        let mut simulation = Simulation::new(model(balls, 0.0, rule(restitution, friction)), poisson(), 1e-3).unwrap();
        for _ in 0..200 {
            let before = simulation.energy().kinetic;
            let _ = step(&mut simulation);
            let after = simulation.energy().kinetic;
            for impact in simulation.impacts() {
                let (given, owed) = (impact.decompression, restitution * impact.compression);
                assert!(given >= owed * (1.0 - 1e-12), "{given} of {owed}");
            }
            if friction == 0.0 {
                assert!(after <= before * (1.0 + 1e-12) + 1e-12, "energy grew from {before} to {after}");
            }
        }
    }
}

#[test]
fn a_ball_dropped_with_poissons_law_bounces_with_the_number_that_was_typed() {
    let (restitution, h) = (0.8, 1e-4);
    let dropped = ball("ball", 1.0).position(0.0, 0.0, 0.5 + RADIUS);
    let mut simulation = Simulation::new(model(vec![dropped], 9.81, rule(restitution, 0.2)), poisson(), h).unwrap();
    let (mut down, mut ratios) = (0.0_f64, Vec::new());
    for _ in 0..20_000 {
        let report = step(&mut simulation);
        assert!(report.penetration < 1e-14);
        let up = v(&simulation, "ball")[2];
        if up > 0.0 && down < 0.0 {
            ratios.push(-up / down);
            down = 0.0;
        }
        down = down.min(up);
    }
    assert!(ratios.len() > 4);
    for ratio in &ratios[..4] {
        assert!((ratio - restitution).abs() < 20.0 * h, "{ratio}");
    }
    assert!(q(&simulation, "ball")[2] >= RADIUS);
}

#[test]
fn poisson_and_the_quadratic_cone_are_refused_together() {
    let mut scheme = poisson();
    scheme.friction = FrictionSet::Quadratic;
    let error = Simulation::new(model(vec![ball("ball", 1.0)], 1.0, rule(0.5, 0.1)), scheme, 1e-3).err().unwrap();
    assert!(error.to_string().contains("Poisson"), "{error}");
}
