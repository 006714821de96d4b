//! Layout of a model: ranges in the state, ids, and the contact rule of a pair.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use stiction_geometry::planar;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, Dimension, Expression, ExpressionMotion, JointKind, Mobility, ModelBuilder,
    OrientationUpdate, Pose, may_collide,
};

use crate::support::configuration;

fn disc() -> stiction_geometry::Shape {
    planar::Shape::disc(0.1).unwrap().into()
}

/// BOD-1, BOD-3: unknowns are those of the dynamic bodies, in the order they were added.
#[test]
fn initial_state_of_space() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let rigid = BodyBuilder::rigid("rigid", 1.0, Matrix3::identity())
        .position(1.0, 2.0, 3.0)
        .quaternion([0.6, 0.0, -0.8, 0.0])
        .velocity(4.0, 5.0, 6.0)
        .angular_velocity(7.0, 8.0, 9.0);
    let wall = builder.body(BodyBuilder::fixed("wall").position(9.0, 9.0, 9.0)).unwrap();
    let rigid = builder.body(rigid).unwrap();
    let particle = BodyBuilder::particle("particle", 1.0).position(-1.0, -2.0, -3.0).velocity(-4.0, -5.0, -6.0);
    let particle = builder.body(particle).unwrap();
    let model = builder.build().unwrap();
    let state = model.initial_state();
    assert_eq!(state.q, [1.0, 2.0, 3.0, 0.6, 0.0, -0.8, 0.0, -1.0, -2.0, -3.0]);
    assert_eq!(state.v, [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, -4.0, -5.0, -6.0]);
    assert_eq!((state.step, state.time, state.time_carry, state.contacts.len()), (0, 0.0, 0.0, 0));
    assert_eq!((model.coordinates(), model.dof()), (10, 9));
    assert_eq!(model.unknowns(rigid), Some((Mobility::Free, 0..6)));
    assert_eq!(model.unknowns(particle), Some((Mobility::Particle, 6..9)));
    assert_eq!(model.unknowns(wall), None);
    assert_eq!(model.unknowns(BodyId::WORLD), None);
    let at = configuration(&model, &state.q, &state.v, 0.0);
    assert_eq!(at.pose(wall).translation.vector, Vector3::repeat(9.0));
    assert_eq!(at.twist(rigid).angular, Vector3::new(7.0, 8.0, 9.0));
    assert_eq!(at.twist(particle).linear, Vector3::new(-4.0, -5.0, -6.0));
}

/// A planar angle counts full turns, and stays a number under integration.
#[test]
fn initial_state_of_the_plane() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let motion = ExpressionMotion::planar(
        Expression::parse("2*t").unwrap(),
        Expression::constant(1.0),
        Expression::parse("t^2").unwrap(),
    );
    let driver = builder.body(BodyBuilder::kinematic("driver", Arc::new(motion))).unwrap();
    builder.body(BodyBuilder::particle("p", 1.0).position(1.0, 2.0, 0.0).velocity(3.0, 4.0, 0.0)).unwrap();
    let spinning = BodyBuilder::planar("b", 1.0, 1.0).position(5.0, 6.0, 0.0).angle(20.0).velocity(7.0, 8.0, 0.0);
    builder.body(spinning.angular_velocity(0.0, 0.0, 9.0)).unwrap();
    let model = builder.build().unwrap();
    let state = model.initial_state();
    assert_eq!(state.q, [1.0, 2.0, 5.0, 6.0, 20.0]);
    assert_eq!(state.v, [3.0, 4.0, 7.0, 8.0, 9.0]);
    assert_eq!(model.kinematic_bodies(), [driver]);
    for update in [OrientationUpdate::Exponential, OrientationUpdate::Euler] {
        let mut q = Vec::new();
        model.integrate(&state.q, &state.v, 0.5, update, &mut q);
        assert_eq!(q, [2.5, 4.0, 8.5, 10.0, 24.5]);
    }
    let mut at = configuration(&model, &state.q, &state.v, 1.0);
    assert_eq!(at.pose(driver).translation.vector, Vector3::new(2.0, 1.0, 0.0));
    assert_eq!(at.twist(driver).linear, Vector3::new(2.0, 0.0, 0.0));
    assert_eq!(at.twist(driver).angular, Vector3::new(0.0, 0.0, 2.0));
    at.move_prescribed(&model, 3.0);
    assert_eq!(at.pose(driver).translation.vector, Vector3::new(6.0, 1.0, 0.0));
    assert_eq!(at.twist(driver).angular, Vector3::new(0.0, 0.0, 6.0));
}

