//! Impacts by Poisson's hypothesis.

use nalgebra::Vector3;
use stiction_multibody::{BodyBuilder, BodyId, ContactMode, ContactRule, Dimension, JointKind, Model, ModelBuilder};

use super::support::{Case, assert_all_near, assert_close, assert_near, ball, disc, floor};
use crate::{Coordinates, Impact, Preset, Scheme, energy_bound, joint_impulses};

fn poisson() -> Scheme {
    Scheme { impact: Impact::Poisson, ..Preset::StewartTrinkle.scheme() }
}

fn rule(friction: f64, restitution: f64) -> ContactRule {
    ContactRule { friction, restitution, ..ContactRule::default() }
}

/// Bodies in space without gravity, over a floor.
fn without_gravity(rule: ContactRule, bodies: impl IntoIterator<Item = BodyBuilder>) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.default_contact(rule).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Spatial))).unwrap();
    for body in bodies {
        builder.body(body).unwrap();
    }
    builder.build().unwrap()
}

/// Compression stops the ball, decompression returns ε times its impulse.   [IMPACT-2]
#[test]
fn a_ball_rebounds_with_its_coefficient() {
    for restitution in [0.0, 0.5, 1.0] {
        let body = ball("ball", 3.0, 0.5).position(0.0, 0.0, 0.505).velocity(0.0, 0.0, -2.0);
        let mut case = Case::new(without_gravity(rule(0.0, restitution), [body]), poisson(), 0.01);
        let report = case.step();
        assert_eq!(report.impacts, 1);
        let impact = case.ws.result.impacts[0];
        assert_near(impact.compression, 6.0, 1e-12);
        assert_near(impact.decompression, restitution * 6.0, 1e-12);
        assert_near(case.v("ball")[2], 2.0 * restitution, 1e-12);
        assert_near(case.q("ball")[2], 0.505 + 0.02 * restitution, 1e-12);
        // The report of the contact has the impulse of the impact, its mode is that at the end of the step.
        let contact = &case.ws.result.contact_reports[0];
        assert_near(contact.normal_impulse, 6.0 * (1.0 + restitution), 1e-12);
        let energy = energy_bound(&case.model, &case.ws).unwrap();
        assert_near(energy.impacts, -6.0 * (1.0 - restitution * restitution), 1e-10);
    }
}

/// Contacts that separate, or stay too far away, are not hit.
#[test]
fn only_contacts_that_close_are_hit() {
    for (height, speed) in [(0.5, 1.0), (0.5, 0.0), (0.6, -2.0)] {
        let body = ball("ball", 3.0, 0.5).position(0.0, 0.0, height).velocity(0.0, 0.0, speed);
        let mut case = Case::new(without_gravity(rule(0.0, 0.5), [body]), poisson(), 0.01);
        let report = case.step();
        assert_eq!((report.impacts, case.ws.result.impacts.len()), (0, 0), "{height} m, {speed} m/s");
        assert_near(case.v("ball")[2], speed, 1e-12);
    }
}

/// Equal balls exchange their velocities; unequal ones keep momentum and, with ε = 1, energy.
#[test]
fn colliding_balls_keep_momentum_and_energy() {
    for mass in [1.0, 3.0] {
        let bodies = [
            ball("first", 1.0, 0.5).position(0.0, 0.0, 5.0).velocity(2.0, 0.0, 0.0),
            ball("second", mass, 0.5).position(1.01, 0.0, 5.0),
        ];
        let mut case = Case::new(without_gravity(rule(0.0, 1.0), bodies), poisson(), 0.01);
        assert_eq!(case.step().impacts, 1);
        let (a, b) = (case.v("first")[0], case.v("second")[0]);
        assert_near(a, 2.0 * (1.0 - mass) / (1.0 + mass), 1e-12);
        assert_near(b, 4.0 / (1.0 + mass), 1e-12);
    }
}

/// A particle that slips all through the impact loses μ (1 + ε) v_n along the surface.
#[test]
fn friction_acts_in_compression_and_decompression() {
    let (mu, restitution) = (0.2, 0.5);
    let stone = BodyBuilder::particle("stone", 2.0)
        .position(0.0, 0.0, 0.005)
        .velocity(3.0, 0.0, -2.0)
        .shape(stiction_geometry::spatial::Shape::point().into());
    let mut case = Case::new(without_gravity(rule(mu, restitution), [stone]), poisson(), 0.01);
    case.run(1);
    assert_all_near(case.v("stone"), &[3.0 - mu * (1.0 + restitution) * 2.0, 0.0, restitution * 2.0], 1e-12);
    let friction = case.ws.result.impacts[0].friction_impulse;
    assert_close(&friction, &Vector3::new(-2.0 * mu * (1.0 + restitution) * 2.0, 0.0, 0.0), 1e-12);
}

/// A contact beyond the reach of the velocity after the impact is still reported, as open.
#[test]
fn contacts_out_of_reach_after_the_impact_are_reported() {
    // Two equal balls: the first stops, the gap between them grows and neither can close it.
    let bodies = [
        ball("first", 1.0, 0.5).position(0.0, 0.0, 5.0).velocity(2.0, 0.0, 0.0),
        ball("second", 1.0, 0.5).position(1.019, 0.0, 5.0),
    ];
    let mut case = Case::new(without_gravity(rule(0.0, 1.0), bodies), poisson(), 0.01);
    case.scheme.margin = crate::Margin::Automatic;
    case.run(1);
    let report = &case.ws.result.contact_reports[0];
    assert_near(report.normal_impulse, 2.0, 1e-12);
    assert_eq!(report.mode, ContactMode::Open);
}

/// A bob on a rod that hits the floor loads its pin in the same way in all coordinates.
#[test]
fn impacts_load_joints_in_all_coordinates() {
    let results = [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer].map(|coordinates| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.default_contact(rule(0.3, 0.5)).unwrap();
        builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Planar))).unwrap();
        let bob = disc("bob", 1.0, 0.5).position(2.0, 0.501, 0.0).velocity(-1.0, -2.0, 0.0);
        let bob = builder.body(bob.angular_velocity(0.0, 0.0, -1.0)).unwrap();
        let anchor = Vector3::new(0.0, 1.501, 0.0);
        builder.joint_at("pin", JointKind::Revolute, (BodyId::WORLD, bob), anchor, Vector3::z()).unwrap();
        let mut case = Case::new(builder.build().unwrap(), Scheme { coordinates, ..poisson() }, 1e-3);
        assert_eq!(case.step().impacts, 1);
        let impact = case.ws.result.impacts[0];
        (joint_impulses(&case.model, &case.ws).to_vec(), vec![impact.compression, impact.decompression])
    });
    assert!(results[0].0.iter().any(|p| p.abs() > 0.1));
    for (joints, impacts) in &results[1..] {
        // The step after the impact differs by velocity products, of the order of v² h.
        assert_all_near(joints, &results[0].0, 1e-2);
        assert_all_near(impacts, &results[0].1, 1e-9);
    }
}
