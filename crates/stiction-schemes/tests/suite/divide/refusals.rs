//! Inputs that a hybrid stepper refuses; the state stays unchanged.

use nalgebra::Vector3;
use stiction_multibody::articulated::{LinkSpec, SingularInertia, TreeBuilder, TreeJoint};
use stiction_schemes::{HybridError, HybridForm, HybridOptions, HybridState, HybridStepper, PlaneContact};
use stiction_testkit::Random;

use super::chains::{chain, posed};

#[test]
fn bad_choices_and_contacts_are_named() {
    let mut random = Random::new(7411);
    let tree = chain(&mut random, 3);
    let scene = posed(&mut random, tree);
    let link = scene.tree.link_ids().next().unwrap();
    let good = scene.contact(&mut random, link, 0.2);
    let make = |contact: PlaneContact, directions: usize| {
        let options = HybridOptions { directions, ..HybridOptions::default() };
        HybridStepper::new(scene.tree.clone(), vec![good, contact], options).map(|_| ())
    };
    assert_eq!(make(good, 8), Ok(()));
    assert!(matches!(make(good, 5), Err(HybridError::Option(error)) if error.name == "directions"));
    let nan = f64::NAN;
    let bad = [
        ("point", PlaneContact { point: Vector3::new(nan, 0.0, 0.0), ..good }),
        ("normal", PlaneContact { normal: Vector3::new(2.0, 0.0, 0.0), ..good }),
        ("offset", PlaneContact { offset: f64::INFINITY, ..good }),
        ("friction", PlaneContact { friction: -0.1, ..good }),
        ("restitution", PlaneContact { restitution: 1.5, ..good }),
    ];
    for (field, contact) in bad {
        assert_eq!(make(contact, 8), Err(HybridError::Contact { contact: 1, field }));
    }
    let other = chain(&mut random, 9).link_ids().last().unwrap();
    assert_eq!(make(PlaneContact { link: other, ..good }, 8), Err(HybridError::Contact { contact: 1, field: "link" }));
}

#[test]
fn a_refused_step_leaves_the_state() {
    let mut random = Random::new(7412);
    let tree = chain(&mut random, 3);
    let scene = posed(&mut random, tree);
    let mut stepper = HybridStepper::new(scene.tree.clone(), Vec::new(), HybridOptions::default()).unwrap();
    let mut state = HybridState::new(scene.q.clone(), scene.v.clone());
    let before = state.clone();
    assert_eq!(stepper.step(&mut state, -1.0), Err(HybridError::Step(-1.0)));
    assert_eq!(state, before);
    state.v.pop();
    let expected = scene.tree.velocities();
    let error = HybridError::Size { part: "v", found: expected - 1, expected };
    assert_eq!(stepper.step(&mut state, 0.1), Err(error));
    state = before.clone();
    state.v[0] = f64::NAN;
    assert_eq!(stepper.step(&mut state, 0.1), Err(HybridError::NotFinite { part: "v", index: 0 }));
    assert!(state.v[1..] == before.v[1..] && state.q == before.q);
}

#[test]
fn terminal_handles_are_those_of_one_tree() {
    let mut builder = TreeBuilder::new(Vector3::new(0.0, 0.0, -9.81)).unwrap();
    let ball =
        || LinkSpec::new("ball", TreeJoint::Free).with_mass(1.0, Vector3::zeros(), nalgebra::Matrix3::identity());
    let first = builder.link(ball()).unwrap();
    builder.link(ball()).unwrap();
    let tree = builder.build();
    let contact = PlaneContact {
        link: first,
        point: Vector3::zeros(),
        normal: Vector3::z(),
        offset: 0.0,
        friction: 0.1,
        restitution: 0.0,
    };
    let mut state = HybridState::new(tree.neutral(), vec![0.0; tree.velocities()]);
    let mut step = |form: HybridForm| {
        let options = HybridOptions { form, ..HybridOptions::default() };
        HybridStepper::new(tree.clone(), vec![contact], options).unwrap().step(&mut state, 0.01).map(|_| ())
    };
    assert_eq!(step(HybridForm::Terminal), Err(HybridError::SeveralRoots { roots: 2 }));
    assert_eq!(step(HybridForm::Reduced), Ok(()));
}

#[test]
fn a_velocity_that_moves_nothing_is_named() {
    let mut builder = TreeBuilder::new(Vector3::zeros()).unwrap();
    builder.link(LinkSpec::new("nothing", TreeJoint::Prismatic { axis: Vector3::x() })).unwrap();
    let mut stepper = HybridStepper::new(builder.build(), Vec::new(), HybridOptions::default()).unwrap();
    let mut state = HybridState::new(vec![0.0], vec![0.0]);
    assert_eq!(stepper.step(&mut state, 0.01), Err(HybridError::Singular(SingularInertia { velocity: 0 })));
}
