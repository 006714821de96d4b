//! `stiction check`: reads a scene and prints its contents.

mod actuators;
mod dynamics;
mod sheet;
mod surfaces;
mod warnings;

use std::collections::BTreeMap;

use serde::Serialize;
use stiction::{
    BodyId, BodyKind, ClosingSpeed, Configuration, Dimension, Expression, LineariseAt, Load, Margin, Method, Model,
    Preset, Scheme, Simulation, Stabilisation,
    compare::scheme_of,
    geometry::{Scratch, contacts},
    multibody::{ExpressionMotion, may_collide},
    record::EVENT_DRIVEN,
    scene::{self, Scene},
    stepping::stages::ignores_first_direction,
};

use crate::{
    arguments::{CheckOptions, RunSolver},
    failure::Failure,
    input,
    layout::{print_json, print_text},
};
use actuators::{CouplingRow, MotorRow};
use surfaces::{LayerRow, SupportRow};

/// Largest gap that counts as touching, m.
const TOUCHING: f64 = 1e-9;

/// Contents of a scene.
#[derive(Debug, Serialize)]
struct Contents {
    scene: String,
    dimension: u8,
    gravity: [f64; 3],
    duration: f64,
    step: f64,
    steps: u64,
    preset: &'static str,
    /// Presets that support this scene.
    presets: Vec<&'static str>,
    scheme: SchemeRow,
    solvers: Vec<&'static str>,
    bodies: Vec<BodyRow>,
    joints: Vec<JointRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    motors: Vec<MotorRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    couplings: Vec<CouplingRow>,
    #[serde(flatten)]
    forces: Forces,
    #[serde(flatten)]
    default_rule: DefaultRule,
    contact_rules: Vec<RuleRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    supports: Vec<SupportRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<LayerRow>,
    unknowns: Unknowns,
    pairs: Vec<[String; 2]>,
    initial: Initial,
    warnings: Vec<String>,
    /// Ignored elements of the files of a robot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Loads, and the numbers of springs and dampers.
#[derive(Debug, Serialize)]
struct Forces {
    loads: Vec<LoadRow>,
    springs: usize,
    dampers: usize,
}

#[derive(Debug, Serialize)]
struct BodyRow {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mass: Option<f64>,
    dof: usize,
    shapes: Vec<&'static str>,
    /// Velocity of a conveyor surface.
    #[serde(skip_serializing_if = "Option::is_none")]
    conveyor: Option<Vec<String>>,
    /// Coordinates of a kinematic body as functions of t.
    #[serde(skip_serializing_if = "Option::is_none")]
    motion: Option<BTreeMap<&'static str, String>>,
}

/// Options of the scheme, named as in a scene file.
#[derive(Debug, Serialize)]
struct SchemeRow {
    gamma: f64,
    joint_gamma: f64,
    /// Largest speeds at which open joints close, m/s and rad/s, and overlaps open, m/s; none without a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    joint_closing_speed: Option<[f64; 3]>,
    directions: u32,
    /// Margin in metres, or "auto".
    margin: String,
    jacobians: &'static str,
    coordinates: &'static str,
    protective_layer: f64,
    position_update: &'static str,
    order: u32,
    substeps: u32,
    velocity_terms: &'static str,
    impulse_points: &'static str,
    locate_contacts: bool,
    steps_per_period: u32,
    friction: &'static str,
    impact: &'static str,
    stabilisation: String,
    halve_steps: u32,
}

#[derive(Debug, Serialize)]
struct LoadRow {
    body: String,
    force: Vec<String>,
    torque: Vec<String>,
}

#[derive(Debug, Serialize)]
struct JointRow {
    name: String,
    kind: &'static str,
    between: [String; 2],
    joint_dof: usize,
    rows: usize,
    error: f64,
}

/// Coefficient of friction, lever of torsional friction (m) and coefficient of rolling friction (m) of pairs without a rule.
#[derive(Debug, Serialize)]
struct DefaultRule {
    #[serde(rename = "default_friction")]
    friction: f64,
    #[serde(rename = "default_torsion")]
    torsion: f64,
    #[serde(rename = "default_rolling")]
    rolling: f64,
}

#[derive(Debug, Serialize)]
struct RuleRow {
    between: [String; 2],
    collide: bool,
    friction: f64,
    torsion: f64,
    rolling: f64,
}

#[derive(Debug, Serialize)]
struct Unknowns {
    velocities: usize,
    joint_rows: usize,
    coordinates: usize,
}

/// Initial state of the simulation.
#[derive(Debug, Serialize)]
struct Initial {
    kinetic: f64,
    potential: f64,
    touching: usize,
    penetration: f64,
    joint_error: f64,
}

pub(crate) fn run(options: &CheckOptions) -> Result<(), Failure> {
    if let Some(state) = &options.dynamics {
        return dynamics::run(options, state);
    }
    let scene = input::load(&options.scene, &options.set, &options.robot, |error| error)?;
    let read_with = (options.scene.as_path(), &options.set[..], &options.robot);
    let simulation = input::simulation(&scene, read_with, |error| error)?;
    let robot = options.robot.options();
    let read = |changes: &[(String, String)]| scene::load_robot_with(&options.scene, changes, &robot);
    let fitting = Preset::ALL.into_iter().filter(|preset| scheme_of(*preset, &options.set, read).is_ok());
    let contents = contents(&scene, &simulation, fitting.map(Preset::name).collect())?;
    if options.json { print_json(&contents) } else { print_text(&sheet::text(&contents)) }
}

fn contents(scene: &Scene, simulation: &Simulation, presets: Vec<&'static str>) -> Result<Contents, Failure> {
    let (model, settings) = (&*scene.model, &scene.settings);
    let (pairs, touching) = touching_pairs(model, simulation)?;
    let joints = joint_rows(model, simulation.configuration());
    let deepest = touching.iter().fold(0.0, |deepest: f64, pair| deepest.max(pair.depth));
    let joint_error = joints.iter().fold(0.0, |worst: f64, joint| worst.max(joint.error));
    let energy = simulation.energy();
    Ok(Contents {
        scene: scene.name.clone(),
        dimension: if model.dimension() == Dimension::Planar { 2 } else { 3 },
        gravity: model.gravity().into(),
        duration: settings.duration,
        step: settings.step,
        steps: settings.steps(),
        preset: settings.preset.name(),
        presets,
        scheme: scheme_row(&settings.scheme),
        solvers: solvers(&settings.scheme),
        bodies: model.bodies().iter().skip(1).map(|body| body_row(scene, body)).collect(),
        warnings: warnings::of(simulation, &touching, &joints),
        notes: scene.notes.clone(),
        joints,
        motors: actuators::motor_rows(model),
        couplings: actuators::coupling_rows(model),
        forces: Forces { loads: load_rows(model), springs: model.springs().len(), dampers: model.dampers().len() },
        default_rule: DefaultRule {
            friction: model.default_contact_rule().friction,
            torsion: model.default_contact_rule().torsion,
            rolling: model.default_contact_rule().rolling,
        },
        contact_rules: rule_rows(model),
        supports: surfaces::support_rows(model),
        layers: surfaces::layer_rows(model),
        unknowns: Unknowns {
            velocities: model.dof(),
            joint_rows: model.joint_rows(),
            coordinates: model.coordinates(),
        },
        pairs,
        initial: Initial {
            kinetic: energy.kinetic,
            potential: energy.potential,
            touching: touching.iter().map(|pair| pair.points).sum(),
            penetration: deepest,
            joint_error,
        },
    })
}

fn solvers(scheme: &Scheme) -> Vec<&'static str> {
    if scheme.method == Method::Reference {
        return vec![EVENT_DRIVEN];
    }
    RunSolver::fitting(scheme.friction).iter().map(|solver| solver.name()).collect()
}

