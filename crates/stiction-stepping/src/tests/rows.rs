//! Joint rows and biases of contacts, in steps, at velocity level and by Baumgarte's equation.

use nalgebra::{Matrix3, Vector3};
use stiction_geometry::Pose;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactMemory, ContactMode, ContactRule, Dimension, JointKind, Model, ModelBuilder,
};
use stiction_testkit::Random;

use super::support::{Case, G, assert_near, ball, builder, disc, floor, on_floor, prescribed, world};
use crate::{Impact, JointRow, Margin, Scheme, Stabilisation, rates::side_rate, rows};

const KINDS: [JointKind; 8] = [
    JointKind::Spherical,
    JointKind::Revolute,
    JointKind::Universal,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::Weld,
    JointKind::Distance(0.6),
];

fn link(name: &str, x: f64) -> BodyBuilder {
    let inertia = Matrix3::new(0.3, 0.02, 0.0, 0.02, 0.4, 0.01, 0.0, 0.01, 0.2);
    BodyBuilder::rigid(name, 1.3, inertia).position(x, 0.1, -0.2)
}

/// Two bodies with a joint of this kind, a little apart from where it closes.
fn jointed(kind: JointKind) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let (a, b) = (builder.body(link("a", 0.0)).unwrap(), builder.body(link("b", 1.0)).unwrap());
    if let JointKind::Distance(_) = kind {
        let frame = |x: f64| Pose::translation(x, 0.3, 0.1);
        builder.joint("joint", kind, (a, frame(0.1)), (b, frame(-0.2))).unwrap();
    } else {
        let axis = Vector3::new(0.3, 1.0, 0.2).normalize();
        builder.joint_at("joint", kind, (a, b), Vector3::new(0.5, 0.2, 0.0), axis).unwrap();
    }
    builder.build().unwrap()
}

fn values(case: &Case, q: &[f64]) -> Vec<f64> {
    let at = case.configuration(q);
    case.model.joints().iter().flat_map(|joint| joint.evaluate(&at).map(|row| row.value).collect::<Vec<_>>()).collect()
}

/// The two wrenches of a row on moving bodies have no resultant, also while the joint is open.   [STEP-17]
#[test]
fn joint_rows_are_in_balance() {
    for kind in KINDS {
        let mut case = Case::new(jointed(kind), Scheme::default(), 0.01);
        let mut random = Random::new(2);
        let v: Vec<f64> = (0..12).map(|_| random.uniform(-1.0, 1.0)).collect();
        case.state.q = case.moved(&v, 0.05);
        case.detect().unwrap();
        case.with(rows::write);
        let at = case.configuration(&case.state.q);
        let joint = &case.model.joints()[0];
        for JointRow { a, b, .. } in &case.ws.constraints.joint_rows {
            let [on_a, on_b] = [(joint.a.0, a), (joint.b.0, b)]
                .map(|(body, wrench)| wrench.angular + at.pose(body).translation.vector.cross(&wrench.linear));
            assert_near((a.linear + b.linear).norm(), 0.0, 1e-12);
            assert_near((on_a + on_b).norm(), 0.0, 1e-12);
        }
    }
}

/// W_bᵀ v is the rate of Φ, for every kind of joint and any motion.
#[test]
fn joint_rows_are_difference_quotients_of_joint_errors() {
    for kind in KINDS {
        let mut case = Case::new(jointed(kind), Scheme::default().as_published(), 0.01);
        let mut random = Random::new(1);
        let mut velocities = || -> Vec<f64> { (0..12).map(|_| random.uniform(-1.0, 1.0)).collect() };
        // From a configuration with an error.
        case.state.q = case.moved(&velocities(), 0.05);
        case.detect().unwrap();
        case.with(rows::write);
        for _ in 0..4 {
            let (v, dt) = (velocities(), 1e-6);
            let (ahead, behind) = (values(&case, &case.moved(&v, dt)), values(&case, &case.moved(&v, -dt)));
            let joint = &case.model.joints()[0];
            for (k, row) in case.ws.constraints.joint_rows.iter().enumerate() {
                let quotient = (ahead[k] - behind[k]) / (2.0 * dt);
                let rate =
                    side_rate(&case.model, &v, joint.a.0, &row.a) + side_rate(&case.model, &v, joint.b.0, &row.b);
                assert_near(rate, quotient, 1e-8);
            }
        }
    }
}

