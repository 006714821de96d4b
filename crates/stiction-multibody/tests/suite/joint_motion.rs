//! Motions that a joint allows, by finite displacements: after any of them Φ is still zero.

use nalgebra::{Rotation3, UnitQuaternion, Vector3};
use stiction_multibody::{BodyBuilder, BodyId, Dimension, JointKind, Model, ModelBuilder, Pose, rotation};
use stiction_testkit::Random;

use crate::{
    joint_rows::body,
    support::{configuration, direction, planar_vector, vector, wxyz},
};

/// Φ after a world motion of body `b` of the joint, all others at their start.
fn carried(model: &Model, b: BodyId, motion: &Pose) -> f64 {
    let mut q = model.initial_state().q;
    let slot = model.layout()[b.index()].clone();
    let at = configuration(model, &q, &vec![0.0; model.dof()], 0.0);
    let pose = motion * at.pose(b);
    let p = pose.translation.vector;
    let coordinates = if model.dimension() == Dimension::Planar {
        let r = pose.rotation.matrix();
        vec![p.x, p.y, libm::atan2(r.m21, r.m11)]
    } else {
        let e = wxyz(&rotation::from_matrix(pose.rotation.matrix()));
        vec![p.x, p.y, p.z, e[0], e[1], e[2], e[3]]
    };
    q[slot.q].copy_from_slice(&coordinates);
    let at = configuration(model, &q, &vec![0.0; model.dof()], 0.0);
    model.joints()[0].evaluate(&at).fold(0.0, |worst, row| worst.max(row.value.abs()))
}

/// Rotation about an axis through a point.
fn about(point: &Vector3<f64>, axis: &Vector3<f64>, angle: f64) -> Pose {
    let turn: UnitQuaternion<f64> = rotation::from_rotation_vector(&(axis * angle));
    let turn: Rotation3<f64> = turn.to_rotation_matrix();
    Pose::from_parts((point - turn * point).into(), turn)
}

fn along(v: &Vector3<f64>) -> Pose {
    Pose::translation(v.x, v.y, v.z)
}

struct Joined {
    model: Model,
    b: BodyId,
    anchor: Vector3<f64>,
    axis: Vector3<f64>,
}

fn joined(random: &mut Random, dimension: Dimension, kind: JointKind) -> Joined {
    let mut builder = ModelBuilder::new(dimension);
    let a = builder.body(body(random, dimension, "a")).unwrap();
    let b = builder.body(body(random, dimension, "b")).unwrap();
    let planar = dimension == Dimension::Planar;
    let anchor = if planar { planar_vector(random, 1.0) } else { vector(random, 1.0) };
    let axis = if planar { planar_vector(random, 1.0).normalize() } else { direction(random) };
    builder.joint_at("j", kind, (a, b), anchor, axis).unwrap();
    Joined { model: builder.build().unwrap(), b, anchor, axis }
}

#[test]
fn spatial_joints_allow_their_motions_and_no_other() {
    let mut random = Random::new(51);
    for _ in 0..20 {
        let [angle, slide] = [random.uniform(-2.0, 2.0), random.uniform(-1.0, 1.0)];
        for kind in [
            JointKind::Revolute,
            JointKind::Prismatic,
            JointKind::Cylindrical,
            JointKind::Spherical,
            JointKind::Planar,
            JointKind::Weld,
        ] {
            let Joined { model, b, anchor, axis } = joined(&mut random, Dimension::Spatial, kind);
            let side = axis.cross(&direction(&mut random)).normalize();
            // rotation about the axis, translation along it, translation across it, rotation about a line across it
            let motions = [
                about(&anchor, &axis, angle),
                along(&(axis * slide)),
                along(&(side * slide)),
                about(&anchor, &side, angle),
            ];
            let free = match kind {
                JointKind::Revolute => [true, false, false, false],
                JointKind::Prismatic => [false, true, false, false],
                JointKind::Cylindrical => [true, true, false, false],
                JointKind::Spherical => [true, false, false, true],
                JointKind::Planar => [true, false, true, false],
                _ => [false; 4],
            };
            for (motion, free) in motions.iter().zip(free) {
                let error = carried(&model, b, motion);
                assert_eq!(error < 1e-13, free, "{kind:?}: {error:e}");
            }
            // Allowed motions may be composed.
            let all =
                motions.iter().zip(free).filter(|(_, free)| *free).fold(Pose::identity(), |m, (next, _)| next * m);
            assert!(carried(&model, b, &all) < 1e-13);
        }
    }
}

