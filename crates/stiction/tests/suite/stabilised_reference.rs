//! JNT-7 and STB-2 to STB-5 at the level of accelerations, where each has its own equation.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, BodyId, Dimension, JointKind, Manifold, Model, ModelBuilder, Preset, Scheme, Simulation, Stabilisation,
};
use stiction_testkit::reference;

use crate::{
    family::Family,
    stabilisation::{COEFFICIENTS, gap_between_rods, joint_rate, oscillator, pendulum, torn_apart},
    support::q,
};

fn reference_with(stabilisation: Stabilisation) -> Scheme {
    let mut scheme = Preset::Reference.scheme();
    scheme.stabilisation = stabilisation;
    scheme
}

#[test]
fn baumgarte_error_is_the_solution_of_its_equation() {
    for (damping, stiffness) in COEFFICIENTS {
        let scheme = reference_with(Stabilisation::Baumgarte { damping, stiffness });
        let mut simulation = torn_apart(scheme, 0.02, [0.01, -0.02]);
        let start = gap_between_rods(&simulation);
        for _ in 0..25 {
            let report = simulation.step().unwrap();
            let expected = oscillator(damping, stiffness, report.time);
            for (now, start) in gap_between_rods(&simulation).into_iter().zip(start) {
                assert!(
                    (now - start * expected).abs() < 1e-10,
                    "{now} against {} at {}",
                    start * expected,
                    report.time
                );
            }
        }
    }
}

#[test]
fn ascher_error_decays_at_its_rate() {
    let rate = 15.0;
    // The term knows Φ at first order: its own error is of second order in the offset.
    for offset in [1e-3, 1e-4] {
        let mut simulation = torn_apart(reference_with(Stabilisation::Ascher { rate }), 0.02, [offset, -offset]);
        for _ in 0..15 {
            let report = simulation.step().unwrap();
            let expected = offset * (-rate * report.time).exp();
            let error = (gap_between_rods(&simulation)[0] - expected).abs();
            assert!(error < offset * offset, "{error} at {}", report.time);
        }
    }
}

/// Started on the constraints, every means follows the pendulum; they differ by the remaining drift.
#[test]
fn every_means_follows_the_pendulum() {
    let row = &reference("c02").table("derived.motion")[2];
    let means = [
        (Stabilisation::Usual, 1e-12, 1e-12),
        (Stabilisation::Projection(Manifold::Positions), 1e-12, 1e-7),
        (Stabilisation::Projection(Manifold::Velocities), 1e-8, 1e-12),
        (Stabilisation::Baumgarte { damping: 20.0, stiffness: 100.0 }, 1e-8, 1e-7),
        (Stabilisation::Ascher { rate: 20.0 }, 1e-8, 1e-7),
        (Stabilisation::Multiplier, 1e-8, 1e-7),
        (Stabilisation::Reduction, 1e-12, 1e-11),
    ];
    for (stabilisation, position, velocity) in means {
        let mut simulation = Simulation::new(pendulum(true), reference_with(stabilisation), 0.05).unwrap();
        let (mut drift, mut rate, mut integrator_steps) = (0.0_f64, 0.0_f64, 0);
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            drift = drift.max(report.joint_error);
            rate = rate.max(joint_rate(&simulation));
            integrator_steps += report.iterations;
        }
        let errors =
            [("a", "theta_a"), ("b", "theta_b")].map(|(body, name)| (q(&simulation, body)[2] - row[name]).abs());
        println!(
            "{stabilisation:?}: drift {drift:.2e}, rate {rate:.2e}, angles {errors:.2?}, {integrator_steps} integrator steps"
        );
        assert!(errors.iter().all(|error| *error < 1e-8), "{stabilisation:?}: {errors:?}");
        assert!(drift < position && rate < velocity, "{stabilisation:?}: drift {drift:.2e}, rate {rate:.2e}");
    }
}

