//! C-12: a disc falls on a compliant half-plane with a rigid core, which it reaches in one of two runs.

use rayon::prelude::*;
use stiction::{
    BodyBuilder, ContactRule, Dimension, EventKind, Layer as Compliance, LayerMemory, LayerRule, Model, PositionUpdate,
    Preset, Scheme, Simulation, planar,
};
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::draw::{Trace, grid, time_axis};
use crate::world::{ends_at, larger, on_floor, q, run as simulate, steps, v};
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    kept_energy_rows(&mut account, case)?;
    let rows = case.table("derived.scheme")?;
    let found = rows.par_iter().map(|row| scheme_numbers(case, row)).collect::<Result<Vec<_>, _>>()?;
    for (row, numbers) in rows.iter().zip(&found) {
        scheme_rows(&mut account, case, row, numbers)?;
    }
    let h = case.parameter("step")?;
    let first_order = || scheme(PositionUpdate::End);
    let hit = track(case, "core_hit", first_order(), h)?;
    let missed = track(case, "core_missed", first_order(), h)?;
    let kept = track(case, "core_missed", scheme(PositionUpdate::Average), h)?;
    core_rows(&mut account, case, &hit)?;
    account.draw(
        "The disc meets the rigid core: impulse of the core and spring force, deflection, height, velocity, energy",
        "Figure 3.11 a-e",
        figure(&hit, None),
    );
    account.draw(
        "The disc does not reach the core: energy, spring force, height and velocity. With the first-order scheme of the source the energy falls in every bounce; with mean velocities it does not",
        "Figure 3.12 a-d",
        figure(&missed, Some(&kept)),
    );
    Ok(account)
}

fn disc(case: &Reference, core: &str) -> Result<Model, CaseError> {
    let disc = BodyBuilder::planar("disc", case.parameter("mass")?, case.parameter("inertia")?)
        .position(0.0, case.parameter("height")?, 0.0)
        .shape(planar::Shape::disc(case.parameter("radius")?)?.into());
    let layer = Compliance::normal(case.parameter("stiffness")?, case.parameter("damping")?);
    let layer = layer.with_depth(case.parameter(core)?);
    let rule = ContactRule { layer: LayerRule::Given(layer), ..ContactRule::default() };
    on_floor(Dimension::Planar, [disc], [0.0, -case.parameter("gravity")?, 0.0], rule)
}

fn scheme(update: PositionUpdate) -> Scheme {
    let mut scheme = Preset::Ncp.scheme().as_published();
    scheme.position_update = update;
    scheme
}

/// Energy with the plane as the datum of the lowest point of the disc.
fn energy(case: &Reference, simulation: &Simulation) -> Result<f64, CaseError> {
    let weight = case.parameter("mass")? * case.parameter("gravity")?;
    Ok(simulation.energy().total() - weight * case.parameter("radius")?)
}

fn layer(simulation: &Simulation) -> LayerMemory {
    simulation.contacts().first().and_then(|contact| contact.layer).unwrap_or_default()
}

/// With mean velocities and the discrete gradient a bounce conserves energy, and contact times are located.
fn kept_energy_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let (h, bounces) = (case.parameter("step")?, case.parameter("bounces")?);
    let duration = bounces * case.number("derived.deep.period")?;
    let exact = case.number("derived.energy")?;
    let mut mean = scheme(PositionUpdate::Average);
    mean.substeps.locate_contacts = true;
    let (mut worst, mut deepest, mut touches, mut releases) = (0.0_f64, [0.0_f64, 0.0], Vec::new(), Vec::new());
    let until = case.number("derived.deep.period")?;
    simulate(disc(case, "core_missed")?, mean, h, duration, |simulation, report| {
        worst = larger(worst, (energy(case, simulation)? - exact).abs());
        let compression = layer(simulation).compression;
        if compression > deepest[0] && report.time < until {
            deepest = [compression, report.time];
        }
        for event in simulation.events() {
            match event.kind {
                EventKind::Touch => touches.push(event.time),
                EventKind::Separate => releases.push(event.time),
                _ => {}
            }
        }
        Ok(())
    })?;
    let first = |times: &[f64]| times.first().copied().unwrap_or(f64::NAN);
    let rows = [
        ("first touch", "s", "derived.touch_time", first(&touches), "tolerance.touch_time"),
        ("largest deflection", "m", "derived.deep.deflection", deepest[0], "tolerance.deepest"),
        ("largest deflection, time", "s", "derived.deep.deflection_time", deepest[1], "tolerance.between_steps"),
        ("release", "s", "derived.deep.release_time", first(&releases), "tolerance.release"),
    ];
    for (quantity, unit, path, ours, tolerance) in rows {
        let expected = case.expected(path, tolerance)?;
        account.add(Row::new(format!("mean velocities: {quantity}"), unit, ours).reference(expected));
    }
    let row = Row::new(format!("mean velocities: largest change of energy in {bounces} bounces"), "J", worst);
    let row = row.reference(case.at_most("tolerance.kept_energy.abs")?);
    account.add(row.published(case.at_most("published.energy_kept_within")?).headline());
    Ok(())
}

/// Results of the first-order scheme of the source with one step.
struct SchemeNumbers {
    deflection: f64,
    deep_energy: f64,
    core_time: f64,
    core_impulse: f64,
    core_energy: f64,
}

