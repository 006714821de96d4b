//! Supports with every option of a scheme, and extreme supports.

use nalgebra::Vector3;
use stiction::{
    BodyBuilder, BodyId, ContactMode, FrictionSet, Impact, JointKind, LineariseAt, Manifold, Model, PrescribedSlip,
    Preset, Scheme, Simulation, Stabilisation, SupportBuilder,
};

use crate::support::{G, q, run, solid_rectangle, steps, v};
use crate::support_friction::{against_a_wall, equilateral, part, table};

const DOWN: [f64; 3] = [0.0, 0.0, -G];

/// Every preset that supports planar supports, with every friction set, linearisation point and impact law it accepts.
fn schemes() -> Vec<Scheme> {
    let presets =
        [Preset::Ncp, Preset::StewartTrinkle, Preset::AnitescuPotra, Preset::AnitescuHart, Preset::MoreauJean];
    let mut all = Vec::new();
    for preset in presets {
        for friction in [FrictionSet::Quadratic, FrictionSet::Polygon, FrictionSet::Box] {
            for linearise_at in [LineariseAt::Start, LineariseAt::Predicted, LineariseAt::End] {
                for impact in [Impact::Newton, Impact::Poisson] {
                    let mut scheme = preset.scheme();
                    (scheme.friction, scheme.linearise_at, scheme.impact) = (friction, linearise_at, impact);
                    all.push(scheme);
                }
            }
        }
    }
    let model = against_a_wall();
    all.retain(|scheme| scheme.check_model(&model).is_ok());
    assert!(all.len() > 50, "{}", all.len());
    all
}

/// A part meets a wall and comes to rest within what all schemes agree on roughly; each step solves its problem and keeps its energy.
#[test]
fn every_scheme_brings_a_part_to_rest() {
    for scheme in schemes() {
        let end = run(against_a_wall(), scheme.clone(), 0.002, 1.6, |_, _| ());
        assert!(v(&end, "part").iter().all(|v| v.abs() < 1e-8), "{scheme:?}: {:?}", v(&end, "part"));
        let [x, y, _] = *q(&end, "part") else { panic!("three coordinates") };
        assert!((0.3..0.9).contains(&x) && (0.0..0.4).contains(&y), "{scheme:?}: {x} {y}");
    }
}

/// Two bars on support points, hinged to each other and to the table, with every kind of stabilisation.
#[test]
fn joints_are_stabilised_beside_feet() {
    let model = || -> Model {
        table(DOWN, |builder| {
            let mut last = BodyId::WORLD;
            for k in 0..2 {
                let centre = 0.25 + 0.5 * f64::from(k);
                let bar = solid_rectangle(&format!("bar {k}"), 1.0, [0.25, 0.05]).position(centre, 0.0, 0.0);
                // All turn about the first hinge.
                let bar = builder.body(bar.velocity(0.0, 3.0 * centre, 0.0).angular_velocity(0.0, 0.0, 3.0)).unwrap();
                builder.support(bar, &SupportBuilder::tripod(equilateral(0.1)).friction(0.2)).unwrap();
                let anchor = Vector3::new(centre - 0.25, 0.0, 0.0);
                let hinge = format!("hinge {k}");
                builder.joint_at(hinge, JointKind::Revolute, (last, bar), anchor, Vector3::x()).unwrap();
                last = bar;
            }
        })
    };
    let ways = [
        Stabilisation::Usual,
        Stabilisation::Multiplier,
        Stabilisation::Projection(Manifold::Both),
        Stabilisation::Baumgarte { damping: 40.0, stiffness: 400.0 },
        Stabilisation::Ascher { rate: 50.0 },
    ];
    for stabilisation in ways {
        for friction in [FrictionSet::Quadratic, FrictionSet::Polygon] {
            let mut scheme = Preset::Ncp.scheme();
            (scheme.stabilisation, scheme.friction) = (stabilisation, friction);
            let mut error = 0.0_f64;
            let end = run(model(), scheme, 0.002, 2.0, |_, report| error = error.max(report.joint_error));
            assert!(end.state().v.iter().all(|v| v.abs() < 1e-8), "{stabilisation:?}: {:?}", end.state().v);
            assert!(error < 1e-3, "{stabilisation:?}: {error}");
            assert!(q(&end, "bar 0")[2] > 0.3, "{:?}", q(&end, "bar 0"));
        }
    }
}

