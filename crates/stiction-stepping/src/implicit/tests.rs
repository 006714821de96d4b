//! Newton's matrix against finite differences: every kind of feature, smooth pairs, joints of every kind, support points, moving surfaces,
//! both updates of orientations.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

use std::sync::Arc;

use nalgebra::{Matrix3, UnitQuaternion, Vector2, Vector3};
use stiction_geometry::{Pose, Shape, planar, spatial};
use stiction_multibody::{
    BodyBuilder, BodyId, ContactId, ContactMemory, ContactMode, ContactRule, Dimension, Expression, ExpressionMotion,
    JointKind, Layer, LayerRule, LimitSurface, Model, ModelBuilder, OrientationUpdate, SupportBuilder,
};

use super::newton::ImplicitNewton;
use crate::{FeatureDetector, PrescribedSlip, Preset, Scheme, Start, Workspace, detect, formulation, prepare};

fn rule() -> ContactRule {
    ContactRule {
        friction: 0.4,
        torsion: 0.05,
        ellipse: [1.0, 0.7],
        direction_offset: 0.3,
        restitution: 0.5,
        margin: Some(0.6),
        ..ContactRule::default()
    }
}

fn expression(text: &str) -> Expression {
    Expression::parse(text).unwrap()
}

fn turning_table() -> ExpressionMotion {
    ExpressionMotion {
        position: ["0.1*t", "0.2*t", "0.05*sin(t)"].map(expression),
        axis: Vector3::new(0.1, 0.2, 1.0).normalize(),
        angle: expression("0.3 + 2*t"),
        base: UnitQuaternion::identity(),
    }
}

fn tumbling(name: &str, shape: impl Into<Shape>, [x, y, z]: [f64; 3], seed: f64) -> BodyBuilder {
    let turned = nalgebra::Vector4::new(1.0, 0.3 * seed, -0.2, 0.1 + 0.2 * seed).normalize();
    let inertia = Matrix3::new(0.3, 0.02, 0.0, 0.02, 0.4, 0.01, 0.0, 0.01, 0.2);
    BodyBuilder::rigid(name, 1.3, inertia)
        .position(x, y, z)
        .quaternion(turned.into())
        .velocity(0.3 * seed, -0.2, -1.1)
        .angular_velocity(1.0 + seed, -2.0, 1.5 * seed)
        .shape(shape.into())
}

fn joint(builder: &mut ModelBuilder, kind: JointKind, (a, b): (BodyId, BodyId), anchor: [f64; 3]) {
    if let JointKind::Distance(_) = kind {
        let frame = |x: f64| Pose::translation(x, 0.3, 0.1);
        builder.joint(kind.name(), kind, (a, frame(0.4)), (b, frame(-0.3))).unwrap();
        return;
    }
    let axis = Vector3::new(0.3, 1.0, 0.2).normalize();
    builder.joint_at(kind.name(), kind, (a, b), anchor.into(), axis).unwrap();
}

fn spatial_model(layer: LayerRule) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let table = BodyBuilder::kinematic("table", Arc::new(turning_table()));
    let table = builder.body(table.shape(spatial::Shape::half_space(Vector3::z()).unwrap().into())).unwrap();
    let restitution = if layer == LayerRule::default() { 0.5 } else { 0.0 };
    let rule = ContactRule { direction_body: Some(table), layer, restitution, ..rule() };
    builder.default_contact(rule).unwrap();
    let sphere = || spatial::Shape::sphere(0.5).unwrap();
    let capsule = || spatial::Shape::capsule(0.5, 0.2).unwrap();
    let cuboid = || spatial::Shape::cuboid([0.4, 0.3, 0.35]).unwrap();
    let ellipsoid = || spatial::Shape::ellipsoid([0.5, 0.35, 0.4]).unwrap();
    let mut add = |body| builder.body(body).unwrap();
    // Pairs near each other, of every kind of features.
    add(tumbling("ball", sphere(), [0.0, 0.0, 0.55], 0.2));
    add(tumbling("other ball", sphere(), [0.2, 0.9, 0.9], 0.7));
    add(tumbling("rod", capsule(), [0.9, 0.1, 0.7], -0.4));
    add(tumbling("other rod", capsule(), [1.2, 0.8, 0.9], 0.5));
    add(tumbling("crate", cuboid(), [-0.9, 0.1, 0.6], 0.3));
    add(tumbling("other crate", cuboid(), [-0.8, 0.9, 0.8], -0.6));
    add(tumbling("egg", ellipsoid(), [0.0, -0.9, 0.6], 0.1));
    add(tumbling("other egg", ellipsoid(), [-0.7, -0.8, 0.8], 0.9));
    // A chain far away, with every joint.
    let kinds = [
        JointKind::Spherical,
        JointKind::Revolute,
        JointKind::Universal,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Planar,
        JointKind::Weld,
        JointKind::Distance(0.6),
    ];
    let mut last = table;
    for (k, kind) in kinds.into_iter().enumerate() {
        let x = 20.0 + 3.0 * k as f64;
        let link = builder.body(tumbling(&format!("link {k}"), sphere(), [x, 0.0, 5.0], 0.1 * k as f64)).unwrap();
        joint(&mut builder, kind, (last, link), [x - 1.4, 0.2, 5.1]);
        last = link;
    }
    builder.build().unwrap()
}

