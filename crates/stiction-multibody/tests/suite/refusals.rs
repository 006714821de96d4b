//! Illegal models: each refusal names the element, the field and the reason.

use std::{fmt::Debug, sync::Arc};

use nalgebra::{Matrix3, Rotation3, Vector3};
use stiction_geometry::planar;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, Damper, Dimension, Element, Expression, ExpressionMotion, JointId, JointKind,
    Load, ModelBuilder, ModelError, Pose, Spring,
};

/// Checks that a result is a refusal about this element and field, and returns its reason.
#[track_caller]
pub(crate) fn refused<T: Debug>(result: Result<T, ModelError>, element: &Element, field: &str) -> String {
    let error = match result {
        Ok(made) => panic!("{element}, {field}: accepted as {made:?}"),
        Err(error) => error,
    };
    assert_eq!((&error.element, error.field), (element, field), "{error}");
    let reason = &error.reason;
    let code = ["::", "[[", "Some(", "Err(", "{", "}", "Vector", "Matrix"];
    assert!(reason.split_whitespace().count() >= 3, "not a sentence: {reason}");
    assert!(!code.iter().any(|token| reason.contains(token)), "not for people: {reason}");
    assert!(!reason.ends_with('.') && reason.trim() == reason, "{reason}");
    assert_eq!(error.to_string(), format!("{element}, {field}: {reason}"));
    error.reason
}

fn plane() -> ModelBuilder {
    ModelBuilder::new(Dimension::Planar)
}

fn space() -> ModelBuilder {
    ModelBuilder::new(Dimension::Spatial)
}

fn flat(name: &str) -> BodyBuilder {
    BodyBuilder::planar(name, 1.0, 1.0)
}

fn rigid(name: &str) -> BodyBuilder {
    BodyBuilder::rigid(name, 1.0, Matrix3::identity())
}

fn body_element(name: &str) -> Element {
    Element::Body(name.into())
}

fn joint_element(name: &str) -> Element {
    Element::Joint(name.into())
}

/// A body id and a joint id that small models do not have.
fn strangers() -> (BodyId, JointId) {
    let mut builder = plane();
    let ids: Vec<_> = (0..9).map(|k| builder.body(flat(&format!("b{k}"))).unwrap()).collect();
    let mut joint = |k: usize| {
        let (a, b) = ((ids[0], Pose::identity()), (ids[1], Pose::identity()));
        builder.joint(format!("j{k}"), JointKind::Revolute, a, b).unwrap()
    };
    (ids[8], (0..9).map(&mut joint).last().unwrap())
}

fn disc() -> stiction_geometry::Shape {
    planar::Shape::disc(1.0).unwrap().into()
}

#[test]
fn elements_read_as_words() {
    let words = [
        (Element::Model, "model"),
        (body_element("a"), "body \"a\""),
        (Element::Shape("a".into(), 2), "shape 2 of body \"a\""),
        (joint_element("j"), "joint \"j\""),
        (Element::Spring(1), "spring 1"),
        (Element::Damper(0), "damper 0"),
        (Element::Load(3), "load 3"),
        (Element::Contact(None), "default contact rule"),
        (Element::Contact(Some(4)), "contact rule 4"),
    ];
    for (element, text) in words {
        assert_eq!(element.to_string(), text);
    }
}

#[test]
fn names_must_be_unique() {
    let mut builder = plane();
    let a = builder.body(flat("a")).unwrap();
    for name in ["", "a", "world"] {
        refused(builder.body(flat(name)), &body_element(name), "name");
    }
    let pin = |builder: &mut ModelBuilder, name: &str| {
        builder.joint(name, JointKind::Revolute, (BodyId::WORLD, Pose::identity()), (a, Pose::identity()))
    };
    pin(&mut builder, "j").unwrap();
    for name in ["", "j"] {
        refused(pin(&mut builder, name), &joint_element(name), "name");
    }
}

