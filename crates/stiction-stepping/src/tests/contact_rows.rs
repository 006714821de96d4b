//! Laws, rows, constants and impulses of contacts and support points with second-order cones.

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{ContactRule, Dimension, FrictionOptions, Twist, Wrench};
use stiction_testkit::Random;

use super::support::{Case, assert_close, assert_near, ball, disc, on_floor};
use crate::{
    Contact, ContactImpulse, Scheme, SupportPointContact,
    contact_rows::{ContactRows, contact_law, support_impulse, support_rows},
};

/// Contacts with every combination of friction, torsion and rolling, each with its dimension.
fn contacts() -> Vec<(Dimension, Contact)> {
    let mut all = Vec::new();
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        let body = match dimension {
            Dimension::Planar => disc("body", 1.0, 0.5).position(0.0, 0.5, 0.0),
            Dimension::Spatial => ball("body", 1.0, 0.5).position(0.0, 0.0, 0.5),
        };
        let rule = ContactRule { ellipse: [0.8, 1.3], direction_offset: 0.3, ..ContactRule::default() };
        let mut case = Case::new(on_floor(dimension, rule, [body]), Scheme::default(), 0.01);
        case.detect().unwrap();
        for mu in [0.0, 0.4] {
            for torsion in [0.0, 0.05] {
                for rolling in [0.0, 0.02] {
                    if mu > 0.0 || rolling == 0.0 {
                        all.push((
                            dimension,
                            Contact {
                                mu,
                                torsion,
                                friction_options: FrictionOptions { rolling },
                                ..case.contact().clone()
                            },
                        ));
                    }
                }
            }
        }
    }
    all
}

fn random_vector(random: &mut Random) -> Vector3<f64> {
    Vector3::from_fn(|_, _| random.uniform(-1.0, 1.0))
}

/// Impulse that the law of a contact can have.
fn random_impulse(random: &mut Random, dimension: Dimension, contact: &Contact) -> ContactImpulse {
    let flat = |x: Vector3<f64>| x - contact.normal * contact.normal.dot(&x);
    let (friction, rolling) = match dimension {
        Dimension::Planar => {
            (contact.tangents[0] * random.uniform(-1.0, 1.0), Vector3::z() * random.uniform(-1.0, 1.0))
        }
        Dimension::Spatial => (flat(random_vector(random)), flat(random_vector(random))),
    };
    let mut p = ContactImpulse { normal: random.unit(), ..ContactImpulse::default() };
    if contact.mu > 0.0 {
        p.friction = friction;
        p.spin = if contact.torsion > 0.0 && dimension == Dimension::Spatial { random.uniform(-1.0, 1.0) } else { 0.0 };
        p.rolling = if contact.friction_options.rolling > 0.0 { rolling } else { Vector3::zeros() };
    }
    p
}

#[test]
fn laws_have_rows_for_each_kind_of_friction() {
    for (dimension, contact) in contacts() {
        let expected = match (contact.mu > 0.0, dimension) {
            (false, _) => 1,
            (true, Dimension::Planar) => 2 + usize::from(contact.friction_options.rolling > 0.0),
            (true, Dimension::Spatial) => {
                3 + usize::from(contact.torsion > 0.0) + 2 * usize::from(contact.friction_options.rolling > 0.0)
            }
        };
        let law = contact_law(dimension, &contact);
        assert_eq!(law.rows(), expected, "{law:?}");
        assert!(law.is_legal());
        assert_eq!(matches!(law, Law::Rolling { .. }), contact.friction_options.rolling > 0.0);
        let mut constants = Vec::new();
        ContactRows::new(&contact, expected).push_constants(0.0, &mut constants);
        assert_eq!(constants.len(), expected);
    }
}

/// From impulse to rows and back, for every law and in any unit of mass.
#[test]
fn impulses_of_contacts_survive_the_round_trip() {
    let mut random = Random::new(2);
    for (dimension, contact) in contacts() {
        let rows = ContactRows::new(&contact, contact_law(dimension, &contact).rows());
        for unit in [1.0, 0.25, 8.0] {
            let p = random_impulse(&mut random, dimension, &contact);
            let mut r = vec![9.0];
            rows.push_impulses(&p, &mut r);
            let r: Vec<f64> = r[1..].iter().map(|r| r / unit).collect();
            let found = rows.impulse(&r, unit);
            assert_near(found.normal, p.normal, 1e-14);
            assert_close(&found.friction, &p.friction, 1e-14);
            assert_near(found.spin, p.spin, 1e-14);
            assert_close(&found.rolling, &p.rolling, 1e-14);
        }
    }
}

