//! One motion in maximal coordinates, in reduced ones and by divide and conquer.

mod double_pendulum;
mod drives;
mod robots;
mod scenes;
mod speed;
mod trees;

use stiction::{Coordinates, Model, Scene, Scheme, Simulation, scene};

/// The coordinates without joint constraints.
const OF_TREES: [Coordinates; 2] = [Coordinates::Reduced, Coordinates::DivideAndConquer];

fn load(name: &str) -> Scene {
    scene::load(format!("{}/../../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The largest error of any joint, tree joints too.
fn joint_error(simulation: &Simulation) -> f64 {
    let joints = simulation.model().joints().iter();
    let errors = joints.flat_map(|joint| joint.evaluate(simulation.configuration()).map(|row| row.value.abs()));
    errors.fold(0.0, f64::max)
}

/// A run in some coordinates: where it ends, and the largest joint error on the way.
fn run(
    model: &Model,
    scheme: &Scheme,
    coordinates: Coordinates,
    (h, duration): (f64, f64),
) -> Result<(Simulation, f64), stiction::BuildError> {
    let mut scheme = scheme.clone();
    scheme.coordinates = coordinates;
    let mut simulation = Simulation::new(model.clone(), scheme, h)?;
    let mut worst = joint_error(&simulation);
    for _ in 0..(duration / h).round() as usize {
        let report = simulation.step().unwrap();
        assert!(report.residual.value < 1e-8, "{coordinates:?}: {report:?}");
        worst = worst.max(joint_error(&simulation));
    }
    Ok((simulation, worst))
}

fn distance(a: &Simulation, b: &Simulation) -> f64 {
    let pairs = a.state().q.iter().zip(&b.state().q).chain(a.state().v.iter().zip(&b.state().v));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Largest distance between positions.
fn apart(a: &Simulation, b: &Simulation) -> f64 {
    a.state().q.iter().zip(&b.state().q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Differences to maximal coordinates at three step sizes; joints hold to rounding on the way.
fn differences(name: &str, model: &Model, scheme: &Scheme, (h, duration): (f64, f64), of: Coordinates) -> [f64; 3] {
    [h, h / 2.0, h / 4.0].map(|h| {
        let (maximal, _) = run(model, scheme, Coordinates::Maximal, (h, duration)).unwrap();
        let (other, error) = run(model, scheme, of, (h, duration)).unwrap();
        assert!(error <= 1e-12, "{name}: joint error {error:e} in {of:?}");
        apart(&maximal, &other)
    })
}

/// Differences that fall with the step at first order or faster, or are rounding.
fn assert_first_order(name: &str, [coarse, middle, fine]: [f64; 3]) {
    let falls = |a: f64, b: f64| b < 1e-9 || a / b > 1.6;
    assert!(falls(coarse, middle) && falls(middle, fine), "{name}: {coarse:.3e} {middle:.3e} {fine:.3e}");
}
