//! C-10: a square on a tripod slides and spins to rest.

use stiction::{BodyBuilder, Dimension, Model, ModelBuilder, Preset, Scheme, Simulation, SupportBuilder};
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::draw::{Trace, grid, time_axis};
use crate::world::{q, v};
use crate::{Account, CaseError, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let (sliding, spinning) = (case.parameter("sliding_speed")?, case.parameter("spin")?);
    let direction = case.vector::<2>("parameters.direction")?;
    let fine = case.parameter("step")?;
    let slide =
        stop(case, [sliding * direction[0], sliding * direction[1], 0.0], Preset::Ncp.scheme().as_published(), fine)?;
    let spin = stop(case, [0.0, 0.0, spinning], Preset::Ncp.scheme().as_published(), fine)?;
    let way = libm::hypot(slide.place[0], slide.place[1]);
    let rows = [
        ("slides for", "s", "sliding.time", slide.time),
        ("slides over", "m", "sliding.distance", way),
        ("spins for", "s", "spinning.time", spin.time),
        ("spins by", "rad", "spinning.angle", spin.place[2]),
    ];
    for (quantity, unit, name, ours) in rows {
        let expected = case.expected(&format!("derived.{name}"), "tolerance.quadratic")?;
        account.add(Row::new(quantity, unit, ours).reference(expected));
    }
    let polygon = |directions: u32| -> Scheme {
        let mut scheme = Preset::StewartTrinkle.scheme().as_published();
        scheme.directions = directions;
        scheme
    };
    let eight = stop(case, [0.0, 0.0, spinning], polygon(8), case.parameter("step_of_polygon")?)?;
    let expected = case.expected("derived.spinning.angle", "tolerance.polygon_of_8_spinning")?;
    account.add(Row::new("spins by, polygon of 8 directions", "rad", eight.place[2]).reference(expected));
    for angle in case.numbers("parameters.polygon_headings")? {
        let (sin, cos) = libm::sincos(angle);
        let end = stop(case, [sliding * cos, sliding * sin, 0.0], polygon(8), case.parameter("step_of_polygon")?)?;
        let off = (libm::atan2(end.place[1], end.place[0]) - angle).abs();
        let quantity = format!("polygon of 8: turn of the direction of sliding, heading {angle} rad");
        account.add(Row::new(quantity, "rad", off).reference(case.at_most("tolerance.polygon_of_8_turn")?));
    }
    account.draw(
        "Speed of the square that slides and rate of the one that spins; grey lines are exact",
        "No figure of the source for this case",
        figure(case, &slide, &spin)?,
    );
    Ok(account)
}

/// Times and positions at rest, and the velocities before.
struct Stop {
    time: f64,
    place: [f64; 3],
    /// Speed of the centre, angular rate.
    trace: Trace<2>,
}

fn square(case: &Reference, [x, y, spin]: [f64; 3]) -> Result<Model, CaseError> {
    let radius = case.parameter("tripod_radius")?;
    let (far, near) = (0.75_f64.sqrt() * radius, 0.5 * radius);
    let support_points =
        SupportBuilder::tripod([[0.0, radius], [-far, -near], [far, -near]]).friction(case.parameter("friction")?);
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -case.parameter("gravity")?)?;
    let square = BodyBuilder::planar("square", case.parameter("mass")?, case.parameter("inertia")?)
        .velocity(x, y, 0.0)
        .angular_velocity(0.0, 0.0, spin);
    let square = builder.body(square)?;
    builder.support(square, &support_points)?;
    Ok(builder.build()?)
}

/// Runs until everything is at rest.
fn stop(case: &Reference, velocity: [f64; 3], scheme: Scheme, h: f64) -> Result<Stop, CaseError> {
    let mut simulation = Simulation::new(square(case, velocity)?, scheme, h)?;
    let mut trace = Trace::default();
    let at_most = case.parameter("duration")?;
    while simulation.time() < at_most {
        let report = simulation.step()?;
        let [vx, vy, w]: [f64; 3] = v(&simulation, "square")?;
        trace.push(report.time, [libm::hypot(vx, vy), w]);
        if [vx, vy, w].iter().all(|v| v.abs() < 1e-9) {
            return Ok(Stop { time: report.time, place: q(&simulation, "square")?, trace });
        }
    }
    Err(CaseError::Never("the stop of the square".to_owned()))
}

fn figure(case: &Reference, slide: &Stop, spin: &Stop) -> Result<Figure, CaseError> {
    let exact = |name: &str, start: f64| -> Result<Layer, CaseError> {
        let time = case.number(&format!("derived.{name}.time"))?;
        Ok(Layer::line(vec![0.0, time], vec![start, 0.0]).named("exact").muted().width(3.0))
    };
    let sliding = Panel::new(time_axis(), Axis::new("speed", "m/s"))
        .titled("sliding")
        .with(exact("sliding", case.parameter("sliding_speed")?)?)
        .with(slide.trace.line(0).named("ours").colour(0));
    let spinning = Panel::new(time_axis(), Axis::new("rate", "rad/s"))
        .titled("spinning")
        .with(exact("spinning", case.parameter("spin")?)?)
        .with(spin.trace.line(1).named("ours").colour(0));
    Ok(grid(2).with(sliding).with(spinning))
}
