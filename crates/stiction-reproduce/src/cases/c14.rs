//! C-14: a disc rolls for ever, a polygon does not: energy over time for more edges and for shorter steps.

use nalgebra::Point2;
use rayon::prelude::*;
use stiction::{BodyBuilder, Dimension, Model, Preset, planar};
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::draw::{Trace, time_axis};
use crate::world::{ends_at, friction, larger, on_floor, run as simulate};
use crate::{Account, CaseError, Entry, Expected, Reference, Row, Value};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let (loss, disc) = implicit_disc(case)?;
    account.add(
        Row::new("implicit disc: largest change of energy in 5 s", "J", loss)
            .reference(case.at_most("tolerance.disc.abs")?)
            .published(case.at_most("published.disc_loss_at_most")?)
            .headline(),
    );
    let rows = case.table("derived.polygons")?;
    let tracks = rows.par_iter().map(|row| polygon_track(case, row)).collect::<Result<Vec<_>, _>>()?;
    for (row, track) in rows.iter().zip(&tracks) {
        energy_rows(&mut account, case, row, track)?;
    }
    trends(&mut account, case, &rows, &tracks)?;
    let step = case.parameter("step")?;
    account.draw(
        "Kinetic energy over time for regular polygons of more and more edges, steps of 0.01 s; the line at the top is the implicit disc",
        "Figure 3.6 a",
        figure(&rows, &tracks, Some(&disc), |row| row.get("h") == Some(step), |row| format!("{} edges", row.get("edges").unwrap_or(0.0))),
    );
    account.draw(
        "Kinetic energy over time for 1000 edges and shorter and shorter steps; from 0.001 s on the loss is that of the edges. The source also has 0.0001 s, which it cannot tell from 0.0005 s",
        "Figure 3.6 b",
        figure(&rows, &tracks, None, |row| row.get("edges") == Some(1000.0), |row| format!("h = {} s", row.get("h").unwrap_or(0.0))),
    );
    Ok(account)
}

fn rolling(case: &Reference, shape: planar::Shape) -> Result<Model, CaseError> {
    let [x, y] = case.vector("parameters.position")?;
    let body = BodyBuilder::planar("wheel", case.parameter("mass")?, case.parameter("inertia")?)
        .position(x, y, 0.0)
        .velocity(case.parameter("velocity")?, 0.0, 0.0)
        .angular_velocity(0.0, 0.0, case.parameter("angular_velocity")?)
        .shape(shape.into());
    let gravity = [0.0, -case.parameter("gravity")?, 0.0];
    on_floor(Dimension::Planar, [body], gravity, friction(case.parameter("friction")?))
}

/// Regular polygon with so many corners on the circle, one of them at the bottom.
fn polygon(radius: f64, edges: u32) -> Result<planar::Shape, CaseError> {
    let corner = |k: u32| {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(edges) - std::f64::consts::FRAC_PI_2;
        Point2::new(radius * libm::cos(angle), radius * libm::sin(angle))
    };
    Ok(planar::Shape::polygon(&(0..edges).map(corner).collect::<Vec<_>>())?)
}

fn implicit_disc(case: &Reference) -> Result<(f64, Trace<1>), CaseError> {
    let energy = case.parameter("energy")?;
    let disc = planar::Shape::disc(case.parameter("radius")?)?;
    let (mut loss, mut trace) = (0.0_f64, Trace::default());
    let scheme = Preset::GeometricallyImplicit.scheme().as_published();
    simulate(rolling(case, disc)?, scheme, case.parameter("step")?, 5.0, |simulation, report| {
        let kinetic = simulation.energy().kinetic;
        loss = larger(loss, (kinetic - energy).abs());
        trace.push(report.time, [kinetic]);
        Ok(())
    })?;
    Ok((loss, trace))
}

