//! Warm start: the impulses of the last step in the rows of this one.

use stiction_multibody::{
    BodyBuilder, ContactRule, Dimension, Layer, LayerRule, LimitSurface, Model, ModelBuilder, SupportBuilder,
};

use super::{COORDINATES, arm_case};
use crate::constraints::Source;
use crate::formulation::write_warm_start;
use crate::tests::support::{Case, assert_all_near, ball, disc, floor, friction, on_floor};
use crate::{FrictionSet, Scheme};

/// Takes the impulses of a solved step into the state, without moving it, and compares the warm start with the solution.
#[track_caller]
fn check(mut case: Case) {
    case.advance();
    let next = &case.ws.result.next;
    case.state.contacts.clone_from(&next.contacts);
    case.state.joint_impulses.clone_from(&next.joint_impulses);
    case.state.support_impulses.clone_from(&next.support_impulses);
    let mut expected = case.ws.friction.solution.r.clone();
    let mut nonzero = 0;
    for (index, block) in case.ws.constraints.blocks.iter().enumerate() {
        let range = case.ws.friction.problem.range(index);
        if let Source::JointSpace(_) = block.source {
            expected[range].fill(0.0);
        } else {
            nonzero += expected[range].iter().filter(|r| r.abs() > 1e-6).count();
        }
    }
    assert!(nonzero > 0, "something acts");
    case.with(write_warm_start);
    assert_all_near(&case.ws.friction.guess.r, &expected, 1e-12);
}

/// Joints and contacts in maximal coordinates; loops and contacts in the others.
#[test]
fn impulses_of_joints_and_contacts_are_found_again() {
    for coordinates in COORDINATES {
        check(arm_case(coordinates, FrictionSet::Quadratic));
    }
}

#[test]
fn torsion_and_rolling_are_found_again() {
    let rule =
        ContactRule { torsion: 0.05, rolling: 0.02, ellipse: [0.6, 1.4], direction_offset: 0.5, ..friction(0.4) };
    let body = ball("ball", 3.0, 0.5).position(0.0, 0.0, 0.5).velocity(1.0, 0.5, 0.0).angular_velocity(1.0, -1.0, 4.0);
    check(Case::new(on_floor(Dimension::Spatial, rule, [body]), Scheme::default(), 0.01));
}

#[test]
fn supports_are_found_again() {
    let supports = [
        SupportBuilder::tripod([[0.2, 0.0], [-0.1, 0.2], [-0.15, -0.2]]),
        SupportBuilder::limit_surface(LimitSurface::uniform_disc(0.3).unwrap()),
    ];
    for support in supports {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, 0.0, -10.0).unwrap();
        let slab = disc("slab", 3.0, 0.5).velocity(1.0, 0.5, 0.0).angular_velocity(0.0, 0.0, 2.0);
        let slab = builder.body(slab).unwrap();
        builder.support(slab, &support.friction(0.3)).unwrap();
        check(Case::new(builder.build().unwrap(), Scheme::default(), 0.01));
    }
}

fn on_layer(depth: f64) -> Model {
    let mut builder = crate::tests::support::builder(Dimension::Spatial, friction(0.4));
    let ground = builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Spatial))).unwrap();
    let body =
        ball("ball", 3.0, 0.5).position(0.0, 0.0, 0.499).velocity(1.0, 0.5, -1.0).angular_velocity(0.0, 0.0, 3.0);
    let body = builder.body(body).unwrap();
    let layer = LayerRule::Given(Layer::shearing([2e4, 1e4], [10.0, 5.0]).with_depth(depth));
    builder.contact(ground, body, ContactRule { layer, torsion: 0.05, ..friction(0.4) }).unwrap();
    builder.build().unwrap()
}

/// The memory holds the sum of layer and core; the warm start separates them again.
#[test]
fn layers_and_cores_are_separated_again() {
    let case = || Case::new(on_layer(2e-3), Scheme::default(), 0.01);
    let mut pressed = case();
    pressed.advance();
    assert!(pressed.ws.constraints.layer_surfaces[0].core_impulse.normal > 0.0, "the core is reached");
    check(case());
}

/// Contacts that are new, and impulses of another step, start from zero.
#[test]
fn unknown_contacts_start_from_zero() {
    let mut case = arm_case(crate::Coordinates::Maximal, FrictionSet::Quadratic);
    case.assemble().unwrap();
    case.with(write_warm_start);
    let guess = &case.ws.friction.guess.r;
    assert_eq!(guess.len(), case.ws.friction.problem.rows());
    assert!(guess.iter().all(|r| *r == 0.0));
}
