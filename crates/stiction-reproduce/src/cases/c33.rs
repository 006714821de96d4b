//! C-33: problems whose forces do not exist, are unbounded or are not unique: a time step still has a solution.

use nalgebra::{Matrix3, Vector2, Vector3};
use stiction::complementarity::{
    FrictionActiveSet, FrictionInteriorPoint, FrictionNewton, FrictionNsgs, FrictionNsgsOptions, FrictionProblem,
    FrictionReference, Pointed, Solver, pointed,
};
use stiction::{
    BodyBuilder, Dimension, Ladder, Model, ModelBuilder, Preset, Rung, Simulation, StepProblem, Twist, planar, spatial,
};
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use crate::draw::{grid, outline};
use crate::world::{friction, larger, on_floor, v};
use crate::{Account, CaseError, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    acceleration_rows(&mut account, case)?;
    let impulses = painleve_rows(&mut account, case)?;
    slider_rows(&mut account, case)?;
    four_contact_rows(&mut account, case)?;
    account.draw(
        "The rod with its tip on the ground, sliding to the right; normal impulse of one step over its length: it has a limit as the step goes to zero, an impulse without a collision",
        "No figure of the source",
        figure(case, &impulses)?,
    );
    Ok(account)
}

/// The rod with its lower tip on the floor, and the arm from its centre to the contact point.
fn rod(case: &Reference) -> Result<(Model, Vector3<f64>), CaseError> {
    let (half, radius) = (case.parameter("length")? / 2.0, case.parameter("radius")?);
    let (theta, tip) = (case.parameter("theta")?, case.vector::<2>("parameters.tip_velocity")?);
    let (sin, cos) = libm::sincos(theta);
    let y = half * sin + radius;
    let rod = BodyBuilder::planar("rod", case.parameter("mass")?, case.parameter("inertia")?)
        .position(0.0, y, 0.0)
        .angle(theta)
        .velocity(tip[0], tip[1], 0.0)
        .shape(planar::Shape::capsule(half, radius)?.into());
    let gravity = [0.0, -case.parameter("gravity")?, 0.0];
    let model = on_floor(Dimension::Planar, [rod], gravity, friction(case.parameter("friction")?))?;
    Ok((model, Vector3::new(-half * cos, -y, 0.0)))
}

/// a_nn − μ a_nt < 0: for sliding to the right, more normal force accelerates the tip into the floor.
fn acceleration_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let (_, arm) = rod(case)?;
    let (m, j) = (case.parameter("mass")?, case.parameter("inertia")?);
    let a_nn = 1.0 / m + arm.x * arm.x / j;
    let a_tt = 1.0 / m + arm.y * arm.y / j;
    let a_nt = (arm.x * arm.y / j).abs();
    let rows =
        [("a_nn", "1/kg", a_nn), ("a_tt", "1/kg", a_tt), ("a_nt", "1/kg", a_nt), ("friction_limit", "", a_nn / a_nt)];
    for (name, unit, ours) in rows {
        let quantity = if name == "friction_limit" { "largest friction with an acceleration" } else { name };
        let expected = case.expected(&format!("derived.{name}"), "tolerance.matrix")?;
        account.add(Row::new(format!("Painlevé rod: {quantity}"), unit, ours).reference(expected));
    }
    let none = a_nn - case.parameter("friction")? * a_nt < 0.0;
    let row = Row::new("Painlevé rod: no acceleration exists", "", none);
    account.add(row.reference(case.exactly("derived.no_acceleration")?));
    Ok(())
}

const PRESETS: [Preset; 4] = [Preset::StewartTrinkle, Preset::AnitescuPotra, Preset::Ncp, Preset::AnitescuHart];

/// Steps and, for each preset, the normal impulses over them.
fn painleve_rows(account: &mut Account, case: &Reference) -> Result<Vec<(f64, [f64; 4])>, CaseError> {
    let mut impulses = Vec::new();
    let mut fastest = 0.0_f64;
    for h in case.numbers("parameters.steps")? {
        let mut of_presets = [0.0; 4];
        for (preset, impulse) in PRESETS.into_iter().zip(&mut of_presets) {
            let (model, arm) = rod(case)?;
            let mut simulation = Simulation::new(model, preset.scheme().as_published(), h)?;
            let _ = simulation.step()?;
            let [vx, vy, w] = v(&simulation, "rod")?;
            let twist = Twist { linear: Vector3::new(vx, vy, 0.0), angular: Vector3::new(0.0, 0.0, w) };
            fastest = larger(fastest, twist.at(&arm).norm());
            *impulse = simulation.contacts().iter().map(|contact| contact.normal_impulse).sum();
        }
        impulses.push((h, of_presets));
    }
    let row = Row::new("Painlevé rod: speed of the tip after a step, fastest of 4 schemes and 3 steps", "m/s", fastest);
    account.add(row.reference(case.at_most("tolerance.velocity.abs")?).headline());
    if let [(_, coarse), (_, middle), (_, fine)] = impulses.as_slice() {
        let row = Row::new("Painlevé rod: impulse without a collision, h = 1e-5 s", "N s", fine[0]);
        account.add(row.reference(case.expected("derived.limit_impulse", "tolerance.limit_impulse")?));
        let ratio = (coarse[0] - middle[0]) / (middle[0] - fine[0]);
        let row =
            Row::new("Painlevé rod: ratio of the differences of impulses when the step is divided by 10", "", ratio);
        account.add(row.reference(case.between("tolerance.ratio_of_differences")?));
    }
    Ok(impulses)
}

