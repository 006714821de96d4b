//! Springs and dampers between bodies: closed forms of one step, energy of stiff ones, orders, momentum, coordinates.   [FORCE-3]

#![allow(clippy::cast_sign_loss, reason = "counts of steps are positive")]

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, Damper, Dimension, JointKind, Model, ModelBuilder, Spring, energy, momentum,
};

use super::support::{Run, assert_near, builder, prescribed};
use crate::{Coordinates, FrictionSet, LineariseAt, Order, PositionUpdate, Preset, Scheme};

const ALL_COORDINATES: [Coordinates; 3] = [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer];

/// Schemes that step in time with implicit springs: presets, orders and coordinates.
fn schemes() -> Vec<Scheme> {
    let presets = [Preset::Ncp, Preset::StewartTrinkle, Preset::AnitescuPotra, Preset::AnitescuHart];
    let mut all: Vec<Scheme> = presets.map(Preset::scheme).into();
    for coordinates in ALL_COORDINATES {
        for order in [Order::First, Order::Second] {
            all.push(Scheme { coordinates, order, ..Scheme::default() });
        }
        all.push(Scheme { coordinates, friction: FrictionSet::Polygon, ..Scheme::default() });
    }
    all.push(Scheme { linearise_at: LineariseAt::End, ..Scheme::default() });
    all.push(Scheme { position_update: PositionUpdate::Average, ..Scheme::default() });
    all
}

fn spring(a: BodyId, b: BodyId, stiffness: f64, rest_length: f64, damping: f64) -> Spring {
    Spring { a: (a, Vector3::zeros()), b: (b, Vector3::zeros()), stiffness, rest_length, damping }
}

/// A particle without gravity on a spring along x, at `x` with velocity `v`.
fn oscillator(stiffness: f64, damping: f64, [x, v]: [f64; 2]) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let bob =
        builder.body(BodyBuilder::particle("bob", 2.0).position(1.0 + x, 0.0, 0.0).velocity(v, 0.0, 0.0)).unwrap();
    builder.spring(spring(BodyId::WORLD, bob, stiffness, 1.0, damping)).unwrap();
    builder.build().unwrap()
}

/// Two bodies with spin, joined off their centres by a spring with damping.
fn two_bodies(stiffness: f64, damping: f64) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
    let a = BodyBuilder::rigid("a", 1.0, inertia).velocity(0.3, 0.1, -0.2).angular_velocity(1.0, -0.5, 0.7);
    let b = BodyBuilder::rigid("b", 0.5, inertia * 0.3).position(0.6, 0.1, 0.2).angular_velocity(0.2, 2.0, -1.0);
    let (a, b) = (builder.body(a).unwrap(), builder.body(b).unwrap());
    let ends = ((a, Vector3::new(0.1, 0.05, 0.0)), (b, Vector3::new(-0.1, 0.0, 0.08)));
    builder.spring(Spring { a: ends.0, b: ends.1, stiffness, rest_length: libm::sqrt(0.2409), damping }).unwrap();
    builder.build().unwrap()
}

/// One step of the implicit Euler rule, of the midpoint rule by mean velocities, and of the rule of second order.
#[test]
fn a_step_of_an_oscillator_has_its_closed_form() {
    let (m, h, x, v) = (2.0, 0.01, 0.1, -0.3);
    for (k, c) in [(50.0, 0.0), (3e5, 40.0), (0.0, 1e4), (2e9, 0.0)] {
        for scheme in schemes() {
            // Velocity that moves the bob: v + τ f/m with the force at x + τ y, y.
            let is_second = scheme.order == Order::Second;
            let half = is_second || scheme.position_update == PositionUpdate::Average;
            let time = if half { 0.5 * h } else { h };
            let y = (v - time * k * x / m) / (1.0 + time * (time * k + c) / m);
            // Second kick: the part θ of the damping is implicit.   [FORCE-4]
            let slowing = time * c / m;
            let implicit = if is_second { 1.0 - 1.0 / (1.0 + slowing + slowing * slowing) } else { 0.0 };
            let force = k * (x + time * y) + (1.0 - implicit) * c * y;
            let end = if half { (y - time * force / m) / (1.0 + implicit * slowing) } else { y };
            let mut run = Run::new(oscillator(k, c, [x, v]), scheme, h);
            run.step();
            assert_near(run.case.v("bob")[0], end, 1e-8 * (1.0 + end.abs()));
            assert_near(run.case.q("bob")[0], 1.0 + x + h * y, 1e-9);
        }
    }
}

