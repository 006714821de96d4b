//! Joint-space constraints, loops, support points, corners and layers, in both reduced formulations.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, BodyId, ContactRule, CornerLogic, Coupling, Dimension, Expression, FrictionSet, Impact, JointDof,
    JointId, JointKind, Layer, LayerRule, Model, ModelBuilder, Motor, Preset, Simulation, spatial,
};

use super::{OF_TREES, assert_first_order, differences, distance, run};
use crate::combinations;
use crate::support::friction;

/// An arm of five links on a post: springs, rotors, dry friction, limits that are hit, a clamped servo and a coupling; its last link
/// is a ball that falls on the floor. `closed` ties the last link to the third by a distance.
fn arm(closed: bool) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(spatial::Shape::half_space(Vector3::z()).unwrap().into())).unwrap();
    let kinds = [
        JointKind::Revolute,
        JointKind::Cylindrical,
        JointKind::Revolute,
        JointKind::Universal,
        JointKind::Revolute,
        JointKind::Prismatic,
    ];
    let axes = [Vector3::z(), Vector3::y(), Vector3::y(), Vector3::x(), Vector3::y(), Vector3::x()];
    let (mut before, mut joints, mut bodies) = (BodyId::WORLD, Vec::<JointId>::new(), Vec::new());
    for (index, (kind, axis)) in kinds.into_iter().zip(axes).enumerate() {
        let x = 0.3 * index as f64;
        let mut link =
            BodyBuilder::rigid(format!("link {index}"), 1.0, Matrix3::identity() * 0.02).position(x + 0.15, 0.0, 0.3);
        if index == 5 {
            link = link.shape(spatial::Shape::sphere(0.25).unwrap().into());
        }
        let link = builder.body(link).unwrap();
        joints.push(
            builder.joint_at(format!("joint {index}"), kind, (before, link), Vector3::new(x, 0.0, 0.3), axis).unwrap(),
        );
        bodies.push(link);
        before = link;
    }
    let spring = JointDof { stiffness: 40.0, damping: 2.0, armature: 0.05, ..JointDof::default() };
    builder.joint_dof((joints[0], 0), JointDof { friction: 0.5, armature: 0.1, ..JointDof::default() }).unwrap();
    builder.joint_dof((joints[1], 0), JointDof { limits: Some([-0.02, 0.02]), ..spring }).unwrap();
    builder.joint_dof((joints[1], 1), JointDof { limits: Some([-0.5, 0.05]), ..spring }).unwrap();
    builder.joint_dof((joints[3], 1), JointDof { friction: 0.3, ..JointDof::default() }).unwrap();
    let servo = Motor {
        force_limits: Some([-3.0, 8.0]),
        ..Motor::position("servo", (joints[2], 0), Expression::parse("0.3 * sin(20 * t)").unwrap(), (200.0, 5.0))
    };
    builder.motor(servo).unwrap();
    builder.motor(Motor::torque("push", (joints[5], 0), Expression::constant(2.0))).unwrap();
    let polynomial = [0.0, 0.5, 0.1, 0.0, 0.0];
    let coupling =
        Coupling { name: "gear".to_owned(), follower: (joints[4], 0), leader: Some((joints[2], 0)), polynomial };
    builder.coupling(coupling).unwrap();
    if closed {
        let (a, b) = ((bodies[2], stiction::Pose::identity()), (bodies[5], stiction::Pose::identity()));
        builder.joint("rod", JointKind::Distance(0.9), a, b).unwrap();
    }
    builder.default_contact(ContactRule { restitution: 0.5, ..friction(0.5) }).unwrap();
    builder.build().unwrap()
}

#[test]
fn drives_limits_couplings_and_loops() {
    for closed in [false, true] {
        let model = arm(closed);
        let cases = [
            (Preset::Ncp, Impact::Newton),
            (Preset::StewartTrinkle, Impact::Newton),
            (Preset::StewartTrinkle, Impact::Poisson),
        ];
        for (preset, impact) in cases {
            let mut scheme = preset.scheme();
            scheme.impact = impact;
            let ends = OF_TREES.map(|of| run(&model, &scheme, of, (0.002, 0.3)).unwrap().0);
            let apart = distance(&ends[0], &ends[1]);
            assert!(apart < 1e-8, "closed: {closed}, {preset:?}, {impact:?}: {apart:e}");
        }
    }
}

/// Before anything is hit the three coordinates differ by the order of the scheme.
#[test]
fn drives_are_the_same_in_maximal_coordinates() {
    for coordinates in OF_TREES {
        let name = format!("{coordinates:?}");
        assert_first_order(&name, differences(&name, &arm(false), &Preset::Ncp.scheme(), (0.001, 0.03), coordinates));
    }
}