/// A block exactly between two walls with friction.
fn slider(case: &Reference) -> Result<Model, CaseError> {
    let [a, b] = case.vector("parameters.slider.half")?;
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -case.parameter("gravity")?, 0.0)?;
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let wall = planar::Shape::half_plane(Vector2::new(-side, 0.0))?;
        builder.body(BodyBuilder::fixed(name).position(side * a, 0.0, 0.0).shape(wall.into()))?;
    }
    let block = BodyBuilder::planar("slider", 1.0, (a * a + b * b) / 3.0)
        .velocity(0.0, case.parameter("slider.velocity")?, 0.0)
        .shape(planar::Shape::rectangle([a, b])?.into());
    builder.body(block)?;
    builder.default_contact(friction(case.parameter("slider.friction")?))?;
    Ok(builder.build()?)
}

fn cones_are_pointed(simulation: &Simulation) -> Result<bool, CaseError> {
    match simulation.problem() {
        StepProblem::Friction(problem) => Ok(matches!(pointed(problem), Pointed::Yes)),
        _ => Err(CaseError::Other("the step is not a problem over cones".to_owned())),
    }
}

fn slider_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let mut simulation =
        Simulation::new(slider(case)?, Preset::Ncp.scheme().as_published(), case.parameter("slider.step")?)?;
    let mut off = 0.0_f64;
    for _ in 0..case.count("parameters.slider.steps")? {
        let _ = simulation.step()?;
        let [vx, _, w]: [f64; 3] = v(&simulation, "slider")?;
        off = [vx.abs(), w.abs()].into_iter().fold(off, larger);
    }
    let wedged = !cones_are_pointed(&simulation)?;
    let row = Row::new("slider between two walls: reported as wedged (impulses have no bound)", "", wedged);
    account.add(row.reference(case.exactly("derived.slider_is_wedged")?));
    let row = Row::new("slider between two walls: largest sideways speed or rate", "m/s, rad/s", off);
    account.add(row.reference(case.at_most("tolerance.velocity.abs")?));
    let mut on_floor = Simulation::new(
        four_feet(case, [0.0, 0.0, -case.parameter("gravity")?])?,
        Preset::Ncp.scheme().as_published(),
        0.01,
    )?;
    let _ = on_floor.step()?;
    let row = Row::new("box on a floor: reported as wedged", "", !cones_are_pointed(&on_floor)?);
    account.add(row.reference(case.exactly("derived.box_is_wedged")?));
    Ok(())
}

/// A box on its four corners under this gravity.
fn four_feet(case: &Reference, gravity: [f64; 3]) -> Result<Model, CaseError> {
    let half: [f64; 3] = case.vector("parameters.box.half")?;
    let [vx, vy] = case.vector("parameters.box.velocity")?;
    let [a, b, c] = half.map(|half| half * half / 3.0);
    let body = BodyBuilder::rigid("box", 1.0, Matrix3::from_diagonal(&Vector3::new(b + c, a + c, a + b)))
        .position(0.0, 0.0, half[2])
        .velocity(vx, vy, 0.0)
        .shape(spatial::Shape::cuboid(half)?.into());
    on_floor(Dimension::Spatial, [body], gravity, friction(case.parameter("box.friction")?))
}

type Method = Box<dyn Solver<FrictionProblem> + Send>;

