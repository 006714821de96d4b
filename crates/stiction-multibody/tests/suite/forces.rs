//! Applied wrenches against hand formulas and against slopes of the potential energy.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction_multibody::{
    BodyBuilder, BodyId, Configuration, Damper, Dimension, Expression, ForceCallback, Load, Model, ModelBuilder,
    Spring, Wrench, applied_wrenches, apply_inverse_mass, energy, mass_block,
};
use stiction_testkit::Random;

use crate::{
    joint_rows::body,
    support::{close, close_vector, configuration, inertia, moved, planar_vector, slope, unit, vector, velocities},
};

type End = (BodyId, Vector3<f64>);

fn wrenches(model: &Model, at: &Configuration, t: f64) -> Vec<Wrench> {
    let mut out = Vec::new();
    applied_wrenches(model, at, t, &mut out);
    out
}

/// The generalised forces Sᵀ w of all bodies.
fn generalised(model: &Model, wrenches: &[Wrench]) -> Vec<f64> {
    let mut out = vec![0.0; model.dof()];
    for (id, _) in model.iter_bodies() {
        let Some((mobility, range)) = model.unknowns(id) else { continue };
        range.zip(mobility.project(&wrenches[id.index()])).for_each(|(place, f)| out[place] = f);
    }
    out
}

fn expression(text: &str) -> Expression {
    Expression::parse(text).unwrap()
}

fn zero() -> [Expression; 3] {
    std::array::from_fn(|_| Expression::constant(0.0))
}

/// Two bodies, a particle and gravity; the ends of two springs.
fn system(random: &mut Random, dimension: Dimension) -> (ModelBuilder, [End; 4]) {
    let mut builder = ModelBuilder::new(dimension);
    let planar = dimension == Dimension::Planar;
    let point = |random: &mut Random| if planar { planar_vector(random, 0.5) } else { vector(random, 0.5) };
    let g = point(random) * 10.0;
    builder.gravity(g.x, g.y, g.z).unwrap();
    let a = builder.body(body(random, dimension, "a")).unwrap();
    let b = builder.body(body(random, dimension, "b")).unwrap();
    let p = builder.body(BodyBuilder::particle("p", 0.7).position(1.0, 2.0, 0.0)).unwrap();
    let ends = [(a, point(random)), (b, point(random)), (p, Vector3::zeros()), (BodyId::WORLD, point(random))];
    (builder, ends)
}

fn spring(a: End, b: End, damping: f64) -> Spring {
    Spring { a, b, stiffness: 37.0, rest_length: 0.6, damping }
}

/// World position of an attachment point.
fn place(model: &Model, q: &[f64], end: &End) -> Vector3<f64> {
    let at = configuration(model, q, &vec![0.0; model.dof()], 0.0);
    let pose = at.pose(end.0);
    pose.translation.vector + pose.rotation * end.1
}

/// FORCE-1, gravity: the forces without damping are minus the slope of the potential energy.
#[test]
fn conservative_forces_are_the_slope_of_the_potential() {
    let mut random = Random::new(61);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for _ in 0..20 {
            let (mut builder, [a, b, p, world]) = system(&mut random, dimension);
            builder.spring(spring(a, b, 0.0)).unwrap();
            builder.spring(spring(p, a, 0.0)).unwrap();
            builder.spring(spring(world, b, 0.0)).unwrap();
            let model = builder.build().unwrap();
            let q = model.initial_state().q;
            let still = vec![0.0; model.dof()];
            let forces = generalised(&model, &wrenches(&model, &configuration(&model, &q, &still, 0.0), 0.0));
            for (k, force) in forces.iter().enumerate() {
                let potential = |q: &[f64]| energy(&model, &configuration(&model, q, &still, 0.0), &[]).potential;
                close(*force, -slope(&model, &q, &unit(&model, k), potential), 1e-7);
            }
        }
    }
}

