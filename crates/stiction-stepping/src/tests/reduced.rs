//! Reduced coordinates: the forest of a state, drift, missing inertia, reactions of joints.

use nalgebra::{Matrix3, Vector3};
use stiction_complementarity::Delassus;
use stiction_geometry::Pose;
use stiction_multibody::{BodyBuilder, BodyId, ContactRule, Dimension, JointKind, Model, ModelBuilder};

use super::support::{Case, G, assert_all_near, assert_close, assert_near, builder};
use crate::formulation::tests::{COORDINATES, FRICTION_SETS, arm_case};
use crate::{Coordinates, FrictionSet, Scheme, StepCause, adopt, infeasibility, joint_impulses};

fn reduced() -> Scheme {
    Scheme { coordinates: Coordinates::Reduced, ..Scheme::default() }
}

/// Two rods that hang in a chain; the second joint may be listed from the lower rod to the upper one.
fn chain(reversed: bool, kind: JointKind) -> Model {
    let mut builder = builder(Dimension::Spatial, ContactRule::default());
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.1, 0.1, 0.02));
    let upper = builder.body(BodyBuilder::rigid("upper", 2.0, inertia).position(0.0, 0.0, -0.5)).unwrap();
    let lower = builder.body(BodyBuilder::rigid("lower", 3.0, inertia).position(0.0, 0.0, -1.5)).unwrap();
    builder.joint_at("top", kind, (BodyId::WORLD, upper), Vector3::zeros(), Vector3::y()).unwrap();
    let bodies = if reversed { (lower, upper) } else { (upper, lower) };
    builder.joint_at("middle", kind, bodies, Vector3::new(0.0, 0.0, -1.0), Vector3::y()).unwrap();
    builder.build().unwrap()
}

/// A state given by its bodies is projected onto the joints, and a projected one stays as it is.   [RED-3]
#[test]
fn adopted_states_satisfy_their_joints() {
    let mut case = Case::new(chain(false, JointKind::Revolute), reduced(), 0.01);
    // The lower rod hangs a little too far to the side, and moves on its own.
    case.state.q[7] = 0.05;
    case.state.v[6] = 1.0;
    assert!(infeasibility(&case.model, &case.configuration(&case.state.q)).unwrap().joints > 0.04);
    adopt(&case.model, &case.scheme, &mut case.state);
    assert!(infeasibility(&case.model, &case.configuration(&case.state.q)).unwrap().joints < 1e-14);
    assert_eq!((case.state.forest_q.len(), case.state.forest_v.len()), (2, 2));
    let before = case.state.clone();
    adopt(&case.model, &case.scheme, &mut case.state);
    assert!(case.state.bit_equal(&before));
    // Maximal coordinates take the state as it is.
    case.state.q[7] = 0.05;
    let q = case.state.q.clone();
    adopt(&case.model, &Scheme::default(), &mut case.state);
    assert_eq!(case.state.q, q);
}

/// Joints do not drift, and energy stays bounded, in a long swing.
#[test]
fn joints_cannot_drift() {
    for coordinates in [Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let mut case = Case::new(chain(false, JointKind::Revolute), Scheme { coordinates, ..Scheme::default() }, 0.005);
        case.state.v[4] = 2.0;
        case.state.v[10] = 2.0;
        adopt(&case.model, &case.scheme, &mut case.state);
        case.run(300);
        assert!(infeasibility(&case.model, &case.ws.result.end).unwrap().joints < 1e-12);
        assert!(case.state.v.iter().any(|v| v.abs() > 0.1), "it still swings");
    }
}

/// Continuing with the memory of the last step, or from the saved state alone, gives the same bits.
#[test]
fn memory_of_the_forest_does_not_change_steps() {
    for coordinates in [Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let mut kept = arm_case(coordinates, FrictionSet::Quadratic);
        let mut restored = arm_case(coordinates, FrictionSet::Quadratic);
        for _ in 0..5 {
            kept.run(1);
            restored.ws.poison();
            restored.run(1);
            restored.ws = crate::Workspace::default();
        }
        assert!(restored.state.bit_equal(&kept.state), "{coordinates:?}");
    }
}

