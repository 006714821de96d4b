//! C-29: the double pendulum in a plane falls on the floor with P1, which alternates between slip and stick.

use stiction::EventKind;
use stiction::schemes::ContactStep;
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use super::space_pendulum::{Pendulum, p1_of, truth};
use crate::draw::time_axis;
use crate::world::{ends_at, larger};
use crate::{Account, CaseError, Entry, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let mut runs = Vec::new();
    for h in case.numbers("parameters.steps")? {
        let run = Motion::run(case, h)?;
        run.rows(case, &mut account)?;
        runs.push(run);
    }
    if let [coarse, fine] = &runs[..] {
        account.add(
            Row::new("growth of energy after the impact, over that of half the step", "", coarse.growth / fine.growth)
                .reference(case.at_least("tolerance.growth_ratio")?),
        );
    }
    impact(case, &mut account)?;
    let exact = events(case, &mut account)?;
    if let Some(run) = runs.first() {
        account.draw(
            "Place of P1 over time, with the moments from which it slides and sticks; after the last one it rests",
            "Figure 9: x and z of P1",
            figure(case, run, &exact)?,
        );
    }
    Ok(account)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Open,
    Stick,
    Slip,
}

/// Speed below which P1 sticks, m/s.
const STICKS: f64 = 1e-9;

fn mode(contact: &ContactStep) -> Mode {
    match (contact.impulse[0] > 0.0, libm::hypot(contact.after[1], contact.after[2]) < STICKS) {
        (false, _) => Mode::Open,
        (true, true) => Mode::Stick,
        (true, false) => Mode::Slip,
    }
}

/// A run to the end.
struct Motion {
    h: f64,
    /// Time, x and z of P1.
    samples: Vec<[f64; 3]>,
    /// Changes of mode.
    changes: Vec<(Mode, f64)>,
    /// Largest height of P1 above or below the plane after the impact, m.
    height: f64,
    /// Largest growth of energy above an earlier value after the impact, J.
    growth: f64,
}

impl Motion {
    fn run(case: &Reference, h: f64) -> Result<Self, CaseError> {
        let mut pendulum = Pendulum::new(case, "planar")?;
        let landed = case.number("derived.impact")? + 2.0 * h;
        let (mut last, mut lowest) = (Mode::Open, f64::INFINITY);
        let mut run = Self { h, samples: Vec::new(), changes: Vec::new(), height: 0.0, growth: 0.0 };
        pendulum.run(case.number("derived.end")?, h, |pendulum, contact| {
            let (time, now, p1) = (pendulum.state.time, mode(contact), pendulum.p1());
            run.samples.push([time, p1.x, p1.z]);
            if now != last {
                run.changes.push((now, time));
                last = now;
            }
            if time > landed {
                let energy = pendulum.energy();
                lowest = lowest.min(energy);
                run.growth = larger(run.growth, energy - lowest);
                run.height = larger(run.height, p1.z.abs());
            }
        })?;
        Ok(run)
    }

    fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        let h = self.h;
        let near = Tolerance::absolute(case.number("tolerance.event_steps")? * h);
        let events = case.table("derived.events")?;
        // In the steps of the impact P1 is at rest, which is not an event of the exact motion.
        let held = usize::from(self.changes.first().is_some_and(|(now, _)| *now == Mode::Stick));
        account.add(
            Row::new(format!("changes between sliding and sticking, h = {h} s"), "", self.changes.len() - held)
                .reference(Expected::within(events.len(), Tolerance::default())),
        );
        let found = self.changes.iter().skip(held).map(|(now, time)| (*now == Mode::Stick, *time));
        for row in compare_events(&events, &found.collect::<Vec<_>>(), near, &format!("h = {h} s"))? {
            account.add(row);
        }
        for row in case.table("derived.p1")? {
            let t = row.number("t")?;
            let [_, x, _] = *self
                .samples
                .iter()
                .find(|[time, ..]| ends_at(*time, t, h))
                .ok_or_else(|| CaseError::Never(format!("t = {t} s")))?;
            let within = Tolerance::absolute(case.number("tolerance.place_per_step")? * h);
            account.add(
                Row::new(format!("x of P1 at t = {t} s, h = {h} s"), "m", x)
                    .reference(Expected::within(row.number("x")?, within)),
            );
        }
        account.add(
            Row::new(format!("height of P1 after the impact, largest, h = {h} s"), "m", self.height)
                .reference(Expected::bound(crate::Value::AtMost(h * h))),
        );
        Ok(())
    }
}

