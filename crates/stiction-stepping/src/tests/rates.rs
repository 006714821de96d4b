//! Rates of gaps and rows at given velocities.

use nalgebra::Vector3;
use stiction_multibody::{BodyBuilder, BodyId, ContactRule, Dimension, FrictionOptions, Twist, Wrench};
use stiction_testkit::Random;

use super::support::{Case, assert_all_near, assert_near, ball, cuboid, disc, on_floor, prescribed, rectangle, world};
use crate::{
    Contact, Margin, Scheme,
    rates::{Side, approach, end_gap, gap_after, linearised_start_gap, rate, relative_velocity, side_rate},
};

/// Scheme that finds every contact.
fn wide() -> Scheme {
    Scheme { margin: Margin::Fixed(5.0), ..Scheme::default() }
}

/// Pairs of curved and flat shapes, apart from each other and from a floor, in motion.
fn scenes() -> Vec<Case> {
    let tilted = [0.9, 0.1, 0.3, -0.2_f64];
    let norm = tilted.iter().map(|x| x * x).sum::<f64>().sqrt();
    let in_space = [
        ball("ball", 1.0, 0.5).position(0.0, 0.0, 1.0),
        ball("other", 2.0, 0.4).position(0.4, 0.9, 1.5),
        cuboid("box", 1.0, [0.3, 0.4, 0.5]).position(-2.0, 0.0, 1.2).quaternion(tilted.map(|x| x / norm)),
    ];
    let in_plane = [
        disc("disc", 1.0, 0.5).position(0.0, 1.0, 0.0),
        rectangle("plate", 1.0, [0.4, 0.2]).position(1.5, 1.1, 0.0).angle(0.3),
    ];
    vec![
        Case::new(on_floor(Dimension::Spatial, ContactRule::default(), in_space), wide(), 0.01),
        Case::new(on_floor(Dimension::Planar, ContactRule::default(), in_plane), wide(), 0.01),
    ]
}

fn random_velocities(case: &Case, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..case.model.dof()).map(|_| random.uniform(-1.0, 1.0)).collect()
}

/// n · (v_b − v_a) is the rate of the gap, for every pair of features and any motion.
#[test]
fn normal_rows_are_difference_quotients_of_gaps() {
    for mut case in scenes() {
        case.detect().unwrap();
        let contacts = case.ws.constraints.contacts.clone();
        assert!(contacts.len() >= 4);
        for seed in 0..5 {
            let v = random_velocities(&case, seed);
            let dt = 1e-6;
            let gaps = |case: &mut Case, q: Vec<f64>| -> Vec<f64> {
                let before = std::mem::replace(&mut case.state.q, q);
                case.detect().unwrap();
                case.state.q = before;
                case.ws.constraints.contacts.iter().map(|contact| contact.gap_end).collect()
            };
            let (later, earlier) = (case.moved(&v, dt), case.moved(&v, -dt));
            let (ahead, behind) = (gaps(&mut case, later), gaps(&mut case, earlier));
            let quotients: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * dt)).collect();
            let rates: Vec<f64> = contacts.iter().map(|contact| approach(&case.model, contact, &v, case.h)).collect();
            assert_all_near(&quotients, &rates, 1e-8);
        }
    }
}

#[test]
fn side_rates_are_powers_of_wrenches_on_twists() {
    let bodies = [BodyBuilder::particle("particle", 1.0).position(5.0, 0.0, 0.0), ball("ball", 1.0, 0.5)];
    let wrench = Wrench { linear: Vector3::new(1.0, -2.0, 3.0), angular: Vector3::new(0.5, 4.0, -6.0) };
    let mut cases = scenes();
    cases.push(Case::new(world(Dimension::Spatial, ContactRule::default(), bodies), wide(), 0.01));
    for case in cases {
        let v = random_velocities(&case, 7);
        for (id, body) in case.model.iter_bodies() {
            let expected = match case.model.unknowns(id) {
                Some((mobility, range)) => {
                    let Twist { linear, angular } = mobility.twist(&v[range]);
                    wrench.linear.dot(&linear) + wrench.angular.dot(&angular)
                }
                None => 0.0,
            };
            assert_near(side_rate(&case.model, &v, id, &wrench), expected, 1e-12);
            assert_eq!(side_rate(&case.model, &[], id, &wrench), 0.0, "{}", body.name);
        }
    }
}

