//! C-13: a particle between a wall and a moving fence, without inertia.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use stiction::multibody::ExpressionMotion;
use stiction::{
    BodyBuilder, ContactRule, Dimension, Expression, FrictionSet, Model, ModelBuilder, Preset, Scheme, Simulation,
    Undetermined, Uniqueness, spatial,
};
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use crate::draw::{Trace, grid, time_axis};
use crate::world::{friction, q, steps};
use crate::{Account, CaseError, Expected, Reference, Row, Value};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let cone = push(case, quadratic())?;
    let diamond = push(case, polygon())?;
    for (name, what, push) in [("quadratic", "cone", &cone), ("polygon", "diamond", &diamond)] {
        push_rows(&mut account, case, name, what, push)?;
    }
    account.remark(case.text("derived.sizes.note")?);
    frictionless_rows(&mut account, case)?;
    account.draw(
        "Path of the particle over the plane, and its place over time beside the fence, for the circular cone and the diamond of four directions",
        "Figure 3.4 is the diagram of the system; the source shows no result as a figure",
        figure(case, &cone, &diamond)?,
    );
    Ok(account)
}

fn quadratic() -> Scheme {
    Preset::Quasistatic.scheme().as_published()
}

fn polygon() -> Scheme {
    let mut scheme = quadratic();
    (scheme.friction, scheme.directions) = (FrictionSet::Polygon, 4);
    scheme
}

/// The particle "p" on the plane; `velocity` is its motion where the problem leaves it undetermined.
fn scene(case: &Reference, with_friction: bool, velocity: [f64; 3]) -> Result<Model, CaseError> {
    let half_space = |x: f64, z: f64| -> Result<stiction::Shape, CaseError> {
        Ok(spatial::Shape::half_space(Vector3::new(x, 0.0, z))?.into())
    };
    let [x, y, z] = case.vector("parameters.start")?;
    let (centre, amplitude) = (case.parameter("fence.centre")?, case.parameter("fence.amplitude")?);
    let motion = ExpressionMotion {
        position: [
            format!("{centre} + {amplitude} * sin(t)").parse()?,
            format!("{} * t", case.parameter("fence.speed_y")?).parse()?,
            Expression::constant(0.0),
        ],
        axis: Vector3::z(),
        angle: Expression::constant(0.0),
        base: UnitQuaternion::identity(),
    };
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -case.parameter("gravity")?)?;
    let wall = BodyBuilder::fixed("wall").position(case.parameter("wall_x")?, 0.0, 0.0).shape(half_space(-1.0, 0.0)?);
    let fence = BodyBuilder::kinematic("fence", Arc::new(motion)).shape(half_space(1.0, 0.0)?);
    let plane = BodyBuilder::fixed("plane").shape(half_space(0.0, 1.0)?);
    let particle = BodyBuilder::particle("p", case.parameter("mass")?)
        .position(x, y, z)
        .velocity(velocity[0], velocity[1], velocity[2])
        .shape(spatial::Shape::Point.into());
    let others =
        [(builder.body(wall)?, "mu_wall"), (builder.body(fence)?, "mu_fence"), (builder.body(plane)?, "mu_plane")];
    let particle = builder.body(particle)?;
    for (body, name) in others {
        let rule = if with_friction { friction(case.parameter(name)?) } else { ContactRule::default() };
        builder.contact(body, particle, rule)?;
    }
    Ok(builder.build()?)
}

/// Results of a full turn of the fence.
struct Push {
    end: [f64; 3],
    first_motion: f64,
    /// dy/dx and the forces of fence and plane over the steps in which the particle is pushed: the values farthest from their mean.
    slope: [f64; 2],
    fence_force: [f64; 2],
    plane_force: [f64; 2],
    /// x, y.
    trace: Trace<2>,
}

/// Extends a range to contain one more number.
fn widened([least, most]: [f64; 2], x: f64) -> [f64; 2] {
    [least.min(x), most.max(x)]
}

fn push(case: &Reference, scheme: Scheme) -> Result<Push, CaseError> {
    let (h, duration) = (case.parameter("step")?, case.parameter("duration")?);
    let mut simulation = Simulation::new(scene(case, true, [0.0; 3])?, scheme, h)?;
    let empty = [f64::INFINITY, f64::NEG_INFINITY];
    let mut push = Push {
        end: [f64::NAN; 3],
        first_motion: f64::NAN,
        slope: empty,
        fence_force: empty,
        plane_force: empty,
        trace: Trace::default(),
    };
    let start: [f64; 3] = q(&simulation, "p")?;
    push.trace.push(0.0, [start[0], start[1]]);
    for _ in 0..steps(duration, h) {
        let before: [f64; 3] = q(&simulation, "p")?;
        let report = simulation.step()?;
        push.end = q(&simulation, "p")?;
        let (dx, dy) = (push.end[0] - before[0], push.end[1] - before[1]);
        if push.first_motion.is_nan() && (dx, dy) != (0.0, 0.0) {
            push.first_motion = report.time;
        }
        push.plane_force = widened(push.plane_force, force(&simulation, "plane"));
        if dx > case.number("tolerance.pushed_by_at_least")? {
            push.slope = widened(push.slope, dy / dx);
            push.fence_force = widened(push.fence_force, force(&simulation, "fence"));
        }
        push.trace.push(report.time, [push.end[0], push.end[1]]);
    }
    Ok(push)
}

