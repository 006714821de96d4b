//! Shared helpers for tests of whole simulations: bodies over a floor, checked steps, access to single bodies.

use nalgebra::{Matrix3, Vector2, Vector3};
use stiction::{
    BodyBuilder, ContactRule, Dimension, Expression, Model, ModelBuilder, Scheme, Simulation, StepReport, planar,
    spatial,
};

/// Gravity, m/s².
pub const G: f64 = 9.81;

/// A half-plane y ≤ 0.
pub fn floor() -> stiction::Shape {
    planar::Shape::half_plane(Vector2::y()).unwrap().into()
}

/// A rule with this friction coefficient.
pub fn friction(mu: f64) -> ContactRule {
    ContactRule { friction: mu, ..ContactRule::default() }
}

/// A constant vector of expressions.
pub fn constant(x: f64, y: f64, z: f64) -> [Expression; 3] {
    [x, y, z].map(Expression::constant)
}

/// Gravity straight down.
pub fn down(dimension: Dimension) -> [f64; 3] {
    match dimension {
        Dimension::Planar => [0.0, -G, 0.0],
        Dimension::Spatial => [0.0, 0.0, -G],
    }
}

/// Bodies over a floor called "floor", at y = 0 in the plane and z = 0 in space.
pub fn on_floor(
    dimension: Dimension,
    bodies: impl IntoIterator<Item = BodyBuilder>,
    gravity: [f64; 3],
    rule: ContactRule,
) -> Model {
    let ground = match dimension {
        Dimension::Planar => floor(),
        Dimension::Spatial => spatial::Shape::half_space(Vector3::z()).unwrap().into(),
    };
    let floor = BodyBuilder::fixed("floor").shape(ground);
    world(dimension, std::iter::once(floor).chain(bodies), gravity, rule)
}

/// Bodies, gravity and one rule for all contacts.
pub fn world(
    dimension: Dimension,
    bodies: impl IntoIterator<Item = BodyBuilder>,
    gravity: [f64; 3],
    rule: ContactRule,
) -> Model {
    let mut builder = ModelBuilder::new(dimension);
    builder.gravity(gravity[0], gravity[1], gravity[2]).unwrap();
    for body in bodies {
        builder.body(body).unwrap();
    }
    builder.default_contact(rule).unwrap();
    builder.build().unwrap()
}

/// A box with the mass and inertia of a solid one.
pub fn solid_box(name: &str, mass: f64, half: [f64; 3]) -> BodyBuilder {
    let [a, b, c] = half.map(|half| half * half / 3.0 * mass);
    BodyBuilder::rigid(name, mass, Matrix3::from_diagonal(&Vector3::new(b + c, a + c, a + b)))
        .shape(spatial::Shape::cuboid(half).unwrap().into())
}

/// A ball with the mass and inertia of a solid one.
pub fn solid_ball(name: &str, mass: f64, radius: f64) -> BodyBuilder {
    BodyBuilder::rigid(name, mass, Matrix3::from_diagonal_element(0.4 * mass * radius * radius))
        .shape(spatial::Shape::sphere(radius).unwrap().into())
}

/// A rectangle in the plane with the mass and inertia of a solid one.
pub fn solid_rectangle(name: &str, mass: f64, half: [f64; 2]) -> BodyBuilder {
    let inertia = mass * (half[0] * half[0] + half[1] * half[1]) / 3.0;
    BodyBuilder::planar(name, mass, inertia).shape(planar::Shape::rectangle(half).unwrap().into())
}

/// One step, with what must hold in all of them: the problem is solved, and the energy is within its bound.
pub fn step(simulation: &mut Simulation) -> StepReport {
    let report = simulation.step().unwrap();
    assert!(report.residual.value < 1e-9, "residual {} at t = {}", report.residual.value, report.time);
    check_energy(simulation, &report);
    report
}

/// Residuals leave this fraction of the energies in a balance undecided.
const UNDECIDED: f64 = 1e-9;

/// [ENERGY-3] for the last step: ½ v⁺ᵀ M v⁺ is within its bound, and friction does no positive work.
fn check_energy(simulation: &Simulation, report: &StepReport) {
    let Some(account) = simulation.energy_bound() else { return };
    let size = account.before + account.after + account.forces.abs() + account.asked.abs() + account.lost;
    // Velocities are known to the residual, so the work of impulses on them is to their product.
    let contacts = simulation.contacts().iter().map(|contact| contact.normal_impulse + contact.friction_impulse.norm());
    let support_points = simulation.support_points().iter().map(|support_point| support_point.friction_impulse.norm());
    let joints = simulation.joint_impulses().iter().map(|p| p.abs());
    let joint_space = simulation.joint_space_impulses().map(|(_, p)| p.abs());
    let impulses: f64 = contacts.chain(support_points).chain(joints).chain(joint_space).sum();
    // The rate of a layer is a difference of deflections over the step, known to their rounding.
    let rounding = |contact: &stiction::ContactReport| {
        contact.layer.map_or(0.0, |layer| {
            let deflection = layer.compression.abs() + Vector3::from(layer.shear).norm();
            f64::EPSILON * deflection / simulation.last_step_size() * contact.normal_impulse
        })
    };
    let rounding: f64 = simulation.contacts().iter().map(rounding).sum();
    let undecided = UNDECIDED * size + (report.residual.value + f64::EPSILON) * impulses + 4.0 * rounding;
    let (excess, friction) = (account.after - account.bound(), account.friction());
    assert!(excess <= undecided, "{excess:e} J beyond the bound at t = {}: {account:?}", simulation.time());
    assert!(friction <= undecided, "friction did {friction:e} J at t = {}: {account:?}", simulation.time());
}

/// Takes a number of steps.
pub fn steps(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        let _ = step(simulation);
    }
}

/// Runs `model` to `duration`, calling `each` after every step.
pub fn run(
    model: Model,
    scheme: Scheme,
    h: f64,
    duration: f64,
    mut each: impl FnMut(&Simulation, &StepReport),
) -> Simulation {
    let mut simulation = Simulation::new(model, scheme, h).unwrap();
    for _ in 0..(duration / h).round() as usize {
        let report = step(&mut simulation);
        each(&simulation, &report);
    }
    simulation
}

/// Coordinates of a body.
pub fn q<'a>(simulation: &'a Simulation, name: &str) -> &'a [f64] {
    let id = simulation.model().find_body(name).unwrap();
    &simulation.state().q[simulation.model().layout()[id.index()].q.clone()]
}

/// Velocities of a body.
pub fn v<'a>(simulation: &'a Simulation, name: &str) -> &'a [f64] {
    let id = simulation.model().find_body(name).unwrap();
    &simulation.state().v[simulation.model().layout()[id.index()].v.clone()]
}