/// An oscillator with k h²/m = 10⁴ comes to rest with the implicit Euler rule and keeps its energy with the midpoint rule.
#[test]
fn stiff_oscillators_decay_or_keep_their_energy() {
    let (h, stiffness) = (0.01, 2e8);
    for scheme in schemes() {
        let is_midpoint = scheme.order == Order::Second || scheme.position_update == PositionUpdate::Average;
        let mut run = Run::new(oscillator(stiffness, 0.0, [0.1, -3.0]), scheme.clone(), h);
        let before = run.energy();
        for _ in 0..100 {
            let last = run.energy();
            run.step();
            let energy = run.energy();
            let is_kept = (energy / before - 1.0).abs() < 1e-7;
            assert!(
                if is_midpoint { is_kept } else { energy < 1.001e-4 * last || energy < 1e-12 },
                "{scheme:?}: {energy:e}"
            );
        }
    }
}

/// Two spinning bodies with a spring of k h²/m = 10⁴, with and without damping, or a damper of c h/m = 10⁴, never move faster than at the start.
#[test]
fn stiff_springs_and_dampers_do_not_gain_energy() {
    let h = 0.01;
    for (stiffness, damping) in [(1e8, 0.0), (1e8, 1e3), (0.0, 1e6), (1e3, 0.0)] {
        for scheme in schemes() {
            let mut run = Run::new(two_bodies(stiffness, damping), scheme.clone(), h);
            let before = run.energy();
            for _ in 0..300 {
                run.step();
                let kinetic = energy(&run.case.model, &run.configuration(), &[]).kinetic;
                assert!(kinetic <= 1.2 * before, "{stiffness} {damping} {scheme:?}: {before} {kinetic}");
            }
        }
    }
}

/// Ends of a motion with steps h, h/2, h/4: 2 to the power of the order.
fn ratios(model: &Model, scheme: &Scheme, time: f64) -> [f64; 2] {
    let ends = [0.004, 0.002, 0.001].map(|h| {
        let mut run = Run::new(model.clone(), scheme.clone(), h);
        let case = run.steps((time / h).round() as usize);
        [case.state.q.clone(), case.state.v.clone()]
    });
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    [0, 1].map(|k| distance(&ends[0][k], &ends[1][k]) / distance(&ends[1][k], &ends[2][k]))
}

/// Springs with damping, dampers, rotating arms and a prescribed end whose velocity changes, in the order of the scheme.
#[test]
fn springs_and_dampers_have_the_order_of_the_scheme() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
    let a = BodyBuilder::rigid("a", 1.0, inertia).velocity(0.3, 1.0, -0.2).angular_velocity(3.0, -2.0, 5.0);
    let b = BodyBuilder::rigid("b", 0.5, inertia * 0.3).position(0.6, 0.1, 0.2).angular_velocity(2.0, 4.0, -1.0);
    let (a, b) = (builder.body(a).unwrap(), builder.body(b).unwrap());
    let ends = ((a, Vector3::new(0.1, 0.05, 0.0)), (b, Vector3::new(-0.1, 0.0, 0.08)));
    builder.spring(Spring { a: ends.0, b: ends.1, stiffness: 60.0, rest_length: 0.3, damping: 1.5 }).unwrap();
    builder.damper(Damper { a: (BodyId::WORLD, Vector3::x()), b: ends.1, damping: 0.8 }).unwrap();
    let free = builder.build().unwrap();
    let mut builder = super::support::builder(Dimension::Planar, ContactRule::default());
    let crank = builder.body(prescribed("crank", ["0.0", "0.0", "4*t + sin(9*t)"])).unwrap();
    let bob = builder.body(BodyBuilder::planar("bob", 1.0, 0.02).position(0.9, 0.2, 0.0)).unwrap();
    let ends = ((crank, Vector3::new(0.2, 0.0, 0.0)), (bob, Vector3::new(0.0, 0.1, 0.0)));
    builder.spring(Spring { a: ends.0, b: ends.1, stiffness: 80.0, rest_length: 0.5, damping: 2.0 }).unwrap();
    builder.damper(Damper { a: ends.0, b: ends.1, damping: 0.5 }).unwrap();
    let driven = builder.build().unwrap();
    for (name, model) in [("free", free), ("driven", driven)] {
        for coordinates in ALL_COORDINATES {
            let of = |order| ratios(&model, &Scheme { coordinates, order, ..Scheme::default() }, 0.4);
            let ([q, v], [first_q, first_v]) = (of(Order::Second), of(Order::First));
            assert!(q > 3.6 && q < 4.4 && v > 3.6 && v < 4.4, "{name} {coordinates:?}: {q} {v}");
            assert!(first_q > 1.7 && first_q < 2.3 && first_v > 1.7, "{name} {coordinates:?}: {first_q} {first_v}");
        }
    }
}