/// In space: a box on a ball joint, and a second one hinged to it.
fn spatial_pendulum() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
    let upper = BodyBuilder::rigid("upper", 1.0, inertia).position(0.5, 0.0, 0.0).velocity(0.0, 0.5, 0.0);
    let upper = builder.body(upper.angular_velocity(0.0, 0.0, 1.0)).unwrap();
    let lower = BodyBuilder::rigid("lower", 0.7, inertia).position(1.0, 0.3, 0.0).velocity(-0.3, 1.0, 0.0);
    let lower = builder.body(lower.angular_velocity(0.0, 0.0, 1.0)).unwrap();
    let world = BodyId::WORLD;
    builder.joint_at("ball", JointKind::Spherical, (world, upper), Vector3::zeros(), Vector3::x()).unwrap();
    let place = Vector3::new(1.0, 0.0, 0.0);
    builder.joint_at("hinge", JointKind::Revolute, (upper, lower), place, Vector3::y()).unwrap();
    builder.build().unwrap()
}

#[test]
fn every_means_follows_a_spatial_pendulum() {
    let run = |stabilisation: Stabilisation| {
        let mut simulation = Simulation::new(spatial_pendulum(), reference_with(stabilisation), 0.05).unwrap();
        let start = simulation.energy().total();
        let mut drift = 0.0_f64;
        for _ in 0..20 {
            drift = drift.max(simulation.step().unwrap().joint_error);
        }
        let energy = (simulation.energy().total() - start).abs();
        assert!(energy < 1e-8, "{stabilisation:?} changed the energy by {energy:.2e}");
        (simulation.state().q.clone(), drift)
    };
    let (usual, _) = run(Stabilisation::Usual);
    let means = [
        (Stabilisation::Baumgarte { damping: 20.0, stiffness: 100.0 }, 1e-8),
        (Stabilisation::Ascher { rate: 20.0 }, 1e-8),
        (Stabilisation::Multiplier, 1e-8),
        (Stabilisation::Reduction, 1e-12),
        (Stabilisation::Projection(Manifold::Velocities), 1e-8),
    ];
    for (stabilisation, bound) in means {
        let (q, drift) = run(stabilisation);
        let difference = q.iter().zip(&usual).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        assert!(difference < 1e-8 && drift < bound, "{stabilisation:?}: {difference:.2e}, drift {drift:.2e}");
    }
    // The same joints in a time-stepping scheme: projection closes them to rounding.
    let mut scheme = Preset::Ncp.scheme();
    (scheme.joint_gamma, scheme.stabilisation) = (0.0, Stabilisation::Projection(Manifold::Both));
    let mut simulation = Simulation::new(spatial_pendulum(), scheme, 0.005).unwrap();
    for _ in 0..200 {
        let report = simulation.step().unwrap();
        assert!(report.joint_error <= 1e-12 && joint_rate(&simulation) <= 1e-12, "{report:?}");
    }
}

/// With contacts that stick, slip and stick again beside the joints (C-04) the choice for joints changes nothing but drift.
#[test]
fn contacts_do_not_mind_how_joints_are_stabilised() {
    let case = reference("c04");
    let mut family = Family::read(&case, &["rod_b", "block"]);
    family.floor_friction = case.number("derived.mixed.friction");
    let run = |stabilisation: Stabilisation| {
        let mut simulation = Simulation::new(family.model(), reference_with(stabilisation), 0.05).unwrap();
        let mut events = Vec::new();
        for _ in 0..24 {
            let report = simulation.step().unwrap();
            assert!(report.joint_error < 1e-8 && report.penetration < 1e-10, "{stabilisation:?}: {report:?}");
            events.extend(simulation.events().iter().map(|event| (event.kind, event.time)));
        }
        (simulation.state().q.clone(), events)
    };
    let (usual, story) = run(Stabilisation::Usual);
    assert!(story.len() > 4);
    for stabilisation in [
        Stabilisation::Baumgarte { damping: 20.0, stiffness: 100.0 },
        Stabilisation::Ascher { rate: 20.0 },
        Stabilisation::Multiplier,
        Stabilisation::Reduction,
        Stabilisation::Projection(Manifold::Positions),
    ] {
        let (q, events) = run(stabilisation);
        let difference = q.iter().zip(&usual).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        assert!(difference < 1e-7, "{stabilisation:?}: {difference:.2e}");
        let same = events.len() == story.len()
            && events.iter().zip(&story).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-7);
        assert!(same, "{stabilisation:?}: {events:?} against {story:?}");
    }
}
