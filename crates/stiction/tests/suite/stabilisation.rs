//! STB-1 to STB-6: decay of joint errors by each means of stabilisation.

use stiction::{
    BodyBuilder, BodyId, Dimension, JointKind, LineariseAt, Manifold, Model, ModelBuilder, Preset, Scheme, Simulation,
    Stabilisation,
};
use stiction_testkit::reference;

use crate::{
    family::Family,
    support::{q, run},
};

/// Velocity level: without stabilisation nothing is corrected.
pub fn velocity_level(stabilisation: Stabilisation) -> Scheme {
    let mut scheme = Preset::AnitescuPotra.scheme().as_published();
    scheme.stabilisation = stabilisation;
    scheme
}

/// The two-bar pendulum of C-02.
pub fn pendulum(gravity: bool) -> Model {
    let mut family = Family::read(&reference("c02"), &["rod_b"]);
    if !gravity {
        family.gravity = 0.0;
    }
    family.model()
}

/// The pendulum at rest and without gravity, its lower rod moved away by `offset`.
pub fn torn_apart(scheme: Scheme, h: f64, offset: [f64; 2]) -> Simulation {
    let mut simulation = Simulation::new(pendulum(false), scheme, h).unwrap();
    let mut state = simulation.state().clone();
    let id = simulation.model().find_body("b").unwrap();
    let place = simulation.model().layout()[id.index()].q.start;
    state.q[place] += offset[0];
    state.q[place + 1] += offset[1];
    simulation.set_state(&state).unwrap();
    simulation
}

/// Φ between the rods, from the coordinates alone.
pub fn gap_between_rods(simulation: &Simulation) -> [f64; 2] {
    let (a, b) = (q(simulation, "a"), q(simulation, "b"));
    [(b[0] - 0.5 * b[2].cos()) - (a[0] + 0.5 * a[2].cos()), (b[1] - 0.5 * b[2].sin()) - (a[1] + 0.5 * a[2].sin())]
}

/// The largest |Φ̇| of all joints.
pub fn joint_rate(simulation: &Simulation) -> f64 {
    let at = simulation.configuration();
    let rates = simulation.model().joints().iter().flat_map(|joint| {
        let (a, b) = (at.twist(joint.a.0), at.twist(joint.b.0));
        joint.evaluate(at).map(|row| row.a.power(&a) + row.b.power(&b)).collect::<Vec<_>>()
    });
    rates.fold(0.0, |most: f64, rate| most.max(rate.abs()))
}

/// Φ(t)/Φ(0) of Φ'' + a Φ' + b Φ = 0 started at rest.
pub fn oscillator(a: f64, b: f64, t: f64) -> f64 {
    let (half, square) = (0.5 * a, 0.25 * a * a - b);
    if square == 0.0 {
        (1.0 + half * t) * (-half * t).exp()
    } else if square > 0.0 {
        let root = square.sqrt();
        (-half * t).exp() * ((root * t).cosh() + half / root * (root * t).sinh())
    } else {
        let root = (-square).sqrt();
        (-half * t).exp() * ((root * t).cos() + half / root * (root * t).sin())
    }
}

/// Critically damped, oscillating and creeping.
pub const COEFFICIENTS: [(f64, f64); 3] = [(20.0, 100.0), (10.0, 400.0), (50.0, 100.0)];

#[test]
fn baumgarte_error_follows_its_equation_with_first_order() {
    for (damping, stiffness) in COEFFICIENTS {
        let scheme = velocity_level(Stabilisation::Baumgarte { damping, stiffness });
        let deviation = |h: f64| {
            let mut simulation = torn_apart(scheme.clone(), h, [1e-6, 0.0]);
            let start = gap_between_rods(&simulation)[0];
            let mut worst = 0.0_f64;
            for _ in 0..(0.5 / h).round() as usize {
                let report = crate::support::step(&mut simulation);
                let expected = oscillator(damping, stiffness, report.time);
                worst = worst.max((gap_between_rods(&simulation)[0] / start - expected).abs());
            }
            worst
        };
        let [coarse, fine] = [1e-3, 5e-4].map(deviation);
        println!("a = {damping}, b = {stiffness}: {coarse:.3e} {fine:.3e}");
        let order = (coarse / fine).log2();
        assert!(fine < 0.02 && (order - 1.0).abs() < 0.1, "{coarse:.3e} {fine:.3e} at {damping}, {stiffness}");
    }
}