/// Impulse of the impact, which holds P1 for an instant, with a short step.
fn impact(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let h = case.parameter("impact_step")?;
    let mut pendulum = Pendulum::new(case, "planar")?;
    let (mut normal, mut along, mut before) = (0.0, 0.0, 0.0);
    pendulum.run(case.number("derived.impact")? + 3.0 * h, h, |_, contact| {
        if normal == 0.0 {
            before = contact.before[0];
        }
        // Steps after the impact carry the weight only. The first tangent is x.
        if contact.before[0] < 0.0 && contact.impulse[0] > 0.0 {
            normal += contact.impulse[0];
            along += contact.impulse[1];
        }
    })?;
    let within = Tolerance::absolute(case.number("tolerance.impact_per_step")? * h);
    let rows = [
        ("vertical velocity of P1 before the impact", "m/s", before, "vz_before"),
        ("normal impulse of the impact", "N s", normal, "impulse_n"),
        ("friction impulse of the impact", "N s", along, "impulse_x"),
    ];
    for (quantity, unit, ours, name) in rows {
        account.add(
            Row::new(format!("{quantity}, h = {h} s"), unit, ours)
                .reference(Expected::within(case.value(&format!("derived.{name}"))?, within)),
        );
    }
    Ok(())
}

/// Time and x of P1 between events by an integrator of high order.
fn events(case: &Reference, account: &mut Account) -> Result<Vec<[f64; 2]>, CaseError> {
    let (sampling, length) = (case.parameter("sampling")?, case.parameter("length")?);
    let mut simulation = truth(case, "planar", sampling)?;
    let (mut samples, mut found) = (Vec::new(), Vec::new());
    while simulation.time() < case.number("derived.end")? - 0.5 * sampling {
        let _ = simulation.step()?;
        let p1 = p1_of(&simulation, length).ok_or_else(|| CaseError::Absent("body `a`".into()))?;
        samples.push([simulation.time(), p1.x]);
        let changes = simulation.events().iter().filter(|event| event.kind != EventKind::Touch);
        found.extend(changes.map(|event| (event.kind == EventKind::Stick, event.time)));
    }
    let tolerance = case.tolerance("tolerance.event_driven")?;
    let rows = compare_events(&case.table("derived.events")?, &found, tolerance, "located as an event")?;
    let last = rows.len().saturating_sub(1);
    for (k, row) in rows.into_iter().enumerate() {
        account.add(if k == last { row.headline() } else { row });
    }
    Ok(samples)
}

/// One row for each expected event; `found` holds true if P1 came to rest, and the time.
fn compare_events(
    events: &[Entry],
    found: &[(bool, f64)],
    tolerance: Tolerance,
    how: &str,
) -> Result<Vec<Row>, CaseError> {
    let row = |(k, event): (usize, &Entry)| {
        let sticks = event.number("sticks")? == 1.0;
        // A change of the other kind, or none, gives NaN, which is never near the expected time.
        let ours = found.get(k).filter(|(found, _)| *found == sticks).map_or(f64::NAN, |(_, time)| *time);
        let what = if sticks { "comes to rest" } else { "begins to slide" };
        Ok(Row::new(format!("change {}: P1 {what}, {how}", k + 1), "s", ours)
            .reference(Expected::within(event.number("t")?, tolerance)))
    };
    events.iter().enumerate().map(row).collect()
}

fn figure(case: &Reference, run: &Motion, exact: &[[f64; 2]]) -> Result<Figure, CaseError> {
    let mut marks = Vec::new();
    for event in case.table("derived.events")? {
        marks.push((event.number("t")?, if event.number("sticks")? == 1.0 { "sticks" } else { "slides" }));
    }
    let marked = || Layer::vertical_marks(marks.iter().map(|(time, _)| *time).collect()).muted();
    let end = case.parameter("figure_end")?;
    let shown = || run.samples.iter().filter(|sample| sample[0] < end);
    let column = |k: usize| shown().map(|sample| sample[k]).collect::<Vec<_>>();
    let (t, x) = exact.iter().filter(|[t, _]| *t < end).map(|[t, x]| (*t, *x)).unzip();
    let place = Panel::new(time_axis(), Axis::new("x of P1", "m"))
        .with(marked().labelled(marks.iter().map(|(_, what)| *what)))
        .with(Layer::line(column(0), column(1)).named(format!("h = {} s", run.h)))
        .with(Layer::line(t, x).named("exact between events").dash(Dash::Dashed).colour(6));
    let height = Panel::new(time_axis(), Axis::new("z of P1", "m"))
        .with(marked())
        .with(Layer::line(column(0), column(2)).named(format!("h = {} s", run.h)));
    Ok(Figure::new("").columns(2).with(place).with(height))
}
