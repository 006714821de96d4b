//! C-32: a box that is dropped flat rocks for ever with a penalty model and rests at once with complementarity.

mod penalty;

use stiction::{BodyBuilder, Dimension, Model, planar};
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use self::penalty::PenaltyBox;
use crate::draw::{Trace, grid, rectangle, time_axis};
use crate::world::{friction, on_floor, q, run as simulate, stewart_trinkle, v};
use crate::{Account, CaseError, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let (seconds, per_second) = (case.parameter("seconds")?, case.parameter("steps_per_second")?);
    let penalty = penalty(case, seconds, per_second)?;
    let exact = complementarity(case, seconds)?;
    let rocking = Row::new("penalty model: rms angular rate in the last second", "rad/s", penalty.rms);
    account.add(rocking.reference(case.at_least("tolerance.penalty_rms_angular_rate_min")?));
    let resting = Row::new("complementarity: rms angular rate in the last second", "rad/s", exact.rms);
    account.add(resting.reference(case.at_most("tolerance.complementarity_rms_angular_rate_max")?).headline());
    let landed = Row::new("complementarity: lands at", "s", exact.landed);
    account.add(landed.reference(case.expected("derived.impact", "tolerance.impact")?));
    let angle = Row::new("complementarity: angle at the end", "rad", exact.end[2].abs());
    account.add(angle.reference(case.at_most("tolerance.rest.abs")?));
    let height = Row::new("complementarity: height of the centre at the end", "m", exact.end[1]);
    account.add(height.reference(case.expected("derived.rest_height", "tolerance.rest")?));
    account.draw(
        "The box on the penalty model where it turns back: it rocks from one vertex to the other and never rests",
        "Figure 2.7: sequence of steps of a penalty method",
        snapshots(case, &penalty)?,
    );
    account.draw(
        "Angle of the box over the whole time and height of its centre in the first second, for both models",
        "No figure of the source: what figure 2.7 says, as numbers",
        histories(&penalty, &exact),
    );
    Ok(account)
}

/// Results of a run.
struct Drop {
    rms: f64,
    landed: f64,
    end: [f64; 3],
    /// Height of the centre, angle.
    trace: Trace<2>,
}

fn penalty(case: &Reference, seconds: f64, per_second: f64) -> Result<Drop, CaseError> {
    let mut body = PenaltyBox::read(case)?;
    let (h, mut sum, mut trace) = (1.0 / per_second, 0.0, Trace::default());
    for step in 1..=crate::world::steps(seconds, h) {
        body.advance(h);
        let time = step as f64 * h;
        if time > seconds - 1.0 {
            sum += body.omega * body.omega;
        }
        // One point per ten steps keeps every oscillation visible.
        if step % 10 == 0 {
            trace.push(time, [body.y, body.angle]);
        }
    }
    Ok(Drop { rms: (sum * h).sqrt(), landed: f64::NAN, end: [0.0, body.y, body.angle], trace })
}

fn dropped(case: &Reference) -> Result<Model, CaseError> {
    let (width, height, mass) = (case.parameter("width")?, case.parameter("height")?, case.parameter("mass")?);
    let body = BodyBuilder::planar("box", mass, mass * (width * width + height * height) / 12.0)
        .position(0.0, height / 2.0 + case.parameter("drop_height")?, 0.0)
        .shape(planar::Shape::rectangle([width / 2.0, height / 2.0])?.into());
    let gravity = [0.0, -case.parameter("gravity")?, 0.0];
    on_floor(Dimension::Planar, [body], gravity, friction(case.parameter("friction")?))
}

fn complementarity(case: &Reference, seconds: f64) -> Result<Drop, CaseError> {
    let h = case.parameter("step")?;
    let (mut sum, mut landed, mut trace) = (0.0, f64::NAN, Trace::default());
    let end = simulate(dropped(case)?, stewart_trinkle(1.0), h, seconds, |simulation, report| {
        if landed.is_nan() && report.impacts > 0 {
            landed = report.time;
        }
        let ([_, y, angle], [_, _, omega]): ([f64; 3], [f64; 3]) = (q(simulation, "box")?, v(simulation, "box")?);
        if report.time > seconds - 1.0 {
            sum += omega * omega;
        }
        trace.push(report.time, [y, angle]);
        Ok(())
    })?;
    Ok(Drop { rms: (sum * h).sqrt(), landed, end: q(&end, "box")?, trace })
}

/// The box at turning points of its angle, once it rocks.
fn snapshots(case: &Reference, penalty: &Drop) -> Result<Figure, CaseError> {
    let half = [0.5 * case.parameter("width")?, 0.5 * case.parameter("height")?];
    let rocks = case.parameter("snapshots_from_angle")?;
    let (heights, angles) = (penalty.trace.column(0), penalty.trace.column(1));
    let turns = angles.windows(3).enumerate().filter_map(|(k, window)| {
        let [before, at, after] = window else { return None };
        ((at - before) * (after - at) < 0.0 && at.abs() > rocks).then_some(k + 1)
    });
    let mut figure = grid(4).panel_size(70.0, 52.0);
    for index in turns.take(4) {
        let (Some(&y), Some(&angle), Some(time)) =
            (heights.get(index), angles.get(index), penalty.trace.times().get(index))
        else {
            continue;
        };
        figure = figure.with(
            Panel::new(Axis::new("x", "m").range(-0.8, 0.8), Axis::new("y", "m").range(-0.2, 0.9))
                .titled(format!("t = {time:.3} s"))
                .equal_aspect()
                .with(Layer::horizontal_marks(vec![0.0]).muted())
                .with(Layer::outlines(vec![rectangle(half, [0.0, y, angle])]).colour(0)),
        );
    }
    Ok(figure)
}

fn histories(penalty: &Drop, exact: &Drop) -> Figure {
    let angle = Panel::new(time_axis(), Axis::new("angle", "rad"))
        .with(penalty.trace.line(1).named("penalty").colour(1))
        .with(exact.trace.line(1).named("complementarity").colour(0));
    let height = Panel::new(time_axis().range(0.0, 1.0), Axis::new("height of the centre", "m"))
        .with(penalty.trace.line(0).named("penalty").colour(1))
        .with(exact.trace.line(0).named("complementarity").colour(0).dash(Dash::Dashed));
    grid(2).with(angle).with(height)
}