/// Independent methods, each with its accuracy: the last two do not aim at full precision.
fn methods() -> Result<[(&'static str, Method, f64); 5], CaseError> {
    let exact = FrictionNsgsOptions { tolerance: 1e-13, ..FrictionNsgsOptions::default() };
    let gauss_seidel = FrictionNsgs::with_options(exact).map_err(|error| CaseError::Other(error.to_string()))?;
    Ok([
        ("active set", Box::new(FrictionActiveSet::default()), 1e-9),
        ("gauss-seidel", Box::new(gauss_seidel), 1e-9),
        ("newton", Box::new(FrictionNewton::default()), 1e-9),
        ("interior point", Box::new(FrictionInteriorPoint::default()), 1e-7),
        ("reference", Box::new(FrictionReference::default()), 1e-7),
    ])
}

/// Velocities agree between methods; the distribution of the load over the four contacts does not.
fn four_contact_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let (mut velocity_off, mut loose_off, mut load_off) = (0.0_f64, 0.0_f64, 0.0_f64);
    for index in 0..case.length("parameters.box.gravities")? {
        let gravity: [f64; 3] = case.vector(&format!("parameters.box.gravities.{index}"))?;
        let mut first: Option<([f64; 6], Vec<f64>)> = None;
        for (name, solver, tolerance) in methods()? {
            let ladder = Ladder::for_cones(vec![Rung { name, solver }]).tolerating(tolerance);
            let simulation = Simulation::new(
                four_feet(case, gravity)?,
                Preset::Ncp.scheme().as_published(),
                case.parameter("box.step")?,
            )?;
            let mut simulation = simulation.with_ladder(ladder);
            let _ = simulation.step()?;
            let velocity: [f64; 6] = v(&simulation, "box")?;
            let loads: Vec<f64> = simulation.contacts().iter().map(|contact| contact.normal_impulse).collect();
            let (one, one_loads) = first.get_or_insert((velocity, loads.clone()));
            let off = velocity.iter().zip(one.iter()).map(|(a, b)| (a - b).abs()).fold(0.0, larger);
            let target = if tolerance < 1e-8 { &mut velocity_off } else { &mut loose_off };
            *target = larger(*target, off);
            load_off = loads.iter().zip(one_loads.iter()).map(|(a, b)| (a - b).abs()).fold(load_off, larger);
        }
    }
    let row =
        Row::new("box on four contacts: largest difference of velocities, 3 exact methods", "m/s, rad/s", velocity_off);
    account.add(row.reference(case.at_most("tolerance.velocity.abs")?));
    let row = Row::new("box on four contacts: the same with 2 interior methods", "m/s, rad/s", loose_off);
    account.add(row.reference(case.at_most("tolerance.velocity_interior.abs")?));
    let row = Row::new("box on four contacts: largest difference of a normal impulse", "N s", load_off);
    account.add(row.reference(case.at_least("derived.shares_differ_at_least")?));
    Ok(())
}

fn figure(case: &Reference, impulses: &[(f64, [f64; 4])]) -> Result<Figure, CaseError> {
    let (half, radius, theta) = (case.parameter("length")? / 2.0, case.parameter("radius")?, case.parameter("theta")?);
    let y = half * libm::sin(theta) + radius;
    let tip = [-half * libm::cos(theta), 0.0];
    let corners: Vec<[f64; 2]> = capsule(half, radius);
    let scene = Panel::new(Axis::new("x", "m").range(-0.3, 0.5), Axis::new("y", "m").range(-0.1, 0.6))
        .equal_aspect()
        .with(Layer::horizontal_marks(vec![0.0]).muted())
        .with(Layer::outlines(vec![outline(&corners, [0.0, y, theta])]).colour(0))
        .with(Layer::arrows(vec![tip], vec![[tip[0] + 0.2, tip[1]]]).colour(1));
    let mut panel = Panel::new(Axis::new("step", "s").log(), Axis::new("normal impulse of the step", "N s"));
    let limit = Layer::horizontal_marks(vec![case.number("derived.limit_impulse")?]);
    panel = panel.with(limit.labelled(["limit"]).muted());
    let markers = [Marker::Disc, Marker::Square, Marker::Triangle, Marker::Cross];
    for (k, (preset, marker)) in PRESETS.into_iter().zip(markers).enumerate() {
        let x = impulses.iter().map(|(h, _)| *h).collect();
        let y = impulses.iter().filter_map(|(_, values)| values.get(k).copied()).collect();
        panel = panel.with(Layer::points(x, y).named(preset.name()).marker(marker).colour(k));
    }
    Ok(grid(2).with(scene).with(panel))
}

/// Outline of a rod with round ends, in its own axes.
fn capsule(half: f64, radius: f64) -> Vec<[f64; 2]> {
    let round = |centre: f64, from: f64| {
        (0..=12).map(move |k| {
            let (sin, cos) = libm::sincos(from + std::f64::consts::PI * f64::from(k) / 12.0);
            [centre + radius * cos, radius * sin]
        })
    };
    round(half, -std::f64::consts::FRAC_PI_2).chain(round(-half, std::f64::consts::FRAC_PI_2)).collect()
}
