//! `stiction check ROBOT --dynamics STATE`: mass matrix, bias forces, accelerations, poses and energies at one state.
//!
//! Numbers are in the order of the joints of the file; docs/robots.md gives the conventions.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stiction::scene::robot::{self, Dynamics, DynamicsError, JointKind, Robot};

use crate::{
    arguments::CheckOptions,
    failure::Failure,
    input,
    layout::{number, print_json, print_text},
};

/// Largest file of a state, bytes.
const MAX_STATE: u64 = 1 << 20;

/// A state as given; omitted parts are the reference pose and zero.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    q: Option<Vec<f64>>,
    v: Option<Vec<f64>>,
    tau: Option<Vec<f64>>,
}

/// Output of the command.
#[derive(Debug, Serialize)]
struct Answer {
    robot: String,
    /// Names of the coordinates and of the velocities.
    coordinates: Vec<String>,
    velocities: Vec<String>,
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    mass_matrix: Vec<Vec<f64>>,
    bias: Vec<f64>,
    acceleration: Vec<f64>,
    links: Vec<LinkRow>,
    energy: EnergyRow,
}

#[derive(Debug, Serialize)]
struct LinkRow {
    name: String,
    position: [f64; 3],
    /// Quaternion `[w, x, y, z]`.
    orientation: [f64; 4],
}

#[derive(Debug, Serialize)]
struct EnergyRow {
    kinetic: f64,
    potential: f64,
}

pub(super) fn run(options: &CheckOptions, state: &Path) -> Result<(), Failure> {
    if !robot::is_robot(&options.scene) {
        let message = format!("`--dynamics` is for robots, and {} is a scene", options.scene.display());
        return Err(Failure::input(message).with_help("robots have the ending .urdf, .xml or .mjcf"));
    }
    let robot = Robot::load(&options.scene, &options.robot.options().read)?;
    let notes: Vec<_> = robot.unsupported.iter().map(ToString::to_string).collect();
    input::list(&notes);
    let answer = answer(&robot, read(state)?)?;
    if options.json { print_json(&answer) } else { print_text(&text(&answer)) }
}

fn read(path: &Path) -> Result<State, Failure> {
    let wrong = |reason: String| Failure::input(format!("{}: {reason}", path.display()));
    let text = input::read_text(path, MAX_STATE)?;
    serde_json::from_str(&text).map_err(|error| {
        wrong(format!("is not a valid state: {error}"))
            .with_help("a state is {\"q\": [...], \"v\": [...], \"tau\": [...]}, all of them optional")
    })
}

fn answer(robot: &Robot, state: State) -> Result<Answer, Failure> {
    let tree = robot.tree().map_err(Failure::input)?;
    let still = vec![0.0; robot.dof()];
    let q = state.q.unwrap_or_else(|| tree.initial().to_vec());
    let (v, tau) = (state.v.unwrap_or_else(|| still.clone()), state.tau.unwrap_or(still));
    let dynamics = tree.dynamics(robot, &q, &v, &tau).map_err(|error| match error {
        DynamicsError::Singular { .. } => Failure::work(error.to_string()),
        _ => Failure::input(error),
    })?;
    let Dynamics { mass, bias, acceleration, poses, energy } = dynamics;
    let links = robot.links.iter().zip(&poses).map(|(link, pose)| {
        let e = stiction::multibody::rotation::from_matrix(pose.rotation.matrix());
        LinkRow { name: link.name.clone(), position: pose.translation.vector.into(), orientation: [e.w, e.i, e.j, e.k] }
    });
    Ok(Answer {
        robot: robot.name.clone(),
        coordinates: names(robot, coordinate_names),
        velocities: names(robot, velocity_names),
        mass_matrix: mass.row_iter().map(|row| row.iter().copied().collect()).collect(),
        links: links.collect(),
        energy: EnergyRow { kinetic: energy.kinetic, potential: energy.potential },
        q,
        v,
        tau,
        bias,
        acceleration,
    })
}

fn names(robot: &Robot, of: impl Fn(JointKind) -> &'static [&'static str]) -> Vec<String> {
    let each = robot.joints().flat_map(|(_, joint)| of(joint.kind).iter().map(|part| format!("{}{part}", joint.name)));
    each.collect()
}

fn coordinate_names(kind: JointKind) -> &'static [&'static str] {
    match kind {
        JointKind::Revolute | JointKind::Prismatic => &[""],
        JointKind::Planar => &[".x", ".y", ".angle"],
        JointKind::Ball => &[".qw", ".qx", ".qy", ".qz"],
        JointKind::Free => &[".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"],
    }
}

fn velocity_names(kind: JointKind) -> &'static [&'static str] {
    match kind {
        JointKind::Revolute | JointKind::Prismatic => &[""],
        JointKind::Planar => &[".vx", ".vy", ".wz"],
        JointKind::Ball => &[".wx", ".wy", ".wz"],
        JointKind::Free => &[".vx", ".vy", ".vz", ".wx", ".wy", ".wz"],
    }
}

fn text(answer: &Answer) -> String {
    let mut lines = vec![format!("{}: {} velocities", answer.robot, answer.velocities.len())];
    let width = answer.velocities.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(8);
    lines.push(format!("{:width$}  {:>12}  {:>12}  {:>12}", "velocity", "inertia", "bias", "acceleration"));
    for (k, name) in answer.velocities.iter().enumerate() {
        let diagonal = answer.mass_matrix.get(k).and_then(|row| row.get(k));
        let [inertia, bias, acceleration] = [diagonal, answer.bias.get(k), answer.acceleration.get(k)]
            .map(|x| x.map_or_else(String::new, |x| number(*x)));
        lines.push(format!("{name:width$}  {inertia:>12}  {bias:>12}  {acceleration:>12}"));
    }
    let EnergyRow { kinetic, potential } = answer.energy;
    lines.push(format!("energy: {} J kinetic, {} J potential", number(kinetic), number(potential)));
    lines.push(
        "inertia is the diagonal of the mass matrix; --json prints all of it, and the poses of the links".to_owned(),
    );
    lines.join("\n") + "\n"
}
