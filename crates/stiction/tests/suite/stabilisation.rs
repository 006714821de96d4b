//! STB-1 to STB-6: how errors in joints and gaps decay, by each of the ways to make them.

use nalgebra::Vector2;
use stiction::{
    BodyBuilder, ContactRule, Dimension, LineariseAt, Manifold, Model, ModelBuilder, Preset, Scheme, Simulation,
    Stabilisation, StepReport, planar,
};
use stiction_testkit::reference;

use crate::family::{Family, floor, friction, q, run, v};

fn velocity_level() -> Scheme {
    Preset::AnitescuPotra.scheme()
}

fn with(mut scheme: Scheme, stabilisation: Stabilisation) -> Scheme {
    scheme.stabilisation = stabilisation;
    scheme
}

/// The two-bar pendulum of C-02.
fn pendulum() -> Model {
    Family::read(&reference("c02"), &["rod_b"]).model()
}

/// The pendulum with its lower rod moved away by `offset`, and everything at rest.
fn torn_apart(scheme: Scheme, h: f64, offset: [f64; 2]) -> Simulation {
    let mut simulation = Simulation::new(pendulum(), scheme, h).unwrap();
    let mut state = simulation.state().clone();
    let id = simulation.model().find_body("b").unwrap();
    let place = simulation.model().layout()[id.index()].q.start;
    state.q[place] += offset[0];
    state.q[place + 1] += offset[1];
    simulation.set_state(&state).unwrap();
    simulation
}

/// The joint error between the rods along x.
fn error(simulation: &Simulation) -> f64 {
    let (a, b) = (q(simulation, "a"), q(simulation, "b"));
    (b[0] - 0.5 * b[2].cos()) - (a[0] + 0.5 * a[2].cos())
}

/// Largest joint error over one second, and the error of the upper angle at its end.
fn drift(scheme: &Scheme, h: f64) -> [f64; 2] {
    let exact = reference("c02").table("derived.motion")[2]["theta_a"];
    let mut worst = 0.0_f64;
    let end = run(pendulum(), scheme.clone(), h, 1.0, |_, report| worst = worst.max(report.joint_error));
    [worst, (q(&end, "a")[2] - exact).abs()]
}

/// What decides the error of Φ'' + a Φ' + b Φ = 0 started at rest: two exponentials.
fn oscillator(a: f64, b: f64, t: f64) -> f64 {
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

const COEFFICIENTS: [(f64, f64); 3] = [(20.0, 100.0), (10.0, 400.0), (50.0, 100.0)];

#[test]
fn baumgarte_error_follows_its_equation_with_first_order() {
    for (damping, stiffness) in COEFFICIENTS {
        let scheme = with(velocity_level(), Stabilisation::Baumgarte { damping, stiffness });
        let deviation = |h: f64| {
            let mut simulation = torn_apart(scheme.clone(), h, [1e-6, 0.0]);
            let start = error(&simulation);
            let mut worst = 0.0_f64;
            // A short time: the pendulum itself has hardly moved and adds nothing of the size of the error.
            for _ in 0..(0.05 / h).round() as usize {
                let report = simulation.step().unwrap();
                let expected = start * oscillator(damping, stiffness, report.time);
                worst = worst.max((error(&simulation) - expected).abs() / start);
            }
            worst
        };
        let [coarse, fine] = [1e-4, 5e-5].map(deviation);
        eprintln!("baumgarte {damping} {stiffness}: {coarse:.3e} {fine:.3e}");
    }
}

#[test]
fn drifts() {
    let options = [
        ("none", Stabilisation::Usual),
        ("baumgarte", Stabilisation::Baumgarte { damping: 200.0, stiffness: 1e4 }),
        ("ascher", Stabilisation::Ascher { rate: 100.0 }),
        ("positions", Stabilisation::Projection(Manifold::Positions)),
        ("velocities", Stabilisation::Projection(Manifold::Velocities)),
        ("both", Stabilisation::Projection(Manifold::Both)),
        ("multiplier", Stabilisation::Multiplier),
    ];
    for (name, stabilisation) in options {
        let scheme = with(velocity_level(), stabilisation);
        let rows = [0.01, 0.005, 0.0025, 0.00125].map(|h| drift(&scheme, h));
        eprintln!("{name}: {rows:.8?}");
    }
    let mut scheme = with(velocity_level(), Stabilisation::Baumgarte { damping: 200.0, stiffness: 1e4 });
    scheme.linearise_at = LineariseAt::End;
    eprintln!("baumgarte end: {:.8?}", [0.01, 0.005, 0.0025].map(|h| drift(&scheme, h)));
}
