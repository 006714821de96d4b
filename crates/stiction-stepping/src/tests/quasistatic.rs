//! Steps of bodies without inertia: balance, warm starts, free motions, uniqueness.

use nalgebra::Vector3;
use stiction_geometry::planar;
use stiction_multibody::{BodyBuilder, ContactRule, Dimension, Load, Model, ModelBuilder, SupportBuilder};

use super::support::{Case, G, assert_all_near, assert_near, disc, expression, friction, on_floor, prescribed, world};
use crate::{FrictionSet, Preset, Scheme, StepCause, Undetermined, Uniqueness, uniqueness};

const FEET: [[f64; 2]; 3] = [[0.2, 0.0], [-0.1, 0.2], [-0.1, -0.2]];

fn quasistatic(friction: FrictionSet) -> Scheme {
    Scheme { friction, ..Preset::Quasistatic.scheme() }
}

/// Slab of 2 kg on a table, and a disc that pushes it from the left with 0.1 m/s.
fn pushed(offset: f64) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -G).unwrap();
    let pusher = prescribed("pusher", ["-1 + 0.1*t", "0", "0"]).shape(planar::Shape::disc(0.5).unwrap().into());
    builder.body(pusher).unwrap();
    let half = planar::Shape::rectangle([0.5, 0.5]).unwrap();
    let slab = BodyBuilder::planar("slab", 2.0, 0.3).position(0.0, offset, 0.0).shape(half.into());
    let slab = builder.body(slab).unwrap();
    builder.support(slab, &SupportBuilder::tripod(FEET).friction(0.25)).unwrap();
    builder.build().unwrap()
}

/// A slab that is pushed through its centre moves with the pusher, against the friction μ m g of its feet.
#[test]
fn pushed_slabs_move_with_the_pusher() {
    for friction in [FrictionSet::Quadratic, FrictionSet::Polygon, FrictionSet::Box] {
        let mut case = Case::new(pushed(0.0), quasistatic(friction), 0.1);
        for step in 1..=5 {
            let report = case.step();
            assert!(report.residual.value < 1e-8, "{friction:?}: {}", report.residual.value);
            assert_all_near(case.q("slab"), &[0.01 * f64::from(step), 0.0, 0.0], 1e-9);
            let normal = case.ws.result.contact_reports[0].normal_impulse;
            assert_near(normal, 0.25 * 2.0 * G * 0.1, 1e-7);
        }
    }
}

/// The forces on every body add up to zero, whatever the push does.
#[test]
fn forces_are_in_balance() {
    let mut case = Case::new(pushed(0.2), quasistatic(FrictionSet::Quadratic), 0.1);
    for _ in 0..5 {
        case.run(1);
        let result = &case.ws.result;
        let contact = &result.contact_reports[0];
        let push = contact.normal * contact.normal_impulse + contact.friction_impulse;
        let drag: Vector3<f64> = result.support_reports.iter().map(|report| report.friction_impulse).sum();
        assert!((push + drag).norm() < 1e-8 * push.norm(), "{push:?} {drag:?}");
    }
    assert!(case.q("slab")[2].abs() > 1e-3, "pushed off its centre, the slab turns");
}

#[test]
fn bodies_that_nothing_holds_are_named() {
    let model = world(Dimension::Planar, ContactRule::default(), [disc("falling", 3.0, 0.5)]);
    let mut case = Case::new(model, quasistatic(FrictionSet::Quadratic), 0.01);
    let cause = case.try_step().unwrap_err();
    let StepCause::NoBalance { body, force, scale } = &cause else { panic!("{cause}") };
    assert_eq!(body, "body \"falling\"");
    assert_near(*force, 3.0 * G, 1e-6 * G);
    assert_near(*scale, 3.0 * G, 1e-9);
}