fn scheme_row(scheme: &Scheme) -> SchemeRow {
    SchemeRow {
        gamma: scheme.gamma,
        joint_gamma: scheme.joint_gamma,
        joint_closing_speed: (scheme.joint_closing_speed != ClosingSpeed::UNBOUNDED).then_some([
            scheme.joint_closing_speed.linear,
            scheme.joint_closing_speed.angular,
            scheme.joint_closing_speed.overlap,
        ]),
        directions: scheme.directions,
        margin: match scheme.margin {
            Margin::Automatic => "auto".to_owned(),
            Margin::Fixed(distance) => distance.to_string(),
        },
        jacobians: match scheme.linearise_at {
            LineariseAt::Start => "start",
            LineariseAt::Predicted => "predicted",
            LineariseAt::End => "end",
            LineariseAt::Implicit => "implicit",
        },
        coordinates: scheme.coordinates.name(),
        protective_layer: scheme.protective_layer,
        position_update: scheme.position_update.name(),
        order: scheme.order.number(),
        substeps: scheme.substeps.count,
        velocity_terms: scheme.velocity_terms.name(),
        impulse_points: scheme.impulse_points.name(),
        locate_contacts: scheme.substeps.locate_contacts,
        steps_per_period: scheme.substeps.steps_per_period,
        friction: scheme.friction.name(),
        impact: scheme.impact.name(),
        stabilisation: match scheme.stabilisation {
            Stabilisation::Baumgarte { damping, stiffness } => {
                format!("baumgarte with damping {damping} and stiffness {stiffness}")
            }
            Stabilisation::Ascher { rate } => format!("ascher with rate {rate}"),
            Stabilisation::Projection(manifold) => format!("projection of {}", manifold.name()),
            other => other.name().to_owned(),
        },
        halve_steps: scheme.solving.halve_steps,
    }
}

/// Components as in the file; two in the plane.
fn components(model: &Model, vector: &[Expression; 3]) -> Vec<String> {
    let axes = if model.dimension() == Dimension::Planar { 2 } else { 3 };
    vector.iter().take(axes).map(shown).collect()
}

fn shown(f: &Expression) -> String {
    f.as_constant().map_or_else(|| f.to_string(), |x| x.to_string())
}