/// With geometry at the end of the step the differences hold as they stand, however large the error and the motion.
#[test]
fn baumgarte_with_geometry_of_the_end_is_its_recursion_to_rounding() {
    let (a, b, h) = (30.0, 300.0, 0.005);
    let mut scheme = velocity_level(Stabilisation::Baumgarte { damping: a, stiffness: b });
    scheme.linearise_at = LineariseAt::End;
    let mut simulation = torn_apart(scheme, h, [0.03, -0.02]);
    let mut phi = gap_between_rods(&simulation);
    let mut rate = [0.0; 2];
    for step in 0..200 {
        let _ = crate::support::step(&mut simulation);
        let now = gap_between_rods(&simulation);
        for k in 0..2 {
            rate[k] = (rate[k] - h * b * phi[k]) / (1.0 + a * h + b * h * h);
            phi[k] += h * rate[k];
            assert!((now[k] - phi[k]).abs() < 1e-12, "step {step}: {} against {}", now[k], phi[k]);
        }
    }
    assert!(phi[0].abs() < 1e-4);
}

/// The fraction 1 − e^(−αh) of every step makes e^(−αt), whatever the step.
#[test]
fn ascher_error_decays_at_its_rate_for_every_step() {
    for h in [0.02, 0.005, 0.001] {
        let rate = 12.0;
        let mut simulation = torn_apart(velocity_level(Stabilisation::Ascher { rate }), h, [1e-7, 2e-7]);
        let start = gap_between_rods(&simulation);
        for _ in 0..(0.4 / h).round() as usize {
            let report = crate::support::step(&mut simulation);
            assert!(report.correction.unwrap().rounds >= 1);
            let expected = (-rate * report.time).exp();
            for (now, start) in gap_between_rods(&simulation).into_iter().zip(start) {
                assert!((now / start - expected).abs() < 1e-6, "{} against {expected}, h = {h}", now / start);
            }
        }
    }
}

/// Largest joint errors in the first second and in the next, and the error of the upper angle after one.
fn drift(scheme: &Scheme, h: f64) -> [f64; 3] {
    let exact = reference("c02").table("derived.motion")[2]["theta_a"];
    let (mut worst, mut angle) = ([0.0_f64; 2], 0.0);
    run(pendulum(true), scheme.clone(), h, 2.0, |simulation, report| {
        let half = usize::from(report.time > 1.0 + 0.5 * h);
        worst[half] = worst[half].max(report.joint_error);
        if (report.time - 1.0).abs() < 0.5 * h {
            angle = (q(simulation, "a")[2] - exact).abs();
        }
    });
    [worst[0], worst[1], angle]
}