/// A body that can move freely rests, or continues its motion, as the scheme says.   [QS-3]
#[test]
fn free_motions_rest_or_continue() {
    for (undetermined, speed) in [(Undetermined::Rest, 0.0), (Undetermined::Continue, 0.7)] {
        let body = disc("disc", 1.0, 0.5).position(0.0, 0.5, 0.0).velocity(0.7, 0.0, 0.0);
        let model = on_floor(Dimension::Planar, ContactRule::default(), [body]);
        let mut case = Case::new(model, Scheme { undetermined, ..quasistatic(FrictionSet::Quadratic) }, 0.01);
        case.run(1);
        assert_near(case.v("disc")[0], speed, 1e-7);
        assert_near(case.ws.result.contact_reports[0].normal_impulse, G * 0.01, 1e-8);
    }
}

/// Pushed through its centre a slab on three feet has one motion; on one foot it could turn as well.   [QS-6]
#[test]
fn motions_are_unique_where_friction_determines_them() {
    let mut case = Case::new(pushed(0.0), quasistatic(FrictionSet::Quadratic), 0.1);
    case.run(1);
    assert_eq!(uniqueness(&case.model, &case.scheme, &case.ws), Some(Uniqueness::Unique));
    // With inertia the question does not arise.
    assert_eq!(uniqueness(&case.model, &Scheme::default(), &case.ws), None);
    let body = disc("disc", 1.0, 0.5).position(0.0, 0.5, 0.0);
    let model = on_floor(Dimension::Planar, ContactRule::default(), [body]);
    let mut case = Case::new(model, quasistatic(FrictionSet::Quadratic), 0.1);
    case.run(1);
    let Some(Uniqueness::NotUnique(direction)) = uniqueness(&case.model, &case.scheme, &case.ws) else {
        panic!("a disc can slide and turn on a smooth floor")
    };
    assert_near(direction[1], 0.0, 1e-6);
    assert_near(direction.iter().map(|x| x * x).sum::<f64>(), 1.0, 1e-9);
}

/// A particle dragged by less than μ m g rests; by exactly that, it could move along.
#[test]
fn the_limit_of_friction_leaves_a_motion_free() {
    for set in [FrictionSet::Quadratic, FrictionSet::Polygon] {
        for (force, is_unique) in [("4.9", true), ("5", false)] {
            let mut builder = ModelBuilder::new(Dimension::Planar);
            builder.gravity(0.0, 0.0, -G).unwrap();
            let stone = builder.body(BodyBuilder::particle("stone", 2.0)).unwrap();
            builder.support(stone, &SupportBuilder::point().friction(0.25)).unwrap();
            let [pull, zero] = [force, "0"].map(expression);
            let torque = [zero.clone(), zero.clone(), zero.clone()];
            let force = [pull, zero.clone(), zero];
            builder.load(Load { body: stone, point: Vector3::zeros(), force, torque }).unwrap();
            let mut case = Case::new(builder.build().unwrap(), quasistatic(set), 0.1);
            case.run(1);
            assert_all_near(case.v("stone"), &[0.0; 2], 1e-7);
            match uniqueness(&case.model, &case.scheme, &case.ws).unwrap() {
                Uniqueness::Unique => assert!(is_unique, "{set:?}"),
                Uniqueness::NotUnique(direction) => {
                    assert!(!is_unique, "{set:?}");
                    assert_near(direction[0], 1.0, 1e-6);
                }
            }
        }
    }
}

/// A jammed or resting stack needs no motion: contacts carry the weight above them.
#[test]
fn stacks_carry_their_weight() {
    let bodies = [
        super::support::rectangle("lower", 2.0, [0.5, 0.5]).position(0.0, 0.5, 0.0),
        super::support::rectangle("upper", 3.0, [0.5, 0.5]).position(0.0, 1.5, 0.0),
    ];
    let mut case =
        Case::new(on_floor(Dimension::Planar, friction(0.3), bodies), quasistatic(FrictionSet::Quadratic), 0.01);
    case.run(1);
    assert!(case.state.v.iter().all(|v| v.abs() < 1e-8));
    let (floor, mut on_floor, mut between) = (case.body("floor"), 0.0, 0.0);
    for report in &case.ws.result.contact_reports {
        *(if report.body_a == floor { &mut on_floor } else { &mut between }) += report.normal_impulse;
    }
    assert_near(on_floor, 5.0 * G * 0.01, 1e-8);
    assert_near(between, 3.0 * G * 0.01, 1e-8);
}
