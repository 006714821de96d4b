//! Models that differ from another in one respect.

use std::sync::Arc;

use stiction_multibody::{
    BodyBuilder, BodyKind, ContactRule, Dimension, Expression, ExpressionMotion, ModelBuilder, SupportBuilder,
};

fn motion(x: f64, y: &str) -> Arc<ExpressionMotion> {
    let (x, y) = (Expression::constant(x), Expression::parse(y).unwrap());
    Arc::new(ExpressionMotion::planar(x, y, Expression::constant(0.0)))
}

fn model() -> stiction_multibody::Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -10.0).unwrap();
    let part = builder.body(BodyBuilder::planar("part", 1.0, 0.1)).unwrap();
    let support_points = SupportBuilder::tripod([[0.0, 0.3], [-0.3, -0.15], [0.3, -0.15]]).friction(0.4);
    builder.support(part, &support_points).unwrap();
    let needle = builder.body(BodyBuilder::kinematic("needle", motion(-1.0, "t"))).unwrap();
    builder.contact(part, needle, ContactRule { friction: 0.5, ..ContactRule::default() }).unwrap();
    builder.default_contact(ContactRule { friction: 0.1, ..ContactRule::default() }).unwrap();
    builder.build().unwrap()
}

#[test]
fn another_motion_is_all_that_changes() {
    let model = model();
    let needle = model.find_body("needle").unwrap();
    let other = model.with_motion(needle, motion(-2.0, "3*t")).unwrap();
    let BodyKind::Kinematic(moves) = &other.body(needle).unwrap().kind else { panic!("kinematic") };
    assert_eq!((moves.at(1.0).position.x, moves.at(1.0).position.y), (-2.0, 3.0));
    let BodyKind::Kinematic(moved) = &model.body(needle).unwrap().kind else { panic!("kinematic") };
    assert_eq!(moved.at(1.0).position.y, 1.0, "the first model is as it was");
    assert_eq!((other.dof(), other.support_point_count()), (model.dof(), model.support_point_count()));
    assert_eq!(other.initial_state(), model.initial_state());
}

#[test]
fn motions_for_others_and_motions_that_make_no_sense_are_refused() {
    let model = model();
    let (part, needle) = (model.find_body("part").unwrap(), model.find_body("needle").unwrap());
    assert_eq!(model.with_motion(part, motion(0.0, "t")).unwrap_err().field, "motion");
    assert_eq!(model.with_motion(needle, motion(f64::NAN, "t")).unwrap_err().field, "motion");
    let mut larger = ModelBuilder::new(Dimension::Planar);
    let ids: Vec<_> = ["a", "b", "c", "d"].map(|name| larger.body(BodyBuilder::fixed(name)).unwrap()).to_vec();
    assert_eq!(model.with_motion(ids[3], motion(0.0, "t")).unwrap_err().field, "body");
}

#[test]
fn friction_is_scaled_where_it_is_said() {
    let model = model();
    let (part, needle) = (model.find_body("part").unwrap(), model.find_body("needle").unwrap());
    let other = model.with_friction_scaled(2.0, &[0.5, 1.5]).unwrap();
    assert_eq!(other.contact_rule(part, needle).friction, 1.0);
    assert_eq!(other.default_contact_rule().friction, 0.2);
    let support_points = &other.body(part).unwrap().support.as_ref().unwrap().points;
    let mu: Vec<_> = support_points.iter().map(|support_point| support_point.friction).collect();
    assert!((mu[0] - 0.2).abs() < 1e-15 && (mu[1] - 0.6).abs() < 1e-15 && mu[2] == 0.4, "{mu:?}");
    assert_eq!(support_points[0].load, model.body(part).unwrap().support.as_ref().unwrap().points[0].load);
    assert!(model.with_friction_scaled(-1.0, &[]).is_err() && model.with_friction_scaled(1.0, &[f64::NAN]).is_err());
}
