//! Contacts within reach of a step, with their gaps and the motion of their surfaces.

use nalgebra::{Point3, Vector3};
use stiction_geometry::Pose;
use stiction_multibody::{BodyBuilder, BodyId, ContactRule, Dimension, JointKind};

use super::support::{
    Case, assert_all_near, assert_close, assert_near, ball, builder, cuboid, disc, expression, floor, friction,
    on_floor, prescribed, world,
};
use crate::{Coordinates, Margin, PrescribedSlip, Scheme, pairs, rates::linearised_start_gap};

fn ball_at(height: f64, rule: ContactRule, scheme: Scheme) -> Case {
    let body = ball("ball", 1.0, 0.5).position(1.0, 2.0, height);
    Case::new(on_floor(Dimension::Spatial, rule, [body]), scheme, 0.1)
}

fn fixed(margin: f64) -> Scheme {
    Scheme { margin: Margin::Fixed(margin), ..Scheme::default() }
}

#[test]
fn a_ball_over_a_floor_has_one_contact() {
    let mut case = ball_at(0.75, friction(0.3), fixed(1.0));
    case.detect().unwrap();
    let contact = case.contact();
    assert_eq!((contact.a, contact.b), (case.body("floor"), case.body("ball")));
    assert_near(contact.gap_end, 0.25, 1e-14);
    assert_near(contact.gap_start, 0.25, 1e-14);
    assert_close(&contact.normal, &Vector3::z(), 1e-15);
    assert_close(&contact.point.coords, &Vector3::new(1.0, 2.0, 0.25), 1e-14);
    assert_close(&contact.arm_b, &Vector3::new(0.0, 0.0, -0.5), 1e-14);
    assert_close(&contact.arm_a, &Vector3::new(1.0, 2.0, 0.0), 1e-14);
    assert_eq!((contact.mu, contact.gamma), (0.3, 1.0));
}

/// The automatic margin is the reach of the bodies, (|v| + |g| h) h.   [STEP-6]
#[test]
fn contacts_beyond_reach_are_left_out() {
    // At rest the ball can fall by 0.1 m in a step of 0.1 s.
    for (gap, found) in [(0.0, 1), (0.0999, 1), (0.1001, 0), (-0.2, 1)] {
        let mut case = ball_at(0.5 + gap, ContactRule::default(), Scheme::default());
        case.detect().unwrap();
        assert_eq!(case.ws.constraints.contacts.len(), found, "gap {gap}");
    }
}

#[test]
fn margins_of_rules_override_that_of_the_scheme() {
    let found = |rule: Option<f64>, scheme: Scheme| {
        let mut case = ball_at(0.8, ContactRule { margin: rule, ..ContactRule::default() }, scheme);
        case.detect().unwrap();
        case.ws.constraints.contacts.len()
    };
    assert_eq!(found(None, fixed(0.2)), 0);
    assert_eq!(found(None, fixed(0.4)), 1);
    assert_eq!(found(Some(0.4), fixed(0.2)), 1);
    assert_eq!(found(Some(0.2), fixed(0.4)), 0);
    assert_eq!(found(Some(0.4), Scheme::default()), 1);
}

/// With γ = 0 a contact is touching or absent.
#[test]
fn at_velocity_level_only_touching_contacts_count() {
    let velocity_level = Scheme { gamma: 0.0, ..Scheme::default() };
    for (gap, found) in [(0.0, 1), (1e-6, 0), (-1e-3, 1)] {
        let mut case = ball_at(0.5 + gap, ContactRule::default(), velocity_level.clone());
        case.detect().unwrap();
        assert_eq!(case.ws.constraints.contacts.len(), found, "gap {gap}");
    }
}

/// Gaps with the floor at both ends of the step, and traced back where the geometry is predicted.
#[test]
fn gaps_are_measured_with_prescribed_bodies_at_both_ends() {
    let model = || {
        let lift = prescribed("lift", ["0", "0.3*t", "0"]).shape(floor(Dimension::Planar));
        let falling = disc("disc", 1.0, 0.5).position(0.0, 1.0, 0.0).velocity(0.0, -2.0, 0.0);
        world(Dimension::Planar, ContactRule::default(), [lift, falling])
    };
    let mut case = Case::new(model(), fixed(1.0), 0.1);
    case.detect().unwrap();
    assert_near(case.contact().gap_start, 0.5, 1e-14);
    assert_near(case.contact().gap_end, 0.47, 1e-14);
    case.detect_ahead().unwrap();
    assert_near(case.contact().gap_start, 0.3, 1e-14);
    assert_near(case.contact().gap_end, 0.27, 1e-14);
    let linearisation = &case.ws.kinematics.linearisation_velocity;
    assert_near(linearised_start_gap(&case.model, case.contact(), linearisation, case.h), 0.5, 1e-14);
}