fn planar_model() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.default_contact(ContactRule { torsion: 0.0, ..rule() }).unwrap();
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    let motion = ExpressionMotion::planar(expression("0.3*t"), expression("0.1*t"), expression("0.2 + 1.5*t"));
    let table = builder.body(BodyBuilder::kinematic("table", Arc::new(motion))).unwrap();
    let wall = BodyBuilder::fixed("wall").shape(planar::Shape::half_plane(Vector2::y()).unwrap().into());
    builder.body(wall.conveyor(["0.4", "0", "0"].map(expression))).unwrap();
    let shapes = [
        planar::Shape::disc(0.4).unwrap(),
        planar::Shape::rectangle([0.4, 0.3]).unwrap(),
        planar::Shape::capsule(0.3, 0.2).unwrap(),
        planar::Shape::ellipse([0.5, 0.3]).unwrap(),
    ];
    let mut below = table;
    for (k, shape) in shapes.into_iter().enumerate() {
        let seed = k as f64;
        let body = BodyBuilder::planar(format!("part {k}"), 1.0 + 0.2 * seed, 0.3)
            .position(0.75 * seed, 0.45 + 0.05 * seed, 0.0)
            .angle(0.3 + seed)
            .velocity(0.2 - 0.1 * seed, -0.4, 0.0)
            .angular_velocity(0.0, 0.0, 1.0 - seed);
        let id = builder.body(body.shape(shape.into())).unwrap();
        let support = if k % 2 == 0 {
            SupportBuilder::tripod([[0.2, 0.0], [-0.1, 0.2], [-0.15, -0.2]])
        } else {
            SupportBuilder::limit_surface(LimitSurface::uniform_disc(0.3).unwrap())
        };
        builder.support(id, &support.on(below).friction(0.3)).unwrap();
        below = id;
    }
    builder.build().unwrap()
}

/// The matrix at impulses that press, pull, stick and slip.
fn check(model: &Model, scheme: &Scheme, rebounding: bool) {
    let h = 0.02;
    let mut state = model.initial_state();
    let mut ws = Workspace::default();
    let mut seed = 3_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    if rebounding {
        let start = Start::new(model, scheme, &state, h);
        prepare(&start, &mut ws).unwrap();
        detect(&start, &mut FeatureDetector::default(), &mut ws).unwrap();
        let memory = |id: ContactId| ContactMemory {
            id,
            mode: ContactMode::Slip,
            point: [0.0; 3],
            normal_impulse: 1.0,
            friction_impulse: [0.0; 3],
            spin_impulse: 0.0,
            rolling_impulse: [0.0; 3],
            pending_restitution: -60.0,
            layer: None,
        };
        state.contacts = ws.constraints.contacts.iter().map(|contact| memory(contact.id)).collect();
    }
    let start = Start::new(model, scheme, &state, h);
    prepare(&start, &mut ws).unwrap();
    ws.kinematics.linearisation_velocity.extend_from_slice(&state.v);
    detect(&start, &mut FeatureDetector::default(), &mut ws).unwrap();
    formulation::assemble(&start, &mut ws).unwrap();
    ws.friction.solution.r = (0..ws.friction.problem.rows()).map(|_| 3.0 * random()).collect();
    let contacts = ws.constraints.contacts.len();
    for points in [false, true] {
        let (error, rows) = ImplicitNewton::default().derivative_error(&start, &ws, points);
        println!("{contacts} contacts, {rows} rows, worst error {error:e}");
        assert!(contacts >= 6 && error < 2e-8, "{contacts} contacts, {error:e}");
    }
}

#[test]
fn newton_matrix_in_space() {
    let model = spatial_model(LayerRule::default());
    for slip in [PrescribedSlip::Displacement, PrescribedSlip::Start, PrescribedSlip::End] {
        for orientation in [OrientationUpdate::Exponential, OrientationUpdate::Euler] {
            let scheme = Scheme { prescribed_slip: slip, orientation, ..Preset::GeometricallyImplicit.scheme() };
            check(&model, &scheme, false);
            check(&model, &scheme, true);
        }
    }
}

/// Layers that shear, with cores that are reached.
#[test]
fn newton_matrix_with_compliant_layers() {
    let stiffness = Matrix3::new(3000.0, 200.0, 0.0, 200.0, 1500.0, 50.0, 0.0, 50.0, 1200.0);
    let layer = Layer::coupled(stiffness, stiffness * 1e-3).with_depth(0.02);
    check(&spatial_model(LayerRule::Given(layer)), &Preset::GeometricallyImplicit.scheme(), false);
}

#[test]
fn newton_matrix_in_the_plane_with_feet() {
    let model = planar_model();
    for slip in [PrescribedSlip::Displacement, PrescribedSlip::Start, PrescribedSlip::End] {
        let scheme = Scheme { prescribed_slip: slip, ..Preset::GeometricallyImplicit.scheme() };
        check(&model, &scheme, false);
    }
}