/// Bias γ_b Φ/h, with the weight of the joint or that of the scheme.
#[test]
fn joint_errors_enter_with_their_weight() {
    for (own, scheme_gamma, expected) in
        [(None, 1.0, 1.0), (None, 0.25, 0.25), (Some(0.5), 1.0, 0.5), (Some(0.0), 1.0, 0.0)]
    {
        let mut builder = builder(Dimension::Planar, ContactRule::default());
        let body = builder.body(disc("disc", 1.0, 0.5)).unwrap();
        let joint = builder
            .joint(
                "hinge",
                JointKind::Revolute,
                (BodyId::WORLD, Pose::translation(-0.02, 0.03, 0.0)),
                (body, Pose::identity()),
            )
            .unwrap();
        if let Some(gamma) = own {
            builder.joint_gamma(joint, gamma).unwrap();
        }
        let scheme = Scheme { joint_gamma: scheme_gamma, ..Scheme::default() };
        let mut case = Case::new(builder.build().unwrap(), scheme, 0.1);
        case.detect().unwrap();
        case.with(rows::write);
        let errors = values(&case, &case.state.q);
        assert_near(errors[0].abs(), 0.02, 1e-15);
        for (row, error) in case.ws.constraints.joint_rows.iter().zip(errors) {
            assert_near(row.bias, expected * error / case.h, 1e-13);
        }
    }
}

/// The bias of a joint to a moving body is the displacement of its anchor over the step, and the step follows it exactly.
#[test]
fn joints_follow_prescribed_bodies() {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    let carriage = builder.body(prescribed("carriage", ["t*t", "0.5*t", "0"])).unwrap();
    let body = builder.body(disc("disc", 1.0, 0.5)).unwrap();
    builder.joint_at("hinge", JointKind::Revolute, (carriage, body), Vector3::zeros(), Vector3::z()).unwrap();
    let mut case = Case::new(builder.build().unwrap(), Scheme::default(), 0.1);
    for _ in 0..3 {
        case.run(1);
        let t = case.state.time;
        assert_near(case.q("disc")[0], t * t, 1e-12);
        assert_near(case.q("disc")[1], 0.5 * t, 1e-12);
    }
}

/// Bias γ ψ/h + prescribed displacement/h of a contact; a rule overrides the weight of the scheme.
#[test]
fn gaps_enter_with_their_weight() {
    for (rule, gamma, weight) in [(None, 1.0, 1.0), (None, 0.3, 0.3), (Some(0.5), 1.0, 0.5)] {
        let ground = prescribed("lift", ["0", "0.2*t", "0"]).shape(floor(Dimension::Planar));
        let rule = ContactRule { gamma: rule, ..ContactRule::default() };
        let model = world(Dimension::Planar, rule, [ground, disc("disc", 1.0, 0.5).position(0.0, 0.75, 0.0)]);
        let scheme = Scheme { gamma, margin: Margin::Fixed(1.0), ..Scheme::default() };
        let mut case = Case::new(model, scheme, 0.1);
        case.detect().unwrap();
        case.with(rows::write);
        assert_near(case.contact().bias, (weight * 0.25 - 0.02) / 0.1, 1e-12);
        // In an impact gaps do not count.
        case.with(rows::write_velocity_level);
        assert_near(case.contact().bias, -0.2, 1e-12);
    }
}

/// Newton's law: a pending approach of −3 m/s asks for n · v⁺ ≥ 3 ε, and nothing without restitution.
#[test]
fn pending_restitution_lowers_the_bias() {
    for (restitution, impact, expected) in
        [(0.5, Impact::Newton, -1.5), (0.0, Impact::Newton, 0.0), (0.5, Impact::Inelastic, 0.0)]
    {
        let rule = ContactRule { restitution, ..ContactRule::default() };
        let model = on_floor(Dimension::Spatial, rule, [ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5)]);
        let mut case = Case::new(model, Scheme { impact, ..Scheme::default() }, 0.01);
        case.detect().unwrap();
        case.state.contacts = vec![ContactMemory {
            id: case.contact().id,
            mode: ContactMode::Stick,
            point: [0.0; 3],
            normal_impulse: 1.0,
            friction_impulse: [0.0; 3],
            spin_impulse: 0.0,
            rolling_impulse: [0.0; 3],
            pending_restitution: -3.0,
            layer: None,
        }];
        case.with(rows::write);
        assert_near(case.contact().bias, expected, 1e-12);
        assert!((case.solve().unwrap().residual.value) < 1e-12);
        assert_near(case.velocity("ball")[2], -expected, 1e-10);
    }
}

