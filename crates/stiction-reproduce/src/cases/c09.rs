//! C-09: a needle pushes a square over a table, without inertia.

use std::sync::Arc;

use stiction::multibody::ExpressionMotion;
use stiction::{
    BodyBuilder, ContactMode, ContactRule, Dimension, Expression, FrictionSet, Model, ModelBuilder, Preset, Scheme,
    Simulation, SupportBuilder, planar,
};
use stiction_plot::{Axis, Dash, Figure, Layer, Marker, Panel};

use crate::draw::{Trace, grid, outline, rectangle};
use crate::world::{larger, q, steps, v};
use crate::{Account, CaseError, Expected, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    quadratic_rows(&mut account, case)?;
    polygon_rows(&mut account, case)?;
    path_rows(&mut account, case)?;
    account.draw(
        "Four moments of the push: the square on its three feet, the friction forces at them (arrows), the needle (triangle)",
        "Figure 4.5: four screen shots of the pushing task",
        snapshots(case)?,
    );
    account.draw(
        "Place and heading of the square over the way of the needle, for a coarse and a fine step",
        "Figure 4.6: simulated path beside the measured one. The measurement is not in the source, so that only the simulated \
         side has a counterpart",
        paths(case)?,
    );
    Ok(account)
}

/// Support points on a circle about the centre, the first one above it.
fn tripod_points(radius: f64) -> [[f64; 2]; 3] {
    let (x, y) = (0.75_f64.sqrt() * radius, 0.5 * radius);
    [[0.0, radius], [-x, -y], [x, -y]]
}

/// The square on its support points, and a frictionless needle at its left side that moves to the right.
fn pushed(case: &Reference, y: f64) -> Result<Model, CaseError> {
    let (side, speed) = (case.parameter("side")?, case.parameter("speed")?);
    let half = 0.5 * side;
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -case.parameter("weight")?)?;
    let square =
        BodyBuilder::planar("square", 1.0, side * side / 6.0).shape(planar::Shape::rectangle([half, half])?.into());
    let square = builder.body(square)?;
    let support =
        SupportBuilder::tripod(tripod_points(case.parameter("tripod_radius")?)).friction(case.parameter("mu_feet")?);
    builder.support(square, &support)?;
    let along: Expression = format!("{:e} + {speed:e} * t", -half).parse()?;
    let motion = ExpressionMotion::planar(along, Expression::constant(y), Expression::constant(0.0));
    builder.body(BodyBuilder::kinematic("needle", Arc::new(motion)).shape(planar::Shape::point().into()))?;
    builder.default_contact(ContactRule::default())?;
    Ok(builder.build()?)
}

/// One step: twist of the square, force of the needle, and true if the top support point sticks.
fn first_step(case: &Reference, y: f64, scheme: Scheme) -> Result<([f64; 3], f64, bool), CaseError> {
    let h = case.parameter("step")?;
    let mut simulation = Simulation::new(pushed(case, y)?, scheme, h)?;
    let _ = simulation.step()?;
    let force = simulation.contacts().first().map_or(0.0, |contact| contact.normal_impulse / h);
    let sticks =
        simulation.support_points().first().is_some_and(|support_point| support_point.mode == ContactMode::Stick);
    Ok((v(&simulation, "square")?, force, sticks))
}

fn quadratic_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let tolerance = case.tolerance("tolerance.quadratic")?;
    for row in case.table("derived.quadratic")? {
        let y = row.number("y")?;
        let ([vx, vy, w], force, sticks) = first_step(case, y, Preset::Quasistatic.scheme().as_published())?;
        let numbers = [("vx", "m/s", vx), ("vy", "m/s", vy), ("w", "rad/s", w), ("force", "N", force)];
        for (name, unit, ours) in numbers {
            let what = match name {
                "w" => "rate",
                "force" => "force of the needle",
                other => other,
            };
            let expected = Expected::within(row.number(name)?, tolerance);
            let row = Row::new(format!("pushed at y = {y} m: {what}"), unit, ours).reference(expected);
            account.add(if what == "rate" && y == case.parameter("push_at")? { row.headline() } else { row });
        }
        let expected = Expected::within(row.number("top_foot_sticks")? > 0.0, crate::Tolerance::default());
        account.add(Row::new(format!("pushed at y = {y} m: top foot sticks"), "", sticks).reference(expected));
    }
    Ok(())
}

fn linear(directions: u32) -> Scheme {
    let mut scheme = Preset::Quasistatic.scheme().as_published();
    (scheme.friction, scheme.directions) = (FrictionSet::Polygon, directions);
    scheme
}

fn polygon_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let y = case.parameter("push_at")?;
    let exact = case.table("derived.quadratic")?.into_iter().find(|row| row.get("y") == Some(y));
    let exact = exact.ok_or_else(|| CaseError::Absent(format!("derived motion for a push at {y}")))?;
    for row in case.table("derived.polygon")? {
        let directions = row.count("directions")?;
        let ([_, _, w], force, _) = first_step(case, y, linear(directions))?;
        let expected = Expected::within(row.number("force")?, case.tolerance("tolerance.polygon_digits")?);
        account.add(Row::new(format!("polygon of {directions}: force of the needle"), "N", force).reference(expected));
        if f64::from(directions) >= case.number("tolerance.polygon_compared_from")? {
            let force_of_cone = Expected::within(exact.number("force")?, case.tolerance("tolerance.polygon_force")?);
            account.add(
                Row::new(format!("polygon of {directions}: force beside the cone's"), "N", force)
                    .reference(force_of_cone),
            );
            let rate = Expected::within(exact.number("w")?, case.tolerance("tolerance.polygon_spin")?);
            account
                .add(Row::new(format!("polygon of {directions}: rate beside the cone's"), "rad/s", w).reference(rate));
        }
    }
    Ok(())
}

