//! C-21: the falling rod. It hits the table with one end, which sticks and slides until the other end hits.

use std::f64::consts::PI;

use stiction::{BodyBuilder, ContactMode, Dimension, EventKind, LineariseAt, Model, Preset, Scheme, planar};
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use crate::draw::time_axis;
use crate::outline;
use crate::world::{friction, larger, on_floor, q, run as simulate, v};
use crate::{Account, CaseError, Entry, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let mut ends = Vec::new();
    for (k, row) in case.table("scheme")?.iter().enumerate() {
        let fall = Fall::run(case, scheme(), row.number("h")?)?;
        if k == 0 {
            published(case, &fall, &mut account)?;
            account.draw(
                "The rod every 0.05 s until 0.5 s, at the impact at 0.385 s, and at rest; h = 0.0025 s",
                "Figure 2: falling and spinning rod",
                frames(case, &fall)?,
            );
        }
        compare(case, &fall, row, &mut account)?;
        ends.push((fall.h, (fall.end()?.q[0] - case.number("derived.rest.x")?).abs()));
    }
    if let [(coarse, far), .., (fine, near)] = ends[..] {
        let order = libm::log(far / near) / libm::log(coarse / fine);
        account.add(
            Row::new(format!("order of the place of rest, h = {coarse} to {fine} s"), "", order)
                .reference(case.expected("tolerance.x_end_order", "tolerance.x_end_order_within")?),
        );
    }
    events(case, &mut account)?;

    let mut falls = Vec::new();
    for h in case.numbers("parameters.figure_steps")? {
        falls.push(Fall::run(case, scheme(), h)?);
    }
    let exact = Fall::run(case, Preset::Reference.scheme().as_published(), case.parameter("sampling")?)?;
    let curves = [
        ("3", "vertical velocity", "m/s", 1),
        ("4", "angular velocity", "rad/s", 2),
        ("5", "horizontal velocity", "m/s", 0),
    ];
    for (figure, quantity, unit, component) in curves {
        let panel = velocities(&falls, &exact, Axis::new(quantity, unit), component);
        let caption = format!("The {quantity} of the rod for several steps");
        account.draw(caption, format!("Figure {figure}: {quantity} for various steps"), Figure::new("").with(panel));
    }
    Ok(account)
}

fn model(case: &Reference) -> Result<Model, CaseError> {
    let number = |name: &str| case.parameter(name);
    let shape = planar::Shape::capsule(number("length")? / 2.0, number("radius")?)?;
    let rod = BodyBuilder::planar("rod", number("mass")?, number("inertia")?)
        .position(number("x")?, number("y")?, 0.0)
        .angle(number("angle_degrees")?.to_radians())
        .angular_velocity(0.0, 0.0, number("angular_velocity")?)
        .shape(shape.into());
    on_floor(Dimension::Planar, [rod], [0.0, -number("gravity")?, 0.0], friction(number("friction")?))
}

/// The Stewart-Trinkle scheme with the geometry at the end of the step.
fn scheme() -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme().as_published();
    scheme.linearise_at = LineariseAt::End;
    scheme
}

/// The rod after a step.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    /// x, y, angle.
    q: [f64; 3],
    v: [f64; 3],
}

/// A run and its events.
struct Fall {
    h: f64,
    samples: Vec<Sample>,
    first_contact: f64,
    slap_down: f64,
    rest: f64,
    /// Largest gap of a contact with an impulse, m.
    gap: f64,
}

/// Speed below which the rod is at rest, m/s and rad/s.
const REST: f64 = 1e-9;

impl Fall {
    fn run(case: &Reference, scheme: Scheme, h: f64) -> Result<Self, CaseError> {
        let (mut first, mut slap, mut rest, mut gap) = (None, None, None, 0.0_f64);
        let mut samples = Vec::new();
        simulate(model(case)?, scheme, h, case.parameter("duration")?, |simulation, report| {
            let closed = || simulation.contacts().iter().filter(|contact| contact.mode != ContactMode::Open);
            gap = closed().map(|contact| contact.gap.abs()).fold(gap, larger);
            if closed().count() >= 1 {
                first.get_or_insert(report.time);
            }
            if closed().count() == 2 {
                slap.get_or_insert(report.time);
            }
            let sample = Sample { time: report.time, q: q(simulation, "rod")?, v: v(simulation, "rod")? };
            let moving = sample.v.iter().any(|v| v.abs() > REST);
            rest = if moving { None } else { Some(rest.unwrap_or(report.time)) };
            samples.push(sample);
            Ok(())
        })?;
        let never = |what: &str| CaseError::Never(what.to_owned());
        Ok(Self {
            h,
            samples,
            first_contact: first.ok_or_else(|| never("the impact"))?,
            slap_down: slap.ok_or_else(|| never("the slap-down"))?,
            rest: rest.ok_or_else(|| never("the rest"))?,
            gap,
        })
    }

    fn end(&self) -> Result<&Sample, CaseError> {
        self.samples.last().ok_or_else(|| CaseError::Never("a step".into()))
    }
}