/// FORCE-1: the damping of a spring is c L̇ along its line, with L̇ from differences of its length.
#[test]
fn spring_damping_follows_the_rate_of_its_length() {
    let mut random = Random::new(62);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for _ in 0..20 {
            let (mut builder, [a, b, ..]) = system(&mut random, dimension);
            builder.gravity(0.0, 0.0, 0.0).unwrap();
            builder.spring(spring(a, b, 3.0)).unwrap();
            let model = builder.build().unwrap();
            let (q, v) = (model.initial_state().q, velocities(&mut random, &model, 1.0));
            let between = |q: &[f64]| place(&model, q, &b) - place(&model, q, &a);
            let length = between(&q).norm();
            let rate = slope(&model, &q, &v, |q| between(q).norm());
            let tension = 37.0 * (length - 0.6) + 3.0 * rate;
            let out = wrenches(&model, &configuration(&model, &q, &v, 0.0), 0.0);
            close_vector(&out[b.0.index()].linear, &(between(&q) * (-tension / length)), 1e-8);
        }
    }
}

/// FORCE-1: a spring without rest length is linear in the vector between its ends, and damps it in every direction; also where its ends meet.
#[test]
fn springs_without_rest_length_are_linear_in_every_direction() {
    let mut random = Random::new(64);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for meet in [false, true] {
            let (mut builder, [a, b, p, _]) = system(&mut random, dimension);
            builder.gravity(0.0, 0.0, 0.0).unwrap();
            let (a, b) = if meet { ((BodyId::WORLD, Vector3::new(1.0, 2.0, 0.0)), p) } else { (a, b) };
            builder.spring(Spring { a, b, stiffness: 37.0, rest_length: 0.0, damping: 3.0 }).unwrap();
            let model = builder.build().unwrap();
            let (q, v) = (model.initial_state().q, velocities(&mut random, &model, 1.0));
            let between = |q: &[f64]| place(&model, q, &b) - place(&model, q, &a);
            let rate = Vector3::from_fn(|k, _| slope(&model, &q, &v, |q| between(q)[k]));
            let out = wrenches(&model, &configuration(&model, &q, &v, 0.0), 0.0);
            close_vector(&out[b.0.index()].linear, &(between(&q) * -37.0 - rate * 3.0), 1e-7);
        }
    }
}

/// FORCE-2: a damper takes the power c |v_b − v_a|², and its force opposes the relative velocity.
#[test]
fn damper_opposes_the_relative_velocity() {
    let mut random = Random::new(63);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for _ in 0..20 {
            let (mut builder, [a, b, ..]) = system(&mut random, dimension);
            builder.gravity(0.0, 0.0, 0.0).unwrap();
            builder.damper(Damper { a, b, damping: 2.5 }).unwrap();
            let model = builder.build().unwrap();
            let (q, v) = (model.initial_state().q, velocities(&mut random, &model, 1.0));
            let relative =
                Vector3::from_fn(|k, _| slope(&model, &q, &v, |q| place(&model, q, &b)[k] - place(&model, q, &a)[k]));
            let still = vec![0.0; model.dof()];
            let rest = wrenches(&model, &configuration(&model, &q, &still, 0.0), 0.0);
            assert!(generalised(&model, &rest).iter().all(|&f| f == 0.0), "a damper at rest pulls");
            let moving = configuration(&model, &q, &v, 0.0);
            let out = wrenches(&model, &moving, 0.0);
            close_vector(&out[b.0.index()].linear, &(relative * -2.5), 1e-8);
            let gyroscopic_power = 0.0; // −ω × I ω does none
            let power: f64 = generalised(&model, &out).iter().zip(&v).map(|(f, v)| f * v).sum();
            close(power, gyroscopic_power - 2.5 * relative.norm_squared(), 1e-7);
        }
    }
}