/// The Delassus matrix of the forest is symmetric to the last bit and positive on its diagonal.
#[test]
fn delassus_matrices_are_symmetric() {
    for coordinates in [Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let mut case = arm_case(coordinates, FrictionSet::Quadratic);
        case.assemble().unwrap();
        let n = case.ws.friction.problem.rows();
        let mut w = vec![0.0; n * n];
        assert!(n > 5 && case.ws.friction.problem.operator().assemble(&mut w));
        for i in 0..n {
            assert!(w[i * n + i] > 0.0);
            assert!((0..i).all(|j| w[i * n + j].to_bits() == w[j * n + i].to_bits()));
        }
    }
}

/// A frame without mass between two joints about the same axis can turn without moving anything.
#[test]
fn motion_without_inertia_is_refused() {
    let build = |second: Vector3<f64>| {
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        let frame = builder.body(BodyBuilder::frame("gimbal")).unwrap();
        let arm = builder.body(BodyBuilder::rigid("arm", 1.0, Matrix3::identity()).position(1.0, 0.0, 0.0)).unwrap();
        let mut hinge = |name: &str, bodies, axis| {
            builder.joint_at(name, JointKind::Revolute, bodies, Vector3::zeros(), axis).unwrap();
        };
        hinge("first", (BodyId::WORLD, frame), Vector3::z());
        hinge("second", (frame, arm), second);
        Case::new(builder.build().unwrap(), reduced(), 0.01)
    };
    build(Vector3::y()).prepare().unwrap();
    let cause = build(Vector3::z()).prepare().unwrap_err();
    let StepCause::NoInertia { body } = &cause else { panic!("{cause}") };
    assert!(["gimbal", "arm"].contains(&body.as_str()));
}

/// A hanging chain at rest: each joint carries the weight below it, in all coordinates and however it is listed.   [RED-4]
#[test]
fn joints_carry_what_hangs_on_them() {
    for coordinates in COORDINATES {
        for reversed in [false, true] {
            for kind in [JointKind::Revolute, JointKind::Spherical, JointKind::Weld] {
                let mut case = Case::new(chain(reversed, kind), Scheme { coordinates, ..Scheme::default() }, 0.01);
                case.advance();
                let impulses = joint_impulses(&case.model, &case.ws);
                let at = &case.ws.kinematics.start;
                let [top, middle] = [0, 1].map(|k| case.model.joints()[k].wrench(at, &impulses, case.h));
                let sign = if reversed { -1.0 } else { 1.0 };
                assert_close(&top.linear, &Vector3::new(0.0, 0.0, 5.0 * G), 1e-9);
                assert_close(&middle.linear, &Vector3::new(0.0, 0.0, sign * 3.0 * G), 1e-9);
                assert_close(&top.angular, &Vector3::zeros(), 1e-9);
            }
        }
    }
}

/// A cantilever: the weld carries the weight and its moment.
#[test]
fn welds_carry_moments() {
    for coordinates in COORDINATES {
        let mut builder = builder(Dimension::Spatial, ContactRule::default());
        let beam = BodyBuilder::rigid("beam", 2.0, Matrix3::identity()).position(1.5, 0.0, 0.0);
        let beam = builder.body(beam).unwrap();
        let frame = Pose::translation(-1.5, 0.0, 0.0);
        builder.joint("wall", JointKind::Weld, (BodyId::WORLD, Pose::identity()), (beam, frame)).unwrap();
        let mut case = Case::new(builder.build().unwrap(), Scheme { coordinates, ..Scheme::default() }, 0.01);
        case.advance();
        let impulses = joint_impulses(&case.model, &case.ws);
        let wrench = case.model.joints()[0].wrench(&case.ws.kinematics.start, &impulses, case.h);
        assert_close(&wrench.linear, &Vector3::new(0.0, 0.0, 2.0 * G), 1e-9);
        // About the centre of mass there is no moment; about the wall it is m g l.
        assert_close(&wrench.angular, &Vector3::zeros(), 1e-9);
        let moments: f64 = impulses.iter().skip(3).map(|p| p * p).sum::<f64>().sqrt();
        assert_near(moments / case.h, 2.0 * G * 1.5, 1e-9);
    }
}

/// Reactions to contacts, springs, friction and limits are those of maximal coordinates.
#[test]
fn reactions_do_not_depend_on_the_coordinates() {
    for friction in FRICTION_SETS {
        let results = COORDINATES.map(|coordinates| {
            let mut case = arm_case(coordinates, friction);
            case.advance();
            joint_impulses(&case.model, &case.ws).to_vec()
        });
        assert!(results[0].iter().all(|p| p.abs() > 1e-6));
        assert_all_near(&results[1], &results[0], 1e-8);
        assert_all_near(&results[2], &results[0], 1e-8);
    }
}