/// Statements of the source in words, with its step.
fn published(case: &Reference, fall: &Fall, account: &mut Account) -> Result<(), CaseError> {
    let near = Tolerance::absolute(case.number("tolerance.event_steps")? * fall.h);
    // A duration between two events, each as uncertain as one.
    let between = Tolerance::absolute(2.0 * near.abs);
    let rows = [
        ("first impact", fall.first_contact, "first_impact", "impact.t", near),
        ("slap-down", fall.slap_down, "slap_down", "slap_down.t", near),
        ("slide after the slap-down", fall.rest - fall.slap_down, "slide_after_slap", "rest.slide", between),
    ];
    for (quantity, ours, published, derived, tolerance) in rows {
        account.add(
            Row::new(format!("{quantity}, h = {} s", fall.h), "s", ours)
                .published(Expected::within(case.value(&format!("published.{published}"))?, tolerance))
                .reference(Expected::within(case.value(&format!("derived.{derived}"))?, tolerance))
                .headline(),
        );
    }
    account.add(
        Row::new(format!("largest gap of a closed contact, h = {} s", fall.h), "m", fall.gap)
            .reference(case.at_most("tolerance.gap_fixed_point.abs")?),
    );
    account.add(
        Row::new(format!("angle at rest, h = {} s", fall.h), "rad", fall.end()?.q[2])
            .reference(Expected::within(PI, case.tolerance("tolerance.theta_end")?)),
    );
    Ok(())
}

/// Compares with the numbers of an independent implementation of the scheme.
fn compare(case: &Reference, fall: &Fall, row: &Entry, account: &mut Account) -> Result<(), CaseError> {
    let near = Tolerance::absolute(case.number("tolerance.event_steps")? * fall.h);
    let place = case.tolerance("tolerance.x_end_scheme")?;
    let rows = [
        ("step of first contact", "s", fall.first_contact, "first_contact", near),
        ("step of the slap-down", "s", fall.slap_down, "slap_down", near),
        ("step from which it rests", "s", fall.rest, "rest", near),
        ("place of rest", "m", fall.end()?.q[0], "x_end", place),
    ];
    for (quantity, unit, ours, name, tolerance) in rows {
        account.add(
            Row::new(format!("{quantity}, h = {} s", fall.h), unit, ours)
                .reference(Expected::within(row.number(name)?, tolerance)),
        );
    }
    Ok(())
}

/// Motion between events by an integrator of high order: the impact, the slip of the tip, the second impact, rest.
fn events(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (h, mut events) = (case.parameter("sampling")?, Vec::new());
    let end = simulate(
        model(case)?,
        Preset::Reference.scheme().as_published(),
        h,
        case.parameter("duration")?,
        |simulation, _| {
            events.extend(simulation.events().iter().map(|event| (event.kind, event.time)));
            Ok(())
        },
    )?;
    let mut after = 0.0;
    let story = [
        ("impact", "impact", EventKind::Touch),
        ("tip begins to slide left", "slips_left", EventKind::Slip),
        ("slap-down", "slap_down", EventKind::Touch),
        ("rest", "rest", EventKind::Stick),
    ];
    for (quantity, name, kind) in story {
        let next = events.iter().find(|(found, time)| *found == kind && *time > after);
        after = next.ok_or_else(|| CaseError::Never(format!("the event `{quantity}`")))?.1;
        account.add(
            Row::new(format!("{quantity}, located as an event"), "s", after)
                .reference(case.expected(&format!("derived.{name}.t"), "tolerance.event_driven")?),
        );
    }
    let [x, _, _] = q(&end, "rod")?;
    account.add(
        Row::new("place of rest, between events by an integrator of high order", "m", x)
            .reference(case.expected("derived.rest.x", "tolerance.event_driven_place")?),
    );
    Ok(())
}

/// The rod at equal intervals until it rests, and at the two impacts.
fn frames(case: &Reference, fall: &Fall) -> Result<Figure, CaseError> {
    let (half, radius) = (case.parameter("length")? / 2.0, case.parameter("radius")?);
    let outline = |sample: &Sample| outline::capsule([sample.q[0], sample.q[1]], half, radius, sample.q[2]);
    let at = |time: f64| fall.samples.iter().find(|sample| (sample.time - time).abs() < 0.5 * fall.h);
    let flight: Vec<_> = (1..8).filter_map(|k| at(0.05 * f64::from(k))).map(outline).collect();
    let contact: Vec<_> = (8..11).filter_map(|k| at(0.05 * f64::from(k))).map(outline).collect();
    let panel = Panel::new(Axis::new("x", "m"), Axis::new("y", "m"))
        .equal_aspect()
        .with(Layer::outlines(flight).named("falls"))
        .with(Layer::outlines(at(fall.first_contact).map(outline).into_iter().collect()).named("impact").colour(1))
        .with(Layer::outlines(contact).named("one end on the table").colour(2))
        .with(Layer::outlines(fall.samples.last().map(outline).into_iter().collect()).named("at rest").colour(6))
        .with(Layer::horizontal_marks(vec![0.0]).muted());
    Ok(Figure::new("").with(panel))
}

fn velocities(falls: &[Fall], exact: &Fall, axis: Axis, component: usize) -> Panel {
    let column = |fall: &Fall| {
        let picked = |sample: &Sample| (sample.time, sample.v.get(component).copied().unwrap_or(f64::NAN));
        fall.samples.iter().filter(|sample| sample.time <= 0.7).map(picked).unzip()
    };
    let panel = Panel::new(time_axis(), axis);
    let panel = falls.iter().fold(panel, |panel, fall| {
        let (t, v): (Vec<_>, Vec<_>) = column(fall);
        panel.with(Layer::line(t, v).named(format!("h = {} s", fall.h)))
    });
    let (t, v): (Vec<_>, Vec<_>) = column(exact);
    panel.with(Layer::line(t, v).named("exact between events").dash(Dash::Dashed).colour(6))
}