/// Support points and corners: a hinged part on a table, pushed by a point into its notch and past its corner.
#[test]
fn feet_and_corners() {
    for corner in [combinations::Corner::All, combinations::Corner::Any] {
        let model = combinations::scene(corner, true, 0.3);
        let cases = [
            (FrictionSet::Quadratic, CornerLogic::Exact),
            (FrictionSet::Polygon, CornerLogic::Exact),
            (FrictionSet::Polygon, CornerLogic::Disjunctive),
            (FrictionSet::Box, CornerLogic::Exact),
        ];
        for (friction, corners) in cases {
            let mut scheme = Preset::Ncp.scheme();
            (scheme.friction, scheme.corners) = (friction, corners);
            let [reduced, divided] = OF_TREES.map(|of| run(&model, &scheme, of, (0.01, 1.0)).unwrap().0);
            let apart = distance(&reduced, &divided);
            assert!(apart < 1e-8, "{corner:?} {friction:?} {corners:?}: {apart:e}");
            let moved = super::apart(&reduced, &Simulation::new(model.clone(), scheme, 0.01).unwrap());
            assert!(!reduced.support_points().is_empty() && moved > 0.01, "{corner:?}: moved {moved}");
        }
    }
}

#[test]
fn coordinates_of_trees_do_not_depend_on_scratch_memory() {
    let model = arm(true);
    for coordinates in OF_TREES {
        for preset in [Preset::Ncp, Preset::StewartTrinkle] {
            let mut scheme = preset.scheme();
            scheme.coordinates = coordinates;
            let new = || Simulation::new(model.clone(), scheme.clone(), 0.002).unwrap();
            let (mut plain, mut dropped, mut poisoned) = (new(), new(), new());
            for step in 0..150 {
                *dropped.workspace_mut() = stiction::stepping::Workspace::default();
                poisoned.workspace_mut().poison();
                for simulation in [&mut plain, &mut dropped, &mut poisoned] {
                    let _ = simulation.step().unwrap();
                }
                assert!(dropped.state().bit_equal(plain.state()), "{coordinates:?} {preset:?}: step {step}, dropped");
                assert!(poisoned.state().bit_equal(plain.state()), "{coordinates:?} {preset:?}: step {step}, poisoned");
            }
        }
    }
}

/// A hinged pair of plates with three feet on foam with a core: layers are compressed and sheared, and cores are hit.
#[test]
fn layers_and_cores() {
    for depth in [None, Some(0.01)] {
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        builder.gravity(0.0, 0.0, -9.81).unwrap();
        let floor = BodyBuilder::fixed("floor").shape(spatial::Shape::half_space(Vector3::z()).unwrap().into());
        builder.body(floor).unwrap();
        // With three feet the loads are statically determined.
        let feet: [(f64, &[f64]); 2] = [(-0.25, &[-0.1, 0.1]), (0.25, &[0.0])];
        let [a, b] = feet.map(|(x, feet)| {
            let inertia = Matrix3::from_diagonal(&Vector3::new(0.004, 0.02, 0.02));
            let mut plate = BodyBuilder::rigid(format!("plate at {x}"), 1.0, inertia).position(x, 0.0, 0.1 + 0.1 * x);
            for y in feet {
                let ball = spatial::Shape::sphere(0.05).unwrap().into();
                plate = plate.shape_at(ball, stiction::Pose::translation(0.6 * x, *y, 0.0));
            }
            builder.body(plate.velocity(1.0, 0.2, 0.0)).unwrap()
        });
        builder.joint_at("hinge", JointKind::Revolute, (a, b), Vector3::new(0.0, 0.0, 0.1), Vector3::y()).unwrap();
        let foam = Layer {
            stiffness: Matrix3::from_diagonal(&Vector3::new(400.0, 300.0, 300.0)),
            damping: Matrix3::from_diagonal_element(2.0),
            shears: true,
            depth,
        };
        builder.default_contact(ContactRule { layer: LayerRule::Given(foam), ..friction(0.4) }).unwrap();
        let model = builder.build().unwrap();
        let ends = OF_TREES.map(|of| run(&model, &Preset::Ncp.scheme(), of, (0.001, 0.3)).unwrap().0);
        let pressed = |contact: &stiction::ContactReport| contact.layer.is_some_and(|layer| layer.compression > 1e-4);
        assert!(ends[0].contacts().iter().any(pressed), "no layer is pressed");
        let cored = |contact: &stiction::ContactReport| contact.layer.is_some_and(|layer| layer.core_impulse > 0.0);
        assert_eq!(ends[0].contacts().iter().any(cored), depth.is_some());
        let apart = distance(&ends[0], &ends[1]);
        assert!(apart < 1e-8, "core {depth:?}: {apart:e}");
    }
}
