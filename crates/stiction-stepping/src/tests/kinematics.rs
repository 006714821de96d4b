//! Start of a step: applied wrenches, reach, refusals.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{BodyBuilder, Configuration, ContactRule, Dimension, ForceCallback, JointKind, Motor, Wrench};

use super::support::{
    Case, G, assert_close, assert_near, ball, builder, disc, expression, on_floor, prescribed, world,
};
use crate::{Coordinates, Preset, Scheme, StepCause};

/// Force law that is not finite.
#[derive(Debug)]
struct Broken;

impl ForceCallback for Broken {
    fn apply(&self, _: f64, _: &Configuration, wrenches: &mut [Wrench]) {
        wrenches[2].linear.x = f64::NAN;
    }
}

fn spinning() -> BodyBuilder {
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0));
    BodyBuilder::rigid("top", 2.0, inertia).velocity(1.0, 2.0, 3.0).angular_velocity(1.0, -2.0, 0.5)
}

#[test]
fn gravity_and_gyroscopic_torque_are_applied() {
    let model = world(Dimension::Spatial, ContactRule::default(), [spinning()]);
    let mut case = Case::new(model, Scheme::default().as_published(), 0.01);
    case.prepare().unwrap();
    let wrench = case.ws.kinematics.applied[case.body("top").index()];
    // −ω × I ω with ω = (1, −2, 0.5) and I ω = (1, −4, 1.5).
    assert_close(&wrench.linear, &Vector3::new(0.0, 0.0, -2.0 * G), 1e-12);
    assert_close(&wrench.angular, &Vector3::new(1.0, 1.0, 2.0), 1e-12);
    assert_eq!(case.ws.kinematics.before, case.state.v);
}

/// The velocity of the middle of the step has had half of the torque −ω × I ω.   [ROT-2]
#[test]
fn half_of_the_gyroscopic_torque_leads_to_the_middle_of_a_step() {
    let mut case = Case::new(world(Dimension::Spatial, ContactRule::default(), [spinning()]), Scheme::default(), 1e-6);
    case.prepare().unwrap();
    let place = case.body("top").index();
    assert_close(&case.ws.kinematics.applied[place].angular, &Vector3::new(0.5, 0.5, 1.0), 1e-5);
    assert_eq!(case.ws.kinematics.gyroscopic[place], case.ws.kinematics.applied[place].angular);
}

/// Bodies without inertia have no gyroscopic torque.
#[test]
fn quasistatic_bodies_have_no_gyroscopic_torque() {
    let model = world(Dimension::Spatial, ContactRule::default(), [spinning()]);
    let mut case = Case::new(model, Preset::Quasistatic.scheme(), 0.01);
    case.prepare().unwrap();
    let wrench = case.ws.kinematics.applied[case.body("top").index()];
    assert_close(&wrench.angular, &Vector3::zeros(), 1e-12);
    assert_close(&wrench.linear, &Vector3::new(0.0, 0.0, -2.0 * G), 1e-12);
}

/// (|v| + r |ω| + |g| h) h for a ball; prescribed and fixed bodies have no reach.
#[test]
fn reach_is_that_of_the_fastest_point() {
    let h = 0.125;
    let rolling =
        ball("ball", 3.0, 0.5).position(0.0, 0.0, 4.0).velocity(3.0, 0.0, 4.0).angular_velocity(0.0, 2.0, 0.0);
    let mut case = Case::new(on_floor(Dimension::Spatial, ContactRule::default(), [rolling]), Scheme::default(), h);
    case.prepare().unwrap();
    let reach = &case.ws.detection.reach;
    assert_near(reach[case.body("ball").index()], (5.0 + 1.0 + G * h) * h, 1e-12);
    assert_eq!(reach[case.body("floor").index()], 0.0);
}