/// However the velocity of the table is taken, a part on it is carried along, up to the step.
#[test]
fn every_prescribed_slip_carries_a_part() {
    for (slip, allowed) in
        [(PrescribedSlip::Displacement, 1e-9), (PrescribedSlip::Start, 5e-3), (PrescribedSlip::End, 5e-3)]
    {
        let model = table(DOWN, |builder| {
            let motion = stiction::multibody::ExpressionMotion::planar(
                "0.1*t^2".parse().unwrap(),
                stiction::Expression::constant(0.0),
                "0.2*t^2".parse().unwrap(),
            );
            let table = builder.body(BodyBuilder::kinematic("table", std::sync::Arc::new(motion))).unwrap();
            let body = builder.body(BodyBuilder::planar("part", 1.0, 0.01).position(0.3, 0.0, 0.0)).unwrap();
            builder.support(body, &SupportBuilder::tripod(equilateral(0.1)).friction(0.5).on(table)).unwrap();
        });
        let mut scheme = Preset::Ncp.scheme();
        scheme.prescribed_slip = slip;
        let end = run(model, scheme, 0.005, 1.0, |_, _| ());
        let [x, y, angle] = *q(&end, "part") else { panic!("three coordinates") };
        let exact = [0.1 + 0.3 * 0.2_f64.cos(), 0.3 * 0.2_f64.sin(), 0.2];
        let off = [x, y, angle].iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < allowed, "{slip:?}: {off}");
    }
}

/// Support points without load, without friction, and with an unrealistic coefficient.
#[test]
fn feet_at_the_edge() {
    let positions = [[0.2, 0.0], [-0.2, 0.0], [0.0, 0.3]];
    let (stick, slip) = (ContactMode::Stick, ContactMode::Slip);
    let cases = [
        ([0.3, 0.3, 0.3], [stick; 3]),
        ([1e6, 1e6, 0.0], [stick; 3]),
        ([0.0; 3], [slip; 3]),
        // A single support point with friction holds its place, and the body turns about it for ever.
        ([0.3, 0.0, 0.3], [stick, slip, slip]),
    ];
    for (friction, modes) in cases {
        for preset in [Preset::Ncp, Preset::StewartTrinkle] {
            let body = BodyBuilder::planar("part", 1.0, 0.02).velocity(1.0, 0.3, 0.0).angular_velocity(0.0, 0.0, 2.0);
            let model = part(body, DOWN, &SupportBuilder::tripod(positions).frictions(friction));
            assert_eq!(
                model.support_points().map(|(.., support_point)| support_point.load).collect::<Vec<_>>(),
                [0.5 * G, 0.5 * G, 0.0]
            );
            let mut simulation = Simulation::new(model, preset.scheme(), 0.005).unwrap();
            steps(&mut simulation, 400);
            let support_points = simulation.support_points();
            assert_eq!(
                support_points.iter().map(|support_point| support_point.mode).collect::<Vec<_>>(),
                modes,
                "{friction:?}, {preset:?}: {support_points:?}"
            );
        }
    }
}

/// The motion does not depend on the unit of mass: masses, inertias and loads go together.
#[test]
fn light_and_heavy_parts_slide_alike() {
    let end = |mass: f64| {
        let body =
            BodyBuilder::planar("part", mass, 0.02 * mass).velocity(1.0, 0.3, 0.0).angular_velocity(0.0, 0.0, 9.0);
        let model = part(body, DOWN, &SupportBuilder::tripod(equilateral(0.1)).friction(0.3));
        q(&run(model, Preset::Ncp.scheme(), 0.005, 1.0, |_, _| ()), "part").to_vec()
    };
    let one = end(1.0);
    for mass in [1e-9, 1e9] {
        let other = end(mass);
        assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-8), "{one:?} {other:?}");
    }
}