/// Action and reaction: springs and dampers between bodies leave total force and total moment at zero.
#[test]
fn action_equals_reaction() {
    let mut random = Random::new(64);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for _ in 0..20 {
            let (mut builder, [a, b, p, _]) = system(&mut random, dimension);
            builder.gravity(0.0, 0.0, 0.0).unwrap();
            builder.spring(spring(a, b, 3.0)).unwrap();
            builder.spring(spring(p, b, 1.0)).unwrap();
            builder.damper(Damper { a, b: p, damping: 2.5 }).unwrap();
            let model = builder.build().unwrap();
            let (q, v) = (model.initial_state().q, velocities(&mut random, &model, 1.0));
            let at = configuration(&model, &q, &v, 0.0);
            let mut out = wrenches(&model, &at, 0.0);
            for (id, _) in model.iter_bodies() {
                // The remainder without the gyroscopic term is due to the springs and dampers.
                let Some((mobility, _, inertia)) = mass_block(&model, &at, id.index()) else { continue };
                if mobility.dof() == 6 {
                    let w = at.twist(id).angular;
                    out[id.index()].angular += w.cross(&(inertia * w));
                }
            }
            let force: Vector3<f64> = out.iter().map(|w| w.linear).sum();
            let moment: Vector3<f64> = model
                .iter_bodies()
                .map(|(id, _)| {
                    let w = &out[id.index()];
                    at.pose(id).translation.vector.cross(&w.linear) + w.angular
                })
                .sum();
            assert!(force.norm() < 1e-13 && out[a.0.index()].linear.norm() > 1e-2);
            // A damper resists in every direction, so its couple of forces has the moment of its arm.
            let arm = place(&model, &q, &p) - place(&model, &q, &a);
            let relative =
                Vector3::from_fn(|k, _| slope(&model, &q, &v, |q| place(&model, q, &p)[k] - place(&model, q, &a)[k]));
            close_vector(&moment, &arm.cross(&(relative * -2.5)), 1e-8);
        }
    }
}

/// A load is a force at a body point that follows its expressions; its power is f · v(p) + τ · ω.
#[test]
fn loads_follow_their_expressions() {
    let mut random = Random::new(65);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let a = builder.body(body(&mut random, Dimension::Spatial, "a")).unwrap();
    let point = vector(&mut random, 0.5);
    let force = ["3*sin(t)", "t^2", "if(t < 1, 0, 5)"].map(expression);
    let torque = ["1", "-t", "0"].map(expression);
    builder.load(Load { body: a, point, force, torque }).unwrap();
    let model = builder.build().unwrap();
    let q = model.initial_state().q;
    let v = velocities(&mut random, &model, 1.0);
    let at = configuration(&model, &q, &v, 0.0);
    let velocity = Vector3::from_fn(|k, _| slope(&model, &q, &v, |q| place(&model, q, &(a, point))[k]));
    for t in [0.0, 0.9, 1.0, 2.5] {
        let out = wrenches(&model, &at, t);
        let force = Vector3::new(3.0 * libm::sin(t), t * t, if t < 1.0 { 0.0 } else { 5.0 });
        let torque = Vector3::new(1.0, -t, 0.0);
        close_vector(&out[a.index()].linear, &force, 1e-15);
        let power: f64 = generalised(&model, &out).iter().zip(&v).map(|(f, v)| f * v).sum();
        let omega = Vector3::new(v[3], v[4], v[5]);
        close(power, force.dot(&velocity) + torque.dot(&omega), 1e-8);
    }
}

/// DYN-5: −ω × I ω keeps the angular momentum of a free body; without it the slope would not vanish.
#[test]
fn gyroscopic_term_keeps_the_angular_momentum() {
    let mut random = Random::new(66);
    for _ in 0..20 {
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        let id = builder.body(body(&mut random, Dimension::Spatial, "top")).unwrap();
        let model = builder.build().unwrap();
        let (q, v) = (model.initial_state().q, velocities(&mut random, &model, 3.0));
        let at = configuration(&model, &q, &v, 0.0);
        let (mobility, mass, world) = mass_block(&model, &at, id.index()).unwrap();
        let wrench = wrenches(&model, &at, 0.0)[id.index()];
        let acceleration = apply_inverse_mass(mobility, mass, &world, &wrench);
        assert_eq!(acceleration.linear, Vector3::zeros());
        let h = 1e-5;
        let after = |h: f64| {
            let omega = Vector3::new(v[3], v[4], v[5]) + acceleration.angular * h;
            let q = moved(&model, &q, &v, h);
            let at = configuration(&model, &q, &v, 0.0);
            let (_, _, world) = mass_block(&model, &at, id.index()).unwrap();
            (world * omega, 0.5 * omega.dot(&(world * omega)))
        };
        let ((l_1, t_1), (l_0, t_0)) = (after(h), after(-h));
        assert!((l_1 - l_0).norm() / (2.0 * h) < 1e-8, "angular momentum changes");
        assert!((t_1 - t_0).abs() / (2.0 * h) < 1e-8, "energy changes");
        assert!(wrench.angular.norm() > 1e-3, "the case is too tame");
    }
}