/// Normal force between the particle and a body.
fn force(simulation: &Simulation, name: &str) -> f64 {
    let body = simulation.model().find_body(name);
    let contact = simulation.contacts().iter().find(|c| Some(c.body_a) == body || Some(c.body_b) == body);
    contact.map_or(0.0, |contact| contact.normal_impulse / simulation.last_step_size())
}

/// The one of two numbers that is farther from a third.
fn farther([a, b]: [f64; 2], exact: f64) -> f64 {
    if (a - exact).abs() > (b - exact).abs() { a } else { b }
}

fn push_rows(account: &mut Account, case: &Reference, name: &str, what: &str, push: &Push) -> Result<(), CaseError> {
    let derived = |field: &str| case.number(&format!("derived.{name}.{field}"));
    let h = case.parameter("step")?;
    let reached = case.number("derived.reached_at")?;
    let first = Row::new(format!("{what}: first motion, in the step that ends at"), "s", push.first_motion);
    account.add(first.reference(Expected::bound(Value::Between(reached, reached + h))));
    let slope = Row::new(format!("{what}: dy/dx while it is pushed"), "", farther(push.slope, derived("slope")?));
    account.add(slope.reference(Expected::within(derived("slope")?, case.tolerance("tolerance.slope")?)));
    let exact = derived("normal_force_fence")?;
    let fence = Row::new(format!("{what}: normal force of the fence"), "N", farther(push.fence_force, exact));
    account.add(fence.reference(Expected::within(exact, case.tolerance("tolerance.force")?)));
    let weight = case.number("derived.normal_force_plane")?;
    let plane = Row::new(format!("{what}: normal force of the plane"), "N", farther(push.plane_force, weight));
    account.add(plane.reference(Expected::within(weight, case.tolerance("tolerance.force")?)));
    for (axis, (index, ours)) in ["x", "y", "z"].into_iter().zip(push.end.into_iter().enumerate()) {
        let expected = case.expected(&format!("derived.{name}.end.{index}"), "tolerance.end")?;
        account.add(Row::new(format!("{what}: {axis} at the end"), "m", ours).reference(expected));
    }
    Ok(())
}

/// Without friction the position of the particle along the fence is not determined: two initial guesses give two ends.
fn frictionless_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let guesses: [f64; 2] = case.vector("parameters.guessed_speeds")?;
    let h = case.parameter("step")?;
    for guess in guesses {
        let mut scheme = quadratic();
        scheme.undetermined = Undetermined::Continue;
        let mut simulation = Simulation::new(scene(case, false, [0.0, guess, 0.0])?, scheme, h)?;
        let mut told = true;
        for _ in 0..steps(1.0, h) {
            let _ = simulation.step()?;
            told &= matches!(simulation.uniqueness(), Some(Uniqueness::NotUnique(_)));
        }
        let [_, y, _] = q(&simulation, "p")?;
        let expected = Expected::within(guess, case.tolerance("tolerance.guess")?);
        let published = Expected::shown(Value::Text(case.text("published.without_friction")?.to_owned()));
        let quantity = format!("no friction, guess {guess} m/s: y after 1 s");
        account.add(Row::new(quantity, "m", y).reference(expected).published(published.clone()));
        let quantity = format!("no friction, guess {guess} m/s: the program says that the motion is not unique");
        account.add(Row::new(quantity, "", told).reference(case.exactly("derived.told_that_not_unique")?));
    }
    Ok(())
}

fn figure(case: &Reference, cone: &Push, diamond: &Push) -> Result<Figure, CaseError> {
    let paths = Panel::new(Axis::new("x", "m"), Axis::new("y", "m"))
        .with(cone.trace.path(0, 1).named("circular cone").colour(0))
        .with(diamond.trace.path(0, 1).named("diamond").colour(1).dash(Dash::Dashed));
    let (centre, amplitude) = (case.parameter("fence.centre")?, case.parameter("fence.amplitude")?);
    let fence: Vec<f64> = cone.trace.times().iter().map(|t| centre + amplitude * libm::sin(*t)).collect();
    let places = Panel::new(time_axis(), Axis::new("x", "m"))
        .with(Layer::line(cone.trace.times().to_vec(), fence).named("fence").muted())
        .with(Layer::horizontal_marks(vec![case.parameter("wall_x")?]).labelled(["wall"]).muted())
        .with(cone.trace.line(0).named("particle").colour(0))
        .with(Layer::vertical_marks(vec![case.number("derived.reached_at")?]).labelled(["reached"]).muted());
    Ok(grid(2).with(paths).with(places))
}
