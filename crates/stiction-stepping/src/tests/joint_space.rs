//! Forces and constraints along joint DOFs: springs, limits, dry friction, motors, couplings.

use nalgebra::{Matrix3, Vector3};
use stiction_geometry::Pose;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, Coupling, Dimension, JointDof, JointId, JointKind, ModelBuilder, Motor,
};

use super::support::{Case, Run, assert_all_near, assert_near, builder, disc, expression, prescribed};
use crate::{Coordinates, FrictionSet, Order, Scheme, energy_bound, rows};

/// Inertia of the wheels about their axles: ½ m r² with m = 4 and r = 0.5.
const INERTIA: f64 = 0.5;

const SCHEMES: [(Coordinates, FrictionSet); 5] = [
    (Coordinates::Maximal, FrictionSet::Quadratic),
    (Coordinates::Maximal, FrictionSet::Polygon),
    (Coordinates::Reduced, FrictionSet::Quadratic),
    (Coordinates::Reduced, FrictionSet::Polygon),
    (Coordinates::DivideAndConquer, FrictionSet::Quadratic),
];

/// Wheels on axles through their centres, turning at these rates.
fn wheels<const N: usize>(rates: [f64; N], joint_dof: JointDof) -> (ModelBuilder, [JointId; N]) {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    let axles = std::array::from_fn(|k| {
        let centre = Vector3::new(3.0 * k as f64, 0.0, 0.0);
        let wheel = disc(&format!("wheel {k}"), 4.0, 0.5).position(centre.x, 0.0, 0.0);
        let wheel = builder.body(wheel.angular_velocity(0.0, 0.0, rates[k])).unwrap();
        let name = format!("axle {k}");
        builder.joint_at(name, JointKind::Revolute, (BodyId::WORLD, wheel), centre, Vector3::z()).unwrap()
    });
    builder.joint_dof((axles[0], 0), joint_dof).unwrap();
    (builder, axles)
}

/// Runs a check with every kind of coordinates and friction set.
fn each(builder: ModelBuilder, h: f64, mut check: impl FnMut(&mut Case)) {
    let model = builder.build().unwrap();
    for (coordinates, friction) in SCHEMES {
        check(&mut Case::new(model.clone(), Scheme { coordinates, friction, ..Scheme::default() }, h));
    }
}

/// (I + A + h d + h² k) (ω⁺ − ω) = h [−k (φ + h ω − φ₀) − d ω], at any stiffness.   [JSPACE-2]
#[test]
fn springs_dampers_and_rotors_are_implicit() {
    for (stiffness, damping, armature) in [(2.0, 0.3, 0.1), (1e6, 0.0, 0.0), (0.0, 1e4, 0.0), (5.0, 0.1, 3.0)] {
        let (h, rate, initial, rest) = (0.02, 1.5, 0.4, 0.1);
        let joint_dof = JointDof { stiffness, damping, armature, rest, initial, ..JointDof::default() };
        let c = armature + h * damping + h * h * stiffness;
        let force = -stiffness * (initial + h * rate - rest) - damping * rate;
        let expected = rate + h * force / (INERTIA + c);
        each(wheels([rate], joint_dof).0, h, |case| {
            case.run(1);
            assert_near(case.v("wheel 0")[2], expected, 1e-9);
            assert_near(case.state.angles[0], initial + h * expected, 1e-10);
            // No friction, no constraint errors: the account of energies closes.
            let energy = energy_bound(&case.model, &case.ws).unwrap();
            let size = energy.before + energy.after + energy.joint_space.abs();
            assert_near(energy.friction(), 0.0, 1e-9 * size);
        });
    }
}

/// A spherical joint has its spring and damper about all three axes.
#[test]
fn spherical_springs_act_about_all_axes() {
    let (h, stiffness, damping) = (0.01, 30.0, 2.0);
    let omega = [1.0, -2.0, 3.0];
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let body = BodyBuilder::rigid("body", 1.0, Matrix3::identity()).angular_velocity(omega[0], omega[1], omega[2]);
    let body = builder.body(body).unwrap();
    let joint = builder
        .joint("ball", JointKind::Spherical, (BodyId::WORLD, Pose::identity()), (body, Pose::identity()))
        .unwrap();
    builder.joint_dof((joint, 0), JointDof { stiffness, damping, ..JointDof::default() }).unwrap();
    each(builder, h, |case| {
        case.run(1);
        let factor = 1.0 - h * (stiffness * h + damping) / (1.0 + h * damping + h * h * stiffness);
        assert_all_near(&case.v("body")[3..], &omega.map(|w| w * factor), 1e-9);
    });
}