#[test]
fn springs_keep_momentum() {
    for stiffness in [40.0, 1e8] {
        for scheme in schemes() {
            // Angular momentum is a matter of the velocity that moves the bodies: that at the end keeps it.
            let keeps_angular = scheme.position_update == PositionUpdate::End;
            let mut run = Run::new(two_bodies(stiffness, 2.0), scheme.clone(), 0.004);
            let of = |run: &Run| momentum(&run.case.model, &run.configuration());
            let before = of(&run);
            run.steps(200);
            let after = of(&run);
            let (linear, angular) = ((after.linear - before.linear).norm(), (after.angular - before.angular).norm());
            assert!(linear < 1e-12, "{stiffness} {scheme:?}: {linear:e}");
            assert!(!keeps_angular || angular < 1e-12, "{stiffness} {scheme:?}: {angular:e}");
        }
    }
}

/// Springs on a tree, with the joints as constraints or not.
#[test]
fn springs_move_trees_the_same_in_all_coordinates() {
    let mut builder = builder(Dimension::Spatial, ContactRule::default());
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.01));
    let a = builder.body(BodyBuilder::rigid("a", 1.0, inertia).position(0.5, 0.0, 0.0)).unwrap();
    let b = builder.body(BodyBuilder::rigid("b", 0.5, inertia).position(1.0, 0.3, 0.0)).unwrap();
    let hinge = (BodyId::WORLD, a);
    builder.joint_at("hinge", JointKind::Revolute, hinge, Vector3::zeros(), Vector3::new(0.0, 1.0, 0.1)).unwrap();
    builder.joint_at("ball", JointKind::Spherical, (a, b), Vector3::x(), Vector3::z()).unwrap();
    let up = (BodyId::WORLD, Vector3::new(0.8, 0.0, 1.0));
    let tip = (b, Vector3::new(0.0, 0.2, 0.0));
    builder.spring(Spring { a: up, b: tip, stiffness: 300.0, rest_length: 0.7, damping: 0.4 }).unwrap();
    builder.damper(Damper { a: (a, Vector3::zeros()), b: tip, damping: 0.6 }).unwrap();
    let model = builder.build().unwrap();
    let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    for (order, least, most) in [(Order::First, 1.7, 2.3), (Order::Second, 3.6, 4.6)] {
        // Joints as constraints are closed to the order of the scheme only.
        let [coarse, fine] = [1e-3, 5e-4].map(|h| {
            let ends = ALL_COORDINATES.map(|coordinates| {
                let mut run = Run::new(model.clone(), Scheme { coordinates, order, ..Scheme::default() }, h);
                run.steps((0.2 / h).round() as usize).state.q.clone()
            });
            assert!(far(&ends[1], &ends[2]) < 1e-10, "{order:?}: {:e}", far(&ends[1], &ends[2]));
            far(&ends[0], &ends[1])
        });
        let ratio = coarse / fine;
        assert!(fine < 3e-3 && ratio > least && ratio < most, "{order:?}: {coarse:e} {fine:e}");
    }
}