/// M⁻¹ undoes M, for every mobility.
#[test]
fn inverse_mass_undoes_the_mass() {
    let mut random = Random::new(67);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let rigid =
        builder.body(BodyBuilder::rigid("r", 2.0, inertia(&mut random)).quaternion([0.6, 0.0, 0.8, 0.0])).unwrap();
    let particle = builder.body(BodyBuilder::particle("p", 0.5)).unwrap();
    let model = builder.build().unwrap();
    let state = model.initial_state();
    let at = configuration(&model, &state.q, &state.v, 0.0);
    for id in [rigid, particle] {
        let (mobility, mass, inertia) = mass_block(&model, &at, id.index()).unwrap();
        let mut wanted = Wrench { linear: vector(&mut random, 1.0), angular: vector(&mut random, 1.0) };
        let force = Wrench { linear: wanted.linear * mass, angular: inertia * wanted.angular };
        if !mobility.turns() {
            wanted.angular = Vector3::zeros();
        }
        let found = apply_inverse_mass(mobility, mass, &inertia, &force);
        close_vector(&found.linear, &wanted.linear, 1e-14);
        close_vector(&found.angular, &wanted.angular, 1e-13);
    }
    assert!(mass_block(&model, &at, BodyId::WORLD.index()).is_none());
}

/// A central force towards the origin, growing with time.
#[derive(Debug)]
struct Attraction;

impl ForceCallback for Attraction {
    fn apply(&self, time: f64, at: &Configuration, wrenches: &mut [Wrench]) {
        for (wrench, pose) in wrenches.iter_mut().zip(at.poses()) {
            wrench.linear -= pose.translation.vector * time;
        }
    }
}

#[test]
fn callbacks_add_to_the_other_forces() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -10.0, 0.0).unwrap();
    let p = builder.body(BodyBuilder::particle("p", 2.0).position(3.0, 4.0, 0.0)).unwrap();
    let load = Load { body: p, point: Vector3::zeros(), force: ["1", "0", "0"].map(expression), torque: zero() };
    builder.load(load).unwrap();
    builder.callback(Arc::new(Attraction));
    builder.callback(Arc::new(Attraction));
    let model = builder.build().unwrap();
    let state = model.initial_state();
    let out = wrenches(&model, &configuration(&model, &state.q, &state.v, 0.0), 0.5);
    assert_eq!(out[p.index()].linear, Vector3::new(1.0 - 3.0, -20.0 - 4.0, 0.0));
    assert_eq!(out[BodyId::WORLD.index()].linear, Vector3::zeros());
}

/// A spring of zero length has no direction: its force is zero, not NaN.
#[test]
fn a_spring_of_no_length_pulls_nowhere() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let p = builder.body(BodyBuilder::particle("p", 2.0)).unwrap();
    builder.spring(spring((BodyId::WORLD, Vector3::zeros()), (p, Vector3::zeros()), 1.0)).unwrap();
    let model = builder.build().unwrap();
    let state = model.initial_state();
    let at = configuration(&model, &state.q, &state.v, 0.0);
    assert_eq!(wrenches(&model, &at, 0.0)[p.index()], Wrench::default());
    close(energy(&model, &at, &[]).potential, 0.5 * 37.0 * 0.36, 1e-15);
}