#[test]
fn the_plane_has_two_coordinates_and_one_angle() {
    let mut pressed = plane();
    pressed.gravity(0.0, 0.0, -9.81).unwrap();
    refused(pressed.build(), &Element::Model, "gravity");
    let bad = [
        (flat("b").position(0.0, 0.0, 1.0), "position"),
        (flat("b").velocity(0.0, 0.0, 1.0), "velocity"),
        (flat("b").angular_velocity(1.0, 0.0, 0.0), "angular_velocity"),
        (flat("b").angular_velocity(0.0, 1.0, 0.0), "angular_velocity"),
        (flat("b").quaternion([1.0, 0.0, 0.0, 0.0]), "orientation"),
    ];
    for (body, field) in bad {
        refused(plane().body(body), &body_element("b"), field);
    }
    refused(space().body(rigid("b").angle(1.0)), &body_element("b"), "angle");
    refused(space().body(rigid("b").angle(1.0).quaternion([1.0, 0.0, 0.0, 0.0])), &body_element("b"), "angle");
    let up = || (BodyId::WORLD, Vector3::z());
    let origin = || (BodyId::WORLD, Vector3::zeros());
    let spring = Spring { a: up(), b: origin(), stiffness: 1.0, rest_length: 1.0, damping: 0.0 };
    refused(plane().spring(spring).map(drop), &Element::Spring(0), "point");
    refused(plane().damper(Damper { a: origin(), b: up(), damping: 1.0 }).map(drop), &Element::Damper(0), "point");
    let zero = || std::array::from_fn(|_| Expression::constant(0.0));
    let load = Load { body: BodyId::WORLD, point: Vector3::z(), force: zero(), torque: zero() };
    refused(plane().load(load).map(drop), &Element::Load(0), "point");
}

/// A refused gravity leaves the previous one.
#[test]
fn a_refusal_changes_nothing() {
    let mut builder = plane();
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    assert!(builder.gravity(0.0, f64::NAN, 0.0).is_err());
    assert!(builder.body(flat("b").velocity(f64::NAN, 0.0, 0.0)).is_err());
    let model = builder.build().unwrap();
    assert_eq!(model.gravity(), Vector3::new(0.0, -9.81, 0.0));
    assert_eq!((model.bodies().len(), model.dof()), (1, 0));
}

#[test]
fn bodies_that_cannot_turn_or_move_by_themselves() {
    let particle = || BodyBuilder::particle("p", 1.0);
    let element = body_element("p");
    refused(plane().body(particle().angle(1.0)), &element, "angle");
    refused(space().body(particle().quaternion([0.0, 1.0, 0.0, 0.0])), &element, "orientation");
    refused(space().body(particle().angular_velocity(0.0, 0.0, 1.0)), &element, "angular_velocity");
    let still = Expression::constant(0.0);
    let motion = Arc::new(ExpressionMotion::planar(still.clone(), still.clone(), still));
    for body in [BodyBuilder::fixed("f"), BodyBuilder::kinematic("f", motion)] {
        refused(plane().body(body.clone().velocity(1.0, 0.0, 0.0)), &body_element("f"), "velocity");
        refused(plane().body(body.angular_velocity(0.0, 0.0, 1.0)), &body_element("f"), "velocity");
    }
}

/// A motion is a function of time; only its start is checked.
#[test]
fn motions_must_start_at_a_finite_place() {
    let number = Expression::constant;
    let text = |s: &str| Expression::parse(s).unwrap();
    let planar = |x, angle| BodyBuilder::kinematic("k", Arc::new(ExpressionMotion::planar(x, number(0.0), angle)));
    for (x, angle) in [("1/t", "0"), ("sqrt(t)", "0"), ("0", "log(t)"), ("1e12", "0"), ("0", "1e12*t")] {
        refused(plane().body(planar(text(x), text(angle))), &body_element("k"), "motion");
    }
    let lifted = ExpressionMotion {
        position: [number(0.0), number(0.0), text("t")],
        axis: Vector3::z(),
        angle: number(0.0),
        base: nalgebra::UnitQuaternion::identity(),
    };
    refused(plane().body(BodyBuilder::kinematic("k", Arc::new(lifted.clone()))), &body_element("k"), "motion");
    space().body(BodyBuilder::kinematic("k", Arc::new(lifted.clone()))).unwrap();
    let tilted =
        ExpressionMotion { axis: Vector3::x(), angle: number(0.5), position: ["0", "0", "0"].map(text), ..lifted };
    refused(plane().body(BodyBuilder::kinematic("k", Arc::new(tilted))), &body_element("k"), "motion");
}

#[test]
fn shapes_must_fit_their_model() {
    let element = Element::Shape("b".into(), 1);
    let cube = stiction_geometry::spatial::Shape::sphere(1.0).unwrap().into();
    refused(plane().body(flat("b").shape(disc()).shape(cube)), &element, "shape");
    let lifted = Pose::translation(0.0, 0.0, 0.5);
    refused(plane().body(flat("b").shape(disc()).shape_at(disc(), lifted)), &element, "position");
    let at = |rotation| Pose::from_parts(Vector3::zeros().into(), rotation);
    let tilted = Rotation3::from_axis_angle(&Vector3::x_axis(), 0.1);
    let bad = [
        tilted,
        Rotation3::from_matrix_unchecked(Matrix3::identity() * 1.1),
        Rotation3::from_matrix_unchecked(Matrix3::repeat(f64::NAN)),
    ];
    for rotation in bad {
        refused(plane().body(flat("b").shape(disc()).shape_at(disc(), at(rotation))), &element, "orientation");
    }
}