/// A universal joint rotates about the first axis of a, then about the second axis of b, at any orientation of that axis.
#[test]
fn universal_joint_turns_about_its_two_axes() {
    let mut random = Random::new(52);
    for _ in 0..20 {
        let Joined { model, b, anchor, axis } = joined(&mut random, Dimension::Spatial, JointKind::Universal);
        let state = model.initial_state();
        let at = configuration(&model, &state.q, &state.v, 0.0);
        let second: Vector3<f64> = (at.pose(b) * model.joints()[0].b.1).rotation * Vector3::y();
        let [alpha, beta] = [random.uniform(0.2, 1.0), random.uniform(0.2, 1.0)];
        let inner = about(&anchor, &second, beta);
        let outer = about(&anchor, &axis, alpha);
        assert!(carried(&model, b, &(outer * inner)) < 1e-13);
        assert!(carried(&model, b, &about(&anchor, &axis.cross(&second), alpha)) > 1e-2);
        assert!(carried(&model, b, &along(&(axis * 0.1))) > 1e-2);
    }
}

#[test]
fn planar_joints_allow_their_motions_and_no_other() {
    let mut random = Random::new(53);
    for _ in 0..20 {
        for (kind, free) in [
            (JointKind::Revolute, [true, false, false]),
            (JointKind::Prismatic, [false, true, false]),
            (JointKind::Weld, [false; 3]),
        ] {
            let Joined { model, b, anchor, axis } = joined(&mut random, Dimension::Planar, kind);
            let across = Vector3::z().cross(&axis);
            let motions =
                [about(&anchor, &Vector3::z(), random.uniform(0.1, 2.0)), along(&(axis * 0.3)), along(&(across * 0.3))];
            for (motion, free) in motions.iter().zip(free) {
                let error = carried(&model, b, motion);
                assert_eq!(error < 1e-13, free, "{kind:?}: {error:e}");
            }
        }
    }
}

/// Φ of a distance joint is the stretch of a rod.
#[test]
fn distance_joint_measures_the_distance() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let ball = builder.body(BodyBuilder::particle("ball", 1.0).position(3.0, 4.0, 1.0)).unwrap();
    let anchor = Pose::translation(0.0, 0.0, 1.0);
    builder.joint("rod", JointKind::Distance(4.5), (BodyId::WORLD, anchor), (ball, Pose::identity())).unwrap();
    let model = builder.build().unwrap();
    let state = model.initial_state();
    let at = configuration(&model, &state.q, &state.v, 0.0);
    let values: Vec<f64> = model.joints()[0].evaluate(&at).map(|row| row.value).collect();
    assert_eq!(values, [0.5]);
}

/// Points that coincide have no direction; the row stays finite.
#[test]
fn distance_joint_of_coincident_points_is_finite() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let ball = builder.body(BodyBuilder::particle("ball", 1.0)).unwrap();
    builder
        .joint("rod", JointKind::Distance(1.0), (BodyId::WORLD, Pose::identity()), (ball, Pose::identity()))
        .unwrap();
    let model = builder.build().unwrap();
    let state = model.initial_state();
    let at = configuration(&model, &state.q, &state.v, 0.0);
    let row = model.joints()[0].evaluate(&at).next().unwrap();
    assert_eq!(row.value, -1.0);
    assert_eq!(row.b.linear.norm(), 1.0);
}