#[test]
fn bodies_joints_and_shapes_are_found() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let a = builder.body(BodyBuilder::planar("a", 1.0, 1.0).shape(disc()).shape(disc())).unwrap();
    let b = builder.body(BodyBuilder::planar("b", 1.0, 1.0).shape(disc())).unwrap();
    let pin = builder.joint("pin", JointKind::Revolute, (a, Pose::identity()), (b, Pose::identity())).unwrap();
    let weld = builder.joint("weld", JointKind::Weld, (a, Pose::identity()), (b, Pose::identity())).unwrap();
    builder.joint_gamma(weld, 0.25).unwrap();
    let model = builder.build().unwrap();
    assert_eq!(model.find_body("b"), Some(b));
    assert_eq!(model.find_body("world"), Some(BodyId::WORLD));
    assert_eq!(model.find_body("c"), None);
    assert_eq!(model.find_joint("pin"), Some(pin));
    assert_eq!(model.joint(pin).unwrap().gamma, None);
    assert_eq!(model.joint(weld).unwrap().gamma, Some(0.25));
    assert_eq!((model.joint(weld).unwrap().first_row(), model.joint_rows()), (2, 5));
    let owners: Vec<_> = model.shapes().map(|(id, body, _)| (id.index(), body, model.shape_owner(id))).collect();
    assert_eq!(owners, [(0, a, Some((a, 0))), (1, a, Some((a, 1))), (2, b, Some((b, 0)))]);
    assert!(model.shape(3).is_none());
}

#[test]
fn contact_rules_of_pairs() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| builder.body(BodyBuilder::planar(name, 1.0, 1.0)).unwrap());
    let wall = builder.body(BodyBuilder::fixed("wall")).unwrap();
    let rule = |friction: f64| ContactRule { friction, ..ContactRule::default() };
    // Given out of order, and the second with the higher id first.
    builder.contact(c, wall, rule(0.3)).unwrap();
    builder.contact(b, a, rule(0.2)).unwrap();
    builder.contact(a, d, rule(0.4)).unwrap();
    let pin = |builder: &mut ModelBuilder, name, x, y| {
        builder.joint(name, JointKind::Revolute, (x, Pose::identity()), (y, Pose::identity())).unwrap();
    };
    pin(&mut builder, "b-c", c, b);
    pin(&mut builder, "a-d", a, d);
    builder.default_contact(rule(0.7)).unwrap();
    let model = builder.build().unwrap();
    for (x, y, friction) in [(a, b, 0.2), (c, wall, 0.3), (a, d, 0.4), (a, c, 0.7), (b, wall, 0.7)] {
        assert_eq!(model.contact_rule(x, y).friction, friction);
        assert_eq!(model.contact_rule(x, y), model.contact_rule(y, x));
        assert!(may_collide(&model, x, y));
    }
    // Bodies with a common joint pass through each other, unless their pair has a rule; they keep the rest of the default.
    assert!(!may_collide(&model, b, c) && !may_collide(&model, c, b));
    assert_eq!(model.contact_rule(b, c), &ContactRule { collide: false, ..rule(0.7) });
    // No body collides with itself, and immobile bodies do not collide.
    assert!(!may_collide(&model, a, a));
    assert!(!may_collide(&model, BodyId::WORLD, wall));
    assert_eq!(model.contact_rules().count(), 1 + model.pair_rules().len());
}

/// Directions come back with unit length.
#[test]
fn first_directions_are_normalised() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let rule = ContactRule { first_direction: Some(Vector3::new(0.0, 3.0, -4.0)), ..ContactRule::default() };
    builder.default_contact(rule).unwrap();
    let model = builder.build().unwrap();
    assert_eq!(model.default_contact_rule().first_direction, Some(Vector3::new(0.0, 0.6, -0.8)));
}