#[test]
fn joints_need_two_bodies_that_can_move_apart() {
    let frame = Pose::identity;
    let element = joint_element("j");
    let mut builder = plane();
    let a = builder.body(flat("a")).unwrap();
    let wall = builder.body(BodyBuilder::fixed("wall")).unwrap();
    let (stranger, other_joint) = strangers();
    let mut join = |kind, x, y| builder.joint("j", kind, (x, frame()), (y, frame())).map(drop);
    refused(join(JointKind::Weld, stranger, a), &element, "body");
    refused(join(JointKind::Weld, a, stranger), &element, "body");
    refused(join(JointKind::Weld, BodyId::WORLD, wall), &element, "between");
    refused(join(JointKind::Weld, a, a), &element, "between");
    for kind in [JointKind::Spherical, JointKind::Universal, JointKind::Cylindrical, JointKind::Planar] {
        let reason = refused(join(kind, a, BodyId::WORLD), &element, "kind");
        assert!(reason.contains(kind.name()));
    }
    for length in [0.0, -1.0, 1e-9] {
        refused(join(JointKind::Distance(length), a, BodyId::WORLD), &element, "length");
    }
    refused(builder.joint_gamma(other_joint, 0.5).map(drop), &Element::Model, "joint");
    let at = |builder: &mut ModelBuilder, kind, bodies, anchor, axis| {
        builder.joint_at("j", kind, bodies, anchor, axis).map(drop)
    };
    let (pair, origin, x) = ((BodyId::WORLD, a), Vector3::zeros(), Vector3::x());
    refused(at(&mut builder, JointKind::Distance(1.0), pair, origin, x), &element, "kind");
    refused(at(&mut builder, JointKind::Revolute, (a, stranger), origin, x), &element, "body");
    refused(at(&mut builder, JointKind::Revolute, pair, Vector3::z(), x), &element, "anchor");
    refused(at(&mut builder, JointKind::Prismatic, pair, origin, Vector3::z()), &element, "axis");
    for gamma in [-0.1, 1.1] {
        let joint =
            builder.joint(format!("g{gamma}"), JointKind::Revolute, (BodyId::WORLD, frame()), (a, frame())).unwrap();
        refused(builder.joint_gamma(joint, gamma).map(drop), &joint_element(&format!("g{gamma}")), "gamma");
    }
}

#[test]
fn joint_frames_must_be_rotations() {
    let element = joint_element("j");
    let weld = |mut builder: ModelBuilder, body: BodyBuilder, matrix: Matrix3<f64>| {
        let b = builder.body(body).unwrap();
        let frame = Pose::from_parts(Vector3::zeros().into(), Rotation3::from_matrix_unchecked(matrix));
        builder.joint("j", JointKind::Weld, (BodyId::WORLD, Pose::identity()), (b, frame)).map(drop)
    };
    let mut one_nan = Matrix3::identity();
    one_nan.m12 = f64::NAN;
    let mirror = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0));
    let sheared = Matrix3::new(1.0, 1e-3, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    for matrix in
        [Matrix3::zeros(), one_nan, mirror, sheared, Matrix3::repeat(f64::INFINITY), Matrix3::identity() * 2.0]
    {
        refused(weld(space(), rigid("b"), matrix), &element, "axis");
    }
    let flipped = Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0));
    weld(space(), rigid("b"), flipped).unwrap();
    refused(weld(plane(), flat("b"), flipped), &element, "axis");
}

#[test]
fn particles_join_only_by_their_centre() {
    let element = joint_element("j");
    for kind in [JointKind::Weld, JointKind::Prismatic] {
        for builder in [plane(), space()] {
            let mut builder = builder;
            let p = builder.body(BodyBuilder::particle("p", 1.0)).unwrap();
            refused(
                builder.joint("j", kind, (BodyId::WORLD, Pose::identity()), (p, Pose::identity())).map(drop),
                &element,
                "between",
            );
        }
    }
    for kind in [JointKind::Revolute, JointKind::Universal, JointKind::Cylindrical, JointKind::Planar] {
        let mut builder = space();
        let p = builder.body(BodyBuilder::particle("p", 1.0)).unwrap();
        let result = builder.joint("j", kind, (p, Pose::identity()), (BodyId::WORLD, Pose::identity()));
        refused(result.map(drop), &element, "between");
    }
    let mut builder = space();
    let p = builder.body(BodyBuilder::particle("p", 1.0)).unwrap();
    let arm = Pose::translation(0.1, 0.0, 0.0);
    let result = builder.joint("j", JointKind::Spherical, (BodyId::WORLD, arm), (p, arm));
    refused(result.map(drop), &element, "between");
}