/// An accelerated surface: its velocity at the start, at the end, and its displacement over the step.
#[test]
fn prescribed_surfaces_move_contacts_as_the_scheme_says() {
    for (slip, speed) in
        [(PrescribedSlip::Start, 1.0), (PrescribedSlip::Displacement, 1.05), (PrescribedSlip::End, 1.1)]
    {
        let table = prescribed("table", ["0.5*t*t", "0", "0"]).shape(floor(Dimension::Planar));
        let resting = disc("disc", 1.0, 0.5).position(0.0, 0.5, 0.0);
        let model = world(Dimension::Planar, friction(0.5), [table, resting]);
        let mut case = Case::new(model, Scheme { prescribed_slip: slip, ..Scheme::default() }, 0.1);
        case.state.time = 1.0;
        case.detect().unwrap();
        assert_close(&case.contact().surface_velocity, &Vector3::new(-speed, 0.0, 0.0), 1e-12);
        assert_eq!(case.contact().surface_spin, 0.0);
    }
}

/// A belt that speeds up moves by its speed in the middle of the step; a sticking body follows it.
#[test]
fn conveyor_belts_move_contacts_by_their_mean_speed() {
    let belt = BodyBuilder::fixed("belt").shape(floor(Dimension::Planar)).conveyor(["t", "0", "0"].map(expression));
    let resting = cuboid_in_plane().position(0.0, 0.5, 0.0).velocity(1.0, 0.0, 0.0);
    let mut case = Case::new(world(Dimension::Planar, friction(0.9), [belt, resting]), Scheme::default(), 0.1);
    case.state.time = 1.0;
    case.detect().unwrap();
    for contact in &case.ws.constraints.contacts {
        assert_close(&contact.surface_velocity, &Vector3::new(-1.05, 0.0, 0.0), 1e-12);
    }
    case.run(1);
    assert_near(case.v("block")[0], 1.05, 1e-10);
}

fn cuboid_in_plane() -> BodyBuilder {
    super::support::rectangle("block", 1.0, [0.5, 0.5])
}

/// A turning table has the velocity of its surface at the contact, and turns below it.
#[test]
fn turning_tables_have_surface_velocity_and_rotation() {
    let table = std::sync::Arc::new(stiction_multibody::ExpressionMotion {
        position: ["0", "0", "0"].map(expression),
        axis: Vector3::z(),
        angle: expression("2*t"),
        base: nalgebra::UnitQuaternion::identity(),
    });
    let table = BodyBuilder::kinematic("table", table).shape(floor(Dimension::Spatial));
    let model = world(Dimension::Spatial, friction(0.3), [table, ball("ball", 1.0, 0.5).position(3.0, 0.0, 0.5)]);
    for slip in [PrescribedSlip::Start, PrescribedSlip::End] {
        let mut case = Case::new(model.clone(), Scheme { prescribed_slip: slip, ..Scheme::default() }, 0.01);
        case.detect().unwrap();
        assert_close(&case.contact().surface_velocity, &Vector3::new(0.0, -6.0, 0.0), 1e-12);
        assert_close(&case.contact().surface_rotation, &Vector3::new(0.0, 0.0, -2.0), 1e-12);
        assert_near(case.contact().surface_spin, -2.0, 1e-12);
    }
}

/// The order of contacts is that of ids; a box on a floor has one contact for each of its lower corners.
#[test]
fn contacts_are_sorted_by_id() {
    let bodies = [
        cuboid("box", 1.0, [0.5, 0.4, 0.3]).position(0.0, 0.0, 0.3),
        ball("ball", 1.0, 0.5).position(3.0, 0.0, 0.5),
        cuboid("other", 1.0, [0.5, 0.4, 0.3]).position(0.0, 0.0, 0.9),
    ];
    let mut case = Case::new(on_floor(Dimension::Spatial, ContactRule::default(), bodies), Scheme::default(), 0.01);
    case.detect().unwrap();
    let contacts = &case.ws.constraints.contacts;
    assert_eq!(contacts.len(), 4 + 1 + 4);
    assert!(contacts.windows(2).all(|pair| pair[0].id < pair[1].id));
    let heights: Vec<f64> = contacts.iter().map(|contact| contact.gap_end).collect();
    assert_all_near(&heights, &[0.0; 9], 1e-12);
}