/// Velocity-level joint rows do not remove errors.
#[test]
fn velocity_level_rows_leave_joint_errors() {
    let mut case = Case::new(jointed(JointKind::Spherical), Scheme::default(), 0.01);
    case.state.q[0] += 0.1;
    case.detect().unwrap();
    case.with(rows::write);
    assert!(case.ws.constraints.joint_rows.iter().any(|row| row.bias.abs() > 0.9));
    case.with(rows::write_velocity_level);
    assert!(case.ws.constraints.joint_rows.iter().all(|row| row.bias.abs() < 1e-12));
}

fn rail(stabilisation: Stabilisation) -> Case {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    let body = builder.body(disc("slider", 2.0, 0.5).position(0.0, 0.1, 0.0)).unwrap();
    builder.joint("rail", JointKind::Prismatic, (BodyId::WORLD, Pose::identity()), (body, Pose::identity())).unwrap();
    Case::new(builder.build().unwrap(), Scheme { stabilisation, ..Scheme::default() }, 0.01)
}

/// Baumgarte's difference equation (D⁺ − D)/h + a D⁺ + b Φ⁺ = 0 holds step by step, against gravity.   [STAB-2]
#[test]
fn baumgarte_errors_follow_their_difference_equation() {
    let (damping, stiffness) = (20.0, 100.0);
    let mut case = rail(Stabilisation::Baumgarte { damping, stiffness });
    let error = |case: &Case| case.q("slider")[1];
    let (mut last, mut rate) = (error(&case), 0.0);
    for _ in 0..50 {
        case.run(1);
        let next = (error(&case) - last) / case.h;
        let balance = (next - rate) / case.h + damping * next + stiffness * error(&case);
        assert_near(balance, 0.0, 1e-8);
        (last, rate) = (error(&case), next);
    }
    assert!(last.abs() < 0.01 && last > 0.0, "critically damped: {last}");
}

/// Baumgarte's rows equal the usual ones without an error and at rest, and gravity is held at once.
#[test]
fn baumgarte_leaves_a_closed_joint_closed() {
    let mut case = rail(Stabilisation::Baumgarte { damping: 20.0, stiffness: 100.0 });
    case.state.q[1] = 0.0;
    case.detect().unwrap();
    case.with(rows::write);
    assert!(case.ws.constraints.joint_rows.iter().all(|row| row.bias == 0.0));
    case.run(1);
    assert_near(case.q("slider")[1], 0.0, 1e-14);
    let impulse = case.ws.solution.joint_impulses.iter().fold(0.0_f64, |most, p| most.max(p.abs()));
    assert_near(impulse, 2.0 * G * case.h, 1e-12);
}

/// With end-of-step geometry the row traces the error back to the start: Φ⁺ = 0 for γ_b = 1, not only to first order.
#[test]
fn rows_linearised_at_the_end_close_joints_exactly() {
    use crate::LineariseAt;
    for (at, tolerance) in [(LineariseAt::Start, 1e-3), (LineariseAt::End, 1e-12)] {
        let mut builder = builder(Dimension::Planar, ContactRule::default());
        let bob = BodyBuilder::planar("bob", 1.0, 0.1).position(1.0, 0.0, 0.0).velocity(0.0, -3.0, 0.0);
        let bob = builder.body(bob.angular_velocity(0.0, 0.0, -3.0)).unwrap();
        builder.joint_at("pin", JointKind::Revolute, (BodyId::WORLD, bob), Vector3::zeros(), Vector3::z()).unwrap();
        let mut case = Case::new(builder.build().unwrap(), Scheme { linearise_at: at, ..Scheme::default() }, 0.01);
        let report = case.step();
        assert!(report.joint_error <= tolerance, "{at:?}: {:e}", report.joint_error);
        assert_eq!(report.joint_error > 1e-6, at == LineariseAt::Start);
    }
}