/// With `order = 2` the midpoint rule holds about all three axes: both kicks have the same torque.
#[test]
fn spherical_dampers_act_about_all_axes_in_both_kicks() {
    let (h, damping, omega) = (0.01, 2.0, [1.0, -2.0, 3.0]);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let body = BodyBuilder::rigid("body", 1.0, Matrix3::identity()).angular_velocity(omega[0], omega[1], omega[2]);
    let body = builder.body(body).unwrap();
    let ends = ((BodyId::WORLD, Pose::identity()), (body, Pose::identity()));
    let joint = builder.joint("ball", JointKind::Spherical, ends.0, ends.1).unwrap();
    builder.joint_dof((joint, 0), JointDof { damping, ..JointDof::default() }).unwrap();
    let model = builder.build().unwrap();
    for (coordinates, friction) in SCHEMES {
        let scheme = Scheme { coordinates, friction, order: Order::Second, ..Scheme::default() };
        let mut run = Run::new(model.clone(), scheme, h);
        run.step();
        let factor = (1.0 - 0.5 * h * damping) / (1.0 + 0.5 * h * damping);
        assert_all_near(&run.case.v("body")[3..], &omega.map(|w| w * factor), 1e-9);
    }
}

/// A limit stops the joint exactly; rows for limits out of reach are not written.
#[test]
fn limits_stop_joints() {
    // The third one is passed at the start and returns at the closing speed, 5 rad/s.
    for (most, rate, end) in [(0.05, 10.0, 0.05), (0.05, 3.0, 0.03), (-0.1, 0.0, -0.05), (5.0, 10.0, 0.1)] {
        let limited = JointDof { limits: Some([-8.0, most]), ..JointDof::default() };
        each(wheels([rate], limited).0, 0.01, |case| {
            case.detect().unwrap();
            case.with(rows::write);
            let within = most <= 2.0 * 0.01 * rate + 1e-10;
            assert_eq!(case.ws.constraints.joint_space_rows.len(), usize::from(within));
            assert_eq!(case.ws.constraints.joint_space_dofs[0].held, [false, within]);
            case.run(1);
            assert_near(case.state.angles[0], end, 1e-11);
            // A limit pushes back only.
            assert!(case.ws.joint_space_impulses().all(|(_, p)| p >= 0.0));
        });
    }
}

/// With γ < 1 a limit is approached by that fraction of the distance.
#[test]
fn limits_have_the_weight_of_gaps() {
    let limited = JointDof { limits: Some([-8.0, 0.05]), ..JointDof::default() };
    let model = wheels([10.0], limited).0.build().unwrap();
    let mut case = Case::new(model, Scheme { gamma: 0.5, ..Scheme::default() }, 0.01);
    case.run(1);
    assert_near(case.state.angles[0], 0.025, 1e-12);
}

/// Dry friction holds up to its bound and brakes with it beyond.   [JSPACE-5]
#[test]
fn dry_friction_sticks_and_slips() {
    let h = 0.01;
    for (friction, torque, rate, expected) in [
        (2.0, 1.0, 0.0, 0.0),
        (0.4, 1.0, 0.0, h * 0.6 / INERTIA),
        (0.4, 0.0, 3.0, 3.0 - h * 0.4 / INERTIA),
        (100.0, 0.0, 1.0, 0.0),
    ] {
        let (mut builder, [axle]) = wheels([rate], JointDof { friction, ..JointDof::default() });
        builder.motor(Motor::torque("motor", (axle, 0), expression(&torque.to_string()))).unwrap();
        each(builder, h, |case| {
            case.run(1);
            assert_near(case.v("wheel 0")[2], expected, 1e-10);
        });
    }
}

/// Controls are limited, forces are limited, and gears multiply: the change of rate is h τ/I.   [JSPACE-3]
#[test]
fn motors_obey_their_limits() {
    type Make<'a> = &'a dyn Fn(JointId) -> Motor;
    let h = 0.01;
    let motor = |axle| Motor::torque("motor", (axle, 0), expression("5"));
    let position = |axle| Motor::position("motor", (axle, 0), expression("1"), (1e4, 10.0));
    let cases: [(Make, f64); 6] = [
        (&motor, 5.0),
        (&|axle| Motor { control_limits: Some([-1.0, 1.0]), ..motor(axle) }, 1.0),
        (&|axle| Motor { force_limits: Some([-2.0, 2.0]), ..motor(axle) }, 2.0),
        (&|axle| Motor { gear: -3.0, ..motor(axle) }, -15.0),
        (&|axle| Motor { force_limits: Some([-2.0, 2.0]), ..position(axle) }, 2.0),
        (&|axle| Motor { force_limits: Some([-2.0, 2.0]), gear: -1.0, ..position(axle) }, -2.0),
    ];
    for (make, torque) in cases {
        let (mut builder, [axle]) = wheels([0.0], JointDof::default());
        builder.motor(make(axle)).unwrap();
        each(builder, h, |case| {
            case.run(1);
            assert_near(case.v("wheel 0")[2], h * torque / INERTIA, 1e-10);
        });
    }
}