/// ψ⁺ − ψ = h n · v + prescribed displacement, wherever the constraints are linearised.
#[test]
fn gaps_change_by_the_normal_displacement() {
    for mut case in scenes() {
        let linearisation = random_velocities(&case, 3);
        case.detect().unwrap();
        let (model, h) = (&case.model, case.h);
        let v = random_velocities(&case, 4);
        for contact in &case.ws.constraints.contacts {
            for at in [&[][..], &linearisation] {
                let change = end_gap(model, contact, at, &v, h) - linearised_start_gap(model, contact, at, h);
                assert_near(change, h * approach(model, contact, &v, h), 1e-14);
                // Moved by the linearisation velocity itself, the gap is the one found there.
                let zero = vec![0.0; model.dof()];
                let reached = end_gap(model, contact, at, if at.is_empty() { &zero } else { at }, h);
                assert_near(reached, contact.gap_end, 1e-14);
            }
        }
    }
}

#[test]
fn relative_velocities_are_those_of_the_material_points() {
    for mut case in scenes() {
        case.detect().unwrap();
        let v = random_velocities(&case, 11);
        let velocity_at = |id: BodyId, arm: &Vector3<f64>| match case.model.unknowns(id) {
            Some((mobility, range)) => mobility.twist(&v[range]).at(arm),
            None => Vector3::zeros(),
        };
        for contact in &case.ws.constraints.contacts {
            let expected = velocity_at(contact.b, &contact.arm_b) - velocity_at(contact.a, &contact.arm_a);
            let found = relative_velocity(&case.model, contact, &v);
            assert!((found - expected).amax() < 1e-14);
            let gap = gap_after(&case.model, contact, &[], &found, case.h);
            assert_near(gap, contact.gap_end + case.h * contact.normal.dot(&expected), 1e-14);
        }
    }
}

/// A floor that rises closes the gap although nothing else moves.
#[test]
fn prescribed_motion_is_part_of_the_approach() {
    let rising = prescribed("lift", ["0", "0.5*t", "0"]).shape(super::support::floor(Dimension::Planar));
    let model =
        world(Dimension::Planar, ContactRule::default(), [rising, disc("disc", 1.0, 0.5).position(0.0, 1.0, 0.0)]);
    let mut case = Case::new(model, wide(), 0.25);
    case.detect().unwrap();
    let still = vec![0.0; case.model.dof()];
    assert_near(approach(&case.model, case.contact(), &still, case.h), -0.5, 1e-12);
    assert_near(linearised_start_gap(&case.model, case.contact(), &[], case.h), 0.5, 1e-12);
    assert_near(end_gap(&case.model, case.contact(), &[], &still, case.h), 0.375, 1e-12);
}

/// Powers of torsion and rolling are those of relative angular velocities.
#[test]
fn spin_and_rolling_rows_measure_relative_angular_velocity() {
    for mut case in scenes() {
        case.detect().unwrap();
        let v = random_velocities(&case, 5);
        let omega = |id: BodyId| {
            case.model.unknowns(id).map_or_else(Vector3::zeros, |(mobility, range)| mobility.twist(&v[range]).angular)
        };
        let power = |contact: &Contact, (a, b): (Wrench, Wrench)| {
            side_rate(&case.model, &v, contact.a, &a) + side_rate(&case.model, &v, contact.b, &b)
        };
        for contact in &case.ws.constraints.contacts {
            let contact = Contact { friction_options: FrictionOptions { rolling: 0.3 }, ..contact.clone() };
            let relative = omega(contact.b) - omega(contact.a);
            assert_near(power(&contact, contact.spin_row()), contact.normal.dot(&relative), 1e-14);
            for axis in contact.rolling_axes() {
                assert_near(axis.norm(), 0.3, 1e-15);
                assert_near(axis.dot(&contact.normal), 0.0, 1e-15);
                assert_near(power(&contact, Contact::rolling_row(&axis)), axis.dot(&relative), 1e-14);
            }
        }
    }
}

#[test]
fn rates_of_sides_add_up_and_scale() {
    let case = scenes().remove(0);
    let v = random_velocities(&case, 9);
    let forest = [2.0, -3.0];
    let wrench = Wrench { linear: Vector3::new(1.0, 2.0, 3.0), angular: Vector3::new(-1.0, 0.5, 0.25) };
    let (a, b) = (case.body("ball"), case.body("box"));
    let sides = [Some(Side::Wrench(a, wrench)), None, Some(Side::Wrench(b, wrench)), Some(Side::Velocity(1, 4.0))];
    let expected = side_rate(&case.model, &v, a, &wrench) + side_rate(&case.model, &v, b, &wrench) - 12.0;
    assert_near(rate(&case.model, &sides, &v, Some(&forest)), expected, 1e-13);
    let halved = sides.map(|side| side.map(|side| side.times(-0.5)));
    assert_near(rate(&case.model, &halved, &v, Some(&forest)), -0.5 * expected, 1e-13);
    // Without a forest its velocities are zero.
    assert_near(rate(&case.model, &sides, &v, None), expected + 12.0, 1e-13);
}