/// A spring without rest length through its other end, and one whose ends coincide.
#[test]
fn springs_of_no_length_pass_through_their_ends() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let bob = builder.body(BodyBuilder::particle("bob", 1.0).velocity(0.0, 2.0, 0.0)).unwrap();
    builder.spring(spring(BodyId::WORLD, bob, 400.0, 0.0, 0.0)).unwrap();
    let model = builder.build().unwrap();
    // x = v/ω sin ω t, with ω = 20 to (1 + O(h²)).
    for order in [Order::First, Order::Second] {
        let h = 1e-3;
        let mut run = Run::new(model.clone(), Scheme { order, ..Scheme::default() }, h);
        let case = run.steps(500);
        let exact = 0.1 * libm::sin(20.0 * 0.5);
        let error = (case.q("bob")[1] - exact).abs();
        assert!(error < if order == Order::First { 0.2 * exact.abs() } else { 3e-4 }, "{order:?}: {error:e}");
        assert!(case.q("bob")[0] == 0.0 && case.q("bob")[2] == 0.0);
    }
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let bob = builder.body(BodyBuilder::particle("bob", 1.0).velocity(0.0, 2.0, 0.0)).unwrap();
    builder.spring(spring(BodyId::WORLD, bob, 400.0, 0.5, 1.0)).unwrap();
    let mut run = Run::new(builder.build().unwrap(), Scheme::default(), 1e-3);
    run.step();
    assert_near(run.case.v("bob")[1], 2.0, 0.0);
}

/// A rigid body in the plane that spins, held to the world at a point off its centre by a link.
fn held(add: impl Fn(&mut ModelBuilder, End, End)) -> Model {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    builder.gravity(0.0, 0.0, 0.0).unwrap();
    let body = BodyBuilder::planar("a", 1.0, 0.1).velocity(0.0, -2.0, 0.0).angular_velocity(0.0, 0.0, 10.0);
    let body = builder.body(body).unwrap();
    add(&mut builder, (BodyId::WORLD, Vector3::new(0.3, 0.0, 0.0)), (body, Vector3::new(0.3, 0.0, 0.0)));
    builder.build().unwrap()
}

type End = (BodyId, Vector3<f64>);

/// Dampers and soft pins between the world and a spinning body, in both orders: the energy is never above that at the start.
#[test]
fn links_off_the_centre_of_a_spinning_body_do_not_gain_energy() {
    let damper = |damping: f64| {
        held(|builder, a, b| {
            builder.damper(Damper { a, b, damping }).unwrap();
        })
    };
    let pin = |stiffness: f64, damping: f64| {
        held(|builder, a, b| {
            builder.spring(Spring { a, b, stiffness, rest_length: 0.0, damping }).unwrap();
        })
    };
    for strength in [1e2, 1e3, 1e4, 1e6] {
        for (name, model) in
            [("damper", damper(1e3 * strength)), ("pin", pin(strength, 0.0)), ("damped pin", pin(strength, strength))]
        {
            for coordinates in ALL_COORDINATES {
                for order in [Order::First, Order::Second] {
                    // The midpoint rule keeps the energy of undamped pins to second order only, as long as they are resolved.
                    let is_midpoint = name == "pin" && order == Order::Second;
                    let bound = if is_midpoint { 1.005 } else { 1.0 };
                    if is_midpoint && strength > 1e4 {
                        continue;
                    }
                    let mut run = Run::new(model.clone(), Scheme { coordinates, order, ..Scheme::default() }, 0.005);
                    let before = run.energy();
                    for _ in 0..1000 {
                        run.step();
                        let energy = run.energy() / before;
                        assert!(energy <= bound, "{name} {strength:e} {coordinates:?} {order:?}: {energy}");
                    }
                    assert!(name == "damper" || order == Order::First || run.energy() > 0.1 * before, "{name}");
                }
            }
        }
    }
}