/// A motor within its limits is the same with and without them.
#[test]
fn limits_that_are_not_reached_have_no_effect() {
    let result = |force_limits| {
        let (mut builder, [axle]) = wheels([0.3], JointDof::default());
        let motor = Motor::position("motor", (axle, 0), expression("0.01"), (50.0, 1.0));
        builder.motor(Motor { force_limits, ..motor }).unwrap();
        let mut all = Vec::new();
        each(builder, 0.01, |case| {
            case.run(3);
            all.push(case.v("wheel 0")[2]);
        });
        all
    };
    assert_all_near(&result(Some([-100.0, 100.0])), &result(None), 1e-10);
}

/// A force that grows with the rate is explicit, within its limits.
#[test]
fn destabilising_motors_are_explicit() {
    for (limits, torque) in [(None, 8.0), (Some([-3.0, 3.0]), 3.0)] {
        let (mut builder, [axle]) = wheels([2.0], JointDof::default());
        let motor = Motor::torque("motor", (axle, 0), expression("0"));
        builder.motor(Motor { bias: [0.0, 0.0, 4.0], force_limits: limits, ..motor }).unwrap();
        each(builder, 0.01, |case| {
            case.run(1);
            assert_near(case.v("wheel 0")[2], 2.0 + 0.01 * torque / INERTIA, 1e-10);
        });
    }
}

/// A coupled wheel turns twice as fast as its leader, with the inertia of both, and an initial error is removed.   [JSPACE-4]
#[test]
fn couplings_tie_rates_and_coordinates() {
    let h = 0.01;
    let geared = |initial: f64| {
        let (mut builder, [leader, follower]) = wheels([0.0, 0.0], JointDof::default());
        builder.motor(Motor::torque("motor", (leader, 0), expression("3"))).unwrap();
        let polynomial = [0.0, 2.0, 0.0, 0.0, 0.0];
        let (name, leader) = ("gears".to_owned(), Some((leader, 0)));
        builder.coupling(Coupling { name, follower: (follower, 0), leader, polynomial }).unwrap();
        builder.joint_dof((follower, 0), JointDof { initial, ..JointDof::default() }).unwrap();
        builder
    };
    each(geared(0.0), h, |case| {
        case.run(1);
        assert_near(case.v("wheel 0")[2], h * 3.0 / (INERTIA + 4.0 * INERTIA), 1e-10);
        assert_near(case.v("wheel 1")[2], 2.0 * case.v("wheel 0")[2], 1e-10);
    });
    // At 5 rad/s; the last two steps share what is left.
    each(geared(0.1), h, |case| {
        case.run(4);
        let [first, second] = case.state.angles[..] else { panic!("two angles") };
        assert_near(second, 2.0 * first, 1e-11);
    });
}

/// Angles count full turns.   [JSPACE-1]
#[test]
fn angles_count_turns() {
    each(wheels([4.0], JointDof { damping: 1e-12, ..JointDof::default() }).0, 1.0, |case| {
        case.run(5);
        assert_near(case.state.angles[0], 20.0, 1e-9);
    });
}

/// Dry friction on the axle of a turning carrier drags the wheel along.
#[test]
fn friction_acts_against_prescribed_bodies() {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    let carrier = builder.body(prescribed("carrier", ["0", "0", "2*t"])).unwrap();
    let wheel = builder.body(disc("wheel", 4.0, 0.5)).unwrap();
    let axle = builder.joint_at("axle", JointKind::Revolute, (carrier, wheel), Vector3::zeros(), Vector3::z()).unwrap();
    builder.joint_dof((axle, 0), JointDof { friction: 1.0, ..JointDof::default() }).unwrap();
    let model = builder.build().unwrap();
    let mut case = Case::new(model, Scheme::default(), 0.25);
    case.run(2);
    assert_near(case.v("wheel")[2], 2.0 * 1.0 * 0.25 / INERTIA, 1e-10);
    case.run(4);
    assert_near(case.v("wheel")[2], 2.0, 1e-10);
}
