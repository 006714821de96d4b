//! Table of the contents of a scene.

use super::{
    BodyRow, Contents, CouplingRow, DefaultRule, Initial, JointRow, LayerRow, LoadRow, MotorRow, RuleRow, SchemeRow,
    SupportRow, Unknowns,
};
use stiction::ClosingSpeed;

use crate::layout::{Sheet, columns, counted, number};

/// Largest number of pairs in the table.
const PAIRS_SHOWN: usize = 12;

pub(super) fn text(contents: &Contents) -> String {
    let mut sheet = Sheet::default();
    let world = if contents.dimension == 2 { "planar" } else { "spatial" };
    let run = format!("{} s in {} steps of {} s", number(contents.duration), contents.steps, contents.step);
    let Unknowns { velocities, joint_rows, .. } = contents.unknowns;
    sheet
        .row("scene", format!("{}, {world}", contents.scene))
        .row("simulation", run)
        .row("scheme", format!("{} (fitting: {})\n{}", contents.preset, contents.presets.join(", "), scheme(contents)))
        .row("solver", contents.solvers.join(", "))
        .row("bodies", bodies(&contents.bodies));
    let moved = motions(&contents.bodies);
    if !moved.is_empty() {
        sheet.row("motions", moved);
    }
    if !contents.joints.is_empty() {
        sheet.row("joints", joints(&contents.joints));
    }
    if !contents.motors.is_empty() {
        sheet.row("motors", motors(&contents.motors));
    }
    if !contents.couplings.is_empty() {
        sheet.row("couplings", couplings(&contents.couplings));
    }
    sheet.row("forces", forces(contents)).row("friction", friction(contents));
    if !contents.supports.is_empty() {
        sheet.row("supports", supports(&contents.supports));
    }
    if !contents.layers.is_empty() {
        sheet.row("layers", layers(&contents.layers));
    }
    sheet
        .row("may collide", pairs(&contents.pairs))
        .row("unknowns", format!("{velocities} velocities and {joint_rows} joint rows, before contacts"))
        .row("at the start", initial(&contents.initial));
    for warning in &contents.warnings {
        sheet.row("warning", warning);
    }
    if contents.warnings.is_empty() {
        sheet.row("result", "ready to run");
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
    columns(&["name", "kind", "mass", "dof", "shapes"], &rows)
}

fn scheme(contents: &Contents) -> String {
    let row = &contents.scheme;
    let SchemeRow { gamma, joint_gamma, directions, margin, jacobians, friction, impact, .. } = row;
    let directions = if contents.dimension == 2 && contents.supports.is_empty() { &2 } else { directions };
    let friction = match *friction {
        "polygon" => format!("polygon with {directions} directions"),
        other => other.to_owned(),
    };
    let mut parts = vec![format!(
        "gamma {gamma}, joint_gamma {joint_gamma}, friction {friction}, impact {impact}, margin {margin}, jacobians {jacobians}"
    )];
    parts.extend((row.coordinates != "maximal").then(|| format!("coordinates {}", row.coordinates)));
    parts.extend((row.protective_layer > 0.0).then(|| format!("protective_layer {}", row.protective_layer)));
    parts.extend((row.position_update != "end").then(|| format!("position_update {}", row.position_update)));
    parts.extend((row.order != 1).then(|| format!("order {}", row.order)));
    parts.extend((row.substeps > 1).then(|| format!("substeps {}", row.substeps)));
    parts.extend((row.velocity_terms != "conserving").then(|| format!("velocity_terms {}", row.velocity_terms)));
    parts.extend((row.impulse_points != "common").then(|| format!("impulse_points {}", row.impulse_points)));
    let usual = ClosingSpeed::default();
    parts.extend((row.joint_closing_speed != Some([usual.linear, usual.angular, usual.overlap])).then(|| {
        let shown = |[linear, angular, overlap]: [f64; 3]| {
            format!("{} m/s and {} rad/s, overlaps {} m/s", number(linear), number(angular), number(overlap))
        };
        format!("joint_closing_speed {}", row.joint_closing_speed.map_or_else(|| "unbounded".to_owned(), shown))
    }));

    parts.extend(row.locate_contacts.then(|| "locate_contacts".to_owned()));
    parts.extend((row.steps_per_period > 0).then(|| format!("steps_per_period {}", row.steps_per_period)));
    parts.extend((row.stabilisation != "usual").then(|| format!("stabilisation {}", row.stabilisation)));
    let usual = stiction::Scheme::default().solving.halve_steps;
    parts.extend((row.halve_steps != usual).then(|| format!("halve_steps {}", row.halve_steps)));
    parts.join(", ")
}

/// Prescribed motions: kinematic bodies and conveyor surfaces.
fn motions(bodies: &[BodyRow]) -> String {
    let prescribed = bodies.iter().filter_map(|body| {
        let coordinates: Vec<_> = body.motion.as_ref()?.iter().map(|(name, f)| format!("{name} = {f}")).collect();
        Some(format!("{}: {}", body.name, coordinates.join(", ")))
    });
    let running = bodies.iter().filter_map(|body| {
        Some(format!("{}: surface moves at [{}] m/s", body.name, body.conveyor.as_ref()?.join(", ")))
    });
    prescribed.chain(running).collect::<Vec<_>>().join("\n")
}

fn joints(joints: &[JointRow]) -> String {
    let rows: Vec<_> = joints
        .iter()
        .map(|joint| {
            let joint_dof = format!("{} dof", joint.joint_dof);
            vec![joint.name.clone(), joint.kind.to_owned(), joint.between.join(" - "), joint_dof]
        })
        .collect();
    columns(&["name", "kind", "between", "leaves free"], &rows)
}

fn motors(motors: &[MotorRow]) -> String {
    let row =
        |motor: &MotorRow| vec![motor.name.clone(), motor.joint.clone(), motor.control.clone(), number(motor.gear)];
    columns(&["name", "joint", "control", "gear"], &motors.iter().map(row).collect::<Vec<_>>())
}

fn couplings(couplings: &[CouplingRow]) -> String {
    let line = |coupling: &CouplingRow| {
        let terms = coupling.polynomial.iter().enumerate().filter(|(power, c)| **c != 0.0 || *power == 0);
        let leader = coupling.leader.as_deref().unwrap_or_default();
        let term = |(power, c): (usize, &f64)| match power {
            0 => number(*c),
            1 => format!("{} · {leader}", number(*c)),
            _ => format!("{} · {leader}^{power}", number(*c)),
        };
        format!("{} = {}", coupling.follower, terms.map(term).collect::<Vec<_>>().join(" + "))
    };
    couplings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn forces(contents: &Contents) -> String {
    let gravity = contents.gravity.map(number);
    let pressing = contents.gravity.last().is_some_and(|g| *g != 0.0);
    let components = if pressing { 3 } else { usize::from(contents.dimension) };
    let shown = gravity.get(..components).unwrap_or(&gravity);
    let mut parts = vec![format!("gravity [{}] m/s²", shown.join(", "))];
    for (n, one, many) in
        [(contents.forces.springs, "spring", "springs"), (contents.forces.dampers, "damper", "dampers")]
    {
        if n > 0 {
            parts.push(counted(n, one, many));
        }
    }
    let still = |components: &[String]| components.iter().all(|f| f == "0");
    let load = |load: &LoadRow| {
        let force = (!still(&load.force)).then(|| format!("force [{}] N", load.force.join(", ")));
        let torque = (!still(&load.torque)).then(|| format!("torque [{}] N m", load.torque.join(", ")));
        format!("on {}: {}", load.body, force.into_iter().chain(torque).collect::<Vec<_>>().join(", "))
    };
    std::iter::once(parts.join(", ")).chain(contents.forces.loads.iter().map(load)).collect::<Vec<_>>().join("\n")
}

fn friction(contents: &Contents) -> String {
    let rule = |rule: &RuleRow| {
        let coefficients = || coefficients(rule.friction, rule.torsion, rule.rolling);
        let what = if rule.collide { coefficients() } else { "do not collide".to_owned() };
        format!("{}: {what}", rule.between.join(" - "))
    };
    let rules = contents.contact_rules.iter().take(PAIRS_SHOWN).map(rule);
    let DefaultRule { friction, torsion, rolling } = contents.default_rule;
    let default = coefficients(friction, torsion, rolling);
    let default = format!("{default} unless a rule says otherwise");
    std::iter::once(default).chain(rules).collect::<Vec<_>>().join("\n")
}

/// Coefficient of friction, and those of torsional and rolling friction if there are any.
fn coefficients(friction: f64, torsion: f64, rolling: f64) -> String {
    let others = [("torsion", torsion), ("rolling", rolling)].into_iter().filter(|(_, length)| *length > 0.0);
    let others = others.map(|(name, length)| format!(", {name} {} m", number(length)));
    std::iter::once(number(friction)).chain(others).collect()
}

/// Compliant layers: bodies, stiffness, damping and thickness.
fn layers(layers: &[LayerRow]) -> String {
    let list = |numbers: &[f64]| numbers.iter().copied().map(number).collect::<Vec<_>>().join(" and ");
    let line = |layer: &LayerRow| {
        let on = if layer.on.is_empty() { "all contacts".to_owned() } else { layer.on.join(" - ") };
        let along = if layer.stiffness.len() > 1 { " along normal and surface" } else { ", rigid along the surface" };
        let depth = layer.depth.map_or_else(String::new, |depth| format!(", core at {} m", number(depth)));
        format!("{on}: {} N/m, {} N s/m{along}{depth}", list(&layer.stiffness), list(&layer.damping))
    };
    layers.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Supports, with loads and friction coefficients of few support points, or the sum and the range of many.
fn supports(supports: &[SupportRow]) -> String {
    const FEW: usize = 4;
    let list = |numbers: &[f64]| numbers.iter().copied().map(number).collect::<Vec<_>>().join(", ");
    let line = |support: &SupportRow| {
        let SupportRow { body, on, loads, friction } = support;
        let support_points = counted(loads.len(), "support point", "support points");
        let same = friction.windows(2).all(|pair| pair.first() == pair.last());
        let friction = if same { friction.get(..1).unwrap_or_default() } else { friction };
        let load = if loads.len() > FEW { format!("{} in all", number(loads.iter().sum())) } else { list(loads) };
        let friction = if friction.len() > FEW { "individual".to_owned() } else { list(friction) };
        format!("{body} on {on}: {support_points}, load {load} N, friction {friction}")
    };
    supports.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn pairs(pairs: &[[String; 2]]) -> String {
    let shown: Vec<_> = pairs.iter().take(PAIRS_SHOWN).map(|pair| pair.join(" - ")).collect();
    match pairs.len() {
        0 => "none".to_owned(),
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