#[test]
fn rules_can_let_bodies_pass() {
    let mut builder = builder(Dimension::Spatial, ContactRule::default());
    let ground = builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Spatial))).unwrap();
    let ghost = builder.body(ball("ghost", 1.0, 0.5).position(0.0, 0.0, 0.5)).unwrap();
    builder.body(ball("ball", 1.0, 0.5).position(2.0, 0.0, 0.5)).unwrap();
    builder.contact(ground, ghost, ContactRule { collide: false, ..ContactRule::default() }).unwrap();
    let mut case = Case::new(builder.build().unwrap(), Scheme::default(), 0.01);
    case.detect().unwrap();
    assert_eq!(case.contact().b, case.body("ball"));
}

#[test]
fn prescribed_motion_that_is_not_finite_names_its_body() {
    let table = prescribed("table", ["1/(t - 0.5)", "0", "0"]).shape(floor(Dimension::Planar));
    let model = world(Dimension::Planar, ContactRule::default(), [table, disc("disc", 1.0, 0.5)]);
    let cause = Case::new(model, Scheme::default(), 0.5).detect().unwrap_err();
    assert_eq!(cause.to_string(), "the prescribed motion of body \"table\" is not a finite number");
}

/// Shapes sit where their body and their place on it put them.
#[test]
fn shapes_are_placed_on_their_bodies() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let sphere = || stiction_geometry::spatial::Shape::sphere(0.1).unwrap().into();
    let body = BodyBuilder::rigid("body", 1.0, nalgebra::Matrix3::identity())
        .position(1.0, 0.0, 0.0)
        .quaternion([half, 0.0, 0.0, half])
        .shape_at(sphere(), Pose::translation(0.5, 0.0, 0.0))
        .shape_at(sphere(), Pose::translation(0.0, 0.0, 2.0));
    let case = Case::new(world(Dimension::Spatial, ContactRule::default(), [body]), Scheme::default(), 0.01);
    let mut poses = Vec::new();
    pairs::place_shapes(&case.model, &case.configuration(&case.state.q), &mut poses);
    let places: Vec<Point3<f64>> = poses.iter().map(|pose| pose * Point3::origin()).collect();
    assert_close(&places[0].coords, &Vector3::new(1.0, 0.5, 0.0), 1e-14);
    assert_close(&places[1].coords, &Vector3::new(1.0, 0.0, 2.0), 1e-14);
}

/// Pairs at the end of the step: those whose shapes can overlap there, wherever they were before.
#[test]
fn pairs_at_the_end_are_those_of_the_end() {
    let bodies = [
        disc("first", 1.0, 0.5),
        disc("second", 1.0, 0.5).position(3.0, 0.0, 0.0),
        disc("third", 1.0, 0.5).position(9.0, 0.0, 0.0),
    ];
    let mut case = Case::new(world(Dimension::Planar, ContactRule::default(), bodies), Scheme::default(), 0.01);
    case.detect().unwrap();
    assert!(case.ws.detection.pairs.is_empty());
    let mut q = case.state.q.clone();
    q[3] = 0.9;
    case.ws.result.end = case.configuration(&q);
    case.with(|start, ws| {
        pairs::find_pairs_at_end(start.model, start.scheme, &mut crate::FeatureDetector::default(), ws);
    });
    assert_eq!(case.ws.detection.pairs, [(0, 1)]);
}

/// Reduced coordinates drop a contact whose gap the joints fix, unless it overlaps.   [RED-5]
#[test]
fn contacts_with_gaps_fixed_by_joints_are_dropped() {
    for (sunk, coordinates, found) in [
        (0.0, Coordinates::Maximal, 1),
        (0.0, Coordinates::Reduced, 0),
        (0.0, Coordinates::DivideAndConquer, 0),
        (0.01, Coordinates::Reduced, 1),
    ] {
        let mut builder = builder(Dimension::Planar, ContactRule::default());
        builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Planar))).unwrap();
        let centre = Vector3::new(0.0, 0.5 - sunk, 0.0);
        let wheel = builder.body(disc("wheel", 1.0, 0.5).position(centre.x, centre.y, 0.0)).unwrap();
        builder.joint_at("axle", JointKind::Revolute, (BodyId::WORLD, wheel), centre, Vector3::z()).unwrap();
        let scheme = Scheme { coordinates, ..Scheme::default() };
        let mut case = Case::new(builder.build().unwrap(), scheme, 0.01);
        case.detect().unwrap();
        assert_eq!(case.ws.constraints.contacts.len(), found, "{coordinates:?}, {sunk} m deep");
    }
}