/// No point of a free body moves farther than its reach, for any step size.
#[test]
fn reach_bounds_the_motion_of_every_point() {
    for h in [1e-3, 0.01, 0.1, 0.5] {
        let body = ball("ball", 1.0, 0.7).velocity(0.3, -0.5, 1.0).angular_velocity(2.0, 1.0, -3.0);
        let mut case = Case::new(world(Dimension::Spatial, ContactRule::default(), [body]), Scheme::default(), h);
        case.advance();
        let id = case.body("ball");
        let (from, to) = (case.ws.kinematics.start.pose(id), case.ws.result.end.pose(id));
        let reach = case.ws.detection.reach[id.index()];
        for k in 0..200 {
            let (sin, cos) = libm::sincos(f64::from(k));
            let height = f64::from(k) / 100.0 - 1.0;
            let ring = (1.0 - height * height).sqrt();
            let point = nalgebra::Point3::new(0.7 * ring * cos, 0.7 * ring * sin, 0.7 * height);
            assert!((to * point - from * point).norm() <= reach * (1.0 + 1e-12), "h = {h}, point {k}");
        }
    }
}

/// Reduced coordinates find the same reach of a floating body by its free velocity.
#[test]
fn reach_does_not_depend_on_the_coordinates() {
    let body = || ball("ball", 1.0, 0.7).velocity(0.3, -0.5, 1.0).angular_velocity(2.0, 1.0, -3.0);
    let reach = |coordinates| {
        let model = world(Dimension::Spatial, ContactRule::default(), [body()]);
        let mut case = Case::new(model, Scheme { coordinates, ..Scheme::default() }, 0.01);
        case.prepare().unwrap();
        case.ws.detection.reach[case.body("ball").index()]
    };
    let maximal = reach(Coordinates::Maximal);
    for coordinates in [Coordinates::Reduced, Coordinates::DivideAndConquer] {
        assert_near(reach(coordinates), maximal, 1e-14);
    }
}

/// Prescribed bodies push quasistatic ones by at most their own displacement.
#[test]
fn quasistatic_reach_contains_the_prescribed_displacement() {
    let pusher = prescribed("pusher", ["0.25*t", "0", "0"]);
    let model =
        world(Dimension::Planar, ContactRule::default(), [pusher, disc("disc", 1.0, 0.5).position(2.0, 0.0, 0.0)]);
    let mut case = Case::new(model, Preset::Quasistatic.scheme(), 0.5);
    case.prepare().unwrap();
    assert_near(case.ws.detection.reach[case.body("disc").index()], 0.125, 1e-12);
}

#[test]
fn a_force_that_is_not_finite_names_its_body() {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    builder.body(disc("first", 1.0, 0.5)).unwrap();
    builder.body(disc("second", 1.0, 0.5).position(3.0, 0.0, 0.0)).unwrap();
    builder.callback(std::sync::Arc::new(Broken));
    let mut case = Case::new(builder.build().unwrap(), Scheme::default(), 0.01);
    let cause = case.prepare().unwrap_err();
    assert_eq!(cause.to_string(), "the applied force of body \"second\" is not a finite number");
}

fn with_broken_motor() -> Case {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    let arm = builder.body(disc("arm", 1.0, 0.5)).unwrap();
    let world = stiction_multibody::BodyId::WORLD;
    let hinge = builder.joint_at("hinge", JointKind::Revolute, (world, arm), Vector3::zeros(), Vector3::z()).unwrap();
    builder.motor(Motor::torque("drive", (hinge, 0), expression("1/(t - 0.5)"))).unwrap();
    Case::new(builder.build().unwrap(), Scheme::default(), 0.5)
}

#[test]
fn a_control_that_is_not_finite_is_refused() {
    let mut case = with_broken_motor();
    let cause = case.prepare().unwrap_err();
    let StepCause::NonFinite { what, culprit } = &cause else { panic!("{cause}") };
    assert_eq!(*what, "control");
    assert!(culprit.contains("\"drive\""), "{culprit}");
}

/// Reveals a bug: the message calls the motor a body, `the control of body "drive" is not a finite number`.
#[test]
fn a_control_that_is_not_finite_names_its_motor() {
    let cause = with_broken_motor().prepare().unwrap_err();
    assert!(cause.to_string().contains("motor \"drive\""), "{cause}");
}