fn polygon_track(case: &Reference, row: &Entry) -> Result<Trace<1>, CaseError> {
    let shape = polygon(case.parameter("radius")?, row.count("edges")?)?;
    let mut trace = Trace::default();
    simulate(
        rolling(case, shape)?,
        Preset::StewartTrinkle.scheme().as_published(),
        row.number("h")?,
        5.0,
        |simulation, report| {
            trace.push(report.time, [simulation.energy().kinetic]);
            Ok(())
        },
    )?;
    Ok(trace)
}

/// Energy after five seconds, and the largest difference from the table in all of them.
fn energy_rows(account: &mut Account, case: &Reference, row: &Entry, track: &Trace<1>) -> Result<(), CaseError> {
    let (edges, h) = (row.number("edges")?, row.number("h")?);
    let tolerance = case.tolerance("tolerance.polygons")?;
    let mut largest = 0.0_f64;
    for second in 1..=5 {
        let t = f64::from(second);
        let found = track.times().iter().zip(track.column(0)).find(|(time, _)| ends_at(**time, t, h));
        let (ours, exact) = (found.map_or(f64::NAN, |(_, energy)| *energy), row.number(&format!("t{second}"))?);
        largest = larger(largest, (ours - exact).abs());
        if second == 5 {
            let expected = Expected::within(exact, tolerance);
            account.add(Row::new(format!("{edges} edges, h = {h} s: energy after 5 s"), "J", ours).reference(expected));
        }
    }
    let bound = Expected::bound(Value::AtMost(tolerance.abs));
    let quantity = format!("{edges} edges, h = {h} s: largest difference after 1, 2, 3, 4, 5 s");
    account.add(Row::new(quantity, "J", largest).reference(bound));
    Ok(())
}

/// More edges lose less energy, down to the loss of the step.
fn trends(account: &mut Account, case: &Reference, rows: &[Entry], tracks: &[Trace<1>]) -> Result<(), CaseError> {
    let step = case.parameter("step")?;
    let ends: Vec<(f64, f64)> = rows
        .iter()
        .zip(tracks)
        .filter(|(row, _)| row.get("h") == Some(step))
        .filter_map(|(row, track)| Some((row.get("edges")?, *track.column(0).last()?)))
        .collect();
    let [from, to] = case.vector("derived.saturation")?;
    let growing = ends.iter().filter(|(edges, _)| *edges < from).map(|(_, energy)| *energy).collect::<Vec<_>>();
    let grows = growing.is_sorted_by(|a, b| a < b);
    account.add(
        Row::new("more edges lose less, up to 100", "", grows)
            .reference(case.exactly("derived.more_edges_lose_less")?)
            .published(Expected::shown(Value::Text(case.text("published.note")?.to_owned()))),
    );
    let at = |edges: f64| ends.iter().find(|(n, _)| *n == edges).map_or(f64::NAN, |(_, energy)| *energy);
    let expected = Expected::within(at(to), case.tolerance("tolerance.saturation")?);
    let row = Row::new(format!("{from} edges: energy after 5 s, beside {to} edges"), "J", at(from));
    account.add(row.reference(expected));
    Ok(())
}

fn figure(
    rows: &[Entry],
    tracks: &[Trace<1>],
    disc: Option<&Trace<1>>,
    belongs: impl Fn(&Entry) -> bool,
    name: impl Fn(&Entry) -> String,
) -> Figure {
    let mut panel = Panel::new(time_axis(), Axis::new("kinetic energy", "J").range(0.0, 7.5));
    if let Some(disc) = disc {
        let line = Layer::line(disc.times().to_vec(), disc.column(0).to_vec());
        panel = panel.with(line.named("implicit disc").muted());
    }
    let shown = rows.iter().zip(tracks).filter(|(row, _)| belongs(row));
    for (colour, (row, track)) in shown.enumerate() {
        panel = panel.with(track.line(0).named(name(row)).colour(colour));
    }
    Figure::new("").with(panel)
}
