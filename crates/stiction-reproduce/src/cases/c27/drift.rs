//! The pendulum is dropped on the plane without friction. No horizontal force acts on its centre of mass, but the scheme lets it
//! drift with the step.

use stiction::{EventKind, Preset};
use stiction_plot::{Axis, Figure, Layer, Panel};

use super::absolute::Absolute;
use crate::cases::space_pendulum::{Pendulum, centre_of, model, p1_of, truth};
use crate::draw::time_axis;
use crate::norms::largest;
use crate::world::{larger, run as simulate};
use crate::{Account, CaseError, Expected, Reference, Row};

pub(super) fn add(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    between_events(case, account)?;
    let tolerance = case.tolerance("tolerance.scheme")?;
    for row in case.table("scheme_drift")? {
        let h = row.number("h")?;
        let mut pendulum = Absolute::new(case, "drift")?;
        let start = pendulum.centre();
        for (time, name) in [(1.0, "at_1"), (2.0, "at_2")] {
            pendulum.run_to(time, h)?;
            account.add(
                Row::new(
                    format!("drift of the centre of mass along x at t = {time} s, absolute velocities, h = {h} s"),
                    "m",
                    pendulum.centre().x - start.x,
                )
                .reference(Expected::within(row.number(name)?, tolerance)),
            );
        }
    }
    let mut runs = Vec::new();
    for row in case.table("scheme_drift")? {
        runs.push(Drift::run(case, row.number("h")?)?);
    }
    halving(case, &runs, account)?;
    maximal(case, account)?;
    let panel = |axis: usize, label: &str| {
        let panel = Panel::new(time_axis(), Axis::new(label, "m"));
        runs.iter().fold(panel, |panel, run| {
            let (t, moved) = run.samples.iter().map(|sample| (sample[0], sample[axis])).unzip();
            panel.with(Layer::line(t, moved).named(format!("h = {} s", run.h)))
        })
    };
    let figure = Figure::new("").columns(2).with(panel(1, "drift along x")).with(panel(2, "drift along y"));
    account.draw(
        "Drift of the centre of mass without friction, by divide and conquer",
        "Figure 7: drift of the centre of mass",
        figure,
    );
    Ok(())
}

/// Impact and motion between events by an integrator of high order.
fn between_events(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (sampling, length) = (case.parameter("sampling")?, case.parameter("length")?);
    let tolerance = case.tolerance("tolerance.event_driven")?;
    let mut simulation = truth(case, "drift", sampling)?;
    let mut impact = None;
    for row in case.table("derived.drift.p1")? {
        let t = row.number("t")?;
        while simulation.time() < t - 0.5 * sampling {
            let _ = simulation.step()?;
            let touch = simulation.events().iter().find(|event| event.kind == EventKind::Touch);
            impact = impact.or(touch.map(|event| event.time));
        }
        let p1 = p1_of(&simulation, length).ok_or_else(|| CaseError::Absent("body `a`".into()))?;
        for (axis, ours) in [("x", p1.x), ("y", p1.y)] {
            account.add(
                Row::new(format!("dropped: {axis} of P1 at t = {t} s, integrator of high order"), "m", ours)
                    .reference(Expected::within(row.number(axis)?, tolerance)),
            );
        }
    }
    let impact = impact.ok_or_else(|| CaseError::Never("the impact".into()))?;
    account.add(
        Row::new("dropped: impact, located as an event", "s", impact)
            .reference(case.expected("derived.drift.impact", "tolerance.event_driven")?),
    );
    account.add(
        Row::new("dropped: energy after the impact, integrator of high order", "J", simulation.energy().total())
            .reference(case.expected("derived.drift.energy_after", "tolerance.event_driven")?),
    );
    Ok(())
}

/// The drift of a run by divide and conquer.
struct Drift {
    h: f64,
    /// Time, and displacement of the centre of mass along x and y.
    samples: Vec<[f64; 3]>,
}

impl Drift {
    fn run(case: &Reference, h: f64) -> Result<Self, CaseError> {
        let mut pendulum = Pendulum::new(case, "drift")?;
        let start = pendulum.centre();
        let mut samples = Vec::new();
        pendulum.run(2.0, h, |pendulum, _| {
            let moved = pendulum.centre() - start;
            samples.push([pendulum.state.time, moved.x, moved.y]);
        })?;
        Ok(Self { h, samples })
    }

    fn last(&self) -> [f64; 3] {
        self.samples.last().copied().unwrap_or([f64::NAN; 3])
    }
}

fn halving(case: &Reference, runs: &[Drift], account: &mut Account) -> Result<(), CaseError> {
    for pair in runs.windows(2) {
        let [coarse, fine] = pair else { continue };
        for (k, axis) in [(1, "x"), (2, "y")] {
            let quantity =
                format!("drift along {axis} at t = 2 s, divide and conquer, h = {} s over h = {} s", coarse.h, fine.h);
            account.add(
                Row::new(quantity, "", coarse.last()[k] / fine.last()[k])
                    .reference(case.between("tolerance.halving_ratio")?),
            );
        }
    }
    let impact = case.number("derived.drift.impact")?;
    // The scheme falls slightly faster and makes contact a step earlier.
    let flies = |run: &'_ Drift, sample: &[f64; 3]| sample[0] < impact - 2.0 * run.h;
    let early = runs.iter().flat_map(|run| run.samples.iter().filter(|sample| flies(run, sample)));
    let moved = largest(early.flat_map(|sample| [sample[1].abs(), sample[2].abs()]));
    account.add(
        Row::new("drift before the impact, divide and conquer, largest", "m", moved)
            .reference(case.at_most("tolerance.drift_in_flight")?),
    );
    Ok(())
}

/// With the coordinates of both bodies horizontal momentum is conserved exactly, and the centre of mass does not move.
fn maximal(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (model, mut start, mut moved) = (model(case, "drift")?, None, 0.0_f64);
    simulate(model, Preset::Ncp.scheme().as_published(), case.parameter("maximal_step")?, 2.0, |simulation, _| {
        let centre = centre_of(simulation).ok_or_else(|| CaseError::Absent("body `a` or `b`".into()))?;
        let start = *start.get_or_insert(centre);
        moved = larger(moved, (centre - start).xy().norm());
        Ok(())
    })?;
    account.add(
        Row::new("drift in the coordinates of both bodies, largest", "m", moved)
            .reference(case.at_most("tolerance.drift_maximal")?),
    );
    Ok(())
}