/// A spring without rest length on a particle is linear: each axis of an ellipse follows its own closed form.
#[test]
fn springs_without_rest_length_are_linear() {
    let (m, h, at, moving) = (2.0, 0.01, [0.3, -0.2, 0.1], [1.0, 2.0, -3.0]);
    for (k, c) in [(50.0, 0.0), (3e5, 40.0), (2e9, 0.0), (1e3, 7.0), (1e2, 1e5), (1e7, 1e3), (1e6, 300.0)] {
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        builder.gravity(0.0, 0.0, 0.0).unwrap();
        let bob =
            BodyBuilder::particle("bob", m).position(at[0], at[1], at[2]).velocity(moving[0], moving[1], moving[2]);
        let bob = builder.body(bob).unwrap();
        builder.spring(spring(BodyId::WORLD, bob, k, 0.0, c)).unwrap();
        let model = builder.build().unwrap();
        for scheme in schemes() {
            let is_midpoint = scheme.order == Order::Second || scheme.position_update == PositionUpdate::Average;
            let mut run = Run::new(model.clone(), scheme.clone(), h);
            let before = run.energy();
            run.step();
            for axis in 0..3 {
                let (x, v, time) = (at[axis], moving[axis], if is_midpoint { 0.5 * h } else { h });
                let y = (v - time * k * x / m) / (1.0 + time * (time * k + c) / m);
                assert_near(run.case.q("bob")[axis], x + h * y, 1e-9);
            }
            let mut last = run.energy();
            for _ in 0..300 {
                run.step();
                let energy = run.energy();
                assert!(energy <= last * (1.0 + 1e-9) + 1e-12, "{k} {c} {scheme:?}: {last:e} {energy:e}");
                last = energy;
            }
            let is_kept = (last / before - 1.0).abs() < 1e-7;
            assert!(!is_midpoint || c > 0.0 || is_kept, "{k} {scheme:?}: {before} {last}");
        }
    }
}

/// A bead between two taut strings without rest length, with damping: across them it is an oscillator of stiffness 2 k and damping 2 c.
#[test]
fn a_taut_string_is_implicit_across_its_line() {
    let (k, c, h) = (1e5, 1e3, 0.005);
    for order in [Order::First, Order::Second] {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, 0.0, 0.0).unwrap();
        let bead = builder.body(BodyBuilder::particle("bead", 1.0).velocity(0.0, 1e-3, 0.0)).unwrap();
        for x in [-1.0, 1.0] {
            let ends = ((BodyId::WORLD, Vector3::new(x, 0.0, 0.0)), (bead, Vector3::zeros()));
            builder.spring(Spring { a: ends.0, b: ends.1, stiffness: k, rest_length: 0.0, damping: c }).unwrap();
        }
        let mut run = Run::new(builder.build().unwrap(), Scheme { order, ..Scheme::default() }, h);
        let taut = 2.0 * 0.5 * k;
        run.step();
        let time = if order == Order::First { h } else { 0.5 * h };
        assert_near(run.case.q("bead")[1], h * 1e-3 / (1.0 + 2.0 * time * (time * k + c)), 1e-15);
        for _ in 0..400 {
            let last = run.energy() - taut;
            run.step();
            assert!(run.energy() - taut <= last + 1e-9, "{order:?}: {last:e}");
        }
    }
}

/// A damper of any strength between two bodies that spin in space only takes energy, with motion left in it.
#[test]
fn dampers_between_spinning_bodies_take_energy() {
    for damping in [1e1, 1e2, 1e3, 1e5, 1e8] {
        let mut builder = builder(Dimension::Spatial, ContactRule::default());
        builder.gravity(0.0, 0.0, 0.0).unwrap();
        let inertia = |x, y, z| Matrix3::from_diagonal(&Vector3::new(x, y, z));
        let a = BodyBuilder::rigid("a", 1.0, inertia(0.1, 0.1, 0.1));
        let a = builder.body(a.velocity(0.0, 1.0, 0.5).angular_velocity(0.0, 0.0, 10.0)).unwrap();
        let b = BodyBuilder::rigid("b", 2.0, inertia(0.3, 0.2, 0.15)).position(1.0, 0.0, 0.0);
        let b = builder.body(b.angular_velocity(1.0, -8.0, 2.0)).unwrap();
        let ends = ((a, Vector3::new(0.3, 0.0, 0.0)), (b, Vector3::new(-0.3, 0.1, 0.0)));
        builder.damper(Damper { a: ends.0, b: ends.1, damping }).unwrap();
        let model = builder.build().unwrap();
        for order in [Order::First, Order::Second] {
            let mut run = Run::new(model.clone(), Scheme { order, ..Scheme::default() }, 0.005);
            let before = run.energy();
            let mut last = before;
            for step in 0..1000 {
                run.step();
                let energy = run.energy();
                assert!(energy <= last * (1.0 + 1e-6), "{damping:e} {order:?} in step {step}: {last} {energy}");
                last = energy;
            }
            assert!(last > 1e-3 * before, "{damping:e} {order:?}: {before} {last}");
        }
    }
}
