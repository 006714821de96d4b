//! Helpers of cases: a floor, a friction rule, runs of a model, coordinates of a body.

use nalgebra::{Vector2, Vector3};
use stiction::{
    BodyBuilder, ContactRule, Dimension, Model, ModelBuilder, Preset, Scheme, Shape, Simulation, StepReport, planar,
    spatial,
};

use crate::CaseError;

/// A rule with this friction coefficient.
pub(crate) fn friction(mu: f64) -> ContactRule {
    ContactRule { friction: mu, ..ContactRule::default() }
}

/// The Stewart-Trinkle scheme with this weight of gaps and joint errors.
pub(crate) fn stewart_trinkle(gamma: f64) -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme().as_published();
    (scheme.gamma, scheme.joint_gamma) = (gamma, gamma);
    scheme
}

/// The floor: y ≤ 0 in the plane, z ≤ 0 in space.
pub(crate) fn ground(dimension: Dimension) -> Result<Shape, CaseError> {
    Ok(match dimension {
        Dimension::Planar => planar::Shape::half_plane(Vector2::y())?.into(),
        Dimension::Spatial => spatial::Shape::half_space(Vector3::z())?.into(),
    })
}

/// Bodies over a fixed floor called "floor", with one rule for all contacts.
pub(crate) fn on_floor(
    dimension: Dimension,
    bodies: impl IntoIterator<Item = BodyBuilder>,
    gravity: [f64; 3],
    rule: ContactRule,
) -> Result<Model, CaseError> {
    let mut builder = ModelBuilder::new(dimension);
    builder.gravity(gravity[0], gravity[1], gravity[2])?;
    builder.body(BodyBuilder::fixed("floor").shape(ground(dimension)?))?;
    for body in bodies {
        builder.body(body)?;
    }
    builder.default_contact(rule)?;
    Ok(builder.build()?)
}

/// Runs `model` to `duration`, calling `each` after every step.
pub(crate) fn run(
    model: Model,
    scheme: Scheme,
    h: f64,
    duration: f64,
    mut each: impl FnMut(&Simulation, &StepReport) -> Result<(), CaseError>,
) -> Result<Simulation, CaseError> {
    let mut simulation = Simulation::new(model, scheme, h)?;
    for _ in 0..steps(duration, h) {
        let report = simulation.step()?;
        each(&simulation, &report)?;
    }
    Ok(simulation)
}

/// Number of steps of `h` nearest to a duration.
pub(crate) fn steps(duration: f64, h: f64) -> usize {
    // Durations and steps of cases are positive; for other values the cast saturates.
    #[allow(clippy::cast_sign_loss)]
    let steps = (duration / h).round() as usize;
    steps
}

/// True if the step that ends at `time` is the one that ends nearest to `wanted`.
pub(crate) fn ends_at(time: f64, wanted: f64, h: f64) -> bool {
    (time - wanted).abs() < 0.5 * h
}

/// Larger of two numbers; NaN if one of them is NaN.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// Coordinates of a body: `let [x, y, angle] = q(simulation, "rod")?;` in the plane.
pub(crate) fn q<const N: usize>(simulation: &Simulation, name: &str) -> Result<[f64; N], CaseError> {
    let slot = slot(simulation, name)?;
    pick(simulation.state().q.get(slot.q.clone()), name)
}

/// Velocities of a body: `let [vx, vy, omega] = v(simulation, "rod")?;` in the plane.
pub(crate) fn v<const N: usize>(simulation: &Simulation, name: &str) -> Result<[f64; N], CaseError> {
    let slot = slot(simulation, name)?;
    pick(simulation.state().v.get(slot.v.clone()), name)
}

fn slot<'s>(simulation: &'s Simulation, name: &str) -> Result<&'s stiction::multibody::Slot, CaseError> {
    let model = simulation.model();
    let id = model.find_body(name).ok_or_else(|| CaseError::Absent(format!("body `{name}`")))?;
    model.layout().get(id.index()).ok_or_else(|| CaseError::Absent(format!("coordinates of `{name}`")))
}

fn pick<const N: usize>(numbers: Option<&[f64]>, name: &str) -> Result<[f64; N], CaseError> {
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| CaseError::Absent(format!("{N} coordinates of `{name}`")))
}