/// The push of the case in so many steps: x, y and heading after each.
fn path(case: &Reference, count: f64) -> Result<Trace<3>, CaseError> {
    let (distance, speed) = (case.parameter("push_distance")?, case.parameter("speed")?);
    let h = distance / speed / count;
    let mut simulation =
        Simulation::new(pushed(case, case.parameter("push_at")?)?, Preset::Quasistatic.scheme().as_published(), h)?;
    let mut trace = Trace::default();
    trace.push(0.0, q(&simulation, "square")?);
    for _ in 0..steps(distance / speed, h) {
        let report = simulation.step()?;
        trace.push(report.time * speed, q(&simulation, "square")?);
    }
    Ok(trace)
}

fn path_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let mut ends = Vec::new();
    for count in case.numbers("parameters.path_steps")? {
        let trace = path(case, count)?;
        ends.push([0, 1, 2].map(|k| trace.column(k).last().copied().unwrap_or(f64::NAN)));
    }
    let distance = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, larger);
    let gaps: Vec<f64> = ends.windows(2).filter_map(|pair| Some(distance(pair.first()?, pair.get(1)?))).collect();
    for pair in gaps.windows(2) {
        let [coarse, fine] = pair else { continue };
        let row = Row::new("path of a long push: order in the step", "", libm::log2(coarse / fine));
        account.add(row.reference(case.between("tolerance.path_order")?));
    }
    let heading = ends.last().map_or(f64::NAN, |end| end[2]);
    let row = Row::new("path of a long push: heading at its end", "rad", heading);
    account.add(row.reference(case.at_most("tolerance.heading_at_most")?));
    Ok(())
}

fn snapshots(case: &Reference) -> Result<Figure, CaseError> {
    let (distance, speed, side) = (case.parameter("push_distance")?, case.parameter("speed")?, case.parameter("side")?);
    let (y, radius) = (case.parameter("push_at")?, case.parameter("tripod_radius")?);
    let count = 240;
    let h = distance / speed / f64::from(count);
    let mut simulation = Simulation::new(pushed(case, y)?, Preset::Quasistatic.scheme().as_published(), h)?;
    let mut figure = grid(2);
    for step in 1..=count {
        let report = simulation.step()?;
        if step != 1 && step % (count / 3) != 0 {
            continue;
        }
        let place: [f64; 3] = q(&simulation, "square")?;
        // Forces are drawn at a scale of 5 m/N.
        let support_points_now: Vec<_> = simulation
            .support_points()
            .iter()
            .map(|support_point| [support_point.point.x, support_point.point.y])
            .collect();
        let tips = simulation.support_points().iter().zip(&support_points_now).map(|(support_point, [x, y])| {
            let force = support_point.friction_impulse * (5.0 / h);
            [x + force.x, y + force.y]
        });
        let needle = -0.5 * side + speed * report.time;
        let marks = outline(&tripod_points(radius), place);
        figure = figure.with(
            Panel::new(Axis::new("x", "m").range(-1.0, 1.5), Axis::new("y", "m").range(-0.9, 0.9))
                .titled(format!("needle moved by {:.3} m", speed * report.time))
                .equal_aspect()
                .with(Layer::outlines(vec![rectangle([0.5 * side; 2], place)]).colour(0))
                .with(
                    Layer::points(marks.iter().map(|p| p[0]).collect(), marks.iter().map(|p| p[1]).collect()).colour(0),
                )
                .with(Layer::arrows(support_points_now.clone(), tips.collect()).colour(1))
                .with(Layer::points(vec![needle], vec![y]).colour(2).marker(Marker::Triangle)),
        );
    }
    Ok(figure)
}

fn paths(case: &Reference) -> Result<Figure, CaseError> {
    let counts = case.numbers("parameters.path_steps")?;
    let (Some(&coarse), Some(&fine)) = (counts.first(), counts.last()) else {
        return Err(CaseError::Absent("steps of the path".to_owned()));
    };
    let (coarse_path, fine_path) = (path(case, coarse)?, path(case, fine)?);
    let way = || Axis::new("way of the needle", "m");
    let quantities = [("x of the square", "m"), ("y of the square", "m"), ("heading", "rad")];
    let mut figure = grid(3);
    for (k, (label, unit)) in quantities.into_iter().enumerate() {
        figure = figure.with(
            Panel::new(way(), Axis::new(label, unit))
                .with(fine_path.line(k).named(format!("{fine} steps")).colour(0))
                .with(coarse_path.line(k).named(format!("{coarse} steps")).colour(1).dash(Dash::Dashed)),
        );
    }
    Ok(figure)
}
