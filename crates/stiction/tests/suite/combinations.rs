//! Supports × inertia × friction sets × corners × joints: all combinations work and agree.

use std::sync::Arc;

use nalgebra::{Point2, Vector3};
use stiction::{
    BodyBuilder, BodyId, CornerLogic, Dimension, Expression, FrictionSet, JointKind, Model, ModelBuilder, Preset,
    Scheme, Simulation, SupportBuilder, multibody::ExpressionMotion, planar,
};

use crate::support::{friction, q};

fn polygon(vertices: &[[f64; 2]]) -> stiction::Shape {
    let vertices: Vec<_> = vertices.iter().map(|&[x, y]| Point2::new(x, y)).collect();
    planar::Shape::polygon(&vertices).unwrap().into()
}

/// First contact of the pusher: the notch of the part (all faces hold) or one of its corners (any face holds).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Corner {
    All,
    Any,
}

/// An L on a table, pushed by a pointed pusher into its notch or past its corner; `jointed` hinges a second part to it.
pub fn scene(corner: Corner, jointed: bool, speed: f64) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    let angle = [[-0.25, -0.25], [0.35, -0.25], [0.35, -0.05], [-0.05, -0.05], [-0.05, 0.35], [-0.25, 0.35]];
    let part = builder.body(BodyBuilder::planar("part", 1.0, 0.05).shape(polygon(&angle))).unwrap();
    let support =
        |r: f64| SupportBuilder::tripod([[0.0, r], [-0.87 * r, -0.5 * r], [0.87 * r, -0.5 * r]]).friction(0.3);
    builder.support(part, &support(0.2)).unwrap();
    if jointed {
        let arm = BodyBuilder::planar("arm", 0.5, 0.01).position(-0.55, -0.15, 0.0);
        let arm = builder.body(arm.shape(polygon(&[[-0.2, -0.05], [0.2, -0.05], [0.2, 0.05], [-0.2, 0.05]]))).unwrap();
        builder.support(arm, &support(0.1)).unwrap();
        builder
            .joint_at("hinge", JointKind::Revolute, (part, arm), Vector3::new(-0.3, -0.15, 0.0), Vector3::z())
            .unwrap();
    }
    // Into the notch from the upper right; or along the lower edge, past the corner below it.
    let (from, towards) = match corner {
        Corner::All => ([0.16, 0.15], [-1.0, -0.9]),
        Corner::Any => ([0.4, -0.262], [-1.0, 0.15]),
    };
    let along = |k: usize| Expression::parse(&format!("{} + {} * t", from[k], speed * towards[k])).unwrap();
    let motion = ExpressionMotion::planar(along(0), along(1), Expression::constant(0.0));
    let tip = match corner {
        Corner::All => [[0.0, 0.0], [0.3, 0.05], [0.05, 0.3]],
        Corner::Any => [[0.0, 0.0], [0.3, -0.05], [0.3, 0.05]],
    };
    builder.body(BodyBuilder::kinematic("pusher", Arc::new(motion)).shape(polygon(&tip))).unwrap();
    builder.default_contact(friction(0.2)).unwrap();
    builder.build().unwrap()
}

fn scheme(quasistatic: bool, set: FrictionSet, corners: CornerLogic) -> Scheme {
    let preset = if quasistatic { Preset::Quasistatic } else { Preset::Ncp };
    let mut scheme = preset.scheme();
    (scheme.friction, scheme.corners, scheme.directions) = (set, corners, 32);
    scheme
}

/// Pose of the part after the pusher went 0.3 m, and the largest joint error.
fn push(model: Model, scheme: Scheme, speed: f64) -> Vec<f64> {
    let steps = 300;
    let mut simulation = Simulation::new(model, scheme, 0.3 / speed / f64::from(steps)).unwrap();
    let mut touched = 0;
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.residual.value < 1e-8 && report.joint_error < 1e-4 && report.penetration < 2e-3, "{report:?}");
        touched += usize::from(simulation.contacts().iter().any(|contact| contact.normal_impulse > 0.0));
    }
    assert!(touched > 50, "touched in {touched} steps only");
    q(&simulation, "part").to_vec()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn supports_inertia_friction_sets_corners_and_joints_combine() {
    for corner in [Corner::All, Corner::Any] {
        for jointed in [false, true] {
            // Slow enough for inertia not to matter.
            let speed = 0.02;
            let run = |quasistatic, set, corners| {
                push(scene(corner, jointed, speed), scheme(quasistatic, set, corners), speed)
            };
            let quadratic = run(true, FrictionSet::Quadratic, CornerLogic::Exact);
            let inertial = run(false, FrictionSet::Quadratic, CornerLogic::Exact);
            assert!(distance(&quadratic, &inertial) < 2e-3, "{corner:?}, {jointed}: {quadratic:?} {inertial:?}");
            let moved = quadratic.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(moved > 0.02, "{corner:?}, {jointed}: {quadratic:?}");
            for quasistatic in [true, false] {
                let linear = run(quasistatic, FrictionSet::Polygon, CornerLogic::Exact);
                let disjunctive = run(quasistatic, FrictionSet::Polygon, CornerLogic::Disjunctive);
                assert!(distance(&linear, &disjunctive) < 1e-9, "{corner:?}, {jointed}: {linear:?} {disjunctive:?}");
                // A polygon of 32 corners turns things at other rates: places agree to some percent of the way, angles less.
                assert!(
                    distance(&linear[..2], &quadratic[..2]) < 0.01 && distance(&linear, &quadratic) < 0.1,
                    "{corner:?}, {jointed}: {linear:?} {quadratic:?}"
                );
            }
        }
    }
}

#[test]
fn contradictions_are_refused_with_a_reason() {
    let model = || scene(Corner::All, true, 0.1);
    let cases: [(Scheme, &str); 3] = [
        (scheme(true, FrictionSet::Quadratic, CornerLogic::Disjunctive), "friction = \"polygon\""),
        (
            {
                let mut scheme = scheme(true, FrictionSet::Quadratic, CornerLogic::Exact);
                scheme.method = stiction::Method::MoreauJean;
                scheme
            },
            "without inertia",
        ),
        (
            {
                let mut scheme = scheme(true, FrictionSet::Polygon, CornerLogic::Exact);
                scheme.impact = stiction::Impact::Poisson;
                scheme
            },
            "do not rebound",
        ),
    ];
    for (scheme, sentence) in cases {
        let error = Simulation::new(model(), scheme, 0.01).err().unwrap().to_string();
        assert!(error.contains(sentence), "{error}");
    }
    assert!(model().find_body("part") != Some(BodyId::WORLD));
}