#[test]
fn forces_and_rules_need_bodies_of_the_model() {
    let (stranger, _) = strangers();
    let origin = |id| (id, Vector3::zeros());
    let zero = || std::array::from_fn(|_| Expression::constant(0.0));
    let load = Load { body: stranger, point: Vector3::zeros(), force: zero(), torque: zero() };
    refused(plane().load(load).map(drop), &Element::Load(0), "body");
    for (a, b) in [(stranger, BodyId::WORLD), (BodyId::WORLD, stranger)] {
        let spring = Spring { a: origin(a), b: origin(b), stiffness: 1.0, rest_length: 1.0, damping: 0.0 };
        refused(plane().spring(spring).map(drop), &Element::Spring(0), "body");
        refused(
            plane().damper(Damper { a: origin(a), b: origin(b), damping: 1.0 }).map(drop),
            &Element::Damper(0),
            "body",
        );
        refused(plane().contact(a, b, ContactRule::default()).map(drop), &Element::Contact(Some(0)), "body");
    }
    let point = |x| (BodyId::WORLD, Vector3::new(x, 0.0, 0.0));
    let spring = Spring { a: point(0.0), b: point(1.0), stiffness: 1.0, rest_length: 1.0, damping: 0.0 };
    refused(plane().spring(spring).map(drop), &Element::Spring(0), "between");
    let damper = Damper { a: point(0.0), b: point(1.0), damping: 1.0 };
    refused(plane().damper(damper).map(drop), &Element::Damper(0), "between");
    let mut builder = plane();
    let a = builder.body(flat("a")).unwrap();
    refused(builder.contact(a, a, ContactRule::default()).map(drop), &Element::Contact(Some(0)), "between");
    builder.contact(a, BodyId::WORLD, ContactRule::default()).unwrap();
    let again = builder.contact(BodyId::WORLD, a, ContactRule::default()).map(drop);
    refused(again, &Element::Contact(Some(1)), "between");
}

/// Half-planes must be fixed or kinematic, and loads need a dynamic body.
#[test]
fn what_could_not_do_anything_is_refused() {
    let half_plane = || planar::Shape::half_plane(nalgebra::Vector2::y()).unwrap().into();
    let falling = plane().body(flat("a").shape(half_plane())).map(drop);
    refused(falling, &Element::Shape("a".into(), 0), "shape");
    let zero = || [0.0; 3].map(stiction_multibody::Expression::constant);
    let twist = [0.0, 0.0, 1.0].map(stiction_multibody::Expression::constant);
    let load = |body, torque| stiction_multibody::Load { body, point: Vector3::zeros(), force: zero(), torque };
    refused(plane().load(load(BodyId::WORLD, zero())).map(drop), &Element::Load(0), "body");
    let mut builder = plane();
    let particle = builder.body(BodyBuilder::particle("p", 1.0)).unwrap();
    refused(builder.load(load(particle, twist)).map(drop), &Element::Load(0), "torque");
}

/// Pairs of shapes without a narrow phase are refused when the model is built, unless they may pass through each other.
#[test]
fn pairs_of_shapes_must_be_supported() {
    let point = || planar::Shape::point().into();
    let walls = |collide: bool| {
        let mut builder = plane();
        let a = builder.body(flat("a").shape(disc()).shape(point())).unwrap();
        let b = builder.body(BodyBuilder::fixed("ground").shape(point())).unwrap();
        builder.contact(a, b, ContactRule { collide, ..ContactRule::default() }).unwrap();
        builder.build().map(drop)
    };
    let reason = refused(walls(true), &Element::Shape("a".into(), 1), "shape");
    assert!(reason.contains("ground"), "{reason}");
    walls(false).unwrap();
}

/// Two bodies of every mass in the domain are not a model: beyond the digits of a number the light one vanishes beside the heavy one.
#[test]
fn masses_that_differ_by_more_than_the_digits_of_a_number_are_refused() {
    let with = |a: f64, b: f64| {
        let mut builder = space();
        builder.body(BodyBuilder::particle("a", a)).unwrap();
        builder.body(BodyBuilder::particle("b", b)).unwrap();
        builder.build().map(drop)
    };
    refused(with(1e8, 1e-8), &body_element("b"), "mass");
    refused(with(1e-12, 1e12), &body_element("a"), "mass");
    with(1e7, 1e-7).unwrap();
    with(1e12, 1e12).unwrap();
}