/// Functions of the coordinates that move, by name.
fn motion_row(model: &Model, motion: &ExpressionMotion) -> BTreeMap<&'static str, String> {
    let mut row: BTreeMap<_, _> = ["x", "y", "z"].into_iter().zip(components(model, &motion.position)).collect();
    row.insert("angle", shown(&motion.angle));
    row
}

fn load_rows(model: &Model) -> Vec<LoadRow> {
    let row = |load: &Load| LoadRow {
        body: name(model, load.body),
        force: components(model, &load.force),
        torque: match (model.dimension(), &load.torque) {
            (Dimension::Planar, [_, _, z]) => vec![shown(z)],
            (Dimension::Spatial, torque) => components(model, torque),
        },
    };
    model.loads().iter().map(row).collect()
}

fn body_row(scene: &Scene, body: &stiction::multibody::Body) -> BodyRow {
    let kind = match &body.kind {
        BodyKind::Fixed => "fixed",
        BodyKind::Kinematic(_) => "kinematic",
        BodyKind::Dynamic { mass: 0.0, .. } => "frame",
        BodyKind::Dynamic { mobility, .. } if mobility.turns() => "rigid",
        BodyKind::Dynamic { .. } => "particle",
    };
    BodyRow {
        name: body.name.clone(),
        kind,
        mass: body.mass(),
        dof: body.mobility().map_or(0, stiction::multibody::Mobility::dof),
        shapes: body.shapes.iter().map(|on_body| on_body.shape.name()).collect(),
        conveyor: body.surface_velocity.as_ref().map(|velocity| components(&scene.model, velocity)),
        motion: scene.motions.get(&body.name).map(|motion| motion_row(&scene.model, motion)),
    }
}

fn joint_rows(model: &Model, at: &Configuration) -> Vec<JointRow> {
    let row = |joint: &stiction::multibody::Joint| JointRow {
        name: joint.name.clone(),
        kind: joint.kind.name(),
        between: [joint.a.0, joint.b.0].map(|id| name(model, id)),
        joint_dof: joint.kind.joint_dof(model.dimension()).unwrap_or(0),
        rows: joint.rows(),
        error: joint.evaluate(at).fold(0.0, |worst: f64, row| worst.max(row.value.abs())),
    };
    model.joints().iter().map(row).collect()
}

fn rule_rows(model: &Model) -> Vec<RuleRow> {
    let row = |pair: &stiction::multibody::PairRule| RuleRow {
        between: [pair.bodies.0, pair.bodies.1].map(|id| name(model, id)),
        collide: pair.rule.collide,
        friction: pair.rule.friction,
        torsion: pair.rule.torsion,
        rolling: pair.rule.rolling,
    };
    model.pair_rules().iter().map(row).collect()
}

/// Contacts between two bodies in the initial state.
struct TouchingPair {
    bodies: [String; 2],
    points: usize,
    depth: f64,
    /// True if the first friction direction of the pair is along the normal of a contact.
    ignores_direction: bool,
}

/// All pairs of bodies that may collide, and those that touch initially.
fn touching_pairs(model: &Model, simulation: &Simulation) -> Result<(Vec<[String; 2]>, Vec<TouchingPair>), Failure> {
    let at = simulation.configuration();
    let placed = model.shapes().map(|(id, body, shape)| {
        let pose = at.pose(body) * shape.local;
        (id, body, shape, pose, shape.shape.extent(&pose).map(|extent| extent.padded(TOUCHING)))
    });
    let shapes: Vec<_> = placed.collect();
    let (mut scratch, mut points) = (Scratch::default(), Vec::new());
    let mut pairs: BTreeMap<(BodyId, BodyId), TouchingPair> = BTreeMap::new();
    for (index, (_, a, shape_a, pose_a, extent_a)) in shapes.iter().enumerate() {
        let a = *a;
        for (_, b, shape_b, pose_b, extent_b) in shapes.iter().skip(index + 1) {
            let b = *b;
            if !may_collide(model, a, b) || !shape_a.filter.meets(&shape_b.filter) {
                continue;
            }
            let pair = pairs.entry((a, b)).or_insert_with(|| TouchingPair {
                bodies: [a, b].map(|id| name(model, id)),
                points: 0,
                depth: 0.0,
                ignores_direction: false,
            });
            if extent_a.zip(*extent_b).is_some_and(|(a, b)| !a.overlaps(&b)) {
                continue;
            }
            points.clear();
            contacts(&shape_a.shape, pose_a, &shape_b.shape, pose_b, TOUCHING, &mut scratch, &mut points)
                .map_err(Failure::input)?;
            let touching = || points.iter().filter(|point| point.gap <= TOUCHING);
            pair.points += touching().count();
            let rule = model.contact_rule(a, b);
            pair.ignores_direction |=
                rule.friction > 0.0 && touching().any(|point| ignores_first_direction(&point.normal, rule, at));
            pair.depth = points.iter().fold(pair.depth, |depth, point| depth.max(-point.gap));
        }
    }
    let names = pairs.values().map(|pair| pair.bodies.clone()).collect();
    Ok((names, pairs.into_values().filter(|pair| pair.points > 0).collect()))
}

fn name(model: &Model, id: BodyId) -> String {
    model.body(id).map_or_else(String::new, |body| body.name.clone())
}
