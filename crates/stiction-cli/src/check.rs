//! `stiction check`: read a scene and say what it contains.

use std::collections::BTreeMap;

use serde::Serialize;
use stiction::{
    BodyId, BodyKind, Dimension, Model, Preset, Simulation,
    geometry::{Scratch, contacts},
    multibody::may_collide,
    scene::{self, Scene},
};

use crate::{
    arguments::CheckOptions,
    failure::Failure,
    layout::{Sheet, columns, counted, number, print_json, print_text},
};

/// A gap up to this counts as touching, m.
const TOUCHING: f64 = 1e-9;

/// Overlaps and open joints beyond this deserve a warning, m.
const NOTICEABLE: f64 = 1e-9;

/// Pairs listed for people.
const PAIRS_SHOWN: usize = 12;

/// What a scene contains.
#[derive(Debug, Serialize)]
struct Contents {
    scene: String,
    dimension: u8,
    gravity: [f64; 3],
    duration: f64,
    step: f64,
    steps: u64,
    preset: &'static str,
    /// Presets that can simulate this scene.
    presets: Vec<&'static str>,
    solvers: Vec<&'static str>,
    bodies: Vec<BodyRow>,
    joints: Vec<JointRow>,
    loads: usize,
    springs: usize,
    dampers: usize,
    default_friction: f64,
    contact_rules: Vec<RuleRow>,
    unknowns: Unknowns,
    pairs: Vec<[String; 2]>,
    initial: Initial,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct BodyRow {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mass: Option<f64>,
    dof: usize,
    shapes: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct JointRow {
    name: String,
    kind: &'static str,
    between: [String; 2],
    freedom: usize,
    rows: usize,
    error: f64,
}

#[derive(Debug, Serialize)]
struct RuleRow {
    between: [String; 2],
    collide: bool,
    friction: f64,
}

#[derive(Debug, Serialize)]
struct Unknowns {
    velocities: usize,
    joint_rows: usize,
    coordinates: usize,
}

/// The state the simulation starts from.
#[derive(Debug, Serialize)]
struct Initial {
    kinetic: f64,
    potential: f64,
    touching: usize,
    penetration: f64,
    joint_error: f64,
}

pub(crate) fn run(options: &CheckOptions) -> Result<(), Failure> {
    let scene = scene::load_with(&options.scene, &options.set)?;
    let simulation = Simulation::from_scene(&scene).map_err(Failure::input)?;
    let contents = contents(&scene, &simulation)?;
    if options.json { print_json(&contents) } else { print_text(&text(&contents)) }
}

fn contents(scene: &Scene, simulation: &Simulation) -> Result<Contents, Failure> {
    let (model, settings) = (&*scene.model, &scene.settings);
    let (pairs, touching) = touching_pairs(model, simulation)?;
    let joints = joint_rows(model, simulation);
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
        presets: Preset::ALL.map(Preset::name).to_vec(),
        solvers: vec!["lemke"],
        bodies: model.bodies().iter().skip(1).map(body_row).collect(),
        warnings: warnings(&touching, &joints),
        joints,
        loads: model.loads().len(),
        springs: model.springs().len(),
        dampers: model.dampers().len(),
        default_friction: model.default_contact_rule().friction,
        contact_rules: rule_rows(model),
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

fn body_row(body: &stiction::multibody::Body) -> BodyRow {
    let kind = match &body.kind {
        BodyKind::Fixed => "fixed",
        BodyKind::Kinematic(_) => "kinematic",
        BodyKind::Dynamic { mobility, .. } if mobility.turns() => "rigid",
        BodyKind::Dynamic { .. } => "particle",
    };
    BodyRow {
        name: body.name.clone(),
        kind,
        mass: body.mass(),
        dof: body.mobility().map_or(0, stiction::multibody::Mobility::dof),
        shapes: body.shapes.iter().map(|on_body| on_body.shape.name()).collect(),
    }
}

fn joint_rows(model: &Model, simulation: &Simulation) -> Vec<JointRow> {
    let row = |joint: &stiction::multibody::Joint| JointRow {
        name: joint.name.clone(),
        kind: joint.kind.name(),
        between: [joint.a.0, joint.b.0].map(|id| name(model, id)),
        freedom: joint.kind.freedom(model.dimension()).unwrap_or(0),
        rows: joint.rows(),
        error: joint.evaluate(simulation.configuration()).fold(0.0, |worst: f64, row| worst.max(row.value.abs())),
    };
    model.joints().iter().map(row).collect()
}

fn rule_rows(model: &Model) -> Vec<RuleRow> {
    let row = |pair: &stiction::multibody::PairRule| RuleRow {
        between: [pair.bodies.0, pair.bodies.1].map(|id| name(model, id)),
        collide: pair.rule.collide,
        friction: pair.rule.friction,
    };
    model.pair_rules().iter().map(row).collect()
}

/// Contacts between two bodies at the start.
struct TouchingPair {
    bodies: [String; 2],
    points: usize,
    depth: f64,
}

/// All pairs of bodies that may collide, and those that touch already.
fn touching_pairs(model: &Model, simulation: &Simulation) -> Result<(Vec<[String; 2]>, Vec<TouchingPair>), Failure> {
    let shapes: Vec<_> = model.shapes().collect();
    let at = simulation.configuration();
    let (mut scratch, mut points) = (Scratch::default(), Vec::new());
    let mut pairs: BTreeMap<(BodyId, BodyId), TouchingPair> = BTreeMap::new();
    for (index, &(_, a, shape_a)) in shapes.iter().enumerate() {
        for &(_, b, shape_b) in shapes.iter().skip(index + 1).filter(|(_, b, _)| may_collide(model, a, *b)) {
            points.clear();
            let (pose_a, pose_b) = (at.pose(a) * shape_a.local, at.pose(b) * shape_b.local);
            contacts(&shape_a.shape, &pose_a, &shape_b.shape, &pose_b, TOUCHING, &mut scratch, &mut points)
                .map_err(Failure::input)?;
            let names = [a, b].map(|id| name(model, id));
            let pair = pairs.entry((a, b)).or_insert(TouchingPair { bodies: names, points: 0, depth: 0.0 });
            pair.points += points.iter().filter(|point| point.gap <= TOUCHING).count();
            pair.depth = points.iter().fold(pair.depth, |depth, point| depth.max(-point.gap));
        }
    }
    let names = pairs.values().map(|pair| pair.bodies.clone()).collect();
    Ok((names, pairs.into_values().filter(|pair| pair.points > 0).collect()))
}

fn warnings(touching: &[TouchingPair], joints: &[JointRow]) -> Vec<String> {
    let overlaps = touching.iter().filter(|pair| pair.depth > NOTICEABLE).map(|pair| {
        let [a, b] = &pair.bodies;
        format!("{a} and {b} overlap by {} m at the start", number(pair.depth))
    });
    let open = joints
        .iter()
        .filter(|joint| joint.error > NOTICEABLE)
        .map(|joint| format!("joint {} starts open by {}", joint.name, number(joint.error)));
    overlaps.chain(open).collect()
}

fn name(model: &Model, id: BodyId) -> String {
    model.body(id).map_or_else(String::new, |body| body.name.clone())
}

fn text(contents: &Contents) -> String {
    let mut sheet = Sheet::default();
    let world = if contents.dimension == 2 { "planar" } else { "spatial" };
    let run = format!("{} s in {} steps of {} s", number(contents.duration), contents.steps, contents.step);
    let Unknowns { velocities, joint_rows, .. } = contents.unknowns;
    sheet
        .row("scene", format!("{}, {world}", contents.scene))
        .row("simulation", run)
        .row("scheme", format!("{} (fitting: {})", contents.preset, contents.presets.join(", ")))
        .row("solver", contents.solvers.join(", "))
        .row("bodies", bodies(&contents.bodies));
    if !contents.joints.is_empty() {
        sheet.row("joints", joints(&contents.joints));
    }
    sheet
        .row("forces", forces(contents))
        .row("friction", friction(contents))
        .row("may collide", pairs(&contents.pairs))
        .row("unknowns", format!("{velocities} velocities and {joint_rows} joint rows, before contacts"))
        .row("at the start", initial(&contents.initial));
    for warning in &contents.warnings {
        sheet.row("warning", warning);
    }
    if contents.warnings.is_empty() {
        sheet.row("verdict", "ready to run");
    }
    sheet.text()
}

fn bodies(bodies: &[BodyRow]) -> String {
    let rows: Vec<_> = bodies
        .iter()
        .map(|body| {
            let mass = body.mass.map_or_else(|| "-".to_owned(), |mass| format!("{} kg", number(mass)));
            let shapes = if body.shapes.is_empty() { "no shape".to_owned() } else { body.shapes.join(", ") };
            vec![body.name.clone(), body.kind.to_owned(), mass, format!("{} dof", body.dof), shapes]
        })
        .collect();
    columns(&["name", "kind", "mass", "freedom", "shapes"], &rows)
}

fn joints(joints: &[JointRow]) -> String {
    let rows: Vec<_> = joints
        .iter()
        .map(|joint| {
            let freedom = format!("{} dof", joint.freedom);
            vec![joint.name.clone(), joint.kind.to_owned(), joint.between.join(" - "), freedom]
        })
        .collect();
    columns(&["name", "kind", "between", "leaves free"], &rows)
}

fn forces(contents: &Contents) -> String {
    let gravity = contents.gravity.map(number);
    let shown = gravity.get(..usize::from(contents.dimension)).unwrap_or(&gravity);
    let mut parts = vec![format!("gravity [{}] m/s²", shown.join(", "))];
    for (n, one, many) in [
        (contents.loads, "load", "loads"),
        (contents.springs, "spring", "springs"),
        (contents.dampers, "damper", "dampers"),
    ] {
        if n > 0 {
            parts.push(counted(n, one, many));
        }
    }
    parts.join(", ")
}

fn friction(contents: &Contents) -> String {
    let rule = |rule: &RuleRow| {
        let what = if rule.collide { number(rule.friction) } else { "do not collide".to_owned() };
        format!("{}: {what}", rule.between.join(" - "))
    };
    let rules = contents.contact_rules.iter().take(PAIRS_SHOWN).map(rule);
    let default = format!("{} unless a rule says otherwise", number(contents.default_friction));
    std::iter::once(default).chain(rules).collect::<Vec<_>>().join("\n")
}

fn pairs(pairs: &[[String; 2]]) -> String {
    let shown: Vec<_> = pairs.iter().take(PAIRS_SHOWN).map(|pair| pair.join(" - ")).collect();
    match pairs.len() {
        0 => "nothing with anything".to_owned(),
        n if n > PAIRS_SHOWN => format!("{}\n… and {} more pairs", shown.join("\n"), n - PAIRS_SHOWN),
        _ => shown.join("\n"),
    }
}

fn initial(initial: &Initial) -> String {
    format!(
        "energy {} J kinetic, {} J potential; {}; joint error {}",
        number(initial.kinetic),
        number(initial.potential),
        counted(initial.touching, "contact", "contacts"),
        number(initial.joint_error),
    )
}