/// Virtual work: Σ r_i (row i · twists) is the power of the impulse on the relative motion.
#[test]
fn rows_do_the_work_of_the_impulse() {
    let mut random = Random::new(3);
    for (dimension, contact) in contacts() {
        let rows = ContactRows::new(&contact, contact_law(dimension, &contact).rows());
        let p = random_impulse(&mut random, dimension, &contact);
        let [a, b] = [0, 1].map(|_| Twist { linear: random_vector(&mut random), angular: random_vector(&mut random) });
        let mut r = Vec::new();
        rows.push_impulses(&p, &mut r);
        let work: f64 =
            r.iter().zip(rows.wrenches()).map(|(r, (on_a, on_b))| r * (on_a.power(&a) + on_b.power(&b))).sum();
        let relative = b.at(&contact.arm_b) - a.at(&contact.arm_a);
        let spin = b.angular - a.angular;
        let expected = (contact.normal * p.normal + p.friction).dot(&relative)
            + p.spin * contact.normal.dot(&spin)
            + p.rolling.dot(&spin);
        assert_near(work, expected, 1e-13);
    }
}

/// Constants are the rates of the rows when the second surface moves as prescribed.
#[test]
fn constants_are_rates_of_prescribed_motion() {
    let mut random = Random::new(4);
    for (dimension, mut contact) in contacts() {
        let count = contact_law(dimension, &contact).rows();
        (contact.surface_velocity, contact.surface_rotation) = (random_vector(&mut random), random_vector(&mut random));
        contact.surface_spin = contact.normal.dot(&contact.surface_rotation);
        let rows = ContactRows::new(&contact, count);
        let mut constants = Vec::new();
        rows.push_constants(7.0, &mut constants);
        assert_eq!(constants[0], 7.0);
        // Velocity of the contact point and rotation of the body as prescribed.
        let linear = contact.surface_velocity - contact.surface_rotation.cross(&contact.arm_b);
        let moved = Twist { linear, angular: contact.surface_rotation };
        for (constant, (_, on_b)) in constants.iter().zip(rows.wrenches()).skip(1) {
            assert_near(*constant, on_b.power(&moved), 1e-13);
        }
    }
}

/// Rows after the last one of a law are zero.
#[test]
fn no_wrench_follows_the_last_row() {
    for (dimension, contact) in contacts() {
        let count = contact_law(dimension, &contact).rows();
        let wrenches = ContactRows::new(&contact, count).wrenches();
        let is_zero = |(a, b): &(Wrench, Wrench)| *a == Wrench::default() && *b == Wrench::default();
        assert!(wrenches[..count].iter().all(|row| !is_zero(row)));
        assert!(wrenches[count..].iter().all(is_zero));
    }
}

fn support_point(mu: f64, torsion: f64) -> SupportPointContact {
    let id = stiction_multibody::BodyId::WORLD;
    SupportPointContact {
        body: id,
        supporting_body: id,
        index: 0,
        point: nalgebra::Point3::origin(),
        arm: Vector3::new(0.2, -0.1, 0.0),
        arm_on: Vector3::new(0.5, 0.4, 0.0),
        load: 3.0,
        mu,
        torsion,
        surface_velocity: Vector3::zeros(),
        surface_spin: 0.0,
        directions: 0..0,
        friction_bounds: 0..0,
    }
}

/// The normal row of a support point does not act on bodies, the others do the work of friction and torsion.
#[test]
fn support_rows_do_the_work_of_friction() {
    for (mu, torsion, rows) in [(0.0, 0.0, 1), (0.3, 0.0, 3), (0.3, 0.05, 4)] {
        let point = support_point(mu, torsion);
        assert_eq!(point.law().rows(), rows);
        let wrenches = support_rows(&point, rows);
        assert_eq!(wrenches[0], (Wrench::default(), Wrench::default()));
        let r = [0.9, 0.2, -0.3, 0.4];
        let p = support_impulse(&point, &r[..rows], 2.0);
        assert_eq!(p.normal, 1.8);
        let on = Twist { linear: Vector3::new(0.1, 0.7, 0.0), angular: Vector3::new(0.0, 0.0, 0.9) };
        let body = Twist { linear: Vector3::new(-0.4, 0.2, 0.0), angular: Vector3::new(0.0, 0.0, -0.6) };
        let work: f64 =
            r[..rows].iter().zip(wrenches).map(|(r, (a, b))| 2.0 * r * (a.power(&on) + b.power(&body))).sum();
        let relative = body.at(&point.arm) - on.at(&point.arm_on);
        assert_near(work, p.friction.dot(&relative) + p.spin * (-0.6 - 0.9), 1e-14);
    }
}

/// The sum of two impulses is that of each part; σ is not a sum.
#[test]
fn impulses_of_layer_and_core_add_up() {
    let mut random = Random::new(6);
    let mut impulse = |sigma| ContactImpulse {
        normal: random.unit(),
        friction: random_vector(&mut random),
        spin: random.unit(),
        rolling: random_vector(&mut random),
        sigma,
    };
    let (layer, core) = (impulse(0.5), impulse(0.7));
    let sum = layer.and(&core);
    assert_eq!(sum.normal, layer.normal + core.normal);
    assert_eq!(sum.friction, layer.friction + core.friction);
    assert_eq!(sum.spin, layer.spin + core.spin);
    assert_eq!(sum.rolling, layer.rolling + core.rolling);
    assert_eq!(sum.sigma, 0.5);
}