/// C-02 without the weights γ: remaining drift by each means, and unchanged convergence of the motion.
#[test]
fn c02_drift_by_every_means() {
    let baumgarte = Stabilisation::Baumgarte { damping: 200.0, stiffness: 1e4 };
    let means = [(Stabilisation::Usual, 3e-2), (baumgarte, 2e-4), (Stabilisation::Ascher { rate: 100.0 }, 1e-3)];
    let order = |coarse: f64, fine: f64| (coarse / fine).log2();
    for (stabilisation, bound) in means {
        let scheme = velocity_level(stabilisation);
        let [coarse, fine] = [0.0025, 0.00125].map(|h| drift(&scheme, h));
        println!("{stabilisation:?}: {coarse:?} {fine:?}");
        assert!(coarse[0] < bound && coarse[1] < bound, "{stabilisation:?}: {coarse:?}");
        assert!(order(coarse[0], fine[0]) > 0.85, "{stabilisation:?}: {coarse:?} {fine:?}");
        assert!((order(coarse[2], fine[2]) - 1.0).abs() < 0.1, "{stabilisation:?}: {coarse:?} {fine:?}");
    }
    for stabilisation in [
        Stabilisation::Projection(Manifold::Positions),
        Stabilisation::Projection(Manifold::Both),
        Stabilisation::Multiplier,
    ] {
        let scheme = velocity_level(stabilisation);
        let [coarse, fine] = [0.0025, 0.00125].map(|h| drift(&scheme, h));
        println!("{stabilisation:?}: {coarse:?} {fine:?}");
        assert!(coarse[0].max(coarse[1]) < 1e-12, "{stabilisation:?}: {coarse:?}");
        assert!((order(coarse[2], fine[2]) - 1.0).abs() < 0.1, "{stabilisation:?}: {coarse:?} {fine:?}");
    }
}

/// The reported energy of a projection is the actual one: the same step without it gives the energy before.
#[test]
fn projection_reports_its_residual_and_its_energy() {
    for manifold in [Manifold::Positions, Manifold::Velocities, Manifold::Both] {
        let h = 0.005;
        let mut plain = Simulation::new(pendulum(true), velocity_level(Stabilisation::Usual), h).unwrap();
        let scheme = velocity_level(Stabilisation::Projection(manifold));
        let mut projected = Simulation::new(pendulum(true), scheme, h).unwrap();
        let (mut changed, mut rounds) = (0.0_f64, 0);
        for _ in 0..200 {
            plain.set_state(projected.state()).unwrap();
            let without = crate::support::step(&mut plain);
            let report = crate::support::step(&mut projected);
            assert!(without.correction.is_none());
            let correction = report.correction.unwrap();
            assert!(correction.residual <= 1e-12 && correction.rounds <= 6, "{correction:?}");
            rounds = rounds.max(correction.rounds);
            if manifold.has_positions() {
                assert!(projected.infeasibility().unwrap().joints <= 1e-12);
            }
            if manifold.has_velocities() {
                assert!(joint_rate(&projected) <= 1e-12, "{}", joint_rate(&projected));
            }
            let energy = projected.energy().total() - plain.energy().total();
            assert!((energy - correction.energy).abs() < 1e-12, "{energy} against {correction:?}");
            if manifold == Manifold::Velocities {
                assert!(correction.energy < 1e-14, "a projection of velocities adds nothing: {correction:?}");
            }
            changed = changed.max(correction.energy.abs());
        }
        println!("{manifold:?}: {rounds} rounds at most, {changed:.2e} J at most");
        assert!(changed > 1e-6, "{manifold:?} had nothing to do");
    }
}

/// Two particles on a rod of length one: each moves in proportion to the other's mass.
#[test]
fn projection_is_weighted_by_mass() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, 0.0).unwrap();
    let light = builder.body(BodyBuilder::particle("light", 1.0)).unwrap();
    let heavy = builder.body(BodyBuilder::particle("heavy", 3.0).position(1.0, 0.0, 0.0)).unwrap();
    let at = |body: BodyId| (body, stiction::Pose::identity());
    builder.joint("rod", JointKind::Distance(1.0), at(light), at(heavy)).unwrap();
    let scheme = velocity_level(Stabilisation::Projection(Manifold::Positions));
    let mut simulation = Simulation::new(builder.build().unwrap(), scheme, 0.01).unwrap();
    let mut state = simulation.state().clone();
    state.q[3] = 1.04;
    simulation.set_state(&state).unwrap();
    let _ = crate::support::step(&mut simulation);
    assert!((q(&simulation, "light")[0] - 0.03).abs() < 1e-14, "{:?}", simulation.state().q);
    assert!((q(&simulation, "heavy")[0] - 1.03).abs() < 1e-14, "{:?}", simulation.state().q);
    assert!(simulation.state().v.iter().all(|v| *v == 0.0), "positions are moved, not thrown");
}