fn scheme_numbers(case: &Reference, row: &Entry) -> Result<SchemeNumbers, CaseError> {
    let h = row.number("h")?;
    let mut deflection = 0.0_f64;
    let deep_end = case.number("derived.deep_energy_at")?;
    let deep = simulate(disc(case, "core_missed")?, scheme(PositionUpdate::End), h, deep_end, |simulation, _| {
        deflection = larger(deflection, layer(simulation).compression);
        Ok(())
    })?;
    let (mut core_time, mut core_impulse) = (f64::NAN, 0.0);
    let core_end = case.number("derived.core_energy_at")?;
    let core = simulate(disc(case, "core_hit")?, scheme(PositionUpdate::End), h, core_end, |simulation, report| {
        let impulse = layer(simulation).core_impulse;
        if impulse > 0.0 && core_time.is_nan() {
            core_time = report.time;
        }
        // The first impact takes two steps: the core is reached within the first.
        if report.time < core_time + 1.5 * h {
            core_impulse += impulse;
        }
        Ok(())
    })?;
    let (deep_energy, core_energy) = (energy(case, &deep)?, energy(case, &core)?);
    Ok(SchemeNumbers { deflection, deep_energy, core_time, core_impulse, core_energy })
}

fn scheme_rows(account: &mut Account, case: &Reference, row: &Entry, numbers: &SchemeNumbers) -> Result<(), CaseError> {
    let h = row.number("h")?;
    let quantities = [
        ("largest deflection", "m", "deflection", numbers.deflection, "tolerance.deflection"),
        ("energy at t = 0.5 s", "J", "deep_energy", numbers.deep_energy, "tolerance.energy"),
        ("core is met", "s", "core_time", numbers.core_time, "tolerance.core_time"),
        ("impulse of the core", "N s", "core_impulse", numbers.core_impulse, "tolerance.impulse"),
        ("energy at t = 2 s, core met", "J", "core_energy", numbers.core_energy, "tolerance.energy"),
    ];
    for (quantity, unit, name, ours, tolerance) in quantities {
        let expected = Expected::within(row.number(name)?, case.tolerance(tolerance)?);
        account.add(Row::new(format!("first-order scheme, h = {h} s: {quantity}"), unit, ours).reference(expected));
    }
    if h == case.parameter("step")? {
        let lost = case.number("derived.energy")? - numbers.deep_energy;
        let expected = case.expected("derived.deep_energy_lost", "tolerance.energy")?;
        let row = Row::new(format!("first-order scheme, h = {h} s: energy lost in the first bounce"), "J", lost);
        let row = row.reference(expected).published(case.at_most("published.energy_kept_within")?);
        account.add(row.explained(case.text("published.energy")?));
    }
    Ok(())
}

/// Spring force, impulse of the core, deflection, height, velocity, energy.
fn track(case: &Reference, core: &str, scheme: Scheme, h: f64) -> Result<Trace<6>, CaseError> {
    let mut trace = Trace::default();
    let mut simulation = Simulation::new(disc(case, core)?, scheme, h)?;
    for _ in 0..steps(case.parameter("duration")?, h) {
        let report = simulation.step()?;
        let ([_, y, _], [_, vy, _]) = (q(&simulation, "disc")?, v(&simulation, "disc")?);
        let memory = layer(&simulation);
        let normal: f64 = simulation.contacts().iter().map(|contact| contact.normal_impulse).sum();
        let spring = (normal - memory.core_impulse) / h;
        trace.push(report.time, [spring, memory.core_impulse, memory.compression, y, vy, energy(case, &simulation)?]);
    }
    Ok(trace)
}

fn core_rows(account: &mut Account, case: &Reference, hit: &Trace<6>) -> Result<(), CaseError> {
    let h = case.parameter("step")?;
    let impulses = hit.column(1);
    let first = impulses.iter().position(|impulse| *impulse > 0.0);
    let first = first.ok_or_else(|| CaseError::Never("the hit of the core".to_owned()))?;
    let time = hit.times().get(first).copied().unwrap_or(f64::NAN);
    let row =
        Row::new("core is met", "s", time).reference(case.expected("derived.core.time", "tolerance.between_steps")?);
    account.add(row.published(case.expected("published.core_time_number", "tolerance.published_time")?));
    let large = impulses.iter().filter(|impulse| **impulse > 1.0).count();
    account
        .add(Row::new("rigid impacts above 1 N s", "", large).reference(case.exactly("derived.core.large_impacts")?));
    let after = hit.times().iter().position(|t| ends_at(*t, time + h, h));
    let speed = after.and_then(|index| hit.column(4).get(index)).map_or(f64::NAN, |speed| speed.abs());
    let bound = Expected::bound(crate::Value::AtMost(case.number("tolerance.speed_after_steps")? * h));
    account.add(Row::new("speed right after the impact", "m/s", speed).reference(bound));
    Ok(())
}

/// Without the core its panels are absent; `kept` is the energy with mean velocities.
fn figure(trace: &Trace<6>, kept: Option<&Trace<6>>) -> Figure {
    let panel = |label: &str, unit: &str, column: usize| {
        Panel::new(time_axis(), Axis::new(label, unit)).with(trace.line(column).colour(0))
    };
    let [low, high] = if kept.is_some() { [4.5, 5.1] } else { [0.0, 5.5] };
    let mut energy = Panel::new(time_axis(), Axis::new("energy", "J").range(low, high));
    let mut figure = grid(3);
    match kept {
        None => {
            figure = figure.with(panel("impulse of the core in a step", "N s", 1)).with(panel("deflection", "m", 2));
            energy = energy.with(trace.line(5).colour(0));
        }
        Some(kept) => {
            figure = grid(2);
            energy = energy.with(trace.line(5).named("first order, as in the source").colour(0));
            energy = energy.with(kept.line(5).named("mean velocities").colour(1));
        }
    }
    let surface = Layer::horizontal_marks(vec![1.0]).labelled(["touches"]).muted();
    figure
        .with(panel("spring force", "N", 0))
        .with(panel("height of the centre", "m", 3).with(surface))
        .with(panel("velocity", "m/s", 4))
        .with(energy)
}
